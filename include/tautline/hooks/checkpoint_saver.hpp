// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>

#include <tautline/core/hook.hpp>
#include <tautline/core/run_result.hpp>
#include <tautline/core/training_state.hpp>
#include <tautline/io/checkpoint/finite.hpp>
#include <tautline/io/checkpoint_sink.hpp>

TAUTLINE_BEGIN

/// Part of a `checkpoint_saver`: it saves when a session is made, too, if nothing has been saved yet.
struct save_at_start_t {};
inline constexpr save_at_start_t also_at_start{};

/// Part of a `checkpoint_saver`: values that go into the manifest, by which the best checkpoints are kept. Of the graph, or
/// what another hook publishes; they are those of the last run in which all of them had a value, NaN before the first.
/// `with_metrics<"validation/accuracy">`
template <fixed_string... Names>
struct with_metrics_t {};
template <fixed_string... Names>
inline constexpr with_metrics_t<Names...> with_metrics{};

namespace detail {

template <class Part>
inline constexpr bool is_saver_option = std::is_same_v<Part, save_at_start_t>;
template <fixed_string... Names>
inline constexpr bool is_saver_option<with_metrics_t<Names...>> = true;

template <class Part>
struct metrics_in {
  using type = type_list<>;
};
template <fixed_string... Names>
struct metrics_in<with_metrics_t<Names...>> {
  using type = type_list<fetch_t<Names>...>;
};

/// Whether every variable is finite: what is not is never saved.
inline bool variables_are_finite(training_state const& state) {
  bool finite = true;
  state.each([&](state_item const& item) {
    if (item.group != state_group::variable || !finite) return;
    finite = find_not_finite(item.view) == item.view.element_count();
  });
  return finite;
}

template <class Metrics>
struct metric_memory;
template <fixed_string... Names>
struct metric_memory<type_list<fetch_t<Names>...>> {
  double seen[sizeof...(Names)];
};
template <>
struct metric_memory<type_list<>> {};

}  // namespace detail

/// Saves checkpoints: variables, where the input stands, the state of all hooks.
///
///     background_checkpoints saved{"run/checkpoints", keep_latest{3}};
///     auto session = monitored(graph, options{restore_from{saved}},
///                              checkpoint_saver{saved, every_steps{1000} | at_end}, …);
///
/// Further parts stand behind the trigger: `also_at_start`, `with_metrics<"validation/accuracy">`, and listeners: objects
/// with one of `bool before_save(life&, step)` (false: not this time; void will do, too) and `void after_save(life&,
/// step, path)`, which may ask for a stop. All of them are told, in their order; `std::ref` for one that lives elsewhere. A
/// sink in the background has saved later: then `after_save` comes, with the step that was saved, at the next look or in
/// `close`.
///
/// @param sink a `checkpoint_sink`; must outlive the session
/// **Order** it decides in its place, after the run, or in `end`; what is saved is the state after the last `after_run` of
/// that step, or after the last `end`. Validity checks come before it. Where a variable is NaN or infinite then it does not
/// save: what has been saved before stays the latest. Nor does it where the values cannot be had since the session is broken
/// (`aborted`, `unavailable`): the next run fails, and is recovered. In `end`, where no run follows, that is an error.
/// **Errors** those of the sink: at once, or, from a sink that works in the background, at the next look and in `close`,
/// which waits for what is still being written, also after an error of the training.
/// **Cost** in a step that is not due, a comparison, and the metrics in every run. When due, a look at all variables, and the
/// sink's `save`.
/// **Source** CheckpointSaver of TensorFlow for Scala, and tf.train.CheckpointSaverHook, which saves whenever a session was
/// made, and what is not a number, too.
template <checkpoint_sink Sink, trigger Trigger, class... Parts>
class checkpoint_saver {
  using metrics = detail::join_t<typename detail::metrics_in<Parts>::type...>;
  static constexpr bool has_metrics = !std::is_same_v<metrics, detail::type_list<>>;
  static constexpr bool saves_at_start = (false || ... || std::is_same_v<Parts, save_at_start_t>);
  static constexpr bool refuses_not_finite = requires { requires bool(Sink::refuses_not_finite); };
  static constexpr bool runs_session = requires { requires bool(Sink::runs_session); };
  static constexpr bool in_background = requires(Sink& sink, finished_save& done) { sink.next_finished(done); };

 public:
  using category = saver;
  static constexpr auto state_name = fixed_string{"checkpoint_saver"};  // whatever its trigger and its parts are
  static constexpr bool stateless = !has_metrics;
  static constexpr bool real_time = requires { requires bool(Sink::real_time); } && !has_metrics;

  constexpr explicit checkpoint_saver(Sink& sink, Trigger given = {}, Parts... parts)
      : trigger(static_cast<Trigger&&>(given)), sink_(&sink), parts_(parts...) {}

  template <class Graph>
  constexpr void begin(Graph&) noexcept {
    wants_ = false;
    is_last_ = false;
    saved_ = skipped_ = 0;
    if constexpr (has_metrics) {
      for (double& value : seen_.seen) value = __builtin_nan("");
    }
  }

  template <class Session>
  void after_create_session(Session& session, life& at) {
    training_state const state = session.state();
    if constexpr (requires { { sink_->prepare(state) } -> std::same_as<status>; }) {
      if (status const opened = sink_->prepare(state); !opened.ok()) {
        return at.fail(opened.kind, text::of_lasting(opened.message));
      }
    }
    if constexpr (saves_at_start) {
      bool wanted = first_;
      if constexpr (requires { sink_->is_empty(); }) wanted = sink_->is_empty();
      first_ = false;
      decide(wanted, state, at);
      if (wants_) save(state, at);
    }
  }

  template <class Context>
  constexpr auto before_run(Context&) const noexcept {
    if constexpr (has_metrics) return asked(metrics{});
  }
  template <class Context>
  void after_run(Context& ctx) noexcept(real_time) {
    look(ctx);
  }
  template <class Context, class Values>
    requires has_metrics
  void after_run(Context& ctx, Values& values) noexcept(real_time) {
    take(values, metrics{});
    look(ctx);
  }

  template <class Session>
  void end(Session& session, life& at) {
    is_last_ = true;
    decide(at.due(), session.state(), at);
    if constexpr (requires { sink_->finish(); }) {
      if (wants_) (void)sink_->finish();  // the last one is not left out for want of room
    }
  }
  void close(life& at) {
    if constexpr (requires { sink_->finish(); }) {
      status const done = sink_->finish();
      tell_finished(at);
      if (!done.ok()) at.fail(done.kind, text::of_lasting(done.message));
    }
  }

  // --- the save point ---

  [[nodiscard]] bool wants_save() const noexcept { return wants_; }
  void save(training_state const& state, life& at) {
    wants_ = false;
    // a hook that came after the decision may have changed a variable, or run the session
    if constexpr (!refuses_not_finite) {
      decide(true, state, at);
      bool const still = wants_;
      wants_ = false;
      if (!still) return;
    }
    if (!tell_before(at, state.step())) return;
    if constexpr (has_metrics && requires { sink_->set_metric("", 0.0); }) give_metrics(metrics{});
    status const done = sink_->save(state);
    if constexpr (runs_session) {
      if (!done.ok() && is_broken(done)) return take_broken(done, at);
    }
    if constexpr (in_background) {
      if (!done.ok()) at.fail(done.kind, text::of_lasting(done.message));
      tell_finished(at);
    } else {
      take_result(at, {done, state.step(), path_of_last()});
    }
  }

  auto state() noexcept
    requires has_metrics
  {
    return fields{field<"metrics">(seen_.seen)};
  }

  /// Savings since `begin` that the sink is known to have made, and those that were left out since a value was not finite, or
  /// the session broken.
  [[nodiscard]] std::int64_t saved() const noexcept { return saved_; }
  [[nodiscard]] std::int64_t skipped() const noexcept { return skipped_; }

  Trigger trigger;

 private:
  template <class Context>
  void look(Context& ctx) {
    if (!ctx.due()) [[likely]] return;
    tell_finished(ctx);
    // a context whose address goes out of the loop lives in memory: not where nothing has to be read
    if constexpr (requires(typename Context::backend_type& backend) { backend.read_state(); }) {
      decide(true, ctx.session().state(), ctx);
    } else {
      judge(ctx.session().state());
    }
  }
  /// In its place, as everything that it does: what is not finite is not saved, nor is what cannot be read.
  void decide(bool wanted, training_state const& state, life& at) {
    wants_ = false;
    if (!wanted) return;
    if (status const read = state.read(); !read.ok()) {
      if (is_broken(read)) return take_broken(read, at);
      return at.fail(read.kind, text::of_lasting(read.message));
    }
    judge(state);
  }
  void judge(training_state const& state) {
    wants_ = detail::variables_are_finite(state);
    if (!wants_) ++skipped_;
  }
  static bool is_broken(status const& found) {
    return found.kind == error_kind::aborted || found.kind == error_kind::unavailable;
  }
  /// The next run says so itself; if there is none, somebody has to.
  void take_broken(status const& found, life& at) {
    ++skipped_;
    if (is_last_) at.fail(found.kind, text::of_lasting(found.message));
  }

  void tell_finished([[maybe_unused]] life& at) {
    if constexpr (in_background) {
      for (finished_save done; sink_->next_finished(done);) take_result(at, done);
    }
  }
  void take_result(life& at, finished_save const& done) {
    if (done.result.kind == error_kind::nan) {
      ++skipped_;
    } else if (!done.result.ok()) {
      at.fail(done.result.kind, text::of_lasting(done.result.message));
    } else {
      ++saved_;
      tell_after(at, done);
    }
  }
  bool tell_before(life& at, step_number step) {
    bool go_on = true;
    parts_.each([&](auto& part) {
      if constexpr (requires { { part.before_save(at, step) } -> std::same_as<bool>; }) {
        go_on = part.before_save(at, step) && go_on;
      } else if constexpr (requires { part.before_save(at, step); }) {
        part.before_save(at, step);
      }
    });
    return go_on;
  }
  void tell_after(life& at, finished_save const& done) {
    parts_.each([&](auto& part) {
      if constexpr (requires { part.after_save(at, done.step, done.path); }) part.after_save(at, done.step, done.path);
    });
  }
  [[nodiscard]] char const* path_of_last() const {
    if constexpr (requires { { sink_->last_path() } -> std::same_as<char const*>; }) {
      return sink_->last_path();
    } else {
      return "";
    }
  }

  template <fixed_string... Names>
  static constexpr auto asked(detail::type_list<fetch_t<Names>...>) noexcept {
    return run_args(fetch<Names>...);
  }
  template <class Values, fixed_string... Names>
  void take(Values& values, detail::type_list<fetch_t<Names>...>) {
    std::size_t place = 0;
    ((seen_.seen[place++] = static_cast<double>(values[fetch<Names>])), ...);
  }
  template <fixed_string... Names>
  void give_metrics(detail::type_list<fetch_t<Names>...>) {
    std::size_t place = 0;
    (sink_->set_metric(name_of<Names>, seen_.seen[place++]), ...);
  }

  /// Listeners may change: not a run_args.
  template <std::size_t Index, class Part>
  struct part_leaf {
    [[no_unique_address]] Part part;
  };
  template <class Indices>
  struct part_list;
  template <std::size_t... Index>
  struct part_list<std::index_sequence<Index...>> : part_leaf<Index, Parts>... {
    constexpr explicit part_list(Parts... parts) : part_leaf<Index, Parts>{static_cast<Parts&&>(parts)}... {}
    template <class Visit>
    constexpr void each([[maybe_unused]] Visit visit) {
      (visit(listener(static_cast<part_leaf<Index, Parts>&>(*this).part)), ...);
    }
  };
  template <class Part>
  static constexpr auto& listener(Part& part) {
    if constexpr (detail::reference_like<Part>) {
      return part.get();
    } else {
      return part;
    }
  }

  Sink* sink_;
  [[no_unique_address]] part_list<std::index_sequence_for<Parts...>> parts_;
  [[no_unique_address]] detail::metric_memory<metrics> seen_;
  std::int64_t saved_ = 0;
  std::int64_t skipped_ = 0;
  bool wants_ = false;
  bool is_last_ = false;
  bool first_ = true;
};
template <class Sink>
checkpoint_saver(Sink&) -> checkpoint_saver<Sink, every_steps>;

TAUTLINE_END
