// SPDX-License-Identifier: BSL-1.0
#include <cstdlib>
#include <new>
#include <optional>

#include <doctest/doctest.h>

#include <tautline/io/csv_file.hpp>
#include <tautline/io/jsonl_file.hpp>
#include <tautline/io/prometheus_file.hpp>
#include <tautline/io/trace_file.hpp>

#include "file_support.hpp"

// After the first ones no row, event or update takes memory from the heap.

namespace {
long allocations = 0;
void* counted(std::size_t size) {
  ++allocations;
  void* const made = std::malloc(size + 1);
  if (made == nullptr) std::abort();
  return made;
}

/// Allocations of `body(i)` for i from 100 on, after 100 calls.
template <class Body>
long allocations_of(Body body) {
  for (int i = 0; i < 100; ++i) body(i);
  long const before = allocations;
  for (int i = 100; i < 2000; ++i) body(i);
  return allocations - before;
}
}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* gone) noexcept { std::free(gone); }
void operator delete[](void* gone) noexcept { std::free(gone); }
void operator delete(void* gone, std::size_t) noexcept { std::free(gone); }
void operator delete[](void* gone, std::size_t) noexcept { std::free(gone); }

TEST_CASE("no sink allocates after its first rows") {
  file_support::folder const in;
  using namespace tautline;
  CHECK(allocations_of([](int) {
    int* volatile const made = new int;  // a compiler may leave out a pair that nobody sees
    delete made;
  }) == 1900);
  jsonl_file<"a", "b", "c"> json(in / "a.jsonl", {.flush_every = 7});
  CHECK(allocations_of([&](int i) { json.write(i, 1.0 / i, "text \"quoted\"", std::optional(i)); }) == 0);
  csv_file<> csv(in / "a.csv");
  CHECK(allocations_of([&](int i) { csv.add_scalar("some, tag", 1.0 / i, i); }) == 0);
  CHECK(allocations_of([&](int) { (void)csv.state(); }) == 0);
  trace_file trace(in / "a.json", {.flush_events = 64});
  CHECK(allocations_of([&](int i) {
          auto const time = static_cast<std::uint64_t>(i) * 1000;
          trace.slice("step", "train", time, 500, {1}, {{"loss", 1.0 / i}, {"text", "\n"}});
          trace.counter("loss", time, 1.0 / i);
        }) == 0);
  prometheus_file<prometheus_gauge<"a", "A.">, prometheus_histogram<"b", "B.", 1, 2>> metrics(
      in / "a.prom", prometheus_label<"run">("some run"));
  CHECK(allocations_of([&](int i) {
          metrics.set<"a">(1.0 / i);
          metrics.observe<"b">(i);
          if (i % 100 == 0) metrics.write();
        }) == 0);
}
