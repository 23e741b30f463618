// SPDX-License-Identifier: BSL-1.0
#pragma once

// Two lists of callables, one for before the run and one for after it: of std::function, and of Boost.Signals2.

#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <boost/signals2/dummy_mutex.hpp>
#include <boost/signals2/signal_type.hpp>

#include "hand.hpp"

namespace overhead {

/// The bodies, which the callables refer to: a pointer needs no heap in any of them.
template <kind Kind, class Indices>
struct bodies;
template <kind Kind, std::size_t... Index>
struct bodies<Kind, std::index_sequence<Index...>> : standing_at<Index, body_at<Kind, Index>>... {
  explicit bodies([[maybe_unused]] std::int64_t steps) : standing_at<Index, body_at<Kind, Index>>(steps)... {}
  void each([[maybe_unused]] auto see) {
    (see(static_cast<standing_at<Index, body_at<Kind, Index>>&>(*this)), ...);
  }
};

/// A pair of lists, and the loop that calls them. @tparam Lists has `add_before`, `add_after`, `before`, `after`
template <class Lists>
struct called_lists {
  /// Out of the loop's sight, as with the virtual list.
  template <class Training, class Bodies>
  [[gnu::noinline]] static void fill(typename Lists::template of<Training>& lists, Bodies& all) {
    all.each([&]<std::size_t Index, class Body>(standing_at<Index, Body>& at) {
      if constexpr (looks_before<Body>) lists.add_before([&at](Training&) { at.body.before(); });
      lists.add_after([&at](Training& here) {
        if (!act(at, here)) throw std::runtime_error("loss is not finite");
      });
    });
  }
  template <class Training, class Made>
  [[gnu::noinline]] static void drive(Training& here, Made& lists) {
    while (!here.is_stopped()) {
      lists.before(here);
      if (!here.run()) break;
      lists.after(here);
    }
  }
  template <class Step, kind Kind, std::size_t Hooks>
  static void run(probe& seen, record& into, std::int64_t steps) {
    using state = training<Step, reads_each_loss(Kind)>;
    state here(steps);
    bodies<Kind, std::make_index_sequence<Hooks>> all(steps);
    typename Lists::template of<state> lists;
    fill<state>(lists, all);
    seen.start();
    drive(here, lists);
    seen.stop();
    tell<Step>(into, here.model, here.step);
    all.each([&](auto& at) { at.body.each([&](auto number) { into.add(number); }); });
  }
};

struct lists_of_functions {
  template <class Training>
  class of {
   public:
    void add_before(auto called) { before_.emplace_back(called); }
    void add_after(auto called) { after_.emplace_back(called); }
    void before(Training& here) const {
      for (auto const& each : before_) each(here);
    }
    void after(Training& here) const {
      for (auto const& each : after_) each(here);
    }

   private:
    std::vector<std::function<void(Training&)>> before_, after_;
  };
};
struct function_list : called_lists<lists_of_functions> {
  static constexpr char const* name = "function";
};

/// With dummy_mutex, which its documentation has for programs of one thread: the default locks in each call.
struct signals {
  template <class Training>
  class of {
   public:
    void add_before(auto called) { before_.connect(called); }
    void add_after(auto called) { after_.connect(called); }
    void before(Training& here) { before_(here); }
    void after(Training& here) { after_(here); }

   private:
    using signal = typename boost::signals2::signal_type<
        void(Training&), boost::signals2::keywords::mutex_type<boost::signals2::dummy_mutex>>::type;
    signal before_, after_;
  };
};
struct signals2 : called_lists<signals> {
  static constexpr char const* name = "signals2";
};

}  // namespace overhead
