// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <tautline/hooks/logging.hpp>
#include <tautline/hooks/model_dependent.hpp>

TAUTLINE_BEGIN

/// A `loss_logger` with its trigger as a template parameter: what `loss_logger<Model>::with(trigger)` makes.
template <trigger Trigger, class Model = model<>>
class basic_loss_logger : public model_dependent<Model> {
 public:
  static constexpr bool stateless = true;

  using asks = fetches<Model::loss_name>;

  explicit basic_loss_logger(Trigger given, logging how = {}) : trigger(std::move(given)), writer_(std::move(how)) {}

  template <class Graph>
  void begin(Graph&, life& at) {
    taken_ = false;
    writer_.begin(at);
  }
  template <class Session>
  void after_create_session(Session& session, life& at) const {
    detail::check_clock(trigger, session, at);
  }
  template <class Context>
  auto before_run(Context& ctx) const noexcept {
    return detail::ask_to_show(ctx.due(), trigger, Model::fetch_loss());
  }
  template <class Context, class Values>
  void after_run(Context& ctx, Values& values) {
    loss_ = static_cast<double>(values[Model::fetch_loss()]);
    taken_ = true;
    if (ctx.due()) show(ctx.step());
  }
  template <class Session>
  void end(Session&, life& at) {
    // the values are those of the last run that this hook saw, the label is the last completed step
    if (at.due() && taken_) show(at.step());
  }

  Trigger trigger;

 private:
  void show(step_number step) {
    writer_.scalar("Loss", loss_, step);
    writer_.say(step, fmt::format("Loss: {:.4f}", loss_));
  }

  detail::log_writer writer_;
  double loss_ = 0;
  bool taken_ = false;
};

/// Logs the loss of a model: a line for people, and the tag "Loss" to a summary writer.
///
///     auto session = monitored(graph, loss_logger{every_steps{100}});                 // the value "loss"
///     auto session = monitored(graph, loss_logger<model<loss<"cross_entropy">>>{every_steps{100}});
///
///     (    0.123 s) Step:    200, Loss: 0.2500
///
/// @tparam Model says which value is the loss: a scalar
/// @param given any trigger; every step by default
/// @param how sink, summary writer, clock and format: see `logging`
/// **Order, Errors, Cost** as those of `tensor_logger`.
/// **Source** the loss logger of TensorFlow for Scala, whose `log = false` still logs.
template <class Model = model<>>
class loss_logger : public basic_loss_logger<any_trigger, Model> {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  explicit(false) loss_logger(any_trigger given = every_steps{}, logging how = {})
      : basic_loss_logger<any_trigger, Model>(given, std::move(how)) {}

  template <trigger Trigger>
  [[nodiscard]] static auto with(Trigger given, logging how = {}) {
    return basic_loss_logger<Trigger, Model>(std::move(given), std::move(how));
  }
};

TAUTLINE_END
