// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a metric of this kind is not changed or read in this way\. Mend: set is for gauges
#include <tautline/io/prometheus_file.hpp>

int main() {
#ifndef CONTROL
  tautline::prometheus_file<tautline::prometheus_counter<"a_total", "A.">> metrics("a.prom");
  metrics.set<"a_total">(1);
#else
  tautline::prometheus_file<tautline::prometheus_counter<"a_total", "A.">> metrics("a.prom");
  metrics.add<"a_total">(1);
#endif
}
