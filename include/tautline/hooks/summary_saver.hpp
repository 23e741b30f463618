// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <type_traits>
#include <utility>
#include <vector>

#include <tautline/core/hook.hpp>
#include <tautline/core/run_result.hpp>
#include <tautline/hooks/any_trigger.hpp>
#include <tautline/hooks/detail/check_clock.hpp>
#include <tautline/hooks/detail/finite.hpp>
#include <tautline/hooks/detail/sink_status.hpp>
#include <tautline/io/any_summary_writer.hpp>

TAUTLINE_BEGIN

/// A `summary_saver` with its trigger as a template parameter: what `summary_saver<"loss">::with(writer, trigger)` makes.
template <trigger Trigger, fixed_string... Names>
class basic_summary_saver {
  static_assert(sizeof...(Names) > 0, "tautline: summary_saver needs the name of at least one value. Mend: write summary_saver<\"loss\">");

 public:
  using asks = fetches<Names...>;
  static constexpr bool stateless = true;

  basic_summary_saver(any_summary_writer writer, Trigger given) : trigger(std::move(given)), writer_(std::move(writer)) {}

  template <class Graph>
  void begin(Graph&) {
    taken_ = false;
    told_ = false;
  }
  template <class Session>
  void after_create_session(Session& session, life& at) {
    detail::check_clock(trigger, session, at);
    // What was written beyond this step is not so: of a training that a recovery took back, of one that is resumed, and
    // of one that was killed before its first checkpoint, and so begins anew.
    writer_.mark_restart(session.step());
    if (!told_) writer_.add_graph(session.state());
    told_ = true;
    check(at);
  }
  template <class Context>
  auto before_run(Context& ctx) const noexcept {
    return detail::ask_to_show(ctx.due(), trigger, fetch<Names>...);
  }
  template <class Context, class Values>
  void after_run(Context& ctx, Values& values) {
    if (!ctx.due() && !detail::remembers(trigger)) return;
    std::size_t place = 0;
    (take(places_[place++], values[fetch<Names>]), ...);
    taken_ = true;
    if (ctx.due()) write(ctx.step());
    // elsewhere the writer throws; a hook that may fail by a value costs each step its share
    if constexpr (!TAUTLINE_EXCEPTIONS) check(ctx);
  }
  template <class Session>
  void end(Session&, life& at) {
    if (at.due() && taken_) write(at.step());
    writer_.flush();
    check(at);
  }
  /// After an error, too: what is there may tell why.
  void close(life& at) {
    writer_.flush();
    check(at);
  }

  Trigger trigger;

 private:
  struct shown {
    std::vector<double> numbers;
    bool is_scalar = true;
  };

  template <class Value>
  static void take(shown& place, Value const& value) {
    place.numbers.clear();
    place.is_scalar = std::is_arithmetic_v<Value>;
    add(place, value);
  }
  template <class Value>
  static void add(shown& place, Value const& value) {
    if constexpr (std::is_arithmetic_v<Value>) {
      place.numbers.push_back(static_cast<double>(value));
    } else {
      static_assert(detail::iterable<Value>,
                    "tautline: summary_saver writes numbers, and arrays and ranges of them. Mend: fetch one of these");
      if constexpr (detail::iterable<Value>) {
        for (auto const& element : value) add(place, element);
      }
    }
  }
  void write(step_number step) {
    static constexpr char const* names[] = {name_of<Names>...};
    for (std::size_t i = 0; i < sizeof...(Names); ++i) {
      if (places_[i].is_scalar) {
        writer_.add_scalar(names[i], places_[i].numbers.front(), step);
      } else {
        writer_.add_histogram(names[i], places_[i].numbers, step);
      }
    }
  }

  void check(life& at) const { detail::report_status(writer_, at); }

  any_summary_writer writer_;
  std::array<shown, sizeof...(Names)> places_;
  bool taken_ = false;
  bool told_ = false;
};

/// Writes values to an event file, or to any other summary writer: scalars as points of a curve, arrays and ranges as
/// histograms.
///
///     event_file events("runs/first");
///     auto session = monitored(graph, summary_saver<"loss", "hidden/weights">{events, every_steps{100} | at_end});
///
/// With it come the description of the graph, and a mark whenever a session is made: TensorBoard then drops what an earlier
/// one, also of a process that was killed, had written beyond that step.
///
/// @tparam Names of values of the graph, or of values that another hook publishes; they are the tags
/// @param writer by reference, or a `std::shared_ptr`
/// @param given any trigger; every 100 steps by default
/// **Order** when due, after the run, with that run's values. With `at_end` the last step's values are written in `end`,
/// unless that step has been written: for this they are fetched, and copied, in every run. The writer is flushed in `end`
/// and in `close`, so after an error, too.
/// **Errors** those of the writer; `invalid_argument` if the trigger needs a clock that the session does not have.
/// **Cost** in a step that is not due, a comparison; a copy of the values when due.
/// **Source** SummarySaver of TensorFlow for Scala and tf.train.SummarySaverHook; these write the first step, then every
/// N-th from there (`also_first` gives the first one), and leave no mark after a recovery.
template <fixed_string... Names>
class summary_saver : public basic_summary_saver<any_trigger, Names...> {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  explicit(false) summary_saver(any_summary_writer writer, any_trigger given = every_steps{100})
      : basic_summary_saver<any_trigger, Names...>(std::move(writer), given) {}

  template <trigger Trigger>
  [[nodiscard]] static auto with(any_summary_writer writer, Trigger given) {
    return basic_summary_saver<Trigger, Names...>(std::move(writer), std::move(given));
  }
};

TAUTLINE_END
