// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: off_thread takes after_run to another thread, and this hook has none\. Mend: give the hook to the session
#include <tautline/hooks/off_thread.hpp>

#include "common.hpp"

struct my_hook {
#ifdef CONTROL
  void after_run(auto&) {}
#endif
  void close() {}
};

int main() {
  auto session = monitored(toy_graph(), off_thread{my_hook{}});
  (void)session.run(target<"train">);
}
