// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a hook must be moved into the session; here it would be copied
#include <tautline/hooks/on_rank_zero.hpp>

#include "common.hpp"

int main() {
  good_hook mine;
#ifndef CONTROL
  auto session = monitored(toy_graph(), on_rank_zero{0, mine});
#else
  auto session = monitored(toy_graph(), on_rank_zero{0, std::move(mine)});
#endif
  (void)session.run(target<"train">);
}
