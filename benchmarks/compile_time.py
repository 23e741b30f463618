#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compile times of one translation unit, and the compiler's memory: what the core costs, and how both grow with hooks.

Each time is the least of the processor in several compilations (-O0, no warnings), taken in turn so that a busy machine
disturbs all alike. Bounds are those the library promises; with --check a figure beyond its bound is an error.
Figures: compile/HOOKS/COMPILER/seconds and …/mebibytes; `base` instead of a number: two headers of the standard library.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

HOOKS = (0, 1, 5, 20, 64)
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


def unit(hooks):
    watches = "".join(f", watch<{i}>{{}}" for i in range(hooks))
    return HEAD + f'  auto session = monitored(graph{watches});\n  (void)session.run_to_completion(target<"train">);\n}}\n'


def cost(compiler, path):
    """@return seconds of the processor, and MiB of the largest of the compiler's processes"""
    command = [compiler, "-std=c++20", "-O0", "-w", f"-I{ROOT / 'include'}", "-c", path, "-o", os.devnull]
    with subprocess.Popen(command) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{compiler} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def measure(compiler, units, rounds):
    """@return name of a unit → least seconds, least MiB"""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in units.items():
            (pathlib.Path(folder) / f"{name}.cpp").write_text(text)
        for _ in range(rounds):
            for name in units:
                seconds, mebibytes = cost(compiler, pathlib.Path(folder) / f"{name}.cpp")
                least = found.get(name, (seconds, mebibytes))
                found[name] = min(least[0], seconds), min(least[1], mebibytes)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="three compilations each instead of seven")
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--check", action="store_true", help="exit 1 if a bound is exceeded")
    options = parser.parse_args()
    units = {"base": BASE, **{hooks: unit(hooks) for hooks in HOOKS}}
    figures, beyond = {}, False
    for compiler in ("g++", "clang++-19"):
        found = measure(compiler, units, 3 if options.quick else 7)
        rows = [
            ("core and five hooks, over <coroutine> and <concepts>, s", found[5][0] - found["base"][0], 0.7),
            ("each hook from 1 to 64, ms", (found[64][0] - found[1][0]) / 63 * 1000, 15),
        ]
        for what, value, bound in rows:
            # the first bound holds for g++; clang's figure stands beside it
            held = bound if compiler == "g++" or bound == 15 else None
            mark = "" if held is None else ("  within" if value <= held else "  BEYOND") + f" {held}"
            beyond = beyond or (held is not None and value > held)
            print(f"{compiler:12} {what:58} {value:6.2f}{mark}")
        for name, (seconds, mebibytes) in found.items():
            print(f"{compiler:12} {name!s:>5} hooks {seconds:22.2f} s {mebibytes:8.0f} MiB")
            figures[f"compile/{name}/{compiler}/seconds"] = round(seconds, 4)
            figures[f"compile/{name}/{compiler}/mebibytes"] = round(mebibytes, 1)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")
    return int(options.check and beyond)


if __name__ == "__main__":
    sys.exit(main())
