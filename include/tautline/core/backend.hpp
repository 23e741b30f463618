// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>

#include <tautline/core/error.hpp>
#include <tautline/core/run_request.hpp>

TAUTLINE_BEGIN

/// A backend is a graph that has been finalized: it makes raw sessions and runs requests, one after the other.
///
/// Required: `status run(run_request const&)`; end of input is `status::end_of_input()`, or an exception of that kind.
/// After a successful run `value<Name>()` (`value<Name, Type>()` where the graph is an object) gives what was fetched;
/// it stays until the next run. Optional, each used where it exists:
///
/// | member | meaning |
/// |---|---|
/// | `status open()` or `void open()` | makes the raw session; called again after a recovery |
/// | `void close()` | closes the raw session |
/// | `step_number initial_step()` | the step from which a raw session starts, just made or restored; 0 |
/// | `step_number steps_per_run()` | steps that one run makes; 1 |
/// | `template <class Request> status resolve()` | looks for the names of all requests that hooks may make, before a session is made |
/// | `status prepare_restore()` | before a restorer is asked: there must be memory for what `each_state` shows |
/// | `status write_state()` | after a restorer has put values there |
/// | `status finish_open(bool restored)` | after that, or where nothing is restored; then `initial_step` is asked |
/// | `status read_state()` | brings what `each_state` shows here, from where it is; else by `each_state` itself |
/// | `value stored<Name, Type>()` | a value that no run fetched, as it is now; `value` where there is none |
/// | `auto set_values_aside()` | for as long as the result lives runs leave the values of the last one as they are |
/// | `using erased`, `erased& erase()` | what a checkpoint sink that knows this kind of backend may ask for |
/// | `static consteval bool gives_type<Type>()` | whether `fetch<Name, Type>` may name what `fetchable` does not list |
/// | `static constexpr auto step_target = fixed_string{"train"}` | only runs with this target are steps |
/// | `template <class Request> void finish_run()` | the values of such a run have been taken: what was fed may go |
/// | `static consteval bool takes_feed<Name, Value>()`, `using fed_type<Name>` | whether a value of this type may be fed |
/// | `status stage(request const&)`, `status commit(request const&)` | a run in two parts: everything but its updates, then these, which a gate may veto |
/// | `static consteval bool is_late<Request, Name>()` | whether a value is of the second part |
/// | `void each_state(visit)` | what a checkpoint holds of it: `visit(state_item const&)` for each variable and input |
/// | `void each_node(visit)` | its description: `visit(node_info const&)` for each node |
/// | `using fetchable = names<…>`, `feedable`, `runnable` | what exists; without them every name may |
///
/// The smallest one is `minimal_backend` in `tests/static/archetypes.hpp`.
template <class Backend>
concept backend = requires(Backend& made, run_request<true, names<>, std::index_sequence<>> const& request) {
  { made.run(request) } -> std::same_as<status>;
};

/// A backend that can make a run in two parts, so that a gate may veto the second.
template <class Backend>
concept stages = requires(Backend& made, run_request<true, names<>, std::index_sequence<>> const& request) {
  { made.stage(request) } -> std::same_as<status>;
  { made.commit(request) } -> std::same_as<status>;
  { Backend::template is_late<std::remove_cvref_t<decltype(request)>, "">() } -> std::same_as<bool>;
};

/// A backend whose step others advance too: `global_step()` reads it anew in each call.
template <class Backend>
concept has_global_step = requires(Backend& backend) {
  { backend.global_step() } -> std::convertible_to<step_number>;
};

/// What hooks may extend in `begin`: it becomes a backend by `finalize()`, or is one already.
template <class Graph>
concept graph = backend<Graph> || requires(Graph& made) {
  { static_cast<Graph&&>(made).finalize() } -> backend;
};

namespace detail {

/// A backend of which no `open` and no run fails, but for the end of the input: `using unbreakable = my_backend;`. Sessions
/// over it have no code for recoveries. It names itself, so that what is derived from it does not promise the same.
template <class Backend>
concept unbreakable = requires { requires std::same_as<typename Backend::unbreakable, Backend>; };

template <class Graph>
constexpr auto finalize(Graph& made) {
  if constexpr (requires { static_cast<Graph&&>(made).finalize(); }) {
    return static_cast<Graph&&>(made).finalize();
  } else {
    return static_cast<Graph&&>(made);
  }
}

template <fixed_string Name, class Type, class Backend>
constexpr decltype(auto) backend_value(Backend& made) {
  if constexpr (std::is_void_v<Type>) {
    return made.template value<Name>();
  } else {
    return made.template value<Name, Type>();
  }
}

/// A value that no run may have fetched: what triggers and hooks look at.
template <fixed_string Name, class Type, class Backend>
constexpr decltype(auto) stored_value(Backend& made) {
  if constexpr (requires { made.template stored<Name, Type>(); }) {
    return made.template stored<Name, Type>();
  } else {
    return backend_value<Name, Type>(made);
  }
}

template <class Backend>
constexpr step_number steps_per_run(Backend const& made) {
  if constexpr (requires { made.steps_per_run(); }) {
    return made.steps_per_run();
  } else {
    return 1;
  }
}

/// Tells the backend, on every way out, that nobody looks at the values of a run any more.
template <class Request, class Backend>
class finish_guard {
 public:
  constexpr explicit finish_guard(Backend& made) : made_(made) {}
  finish_guard(finish_guard const&) = delete;
  finish_guard& operator=(finish_guard const&) = delete;
  ~finish_guard() {
    if constexpr (requires { made_.template finish_run<Request>(); }) made_.template finish_run<Request>();
  }

 private:
  Backend& made_;
};

/// Whether a request of this type makes a step.
template <class Backend, class Request>
constexpr bool makes_step(Request const& request) {
  if constexpr (requires { Backend::step_target; }) {
    return request.template wants<item_kind::target, Backend::step_target>();
  } else {
    return true;
  }
}

}  // namespace detail
TAUTLINE_END
