// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: off_thread copies the values that a hook asks for, and one of these is not trivially copyable, or only points
#include <tautline/hooks/off_thread.hpp>

#include "common.hpp"

#include <array>
#include <span>

struct my_hook {
#ifndef CONTROL
  auto before_run(auto&) const { return fetch<"seen">; }
#else
  auto before_run(auto&) const { return fetch<"all">; }
#endif
  void after_run(auto&, auto const&) {}
};

int main() {
  auto graph = static_graph{}.variable<"all">(std::array<float, 3>{}).op<"seen", "all">([](std::array<float, 3> const& all) {
    return std::span<float const>(all);
  });
  auto session = monitored(graph, off_thread{my_hook{}});
  (void)session.run();
}
