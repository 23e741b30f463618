// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/asker.hpp>

TAUTLINE_BEGIN
namespace detail {

/// One step, as a plain inlined function over a local run context: what the loop consists of.
template <class Core>
class stepper;
template <class Backend, class Options, class... Kept>
class stepper<session_core<Backend, Options, Kept...>> : public asker<session_core<Backend, Options, Kept...>> {
 public:
  using base = asker<session_core<Backend, Options, Kept...>>;
  using core = typename base::core;
  using indices = typename base::indices;
  using opening = typename base::opening;
  using closing = typename base::closing;
  static constexpr std::size_t hook_count = sizeof...(Kept);

  using base::base;

 protected:
  template <std::size_t Index>
  using request_info = typename base::template request_info<Index>;
  template <auto Mask, bool Foreseen>
  using answers = typename base::template answers<Mask, Foreseen>;

  /// Stands for the request of a run of which nothing can be vetoed.
  struct not_staged {};

  struct publishes {
    static consteval hook_mask<hook_count> mask() {
      return {{!std::is_same_v<provided_by_t<hook_of<Kept>>, type_list<>>...}};
    }
  };

  /// Hooks that look at a run before it changes anything: where the backend can stage one.
  static constexpr bool has_gates = (false || ... || gate_callback::named<hook_of<Kept>>());
  template <auto Mask>
  struct is_seeing {
    static consteval auto mask() { return Mask; }
  };
  template <auto Mask>
  using gating = filter_if_t<has_gates, is_seeing<Mask>,
                             filter_if_t<has_gates, typename base::template has_callback<gate_callback>, closing>>;
  template <auto Mask, class Args>
  static consteval bool is_staged() {
    return !std::is_same_v<gating<Mask>, std::index_sequence<>> && stages<Backend>;
  }
  template <auto Mask>
  using saving_hooks = filter_if_t<!std::is_same_v<typename base::savers, std::index_sequence<>>, is_seeing<Mask>, typename base::savers>;

  /// Makes runs for as long as `go_on` wants more. After a recovery it gives `again`: the caller has to repeat the run,
  /// whatever was asked for meanwhile.
  ///
  /// What is rare leaves the loop: without a call in it a compiler may keep the graph's state in registers. The context
  /// is made anew for each run, so that its flags are constants at the head of the loop.
  template <auto Mask, class Args, class GoOn>
  TAUTLINE_INLINE outcome make_runs(Args const& args, GoOn go_on) {
    status failed;  // the backend's
    for (;;) {
      run_context<core, Args> here(*this, args);
      outcome const how = attempt<Mask>(here, args, failed);
      if (how != outcome::ran) [[unlikely]] return resolve(how, failed, access::ahead(here));
      if (!go_on()) return outcome::ran;
    }
  }

  template <auto Mask, class Args>
  TAUTLINE_INLINE outcome attempt(run_context<core, Args>& here, Args const& args, status& failed) {
    TAUTLINE_TRY {
      if constexpr (may_make_step<Mask, Args>()) access::set_ahead(here, detail::steps_per_run(this->backend));
      forget_publications(filter_t<publishes, indices>{});
      answers<Mask, false> each;
      answers<Mask, true> foreseen;
      bool quiet = this->is_quiet(here);
      if (!this->ask_all(here, each, foreseen, quiet, typename base::asked_groups{})) return outcome::failed;

      auto const request = base::merge(quiet, args, each, foreseen, indices{});
      if (!this->check_feeds(here, args, each.requests, typename base::feeding{})) return outcome::failed;

      access::enter(here, callback::run, no_hook);
      status done;  // no function between this and the backend: a context whose address it took would live in memory
      if constexpr (is_staged<all_hooks<hook_count>, Args>()) this->state.vetoed = false;
      if constexpr (is_staged<Mask, Args>()) {
        {
          [[maybe_unused]] auto const seen = this->watch(here, callback::run, hook_count);
          done = this->backend.stage(request);
        }
        if (done.ok()) [[likely]] {
          if (!ask_gates(here, request, each.requests, gating<Mask>{})) return failed_at_gate();
          if (!this->state.vetoed) [[likely]] {
            access::enter(here, callback::run, no_hook);
            [[maybe_unused]] auto const seen = this->watch(here, callback::run, hook_count);
            done = this->backend.commit(request);
          }
        }
      } else {
        [[maybe_unused]] auto const seen = this->watch(here, callback::run, hook_count);
        done = this->backend.run(request);
      }
      if (!done.ok()) [[unlikely]] {
        failed = done;
        return outcome::run_failed;
      }
      access::enter(here, callback::after_run, no_hook);
      advance(here, request);

      step_number next = no_step;  // as far as the hooks foresee
      if constexpr (base::has_foreseen) {
        if (!quiet) this->quiet.until = nothing_moved;
      }
      if (!tell_all(here, request, each, foreseen, quiet, next, typename base::told_groups{})) return outcome::failed;
      if constexpr (base::has_foreseen) {
        if (!quiet && this->quiet.until == nothing_moved) this->quiet.until = next;
      }
      if constexpr (!std::is_same_v<saving_hooks<Mask>, std::index_sequence<>>) {
        if (this->wants_save(saving_hooks<Mask>{})) [[unlikely]] {
          if (!this->save_all(access::ahead(here), saving_hooks<Mask>{})) return outcome::failed;
        }
      }
      return outcome::ran;
    }
    TAUTLINE_CATCH_ALL { return thrown(access::place(here)); }
  }

 private:
  /// False for runs in which nobody can ask for the step target: their step is the last completed one.
  template <auto Mask, class Args>
  static consteval bool may_make_step() {
    if constexpr (requires { Backend::step_target; }) {
      return base::template full_request<Mask, Args>::find(item_kind::target, Backend::step_target.characters) != presence::never;
    } else {
      return true;
    }
  }

  template <class Request>
  TAUTLINE_INLINE void advance(life& at, Request const& request) {
    if (makes_step<Backend>(request)) {
      this->state.completed += detail::steps_per_run(this->backend);
      access::set_ahead(at, 0);
    } else {
      access::set_ahead(at, 0);    // triggers see no progress
      this->state.recoveries = 0;  // elsewhere known by the steps that were completed
    }
  }

  template <std::size_t... Index>
  TAUTLINE_INLINE void forget_publications(std::index_sequence<Index...>) {
    (forget_publications_of<Index>(), ...);
  }
  template <std::size_t Index>
  TAUTLINE_INLINE void forget_publications_of() {
    this->template place<Index>().published.forget();
  }

  // --- the run, and what may be vetoed of it -------------------------------------------------------------------------

  /// All hooks that have a gate see the run that is staged, also after one of them has vetoed.
  template <class Args, class Request, class Slots, std::size_t... Index>
  TAUTLINE_INLINE bool ask_gates(run_context<core, Args>& here, Request const& request, Slots const& requests,
                                 std::index_sequence<Index...>) {
    return (true && ... && ask_gate<Index>(here, request, requests));
  }
  template <std::size_t Index, class Args, class Request, class Slots>
  TAUTLINE_INLINE bool ask_gate(run_context<core, Args>& here, [[maybe_unused]] Request const& request, Slots const& requests) {
    using info = request_info<Index>;
    access::enter(here, callback::gate, Index);
    [[maybe_unused]] auto const seen = this->watch(here, callback::gate, Index);
    auto& hook = this->template place<Index>().hook();
    if constexpr (info::gated_values() == form::absent) {
      if constexpr (info::gated() != form::absent) gate_callback::call<info::gated()>(hook, here, here);
    } else if (asks_now(slot_at<Index>(requests))) {
      typename info::values values(*this);
      gate_callback::call<info::gated_values()>(hook, here, here, values);
    } else if constexpr (info::gated() != form::absent) {
      gate_callback::call<info::gated()>(hook, here, here);
    }
    return !access::failed(here);
  }
  TAUTLINE_INLINE outcome failed_at_gate() {
    if constexpr (has_restorer<Options>) {
      if (this->restoring.roll_back) return outcome::rolled_back;
    }
    return outcome::failed;
  }

  // --- after the run ----------------------------------------------------------------------------------------------

  template <auto Mask, class Args, class Run, class... Groups>
  TAUTLINE_INLINE bool tell_all(run_context<core, Args>& here, Run const&, answers<Mask, false> const& each,
                                answers<Mask, true> const& foreseen, bool quiet, step_number& next, group_list<Groups...>) {
    using staged = std::conditional_t<is_staged<Mask, Args>(), Run, not_staged>;
    return (true && ... && tell_group<staged>(here, each, foreseen, quiet, next, Groups{}));
  }
  template <class Staged, auto Mask, class Args, std::size_t... Index>
  TAUTLINE_INLINE bool tell_group(run_context<core, Args>& here, answers<Mask, false> const& each, answers<Mask, true> const&,
                                  bool, step_number&, group<false, std::index_sequence<Index...>>) {
    return (true && ... && __builtin_expect(tell_values<Mask.on[Index], Index, false, Staged>(
                               here, slot_at<Index>(each.requests), each.due[Index]), true));  // as in ask_group
  }
  template <class Staged, auto Mask, class Args, std::size_t... Index>
  TAUTLINE_INLINE bool tell_group(run_context<core, Args>& here, answers<Mask, false> const&, answers<Mask, true> const& foreseen,
                                  bool quiet, step_number& next, group<true, std::index_sequence<Index...>>) {
    if (quiet) {
      return (true && ... && __builtin_expect(tell_values<Mask.on[Index], Index, true, Staged>(
                                 here, slot_at<Index>(foreseen.requests), false), true));
    }
    bool const well = (true && ... && __builtin_expect(tell_values<Mask.on[Index], Index, false, Staged>(
                                          here, slot_at<Index>(foreseen.requests), foreseen.due[Index]), true));
    (foresee<Index>(next), ...);
    return well;
  }
  template <std::size_t Index>
  TAUTLINE_INLINE void foresee(step_number& next) {
    auto& place = this->template place<Index>();
    step_number const own = place.hook().trigger.next_due(place.trigger.kept, this->state.completed);
    if (own < next) next = own;
  }

  /// @tparam Quiet known not to be due
  /// @tparam Staged the request of all parties, if something of the run may be vetoed
  /// @param request of this hook
  // Nothing that has all hooks in its type is a template argument: the names of such functions would grow with the hooks.
  template <bool On, std::size_t Index, bool Quiet, class Staged, class Args, class Request>
  TAUTLINE_INLINE bool tell_values(run_context<core, Args>& here, [[maybe_unused]] Request const& request,
                                   [[maybe_unused]] bool const& due) {
    using info = request_info<Index>;
    auto& place = this->template place<Index>();
    using leaf_type = std::remove_reference_t<decltype(place)>;
    if constexpr (On) {
      if constexpr (info::told_values() != form::absent || info::told() != form::absent) {
        access::enter(here, callback::after_run, Index, !Quiet && leaf_type::triggered && due);  // else nobody has set it
        [[maybe_unused]] auto const seen = this->watch(here, callback::after_run, Index);
        if constexpr (info::told_values() == form::absent) {
          after_run_callback::call<info::told()>(place.hook(), here, here);
        } else if (got_all<Quiet, Staged>(request, typename info::fetches{})) {
          typename info::values values(*this);
          after_run_callback::call<info::told_values()>(place.hook(), here, here, values);
        } else if constexpr (info::told() != form::absent) {
          after_run_callback::call<info::told()>(place.hook(), here, here);
        }
        if (access::failed(here)) [[unlikely]] return false;
      }
      if constexpr (leaf_type::triggered && !Quiet) {
        using trigger_type = typename leaf_type::trigger_type;
        access::enter(here, callback::after_run, Index);
        trigger_view view = this->look(place.hook().trigger, here.step());
        view.asked = view.step;
        if constexpr (counts_by_value<trigger_type>) view.asked = place.trigger.asked;
        place.hook().trigger.looked(place.trigger.kept, view, due, due);
        if constexpr (fires_at_end<trigger_type>) {
          if (due) place.trigger.handled = this->state.completed;
        }
      }
    }
    return true;
  }
  /// Asked for in this run, published as far as other hooks are to publish it, and not vetoed together with an update.
  template <bool Quiet, class Staged, class Request, fixed_string... Names, class... Types>
  TAUTLINE_INLINE bool got_all([[maybe_unused]] Request const& request, type_list<fetch_t<Names, Types>...>) {
    if constexpr (!std::is_same_v<Staged, not_staged>) {
      if constexpr ((false || ... || Backend::template is_late<Staged, Names>())) {
        if (this->state.vetoed) [[unlikely]] return false;
      }
    }
    if constexpr (Quiet && !asks_always<Request>()) {
      return false;
    } else {
      return asks_now(request) && (true && ... && this->template has<Names>());
    }
  }

  // --- failures ---------------------------------------------------------------------------------------------------

  // By value, all of it: a context whose address went out of the loop would have to live in memory.

  /// Recovers, or closes.
  TAUTLINE_COLD outcome resolve(outcome how, status failed, step_number ahead) {
    if (how == outcome::ended) return how;
    if (how == outcome::rolled_back) return this->go_back();
    if (!failed.ok()) {
      step_number const step = this->state.completed + ahead;
      if (unbreakable<Backend> || failed.kind == error_kind::out_of_range) return end_of_input(step);
      this->state.report({.kind = failed.kind, .where = callback::run, .step = step}, text::of_lasting(failed.message));
    }
    return this->settle(how == outcome::run_failed);
  }
  outcome end_of_input(step_number step) {
    this->state.request_stop(by_end_of_input, text::of_lasting("end of input"), step);
    return outcome::ended;
  }
  TAUTLINE_COLD outcome thrown([[maybe_unused]] place_of_error place) {
#if TAUTLINE_EXCEPTIONS
    bool const from_session = place.where == callback::run;
    error_record const happened = access::describe_exception(place);
    if (from_session && happened.kind == error_kind::out_of_range) return end_of_input(place.step);
    this->state.report(happened);
    return from_session ? outcome::run_failed : outcome::failed;
#else
    return outcome::failed;
#endif
  }
};

}  // namespace detail
TAUTLINE_END
