// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a histogram has bounds that are finite and rise\. Mend: give
#include <tautline/io/prometheus_file.hpp>

int main() {
#ifndef CONTROL
  tautline::prometheus_file<tautline::prometheus_histogram<"step_seconds", "Time.">> metrics("a.prom");
#else
  tautline::prometheus_file<tautline::prometheus_histogram<"step_seconds", "Time.", 1>> metrics("a.prom");
#endif
}
