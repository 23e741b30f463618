// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/driver.hpp>

TAUTLINE_BEGIN

/// A graph, its session, and the hooks that watch it: made by `monitored(graph, hooks…)`, immovable.
///
/// `run_to_completion`, `steps`, `run` and `run_for` drive one and the same coroutine and step; they may follow one
/// another. With exceptions, an error throws the exception that was its cause; the forms that begin with `try_` do not.
/// Without exceptions both are the same: look at the result and at `status()`.
///
/// **Errors** after one the session is closed: `on_error` and `close` of all hooks have been called, `end` has not.
/// **Cost** no allocation after construction; a run costs what its parts cost, written by hand.
/// **Thread-safety** one thread drives; `request_stop` may come from another one or from an interrupt.
template <class Backend, class Options, class... Kept>
class monitored_session : detail::driver<detail::session_core<Backend, Options, Kept...>>,
                          public detail::finalized_graph<struct the_monitored_session> {
  using base = detail::driver<detail::session_core<Backend, Options, Kept...>>;
  using core_type = typename base::core_type;
  using base::everyone;
  using base::nobody;

 public:
  /// Use `monitored` or `try_monitored`.
  template <bool Throw, class Graph, class... Hooks>
  explicit monitored_session(std::bool_constant<Throw>, Graph&& graph, Options given, Hooks&&... hooks)
      : base(static_cast<Graph&&>(graph), static_cast<Options&&>(given), static_cast<Hooks&&>(hooks)...) {
    if (this->state.now != detail::phase::open) {
      this->state.told_caller = true;
      this->template raise_first<Throw>();
    }
  }
  monitored_session(monitored_session const&) = delete;
  monitored_session& operator=(monitored_session const&) = delete;

  /// Closes. That is a success, with `end`, unless the stack is unwinding and no stop was recorded before. Never
  /// throws: what `end` or `close` report goes to the option `on_close_error`; call `close()` to see it.
  ~monitored_session() {
    if (this->state.now != detail::phase::open) return;
    bool success = true;
#if TAUTLINE_EXCEPTIONS
    success = std::uncaught_exceptions() <= this->state.uncaught || this->state.stop_recorded();
#endif
    this->shut(success);
    if constexpr (detail::has_close_handler<Options>) {
      if (this->state.kept() > 0) detail::find_close_handler(this->given).handler(this->error_at(0));
    }
  }

  // --- one run ----------------------------------------------------------------------------------------------------

  /// One run, seen by all hooks. @return true if it took place, false at the end of the input
  /// **Errors** `run_after_stop` if a stop was asked for, the input has ended, or the session is closed; no hook sees it.
  /// Another thread's request may come after `should_stop()` and before this: `try_run` says so without an exception.
  template <class... Items>
  auto run(Items const&... items) {
    return this->template run_masked<everyone, true>(items...);
  }
  /// As `run`, with every error as a value.
  template <class... Items>
  [[nodiscard]] auto try_run(Items const&... items) {
    return this->template run_masked<everyone, false>(items...);
  }
  /// One run that no hook sees. It is a step.
  template <class... Items>
  auto run_without_hooks(Items const&... items) {
    return this->template run_masked<nobody, true>(items...);
  }
  /// One run that only the hooks of these types see: `run_with<stop_at_step>(target<"train">)`.
  template <class... Hooks, class... Items>
    requires(sizeof...(Hooks) > 0)
  auto run_with(Items const&... items) {
    constexpr auto verdict =
        (detail::fine{} | ... |
         detail::fine_or<(index_of<Hooks>() < sizeof...(Kept)), detail::absent_hook<Hooks, detail::hook_of<Kept>...>>());
    if constexpr (verdict.good) {
      return this->template run_masked<mask_of<Hooks...>(), true>(items...);
    } else {
      verdict.say();
      return detail::rejected{};
    }
  }
  /// One run that only the hooks of these names see: `run_with<"a", "b">(target<"train">)`.
  template <fixed_string... Names, class... Items>
    requires(sizeof...(Names) > 0)
  auto run_with(Items const&... items) {
    constexpr auto verdict = (detail::fine{} | ... |
                              detail::fine_or<(index_of_name<Names>() < sizeof...(Kept)),
                                              detail::absent_hook_name<Names, names<detail::entry<Kept>::name...>>>());
    if constexpr (verdict.good) {
      return this->template run_masked<mask_of_names<Names...>(), true>(items...);
    } else {
      verdict.say();
      return detail::rejected{};
    }
  }

  /// One step of a loop that exists already, for a session over `pushed_values`:
  /// `session.step([&](auto& values) { …; values.template set<"loss">(loss); })`.
  template <class Body>
  auto step(Body&& body) {
    if (!is_open()) return this->template run_masked<everyone, true>();  // refused
    typename Backend::template pushed_body<Body> const pushed(this->backend, body);
    return this->template run_masked<everyone, true>();
  }

  /// A look without a step: no hook sees it, nothing is counted, triggers do not move. Recovered like a run.
  template <class... Items>
  auto evaluate(Items const&... items) {
    using args = run_args<Items...>;
    using verdict = decltype(detail::check_items<detail::the_caller_of_run, Backend, void, Items...>());
    if constexpr (verdict::good) {
      args const asked(items...);
      run_request<false, names<>, std::index_sequence<0>, args> const request(asked);
      if (!this->is_open()) return this->template refuse_run<true, typename base::template result_of<args>>(detail::outcome::stopped);
      if (this->state.running) return this->template refuse_run<true, typename base::template result_of<args>>(detail::outcome::busy);
      detail::finish_guard<decltype(request), Backend> const finish(this->backend);
      return this->template take_result<true, typename base::template result_of<args>, std::remove_const_t<decltype(request)>>(
          this->evaluate_once(request), asked);
    } else {
      verdict::say();
      return detail::rejected{};
    }
  }

  // --- many runs --------------------------------------------------------------------------------------------------

  /// Runs until somebody asks for a stop or the input ends: one fused loop, with the cost of the hand-written one.
  template <class... Items>
  TAUTLINE_INLINE completion run_to_completion(Items const&... items) {
    return this->template drive_once<true>(pace::unlimited{}, items...);
  }
  template <class... Items>
  [[nodiscard]] TAUTLINE_INLINE completion try_run_to_completion(Items const&... items) {
    return this->template drive_once<false>(pace::unlimited{}, items...);
  }
  /// The same for at most `count` runs.
  template <class... Items>
  TAUTLINE_INLINE completion run_steps(std::int64_t count, Items const&... items) {
    if (count <= 0) return this->completed(this->template tell_caller<true>());
    return this->template drive_once<true>(pace::runs{count}, items...);
  }

  /// The runs as an input range of run contexts: `for (auto const& step : session.steps(target<"train">, fetch<"loss">))`.
  ///
  /// Lazy: `++` only marks, the run happens at the next comparison with the end or dereference. Leaving the loop early
  /// leaves the session open. The range is a copyable handle; the loop is over with its last copy. A fed value must
  /// live as long.
  /// **Errors** `busy` while another one is alive; `frame_too_small`.
  template <class... Items>
  auto steps(Items const&... items) {
    using args = run_args<Items...>;
    using verdict = typename base::template verdict_on<everyone, Items...>;
    if constexpr (verdict::good) {
      using range = steps_range<base, run_context<core_type, args>>;
      if (this->is_driven()) {
        (void)this->template refuse_busy<true>();
        return range(error_kind::busy);
      }
      if (!this->state.stopped()) {
        this->live_loop = this->template make_loop<true>(pace::every_run{}, args(items...));
        if (!this->live_loop) return range(error_kind::frame_too_small);
      }
      return range(this);
    } else {
      verdict::say();
      return detail::rejected{};
    }
  }

  /// A time slice: runs until `budget` ticks of the session's clock are used up. No step is started unless what
  /// remains is at least the option `longest_step`, or else 1.25 times the longest step seen: the first slice may
  /// overrun once, which is counted. **Errors** as those of `run`, and `busy`.
  template <std::integral Ticks, class... Items>
  TAUTLINE_INLINE completion run_for(Ticks ticks, Items const&... items) {
    if constexpr (detail::has_clock<Options>) {
      std::uint64_t const budget = ticks < Ticks{} ? 0 : static_cast<std::uint64_t>(ticks);  // what is past is nothing
      if (this->is_driven()) return this->completed(this->template refuse_busy<true>());
      std::uint64_t const now = this->ticks();
      typename base::slice_pace pace{this, now, budget < ~now ? now + budget : ~std::uint64_t{0}};
      if (!pace.has_room()) return this->completed(this->template tell_caller<true>());
      completion done = this->template drive_once<true>(pace, items...);
      if (this->ticks() > pace.deadline) ++this->slices.overruns;
      return done;
    } else {
      detail::run_for_without_clock<Options>::say();
      return completion{};
    }
  }
  /// The budget in a unit that the clock understands (`clock.ticks(budget)`), such as std::chrono's durations.
  template <class Duration, class... Items>
    requires(!std::is_arithmetic_v<Duration>)
  TAUTLINE_INLINE completion run_for(Duration budget, Items const&... items) {
    if constexpr (detail::has_clock<Options>) {
      return run_for(detail::find_clock(this->given).clock.ticks(budget), items...);
    } else {
      detail::run_for_without_clock<Options>::say();
      return completion{};
    }
  }
  /// Slices of `run_for` that ended after their deadline.
  [[nodiscard]] std::uint32_t overruns() const { return this->slices.overruns; }

  // --- stop, state, end -------------------------------------------------------------------------------------------

  /// True once a stop was asked for, the input has ended, or the session is closed.
  [[nodiscard]] bool should_stop() const { return this->state.stopped(); }
  /// The caller asks for a stop; also from another thread or an interrupt (a lock-free flag).
  void request_stop(text reason = "") { this->state.request_stop_outside(reason); }
  /// Who asked for a stop, why and when; false while nobody did.
  [[nodiscard]] stop_record stop() const { return this->record_of_stop(); }

  /// The error that closed the session; `none` while there is none.
  [[nodiscard]] error status() const { return this->state.kept() > 0 ? this->error_at(0) : error{}; }
  /// Errors that came after the first one, such as those of several hooks in `end`: at most four are kept.
  class attached {
   public:
    explicit attached(detail::life_state const& state) : state_(&state) {}
    /// All of them, also those that were not kept.
    [[nodiscard]] int count() const { return state_->reported() > 0 ? state_->reported() - 1 : 0; }
    [[nodiscard]] int size() const { return state_->kept() > 0 ? state_->kept() - 1 : 0; }
    [[nodiscard]] error operator[](int index) const { return state_->error_at(index + 1, core_type::hook_names); }

   private:
    detail::life_state const* state_;
  };
  [[nodiscard]] attached attached_errors() const { return attached(this->state); }

  /// Completed steps.
  [[nodiscard]] step_number completed_steps() const { return this->state.completed; }
  [[nodiscard]] bool is_open() const { return this->state.now == detail::phase::open; }

  /// Calls `end` and `close` of all hooks and closes the session; does nothing if it is closed already.
  /// **Errors** the first that a hook reported in `end` or `close`; all hooks have been called nevertheless.
  void close() {
    if (this->state.running) return void(this->template refuse_busy<true>());
    if (try_close().kind != error_kind::none) this->template raise_first<true>();
  }
  [[nodiscard]] error try_close() {
    if (this->state.now != detail::phase::open) return {};
    if (this->state.running) {
      error refused;
      refused.kind = this->template refuse_busy<false>();
      return refused;
    }
    this->shut(true);
    return status();
  }
  /// Closes without `end`: what unwinding does, for callers without exceptions.
  void abandon() {
    if (this->state.now == detail::phase::open && !this->state.running) this->shut(false);
  }

  /// The hook of this type. @see named
  template <class Hook>
  [[nodiscard]] Hook& hook() {
    if constexpr (constexpr std::size_t index = index_of<Hook>(); index < sizeof...(Kept)) {
      return this->template place<index>().hook();
    } else {
      detail::absent_hook<Hook, detail::hook_of<Kept>...>::say();
      __builtin_trap();
    }
  }
  template <fixed_string Name>
  [[nodiscard]] decltype(auto) hook() {
    if constexpr (constexpr std::size_t index = index_of_name<Name>(); index < sizeof...(Kept)) {
      return this->template place<index>().hook();
    } else {
      detail::absent_hook_name<Name, names<detail::entry<Kept>::name...>>::say();
      return detail::rejected{};
    }
  }

  /// The raw session, without hooks.
  [[nodiscard]] raw_session<core_type> raw() { return raw_session<core_type>(*this); }

  /// The session's memory in bytes, for the loop's frame and for errors. @see frame_bytes
  using base::memory_size;
  /// Bytes that the last coroutine frame wanted; 0 where the compiler kept it out of the session's memory.
  [[nodiscard]] std::size_t frame_bytes_used() const { return this->state.frame_bytes_used(); }

 private:
  // --- hooks by type and name -------------------------------------------------------------------------------------

  template <class Hook>
  static consteval std::size_t index_of() {
    std::size_t index = 0;
    bool found = false;
    ((found = found || std::is_same_v<Hook, detail::hook_of<Kept>>, index += found ? 0 : 1), ...);
    return index;
  }
  template <fixed_string Name>
  static consteval std::size_t index_of_name() {
    std::size_t index = 0;
    bool found = false;
    ((found = found || detail::entry<Kept>::name == Name, index += found ? 0 : 1), ...);
    return index;
  }
  template <class... Hooks>
  static consteval auto mask_of() {
    auto mask = nobody;
    std::size_t index = 0;
    ((mask.on[index++] = is_any_of<detail::hook_of<Kept>, Hooks...>), ...);
    return mask;
  }
  template <class Hook, class... Hooks>
  static constexpr bool is_any_of = (std::is_same_v<Hook, Hooks> || ...);
  template <fixed_string... Names>
  static consteval auto mask_of_names() {
    auto mask = nobody;
    // every place is written: g++ 12 takes {[0] = true} and {[1] = true} for the same template argument
    for (bool& on : mask.on) on = false;
    ((mask.on[index_of_name<Names>()] = true), ...);
    return mask;
  }
};

TAUTLINE_END
