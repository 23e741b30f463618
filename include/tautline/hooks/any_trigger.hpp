// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <new>

#include <tautline/core/request.hpp>
#include <tautline/core/trigger.hpp>

TAUTLINE_BEGIN

/// Any trigger as one type, so that a hook whose names are template arguments can be written with plain braces:
/// `tensor_logger<"loss">{every_steps{100} | at_end}`. (Explicit template arguments switch deduction off, for all
/// parameters: the type of a braced `X<"loss">{…}` cannot depend on what stands in the braces.)
///
/// The trigger lies inside, there is no heap: at most 64 bytes, trivially copyable, with a memory of at most 64 bytes.
/// **Cost** for `every_steps` one branch more than the trigger itself; for others an indirect call each time the session
/// asks; the clock is read only if the trigger inside looks at it. A hook that is to cost nothing takes its trigger as
/// a template parameter.
class any_trigger {
 public:
  static constexpr std::size_t capacity = 64;
  static constexpr bool uses_clock = true;
  static constexpr bool fires_at_end = true;
  static constexpr int flag_count = 16;  // of which trigger is known at run time

  struct memory {
    alignas(8) std::byte bytes[capacity];
  };

  constexpr any_trigger() : any_trigger(every_steps{}) {}
  // NOLINTNEXTLINE(google-explicit-constructor): a trigger is meant to convert
  constexpr any_trigger(every_steps given) : steps_(given), inside_(nullptr) {}
  template <trigger Trigger>
    requires(!std::is_same_v<Trigger, every_steps> && !std::is_same_v<Trigger, any_trigger>)
  // NOLINTNEXTLINE(google-explicit-constructor)
  any_trigger(Trigger given) : inside_(&table<Trigger>) {
    static_assert(sizeof(Trigger) <= capacity && alignof(Trigger) <= 8 && std::is_trivially_copyable_v<Trigger> &&
                      sizeof(typename Trigger::memory) <= capacity && alignof(typename Trigger::memory) <= 8 &&
                      std::is_trivially_copyable_v<typename Trigger::memory> &&
                      detail::flag_count<Trigger>() <= flag_count,
                  "tautline: this trigger is too large for any_trigger, or not trivially copyable. Mend: use the form of "
                  "the hook that takes the trigger as a template parameter, such as tensor_logger<\"loss\">::with(trigger)");
    ::new (static_cast<void*>(bytes_)) Trigger(given);
  }

  /// Whether it may fire in `end`: a hook that shows values then has to ask for them in every run.
  [[nodiscard]] constexpr bool may_fire_at_end() const { return inside_ != nullptr && inside_->fires_at_end; }
  /// Whether it looks at the time.
  [[nodiscard]] constexpr bool wants_clock() const { return inside_ != nullptr && inside_->uses_clock; }

  void restart(memory& kept, trigger_view const& view) const {
    if (inside_ == nullptr) {
      if (view.first) ::new (static_cast<void*>(kept.bytes)) every_steps::memory{};
      steps_.restart(as<every_steps::memory>(kept.bytes), view);
    } else {
      inside_->restart(bytes_, kept.bytes, view);
    }
  }
  [[nodiscard]] std::uint64_t flags(memory const& kept) const {
    if (inside_ == nullptr) return every_steps::flags(as<every_steps::memory>(kept.bytes));
    return inside_->flags(bytes_, kept.bytes);
  }
  void set_flags(memory& kept, std::uint64_t bits) const {
    if (inside_ == nullptr) {
      ::new (static_cast<void*>(kept.bytes)) every_steps::memory{};
      every_steps::set_flags(as<every_steps::memory>(kept.bytes), bits);
    } else {
      inside_->set_flags(bytes_, kept.bytes, bits);
    }
  }
  [[nodiscard]] bool due(memory const& kept, trigger_view const& view) const {
    if (inside_ == nullptr) return every_steps::due(as<every_steps::memory>(kept.bytes), view);
    return inside_->due(bytes_, kept.bytes, view);
  }
  void looked(memory& kept, trigger_view const& view, bool due, bool acted) const {
    if (inside_ == nullptr) {
      steps_.looked(as<every_steps::memory>(kept.bytes), view, due, acted);
    } else {
      inside_->looked(bytes_, kept.bytes, view, due, acted);
    }
  }

 private:
  struct functions {
    void (*restart)(std::byte const*, std::byte*, trigger_view const&);
    bool (*due)(std::byte const*, std::byte const*, trigger_view const&);
    void (*looked)(std::byte const*, std::byte*, trigger_view const&, bool, bool);
    std::uint64_t (*flags)(std::byte const*, std::byte const*);
    void (*set_flags)(std::byte const*, std::byte*, std::uint64_t);
    bool fires_at_end;
    bool uses_clock;
  };

  template <class Type>
  static Type& as(std::byte* bytes) {
    return *std::launder(reinterpret_cast<Type*>(bytes));
  }
  template <class Type>
  static Type const& as(std::byte const* bytes) {
    return *std::launder(reinterpret_cast<Type const*>(bytes));
  }

  template <class Trigger>
  static constexpr functions table{
      [](std::byte const* trigger, std::byte* kept, trigger_view const& view) {
        if (view.first) ::new (static_cast<void*>(kept)) typename Trigger::memory{};
        as<Trigger>(trigger).restart(as<typename Trigger::memory>(kept), view);
      },
      [](std::byte const* trigger, std::byte const* kept, trigger_view const& view) {
        return as<Trigger>(trigger).due(as<typename Trigger::memory>(kept), view);
      },
      [](std::byte const* trigger, std::byte* kept, trigger_view const& view, bool due, bool acted) {
        as<Trigger>(trigger).looked(as<typename Trigger::memory>(kept), view, due, acted);
      },
      [](std::byte const* trigger, std::byte const* kept) -> std::uint64_t {
        if constexpr (detail::flag_count<Trigger>() > 0) {
          return as<Trigger>(trigger).flags(as<typename Trigger::memory>(kept));
        } else {
          return 0;
        }
      },
      [](std::byte const* trigger, std::byte* kept, std::uint64_t bits) {
        ::new (static_cast<void*>(kept)) typename Trigger::memory{};
        if constexpr (detail::flag_count<Trigger>() > 0) {
          as<Trigger>(trigger).set_flags(as<typename Trigger::memory>(kept), bits);
        }
      },
      tautline::fires_at_end<Trigger>, detail::uses_clock<Trigger>};

  union {
    every_steps steps_;
    alignas(8) std::byte bytes_[capacity];
  };
  functions const* inside_;
};

namespace detail {

/// Whether a hook with this trigger has to ask for its values in every run.
template <class Trigger>
constexpr bool remembers(Trigger const& trigger) {
  if constexpr (requires { trigger.may_fire_at_end(); }) {
    return trigger.may_fire_at_end();
  } else {
    return fires_at_end<Trigger>;
  }
}
/// Whether the type says so already: then what is asked for has no condition.
template <class Trigger>
inline constexpr bool always_remembers =
    fires_at_end<Trigger> && !requires(Trigger const& trigger) { trigger.may_fire_at_end(); };

/// The request of a hook that shows values when it is due, and in `end` those of the last run. By value: a context whose
/// address went into a function would have to live in memory.
template <class Trigger, class... Items>
constexpr auto ask_to_show(bool due, Trigger const& trigger, Items const&... items) noexcept {
  if constexpr (always_remembers<Trigger>) {
    return run_args(items...);
  } else {
    return ask_if(due || remembers(trigger), items...);
  }
}

}  // namespace detail
TAUTLINE_END
