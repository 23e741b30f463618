// SPDX-License-Identifier: BSL-1.0
// GCC PR 98995: a [[no_unique_address]] member cannot be initialised from a prvalue of an immovable type.
// compiles: not where the defect is present
// rule: hooks must be movable; what is immovable is kept by reference (std::ref)
#include "canary.hpp"

struct immovable {
  immovable() = default;
  immovable(immovable const&) = delete;
  immovable& operator=(immovable const&) = delete;
};
struct leaf {
  [[no_unique_address]] immovable hook;
};
immovable make() { return {}; }

int main() {
  leaf const kept{make()};
  (void)kept;
  return canary::defect_is_present(false);
}
