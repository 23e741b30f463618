// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

#include <tautline/core/error.hpp>

TAUTLINE_BEGIN

/// The end of `steps()`.
struct steps_end {};

/// A place in `steps()`. An input iterator: `++` only marks that a run is wanted, the run happens when somebody looks.
template <class Session, class Context>
class steps_iterator {
 public:
  using value_type = Context;
  using difference_type = std::ptrdiff_t;

  steps_iterator() = default;
  explicit steps_iterator(Session* session) : session_(session) {}

  /// The run context with the caller's values; good until the next run.
  [[nodiscard]] Context const& operator*() const {
    (void)run_wanted();
    return *static_cast<Context const*>(session_->live_loop.yielded());
  }
  [[nodiscard]] Context const* operator->() const { return &**this; }
  steps_iterator& operator++() {
    if (session_ != nullptr) session_->state.run_marked = true;
    return *this;
  }
  void operator++(int) { ++*this; }

  friend bool operator==(steps_iterator const& at, steps_end) { return !at.run_wanted(); }
  friend bool operator==(steps_end, steps_iterator const& at) { return !at.run_wanted(); }
  friend bool operator!=(steps_iterator const& at, steps_end) { return at.run_wanted(); }
  friend bool operator!=(steps_end, steps_iterator const& at) { return at.run_wanted(); }

 private:
  [[nodiscard]] bool run_wanted() const { return session_ != nullptr && session_->run_wanted(); }
  Session* session_ = nullptr;
};

/// What `session.steps(…)` returns: a copyable handle of the session's one loop, a single-pass input range.
template <class Session, class Context>
class [[nodiscard]] steps_range {
 public:
  /// A range without runs: range-v3 takes no view that has no default.
  steps_range() = default;
  explicit steps_range(Session* session) : session_(session) { hold(); }
  /// A range without runs, and why.
  explicit steps_range(error_kind refused) : refused_(refused) {}
  steps_range(steps_range const& other) : session_(other.session_), refused_(other.refused_) { hold(); }
  steps_range(steps_range&& other) noexcept : session_(other.session_), refused_(other.refused_) {
    other.session_ = nullptr;
  }
  steps_range& operator=(steps_range other) noexcept {
    Session* const taken = other.session_;
    other.session_ = session_;
    session_ = taken;
    refused_ = other.refused_;
    return *this;
  }
  ~steps_range() {
    if (session_ != nullptr) session_->release();
  }

  [[nodiscard]] steps_iterator<Session, Context> begin() const {
    if (session_ != nullptr) session_->state.run_marked = true;
    return steps_iterator<Session, Context>(session_);
  }
  [[nodiscard]] steps_end end() const { return {}; }

  /// Why there are no runs, where an error is a value: `busy` or `frame_too_small`. An error of the session itself is
  /// in its `status()`.
  [[nodiscard]] error_kind error() const { return refused_; }

 private:
  void hold() {
    if (session_ != nullptr) session_->hold();
  }
  Session* session_ = nullptr;
  error_kind refused_ = error_kind::none;
};

TAUTLINE_END
