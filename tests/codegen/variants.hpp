// SPDX-License-Identifier: BSL-1.0
// What a program of these tests is: a table of variants, each run with N and with 2N steps, counted one by one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <valgrind/callgrind.h>

struct variant {
  char const* name;
  double (*run)(std::int64_t steps);
  /// of a session beside its graph, its hooks and its frame; -1: it is none
  long session_bytes = -1;
};

/// prog N VARIANT...     runs them; under callgrind there is a dump `VARIANT 1` of N steps, and `VARIANT 2` of 2N
/// prog                  tells what needs no run
template <std::size_t Count>
int run_variants(variant const (&all)[Count], int count, char** arguments) {
  if (count == 1) {
    for (variant const& each : all) {
      if (each.session_bytes >= 0) std::printf("session_bytes %s %ld\n", each.name, each.session_bytes);
    }
    return 0;
  }
  std::int64_t const steps = std::atoll(arguments[1]);
  for (int i = 2; i < count; ++i) {
    variant const* chosen = nullptr;
    for (variant const& each : all) {
      if (std::strcmp(each.name, arguments[i]) == 0) chosen = &each;
    }
    if (chosen == nullptr) {
      std::fprintf(stderr, "unknown variant %s\n", arguments[i]);
      return 2;
    }
    (void)chosen->run(1);  // what is bound when it is called for the first time
    for (int times = 1; times <= 2; ++times) {
      char name[80];
      std::snprintf(name, sizeof name, "%s %d", chosen->name, times);
      CALLGRIND_ZERO_STATS;
      double const result = chosen->run(times * steps);
      CALLGRIND_DUMP_STATS_AT(name);
      std::printf("%s: %g\n", name, result);
    }
  }
  return 0;
}
