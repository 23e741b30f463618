// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/inspect.hpp>
#include <tautline/core/type_name.hpp>

TAUTLINE_BEGIN
namespace detail {

template <std::size_t Index, class Request>
struct request_part {
  Request const& request;
};

template <class Fetch>
struct name_in;
template <fixed_string Name, class Type>
struct name_in<fetch_t<Name, Type>> {
  static constexpr auto value = Name;
};
template <fixed_string Name, class Value>
struct name_in<feed_t<Name, Value>> {
  static constexpr auto value = Name;
};
template <fixed_string Name>
struct name_in<target_t<Name>> {
  static constexpr auto value = Name;
};

/// The request of a hook whose trigger foresees when it is due. In quiet runs nobody has made it: then it is what stands
/// in it without a condition.
template <class Request>
struct foreseen_request {};
template <std::size_t Index, class Request>
struct request_part<Index, foreseen_request<Request>> {
  Request const& request;
};
template <class Request>
struct inspect<foreseen_request<Request>> : inspect<Request> {
  static constexpr bool is_foreseen = true;
  template <fixed_string>
  static constexpr std::nullptr_t fed(Request const&) {  // those that feed are not foreseen, nor those with options
    return nullptr;
  }
  template <class Visit>
  static constexpr void options(Request const&, Visit&) {}
};

template <class Request>
inline constexpr bool is_foreseen = requires { inspect<Request>::is_foreseen; };

template <class Request>
struct made_of {
  using type = Request;
};
template <class Request>
struct made_of<foreseen_request<Request>> {
  using type = Request;
};

template <class Item, class... Items>
consteval bool first_of_name(type_list<Items...>, std::size_t index) {
  char const* all[] = {name_in<Items>::value.characters..., nullptr};
  for (std::size_t i = 0; i < index; ++i) {
    if (same_text(all[i], all[index])) return false;
  }
  return true;
}

}  // namespace detail

/// What a backend is asked to do in one run: the union of the caller's request and those of the hooks. It copies
/// nothing; what is known at compile time is a constant in it.
///
/// @tparam Step true for a step of the training; false for a look without one (`evaluate`, a hook's own run)
/// @tparam Published names that other hooks hand out: the backend is not asked for them
/// @tparam Requests of all parties, the caller's first
template <bool Step, class Published, class Indices, class... Requests>
class run_request;

template <bool Step, fixed_string... Published, std::size_t... Index, class... Requests>
class run_request<Step, names<Published...>, std::index_sequence<Index...>, Requests...>
    : detail::request_part<Index, Requests>... {
  template <class Request>
  using inspect = detail::inspect<Request>;

 public:
  using item_kind = detail::item_kind;
  using presence = detail::presence;
  /// Every fetch that some party may ask for, and so on; a name may occur several times.
  using fetches = detail::join_t<typename inspect<Requests>::fetches...>;
  using feeds = detail::join_t<typename inspect<Requests>::feeds...>;
  using targets = detail::join_t<typename inspect<Requests>::targets...>;

  constexpr explicit run_request(typename detail::made_of<Requests>::type const&... requests)
      : detail::request_part<Index, Requests>{requests}... {}
  /// @param quiet whether this is a run in which no foreseen hook is due
  constexpr run_request(bool quiet, typename detail::made_of<Requests>::type const&... requests)
      : detail::request_part<Index, Requests>{requests}..., quiet_(quiet) {}

  static constexpr bool is_step = Step;

  /// Whether the name is asked for in no run, in some, or in every run.
  static constexpr presence find([[maybe_unused]] item_kind kind, [[maybe_unused]] char const* name) {
    if (kind == item_kind::fetch && (false || ... || detail::same_text(Published.characters, name))) {
      return presence::never;
    }
    presence found = presence::never;
    ((found = detail::strongest(found, inspect<Requests>::find(kind, name))), ...);
    return found;
  }

  /// Whether the name is asked for in this run.
  // Inlined always: the requests of the hooks would have to live in memory, as what a function of many hooks looks at.
  template <item_kind Kind, fixed_string Name>
  [[nodiscard]] TAUTLINE_INLINE constexpr bool wants() const {
    constexpr presence known = find(Kind, Name.characters);
    if constexpr (known == presence::sometimes) {
      if constexpr ((false || ... || detail::is_foreseen<Requests>)) {
        // one look for all of them: what they want without a condition is known above
        return wants_in<false, Kind, Name>() || (!quiet_ && wants_in<true, Kind, Name>());
      } else {
        return wants_in<false, Kind, Name>();
      }
    } else {
      return known == presence::always;
    }
  }
  template <fixed_string Name>
  [[nodiscard]] constexpr bool fetches_name() const {
    return wants<item_kind::fetch, Name>();
  }

  /// The address of the value fed as `Name`, or null; a `nullptr_t` where nobody ever feeds it.
  template <fixed_string Name>
  [[nodiscard]] constexpr auto fed() const {
    auto found = (detail::found_feed<std::nullptr_t>{nullptr} + ... +
                  detail::found_feed{inspect<Requests>::template fed<Name>(part<Index>().request)});
    return found.value;
  }

  /// Calls `visit(options)` for the options of each party in this run, the caller's first: `visit` is overloaded, or
  /// generic, for the types that this kind of session knows.
  template <class Visit>
  constexpr void each_options(Visit visit) const {
    (inspect<Requests>::options(part<Index>().request, visit), ...);
  }

  /// Calls `visit.template operator()<Name>()` once for each name that is fetched in this run.
  template <class Visit>
  constexpr void each_fetch(Visit visit) const {
    each<item_kind::fetch>(visit, fetches{});
  }
  /// Calls `visit.template operator()<Name>()` once for each name that is fed in this run.
  template <class Visit>
  constexpr void each_feed(Visit visit) const {
    each<item_kind::feed>(visit, feeds{});
  }
  /// Calls `visit.template operator()<Name>()` once for each target of this run.
  template <class Visit>
  constexpr void each_target(Visit visit) const {
    each<item_kind::target>(visit, targets{});
  }

 private:
  template <bool Foreseen, item_kind Kind, fixed_string Name>
  [[nodiscard]] TAUTLINE_INLINE constexpr bool wants_in() const {
    return (false || ... || (detail::is_foreseen<Requests> == Foreseen &&
                             inspect<Requests>::template wants<Kind, Name>(part<Index>().request)));
  }

  template <std::size_t Part>
  [[nodiscard]] TAUTLINE_INLINE constexpr auto const& part() const {
    return at<Part>(*this);
  }
  template <std::size_t Part, class Request>
  TAUTLINE_INLINE static constexpr detail::request_part<Part, Request> const& at(detail::request_part<Part, Request> const& found) {
    return found;
  }

  template <item_kind Kind, class Visit, class... Items>
  constexpr void each(Visit& visit, detail::type_list<Items...> list) const {
    [&]<std::size_t... At>(std::index_sequence<At...>) {
      (visit_one<Kind, At, Items>(visit, list), ...);
    }(std::make_index_sequence<sizeof...(Items)>{});
  }
  template <item_kind Kind, std::size_t At, class Item, class Visit, class List>
  constexpr void visit_one(Visit& visit, List list) const {
    if constexpr (detail::first_of_name<Item>(list, At)) {
      constexpr auto name = detail::name_in<Item>::value;
      if (wants<Kind, name>()) visit.template operator()<name>();
    }
  }

  bool quiet_ = false;
};

TAUTLINE_END
