// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/backend.hpp>
#include <tautline/core/run_context.hpp>

TAUTLINE_BEGIN

/// A value with its name, as a step function returns it. @see value
template <fixed_string Name, class Value>
struct named_value {
  static constexpr auto name = Name;
  using value_type = Value;
  Value value;
};

namespace detail {
template <fixed_string Name>
struct value_maker {
  template <class Value>
  constexpr named_value<Name, std::remove_cvref_t<Value>> operator()(Value&& value) const {
    return {static_cast<Value&&>(value)};
  }
};
template <fixed_string Name, class Value>
constexpr Value& value_named(named_value<Name, Value>& found) {
  return found.value;
}
}  // namespace detail

/// `value<"loss">(loss)`: a value with its name.
template <fixed_string Name>
inline constexpr detail::value_maker<Name> value{};

/// What a step function returns: `return named_values{value<"loss">(loss), value<"accuracy">(accuracy)};`
template <class... Values>
struct named_values : Values... {
  named_values() = default;
  constexpr explicit(false) named_values(Values... values)
    requires(sizeof...(Values) > 0)
      : Values(static_cast<Values&&>(values))... {}
};
template <class... Values>
named_values(Values...) -> named_values<Values...>;

/// What a run asks of a step function, for functions that take it as a parameter: `[&](auto& inputs) { … }`.
template <class Request>
class step_inputs {
 public:
  explicit constexpr step_inputs(Request const& request) : request_(&request) {}

  /// Whether somebody asked for this value in this run: `if (inputs.wants(fetch<"accuracy">)) …`
  template <fixed_string Name, class Type>
  [[nodiscard]] constexpr bool wants(fetch_t<Name, Type>) const {
    return request_->template wants<detail::item_kind::fetch, Name>();
  }
  /// Whether this run has the target.
  template <fixed_string Name>
  [[nodiscard]] constexpr bool wants(target_t<Name>) const {
    return request_->template wants<detail::item_kind::target, Name>();
  }
  /// What was fed, or the default: `float rate = inputs.fed_or(feed<"rate">, 0.1f);`
  template <fixed_string Name, class Value>
  [[nodiscard]] constexpr Value fed_or(detail::feeder<Name>, Value by_default) const {
    auto const fed = request_->template fed<Name>();
    if constexpr (!std::is_same_v<decltype(fed), std::nullptr_t const>) {
      if (fed != nullptr) return static_cast<Value>(*fed);
    }
    return by_default;
  }

 private:
  Request const* request_;
};

namespace detail {

using no_run_request = run_request<true, names<>, std::index_sequence<>>;

/// What a callable that cannot be called returns.
struct no_call {};

/// What the function returns, without an optional around it.
template <class Function>
constexpr auto* step_result() {
  if constexpr (requires(Function& function) { function(); }) {
    return static_cast<decltype(std::declval<Function&>()())*>(nullptr);
  } else if constexpr (requires(Function& function, step_inputs<no_run_request>& inputs) { function(inputs); }) {
    return static_cast<decltype(std::declval<Function&>()(std::declval<step_inputs<no_run_request>&>()))*>(nullptr);
  } else {
    return static_cast<no_call*>(nullptr);
  }
}

template <class Function, class Returned>
struct wrong_step_function : reason {
  static consteval void say() {
    if constexpr (std::is_same_v<Returned, no_call>) {
      static_assert(mended<wrong_step_function>,
                    "tautline: this step function can be called neither as function() nor as function(inputs). Mend: give it "
                    "no parameter, or one, as in [&](auto& inputs) { ... }");
    } else {
      static_assert(mended<wrong_step_function>,
                    "tautline: this step function returns something that has no names. Mend: return "
                    "named_values{value<\"name\">(...), ...}, an optional of it (empty at the end of the input), bool "
                    "(false at the end), or nothing");
    }
  }
};

struct unnamed_values {};
template <class Returned>
struct step_values : unnamed_values {
  using type = named_values<>;
};
template <>
struct step_values<void> {
  using type = named_values<>;
};
template <>
struct step_values<bool> {
  using type = named_values<>;
};
template <class... Values>
struct step_values<named_values<Values...>> {
  using type = named_values<Values...>;
};
template <fixed_string Name, class Value>
struct step_values<named_value<Name, Value>> {
  using type = named_values<named_value<Name, Value>>;
};
template <optional_request Returned>
struct step_values<Returned> : step_values<typename Returned::value_type> {};

template <class Values>
struct names_of_values;
template <class... Values>
struct names_of_values<named_values<Values...>> {
  using type = names<Values::name...>;
};

}  // namespace detail

/// A loop that exists already, as a session: any callable that does one step and returns what it wants to show.
///
///     auto session = monitored(step_function([&] { return named_values{value<"loss">(train_one_batch())}; }), hooks…);
///
/// It may take `auto& inputs` (a `step_inputs`), and return an optional, or bool: empty or false is the end of the
/// input. Names that nobody returns do not compile. An exception from it is an error of the session's run.
/// **Cost** that of the callable, and a copy of what it returns.
template <class Function>
class step_function {
  using returned = std::remove_pointer_t<decltype(detail::step_result<Function>())>;
  using values = typename detail::step_values<returned>::type;
  static constexpr bool named = !std::is_base_of_v<detail::unnamed_values, detail::step_values<returned>>;
  static constexpr bool takes_inputs = !requires(Function& function) { function(); };

 public:
  using fetchable = typename detail::names_of_values<values>::type;

  constexpr explicit step_function(Function function) : function_(static_cast<Function&&>(function)) {
    if constexpr (!named) detail::wrong_step_function<Function, returned>::say();
  }

  template <class Request>
  TAUTLINE_INLINE constexpr status run(Request const& request) {
    step_inputs<Request> inputs(request);
    if constexpr (!named) {  // refused where it was made
    } else if constexpr (std::is_void_v<returned>) {
      call(inputs);
    } else if constexpr (std::is_same_v<returned, bool>) {
      if (!call(inputs)) return status::end_of_input();
    } else if constexpr (detail::optional_request<returned>) {
      auto made = call(inputs);
      if (!made.has_value()) return status::end_of_input();
      values_ = values{*static_cast<decltype(made)&&>(made)};
    } else {
      values_ = values{call(inputs)};
    }
    return {};
  }

  template <fixed_string Name>
  [[nodiscard]] TAUTLINE_INLINE constexpr auto& value() {
    return detail::value_named<Name>(values_);
  }

 private:
  template <class Inputs>
  TAUTLINE_INLINE constexpr decltype(auto) call(Inputs& inputs) {
    if constexpr (takes_inputs) {
      return function_(inputs);
    } else {
      return function_();
    }
  }
  [[no_unique_address]] Function function_;
  [[no_unique_address]] values values_;
};

/// The push form, for loops that stay where they are:
///
///     auto session = monitored(pushed_values<named_value<"loss", float>>{}, hooks…);
///     while (!session.should_stop()) session.step([&](auto& values) { …; values.template set<"loss">(loss); });
///
/// The body may ask `values.template wants<"loss">()`, and report `values.end_of_input()`.
/// **Cost** one indirect call a step.
template <class... Values>
class pushed_values {
 public:
  using fetchable = names<Values::name...>;

  /// What the body gets.
  class recorder {
   public:
    /// Gives the value of this step.
    template <fixed_string Name, class Value>
    void set(Value const& value) {
      check<Name>();
      detail::value_named<Name>(values_) = value;
    }
    /// Whether somebody asked for the value in this step.
    template <fixed_string Name>
    [[nodiscard]] bool wants() const {
      check<Name>();
      bool wanted = false;
      std::size_t index = 0;
      (((Values::name == Name) ? void(wanted = wants_[index++]) : void(++index)), ...);
      return wanted;
    }
    /// This step did not take place: the input has no more.
    void end_of_input() { ended_ = true; }

   private:
    friend class pushed_values;
    template <fixed_string Name>
    static consteval void check() {
      static_assert((false || ... || (Values::name == Name)),
                    "tautline: pushed_values has no value of this name. Mend: add named_value<\"name\", type> to its "
                    "arguments, or use one of the names that stand there");
    }
    named_values<Values...> values_;
    bool wants_[sizeof...(Values) + 1]{};
    bool ended_ = false;
  };

  /// The body of one step, known to the backend for as long as this object lives.
  template <class Body>
  class pushed_body {
   public:
    pushed_body(pushed_values& owner, Body& body) : owner_(owner) {
      owner_.body_ = const_cast<void*>(static_cast<void const*>(&body));
      owner_.call_ = [](void* given, recorder& values) { (*static_cast<Body*>(given))(values); };
    }
    pushed_body(pushed_body const&) = delete;
    pushed_body& operator=(pushed_body const&) = delete;
    ~pushed_body() { owner_.body_ = nullptr; }

   private:
    pushed_values& owner_;
  };

  template <class Request>
  status run(Request const& request) {
    if (body_ == nullptr) return {error_kind::invalid_argument, "a session over pushed_values is driven by step(body)"};
    std::size_t index = 0;
    ((recorder_.wants_[index++] = request.template wants<detail::item_kind::fetch, Values::name>()), ...);
    recorder_.ended_ = false;
    call_(body_, recorder_);
    return recorder_.ended_ ? status::end_of_input() : status{};
  }
  template <fixed_string Name>
  [[nodiscard]] auto& value() {
    return detail::value_named<Name>(recorder_.values_);
  }

 private:
  recorder recorder_;
  void* body_ = nullptr;
  void (*call_)(void*, recorder&) = nullptr;
};

TAUTLINE_END
