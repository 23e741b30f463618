// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the name of a gauge or a histogram has the end of another kind\. Mend: _total
#include <tautline/io/prometheus_file.hpp>

int main() {
#ifndef CONTROL
  tautline::prometheus_file<tautline::prometheus_histogram<"step_count", "Steps.", 1>> metrics("a.prom");
#else
  tautline::prometheus_file<tautline::prometheus_histogram<"step_seconds", "Steps.", 1>> metrics("a.prom");
#endif
}
