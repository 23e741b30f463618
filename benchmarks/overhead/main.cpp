// SPDX-License-Identifier: BSL-1.0
// What hooks cost, competitor by competitor, for one step and one number of hooks: -DSTEP=tiny -DHOOKS=5.
//
// usage: overhead PICTURES MODE NUMBER
//   time REPETITIONS   lines `case competitor ns…`, ns a step of each repetition: the competitors take turns
//   count STEPS        to be run under callgrind: dumps named `case/competitor/steps`, for so many steps and for twice
//                      as many; lines `case competitor allocations a step`
//   growth STEPS       five working hooks: lines `competitor steps ns…`, for 1e3, 1e4, … steps
//   check STEPS        nothing more than what stands here:
//
// Before anything is measured all loops run the same steps, and what they compute must be equal, bit by bit, to what
// the loop by hand computes; else the program says where they differ, and ends with 1.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <tautline/testing/count_allocations.hpp>

#include "called_lists.hpp"
#include "hand.hpp"
#include "tautline.hpp"
#include "virtual_list.hpp"
#ifdef DIGITS
#include "digits_step.hpp"
#endif
#ifdef ENSMALLEN
#include "ensmallen.hpp"
#endif

namespace {

using namespace overhead;

/// One loop in one case.
struct variant {
  kind which;
  char const* competitor;
  char const* reference;  ///< what it must be equal to
  void (*run)(probe&, record&, std::int64_t);

  [[nodiscard]] bool is(char const* wanted) const { return std::strcmp(competitor, wanted) == 0; }
};

#ifdef WRONG
/// For the test of the test: it makes a step too many, or, where hooks keep something, its first hook sees a run too
/// many.
struct wrong {
  static constexpr char const* name = "wrong";
  template <class Step, kind Kind, std::size_t Hooks>
  static void run(probe&, record& into, std::int64_t steps) {
    hand_loop<Step, Kind, std::make_index_sequence<Hooks>> loop(Kind == kind::idle ? steps + 1 : steps);
    hand::drive(loop);
    if constexpr (Kind == kind::working) loop.template at<0>().body.after();
    if constexpr (Kind == kind::triggered || Kind == kind::fetching) loop.template at<0>().body.after(1.0F);
    loop.tell(into);
  }
};
#endif

template <kind Kind>
void add(std::vector<variant>& all) {
  auto const add_each = [&]<class... Competitor>(Competitor...) {
    (all.push_back({Kind, Competitor::name, "hand", Competitor::template run<STEP, Kind, HOOKS>}), ...);
  };
  add_each(hand{}, hand_local{}, fused{}, coroutine{}, coroutine_pace_100{}, classic{});
  add_each(virtual_list{}, function_list{}, signals2{});
#ifdef WRONG
  add_each(wrong{});
#endif
#ifdef ENSMALLEN
  add_ensmallen<Kind, HOOKS>(
      [&](char const* name, char const* reference, auto run) { all.push_back({Kind, name, reference, run}); });
#endif
}
std::vector<variant> all_variants() {
  std::vector<variant> all;
  add<kind::idle>(all);
  if constexpr (HOOKS > 0) {  // without hooks all cases are the same
    add<kind::working>(all);
    add<kind::triggered>(all);
    add<kind::fetching>(all);
  }
  return all;
}

double ns_per_step(variant const& one, std::int64_t steps) {
  probe seen;
  record unused;
  one.run(seen, unused, steps);
  return seen.nanoseconds / static_cast<double>(steps);
}

bool are_equal(std::vector<variant> const& all, std::int64_t steps) {
  bool equal = true;
  record expected;
  for (variant const& one : all) {
    probe seen;
    record found;
    one.run(seen, found, steps);
    if (one.is(one.reference)) {
      expected = found;
    } else if (std::string const how = found.difference(expected); !how.empty()) {
      std::fprintf(stderr, "not equal: %s of %s with %s hooks, %d of them, after %lld steps: %s\n", one.competitor,
                   STEP::name, name_of(one.which), int{HOOKS}, static_cast<long long>(steps), how.c_str());
      equal = false;
    }
  }
  return equal;
}

void time(std::vector<variant> const& all, int repetitions) {
  constexpr double slice = 0.7e6;  // ns
  std::vector<std::int64_t> steps;
  for (variant const& one : all) {
    double const wanted = slice / ns_per_step(one, STEP::granule) / static_cast<double>(STEP::granule);
    steps.push_back(std::max<std::int64_t>(1, std::llround(wanted)) * STEP::granule);
  }
  std::vector<std::vector<double>> found(all.size());
  for (int turn = 0; turn < repetitions; ++turn) {
    for (std::size_t i = 0; i < all.size(); ++i) found[i].push_back(ns_per_step(all[i], steps[i]));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::printf("%s %s", name_of(all[i].which), all[i].competitor);
    for (double one : found[i]) std::printf(" %.5g", one);
    std::printf("\n");
  }
}

void count(std::vector<variant> const& all, std::int64_t steps) {
  for (variant const& one : all) {
    std::int64_t allocations[2] = {};
    for (int twice = 0; twice < 2; ++twice) {
      std::int64_t const now = steps << twice;
      std::string const name = std::string(name_of(one.which)) + "/" + one.competitor + "/" + std::to_string(now);
      probe seen(name.c_str());
      record unused;
      one.run(seen, unused, now);
      allocations[twice] = seen.allocations;
    }
    std::printf("%s %s %.6g\n", name_of(one.which), one.competitor,
                static_cast<double>(allocations[1] - allocations[0]) / static_cast<double>(steps));
  }
}

void grow(std::vector<variant> const& all, std::int64_t most) {
  for (std::int64_t steps = 1000; steps <= most; steps *= 10) {
    for (variant const& one : all) {
      if (one.which != kind::working || !(one.is("hand") || one.is("fused") || one.is("coroutine"))) continue;
      std::printf("%s %lld", one.competitor, static_cast<long long>(steps));
      // as long as a run of 1e6 steps at least, so that short ones are not the noise of one moment
      for (std::int64_t turn = 0; turn < std::clamp<std::int64_t>(1000000 / steps, 3, 200); ++turn) {
        std::printf(" %.5g", ns_per_step(one, steps));
        if (steps >= 100000000) break;
      }
      std::printf("\n");
    }
  }
}

}  // namespace

int main(int words, char** word) {
  if (words != 4) return 2;
#ifdef DIGITS
  digits_step::file = word[1];
#endif
  std::string const mode = word[2];
  std::int64_t const number = std::atoll(word[3]);
  std::vector<variant> const all = all_variants();
  // beyond two occasions of a trigger
  std::int64_t const checked = mode == "check" ? number : STEP::reaches_trigger ? 2 * period + 100 : STEP::granule;
  if (!are_equal(all, checked)) return 1;
  if (mode == "time") time(all, static_cast<int>(number));
  if (mode == "count") count(all, number);
  if (mode == "growth") grow(all, number);
  return 0;
}
