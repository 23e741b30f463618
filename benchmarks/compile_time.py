#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What a session costs to compile: seconds and memory of one translation unit, against its number of hooks.

Each figure is the least of several compilations, taken in turn so that a busy machine disturbs all alike: processor
time of the compiler and what it starts, and the most memory that it had at once. The hooks are of the usual kind: each
asks for a value, reads it, and may ask for a stop; all are of different types. No warnings, -O0, and -O2 unless it is
quick.

Whether the time is linear in hooks: what a hook costs among the second 32, to what one costs among the first.

usage: compile_time.py [--quick] [--json FILE] [--check]
"""

import os
import pathlib
import shutil
import subprocess
import sys

import figures
import goals

BASE = "#include <coroutine>\n#include <concepts>\nint main() {}\n"
HEAD = """#include <tautline/core.hpp>
#include <tautline/sessions/static_graph.hpp>
using namespace tautline;
template <int N> struct watch {
  float sum = 0;
  auto before_run(auto&) { return fetch<"loss">; }
  void after_run(auto& ctx, auto const& values) {
    sum += values[fetch<"loss">];
    if (sum < static_cast<float>(-N) - 1) ctx.request_stop("never");
  }
};
int main() {
  auto graph = static_graph{}.variable<"w">(0.0F)
      .source<"x">(0.0F, [n = 0](float& x) mutable { x = 1; return ++n < 9; })
      .op<"loss", "w", "x">([](float w, float x) { return (w - x) * (w - x); })
      .update<"train", "w", "x">([](float& w, float x) { w += 0.1F * (x - w); });
"""
HOOKS = (0, 1, 5, 20, 32, 64)
FEW, HALF, MANY = 1, 32, 64  # what a further hook costs is taken between these
COMPILERS = ("g++", "clang++-19")
BOUNDS = {**goals.bounds("compile"), "over_base_seconds": ("most", 0.7), "later_to_earlier": ("most", 1.5)}


def unit(hooks, member=""):
    """A program with a session of so many hooks.
    @param member: one more of each hook, such as its trigger"""
    watches = "".join(f", watch<{i}>{{}}" for i in range(hooks))
    head = HEAD.replace("  float sum = 0;", f"  float sum = 0; {member}".rstrip())
    return (f"{head}  auto session = monitored(graph{watches});\n"
            '  (void)session.run_to_completion(target<"train">);\n}\n')


def compiled(compiler, level, file):
    """@return seconds of processor time, MiB at most"""
    words = [compiler, "-std=c++20", level, "-w", f"-I{figures.ROOT / 'include'}", "-c", str(file), "-o", os.devnull]
    running = subprocess.Popen(words)
    _, status, used = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode != 0:
        sys.exit(f"{' '.join(words)} failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def measured(folder, compiler, level, repetitions):
    """@return the least of each: number of hooks, or base → (seconds, MiB)"""
    texts = {"base": BASE, **{hooks: unit(hooks) for hooks in HOOKS}}
    least = {}
    for _ in range(repetitions):
        for name, text in texts.items():
            file = folder / f"unit_{name}.cpp"
            file.write_text(text)
            least[name] = tuple(map(min, compiled(compiler, level, file), least.get(name, (1e9, 1e9))))
    return least


def figures_of(name, least):
    found = {}
    for hooks in HOOKS:
        found[f"compile/{hooks}/{name}/seconds"], found[f"compile/{hooks}/{name}/mebibytes"] = least[hooks]
    seconds = {hooks: values[0] for hooks, values in least.items()}
    if name == "g++":
        found[f"compile/5/{name}/over_base_seconds"] = seconds[5] - seconds["base"]  # <coroutine> and <concepts> alone
    found[f"compile/per_hook/{name}/milliseconds"] = (seconds[MANY] - seconds[FEW]) / (MANY - FEW) * 1000
    found[f"compile/per_hook/{name}/mebibytes"] = (least[MANY][1] - least[FEW][1]) / (MANY - FEW)
    found[f"compile/per_hook/{name}/later_to_earlier"] = (
        (seconds[MANY] - seconds[HALF]) / (MANY - HALF) / ((seconds[HALF] - seconds[FEW]) / (HALF - FEW)))
    return found


def main():
    parser = figures.parser(__doc__)
    parser.add_argument("--quick", action="store_true",
                        help="three compilations each instead of seven, and none with -O2")
    wanted = parser.parse_args()
    found = {}
    with figures.folder() as folder:
        for compiler in filter(shutil.which, COMPILERS):
            for level in ("-O0",) if wanted.quick else ("-O0", "-O2"):
                name = compiler if level == "-O0" else compiler + level
                found |= figures_of(name, measured(pathlib.Path(folder), compiler, level, 3 if wanted.quick else 7))
    figures.tell({name: round(value, 4) for name, value in found.items()}, BOUNDS, wanted)


if __name__ == "__main__":
    main()
