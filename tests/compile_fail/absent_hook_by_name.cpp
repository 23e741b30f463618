// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the session has no hook of this name\. Mend: use one of its hooks. names
// expect-near: "main".*"mine"
#include "common.hpp"

int main() {
  auto session = monitored(toy_graph(), good_hook{}, named<"mine">(good_hook{}));
#ifndef CONTROL
  (void)session.hook<"main">();
#else
  (void)session.hook<"mine">();
#endif
}
