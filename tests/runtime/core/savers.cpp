// SPDX-License-Identifier: BSL-1.0
#include <stdexcept>

#include "training.hpp"

// Hooks that save: when they are asked, when they are called, and what they then see.

namespace {

using namespace training;
using tautline::every_steps;

/// Decides in its place, and writes down what it sees when it is called.
struct saver_probe {
  using category = tautline::saver;
  static constexpr bool stateless = true;
  lines* trace;
  std::string id;
  step_number every = 1;
  std::function<void(life& at)> in_save = {};
  bool wanted = false;

  void after_run(auto& ctx) {
    wanted = ctx.step() % every == 0;
    trace->push_back("after_run " + id + " step=" + number(ctx.step()));
  }
  void end(auto& session) {
    wanted = true;
    trace->push_back("end " + id + " step=" + number(session.step()));
  }
  void close() { trace->push_back("close " + id); }
  void on_error(tautline::error const& happened) { trace->push_back("on_error " + id + " " + written(happened)); }
  [[nodiscard]] bool wants_save() const { return wanted; }
  void save(training_state const& state, life& at) {
    wanted = false;
    std::string line = "save " + id + " step=" + number(at.step()) + "/" + number(state.step()) + ":";
    state.each([&](state_item const& item) {
      if (item.view.type == element_type::F32) line += " " + name_of(item) + "=" + number(*static_cast<float*>(item.view.data));
      if (item.view.type == element_type::I32) {
        line += " " + name_of(item) + "=" + number(step_number{*static_cast<int*>(item.view.data)});
      }
    });
    trace->push_back(line);
    if (in_save) in_save(at);
  }
};

/// Changes in after_run and in end.
struct changing {
  lines* trace;
  int count = 0;
  auto state() { return fields{field<"count">(count)}; }
  void after_run(auto&) {
    ++count;
    trace->push_back("after_run changing");
  }
  void end(auto&) {
    count += 100;
    trace->push_back("end changing");
  }
};

TEST_CASE("a saver is called behind the last after_run of a step, and behind the last end") {
  lines trace;
  {
    auto session = monitored(summing(), saver_probe{&trace, "s", 2}, named<"changing">(changing{&trace}));
    (void)session.run_steps(3, target<"train">);
  }
  CHECK(joined(trace) ==
        joined({"after_run s step=1", "after_run changing",                                                     //
                "after_run s step=2", "after_run changing",                                                     //
                "save s step=2/2: variable/w=1 input/x/position=2 hook/changing/count=2",                       //
                "after_run s step=3", "after_run changing",                                                     //
                "end s step=3", "end changing",                                                                 //
                "save s step=3/3: variable/w=3 input/x/position=3 hook/changing/count=103", "close s"}));
}

TEST_CASE("two savers save in the order of their after_run, each in its steps") {
  lines trace;
  auto session = monitored(summing(), saver_probe{&trace, "a", 2}, named<"second">(saver_probe{&trace, "b", 1}));
  (void)session.run_steps(2, target<"train">);
  lines saves;
  for (std::string const& line : trace) {
    if (line.rfind("save", 0) == 0) saves.push_back(line.substr(0, 13));
  }
  CHECK(joined(saves) == joined({"save b step=1", "save a step=2", "save b step=2"}));
}

TEST_CASE("a saver that fails ends the training; the savers behind it do not save") {
  lines trace;
  auto session = monitored(summing(),
                           saver_probe{&trace, "a", 2, [](life& at) { at.fail(error_kind::internal, "the disk is full"); }},
                           named<"second">(saver_probe{&trace, "b", 2}));
  auto const done = session.try_run_to_completion(target<"train">);
  CHECK(done.error == error_kind::internal);
  CHECK_FALSE(session.is_open());
  CHECK(session.completed_steps() == 2);
  CHECK(session.status().where == callback::save);
  CHECK(session.status().step == 2);
  std::string const what = "the disk is full (internal, hook " + std::string(session.status().hook) + ", save, step 2)";
  lines const last(trace.end() - 5, trace.end());
  CHECK(joined(last) == joined({"save a step=2/2: variable/w=1 input/x/position=2", "on_error a " + what,
                                "on_error b " + what, "close a", "close b"}));
}

TEST_CASE("at the end every saver saves, whatever the others do") {
  lines trace;
  auto session = monitored(summing(),
                           saver_probe{&trace, "a", 9, [](life& at) { at.fail(error_kind::internal, "the disk is full"); }},
                           named<"second">(saver_probe{&trace, "b", 9}));
  (void)session.run(target<"train">);
  CHECK(session.try_close().kind == error_kind::internal);
  lines saves;
  for (std::string const& line : trace) {
    if (line.rfind("save", 0) == 0 || line.rfind("close", 0) == 0) saves.push_back(line.substr(0, 7));
  }
  CHECK(joined(saves) == joined({"save a ", "save b ", "close a", "close b"}));
}

#if TAUTLINE_EXCEPTIONS
TEST_CASE("an exception in save is an error of the saver, and is not recovered") {
  lines trace;
  auto session = monitored(summing(), saver_probe{&trace, "a", 1, [](life&) { throw tautline::aborted_error("no"); }});
  CHECK_THROWS_AS((void)session.run(target<"train">), tautline::aborted_error);
  CHECK_FALSE(session.is_open());
  CHECK(session.status().where == callback::save);
  CHECK(trace.back() == "close a");
}
#endif

TEST_CASE("a saver may ask for a stop: the training ends in good order") {
  lines trace;
  auto session = monitored(summing(), saver_probe{&trace, "a", 2, [](life& at) { at.request_stop("saved"); }});
  (void)session.run_to_completion(target<"train">);
  CHECK(session.completed_steps() == 2);
  CHECK(session.stop().step == 2);
  CHECK(written(session.stop().reason) == "saved");
}

TEST_CASE("a run that a saver does not see is not saved") {
  lines trace;
  auto session = monitored(summing(), saver_probe{&trace, "a", 1}, named<"other">(changing{&trace}));
  (void)session.run_with<"other">(target<"train">);
  (void)session.run_without_hooks(target<"train">);
  (void)session.evaluate(fetch<"loss">);
  CHECK(joined(trace) == joined({"after_run changing"}));
  (void)session.run_with<saver_probe>(target<"train">);
  CHECK(trace.back() == "save a step=3/3: variable/w=4 input/x/position=4 hook/other/count=1");  // 0 + 1 + 3
}

struct looks_away {
  void after_run(auto&) {}
};
/// Wants to save at any time.
struct always_wants {
  using category = tautline::saver;
  lines* trace;
  void after_run(auto&) {}
  [[nodiscard]] static bool wants_save() { return true; }
  void save(training_state const& state, life&) { trace->push_back("save " + number(state.step())); }
  static constexpr bool stateless = true;
};
TEST_CASE("a saver is not even asked in a run that it does not see") {
  lines trace;
  auto session = monitored(summing(), always_wants{&trace}, named<"other">(looks_away{}));
  (void)session.run_without_hooks(target<"train">);
  (void)session.run_with<"other">(target<"train">);
  CHECK(trace.empty());
  (void)session.run_with<always_wants>(target<"train">);
  CHECK(joined(trace) == joined({"save 3"}));
}

TEST_CASE("a step that a gate vetoed is saved with what is there") {
  lines trace;
  lines gates;
  auto session = monitored(summing(), saver_probe{&trace, "a", 1},
                           gatekeeper{&gates, "g", [](tautline::run_context_base& ctx, float) { ctx.veto(); }});
  (void)session.run_steps(2, target<"train">);
  CHECK(trace.back() == "save a step=2/2: variable/w=0 input/x/position=2");
}

TEST_CASE("nothing is saved of a run that fails, nor at the end of one") {
  lines trace;
  auto session = monitored(summing(), saver_probe{&trace, "a", 1},
                           gatekeeper{&trace, "g", [](tautline::run_context_base& ctx, float) {
                                        if (ctx.step() == 2) ctx.fail(error_kind::nan, "no");
                                      }});
  (void)session.try_run_to_completion(target<"train">);
  session.close();
  int saves = 0;
  for (std::string const& line : trace) saves += line.rfind("save", 0) == 0 ? 1 : 0;
  CHECK(saves == 1);
}

/// A saver by category only: it saves nothing, and nobody is asked for a state.
struct saver_in_name {
  using category = tautline::saver;
  int sum = 0;
  void after_run(auto&) { ++sum; }
};
TEST_CASE("a hook of the category without save is called like any other") {
  auto session = monitored(summing(), saver_in_name{});
  (void)session.run_steps(2, target<"train">);
  CHECK(session.hook<saver_in_name>().sum == 2);
}

/// Looks at the whole state from its own place.
struct looks {
  lines* trace;
  void after_run(auto& ctx) {
    int count = 0;
    auto const state = ctx.session().state();
    state.each([&](state_item const&) { ++count; });
    trace->push_back("step " + number(state.step()) + ": " + number(step_number{count}) + " values");
    state.each_node([&](tautline::node_info const& node) {
      std::string line = std::string(node.kind) + " " + node.name + "(";
      for (std::size_t i = 0; i < node.input_count; ++i) line += std::string(i > 0 ? "," : "") + node.inputs[i];
      line += node.has_form ? std::string(") ") + to_string(node.form.type) : std::string(")");
      trace->push_back(line);
      CHECK(node.form.data == nullptr);
    });
  }
};
TEST_CASE("the state and the description of the graph can be looked at from everywhere") {
  lines trace;
  auto session = monitored(summing(), looks{&trace}, named<"changing">(changing{&trace}));
  (void)session.run(target<"train">);
  trace.pop_back();
  CHECK(joined(trace) == joined({"step 1: 3 values", "variable w() F32", "placeholder rate() F32", "source x() F32",
                                 "op loss(w,x) F32", "update train(w,x,rate) F32", "op late(w) F32"}));
}

}  // namespace
