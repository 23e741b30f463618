// SPDX-License-Identifier: BSL-1.0
#pragma once

// IWYU pragma: private, include <tautline/hooks/pipeline.hpp>

#include <new>
#include <utility>

#include <tautline/core/filter.hpp>
#include <tautline/core/hook.hpp>
#include <tautline/core/run_context.hpp>
#include <tautline/hooks/any_trigger.hpp>
#include <tautline/hooks/detail/pipeline_stages.hpp>

TAUTLINE_BEGIN
namespace detail {

template <class Pipeline>
struct pipeline_without_sink : reason {
  static consteval void say() {
    static_assert(mended<pipeline_without_sink>,
                  "tautline: this pipeline ends in no sink, so nothing would come of its values. Mend: end it in "
                  "request_stop(\"reason\"), publish<\"name\">(), fail(kind, \"message\") or call(f)");
  }
};
template <class Pipeline, class Next>
struct stage_behind_sink : reason {
  static consteval void say() {
    static_assert(mended<stage_behind_sink>,
                  "tautline: this stage stands behind a sink, where no value comes. Mend: put it before the sink, or "
                  "write tee(sink), which hands on what it takes");
  }
};
template <class First, class Second>
struct pipeline_with_two_triggers : reason {
  static consteval void say() {
    static_assert(mended<pipeline_with_two_triggers>,
                  "tautline: this pipeline has a trigger already, and a second one would have to be asked apart. Mend: "
                  "join them, in parentheses: observe<\"loss\">() | (every_steps{10} | at_end) | ...");
  }
};
template <class Next>
struct no_pipeline_stage : reason {
  static consteval void say() {
    static_assert(mended<no_pipeline_stage>,
                  "tautline: this is no stage of a pipeline. Mend: write transform(f), where(predicate), tee(f), call(f), "
                  "a trigger, or another stage of tautline/hooks/pipeline.hpp");
  }
};
template <class Names>
struct observes_nothing : reason {
  static consteval void say() {
    static_assert(mended<observes_nothing>,
                  "tautline: observe needs the name of at least one value. Mend: write observe<\"loss\">()");
  }
};

struct no_gate {};

/// The trigger of a pipeline, where there is one: what the session looks for.
template <class Gate>
struct gate_member {
  Gate trigger;
};
template <>
struct gate_member<no_gate> {};

template <std::size_t Index, class Stage>
struct stage_leaf {
  [[no_unique_address]] Stage stage;
  template <class Given>
  constexpr stage_leaf(std::in_place_t, Given&& given) : stage(static_cast<Given&&>(given)) {}
};
template <std::size_t Index, class Stage>
TAUTLINE_INLINE constexpr Stage& stage_at(stage_leaf<Index, Stage>& leaf) {
  return leaf.stage;
}
template <class Indices, class... Stages>
struct stage_list;
template <std::size_t... Index, class... Stages>
struct stage_list<std::index_sequence<Index...>, Stages...> : stage_leaf<Index, Stages>... {
  template <class... Given>
  constexpr explicit stage_list(std::in_place_t, Given&&... given)
      : stage_leaf<Index, Stages>(std::in_place, static_cast<Given&&>(given))... {}

  template <class Next>
  constexpr auto with(Next&& next) && {
    return stage_list<std::make_index_sequence<sizeof...(Stages) + 1>, Stages..., Next>(
        std::in_place, static_cast<Stages&&>(stage_at<Index>(*this))..., static_cast<Next&&>(next));
  }
};
template <class... Stages>
using stages_of = stage_list<std::make_index_sequence<sizeof...(Stages)>, Stages...>;

/// "smooth", and "smooth#2" for the second one of a pipeline.
template <std::size_t Index, class... Stages>
consteval auto stage_name() {
  constexpr auto ordinal = [](char const* own) {
    std::size_t found = 0;
    std::size_t at = 0;
    ([&] {
      if constexpr (requires { Stages::name; }) {
        if (at <= Index && same_text(Stages::name.characters, own)) ++found;
      }
      ++at;
    }(), ...);
    return found;
  };
  constexpr auto name = [] {
    fixed_string<16> own("               ");
    std::size_t at = 0;
    ([&] {
      if constexpr (requires { Stages::name; }) {
        if (at == Index) {
          std::size_t i = 0;
          for (; Stages::name.characters[i] != 0; ++i) own.characters[i] = Stages::name.characters[i];
          own.characters[i] = 0;
        }
      }
      ++at;
    }(), ...);
    return own;
  }();
  constexpr std::size_t count = ordinal(name.characters);
  constexpr std::size_t length = length_of(name.characters);
  constexpr std::size_t suffix = count == 1 ? 0 : count < 10 ? 2 : 3;
  char made[length + suffix + 1]{};
  for (std::size_t i = 0; i < length; ++i) made[i] = name.characters[i];
  if (suffix != 0) made[length] = '#';
  if (suffix == 3) made[length + 1] = static_cast<char>('0' + count / 10);
  if (suffix != 0) made[length + suffix - 1] = static_cast<char>('0' + count % 10);
  return fixed_string<sizeof made>(made);
}

/// What a pipeline that may act in `end` keeps of the last run: the values that reached its trigger, and how to go on.
template <std::size_t Count, bool Keeps>
struct end_memory {
  void (*act)(void* pipeline, life& at) = nullptr;
  alignas(8) std::byte values[Count][8];
};
template <std::size_t Count>
struct end_memory<Count, false> {};

/// What a pipeline observes: `names<…>`, or fetches with their types in a `run_args`.
template <class Observed>
struct observed {
  using asks = Observed;
};
template <fixed_string... Names>
struct observed<names<Names...>> {
  using asks = fetches<Names...>;
};
template <class Asks>
inline constexpr std::size_t count_of_items = 0;
template <class... Items>
inline constexpr std::size_t count_of_items<run_args<Items...>> = sizeof...(Items);

template <class... Provided>
struct provides_member {
  using provides = provides_all<Provided...>;
};
template <>
struct provides_member<> {};
template <class... Provided>
auto provides_member_of(type_list<Provided...>) -> provides_member<Provided...>;

}  // namespace detail

/// A pipeline with its sink: a hook. @see observe
///
/// @tparam Observed what it observes, `names<"loss">`
/// @tparam Gate its trigger, before the stage with the number `Place`
template <class Observed, class Gate, std::size_t Place, class... Stages>
class pipeline : public detail::gate_member<Gate>,
                 public decltype(detail::provides_member_of(detail::join_t<typename Stages::provided...>{})) {
  static constexpr bool gated = !std::is_same_v<Gate, detail::no_gate>;
  static constexpr bool may_act_at_end = gated && fires_at_end<Gate>;
  using indices = std::make_index_sequence<sizeof...(Stages)>;
  struct keeps_something {
    static consteval detail::hook_mask<sizeof...(Stages)> mask() { return {{lists_state<Stages>...}}; }
  };
  using keeping = detail::filter_t<keeps_something, indices>;

 public:
  using asks = typename detail::observed<Observed>::asks;
  static constexpr bool stateless = std::is_same_v<keeping, std::index_sequence<>>;

  constexpr pipeline(detail::gate_member<Gate> gate, detail::stages_of<Stages...>&& given)
      : detail::gate_member<Gate>(static_cast<detail::gate_member<Gate>&&>(gate)),
        stages_(static_cast<detail::stages_of<Stages...>&&>(given)) {}

  template <class Graph>
  void begin(Graph&, life& at) {
    if constexpr (may_act_at_end) last_.act = nullptr;
    prepare(at, indices{});
  }
  template <class Session>
  void after_create_session(Session const&, [[maybe_unused]] life& at) const {
    if constexpr (gated) {
      if constexpr (requires { this->trigger.wants_clock(); }) {
        if (!Session::has_clock && this->trigger.wants_clock()) {
          at.fail(error_kind::invalid_argument, "every_seconds needs a clock, and the session has none");
        }
      }
    }
  }
  template <class Context>
  TAUTLINE_INLINE constexpr auto before_run([[maybe_unused]] Context& ctx) const {
    return ask(ctx, static_cast<asks*>(nullptr));
  }
  template <class Context, class Values>
  TAUTLINE_INLINE constexpr void after_run(Context& ctx, Values& values) {
    if constexpr (may_act_at_end) last_.act = nullptr;
    start(ctx, values, static_cast<asks*>(nullptr));
  }
  template <class Session>
  void end(Session const&, [[maybe_unused]] life& at) {
    if constexpr (may_act_at_end) {
      if (at.due() && last_.act != nullptr) last_.act(this, at);
    }
  }

  auto state()
    requires(!std::is_same_v<keeping, std::index_sequence<>>)
  {
    return state_of(keeping{});
  }

  template <class Next>
  friend constexpr detail::rejected operator|(pipeline const&, Next const&) {
    detail::stage_behind_sink<pipeline, Next>::say();
    return {};
  }

 private:
  /// Where a stage hands its values on.
  template <std::size_t Next, class Context>
  struct flow {
    pipeline& of;
    Context& ctx;
    TAUTLINE_INLINE constexpr Context& at() const { return ctx; }
    template <class... Values>
    TAUTLINE_INLINE constexpr void operator()(Values const&... values) const {
      of.template arrive<Next>(ctx, values...);
    }
    TAUTLINE_INLINE constexpr void drop() const { of.template drop<Next>(ctx); }
  };

  template <class... Items>
  TAUTLINE_INLINE constexpr auto ask([[maybe_unused]] life const& at, run_args<Items...>*) const {
    if constexpr (gated && Place == 0) {
      if constexpr (!may_act_at_end) {
        return ask_if(at.due(), Items{}...);
      } else if constexpr (requires { this->trigger.may_fire_at_end(); }) {
        return ask_if(at.due() || detail::remembers(this->trigger), Items{}...);
      } else {
        return asks(Items{}...);
      }
    } else {
      return asks(Items{}...);
    }
  }
  template <class Context, class Values, class... Items>
  TAUTLINE_INLINE constexpr void start(Context& ctx, Values& values, run_args<Items...>*) {
    arrive<0>(ctx, values[Items{}]...);
  }

  /// Values before the stage with this number, and before the trigger if that stands there.
  template <std::size_t Index, class Context, class... Values>
  TAUTLINE_INLINE constexpr void arrive(Context& ctx, Values const&... values) {
    if constexpr (gated && Index == Place) {
      if constexpr (may_act_at_end) keep<Index>(values...);
      if constexpr (Place > 0 || may_act_at_end) {  // else the values are asked for where it is due, only
        if (!ctx.due()) return;
      }
    }
    enter<Index>(ctx, values...);
  }
  template <std::size_t Index, class Context, class... Values>
  TAUTLINE_INLINE constexpr void enter(Context& ctx, Values const&... values) {
    detail::stage_at<Index>(stages_).pass(flow<Index + 1, Context>{*this, ctx}, values...);
  }
  /// A stage before this one dropped a value. One that the trigger would not have let through is none to those behind.
  template <std::size_t Index, class Context>
  TAUTLINE_INLINE constexpr void drop([[maybe_unused]] Context& ctx) {
    if constexpr (Index < sizeof...(Stages)) {
      if constexpr (gated && Index == Place) {
        if (!ctx.due()) return;
      }
      if constexpr (requires { detail::stage_at<Index>(stages_).missed(); }) detail::stage_at<Index>(stages_).missed();
      drop<Index + 1>(ctx);
    }
  }

  template <std::size_t Index, class... Values>
  TAUTLINE_INLINE void keep(Values const&... values) {
    static_assert(((std::is_trivially_copyable_v<Values> && sizeof(Values) <= 8) && ...),
                  "tautline: a pipeline with at_end keeps the values that reach its trigger, 8 trivially copyable bytes each. "
                  "Mend: put a transform(f) before the trigger that makes a number, or leave at_end out");
    if constexpr (requires { this->trigger.may_fire_at_end(); }) {
      if (!this->trigger.may_fire_at_end()) return;
    }
    std::size_t at = 0;
    (__builtin_memcpy(last_.values[at++], &values, sizeof(Values)), ...);
    last_.act = [](void* of, life& ending) {
      static_cast<pipeline*>(of)->template act_at_end<Index, Values...>(ending,
                                                                        std::make_index_sequence<sizeof...(Values)>{});
    };
  }
  template <std::size_t Index, class... Values, std::size_t... At>
  void act_at_end(life& at, std::index_sequence<At...>) {
    enter<Index>(at, *std::launder(reinterpret_cast<Values const*>(last_.values[At]))...);
  }

  template <std::size_t... Index>
  void prepare([[maybe_unused]] life& at, std::index_sequence<Index...>) {
    (prepare_stage(at, detail::stage_at<Index>(stages_)), ...);
  }
  template <class Stage>
  static void prepare_stage([[maybe_unused]] life& at, [[maybe_unused]] Stage& stage) {
    if constexpr (requires { stage.reset(); }) stage.reset();
    if constexpr (requires { stage.check(at); }) stage.check(at);
  }
  template <std::size_t... Index>
  auto state_of(std::index_sequence<Index...>) {
    return fields{field<detail::stage_name<Index, Stages...>()>(detail::stage_at<Index>(stages_))...};
  }

  [[no_unique_address]] detail::stages_of<Stages...> stages_;
  [[no_unique_address]] detail::end_memory<detail::count_of_items<asks>, may_act_at_end> last_;
};

namespace detail {

/// A pipeline that has no sink yet.
template <class Observed, class Gate, std::size_t Place, class... Stages>
class open_pipeline {
 public:
  using not_a_hook = pipeline_without_sink<open_pipeline>;

  constexpr open_pipeline(gate_member<Gate> gate, stages_of<Stages...>&& given)
      : gate_(static_cast<gate_member<Gate>&&>(gate)), stages_(static_cast<stages_of<Stages...>&&>(given)) {}

  template <class Next>
  friend constexpr auto operator|(open_pipeline from, Next next) {
    if constexpr (std::is_same_v<Next, rejected>) {
      return rejected{};
    } else if constexpr (trigger<Next>) {
      if constexpr (std::is_same_v<Gate, no_gate>) {
        return open_pipeline<Observed, Next, sizeof...(Stages), Stages...>(gate_member<Next>{next},
                                                                       static_cast<stages_of<Stages...>&&>(from.stages_));
      } else {
        pipeline_with_two_triggers<Gate, Next>::say();
        return rejected{};
      }
    } else if constexpr (!is_stage<Next>) {
      no_pipeline_stage<Next>::say();
      return rejected{};
    } else {
      using made = std::conditional_t<Next::is_sink, pipeline<Observed, Gate, Place, Stages..., Next>,
                                      open_pipeline<Observed, Gate, Place, Stages..., Next>>;
      return made(static_cast<gate_member<Gate>&&>(from.gate_),
                  static_cast<stages_of<Stages...>&&>(from.stages_).with(static_cast<Next&&>(next)));
    }
  }

 private:
  [[no_unique_address]] gate_member<Gate> gate_;
  [[no_unique_address]] stages_of<Stages...> stages_;
};

}  // namespace detail
TAUTLINE_END
