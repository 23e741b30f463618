// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/check_run.hpp>
#include <tautline/core/saved_state.hpp>

TAUTLINE_BEGIN
namespace detail {

/// A value in a result: a copy of up to 32 trivially copyable bytes, else a reference into the backend.
template <class Value, bool = std::is_trivially_copyable_v<Value> && sizeof(Value) <= 32>
struct captured {
  union {
    Value copy;
  };
  bool there = false;
  captured() { __builtin_memset(static_cast<void*>(&copy), 0, sizeof copy); }  // no garbage where there is no value
  void capture(Value const& value) { ::new (static_cast<void*>(&copy)) Value(value); }
  [[nodiscard]] Value const& get() const { return copy; }
};
template <class Value>
struct captured<Value, false> {
  Value const* reference = nullptr;
  bool there = false;
  void capture(Value const& value) { reference = &value; }
  [[nodiscard]] Value const& get() const { return *reference; }
};

template <std::size_t Index, class Fetch, class Value>
struct result_leaf : captured<Value> {};

template <class Core, class Fetch>
struct captured_type;
template <class Core, fixed_string Name, class Type>
struct captured_type<Core, fetch_t<Name, Type>> {
  using type = std::remove_cvref_t<decltype(std::declval<Core&>().template value<Name, Type>())>;
};

template <class Core, class Indices, class Fetches>
struct result_values;
template <class Core, std::size_t... Index, class... Fetches>
struct result_values<Core, std::index_sequence<Index...>, type_list<Fetches...>>
    : result_leaf<Index, Fetches, typename captured_type<Core, Fetches>::type>... {
  template <class Request, class Args>
  void capture([[maybe_unused]] Core& core, [[maybe_unused]] Args const& asked) {
    (capture_one<Request>(core, asked, static_cast<result_leaf<Index, Fetches, typename captured_type<Core, Fetches>::type>&>(*this)),
     ...);
  }

 private:
  template <class Request, std::size_t At, fixed_string Name, class Type, class Value, class Args>
  static void capture_one(Core& core, Args const& asked, result_leaf<At, fetch_t<Name, Type>, Value>& leaf) {
    leaf.capture(core.template value<Name, Type>());  // of a publication the last one, perhaps of an earlier run
    leaf.there = core.template has<Name>() && inspect<Args>::template wants<item_kind::fetch, Name>(asked);
    if constexpr (stages<typename Core::backend_type> && Request::is_step) {  // what a vetoed update would have given
      if constexpr (Core::backend_type::template is_late<Request, Name>()) leaf.there = leaf.there && !core.state.vetoed;
    }
  }
};

template <class Fetches>
struct count_of;
template <class... Types>
struct count_of<type_list<Types...>> : std::integral_constant<std::size_t, sizeof...(Types)> {};

}  // namespace detail

/// What one run gave its caller: true if the run took place.
///
/// Values of up to 32 trivially copyable bytes are copies; larger ones are references into the backend, good until
/// its next run.
template <class Core, class Fetches>
class TAUTLINE_CHECKED run_result
    : detail::result_values<Core, std::make_index_sequence<detail::count_of<Fetches>::value>, Fetches> {
  using values = detail::result_values<Core, std::make_index_sequence<detail::count_of<Fetches>::value>, Fetches>;

 public:
  /// The run took place, and every hook has seen it.
  [[nodiscard]] explicit operator bool() const { return ran_; }
  /// The input had no more; the session has stopped for that reason.
  [[nodiscard]] bool end_of_input() const { return kind_ == error_kind::out_of_range && ended_; }
  /// Why it did not take place: `none` if it did or met the end of the input; details are in the session's `status()`.
  [[nodiscard]] error_kind error() const { return ended_ ? error_kind::none : kind_; }

  /// Precondition: the run took place, and for a published value, or one that is computed from a change, in a session with
  /// gates, `has(fetch<Name>)`.
  template <fixed_string Name>
  [[nodiscard]] decltype(auto) get() const {
    using verdict = decltype(detail::check_asked_for<Name>(Fetches{}));
    if constexpr (verdict::good) {
      return leaf<Name>(*this).get();
    } else {
      verdict::say();
      return detail::rejected{};
    }
  }
  template <fixed_string Name, class Type>
  [[nodiscard]] decltype(auto) operator[](fetch_t<Name, Type>) const {
    return get<Name>();
  }
  template <fixed_string Name, class Type>
  [[nodiscard]] bool has(fetch_t<Name, Type>) const {
    return leaf<Name>(*this).there;
  }

  // --- for the session ---
  /// @tparam Request of all parties of the run
  template <class Request, class Args>
  static run_result of_run(Core& core, Args const& asked) {
    run_result result;
    result.ran_ = true;
    result.values::template capture<Request>(core, asked);
    return result;
  }
  static run_result of_end() {
    run_result result;
    result.kind_ = error_kind::out_of_range;
    result.ended_ = true;
    return result;
  }
  static run_result of_error(error_kind kind) {
    run_result result;
    result.kind_ = kind;
    return result;
  }

 private:
  template <fixed_string Name, std::size_t Index, class Type, class Value>
  static auto const& leaf(detail::result_leaf<Index, fetch_t<Name, Type>, Value> const& found) {
    return found;
  }

  error_kind kind_ = error_kind::none;
  bool ran_ = false;
  bool ended_ = false;
};

template <class Core>
class raw_session : public detail::finalized_graph<struct the_raw_session> {
 public:
  explicit raw_session(Core& core) : core_(&core) {}

  /// One raw run: no hooks, no step. @return false at the end of the input, and where an error is a value
  ///
  /// The values of the last run stay only until this one: in `after_run` it takes them from the hooks that come later
  /// and from the caller. Run it in `after_create_session`, `before_run` or `end`, or on a copy of `backend()`.
  template <class... Items>
  auto run(Items const&... items) const {
    using verdict = decltype(detail::check_items<detail::a_raw_run, typename Core::backend_type, void, Items...>());
    if constexpr (verdict::good) {
      return run_checked(items...);
    } else {
      verdict::say();
      return detail::rejected{};
    }
  }

  /// A stored value, as the last run left it, without a run: a variable, or what was computed last.
  template <fixed_string Name, class Type = void>
  [[nodiscard]] decltype(auto) value() const {
    using verdict = decltype(detail::check_stored_value<typename Core::backend_type, Name, Type>());
    if constexpr (verdict::good) {
      return detail::stored_value<Name, Type>(core_->backend);
    } else {
      verdict::say();
      return detail::rejected{};
    }
  }
  template <fixed_string Name, class Type>
  [[nodiscard]] decltype(auto) operator[](fetch_t<Name, Type>) const {
    return value<Name, Type>();
  }

  /// Completed steps.
  [[nodiscard]] step_number step() const { return core_->state.completed; }
  /// The backend itself, for what only this kind of backend has.
  [[nodiscard]] auto& backend() const { return core_->backend; }
  /// True once a stop was asked for; a hook that waits asks this.
  [[nodiscard]] bool stop_requested() const { return core_->state.stopped(); }

  /// What a checkpoint of this moment would hold.
  [[nodiscard]] training_state state() const { return detail::saved_state<Core>::view(*core_); }

  /// Whether the session has a clock (`options{with_clock{…}}`), and what it says; 0 where it has none.
  static constexpr bool has_clock = detail::has_clock<typename Core::options_type>;
  [[nodiscard]] std::uint64_t ticks() const { return core_->ticks(); }
  [[nodiscard]] std::uint64_t ticks_per_second() const { return core_->ticks_per_second(); }

 private:
  template <class... Items>
  auto run_checked(Items const&... items) const {
    using args = run_args<Items...>;
    using result = run_result<Core, typename detail::inspect<args>::fetches>;
    args const asked(items...);
    run_request<false, names<>, std::index_sequence<0>, args> const request(asked);
    detail::finish_guard<decltype(request), typename Core::backend_type> const finish(core_->backend);
    status const done = core_->backend.run(request);
    if (done.ok()) return result::template of_run<run_request<false, names<>, std::index_sequence<0>, args>>(*core_, asked);
    if (done.kind == error_kind::out_of_range) return result::of_end();
#if TAUTLINE_EXCEPTIONS
    tautline::error happened;
    happened.kind = done.kind;
    happened.where = callback::run;
    happened.message = text::of_lasting(done.message);
    detail::raise(happened);
#else
    return result::of_error(done.kind);
#endif
  }

  Core* core_;
};

TAUTLINE_END
