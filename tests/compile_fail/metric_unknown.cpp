// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this file has no metric of this name\. Mend: use
#include <tautline/io/prometheus_file.hpp>

int main() {
#ifndef CONTROL
  tautline::prometheus_file<tautline::prometheus_gauge<"a", "A.">> metrics("a.prom");
  metrics.set<"b">(1);
#else
  tautline::prometheus_file<tautline::prometheus_gauge<"a", "A.">> metrics("a.prom");
  metrics.set<"a">(1);
#endif
}
