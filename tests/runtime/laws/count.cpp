// SPDX-License-Identifier: BSL-1.0
// The one file of each program of laws that counts what is taken from the heap.
#include <tautline/testing/count_allocations.hpp>
