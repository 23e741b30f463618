// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <utility>

#include <tautline/hooks/detail/shown_value.hpp>
#include <tautline/hooks/logging.hpp>

TAUTLINE_BEGIN

/// A `tensor_logger` with its trigger as a template parameter: what `tensor_logger<"loss">::with(trigger)` makes.
template <trigger Trigger, fixed_string... Names>
class basic_tensor_logger {
  static_assert(sizeof...(Names) > 0, "tautline: tensor_logger needs the name of at least one value. Mend: write tensor_logger<\"loss\">");

 public:
  using asks = fetches<Names...>;
  static constexpr bool stateless = true;

  explicit basic_tensor_logger(Trigger given, logging how = {})
      : trigger(std::move(given)), writer_(std::move(how)) {}

  template <class Graph>
  void begin(Graph&, life& at) {
    taken_ = false;
    writer_.begin(at);
  }
  template <class Session>
  void after_create_session(Session& session, life& at) const {
    detail::check_clock(trigger, session, at);
  }
  template <class Context>
  auto before_run(Context& ctx) const noexcept {
    return detail::ask_to_show(ctx.due(), trigger, fetch<Names>...);
  }
  template <class Context, class Values>
  void after_run(Context& ctx, Values& values) {
    std::size_t place = 0;
    (shown_[place++].take(values[fetch<Names>]), ...);
    taken_ = true;
    if (ctx.due()) show(ctx.step());
  }
  template <class Session>
  void end(Session&, life& at) {
    // the values are those of the last run that this hook saw, the label is the last completed step
    if (at.due() && taken_) show(at.step());
  }

  Trigger trigger;

 private:
  void show(step_number step) {
    static constexpr char const* names[] = {name_of<Names>...};
    std::string values;
    for (std::size_t i = 0; i < sizeof...(Names); ++i) {
      if (i > 0) values += ", ";
      values += names[i];
      values += " = ";
      shown_[i].write_to(values);
      if (shown_[i].is_scalar()) writer_.scalar(names[i], shown_[i].number(), step);
    }
    writer_.say(step, values);
  }

  detail::log_writer writer_;
  detail::shown_value shown_[sizeof...(Names)];
  bool taken_ = false;
};

/// Logs values: a line for people, and scalars to a summary writer.
///
///     auto session = monitored(graph, tensor_logger<"loss", "accuracy">{every_steps{100} | at_end});
///
///     (    0.123 s) Step:    200, loss = 0.25, accuracy = 0.91
///
/// Values are numbers, and arrays and ranges of numbers, of which the first eight are shown.
///
/// @tparam Names of values of the graph, or of values that another hook publishes
/// @param given any trigger; every step by default. `tensor_logger<"loss">::with(trigger)` makes the trigger a part of
/// the type, which saves a branch a step
/// @param how sink, summary writer, clock and format: see `logging`
/// **Order** when due, after the run, with that run's values. With `at_end` the last step's values are shown in `end`,
/// unless that step has been shown: for this they are fetched in every run, otherwise only in the runs that are due.
/// **Errors** `invalid_argument` if it could say nothing (`log = false` without a writer), or if the trigger needs a clock
/// that the session does not have; what the sink or the writer throws.
/// **Cost** a line is formatted on the heap; a copy of eight numbers a value where values are fetched.
/// **Source** the tensor loggers of TensorFlow for Scala (which shifts the values against the names) and of tf.train
/// (which logs the first step, then every N-th from there: `also_first` gives the first one).
template <fixed_string... Names>
class tensor_logger : public basic_tensor_logger<any_trigger, Names...> {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  explicit(false) tensor_logger(any_trigger given = every_steps{}, logging how = {})
      : basic_tensor_logger<any_trigger, Names...>(given, std::move(how)) {}

  template <trigger Trigger>
  [[nodiscard]] static auto with(Trigger given, logging how = {}) {
    return basic_tensor_logger<Trigger, Names...>(std::move(given), std::move(how));
  }
};

TAUTLINE_END
