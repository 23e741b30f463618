// SPDX-License-Identifier: BSL-1.0
#pragma once

// What every loop but tautline's own has in common: the state of a training and one run of it. It is what hooks are
// handed, too.

#include "bodies.hpp"
#include "probe.hpp"

namespace overhead {

/// The same members in the same order as a session has them.
template <class Step, bool EachLoss>
struct training {
  typename Step::model model = Step::initial();
  typename Step::input x{};
  typename Step::source points;
  typename Step::values values{};
  float last_loss = 0;
  std::int64_t step = 0;
  bool stopped = false;  // may be set from outside the loop

  explicit training(std::int64_t steps) : points(Step::input_of(steps)) {}

  [[gnu::always_inline]] bool is_stopped() const { return __atomic_load_n(&stopped, __ATOMIC_RELAXED); }

  /// @return false at the end of the input
  [[gnu::always_inline]] bool run() {
    if (!points.next(x)) {
      stopped = true;
      return false;
    }
    Step::forward(values, model, x);
    if constexpr (EachLoss) last_loss = Step::loss(values, x);
    Step::descend(model, x, values);
    ++step;
    return true;
  }
  /// Where not each step needs it, it is computed when somebody asks.
  [[gnu::always_inline]] float loss() const {
    if constexpr (EachLoss) {
      return last_loss;
    } else {
      return Step::loss(values, x);
    }
  }
};

/// What a training came to, beside its hooks.
template <class Step>
void tell(record& into, typename Step::model const& model, std::int64_t steps) {
  Step::each(model, [&](auto number) { into.add(number); });
  into.add(steps);
  into.end_of_model();
}

}  // namespace overhead
