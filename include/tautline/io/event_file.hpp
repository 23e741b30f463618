// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include <tautline/core/error.hpp>
#include <tautline/io/byte_buffer.hpp>
#include <tautline/io/detail/io_failure.hpp>
#include <tautline/io/detail/output_file.hpp>
#include <tautline/io/event_encoder.hpp>
#include <tautline/io/summary_writer.hpp>

TAUTLINE_BEGIN

/// How an `event_file` is made.
struct event_file_options {
  std::string suffix{};                ///< at the end of the file's name, after a dot
  std::size_t buffer_bytes = 16384;    ///< as much is kept in memory before it is written
  double flush_seconds = 10;           ///< or so long, whichever comes first; looked at when something is added
  std::function<double()> clock{};     ///< seconds since 1970; the system's clock by default
};

/// An event file, which TensorBoard shows: scalars, histograms, texts, images, hyperparameters, a graph, over steps.
///
///     event_file events("runs/first");
///     auto session = monitored(graph, tensor_logger<"loss">{every_steps{100}, {.writer = events}});
///
/// The folder is a run of TensorBoard's, and is made if it is not there. Each object has a new file in it, whose name
/// sorts behind those that are there, since readers go through them in that order: have one writer at a time for a
/// folder, and call `mark_restart` when a training goes on after a resume. What is added is written when the buffer is
/// full, after some seconds, at `flush` and at the end; a process that dies loses the rest, and readers drop a record
/// that is cut off.
///
/// **Errors** A file that cannot be made or written, or that has been deleted, is a `std::system_error` that names it;
/// with `-fno-exceptions` it is `status()`. After one nothing has changed: what could not be written is kept and tried
/// again at the next write, the event of the call that failed is dropped and counted by `dropped()`. The destructor is
/// silent; call `close()` to hear of what it meets.
/// **Cost** of a scalar: about 100 ns, half of which are the clock and the system's copy, and no allocation; a system
/// call for each 16 KiB.
/// **Thread-safety** one thread at a time. @see event_encoder, for records made in one thread and written in another
class event_file {
 public:
  explicit event_file(std::filesystem::path const& folder, event_file_options how = {}) : how_(std::move(how)) {
    buffer_.reserve(how_.buffer_bytes + 512);
    double const time = now();
    if (!open(folder, time)) return;
    encode().version(time);
    written_at_ = time;
    (void)write_out();  // a reader sees the run from now on
  }
  event_file(event_file&&) noexcept = default;
  event_file& operator=(event_file&& other) noexcept {
    end();
    how_ = std::move(other.how_);
    file_ = std::move(other.file_);
    buffer_ = std::move(other.buffer_);
    failure_ = std::exchange(other.failure_, {});
    written_at_ = other.written_at_;
    dropped_ = std::exchange(other.dropped_, 0);
    marked_ = other.marked_;
    return *this;
  }
  ~event_file() { end(); }

  /// A point of a curve; it is stored as a float, which is what TensorBoard shows. Tags with slashes are grouped by what
  /// stands before the first one.
  void add_scalar(std::string_view tag, double value, step_number step) {
    if (double const time = now(); ready(time)) encode().scalar(time, tag, value, step);
  }
  /// The same with a wall time of the caller's.
  void add_scalar(std::string_view tag, double value, step_number step, double wall_time) {
    if (ready(wall_time)) encode().scalar(wall_time, tag, value, step);
  }
  /// How numbers are spread. If some are not finite, their count is added as the scalar "TAG/not_finite" besides.
  /// @param numbers a range that can be read twice, a `tensor_view`, or a `histogram`
  template <class Numbers>
  tautline::histogram add_histogram(std::string_view tag, Numbers const& numbers, step_number step) {
    tautline::histogram const made = [&] {
      if constexpr (std::is_same_v<Numbers, tautline::histogram>) {
        return numbers;
      } else {
        return histogram_of(numbers);
      }
    }();
    if (double const time = now(); ready(time)) {
      encode().histogram(time, tag, made, step);
      if (made.not_finite() > 0) {
        encode().scalar(time, std::string(tag) + "/not_finite", static_cast<double>(made.not_finite()), step);
      }
    }
    return made;
  }
  /// A text in markdown; HTML in it is shown as it stands.
  void add_text(std::string_view tag, std::string_view markdown, step_number step) {
    if (double const time = now(); ready(time)) encode().text(time, tag, markdown, step);
  }
  /// A picture. @see png_of
  /// @param png the bytes of a PNG file
  template <std::ranges::contiguous_range Bytes>
    requires(sizeof(std::ranges::range_value_t<Bytes>) == 1)
  void add_image(std::string_view tag, Bytes const& png, int width, int height, step_number step) {
    std::string_view const encoded(reinterpret_cast<char const*>(std::ranges::data(png)), std::ranges::size(png));
    if (double const time = now(); ready(time)) encode().image(time, tag, encoded, width, height, step);
  }
  /// The hyperparameters of this run, once; TensorBoard compares runs by them.
  ///
  ///     events.add_hparams({{"rate", 0.1}, {"optimizer", "sgd"}, {"nesterov", true}}, {"validation/accuracy"});
  ///
  /// @param metrics tags of scalars for the comparison; without any TensorBoard takes all that it finds, and with some
  ///   the columns of all runs are those of the first one that it meets
  void add_hparams(std::span<hparam const> values, std::span<std::string_view const> metrics) {
    if (double const time = now(); ready(time)) encode().hparams(time, values, metrics);
  }
  void add_hparams(std::initializer_list<hparam> values, std::initializer_list<std::string_view> metrics = {}) {
    add_hparams(std::span(values.begin(), values.size()), std::span(metrics.begin(), metrics.size()));
  }
  /// That the training is over; a run with hyperparameters and without this counts as one that is still going on.
  void end_hparams(training_outcome outcome) {
    if (double const time = now(); ready(time)) encode().hparams_end(time, outcome);
  }
  /// A graph for the Graphs tab: a `training_state`, or what has such a member `each_node`; it is visited several times.
  template <class Graph>
    requires described_graph<std::remove_reference_t<Graph>>
  void add_graph(Graph&& graph) {
    if (double const time = now(); ready(time)) encode().graph(time, graph);
  }
  /// A graph that is there already as a serialized GraphDef of TensorFlow.
  void add_graph_def(std::string_view bytes) {
    if (double const time = now(); ready(time)) encode().graph_def(time, bytes);
  }
  /// The training goes on after step `completed`: points of later steps that are there, in older files of the folder,
  /// too, belong to runs that are forgotten, and readers drop them.
  void mark_restart(step_number completed) {
    double const time = now();
    if (!ready(time)) return;
    // TensorBoard takes the first mark that it meets in a run for the beginning of the training
    if (!marked_) encode().session_start(time, completed + 1);
    encode().session_start(time, completed + 1);
    marked_ = true;
  }
  /// Records that an `event_encoder` has made.
  void append(byte_buffer const& records) {
    if (ready(now())) buffer_.append(records.view());
  }

  /// Hands everything to the operating system. It does not wait for the disk.
  void flush() {
    if (file_.is_open() || !buffer_.empty()) (void)write_out();
  }
  /// Writes the rest and closes the file; what is added afterwards is an error.
  void close() {
    if (!file_.is_open()) return;
    std::error_code problem;
    file_.write(buffer_, problem);
    std::error_code const closing = file_.close();
    buffer_.clear();
    (void)report(problem ? problem : closing, "cannot write event file ");
  }

  /// Where the file is.
  [[nodiscard]] std::string const& path() const { return file_.path(); }
  /// What the last attempt to write met; no error if it was well.
  [[nodiscard]] std::error_code error() const { return failure_.error(); }
  /// The same with a message that names the file, good until the next attempt.
  [[nodiscard]] tautline::status status() const { return failure_.status(); }
  /// Calls whose event was dropped because nothing could be written.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  [[nodiscard]] event_encoder encode() { return event_encoder(buffer_); }
  [[nodiscard]] double now() const {
    if (how_.clock) return how_.clock();
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }

  /// Whether an event can be added: if the buffer is full it is written first.
  bool ready(double time) {
    bool const full = buffer_.size() >= how_.buffer_bytes;
    // a clock may be set back
    bool const late = time - written_at_ >= how_.flush_seconds || time < written_at_;
    if (!full && !late && file_.is_open()) [[likely]] return true;
    return write_before(time);
  }
  TAUTLINE_COLD bool write_before(double time) {
    written_at_ = time;
    ++dropped_;  // unless this is well
    if (!write_out()) return false;
    --dropped_;
    return true;
  }
  TAUTLINE_COLD bool write_out() {
    std::error_code problem;
    file_.write(buffer_, problem);
    return report(problem, "cannot write event file ");
  }
  /// @return whether there was no error; throws it where exceptions are on
  bool report(std::error_code problem, char const* what) { return failure_.check(problem, what, file_.path()); }

  bool open(std::filesystem::path const& folder, double time) {
    std::error_code problem;
    std::filesystem::create_directories(folder, problem);
    // create_directories sees no error where a file stands in place of the folder
    if (!problem && !std::filesystem::is_directory(folder, problem) && !problem) {
      problem = std::make_error_code(std::errc::not_a_directory);
    }
    auto const front = (folder / "events.out.tfevents.").string();
    std::int64_t const seconds = problem ? 0 : std::max(static_cast<std::int64_t>(time), newest(folder, problem) + 1);
    if (problem) {
      file_ = detail::output_file(front);
      return report(problem, "cannot make event file ");
    }
    char host[256] = "localhost";
    (void)::gethostname(host, sizeof host - 1);
    for (char& each : host) {
      if (each == '/') each = '_';
    }
    char digits[16];
    std::string padded(digits, std::to_chars(digits, digits + sizeof digits, seconds).ptr);
    if (padded.size() < 10) padded.insert(0, 10 - padded.size(), '0');
    static std::atomic<unsigned> files{0};
    do {
      problem = file_.open(front + padded + '.' + host + '.' + std::to_string(::getpid()) + '.' +
                               std::to_string(files.fetch_add(1, std::memory_order_relaxed)) +
                               (how_.suffix.empty() ? "" : '.' + how_.suffix),
                           O_WRONLY | O_EXCL);
    } while (problem == std::errc::file_exists);
    return report(problem, "cannot make event file ");
  }
  /// The greatest time in the names of the folder's event files; -1 if there are none.
  static std::int64_t newest(std::filesystem::path const& folder, std::error_code& problem) {
    constexpr std::string_view front = "events.out.tfevents.";
    std::int64_t greatest = -1;
    for (std::filesystem::directory_iterator each(folder, problem), end; !problem && each != end; each.increment(problem)) {
      std::string const name = each->path().filename().string();
      if (!name.starts_with(front)) continue;
      std::int64_t seconds = 0;
      char const* const from = name.data() + front.size();
      auto const read = std::from_chars(from, name.data() + name.size(), seconds);
      // a longer number is no time, and would not sort as one
      if (read.ec == std::errc{} && read.ptr - from <= 10) greatest = std::max(greatest, seconds);
    }
    return greatest;
  }

  void end() noexcept {
    std::error_code ignored;
    file_.write(buffer_, ignored);
    (void)file_.close();
  }

  event_file_options how_;
  detail::output_file file_;
  byte_buffer buffer_;
  detail::io_failure failure_;
  double written_at_ = 0;
  std::uint64_t dropped_ = 0;
  bool marked_ = false;
};

static_assert(summary_writer<event_file>);

TAUTLINE_END
