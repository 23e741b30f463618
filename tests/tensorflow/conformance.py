#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Plays the conformance scenarios with real sessions of TensorFlow in place of the scripted one: the same traces are
expected. How each error comes about stands in conformance/README.md.

usage: conformance.py [--quick] [--mode throwing|nonthrowing]... [FOLDER...]     without folders: all that the project has
       conformance.py --self-test [--quick]       breaks the backend, rule by rule, and sees scenarios fail
  --quick   without scenarios-extra, which are played with scripted sessions at every change; two of the breaks

Closes with `N passed, N failed`.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

import common
from common import packages, report

HERE = pathlib.Path(__file__).resolve().parent
SCENARIOS = HERE.parent / "conformance"
sys.path.insert(0, str(SCENARIOS))
import generate  # noqa: E402
import run  # noqa: E402

PLAYER = HERE / "conformance"
FOLDERS = [SCENARIOS / "scenarios", SCENARIOS / "scenarios-extra", PLAYER / "scenarios"]
QUICK_FOLDERS = [SCENARIOS / "scenarios", PLAYER / "scenarios"]
QUICK_MUTATIONS = ["the end of the input is any error", "a restorer's values are not written"]
BUILD = report.ROOT / "build/test/tensorflow-conformance"
# much code that runs for milliseconds: nothing but the time to compile counts
FLAGS = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror"]
MODES = {"throwing": [], "nonthrowing": ["-fno-exceptions", "-fno-rtti"]}
WRAPPED = ["TF_NewSession", "TF_DeleteSession", "TF_SessionRun"]
TIMEOUT = 240

# name: (the edits, scenarios of which at least one has to fail). An edit is a header of the backend, a regular expression
# that matches there once, and what its match becomes.
MUTATIONS = {
    "the end of the input is any error": (
        [("status.hpp", r"case TF_OUT_OF_RANGE: return error_kind::out_of_range;", "")],
        ["at_end_after_end_of_input", "end_of_input_in_run_with_stop"]),
    "ABORTED is any error": (
        [("status.hpp", r"case TF_ABORTED: return error_kind::aborted;", "")],
        ["abort_keeps_state", "abort_restores_checkpoint"]),
    "a session is closed and not deleted": (
        [("status.hpp", r"TF_DeleteSession\([^;]*\);", "")],
        ["order_one_hook", "making_fails_cancelled"]),
    "what is fed stays behind": (
        [("engine.hpp", r"arrays_\.feed\(names_\[slot\]\.output, std::move\(value\)\);", "(void)value;")],
        ["feed_fn_each_run"]),
    "a restorer's values are not written": (
        [("engine.hpp", r"arrays\.run_target\(each\.assign\);", "")],
        ["steps_after_restore", "abort_restores_initial_step"]),
}


def quoted(path):
    return str(path).replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def build(scenarios, groups, include, folder, modes):
    """The programs, by mode. Ends the script if they cannot be built; what did not change is not compiled again."""
    folder.mkdir(parents=True, exist_ok=True)
    chunks = generate.deal(groups)
    for number, chunk in enumerate(chunks):
        generate.write_if_changed(folder / f"chunk_{number}.cpp", generate.chunk_code(number, chunk, "played.hpp", "train"))
    generate.write_if_changed(folder / "chunks.hpp", generate.chunks_header())
    tensorflow = common.tensorflow()
    fmt = report.run(["pkg-config", "--cflags", "--libs", "fmt"]).stdout.split()
    includes = [f"-I{folder}", f"-I{PLAYER}", f"-I{SCENARIOS}", f"-I{include}", *tensorflow.compile_args]
    lines = [
        f"flags = {' '.join([*FLAGS, *includes, *[w for w in fmt if w[:2] == '-I']])}",
        f"libraries = -fuse-ld=gold -pthread {' '.join([*tensorflow.link_args, *[w for w in fmt if w[:2] != '-I']])}",
        "rule compile", "  command = g++ $flags $more -MD -MF $out.d -c $in -o $out", "  depfile = $out.d", "  deps = gcc",
        "rule link", "  command = g++ $in $wrapped $libraries -o $out"]
    sources = [folder / f"chunk_{number}.cpp" for number, chunk in enumerate(chunks)]
    sources += [SCENARIOS / "main.cpp", PLAYER / "house.cpp"]
    programs = {mode: folder / f"conformance_{mode}" for mode in modes}
    for mode in modes:
        objects = []
        for source in sources:
            objects.append(folder / f"{source.stem}_{mode}.o")
            lines += [f"build {quoted(objects[-1])}: compile {quoted(source)}", f"  more = {' '.join(MODES[mode])}"]
        lines += [f"build {quoted(programs[mode])}: link {' '.join(map(quoted, objects))}",
                  f"  wrapped = -Wl,{','.join('--wrap=' + name for name in WRAPPED)}"]
    task = folder / "conformance_task"
    lines += [f"build {quoted(task)}.o: compile {quoted(PLAYER / 'task.cpp')}", f"build {quoted(task)}: link {quoted(task)}.o"]
    generate.write_if_changed(folder / "build.ninja", "\n".join(lines) + "\n")
    built = report.run(["ninja", "-C", folder, task, *programs.values()])
    if built.returncode != 0:
        errors = [line for line in built.stdout.splitlines() if "error" in line.lower()]
        print("\n".join(errors[:20]) or built.stdout[-3000:])
        sys.exit("the players could not be built")
    return programs


def play(scenarios, groups, include, folder, modes):
    programs = build(scenarios, groups, include, folder, modes)
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    # TensorFlow says a lot about errors that are meant to come
    with open(folder / "said.txt", "w", encoding="utf-8") as said:
        return {mode: run.play(program, mode, len(scenarios) - 1, TIMEOUT, said, environment)
                for mode, program in programs.items()}


def self_test(tally, mutations):
    """Breaks one rule at a time in a copy of the headers; only scenarios that are about it are played."""
    folder = BUILD / "self-test"
    generate.CHUNKS = 1  # few scenarios
    for name in mutations:
        edits, wanted = MUTATIONS[name]
        shutil.rmtree(folder / "include", ignore_errors=True)
        shutil.copytree(report.INCLUDE, folder / "include")
        for header, pattern, becomes in edits:
            path = folder / "include/tautline/sessions/tensorflow" / header
            text, count = re.subn(pattern, becomes, path.read_text(encoding="utf-8"))
            if count != 1:
                tally.add(f"self-test: {name}", f"{pattern} is {count} times in {header}: the mutation has to be written anew")
                break
            path.write_text(text, encoding="utf-8")
        else:
            scenarios = [one for one in generate.read(FOLDERS) if one.name in wanted]
            groups = generate.translate(scenarios, report.INCLUDE)
            plays = play(scenarios, groups, folder / "include", folder, ["throwing"])
            passed = [one.name for one in scenarios if one.reason or run.check(one, plays) is None]
            missing = set(wanted) - {one.name for one in scenarios}
            problem = f"{', '.join(sorted(missing))}: no such scenario" if missing else None
            tally.add(f"self-test: {name}", f"{', '.join(passed)} passed" if passed else problem)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--mode", action="append", choices=list(MODES), help="with exceptions, by default")
    parser.add_argument("folders", nargs="*")
    given = parser.parse_args()
    packages.need("g++", "ninja-build", "pkg-config", "libfmt-dev", "binutils")
    if given.self_test:
        tally = report.Tally()
        self_test(tally, QUICK_MUTATIONS if given.quick else MUTATIONS)
        tally.close()
    try:
        scenarios = generate.read(given.folders or (QUICK_FOLDERS if given.quick else FOLDERS))
    except generate.Unreadable as why:
        print(why, file=sys.stderr)
        return 2
    groups = generate.translate(scenarios, report.INCLUDE)
    plays = play(scenarios, groups, report.INCLUDE, BUILD, given.mode or ["throwing"])
    return run.report(scenarios, plays, {})


if __name__ == "__main__":
    sys.exit(main())
