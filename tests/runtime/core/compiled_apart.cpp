// SPDX-License-Identifier: BSL-1.0
#include "compiled_apart.hpp"

#include "support.hpp"

// A hook that is compiled in another translation unit, against run_context_base.

namespace {

using namespace support;

TEST_CASE("a hook that was compiled apart sees steps, triggers and stops") {
  world of;
  auto session = tautline::monitored(backend{of}, stops_apart{5});
  auto const done = session.run_to_completion(target<"train">);
  CHECK(done.steps == 5);
  CHECK(described(done.stop) == "stop by stops_apart at 5: step 5 is the last");
  session.close();
  auto const& hook = session.hook<stops_apart>();
  CHECK(hook.before == 5);
  CHECK(hook.due_at == 4);
  CHECK(hook.ended_at == 5);
  CHECK(hook.closed);
}

TEST_CASE("its errors are the session's") {
  world of;
  of.first_step = 6;
  auto session = tautline::monitored(backend{of}, stops_apart{99});
  CHECK_FALSE(session.try_run_to_completion());
  CHECK(written(session.status()) == "step 7 is unlucky (cancelled, hook stops_apart, after_run, step 7)");
  CHECK(session.hook<stops_apart>().told == error_kind::cancelled);
}

TEST_CASE("sessions of one hook type in two translation units live side by side") { CHECK(train_apart(3) == 3); }

}  // namespace
