// SPDX-License-Identifier: BSL-1.0
#pragma once

// Hooks with virtual functions in a list, as most training loops in C++ have them.

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "training.hpp"

namespace overhead {

struct virtual_list {
  static constexpr char const* name = "virtual";

  template <class Training>
  struct base {
    base() = default;
    base(base const&) = delete;
    base& operator=(base const&) = delete;
    virtual ~base() = default;
    virtual void before_run(Training&) {}
    virtual void after_run(Training&) {}
    virtual void tell(record&) const = 0;
  };
  template <class Training, class Body>
  struct hook final : base<Training> {
    standing<Body> at;
    explicit hook(std::int64_t steps) : at(steps) {}
    void before_run(Training&) override {
      if constexpr (looks_before<Body>) at.body.before();
    }
    void after_run(Training& here) override {
      if (!act(at, here)) throw std::runtime_error("loss is not finite");
    }
    void tell(record& into) const override {
      at.body.each([&](auto number) { into.add(number); });
    }
  };
  template <class Training>
  using list = std::vector<std::unique_ptr<base<Training>>>;

  /// Out of the loop's sight: else a compiler that sees all that is in the list may call it directly.
  template <class Training, kind Kind, std::size_t... Index>
  [[gnu::noinline]] static list<Training> make_list([[maybe_unused]] std::int64_t steps,
                                                    std::index_sequence<Index...>) {
    list<Training> made;
    (made.push_back(std::make_unique<hook<Training, body_at<Kind, Index>>>(steps)), ...);
    return made;
  }
  template <class Training>
  [[gnu::noinline]] static void drive(Training& here, list<Training> const& hooks) {
    while (!here.is_stopped()) {
      for (auto const& each : hooks) each->before_run(here);
      if (!here.run()) break;
      for (auto const& each : hooks) each->after_run(here);
    }
  }
  template <class Step, kind Kind, std::size_t Hooks>
  static void run(probe& seen, record& into, std::int64_t steps) {
    using state = training<Step, reads_each_loss(Kind)>;
    state here(steps);
    auto const hooks = make_list<state, Kind>(steps, std::make_index_sequence<Hooks>{});
    seen.start();
    drive(here, hooks);
    seen.stop();
    tell<Step>(into, here.model, here.step);
    for (auto const& each : hooks) each->tell(into);
  }
};

}  // namespace overhead
