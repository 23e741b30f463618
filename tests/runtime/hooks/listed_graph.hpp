// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <utility>
#include <vector>

#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>

// A graph whose loss is a list: what a hook does about a value can be told step by step.

namespace support {

/// The elements of a list; it knows where it stands, so that it can be resumed and taken back.
struct listed {
  std::vector<double> values;
  int position = 0;
  bool operator()(double& x) {
    if (position == static_cast<int>(values.size())) return false;
    x = values[static_cast<std::size_t>(position++)];
    return true;
  }
  auto state() { return tautline::fields{tautline::field<"position">(position)}; }
};

/// `loss` is the element of the run, `w` the sum of them, each times `rate`.
inline auto listed_graph(std::vector<double> values, double rate = 1) {
  return tautline::static_graph{}
      .variable<"w">(0.0)
      .placeholder<"rate">(rate)
      .source<"x">(0.0, listed{std::move(values)})
      .op<"loss", "x">([](double x) { return x; })
      .op<"half", "x">([](double x) { return static_cast<float>(x) / 2; })
      .op<"both", "x">([](double x) { return std::array<double, 2>{x, -x}; })
      .update<"train", "w", "x", "rate">([](double& w, double x, double factor) { w += factor * x; });
}
inline std::vector<double> counted(int length) {
  std::vector<double> values;
  for (int i = 1; i <= length; ++i) values.push_back(i);
  return values;
}

}  // namespace support
