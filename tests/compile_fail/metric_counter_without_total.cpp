// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the name of a counter ends in _total\. Mend: write it
#include <tautline/io/prometheus_file.hpp>

int main() {
#ifndef CONTROL
  tautline::prometheus_file<tautline::prometheus_counter<"train_steps", "Steps.">> metrics("a.prom");
#else
  tautline::prometheus_file<tautline::prometheus_counter<"train_steps_total", "Steps.">> metrics("a.prom");
#endif
}
