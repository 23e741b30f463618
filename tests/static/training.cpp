// SPDX-License-Identifier: BSL-1.0
// What can be saved, restored, staged, watched; which sessions that save, gate or must not wait are refused, and for what.
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "archetypes.hpp"
#include "verdicts.hpp"

using namespace verdicts;

namespace {

// --- tensors --------------------------------------------------------------------------------------------------------

enum class listed : unsigned char { one };
struct aggregate {
  float a = 0;
};
struct with_data_only {
  float* data() { return nullptr; }
};
struct constant_elements {
  float const* data() const { return nullptr; }
  std::size_t size() const { return 0; }
};

static_assert(tensor_value<float> && tensor_value<bool> && tensor_value<listed> && tensor_value<std::byte> && tensor_value<char>);
static_assert(tensor_value<float[3]> && tensor_value<float[2][3]> && tensor_value<std::array<float, 3>[2]>);
static_assert(tensor_value<std::array<int, 3>> && tensor_value<std::array<std::array<int, 3>, 4>>);
static_assert(tensor_value<std::vector<double>> && tensor_value<std::vector<std::array<double, 2>>> && tensor_value<std::string>);
static_assert(tensor_value<archetypes::minimal_tensor>);
static_assert(!tensor_value<long double>);
static_assert(!tensor_value<float*> && !tensor_value<char const*> && !tensor_value<aggregate>);
static_assert(!tensor_value<std::vector<bool>>);                 // no bytes to see
static_assert(!tensor_value<std::vector<std::vector<float>>>);   // rows of any length
static_assert(!tensor_value<std::vector<std::string>> && !tensor_value<std::vector<aggregate>>);
static_assert(!tensor_value<with_data_only> && !tensor_value<constant_elements>);
struct view_like {
  float* first;
  std::size_t count;
  float* data() { return first; }
  std::size_t size() const { return count; }
};
static_assert(tensor_value<view_like>);
static_assert(!tensor_value<view_like[2]> && !tensor_value<std::array<view_like, 2>>);  // their elements lie elsewhere

constexpr tensor_view of(auto value) { return view_tensor(value); }
static_assert(of(1.0F).rank == 0 && of(1.0F).element_count() == 1 && of(1.0F).bytes() == 4);
static_assert(of(true).type == element_type::BOOL && of(listed::one).type == element_type::U8 && of(1L).type == element_type::I64);
static_assert(of(std::array<std::array<short, 3>, 4>{}).rank == 2);
static_assert(of(std::array<std::array<short, 3>, 4>{}).shape[0] == 4 && of(std::array<std::array<short, 3>, 4>{}).shape[1] == 3);
static_assert(size_of(element_type::BF16) == 2 && is_floating(element_type::BF16) && !is_floating(element_type::U64));

// --- states ---------------------------------------------------------------------------------------------------------

struct lists_one {
  int a = 0;
  auto state() { return fields{field<"a">(a)}; }
};
struct lists_none {
  int a = 0;
  auto state() { return fields<>{}; }
};
struct returns_a_number {
  int a = 0;
  int state() { return a; }
};
struct has_data_of_that_name {
  int state = 0;
};
struct declared_stateless {
  static constexpr bool stateless = true;
  int a = 0;
};
struct declared_not_stateless {
  static constexpr bool stateless = false;
  int a = 0;
};
struct both : lists_one {
  static constexpr bool stateless = true;
};
struct empty {};

static_assert(lists_state<lists_one> && lists_state<lists_none>);
static_assert(!lists_state<returns_a_number> && !lists_state<has_data_of_that_name> && !lists_state<empty>);
static_assert(stateless<declared_stateless> && stateless<empty>);
static_assert(!stateless<declared_not_stateless> && !stateless<has_data_of_that_name> && !stateless<returns_a_number>);
static_assert(lists_state<both> && !stateless<both>);  // what is listed is saved
static_assert(stateless<decltype(unsaved([n = 0]() mutable { return ++n; }))>);

// --- who saves, restores, stages, watches ---------------------------------------------------------------------------

struct restores_nothing {
  void restore(training_state const&) {}
};
static_assert(restorer<archetypes::minimal_restorer> && !restorer<restores_nothing> && !restorer<empty>);

struct without_commit : archetypes::minimal_backend {
  template <class Request>
  status stage(Request const&) {
    return {};
  }
};
using finalized = decltype(toy_graph().finalize());
static_assert(stages<archetypes::minimal_staging_backend> && stages<finalized>);
static_assert(backend<archetypes::minimal_staging_backend>);
static_assert(!stages<archetypes::minimal_backend> && !stages<without_commit>);

struct saves_without_category : archetypes::minimal_saver {
  using category = empty;
};
struct saves_without_wish {
  using category = saver;
  void save(training_state const&, life&) {}
};
static_assert(detail::saving<archetypes::minimal_saver>);
static_assert(!detail::saving<saves_without_category> && !detail::saving<saves_without_wish>);

struct enters_only {
  void on_enter(moment const&) noexcept {}
};
struct may_throw {
  void on_enter(moment const&) noexcept {}
  void on_leave(moment const&) {}
};
static_assert(watching<archetypes::minimal_watcher> && !watching<enters_only> && !watching<may_throw>);
static_assert(good<archetypes::minimal_watcher>);
static_assert(refused<detail::half_watching<enters_only>, enters_only>);
static_assert(refused<detail::half_watching<may_throw>, may_throw>);

// a watcher without members takes no space
static_assert(sizeof(verdict_on<archetypes::minimal_watcher>::session_type) == sizeof(verdict_on<>::session_type));

// --- sessions with checkpoints --------------------------------------------------------------------------------------

struct unlisted {
  int a = 0;
  void close() {}
};
struct listed_hook : lists_one {
  void close() {}
};
struct lists_text {
  char const* words = "";
  auto state() { return fields{field<"words">(words)}; }
  void close() {}
};
struct lists_text_within {
  lists_text inner;
  auto state() { return fields{field<"inner">(inner)}; }
  void close() {}
};
struct says_it_is_not : unlisted {
  static constexpr bool stateless = false;
};
using restoring = options<restore_from<archetypes::minimal_restorer>>;

static_assert(good<unlisted> && good<restoring, listed_hook, archetypes::minimal_hook>);
static_assert(good<archetypes::minimal_saver, listed_hook>);
static_assert(refused<detail::unlisted_state<unlisted>, restoring, unlisted>);
static_assert(refused<detail::unlisted_state<unlisted>, unlisted, archetypes::minimal_saver>);
static_assert(refused<detail::unlisted_state<says_it_is_not>, restoring, says_it_is_not>);
static_assert(refused<detail::unlisted_state<unlisted>, restoring, std::reference_wrapper<unlisted>>);
static_assert(refused<detail::unlisted_state<unlisted>, restoring, named_hook<"a", unlisted>>);
static_assert(refused<detail::unsaved_field<lists_text, "words", char const*>, restoring, lists_text>);
static_assert(refused<detail::unsaved_field<lists_text_within, "words", char const*>, restoring, lists_text_within>);
static_assert(good<lists_text>);  // nobody saves

struct saves_by_half {
  using category = saver;
  bool wants_save() { return true; }
  void save(training_state const&) {}
  void close() {}
};
struct wishes_by_a_number {
  using category = saver;
  int wants_save() { return 1; }
  void save(training_state const&, life&) {}
  void close() {}
};
struct of_the_category_only {
  using category = saver;
  int a = 0;
  void close() {}
};
struct has_a_save_of_its_own {
  int a = 0;
  void save(char const*) {}
  void close() {}
};
static_assert(refused<detail::half_saving<saves_by_half>, saves_by_half>);
static_assert(refused<detail::half_saving<wishes_by_a_number>, wishes_by_a_number>);
static_assert(good<of_the_category_only> && good<has_a_save_of_its_own>);
struct nothing_but_saving {
  using category = saver;
  bool wants_save() { return true; }
  void save(training_state const&, life&) {}
};
static_assert(good<nothing_but_saving>);

struct restored_with_a_step {
  void after_restore(step_number) {}
  void close() {}
};
struct restored_privately : archetypes::minimal_hook {
 private:
  void after_restore() {}
};
struct restored_plainly : archetypes::minimal_hook {
  void after_restore() {}
};
struct restored_with_life : archetypes::minimal_hook {
  void after_restore(life&) {}
};
static_assert(good<restored_plainly, restored_with_life>);
static_assert(refused<detail::uncallable_after_restore<restored_with_a_step>, restored_with_a_step>);
static_assert(refused<detail::uncallable_after_restore<restored_privately>, restored_privately>);

// --- gates ----------------------------------------------------------------------------------------------------------

struct only_gate {
  void gate(auto& ctx) { ctx.veto(); }
};
struct gate_with_values {
  auto before_run(auto&) { return fetch<"loss">; }
  void gate(auto&, auto&) {}
};
struct gate_with_all {
  auto before_run(auto&) { return fetch<"loss">; }
  void gate(auto&, auto&, life&) {}
};
struct gate_without_parameters {
  void gate() {}
};
struct gate_without_asking {
  void gate(auto&, auto&) {}
};
class private_gate {
  void gate(auto&) {}
};
struct insists : only_gate {
  static constexpr bool needs_gate = true;
};
struct insists_on_restorer : only_gate {
  static constexpr bool needs_restorer = true;
};
static_assert(good<only_gate, gate_with_values, gate_with_all, insists>);
static_assert(refused<detail::uncallable<gate_without_parameters, "gate">, gate_without_parameters>);
static_assert(refused<detail::uncallable<gate_without_asking, "gate">, gate_without_asking>);
static_assert(refused<detail::uncallable<private_gate, "gate">, private_gate>);
static_assert(refused<detail::roll_back_without_checkpoints<insists_on_restorer>, insists_on_restorer>);
static_assert(good<restoring, insists_on_restorer>);
template <class... Arguments>
using verdict_on_unstaged = typename detail::monitored_plan<archetypes::minimal_backend, Arguments...>::verdict;
static_assert(verdict_on_unstaged<only_gate>::good);
static_assert(std::is_same_v<verdict_on_unstaged<insists>, detail::gate_without_stages<insists, archetypes::minimal_backend>>);
static_assert(detail::monitored_plan<archetypes::minimal_staging_backend, insists>::verdict::good);

// --- real time ------------------------------------------------------------------------------------------------------

using quickly = options<tautline::real_time>;
struct quick {
  static constexpr bool real_time = true;
  auto before_run(auto&) noexcept { return fetch<"loss">; }
  void gate(auto&, auto&) noexcept {}
  void after_run(auto&, auto&) noexcept {}
};
struct quick_but_silent {
  void after_run(auto&) noexcept {}
};
struct says_it_is_slow : quick_but_silent {
  static constexpr bool real_time = false;
};
struct asks_slowly {
  static constexpr bool real_time = true;
  void before_run(auto&) {}
};
struct gates_slowly {
  static constexpr bool real_time = true;
  void gate(auto&) {}
};
struct looks_slowly_at_values {
  static constexpr bool real_time = true;
  auto before_run(auto&) noexcept { return fetch<"loss">; }
  void after_run(auto&, auto&) {}
  void after_run(auto&) noexcept {}
};
struct slow_elsewhere {
  void after_create_session(auto&) {}
  void end(auto&) {}
};
static_assert(good<quickly, quick, slow_elsewhere, archetypes::minimal_hook> && good<quick_but_silent, asks_slowly>);
static_assert(refused<detail::not_real_time<quick_but_silent, "a member real_time = true">, quickly, quick_but_silent>);
static_assert(refused<detail::not_real_time<says_it_is_slow, "a member real_time = true">, quickly, says_it_is_slow>);
static_assert(refused<detail::not_real_time<asks_slowly, "noexcept before_run">, quickly, asks_slowly>);
static_assert(refused<detail::not_real_time<gates_slowly, "noexcept after_run or gate">, quickly, gates_slowly>);
static_assert(
    refused<detail::not_real_time<looks_slowly_at_values, "noexcept after_run or gate">, quickly, looks_slowly_at_values>);
static_assert(refused<detail::not_real_time<archetypes::minimal_watcher, "a member real_time = true">, quickly,
                      archetypes::minimal_watcher>);

// --- coordinators ---------------------------------------------------------------------------------------------------

struct coordinator {};
struct with_the_coordinator {
  void after_create_session(auto&, coordinator&) {}
};
struct with_it_and_life {
  void after_create_session(auto&, coordinator&, life&) {}
};
using coordinated = options<with_coordinator<coordinator>>;
static_assert(good<coordinated, with_the_coordinator, with_it_and_life, archetypes::minimal_hook>);
static_assert(refused<detail::uncallable<with_the_coordinator, "after_create_session">, with_the_coordinator>);
static_assert(refused<detail::uncallable<with_the_coordinator, "after_create_session">,
                      options<with_coordinator<empty>>, with_the_coordinator>);

// --- flags of triggers ----------------------------------------------------------------------------------------------

static_assert(detail::flag_count<every_steps>() == 1 && detail::flag_count<at_steps<2>>() == 0);
static_assert(detail::flag_count<decltype(every_steps{2} | once | at_steps{3} | at_end)>() == 2);
static_assert(detail::flag_count<decltype(step_from<"w">(every_steps{2} | once))>() == 2);
constexpr bool flags_come_back() {
  auto const joined = (every_steps{.period = 5, .also_first = true} | at_steps{3}) | (once | every_steps{4});
  using memory = decltype(joined)::memory;
  for (std::uint64_t bits = 0; bits < 8; ++bits) {
    memory kept{};
    joined.set_flags(kept, bits);
    if (joined.flags(kept) != bits) return false;
  }
  return true;
}
static_assert(flags_come_back());

}  // namespace
