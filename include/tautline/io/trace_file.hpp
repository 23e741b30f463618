// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <tautline/io/detail/io_failure.hpp>
#include <tautline/io/detail/line_text.hpp>
#include <tautline/io/detail/output_file.hpp>

TAUTLINE_BEGIN

/// How a `trace_file` is made.
struct trace_options {
  std::string process = "tautline";                   ///< shown as the name of the process
  std::int64_t process_id = 0;                        ///< 0: that of this process
  std::uint64_t ticks_per_second = 1'000'000'000;     ///< of the caller's clock
  std::uint32_t flush_events = 1024;                  ///< so many events are written at once
  double flush_seconds = 1;                           ///< or what has come in so long, by the times of the events
};

/// A number, a bool or a text with its name: what is shown of an event when it is selected. It refers to its texts.
class trace_arg {
 public:
  template <class Value>
    requires(std::is_arithmetic_v<Value>)
  constexpr trace_arg(std::string_view name, Value value) : name_(name) {
    if constexpr (std::same_as<Value, bool>) {
      kind_ = kind::boolean;
      whole_ = value ? 1 : 0;
    } else if constexpr (std::is_floating_point_v<Value>) {
      kind_ = sizeof(Value) == sizeof(float) ? kind::single : kind::real;
      if constexpr (sizeof(Value) == sizeof(float)) {
        single_ = value;
      } else {
        real_ = static_cast<double>(value);
      }
    } else {
      kind_ = std::is_signed_v<Value> ? kind::whole : kind::natural;
      whole_ = static_cast<std::uint64_t>(value);
    }
  }
  constexpr trace_arg(std::string_view name, std::string_view text) : name_(name), text_(text) {}
  constexpr trace_arg(std::string_view name, char const* text) : name_(name), text_(text) {}

 private:
  friend class trace_file;
  enum class kind : std::uint8_t { text, boolean, whole, natural, single, real };

  std::string_view name_;
  std::string_view text_;
  double real_ = 0;
  std::uint64_t whole_ = 0;
  float single_ = 0;  // a float has shorter digits than the same number as a double
  kind kind_ = kind::text;
};

/// A line of a trace's picture, with a name: a thread, or what is shown like one. 0 is the process's first thread.
struct trace_track {
  std::uint32_t id = 0;
};

/// A trace in Chrome's JSON format, which ui.perfetto.dev shows: what took how long, beside and within each other, and
/// how numbers went.
///
///     trace_file trace("run.trace.json");
///     trace_track const steps = trace.track("steps");
///     trace.slice("step 7", "train", began, took, steps, {{"loss", 0.25}, {"batch", 32}});
///     trace.counter("loss", began + took, 0.25);
///
/// Times are ticks of the caller's clock, by default nanoseconds, of any origin; they are exact below 2^53 nanoseconds.
/// The file is an array with an event on each line, which viewers read as well without its end: what has been flushed
/// survives a kill. It is flushed when there are enough events, when enough time has passed by the times of the events,
/// by `flush` and `close`. It never overwrites: where a file is, the new one is called `run.trace-2.json`, and so on;
/// `path()` says how. So a training that is resumed has a trace of its own.
///
/// Names are any text. An argument that is not finite is written as text ("NaN", "Infinity", "-Infinity"), since bare
/// ones hang the viewer; of a counter it is left out.
///
/// **Errors** of the system are a `std::system_error` that names the file; with `-fno-exceptions` they are `status()`.
/// Events that could not be written are kept and tried again before the next one, which is dropped and counted if that
/// fails too. The destructor closes and is silent.
/// **Cost** of a slice with two numbers: about 0.5 µs, no allocation after the first ones; a system call at each flush.
/// **Thread-safety** one thread at a time.
/// **Source** "Trace Event Format", sections on complete, duration, counter, instant and metadata events.
class trace_file {
 public:
  static constexpr bool stateless = true;

  explicit trace_file(std::string const& path, trace_options how = {})
      : process_(how.process_id != 0 ? how.process_id : static_cast<std::int64_t>(::getpid())),
        ticks_per_second_(how.ticks_per_second),
        flush_events_(how.flush_events),
        flush_ticks_(how.flush_seconds * static_cast<double>(how.ticks_per_second)) {
    std::error_code problem = file_.open(path, O_WRONLY | O_EXCL);
    for (int number = 2; problem == std::errc::file_exists; ++number) {
      problem = file_.open(numbered(path, number), O_WRONLY | O_EXCL);
    }
    if (!failure_.check(problem, "cannot make ", file_.path())) return;
    buffer_.reserve(std::size_t{192} * (flush_events_ < 4096 ? flush_events_ : 4096));
    buffer_ += '[';
    metadata("process_name", 0, how.process);
    (void)write_out();  // a file that cannot be written says so now
  }
  trace_file(trace_file&&) noexcept = default;
  trace_file& operator=(trace_file&&) = delete;
  ~trace_file() {
    if (!file_.is_open()) return;
    std::error_code ignored;
    buffer_ += "\n]\n";
    file_.write(buffer_, ignored);
  }

  /// A new track; they are shown in the order in which they are made.
  trace_track track(std::string_view name) {
    trace_track const made{++tracks_};
    name_track(made, name);
    return made;
  }
  /// A name for a track whose number the caller has chosen: that of a thread of the system, say.
  void name_track(trace_track track, std::string_view name) {
    if (!ready()) return;
    metadata("thread_name", track.id, name);
    start("thread_sort_index", 'M', track.id);
    buffer_ += ",\"args\":{\"sort_index\":";
    detail::append_finite(buffer_, track.id);
    buffer_ += "}}";
  }

  /// Something that is over. @param begin, duration ticks
  void slice(std::string_view name, std::string_view category, std::uint64_t begin, std::uint64_t duration,
             trace_track track = {}, std::initializer_list<trace_arg> args = {}) {
    if (!ready()) return;
    start(name, 'X', track.id, category);
    put_time(",\"ts\":", begin);
    put_time(",\"dur\":", duration);
    finish(args, begin + duration);
  }
  /// Something begins; of a track what began last must end first. One that a kill left open ends with the trace.
  void begin(std::string_view name, std::string_view category, std::uint64_t time, trace_track track = {},
             std::initializer_list<trace_arg> args = {}) {
    if (!ready()) return;
    start(name, 'B', track.id, category);
    put_time(",\"ts\":", time);
    finish(args, time);
  }
  /// What began last on this track ends. Its arguments are shown with those of the beginning.
  void end(std::uint64_t time, trace_track track = {}, std::initializer_list<trace_arg> args = {}) {
    if (!ready()) return;
    start("", 'E', track.id);
    put_time(",\"ts\":", time);
    finish(args, time);
  }
  /// A moment.
  void instant(std::string_view name, std::string_view category, std::uint64_t time, trace_track track = {},
               std::initializer_list<trace_arg> args = {}) {
    if (!ready()) return;
    start(name, 'i', track.id, category);
    put_time(",\"s\":\"t\",\"ts\":", time);
    finish(args, time);
  }
  /// A number over time; it has a track of its own, by its name.
  void counter(std::string_view name, std::uint64_t time, double value) { counter(name, time, {{"value", value}}); }
  /// Several numbers of one counter. Those that are not finite are left out.
  void counter(std::string_view name, std::uint64_t time, std::initializer_list<trace_arg> values) {
    bool any = false;
    for (trace_arg const& each : values) any = any || counts(each);
    if (!any || !ready()) return;
    start(name, 'C', 0);
    put_time(",\"ts\":", time);
    finish(values, time, true);
  }

  /// Hands all events to the operating system. It does not wait for the disk.
  void flush() {
    if (!buffer_.empty()) (void)write_out();
  }
  /// Closes the array, writes the rest and closes the file; what is added afterwards is an error.
  void close() {
    if (!file_.is_open()) return;
    buffer_ += "\n]\n";
    std::error_code problem;
    file_.write(buffer_, problem);
    buffer_.clear();
    std::error_code const closing = file_.close();
    (void)failure_.check(problem ? problem : closing, "cannot write ", file_.path());
  }

  /// Where the file is.
  [[nodiscard]] std::string const& path() const { return file_.path(); }
  /// What the last attempt to write met, with a message that names the file, good until the next attempt.
  [[nodiscard]] tautline::status status() const { return failure_.status(); }
  /// Events that were dropped because earlier ones could not be written.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  /// "run.trace.json" and 2: "run.trace-2.json".
  static std::string numbered(std::string const& path, int number) {
    std::size_t const name = path.rfind('/') + 1;  // 0 where there is no folder
    std::size_t dot = path.rfind('.');
    if (dot == std::string::npos || dot <= name) dot = path.size();
    return path.substr(0, dot) + '-' + std::to_string(number) + path.substr(dot);
  }
  static bool counts(trace_arg const& arg) {
    return arg.kind_ != trace_arg::kind::text &&
           (arg.kind_ != trace_arg::kind::real || detail::classify(arg.real_) == detail::number_class::finite) &&
           (arg.kind_ != trace_arg::kind::single || detail::classify(arg.single_) == detail::number_class::finite);
  }

  bool ready() {
    return (file_.is_open() && !failure_.failed()) || write_before();
  }
  TAUTLINE_COLD bool write_before() {
    ++dropped_;  // unless this is well
    if (!write_out()) return false;
    --dropped_;
    return true;
  }
  bool write_out() {
    std::error_code problem;
    file_.write(buffer_, problem);
    events_ = 0;
    timed_ = false;
    return failure_.check(problem, "cannot write ", file_.path());
  }

  void start(std::string_view name, char phase, std::uint32_t track, std::string_view category = {}) {
    // the comma belongs to the next event, so that the array can be closed at any time
    buffer_ += lines_++ == 0 ? "\n{\"ph\":\"" : ",\n{\"ph\":\"";
    buffer_ += phase;
    buffer_ += "\",\"pid\":";
    detail::append_finite(buffer_, process_);
    buffer_ += ",\"tid\":";
    // viewers take 0 for the thread of an idle processor
    detail::append_finite(buffer_, track != 0 ? std::int64_t{track} : process_);
    if (phase != 'E') {
      buffer_ += ",\"name\":";
      detail::append_json_text(buffer_, name);
    }
    if (!category.empty()) {
      buffer_ += ",\"cat\":";
      detail::append_json_text(buffer_, category);
    }
  }
  void metadata(std::string_view what, std::uint32_t track, std::string_view name) {
    start(what, 'M', track);
    buffer_ += ",\"args\":{\"name\":";
    detail::append_json_text(buffer_, name);
    buffer_ += "}}";
  }
  /// Microseconds with three decimals, which are nanoseconds.
  void put_time(std::string_view key, std::uint64_t ticks) {
    buffer_ += key;
    std::uint64_t const seconds = ticks / ticks_per_second_;
    std::uint64_t const rest = ticks % ticks_per_second_;
    std::uint64_t const nanoseconds =
        seconds * 1'000'000'000 +
        (ticks_per_second_ == 1'000'000'000
             ? rest
             : static_cast<std::uint64_t>(static_cast<double>(rest) * 1e9 / static_cast<double>(ticks_per_second_)));
    detail::append_finite(buffer_, nanoseconds / 1000);
    auto const thousandths = static_cast<unsigned>(nanoseconds % 1000);
    char const decimals[] = {'.', static_cast<char>('0' + thousandths / 100), static_cast<char>('0' + thousandths / 10 % 10),
                             static_cast<char>('0' + thousandths % 10)};
    buffer_.append(decimals, sizeof decimals);
  }
  void put_arg(trace_arg const& arg) {
    using kind = trace_arg::kind;
    switch (arg.kind_) {
      case kind::text: detail::append_json_text(buffer_, arg.text_); break;
      case kind::boolean: buffer_ += arg.whole_ != 0 ? "true" : "false"; break;
      case kind::whole: detail::append_finite(buffer_, static_cast<std::int64_t>(arg.whole_)); break;
      case kind::natural: detail::append_finite(buffer_, arg.whole_); break;
      case kind::single: detail::append_cell<trace_cells>(buffer_, arg.single_); break;
      case kind::real: detail::append_cell<trace_cells>(buffer_, arg.real_); break;
    }
  }
  void finish(std::initializer_list<trace_arg> args, std::uint64_t time, bool counting = false) {
    bool first = true;
    for (trace_arg const& arg : args) {
      if (counting && !counts(arg)) continue;
      buffer_ += first ? ",\"args\":{" : ",";
      first = false;
      detail::append_json_text(buffer_, arg.name_);
      buffer_ += ':';
      put_arg(arg);
    }
    buffer_ += first ? "}" : "}}";
    if (!timed_) flushed_at_ = time, timed_ = true;
    bool const late = time > flushed_at_ && static_cast<double>(time - flushed_at_) >= flush_ticks_;
    if (++events_ >= flush_events_ || late) (void)write_out();
  }

  struct trace_cells {
    static constexpr std::string_view nan = "\"NaN\"", infinite = "\"Infinity\"", minus_infinite = "\"-Infinity\"";
  };

  detail::output_file file_;
  std::string buffer_;
  detail::io_failure failure_;
  std::int64_t process_;
  std::uint64_t ticks_per_second_;
  std::uint32_t flush_events_;
  double flush_ticks_;
  std::uint64_t flushed_at_ = 0;  ///< the time of the first event in the buffer
  std::uint64_t lines_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint32_t events_ = 0;  ///< in the buffer
  std::uint32_t tracks_ = 0;
  bool timed_ = false;  ///< whether there is such an event
};

TAUTLINE_END
