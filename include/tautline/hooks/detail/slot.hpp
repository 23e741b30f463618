// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private

#include <new>

#include <tautline/hooks/detail/inside.hpp>

// What a slot for a hook and its session have between them: values, feeds, names.

TAUTLINE_BEGIN
namespace detail {

/// What a hook in a slot sees of the session, and of the graph: what is the same for all.
struct slot_session {
  step_number completed = 0;
  [[nodiscard]] step_number step() const { return completed; }
  static constexpr bool has_clock = false;
};

template <class Fetch>
struct slot_value;
template <fixed_string Name, class Type>
struct slot_value<fetch_t<Name, Type>> {
  Type const* at = nullptr;
};

/// The values of a run by their declared types, as pointers to where the session has them.
template <class... Fetches>
class slot_values;
template <fixed_string... Names, class... Types>
class slot_values<fetch_t<Names, Types>...> : slot_value<fetch_t<Names, Types>>... {
 public:
  template <class Values>
  explicit slot_values(Values& values) : slot_value<fetch_t<Names, Types>>{&values[fetch<Names>]}... {}

  template <fixed_string Name>
  [[nodiscard]] auto const& get() const {
    using verdict = decltype(check_asked_for<Name>(type_list<fetch_t<Names, Types>...>{}));
    if constexpr (verdict::good) {
      return *found<Name>(*this).at;
    } else {
      verdict::say();
      return nothing;
    }
  }
  template <fixed_string Name, class Type>
  [[nodiscard]] auto const& operator[](fetch_t<Name, Type>) const {
    return get<Name>();
  }
  template <fixed_string Name, class Type>
  [[nodiscard]] bool has(fetch_t<Name, Type>) const {
    return true;
  }
  template <class Visit>
  void each(Visit visit) const {
    (visit(name_of<Names>, this->template get<Names>()), ...);
  }

 private:
  static constexpr rejected nothing{};
  template <fixed_string Name, class Type>
  static slot_value<fetch_t<Name, Type>> const& found(slot_value<fetch_t<Name, Type>> const& value) {
    return value;
  }
};
template <>
class slot_values<> {
 public:
  template <class Values>
  explicit slot_values(Values&) {}
  template <class Visit>
  void each(Visit) const {}
};

template <class List>
struct slot_values_in;
template <class... Fetches>
struct slot_values_in<type_list<Fetches...>> {
  using type = slot_values<Fetches...>;
};
template <class List>
using slot_values_of = typename slot_values_in<List>::type;

/// With its type where the backend wants to hear it, else by its name alone.
template <class Context, fixed_string Name, class Type>
constexpr auto slot_item(fetch_t<Name, Type>) {
  if constexpr (requires(Context& ctx) { ctx.session().backend().template value<Name, Type>(); }) {
    return fetch_t<Name, Type>{};
  } else {
    return fetch_t<Name>{};
  }
}

template <class Values, fixed_string Name, class Type>
consteval bool slot_type_fits(fetch_t<Name, Type>) {
  return std::is_same_v<std::remove_cvref_t<decltype(std::declval<Values&>()[fetch<Name>])>, Type>;
}
template <class Values, class... Fetches>
consteval bool slot_types_fit(type_list<Fetches...>) {
  return (true && ... && slot_type_fits<Values>(Fetches{}));
}
template <class Slot>
struct slot_of_other_type : reason {
  static consteval void say() {
    static_assert(is_mended<slot_of_other_type>,
                  "tautline: a slot reads a value with another type than the session has. Mend: declare it with the type of the "
                  "node, as in any_hook<reads<\"loss\", float>>");
  }
};

// --- what is declared -----------------------------------------------------------------------------------------------

template <class Declared>
struct slot_declaration {
  static constexpr bool good = false;
  using fetches = type_list<>;
  using feeds = type_list<>;
};
template <fixed_string Name, class Type>
struct slot_declaration<fetch_t<Name, Type>> {
  static constexpr bool good = !std::is_void_v<Type>;
  using fetches = type_list<fetch_t<Name, Type>>;
  using feeds = type_list<>;
};
template <fixed_string Name, class Type>
struct slot_declaration<feed_t<Name, Type>> {
  static constexpr bool good = true;
  using fetches = type_list<>;
  using feeds = type_list<feed_t<Name, Type>>;
};

/// Whether every fetch of the second list is declared in the first, by name, and every feed by name and type.
template <class Declared, class Asked>
inline constexpr bool slot_has_all = false;
template <class List, fixed_string Name>
inline constexpr bool slot_reads = false;
template <fixed_string... Names, class... Types, fixed_string Name>
inline constexpr bool slot_reads<type_list<fetch_t<Names, Types>...>, Name> = (false || ... || (Names == Name));
template <class Declared, fixed_string... Names, class... Types>
inline constexpr bool slot_has_all<Declared, type_list<fetch_t<Names, Types>...>> = (true && ... && slot_reads<Declared, Names>);
template <class List, class Item>
inline constexpr bool slot_feeds_it = false;
template <class... Feeds, class Item>
inline constexpr bool slot_feeds_it<type_list<Feeds...>, Item> = (false || ... || std::is_same_v<Feeds, Item>);
template <class Declared, class First, class... Rest>
  requires(!std::is_same_v<typename slot_declaration<First>::feeds, type_list<>>)
inline constexpr bool slot_has_all<Declared, type_list<First, Rest...>> =
    (slot_feeds_it<Declared, First> && ... && slot_feeds_it<Declared, Rest>);

// --- feeds ----------------------------------------------------------------------------------------------------------

/// A declared feed, with a value in the runs in which the hook inside feeds it: read like an optional.
template <class Feed>
class slot_feed {
 public:
  using value_type = Feed;
  static_assert(std::is_trivially_copyable_v<Feed>);

  slot_feed() : none_{} {}
  [[nodiscard]] bool has_value() const { return fed_; }
  [[nodiscard]] Feed const& operator*() const { return feed_; }
  void set(Feed const& given) {
    ::new (static_cast<void*>(&feed_)) Feed(given);
    fed_ = true;
  }

 private:
  union {
    unsigned char none_[sizeof(Feed)];
    Feed feed_;
  };
  bool fed_ = false;
};

/// The feeds of a run.
template <class Feeds>
struct slot_feeds;
template <fixed_string... Names, class... Types>
struct slot_feeds<type_list<feed_t<Names, Types>...>> : slot_feed<feed_t<Names, Types>>... {
  /// Takes over what the hook inside feeds. Small values are copied: its request will be gone.
  template <class Request>
  void take([[maybe_unused]] Request const& request) {
    (take_one<Names, Types>(request), ...);
  }

 private:
  template <fixed_string Name, class Type, class Request>
  void take_one(Request const& request) {
    if constexpr (inspect<Request>::find(item_kind::feed, Name.characters) != presence::never) {
      Type const* const value = inspect<Request>::template fed<Name>(request);
      if (value != nullptr) slot_feed<feed_t<Name, Type>>::set(feed_t<Name, Type>(*value));
    }
  }
};

/// What a slot asks for in a run: all its fetches under one condition, each feed under its own.
template <class Context, class... Fetches, class... Feeds>
auto slot_request(bool now, slot_feeds<type_list<Feeds...>> const& fed, type_list<Fetches...>) {
  if constexpr (sizeof...(Feeds) == 0) {
    return ask_if(now, slot_item<Context>(Fetches{})...);
  } else if constexpr (sizeof...(Fetches) == 0) {
    return run_args(static_cast<slot_feed<Feeds> const&>(fed)...);
  } else {
    return run_args(ask_if(now, slot_item<Context>(Fetches{})...), static_cast<slot_feed<Feeds> const&>(fed)...);
  }
}

// --- state ----------------------------------------------------------------------------------------------------------

/// The names of a hook's fields in a slot begin with its type: so a checkpoint fits no other hook.
template <class Hook>
consteval auto slot_path() {
  constexpr auto& name = type_name_text<Hook>;
  char path[name.length + 1]{};
  for (std::size_t i = 0; i < name.length; ++i) path[i] = name.characters[i];
  return fixed_string<sizeof path>(path);
}

}  // namespace detail
TAUTLINE_END
