// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/sessions/tensorflow.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tautline/core/backend.hpp>
#include <tautline/sessions/detail/graph_node.hpp>
#include <tautline/sessions/detail/node_reasons.hpp>
#include <tautline/sessions/tensorflow/engine.hpp>
#include <tautline/sessions/tensorflow/feed.hpp>

TAUTLINE_BEGIN

namespace tensorflow {

class scope;

/// A value of a TensorFlow graph, with the type by which the program knows it.
template <fixed_string Name, class Type>
struct declared {};

namespace detail {

using tautline::detail::fine;
using tautline::detail::type_list;

/// A number for each of the things that are known by a type, the same in the whole program.
template <class>
struct family {
  static std::size_t next() {
    static std::atomic<std::size_t> count{0};
    return count++;
  }
};
struct slots_family;
struct requests_family;

template <fixed_string Name>
std::size_t slot_of() {
  static std::size_t const slot = family<slots_family>::next();
  return slot;
}
template <class Request>
std::size_t request_number() {
  static std::size_t const number = family<requests_family>::next();
  return number;
}

/// The declared type of a name; void if it is not declared.
template <fixed_string Name>
constexpr void declared_type(type_list<>) {}
template <fixed_string Name, fixed_string First, class Type, class... Rest>
constexpr auto declared_type(type_list<declared<First, Type>, Rest...>) {
  if constexpr (First == Name) {
    return static_cast<Type*>(nullptr);
  } else {
    return declared_type<Name>(type_list<Rest...>{});
  }
}

/// For messages: what a feed may be.
struct a_number_text_or_tensor_value;

}  // namespace detail
}  // namespace tensorflow

template <fixed_string StepTarget, class... Declared>
class tensorflow_session;

/// A TensorFlow graph, made elsewhere or in C++, on the way to a session.
///
///     auto session = monitored(tensorflow_graph<>::from_meta_graph("model.meta")
///                                  .value<"loss", float>()
///                                  .value<"global_step", std::int64_t>()
///                                  .alias<"train">("Adam")
///                                  .step_target<"train">(),
///                              stop_at_step{1000}, nan_checker<"loss">{}, tensor_logger<"loss">{every_steps{100}});
///     session.run_to_completion(target<"train">);
///
/// Values that hooks ask for by name alone have to be declared with their types. A `fetch<"x", T>` that brings its
/// type, a feed and a target need no declaration. All names are looked for when the session is created.
///
/// **Errors** of importing and building are kept: `status()` has the first one, what follows does no harm, and a
/// session over the graph fails with it. A hook's `begin(graph)` may add to the graph by `handle()`.
/// **Cost** of a step: the gathering of what was asked for in memory that is kept, one copy of what is fed, none of
/// what is fetched, one `TF_SessionRun`.
/// @tparam StepTarget see `step_target`
template <fixed_string StepTarget = "", class... Declared>
class tensorflow_graph {
 public:
  tensorflow_graph() : parts_(std::make_unique<tensorflow::detail::graph_parts>()) {}

  /// A serialized GraphDef: what `graph.as_graph_def().SerializeToString()` gives in Python.
  [[nodiscard]] static tensorflow_graph from_graph_def(std::string const& path) {
    tensorflow_graph made;
    std::string bytes;
    if (auto failed = tensorflow::detail::read_file(path, bytes); failed.ok()) {
      made.parts_->import(bytes, path);
    } else {
      made.parts_->fail(failed.kind, std::move(failed.message));
    }
    return made;
  }
  /// The same, of what is in memory already.
  [[nodiscard]] static tensorflow_graph from_graph_def_bytes(std::string_view bytes) {
    tensorflow_graph made;
    made.parts_->import(bytes, "the GraphDef");
    return made;
  }

  /// A MetaGraphDef, `model.meta`: a graph with its saver and its collections, which tell the scaffold.
  [[nodiscard]] static tensorflow_graph from_meta_graph(std::string const& path) {
    tensorflow_graph made;
    made.parts_->import(tensorflow::meta_graph::from_file(path), path);
    return made;
  }
  /// The same, of what is in memory already.
  [[nodiscard]] static tensorflow_graph from_meta_graph_bytes(std::string bytes) {
    tensorflow_graph made;
    made.parts_->import(tensorflow::meta_graph::from_bytes(std::move(bytes)), "the MetaGraphDef");
    return made;
  }
  /// A SavedModel: a folder with a graph, its variables and its assets. Variables begin as they were saved.
  /// @param tags of the graph that is meant, all of them: {"train"}
  [[nodiscard]] static tensorflow_graph from_saved_model(std::string const& folder, std::vector<std::string> tags) {
    tensorflow_graph made;
    made.parts_->import(tensorflow::meta_graph::from_saved_model(folder, std::move(tags)), folder);
    return made;
  }

  /// Says as what a value is read: by `fetch<Name>` of hooks and callers that do not say it themselves.
  /// @tparam Type a number, `bool`, `half`, `bfloat16` or `std::string_view` for a scalar, `tensor<Element, Rank>`
  /// for more. A scalar may be read as a wider number than it is.
  /// @param in_graph its name there: "dense/BiasAdd:0"; `Name` by default. That of a variable stands for its value
  template <fixed_string Name, tensorflow::detail::fetched_type Type>
  [[nodiscard]] auto value(std::string_view in_graph = {}) && {
    add_alias<Name>(in_graph);
    using before =
        std::remove_pointer_t<decltype(tensorflow::detail::declared_type<Name>(detail::type_list<Declared...>{}))>;
    if constexpr (std::is_void_v<before>) {
      return tensorflow_graph<StepTarget, Declared..., tensorflow::declared<Name, Type>>(std::move(parts_));
    } else if constexpr (std::is_same_v<before, Type>) {
      return tensorflow_graph(std::move(parts_));
    } else {
      detail::node_name_is_taken<Name, before, Type>::say();
      return detail::rejected{};
    }
  }
  /// What a name of the program is called in the graph, for values, feeds and targets.
  template <fixed_string Name>
  [[nodiscard]] tensorflow_graph alias(std::string_view in_graph) && {
    add_alias<Name>(in_graph);
    return tensorflow_graph(std::move(parts_));
  }
  /// Only runs with this target are steps; without it every run is one.
  template <fixed_string Name>
  [[nodiscard]] auto step_target() && {
    return tensorflow_graph<Name, Declared...>(std::move(parts_));
  }
  /// Where and how the session is made.
  [[nodiscard]] tensorflow_graph settings(tensorflow::session_settings given) && {
    auto const before = std::move(parts_->settings.scaffold);
    parts_->settings = std::move(given);
    parts_->settings.scaffold.fill_from(before);
    return tensorflow_graph(std::move(parts_));
  }

  [[nodiscard]] tensorflow::session_settings const& settings() const { return parts_->settings; }

  /// Adds to the graph in C++; needs `<tautline/sessions/tensorflow/ops.hpp>`. All scopes of a graph build the same
  /// one. When it is finished it has an init op, one for what is local, and a saver.
  template <class Scope = tensorflow::scope>
  [[nodiscard]] Scope ops() {
    using building = typename Scope::building;
    if (parts_->builder == nullptr) {
      parts_->builder = std::make_shared<building>(*parts_);
      parts_->finish_building = [](tensorflow::detail::graph_parts& parts) {
        Scope(*static_cast<building*>(parts.builder.get())).finish(parts);
      };
    }
    return Scope(*static_cast<building*>(parts_->builder.get()));
  }
  /// TensorFlow's own graph, to add to it, or to look at it.
  [[nodiscard]] TF_Graph* handle() const { return parts_->graph.get(); }
  /// The first error of importing or building.
  [[nodiscard]] tautline::status status() const { return parts_->first; }
  /// Says that building failed, unless it failed before.
  void fail(error_kind kind, std::string message) { parts_->fail(kind, std::move(message)); }

  /// What monitored() does after the last `begin`: nothing can be added from then on.
  [[nodiscard]] auto finalize() && { return tensorflow_session<StepTarget, Declared...>(std::move(parts_)); }

 private:
  template <fixed_string, class...>
  friend class tensorflow_graph;
  explicit tensorflow_graph(std::unique_ptr<tensorflow::detail::graph_parts> parts) : parts_(std::move(parts)) {}

  template <fixed_string Name>
  void add_alias(std::string_view in_graph) {
    if (!in_graph.empty()) parts_->aliases.insert(parts_->aliases.begin(), {name_of<Name>, std::string(in_graph)});
  }

  std::unique_ptr<tensorflow::detail::graph_parts> parts_;
};
tensorflow_graph() -> tensorflow_graph<"">;

TAUTLINE_END
