// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/hooks/pipeline.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

#include <tautline/core/diagnose.hpp>
#include <tautline/core/life.hpp>
#include <tautline/core/request.hpp>
#include <tautline/core/state.hpp>
#include <tautline/hooks/detail/finite.hpp>
#include <tautline/hooks/detail/window_view.hpp>

// The stages of a pipeline. One stage is an object with
//
//     void pass(flow const&, values const&...)   hands values on by flow(values...), or says flow.drop(): nothing goes on
//
// and, where it has such a thing: missed() is told that a stage before it dropped a value; reset() and state() for what it
// keeps, with a name; check(life&) looks at its parameters when the training begins.

TAUTLINE_BEGIN
namespace detail {

template <class Callable, class... Values>
struct stage_not_callable : reason {
  static consteval void say() {
    static_assert(mended<stage_not_callable>,
                  "tautline: the callable of this pipeline stage cannot be called with the values that reach it. Mend: take "
                  "them all as parameters; as it is called as const, list what it keeps by state(), or capture by reference");
  }
};
template <class... Values>
struct stage_takes_one_number : reason {
  static consteval void say() {
    static_assert(mended<stage_takes_one_number>,
                  "tautline: smooth, delta and window take one number, and other values reach them. Mend: put a "
                  "transform(f) before them that makes one number");
  }
};
template <fixed_string Name, class Published, class Value>
struct pipeline_cannot_publish : reason {
  static consteval void say() {
    static_assert(mended<pipeline_cannot_publish>,
                  "tautline: the values that reach publish cannot be converted to the type that it declares. Mend: write "
                  "publish<\"name\", type>(), or put a transform(f) before it that makes one value");
  }
};

/// Base of every stage.
struct stage {
  static constexpr bool is_sink = false;
  using provided = type_list<>;
};
struct sink : stage {
  static constexpr bool is_sink = true;
};
template <class Stage>
concept is_stage = std::derived_from<Stage, stage>;

/// What a callable keeps is lost to a checkpoint unless it is listed: so it is called as const, or lists it.
template <class Callable>
using called = std::conditional_t<lists_state<Callable>, Callable&, Callable const&>;

template <class... Values>
inline constexpr bool one_number = sizeof...(Values) == 1 && (std::is_arithmetic_v<Values> && ...);

/// A stage with a callable. What that lists as its state is the stage's.
template <class Callable>
struct callable_stage : stage {
  static constexpr fixed_string name = "callable";
  [[no_unique_address]] Callable callable;
  constexpr explicit callable_stage(Callable given) : callable(static_cast<Callable&&>(given)) {}
  auto state()
    requires lists_state<Callable>
  {
    return callable.state();
  }
  constexpr void reset()
    requires(lists_state<Callable> && requires(Callable& kept) { kept.reset(); })
  {
    callable.reset();
  }
};

template <class Callable>
struct transform_stage : callable_stage<Callable> {
  using callable_stage<Callable>::callable_stage;
  template <class Flow, class... Values>
  TAUTLINE_INLINE constexpr void pass(Flow const& flow, Values const&... values) {
    if constexpr (std::invocable<called<Callable>, Values const&...>) {
      flow(static_cast<called<Callable>>(this->callable)(values...));
    } else {
      stage_not_callable<Callable, Values...>::say();
    }
  }
};

template <class Predicate>
struct where_stage : callable_stage<Predicate> {
  using callable_stage<Predicate>::callable_stage;
  template <class Flow, class... Values>
  TAUTLINE_INLINE constexpr void pass(Flow const& flow, Values const&... values) {
    if constexpr (std::predicate<called<Predicate>, Values const&...>) {
      if (static_cast<called<Predicate>>(this->callable)(values...)) {
        flow(values...);
      } else {
        flow.drop();
      }
    } else {
      stage_not_callable<Predicate, Values...>::say();
    }
  }
};

/// Calls `f(values...)` or `f(ctx, values...)`.
template <class Callable, class Context, class... Values>
TAUTLINE_INLINE constexpr void call_stage(Callable& callable, Context& ctx, Values const&... values) {
  if constexpr (std::invocable<called<Callable>, Values const&...>) {
    static_cast<called<Callable>>(callable)(values...);
  } else if constexpr (std::invocable<called<Callable>, Context&, Values const&...>) {
    static_cast<called<Callable>>(callable)(ctx, values...);
  } else {
    stage_not_callable<Callable, Values...>::say();
  }
}

template <class Callable>
struct tee_stage : callable_stage<Callable> {
  using callable_stage<Callable>::callable_stage;
  template <class Flow, class... Values>
  TAUTLINE_INLINE constexpr void pass(Flow const& flow, Values const&... values) {
    call_stage(this->callable, flow.at(), values...);
    flow(values...);
  }
};
/// `tee(publish<"x">())`: a sink that hands on.
template <std::derived_from<sink> Sink>
struct tee_stage<Sink> : Sink {
  static constexpr bool is_sink = false;
  constexpr explicit tee_stage(Sink given) : Sink(static_cast<Sink&&>(given)) {}
  template <class Flow, class... Values>
  TAUTLINE_INLINE constexpr void pass(Flow const& flow, Values const&... values) {
    Sink::pass(flow, values...);
    flow(values...);
  }
};

template <class Value>
class smooth_stage : public stage {
 public:
  static constexpr fixed_string name = "smooth";
  constexpr explicit smooth_stage(Value decay) : share_(1 - decay) {}

  template <class Flow, class... Values>
  TAUTLINE_INLINE constexpr void pass(Flow const& flow, Values const&... values) {
    if constexpr (one_number<Values...>) {
      Value const value = static_cast<Value>((values, ...));
      average_ = started_ ? average_ + share_ * (value - average_) : value;
      started_ = true;
      flow(average_);
    } else {
      stage_takes_one_number<Values...>::say();
    }
  }
  void check(life& at) const {
    if (!(share_ > 0 && share_ <= 1)) {
      at.fail(error_kind::invalid_argument, {"smooth takes a decay from 0 to below 1, and this one is {}", 1 - share_});
    }
  }
  constexpr void reset() { average_ = 0, started_ = false; }
  auto state() { return fields{field<"average">(average_), field<"started">(started_)}; }

 private:
  Value share_;  // of a new value: 1 - decay
  Value average_ = 0;
  bool started_ = false;
};

template <class Value>
class delta_stage : public stage {
 public:
  static constexpr fixed_string name = "delta";

  template <class Flow, class... Values>
  TAUTLINE_INLINE constexpr void pass(Flow const& flow, Values const&... values) {
    if constexpr (one_number<Values...>) {
      Value const value = static_cast<Value>((values, ...));
      Value const difference = static_cast<Value>(value - previous_);
      previous_ = value;
      if (started_) {
        flow(difference);
      } else {
        started_ = true;
        flow.drop();
      }
    } else {
      stage_takes_one_number<Values...>::say();
    }
  }
  constexpr void reset() { previous_ = 0, started_ = false; }
  auto state() { return fields{field<"previous">(previous_), field<"started">(started_)}; }

 private:
  Value previous_ = 0;
  bool started_ = false;
};

template <std::size_t Count, class Value, class Reduce>
class window_stage : public stage {
  static_assert(Count > 0, "tautline: a window has at least one value. Mend: write window<10>(reduce)");

 public:
  static constexpr fixed_string name = "window";
  constexpr explicit window_stage(Reduce reduce) : reduce_(static_cast<Reduce&&>(reduce)) {}

  template <class Flow, class... Values>
  TAUTLINE_INLINE constexpr void pass(Flow const& flow, Values const&... values) {
    using view = window_view<Value, Count>;
    if constexpr (!one_number<Values...>) {
      stage_takes_one_number<Values...>::say();
    } else if constexpr (!std::invocable<called<Reduce>, view const&>) {
      stage_not_callable<Reduce, view>::say();
    } else {
      ring_[next_] = static_cast<Value>((values, ...));
      if (++next_ == Count) next_ = 0, full_ = true;
      if (full_) {
        view const seen(ring_, next_);
        flow(static_cast<called<Reduce>>(reduce_)(seen));
      } else {
        flow.drop();
      }
    }
  }
  constexpr void reset() {
    for (Value& value : ring_) value = 0;
    next_ = 0, full_ = false;
  }
  auto state() { return fields{field<"values">(ring_), field<"next">(next_), field<"full">(full_)}; }

 private:
  Value ring_[Count]{};
  std::uint32_t next_ = 0;
  bool full_ = false;
  [[no_unique_address]] Reduce reduce_;
};

class for_times_stage : public stage {
 public:
  static constexpr fixed_string name = "for_times";
  constexpr explicit for_times_stage(step_number times) : times_(times) {}

  template <class Flow, class... Values>
  TAUTLINE_INLINE constexpr void pass(Flow const& flow, Values const&... values) {
    if (++in_a_row_ >= times_) {
      flow(values...);
    } else {
      flow.drop();
    }
  }
  constexpr void missed() { in_a_row_ = 0; }
  constexpr void reset() { in_a_row_ = 0; }
  auto state() { return fields{field<"in_a_row">(in_a_row_)}; }

 private:
  step_number times_;
  step_number in_a_row_ = 0;
};

class count_stage : public stage {
 public:
  static constexpr fixed_string name = "count";
  template <class Flow, class... Values>
  TAUTLINE_INLINE constexpr void pass(Flow const& flow, Values const&...) {
    ++seen_;
    flow(seen_);
  }
  constexpr void reset() { seen_ = 0; }
  auto state() { return fields{field<"seen">(seen_)}; }

 private:
  step_number seen_ = 0;
};

/// The words with the values in the places `{}`, as far as there are two numbers.
template <class... Values>
constexpr text words_with(literal words, Values const&... values) {
  if constexpr ((sizeof...(Values) == 1 || sizeof...(Values) == 2) && (std::is_arithmetic_v<Values> && ...)) {
    return text(words, values...);
  } else {
    return text::of_lasting(words.c_str());
  }
}

struct stop_sink : sink {
  literal reason;
  constexpr explicit stop_sink(literal why) : reason(why) {}
  template <class Flow, class... Values>
  TAUTLINE_INLINE constexpr void pass(Flow const& flow, Values const&... values) const {
    flow.at().request_stop(words_with(reason, values...));
  }
};
struct fail_sink : sink {
  error_kind kind;
  literal message;
  constexpr fail_sink(error_kind what, literal why) : kind(what), message(why) {}
  template <class Flow, class... Values>
  TAUTLINE_INLINE constexpr void pass(Flow const& flow, Values const&... values) const {
    flow.at().fail(kind, words_with(message, values...));
  }
};
template <fixed_string Name, class Published>
struct publish_sink : sink {
  using provided = type_list<provides<Name, Published>>;
  template <class Flow, class... Values>
  TAUTLINE_INLINE constexpr void pass(Flow const& flow, Values const&... values) const {
    if constexpr (sizeof...(Values) == 1 && (std::convertible_to<Values const&, Published> && ...)) {
      // in `end` there is nobody to publish to
      if constexpr (requires { flow.at().original_args(); }) {
        flow.at().template publish<Name>(static_cast<Published>((values, ...)));
      }
    } else {
      pipeline_cannot_publish<Name, Published, type_list<Values...>>::say();
    }
  }
};
template <class Callable>
struct call_sink : callable_stage<Callable> {
  static constexpr bool is_sink = true;
  using callable_stage<Callable>::callable_stage;
  template <class Flow, class... Values>
  TAUTLINE_INLINE constexpr void pass(Flow const& flow, Values const&... values) {
    call_stage(this->callable, flow.at(), values...);
  }
};

template <class Limit, bool Above>
struct compared {
  Limit limit;
  template <class Value>
  constexpr bool operator()(Value const& value) const {
    if constexpr (std::is_arithmetic_v<Value> && std::is_arithmetic_v<Limit>) {
      using common = std::common_type_t<Value, Limit>;
      return Above ? static_cast<common>(value) > static_cast<common>(limit)
                   : static_cast<common>(value) < static_cast<common>(limit);
    } else {
      return Above ? value > limit : value < limit;
    }
  }
};
struct is_finite_predicate {
  template <class Value>
  constexpr bool operator()(Value const& value) const {
    if constexpr (std::is_integral_v<Value>) {
      return true;
    } else {
      return detail::all_finite(value);
    }
  }
};

}  // namespace detail
TAUTLINE_END
