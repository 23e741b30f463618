// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tautline/adapt/chrono.hpp>
#include <tautline/core/hook.hpp>
#include <tautline/core/run_context.hpp>
#include <tautline/core/watch.hpp>
#include <tautline/hooks/detail/check_clock.hpp>
#include <tautline/hooks/detail/sink_status.hpp>
#include <tautline/io/detail/with_folder.hpp>
#include <tautline/io/trace_file.hpp>

TAUTLINE_BEGIN

/// A timeline with its trigger, and any clock with `now()`. @see timeline
template <trigger Trigger, class Clock>
class basic_timeline {
 public:
  static constexpr bool outermost = true;
  static constexpr bool stateless = true;

  basic_timeline(std::string path, Trigger given, Clock clock)
      : trigger(std::move(given)),
        clock_(std::move(clock)),
        trace_(detail::with_folder(std::move(path)), {.ticks_per_second = static_cast<std::uint64_t>(clock_.ticks_per_second())}),
        steps_(trace_.track("steps")) {}

  template <class Session>
  void after_create_session(Session& session, life& at) {
    detail::check_clock(trigger, session, at);
    finish_step();
    trace_.instant("session", "life", time(), steps_, {{"step", session.step()}});
    check(at);
  }
  /// The first of all callbacks of a run.
  template <class Context>
  auto before_run(Context& ctx) {
    begin_step(ctx);
    if constexpr (requires { Context::backend_type::full_trace; }) {
      return ask_if(recording_, run_options(Context::backend_type::full_trace));
    }
  }
  /// The last one; savers may come behind it.
  template <class Context>
  void after_run(Context& ctx) {
    if (recording_) vetoed_ = ctx.vetoed(), over_ = true;
    if constexpr (requires { ctx.metadata().each_slice([](auto const&) {}); }) {
      if (recording_) show_engine(ctx.metadata());
    }
    check(ctx);
  }
  template <class Session>
  void end(Session&) {
    finish_step();
  }
  void on_error(error const& happened) {
    finish_step();
    char words[200];
    happened.write_to(words, sizeof words);
    trace_.instant("error", "life", time(), steps_, {{"message", std::string_view(words)}});
  }
  void close(life& at) {
    finish_step();
    trace_.flush();
    check(at);
  }

  // What is in progress nests: a stack of the moments that have begun.
  void on_enter(moment const& now) noexcept {
    // a run that this hook does not see belongs to no step
    if (over_ && now.where != callback::save) guarded([&] { finish_step(); });
    if (depth_ < most) begins_[depth_] = time();
    ++depth_;
  }
  void on_leave(moment const& now) noexcept {
    --depth_;
    if (depth_ >= most) return;
    bool const in_step = now.where >= callback::before_run && now.where <= callback::save;
    if (in_step && !recording_) return;
    if (depth_ + 1 == unfinished_) {
      unfinished_ = 0;
      return;
    }
    std::uint64_t const ended = time();
    if (in_step) last_ = ended;
    guarded([&] {
      bool const is_session = now.role == hook_role::none;
      trace_.slice(is_session ? std::string_view(to_string(now.where)) : std::string_view(now.hook),
                   to_string(now.where), begins_[depth_], ended - begins_[depth_], steps_, {{"step", now.step}});
    });
  }

  [[nodiscard]] trace_file& trace() { return trace_; }

  Trigger trigger;

 private:
  static constexpr std::size_t most = 8;

  /// What must not throw: the next callback that may says it.
  template <class Body>
  void guarded(Body body) noexcept {
    TAUTLINE_TRY { body(); }
    TAUTLINE_CATCH_ALL { failed_ = true; }
  }
  [[nodiscard]] std::uint64_t time() { return static_cast<std::uint64_t>(clock_.now()); }
  void begin_step(life& at) {
    finish_step();
    recording_ = at.due();
    if (!recording_) return;
    unfinished_ = depth_;  // this callback itself began before the step that it begins: it would not nest
    step_ = at.step();
    began_ = last_ = time();
    wall_began_ = std::chrono::system_clock::now();
  }
  /// What the engine recorded of its operations: a track for each device and thread. It has the wall clock.
  template <class Metadata>
  void show_engine(Metadata const& recorded) {
    using micros = std::chrono::microseconds;
    auto const zero = std::chrono::duration_cast<micros>(wall_began_.time_since_epoch()).count();
    double const ticks = static_cast<double>(clock_.ticks_per_second()) * 1e-6;
    recorded.each_slice([&](auto const& slice) {
      auto const late = static_cast<std::int64_t>(static_cast<double>(slice.start_micros - zero) * ticks);
      std::uint64_t const start = late < 0 && began_ < static_cast<std::uint64_t>(-late) ? 0 : began_ + static_cast<std::uint64_t>(late);
      trace_.slice(slice.node, slice.op(), start, static_cast<std::uint64_t>(static_cast<double>(slice.micros) * ticks),
                   track_of(slice.device, slice.thread_id), {{"step", step_}});
    });
  }
  trace_track track_of(std::string_view device, std::uint32_t thread) {
    std::string name(device);
    if (thread != 0) name += " thread " + std::to_string(thread);
    auto const found = tracks_.find(name);
    return found != tracks_.end() ? found->second : tracks_.emplace(name, trace_.track(name)).first->second;
  }
  /// A step lasts from its first callback to the end of its last one.
  void finish_step() {
    if (!recording_) return;
    bool const vetoed = vetoed_, finished = over_;
    recording_ = over_ = vetoed_ = false;
    trace_.slice("step", "step", began_, last_ > began_ ? last_ - began_ : 0, steps_,
                 {{"step", step_}, {"finished", finished}, {"vetoed", vetoed}});
  }
  void check(life& at) {
    if (failed_) {
      failed_ = false;
      trace_.flush();  // throws, where exceptions are on, if it is so still
    }
    detail::report_status(trace_, at);
  }

  Clock clock_;
  trace_file trace_;
  trace_track steps_;
  std::uint64_t begins_[most]{};
  std::size_t depth_ = 0;
  std::size_t unfinished_ = 0;  ///< the depth of the own callback in which the step began
  step_number step_ = 0;
  std::uint64_t began_ = 0;
  std::chrono::system_clock::time_point wall_began_{};
  std::map<std::string, trace_track, std::less<>> tracks_{};  ///< of the engine
  std::uint64_t last_ = 0;
  bool recording_ = false;
  bool over_ = false;  ///< nothing but savers can belong to the step any more
  bool vetoed_ = false;
  bool failed_ = false;
};

/// Shows where the time goes, as a trace that ui.perfetto.dev opens: each step, and in it each callback of each hook, the
/// run, the gate and the saving. A backend that can record its runs (TensorFlow) does so in these steps, and its operations
/// are shown, too, on a track for each device and thread.
///
///     auto session = monitored(graph, timeline{"run/trace.json", every_steps{100}}, …);   // every hundredth step
///
/// A step that an error or the end of the input broke off is there, too: `finished` is false. The trace is streamed: what
/// has been flushed survives a kill. It never overwrites; see `trace_file`.
///
/// @param path of the trace
/// @param given the steps that are recorded: any trigger; all by default
/// @param clock any `clock_type`; the steady clock by default
/// **Order** outermost, so that it sees the others. Sessions that are made, and errors, are marked.
/// **Errors** of the file, with its name.
/// **Cost** of a step that is not recorded: a clock reading for each callback of each hook. Of one that is: 0.3 µs for each.
/// **Source** the TimelineHook of TensorFlow for Scala and tf.train.ProfilerHook, which record whole runs of the engine into
/// a file for each step.
template <trigger Trigger = every_steps>
class timeline : public basic_timeline<Trigger, steady_clock_ticks> {
 public:
  explicit timeline(std::string path, Trigger given = {})
      : basic_timeline<Trigger, steady_clock_ticks>(std::move(path), std::move(given), {}) {}
  template <clock_type Clock>
  [[nodiscard]] static auto with(std::string path, Trigger given, Clock clock) {
    return basic_timeline<Trigger, Clock>(std::move(path), std::move(given), std::move(clock));
  }
};

/// The name that the second of the original systems has for it.
template <trigger Trigger = every_steps>
using profiler = timeline<Trigger>;

TAUTLINE_END
