// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the values that this hook asks for do not fit into the records of off_thread\. Mend: write off_thread_with
#include <tautline/hooks/off_thread.hpp>

#include "common.hpp"

#include <array>

struct my_hook {
  auto before_run(auto&) const { return fetch<"all">; }
  void after_run(auto&, auto const&) {}
};

int main() {
  auto graph = static_graph{}.variable<"all">(std::array<float, 30>{});
#ifndef CONTROL
  auto session = monitored(graph, off_thread{my_hook{}});
#else
  auto session = monitored(graph, off_thread_with<120>(my_hook{}));
#endif
  (void)session.run();
}
