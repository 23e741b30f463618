// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <tautline/hooks/logging.hpp>

TAUTLINE_BEGIN

/// Whether a `progress_bar` writes to a terminal.
enum class terminal : std::uint8_t {
  detect,  ///< where the standard error is one
  yes,
  no,  ///< silent
};

struct progress_options {
  double interval = 0.1;                 ///< seconds between two drawings, at least
  tautline::terminal terminal = terminal::detect;
  int width = 24;                        ///< of the bar itself, in characters
  any_clock clock{};                     ///< the steady clock by default
  std::function<void(std::string_view)> output{};  ///< gets control characters, too; the standard error by default
};

/// Shows how far a training has come, on one line of the terminal.
///
///     auto session = monitored(graph, stop_at_step{10'000}, progress_bar<"loss">{10'000});
///
///      42% [==========>             ] 4200/10000  8123.4 steps/s  ETA 0:00:01  loss 0.2512
///
/// It draws at most every tenth of a second, whatever the steps take, and not at all where the standard error is no
/// terminal.
///
/// @tparam Loss a scalar to show; none by default. It is fetched only in the runs that draw
/// @param total_steps the step at which the training will be over, counted over all resumes; 0 if nobody knows: then
/// there is neither percent nor ETA
/// **Order** draws after a run. In `end` it draws the last state and ends the line, after an error `close` ends it.
/// Rate and ETA are those of this session; a recovery starts them afresh. Only one in a session.
/// **Errors** what the output throws. **Cost** a reading of the clock a step, by an indirect call; none where it is
/// silent.
/// Lines of other hooks to the standard error wipe the bar, which comes back with its next drawing.
template <fixed_string Loss = "">
class progress_bar {
  static constexpr bool has_loss = Loss.size() != 0;

 public:
  static constexpr bool stateless = true;

  static constexpr bool singleton = true;

  explicit progress_bar(step_number total_steps, progress_options how = {}) : how_(std::move(how)), total_(total_steps) {
    bool const on_screen = !how_.output;
    if (on_screen) {
      how_.output = [](std::string_view drawn) {
        std::fwrite(drawn.data(), 1, drawn.size(), stderr);
        std::fflush(stderr);
      };
    }
    shared_ = on_screen;
    active_ = how_.terminal == terminal::yes || (how_.terminal == terminal::detect && isatty(STDERR_FILENO) != 0);
  }

  template <class Graph>
  void begin(Graph&) {
    seen_ = false;
    line_open_ = false;
    loss_step_ = -1;
  }
  template <class Session>
  void after_create_session(Session& session) {
    step_ = session.step();
    started_step_ = step_;
    if (active_) started_ = how_.clock();
  }
  template <class Context>
  auto before_run(Context&) {
    due_ = active_ && (!seen_ || how_.clock() - drawn_ >= how_.interval);
    if constexpr (has_loss) return ask_if(due_, fetch<Loss>);
  }
  template <class Context>
  void after_run(Context& ctx) {
    step_ = ctx.step();
    if (due_) draw();
  }
  template <class Context, class Values>
    requires(has_loss)
  void after_run(Context& ctx, Values& values) {
    step_ = ctx.step();
    loss_ = static_cast<double>(values[fetch<Loss>]);
    loss_step_ = step_;
    draw();
  }
  template <class Session>
  void end(Session&) {
    if (seen_) draw();
  }
  void close() {
    if (!line_open_) return;
    line_open_ = false;
    // a log line may have wiped the bar: then the cursor is at the begin of a line already
    if (!shared_ || detail::open_line.exchange(false, std::memory_order_relaxed)) how_.output("\n");
  }

 private:
  void draw() {
    double const now = how_.clock();
    drawn_ = now;
    seen_ = true;
    line_open_ = true;
    auto const done = static_cast<double>(step_ - started_step_);
    double const rate = now > started_ ? done / (now - started_) : 0;
    std::string line = "\r";
    if (total_ > 0) {
      double part = static_cast<double>(step_) / static_cast<double>(total_);
      part = part < 0 ? 0 : part > 1 ? 1 : part;
      int const filled = static_cast<int>(part * how_.width);
      line += fmt::format("{:3}% [", static_cast<int>(part * 100));
      for (int i = 0; i < how_.width; ++i) line += i < filled ? '=' : i == filled ? '>' : ' ';
      line += fmt::format("] {}/{}", step_, total_);
    } else {
      line += fmt::format("step {}", step_);
    }
    if (rate > 0) {
      line += fmt::format("  {:.1f} steps/s", rate);
      double const left = static_cast<double>(total_ - step_) / rate;
      if (left > 0 && left < 360'000) {
        auto const seconds = static_cast<long>(left + 0.5);
        line += fmt::format("  ETA {}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
      }
    }
    if constexpr (has_loss) {  // that of the last step may not have been fetched when the bar is drawn in end
      if (loss_step_ == step_) line += fmt::format("  {} {:.4g}", name_of<Loss>, loss_);
    }
    line += "\x1b[K";  // wipes what a longer line left
    if (shared_) detail::open_line.store(true, std::memory_order_relaxed);
    how_.output(line);
  }

  progress_options how_;
  step_number total_;
  step_number step_ = 0;
  step_number started_step_ = 0;
  step_number loss_step_ = -1;
  double started_ = 0;
  double drawn_ = 0;
  double loss_ = 0;
  bool active_ = false;
  bool shared_ = false;
  bool seen_ = false;
  bool line_open_ = false;
  bool due_ = false;
};
progress_bar(step_number) -> progress_bar<>;
progress_bar(step_number, progress_options) -> progress_bar<>;

TAUTLINE_END
