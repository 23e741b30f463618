// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/error.hpp>
#include <tautline/core/state.hpp>

TAUTLINE_BEGIN

/// A node of a graph, as a description of the graph shows it.
struct node_info {
  char const* name = "";              ///< of static life
  char const* kind = "";              ///< "variable", "placeholder", "source", "op", "update", or what the backend has
  char const* const* inputs = nullptr;  ///< names of nodes
  std::size_t input_count = 0;
  bool has_form = false;  ///< whether the value can be seen as a tensor
  tensor_view form{};     ///< element type and shape; the data is of no concern
};

namespace detail {
/// Its address stands for the type.
template <class Backend>
inline char kind_of_backend = 0;
}  // namespace detail

/// Everything that a checkpoint holds of a training, whatever its graph and hooks are: variables, where the input stands,
/// the state of the hooks, the completed steps. A view, good during the call that it was given to. What saves gets it
/// after the last `after_run` of a step; what restores gets it when a session has been made, and writes through it.
class training_state {
 public:
  using item_visit = void (*)(void* visitor, state_item const&);
  using node_visit = void (*)(void* visitor, node_info const&);
  struct functions {
    void (*items)(void* core, void* visitor, item_visit);
    void (*nodes)(void* core, void* visitor, node_visit);
    status (*read)(void* core) = nullptr;                        ///< null: the values are here
    void* (*backend)(void* core, void const* kind) = nullptr;  ///< null: of no kind that anybody knows
  };

  training_state(void* core, functions const& how, step_number step, bool running = false)
      : core_(core), how_(&how), step_(step), running_(running) {}

  /// Completed steps.
  [[nodiscard]] step_number step() const { return step_; }
  /// Whether hooks have been told of a session before. A restorer leaves values that are `kept` as they are then: the
  /// training goes back to a checkpoint. Else it is resumed, and they are restored, too.
  [[nodiscard]] bool is_running() const { return running_; }

  /// Brings values that lie elsewhere here, so that `each` can show them; they are good until the next run. Where it fails
  /// with `aborted` or `unavailable`, the session is broken: its next run is recovered. **Cost** nothing if they are here.
  [[nodiscard]] status read() const { return how_->read == nullptr ? status{} : how_->read(core_); }
  /// The backend, if it is of that kind (its `erased`); else null. For sinks that know one kind of backend.
  template <class Backend>
  [[nodiscard]] Backend* as() const {
    void* const found = how_->backend == nullptr ? nullptr : how_->backend(core_, &detail::kind_of_backend<Backend>);
    return static_cast<Backend*>(found);
  }

  /// Calls `visit(state_item const&)` for every value: variables in the order of the graph, inputs, then the hooks in the
  /// order of the arguments. Names are unique.
  template <class Visit>
  void each(Visit&& visit) const {
    how_->items(core_, address_of(visit), [](void* visitor, state_item const& item) {
      (*static_cast<std::remove_reference_t<Visit>*>(visitor))(item);
    });
  }
  /// Calls `visit(node_info const&)` for every node of the graph; for none where the backend does not describe itself.
  template <class Visit>
  void each_node(Visit&& visit) const {
    how_->nodes(core_, address_of(visit), [](void* visitor, node_info const& node) {
      (*static_cast<std::remove_reference_t<Visit>*>(visitor))(node);
    });
  }

 private:
  template <class Visit>
  static void* address_of(Visit& visit) {
    return const_cast<void*>(static_cast<void const*>(&visit));
  }

  void* core_;
  functions const* how_;
  step_number step_;
  bool running_;
};

/// What a restorer did. @see restore_from
struct restored {
  status result{};       ///< an error ends the making of the session
  bool found = false;    ///< there was a checkpoint, and it has been restored
  step_number step = 0;  ///< its step
};

/// What puts a saved state back: a folder of checkpoints, a region of flash memory.
template <class Restorer>
concept restorer = requires(Restorer& from, training_state const& state) {
  { from.restore(state) } -> std::same_as<restored>;
};

TAUTLINE_END
