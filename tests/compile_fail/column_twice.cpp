// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the columns of a file have names that differ from each other and from "step"\. Mend: give
#include <tautline/io/csv_file.hpp>

int main() {
#ifndef CONTROL
  tautline::csv_file<"loss", "rate", "loss"> rows("rows.csv");
#else
  tautline::csv_file<"loss", "rate", "los"> rows("rows.csv");
#endif
}
