// SPDX-License-Identifier: BSL-1.0
// expect-error: tautline: a slot declares what its hooks may read and feed, by name and type\. Mend: write any_hook<reads<"loss", float>, feeds
#include <tautline/hooks/any_hook.hpp>

#include "common.hpp"

int main() {
#ifndef CONTROL
  any_hook<fetches<"loss">> slot;
#else
  any_hook<reads<"loss", float>> slot;
#endif
  (void)slot;
}
