// SPDX-License-Identifier: BSL-1.0
#include <limits>

#include <tautline/hooks/stop_at_step.hpp>
#include <tautline/sessions/static_graph.hpp>

#include "support.hpp"

using namespace support;
using tautline::last_step;
using tautline::monitored;
using tautline::num_steps;
using tautline::stop_at_step;

static_assert(sizeof(stop_at_step) <= 24);
static_assert(noexcept(std::declval<stop_at_step&>().after_run(std::declval<tautline::run_context_base&>())));

TEST_CASE("a number alone is the last step") {
  world of;
  auto session = monitored(backend(of), stop_at_step{3});
  auto const done = session.run_to_completion();
  CHECK(done.steps == 3);
  CHECK(done.stop.has_step);
  CHECK(done.stop.step == 3);
  CHECK(contains(done.stop.by, "stop_at_step"));
  CHECK(written(done.stop.reason) == "reached step 3");
}

TEST_CASE("last_step counts over resumes") {
  world of;
  of.first_step = 5;
  auto session = monitored(backend(of), stop_at_step{last_step(7)});
  CHECK(session.run_to_completion().steps == 7);
  CHECK(of.runs == 2);
}

TEST_CASE("a step that has been reached before a resume stops before the first run") {
  world of;
  of.first_step = 7;
  auto session = monitored(backend(of), stop_at_step{7});
  CHECK(session.should_stop());
  CHECK(session.stop().step == 7);
  CHECK(session.run_to_completion().steps == 7);
  CHECK(of.runs == 0);
}

TEST_CASE("num_steps counts from the step at which the session starts") {
  world of;
  of.first_step = 5;
  auto session = monitored(backend(of), stop_at_step{num_steps(3)});
  CHECK(session.hook<stop_at_step>().target() == 8);
  CHECK(session.run_to_completion().steps == 8);
  CHECK(of.runs == 3);
}

TEST_CASE("num_steps of none runs nothing") {
  world of;
  auto session = monitored(backend(of), stop_at_step{num_steps(0)});
  CHECK(session.should_stop());
}

TEST_CASE("a step that is jumped over counts as reached") {
  world of;
  of.per_run = 4;
  auto session = monitored(backend(of), stop_at_step{6});
  CHECK(session.run_to_completion().steps == 8);
  CHECK(session.stop().step == 8);
}

TEST_CASE("the target of num_steps is kept over a recovery that goes back") {
  world of;
  of.first_step = 5;
  of.in_run = [&](long run) {
    of.first_step = 6;  // a checkpoint was saved meanwhile
    return run == 3 ? tautline::status{error_kind::aborted, "broken"} : tautline::status{};
  };
  auto session = monitored(backend(of), stop_at_step{num_steps(3)});
  CHECK(session.run_to_completion().steps == 8);
  CHECK(of.sessions == 2);
  CHECK(of.runs == 5);  // 6, 7, a failure, then 7 and 8
}

TEST_CASE("a second begin forgets the target") {
  world of;
  stop_at_step hook{num_steps(2)};
  {
    auto session = monitored(backend(of), std::ref(hook));
    CHECK(session.run_to_completion().steps == 2);
  }
  of.first_step = 10;
  auto session = monitored(backend(of), std::ref(hook));
  CHECK(session.run_to_completion().steps == 12);
}

TEST_CASE("a number of steps beyond all bounds does not wrap around") {
  world of;
  of.first_step = 5;
  auto session = monitored(backend(of), stop_at_step{num_steps(std::numeric_limits<step_number>::max())});
  CHECK_FALSE(session.should_stop());
}

// --- a step that others advance, too --------------------------------------------------------------------------------

namespace {

/// Others make three steps for each of this session's.
auto shared_step(long first = 0) {
  return tautline::static_graph{}
      .variable<"step">(first)
      .update<"train", "step">([](long& step) { step += 4; });
}
/// What a run has seen of the step is short of what it is: the value as it was before the run.
template <class Session>
struct stale_session : Session {
  int* asked;
  long seen = 0;
  explicit stale_session(Session&& session, int* counted) : Session(std::move(session)), asked(counted) {}
  template <class Request>
  auto run(Request const& request) {
    seen = this->template value<"step">();
    return Session::run(request);
  }
  template <tautline::fixed_string Name, class Type>
  long stored() const {
    return seen;
  }
  tautline::step_number global_step() {
    ++*asked;
    return this->template value<"step">();
  }
};
struct stale_graph {
  decltype(tautline::static_graph{}.variable<"step">(0L).update<"train", "step">(+[](long& step) { ++step; })) graph =
      tautline::static_graph{}.variable<"step">(0L).update<"train", "step">(+[](long& step) { ++step; });
  int* asked;
  auto finalize() && {
    auto session = std::move(graph).finalize();
    return stale_session<decltype(session)>(std::move(session), asked);
  }
};

}  // namespace

TEST_CASE("of a shared step the end is where it has come to, whoever advanced it") {
  auto session = monitored(shared_step(), stop_at_step::of<"step">{last_step(18)});
  auto const done = session.run_to_completion(tautline::target<"train">);
  CHECK(done.steps == 5);  // 4, 8, 12, 16, 20
  CHECK(written(done.stop.reason) == "reached step 18");
  CHECK(contains(done.stop.by, "stop_at_step"));
}

TEST_CASE("of a shared step, too, nothing runs if it has been reached, and num_steps counts from where it stands") {
  auto over = monitored(shared_step(18), stop_at_step::of<"step">{18});
  CHECK(over.should_stop());
  auto session = monitored(shared_step(100), stop_at_step::of<"step">{num_steps(8)});
  CHECK(session.hook<stop_at_step::of<"step">>().target() == 108);
  CHECK(session.run_to_completion(tautline::target<"train">).steps == 2);
}

TEST_CASE("close to the end a shared step is read again") {
  int asked = 0;
  auto session = monitored(stale_graph{.asked = &asked}, stop_at_step::of<"step">{10});
  CHECK(session.run_to_completion(tautline::target<"train">).steps == 10);
  CHECK(asked == 2);  // when the session was made, and after the last run
}
