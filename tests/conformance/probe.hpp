// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "stage.hpp"

namespace conformance {

/// What relations name: the hook of this id.
template <tautline::fixed_string Id>
struct id_tag {};

template <tautline::fixed_string... Ids>
struct ids {};

/// Base of probes without relations, and of those with some.
struct unrelated {};
template <class Before, class After, bool Outermost>
struct related;
template <tautline::fixed_string... Before, tautline::fixed_string... After, bool Outermost>
struct related<ids<Before...>, ids<After...>, Outermost> {
  using runs_before = tautline::hooks<id_tag<Before>...>;
  using runs_after = tautline::hooks<id_tag<After>...>;
  static constexpr bool outermost = Outermost;
};

/// Does what the script orders for this callback. The trace line has been written before.
inline void act_out(world& played, std::size_t hook, callback at, tautline::life& life) {
  std::vector<action> const& actions = played.script.hooks[hook].actions;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    action const& one = actions[i];
    if (played.done[hook][i] || one.at != at || !(one.at_any_step || one.step == life.step())) continue;
    played.done[hook][i] = true;
    if (one.stops) {
      life.request_stop("ordered by the scenario");
    } else {
#if TAUTLINE_EXCEPTIONS
      throw_ordered(one.raises);
#else
      life.fail(one.raises.kind, "ordered by the scenario");
      return;
#endif
    }
  }
}

/// A hook that traces every callback. What it asks for and feeds are its types, when and what are the script's.
///
/// Its feeds are conditional in type and always there in fact: that two hooks feed one name is then found in the run,
/// as the scenarios have it, and not by the compiler.
template <tautline::fixed_string Id, class Fetched, class Fed, class Relations = unrelated>
class probe;
template <tautline::fixed_string Id, tautline::fixed_string... Fetched, tautline::fixed_string... Fed, class Relations>
class probe<Id, tautline::names<Fetched...>, tautline::names<Fed...>, Relations> : public Relations {
 public:
  using tags = tautline::hooks<id_tag<Id>>;

  static constexpr bool stateless = true;  // what it does is in its script

  probe(world& played, std::size_t index) : world_(&played), index_(index) {}

  void begin(auto&, tautline::life& life) {
    world_->trace("begin %s", id);
    act_out(*world_, index_, callback::begin, life);
  }
  void after_create_session(auto&, tautline::life& life) {
    world_->trace("after_create_session %s", id);
    act_out(*world_, index_, callback::after_create_session, life);
  }
  auto before_run(auto& context) {
    world_->trace("before_run %s step=%lld", id, static_cast<long long>(context.step()));
    act_out(*world_, index_, callback::before_run, context);
    if constexpr (sizeof...(Fetched) + sizeof...(Fed) != 0) return request(context.step());
  }
  void after_run(auto& context) { told(context, ""); }
  void after_run(auto& context, auto& values)
    requires(sizeof...(Fetched) != 0)
  {
    std::string shown;
    (show<Fetched>(shown, values[tautline::fetch<Fetched>]), ...);  // the generator has sorted them
    told(context, shown.c_str());
  }
  void on_error(tautline::error const& happened, tautline::life& life) {
    world_->trace("on_error %s %s", id, tautline::to_string(happened.kind));
    act_out(*world_, index_, callback::on_error, life);
  }
  void end(auto&, tautline::life& life) {
    world_->trace("end %s", id);
    act_out(*world_, index_, callback::end, life);
  }
  void close(tautline::life& life) {
    world_->trace("close %s", id);
    act_out(*world_, index_, callback::close, life);
  }

 private:
  static constexpr char const* id = tautline::name_of<Id>;

  auto request(step_number step) const {
    hook_script const& script = world_->script.hooks[index_];
    bool const asks = step % script.fetch_every == 0;
    if constexpr (sizeof...(Fed) == 0) {
      return tautline::ask_if(asks, tautline::fetch<Fetched>...);
    } else if constexpr (sizeof...(Fetched) == 0) {
      return tautline::ask_if(true, tautline::feed<Fed>(script.feed_of(tautline::name_of<Fed>).at(0))...);
    } else {
      return tautline::run_args{
          tautline::ask_if(asks, tautline::fetch<Fetched>...),
          tautline::ask_if(true, tautline::feed<Fed>(script.feed_of(tautline::name_of<Fed>).at(0))...)};
    }
  }
  template <tautline::fixed_string Name>
  static void show(std::string& shown, double value) {
    char number[40];
    std::snprintf(number, sizeof number, "=%g", value);
    shown += ' ';
    shown += tautline::name_of<Name>;
    shown += number;
  }
  void told(auto& context, char const* shown) {
    world_->trace("after_run %s step=%lld%s", id, static_cast<long long>(context.step()), shown);
    act_out(*world_, index_, callback::after_run, context);
  }

  world* world_;
  std::size_t index_;
};

}  // namespace conformance
