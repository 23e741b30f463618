// SPDX-License-Identifier: BSL-1.0
// GCC PR 99576, 100611, 101367, 101976: an aggregate temporary in a full-expression with co_yield is destroyed twice.
// rule: yield named lvalues only, of trivially destructible types, and name every object in a statement of its own
#include "canary.hpp"

struct counted {
  int* live;
  explicit counted(int& all) : live(&all) { ++*live; }
  counted(counted const& other) : live(other.live) { ++*live; }
  ~counted() { --*live; }
};
struct event {  // an aggregate
  counted inside;
};

canary::generator<event> body(int& live) {
  int const local = 0;
  (void)local;
  co_yield event{counted(live)};
}

int main() {
  int live = 0;
  {
    auto events = body(live);
    while (events.next()) {
    }
  }
  return canary::defect_is_present(live != 0);
}
