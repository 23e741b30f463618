// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <new>

#include <tautline/core/check_run.hpp>
#include <tautline/core/hook.hpp>
#include <tautline/core/run_result.hpp>
#include <tautline/hooks/any_trigger.hpp>
#include <tautline/hooks/detail/finite.hpp>
#include <tautline/hooks/model_dependent.hpp>

TAUTLINE_BEGIN

/// One input of an evaluator, opened anew for each evaluation. @see dataset
template <fixed_string Name, class Open>
struct dataset_t {
  static constexpr auto name = Name;
  [[no_unique_address]] Open open;
};

/// `dataset<"validation">(open)`: an input with a name. `open()` returns a range of elements, or a source: a callable
/// that returns a pointer or an optional, empty at the end.
///
///     dataset<"validation">([&]() -> auto const& { return batches; })
///     dataset<"test">([&] { return [&, n = 0]() mutable -> batch const* { return n < 7 ? &load(n++) : nullptr; }; })
template <fixed_string Name, class Open>
constexpr dataset_t<Name, Open> dataset(Open open) {
  return {static_cast<Open&&>(open)};
}

/// `datasets{dataset<"validation">(…), dataset<"training">(…)}`
template <class... Sets>
struct datasets : detail::item_list<std::make_index_sequence<sizeof...(Sets)>, Sets...> {
  using detail::item_list<std::make_index_sequence<sizeof...(Sets)>, Sets...>::item_list;
};
template <class... Sets>
datasets(Sets const&...) -> datasets<Sets...>;

/// What an evaluation found: a table of datasets and metrics.
struct evaluation {
  char const* const* dataset_names;
  std::size_t dataset_count;
  char const* const* metric_names;
  std::size_t metric_count;
  double const* values;  ///< weighted means, one row for each dataset
};

/// The weight of every element is 1.
struct equal_weights {
  template <class Element>
  constexpr double operator()(Element const&) const {
    return 1;
  }
};
/// Tells nobody: the metrics are published all the same.
struct no_report {
  constexpr void operator()(step_number, evaluation const&) const {}
};

namespace detail {

template <fixed_string First, fixed_string Second>
consteval auto join_by_slash() {
  char joined[First.size() + Second.size() + 2]{};
  std::size_t length = 0;
  for (std::size_t i = 0; i < First.size(); ++i) joined[length++] = First.characters[i];
  joined[length++] = '/';
  for (std::size_t i = 0; i < Second.size(); ++i) joined[length++] = Second.characters[i];
  return fixed_string<sizeof joined>(joined);
}

template <class Published>
struct provide_list;
template <class... Published>
struct provide_list<type_list<Published...>> {
  using type = provides_all<Published...>;
};

/// Where an evaluation that must not touch the session's values is made.
struct on_stack {
  static constexpr bool is_live = true;
  template <class Backend, class Use>
  static bool with_copy(Backend const& backend, life&, step_number&, Use use) {
    Backend copy(backend);
    use(copy);
    return true;
  }
};

}  // namespace detail

/// The core of `evaluator`, without a heap and without text: what it found goes to `Report`, and to other hooks.
///
/// @tparam Place where the copy of the backend lives during an evaluation, if the backend can be copied, and which variables
/// it has: those of the training, or, with the step that it says, others
/// @see evaluator
template <class Trigger, class Sets, class Metrics, class Feeds, class Weight = equal_weights, class Report = no_report,
          class Place = detail::on_stack>
class basic_evaluator;

template <trigger Trigger, class... Sets, fixed_string... Metrics, class Feeds, class Weight, class Report, class Place>
class basic_evaluator<Trigger, datasets<Sets...>, metrics<Metrics...>, Feeds, Weight, Report, Place> {
  static constexpr std::size_t set_count = sizeof...(Sets);
  static constexpr std::size_t metric_count = sizeof...(Metrics);
  static_assert(set_count > 0, "tautline: an evaluator needs data. Mend: give it at least one dataset<\"name\">(open)");
  static_assert(metric_count > 0, "tautline: an evaluator needs a metric. Mend: give it at least one, as in metrics<\"accuracy\">{}");

  template <class Set>
  using published_of =
      detail::type_list<tautline::provides<detail::join_by_slash<Set::name, Metrics>(), double>...>;

 public:
  using category = evaluating;
  using provides = typename detail::provide_list<detail::join_t<published_of<Sets>...>>::type;

  constexpr basic_evaluator(Trigger given, datasets<Sets...> sets, metrics<Metrics...>, Feeds feeds, Weight weight = {},
                            Report report = {}, Place place = {})
      : trigger(static_cast<Trigger&&>(given)),
        sets_(static_cast<datasets<Sets...>&&>(sets)),
        feeds_(static_cast<Feeds&&>(feeds)),
        weight_(static_cast<Weight&&>(weight)),
        report_(static_cast<Report&&>(report)),
        place_(static_cast<Place&&>(place)) {}

  template <class Graph>
  void begin(Graph&, life& at) {
    evaluated_ = 0;
    if constexpr (requires { report_.begin(at); }) report_.begin(at);
    if constexpr (requires { place_.begin(); }) place_.begin();
  }
  template <class Context>
  void after_run(Context& ctx) {
    if (ctx.due() && evaluate(ctx.session(), ctx, ctx.step())) {
      std::size_t row = 0;
      (publish<Sets>(ctx, row++), ...);
    }
  }
  template <class Session>
  void end(Session& session, life& at) {
    if (at.due()) (void)evaluate(session, at, at.step());
  }

  /// The last means and their number.
  constexpr auto state() noexcept { return fields{field<"means">(means_), field<"evaluations">(evaluated_)}; }

  /// The weighted mean of the last evaluation: `get<"validation", "accuracy">()`. Precondition: `evaluations() > 0`.
  template <fixed_string Set, fixed_string Metric>
  [[nodiscard]] constexpr double get() const {
    constexpr std::size_t row = place_of<Set, Sets::name...>();
    constexpr std::size_t column = place_of<Metric, Metrics...>();
    static_assert(row < set_count && column < metric_count, "tautline: this evaluator has no such dataset or metric. "
                                                              "Mend: use the names that it was made with");
    return means_[row * metric_count + column];
  }
  /// How often it has evaluated since `begin`.
  [[nodiscard]] constexpr int evaluations() const { return evaluated_; }

  Trigger trigger;

 private:
  template <fixed_string Name, fixed_string... Names>
  static consteval std::size_t place_of() {
    std::size_t place = 0;
    bool found = false;
    ((found = found || Names == Name, place += found ? 0 : 1), ...);
    return place;
  }

  template <class Set, class Context>
  void publish(Context& ctx, std::size_t row) const {
    std::size_t column = 0;
    (ctx.template publish<detail::join_by_slash<Set::name, Metrics>()>(means_[row * metric_count + column++]), ...);
  }

  /// What keeps the values of the last run while it lives; nothing where the backend has no such thing.
  template <class Backend>
  static auto values_aside([[maybe_unused]] Backend& backend) {
    if constexpr (requires { backend.set_values_aside(); }) {
      return backend.set_values_aside();
    } else {
      return nullptr;
    }
  }
  /// On a copy where there can be one: an evaluation in the session itself would overwrite the values of the run that
  /// other hooks and the caller are still to see, unless the backend can set them aside.
  template <class Session>
  bool evaluate(Session const& session, life& at, step_number step) {
    auto& backend = session.backend();
    using backend_type = std::remove_cvref_t<decltype(backend)>;
    bool well = true;
    double found[set_count * metric_count]{};  // what is interrupted leaves the last means as they are
    bool const asked_before = session.stop_requested();
    auto const interrupted = [&] { return !asked_before && session.stop_requested(); };
    auto const all = [&](auto& used) {
      std::size_t row = 0;
      sets_.each([&](auto const& set) { well = well && evaluate_set(used, set, at, interrupted, found + metric_count * row++); });
    };
    if constexpr (std::copy_constructible<backend_type>) {
      if (!place_.with_copy(backend, at, step, all)) return false;
    } else if constexpr (Place::is_live) {
      [[maybe_unused]] auto const aside = values_aside(backend);
      all(backend);
    } else {
      at.fail(error_kind::invalid_argument, "evaluator: checkpoints are evaluated on a copy of the session, and this one cannot be copied");
      return false;
    }
    if (!well) return false;
    for (std::size_t i = 0; i < set_count * metric_count; ++i) means_[i] = found[i];
    ++evaluated_;
    static constexpr char const* set_names[] = {name_of<Sets::name>...};
    static constexpr char const* metric_names[] = {name_of<Metrics>...};
    report_(step, evaluation{set_names, set_count, metric_names, metric_count, means_});
    return true;
  }

  template <class Backend, class Set, class Interrupted>
  bool evaluate_set(Backend& backend, Set const& set, life& at, Interrupted const& interrupted, double* means) {
    double sums[metric_count]{};
    double weights = 0;
    bool well = true;
    auto const take = [&](auto const& element) {
      well = well && !interrupted() && run(backend, element, at, sums, weights);
      return well;
    };
    decltype(auto) opened = set.open();
    if constexpr (detail::iterable<std::remove_cvref_t<decltype(opened)>>) {
      for (auto const& element : opened) {
        if (!take(element)) break;
      }
    } else {
      for (;;) {
        auto&& element = opened();
        if (!element || !take(*element)) break;
      }
    }
    if (!well) return false;
    if (!(weights > 0)) {
      at.fail(error_kind::invalid_argument, "evaluator: a dataset has no elements, or none with a weight");
      return false;
    }
    for (std::size_t i = 0; i < metric_count; ++i) means[i] = sums[i] / weights;
    return true;
  }

  template <class Backend, class Element>
  bool run(Backend& backend, Element const& element, life& at, double* sums, double& weights) {
    auto const feeds = feeds_(element);
    using args = run_args<fetch_t<Metrics>..., std::remove_cv_t<decltype(feeds)>>;
    using verdict = decltype(detail::check_items<basic_evaluator, Backend, void, fetch_t<Metrics>...,
                                                 std::remove_cv_t<decltype(feeds)>>());
    if constexpr (verdict::good) {
      args const asked(fetch<Metrics>..., feeds);
      run_request<false, names<>, std::index_sequence<0>, args> const request(asked);
      detail::finish_guard<decltype(request), Backend> const finish(backend);
      status done;
#if TAUTLINE_EXCEPTIONS
      try {
        done = backend.run(request);
      } catch (exception const& thrown) {
        if (thrown.kind() != error_kind::out_of_range) throw;
        done = status::end_of_input();
      }
#else
      done = backend.run(request);
#endif
      if (!done.ok()) {
        at.fail(done.kind, done.kind == error_kind::out_of_range
                               ? text("evaluator: a metric needs the training's input. Mend: metrics of values that need "
                                      "variables and what is fed, only")
                               : text::of_lasting(done.message));
        return false;
      }
      auto const weight = static_cast<double>(weight_(element));
      weights += weight;
      std::size_t place = 0;
      ((sums[place++] += weight * static_cast<double>(backend.template value<Metrics>())), ...);
      return true;
    } else {
      verdict::say();
      return false;
    }
  }

  [[no_unique_address]] datasets<Sets...> sets_;
  [[no_unique_address]] Feeds feeds_;
  [[no_unique_address]] Weight weight_;
  [[no_unique_address]] Report report_;
  [[no_unique_address]] Place place_;
  double means_[set_count * metric_count]{};
  int evaluated_ = 0;
};

template <class Trigger, class Sets, class Metrics, class Feeds>
basic_evaluator(Trigger, Sets, Metrics, Feeds) -> basic_evaluator<Trigger, Sets, Metrics, Feeds>;
template <class Trigger, class Sets, class Metrics, class Feeds, class Weight>
basic_evaluator(Trigger, Sets, Metrics, Feeds, Weight) -> basic_evaluator<Trigger, Sets, Metrics, Feeds, Weight>;
template <class Trigger, class Sets, class Metrics, class Feeds, class Weight, class Report>
basic_evaluator(Trigger, Sets, Metrics, Feeds, Weight, Report)
    -> basic_evaluator<Trigger, Sets, Metrics, Feeds, Weight, Report>;

TAUTLINE_END
