// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the name of a gauge or a histogram has the end of another kind\. Mend: _total
#include <tautline/io/prometheus_file.hpp>

int main() {
#ifndef CONTROL
  tautline::prometheus_file<tautline::prometheus_gauge<"train_steps_total", "Steps.">> metrics("a.prom");
#else
  tautline::prometheus_file<tautline::prometheus_gauge<"train_steps", "Steps.">> metrics("a.prom");
#endif
}
