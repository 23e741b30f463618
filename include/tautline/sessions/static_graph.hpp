// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/backend.hpp>
#include <tautline/sessions/detail/graph_node.hpp>
#include <tautline/sessions/detail/graph_state.hpp>

TAUTLINE_BEGIN

template <fixed_string StepTarget, class... Nodes>
class static_session;

/// A compile-time graph: named nodes with callables, evaluated in the order in which they were added. Adding a node
/// gives a new type, so a wrong name is a compile error and what a run needs is a constant. It is no deep-learning
/// framework: what the callables compute, and with which library, is yours.
///
///     auto graph = static_graph{}
///         .variable<"w">(0.0f)
///         .placeholder<"rate">(0.1f)
///         .source<"x">(0.0f, [n = 0](float& x) mutable { x = n; return ++n <= 100; })
///         .op<"loss", "w", "x">([](float w, float x) { return (w - x) * (w - x); })
///         .update<"train", "w", "x", "rate">([](float& w, float x, float rate) { w -= rate * 2 * (w - x); });
///
/// The names behind a node's own are its inputs, in the order of the callable's parameters; they must have been added
/// before. A node runs at most once in a run, and only if something needs it.
///
/// Adding a name that exists, with a callable of the same type, changes nothing (a hook's second `begin`); with another
/// callable it does not compile.
///
/// @tparam StepTarget see `step_target`
/// **Cost** the values and the callables, side by side; no allocation.
template <fixed_string StepTarget, class... Nodes>
class static_graph : public detail::node_list<std::make_index_sequence<sizeof...(Nodes)>, Nodes...> {
  using list = detail::node_list<std::make_index_sequence<sizeof...(Nodes)>, Nodes...>;
  template <fixed_string, class...>
  friend class static_graph;

 public:
  using node_names = names<Nodes::name...>;
  constexpr static_graph() requires(sizeof...(Nodes) == 0) = default;

  /// A value that stays from run to run; updates change it.
  template <fixed_string Name, class Value>
  [[nodiscard]] constexpr auto variable(Value initial) && {
    return add(detail::variable_node<Name, Value>{static_cast<Value&&>(initial)});
  }
  /// A value that a run may be fed with; without a feed it has the default.
  template <fixed_string Name, class Value>
  [[nodiscard]] constexpr auto placeholder(Value by_default) && {
    return add(detail::placeholder_node<Name, Value>(by_default));
  }
  /// Input: `bool next(value&)` puts the next element into `storage`; false is the end of the input. All sources that
  /// a run needs are asked first, so a run that meets the end changes nothing.
  /// A run may be fed with an element, which is copied in: then the source is not asked, so an evaluation on other data
  /// leaves the training's input where it is.
  template <fixed_string Name, class Value, class Next>
  [[nodiscard]] constexpr auto source(Value storage, Next next) && {
    if constexpr (requires { { next(storage) } -> std::same_as<bool>; }) {
      return add(detail::source_node<Name, Value, Next>{static_cast<Value&&>(storage), static_cast<Next&&>(next)});
    } else {
      detail::wrong_source<Name, Value, Next>::say();
      return detail::rejected{};
    }
  }
  /// A computed value: `compute(inputs…)` returns it. Inputs are passed by const reference.
  template <fixed_string Name, fixed_string... Inputs, class Compute>
  [[nodiscard]] constexpr auto op(Compute compute) && {
    using verdict = decltype(check_inputs<Name, Inputs...>());
    if constexpr (!verdict::good) {
      verdict::say();
      return detail::rejected{};
    } else if constexpr (!requires { compute(std::declval<value_type<Inputs> const&>()...); }) {
      detail::wrong_callable<Name, Compute, value_type<Inputs> const&...>::say();
      return detail::rejected{};
    } else {
      using value = std::remove_cvref_t<decltype(compute(std::declval<value_type<Inputs> const&>()...))>;
      return add(detail::op_node<Name, names<Inputs...>, value, Compute>{{}, static_cast<Compute&&>(compute)});
    }
  }
  /// A computed value of some size: `compute(storage&, inputs…)` fills it in place.
  template <fixed_string Name, fixed_string... Inputs, class Value, class Compute>
  [[nodiscard]] constexpr auto op(Value storage, Compute compute) && {
    using verdict = decltype(check_inputs<Name, Inputs...>());
    if constexpr (!verdict::good) {
      verdict::say();
      return detail::rejected{};
    } else if constexpr (!requires { compute(storage, std::declval<value_type<Inputs> const&>()...); }) {
      detail::wrong_callable<Name, Compute, Value&, value_type<Inputs> const&...>::say();
      return detail::rejected{};
    } else {
      return add(
          detail::in_place_op_node<Name, names<Inputs...>, Value, Compute>{storage, static_cast<Compute&&>(compute)});
    }
  }
  /// A change of variables: those among the inputs are passed by reference, all else by const reference. It may return
  /// a value, which can then be fetched.
  template <fixed_string Name, fixed_string... Inputs, class Apply>
  [[nodiscard]] constexpr auto update(Apply apply) && {
    using verdict = decltype(check_inputs<Name, Inputs...>());
    if constexpr (!verdict::good) {
      verdict::say();
      return detail::rejected{};
    } else if constexpr (!requires { apply(std::declval<list&>().template writable<Inputs>()...); }) {
      detail::wrong_callable<Name, Apply, decltype(std::declval<list&>().template writable<Inputs>())...>::say();
      return detail::rejected{};
    } else {
      using value = std::remove_cvref_t<decltype(apply(std::declval<list&>().template writable<Inputs>()...))>;
      return add(detail::update_node<Name, names<Inputs...>, value, Apply>{{}, static_cast<Apply&&>(apply)});
    }
  }
  /// Only runs with this target are steps; without it every run is one.
  template <fixed_string Name>
  [[nodiscard]] constexpr auto step_target() && {
    if constexpr (has<Name>) {
      return static_graph<Name, Nodes...>(static_cast<list&&>(*this));
    } else {
      detail::unknown_input<"step_target", Name, node_names>::say();
      return detail::rejected{};
    }
  }

  /// What monitored() does after the last `begin`: no node can be added from then on.
  [[nodiscard]] constexpr auto finalize() && { return static_session<StepTarget, Nodes...>(static_cast<list&&>(*this)); }

  /// Whether the graph has a node of this name.
  template <fixed_string Name>
  static constexpr bool has = list::template index_of<Name>() < sizeof...(Nodes);

 private:
  constexpr explicit static_graph(list&& nodes) : list(static_cast<list&&>(nodes)) {}
  template <class... Parts>
  constexpr explicit static_graph(detail::from_parts, Parts&&... parts)
      : list(detail::from_parts{}, static_cast<Parts&&>(parts)...) {}

  template <fixed_string Name>
  using value_type = typename list::template value_type<Name>;

  template <fixed_string Name, fixed_string... Inputs>
  static consteval auto check_inputs() {
    using values = typename detail::names_if<detail::has_value_test, Nodes...>::type;
    return (detail::fine{} | ... |
            detail::fine_or<detail::lists(static_cast<values*>(nullptr), Inputs.characters),
                            detail::unknown_input<Name, Inputs, values>>());
  }

  template <class Node>
  constexpr auto add(Node&& node) {
    constexpr std::size_t existing = list::template index_of<Node::name>();
    if constexpr (existing == sizeof...(Nodes)) {
      return list::append([&]<class... Parts>(Parts&&... parts) {
        return static_graph<StepTarget, Nodes..., Node>(detail::from_parts{}, static_cast<Parts&&>(parts)...,
                                                        static_cast<Node&&>(node));
      });
    } else {
      using old = typename list::template node_type<existing>;
      if constexpr (std::is_same_v<old, Node>) {
        return static_cast<static_graph&&>(*this);
      } else {
        detail::node_name_is_taken<Node::name, old, Node>::say();
        return detail::rejected{};
      }
    }
  }
};
static_graph() -> static_graph<"">;

/// A `static_graph` that has been finalized: the session over it.
template <fixed_string StepTarget, class... Nodes>
class static_session : public detail::step_target_of<StepTarget>,
                       public detail::finalized_graph<struct the_static_session>,
                       public detail::node_list<std::make_index_sequence<sizeof...(Nodes)>, Nodes...> {
  using list = detail::node_list<std::make_index_sequence<sizeof...(Nodes)>, Nodes...>;

 public:
  using fetchable = typename detail::names_if<detail::has_value_test, Nodes...>::type;
  using feedable = typename detail::names_if<detail::feedable_test, Nodes...>::type;
  using runnable = names<Nodes::name...>;

  template <fixed_string Name>
  using fed_type = typename list::template value_type<Name>;
  /// Whether the node can take a value of this type: one that is copied may convert, one that is looked at may not.
  /// True for names that the graph does not have: that is another question.
  template <fixed_string Name, class Value>
  static consteval bool takes_feed() {
    if constexpr (!detail::lists(static_cast<feedable*>(nullptr), Name.characters)) {
      return true;
    } else if constexpr (list::template node_type<list::template index_of<Name>()>::kind ==
                         detail::node_kind::source) {
      return std::is_convertible_v<Value const&, fed_type<Name> const&>;
    } else if constexpr (detail::feeds_by_value<fed_type<Name>>) {
      return std::is_constructible_v<fed_type<Name>, Value const&>;
    } else {
      return std::is_convertible_v<Value const*, fed_type<Name> const*>;
    }
  }

  constexpr explicit static_session(list&& nodes) : list(static_cast<list&&>(nodes)) {}

#if !TAUTLINE_EXCEPTIONS
  using unbreakable = static_session;  // a callable has no way to fail
#endif

  /// One run: what the request needs, once each, in the order of the nodes.
  template <class Request>
  TAUTLINE_INLINE constexpr status run(Request const& request) {
    constexpr auto plan = list::template plan_of<Request>();
    auto const sometimes = list::template wanted_sometimes<plan>(request);
    list::take_feeds(request);
    unless_it_succeeds<Request> forgetting{this};
    if (!list::template evaluate<plan, detail::run_part::sources>(sometimes, request)) return status::end_of_input();
    list::template evaluate<plan, detail::run_part::rest>(sometimes, request);
    forgetting.session = nullptr;
    return {};
  }
  /// A run in two parts: everything but updates, and what looks at variables that they change.
  template <class Request>
  TAUTLINE_INLINE constexpr status stage(Request const& request) {
    constexpr auto plan = list::template plan_of<Request>();
    auto const sometimes = list::template wanted_sometimes<plan>(request);
    list::take_feeds(request);
    unless_it_succeeds<Request> forgetting{this};
    if (!list::template evaluate<plan, detail::run_part::sources>(sometimes, request)) return status::end_of_input();
    list::template evaluate<plan, detail::run_part::early>(sometimes, request);
    forgetting.session = nullptr;
    return {};
  }
  /// The rest of the run that was staged last, by the same request.
  template <class Request>
  TAUTLINE_INLINE constexpr status commit(Request const& request) {
    constexpr auto plan = list::template plan_of<Request>();
    auto const sometimes = list::template wanted_sometimes<plan>(request);
    unless_it_succeeds<Request> forgetting{this};
    list::template evaluate<plan, detail::run_part::late>(sometimes, request);
    forgetting.session = nullptr;
    return {};
  }
  /// Whether a value is computed in the second part of such runs.
  template <class Request, fixed_string Name>
  static consteval bool is_late() {
    constexpr std::size_t node = list::template index_of<Name>();
    return node < sizeof...(Nodes) && list::template plan_of<Request>().late.has(node);
  }
  /// Placeholders that this request may have fed go back to their defaults.
  template <class Request>
  TAUTLINE_INLINE constexpr void finish_run() {
    list::template forget_feeds<Request>();
  }

  /// Calls `visit(name, value&)` for each variable, in the order of the nodes.
  template <class Visit>
  constexpr void each_variable(Visit visit) {
    list::visit_nodes([&]<class Node>(Node& node) {
      if constexpr (Node::kind == detail::node_kind::variable) visit(name_of<Node::name>, node.value);
    });
  }

  /// What a checkpoint holds: variables, and what the callables of the other nodes list of themselves, such as where an
  /// input stands. @see training_state
  template <class Visit>
  constexpr void each_state(Visit const& visit) {
    list::visit_nodes([&](auto& node) { detail::visit_node_state(node, visit); });
  }
  /// The description of the graph. @see node_info
  template <class Visit>
  constexpr void each_node(Visit const& visit) {
    list::visit_nodes([&](auto& node) { detail::visit_node_info(node, visit); });
  }
  /// Whether every variable can be saved, and every input says where it stands.
  static consteval auto check_state() { return (detail::fine{} | ... | detail::check_node_state<Nodes>()); }

 private:
  /// What was fed goes back also where the run met the end or failed: a later look would see it, or what it referred to.
  template <class Request>
  struct unless_it_succeeds {
    static_session* session;
    constexpr ~unless_it_succeeds() {
      if (session != nullptr) session->template forget_feeds<Request>();
    }
  };
};

TAUTLINE_END
