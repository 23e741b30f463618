// SPDX-License-Identifier: BSL-1.0
#pragma once

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

/// A `tensorflow_graph` that has been finalized: the session over it, a backend.
template <fixed_string StepTarget, fixed_string... Names, class... Types>
class tensorflow_session<StepTarget, tensorflow::declared<Names, Types>...>
    : public detail::step_target_of<StepTarget>, public detail::finalized_graph<struct the_tensorflow_session> {
  using declared_types = detail::type_list<tensorflow::declared<Names, Types>...>;
  template <fixed_string Name, class Type>
  using read_as =
      std::conditional_t<std::is_void_v<Type>,
                         std::remove_pointer_t<decltype(tensorflow::detail::declared_type<Name>(declared_types{}))>,
                         Type>;

 public:
  using fetchable = names<Names...>;
  /// What a sink that knows TensorFlow gets of a session.
  using erased = tensorflow::engine;
  template <fixed_string>
  using fed_type = tensorflow::detail::a_number_text_or_tensor_value;

  explicit tensorflow_session(std::unique_ptr<tensorflow::detail::graph_parts> parts) : engine_(std::move(parts)) {}

  /// Whether `fetch<Name, Type>` may name a value that is not declared.
  template <class Type>
  static consteval bool gives_type() {
    return tensorflow::detail::fetched_type<Type>;
  }
  template <fixed_string, class Value>
  static consteval bool takes_feed() {
    return tensorflow::detail::feedable<Value>;
  }

  // --- life ---

  /// Looks for all names that such requests have, once for each type of request.
  template <class Request>
  status resolve() {
    std::size_t const number = tensorflow::detail::request_number<Request>();
    if (number < resolved_.size() && resolved_[number]) return {};
    status found = engine_.built();  // names that are missing are a consequence
    (void)(find_declared<Names, Types>(found) && ...);
    if constexpr (StepTarget.size() > 0) {
      find_targets(found, detail::type_list<target_t<StepTarget>>{});
      if (found.ok()) engine_.set_step_target(engine_.names()[tensorflow::detail::slot_of<StepTarget>()].target);
    }
    find_fetches<Request>(found, typename Request::fetches{});
    find_feeds(found, typename Request::feeds{});
    find_targets(found, typename Request::targets{});
    if (!found.ok()) return found;
    if (number >= resolved_.size()) resolved_.resize(number + 1);
    resolved_[number] = true;
    return {};
  }
  status open() { return engine_.open(); }
  status finish_open(bool restored) {
    if (status const done = engine_.finish_open(restored); !done.ok()) return done;
    return engine_.read_global_step(first_step_);
  }
  void close() { engine_.close(); }
  [[nodiscard]] step_number initial_step() const { return first_step_; }
  /// The graph's global step, read now: other workers advance it, too.
  /// **Errors** the session's next run fails with them.
  [[nodiscard]] step_number global_step() {
    step_number now = 0;
    if (status const read = engine_.read_global_step(now); !read.ok()) engine_.fail_next_run(read);
    return now;
  }

  // --- runs ---

  template <class Request>
  status run(Request const& request) {
    if (status const found = resolve<Request>(); !found.ok()) [[unlikely]] return found;
    engine_.begin_run(detail::makes_step<tensorflow_session>(request));
    request.each_feed([&]<fixed_string Name>() {
      std::size_t const slot = tensorflow::detail::slot_of<Name>();
      engine_.add_feed(slot, tensorflow::detail::to_tensor(*request.template fed<Name>(), engine_.names()[slot].type));
    });
    request.each_fetch([&]<fixed_string Name>() { engine_.add_fetch(tensorflow::detail::slot_of<Name>()); });
    request.each_target([&]<fixed_string Name>() { engine_.add_target(tensorflow::detail::slot_of<Name>()); });
    tensorflow::run_options options;
    request.each_options([&]<class Options>(Options const& given) {
      if constexpr (std::is_same_v<Options, tensorflow::run_options>) options |= given;
    });
    return options.any() ? engine_.execute(options) : engine_.execute();
  }
  /// What TensorFlow recorded of the last run, where somebody wanted it: `run_options(full_trace)`.
  [[nodiscard]] tensorflow::run_metadata metadata() const { return engine_.metadata(); }
  static constexpr tensorflow::run_options full_trace{.trace = tensorflow::trace_level::full};
  /// What the last run gave for a name; zero, or an empty tensor, if it was not fetched. Tensors are views, good until
  /// the next run.
  template <fixed_string Name, class Type = void>
  [[nodiscard]] auto const& value() {
    return engine_.names().template read<read_as<Name, Type>>(tensorflow::detail::slot_of<Name>());
  }
  /// The same of a name that the last run did not fetch: read now, and with every run from then on.
  template <fixed_string Name, class Type = void>
  [[nodiscard]] auto const& stored() {
    status found;
    find_declared<Name, read_as<Name, Type>>(found);
    if (found.ok()) {
      engine_.read_stored(tensorflow::detail::slot_of<Name>());
    } else {
      engine_.fail_next_run(found);
    }
    return value<Name, Type>();
  }

  /// The values of the last run, kept for as long as this lives whatever is run meanwhile.
  class values_aside {
   public:
    explicit values_aside(tensorflow::detail::slot_table& of) : of_(of), kept_(of.take_values()) {}
    values_aside(values_aside const&) = delete;
    values_aside& operator=(values_aside const&) = delete;
    ~values_aside() { of_.give_values_back(std::move(kept_)); }

   private:
    tensorflow::detail::slot_table& of_;
    std::vector<tensorflow::tensor_handle> kept_;
  };
  [[nodiscard]] values_aside set_values_aside() { return values_aside(engine_.names()); }

  // --- state ---

  status read_state() { return engine_.read_state(); }
  status prepare_restore() { return engine_.prepare_restore(); }
  status write_state() { return engine_.write_state(); }
  /// Calls `visit(state_item const&)` for each variable that is not of one process alone.
  /// **Errors** where exceptions are on, those of reading; else the session's next run fails with them.
  template <class Visit>
  void each_state(Visit const& visit) {
    if (status const read = engine_.read_state(); !read.ok()) {
      engine_.fail_next_run(read);
#if TAUTLINE_EXCEPTIONS
      error happened;
      happened.kind = read.kind;
      happened.message = text::of_lasting(read.message);
      detail::raise(happened);
#endif
    } else {
      engine_.each_variable(visit);
    }
  }
  template <class Visit>
  void each_node(Visit const& visit) {
    engine_.each_node(visit);
  }
  [[nodiscard]] tensorflow::engine& erase() { return engine_; }

 private:
  template <fixed_string Name, class Type>
  bool find_declared(status& found) {
    if (!found.ok()) return false;
    if constexpr (!std::is_void_v<Type>) {
      found = engine_.names().find_fetch(tensorflow::detail::slot_of<Name>(), name_of<Name>,
                                         tensorflow::detail::fetched_data_type<Type>,
                                         tensorflow::detail::fetched_rank<Type>);
    }
    return found.ok();
  }
  template <class Request, fixed_string... Fetched, class... As>
  void find_fetches(status& found, detail::type_list<fetch_t<Fetched, As>...>) {
    // what hooks publish is not asked of the graph
    (void)(true && ... && (Request::find(detail::item_kind::fetch, name_of<Fetched>) == detail::presence::never ||
                           find_declared<Fetched, read_as<Fetched, As>>(found)));
  }
  template <fixed_string... Fed, class... Values>
  void find_feeds(status& found, detail::type_list<feed_t<Fed, Values>...>) {
    (void)(found.ok() && ... &&
           (found = engine_.names().find_feed(
                tensorflow::detail::slot_of<Fed>(), name_of<Fed>, tensorflow::detail::fed_data_type<Values>(),
                tensorflow::detail::fed_rank<Values>(), &tensorflow::detail::may_be_fed<Values>),
            found.ok()));
  }
  template <fixed_string... Targets>
  void find_targets(status& found, detail::type_list<target_t<Targets>...>) {
    (void)(found.ok() && ... &&
           (found = engine_.names().find_target(tensorflow::detail::slot_of<Targets>(), name_of<Targets>), found.ok()));
  }

  tensorflow::engine engine_;
  std::vector<bool> resolved_;
  step_number first_step_ = 0;
};

TAUTLINE_END
