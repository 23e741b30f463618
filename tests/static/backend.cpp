// SPDX-License-Identifier: BSL-1.0
#include <type_traits>
#include <utility>

#include <tautline/core.hpp>

#include "archetypes.hpp"

using archetypes::minimal_backend;
using archetypes::minimal_hook;

namespace {

struct no_run {};
struct wrong_result {
  template <class Request>
  bool run(Request const&) {
    return true;
  }
};
struct needs_finalize {
  minimal_backend finalize() && { return {}; }
};

static_assert(tautline::backend<minimal_backend>);
static_assert(!tautline::backend<no_run>);
static_assert(!tautline::backend<wrong_result>);

static_assert(tautline::graph<minimal_backend>);
static_assert(tautline::graph<needs_finalize>);
static_assert(!tautline::backend<needs_finalize>);
static_assert(!tautline::graph<no_run>);

using session = decltype(tautline::monitored(std::declval<minimal_backend>(), std::declval<minimal_hook>()));
static_assert(!std::is_copy_constructible_v<session>);
static_assert(!std::is_move_constructible_v<session>);

}  // namespace
