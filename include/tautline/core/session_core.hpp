// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/backend.hpp>
#include <tautline/core/hook_list.hpp>
#include <tautline/core/loop.hpp>
#include <tautline/core/options.hpp>

TAUTLINE_BEGIN
namespace detail {

/// What `run_for` remembers, in sessions that have a clock.
struct slice_memory {
  std::uint64_t longest = 0;   // ticks
  std::uint32_t overruns = 0;  // slices that ended after their deadline
};
struct no_slice_memory {};

/// What a session knows of its restoring, where it has such an option.
struct restore_memory {
  bool found = false;      // the raw session in use began from a checkpoint
  bool roll_back = false;  // a gate wants to go back
};
struct no_restore_memory {};

/// Whether the session's clock has a counter of fewer than 64 bits, which wraps.
template <class Options>
concept has_narrow_clock = requires(Options& given) { requires sizeof(find_clock(given).clock.now()) < sizeof(std::uint64_t); };
/// The time that such a counter has come to, over all its turns.
struct carried_time {
  std::uint64_t ticks = 0;
};
struct no_carried_time {};

template <fixed_string... Names, class... Values>
constexpr auto list_provided(type_list<provides<Names, Values>...>) -> names<Names...>;
template <class Provided>
using names_of_provided = decltype(list_provided(Provided{}));

/// By what the state of a hook is known in a checkpoint, where it is the only one of its kind: its name, else what its
/// class says (`static constexpr auto state_name = fixed_string{"my_hook"};`, so that another template argument is no
/// other hook), else its type.
template <class Kept>
consteval char const* plain_state_key() {
  if constexpr (entry<Kept>::name.size() == 0 && requires { hook_of<Kept>::state_name.characters; }) {
    return hook_of<Kept>::state_name.characters;
  } else {
    return entry<Kept>::label;
  }
}

/// The data of a monitored session: everything that lives as long as it does, and nothing about how it is driven.
template <class Backend, class Options, class... Kept>
class session_core {
 public:
  using backend_type = Backend;
  using options_type = Options;
  static constexpr std::size_t hook_count = sizeof...(Kept);
  static constexpr std::size_t memory_size = (frame_bytes_in<Options> + 7) / 8 * 8;
  using indices = std::make_index_sequence<hook_count>;
  using hook_list_type = hook_list<indices, Kept...>;
  template <std::size_t Index>
  using leaf_type = typename leaf_at<Index, hook_list_type>::type;
  template <std::size_t Index>
  using hook_type = typename leaf_type<Index>::hook_type;

  template <class... Hooks>
  explicit session_core(Options given, Hooks&&... hooks)
      : state(memory, memory_size),
        hooks(static_cast<Hooks&&>(hooks)...),
        given(static_cast<Options&&>(given)) {}
  session_core(session_core const&) = delete;
  session_core& operator=(session_core const&) = delete;
  ~session_core() {
    live_loop.destroy();  // what was fed goes back to the backend
    if (state.has_backend) backend.~Backend();
  }

  template <std::size_t Index>
  TAUTLINE_INLINE constexpr leaf_type<Index>& place() {
    return hooks;
  }

  /// The index of the hook that provides `Name`; `hook_count` if none does.
  template <fixed_string Name>
  static constexpr std::size_t provider_of() {
    std::size_t found = hook_count;
    std::size_t index = 0;
    ((provides_name(Name.characters, provided_by_t<hook_of<Kept>>{}) ? void(found = index++) : void(++index)),
     ...);
    return found;
  }
  template <fixed_string Name>
  static constexpr bool is_published = provider_of<Name>() != hook_count;
  using provided_names = names_of_provided<join_t<provided_by_t<hook_of<Kept>>...>>;

  template <fixed_string Name>
  TAUTLINE_INLINE auto& publication() {
    return published<Name>(place<provider_of<Name>()>().published);
  }

  /// Whether `Name` has a value in this run, given that it was asked for.
  template <fixed_string Name>
  TAUTLINE_INLINE bool has() {
    if constexpr (is_published<Name>) {
      return publication<Name>().made;
    } else {
      return true;
    }
  }
  template <fixed_string Name, class Type>
  TAUTLINE_INLINE decltype(auto) value() {
    if constexpr (is_published<Name>) {
      return (publication<Name>().value);
    } else {
      return backend_value<Name, Type>(backend);
    }
  }

  /// The first error, and those attached to it.
  [[nodiscard]] error error_at(int index) const { return state.error_at(index, hook_names); }
  [[nodiscard]] stop_record record_of_stop() const { return state.stop(hook_names); }
  /// The same for a completion that perhaps nobody looks at.
  TAUTLINE_LEFT_OUT_IF_UNUSED stop_record last_record_of_stop() const { return record_of_stop(); }

  /// Ticks of the session's clock; 0 where it has none. A narrow counter that wraps is carried on, which is right as
  /// long as it is read once in each of its turns.
  [[nodiscard]] std::uint64_t ticks() {
    if constexpr (has_narrow_clock<Options>) {
      using counter = std::make_unsigned_t<decltype(find_clock(given).clock.now())>;
      auto const now = static_cast<counter>(find_clock(given).clock.now());
      return carried.ticks += static_cast<counter>(now - static_cast<counter>(carried.ticks));
    } else if constexpr (has_clock<Options>) {
      return static_cast<std::uint64_t>(find_clock(given).clock.now());
    } else {
      return 0;
    }
  }
  [[nodiscard]] std::uint64_t ticks_per_second() {
    if constexpr (has_clock<Options>) {
      return static_cast<std::uint64_t>(find_clock(given).clock.ticks_per_second());
    } else {
      return 0;
    }
  }

  static constexpr char const* hook_names[hook_count + 1] = {entry<Kept>::label..., ""};
  static constexpr char const* state_keys[hook_count + 1] = {plain_state_key<Kept>()..., ""};

  // In this order, since what stands in front is reached by the shorter instructions.
  life_state state;
  hook_list_type hooks;
  union {
    Backend backend;  // made after begin
  };
  loop live_loop;  // of a live steps()
  [[no_unique_address]] Options given;
  [[no_unique_address]] std::conditional_t<has_clock<Options>, slice_memory, no_slice_memory> slices;
  [[no_unique_address]] std::conditional_t<has_narrow_clock<Options>, carried_time, no_carried_time> carried;
  [[no_unique_address]] std::conditional_t<has_restorer<Options>, restore_memory, no_restore_memory> restoring;
  alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) std::byte memory[memory_size];

 private:
  template <class... Provided>
  static constexpr bool provides_name([[maybe_unused]] char const* name, type_list<Provided...>) {
    return (false || ... || same_text(provided_name(static_cast<Provided*>(nullptr)), name));
  }
  template <fixed_string Name, std::size_t Index, class Value>
  TAUTLINE_INLINE static auto& published(publication_leaf<Index, provides<Name, Value>>& found) {
    return found.published;
  }
};

}  // namespace detail
TAUTLINE_END
