// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <tautline/training/detail/training_session.hpp>
#include <tautline/training/training_settings.hpp>

TAUTLINE_BEGIN

/// A training as most want it: restored from its folder's latest checkpoint if there is one, with the hooks that every
/// training has, recovered with back-off.
///
///     using net = model<loss<"loss">, metrics<"accuracy">>;
///     auto training = monitored_training_session<net>(graph, {.directory = "run"}, stop_at_step{10'000}, …);
///     completion const done = training->run_to_completion(target<"train">);   // done.stop: who, why, at which step
///
/// Default hooks of the chief, in front of those given: with a model `nan_checker`, `loss_logger` and `summary_saver` of its
/// loss and metrics; `step_rate_logger`; `checkpoint_saver`. A hook that is given and is of the same kind (of the category
/// `saver`, tagged `nan_checker_tag`) takes the place of the default one. Of a saver that is given the caller says, too, what
/// is restored: `options{restore_from{…}}`; without it nothing is. For a worker only the `nan_checker` works; it waits until
/// the chief has saved, and begins from there.
///
/// @tparam Model the roles of nodes, see `model`; void for none
/// @param settings see there; both intervals for checkpoints are `invalid_argument`
/// **Errors** as those of `monitored`; `invalid_argument` if a worker waits in vain, or the chief's checkpoint is of another
/// graph; those of opening the folders, which is `busy` if another training has it.
/// **Cost** that of the hooks; a thread for the writing of checkpoints.
/// **Source** tf.train.MonitoredTrainingSession and TensorFlow for Scala's monitoredTrainingSession.
template <class Model = void, class Graph, class... Given, class... Hooks>
[[nodiscard]] auto monitored_training_session(Graph&& graph, training_settings settings, options<Given...> given,
                                              Hooks&&... hooks) {
  using kind = std::remove_cvref_t<Graph>;
  if constexpr (requires { requires bool(detail::training_setup<kind>::lacks_header); }) {
    detail::training_lacks_header<kind>::say();
    return detail::rejected{};
  } else {
    return detail::training_session<Model, Graph, options<Given...>, Hooks...>(
        std::forward<Graph>(graph), std::move(settings), std::move(given), std::forward<Hooks>(hooks)...);
  }
}
template <class Model = void, class Graph, class... Hooks>
[[nodiscard]] auto monitored_training_session(Graph&& graph, training_settings settings, Hooks&&... hooks) {
  return monitored_training_session<Model>(std::forward<Graph>(graph), std::move(settings), options<>{},
                                           std::forward<Hooks>(hooks)...);
}

TAUTLINE_END
