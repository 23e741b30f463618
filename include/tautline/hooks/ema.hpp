// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/hook.hpp>
#include <tautline/core/run_context.hpp>
#include <tautline/hooks/detail/averaging.hpp>
#include <tautline/hooks/detail/each_run.hpp>

TAUTLINE_BEGIN
namespace detail {

template <fixed_string Name, class Value>
struct averaged {
  static constexpr auto name = Name;
  using value_type = Value;
};

template <class Value>
concept averageable = tensor_value<Value> && requires {
  requires tensor_traits<Value>::type == element_type::F32 || tensor_traits<Value>::type == element_type::F64;
};
template <class Value>
using number_of = std::conditional_t<tensor_traits<Value>::type == element_type::F32, float, double>;

template <class Graph>
concept has_nodes = requires {
  Graph::count;
  typename Graph::node_names;
};

/// One variable's average.
template <class Averaged>
struct average_leaf {
  typename Averaged::value_type average;
};

/// The averages side by side, each of the type of its variable.
template <class... Averaged>
struct average_list : average_leaf<Averaged>... {
  auto state() noexcept { return fields{field<Averaged::name>(static_cast<average_leaf<Averaged>&>(*this).average)...}; }
};

/// Those of the graph's nodes that are variables of floating-point numbers.
template <class Graph, std::size_t At>
consteval auto averaged_node() {
  using node = typename Graph::template node_type<At>;
  if constexpr (requires { requires node::kind == decltype(node::kind)::variable && averageable<typename node::value_type>; }) {
    return type_list<averaged<node::name, typename node::value_type>>{};
  } else {
    return type_list<>{};
  }
}
template <class Graph, std::size_t... At>
consteval auto averaged_nodes(std::index_sequence<At...>) {
  return join_t<decltype(averaged_node<Graph, At>())...>{};
}
template <class Graph, fixed_string... Names>
consteval auto averaged_named() {
  return join_t<decltype(averaged_node<Graph, Graph::template index_of<Names>()>())...>{};
}
template <class Graph, fixed_string Name>
consteval bool is_averageable() {
  if constexpr (Graph::template index_of<Name>() == Graph::count) {
    return false;
  } else {
    return !std::is_same_v<decltype(averaged_node<Graph, Graph::template index_of<Name>()>()), type_list<>>;
  }
}

}  // namespace detail

/// What `ema(graph)` returns. @see ema
template <class Trigger, class... Averaged>
class ema_hook {
 public:
  using tags = hooks<ema_tag>;
  static constexpr bool averages_variables = true;
  static constexpr bool real_time = true;

  /// @param initial of the graph, for their sizes
  template <class... Values>
  ema_hook(ema_options how, Trigger given, Values const&... initial)
      : trigger(static_cast<Trigger&&>(given)), how_(how), averages_{{initial}...} {}

  template <class Graph>
  void begin(Graph&, life& at) {
    progress_ = {};
    skipped_ = 0;
    detail::check_ema(how_, at);
  }
  template <class Session>
  void after_create_session(Session& session, life& at) {
    auto& backend = session.backend();
    if (!(true && ... && same_size<Averaged>(backend))) {
      at.fail(error_kind::invalid_argument, "ema: a variable has another size than in the graph that the ema was made of");
    } else if (!progress_.started) {
      progress_.started = true;
      (blend_one<Averaged>(backend, 1), ...);
    }
  }
  template <class Context>
  void after_run(Context& ctx) noexcept {
    if (!ctx.due() || ctx.vetoed()) return;
    auto& backend = ctx.session().backend();
    if ((true && ... && is_finite<Averaged>(backend))) {
      double const share = progress_.next_share(how_);
      (blend_one<Averaged>(backend, share), ...);
    } else {
      ++skipped_;
    }
  }
  auto state() noexcept {
    return fields{field<"averages">(averages_), field<"progress">(progress_), field<"skipped">(skipped_)};
  }

  /// The average of a variable: `averages.get<"w">()`.
  template <fixed_string Name>
  [[nodiscard]] auto const& get() const noexcept {
    return find<Name>(static_cast<detail::average_list<Averaged...> const&>(averages_));
  }
  [[nodiscard]] std::int64_t updates() const noexcept { return progress_.updates; }
  /// Updates that were not made, since a variable was not finite.
  [[nodiscard]] std::int64_t skipped() const noexcept { return skipped_; }

  /// Exchanges averages and variables, bit for bit: once to look at the averages, once more to go on.
  template <class Session>
  void swap(Session const& session) noexcept {
    (swap_one<Averaged>(session.backend()), ...);
  }

  [[no_unique_address]] Trigger trigger;

 private:
  template <fixed_string Name, class... All>
  static auto const& find(detail::average_list<All...> const& list) {
    static_assert((false || ... || (All::name == Name)), "tautline: this ema does not average a variable of that name. Mend: use one of the names that it was made with");
    return find_leaf<Name, All...>(list);
  }
  template <fixed_string Name, class First, class... Rest, class List>
  static auto const& find_leaf(List const& list) {
    if constexpr (First::name == Name || sizeof...(Rest) == 0) {
      return static_cast<detail::average_leaf<First> const&>(list).average;
    } else {
      return find_leaf<Name, Rest...>(list);
    }
  }

  /// Calls `use(average, variable, count)` with pointers to numbers of their type.
  template <class One, class Backend, class Use>
  auto with(Backend& backend, Use use) noexcept {
    using number = detail::number_of<typename One::value_type>;
    tensor_view const average = view_tensor(static_cast<detail::average_leaf<One>&>(averages_).average);
    tensor_view const variable = view_tensor(backend.template value<One::name>());
    return use(static_cast<number*>(average.data), static_cast<number*>(variable.data), average.element_count(), variable.element_count());
  }
  template <class One, class Backend>
  bool same_size(Backend& backend) noexcept {
    return with<One>(backend, [](auto*, auto*, std::size_t mine, std::size_t its) { return mine == its; });
  }
  template <class One, class Backend>
  bool is_finite(Backend& backend) noexcept {
    return with<One>(backend, [](auto*, auto* variable, std::size_t, std::size_t count) { return detail::all_finite(variable, count); });
  }
  template <class One, class Backend>
  void blend_one(Backend& backend, double share) noexcept {
    with<One>(backend, [share](auto* average, auto* variable, std::size_t count, std::size_t) {
      detail::blend(average, variable, count, share);
    });
  }
  template <class One, class Backend>
  void swap_one(Backend& backend) noexcept {
    with<One>(backend, [](auto* average, auto* variable, std::size_t count, std::size_t) {
      detail::swap_elements(average, variable, count);
    });
  }

  ema_options how_;
  detail::ema_progress progress_;
  std::int64_t skipped_ = 0;
  detail::average_list<Averaged...> averages_;
};

namespace detail {
template <class Trigger, class Graph, class... Averaged>
auto make_ema(Graph& graph, ema_options how, Trigger trigger, type_list<Averaged...>) {
  static_assert(sizeof...(Averaged) > 0, "tautline: ema finds no variable of floating-point numbers in this graph. Mend: give the graph one");
  return ema_hook<Trigger, Averaged...>(how, static_cast<Trigger&&>(trigger), graph.template value<Averaged::name>()...);
}
}  // namespace detail

/// Exponential moving averages of the variables of a `static_graph`: of all that hold `float` or `double`, or of those
/// that are named. Evaluated in place of the variables they are often better.
///
///     auto session = monitored(graph, ema(graph, {.decay = 0.99}));
///     auto session = monitored(graph, ema<"w", "b">(graph, {.decay = 0.99, .bias_correction = true}, every_steps{10}));
///     with_averages(session, [&] { return session.evaluate(fetch<"accuracy">); });
///
/// The copies lie in the hook, with the types that the variables have: no heap, unless a variable itself has it.
/// `on_averages` makes an evaluator of the session evaluate them.
///
/// @param graph the one that the session is made of
/// @param trigger when an update is made; after each step by default. Not in a run that a gate has vetoed, and not while
/// a variable is not finite: such an update is left out, and counted
/// **Order** after the run, so put it before whatever looks at the averages. **Errors** `invalid_argument` in `begin`
/// for a decay outside of [0, 1).
/// **Cost** two passes over the variables an update; no allocation. **State** averages as tensors, the count of updates;
/// restored exactly.
/// **Source** tf.train.ExponentialMovingAverage, without its variant whose decay grows; the correction is that of Adam.
template <fixed_string... Names, class Graph, trigger Trigger = detail::each_run>
  requires detail::has_nodes<std::remove_cvref_t<Graph>>
auto ema(Graph& graph, ema_options how = {}, Trigger trigger = {}) {
  using nodes = std::remove_const_t<Graph>;
  if constexpr (sizeof...(Names) == 0) {
    return detail::make_ema(const_cast<nodes&>(graph), how, trigger, detail::averaged_nodes<nodes>(std::make_index_sequence<nodes::count>{}));
  } else {
    constexpr bool known = (true && ... && detail::is_averageable<nodes, Names>());
    static_assert(known, "tautline: ema averages variables of float or double. Mend: name such variables of the graph");
    if constexpr (known) {
      return detail::make_ema(const_cast<nodes&>(graph), how, trigger, detail::averaged_named<nodes, Names...>());
    } else {
      return detail::refused_ema{};
    }
  }
}

TAUTLINE_END
