// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the values of a scripted_session are of type double\. Mend: fetch the name without a type
#include <tautline/testing.hpp>

using namespace tautline;

int main() {
  testing::script plan;
  testing::memory_store store;
  auto session = monitored(testing::scripted_session(plan), testing::memory_saver{store, every_steps{1}});
#ifndef CONTROL
  auto const result = session.run(fetch<"loss", float>);
  (void)result[fetch<"loss", float>];
#else
  auto const result = session.run(fetch<"loss">);
  (void)result[fetch<"loss">];
#endif
}
