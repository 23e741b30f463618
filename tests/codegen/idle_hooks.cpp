// SPDX-License-Identifier: BSL-1.0
// A hook that does nothing in a run costs nothing in a run.
// bound: idle <= 1.0 * none
// show: by_hand
#include <cstdlib>
#include <cstring>

#include <tautline/core.hpp>

namespace {

float volatile input = 1.0f;

/// A step worth of work: one weight, fitted to an input that the compiler does not know.
struct model {
  float weight = 0;
  long left;

  template <class Request>
  tautline::status run(Request const&) {
    if (left-- == 0) return tautline::status::end_of_input();
    weight -= 0.1f * (weight - input);
    return {};
  }
  template <tautline::fixed_string Name>
  float value() const {
    return weight;
  }
};

struct idle {
  void begin(auto&) {}
  void end(auto const&) {}
  void close() {}
};

template <class Session>
int drive(Session&& session) {
  return session.run_to_completion(tautline::target<"train">) ? 0 : 1;
}

int by_hand(long steps) {
  model trained{0, steps};
  while (trained.run(0).ok()) {
  }
  return trained.weight < 0 ? 1 : 0;
}

}  // namespace

int main(int, char** words) {
  char const* variant = words[1];
  long const steps = std::atol(words[2]);
  if (std::strcmp(variant, "by_hand") == 0) return by_hand(steps);
  if (std::strcmp(variant, "none") == 0) return drive(tautline::monitored(model{0, steps}));
  if (std::strcmp(variant, "idle") == 0) return drive(tautline::monitored(model{0, steps}, idle{}, idle{}, idle{}));
  return 2;
}
