// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <limits>
#include <stdexcept>

#include <tautline/hooks/loss_logger.hpp>
#include <tautline/sessions/step_function.hpp>

#include "support.hpp"

using namespace support;
using tautline::at_end;
using tautline::every_steps;
using tautline::loss;
using tautline::loss_logger;
using tautline::metrics;
using tautline::model;
using tautline::model_dependent;
using tautline::monitored;
using tautline::step_function;
using tautline::try_monitored;
using tautline::value;

namespace {

using classifier = model<loss<"cross entropy">, metrics<"accuracy", "top5">>;

struct memory_writer {
  lines written;
  void add_scalar(std::string_view tag, double what, step_number step) {
    written.push_back(std::string(tag) + " " + number(what) + " " + number(step));
  }
};

/// A hook that works with any model.
template <class Model = model<>>
struct judge : model_dependent<Model> {
  double best = 1e9;
  double last_metric = 0;
  auto before_run(auto&) const {
    return tautline::run_args{this->model_instance().fetch_loss(), this->model_instance().fetch_metrics()};
  }
  void after_run(auto&, auto const& values) {
    best = std::min(best, static_cast<double>(values[this->model_instance().fetch_loss()]));
    values.each([&](char const*, auto const& metric) { last_metric = static_cast<double>(metric); });
  }
};

}  // namespace

TEST_CASE("roles name nodes: those of a model, or the usual ones") {
  static_assert(classifier::loss_name == tautline::fixed_string("cross entropy"));
  static_assert(std::is_same_v<decltype(classifier::fetch_loss()), tautline::fetch_t<"cross entropy">>);
  static_assert(std::is_same_v<decltype(classifier::fetch_metrics()), tautline::fetches<"accuracy", "top5">>);
  static_assert(std::is_same_v<model<>, model<loss<"loss">, metrics<"accuracy">>>);
  static_assert(std::is_empty_v<model_dependent<classifier>>);

  auto session = monitored(step_function([n = 5.0f]() mutable {
                             n -= 1;
                             return tautline::named_values{value<"cross entropy">(n), value<"accuracy">(0.5f), value<"top5">(n / 8)};
                           }),
                           judge<classifier>{});
  (void)session.run_steps(3);
  CHECK(session.hook<judge<classifier>>().best == 2);
  CHECK(session.hook<judge<classifier>>().last_metric == 0.25);
}

TEST_CASE("the loss of the usual model is logged, with the tag Loss") {
  world of;
  of.ticks_a_run = 1500;
  lines said;
  memory_writer writer;
  auto session = monitored(scripted(of, [](long run) { return 1.0 / static_cast<double>(run); }),
                           loss_logger{every_steps{2} | at_end, {.log = [&](std::string_view line) { said.emplace_back(line); },
                                                                 .writer = writer,
                                                                 .clock = run_clock{&of}}});
  (void)session.run_steps(5);
  session.close();
  CHECK(joined(said) == "(    N/A    ) Step:      2, Loss: 0.5000\n"
                        "(    3.000 s) Step:      4, Loss: 0.2500\n"
                        "(    1.500 s) Step:      5, Loss: 0.2000\n");
  CHECK(writer.written == lines{"Loss 0.5 2", "Loss 0.25 4", "Loss 0.2 5"});
}

TEST_CASE("the loss of a model of one's own is logged, also where the trigger is a part of the type") {
  lines said;
  auto const sink = [&](std::string_view line) { said.emplace_back(line); };
  auto const function = [] {
    return tautline::named_values{value<"cross entropy">(std::numeric_limits<float>::infinity()), value<"loss">(1.0f)};
  };
  auto session = monitored(step_function(function), loss_logger<classifier>{every_steps{1}, {.log = sink}},
                           loss_logger<classifier>::with(every_steps{1} | at_end, {.log = sink}));
  (void)session.run();
  session.close();
  CHECK(said == lines(2, "(    N/A    ) Step:      1, Loss: inf"));
}

TEST_CASE("the loss is fetched only in the runs that are due, with at_end in every run") {
  world of;
  auto session = monitored(scripted(of), loss_logger{every_steps{2}, {.log = [](std::string_view) {}}});
  (void)session.run_steps(3);
  CHECK(count(of.trace, "run 1") + count(of.trace, "run 3") == 2);
  CHECK(count(of.trace, "run 2 loss") == 1);
}

TEST_CASE("log = false is silent, and without a writer an error") {
  world of;
  auto session = try_monitored(scripted(of), loss_logger{every_steps{2}, {.log = false}});
  CHECK(session.status().kind == error_kind::invalid_argument);
}

TEST_CASE("a formatter makes the whole line") {
  world of;
  lines said;
  auto session = monitored(
      scripted(of, [](long) { return 0.5; }),
      loss_logger{every_steps{1}, {.log = [&](std::string_view line) { said.emplace_back(line); },
                                   .format = [](tautline::log_moment const& at) {
                                     return number(at.step) + "|" + std::string(at.values) + "|" + (at.elapsed == at.elapsed ? "later" : "first");
                                   }}});
  (void)session.run_steps(2);
  CHECK(said == lines{"1|Loss: 0.5000|first", "2|Loss: 0.5000|later"});
}
