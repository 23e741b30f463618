// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: this hook has a member with the name in Written, which is no callback
// expect-near: misspelt
#include "../static/archetypes.hpp"

struct misspelt {
#ifdef CONTROL
  void after_run(auto&) {}
#else
  void after_step(auto&) {}
#endif
};

int main() { auto session = tautline::monitored(archetypes::minimal_backend{}, misspelt{}); }
