// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this session saves checkpoints, and this variable's type is no tensor that could be saved\. Mend: make it a number
// expect-near: "model".*my_model
#include "common.hpp"

struct my_store {
  restored restore(training_state const&) { return {}; }
};
struct my_model {
  float slope = 0;
#ifdef CONTROL
  auto state() { return fields{field<"slope">(slope)}; }
#endif
};

int main() {
  auto graph = static_graph{}.variable<"model">(my_model{}).update<"train", "model">([](my_model& model) { model.slope += 1; });
  my_store store;
  auto session = monitored(std::move(graph), options{restore_from{store}});
  (void)session.run(target<"train">);
}
