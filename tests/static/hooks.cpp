// SPDX-License-Identifier: BSL-1.0
// Which types are hooks. What a refusal says is tested in tests/compile_fail; here it is only which one it is.
#include <functional>
#include <optional>

#include "archetypes.hpp"
#include "verdicts.hpp"

using namespace verdicts;

namespace {

// --- callbacks in every form that C++ has ---------------------------------------------------------------------------

static_assert(good<>);
static_assert(good<archetypes::minimal_hook>);
static_assert(good<archetypes::minimal_hook, archetypes::minimal_hook>);
static_assert(good<options<>, archetypes::minimal_hook>);

struct all_callbacks {
  void begin(auto&) {}
  void after_create_session(auto&) {}
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto&, auto&) {}
  void end(auto&) {}
  void on_error(error const&) {}
  void close() {}
};
static_assert(good<all_callbacks>);

struct all_callbacks_with_life {
  void begin(auto&, life&) {}
  void after_create_session(auto&, life&) {}
  auto before_run(auto&, life&) { return fetch<"loss">; }
  void after_run(auto&, auto&, life&) {}
  void end(auto&, life&) {}
  void on_error(error const&, life&) {}
  void close(life&) {}
};
static_assert(good<all_callbacks_with_life>);

struct compiled_apart {
  void before_run(run_context_base&) {}
  void after_run(run_context_base const&) {}
  void close(life&) {}
};
struct takes_a_session_for_a_life {
  void after_create_session(life&) {}
};
static_assert(good<compiled_apart>);
static_assert(refused<detail::uncallable<takes_a_session_for_a_life, "after_create_session">, takes_a_session_for_a_life>);

struct only_begin_by_value {
  auto begin(auto graph) { return graph; }
};
struct only_begin_by_const_reference {
  void begin(auto const&) {}
};
struct only_begin_by_rvalue {
  auto begin(auto&& graph) { return static_cast<decltype(graph)>(graph); }
};
struct only_begin_of_this_graph {
  void begin(graph_type&) {}
};
static_assert(good<only_begin_by_value, only_begin_by_const_reference, only_begin_by_rvalue, only_begin_of_this_graph>);

struct templated {
  template <class Context>
  auto before_run(Context&) {
    return fetch<"loss">;
  }
  template <class Context, class Values>
  void after_run(Context const&, Values const&) {}
  template <class Context>
  void after_run(Context const&) {}
};
struct constrained {
  template <class Session>
    requires requires(Session& session) { session.step(); }
  void end(Session&) {}
};
struct constrained_away {
  template <class Session>
    requires std::is_integral_v<Session>
  void end(Session&) {}
};
static_assert(good<templated, constrained>);
static_assert(refused<detail::uncallable<constrained_away, "end">, constrained_away>);

struct variadic {
  void after_run(auto&...) {}
  void end(auto&&...) {}
};
struct with_defaults {
  void after_run(auto&, int = 0) {}
  void close(int = 0) {}
};
static_assert(good<variadic, with_defaults>);

struct overloaded {
  void on_error(error const&) {}
  void on_error(int) {}
  void close(int) {}
  void close() {}
};
static_assert(good<overloaded>);

struct inherited : all_callbacks {};
struct inherited_twice : inherited {};
struct inherited_and_own : archetypes::minimal_hook {
  void end(auto&) {}
};
struct hiding : all_callbacks {
  void end(int) {}  // hides the good one
};
static_assert(good<inherited, inherited_twice, inherited_and_own>);
static_assert(refused<detail::uncallable<hiding, "end">, hiding>);

class privately_inherited : all_callbacks {};
class published_again : all_callbacks {
 public:
  using all_callbacks::close;
};
static_assert(refused<detail::uncallable<privately_inherited, "begin">, privately_inherited>);
static_assert(refused<detail::uncallable<published_again, "begin">, published_again>);

class with_a_private_callback {
  void close() {}
};
static_assert(refused<detail::uncallable<with_a_private_callback, "close">, with_a_private_callback>);

struct static_ones {
  static auto before_run(auto&) { return target<"train">; }
  static void end(auto&) {}
};
struct constant_ones {
  void before_run(auto&) const {}
  void close() const {}
};
struct noexcept_ones {
  void before_run(auto&) noexcept {}
  void end(auto&) const noexcept {}
};
struct lvalue_ones {
  void before_run(auto&) & {}
  void close() const& noexcept {}
};
struct rvalue_ones {
  void before_run(auto&) && {}
};
struct constexpr_ones {
  constexpr void close() {}
};
static_assert(good<static_ones, constant_ones, noexcept_ones, lvalue_ones, constexpr_ones>);
static_assert(refused<detail::uncallable<rvalue_ones, "before_run">, rvalue_ones>);

struct virtual_ones {
  virtual ~virtual_ones() = default;
  virtual void close() {}
  virtual void on_error(error const&) {}
};
struct overriding : virtual_ones {
  void close() final {}
};
struct abstract {
  virtual ~abstract() = default;
  virtual void close() = 0;
};
struct virtual_base : virtual virtual_ones {};
static_assert(good<virtual_ones, overriding, virtual_base>);
static_assert(good<std::reference_wrapper<abstract>>);

struct callable_member {
  std::function<void()> close;
  void (*on_error)(error const&) = nullptr;
};
struct wrong_callable_member {
  std::function<void(int)> close;
};
struct data_of_that_name {
  int end = 0;
};
struct type_of_that_name {
  using end = int;
  void close() {}
};
static_assert(good<callable_member>);
static_assert(refused<detail::uncallable<wrong_callable_member, "close">, wrong_callable_member>);
static_assert(refused<detail::uncallable<data_of_that_name, "end">, data_of_that_name>);
static_assert(good<type_of_that_name>);  // a type is no misspelt function

// the name of a class is a member of it, and of those who derive from it
struct on_step {
  void after_run(auto&) {}
};
struct close {
  void end(auto&) {}
};
struct trigger : close {
  void after_run(auto&) {}
};
struct asks {
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto&, auto&) {}
};
struct runs_before : asks {};
struct tags : runs_before {};
struct provides : tags {};
static_assert(good<on_step, close, trigger, asks, runs_before, tags, provides>);

// --- what may be passed ---------------------------------------------------------------------------------------------

struct base {
  int count = 0;
};
struct aggregate : base, archetypes::minimal_hook {
  float threshold = 0;
};
struct move_only {
  move_only() = default;
  move_only(move_only&&) = default;
  void close() {}
};
struct immovable {
  immovable() = default;
  immovable(immovable const&) = delete;
  void close() {}
};
struct moves_explicitly {  // which does not put it where it is stored
  moves_explicitly() = default;
  explicit moves_explicitly(moves_explicitly&&) {}
  void close() {}
};
template <class Value>
struct class_template {
  Value value{};
  void close() {}
};
static_assert(good<aggregate, move_only, class_template<int>, class_template<float>>);
static_assert(refused<detail::hook_cannot_move<immovable>, immovable>);
static_assert(refused<detail::hook_cannot_move<moves_explicitly>, moves_explicitly>);
static_assert(good<std::reference_wrapper<immovable>>);
static_assert(good<std::reference_wrapper<immovable>&, std::reference_wrapper<immovable> const&>);
static_assert(good<named_hook<"a", move_only>, named_hook<"b", std::reference_wrapper<immovable>>>);
static_assert(good<std::reference_wrapper<constant_ones const>>);
static_assert(refused<detail::uncallable<archetypes::minimal_hook const, "close">,
                      std::reference_wrapper<archetypes::minimal_hook const>>);

static_assert(refused<detail::hook_is_copied<aggregate>, aggregate&>);
static_assert(refused<detail::hook_is_copied<aggregate>, aggregate const&>);
static_assert(refused<detail::hook_is_copied<aggregate>, aggregate const>);
static_assert(refused<detail::hook_is_copied<move_only>, named_hook<"a", move_only>&>);

struct final_one final {
  void close() {}
};
union united {
  int count;
  float other;
};
enum class listed { one };
using lambda = decltype([](auto&) {});
static_assert(refused<detail::hook_is_final<final_one>, final_one>);
static_assert(refused<detail::no_hook_class<united>, united>);
static_assert(refused<detail::no_hook_class<listed>, listed>);
static_assert(refused<detail::no_hook_class<int>, int>);
static_assert(refused<detail::no_hook_class<aggregate*>, aggregate*>);
static_assert(refused<detail::no_hook_class<decltype(nullptr)>, decltype(nullptr)>);
static_assert(refused<detail::no_callback<lambda>, lambda>);
static_assert(refused<detail::no_callback<base>, base>);
static_assert(refused<detail::no_callback<std::optional<aggregate>>, std::optional<aggregate>>);
static_assert(refused<detail::options_out_of_place<options<max_recoveries>>, aggregate, options<max_recoveries>>);
static_assert(refused<detail::options_out_of_place<options<>>, options<>, options<>>);

// --- near misses ----------------------------------------------------------------------------------------------------

struct says_after_step {
  void close() {}
  void after_step(auto&) {}
};
struct says_it_privately : archetypes::minimal_hook {
 private:
  static void onEnd(int) {}
};
struct inherits_it : says_after_step {};
struct has_data_of_wrong_names {
  int after_step = 3;
  std::function<void()> on_end;
  static constexpr double on_step = 0.5;
  void close() {}
};
static_assert(refused<detail::wrong_name<says_after_step, "after_step", "after_run">, says_after_step>);
static_assert(refused<detail::wrong_name<says_it_privately, "onEnd", "end">, says_it_privately>);
static_assert(refused<detail::wrong_name<inherits_it, "after_step", "after_run">, inherits_it>);
static_assert(good<has_data_of_wrong_names>);
// the first argument that is refused is the one that is heard of
static_assert(refused<detail::hook_is_final<final_one>, archetypes::minimal_hook, final_one, says_after_step>);

// --- triggers and declarations --------------------------------------------------------------------------------------

struct triggered {
  every_steps trigger{10};
  void after_run(auto&) {}
};
struct triggered_minimally {
  archetypes::minimal_trigger trigger;
  void after_run(auto&) {}
};
struct triggered_constantly {
  static constexpr auto trigger = once;
  void after_run(auto&) {}
};
struct inherits_trigger : triggered {};
struct triggered_by_a_number {
  int trigger = 10;
  void after_run(auto&) {}
};
struct triggered_by_a_function {
  every_steps trigger() { return {}; }
  void after_run(auto&) {}
};
class triggered_privately {
  every_steps trigger{10};

 public:
  void after_run(auto&) {}
};
struct timed {
  every_seconds trigger{1};
  void after_run(auto&) {}
};
static_assert(good<triggered, triggered_minimally, triggered_constantly, inherits_trigger>);
static_assert(refused<detail::unusable_trigger<triggered_by_a_number>, triggered_by_a_number>);
static_assert(refused<detail::unusable_trigger<triggered_by_a_function>, triggered_by_a_function>);
static_assert(refused<detail::unusable_trigger<triggered_privately>, triggered_privately>);
static_assert(refused<detail::trigger_without_clock<timed, every_seconds>, timed>);
static_assert(good<options<with_clock<archetypes::minimal_clock>>, timed>);

struct single {
  static constexpr bool singleton = true;
  void close() {}
};
struct not_so_single {
  static constexpr bool singleton = false;
  void close() {}
};
static_assert(good<single, not_so_single, not_so_single>);
static_assert(refused<detail::singleton_twice<single>, single, archetypes::minimal_hook, named_hook<"again", single>>);

// --- asking ---------------------------------------------------------------------------------------------------------

struct asks_sometimes {
  auto before_run(auto& ctx) { return ask_if(ctx.step() > 1, fetch<"loss">, fetch<"w">, feed<"rate">(1.0f)); }
  void after_run(auto&, auto&) {}
  void after_run(auto&) {}
};
struct asks_by_optional {
  auto before_run(auto&) { return std::optional<fetches<"loss", "w">>(); }
  void after_run(auto&, auto&) {}
};
struct asks_in_vain {
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto&) {}
};
struct is_told_without_asking {
  void after_run(auto&, auto&) {}
};
struct asks_nonsense {
  auto before_run(auto&) { return std::optional<int>(); }
};
struct asks_nonsense_among_others {
  auto before_run(auto&) { return ask_if(true, fetch<"loss">, 3); }
};
struct asks_under_two_conditions {
  auto before_run(auto&) { return run_args{ask_if(true, fetch<"loss">), ask_if(true, fetch<"w">)}; }
  void after_run(auto&, auto&) {}
};
struct asks_for_unknown {
  auto before_run(auto&) { return fetch<"los">; }
  void after_run(auto&, auto&) {}
};
struct feeds_unknown {
  auto before_run(auto&) { return feed<"w">(1.0f); }
};
struct feeds_text {
  auto before_run(auto&) { return feed<"rate">("1"); }
};
struct targets_unknown {
  auto before_run(auto&) { return target<"eval">; }
};
static_assert(good<asks, asks_sometimes, asks_by_optional>);
static_assert(refused<detail::asking_in_vain<asks_in_vain, names<"loss">>, asks_in_vain>);
static_assert(refused<detail::values_without_asking<is_told_without_asking>, is_told_without_asking>);
static_assert(refused<detail::before_run_returns_no_request<asks_nonsense, std::optional<int>>, asks_nonsense>);
static_assert(refused<detail::before_run_returns_no_request<asks_nonsense_among_others, asked<fetch_t<"loss">, int>>,
                      asks_nonsense_among_others>);
static_assert(!good<asks_under_two_conditions>);
static_assert(refused<detail::unknown_fetch<asks_for_unknown, "los", names<"w", "rate", "loss">>, asks_for_unknown>);
static_assert(refused<detail::unknown_feed<feeds_unknown, "w", names<"rate">>, feeds_unknown>);
static_assert(refused<detail::fed_with_a_wrong_type<"rate", feeds_text, char[2], float>, feeds_text>);
static_assert(refused<detail::unknown_target<targets_unknown, "eval", names<"w", "rate", "loss", "train">>, targets_unknown>);

// --- hook to hook ---------------------------------------------------------------------------------------------------

struct provides_score {
  using provides = tautline::provides<"score", float>;
  void after_run(auto& ctx) { ctx.template publish<"score">(1.0f); }
};
struct asks_for_score {
  auto before_run(auto&) { return fetch<"score">; }
  void after_run(auto&, auto&) {}
};
struct provides_loss {
  using provides = provides_all<tautline::provides<"score", float>, tautline::provides<"loss", float>>;
  void close() {}
};
static_assert(good<asks_for_score, provides_score>);
static_assert(refused<detail::unknown_fetch<asks_for_score, "score", names<"w", "rate", "loss">>, asks_for_score>);
static_assert(refused<detail::provided_twice<"score", provides_score, provides_loss>, provides_score, provides_loss>);
static_assert(refused<detail::provided_name_is_taken<"loss", provides_loss>, provides_loss>);

struct feeds_float {
  auto before_run(auto&) { return feed<"rate">(1.0f); }
};
struct feeds_float_sometimes {
  auto before_run(auto& ctx) { return ask_if(ctx.step() > 1, feed<"rate">(1.0f)); }
};
struct feeds_double_sometimes {
  auto before_run(auto& ctx) { return ask_if(ctx.step() > 1, feed<"rate">(1.0)); }
};
static_assert(good<feeds_float, feeds_float_sometimes>);
static_assert(good<feeds_double_sometimes>);
static_assert(refused<detail::fed_twice<"rate", feeds_float, feeds_float>, feeds_float, feeds_float>);
static_assert(refused<detail::fed_with_two_types<"rate", feeds_float, float, feeds_double_sometimes, double>, feeds_float,
                      feeds_double_sometimes>);

// --- the caller of a run --------------------------------------------------------------------------------------------

template <class Hook, class... Items>
using verdict_on_run = decltype(detail::check_run<
                                decltype(std::declval<graph_type>().finalize()),
                                detail::session_core<decltype(std::declval<graph_type>().finalize()), options<>,
                                                     Hook>,
                                Items...>(detail::type_list<Hook>{}));
static_assert(verdict_on_run<feeds_float, target_t<"train">, fetch_t<"loss">>::good);
static_assert(verdict_on_run<feeds_float_sometimes, feed_t<"rate", float>>::good);
static_assert(std::is_same_v<verdict_on_run<feeds_float, feed_t<"rate", float>>,
                             detail::fed_twice<"rate", detail::the_caller_of_run, feeds_float>>);
static_assert(std::is_same_v<verdict_on_run<feeds_float, int>, detail::no_request_argument<int>>);
static_assert(std::is_same_v<verdict_on_run<provides_score, fetch_t<"score">>, detail::fine>);

}  // namespace
