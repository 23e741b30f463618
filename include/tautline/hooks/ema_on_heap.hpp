// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tautline/core/hook.hpp>
#include <tautline/core/run_context.hpp>
#include <tautline/hooks/detail/averaging.hpp>
#include <tautline/hooks/detail/each_run.hpp>

TAUTLINE_BEGIN

/// `ema` for sessions whose variables are known at run time only: any backend that lists them for a checkpoint.
///
///     auto session = monitored(graph, ema_on_heap{{.decay = 0.99}});
///     auto session = monitored(graph, ema_on_heap{{.decay = 0.99}, {"dense/kernel", "dense/bias"}});
///
/// @param names of variables; empty: all that hold `float` or `double`
/// **Order**, **State** as those of `ema`; the averages are saved as two long tensors, of all `float` and all `double` ones.
/// **Errors** `invalid_argument` for a decay outside of [0, 1), a name that no such variable has, no variable at all,
/// or where the variables have other sizes than the averages that were restored; what the heap throws when a session is
/// made.
/// **Cost** as `ema`, and a comparison of names a variable; it allocates when the first session is made.
template <trigger Trigger = detail::each_run>
class ema_on_heap {
 public:
  using tags = hooks<ema_tag>;
  static constexpr bool averages_variables = true;
  static constexpr bool real_time = true;

  explicit ema_on_heap(ema_options how = {}, std::vector<std::string> names = {}, Trigger given = {})
      : trigger(std::move(given)), how_(how), names_(std::move(names)) {}

  template <class Graph>
  void begin(Graph&, life& at) {
    progress_ = {};
    skipped_ = 0;
    singles_.clear();
    doubles_.clear();
    detail::check_ema(how_, at);
  }
  template <class Session>
  void after_create_session(Session& session, life& at) {
    std::size_t singles = 0, doubles = 0, found = 0;
    each(session.state(), [&](auto* variable, std::size_t count) {
      (of_float(variable) ? singles : doubles) += count;
      ++found;
    });
    if (found == 0 || found < names_.size()) {
      at.fail(error_kind::invalid_argument, "ema_on_heap: no variable of float or double, or none of a name that was given");
    } else if (!progress_.started) {
      singles_.resize(singles);
      doubles_.resize(doubles);
      progress_.started = true;
      blend_all(session.state(), 1);
    } else if (singles_.size() != singles || doubles_.size() != doubles) {
      at.fail(error_kind::invalid_argument, "ema_on_heap: the variables have other sizes than the averages");
    }
  }
  template <class Context>
  void after_run(Context& ctx) noexcept {
    if (!ctx.due() || ctx.vetoed()) return;
    bool finite = true;
    training_state const variables = ctx.session().state();
    each(variables, [&](auto* variable, std::size_t count) { finite = finite && detail::all_finite(variable, count); });
    if (finite) {
      blend_all(variables, progress_.next_share(how_));
    } else {
      ++skipped_;
    }
  }
  auto state() noexcept {
    return fields{field<"averages_f32">(singles_), field<"averages_f64">(doubles_), field<"progress">(progress_), field<"skipped">(skipped_)};
  }

  /// The averages of all `float`, and of all `double` variables, in the order of the graph.
  [[nodiscard]] std::vector<float> const& singles() const noexcept { return singles_; }
  [[nodiscard]] std::vector<double> const& doubles() const noexcept { return doubles_; }
  [[nodiscard]] std::int64_t updates() const noexcept { return progress_.updates; }
  /// Updates that were not made, since a variable was not finite.
  [[nodiscard]] std::int64_t skipped() const noexcept { return skipped_; }

  /// Exchanges averages and variables, bit for bit.
  template <class Session>
  void swap(Session const& session) noexcept {
    walk(session.state(), [](auto* average, auto* variable, std::size_t count) { detail::swap_elements(average, variable, count); });
  }

  [[no_unique_address]] Trigger trigger;

 private:
  static constexpr bool of_float(float const*) { return true; }
  static constexpr bool of_float(double const*) { return false; }

  [[nodiscard]] bool is_wanted(char const* name) const noexcept {
    if (names_.empty()) return true;
    for (std::string const& wanted : names_) {
      if (wanted == name) return true;
    }
    return false;
  }
  /// Calls `use(variable, count)` for each variable that is averaged.
  template <class Use>
  void each(training_state const& variables, Use use) const {
    variables.each([&](state_item const& item) {
      if (item.group != state_group::variable || !is_wanted(item.owner)) return;
      if (item.view.type == element_type::F32) use(static_cast<float*>(item.view.data), item.view.element_count());
      if (item.view.type == element_type::F64) use(static_cast<double*>(item.view.data), item.view.element_count());
    });
  }
  /// Calls `use(average, variable, count)`.
  template <class Use>
  void walk(training_state const& variables, Use use) {
    float* single = singles_.data();
    double* twice = doubles_.data();
    each(variables, [&]<class Number>(Number* variable, std::size_t count) {
      if constexpr (std::is_same_v<Number, float>) {
        use(single, variable, count);
        single += count;
      } else {
        use(twice, variable, count);
        twice += count;
      }
    });
  }
  void blend_all(training_state const& variables, double share) {
    walk(variables, [share](auto* average, auto* variable, std::size_t count) { detail::blend(average, variable, count, share); });
  }

  ema_options how_;
  std::vector<std::string> names_;
  detail::ema_progress progress_;
  std::int64_t skipped_ = 0;
  std::vector<float> singles_;
  std::vector<double> doubles_;
};

TAUTLINE_END
