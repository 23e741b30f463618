// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/session_core.hpp>
#include <tautline/core/diagnose.hpp>

TAUTLINE_BEGIN

/// The values that one party asked for in one run, by name and with their types: `values[fetch<"loss">]`.
/// A view: nothing is copied, the values stay where the backend has them until the next run.
///
/// @tparam Fetches what was asked for; another name does not compile
template <class Core, class Fetches>
class run_values;

namespace detail {

template <fixed_string Name, class... Fetches>
consteval bool was_asked_for(type_list<Fetches...>) {
  return (false || ... || (name_in<Fetches>::value == Name));
}

/// The type with which `Name` was asked for; void where the graph knows it.
template <fixed_string Name>
constexpr void asked_type(type_list<>) {}
template <fixed_string Name, class... Rest, fixed_string First, class Type>
constexpr auto asked_type(type_list<fetch_t<First, Type>, Rest...>) {
  if constexpr (First == Name) {
    if constexpr (!std::is_void_v<Type>) return static_cast<Type*>(nullptr);
  } else {
    return asked_type<Name>(type_list<Rest...>{});
  }
}
template <fixed_string Name, class Fetches>
using asked_type_t = std::remove_pointer_t<decltype(asked_type<Name>(Fetches{}))>;

/// The names of a list of fetches, for messages.
template <class Fetches>
struct names_in;
template <fixed_string... Names, class... Types>
struct names_in<type_list<fetch_t<Names, Types>...>> {
  using type = names<Names...>;
};
template <fixed_string Name, class... Fetches>
consteval auto check_asked_for(type_list<Fetches...> fetches) {
  if constexpr (was_asked_for<Name>(fetches)) {
    return fine{};
  } else {
    return not_asked_for<Name, typename names_in<type_list<Fetches...>>::type>{};
  }
}

/// Access by name, for everything that has values of a run.
template <class Core, class Fetches>
class values_of {
 public:
  /// A reference into the backend, or to what another hook published; good until the next run.
  template <fixed_string Name>
  [[nodiscard]] TAUTLINE_INLINE decltype(auto) get() const {
    using verdict = decltype(check_asked_for<Name>(Fetches{}));
    if constexpr (verdict::good) {
      return core_->template value<Name, asked_type_t<Name, Fetches>>();
    } else {
      verdict::say();
      return rejected{};
    }
  }
  template <fixed_string Name, class Type>
  [[nodiscard]] TAUTLINE_INLINE decltype(auto) operator[](fetch_t<Name, Type>) const {
    return get<Name>();
  }
  /// False for a value that another hook did not publish in this run; a backend's values are always there.
  template <fixed_string Name, class Type>
  [[nodiscard]] TAUTLINE_INLINE bool has(fetch_t<Name, Type>) const {
    return core_->template has<Name>();
  }

  /// What the backend knows of the run besides its values, where it has such a thing.
  [[nodiscard]] decltype(auto) metadata() const
    requires requires(typename Core::backend_type& backend) { backend.metadata(); }
  {
    return core_->backend.metadata();
  }

 protected:
  explicit constexpr values_of(Core& core) : core_(&core) {}
  Core* core_;
};

}  // namespace detail

template <class Core, class Fetches>
class run_values : public detail::values_of<Core, Fetches> {
 public:
  explicit constexpr run_values(Core& core) : detail::values_of<Core, Fetches>(core) {}

  /// Calls `visit(name, value)` for each name, in the order of the request.
  template <class Visit>
  void each(Visit visit) const {
    each_of(visit, Fetches{});
  }

 private:
  template <class Visit, fixed_string... Names, class... Types>
  void each_of(Visit& visit, detail::type_list<fetch_t<Names, Types>...>) const {
    (visit(name_of<Names>, this->template get<Names>()), ...);
  }
};

/// The session as hooks see it: raw, without hooks. A hook that runs it does not make a step, and other hooks do not
/// see the run. An error of such a run is the hook's, and is not recovered.
template <class Core>
class raw_session;

/// The run in progress, for hooks that are compiled apart: not a template.
class run_context_base : public life {
 public:
  /// Whether a gate has vetoed what this run would have changed. The run counts as a step all the same.
  [[nodiscard]] bool vetoed() const { return state_->vetoed; }
  /// In `gate`: nothing of what this run would change takes place. Values that are computed from the change are not there
  /// in this run: who asked for them gets `after_run(ctx)`. **Errors** elsewhere it is one: it would come too late.
  TAUTLINE_INLINE void veto() {
    if (where_ != callback::gate) return fail(error_kind::invalid_argument, "veto() is for gates. Mend: move it into gate(ctx, values)");
    state_->vetoed = true;
  }

 protected:
  explicit run_context_base(detail::life_state& state) : life(state) {}
};

/// The run in progress, as hooks get it and as the loop yields it.
///
/// @tparam Args the caller's request, a `run_args`
template <class Core, class Args>
class run_context : public run_context_base, public detail::values_of<Core, typename detail::inspect<Args>::fetches> {
  using values = detail::values_of<Core, typename detail::inspect<Args>::fetches>;

 public:
  run_context(Core& core, Args const& args) : run_context_base(core.state), values(core), args_(&args) {}
  run_context(run_context const&) = delete;
  run_context& operator=(run_context const&) = delete;

  /// What the caller asked for.
  [[nodiscard]] Args const& original_args() const { return *args_; }

  /// The raw session.
  [[nodiscard]] raw_session<Core> session() const { return raw_session<Core>(*this->core_); }

  using backend_type = typename Core::backend_type;
  /// Whether runs of this session have a gate: the backend can make them in two parts.
  static constexpr bool has_gate = stages<typename Core::backend_type>;
  /// Whether there is something that a training could go back to (`options{restore_from{…}}`).
  static constexpr bool has_restorer = detail::has_restorer<typename Core::options_type>;

  /// In `gate`: nothing of this run takes place, and the session is made anew from the latest checkpoint, as in a recovery.
  /// Hooks are told (`on_error` with the kind `nan`, `after_create_session`), but for this it is no error. How often, is for
  /// the hook to bound. **Errors** without a checkpoint to go back to it is one.
  void roll_back(text why)
    requires(has_restorer)
  {
    if (this->where_ != callback::gate) {
      return this->fail(error_kind::invalid_argument, "roll_back() is for gates. Mend: move it into gate(ctx, values)");
    }
    this->core_->restoring.roll_back = true;
    this->fail(error_kind::nan, why);
  }

  /// Hands a value to the hooks that come later in this run and ask for it, and to the caller.
  template <fixed_string Name, class Value>
  void publish(Value const& value) const {
    if constexpr (Core::template is_published<Name>) {
      auto& publication = this->core_->template publication<Name>();
      publication.value = value;
      publication.made = true;
    } else {
      detail::undeclared_publication<Name, typename Core::provided_names>::say();
    }
  }

  /// What another hook has published so far in this run, for hooks that come after it; null if it has not.
  /// **Order** whoever asks for the name comes after who provides it.
  template <fixed_string Name>
  [[nodiscard]] auto const* published() const {
    if constexpr (Core::template is_published<Name>) {
      auto const& publication = this->core_->template publication<Name>();
      return publication.made ? &publication.value : nullptr;
    } else {
      return static_cast<void const*>(nullptr);
    }
  }

 private:
  Args const* args_;
};

TAUTLINE_END
