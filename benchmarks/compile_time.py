#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compile times of one translation unit: what the core costs, and how it grows with hooks.

Each figure is the least user time of several compilations (-O0, no warnings), taken in turn so that a busy machine
disturbs all alike. Bounds are those the library promises; with --check a figure beyond its bound is an error.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

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


def user_seconds(compiler, path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([compiler, "-std=c++20", "-O0", "-w", f"-I{ROOT / 'include'}", "-c", path, "-o", os.devnull], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three compilations each instead of seven")
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--check", action="store_true", help="exit 1 if a bound is exceeded")
    options = parser.parse_args()
    units = {"base": BASE, "one": unit(1), "five": unit(5), "sixty_four": unit(64)}
    figures = {}
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        for compiler in ["g++", "clang++-19"]:
            best = {}
            for _ in range(3 if options.quick else 7):
                for name, text in units.items():
                    path = pathlib.Path(folder) / f"{name}.cpp"
                    path.write_text(text)
                    seconds = user_seconds(compiler, path)
                    best[name] = min(best.get(name, seconds), seconds)
            rows = [
                ("core and five hooks, over <coroutine> and <concepts>", best["five"] - best["base"], 0.7),
                ("64 hooks, over one", best["sixty_four"] - best["one"], 1.0),
            ]
            for what, seconds, bound in rows:
                # the bounds hold for g++; clang's figures stand beside them
                mark = "" if compiler != "g++" else ("  within" if seconds <= bound else "  BEYOND") + f" {bound} s"
                worst = max(worst, int(compiler == "g++" and seconds > bound))
                print(f"{compiler:12} {what:55} {seconds:6.2f} s{mark}")
            for name, seconds in best.items():
                figures[f"compile/{name}/{compiler}/seconds"] = round(seconds, 4)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")
    return worst if options.check else 0


if __name__ == "__main__":
    sys.exit(main())
