// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <new>

#include <tautline/hooks/any_trigger.hpp>
#include <tautline/hooks/detail/slot.hpp>

TAUTLINE_BEGIN

/// What a slot reads: `any_hook<reads<"loss", float>>`.
template <fixed_string Name, class Type>
using reads = fetch_t<Name, Type>;
/// What a slot may feed: `any_hook<reads<"loss", float>, feeds<"rate", float>>`.
template <fixed_string Name, class Type>
using feeds = feed_t<Name, Type>;

/// A place for a hook that is chosen at run time: of a fixed size, without the heap.
///
///     any_hook<reads<"loss", float>> slot;                       // or any_hook_of<256, reads<…>…>
///     slot.install(print_loss{});
///     auto session = monitored(graph, std::ref(slot));
///     session.run_steps(100, target<"train">);
///     slot.install(print_norm{});                                // between two runs
///     slot.clear();
///
/// The slot declares at compile time what its hooks may read and feed, with types. A hook that asks for anything in its
/// `before_run` gets the values of all `reads` in that run: they stand under one condition, as those of every hook. A
/// name of `feeds` is fed in the runs in which the hook inside feeds it. Its `ctx` is a `run_context_base`: `step`,
/// `due`, `vetoed`, `request_stop`, `fail`. Its `session` in `after_create_session` and `end` has `step()`, and the
/// graph in `begin` nothing.
///
/// @tparam Bytes of the largest hook
/// @tparam Declared `reads<"name", type>` and `feeds<"name", type>`, in any order
/// **Order** callbacks of the hook inside are called in the slot's place. `install` between runs has its `begin` and
/// `after_create_session` called before its next run; `clear`, and another `install`, destroy the old hook, without
/// `end` and `close`.
/// **State** that of the hook inside, its type in front of the names of its fields: "hook/slot/patience/best". So a
/// checkpoint is refused where another hook is in the slot, or none. `install_unsaved` leaves the hook out of
/// checkpoints.
/// **Errors** those of the hook inside, in the name of the slot; so is `feed_conflict`, where another feeds the name in
/// the same run.
/// **Cost** empty: a branch a callback. Otherwise an indirect call for each callback that the hook has.
/// **Thread-safety** `install` and `clear` are for the thread that drives the session, between its runs.
template <std::size_t Bytes, class... Declared>
class any_hook_of {
  static_assert((true && ... && detail::slot_declaration<Declared>::good),
                "tautline: a slot declares what its hooks may read and feed, by name and type. Mend: write any_hook<reads<\"loss\", "
                "float>, feeds<\"rate\", float>>");

  using read_list = detail::join_t<typename detail::slot_declaration<Declared>::fetches...>;
  using feed_list = detail::join_t<typename detail::slot_declaration<Declared>::feeds...>;
  using values = detail::slot_values_of<read_list>;
  using fed_values = detail::slot_feeds<feed_list>;
  static constexpr bool has_reads = !std::is_same_v<read_list, detail::type_list<>>;

 public:
  static constexpr std::size_t capacity = Bytes;

  any_hook_of() = default;
  any_hook_of(any_hook_of const&) = delete;
  any_hook_of& operator=(any_hook_of const&) = delete;
  ~any_hook_of() { clear(); }

  /// Puts it in, in place of what was there.
  template <class Hook>
  void install(Hook hook) {
    static_assert(lists_state<Hook> || tautline::stateless<Hook> || !fits<Hook> || !may_come_later<Hook>,
                  "tautline: a slot saves what its hook lists, and this hook neither lists a state nor says that it has none. Mend: "
                  "give it state(), or static constexpr bool stateless = true, or write install_unsaved(hook)");
    put<true>(static_cast<Hook&&>(hook));
  }
  /// The same, but its state is not saved: a resumed training finds it new.
  template <class Hook>
  void install_unsaved(Hook hook) {
    put<false>(static_cast<Hook&&>(hook));
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
  void after_restore(life& at) {
    if (is_begun()) table_->restored(bytes_, at);
  }
  template <class Session>
  void after_create_session(Session& session, life& at) {
    detail::slot_session seen{session.step()};
    if (is_begun()) table_->created(bytes_, seen, at);
  }
  template <class Context>
  auto before_run(Context& ctx) {
    bool asked = false;
    fed_values fed;
    if (table_ != nullptr) {
      if (fresh_) welcome(ctx);
      asked = table_->before_run(bytes_, ctx, fed);
    }
    if constexpr (sizeof...(Declared) != 0) return detail::slot_request<Context>(asked, fed, read_list{});
  }
  void after_run(run_context_base& ctx) {
    if (table_ != nullptr) table_->after_run(bytes_, ctx);
  }
  template <class Context, class Values>
    requires(has_reads && std::is_base_of_v<run_context_base, Context> && !std::is_same_v<Values, life>)
  void after_run(Context& ctx, Values& read) {
    if constexpr (detail::slot_types_fit<Values>(read_list{})) {
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
    if (is_begun()) table_->end(bytes_, seen, at);
  }
  void on_error(error const& happened, life& at) {
    if (table_ != nullptr) table_->on_error(bytes_, happened, at);
  }
  void close(life& at) {
    if (table_ != nullptr) table_->close(bytes_, at);
  }

  /// The state of the hook inside, as the session lists it.
  auto state() { return fields{field<"">(*this)}; }
  /// For the session: calls `visit` for each value. A hook that has not begun yet begins anew: nothing of it is saved.
  template <class Visit>
  void each_item(state_item const& item, Visit const& visit) {
    if (!is_begun()) return;
    table_->items(bytes_, item, &visit, [](void const* visitor, state_item const& found) {
      (*static_cast<Visit const*>(visitor))(found);
    });
  }

 private:
  struct functions {
    void (*destroy)(std::byte*);
    void (*begin)(std::byte*, life&);
    void (*items)(std::byte*, state_item const&, void const* visitor, void (*)(void const* visitor, state_item const&));
    void (*restored)(std::byte*, life&);
    void (*created)(std::byte*, detail::slot_session&, life&);
    bool (*before_run)(std::byte*, run_context_base&, fed_values&);
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
  static constexpr bool fits = sizeof(Hook) <= Bytes && alignof(Hook) <= alignof(std::max_align_t);
  /// It has nothing that the session would have to know when it is compiled.
  template <class Hook>
  static constexpr bool may_come_later = !detail::has_inside<detail::gate_callback, Hook> && !detail::is_saver<Hook> &&
                                         !watching<Hook> && !detail::has_trigger<Hook> &&
                                         std::is_same_v<detail::provided_by_t<Hook>, detail::type_list<>>;

  template <bool Saved, class Hook>
  void put(Hook&& hook) {
    static_assert(fits<Hook>,
                  "tautline: this hook is too large for its slot. Mend: declare the slot as any_hook_of<BYTES, reads<...>...>");
    static_assert(may_come_later<Hook>,
                  "tautline: a slot cannot hold a hook that has a trigger of its own, a gate, saves, watches or provides values: the "
                  "session must know these when it is compiled. Mend: look at ctx.step() in the hook, or give the hook to the "
                  "session as it is");
    clear();
    ::new (static_cast<void*>(bytes_)) Hook(static_cast<Hook&&>(hook));
    table_ = &functions_of<Hook, Saved>;
    fresh_ = true;
  }
  [[nodiscard]] bool is_begun() const { return table_ != nullptr && !fresh_; }

  /// @return whether it asks for values in this run
  template <class Hook>
  static bool asks(Hook& hook, run_context_base& ctx, [[maybe_unused]] fed_values& fed) {
    using request = std::remove_pointer_t<decltype(detail::request_inside<Hook, run_context_base>())>;
    if constexpr (std::is_same_v<request, detail::no_request>) {
      detail::tell_inside<detail::before_run_callback>(hook, ctx, ctx);
      return false;
    } else {
      using read = detail::inspect<request>;
      constexpr bool is_declared = detail::slot_has_all<read_list, typename read::fetches> &&
                                   detail::slot_has_all<feed_list, typename read::feeds> &&
                                   std::is_same_v<typename read::targets, detail::type_list<>>;
      static_assert(is_declared,
                    "tautline: this hook asks for or feeds what its slot does not declare. Mend: declare it, with its type, as in "
                    "any_hook<reads<\"loss\", float>, feeds<\"rate\", float>>; targets are not for slots");
      if constexpr (read::groups > 1) detail::several_conditions<Hook, request>::say();
      auto const made = detail::tell_inside<detail::before_run_callback>(hook, ctx, ctx);
      if constexpr (is_declared) fed.take(made);
      if constexpr (detail::asks_for_values<request>) {
        if constexpr (!detail::told_inside<detail::after_run_callback, Hook, run_context_base, values const>) {
          detail::asking_in_vain<Hook, typename detail::names_in<typename read::fetches>::type>::say();
        }
        return detail::asks_now(made);
      } else {
        return false;
      }
    }
  }
  template <class Hook, bool Saved>
  static constexpr functions functions_of{
      [](std::byte* bytes) { as<Hook>(bytes).~Hook(); },
      []([[maybe_unused]] std::byte* bytes, [[maybe_unused]] life& at) {
        if constexpr (detail::has_inside<detail::begin_callback, Hook>) {
          empty_graph graph;
          detail::begin_inside(as<Hook>(bytes), graph, at);
        }
      },
      []([[maybe_unused]] std::byte* bytes, [[maybe_unused]] state_item const& item, [[maybe_unused]] void const* visitor,
         [[maybe_unused]] void (*visit)(void const*, state_item const&)) {
        if constexpr (Saved && lists_state<Hook>) {
          detail::visit_fields<detail::slot_path<Hook>()>(item, as<Hook>(bytes), [=](state_item const& found) { visit(visitor, found); });
        }
      },
      []([[maybe_unused]] std::byte* bytes, [[maybe_unused]] life& at) {
        if constexpr (Saved) detail::restore_inside(as<Hook>(bytes), at);
      },
      [](std::byte* bytes, detail::slot_session& session, life& at) {
        detail::tell_inside<detail::after_create_session_callback>(as<Hook>(bytes), at, session);
      },
      [](std::byte* bytes, run_context_base& ctx, fed_values& fed) { return asks(as<Hook>(bytes), ctx, fed); },
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
template <class... Declared>
using any_hook = any_hook_of<128, Declared...>;

TAUTLINE_END
