// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: the columns of a file have names that differ from each other and from "step"\. Mend: give
#include <tautline/io/jsonl_file.hpp>

int main() {
#ifndef CONTROL
  tautline::jsonl_file<"step", "loss"> rows("rows.jsonl");
#else
  tautline::jsonl_file<"steps", "loss"> rows("rows.jsonl");
#endif
}
