// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tautline/core/verdict.hpp>

// Rule 9: what can never act does not compile. Here are all reasons of the core, each with what is wrong, why, and how to
// mend it. Their template arguments are what the compilers print beside the message: in this file because g++ puts the
// lines that say how a header was included between two files.

TAUTLINE_BEGIN
namespace detail {

/// False for every reason. g++ and clang print the reason with its arguments beside the message when it fails, however
/// deep the place is at which it was said.
template <class Reason>
inline constexpr bool is_mended = false;
template <class Reason>
concept mended = is_mended<Reason>;

// --- the hook alone -------------------------------------------------------------------------------------------------

template <class Hook>
struct hook_is_copied : reason {
  static consteval void say() {
    static_assert(mended<hook_is_copied>,
                  "tautline: a hook must be moved into the session; here it would be copied, and the copy would act while "
                  "the original is looked at. Mend: write std::move(hook), or std::ref(hook) to keep it outside");
  }
};
template <class Hook>
struct hook_cannot_move : reason {
  static consteval void say() {
    static_assert(mended<hook_cannot_move>,
                  "tautline: this hook's class cannot be moved, so it cannot go into the session. Mend: keep the hook "
                  "outside and pass std::ref(hook), or give its class a move constructor");
  }
};
template <class Argument>
struct no_hook_class : reason {
  static consteval void say() {
    static_assert(mended<no_hook_class>,
                  "tautline: a hook is an object of a class with at least one callback, and this argument is none. Mend: "
                  "pass a hook, std::ref(hook) instead of a pointer, or options{...} directly behind the graph");
  }
};
template <class Options>
struct options_out_of_place : reason {
  static consteval void say() {
    static_assert(mended<options_out_of_place>,
                  "tautline: options stand once, directly behind the graph. Mend: write monitored(graph, options{...}, "
                  "hooks...)");
  }
};
template <class Hook>
struct hook_is_final : reason {
  static consteval void say() {
    static_assert(mended<hook_is_final>,
                  "tautline: this hook's class is final, and misspelt callbacks are found by deriving from it. Mend: remove "
                  "`final` from the class");
  }
};
template <class Hook>
struct no_callback : reason {
  static consteval void say() {
    static_assert(mended<no_callback>,
                  "tautline: this type has no callback, so it would never act. Mend: give it at least one of begin, "
                  "after_create_session, before_run, gate, after_run, end, on_error and close");
  }
};
template <class Hook, fixed_string Written, fixed_string Meant>
struct wrong_name : reason {
  static consteval void say() {
    static_assert(mended<wrong_name>,
                  "tautline: this hook has a member function with the name of no callback, so it would never be called. "
                  "Mend: rename it to the callback that is meant; beside this message stand the hook, the name, and "
                  "the callback");
  }
};
template <class Hook>
struct unusable_trigger : reason {
  static consteval void say() {
    static_assert(mended<unusable_trigger>,
                  "tautline: this hook's member `trigger` is no trigger that the session can see, so due() would never be "
                  "true. Mend: make it a public data member of a trigger type (every_steps, at_steps, ...), or rename it");
  }
};
template <class Hook, fixed_string Declaration>
struct wrong_declaration : reason {
  static consteval void say() {
    if constexpr (Declaration == fixed_string("provides")) {
      static_assert(mended<wrong_declaration>,
                    "tautline: this hook's `provides` names no values. Mend: write using provides = "
                    "tautline::provides<\"name\", type>, or provides_all<provides<...>, ...>");
    } else if constexpr (Declaration == fixed_string("asks")) {
      static_assert(mended<wrong_declaration>,
                    "tautline: this hook's `asks` is no list of fetches. Mend: write using asks = "
                    "tautline::fetches<\"name\", ...>");
    } else {
      static_assert(mended<wrong_declaration>,
                    "tautline: this hook's `runs_before`, `runs_after` or `tags` is no list of types. Mend: write using "
                    "runs_before = tautline::hooks<Type, ...>");
    }
  }
};

// --- the hooks among each other -------------------------------------------------------------------------------------

template <class Hook>
struct singleton_twice : reason {
  static consteval void say() {
    static_assert(mended<singleton_twice>,
                  "tautline: this hook may stand in a session only once, and it stands there twice. Mend: remove one");
  }
};
/// Each of the hooks has to come before the next, and the last before the first.
template <class... EachBeforeTheNext>
struct order_cycle : reason {
  static consteval void say() {
    static_assert(mended<order_cycle>,
                  "tautline: these hooks form a cycle: each has to come before the next, and the last before the first. "
                  "Mend: remove one relation (runs_before, runs_after, check before saver, provider before those who ask)");
  }
};
template <fixed_string Name, class First, class Second>
struct provided_twice : reason {
  static consteval void say() {
    static_assert(mended<provided_twice>,
                  "tautline: two hooks provide one name, so nobody could tell whose value is meant. Mend: remove one of "
                  "the two hooks, or give its value another name");
  }
};
template <fixed_string Name, class Hook>
struct provided_name_is_taken : reason {
  static consteval void say() {
    static_assert(mended<provided_name_is_taken>,
                  "tautline: this hook provides a name that the graph has already, so nobody could tell which value is "
                  "meant. Mend: give the hook's value another name");
  }
};

// --- the hook in its session ----------------------------------------------------------------------------------------

/// A member named like a callback that cannot be called as one.
template <class Hook, fixed_string Callback>
struct uncallable : reason {
  static consteval void say() {
    if constexpr (Callback == fixed_string("begin")) {
      static_assert(mended<uncallable>,
                    "tautline: this hook's begin cannot be called as a callback, so it would never act. Mend: make it "
                    "public and callable as begin(graph), with the graph by reference, or by value and returning the "
                    "extended one");
    } else if constexpr (Callback == fixed_string("after_create_session")) {
      static_assert(mended<uncallable>,
                    "tautline: this hook's after_create_session cannot be called as a callback, so it would never act. "
                    "Mend: make it public and callable as after_create_session(session), as in void "
                    "after_create_session(auto& session)");
    } else if constexpr (Callback == fixed_string("before_run")) {
      static_assert(mended<uncallable>,
                    "tautline: this hook's before_run cannot be called as a callback, so it would never act. Mend: make it "
                    "public and callable as before_run(ctx), as in auto before_run(auto& ctx)");
    } else if constexpr (Callback == fixed_string("after_run")) {
      static_assert(mended<uncallable>,
                    "tautline: this hook's after_run cannot be called as a callback, so it would never act. Mend: make it "
                    "public and callable as after_run(ctx) or after_run(ctx, values), as in void after_run(auto& ctx, "
                    "auto& values)");
    } else if constexpr (Callback == fixed_string("gate")) {
      static_assert(mended<uncallable>,
                    "tautline: this hook's gate cannot be called as a callback, so it would never act. Mend: make it public "
                    "and callable as gate(ctx), or as gate(ctx, values) and ask for the values in before_run");
    } else if constexpr (Callback == fixed_string("end")) {
      static_assert(mended<uncallable>,
                    "tautline: this hook's end cannot be called as a callback, so it would never act. Mend: make it "
                    "public and callable as end(session), as in void end(auto& session)");
    } else if constexpr (Callback == fixed_string("on_error")) {
      static_assert(mended<uncallable>,
                    "tautline: this hook's on_error cannot be called as a callback, so it would never act. Mend: make it "
                    "public and callable as on_error(error), as in void on_error(tautline::error const& error)");
    } else if constexpr (Callback == fixed_string("close")) {
      static_assert(mended<uncallable>,
                    "tautline: this hook's close cannot be called as a callback, so it would never act. Mend: make it "
                    "public and callable as close()");
    }
  }
};
template <class Hook>
struct values_without_asking : reason {
  static consteval void say() {
    static_assert(mended<values_without_asking>,
                  "tautline: this hook has after_run(ctx, values) but asks for no values, so it would never be called. "
                  "Mend: return fetch<\"name\"> from before_run, or write after_run(ctx)");
  }
};
template <class Hook, class Returned>
struct before_run_returns_no_request : reason {
  static consteval void say() {
    static_assert(mended<before_run_returns_no_request>,
                  "tautline: before_run returns something that is no request. Mend: return fetch<\"name\">, "
                  "feed<\"name\">(value), target<\"name\">, run_args{...} of these, an optional of it, "
                  "ask_if(condition, items...), or nothing");
  }
};
template <class Hook, class Returned>
struct request_with_a_destructor : reason {
  static consteval void say() {
    static_assert(mended<request_with_a_destructor>,
                  "tautline: before_run returns a request with a destructor, and the loop calls none. Mend: return an optional "
                  "that is trivially destructible, as std::optional is here, or ask_if(condition, items...)");
  }
};
template <class Hook, class Returned>
struct several_conditions : reason {
  static consteval void say() {
    static_assert(mended<several_conditions>,
                  "tautline: before_run asks for values under several conditions, so after_run could not know which of "
                  "them it has. Mend: put all fetches under one ask_if, or ask for them always");
  }
};
template <class Hook, class Asked>
struct asking_in_vain : reason {
  static consteval void say() {
    static_assert(mended<asking_in_vain>,
                  "tautline: this hook asks for values in before_run but has no after_run(ctx, values) to get them. "
                  "Mend: add after_run(ctx, values), or do not ask");
  }
};
template <class Hook, class Returned>
struct begin_returns_no_graph : reason {
  static consteval void say() {
    static_assert(mended<begin_returns_no_graph>,
                  "tautline: begin returns something that is no graph. Mend: take the graph by value and return the "
                  "extended one, or take it by reference and return nothing");
  }
};
template <class Hook, class Trigger>
struct trigger_without_clock : reason {
  static consteval void say() {
    static_assert(mended<trigger_without_clock>,
                  "tautline: this hook's trigger needs a clock, and the session has none, so it would never fire. Mend: "
                  "give one: monitored(graph, options{with_clock{clock}}, hooks...)");
  }
};

// --- the graph ------------------------------------------------------------------------------------------------------

template <class Argument>
struct no_graph_first : reason {
  static consteval void say() {
    static_assert(mended<no_graph_first>,
                  "tautline: the first argument of monitored must be a graph or a backend, and this is none. Mend: pass a "
                  "static_graph, a step_function or a backend of your own first, then options, then the hooks");
  }
};
template <class Graph>
struct graph_cannot_be_copied : reason {
  static consteval void say() {
    static_assert(mended<graph_cannot_be_copied>,
                  "tautline: the session would copy this graph, which cannot be copied. Mend: write "
                  "monitored(std::move(graph), ...)");
  }
};

template <fixed_string Name, class Session>
struct graph_is_finalized : reason {
  static consteval void say() {
    static_assert(mended<graph_is_finalized>,
                  "tautline: the graph was finalized when the session was made, so nothing can be added to it. Mend: add the "
                  "node before monitored(), or in a hook's begin(graph)");
  }
};

// --- what a run asks for, and what is read of it ----------------------------------------------------------------------

template <class Asker, fixed_string Unknown, class GraphHas>
struct unknown_fetch : reason {
  static consteval void say() {
    static_assert(mended<unknown_fetch>,
                  "tautline: a fetch of a name that the graph does not have, so it could never get a value. Mend: use one "
                  "of the names that are listed beside this message, or add the node to the graph; one of TensorFlow has to "
                  "be told the type: graph.value<\"loss\", float>()");
  }
};
template <class Asker, fixed_string Unknown, class GraphHas>
struct unknown_feed : reason {
  static consteval void say() {
    static_assert(mended<unknown_feed>,
                  "tautline: a feed of a name that the graph does not take. Mend: feed one of the names that are listed beside "
                  "this message (placeholders and sources), or add a placeholder of this name");
  }
};
template <class Asker, fixed_string Unknown, class GraphHas>
struct unknown_target : reason {
  static consteval void say() {
    static_assert(mended<unknown_target>,
                  "tautline: a target that the graph does not have, so nothing would run. Mend: use one of the names that "
                  "are listed beside this message, or add the node to the graph");
  }
};
template <class Argument>
struct no_request_argument : reason {
  static consteval void say() {
    static_assert(mended<no_request_argument>,
                  "tautline: a run takes fetch<\"name\">, feed<\"name\">(value), target<\"name\">, run_args or "
                  "ask_if(condition, items...), and nothing else. Mend: remove the argument, or wrap it in one of these");
  }
};
template <fixed_string Name, class First, class Second>
struct fed_twice : reason {
  static consteval void say() {
    static_assert(mended<fed_twice>,
                  "tautline: two parties feed one name in the same run, so one of the values would be lost. Mend: remove one "
                  "of the feeds, or feed under conditions (ask_if) that do not hold together");
  }
};
template <fixed_string Name, class First, class FirstValue, class Second, class SecondValue>
struct fed_with_two_types : reason {
  static consteval void say() {
    static_assert(mended<fed_with_two_types>,
                  "tautline: two parties feed one name with values of different types; the name, and each party with its type, "
                  "stand beside this message. Mend: give both the type that the placeholder has");
  }
};
template <fixed_string Name, class Asker, class Value, class NodeValue>
struct fed_with_a_wrong_type : reason {
  static consteval void say() {
    static_assert(mended<fed_with_a_wrong_type>,
                  "tautline: a fed value has a type that the graph's node cannot take; both types stand beside this message. "
                  "Mend: feed a value of the node's type (one of up to 32 bytes may also convert to it)");
  }
};
template <fixed_string Name, class Value>
struct fed_with_a_temporary : reason {
  static consteval void say() {
    static_assert(mended<fed_with_a_temporary>,
                  "tautline: a fed value of this type goes by reference, and a temporary would be gone before the run. Mend: "
                  "keep it in a variable that lives until the run is over, and feed that");
  }
};
template <fixed_string Name, class Asked>
struct not_asked_for : reason {
  static consteval void say() {
    static_assert(mended<not_asked_for>,
                  "tautline: this value was not asked for; its name and what was asked for stand beside this message. Mend: "
                  "add fetch<\"name\"> to what before_run returns, or to the arguments of run or steps");
  }
};
template <fixed_string Name, class SessionHas>
struct unknown_stored_value : reason {
  static consteval void say() {
    static_assert(mended<unknown_stored_value>,
                  "tautline: the raw session has no value of this name. Mend: use one of the names that are listed beside "
                  "this message");
  }
};
template <fixed_string Name, class SessionProvides>
struct undeclared_publication : reason {
  static consteval void say() {
    static_assert(mended<undeclared_publication>,
                  "tautline: no hook of this session provides this name. Mend: add using provides = "
                  "tautline::provides<\"name\", type> to the hook that publishes it");
  }
};

// --- what a session has -----------------------------------------------------------------------------------------------

template <class Hook, class... SessionHas>
struct absent_hook : reason {
  static consteval void say() {
    static_assert(mended<absent_hook>,
                  "tautline: the session has no hook of this type. Mend: use one of its hooks' types, which are listed beside "
                  "this message behind the one that was asked for, or add the hook in monitored");
  }
};
template <fixed_string Name, class SessionHas>
struct absent_hook_name : reason {
  static consteval void say() {
    static_assert(mended<absent_hook_name>,
                  "tautline: the session has no hook of this name. Mend: use one of its hooks' names, which are listed beside "
                  "this message, or name the hook in monitored: named<\"name\">(hook)");
  }
};
template <class Options>
struct run_for_without_clock : reason {
  static consteval void say() {
    static_assert(mended<run_for_without_clock>,
                  "tautline: run_for needs a clock, and the session has none. Mend: give one: monitored(graph, "
                  "options{with_clock{clock}}, hooks...)");
  }
};

}  // namespace detail
TAUTLINE_END
