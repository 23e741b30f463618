// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <tautline/core/hook.hpp>
#include <tautline/core/run_result.hpp>
#include <tautline/core/state.hpp>
#include <tautline/hooks/any_trigger.hpp>
#include <tautline/hooks/detail/check_clock.hpp>
#include <tautline/hooks/detail/sink_status.hpp>
#include <tautline/io/detail/with_folder.hpp>
#include <tautline/io/prometheus_file.hpp>

TAUTLINE_BEGIN
namespace detail {

/// "tautline_" and the value's name, with what a metric's name may not have made `_`.
template <fixed_string Name>
consteval auto metric_name_of() {
  constexpr std::size_t length = Name.size() + 9;
  char made[length + 1]{};
  std::size_t at = 0;
  for (char const c : {'t', 'a', 'u', 't', 'l', 'i', 'n', 'e', '_'}) made[at++] = c;
  for (std::size_t i = 0; i < Name.size(); ++i) {
    char const c = Name.characters[i];
    bool const good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    made[at++] = good ? c : '_';
  }
  return fixed_string<length + 1>(made);
}
template <fixed_string Name>
consteval auto metric_help_of() {
  constexpr char words[] = ", as it was in the last step that was looked at.";
  char made[Name.size() + sizeof words]{};
  std::size_t at = 0;
  for (std::size_t i = 0; i < Name.size(); ++i) made[at++] = Name.characters[i];
  for (char const c : words) made[at++] = c;
  return fixed_string<Name.size() + sizeof words>(made);
}

template <fixed_string... Names>
using metrics_of_training =
    prometheus_file<prometheus_counter<"tautline_steps_total", "Steps that were made, those of resumed trainings included.">,
                    prometheus_counter<"tautline_failures_total", "Errors that were met, recovered ones and those over which "
                                                                  "the training went back included.">,
                    prometheus_gauge<"tautline_step", "Completed steps.">,
                    prometheus_gauge<"tautline_running", "1 while the training runs, 0 when it has ended.">,
                    prometheus_gauge<metric_name_of<Names>(), metric_help_of<Names>()>...>;

}  // namespace detail

/// A `prometheus_metrics` with its trigger as a template parameter.
template <trigger Trigger, fixed_string... Names>
class basic_prometheus_metrics {
 public:
  using asks = fetches<Names...>;

  template <fixed_string... Labels>
  basic_prometheus_metrics(std::string path, Trigger given, detail::metric_label<Labels> const&... labels)
      : trigger(std::move(given)), file_(detail::with_folder(std::move(path)), labels...) {}

  template <class Graph>
  void begin(Graph&) {
    file_.reset();
    // nothing has been seen yet, which is not 0
    (file_.template set<detail::metric_name_of<Names>()>(static_cast<double>(__builtin_nanf(""))), ...);
  }
  template <class Session>
  void after_create_session(Session& session, life& at) {
    detail::check_clock(trigger, session, at);
    file_.template set<"tautline_running">(1);
    file_.template set<"tautline_step">(static_cast<double>(session.step()));
    seen_ = session.step();
    write(at);
  }
  template <class Context>
  auto before_run(Context& ctx) const noexcept {
    if constexpr (sizeof...(Names) > 0) {
      return ask_if(ctx.due(), fetch<Names>...);
    } else {
      static_cast<void>(ctx);
    }
  }
  template <class Context>
  void after_run(Context& ctx) {
    look(ctx);
  }
  template <class Context, class Values>
    requires(sizeof...(Names) > 0)
  void after_run(Context& ctx, Values& values) {
    constexpr bool numbers = (std::is_arithmetic_v<std::remove_cvref_t<decltype(values[fetch<Names>])>> && ...);
    static_assert(numbers, "tautline: prometheus_metrics takes numbers. Mend: fetch a number, or a reduction of the array");
    if constexpr (numbers) {
      (file_.template set<detail::metric_name_of<Names>()>(static_cast<double>(values[fetch<Names>])), ...);
      look(ctx);
    }
  }
  void on_error(error const&, life& at) {
    file_.template add<"tautline_failures_total">();
    count(at.step());  // before a session begins that may stand elsewhere
  }
  template <class Session>
  void end(Session& session) {
    count(session.step());
  }
  void close(life& at) {
    file_.template set<"tautline_running">(0);
    write(at);
  }

  /// The counters go on after a resume. They are not taken back with the variables: a counter that falls is one that
  /// began anew, for who reads it, and the failure that took the training back would never be seen.
  auto state() { return fields{kept_field<"metrics">(file_)}; }

  [[nodiscard]] auto& file() { return file_; }

  Trigger trigger;

 private:
  template <class Context>
  void look(Context& ctx) {
    count(ctx.step());  // in each run: a checkpoint may be saved in any
    if (ctx.due()) [[unlikely]] write(ctx);
  }
  void count(step_number step) {
    if (step > seen_) file_.template add<"tautline_steps_total">(static_cast<double>(step - seen_));
    seen_ = step;
    file_.template set<"tautline_step">(static_cast<double>(step));
  }
  void write(life& at) {
    file_.write();
    detail::report_status(file_, at);
  }

  detail::metrics_of_training<Names...> file_;
  step_number seen_ = 0;
};

/// Metrics of the training for operators, in the text format of Prometheus, as a file for node_exporter's textfile
/// collector: nothing listens, and nobody is waited for.
///
///     prometheus_metrics<"loss", "validation/accuracy">{"metrics/train.prom", every_seconds{15}, prometheus_label<"run">("a")}
///
/// Metrics: `tautline_steps_total`, `tautline_failures_total`, `tautline_step`, `tautline_running`, and a gauge for each
/// name, `tautline_loss`, `tautline_validation_accuracy`, which is NaN until the value has been seen.
/// Steps that are made once more after a recovery count again.
///
/// @tparam Names of scalars of the graph, or of values that another hook publishes
/// **Order** when due, after the run; when a session is made; in `close`.
/// **Errors** of the file, with its name; `invalid_argument` if the trigger needs a clock that the session does not have.
/// **Cost** in a step that is not due, a few stores; four system calls when due. @see prometheus_file
template <fixed_string... Names>
class prometheus_metrics : public basic_prometheus_metrics<any_trigger, Names...> {
 public:
  template <fixed_string... Labels>
  explicit prometheus_metrics(std::string path, any_trigger given = every_steps{100},
                              detail::metric_label<Labels> const&... labels)
      : basic_prometheus_metrics<any_trigger, Names...>(std::move(path), given, labels...) {}
};

TAUTLINE_END
