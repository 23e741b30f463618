#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Makes C++ of scenario files: hooks are static types, so each scenario needs a program part of its own.

usage: generate.py --out DIR --include DIR [--without NAME]... [--backend HEADER] [--target NAME] FOLDER...

Writes chunk_0.cpp … and chunks.hpp, a fixed number of files, so that a build system knows them beforehand. Scenarios
with the same types share one group; what differs between them is data. run.py uses this module to know what was made.
"""

import argparse
import json
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
CHUNKS = 8
CALLBACKS = ("begin", "after_create_session", "before_run", "after_run", "on_error", "end", "close")
KINDS_OF_ERROR = ("out_of_range", "out_of_range_derived", "aborted", "unavailable", "internal", "invalid_argument",
                  "cancelled", "error")


class Unreadable(Exception):
    """A folder or a file that cannot be used at all."""


class Bad(Exception):
    """A scenario that the grammar does not allow, or that says something which cannot be."""


class Skip(Exception):
    """A scenario that needs what does not exist yet."""


# --- C++ texts ----------------------------------------------------------------------------------------------------


def text(words):
    """A string literal. Everything but plain ASCII as octal bytes, which nothing that follows can join."""
    plain = set(range(32, 127)) - {ord('"'), ord("\\"), ord("?")}
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in str(words).encode()) + '"'


def number(value):
    if isinstance(value, str):
        value = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}.get(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Bad("a number is expected")
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(float(value))


def whole(value, name, least=0):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or int(value) != value or value < least:
        raise Bad(f"{name} is no whole number of at least {least}")
    return int(value)


def numbers(values):
    if not isinstance(values, list):
        values = [values]
    if not values:
        raise Bad("a list of numbers is empty")
    return "{" + ", ".join(number(v) for v in values) + "}"


def braced(items):
    return "{" + ", ".join(items) + "}"


def names(list_of_names):
    """In C++ and in traces alike: sorted by bytes, each once."""
    if isinstance(list_of_names, str):
        list_of_names = [list_of_names]
    return sorted(set(list_of_names), key=lambda name: name.encode())


def series(pairs):
    return braced(f"series{{{text(name)}, {numbers(pairs[name])}}}" for name in names(pairs))


def failure(error):
    if error not in KINDS_OF_ERROR:
        raise Bad(f"no kind of error: {error}")
    if error == "out_of_range_derived":
        return "failure{error_kind::out_of_range, true}"
    return f"failure{{error_kind::{error}}}"


def ordered(given, key):
    given = given if isinstance(given, list) else [given]
    return braced(f"ordered_failure{{{whole(one[key], key, 1)}, {failure(one['error'])}}}" for one in given)


# --- triggers -----------------------------------------------------------------------------------------------------

TRIGGER_KEYS = ("every_steps", "at_steps", "once", "never", "after", "before", "any", "all", "also_first", "at_end")


def trigger(keys):
    """The expression of a trigger; its options stand in the same object as itself."""
    found = []
    first = bool(keys.get("also_first"))
    if "every_steps" in keys:
        period = whole(keys["every_steps"], "every_steps", 1)
        found.append(f"tautline::every_steps{{.period = {period}, .also_first = {str(first).lower()}}}")
        first = False
    if keys.get("at_steps"):
        found.append(f"tautline::at_steps({', '.join(str(whole(s, 'at_steps')) for s in keys['at_steps'])})")
    for name in ("once", "never"):
        if keys.get(name):
            found.append(f"tautline::{name}")
    for name in ("after", "before"):
        if name in keys:
            found.append(f"tautline::{name}({whole(keys[name], name)})")
    for name, sign in (("any", " | "), ("all", " & ")):
        if keys.get(name):
            found.append("(" + sign.join(trigger(one) for one in keys[name]) + ")")
    if first:
        found.append("tautline::once")
    if not found:
        found.append("tautline::never")
    if keys.get("at_end"):
        found.append("tautline::at_end")
    return "(" + " | ".join(found) + ")"


# --- hooks: one entry for each kind -------------------------------------------------------------------------------


class Hook:
    """What a kind makes of its keys: the expression of the hook, what it fetches, and its data."""

    def __init__(self, make, fetches=(), feeds=None, script=""):
        self.make = make
        self.fetches = fetches
        self.feeds = feeds or {}
        self.script = script


def probe(hook, index):
    fetched = names(hook.get("fetch", []))
    fed = hook.get("feed", {})
    before, after = hook.get("runs_before", []), hook.get("runs_after", [])
    outermost = bool(hook.get("outermost", False))
    types = [f"tautline::names<{', '.join(map(text, fetched))}>", f"tautline::names<{', '.join(map(text, names(fed)))}>"]
    if before or after or outermost:
        types.append(f"related<ids<{', '.join(map(text, names(before)))}>, ids<{', '.join(map(text, names(after)))}>, "
                     f"{str(outermost).lower()}>")
    actions = []
    for one in hook.get("actions", []):
        at, does = one["at"], one["do"]
        if at not in CALLBACKS:
            raise Bad(f"no callback: {at}")
        step = one.get("step") if at in ("before_run", "after_run") else None
        if does != "request_stop" and not does.startswith("raise:"):
            raise Bad(f"no action: {does}")
        actions.append(f"action{{callback::{at}, {str(step is None).lower()}, {whole(step or 0, 'step')}, "
                       + ("true, {}}" if does == "request_stop" else f"false, {failure(does[len('raise:'):])}}}"))
    script = f", .actions = {braced(actions)}" if actions else ""
    script += f", .fetch_every = {whole(hook.get('fetch_every', 1), 'fetch_every', 1)}"
    return Hook(f"probe<{text(hook['id'])}, {', '.join(types)}>(played, {index})", fetched, fed, script)


def stop_at_step(hook, _):
    keys = [key for key in ("last_step", "num_steps") if key in hook]
    if len(keys) != 1:
        raise Bad("stop_at_step has either last_step or num_steps")
    return Hook(f"traced_stop_at_step<{text(hook['id'])}>(played, tautline::stop_at_step("
                f"tautline::{keys[0]}({whole(hook[keys[0]], keys[0])})))")


def nan_checker(hook, _):
    policy = hook.get("on_nan", "fail")
    if policy not in ("fail", "stop"):
        raise Bad(f"on_nan is neither fail nor stop: {policy}")
    fetched = names(hook["fetch"])
    return Hook(f"traced_nan_checker<{', '.join(map(text, [hook['id']] + fetched))}>(played, tautline::on_nan::{policy})",
                fetched)


def final_ops(hook, _):
    fetched = names(hook["fetch"])
    return Hook(f"traced_final_ops<{', '.join(map(text, [hook['id']] + fetched))}>(played)", fetched)


def feed_fn(hook, index, fed_elsewhere=lambda name: True):
    fed = names(hook["feed"])
    form = "made_feed_request_fn" if len(fed) != 1 or fed_elsewhere(fed[0]) else "made_feed_fn"
    return Hook(f"{form}<{', '.join(map(text, [hook['id']] + fed))}>(played, {index})", (), hook["feed"])


def global_step_waiter(hook, _):
    return Hook(f"traced_global_step_waiter<{text(hook['id'])}>(played, {whole(hook['wait_until_step'], 'wait_until_step')})")


def tensor_logger(hook, _):
    fetched = names(hook["fetch"])
    return Hook(f"made_tensor_logger<{', '.join(map(text, [hook['id']] + fetched))}>(played, {trigger(hook)})", fetched)


def summary_saver(hook, _):
    fetched = names(hook["fetch"])
    return Hook(f"made_summary_saver<{', '.join(map(text, [hook['id']] + fetched))}>(played, {trigger(hook)})", fetched)


def checkpoint_saver(hook, _):
    at_start = ", tautline::also_at_start" if hook.get("at_start", False) else ""
    return Hook(f"made_checkpoint_saver<{text(hook['id'])}>(played, {trigger(hook)}{at_start})")


def step_rate_logger(hook, _):
    return Hook(f"made_step_rate_logger<{text(hook['id'])}>(played, {trigger(hook)})")


def triggered(hook, _):
    return Hook(f"made_triggered<{text(hook['id'])}>(played, {trigger(hook['trigger'])})")


# kind: (the function, the library's header, if there is one). What C++ needs of a kind stands in stock/KIND.hpp.
KINDS = {
    "probe": (probe, None),
    "stop_at_step": (stop_at_step, "tautline/hooks/stop_at_step.hpp"),
    "nan_checker": (nan_checker, "tautline/hooks/nan_checker.hpp"),
    "final_ops": (final_ops, "tautline/hooks/final_ops.hpp"),
    "feed_fn": (feed_fn, "tautline/hooks/feed_fn.hpp"),
    "global_step_waiter": (global_step_waiter, "tautline/hooks/global_step_waiter.hpp"),
    "triggered": (triggered, "tautline/hooks/triggered.hpp"),
    "tensor_logger": (tensor_logger, "tautline/hooks/tensor_logger.hpp"),
    "step_rate_logger": (step_rate_logger, "tautline/hooks/step_rate_logger.hpp"),
    "checkpoint_saver": (checkpoint_saver, "tautline/hooks/checkpoint_saver.hpp"),
    "summary_saver": (summary_saver, "tautline/hooks/summary_saver.hpp"),
}


# --- scenarios ----------------------------------------------------------------------------------------------------


def plan_items(given, choices):
    items = []
    for item in given:
        if isinstance(item, dict) and set(item) == {"run_with"}:
            ids = item["run_with"]
            ids = [ids] if isinstance(ids, str) else ids
            if not ids:
                items.append(f"plan_item{{act::run_without_hooks, {text('run_with')}}}")
                continue
            key = tuple(names(ids))
            if key not in choices:
                choices.append(key)
            items.append(f"plan_item{{act::run_with, {text('run_with ' + ','.join(ids))}, {choices.index(key)}}}")
        elif item in ("run", "run_without_hooks", "request_stop", "should_stop", "close"):
            items.append(f"plan_item{{act::{item}, {text(item)}}}")
        elif isinstance(item, str) and item.startswith("raise:"):
            items.append(f"plan_item{{act::raise, {text(item)}, 0, {failure(item[len('raise:'):])}}}")
        else:
            raise Bad(f"no item of a plan: {json.dumps(item)}")
    return braced(items)


class Scenario:
    """A file, and the C++ that it becomes: the text of its types and that of its data."""

    def __init__(self, path, content):
        self.path = path
        self.content = content
        self.name = str(content.get("name", path.stem))
        self.number = None
        self.reason = None  # why it is not played
        self.skipped = False

    @property
    def loops(self):
        return self.content.get("drive") == "loop"

    def translate(self, group_of, include, without):
        try:
            self._translate(group_of, include, without)
        except Skip as why:
            self.reason, self.skipped = str(why), True
        except Bad as why:
            self.reason = f"not a scenario: {why}"
        except (KeyError, TypeError, AttributeError, ValueError) as why:
            self.reason = f"not a scenario: {type(why).__name__}: {why}"

    def _hooks(self, include, without):
        hooks = []
        given = self.content.get("hooks", [])

        def fed_elsewhere(index):
            others = [hook.get("feed", {}) for i, hook in enumerate(given) if i != index]
            return lambda name: any(name in feed for feed in others + [self.content.get("caller_feed", {})])

        for index, hook in enumerate(given):
            kind = hook["kind"]
            if kind not in KINDS:
                raise Bad(f"no kind of hook: {kind}")
            make, header = KINDS[kind]
            if header is not None and not (include / header).exists():
                raise Skip(f"the hook {kind} does not exist yet")
            if kind in without:
                raise Skip(f"the hook {kind} was left out of this build")
            hooks.append(make(hook, index, fed_elsewhere(index)) if kind == "feed_fn" else make(hook, index))
        ids = [hook["id"] for hook in given]
        if len(ids) != len(set(ids)):
            raise Bad("two hooks have the same id")
        return ids, hooks

    def _translate(self, group_of, include, without):
        given = self.content
        session = given.get("session", {})
        if "expect" not in given:
            raise Bad("it expects nothing")
        ids, hooks = self._hooks(include, without)
        values = session.get("values", {"loss": [0.5]})
        caller_fetch, caller_feed = names(given.get("caller_fetch", [])), given.get("caller_feed", {})
        for asked in [caller_fetch] + [hook.fetches for hook in hooks]:
            for name in asked:
                if name not in values:
                    raise Bad(f"somebody asks for {name}, which the session does not have")

        script = [f".initial_step = {whole(given.get('initial_step', 0), 'initial_step')}"]
        value_scripts = []
        for name in names(values):
            value = values[name]
            if isinstance(value, dict):
                value_scripts.append(f"value_script{{{{{text(name)}, {{0}}}}, {text(value['of_feed'])}, "
                                     f"{number(value.get('default', 0))}}}")
            else:
                value_scripts.append(f"value_script{{{{{text(name)}, {numbers(value)}}}}}")
        script.append(f".values = {braced(value_scripts)}")
        if session.get("variables"):
            script.append(f".variables = {series(session['variables'])}")
        if session.get("raise"):
            script.append(f".run_failures = {ordered(session['raise'], 'run')}")
        if session.get("create_raise"):
            script.append(f".make_failures = {ordered(session['create_raise'], 'attempt')}")
        if session.get("input_length") is not None:
            script.append(f".input_length = {whole(session['input_length'], 'input_length')}")
        script.append(f".steps_per_run = {whole(session.get('steps_per_run', 1), 'steps_per_run', 1)}")
        on_recreate = session.get("on_recreate", "restore")
        if on_recreate not in ("restore", "keep"):
            raise Bad(f"on_recreate is neither restore nor keep: {on_recreate}")
        script.append(f".keeps_state = {str(on_recreate == 'keep').lower()}")
        script.append(f".max_recoveries = {whole(session.get('max_recoveries', 5), 'max_recoveries')}")
        script.append(".hooks = " + braced(
            f"hook_script{{.id = {text(i)}{hook.script}"
            + (f", .feeds = {series(hook.feeds)}" if hook.feeds else "") + "}" for i, hook in zip(ids, hooks)))
        if caller_feed:
            script.append(f".caller_feeds = {series(caller_feed)}")

        group = group_of(
            kinds=[hook["kind"] for hook in given.get("hooks", [])],
            make=[f"tautline::named<{text(i)}>({hook.make})" for i, hook in zip(ids, hooks)],
            fetches=[name for hook in hooks for name in hook.fetches] + caller_fetch,
            caller_fetches=caller_fetch,
            caller_feeds=names(caller_feed))
        drive = given["drive"]
        if drive in ("loop", "loop_no_check"):
            script.append(f".drive = drive_kind::{drive}")
            group.loops = group.loops or drive == "loop"
        elif isinstance(drive, dict) and set(drive) == {"runs"}:
            script.append(".drive = drive_kind::runs")
            script.append(f".runs = {whole(drive['runs'], 'runs')}")
        elif isinstance(drive, dict) and set(drive) == {"plan"}:
            script.append(".drive = drive_kind::plan")
            script.append(f".plan = {plan_items(drive['plan'], group.choices)}")
        else:
            raise Bad(f"no drive: {json.dumps(drive)}")
        script.append(f".catches = {str(bool(given.get('catch', False))).lower()}")
        script.append(f".after = {plan_items(given.get('after', []), group.choices)}")
        for chosen in group.choices:
            for one in chosen:
                if one not in ids:
                    raise Bad(f"run_with names {one}, which is no hook")
        script.append(f".max_runs = {whole(given.get('max_runs', 30), 'max_runs')}")
        script.append(f".leaves_the_loop = {str(given['expect'].get('outcome') == 'max_runs').lower()}")
        group.runs_without_hooks = group.runs_without_hooks or "act::run_without_hooks" in "".join(script)
        group.scenarios.append((self, ",\n      ".join(script)))


class Group:
    """Scenarios with the same types."""

    def __init__(self, number, kinds, make, fetches, caller_fetches, caller_feeds):
        self.number = number
        self.fetches = names(fetches)
        self.kinds = kinds
        self.make = make
        self.caller_fetches = caller_fetches
        self.caller_feeds = caller_feeds
        self.loops = False
        self.runs_without_hooks = False
        self.choices = []
        self.scenarios = []

    def cost(self):
        """In about the unit of one drive of a session without hooks."""
        drives = 1 + 3 * self.loops + self.runs_without_hooks + len(self.choices)
        return (2 + len(self.make)) * (4 + drives) + len(self.scenarios)

    def code(self, target=None):
        items = [f"tautline::target<{text(target)}>"] if target else []
        items += [f"tautline::fetch<{text(name)}>" for name in self.caller_fetches]
        items += [f"tautline::feed<{text(name)}>(played.script.caller_feeds[{i}].at(0))"
                  for i, name in enumerate(self.caller_feeds)]
        chosen = "".join(
            f"    if constexpr (Chosen == {i}) return session.template run_with<{', '.join(map(text, ids))}>(items...);\n"
            for i, ids in enumerate(self.choices))
        run_with = (f"""
  template <int Chosen, class Session, class... Items>
  static auto run_with(Session& session, Items const&... items) {{
{chosen}  }}""" if self.choices else "")
        return f"""
struct group_{self.number} {{
  static constexpr bool loops = {str(self.loops).lower()};
  static constexpr bool runs_without_hooks = {str(self.runs_without_hooks).lower()};
  static constexpr int choices = {len(self.choices)};
  [[maybe_unused]] static constexpr bool feeds_by_function = {str("feed_fn" in self.kinds).lower()};
  using fetches = tautline::names<{', '.join(map(text, self.fetches))}>;
  using caller_fetches = tautline::names<{', '.join(map(text, self.caller_fetches))}>;
  template <bool Throw>
  static auto make(world& played) {{
    return made<Throw, group_{self.number}>({', '.join(['played'] + self.make)});
  }}
  template <class Act>
  static auto with_items([[maybe_unused]] world& played, Act act) {{
    return act({', '.join(items)});
  }}{run_with}
}};
""" + "".join(f"""
void add_{scenario.number}(std::vector<test_case>& cases) {{  // {scenario.path}
  cases.push_back({{{scenario.number}, {{
      {script}}},
      &player<group_{self.number}>::play}});
}}
""" for scenario, script in self.scenarios)


def read(folders):
    """All scenarios of the folders."""
    scenarios = []
    for folder in map(pathlib.Path, folders):
        if not folder.is_dir():
            raise Unreadable(f"{folder}: no folder")
        files = sorted(folder.resolve().glob("*.json"))
        if not files:
            raise Unreadable(f"{folder}: no scenario (*.json) in this folder")
        for path in files:
            try:
                content = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError) as why:
                raise Unreadable(f"{path}: {why}".replace("\n", " ")) from None
            if not isinstance(content, dict):
                raise Unreadable(f"{path}: not an object")
            scenarios.append(Scenario(path, content))
    return scenarios


def translate(scenarios, include, without=(), excluded=()):
    """Gives each scenario its number, and the groups of those that can be played."""
    groups = {}

    def group_of(kinds, make, fetches, caller_fetches, caller_feeds):
        key = (tuple(make), tuple(caller_fetches), tuple(caller_feeds))
        if key not in groups:
            groups[key] = Group(len(groups), kinds, make, fetches, caller_fetches, caller_feeds)
        return groups[key]

    for i, scenario in enumerate(scenarios):
        scenario.number = i
        if str(scenario.path) in excluded:
            scenario.reason = "it does not compile"
            continue
        scenario.translate(group_of, pathlib.Path(include), without)
    return [group for group in groups.values() if group.scenarios]


def chunk_code(number, groups, backend="scripted.hpp", target=None):
    adds = "".join(f"  add_{scenario.number}(cases);\n" for group in groups for scenario, _ in group.scenarios)
    body = "".join(group.code(target) for group in groups)
    kinds = sorted({kind for group in groups for kind in group.kinds if (HERE / "stock" / f"{kind}.hpp").exists()})
    return f"""// generated by generate.py
#include "{backend}"
#include "play.hpp"
{"".join(f'#include "stock/{kind}.hpp"' + chr(10) for kind in kinds)}
namespace conformance {{
namespace {{
{body}
}}  // namespace

void add_chunk_{number}([[maybe_unused]] std::vector<test_case>& cases) {{
{adds}}}

}}  // namespace conformance
"""


def chunks_header():
    return f"""// generated by generate.py
#pragma once

#include "script.hpp"

namespace conformance {{

{"".join(f"void add_chunk_{i}(std::vector<test_case>& cases);" + chr(10) for i in range(CHUNKS))}
inline constexpr void (*chunks[])(std::vector<test_case>&) = {{{", ".join(f"add_chunk_{i}" for i in range(CHUNKS))}}};

}}  // namespace conformance
"""


def deal(groups):
    """The groups in chunks that take about as long to compile as each other."""
    chunks = [[] for _ in range(CHUNKS)]
    costs = [0] * CHUNKS
    for group in sorted(groups, key=lambda g: (-g.cost(), g.number)):
        place = costs.index(min(costs))
        chunks[place].append(group)
        costs[place] += group.cost()
    return chunks


def write_if_changed(path, content):
    """An unchanged file keeps its time, and what was compiled from it stays."""
    if not path.exists() or path.read_text(encoding="utf-8") != content:
        path.write_text(content, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--include", required=True, type=pathlib.Path)
    parser.add_argument("--without", action="append", default=[], help="a kind of hook that cannot be built here")
    parser.add_argument("--backend", default="scripted.hpp", help="the header that has graph_of and options_of")
    parser.add_argument("--target", help="what every run of the caller computes")
    parser.add_argument("folders", nargs="+")
    given = parser.parse_args()
    try:
        scenarios = read(given.folders)
    except Unreadable as why:
        print(why, file=sys.stderr)
        sys.exit(2)
    given.out.mkdir(parents=True, exist_ok=True)
    excluded = given.out / "excluded.json"
    groups = translate(scenarios, given.include, given.without,
                       json.loads(excluded.read_text()) if excluded.exists() else ())
    for number_of_chunk, chunk in enumerate(deal(groups)):
        write_if_changed(given.out / f"chunk_{number_of_chunk}.cpp", chunk_code(number_of_chunk, chunk, given.backend, given.target))
    write_if_changed(given.out / "chunks.hpp", chunks_header())


if __name__ == "__main__":
    main()
