// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/inspect.hpp>

TAUTLINE_BEGIN

/// The role of the value that training makes smaller: `loss<"cross_entropy">`.
template <fixed_string Name>
struct loss {};

/// The role of values by which a model is judged: `metrics<"accuracy", "top5">`.
template <fixed_string... Names>
struct metrics {};

/// Which nodes of a graph play which role.
///
///     using classifier = model<loss<"cross_entropy">, metrics<"accuracy", "top5">>;
template <class Loss = loss<"loss">, class Metrics = metrics<"accuracy">>
struct model;

template <fixed_string Loss, fixed_string... Metrics>
struct model<loss<Loss>, metrics<Metrics...>> {
  static constexpr auto loss_name = Loss;
  using metrics_type = metrics<Metrics...>;

  /// The loss, as an item of a request.
  static constexpr fetch_t<Loss> fetch_loss() { return {}; }
  /// All metrics, as a request.
  static constexpr fetches<Metrics...> fetch_metrics() { return fetches<Metrics...>(fetch<Metrics>...); }
};

/// Base of hooks that work with any model and find its nodes by their roles.
///
///     template <class Model>
///     struct best_loss : model_dependent<Model> {
///       auto before_run(auto&) { return this->model_instance().fetch_loss(); }
///       void after_run(auto&, auto& values) { best = std::min(best, values[this->model_instance().fetch_loss()]); }
///     };
///
/// The instance is a constant of the type: it is there before `begin`, on every role and in every process, and a
/// recovery cannot touch it. A role whose node the graph does not have is a compile error of the hook that asks for it.
/// **Cost** none.
/// **Source** the model-dependent hooks of TensorFlow for Scala, where estimators set a field.
template <class Model = model<>>
struct model_dependent {
  using model_type = Model;
  [[nodiscard]] static constexpr Model model_instance() { return {}; }
};

TAUTLINE_END
