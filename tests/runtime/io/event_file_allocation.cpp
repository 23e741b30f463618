// SPDX-License-Identifier: BSL-1.0
#include <cstdlib>
#include <new>

#include <tautline/io/event_file.hpp>

#include "event_reader.hpp"

namespace {
long allocations = 0;
}
void* operator new(std::size_t size) {
  ++allocations;
  void* const made = std::malloc(size + 1);
  if (made == nullptr) std::abort();
  return made;
}
void operator delete(void* gone) noexcept { std::free(gone); }
void operator delete(void* gone, std::size_t) noexcept { std::free(gone); }

TEST_CASE("scalars, histograms, texts and flushes take no memory") {
  file_support::folder const folder;
  tautline::event_file file(folder.path());
  float const weights[] = {1, 2, 3};
  long const before = allocations;
  for (int i = 0; i < 10000; ++i) {
    file.add_scalar("a tag that is longer than a short string", i, i);
    if (i % 100 == 0) (void)file.add_histogram("weights", weights, i);
    if (i % 100 == 0) file.add_text("notes", "a text", i);
    if (i % 1000 == 0) file.flush();
  }
  CHECK(allocations == before);
  ::operator delete(::operator new(1));
  CHECK(allocations == before + 1);  // they are counted
}
