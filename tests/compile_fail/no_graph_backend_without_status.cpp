// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the first argument of monitored must be a graph or a backend, and this is none\. Mend: pass a static_graph
// expect-near: my_backend
#include "common.hpp"

struct my_backend {
#ifndef CONTROL
  bool run(auto const&) { return true; }
#else
  status run(auto const&) { return {}; }
#endif
};

int main() {
  auto session = monitored(my_backend{}, good_hook{});
  (void)session.run_steps(3);
}
