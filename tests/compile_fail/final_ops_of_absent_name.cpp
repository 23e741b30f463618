// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this final_ops does not have this name
#include <tautline/hooks/final_ops.hpp>

#include "common.hpp"

int main() {
  final_ops<"w"> hook;
#ifndef CONTROL
  return hook.get<"v">() > 0;
#else
  return hook.get<"w">() > 0;
#endif
}
