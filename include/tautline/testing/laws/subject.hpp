// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/testing/laws.hpp>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tautline/core.hpp>
#include <tautline/testing/failing_hook.hpp>
#include <tautline/testing/memory_store.hpp>
#include <tautline/testing/output.hpp>
#include <tautline/testing/scripted_session.hpp>

// The laws are tried on sessions whose types they do not know: what is a template is small, so that a list of hundred hooks
// compiles in a bearable time.

TAUTLINE_BEGIN
namespace testing {

/// What the hook under test trains on. @see training_of
template <class Make, class... Items>
struct law_model {
  Make make;
  std::tuple<Items...> items;
};
/// A graph, or a session, for `check_laws`: `training_of([](script& plan) { return static_graph{}…; }, target<"train">)`.
/// In a graph the input comes from a `scripted_source`, so that the script reaches it.
/// @param items what the caller asks for in each run
template <class Make, class... Items>
constexpr law_model<Make, Items...> training_of(Make make, Items... items) {
  return {static_cast<Make&&>(make), std::tuple<Items...>(items...)};
}

namespace detail {

inline constexpr std::size_t callback_count = static_cast<std::size_t>(callback::close) + 1;

/// How often the callbacks of one hook were entered and left, and what they took from the heap.
struct callback_counts {
  std::array<long, callback_count> entered{};
  std::array<long, callback_count> left{};
  long allocations_in_steps = 0;
};

/// The last hook of each session: watches the others, and saves where a law wants it.
class law_keeper {
 public:
  using category = saver;
  static constexpr bool stateless = true;

  memory_store* store = nullptr;
  step_number save_at = -1;
  hook_fault fails{};  ///< in `save`, of each step

  void on_enter(moment const& now) noexcept {
    callback_counts* const hook = counts_of(now);
    if (hook == nullptr) return;
    ++hook->entered[static_cast<std::size_t>(now.where)];
    before_ = allocations();
  }
  void on_leave(moment const& now) noexcept {
    callback_counts* const hook = counts_of(now);
    if (hook == nullptr) return;
    ++hook->left[static_cast<std::size_t>(now.where)];
    if (now.where == callback::before_run || now.where == callback::gate || now.where == callback::after_run) {
      hook->allocations_in_steps += allocations() - before_;
    }
  }
  template <class Context>
  void after_run(Context& ctx) {
    wanted_ = ctx.step() == save_at || fails.where == callback::save;
  }
  [[nodiscard]] bool wants_save() const { return wanted_; }
  void save(training_state const& state, life& at) {
    wanted_ = false;
    if (fails.where != callback::save) return store->save(state);
#if TAUTLINE_EXCEPTIONS
    if (fails.thrown) throw internal_error("a planned fault of a saver");
#endif
    at.fail(fails.kind, "a planned fault of a saver");
  }

  /// By place among the hooks under test.
  void begin_counting(std::size_t hooks) { counts_.assign(hooks, {}); }
  [[nodiscard]] std::vector<callback_counts> const& counts() const { return counts_; }

 private:
  callback_counts* counts_of(moment const& now) {
    // the failing hook that comes first has place 0; the session's own moments have the place behind the last hook
    if (now.role == hook_role::none || now.place == 0 || now.place > counts_.size()) return nullptr;
    return &counts_[now.place - 1];
  }
  std::vector<callback_counts> counts_;
  long before_ = 0;
  bool wanted_ = false;
};

/// Everything around the hook under test.
struct law_world {
  script plan;
  output out{plan};
  memory_store store;
  failing_hook<"the failing hook before"> before;
  failing_hook<"the failing hook after"> after;
  law_keeper keeper;
};

/// A session, whatever its types are.
class live_session {
 public:
  virtual ~live_session() = default;
  virtual bool run() = 0;
  virtual void close() = 0;
  virtual void abandon() = 0;
  [[nodiscard]] virtual training_state state() = 0;
  [[nodiscard]] virtual error status() const = 0;
  [[nodiscard]] virtual int attached() const = 0;
  [[nodiscard]] virtual error attached_at(int index) const = 0;
  [[nodiscard]] virtual stop_record stop() const = 0;
  [[nodiscard]] virtual step_number completed() const = 0;
  [[nodiscard]] virtual bool should_stop() const = 0;
  [[nodiscard]] virtual bool is_open() const = 0;
};

/// The hooks under test.
class hook_box {
 public:
  virtual ~hook_box() = default;
};

/// What is known of a hook and its training, and how both are made.
class subject {
 public:
  subject() = default;
  subject(subject const&) = delete;
  subject& operator=(subject const&) = delete;
  virtual ~subject() = default;
  [[nodiscard]] virtual std::unique_ptr<hook_box> make_hooks(output& out) const = 0;
  [[nodiscard]] virtual std::unique_ptr<live_session> make_session(law_world& world, hook_box& hooks) const = 0;

  std::string name;
  std::vector<bool> has_close;  ///< by place
  bool is_real_time = false;    ///< all of them declare it
  bool may_jump = false;        ///< runs may make several steps
};

template <class Hook>
auto passed(Hook& hook) {
  return std::ref(hook);
}
template <fixed_string Name, class Hook>
auto passed(named_hook<Name, Hook>& hook) {
  return named<Name>(std::ref(hook.hook));
}
template <class Hook>
struct inner_hook {
  using type = Hook;
};
template <fixed_string Name, class Hook>
struct inner_hook<named_hook<Name, Hook>> {
  using type = Hook;
};

template <class Factory>
decltype(auto) made_by(Factory const& factory, output& out) {
  if constexpr (std::is_invocable_v<Factory const&, output&>) {
    return factory(out);
  } else {
    return factory();
  }
}

/// Hooks that need not be movable: each is built where it stays.
template <class... Factories>
class held;
template <>
class held<> {
 public:
  explicit held(output&) {}
  template <class Use, class... Before>
  decltype(auto) give(Use const& use, Before&... before) {
    return use(before...);
  }
};
template <class First, class... Rest>
class held<First, Rest...> {
 public:
  using hook_type = std::remove_cvref_t<decltype(made_by(std::declval<First const&>(), std::declval<output&>()))>;
  held(output& out, First const& first, Rest const&... rest) : hook_(made_by(first, out)), rest_(out, rest...) {}
  template <class Use, class... Before>
  decltype(auto) give(Use const& use, Before&... before) {
    return rest_.give(use, before..., hook_);
  }

 private:
  hook_type hook_;
  held<Rest...> rest_;
};

template <class Model, class... Hooks>
auto make_law_session(Model const& model, law_world& world, Hooks&... hooks) {
  return try_monitored(model.make(world.plan),
                       options{with_clock{world.plan.clock}, with_sleep{fake_sleeper{world.plan.clock}},
                               restore_from{world.store}, frame_bytes<1024>{}},
                       std::ref(world.before), passed(hooks)..., std::ref(world.after), std::ref(world.keeper));
}

template <class Model, class... Hooks>
class live_session_of final : public live_session {
 public:
  live_session_of(Model const& model, law_world& world, Hooks&... hooks)
      : model_(model), session_(make_law_session(model, world, hooks...)) {}

  bool run() override {
    return std::apply([this](auto const&... items) { return static_cast<bool>(session_.try_run(items...)); }, model_.items);
  }
  void close() override { (void)session_.try_close(); }
  void abandon() override { session_.abandon(); }
  [[nodiscard]] training_state state() override { return session_.raw().state(); }
  [[nodiscard]] error status() const override { return session_.status(); }
  [[nodiscard]] int attached() const override { return session_.attached_errors().count(); }
  [[nodiscard]] error attached_at(int index) const override { return session_.attached_errors()[index]; }
  [[nodiscard]] stop_record stop() const override { return session_.stop(); }
  [[nodiscard]] step_number completed() const override { return session_.completed_steps(); }
  [[nodiscard]] bool should_stop() const override { return session_.should_stop(); }
  [[nodiscard]] bool is_open() const override { return session_.is_open(); }

 private:
  Model const& model_;
  decltype(make_law_session(std::declval<Model const&>(), std::declval<law_world&>(), std::declval<Hooks&>()...)) session_;
};

template <class Model, class... Factories>
class subject_of final : public subject {
  class box final : public hook_box {
   public:
    box(output& out, Factories const&... factories) : hooks(out, factories...) {}
    held<Factories...> hooks;
  };
  template <class Factory>
  using hook_of = typename inner_hook<typename held<Factory>::hook_type>::type;
  template <class Hook>
  static constexpr bool is_real = requires { requires bool(Hook::real_time); };

 public:
  subject_of(Model model, Factories... factories) : model_(std::move(model)), factories_(std::move(factories)...) {
    has_close = {tautline::detail::close_callback::template named<hook_of<Factories>>()...};
    is_real_time = (true && ... && is_real<hook_of<Factories>>);
    may_jump = requires(Model const& made, script& plan) { made.make(plan).steps_per_run(); };
    name = ("" + ... + (std::string(tautline::detail::type_name<hook_of<Factories>>) + " "));
    name.pop_back();
  }

  [[nodiscard]] std::unique_ptr<hook_box> make_hooks(output& out) const override {
    return std::apply([&](auto const&... factories) { return std::make_unique<box>(out, factories...); }, factories_);
  }
  [[nodiscard]] std::unique_ptr<live_session> make_session(law_world& world, hook_box& hooks) const override {
    auto const make = [&]<class... Hooks>(Hooks&... made) -> std::unique_ptr<live_session> {
      return std::make_unique<live_session_of<Model, Hooks...>>(model_, world, made...);
    };
    return static_cast<box&>(hooks).hooks.give(make);
  }

 private:
  Model model_;
  std::tuple<Factories...> factories_;
};

}  // namespace detail
}  // namespace testing
TAUTLINE_END
