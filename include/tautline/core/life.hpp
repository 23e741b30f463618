// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <new>

#include <tautline/core/error.hpp>

TAUTLINE_BEGIN

/// Who asked for a stop.
enum class stop_source : std::uint8_t { none, hook, caller, end_of_input };

/// Why a training stopped: recorded once, by whoever asked first, and kept over recoveries and later errors.
struct stop_record {
  stop_source source = stop_source::none;
  char const* by = "";  ///< the hook's name, "caller", "end_of_input", or empty
  tautline::text reason;
  bool has_step = false;  ///< false for a stop asked for before a session existed
  step_number step = 0;   ///< the run in progress; outside a run the completed steps

  [[nodiscard]] explicit operator bool() const { return source != stop_source::none; }

  /// "stop_at_step at step 1000: reached step 1000", "end_of_input at step 1801", or "nobody"; cut to `size - 1`
  /// characters. The input ended in the run of that step.
  /// @return the number of characters written, without the closing zero
  std::size_t write_to(char* out, std::size_t size) const {
    detail::writer written(out, size);
    written.put(source == stop_source::none ? "nobody" : by);
    if (has_step) written.put(" at step "), written.put(static_cast<double>(step));
    if (!reason.empty() && source != stop_source::end_of_input) {
      char words[192];
      reason.write_to(words, sizeof words);
      written.put(": "), written.put(words);
    }
    return static_cast<std::size_t>(written.position() - out);
  }
};

namespace detail {

inline constexpr std::uint16_t no_hook = 0xffff;
inline constexpr std::uint16_t by_caller = 0xfffe;
inline constexpr std::uint16_t by_end_of_input = 0xfffd;

/// Where an error came up, as plain values.
struct place_of_error {
  error_kind kind = error_kind::error;
  callback where = callback::none;
  std::uint16_t hook = no_hook;
  bool has_step = false;  // known to the session
  step_number step = 0;
};

/// An error as the session keeps it.
struct error_record : place_of_error {
  text message;
#if TAUTLINE_EXCEPTIONS
  std::exception_ptr cause{};
#endif
};

enum class phase : std::uint8_t { making, open, closed };

/// What a session knows of its own life, whatever its hooks and graph are: not a template, so that hooks can be
/// compiled apart. Its memory holds the frame of the loop in front and, from the back, errors and copied texts.
class life_state {
 public:
  life_state(std::byte* memory, std::size_t size) : memory_size_(static_cast<std::uint16_t>(size)), memory_(memory) {}
  life_state(life_state const&) = delete;
  life_state& operator=(life_state const&) = delete;
  ~life_state() { destroy_errors(); }

  // --- the stop request -------------------------------------------------------------------------------------------

  /// The only thing that the loop looks at before each step: a stop was asked for, or the session is closed.
  [[nodiscard]] TAUTLINE_INLINE bool stopped() const { return __atomic_load_n(&stopped_, __ATOMIC_RELAXED); }
  TAUTLINE_INLINE void set_stopped() { __atomic_store_n(&stopped_, true, __ATOMIC_RELAXED); }

  /// From the thread that drives. Plain stores, no call: a call within the loop would cost it its registers.
  TAUTLINE_INLINE void request_stop(std::uint16_t by, tautline::text const& reason, step_number step) {
    if (stop_recorded()) return;
    __atomic_store_n(&stop_by_, by, __ATOMIC_RELAXED);  // another thread may look whether there is one
    stop_text_ = reason;
    stop_has_step_ = told_sessions;
    stop_step_ = step;
    set_stopped();
  }
  /// From anywhere, at any moment: another thread, an interrupt.
  void request_stop_outside(tautline::text const& reason, std::uint16_t by = by_caller) {
    if (stop_recorded() || outside_claimed()) return;
    outside_text_ = short_text(reason);
    outside_by_ = by;
    __atomic_store_n(&outside_, true, __ATOMIC_RELEASE);
    __atomic_store_n(&stopped_, true, __ATOMIC_RELEASE);  // whoever sees this and acquires it sees the reason, too
  }
  /// Whether there is a reason; it is read by `stop`. Hooks ask this within the loop, so it acquires nothing: after an
  /// acquire the compiler would load again whatever it has of the graph's state in registers.
  [[nodiscard]] TAUTLINE_INLINE_FOR_SIZE bool stop_recorded() const {
    return __atomic_load_n(&stop_by_, __ATOMIC_RELAXED) != no_hook || __atomic_load_n(&outside_, __ATOMIC_RELAXED);
  }

  [[nodiscard]] stop_record stop(char const* const* hook_names) const {
    stop_record record;
    if (!__atomic_load_n(&stopped_, __ATOMIC_ACQUIRE)) return record;
    bool const told_outside = __atomic_load_n(&outside_, __ATOMIC_ACQUIRE);
    bool const outside = stop_by_ == no_hook;
    if (outside && !told_outside) return record;
    std::uint16_t const by = outside ? outside_by_ : stop_by_;
    record.reason = outside ? outside_text_.full() : stop_text_;
    record.has_step = outside ? told_sessions : stop_has_step_;
    record.step = outside ? completed : stop_step_;
    if (by == by_end_of_input) {
      record.source = stop_source::end_of_input;
      record.by = "end_of_input";
    } else if (by == by_caller) {
      record.source = stop_source::caller;
      record.by = "caller";
    } else {
      record.source = stop_source::hook;
      record.by = hook_names[by];
    }
    return record;
  }

  // --- errors -----------------------------------------------------------------------------------------------------

  /// The first is the session's error, the later ones are attached to it: four at most, as far as there is room.
  ///
  /// Throws nothing, and says so: with a way to the handler of exceptions from here, clang loads the graph's state anew in
  /// each step.
  TAUTLINE_COLD void report(place_of_error const& place, text const& message) noexcept {
    if (void* const room = room_for_error()) (::new (room) error_record{place, message})->has_step = told_sessions;
  }
#if TAUTLINE_EXCEPTIONS
  TAUTLINE_COLD void report(error_record const& happened) noexcept {
    if (void* const room = room_for_error()) (::new (room) error_record(happened))->has_step = told_sessions;
  }
#endif
  /// All errors so far, also those for which there was no room.
  [[nodiscard]] int reported() const { return reported_; }
  [[nodiscard]] int kept() const { return errors_; }
  /// @return true the first time: then the error is thrown
  // A function of this class: g++ 12 takes the flag, reached from a session, for one behind it, and warns.
  bool tell_caller() {
    bool const first = !told_caller;
    told_caller = true;
    return first;
  }
  [[nodiscard]] error_kind kind_of_first() const { return record_at(0).kind; }
  [[nodiscard]] error error_at(int index, char const* const* hook_names) const {
    error_record const& kept = record_at(index);
    error happened;
    happened.kind = kept.kind;
    happened.where = kept.where;
    happened.has_step = kept.has_step;
    happened.step = kept.step;
    happened.hook = kept.hook < by_end_of_input ? hook_names[kept.hook] : "";
    happened.message = kept.message;
#if TAUTLINE_EXCEPTIONS
    happened.cause = kept.cause;
#endif
    return happened;
  }
  /// After a recovery.
  void forget_errors() {
    destroy_errors();
    tail_bytes_ = static_cast<std::uint16_t>(text_end_ * 8);
    reported_ = 0;
  }

  /// Characters whose owner may go are kept in the session's memory: one text, the first that comes.
  TAUTLINE_COLD text keep(copied const& given) {
    // the text outlives the errors of a recovery, so there must be room for the error that comes after one
    std::size_t const used = tail_bytes_ + frame_bytes_ + sizeof(error_record);
    if (text_end_ != 0 || used + 8 > memory_size_) return "(no room to keep this text)";
    std::size_t const room = memory_size_ - used < copied::capacity ? memory_size_ - used : copied::capacity;
    text_end_ = static_cast<std::uint8_t>((tail_bytes_ + room) / 8);
    tail_bytes_ = static_cast<std::uint16_t>(text_end_ * 8);
    char* const place = reinterpret_cast<char*>(memory_ + memory_size_ - tail_bytes_);
    writer(place, room / 8 * 8).put(given.characters);
    return text::of_lasting(place);
  }

  // --- the loop's frame -------------------------------------------------------------------------------------------

  [[nodiscard]] void* take_frame(std::size_t bytes) {
    frame_wanted_ = static_cast<std::uint16_t>(bytes < 0xffff ? bytes : 0xffff);
    // room is kept for the first error, so that it is never lost
    if (bytes + tail_bytes_ + sizeof(error_record) > memory_size_) return nullptr;
    frame_bytes_ = frame_wanted_;
    return memory_;
  }
  void give_frame_back() { frame_bytes_ = 0; }
  [[nodiscard]] std::size_t frame_bytes_used() const { return frame_wanted_; }

  static constexpr int max_attached = 4;

  // Members in an order without holes: the session promises its size.

  step_number completed = 0;              ///< completed steps
  std::uint32_t completed_when_made = 0;  ///< low bits of `completed` when this raw session was made
  phase now = phase::making;              ///< where in its life the session is
  bool has_session = false;               ///< a raw session exists
  bool told_sessions = false;             ///< hooks have been told of a session before
  bool has_backend = false;               ///< begin is over, the backend exists
  std::uint8_t recoveries = 0;            ///< in a row
  std::uint8_t uncaught = 0;              ///< exceptions in flight when the session was made
  std::uint16_t handles = 0;              ///< copies of a live steps()
  bool run_marked = false;                ///< in steps(): `++` was called
  bool told_caller = false;               ///< the session's error has reached the caller
  bool running = false;                   ///< a run is in progress: a hook that calls its session is refused
  bool vetoed = false;                    ///< a gate has vetoed the updates of the run in progress

 private:
  [[nodiscard]] error_record& record_at(int index) const {
    return *std::launder(static_cast<error_record*>(static_cast<void*>(memory_ + memory_size_ - error_places_[index] * 8)));
  }
  /// Null if there is no room.
  void* room_for_error() {
    if (reported_ < 255) ++reported_;
    if (errors_ > max_attached) return nullptr;
    if (tail_bytes_ + sizeof(error_record) + frame_bytes_ > memory_size_) return nullptr;
    tail_bytes_ = static_cast<std::uint16_t>(tail_bytes_ + sizeof(error_record));
    error_places_[errors_++] = static_cast<std::uint8_t>(tail_bytes_ / 8);
    return memory_ + memory_size_ - tail_bytes_;
  }
  void destroy_errors() {
    while (errors_ > 0) record_at(--errors_).~error_record();
  }

  /// False for one caller only. Where the machine has no exchange (Cortex-M0), an interrupt that comes between load and
  /// store runs to its end first, and the later reason wins whole.
  bool outside_claimed() {
#if __GCC_ATOMIC_BOOL_LOCK_FREE == 2
    return __atomic_exchange_n(&outside_claimed_, true, __ATOMIC_ACQ_REL);
#else
    bool const before = __atomic_load_n(&outside_claimed_, __ATOMIC_RELAXED);
    __atomic_store_n(&outside_claimed_, true, __ATOMIC_RELAXED);
    return before;
#endif
  }

  std::uint8_t text_end_ = 0;  // in units of 8 bytes from the end; 0: none is kept
  bool stop_has_step_;
  bool outside_claimed_ = false;
  bool outside_ = false;
  bool stopped_ = false;
  std::uint8_t errors_ = 0;
  std::uint8_t reported_ = 0;
  std::uint8_t error_places_[max_attached + 1];  // in units of 8 bytes from the end
  std::uint16_t memory_size_;
  std::uint16_t frame_bytes_ = 0;
  std::uint16_t frame_wanted_ = 0;
  std::uint16_t tail_bytes_ = 0;  // a multiple of 8
  std::uint16_t stop_by_ = no_hook;
  std::uint16_t outside_by_;
  // Of the request that is recorded: before there is one, nothing has been written here.
  step_number stop_step_;
  union {
    tautline::text stop_text_;
  };
  union {
    short_text outside_text_;
  };
  std::byte* memory_;
};

class access;

}  // namespace detail

/// Asks a session for a stop from anywhere: another thread, a signal handler, an interrupt. A hook keeps one of its own.
/// Must not be used once the session is gone: forget it in `close`.
class stop_handle {
 public:
  stop_handle() = default;
  [[nodiscard]] explicit operator bool() const { return state_ != nullptr; }
  /// A lock-free flag and a few stores; the first request is the one that is recorded. @param reason a literal
  void request_stop(text reason = "") const {
    if (state_ != nullptr) state_->request_stop_outside(reason, by_);
  }
  /// True once somebody has asked for a stop, or the session is closed.
  [[nodiscard]] bool stop_requested() const { return state_ != nullptr && state_->stopped(); }

 private:
  friend class life;
  stop_handle(detail::life_state& state, std::uint16_t by) : state_(&state), by_(by) {}
  detail::life_state* state_ = nullptr;
  std::uint16_t by_ = detail::by_caller;
};

/// What every callback may take as its last parameter: how a hook speaks to the session. The run context is one, too.
///
///     void begin(auto& graph, tautline::life& life) { life.request_stop("nothing to do"); }
class life {
 public:
  life(life const&) = delete;
  life& operator=(life const&) = delete;

  // What hooks call in a step is inlined whatever the compiler thinks of it: one call that is not, and this object would
  // have to be in memory, which costs every step of the loop a third.

  /// The run in progress; outside a run the completed steps.
  [[nodiscard]] TAUTLINE_INLINE step_number step() const { return state_->completed + ahead_; }
  /// Whether the hook's `trigger` fires in this run, or in `end`. False for a hook that has none.
  [[nodiscard]] TAUTLINE_INLINE bool due() const { return due_; }

  /// Asks for a stop. The event in progress goes on to all hooks, the run in progress is finished; the loop ends
  /// before the next one. The first request is the one that is recorded. **Cost** a few stores.
  TAUTLINE_INLINE void request_stop(text const& reason = "") { state_->request_stop(hook_, reason, step()); }
  TAUTLINE_INLINE void request_stop(copied const& reason) {
    if (!stop_requested()) request_stop(state_->keep(reason));  // else there is no room to waste
  }
  [[nodiscard]] bool stop_requested() const { return state_->stop_recorded(); }
  /// For requests from other threads, in the name of this hook.
  [[nodiscard]] stop_handle handle() const { return {*state_, hook_}; }

  /// Reports an error as a value: it has the effect that an exception of that kind has, as soon as the callback
  /// returns. Works with and without exceptions.
  /// **Cost** one flag on the loop's path: what is reported is made of copies, so that the context stays in registers.
  TAUTLINE_INLINE void fail(error_kind kind, text message) {
    failed_ = true;
    state_->report({.kind = kind, .where = where_, .hook = hook_, .step = step()}, message);
  }
  TAUTLINE_INLINE void fail(error_kind kind, copied const& message) { fail(kind, state_->keep(message)); }

 protected:
  friend class detail::access;
  explicit life(detail::life_state& state) : state_(&state) {}

  detail::life_state* state_;
  step_number ahead_ = 0;  // of the completed steps: a step counter of its own would cost two instructions a step
  std::uint16_t hook_ = detail::no_hook;
  callback where_ = callback::none;
  bool due_ = false;
  bool failed_ = false;
};

namespace detail {

/// The session's way to the inside of a `life`.
class access {
 public:
  TAUTLINE_INLINE static void set_ahead(life& at, step_number steps) { at.ahead_ = steps; }
  TAUTLINE_INLINE static step_number ahead(life const& at) { return at.ahead_; }
  TAUTLINE_INLINE static void enter(life& at, callback where, std::uint16_t hook, bool due = false) {
    at.where_ = where;
    at.hook_ = hook;
    at.due_ = due;
  }
  TAUTLINE_INLINE static bool failed(life const& at) { return at.failed_; }
  TAUTLINE_INLINE static void forgive(life& at) { at.failed_ = false; }
  TAUTLINE_INLINE static place_of_error place(life const& at, error_kind kind = error_kind::error) {
    return {.kind = kind, .where = at.where_, .hook = at.hook_, .step = at.step()};
  }
#if TAUTLINE_EXCEPTIONS
  /// The exception in flight as an error that came up at `place`.
  TAUTLINE_COLD static error_record describe_exception(place_of_error place) {
    error_record happened{place, "an exception of a foreign type", std::current_exception()};
    try {
      throw;
    } catch (tautline::exception const& known) {
      happened.kind = known.kind();
      happened.message = text::of_lasting(known.what());
    } catch (std::exception const& foreign) {
      happened.message = text::of_lasting(foreign.what());
    } catch (...) {  // nothing more is known of it
    }
    return happened;
  }
#endif
  TAUTLINE_COLD static void report(life const& at, status const& failed) {
    at.state_->report(place(at, failed.kind), text::of_lasting(failed.message));
  }

  class caller_life;
};

/// A life that the session makes for itself, outside of runs.
class access::caller_life : public life {
 public:
  explicit caller_life(life_state& state) : life(state) {}
};
using plain_life = access::caller_life;

}  // namespace detail
TAUTLINE_END
