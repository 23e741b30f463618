// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a window has at least one value
#include <tautline/hooks/pipeline.hpp>

#include "common.hpp"

int main() {
#ifndef CONTROL
  auto session = monitored(toy_graph(), observe<"loss">() | window<0>([](auto const& w) { return w.size(); }) | request_stop("low"));
#else
  auto session = monitored(toy_graph(), observe<"loss">() | window<1>([](auto const& w) { return w.mean(); }) | request_stop("low"));
#endif
  (void)session.run(target<"train">);
}
