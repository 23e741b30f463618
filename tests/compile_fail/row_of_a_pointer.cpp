// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a column takes numbers, bools, text, and std::optional of these\. Mend: write one
#include <tautline/io/jsonl_file.hpp>

int main() {
#ifndef CONTROL
  tautline::jsonl_file<"loss"> rows("rows.jsonl");
  rows.write(1, static_cast<void*>(nullptr));
#else
  tautline::jsonl_file<"loss"> rows("rows.jsonl");
  rows.write(1, std::optional<float>{});
#endif
}
