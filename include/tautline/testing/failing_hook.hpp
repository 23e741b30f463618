// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core.hpp>
#include <tautline/testing/allocations.hpp>

TAUTLINE_BEGIN
namespace testing {

/// Where a `failing_hook` fails.
struct hook_fault {
  callback where = callback::none;  ///< none: it never does
  long call = 1;                    ///< at which call of that callback, counted from 1
  bool thrown = TAUTLINE_EXCEPTIONS != 0;  ///< by an exception, else by `life::fail`
  error_kind kind = error_kind::internal;  ///< of what is not thrown; what is thrown is an `internal_error`
};

/// A hook that has every callback and fails in one of them: what do its neighbours do then?
///
///     auto session = try_monitored(scripted_session(plan), failing_hook<>{{.where = callback::end}}, my_hook{});
///
/// @tparam Name tells several of one session apart
template <fixed_string Name = "">
class failing_hook {
 public:
  static constexpr bool stateless = true;

  failing_hook() = default;
  explicit failing_hook(hook_fault planned) : planned_(planned) {}

  /// Plans another fault, and counts anew.
  void plan(hook_fault planned) {
    planned_ = planned;
    calls_ = 0;
    failed_ = 0;
  }
  /// How often it has failed.
  [[nodiscard]] long failed() const { return failed_; }

  template <class Graph>
  void begin(Graph&, life& at) {
    told(callback::begin, at);
  }
  template <class Session>
  void after_create_session(Session&, life& at) {
    told(callback::after_create_session, at);
  }
  template <class Context>
  void before_run(Context& ctx) {
    told(callback::before_run, ctx);
  }
  template <class Context>
  void gate(Context& ctx) {
    told(callback::gate, ctx);
  }
  template <class Context>
  void after_run(Context& ctx) {
    told(callback::after_run, ctx);
  }
  template <class Session>
  void end(Session&, life& at) {
    told(callback::end, at);
  }
  void on_error(error const&, life& at) { told(callback::on_error, at); }
  void close(life& at) { told(callback::close, at); }

 protected:
  void told(callback where, life& at) {
    if (where != planned_.where || ++calls_ != planned_.call) return;
    uncounted const by_the_kit;
    ++failed_;
#if TAUTLINE_EXCEPTIONS
    if (planned_.thrown) throw internal_error("a planned fault of a hook");
#endif
    at.fail(planned_.kind, "a planned fault of a hook");
  }
  [[nodiscard]] hook_fault const& planned() const { return planned_; }

 private:
  hook_fault planned_;
  long calls_ = 0;
  long failed_ = 0;
};

/// The same, as a saver: it fails in `save`.
class failing_saver : public failing_hook<"saver"> {
 public:
  using category = saver;
  using failing_hook<"saver">::failing_hook;

  [[nodiscard]] bool wants_save() const { return planned().where == callback::save; }
  void save(training_state const&, life& at) { told(callback::save, at); }
};

}  // namespace testing
TAUTLINE_END
