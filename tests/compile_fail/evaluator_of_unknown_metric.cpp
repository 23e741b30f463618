// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a fetch of a name that the graph does not have
// expect-near: "los"
// expect-near: "loss"
#include <tautline/hooks/basic_evaluator.hpp>

#include "common.hpp"

int main() {
  static constexpr float elements[] = {1, 2};
#ifndef CONTROL
  metrics<"los"> judged;
#else
  metrics<"loss"> judged;
#endif
  auto session = monitored(toy_graph(), basic_evaluator{every_steps{1}, datasets{dataset<"d">([]() -> auto const& { return elements; })},
                                                        judged, [](float x) { return feed<"x">(x); }});
  (void)session.run(target<"train">);
}
