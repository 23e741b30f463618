// SPDX-License-Identifier: BSL-1.0
// What the hooks over event files, metrics and traces write of a whole training, into the folder that is its argument: 20
// steps with a loss of 1/step. Step 9 is broken off once by an error of the session, which goes on from the checkpoint of
// step 5; the update of step 15 is vetoed; behind step 13 the training ends as if it had been killed, and another one is
// resumed from the checkpoint of step 10. What must be found stands in the scripts.
#include <array>
#include <limits>
#include <string>

#include <tautline/core.hpp>
#include <tautline/hooks/nan_checker.hpp>
#include <tautline/hooks/prometheus_metrics.hpp>
#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/hooks/summary_saver.hpp>
#include <tautline/hooks/timeline.hpp>
#include <tautline/io/event_file.hpp>
#include <tautline/sessions/static_graph.hpp>
#include <tautline/testing/memory_store.hpp>

using namespace tautline;

namespace {

struct counting {
  int at = 0;
  bool operator()(double& x) { return x = ++at, true; }
  auto state() { return fields{field<"at">(at)}; }
};

void train(std::string const& folder, testing::memory_store& store, int runs, bool& broken) {
  auto graph = static_graph{}
                   .variable<"w">(0.0)
                   .source<"x">(0.0, counting{})
                   .op<"loss", "x">([](double x) { return 1 / x; })
                   .op<"gradient", "x">([](double x) { return x == 15 ? std::numeric_limits<double>::quiet_NaN() : x; })
                   .op<"both", "x">([](double x) { return std::array<double, 2>{x, -x}; })
                   .update<"train", "w", "gradient">([&broken](double& w, double gradient) {
                     if (gradient == 9 && !broken) {
                       broken = true;
                       throw aborted_error("the machine is gone");
                     }
                     w += gradient;
                   });
  event_file events(folder + "/logs/training");
  auto session = monitored(graph, options{restore_from{store}}, stop_at_step{20},
                           summary_saver<"loss", "both">{events, every_steps{}},
                           prometheus_metrics<"loss">{folder + "/train.prom", every_steps{4}, prometheus_label<"run">("a")},
                           timeline{folder + "/trace.json", every_steps{3}}, nan_checker<"gradient">::with(skip_at_most{1}),
                           testing::memory_saver{store, every_steps{5}});
  (void)session.run_steps(runs, target<"train">);
  if (session.completed_steps() < 20) {
    session.abandon();
  } else {
    session.close();
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  testing::memory_store store;
  bool broken = false;
  train(words[1], store, 16, broken);  // 8 steps, and from step 5 on 8 more
  testing::memory_store found = store.reopened();
  train(words[1], found, 100, broken);
}
