// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the session would copy this graph, which cannot be copied\. Mend: write monitored\(std::move\(graph\), \.\.\.\)
// expect-near: my_backend
#include "common.hpp"

struct my_backend {
  my_backend() = default;
  my_backend(my_backend&&) = default;
  status run(auto const&) { return {}; }
};

int main() {
  my_backend backend;
#ifndef CONTROL
  auto session = monitored(backend, good_hook{});
#else
  auto session = monitored(std::move(backend), good_hook{});
#endif
  (void)session.run_steps(3);
}
