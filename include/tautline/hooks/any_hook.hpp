// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <new>

#include <tautline/hooks/any_trigger.hpp>
#include <tautline/hooks/detail/inside.hpp>

TAUTLINE_BEGIN

/// What a slot reads: `any_hook<reads<"loss", float>>`.
template <fixed_string Name, class Type>
using reads = fetch_t<Name, Type>;

namespace detail {

/// What a hook in a slot sees of the session, and of the graph: what is the same for all.
struct slot_session {
  step_number completed = 0;
  [[nodiscard]] step_number step() const { return completed; }
  static constexpr bool has_clock = false;
};

template <class Fetch>
struct slot_value;
template <fixed_string Name, class Type>
struct slot_value<fetch_t<Name, Type>> {
  Type const* at = nullptr;
};

/// The values of a run by their declared types, as pointers to where the session has them.
template <class... Fetches>
class slot_values;
template <fixed_string... Names, class... Types>
class slot_values<fetch_t<Names, Types>...> : slot_value<fetch_t<Names, Types>>... {
 public:
  template <class Values>
  explicit slot_values(Values& values) : slot_value<fetch_t<Names, Types>>{&values[fetch<Names>]}... {}

  template <fixed_string Name>
  [[nodiscard]] auto const& get() const {
    using verdict = decltype(check_asked_for<Name>(type_list<fetch_t<Names, Types>...>{}));
    if constexpr (verdict::good) {
      return *found<Name>(*this).at;
    } else {
      verdict::say();
      return nothing;
    }
  }
  template <fixed_string Name, class Type>
  [[nodiscard]] auto const& operator[](fetch_t<Name, Type>) const {
    return get<Name>();
  }
  template <fixed_string Name, class Type>
  [[nodiscard]] bool has(fetch_t<Name, Type>) const {
    return true;
  }
  template <class Visit>
  void each(Visit visit) const {
    (visit(name_of<Names>, this->template get<Names>()), ...);
  }

 private:
  static constexpr rejected nothing{};
  template <fixed_string Name, class Type>
  static slot_value<fetch_t<Name, Type>> const& found(slot_value<fetch_t<Name, Type>> const& value) {
    return value;
  }
};
template <>
class slot_values<> {
 public:
  template <class Values>
  explicit slot_values(Values&) {}
  template <class Visit>
  void each(Visit) const {}
};

/// With its type where the backend wants to hear it, else by its name alone.
template <class Context, fixed_string Name, class Type>
constexpr auto slot_item(fetch_t<Name, Type>) {
  if constexpr (requires(Context& ctx) { ctx.session().backend().template value<Name, Type>(); }) {
    return fetch_t<Name, Type>{};
  } else {
    return fetch_t<Name>{};
  }
}

template <class Values, fixed_string Name, class Type>
consteval bool slot_type_fits(fetch_t<Name, Type>) {
  return std::is_same_v<std::remove_cvref_t<decltype(std::declval<Values&>()[fetch<Name>])>, Type>;
}
template <class Slot>
struct slot_of_other_type : reason {
  static consteval void say() {
    static_assert(is_mended<slot_of_other_type>,
                  "tautline: a slot reads a value with another type than the session has. Mend: declare it with the type of the "
                  "node, as in any_hook<reads<\"loss\", float>>");
  }
};

template <class List, fixed_string Name>
inline constexpr bool slot_reads = false;
template <fixed_string... Names, class... Types, fixed_string Name>
inline constexpr bool slot_reads<type_list<fetch_t<Names, Types>...>, Name> = (false || ... || (Names == Name));
template <class Slot, class Fetches>
inline constexpr bool slot_has_all = false;
template <class Slot, fixed_string... Names, class... Types>
inline constexpr bool slot_has_all<Slot, type_list<fetch_t<Names, Types>...>> = (true && ... && slot_reads<Slot, Names>);

}  // namespace detail

/// A place for a hook that is chosen at run time: of a fixed size, without the heap.
///
///     any_hook<reads<"loss", float>> slot;                       // or any_hook_of<256, reads<…>…>
///     slot.install(print_loss{});
///     auto session = monitored(graph, std::ref(slot));
///     session.run_steps(100, target<"train">);
///     slot.install(print_norm{});                                // between two runs
///     slot.clear();
///
/// The slot declares at compile time what its hooks may read, with types. A hook that asks for anything, by `before_run` or
/// by `asks`, gets the values of all these in that run. Its `ctx` is a `run_context_base`: `step`, `due`, `vetoed`,
/// `request_stop`, `fail`. Its `session` in `after_create_session` and `end` has `step()`, and the graph in `begin`
/// nothing.
///
/// @tparam Bytes of the largest hook
/// @tparam Fetches `reads<"name", type>`
/// **Order** callbacks of the hook inside are called in the slot's place. `install` between runs calls its `begin` and,
/// if there is a session, `after_create_session`; `clear`, and another `install`, destroy the old hook, without `end`
/// and `close`.
/// **State** a slot's hook is no part of checkpoints: one that lists a state must be installed by `install_unsaved`.
/// **Errors** those of the hook inside.
/// **Cost** empty: a branch a callback. Otherwise an indirect call for each callback that the hook has.
/// **Thread-safety** `install` and `clear` are for the thread that drives the session, between its runs.
template <std::size_t Bytes, class... Fetches>
class any_hook_of {
  using values = detail::slot_values<Fetches...>;
  using fetch_list = detail::type_list<Fetches...>;

 public:
  static constexpr bool stateless = true;
  static constexpr std::size_t capacity = Bytes;

  any_hook_of() = default;
  any_hook_of(any_hook_of const&) = delete;
  any_hook_of& operator=(any_hook_of const&) = delete;
  ~any_hook_of() { clear(); }

  template <class Hook>
  void install(Hook hook) {
    static_assert(!lists_state<Hook>,
                  "tautline: this hook lists a state, and what is in a slot is not saved. Mend: give the hook to the session as it "
                  "is, or write install_unsaved(hook)");
    install_unsaved(static_cast<Hook&&>(hook));
  }
  template <class Hook>
  void install_unsaved(Hook hook) {
    static_assert(sizeof(Hook) <= Bytes && alignof(Hook) <= alignof(std::max_align_t),
                  "tautline: this hook is too large for its slot. Mend: declare the slot as any_hook_of<BYTES, reads<...>...>");
    static_assert(!detail::has_inside<detail::gate_callback, Hook> && !detail::is_saver<Hook> && !watching<Hook> &&
                      !detail::has_trigger<Hook> && std::is_same_v<detail::provided_by_t<Hook>, detail::type_list<>>,
                  "tautline: a slot cannot hold a hook that has a trigger of its own, a gate, saves, watches or provides values: the "
                  "session must know these when it is compiled. Mend: look at ctx.step() in the hook, or give the hook to the "
                  "session as it is");
    clear();
    ::new (static_cast<void*>(bytes_)) Hook(static_cast<Hook&&>(hook));
    table_ = &functions_of<Hook>;
    fresh_ = true;
  }
  void clear() {
    if (table_ != nullptr) table_->destroy(bytes_);
    table_ = nullptr;
  }
  [[nodiscard]] explicit operator bool() const { return table_ != nullptr; }

  template <class Graph>
  void begin(Graph&, life& at) {
    if (table_ != nullptr) table_->begin(bytes_, at), fresh_ = false;
  }
  template <class Session>
  void after_create_session(Session& session, life& at) {
    detail::slot_session seen{session.step()};
    if (table_ != nullptr) table_->created(bytes_, seen, at);
  }
  template <class Context>
  auto before_run(Context& ctx) {
    bool asked = false;
    if (table_ != nullptr) {
      if (fresh_) welcome(ctx);
      asked = table_->before_run(bytes_, ctx);
    }
    if constexpr (sizeof...(Fetches) != 0) return ask_if(asked, detail::slot_item<Context>(Fetches{})...);
  }
  void after_run(run_context_base& ctx) {
    if (table_ != nullptr) table_->after_run(bytes_, ctx);
  }
  template <class Context, class Values>
    requires(sizeof...(Fetches) != 0 && std::is_base_of_v<run_context_base, Context> && !std::is_same_v<Values, life>)
  void after_run(Context& ctx, Values& read) {
    if constexpr ((true && ... && detail::slot_type_fits<Values>(Fetches{}))) {
      if (table_ == nullptr) return;
      values const seen(read);
      table_->after_run_with(bytes_, ctx, seen);
    } else {
      detail::slot_of_other_type<any_hook_of>::say();
    }
  }
  template <class Session>
  void end(Session& session, life& at) {
    detail::slot_session seen{session.step()};
    if (table_ != nullptr) table_->end(bytes_, seen, at);
  }
  void on_error(error const& happened, life& at) {
    if (table_ != nullptr) table_->on_error(bytes_, happened, at);
  }
  void close(life& at) {
    if (table_ != nullptr) table_->close(bytes_, at);
  }

 private:
  struct functions {
    void (*destroy)(std::byte*);
    void (*begin)(std::byte*, life&);
    void (*created)(std::byte*, detail::slot_session&, life&);
    bool (*before_run)(std::byte*, run_context_base&);
    void (*after_run)(std::byte*, run_context_base&);
    void (*after_run_with)(std::byte*, run_context_base&, values const&);
    void (*end)(std::byte*, detail::slot_session&, life&);
    void (*on_error)(std::byte*, error const&, life&);
    void (*close)(std::byte*, life&);
  };
  struct empty_graph {};

  template <class Hook>
  static Hook& as(std::byte* bytes) {
    return *std::launder(reinterpret_cast<Hook*>(bytes));
  }
  template <class Hook>
  static bool asks(Hook& hook, run_context_base& ctx) {
    using request = std::remove_pointer_t<decltype(detail::request_inside<Hook, run_context_base>())>;
    if constexpr (std::is_same_v<request, detail::no_request>) {
      detail::tell_inside<detail::before_run_callback>(hook, ctx, ctx);
      return false;
    } else {
      using read = detail::inspect<request>;
      static_assert(detail::slot_has_all<fetch_list, typename read::fetches> && std::is_same_v<typename read::feeds, detail::type_list<>> &&
                        std::is_same_v<typename read::targets, detail::type_list<>>,
                    "tautline: this hook asks for what its slot does not declare. Mend: declare it, as in any_hook<reads<\"loss\", "
                    "float>>; feeds and targets are not for slots");
      if constexpr (detail::asks_for_values<request>) {
        return detail::asks_now(detail::tell_inside<detail::before_run_callback>(hook, ctx, ctx));
      } else {
        return false;
      }
    }
  }
  template <class Hook>
  static constexpr functions functions_of{
      [](std::byte* bytes) { as<Hook>(bytes).~Hook(); },
      []([[maybe_unused]] std::byte* bytes, [[maybe_unused]] life& at) {
        if constexpr (detail::has_inside<detail::begin_callback, Hook>) {
          empty_graph graph;
          detail::begin_inside(as<Hook>(bytes), graph, at);
        }
      },
      [](std::byte* bytes, detail::slot_session& session, life& at) {
        detail::tell_inside<detail::after_create_session_callback>(as<Hook>(bytes), at, session);
      },
      [](std::byte* bytes, run_context_base& ctx) { return asks(as<Hook>(bytes), ctx); },
      []([[maybe_unused]] std::byte* bytes, [[maybe_unused]] run_context_base& ctx) {
        if constexpr (detail::told_inside<detail::after_run_callback, Hook, run_context_base>) {
          detail::tell_inside<detail::after_run_callback>(as<Hook>(bytes), ctx, ctx);
        }
      },
      []([[maybe_unused]] std::byte* bytes, [[maybe_unused]] run_context_base& ctx, [[maybe_unused]] values const& read) {
        if constexpr (detail::told_inside<detail::after_run_callback, Hook, run_context_base, values const>) {
          detail::tell_inside<detail::after_run_callback>(as<Hook>(bytes), ctx, ctx, read);
        }
      },
      [](std::byte* bytes, detail::slot_session& session, life& at) {
        detail::tell_inside<detail::end_callback>(as<Hook>(bytes), at, session);
      },
      [](std::byte* bytes, error const& happened, life& at) {
        detail::tell_inside<detail::on_error_callback>(as<Hook>(bytes), at, happened);
      },
      [](std::byte* bytes, life& at) { detail::tell_inside<detail::close_callback>(as<Hook>(bytes), at); }};

  /// A hook that was installed in the middle is told what it has missed.
  template <class Context>
  TAUTLINE_COLD void welcome(Context& ctx) {
    fresh_ = false;
    detail::slot_session seen{ctx.session().step()};
    table_->begin(bytes_, ctx);
    table_->created(bytes_, seen, ctx);
  }

  alignas(std::max_align_t) std::byte bytes_[Bytes];
  functions const* table_ = nullptr;
  bool fresh_ = false;
};
/// A slot for hooks of up to 128 bytes.
template <class... Fetches>
using any_hook = any_hook_of<128, Fetches...>;

TAUTLINE_END
