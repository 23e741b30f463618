// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/hooks/detail/inside.hpp>

TAUTLINE_BEGIN
namespace detail {

template <class Hook>
struct on_one_rank : Hook {
  template <class Given>
  constexpr on_one_rank(int rank, Given&& hook) : Hook(static_cast<Given&&>(hook)), acts_(rank == 0) {}

 protected:
  bool acts_;
};
/// A watching hook watches on rank 0 only.
template <class Hook>
struct watching_on_one_rank : on_one_rank<Hook> {
  using on_one_rank<Hook>::on_one_rank;
  void on_enter(moment const& now) noexcept {
    if (this->acts_) Hook::on_enter(now);
  }
  void on_leave(moment const& now) noexcept {
    if (this->acts_) Hook::on_leave(now);
  }
};
/// A saver saves on rank 0 only.
template <class Hook>
struct saving_on_one_rank : on_one_rank<Hook> {
  using on_one_rank<Hook>::on_one_rank;
  [[nodiscard]] constexpr bool wants_save() { return this->acts_ && Hook::wants_save(); }
};
template <class Hook>
using rank_base = std::conditional_t<watching<Hook>, watching_on_one_rank<Hook>,
                                     std::conditional_t<saving<Hook>, saving_on_one_rank<Hook>, on_one_rank<Hook>>>;

}  // namespace detail

/// Of a training in several processes, a hook that acts in the one of rank 0: what logs, saves or shows.
///
///     auto session = monitored(graph, on_rank_zero{rank, tensor_logger<"loss">{every_steps{100}}}, …);
///
/// In the others it asks for nothing and is told nothing. What it declares (trigger, relations, category, tags, state,
/// `asks`, `provides`, `real_time`) holds for this hook, and its members are this hook's.
///
/// @param rank of this process, 0 for the one that acts
/// **Order** that of the hook inside. A `begin` that returns the graph is called on every rank, since the graph's type
/// is one.
/// **Stop** a stop that it asks for on rank 0 stops that process only: agree on it with the others by your own means of
/// communication. A hook with a gate is refused for the same reason.
/// **Cost** a branch in each callback. An ask becomes a conditional one.
/// **Source** the chief-only hooks of tf.estimator, which make the graphs of the ranks differ.
template <class Hook>
class on_rank_zero : public detail::rank_base<Hook> {
  static_assert(!detail::has_inside<detail::gate_callback, Hook>,
                "tautline: on_rank_zero holds no hook with a gate: a veto on one rank alone would make its variables differ from "
                "those of the others. Mend: give the hook to every rank, and let them agree");

 public:
  using tags = detail::tags_with_type<Hook>;

  template <class Given>
    requires(std::is_same_v<std::remove_cvref_t<Given>, Hook>)
  constexpr on_rank_zero(int rank, Given&& hook) : detail::rank_base<Hook>(rank, static_cast<Given&&>(hook)) {
    detail::must_be_moved<Given, Hook>();
    detail::must_have_a_callback<Hook>();
  }

  /// Whether this is the process of rank 0.
  [[nodiscard]] constexpr bool acts() const { return this->acts_; }

  template <class Graph>
    requires(!detail::has_inside<detail::begin_callback, Hook>)
  constexpr void begin(Graph&) {}
  template <class Graph>
    requires detail::begins_by_reference<Hook, Graph>
  constexpr void begin(Graph& graph, life& at) {
    if (acts()) detail::begin_inside(inside(), graph, at);
  }
  template <class Graph>
    requires detail::begins_by_value<Hook, Graph>
  constexpr auto begin(Graph&& graph, life& at) {
    return detail::begin_inside(inside(), static_cast<Graph&&>(graph), at);
  }
  template <class Graph>
    requires detail::begins_by_copy<Hook, Graph>
  constexpr auto begin(Graph& graph, life& at) {
    return detail::begin_inside(inside(), graph, at);
  }

  template <class Session>
    requires detail::fits_inside<detail::after_create_session_callback, Hook, Session>
  constexpr void after_create_session(Session& session, life& at) {
    if (acts()) detail::tell_inside<detail::after_create_session_callback>(inside(), at, session);
  }
  template <class Session, class Coordinator>
    requires(!std::is_same_v<Coordinator, life> && detail::told_inside<detail::after_create_session_callback, Hook, Session, Coordinator>)
  constexpr void after_create_session(Session& session, Coordinator& coordinator, life& at) {
    if (acts()) detail::tell_inside<detail::after_create_session_callback>(inside(), at, session, coordinator);
  }

  template <class Context>
    requires detail::fits_inside<detail::before_run_callback, Hook, Context>
  constexpr auto before_run(Context& ctx) noexcept(detail::quiet_inside<detail::before_run_callback, Hook, Context>) {
    using request = std::remove_pointer_t<decltype(detail::request_inside<Hook, Context>())>;
    if constexpr (std::is_same_v<request, detail::no_request>) {
      if (acts()) detail::tell_inside<detail::before_run_callback>(inside(), ctx, ctx);
    } else {
      std::optional<request> asked;
      if (acts()) asked.emplace(detail::tell_inside<detail::before_run_callback>(inside(), ctx, ctx));
      return asked;
    }
  }

  template <class Context>
    requires(!detail::has_inside<detail::after_run_callback, Hook> || detail::told_inside<detail::after_run_callback, Hook, Context>)
  constexpr void after_run(Context& ctx) noexcept(detail::quiet_inside<detail::after_run_callback, Hook, Context>) {
    if (acts()) detail::tell_inside<detail::after_run_callback>(inside(), ctx, ctx);
  }
  template <class Context, class Values>
    requires(!std::is_same_v<Values, life> && detail::has_inside<detail::after_run_callback, Hook> &&
             detail::told_inside<detail::after_run_callback, Hook, Context, Values>)
  constexpr void after_run(Context& ctx, Values& values) noexcept(detail::quiet_inside<detail::after_run_callback, Hook, Context, Values>) {
    if (acts()) detail::tell_inside<detail::after_run_callback>(inside(), ctx, ctx, values);
  }

  template <class Session>
    requires detail::fits_inside<detail::end_callback, Hook, Session>
  constexpr void end(Session& session, life& at) {
    if (acts()) detail::tell_inside<detail::end_callback>(inside(), at, session);
  }
  constexpr void on_error(error const& happened, life& at)
    requires detail::fits_inside<detail::on_error_callback, Hook, error const>
  {
    if (acts()) detail::tell_inside<detail::on_error_callback>(inside(), at, happened);
  }
  constexpr void close(life& at)
    requires detail::fits_inside<detail::close_callback, Hook>
  {
    if (acts()) detail::tell_inside<detail::close_callback>(inside(), at);
  }

  constexpr void after_restore(life& at)
    requires detail::fits_restore<Hook>
  {
    if (acts()) detail::restore_inside(inside(), at);
  }

 private:
  constexpr Hook& inside() { return *this; }
};
template <class Given>
on_rank_zero(int, Given&&) -> on_rank_zero<std::remove_cvref_t<Given>>;

TAUTLINE_END
