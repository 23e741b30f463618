// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: final_ops keeps numbers\. Mend: take other values by final_ops<\.\.\.>::then\(callback\)
#include <tautline/hooks/final_ops.hpp>

#include "common.hpp"

struct pair {
  float first, second;
};

int main() {
  auto graph = toy_graph().op<"pair", "w">([](float w) { return pair{w, w}; });
#ifndef CONTROL
  auto session = monitored(graph, final_ops<"pair">{});
#else
  auto session = monitored(graph, final_ops<"pair">::then([](auto const& result) { (void)result[fetch<"pair">].first; }));
#endif
  (void)session.run(target<"train">);
}
