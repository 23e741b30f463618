// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this is no name of a metric\. Mend: use letters
#include <tautline/io/prometheus_file.hpp>

int main() {
#ifndef CONTROL
  tautline::prometheus_file<tautline::prometheus_gauge<"train/loss", "Loss.">> metrics("a.prom");
#else
  tautline::prometheus_file<tautline::prometheus_gauge<"train_loss", "Loss.">> metrics("a.prom");
#endif
}
