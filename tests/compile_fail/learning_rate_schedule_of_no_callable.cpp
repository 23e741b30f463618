// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: learning_rate_schedule takes a callable of the step that returns a number\. Mend: pass one, or one of
#include <tautline/hooks/learning_rate_schedule.hpp>

#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), learning_rate_schedule<"rate">(0.1));
#else
  auto session = monitored(toy_graph(), learning_rate_schedule<"rate">(schedules::constant{0.1}));
#endif
  (void)session.run(target<"train">);
}
