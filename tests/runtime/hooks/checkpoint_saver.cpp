// SPDX-License-Identifier: BSL-1.0
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include <tautline/hooks/checkpoint_saver.hpp>

#include "../core/training.hpp"

// When a checkpoint_saver saves, what, and what it does with that which its sink and its listeners say.

namespace {

using namespace training;
using tautline::also_at_start;
using tautline::at_end;
using tautline::checkpoint_saver;
using tautline::every_steps;
using tautline::finished_save;
using tautline::never;
using tautline::status;
using tautline::with_metrics;

/// All that a sink must be. Writes down what it is given.
struct plain_sink {
  memory_store kept;
  std::vector<step_number> steps;
  std::function<status(step_number)> in_save = {};
  status save(training_state const& state) {
    if (status const how = in_save ? in_save(state.step()) : status{}; !how.ok()) return how;
    kept.save(state);
    steps.push_back(state.step());
    return {};
  }
};
static_assert(tautline::checkpoint_sink<plain_sink>);

/// With all that a sink may have: what is saved is finished when `finish` is called.
struct full_sink : plain_sink {
  lines trace;
  std::vector<std::pair<std::string, double>> metrics;
  std::vector<finished_save> waiting, done;
  status finished{};

  [[nodiscard]] bool is_empty() const { return steps.empty(); }
  status prepare(training_state const& state) {
    trace.push_back("prepare " + number(state.step()));
    return {};
  }
  void set_metric(char const* name, double value) { metrics.emplace_back(name, value); }
  status save(training_state const& state) {
    trace.push_back("save " + number(state.step()));
    waiting.push_back({in_save ? in_save(state.step()) : status{}, state.step(), "a path"});
    steps.push_back(state.step());
    return {};
  }
  bool next_finished(finished_save& next) {
    if (done.empty()) return false;
    next = done.front();
    done.erase(done.begin());
    return true;
  }
  status finish() {
    trace.push_back("finish");
    done.insert(done.end(), waiting.begin(), waiting.end());
    waiting.clear();
    return finished;
  }
};

bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

std::string steps_of(plain_sink const& sink) {
  std::string made;
  for (step_number const step : sink.steps) made += (made.empty() ? "" : " ") + number(step);
  return made;
}

/// A saver that a test finds again.
template <class Sink, class... Parts>
auto saving(Sink& sink, Parts... parts) {
  return named<"saver">(checkpoint_saver{sink, parts...});
}

/// What is saved in `steps` steps by a trigger.
template <class Trigger>
std::string saved_by(Trigger when, std::int64_t steps) {
  plain_sink sink;
  auto session = monitored(summing(), saving(sink, when));
  (void)session.run_steps(steps, target<"train">);
  session.close();
  CHECK(session.template hook<"saver">().saved() == static_cast<std::int64_t>(sink.steps.size()));
  return steps_of(sink);
}

TEST_CASE("it saves in the steps of its trigger, and at the end what has not been saved") {
  CHECK(saved_by(every_steps{3}, 7) == "3 6");
  CHECK(saved_by(every_steps{3} | at_end, 7) == "3 6 7");
  CHECK(saved_by(every_steps{3} | at_end, 6) == "3 6");
  CHECK(saved_by(every_steps{.period = 3, .also_first = true}, 7) == "1 3 6");
  CHECK(saved_by(at_end, 7) == "7");
  CHECK(saved_by(never, 7).empty());
  CHECK(saved_by(tautline::at_steps{2, 5}, 7) == "2 5");
}

TEST_CASE("without a trigger it saves after every step") {
  plain_sink sink;
  auto session = monitored(summing(), saving(sink));
  (void)session.run_steps(3, target<"train">);
  CHECK(steps_of(sink) == "1 2 3");
}

TEST_CASE("a training without a step is not saved, but at the start, if that is asked for") {
  plain_sink sink;
  {
    auto session = monitored(summing(0), saving(sink, every_steps{2} | at_end));
    (void)session.run_to_completion(target<"train">);
    CHECK(session.completed_steps() == 0);
  }
  CHECK(steps_of(sink).empty());
  {
    auto session = monitored(summing(0), saving(sink, every_steps{2} | at_end, also_at_start));
    (void)session.run_to_completion(target<"train">);
  }
  CHECK(steps_of(sink) == "0");
}

TEST_CASE("at the start it saves what nobody has saved yet") {
  full_sink sink;
  {
    auto session = monitored(summing(), saving(sink, every_steps{2}, also_at_start));
    CHECK(steps_of(sink) == "0");
    (void)session.run_steps(2, target<"train">);
  }
  CHECK(steps_of(sink) == "0 2");
  auto again = monitored(summing(), saving(sink, every_steps{2}, also_at_start));
  CHECK(steps_of(sink) == "0 2");
}

TEST_CASE("at the start, with a sink that cannot tell: once for each hook, not once for each session") {
  world outside;
  plain_sink sink;
  outside.in_run = [](long run) { return run == 2 ? status{error_kind::aborted, "broken"} : status{}; };
  auto session = monitored(backend(outside), saving(sink, never, also_at_start));
  (void)session.run_steps(3);
  CHECK(outside.sessions == 2);
  CHECK(steps_of(sink) == "0");
}

TEST_CASE("after a resume it goes on as if nothing had happened") {
  plain_sink sink;
  {
    auto first = monitored(summing(), options{restore_from{sink.kept}}, saving(sink, every_steps{3} | at_end));
    (void)first.run_steps(4, target<"train">);
  }
  auto second = monitored(summing(), options{restore_from{sink.kept}}, saving(sink, every_steps{3} | at_end));
  CHECK(second.completed_steps() == 4);
  (void)second.run_steps(4, target<"train">);
  second.close();
  CHECK(steps_of(sink) == "3 4 6 8");
  CHECK(sink.kept.get<float>("variable/w") == 28);
}

TEST_CASE("after a recovery steps that were lost are saved again") {
  world outside;
  plain_sink sink;
  outside.in_run = [](long run) { return run == 6 ? status{error_kind::aborted, "broken"} : status{}; };
  auto session = monitored(backend(outside), options{restore_from{sink.kept}}, saving(sink, every_steps{4}));
  (void)session.run_steps(9);
  CHECK(outside.sessions == 2);
  CHECK(steps_of(sink) == "4 8");
  CHECK(sink.kept.restores == 2);
}

/// Changes in after_run and in end, behind the saver.
struct late_changes {
  int count = 0;
  auto state() { return fields{field<"count">(count)}; }
  void after_run(auto&) { ++count; }
  void end(auto&) { count += 100; }
};

TEST_CASE("what is saved is the state behind the last after_run, and behind the last end") {
  plain_sink sink;
  std::vector<int> counts;
  sink.in_save = [&](step_number) { return status{}; };
  auto session = monitored(summing(), saving(sink, every_steps{2} | at_end), named<"late">(late_changes{}));
  (void)session.run_steps(2, target<"train">);
  CHECK(sink.kept.get<int>("hook/late/count") == 2);
  (void)session.run(target<"train">);
  session.close();
  CHECK(sink.kept.get<int>("hook/late/count") == 103);
  CHECK(sink.kept.step == 3);
}

/// Makes a variable not finite, or finite again, whatever its place.
struct breaks_variable {
  static constexpr bool stateless = true;
  step_number from, to;
  void after_run(auto& ctx) {
    bool const broken = ctx.step() >= from && ctx.step() < to;
    ctx.session().state().each([&](state_item const& item) {
      if (name_of(item) == "variable/w") *static_cast<float*>(item.view.data) = broken ? NAN : 1.0F;
    });
  }
};

TEST_CASE("what is not finite is not saved, whoever made it so and when; it is counted") {
  for (bool const comes_later : {false, true}) {
    CAPTURE(comes_later);
    plain_sink sink;
    auto const check = [&](auto session) {
      (void)session->run_steps(6, target<"train">);
      // it decides in its place, and looks again when it saves: what becomes finite behind the decision is too late
      CHECK(steps_of(sink) == (comes_later ? "1 2 6" : "1 2 5 6"));
      CHECK(session->template hook<"saver">().skipped() == (comes_later ? 3 : 2));
      CHECK(session->template hook<"saver">().saved() == (comes_later ? 3 : 4));
    };
    auto saver = saving(sink, every_steps{1});
    if (comes_later) {
      auto session = monitored(summing(), std::move(saver), breaks_variable{3, 5});
      check(&session);
    } else {
      auto session = monitored(summing(), breaks_variable{3, 5}, std::move(saver));
      check(&session);
    }
  }
}

TEST_CASE("a sink that finds something not finite says so, and that is no error") {
  plain_sink sink;
  sink.in_save = [](step_number step) { return step == 2 ? status{error_kind::nan, "loss"} : status{}; };
  auto session = monitored(summing(), saving(sink, every_steps{1}));
  (void)session.run_steps(3, target<"train">);
  CHECK(steps_of(sink) == "1 3");
  CHECK(session.hook<"saver">().skipped() == 1);
}

// --- listeners --------------------------------------------------------------------------------------------------------

struct listener {
  lines* trace;
  std::string id;
  step_number refused = -1;
  step_number last = -1;
  bool before_save(life&, step_number step) {
    trace->push_back(id + " before " + number(step));
    return step != refused;
  }
  void after_save(life& at, step_number step, char const* path) {
    trace->push_back(id + " after " + number(step) + " " + path);
    if (step == last) at.request_stop("saved enough");
  }
};
struct quiet_listener {
  lines* trace;
  void before_save(life&, step_number step) const { trace->push_back("quiet before " + number(step)); }
};

TEST_CASE("listeners are told in their order; one of them may refuse a saving, and all are asked all the same") {
  lines trace;
  plain_sink sink;
  listener second{&trace, "b"};
  auto session = monitored(summing(), saving(sink, every_steps{1}, listener{&trace, "a", 2}, quiet_listener{&trace},
                                                       std::ref(second)));
  (void)session.run_steps(2, target<"train">);
  CHECK(joined(trace) == joined({"a before 1", "quiet before 1", "b before 1", "a after 1 ", "b after 1 ",  //
                                 "a before 2", "quiet before 2", "b before 2"}));
  CHECK(steps_of(sink) == "1");
  CHECK(session.hook<"saver">().saved() == 1);
  CHECK(session.hook<"saver">().skipped() == 0);
}

TEST_CASE("listeners are told the path, where the sink has one; not of what has failed") {
  struct with_path : plain_sink {
    [[nodiscard]] char const* last_path() const { return "here"; }
  } sink;
  sink.in_save = [](step_number step) { return step == 2 ? status{error_kind::error, "full"} : status{}; };
  lines trace;
  auto session = monitored(summing(), saving(sink, every_steps{1}, listener{&trace, "a"}));
  (void)session.try_run_to_completion(target<"train">);
  CHECK(joined(trace) == joined({"a before 1", "a after 1 here", "a before 2"}));
}

TEST_CASE("a listener ends the training when something has been saved") {
  lines trace;
  plain_sink sink;
  auto session = monitored(summing(), saving(sink, every_steps{2}, listener{&trace, "a", -1, 4}));
  auto const done = session.run_to_completion(target<"train">);
  CHECK(session.completed_steps() == 4);
  CHECK(written(done.stop.reason) == "saved enough");
  CHECK(std::string(done.stop.by) == "saver");
}

TEST_CASE("of a sink in the background they are told when it has finished: at the next look, and in close") {
  lines trace;
  full_sink sink;
  auto session = monitored(summing(), saving(sink, every_steps{2}, listener{&trace, "a"}));
  (void)session.run_steps(2, target<"train">);
  CHECK(joined(trace) == joined({"a before 2"}));
  (void)sink.finish();
  (void)session.run_steps(2, target<"train">);
  CHECK(joined(trace) == joined({"a before 2", "a after 2 a path", "a before 4"}));
  session.close();
  CHECK(trace.back() == "a after 4 a path");
  CHECK(session.hook<"saver">().saved() == 2);
}

TEST_CASE("at the end it waits for room before it saves, and for the writing before it closes") {
  full_sink sink;
  auto session = monitored(summing(), saving(sink, at_end));
  (void)session.run_steps(2, target<"train">);
  session.close();
  CHECK(joined(sink.trace) == joined({"prepare 0", "finish", "save 2", "finish"}));
}

// --- metrics ----------------------------------------------------------------------------------------------------------

/// Publishes in every second step.
struct validation {
  static constexpr bool stateless = true;
  using provides = tautline::provides<"validation/accuracy", double>;
  double factor = 1;
  void after_run(auto& ctx) {
    if (ctx.step() % 2 == 0) ctx.template publish<"validation/accuracy">(factor * static_cast<double>(ctx.step()) / 10);
  }
};

TEST_CASE("metrics are those of the last run that had them, and NaN before the first") {
  full_sink sink;
  auto session = monitored(summing(), saving(sink, every_steps{1}, with_metrics<"validation/accuracy">), validation{});
  (void)session.run_steps(3, target<"train">);
  REQUIRE(sink.metrics.size() == 3);
  CHECK(sink.metrics[0].first == "validation/accuracy");
  CHECK(std::isnan(sink.metrics[0].second));
  CHECK(sink.metrics[1].second == 0.2);
  CHECK(sink.metrics[2].second == 0.2);
}

TEST_CASE("several metrics are taken together") {
  full_sink sink;
  auto session = monitored(summing(), saving(sink, every_steps{1}, with_metrics<"validation/accuracy", "loss">), validation{});
  (void)session.run_steps(3, target<"train">);
  REQUIRE(sink.metrics.size() == 6);
  CHECK(std::isnan(sink.metrics[1].second));
  CHECK(sink.metrics[3].second == 1);  // of step 2
  CHECK(sink.metrics[5].second == 1);
}

TEST_CASE("a metric that was seen before a resume is known behind it") {
  plain_sink sink;
  {
    auto session = monitored(summing(), options{restore_from{sink.kept}},
                             saving(sink, every_steps{1}, with_metrics<"validation/accuracy">), validation{});
    (void)session.run_steps(2, target<"train">);
  }
  full_sink second;
  auto session = monitored(summing(), options{restore_from{sink.kept}},
                           saving(second, every_steps{1}, with_metrics<"validation/accuracy">), validation{});
  (void)session.run_steps(1, target<"train">);
  REQUIRE(second.metrics.size() == 1);
  CHECK(second.metrics[0].second == 0.2);
}

// --- errors -----------------------------------------------------------------------------------------------------------

TEST_CASE("an error of the sink ends the training at once") {
  plain_sink sink;
  sink.in_save = [](step_number step) { return step == 2 ? status{error_kind::error, "the disk is full"} : status{}; };
  auto session = monitored(summing(), saving(sink, every_steps{1}));
  auto const done = session.try_run_to_completion(target<"train">);
  CHECK(done.error == error_kind::error);
  CHECK(session.completed_steps() == 2);
  CHECK(session.status().where == callback::save);
  CHECK(contains(written(session.status()), "the disk is full"));
  CHECK_FALSE(session.is_open());
}

TEST_CASE("an error in the background ends the training at the next look") {
  full_sink sink;
  sink.in_save = [](step_number step) { return step == 2 ? status{error_kind::error, "the disk is full"} : status{}; };
  auto session = monitored(summing(), saving(sink, every_steps{2}));
  (void)session.run_steps(3, target<"train">);
  (void)sink.finish();
  CHECK(session.status().kind == error_kind::none);
  auto const done = session.try_run_to_completion(target<"train">);
  CHECK(done.error == error_kind::error);
  CHECK(session.completed_steps() == 4);
  CHECK(session.status().where == callback::after_run);
  CHECK(contains(written(session.status()), "the disk is full"));
  CHECK(steps_of(sink) == "2");
}

TEST_CASE("an error of the last saving comes out of close") {
  full_sink sink;
  sink.in_save = [](step_number) { return status{error_kind::error, "the disk is full"}; };
  auto session = monitored(summing(), saving(sink, at_end));
  (void)session.run_steps(2, target<"train">);
  CHECK(session.try_close().kind == error_kind::error);
  CHECK(session.status().where == callback::close);
}

struct fails_at {
  static constexpr bool stateless = true;
  step_number step;
  void after_run(auto& ctx) const {
    if (ctx.step() == step) ctx.fail(error_kind::internal, "of the training");
  }
};

TEST_CASE("an error of the sink is attached to one of the training, which is waited for all the same") {
  full_sink sink;
  sink.in_save = [](step_number step) { return step == 1 ? status{error_kind::error, "the disk is full"} : status{}; };
  sink.finished = {error_kind::unavailable, "it takes too long"};
  auto session = monitored(summing(), saving(sink, every_steps{1}), fails_at{1});
  // the step that fails is not saved; so this one is written by hand
  CHECK(session.try_run(target<"train">).error() == error_kind::internal);
  CHECK(contains(written(session.status()), "of the training"));
  CHECK(sink.trace.back() == "finish");
  REQUIRE(session.attached_errors().size() == 1);
  CHECK(contains(written(session.attached_errors()[0]), "it takes too long"));
}

TEST_CASE("a sink that cannot be prepared ends the making of the session") {
  struct broken : plain_sink {
    status prepare(training_state const&) { return {error_kind::busy, "another has it"}; }
  } sink;
  auto session = tautline::try_monitored(summing(), saving(sink, every_steps{1}));
  CHECK(session.status().kind == error_kind::busy);
  CHECK(session.status().where == callback::after_create_session);
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("what a sink or a listener throws is an error of the hook") {
  plain_sink sink;
  sink.in_save = [](step_number) -> status { throw std::runtime_error("from the sink"); };
  auto session = monitored(summing(), saving(sink, every_steps{1}));
  CHECK_THROWS_WITH_AS((void)session.run(target<"train">), "from the sink", std::runtime_error);
  CHECK(session.status().where == callback::save);
}
#endif

// --- without a heap ---------------------------------------------------------------------------------------------------

/// A region of memory that stays: as flash would be used, two halves that take turns.
template <std::size_t Size>
struct flash {
  static constexpr bool real_time = true;
  struct half {
    std::byte bytes[Size];
    std::size_t used = 0;
    step_number step = -1;  // written last
  };
  half halves[2];

  status save(training_state const& state) noexcept {
    half& to = halves[halves[0].step <= halves[1].step ? 0 : 1];
    to.step = -1;
    to.used = 0;
    bool fits = true;
    state.each([&](state_item const& item) {
      std::size_t const size = item.view.bytes();
      fits = fits && to.used + size <= Size;
      if (!fits) return;
      std::memcpy(to.bytes + to.used, item.view.data, size);
      to.used += size;
    });
    if (!fits) return {error_kind::error, "the region is too small"};
    to.step = state.step();
    return {};
  }
  [[nodiscard]] half const& latest() const { return halves[halves[0].step > halves[1].step ? 0 : 1]; }
  restored restore(training_state const& state) noexcept {
    half const& from = latest();
    if (from.step < 0) return {};
    std::size_t at = 0;
    state.each([&](state_item const& item) {
      std::memcpy(item.view.data, from.bytes + at, item.view.bytes());
      at += item.view.bytes();
    });
    return {{}, true, from.step};
  }
};

TEST_CASE("a fixed region of memory is a sink and a restorer, fit for real time") {
  flash<64> region;
  {
    auto session = monitored(summing(), options{tautline::real_time{}, restore_from{region}}, saving(region, every_steps{2}));
    (void)session.run_steps(5, target<"train">);
  }
  CHECK(region.latest().step == 4);
  auto session = monitored(summing(), options{tautline::real_time{}, restore_from{region}}, saving(region, every_steps{2}));
  CHECK(session.completed_steps() == 4);
  CHECK(session.run(target<"train">, fetch<"train">)[fetch<"train">] == 10);
  (void)session.run(target<"train">);
  CHECK(region.latest().step == 6);
}

TEST_CASE("a region that is too small says so, and the other half is as it was") {
  flash<4> region;
  auto session = monitored(summing(), saving(region, every_steps{2}));
  auto const done = session.try_run_to_completion(target<"train">);
  CHECK(done.error == error_kind::error);
  CHECK(contains(written(session.status()), "the region is too small"));
  CHECK(region.latest().step == -1);
}

// --- values that lie elsewhere --------------------------------------------------------------------------------------

/// A session whose values have to be brought before they can be seen.
template <class Session>
struct distant_session : Session {
  status* answer;
  distant_session(Session&& session, status* how) : Session(std::move(session)), answer(how) {}
  [[nodiscard]] status read_state() const { return *answer; }
};
struct distant_graph {
  decltype(summing()) graph = summing();
  status* answer;
  auto finalize() && {
    auto session = std::move(graph).finalize();
    return distant_session<decltype(session)>(std::move(session), answer);
  }
};
/// A sink that runs the session.
struct running_sink : plain_sink {
  static constexpr bool runs_session = true;
};

struct breaker {
  static constexpr bool stateless = true;
  status* answer;
  void after_run(auto& ctx) const {
    if (ctx.step() == 2) *answer = {error_kind::aborted, "gone"};
  }
};

TEST_CASE("where the session is broken nothing is saved, and the next run is the one that fails") {
  for (error_kind const kind : {error_kind::aborted, error_kind::unavailable}) {
    status answer{};
    plain_sink sink;
    auto session = monitored(distant_graph{.answer = &answer}, saving(sink, every_steps{1}));
    (void)session.run_steps(1, target<"train">);
    answer = {kind, "the other machine is gone"};
    (void)session.run_steps(2, target<"train">);
    CHECK(steps_of(sink) == "1");
    CHECK(session.hook<"saver">().skipped() == 2);
    answer = {};
    (void)session.run_steps(1, target<"train">);
    CHECK(steps_of(sink) == "1 4");
  }
}

namespace {
std::string words_of(tautline::error const& happened) {
  char words[400];
  happened.write_to(words, sizeof words);
  return words;
}
}  // namespace

TEST_CASE("values that cannot be read for another reason are an error of the saver") {
  status answer{error_kind::invalid_argument, "a value has no name"};
  plain_sink sink;
  auto session = monitored(distant_graph{.answer = &answer}, saving(sink, every_steps{1}));
  CHECK(session.try_run(target<"train">).error() == error_kind::invalid_argument);
  CHECK(words_of(session.status()).find("a value has no name") != std::string::npos);
  CHECK(sink.steps.empty());
}

TEST_CASE("the last step is not left out silently") {
  status answer{};
  plain_sink sink;
  auto session = monitored(distant_graph{.answer = &answer}, saving(sink, at_end));
  (void)session.run_steps(1, target<"train">);
  answer = {error_kind::unavailable, "the other machine is gone"};
  CHECK(words_of(session.try_close()).find("the other machine is gone") != std::string::npos);
  CHECK(session.hook<"saver">().skipped() == 1);
}

TEST_CASE("a session that breaks while it is saved is no error of a sink that runs it, but of any other") {
  running_sink sink;
  sink.in_save = [](step_number step) { return step == 2 ? status{error_kind::aborted, "the other machine is gone"} : status{}; };
  auto session = monitored(summing(), saving(sink, every_steps{1}));
  (void)session.run_steps(3, target<"train">);
  CHECK(steps_of(sink) == "1 3");
  CHECK(session.hook<"saver">().skipped() == 1);

  plain_sink other;
  other.in_save = sink.in_save;
  auto fails = monitored(summing(), saving(other, every_steps{1}));
  for (int i = 0; i < 3 && fails.is_open(); ++i) (void)fails.try_run(target<"train">);
  CHECK(words_of(fails.status()).find("the other machine is gone") != std::string::npos);
}

TEST_CASE("a hook after the saver that breaks the session keeps it from saving") {
  status answer{};
  plain_sink sink;
  auto session = monitored(distant_graph{.answer = &answer}, saving(sink, every_steps{1}), breaker{&answer});
  (void)session.run_steps(2, target<"train">);
  CHECK(steps_of(sink) == "1");
  CHECK(session.hook<"saver">().skipped() == 1);
}

}  // namespace
