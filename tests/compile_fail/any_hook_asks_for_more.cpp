// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook asks for or feeds what its slot does not declare\. Mend: declare it, with its type, as in any_hook
#include <tautline/hooks/any_hook.hpp>

#include "common.hpp"

struct my_hook {
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto&, auto const&) {}
};

int main() {
#ifndef CONTROL
  any_hook<> slot;
#else
  any_hook<reads<"loss", float>> slot;
#endif
  slot.install(my_hook{});
}
