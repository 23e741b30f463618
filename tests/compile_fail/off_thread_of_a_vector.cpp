// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: off_thread copies the values that a hook asks for, and one of these is not trivially copyable, .*Mend: let a node
#include <tautline/hooks/off_thread.hpp>

#include "common.hpp"

#include <vector>

struct my_hook {
#ifndef CONTROL
  auto before_run(auto&) const { return fetch<"all">; }
#else
  auto before_run(auto&) const { return fetch<"sum">; }
#endif
  void after_run(auto&, auto const&) {}
};

int main() {
  auto graph = static_graph{}.variable<"all">(std::vector<float>(3)).op<"sum", "all">([](std::vector<float> const& all) { return all[0]; });
  auto session = monitored(graph, off_thread{my_hook{}});
  (void)session.run();
}
