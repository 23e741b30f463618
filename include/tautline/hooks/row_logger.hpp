// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <string>
#include <type_traits>
#include <utility>

#include <tautline/core/hook.hpp>
#include <tautline/core/run_result.hpp>
#include <tautline/core/state.hpp>
#include <tautline/hooks/any_trigger.hpp>
#include <tautline/hooks/detail/check_clock.hpp>
#include <tautline/hooks/detail/sink_status.hpp>
#include <tautline/io/csv_file.hpp>
#include <tautline/io/detail/with_folder.hpp>
#include <tautline/io/jsonl_file.hpp>

TAUTLINE_BEGIN

/// A logger of rows, over any file of rows and with any trigger. @see jsonl_logger, csv_logger
template <class File, trigger Trigger, fixed_string... Names>
class row_logger {
  static_assert(sizeof...(Names) > 0, "tautline: a logger of rows needs the name of at least one value. Mend: write jsonl_logger<\"loss\">");

 public:
  using asks = fetches<Names...>;

  row_logger(std::string path, Trigger given, row_options how) : trigger(std::move(given)), file_(detail::with_folder(std::move(path)), how) {}

  template <class Graph>
  void begin(Graph&, life& at) {
    write_last_ = nullptr;
    check(at);
  }
  template <class Session>
  void after_create_session(Session& session, life& at) {
    detail::check_clock(trigger, session, at);
  }
  template <class Context>
  auto before_run(Context& ctx) const noexcept {
    return detail::ask_to_show(ctx.due(), trigger, fetch<Names>...);
  }
  template <class Context, class Values>
  void after_run(Context& ctx, Values& values) {
    constexpr bool scalars = (std::is_arithmetic_v<std::remove_cvref_t<decltype(values[fetch<Names>])>> && ...);
    static_assert(scalars, "tautline: a logger of rows writes scalars. Mend: fetch a number, or a reduction of the array");
    if constexpr (scalars) {
      if (ctx.due()) {
        file_.write(ctx.step(), values[fetch<Names>]...);
        check(ctx);
      }
      if (detail::remembers(trigger)) {
        std::size_t place = 0;
        ((last_[place++] = static_cast<double>(values[fetch<Names>])), ...);
        write_last_ = &write_as<std::remove_cvref_t<decltype(values[fetch<Names>])>...>;
      }
    }
  }
  template <class Session>
  void end(Session&, life& at) {
    if (at.due() && write_last_ != nullptr) write_last_(*this, at.step());
    file_.flush();
    check(at);
  }
  /// After an error, too: the last rows may tell why.
  void close(life& at) {
    file_.flush();
    check(at);
  }

  /// Where the file stands: a resumed training cuts off what was written behind a checkpoint.
  auto state() { return fields{field<"rows">(file_)}; }
  void after_restore(life& at) {
    file_.after_restore();
    check(at);
  }

  [[nodiscard]] File& file() { return file_; }

  Trigger trigger;

 private:
  /// Numbers keep their own type, whose digits are the shortest.
  template <class... Values>
  static void write_as(row_logger& self, step_number step) {
    [&]<std::size_t... Place>(std::index_sequence<Place...>) {
      self.file_.write(step, static_cast<Values>(self.last_[Place])...);
    }(std::index_sequence_for<Values...>{});
  }
  void check(life& at) const { detail::report_status(file_, at); }

  File file_;
  std::array<double, sizeof...(Names)> last_{};
  void (*write_last_)(row_logger&, step_number) = nullptr;  ///< the last values, with their own types; null: none yet
};

/// Logs scalars as lines of JSON: `{"step":100,"loss":0.25,"accuracy":0.91}`.
///
///     auto session = monitored(graph, jsonl_logger<"loss", "accuracy">{"run/metrics.jsonl", every_steps{100}});
///
/// The columns are those of its type. In sessions with checkpoints the file of a training that was killed and resumed has
/// the bytes of one that was not: the hook's state is the place in the file, and a restore cuts it back to there. For one
/// that is killed before its first checkpoint this takes `{.existing = existing_file::start_over}`.
///
/// @param path made if it is not there; see `row_options` for a file that is
/// @param given any trigger; every step by default
/// **Order** when due, after the run. With `at_end` the last step's values in `end`, unless they have been written; for
/// this they are fetched in every run. The file is flushed in `end` and in `close`, so after an error, too.
/// **Errors** of the file, with its name; `invalid_argument` if the trigger needs a clock that the session does not have.
/// **Cost** in a step that is not due, a comparison; a system call for each row, or for `flush_every` of them.
/// @see jsonl_file
template <fixed_string... Names>
class jsonl_logger : public row_logger<jsonl_file<Names...>, any_trigger, Names...> {
 public:
  explicit jsonl_logger(std::string path, any_trigger given = every_steps{}, row_options how = {})
      : row_logger<jsonl_file<Names...>, any_trigger, Names...>(std::move(path), given, how) {}
  template <trigger Trigger>
  [[nodiscard]] static auto with(std::string path, Trigger given, row_options how = {}) {
    return row_logger<jsonl_file<Names...>, Trigger, Names...>(std::move(path), std::move(given), how);
  }
};

/// Logs scalars as rows of CSV, under a header: `step,loss,accuracy`. Everything else as `jsonl_logger`; a file with other
/// columns is refused, by name of the first that differs. @see csv_file
template <fixed_string... Names>
class csv_logger : public row_logger<csv_file<Names...>, any_trigger, Names...> {
 public:
  explicit csv_logger(std::string path, any_trigger given = every_steps{}, row_options how = {})
      : row_logger<csv_file<Names...>, any_trigger, Names...>(std::move(path), given, how) {}
  template <trigger Trigger>
  [[nodiscard]] static auto with(std::string path, Trigger given, row_options how = {}) {
    return row_logger<csv_file<Names...>, Trigger, Names...>(std::move(path), std::move(given), how);
  }
};

TAUTLINE_END
