// SPDX-License-Identifier: BSL-1.0
#pragma once

// Callbacks of ensmallen (https://ensmallen.org), whose optimisers have a loop and matrices of their own. So its
// overhead is held against the same optimiser without callbacks, and its results against a loop by hand of the same
// arithmetic.
//
// A body that reads the loss is called by `Evaluate`, all others by `StepTaken`; idle ones are called by both.

#include <armadillo>
#include <ensmallen.hpp>

#include "hand.hpp"

namespace overhead {

/// The line of the tiny step, as a function of ensmallen: the parameters are a matrix of double.
struct line_function {
  random_numbers numbers;
  std::size_t points;
  std::int64_t step = 0;  // points seen: ensmallen counts them, but tells nobody

  explicit line_function(std::int64_t steps) : points(static_cast<std::size_t>(steps)) {}

  std::size_t NumFunctions() const { return points; }
  void Shuffle() {}
  double Evaluate(arma::mat const&, std::size_t, std::size_t) { return 0; }  // of no step; nobody looks
  double EvaluateWithGradient(arma::mat const& line, std::size_t, arma::mat& gradient, std::size_t) {
    double const x = static_cast<double>(numbers.next());
    double const error = line[0] * x + line[1] - (2 * x + 1);
    gradient[0] = error * x;
    gradient[1] = error;
    ++step;
    return error * error;
  }
};

template <class Body>
struct step_taken : standing<Body> {
  using standing<Body>::standing;
  template <class Optimizer, class Function, class Matrix>
  bool StepTaken(Optimizer&, Function& function, Matrix&) {
    if constexpr (Body::needs == wants::step) {
      return this->body.after(function.step);
    } else {
      this->body.after();
      return false;
    }
  }
};
template <class Body>
struct evaluated : standing<Body> {
  using standing<Body>::standing;
  template <class Optimizer, class Function, class Matrix>
  bool Evaluate(Optimizer&, [[maybe_unused]] Function& function, Matrix const&, double objective) {
    if constexpr (Body::needs == wants::loss_when_due) {
      if (!this->trigger.due(function.step)) return false;
      this->trigger.acted(function.step);
    }
    return !this->body.after(static_cast<float>(objective));
  }
};
template <class Body>
struct both : step_taken<Body> {
  using step_taken<Body>::step_taken;
  template <class Optimizer, class Function, class Matrix>
  bool Evaluate(Optimizer&, Function&, Matrix const&, double) {
    this->body.before();
    return false;
  }
};

template <class Body>
inline constexpr bool reads_loss = Body::needs == wants::loss || Body::needs == wants::loss_when_due;
template <class Body>
using ensmallen_callback = std::conditional_t<
    looks_before<Body>, both<Body>, std::conditional_t<reads_loss<Body>, evaluated<Body>, step_taken<Body>>>;
template <std::size_t Index, class Body>
struct ensmallen_callback_at : ensmallen_callback<Body> {
  using ensmallen_callback<Body>::ensmallen_callback;
};

/// A stop test looks for a step that does not come: once a callback has asked for the end, ensmallen calls none behind
/// it.
template <kind Kind, class Indices>
struct ensmallen_callbacks;
template <kind Kind, std::size_t... Index>
struct ensmallen_callbacks<Kind, std::index_sequence<Index...>>
    : ensmallen_callback_at<Index, body_at<Kind, Index>>... {
  explicit ensmallen_callbacks(std::int64_t steps)
      : ensmallen_callback_at<Index, body_at<Kind, Index>>(steps + 1)... {}

  [[gnu::noinline]] void drive(line_function& function, arma::mat& line) {
    ens::StandardSGD optimizer(0.1, 1, function.points, -1, false);
    optimizer.Optimize(function, line, static_cast<ensmallen_callback_at<Index, body_at<Kind, Index>>&>(*this)...);
  }
  void tell([[maybe_unused]] record& into) {
    (ensmallen_callback_at<Index, body_at<Kind, Index>>::body.each([&](auto number) { into.add(number); }), ...);
  }
};

inline void tell_line(record& into, double slope, double offset, std::int64_t step) {
  into.add(slope), into.add(offset), into.add(step);
  into.end_of_model();
}

template <kind Kind, std::size_t Hooks>
void run_ensmallen(probe& seen, record& into, std::int64_t steps) {
  line_function function(steps);
  arma::mat line(2, 1, arma::fill::zeros);
  ensmallen_callbacks<Kind, std::make_index_sequence<Hooks>> all(steps);
  seen.start();
  all.drive(function, line);
  seen.stop();
  tell_line(into, line[0], line[1], function.step);
  all.tell(into);
}

/// The same by hand.
template <kind Kind, std::size_t... Index>
void run_ensmallen_hand(probe& seen, record& into, std::int64_t steps, std::index_sequence<Index...>) {
  struct here : standing_at<Index, body_at<Kind, Index>>... {
    double now = 0;
    std::int64_t step = 0;
    bool stopped = false;
    explicit here(std::int64_t last) : standing_at<Index, body_at<Kind, Index>>(last + 1)... {}
    float loss() const { return static_cast<float>(now); }
  } at(steps);
  random_numbers numbers;
  double slope = 0, offset = 0;
  seen.start();
  while (at.step < steps) {
    double const x = static_cast<double>(numbers.next());
    double const error = slope * x + offset - (2 * x + 1);
    at.now = error * error;
    slope -= 0.1 * (error * x);
    offset -= 0.1 * error;
    ++at.step;
    (void)(true && ... && act(static_cast<standing_at<Index, body_at<Kind, Index>>&>(at), at));
  }
  seen.stop();
  tell_line(into, slope, offset, at.step);
  (static_cast<standing_at<Index, body_at<Kind, Index>>&>(at).body.each([&](auto number) { into.add(number); }), ...);
}

template <kind Kind, std::size_t Hooks>
void run_ensmallen_by_hand(probe& seen, record& into, std::int64_t steps) {
  run_ensmallen_hand<Kind>(seen, into, steps, std::make_index_sequence<Hooks>{});
}

/// @param add takes the name of a competitor, of what it must be equal to, and how it is run
template <kind Kind, std::size_t Hooks>
void add_ensmallen(auto add) {
  add("ensmallen_bare_hand", "ensmallen_bare_hand", run_ensmallen_by_hand<Kind, 0>);
  add("ensmallen_bare", "ensmallen_bare_hand", run_ensmallen<Kind, 0>);
  add("ensmallen_hand", "ensmallen_hand", run_ensmallen_by_hand<Kind, Hooks>);
  add("ensmallen", "ensmallen_hand", run_ensmallen<Kind, Hooks>);
}

}  // namespace overhead
