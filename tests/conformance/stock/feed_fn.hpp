// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/hooks/feed_fn.hpp>

#include "tagged.hpp"

namespace conformance {

/// One name that nobody else feeds: the named form of feed_fn.
template <tautline::fixed_string Id, tautline::fixed_string Name>
auto made_feed_fn(world& played, std::size_t index) {
  return tag<Id>(tautline::feed_fn<Name>([&played, index, calls = 0L]() mutable {
    return played.script.hooks[index].feed_of(tautline::name_of<Name>).at(calls++);
  }));
}

/// Several names, or names that others feed, too: conditional in type, so that a conflict is found in the run.
template <tautline::fixed_string Id, tautline::fixed_string... Names>
auto made_feed_request_fn(world& played, std::size_t index) {
  return tag<Id>(tautline::feed_fn([&played, index, calls = 0L]() mutable {
    long const call = calls++;
    return tautline::ask_if(
        true, tautline::feed<Names>(played.script.hooks[index].feed_of(tautline::name_of<Names>).at(call))...);
  }));
}

}  // namespace conformance
