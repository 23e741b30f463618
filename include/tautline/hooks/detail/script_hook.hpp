// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/hooks/script.hpp>

#include <tautline/core/hook.hpp>
#include <tautline/core/options.hpp>
#include <tautline/core/run_context.hpp>
#include <tautline/core/state.hpp>
#include <tautline/hooks/any_trigger.hpp>
#include <tautline/hooks/detail/script_context.hpp>

TAUTLINE_BEGIN
namespace detail {

template <auto Function>
struct no_script : reason {
  static consteval void say() {
    static_assert(mended<no_script>,
                  "tautline: a script is made of a function script_body f(script_context<...> life), and this is none. "
                  "Mend: write script<&f>{} with such a function");
  }
};
template <auto Function, class Trigger>
struct script_at_end : reason {
  static consteval void say() {
    static_assert(mended<script_at_end>,
                  "tautline: a script is not resumed in end because of its trigger, so at_end would do nothing. Mend: leave "
                  "it out, and co_await life.next_end()");
  }
};
template <fixed_string Name, class Said, class Found>
struct script_value_of_another_type : reason {
  static consteval void say() {
    static_assert(mended<script_value_of_another_type>,
                  "tautline: this value has another type in the session than the script says; its name, what the script says "
                  "and what it is stand beside this message. Mend: write value_of<\"name\", type> with the session's type");
  }
};

template <class Function>
struct script_signature {
  static constexpr bool fits = false;
};
template <class... Items>
struct script_signature<script_body (*)(script_context<Items...>)> {
  static constexpr bool fits = true;
  using store = script_store<Items...>;
  using context = script_context<Items...>;
};
template <class... Items>
struct script_signature<script_body (*)(script_context<Items...>) noexcept>
    : script_signature<script_body (*)(script_context<Items...>)> {};
/// A lambda without captures.
template <class Lambda>
  requires std::is_class_v<Lambda> && requires(Lambda const& lambda) { +lambda; }
struct script_signature<Lambda> : script_signature<decltype(+std::declval<Lambda const&>())> {};

struct no_script_trigger {};
template <class Trigger>
struct script_trigger {
  Trigger trigger;
};
template <>
struct script_trigger<no_script_trigger> {};

template <class... Options>
consteval std::size_t script_bytes() {
  std::size_t found = 256;
  ([&] {
    if constexpr (!std::is_same_v<Options, not_resumable>) found = find_frame_bytes(static_cast<Options*>(nullptr));
  }(), ...);
  return found;
}

/// A script with its trigger. `Store` is what its signature asks for.
template <auto Function, class Trigger, class Store, class... Options>
class script_hook;

template <auto Function, class Trigger, class... Items, class... Options>
class script_hook<Function, Trigger, script_store<Items...>, Options...>
    : public script_trigger<Trigger>, public script_provides<Items...> {
  using store = script_store<Items...>;
  using value_list = typename store::value_items;
  using feed_list = typename store::feed_items;
  static constexpr bool triggered = !std::is_same_v<Trigger, no_script_trigger>;
  static constexpr bool has_values = !std::is_same_v<value_list, type_list<>>;
  static constexpr bool has_feeds = !std::is_same_v<feed_list, type_list<>>;

 public:
  /// Whether a training can be resumed with it: its data lives in a `state_of<T>`.
  static constexpr bool resumable = store::has_state;
  /// Only where its user says that it need not be: a session with checkpoints refuses it otherwise.
  static constexpr bool stateless = !resumable && (std::is_same_v<Options, not_resumable> || ...);
  static constexpr std::size_t frame_capacity = (script_bytes<Options...>() + 7) / 8 * 8;

  script_hook() requires(!triggered) = default;
  constexpr explicit script_hook(script_trigger<Trigger> given) : script_trigger<Trigger>(given) {}
  /// A script that is moved has not begun: where it begins it stays.
  constexpr script_hook(script_hook&& other) noexcept : script_trigger<Trigger>(other) {}
  script_hook& operator=(script_hook&&) = delete;
  ~script_hook() { destroy(); }

  template <class Graph>
  void begin(Graph&, life& at) {
    destroy();
    store_.reset();
    if constexpr (!resumable) start(at);
  }
  void after_restore() { restart_ = true; }
  template <class Session>
  void after_create_session(Session const&, [[maybe_unused]] life& at) {
    if constexpr (resumable) {
      if (!started_ || restart_) {
        destroy();
        if (!store_.finished) start(at);
      }
    }
    restart_ = false;
    if constexpr (triggered) {
      if constexpr (requires { this->trigger.wants_clock(); }) {
        if (!Session::has_clock && this->trigger.wants_clock()) {
          at.fail(error_kind::invalid_argument, "every_seconds needs a clock, and the session has none");
        }
      }
    }
  }

  template <class Core, class Args>
  TAUTLINE_INLINE auto before_run(run_context<Core, Args>& ctx) {
    return ask<Core>(store_.wait == script_wait::value && due(ctx), value_list{}, feed_list{});
  }
  template <class Core, class Args, class Fetches>
    requires(has_values)
  void after_run(run_context<Core, Args>& ctx, run_values<Core, Fetches>& values) {
    take(values, value_list{});
    resume(ctx);
    publish(ctx, typename store::provided_items{});
  }
  template <class Core, class Args>
  TAUTLINE_INLINE void after_run(run_context<Core, Args>& ctx) {
    if (store_.wait == script_wait::step && due(ctx)) {
      resume(ctx);
      publish(ctx, typename store::provided_items{});
    }
  }
  template <class Session>
  void end(Session const&, life& at) {
    if (store_.wait == script_wait::end) resume(at);
  }
  void close(life& at) {
    store_.at = &at;
    destroy();
    store_.at = nullptr;
  }

  auto state()
    requires(resumable)
  {
    return store_.state();
  }

  /// Whether the body has returned.
  [[nodiscard]] bool done() const { return store_.finished; }
  /// Bytes of the frame, 0 before the begin. At most `frame_capacity`, unless the script was refused for that.
  [[nodiscard]] std::size_t frame_bytes_used() const { return store_.wanted; }

 private:
  TAUTLINE_INLINE static bool due([[maybe_unused]] life const& at) {
    if constexpr (triggered) {
      return at.due();
    } else {
      return true;
    }
  }

  /// A graph that is an object has to be told the type of what is fetched.
  template <class Core, fixed_string Name, class Value>
  static constexpr auto fetch_of(value_of<Name, Value>) {
    if constexpr (!Core::template is_published<Name> &&
                  requires(typename Core::backend_type& backend) { backend.template value<Name, Value>(); }) {
      return fetch_t<Name, Value>{};
    } else {
      return fetch_t<Name>{};
    }
  }
  template <class Core, class... Values, fixed_string... Names, class... Fed>
  TAUTLINE_INLINE auto ask([[maybe_unused]] bool now, type_list<Values...>, type_list<feed_of<Names, Fed>...>) {
    if constexpr (has_values) {
      return run_args(ask_if(store_.template leaf<feed_of<Names, Fed>>().on,
                             feed<Names>(store_.template leaf<feed_of<Names, Fed>>().value))...,
                      ask_if(now, fetch_of<Core>(Values{})...));
    } else if constexpr (has_feeds) {
      return run_args(ask_if(store_.template leaf<feed_of<Names, Fed>>().on,
                             feed<Names>(store_.template leaf<feed_of<Names, Fed>>().value))...);
    }
  }

  template <class Values, fixed_string... Names, class... Types>
  void take(Values& values, type_list<value_of<Names, Types>...>) {
    (take_one<Names, Types>(values[fetch<Names>]), ...);
  }
  template <fixed_string Name, class Value, class Found>
  void take_one(Found const& found) {
    if constexpr (std::is_same_v<Value, Found>) {
      store_.template leaf<value_of<Name, Value>>().seen = &found;
    } else {
      script_value_of_another_type<Name, Value, Found>::say();
    }
  }
  template <class Context, fixed_string... Names, class... Types>
  void publish([[maybe_unused]] Context& ctx, type_list<provides<Names, Types>...>) {
    ([&] {
      auto& leaf = store_.template leaf<provides<Names, Types>>();
      if (leaf.made) ctx.template publish<Names>(leaf.value);
      leaf.made = false;
    }(), ...);
  }

  TAUTLINE_INLINE void start(life& at) {
    store_.memory = memory_;
    store_.capacity = frame_capacity;
    started_ = true;
    script_body const body = Function(script_context<Items...>(store_));
    frame_ = body.handle();
    if (frame_) {
      resume(at);
    } else {
      at.fail(error_kind::frame_too_small,
              {"the script's frame takes {} bytes, and its memory has {}: give script<&f, frame_bytes<N>>", store_.wanted,
               store_.capacity});
    }
  }
  void resume(life& at) {
    store_.at = &at;
    store_.wait = script_wait::nothing;
    frame_.resume();
    if (frame_.done()) finish();
    store_.at = nullptr;
  }
  TAUTLINE_COLD void finish() {
#if TAUTLINE_EXCEPTIONS
    std::exception_ptr const thrown = frame_.promise().thrown;
#endif
    destroy();
    store_.finished = true;
#if TAUTLINE_EXCEPTIONS
    if (thrown) {
      store_.at = nullptr;
      std::rethrow_exception(thrown);
    }
#endif
  }
  void destroy() {
    if (frame_) frame_.destroy();
    frame_ = nullptr;
    store_.wait = script_wait::nothing;
    store_.stop_feeding_all();
    started_ = false;
  }

  alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) std::byte memory_[frame_capacity];
  store store_;
  script_body::handle_type frame_;
  bool started_ = false;
  bool restart_ = false;
};

template <auto Function, class Trigger, class... Options>
consteval auto script_base() {
  using signature = script_signature<std::remove_const_t<decltype(Function)>>;
  if constexpr (!signature::fits) {
    no_script<Function>::say();
    return static_cast<rejected*>(nullptr);
  } else {
    if constexpr (always_remembers<Trigger>) {
      script_at_end<Function, Trigger>::say();
    }
    return static_cast<script_hook<Function, Trigger, typename signature::store, Options...>*>(nullptr);
  }
}
template <auto Function, class Trigger, class... Options>
using script_base_t = std::remove_pointer_t<decltype(script_base<Function, Trigger, Options...>())>;

}  // namespace detail
TAUTLINE_END
