// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/life_cycle.hpp>

TAUTLINE_BEGIN
namespace detail {

template <std::size_t Count>
inline constexpr hook_mask<Count> all_hooks = [] {
  hook_mask<Count> mask;
  for (bool& on : mask.on) on = true;
  return mask;
}();

/// The caller, as a party that may feed.
struct caller_entry {
  static constexpr char const* label = "the caller";
};

template <fixed_string Name, class First, class Second>
inline constexpr auto conflict_text = [] {
  static_text<length_of(Name.characters) + length_of(First::label) + length_of(Second::label) + 40> words;
  words.append("both ");
  words.append(First::label);
  words.append(" and ");
  words.append(Second::label);
  words.append(" feed \"");
  words.append(Name.characters);
  words.append("\" in this run");
  return words;
}();

/// A request that is made in place, in a local of the step.
template <std::size_t Index, class Request>
struct request_slot {
  static_assert(std::is_trivially_destructible_v<Request>);  // others are refused in check_hook.hpp
  union {
    Request request;
  };
  TAUTLINE_INLINE request_slot() {}
};
template <class Indices, class... Requests>
struct request_slots;
template <std::size_t... Index, class... Requests>
struct request_slots<std::index_sequence<Index...>, Requests...> : request_slot<Index, Requests>... {
  /// `Made(first, requests…)`
  template <class Made, class First>
  TAUTLINE_INLINE constexpr Made merged(First const& first) const {
    return Made(first, static_cast<request_slot<Index, Requests> const&>(*this).request...);
  }
};

template <std::size_t Index, class Request>
TAUTLINE_INLINE constexpr Request& slot_at(request_slot<Index, Request>& found) {
  return found.request;
}
template <std::size_t Index, class Request>
TAUTLINE_INLINE constexpr Request const& slot_at(request_slot<Index, Request> const& found) {
  return found.request;
}

/// The first part of a step: every hook is asked what it wants of the run.
template <class Core>
class asker;
template <class Backend, class Options, class... Entries>
class asker<session_core<Backend, Options, Entries...>> : public life_cycle<session_core<Backend, Options, Entries...>> {
 public:
  using base = life_cycle<session_core<Backend, Options, Entries...>>;
  using core = typename base::core;
  using indices = typename base::indices;

  using base::base;

 protected:
  /// What a hook asks for does not depend on what the caller does: looked up once for all drives.
  template <std::size_t Index>
  using request_info = hook_request<core, run_args<>, typename base::template hook_type<Index>>;
  template <class Entry>
  using request_of = hook_request<core, run_args<>, typename Entry::type>;

  template <auto Mask, class Args, std::size_t... Index>
  static auto slots_of(std::index_sequence<Index...>)
      -> request_slots<indices, std::conditional_t<Mask.on[Index], typename request_info<Index>::type, no_request>...>;
  /// The hooks that a run concerns before it.
  struct is_asked {
    static consteval hook_mask<sizeof...(Entries)> mask() {
      return {{(before_run_callback::named<typename Entries::type>() || has_trigger<typename Entries::type>)...}};
    }
  };
  template <class Request>
  static constexpr bool has_feeds = !std::is_same_v<typename inspect<Request>::feeds, type_list<>>;
  struct feeds_names {
    static consteval hook_mask<sizeof...(Entries)> mask() {
      return {{has_feeds<typename request_of<Entries>::type>...}};
    }
  };

  template <auto Mask, class Args>
  using slots = decltype(slots_of<Mask, Args>(indices{}));

  template <class Slots>
  struct requests_with_caller;
  template <class Indices, class... Requests>
  struct requests_with_caller<request_slots<Indices, Requests...>> {
    template <class Args>
    using request = run_request<true, typename core::provided_names, std::make_index_sequence<sizeof...(Requests) + 1>,
                                Args, Requests...>;
  };
  template <auto Mask, class Args>
  using full_request = typename requests_with_caller<slots<Mask, Args>>::template request<Args>;

  // --- before the run ---------------------------------------------------------------------------------------------

  template <auto Mask, class Args, class Slots, std::size_t... Index>
  TAUTLINE_INLINE bool ask_all(run_context<core, Args>& here, Slots& requests, bool* due,
                               std::index_sequence<Index...>) {
    // all go well: else the compiler takes each for a toss-up, and hooks behind the first few for code that hardly ever runs
    return (true && ... && __builtin_expect(ask<Mask.on[Index], Index>(here, slot_at<Index>(requests), due[Index]), true));
  }

  /// @param slot for what this hook asks
  template <bool On, std::size_t Index, class Args, class Request>
  TAUTLINE_INLINE bool ask(run_context<core, Args>& here, [[maybe_unused]] Request& slot, bool& due) {
    using info = request_info<Index>;
    auto& place = this->template place<Index>();
    using leaf_type = std::remove_reference_t<decltype(place)>;
    if constexpr (!On) {
      return true;
    } else {
      due = false;
      if constexpr (leaf_type::triggered) {
        access::enter(here, callback::before_run, Index);
        trigger_view const view = this->look(place.hook().trigger, here.step());
        due = place.hook().trigger.due(place.trigger.kept, view);
        if constexpr (counts_by_value<typename leaf_type::trigger_type>) place.trigger.asked = view.step;
      }
      if constexpr (info::asking() == form::absent) {
        return true;
      } else {
        access::enter(here, callback::before_run, Index, due);
        [[maybe_unused]] auto const seen = this->watch(here, callback::before_run, Index);
        if constexpr (std::is_same_v<typename info::type, no_request>) {
          before_run_callback::call<info::asking()>(place.hook(), here, here);
        } else {
          ::new (static_cast<void*>(&slot)) Request(before_run_callback::call<info::asking()>(place.hook(), here, here));
        }
        return !access::failed(here);
      }
    }
  }

  // --- two feeds of one name --------------------------------------------------------------------------------------

  /// Hooks that may feed, with each other and with the caller.
  using feeding = filter_t<feeds_names, indices>;
  template <std::size_t Index>
  using entry_at = typename core::template leaf_type<Index>::entry;

  template <class Args, class Slots, std::size_t... Index>
  TAUTLINE_INLINE bool check_feeds(life& at, Args const& args, Slots const& requests, std::index_sequence<Index...>) {
    return check_feeds_of<caller_entry, 0>(at, args, requests, typename inspect<Args>::feeds{}) &&
           (true && ... &&
            check_feeds_of<entry_at<Index>, Index + 1>(
                at, slot_at<Index>(requests), requests,
                typename inspect<std::remove_cvref_t<decltype(slot_at<Index>(requests))>>::feeds{}));
  }
  /// Against the hooks from `From` on.
  template <class Party, std::size_t From, class Request, class Slots>
  TAUTLINE_INLINE static bool check_feeds_of(life&, Request const&, Slots const&, type_list<>) {
    return true;
  }
  template <class Party, std::size_t From, class Request, class Slots, fixed_string... Names, class... Values>
  TAUTLINE_INLINE static bool check_feeds_of(life& at, Request const& request, Slots const& requests,
                                             type_list<feed_t<Names, Values>...>) {
    return (true && ... && check_feed<Party, From, Names>(at, request, requests, feeding{}));
  }
  template <class Party, std::size_t From, fixed_string Name, class Request, class Slots, std::size_t... Index>
  TAUTLINE_INLINE static bool check_feed(life& at, Request const& request, Slots const& requests,
                                         std::index_sequence<Index...>) {
    return (true && ... &&
            (Index < From || check_pair<Name, Party, entry_at<Index>>(at, request, slot_at<Index>(requests))));
  }
  template <fixed_string Name, class Party, class Other, class First, class Second>
  TAUTLINE_INLINE static bool check_pair(life& at, First const& first, Second const& second) {
    if constexpr (inspect<Second>::find(item_kind::feed, Name.characters) != presence::never) {
      if (inspect<First>::template wants<item_kind::feed, Name>(first) &&
          inspect<Second>::template wants<item_kind::feed, Name>(second)) [[unlikely]] {
        access::enter(at, callback::before_run, no_hook);
        at.fail(error_kind::feed_conflict, text::of_lasting(conflict_text<Name, Party, Other>.characters));
        return false;
      }
    }
    return true;
  }
};

}  // namespace detail
TAUTLINE_END
