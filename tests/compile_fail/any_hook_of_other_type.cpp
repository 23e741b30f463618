// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a slot reads a value with another type than the session has\. Mend: declare it with the type
#include <tautline/hooks/any_hook.hpp>

#include "common.hpp"

int main() {
#ifndef CONTROL
  any_hook<reads<"loss", double>> slot;
#else
  any_hook<reads<"loss", float>> slot;
#endif
  auto session = monitored(toy_graph(), std::ref(slot));
  (void)session.run(target<"train">);
}
