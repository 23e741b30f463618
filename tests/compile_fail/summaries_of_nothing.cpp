// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: summary_saver needs the name of at least one value\. Mend: write summary_saver<
#include <tautline/hooks/summary_saver.hpp>

using namespace tautline;

struct numbers {
  void add_scalar(std::string_view, double, step_number) {}
};

int main() {
  numbers out;
#ifndef CONTROL
  summary_saver<> saver{out};
#else
  summary_saver<"loss"> saver{out};
#endif
}
