// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/diagnose.hpp>

// More reasons of the core: gates, checkpoints, real time. @see tautline/core/diagnose.hpp

TAUTLINE_BEGIN
namespace detail {

/// As `mended`, in this file: g++ names the reason where the concept stands.
template <class Reason>
concept training_is_mended = is_mended<Reason>;

template <fixed_string Name, class First, class Second>
struct hook_name_twice : reason {
  static consteval void say() {
    static_assert(training_is_mended<hook_name_twice>,
                  "tautline: two hooks have one name, so neither messages, nor session.hook<\"name\">(), nor a checkpoint "
                  "could tell them apart. Mend: give each a name of its own");
  }
};
template <class Hook>
struct unlisted_state : reason {
  static consteval void say() {
    static_assert(training_is_mended<unlisted_state>,
                  "tautline: this session saves or restores checkpoints, and this hook does not say what of it must be "
                  "saved. Mend: give it `auto state() { return tautline::fields{field<\"name\">(member_), ...}; }`, or "
                  "declare `static constexpr bool stateless = true;`");
  }
};
template <class Hook, fixed_string Field, class Type>
struct unsaved_field : reason {
  static consteval void say() {
    static_assert(training_is_mended<unsaved_field>,
                  "tautline: this hook lists a field of a type that cannot be saved; field and type stand behind the hook, "
                  "beside this message. Mend: list numbers, arrays and vectors of them, objects with state(), or specialise "
                  "tautline::tensor_traits");
  }
};
template <class Hook, fixed_string Name>
struct gate_too_late : reason {
  static consteval void say() {
    static_assert(training_is_mended<gate_too_late>,
                  "tautline: this hook's gate looks at a value that is computed from variables which this run has changed, "
                  "so there would be nothing left to veto. Mend: look at a value that is computed before the update, or "
                  "leave the gate out");
  }
};
template <class Hook, class Backend>
struct gate_without_stages : reason {
  static consteval void say() {
    static_assert(training_is_mended<gate_without_stages>,
                  "tautline: this hook can do its work in a gate only, before a run changes anything, and this kind of "
                  "session cannot stage a run. Mend: let the hook fail or stop instead, or give the backend stage(request), "
                  "commit(request) and is_late<Request, Name>()");
  }
};
template <class Hook>
struct roll_back_without_checkpoints : reason {
  static consteval void say() {
    static_assert(training_is_mended<roll_back_without_checkpoints>,
                  "tautline: this hook goes back to the latest checkpoint, and this session has none. Mend: give it "
                  "options{restore_from{store}} and a checkpoint_saver with the same store");
  }
};
template <class Hook, fixed_string Lacking>
struct not_real_time : reason {
  static consteval void say() {
    static_assert(training_is_mended<not_real_time>,
                  "tautline: this session is in real-time mode, and this hook does not promise to neither allocate nor wait "
                  "nor throw in a step; beside this message stands what lacks. Mend: make what is called in a step noexcept "
                  "and declare `static constexpr bool real_time = true;`, or wrap it: off_thread{hook}");
  }
};
template <class Hook>
struct half_watching : reason {
  static consteval void say() {
    static_assert(training_is_mended<half_watching>,
                  "tautline: this hook has on_enter or on_leave but cannot be told, so it would never act. Mend: give it both, "
                  "as in void on_enter(tautline::moment const& now) noexcept, and the same for on_leave");
  }
};

template <class Hook>
struct half_saving : reason {
  static consteval void say() {
    static_assert(training_is_mended<half_saving>,
                  "tautline: this saver has wants_save or save but cannot be called, so it would never save. Mend: give it both, "
                  "as in bool wants_save() and void save(tautline::training_state const& state, tautline::life& life)");
  }
};
template <class Hook>
struct uncallable_after_restore : reason {
  static consteval void say() {
    static_assert(training_is_mended<uncallable_after_restore>,
                  "tautline: this hook's after_restore cannot be called as a callback, so it would never act. Mend: make it "
                  "public and callable as after_restore()");
  }
};

}  // namespace detail
TAUTLINE_END
