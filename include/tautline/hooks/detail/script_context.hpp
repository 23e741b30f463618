// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/hooks/script.hpp>

#include <tautline/core/request.hpp>
#include <tautline/core/state.hpp>
#include <tautline/hooks/detail/script_body.hpp>

TAUTLINE_BEGIN

/// In the signature of a script: it asks for this value, which has this type.
template <fixed_string Name, class Value>
struct value_of {};
/// In the signature of a script: it may feed this name, with values of this type.
template <fixed_string Name, class Value>
struct feed_of {};
/// In the signature of a script: what it must find again when a training is resumed. A number, an array of numbers, or a
/// class that lists its state.
template <class Data>
struct state_of {};

/// Option of a script without a `state_of`: sessions with checkpoints may have it, and it begins anew when they resume.
struct not_resumable {};

namespace detail {

template <class Reached, class... Items>
struct script_without : reason {
  static consteval void say() {
    static_assert(mended<script_without>,
                  "tautline: the signature of this script does not say that it uses this; both stand beside this message. "
                  "Mend: add value_of<\"name\", type>, feed_of<\"name\", type>, provides<\"name\", type> or state_of<type> to "
                  "its script_context<...>");
  }
};

template <class Item>
struct script_leaf;
template <fixed_string Name, class Value>
struct script_leaf<value_of<Name, Value>> {
  Value const* seen = nullptr;  // in the backend, until the next run
};
template <fixed_string Name, class Value>
struct script_leaf<feed_of<Name, Value>> {
  Value value{};
  bool on = false;
};
template <fixed_string Name, class Value>
struct script_leaf<provides<Name, Value>> {
  Value value{};
  bool made = false;
};
template <class Data>
struct script_leaf<state_of<Data>> {
  Data data{};
};

template <class Item>
inline constexpr bool is_value_item = false;
template <fixed_string Name, class Value>
inline constexpr bool is_value_item<value_of<Name, Value>> = true;
template <class Item>
inline constexpr bool is_feed_item = false;
template <fixed_string Name, class Value>
inline constexpr bool is_feed_item<feed_of<Name, Value>> = true;
template <class Item>
inline constexpr bool is_provided_item = false;
template <fixed_string Name, class Value>
inline constexpr bool is_provided_item<provides<Name, Value>> = true;
template <class Item>
inline constexpr bool is_state_item = false;
template <class Data>
inline constexpr bool is_state_item<state_of<Data>> = true;

/// "data", and "data#2" for the second state of a script.
template <std::size_t Index>
consteval auto script_state_name() {
  if constexpr (Index == 0) {
    return fixed_string("data");
  } else {
    char made[] = "data#0";
    made[5] = static_cast<char>('1' + Index);
    return fixed_string<sizeof made>(made);
  }
}

/// The item of a list with this name, void if there is none.
template <fixed_string Name>
constexpr void item_named(type_list<>) {}
template <fixed_string Name, template <fixed_string, class> class Kind, fixed_string First, class Value, class... Rest>
constexpr auto item_named(type_list<Kind<First, Value>, Rest...>) {
  if constexpr (First == Name) {
    return static_cast<Kind<First, Value>*>(nullptr);
  } else {
    return item_named<Name>(type_list<Rest...>{});
  }
}
template <fixed_string Name, class List>
using item_named_t = std::remove_pointer_t<decltype(item_named<Name>(List{}))>;

/// Everything of a script that outlives one resume, beside the frame.
template <class... Items>
struct script_store : script_core, script_leaf<Items>... {
  using value_items = join_t<std::conditional_t<is_value_item<Items>, type_list<Items>, type_list<>>...>;
  using feed_items = join_t<std::conditional_t<is_feed_item<Items>, type_list<Items>, type_list<>>...>;
  using provided_items = join_t<std::conditional_t<is_provided_item<Items>, type_list<Items>, type_list<>>...>;
  using state_items = join_t<std::conditional_t<is_state_item<Items>, type_list<Items>, type_list<>>...>;
  static constexpr bool has_state = !std::is_same_v<state_items, type_list<>>;

  template <class Item>
  script_leaf<Item>& leaf() {
    return *this;
  }
  void reset() {
    finished = false;
    wanted = 0;
    ((leaf<Items>() = script_leaf<Items>{}), ...);
  }
  void stop_feeding_all() { stop_feeding(feed_items{}); }
  auto state() { return list_state(state_items{}, std::make_index_sequence<state_count(state_items{})>{}); }

  bool finished = false;  ///< the body has returned

 private:
  template <class... Fed>
  void stop_feeding(type_list<Fed...>) {
    ((leaf<Fed>().on = false), ...);
  }
  template <class... Kept>
  static consteval std::size_t state_count(type_list<Kept...>) {
    return sizeof...(Kept);
  }
  template <class... Data, std::size_t... Index>
  auto list_state(type_list<state_of<Data>...>, std::index_sequence<Index...>) {
    return fields{field<"finished">(finished), field<script_state_name<Index>()>(leaf<state_of<Data>>().data)...};
  }
};

template <class List>
struct script_provides_of {};
template <class... Provided>
  requires(sizeof...(Provided) > 0)
struct script_provides_of<type_list<Provided...>> {
  using provides = provides_all<Provided...>;
};
template <class... Items>
using script_provides = script_provides_of<typename script_store<Items...>::provided_items>;

}  // namespace detail

/// The values of one run, by name: `values[fetch<"loss">]`. A view, good until the body awaits the next thing.
template <class... Items>
class script_values {
 public:
  explicit script_values(detail::script_store<Items...>& store) : store_(&store) {}

  template <fixed_string Name>
  [[nodiscard]] decltype(auto) get() const {
    using item = detail::item_named_t<Name, typename detail::script_store<Items...>::value_items>;
    if constexpr (std::is_void_v<item>) {
      detail::script_without<names<Name>, Items...>::say();
      return detail::rejected{};
    } else {
      return (*store_->template leaf<item>().seen);
    }
  }
  template <fixed_string Name, class Type>
  [[nodiscard]] decltype(auto) operator[](fetch_t<Name, Type>) const {
    return get<Name>();
  }

 private:
  detail::script_store<Items...>* store_;
};

namespace detail {

template <class Value, class Leaf>
class script_value_awaiter : public script_awaiter {
 public:
  script_value_awaiter(script_core& core, Leaf& leaf) : script_awaiter(core, script_wait::value), leaf_(&leaf) {}
  /// A copy of what is small: it stays good over the next await.
  [[nodiscard]] std::conditional_t<feeds_by_value<Value>, Value, Value const&> await_resume() const noexcept {
    return *leaf_->seen;
  }

 private:
  Leaf* leaf_;
};
template <class... Items>
class script_values_awaiter : public script_awaiter {
 public:
  explicit script_values_awaiter(script_store<Items...>& store)
      : script_awaiter(store, script_wait::value), store_(&store) {}
  [[nodiscard]] script_values<Items...> await_resume() const noexcept { return script_values<Items...>(*store_); }

 private:
  script_store<Items...>* store_;
};
template <class... Items, fixed_string Name, class Value>
auto await_values(script_store<Items...>& store, type_list<value_of<Name, Value>>) {
  using leaf = script_leaf<value_of<Name, Value>>;
  return script_value_awaiter<Value, leaf>(store, store);
}
template <class... Items, class... Values>
auto await_values(script_store<Items...>& store, type_list<Values...>) {
  if constexpr (sizeof...(Values) == 0) {
    script_without<names<"next_value()">, Items...>::say();
    return rejected{};
  } else {
    return script_values_awaiter<Items...>(store);
  }
}

}  // namespace detail

/// What the body of a script gets: its way to wait, and to speak to the session. A handle, to be passed by value.
///
/// @tparam Items what the script asks for: `value_of<"loss", float>`, `feed_of<"rate", float>`,
/// `provides<"best", float>`, `state_of<data>`
template <class... Items>
class script_context : public detail::script_handle {
  using store = detail::script_store<Items...>;

 public:
  explicit script_context(store& inside) : detail::script_handle(inside), store_(&inside) {}

  /// `float const loss = co_await life.next_value();` waits until the next run that the trigger lets through is over. One
  /// value comes as itself, several as `script_values`: `values[fetch<"loss">]`.
  [[nodiscard]] auto next_value() const { return detail::await_values(*store_, typename store::value_items{}); }
  /// Waits until that run is over without asking for values: `step_number const step = co_await life.next_step();`
  [[nodiscard]] auto next_step() const { return detail::script_step_awaiter(*store_, detail::script_wait::step); }
  /// Waits for the good end of the training. If that does not come, the body ends here.
  [[nodiscard]] auto next_end() const { return detail::script_end_awaiter(*store_, detail::script_wait::end); }

  /// The run in progress; outside a run the completed steps.
  [[nodiscard]] step_number step() const { return store_->at->step(); }
  void request_stop(text reason = "") const { store_->at->request_stop(reason); }
  void request_stop(copied const& reason) const { store_->at->request_stop(reason); }
  [[nodiscard]] bool stop_requested() const { return store_->at->stop_requested(); }
  /// As `life::fail`: an error of this hook, in the callback in which the body was resumed.
  void fail(error_kind kind, text message) const { store_->at->fail(kind, message); }
  void fail(error_kind kind, copied const& message) const { store_->at->fail(kind, message); }

  /// Feeds the value in every run from the next on, until another value is fed, `stop_feeding` or the body's end.
  template <fixed_string Name, class Value>
  void feed(Value const& value) const {
    using item = detail::item_named_t<Name, typename store::feed_items>;
    if constexpr (std::is_void_v<item>) {
      detail::script_without<names<Name>, Items...>::say();
    } else {
      auto& leaf = store_->template leaf<item>();
      leaf.value = value;
      leaf.on = true;
    }
  }
  template <fixed_string Name>
  void stop_feeding() const {
    using item = detail::item_named_t<Name, typename store::feed_items>;
    if constexpr (std::is_void_v<item>) {
      detail::script_without<names<Name>, Items...>::say();
    } else {
      store_->template leaf<item>().on = false;
    }
  }
  /// Publishes the value in the run whose end the body was resumed for; in `begin`, in the next one that resumes it.
  template <fixed_string Name, class Value>
  void publish(Value const& value) const {
    using item = detail::item_named_t<Name, typename store::provided_items>;
    if constexpr (std::is_void_v<item>) {
      detail::script_without<names<Name>, Items...>::say();
    } else {
      auto& leaf = store_->template leaf<item>();
      leaf.value = value;
      leaf.made = true;
    }
  }
  /// What is found again when a training is resumed.
  template <class Data>
  [[nodiscard]] decltype(auto) state() const {
    if constexpr (!(std::is_same_v<Items, state_of<Data>> || ...)) {
      detail::script_without<state_of<Data>, Items...>::say();
      return detail::rejected{};
    } else {
      return (store_->template leaf<state_of<Data>>().data);
    }
  }

 private:
  store* store_;
};

TAUTLINE_END
