// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a metric has a help text\. Mend: say
#include <tautline/io/prometheus_file.hpp>

int main() {
#ifndef CONTROL
  tautline::prometheus_file<tautline::prometheus_gauge<"train_loss", "">> metrics("a.prom");
#else
  tautline::prometheus_file<tautline::prometheus_gauge<"train_loss", "Loss.">> metrics("a.prom");
#endif
}
