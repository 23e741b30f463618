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

/// A request that says all by its type: there is nothing to be made.
template <class Request>
concept bare_request = std::is_empty_v<Request> && std::is_trivially_default_constructible_v<Request>;

/// A request that is made in place, in a local of the step.
template <std::size_t Index, class Request>
struct request_slot {
  static_assert(std::is_trivially_destructible_v<Request>);  // others are refused in check_hook.hpp
  union {
    Request request;
  };
  TAUTLINE_INLINE request_slot() {}
};
/// Without a constructor, which would be compiled for each hook.
template <std::size_t Index, bare_request Request>
struct request_slot<Index, Request> {
  Request request;
};
template <class Indices, class... Requests>
struct request_slots;
template <std::size_t... Index, class... Requests>
struct request_slots<std::index_sequence<Index...>, Requests...> : request_slot<Index, Requests>... {};

template <std::size_t Index, class Request>
TAUTLINE_INLINE constexpr Request& slot_at(request_slot<Index, Request>& found) {
  return found.request;
}
template <std::size_t Index, class Request>
TAUTLINE_INLINE constexpr Request const& slot_at(request_slot<Index, Request> const& found) {
  return found.request;
}

/// The answers in a quiet run, which nobody writes down. Without the types of all hooks: functions of each hook get it.
struct quiet_answers {
  void* foreseen;
  void (*all_idle)(void* foreseen);
  bool quiet = true;

  /// Somebody has asked for something.
  TAUTLINE_INLINE void write_down() {
    if (quiet) all_idle(foreseen);
    quiet = false;
  }
};

/// The first part of a step: every hook is asked what it wants of the run.
template <class Core>
class asker;
template <class Backend, class Options, class... Kept>
class asker<session_core<Backend, Options, Kept...>> : public life_cycle<session_core<Backend, Options, Kept...>> {
 public:
  using base = life_cycle<session_core<Backend, Options, Kept...>>;
  using core = typename base::core;
  using indices = typename base::indices;

  using base::base;

 protected:
  /// What a hook asks for does not depend on what the caller does: looked up once for all drives.
  template <std::size_t Index>
  using request_info = hook_request<core, run_args<>, typename base::template hook_type<Index>>;
  template <class Hook>
  using request_of = typename hook_request<core, run_args<>, Hook>::type;

  /// The hooks that a run concerns before it.
  struct is_asked {
    static consteval hook_mask<sizeof...(Kept)> mask() {
      return {{(before_run_callback::named<hook_of<Kept>>() || has_trigger<hook_of<Kept>>)...}};
    }
  };
  template <class Request>
  static constexpr bool has_feeds = !std::is_same_v<typename inspect<Request>::feeds, type_list<>>;

  /// The hooks in stretches of such that are looked at together and such that are not.
  template <class Sequence>
  using stretches = grouped_if_t<base::has_foreseen, typename base::foreseen_hooks, Sequence>;
  using asked_groups = stretches<filter_t<is_asked, typename base::opening>>;
  using told_groups = stretches<typename base::foreseen_hooks::told>;
  template <auto Mask, bool Foreseen, std::size_t... Index>
  static auto slots_of(std::index_sequence<Index...>)
      -> request_slots<indices, std::conditional_t<Mask.on[Index] && base::foreseen.on[Index] == Foreseen,
                                                   typename request_info<Index>::type, no_request>...>;
  struct feeds_names {
    static consteval hook_mask<sizeof...(Kept)> mask() {
      return {{has_feeds<request_of<hook_of<Kept>>>...}};
    }
  };

  /// What the hooks answered before a run, and whether they are due.
  /// @tparam Foreseen for those hooks, or for the others
  template <auto Mask, bool Foreseen>
  struct answers {
    decltype(slots_of<Mask, Foreseen>(indices{})) requests;
    bool due[sizeof...(Kept) + 1];
  };
  template <auto Mask>
    requires(!base::has_foreseen)
  struct answers<Mask, true> {};

  template <std::size_t Index, class Request = typename request_info<Index>::type>
  using party = std::conditional_t<base::foreseen.on[Index] && !std::is_same_v<Request, no_request>,
                                   foreseen_request<Request>, Request>;
  template <class... Requests>
  using request_with = run_request<true, typename core::provided_names, std::make_index_sequence<sizeof...(Requests)>,
                                   Requests...>;
  template <auto Mask, class Args, std::size_t... Index>
  static auto full_request_of(std::index_sequence<Index...>)
      -> request_with<Args, std::conditional_t<Mask.on[Index], party<Index>, no_request>...>;
  template <auto Mask, class Args>
  using full_request = decltype(full_request_of<Mask, Args>(indices{}));

  template <auto Mask, class Args, std::size_t... Index>
  TAUTLINE_INLINE static full_request<Mask, Args> merge(bool quiet, Args const& args, answers<Mask, false> const& each,
                                                        answers<Mask, true> const& foreseen, std::index_sequence<Index...>) {
    return full_request<Mask, Args>(quiet, args,
                                    slot_at<Index>(pick<base::foreseen.on[Index]>(each, foreseen).requests)...);
  }
  template <bool Foreseen, auto Mask>
  TAUTLINE_INLINE static auto const& pick(answers<Mask, false> const& each, answers<Mask, true> const& foreseen) {
    if constexpr (Foreseen) {
      return foreseen;
    } else {
      return each;
    }
  }

  // --- before the run ---------------------------------------------------------------------------------------------

  /// Whether this is a run in which no foreseen hook is due.
  TAUTLINE_INLINE bool is_quiet([[maybe_unused]] life const& here) const {
    if constexpr (base::has_foreseen) {
      return __builtin_expect(here.step() < this->quiet.until, true) != 0;
    } else {
      return false;
    }
  }

  template <auto Mask, class Args, class... Groups>
  TAUTLINE_INLINE bool ask_all(run_context<core, Args>& here, answers<Mask, false>& each, answers<Mask, true>& foreseen,
                               bool& quiet, group_list<Groups...>) {
    return (true && ... && ask_group(here, each, foreseen, quiet, Groups{}));
  }
  // Expected to go well: else the compiler takes each hook for a toss-up, and those behind the first few for code that
  // hardly ever runs.
  template <auto Mask, class Args, std::size_t... Index>
  TAUTLINE_INLINE bool ask_group(run_context<core, Args>& here, answers<Mask, false>& each, answers<Mask, true>&, bool&,
                                 group<false, std::index_sequence<Index...>>) {
    return (true && ... &&
            __builtin_expect(ask<Mask.on[Index], Index>(here, slot_at<Index>(each.requests), each.due[Index]), true));
  }
  template <auto Mask, class Args, std::size_t... Index>
  TAUTLINE_INLINE bool ask_group(run_context<core, Args>& here, answers<Mask, false>&, answers<Mask, true>& foreseen, bool& quiet,
                                 group<true, std::index_sequence<Index...>>) {
    if (quiet) {
      quiet_answers so_far{&foreseen, all_idle<Mask>};
      bool const well = (true && ... && __builtin_expect(ask_quietly<Mask.on[Index], Index>(
                                            here, slot_at<Index>(foreseen.requests), so_far), true));
      quiet = so_far.quiet;
      return well;
    }
    bool const well =
        (true && ... &&
         __builtin_expect(ask<Mask.on[Index], Index>(here, slot_at<Index>(foreseen.requests), foreseen.due[Index]), true));
    // Kept in memory, which a quiet run does not touch; registers it would have to clear. clang leaves a few in registers
    // and clears none.
#if defined(__clang__)
    if constexpr (sizeof...(Index) > 8) asm volatile("" : "+m"(foreseen));
#else
    asm volatile("" : "+m"(foreseen));
#endif
    return well;
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
      if constexpr (leaf_type::triggered) {
        due = false;
        access::enter(here, callback::before_run, Index);
        trigger_view const view = this->look(place.hook().trigger, here.step());
        due = place.hook().trigger.due(place.trigger.kept, view);
        if constexpr (counts_by_value<typename leaf_type::trigger_type>) place.trigger.asked = view.step;
      }
      if constexpr (info::asking() == form::absent) {
        return true;
      } else {
        if constexpr (bare_request<typename info::type>) {
          (void)before_run<Index>(here, leaf_type::triggered && due);
        } else {
          ::new (static_cast<void*>(&slot)) Request(before_run<Index>(here, leaf_type::triggered && due));
        }
        return !access::failed(here);
      }
    }
  }
  /// Of a hook that is not due. If it asks for something all the same, this is no longer a quiet run.
  template <bool On, std::size_t Index, class Args, class Request>
  TAUTLINE_INLINE bool ask_quietly(run_context<core, Args>& here, [[maybe_unused]] Request& slot,
                                   [[maybe_unused]] quiet_answers& so_far) {
    using info = request_info<Index>;
    if constexpr (!On || info::asking() == form::absent) {
      return true;
    } else {
      if constexpr (std::is_same_v<typename info::type, no_request>) {
        before_run<Index>(here, false);
      } else {
        Request made(before_run<Index>(here, false));
        if (!idle_request<Request>::is(made)) [[unlikely]] {
          so_far.write_down();
          ::new (static_cast<void*>(&slot)) Request(static_cast<Request&&>(made));
        }
      }
      return !access::failed(here);
    }
  }
  /// Writes down the answers of all that are not due and ask for nothing.
  template <auto Mask>
  static void all_idle(void* foreseen) {
    write_idle(*static_cast<answers<Mask, true>*>(foreseen), indices{});
  }
  template <class Answers, std::size_t... Index>
  TAUTLINE_INLINE static void write_idle(Answers& foreseen, std::index_sequence<Index...>) {
    ((foreseen.due[Index] = false), ...);
    (make_idle(slot_at<Index>(foreseen.requests)), ...);
  }
  template <class Request>
  TAUTLINE_INLINE static void make_idle(Request& slot) {
    ::new (static_cast<void*>(&slot)) Request(idle_request<Request>::value());
  }

  template <std::size_t Index, class Args>
  TAUTLINE_INLINE decltype(auto) before_run(run_context<core, Args>& here, bool due) {
    access::enter(here, callback::before_run, Index, due);
    [[maybe_unused]] auto const seen = this->watch(here, callback::before_run, Index);
    return before_run_callback::call<request_info<Index>::asking()>(this->template place<Index>().hook(), here, here);
  }

  // --- two feeds of one name --------------------------------------------------------------------------------------

  /// Hooks that may feed, with each other and with the caller.
  using feeding = filter_t<feeds_names, indices>;
  template <std::size_t Index>
  using entry_at = entry<typename core::template leaf_type<Index>::kept_type>;

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
