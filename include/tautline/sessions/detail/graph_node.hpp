// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/static_graph.hpp>

#include <concepts>

#include <tautline/core/check_run.hpp>
#include <tautline/sessions/detail/node_reasons.hpp>
#include <tautline/sessions/detail/node_set.hpp>

TAUTLINE_BEGIN
namespace detail {

// --- the kinds of node ----------------------------------------------------------------------------------------------

enum class node_kind : std::uint8_t { variable, placeholder, source, op, update };

struct nothing {};

template <fixed_string Name, class Value>
struct variable_node {
  static constexpr auto name = Name;
  static constexpr node_kind kind = node_kind::variable;
  using inputs = names<>;
  using value_type = Value;
  Value value;
};

/// A fed value of up to 32 trivially copyable bytes is copied, a larger one is looked at where it is during the run.
template <fixed_string Name, class Value>
struct placeholder_node {
  static constexpr auto name = Name;
  static constexpr node_kind kind = node_kind::placeholder;
  static constexpr bool copies = feeds_by_value<Value>;
  using inputs = names<>;
  using value_type = Value;

  constexpr explicit placeholder_node(Value const& given) : by_default(given) {
    if constexpr (copies) fed = given;
  }
  Value by_default;
  std::conditional_t<copies, Value, Value const*> fed{};
};

template <fixed_string Name, class Value, class Next>
struct source_node {
  static constexpr auto name = Name;
  static constexpr node_kind kind = node_kind::source;
  using inputs = names<>;
  using value_type = Value;
  Value value;
  [[no_unique_address]] Next call;
};

template <fixed_string Name, class Inputs, class Value, class Compute>
struct op_node {
  static constexpr auto name = Name;
  static constexpr node_kind kind = node_kind::op;
  static constexpr bool in_place = false;
  using inputs = Inputs;
  using value_type = Value;
  Value value{};
  [[no_unique_address]] Compute call;
};

template <fixed_string Name, class Inputs, class Value, class Compute>
struct in_place_op_node {
  static constexpr auto name = Name;
  static constexpr node_kind kind = node_kind::op;
  static constexpr bool in_place = true;
  using inputs = Inputs;
  using value_type = Value;
  Value value;
  [[no_unique_address]] Compute call;
};

template <fixed_string Name, class Inputs, class Value, class Apply>
struct update_node {
  static constexpr auto name = Name;
  static constexpr node_kind kind = node_kind::update;
  static constexpr bool in_place = false;
  using inputs = Inputs;
  using value_type = Value;
  [[no_unique_address]] std::conditional_t<std::is_void_v<Value>, nothing, Value> value{};
  [[no_unique_address]] Apply call;
};

struct has_value_test {
  template <class Node>
  static constexpr bool holds = !std::is_void_v<typename Node::value_type>;
};
struct feedable_test {
  template <class Node>
  static constexpr bool holds = Node::kind == node_kind::placeholder || Node::kind == node_kind::source;
};
template <class... Lists>
struct join_names;
template <>
struct join_names<> {
  using type = names<>;
};
template <fixed_string... A>
struct join_names<names<A...>> {
  using type = names<A...>;
};
template <fixed_string... A, fixed_string... B, class... Rest>
struct join_names<names<A...>, names<B...>, Rest...> : join_names<names<A..., B...>, Rest...> {};
/// The names of the nodes for which the test holds.
template <class Test, class... Nodes>
struct names_if
    : join_names<std::conditional_t<Test::template holds<Nodes>, names<Nodes::name>, names<>>...> {};

template <fixed_string Target>
struct step_target_of {
  static constexpr auto step_target = Target;
};
template <>
struct step_target_of<""> {};

// --- the list of nodes -----------------------------------------------------------------------------------------------

/// The parts of a run, in their order. All sources come first: a run that meets the end of the input changes nothing.
enum class run_part : std::uint8_t { sources, rest, early, late };

struct from_parts {};

template <std::size_t Index, class Node>
struct node_leaf {
  Node node;
};

template <class Indices, class... Nodes>
class node_list;

/// The nodes side by side, and how a request runs over them.
template <std::size_t... Index, class... Nodes>
class node_list<std::index_sequence<Index...>, Nodes...> : node_leaf<Index, Nodes>... {
 public:
  static constexpr std::size_t count = sizeof...(Nodes);
  using set = node_set<count>;

  constexpr node_list() requires(sizeof...(Nodes) == 0) = default;
  template <class... Parts>
  constexpr explicit node_list(from_parts, Parts&&... parts)
      : node_leaf<Index, Nodes>{static_cast<Parts&&>(parts)}... {}

  template <fixed_string Name>
  static consteval std::size_t index_of() {
    return find(Name.characters);
  }
  static consteval std::size_t find(char const* name) {
    char const* all[] = {Nodes::name.characters..., nullptr};
    for (std::size_t i = 0; i < count; ++i) {
      if (same_text(all[i], name)) return i;
    }
    return count;
  }

  template <std::size_t At, class Node>
  TAUTLINE_INLINE static constexpr Node& node_of(node_leaf<At, Node>& leaf) {
    return leaf.node;
  }
  template <std::size_t At>
  using node_type = std::remove_cvref_t<decltype(node_of<At>(std::declval<node_list&>()))>;
  template <fixed_string Name>
  using value_type = typename node_type<index_of<Name>()>::value_type;

  /// The stored value of a node. That of a placeholder is what the run in progress was fed with, or the default.
  template <fixed_string Name>
  [[nodiscard]] TAUTLINE_INLINE constexpr auto& value() {
    return value_in(node_of<index_of<Name>()>(*this));
  }
  /// As an update gets it: variables by reference, everything else by const reference.
  template <fixed_string Name>
  [[nodiscard]] TAUTLINE_INLINE constexpr auto& writable() {
    auto& node = node_of<index_of<Name>()>(*this);
    if constexpr (std::remove_reference_t<decltype(node)>::kind == node_kind::variable) {
      return node.value;
    } else {
      return readable(value_in(node));
    }
  }

 protected:
  template <class Make>
  constexpr auto append(Make make) {
    return make(static_cast<Nodes&&>(node_of<Index>(*this))...);
  }

  // --- the plan: constants --------------------------------------------------------------------------------------

  /// Everything that each node needs, itself included.
  static consteval auto closures() {
    struct result {
      set of[count == 0 ? 1 : count]{};
    } all;
    std::size_t node = 0;
    (close_over(all.of, node++, typename Nodes::inputs{}), ...);
    return all;
  }
  template <fixed_string... Inputs>
  static consteval void close_over(set* all, std::size_t node, names<Inputs...>) {
    all[node].add(node);
    (all[node].add(all[find(Inputs.characters)]), ...);
  }
  static constexpr auto needs = closures();

  template <class Request>
  static consteval presence presence_of(std::size_t node) {
    char const* all[] = {Nodes::name.characters..., nullptr};
    return strongest(Request::find(item_kind::fetch, all[node]), Request::find(item_kind::target, all[node]));
  }
  template <class Request>
  static consteval auto plan_of() {
    run_plan<count> plan;
    for (std::size_t node = 0; node < count; ++node) {
      presence const known = presence_of<Request>(node);
      if (known == presence::always) plan.always.add(needs.of[node]);
      if (known != presence::never) plan.possible.add(needs.of[node]);
    }
    set changed;  // variables
    std::size_t node = 0;
    (add_if_late(plan, changed, node++, Nodes::kind, typename Nodes::inputs{}), ...);
    return plan;
  }
  template <fixed_string... Inputs>
  static consteval void add_if_late(run_plan<count>& plan, set& changed, std::size_t node, node_kind kind, names<Inputs...>) {
    if (!plan.possible.has(node)) return;
    bool const changes = kind == node_kind::update;
    bool const late = (changes || ... || (plan.late.has(find(Inputs.characters)) || changed.has(find(Inputs.characters))));
    if (late) plan.late.add(node);
    if (!changes) return;
    constexpr node_kind kinds[] = {Nodes::kind..., node_kind::op};
    std::size_t const inputs[] = {count, find(Inputs.characters)...};
    for (std::size_t const input : inputs) {
      if (kinds[input] == node_kind::variable) changed.add(input);  // what else it takes stays as it is
    }
  }

  // --- the run ----------------------------------------------------------------------------------------------------

  /// The nodes that are needed for what is asked for in some runs, in this one.
  template <auto Plan, class Request>
  TAUTLINE_INLINE static constexpr set wanted_sometimes(Request const& request) {
    set wanted;
    (want<Plan, Index, Nodes::name>(request, wanted), ...);
    return wanted;
  }
  template <auto Plan, std::size_t At, fixed_string Name, class Request>
  TAUTLINE_INLINE static constexpr void want(Request const& request, set& wanted) {
    if constexpr (presence_of<Request>(At) == presence::sometimes) {
      if (request.template wants<item_kind::fetch, Name>() || request.template wants<item_kind::target, Name>()) {
        constexpr set needed = needs.of[At].without(Plan.always);  // often one bit, which is then no more than the answer
        wanted.add(needed);
      }
    }
  }

  template <class Request>
  TAUTLINE_INLINE constexpr void take_feeds(Request const& request) {
    (take_feed<Index>(request), ...);
  }
  template <std::size_t At, class Request>
  TAUTLINE_INLINE constexpr void take_feed([[maybe_unused]] Request const& request) {
    using node_t = node_type<At>;
    if constexpr (is_fed_by<node_t, Request>()) {
      auto& node = node_of<At>(*this);
      auto const* const fed = request.template fed<node_t::name>();
      if constexpr (node_t::copies) {
        node.fed = fed != nullptr ? static_cast<typename node_t::value_type>(*fed) : node.by_default;
      } else {
        node.fed = fed;
      }
    }
  }
  template <class Request>
  TAUTLINE_INLINE constexpr void forget_feeds() {
    (forget_feed<Index, Request>(), ...);
  }
  template <std::size_t At, class Request>
  TAUTLINE_INLINE constexpr void forget_feed() {
    using node_t = node_type<At>;
    if constexpr (is_fed_by<node_t, Request>()) {
      auto& node = node_of<At>(*this);
      if constexpr (node_t::copies) {
        node.fed = node.by_default;
      } else {
        node.fed = nullptr;
      }
    }
  }
  template <class Node, class Request, node_kind Kind = node_kind::placeholder>
  static consteval bool is_fed_by() {
    return Node::kind == Kind && Request::find(item_kind::feed, Node::name.characters) != presence::never;
  }

  /// The nodes of one part. @return false if a source has no more
  template <auto Plan, run_part Part, class Request>
  TAUTLINE_INLINE constexpr bool evaluate(set const& wanted, Request const& request) {
    return (true && ... && evaluate_one<Plan, Part, Index>(wanted, request));
  }
  template <auto Plan, run_part Part, std::size_t At>
  static consteval bool is_of_part() {
    constexpr node_kind kind = node_type<At>::kind;
    if (kind == node_kind::variable || kind == node_kind::placeholder || !Plan.possible.has(At)) return false;
    if (kind == node_kind::source) return Part == run_part::sources;
    return Part == run_part::rest || Part == (Plan.late.has(At) ? run_part::late : run_part::early);
  }
  template <auto Plan, run_part Part, std::size_t At, class Request>
  TAUTLINE_INLINE constexpr bool evaluate_one([[maybe_unused]] set const& wanted,
                                              [[maybe_unused]] Request const& request) {
    if constexpr (!is_of_part<Plan, Part, At>()) {
      return true;
    } else {
      if constexpr (!Plan.always.has(At)) {
        if (!wanted.has(At)) return true;
      }
      if constexpr (is_fed_by<node_type<At>, Request, node_kind::source>()) {
        auto& node = node_of<At>(*this);
        if (auto const* const fed = request.template fed<node_type<At>::name>(); fed != nullptr) {
          node.value = static_cast<typename node_type<At>::value_type const&>(*fed);
          return true;
        }
      }
      return compute<At>(typename node_type<At>::inputs{});
    }
  }
  template <std::size_t At, fixed_string... Inputs>
  TAUTLINE_INLINE constexpr bool compute(names<Inputs...>) {
    auto& node = node_of<At>(*this);
    using node_t = node_type<At>;
    if constexpr (node_t::kind == node_kind::source) {
      return node.call(node.value);
    } else if constexpr (node_t::kind == node_kind::update) {
      if constexpr (has_value_test::holds<node_t>) {
        node.value = node.call(this->template writable<Inputs>()...);
      } else {
        node.call(this->template writable<Inputs>()...);
      }
    } else if constexpr (node_t::in_place) {
      node.call(node.value, readable(this->template value<Inputs>())...);
    } else {
      node.value = node.call(readable(this->template value<Inputs>())...);
    }
    return true;
  }

  /// Calls `visit(node)` for each.
  template <class Visit>
  constexpr void visit_nodes(Visit visit) {
    (visit(node_of<Index>(*this)), ...);
  }

 private:
  template <class Value>
  TAUTLINE_INLINE static constexpr Value const& readable(Value& value) {
    return value;
  }
  template <class Node>
  TAUTLINE_INLINE static constexpr auto& value_in(Node& node) {
    if constexpr (Node::kind == node_kind::placeholder) {
      if constexpr (Node::copies) {
        return readable(node.fed);
      } else {
        return node.fed != nullptr ? *node.fed : readable(node.by_default);
      }
    } else {
      return node.value;
    }
  }
};

}  // namespace detail
TAUTLINE_END
