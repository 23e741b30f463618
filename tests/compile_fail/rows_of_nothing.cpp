// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a logger of rows needs the name of at least one value\. Mend: write jsonl_logger<
#include <tautline/hooks/row_logger.hpp>

using namespace tautline;

int main() {
#ifndef CONTROL
  jsonl_logger<> rows{"rows.jsonl"};
#else
  jsonl_logger<"loss"> rows{"rows.jsonl"};
#endif
}
