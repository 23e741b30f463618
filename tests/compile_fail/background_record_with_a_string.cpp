// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: records go to another thread as bytes, and this type is not trivially copyable\. Mend: put numbers
#include <tautline/io/background_writer.hpp>

#include "common.hpp"

#include <string>

struct line {
#ifndef CONTROL
  std::string text;
#else
  char text[96];
#endif
};
struct to_nowhere {
  void operator()(line const&) const {}
};

int main() {
  background_writer<line, to_nowhere> out(to_nowhere{});
  (void)out.failed();
}
