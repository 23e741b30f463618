#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Plays every scenario file of the folders and compares what happens with what the file expects.

usage: run.py [--compiler g++|clang++-19] [--mode throwing|nonthrowing]... [--include DIR] FOLDER...
       run.py --programs PROGRAM[,PROGRAM] FOLDER...     with programs that were built before (meson test does that)
       run.py --self-test                                of the comparisons

Each scenario is played with exceptions and without them, a loop in each of the four ways to drive one, and passes if
all of them give the very trace. Closes with `N passed, N failed` alone on a line; before it stands `N skipped: NAMES`
where hooks do not exist yet. Exit status 1 if one failed, 2 for a bad folder or an unreadable file.
"""

import argparse
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
import generate  # noqa: E402

MODES = {"throwing": "with exceptions", "nonthrowing": "without exceptions"}
MOST_ATTACHED = 4  # what a session keeps; more are only counted


# --- what was played ----------------------------------------------------------------------------------------------


class Played:
    """One scenario, in one drive and mode."""

    def __init__(self, way, mode):
        self.way = way
        self.mode = mode
        self.trace = []
        self.outcome = None
        self.stop = None
        self.attached = []
        self.attached_in_all = 0
        self.message = ""
        self.complaints = []
        self.done = False

    def take(self, line):
        kind, _, rest = line.partition(" ")
        if kind == "trace":
            self.trace.append(rest)
        elif kind == "outcome":
            self.outcome = rest
        elif kind == "stop":
            by, _, step = rest.rpartition(" ")
            self.stop = {"by": None if by == "-" and step == "-" else by, "step": None if step == "-" else int(step)}
        elif kind == "attached":
            self.attached.append(rest)
        elif kind == "attached_in_all":
            self.attached_in_all = int(rest)
        elif kind == "message":
            self.message = rest
        elif kind == "complaint":
            self.complaints.append(rest)
        elif kind == "done":
            self.done = True
        else:
            self.complaints.append(f"the program printed: {line}")


def play(program, mode, last, timeout, errors=subprocess.STDOUT, environment=None):
    """Number of the scenario -> what was played. A crash costs only the scenario in which it came.
    @param errors: where what the program writes to its second stream goes; by default it counts as a complaint"""
    found = {}
    first = 0
    while first <= last:
        try:
            done = subprocess.run([program, str(first)], stdout=subprocess.PIPE, stderr=errors, env=environment,
                                  timeout=timeout, check=False, text=True, errors="replace")
            output, why = done.stdout, f"the program ended with status {done.returncode}"
            crashed = done.returncode != 0
        except subprocess.TimeoutExpired as late:
            output = (late.stdout or b"").decode(errors="replace") if isinstance(late.stdout, bytes) else late.stdout or ""
            why, crashed = "the program did not end", True
        current, number = None, first - 1
        for line in output.splitlines():
            if line.startswith("play "):
                _, number, way = line.split(" ", 2)
                number = int(number)
                current = Played(way, mode)
                found.setdefault(number, []).append(current)
            elif current is not None:
                current.take(line)
        if not crashed:
            break
        if current is None:
            raise SystemExit(f"{program}: {why}: {output[-400:]}")
        # also if all was played: what comes behind may be a sanitizer's complaint
        current.complaints.append(why)
        first = number + 1
    return found


# --- comparing ----------------------------------------------------------------------------------------------------


def same_kind(expected, actual):
    """A derived end of input is known by its type only; what a kind is called is the same for both."""
    return expected == actual or (expected, actual) in (("out_of_range", "out_of_range_derived"),
                                                        ("out_of_range_derived", "out_of_range"))


def plain(line):
    """A line of a trace, as far as the grammar fixes it."""
    words = line.split(" ")
    if words[0] == "on_error" and words[-1] == "out_of_range_derived":
        words[-1] = "out_of_range"
    if words[0] == "caller" and "->" in words:
        arrow = words.index("->")
        result = words[arrow + 1:]
        if result == ["out_of_range_derived"]:
            result = ["out_of_range"]
        item = ["run_with"] if RUN_WITH.match(line) else words[1:arrow]
        words = ["caller", *item, "->", *result]
    return " ".join(words)


RUN_WITH = re.compile(r"caller \W*run_with(?!\w)(.*) -> ")


def same_line(expected, actual):
    """The grammar does not say how the ids of run_with are written, nor whether: they count where both sides have some."""
    ids = [set(re.findall(r"[\w.-]+", match[1])) for match in map(RUN_WITH.match, (expected, actual)) if match]
    return plain(expected) == plain(actual) and (len(ids) < 2 or not all(ids) or ids[0] == ids[1])


def same_attached(expected, kept, in_all):
    """A session keeps the first few, and counts the others, which a scenario may list or leave out."""
    counted = in_all == len(expected) or len(expected) == MOST_ATTACHED < in_all
    return counted and len(kept) == min(in_all, MOST_ATTACHED) and all(map(same_kind, expected, kept))


def mentions(message, words, ids):
    """An id such as "a" stands in many words: it has to be a word of its own."""
    return bool(re.search(rf"(?<!\w){re.escape(words)}(?!\w)", message)) if words in ids else words in message


def refused_rightly(content, words):
    """The compiler may be the one who finds a conflict of feeds, with a message of the library that has the words."""
    expect = content.get("expect", {})
    wanted = expect.get("error_mentions") or []
    return (expect.get("outcome") == "feed_conflict" and bool(wanted) and "tautline:" in words
            and all(mentions(words, one, ids_of(content)) for one in wanted))


def ids_of(content):
    return {hook["id"] for hook in content.get("hooks", [])}


def differences(expect, ids, played):
    """What is wrong besides the trace, as lines."""
    wrong = list(played.complaints)
    if not played.done:
        return wrong or ["it was not played to its end"]
    if "outcome" in expect and not same_kind(expect["outcome"], played.outcome):
        wrong.append(f"outcome: expected {expect['outcome']}, was {played.outcome}")
    stop = expect.get("stop") or {}
    if any(played.stop[key] != stop[key] for key in ("by", "step") if key in stop):
        wrong.append(f"stop: expected {json.dumps(stop)}, was {json.dumps(played.stop)}")
    attached = list(expect.get("attached") or [])
    if not same_attached(attached, played.attached, played.attached_in_all):
        wrong.append(f"attached: expected {attached}, were {played.attached}, {played.attached_in_all} in all")
    for words in expect.get("error_mentions") or []:
        if not mentions(played.message, words, ids):
            wrong.append(f"the error does not mention {words}: {played.message}")
    return wrong


def side_by_side(expected, actual, width):
    column = max([len("expected")] + [min(len(line), width) for line in expected]) + 2
    text = [f"  {'expected':<{column}}  actual"]
    for left, right in itertools.zip_longest(expected, actual):
        same = left is not None and right is not None and same_line(left, right)
        text.append(f"{' ' if same else '>'} {left if left is not None else '':<{column}}  {right if right is not None else ''}")
    return "\n".join(line.rstrip() for line in text)


def check(scenario, plays):
    """None, or a text that says what is wrong in which drives and modes."""
    expect = scenario.content["expect"]
    expected = expect.get("trace", [])
    ids = ids_of(scenario.content)
    wanted = {(way, mode) for mode in plays for way in (("run", "run_to_completion", "steps", "run_for") if scenario.loops
                                                         else ("run",))}
    seen = [one for of_mode in plays.values() for one in of_mode.get(scenario.number, [])]
    missing = wanted - {(one.way, one.mode) for one in seen}
    # equal failures are shown once
    faults = {}
    for one in seen:
        wrong = differences(expect, ids, one)
        if len(expected) != len(one.trace) or not all(map(same_line, expected, one.trace)):
            wrong.append(side_by_side(expected, one.trace, 60))
        if wrong:
            faults.setdefault("\n".join(wrong), []).append(f"{one.way} {MODES[one.mode]}")
    text = [f"{', '.join(where)}:\n{textwrap.indent(what, '  ')}" for what, where in faults.items()]
    if missing and not faults:
        text.append("not played: " + ", ".join(f"{way} {MODES[mode]}" for way, mode in sorted(missing)))
    return "\n".join(text) or None


# --- building -----------------------------------------------------------------------------------------------------


def call(command, **more):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, **more)


def build(folders, compiler, modes, directory):
    """The programs, by mode, and what could not be compiled: path of a scenario -> the compiler's words."""
    environment = dict(os.environ, CXX=compiler, LC_ALL="C")
    option = f"-Dconformance_folders={[str(pathlib.Path(folder).resolve()) for folder in folders]!r}"
    fresh = ["meson", "setup", directory, ROOT, "-Dtests=enabled", "-Dexamples=disabled", "-Dbenchmarks=disabled", option]
    if (directory / "build.ninja").exists():
        done = call(["meson", "configure", directory, option], env=environment)
    else:
        if directory.exists():
            shutil.rmtree(directory)
        done = call(fresh, env=environment)
    if done.returncode != 0:
        print(done.stdout)
        raise SystemExit(1)
    generated = directory / "tests" / "conformance"
    excluded = generated / "excluded.json"
    excluded.unlink(missing_ok=True)
    refused = {}
    programs = {mode: generated / f"conformance_{mode}" for mode in modes}
    while True:
        done = call(["ninja", "-k", "0", "-C", directory] + [p.relative_to(directory) for p in programs.values()],
                    env=environment)
        if done.returncode == 0:
            return programs, refused
        found = guilty(generated, done.stdout)
        if not found:
            print(done.stdout[-6000:])
            print("the scenarios could not be built")
            raise SystemExit(1)
        refused.update(found)
        excluded.write_text(json.dumps(sorted(refused)))


def guilty(generated, output):
    """The scenarios in whose types or data the compiler found a fault: path -> its first words about it."""
    found = {}
    places = {}
    for file in generated.glob("chunk_*.cpp"):
        group, users, where = None, {}, []
        for line in file.read_text(encoding="utf-8").splitlines():
            if match := re.match(r"struct (group_\d+) ", line):
                group = match[1]
                users[group] = []
            elif match := re.match(r"void add_\d+\(.*// (.*)", line):
                users[group].append(match[1])
                group = (group, match[1]) if not isinstance(group, tuple) else (group[0], match[1])
            elif line == "}  // namespace":
                group = None
            where.append(group)
            if isinstance(group, tuple) and line == "}":
                group = group[0]
        places[file.name] = (where, users)
    first = None
    for line in output.splitlines():
        if re.search(r"\berror:", line):
            first = re.sub(r"^.*?\berror:\s*", "", line)
            if (match := re.match(r"^\S*?(chunk_\d+\.cpp):(\d+)", line)) is None:
                continue
        match = re.match(r"^\S*?(chunk_\d+\.cpp):(\d+)", line)
        if match and match[1] in places:
            where, users = places[match[1]]
            group = where[int(match[2]) - 1]
            names = [group[1]] if isinstance(group, tuple) else users.get(group, [])
            for name in names:
                found.setdefault(name, []).append(line if first is None else first)
    return {path: "\n".join(dict.fromkeys(lines)) for path, lines in found.items()}


# --- the command --------------------------------------------------------------------------------------------------


def report(scenarios, plays, refused):
    passed = failed = 0
    skipped = []
    for scenario in scenarios:
        label = scenario.name
        if sum(other.name == scenario.name for other in scenarios) > 1:
            label += f" ({scenario.path})"
        words = refused.get(str(scenario.path))
        if words is not None:
            if refused_rightly(scenario.content, words):
                passed += 1
                continue
            problem = "it does not compile:\n" + textwrap.indent(words, "  ")
        elif scenario.skipped:
            skipped.append(label)
            print(f"SKIPPED {label}: {scenario.reason}")
            continue
        elif scenario.reason is not None:
            problem = scenario.reason
        else:
            problem = check(scenario, plays)
        if problem is None:
            passed += 1
        else:
            failed += 1
            print(f"FAILED {label}: {scenario.content.get('about', '')}\n{textwrap.indent(problem, '  ')}\n")
    if skipped:
        print(f"{len(skipped)} skipped: {', '.join(skipped)}")
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


CONFLICT = {"hooks": [{"id": "a"}], "expect": {"outcome": "feed_conflict", "error_mentions": ["a", "rate"]}}
# what each comparison must say
SELF_TEST = [
    (True, "run_with alone", lambda: same_line("caller run_with -> ok", "caller run_with a,b -> ok")),
    (True, "ids in another spelling", lambda: same_line('caller {"run_with": ["b", "a"]} -> ok', "caller run_with a,b -> ok")),
    (False, "other ids", lambda: same_line('caller {"run_with": ["a"]} -> ok', "caller run_with a,b -> ok")),
    (False, "another result", lambda: same_line("caller run_with a -> ok", "caller run_with a -> end_of_input")),
    (False, "another item", lambda: same_line("caller run_with -> ok", "caller run_without_hooks -> ok")),
    (True, "attached", lambda: same_attached(["internal", "error"], ["internal", "error"], 2)),
    (True, "none attached", lambda: same_attached([], [], 0)),
    (False, "one was not kept", lambda: same_attached(["internal", "error"], ["internal"], 2)),
    (False, "one was not expected", lambda: same_attached(["internal"], ["internal", "error"], 2)),
    (False, "one was not counted", lambda: same_attached(["error"] * 2, ["error"] * 2, 1)),
    (False, "another kind attached", lambda: same_attached(["internal"], ["error"], 1)),
    (True, "more than are kept", lambda: same_attached(["error"] * 6, ["error"] * 4, 6)),
    (True, "more than are kept or listed", lambda: same_attached(["error"] * 4, ["error"] * 4, 6)),
    (False, "four listed, fewer counted", lambda: same_attached(["error"] * 4, ["error"] * 4, 3)),
    (True, "a conflict", lambda: refused_rightly(CONFLICT, "tautline: two feed rate: a and b")),
    (False, "an id within a word", lambda: refused_rightly(CONFLICT, "tautline: two feed rate")),
    (False, "an error that is not the library's", lambda: refused_rightly(CONFLICT, "a has no member rate")),
    (False, "no conflict was expected", lambda: refused_rightly(
        {**CONFLICT, "expect": {**CONFLICT["expect"], "outcome": "ok"}}, "tautline: two feed rate: a and b")),
    (False, "no words were expected", lambda: refused_rightly(
        {**CONFLICT, "expect": {"outcome": "feed_conflict"}}, "tautline: two feed rate: a and b")),
    (True, "a program that ends well", lambda: not complaints_of("exit 0")),
    (False, "a program that ends badly behind the last scenario", lambda: not complaints_of("exit 23")),
]


def complaints_of(last_line):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program"
        program.write_text(f"#!/bin/sh\necho play 0 run\necho outcome ok\necho done\n{last_line}\n")
        program.chmod(0o755)
        return [one for plays in play(program, "throwing", 0, 10).values() for one in plays[0].complaints]


def self_test():
    wrong = [name for must, name, said in SELF_TEST if said() != must]
    for name in wrong:
        print(f"FAILED self-test {name}: the wrong verdict")
    print(f"{len(SELF_TEST) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--mode", action="append", choices=list(MODES), help="both")
    parser.add_argument("--directory", type=pathlib.Path, help="of the build")
    parser.add_argument("--programs", help="built before, by commas: NAME=PROGRAM for each mode")
    parser.add_argument("--include", type=pathlib.Path, default=ROOT / "include")
    parser.add_argument("--timeout", type=float, default=100, help="seconds for a program")
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("folders", nargs="+")
    given = parser.parse_args()
    modes = given.mode or list(MODES)
    try:
        scenarios = generate.read(given.folders)
    except generate.Unreadable as why:
        print(why, file=sys.stderr)
        return 2
    refused = {}
    if given.programs:
        programs = dict(one.split("=", 1) for one in given.programs.split(","))
    else:
        if shutil.which(given.compiler) is None:
            print(f"{given.compiler}: no such compiler", file=sys.stderr)
            return 2
        name = "conformance" if given.compiler == "g++" else f"conformance-{given.compiler}"
        programs, refused = build(given.folders, given.compiler, modes, given.directory or ROOT / "build" / name)
    generate.translate(scenarios, given.include, given.without, refused)
    plays = {mode: play(program, mode, len(scenarios) - 1, given.timeout) for mode, program in programs.items()}
    return report(scenarios, plays, refused)


if __name__ == "__main__":
    sys.exit(main())
