// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a row has one value for each column of its file\. Mend: write\(step
#include <tautline/io/csv_file.hpp>

int main() {
#ifndef CONTROL
  tautline::csv_file<"loss", "rate"> rows("rows.csv");
  rows.write(1, 0.5);
#else
  tautline::csv_file<"loss", "rate"> rows("rows.csv");
  rows.write(1, 0.5, std::nullopt);
#endif
}
