// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>

#include <tautline/core/hook.hpp>
#include <tautline/core/run_context.hpp>
#include <tautline/hooks/detail/restartable.hpp>

TAUTLINE_BEGIN
namespace detail {

template <class Make>
constexpr decltype(auto) make_value(Make& make, step_number step) {
  if constexpr (std::invocable<Make&, step_number>) {
    return make(step);
  } else {
    return make();
  }
}

template <class Made>
struct nothing_kept {};

/// Stands for a hook that was refused, so that the one message about it stays the only one.
struct refused_hook {
  static constexpr void close() {}
};

}  // namespace detail

/// A callable that cannot change itself, or says what of it must be saved.
namespace detail {
template <class Make>
inline constexpr bool makes_without_state =
    !lists_state<Make> && (stateless<Make> || std::invocable<Make const&, step_number> || std::invocable<Make const&>);
}  // namespace detail

/// What `feed_fn<"rate">(make)` returns: a hook that feeds one value in every run.
template <fixed_string Name, class Make>
class feed_fn_hook {
  using made = decltype(detail::make_value(std::declval<Make&>(), step_number{}));
  using value_type = std::remove_cvref_t<made>;
  // A large value that is made anew in each run has to live until the run is over.
  static constexpr bool keeps = !std::is_lvalue_reference_v<made> && !detail::feeds_by_value<value_type>;

 public:
  static constexpr bool stateless = detail::makes_without_state<Make>;

  constexpr explicit feed_fn_hook(Make make) : made_by_(static_cast<Make&&>(make)) {}

  template <class Graph>
  constexpr void begin(Graph&) {
    made_by_.restart();
  }

  /// That of the callable, where it lists one.
  constexpr auto state()
    requires lists_state<Make>
  {
    return made_by_.callable.state();
  }

  template <class Context>
  constexpr auto before_run(Context& ctx) {
    if constexpr (keeps) {
      value_ = detail::make_value(made_by_.callable, ctx.step());
      return feed<Name>(value_);
    } else {
      auto const& made_now = detail::make_value(made_by_.callable, ctx.step());
      return feed<Name>(made_now);
    }
  }

 private:
  [[no_unique_address]] detail::restartable<Make> made_by_;
  [[no_unique_address]] std::conditional_t<keeps, value_type, detail::nothing_kept<value_type>> value_{};
};

/// What `feed_fn(make)` returns: a hook that feeds whatever the callable's request says.
template <class Make>
class feed_request_hook {
 public:
  static constexpr bool stateless = detail::makes_without_state<Make>;

  constexpr explicit feed_request_hook(Make make) : made_by_(static_cast<Make&&>(make)) {}

  template <class Graph>
  constexpr void begin(Graph&) {
    made_by_.restart();
  }

  /// That of the callable, where it lists one.
  constexpr auto state()
    requires lists_state<Make>
  {
    return made_by_.callable.state();
  }

  template <class Context>
  constexpr auto before_run(Context& ctx) {
    return detail::make_value(made_by_.callable, ctx.step());
  }

 private:
  [[no_unique_address]] detail::restartable<Make> made_by_;
};

/// Feeds, in every run, what a callable returns: `make()` or `make(step)`, the step of the run in progress.
///
///     feed_fn<"rate">([](step_number step) { return step < 1000 ? 0.1f : 0.01f; })
///     feed_fn([&] { return run_args{feed<"x">(batch.x), feed<"y">(batch.y)}; })   // several names: a request
///
/// A value of up to 32 trivially copyable bytes is passed on, a larger one is kept in the hook, and one that is
/// returned by reference is looked at where it is: it must live until the run is over.
///
/// **Order** the callable is called once in each `before_run`: again where a run is repeated after a recovery.
/// **Errors** what it throws ends the training. A name that another party feeds in every run does not compile;
/// otherwise it is a `feed_conflict` that names both.
/// **Cost** that of the callable; no allocation.
/// **State** that of a callable with `state()`; for a second training its `reset()` is called, or it is
/// put back as it was given. In a session that saves, a callable that may change itself (a mutable
/// lambda) does not compile without one.
/// **Source** tf.train.FeedFnHook.
template <fixed_string... Names, class Make>
constexpr auto feed_fn(Make make) {
  constexpr bool few = sizeof...(Names) <= 1;
  constexpr bool callable = std::invocable<Make&, step_number> || std::invocable<Make&>;
  static_assert(few, "tautline: feed_fn<\"name\"> feeds one name. Mend: one feed_fn for each, or feed_fn(callable) with a "
                     "callable that returns run_args{feed<\"a\">(...), feed<\"b\">(...)}");
  static_assert(callable, "tautline: feed_fn takes a callable of the form make() or make(step). Mend: pass one");
  if constexpr (!few || !callable) {
    return detail::refused_hook{};
  } else if constexpr (sizeof...(Names) == 1) {
    return feed_fn_hook<Names..., Make>(static_cast<Make&&>(make));
  } else {
    using made = std::remove_cvref_t<decltype(detail::make_value(make, step_number{}))>;
    constexpr bool request = detail::inspect<made>::is_request;
    static_assert(request, "tautline: the callable of feed_fn without a name returns no request. Mend: name what is fed, "
                           "feed_fn<\"name\">(callable), or return feed<\"name\">(value), or run_args{...} of several");
    if constexpr (request) {
      return feed_request_hook<Make>(static_cast<Make&&>(make));
    } else {
      return detail::refused_hook{};
    }
  }
}

TAUTLINE_END
