// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <tautline/core/backend.hpp>
#include <tautline/sessions/detail/graph_node.hpp>
#include <tautline/sessions/tensorflow/feed.hpp>
#include <tautline/sessions/tensorflow/graph.hpp>

TAUTLINE_BEGIN

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
      auto const& value = *request.template fed<Name>();
      TF_DataType const wanted = engine_.names()[slot].type;
      if (!tensorflow::detail::number_fits(value, wanted)) [[unlikely]] engine_.refuse_feed(slot);
      engine_.add_feed(slot, tensorflow::detail::to_tensor(value, wanted));
    });
    request.each_fetch([&]<fixed_string Name>() { engine_.add_fetch(tensorflow::detail::slot_of<Name>()); });
    request.each_target([&]<fixed_string Name>() { engine_.add_target(tensorflow::detail::slot_of<Name>()); });
    tensorflow::run_options options;
    request.each_options([&]<class Options>(Options const& given) {
      if constexpr (std::is_same_v<Options, tensorflow::run_options>) options |= given;
    });
    status const done = options.any() ? engine_.execute(options) : engine_.execute();
    if (!done.ok() || engine_.names().knows_all_ranks()) [[likely]] return done;
    return check_ranks(request, typename Request::fetches{});
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
      found = engine_.names().check_rank(tensorflow::detail::slot_of<Name>(),
                                         tensorflow::detail::fetched_rank<read_as<Name, Type>>);
      if (!found.ok()) engine_.fail_next_run(found);
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
  /// Of values whose rank the graph leaves open.
  template <class Request, fixed_string... Fetched, class... As>
  status check_ranks(Request const& request, detail::type_list<fetch_t<Fetched, As>...>) {
    status found;
    (void)(true && ... && (!request.template wants<detail::item_kind::fetch, Fetched>() ||
                           (found = engine_.names().check_rank(tensorflow::detail::slot_of<Fetched>(),
                                                               tensorflow::detail::fetched_rank<read_as<Fetched, As>>),
                            found.ok())));
    return found;
  }
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
