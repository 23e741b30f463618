// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: before_run returns a request with a destructor, and the loop calls none\. Mend: return an optional that is trivially destructible
// expect-near: my_optional
#include "common.hpp"

// an optional of another library, which destroys even what need not be destroyed
template <class Value>
class my_optional {
 public:
  using value_type = Value;
  my_optional(Value const& value) : value_(value) {}
#ifndef CONTROL
  ~my_optional() {}
#endif
  bool has_value() const { return true; }
  Value const& operator*() const { return value_; }

 private:
  Value value_;
};
struct my_hook {
  auto before_run(auto&) { return my_optional(fetch<"loss">); }
  void after_run(auto&, auto&) {}
};

int main() {
  auto session = monitored(toy_graph(), my_hook{});
  (void)session.run_to_completion(target<"train">);
}
