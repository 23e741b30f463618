// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <new>

#include <tautline/hooks/detail/recorded.hpp>
#include <tautline/io/background_writer.hpp>

TAUTLINE_BEGIN
namespace detail {

// What a hook declares, for a hook that holds it and does not derive from it.

template <class Hook>
struct declared_before {};
template <has_runs_before Hook>
struct declared_before<Hook> {
  using runs_before = typename Hook::runs_before;
};
template <class Hook>
struct declared_after {};
template <has_runs_after Hook>
struct declared_after<Hook> {
  using runs_after = typename Hook::runs_after;
};
template <class Hook>
struct declared_category {};
template <class Hook>
  requires requires { typename Hook::category; }
struct declared_category<Hook> {
  using category = typename Hook::category;
};
template <class Hook>
struct declared_asks {};
template <class Hook>
  requires requires { typename Hook::asks; }
struct declared_asks<Hook> {
  using asks = typename Hook::asks;
};
template <class Hook>
struct same_declarations : declared_before<Hook>, declared_after<Hook>, declared_category<Hook>, declared_asks<Hook> {
  using tags = tags_with_type<Hook>;
  static constexpr bool outermost = is_outermost<Hook>;
  static constexpr bool singleton = is_singleton<Hook>;
};

/// A copy of its trigger, where the session sees it.
template <class Hook>
struct same_trigger {
  explicit same_trigger(Hook const&) {}
};
template <has_trigger Hook>
struct same_trigger<Hook> {
  explicit same_trigger(Hook const& hook) : trigger(hook.trigger) {}
  typename trigger_of<Hook>::type trigger;
};

template <class Hook, std::size_t Bytes>
struct off_thread_record {
  void (*tell)(Hook&, off_thread_messages&, off_thread_record const&);
  step_number step;
  bool due;
  bool vetoed;
  alignas(16) std::byte data[Bytes];
};
template <class Hook, std::size_t Bytes>
struct tells_hook {
  std::shared_ptr<Hook> hook;
  std::shared_ptr<off_thread_messages> messages;
  void operator()(off_thread_record<Hook, Bytes> const& record) const { record.tell(*hook, *messages, record); }
};

// Rules for the hook inside. What breaks one is said once, in however many kinds of run it is broken.

template <class Hook>
struct asking_changes_it : reason {
  static consteval void say() {
    static_assert(is_mended<asking_changes_it>,
                  "tautline: in off_thread before_run is called while another thread may be in after_run, so it must not change the "
                  "hook. Mend: make before_run const, and let it look at nothing that after_run changes");
  }
};
template <class Hook>
struct asks_for_no_plain_values : reason {
  static consteval void say() {
    static_assert(is_mended<asks_for_no_plain_values>,
                  "tautline: off_thread copies the values that a hook asks for, and one of these is not trivially copyable, or only "
                  "points to what the session has. Mend: let a node of the graph compute what the hook needs, as a number or a "
                  "std::array");
  }
};
template <class Hook>
struct asks_for_too_much : reason {
  static consteval void say() {
    static_assert(is_mended<asks_for_too_much>,
                  "tautline: the values that this hook asks for do not fit into the records of off_thread. Mend: write "
                  "off_thread_with<BYTES>(hook) with their number of bytes");
  }
};
template <class Hook>
struct takes_no_recorded_run : reason {
  static consteval void say() {
    static_assert(is_mended<takes_no_recorded_run>,
                  "tautline: off_thread cannot call this hook's after_run with a recorded_run and recorded values. Mend: write "
                  "after_run(auto& ctx, auto const& values), and use in it what a recorded_run has");
  }
};

template <class Values>
struct fetches_in {
  using type = void;
};
template <class Core, class Fetches>
struct fetches_in<run_values<Core, Fetches>> {
  using type = Fetches;
};

}  // namespace detail

/// Takes a hook's work off the step's thread: in `after_run` the values that it asked for are copied into a queue, and a
/// thread of its own calls the hook's `after_run` with them. A step never waits for it.
///
///     auto session = monitored(graph, options{real_time{}}, off_thread{tensor_logger<"loss">{every_steps{100}}});
///
/// On that thread the hook gets a `recorded_run` (`step`, `due`, `vetoed`, `request_stop`, `fail`) and copies of the
/// values, which must be trivially copyable and fit into `Bytes`. All its other callbacks are called by the session's
/// thread, when the worker has caught up; `before_run` is called while it works: it must be const, and look at nothing
/// that `after_run` changes. The trigger is the hook's.
///
/// @tparam Bytes for the values of one run; `off_thread_with<512>(hook)` takes more than the usual 96
/// @param how length of the queue and so on: see `background_options`. A full queue drops the run and counts it
/// **Order** that of the hook inside, whose relations, category and tags hold. In `end` and `close` the queue is
/// written out, for at most `linger` each; then the hook's own `end` and `close` follow.
/// **State** that of the hook inside. To list it waits until the worker has caught up, so that a checkpoint is exact: such a
/// hook is not for sessions in real-time mode, others are.
/// **Errors** an error of the hook on its thread ends the training: it comes up in the next step, or in `end`. There it has
/// its type, in a step its kind and message. `unavailable` if the queue could not be written out in time: then the hook's
/// own `end` is not called.
/// **Cost** of a step: a copy of `Bytes` + 32 bytes and a few atomic operations; no allocation, lock or system call.
template <class Hook, std::size_t Bytes = 96>
class off_thread : public detail::same_declarations<Hook>, public detail::same_trigger<Hook> {
  static_assert(detail::has_inside<detail::after_run_callback, Hook>,
                "tautline: off_thread takes after_run to another thread, and this hook has none. Mend: give the hook to the session "
                "as it is, or give it after_run(ctx, values)");
  static_assert(!detail::has_inside<detail::gate_callback, Hook> && !detail::is_saver<Hook> && !watching<Hook> &&
                    std::is_same_v<detail::provided_by_t<Hook>, detail::type_list<>>,
                "tautline: off_thread cannot hold a hook that has a gate, saves, watches or provides values: the session needs its "
                "answer in the step. Mend: give the hook to the session as it is");

  using record = detail::off_thread_record<Hook, Bytes>;
  using writer = background_writer<record, detail::tells_hook<Hook, Bytes>>;

 public:
  /// What lists a state waits for the worker when it is saved.
  static constexpr bool real_time = !lists_state<Hook>;
  static constexpr bool stateless = tautline::stateless<Hook>;

  template <class Given>
    requires(std::is_same_v<std::remove_cvref_t<Given>, Hook>)
  explicit off_thread(Given&& hook, background_options how = {})
      : detail::same_trigger<Hook>(hook), how_(how), inside_(std::make_shared<Hook>(static_cast<Given&&>(hook))) {
    detail::must_be_moved<Given, Hook>();
  }
  off_thread(off_thread&&) noexcept = default;
  off_thread& operator=(off_thread&&) noexcept = default;
  ~off_thread() = default;

  /// The hook: to be touched before the session and after its `close`.
  [[nodiscard]] Hook& inside() { return *inside_; }
  /// Runs that the hook was not told of, since the queue was full or since it had failed.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return out_ ? out_->dropped() : 0; }

  template <class Graph>
    requires(!detail::has_inside<detail::begin_callback, Hook> || detail::begins_by_reference<Hook, Graph>)
  void begin(Graph& graph, life& at) {
    start(at);
    if constexpr (detail::has_inside<detail::begin_callback, Hook>) detail::begin_inside(*inside_, graph, at);
  }
  template <class Graph>
    requires detail::begins_by_value<Hook, Graph>
  auto begin(Graph&& graph, life& at) {
    start(at);
    return detail::begin_inside(*inside_, static_cast<Graph&&>(graph), at);
  }
  template <class Graph>
    requires detail::begins_by_copy<Hook, Graph>
  auto begin(Graph& graph, life& at) {
    start(at);
    return detail::begin_inside(*inside_, graph, at);
  }

  template <class Session>
    requires detail::fits_inside<detail::after_create_session_callback, Hook, Session>
  void after_create_session(Session& session, life& at) {
    if (caught_up(at)) detail::tell_inside<detail::after_create_session_callback>(*inside_, at, session);
  }
  template <class Session, class Coordinator>
    requires(!std::is_same_v<Coordinator, life> && detail::told_inside<detail::after_create_session_callback, Hook, Session, Coordinator>)
  void after_create_session(Session& session, Coordinator& coordinator, life& at) {
    if (caught_up(at)) detail::tell_inside<detail::after_create_session_callback>(*inside_, at, session, coordinator);
  }

  template <class Context>
    requires detail::fits_inside<detail::before_run_callback, Hook, Context>
  auto before_run(Context& ctx) noexcept(detail::quiet_inside<detail::before_run_callback, Hook const, Context>) {
    if (has_failed()) [[unlikely]] report(ctx);
    if constexpr (detail::has_inside<detail::before_run_callback, Hook>) {
      if constexpr (detail::told_inside<detail::before_run_callback, Hook const, Context>) {
        return detail::tell_inside<detail::before_run_callback>(std::as_const(*inside_), ctx, ctx);
      } else {
        detail::asking_changes_it<Hook>::say();
        return detail::tell_inside<detail::before_run_callback>(*inside_, ctx, ctx);
      }
    }
  }

  template <class Context>
    requires detail::fits_inside<detail::after_run_callback, Hook, recorded_run>
  void after_run(Context& ctx) noexcept {
    if constexpr (detail::has_inside<detail::after_run_callback, Hook>) {
      record made = made_of(ctx);
      made.tell = [](Hook& hook, detail::off_thread_messages& messages, record const& from) {
        recorded_run run(messages, from.step, from.due, from.vetoed);
        hook.after_run(run);
      };
      (void)out_->push(made);
    }
  }
  template <class Context, class Values>
    requires(!std::is_void_v<typename detail::fetches_in<Values>::type>)
  void after_run(Context& ctx, Values& values) noexcept {
    using types = detail::recorded_types<Values, typename detail::fetches_in<Values>::type>;
    if constexpr (!types::can_be_copied) {
      detail::asks_for_no_plain_values<Hook>::say();
    } else {
      using data = typename types::data;
      using copies = detail::recorded_values<data, typename types::fetches>;
      if constexpr (sizeof(data) > Bytes) {
        detail::asks_for_too_much<Hook>::say();
      } else if constexpr (!requires(Hook& hook, recorded_run& run, copies& read) { hook.after_run(run, read); }) {
        detail::takes_no_recorded_run<Hook>::say();
      } else {
        record made = made_of(ctx);
        ::new (static_cast<void*>(made.data)) data(types::copy(values));
        made.tell = [](Hook& hook, detail::off_thread_messages& messages, record const& from) {
          recorded_run run(messages, from.step, from.due, from.vetoed);
          copies read(*std::launder(reinterpret_cast<data const*>(from.data)));
          hook.after_run(run, read);
        };
        (void)out_->push(made);
      }
    }
  }

  template <class Session>
    requires detail::fits_inside<detail::end_callback, Hook, Session>
  void end(Session& session, life& at) {
    if (!caught_up(at)) return;
    detail::tell_inside<detail::end_callback>(*inside_, at, session);
  }
  void on_error(error const& happened, life& at)
    requires detail::fits_inside<detail::on_error_callback, Hook, error const>
  {
    if constexpr (detail::has_inside<detail::on_error_callback, Hook>) {
      if (!out_) return detail::tell_inside<detail::on_error_callback>(*inside_, at, happened);
      (void)out_->settle(how_.linger);
      if (out_->at_rest()) detail::tell_inside<detail::on_error_callback>(*inside_, at, happened);
    }
  }
  void close(life& at)
    requires detail::fits_inside<detail::close_callback, Hook>
  {
    bool const ended = !out_ || out_->join(how_.linger).finished;
    {
      std::lock_guard const lock(messages_->mutex);
      messages_->stop = {};  // the session may go
    }
    if (!ended && !reported_) {
      at.fail(error_kind::unavailable, "off_thread: the hook's own thread did not come back in time, and was given up");
    }
    if (ended) detail::tell_inside<detail::close_callback>(*inside_, at);
  }

  auto state()
    requires lists_state<Hook>
  {
    if (out_ && !out_->at_rest()) {
      (void)out_->settle(how_.linger);
      if (!out_->at_rest()) messages_->fail(error_kind::unavailable, late);
    }
    return inside_->state();
  }
  void after_restore(life& at)
    requires detail::fits_restore<Hook>
  {
    if (caught_up(at)) detail::restore_inside(*inside_, at);
  }

 private:
  static constexpr text late{"off_thread: the hook's own thread is too slow, its queue could not be written out in time"};

  void start(life& at) {
    out_.reset();  // writes out what an earlier session left
    messages_ = std::make_shared<detail::off_thread_messages>();
    messages_->stop = at.handle();
    reported_ = false;
    out_.emplace(detail::tells_hook<Hook, Bytes>{inside_, messages_}, how_);
  }
  template <class Context>
  record made_of(Context& ctx) const noexcept {
    record made;
    made.step = ctx.step();
    made.due = ctx.due();
    made.vetoed = ctx.vetoed();
    return made;
  }

  [[nodiscard]] bool has_failed() const noexcept {
    return (out_->failed() || messages_->failed.load(std::memory_order_acquire)) && !reported_;
  }
  /// Says the hook's error in the session's own way.
  TAUTLINE_COLD void report(life& at) noexcept {
    reported_ = true;
    if (error const why = out_->failure(); why) {
      at.fail(why.kind, why.message);
    } else {
      at.fail(messages_->kind, text::of_lasting(messages_->message));
    }
  }
  /// Waits for the worker. @return false after an error of the hook, or if it takes too long, which is reported
  bool caught_up(life& at) {
    if (out_->settle(how_.linger) && !has_failed()) return true;
    if (has_failed()) {
#if TAUTLINE_EXCEPTIONS
      if (error const why = out_->failure(); why.cause) {
        reported_ = true;
        std::rethrow_exception(why.cause);
      }
#endif
      report(at);
    } else if (!reported_) {
      reported_ = true;
      at.fail(error_kind::unavailable, late);
    }
    return false;
  }

  background_options how_;
  bool reported_ = false;
  std::shared_ptr<Hook> inside_;
  std::shared_ptr<detail::off_thread_messages> messages_ = std::make_shared<detail::off_thread_messages>();
  std::optional<writer> out_;
};
template <class Given>
off_thread(Given&&, background_options = {}) -> off_thread<std::remove_cvref_t<Given>>;

/// `off_thread` with room for `Bytes` of values a run.
template <std::size_t Bytes, class Given>
auto off_thread_with(Given&& hook, background_options how = {}) {
  return off_thread<std::remove_cvref_t<Given>, Bytes>(static_cast<Given&&>(hook), how);
}

TAUTLINE_END
