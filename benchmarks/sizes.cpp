// SPDX-License-Identifier: BSL-1.0
// A program that trains, with -DHOOKS=N working hooks of one -DCOMPETITOR and nothing else: to be measured, not run.

#include "overhead/called_lists.hpp"
#include "overhead/hand.hpp"
#include "overhead/tautline.hpp"
#include "overhead/virtual_list.hpp"

using namespace overhead;

namespace {

/// As `fused` of the timings, without the other ways to drive the same session.
struct fused_alone {
  template <class Step, kind Kind, std::size_t... Index>
  static void make(probe& seen, record& into, std::int64_t steps, std::index_sequence<Index...>) {
    auto session = tautline::monitored(make_graph<Step>(steps),
                                       hook_at<Kind, Index>{make_body<body_at<Kind, Index>>(steps)}...);
    seen.start();
    drive_by<drive::fused>(session);
    seen.stop();
    tell<Step>(into, session.raw()[fetch<"model">], session.completed_steps());
    (session.template hook<hook_at<Kind, Index>>().body.each([&](auto number) { into.add(number); }), ...);
  }
  template <class Step, kind Kind, std::size_t Hooks>
  static void run(probe& seen, record& into, std::int64_t steps) {
    make<Step, Kind>(seen, into, steps, std::make_index_sequence<Hooks>{});
  }
};

}  // namespace

int main(int words, char**) {
  probe seen;
  record into;
  COMPETITOR::run<tiny, HOOKS == 0 ? kind::idle : kind::working, HOOKS>(seen, into, words * 1000);
  return seen.nanoseconds < 0;
}
