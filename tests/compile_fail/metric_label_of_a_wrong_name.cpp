// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this is no name of a label\. Mend: use
#include <tautline/io/prometheus_file.hpp>

int main() {
#ifndef CONTROL
  tautline::prometheus_file<tautline::prometheus_gauge<"a", "A.">> metrics("a.prom", tautline::prometheus_label<"le">("x"));
#else
  tautline::prometheus_file<tautline::prometheus_gauge<"a", "A.">> metrics("a.prom", tautline::prometheus_label<"leg">("x"));
#endif
}
