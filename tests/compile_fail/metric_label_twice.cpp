// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: two labels of a file have one name\. Mend: give
#include <tautline/io/prometheus_file.hpp>

int main() {
#ifndef CONTROL
  tautline::prometheus_file<tautline::prometheus_gauge<"a", "A.">> metrics("a.prom", tautline::prometheus_label<"b">("x"),
                                                                       tautline::prometheus_label<"b">("y"));
#else
  tautline::prometheus_file<tautline::prometheus_gauge<"a", "A.">> metrics("a.prom", tautline::prometheus_label<"b">("x"),
                                                                       tautline::prometheus_label<"c">("y"));
#endif
}
