// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: two metrics of a file have one name\. Mend: give
#include <tautline/io/prometheus_file.hpp>

int main() {
#ifndef CONTROL
  tautline::prometheus_file<tautline::prometheus_gauge<"a", "A.">, tautline::prometheus_gauge<"a", "B.">> metrics("a.prom");
#else
  tautline::prometheus_file<tautline::prometheus_gauge<"a", "A.">, tautline::prometheus_gauge<"b", "B.">> metrics("a.prom");
#endif
}
