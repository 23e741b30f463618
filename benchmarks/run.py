#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""All benchmarks, one after the other: every figure with its bound, and the page docs/performance.md.

  --quick              the essential, with fewer repetitions, and without what needs large packages: within 3 minutes,
                       where all take 15
  --with PART          in a quick run, too: what is saved (disk), or what needs much to be installed (tensorflow,
                       ignite, embedded)
  --without PART       left out of a whole run
  --json FILE          writes the figures as one flat object, name → number, and where they were measured into FILE's
                       neighbour .about.json
  --check              ends with 1 if a figure is beyond its bound; for a machine that does nothing else
  --page               writes docs/performance.md, its plots and its figures from this run
  --page --from FILE   from what --json wrote earlier
  --sizes              only RAM and flash on a Cortex-M4, by hook
  --ensmallen FOLDER   measures the callbacks of ensmallen, too: the folder of its headers; Armadillo comes from Debian
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

import about
import figures
import packages
import performance_page

HERE = pathlib.Path(__file__).resolve().parent
BUILD = ["g++", "clang-19"]


class Benchmark(NamedTuple):
    script: str
    packages: list
    quick: list = []  # more arguments of a quick run
    parts: tuple = ()  # what it needs; without all of them it is left out, as it is of a quick run


# those whose times are of nanoseconds first
BENCHMARKS = [
    Benchmark("overhead.py", ["valgrind", "libboost-dev"], ["--quick"]),
    Benchmark("off_the_step.py", ["libfmt-dev", "libreaderwriterqueue-dev"]),
    Benchmark("saving.py", ["nlohmann-json3-dev"], parts=("disk",)),
    Benchmark("checkpoint_store.py", ["nlohmann-json3-dev"], parts=("disk",)),
    Benchmark("sizes.py", ["valgrind", "libboost-dev"], ["--quick"]),
    Benchmark("compile_time.py", [], ["--quick"]),
    Benchmark("python_peers.py", [], ["--quick"], ("tensorflow", "ignite")),
    Benchmark("tensorflow_step.py", [], ["--rounds", "5"], ("tensorflow",)),
    Benchmark("embedded_sizes.py", packages.CORTEX_M, parts=("embedded",)),
]
PARTS = sorted({part for each in BENCHMARKS for part in each.parts})


def options(words):
    parser = argparse.ArgumentParser(prog="./dev bench", usage="./dev bench [OPTION...]", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    for flag in ("--quick", "--check", "--page", "--sizes"):
        parser.add_argument(flag, action="store_true", help=argparse.SUPPRESS)
    for flag, name in (("--with", "wanted"), ("--without", "without")):
        parser.add_argument(flag, dest=name, action="append", default=[], choices=PARTS, help=argparse.SUPPRESS)
    for flag, name in (("--json", "json"), ("--from", "source"), ("--ensmallen", "ensmallen")):
        parser.add_argument(flag, dest=name, type=pathlib.Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args(words)
    if chosen.source and not chosen.page:
        parser.error("--from says from what --page is made")
    if chosen.source and (chosen.json or chosen.check or chosen.quick or chosen.sizes):
        parser.error("--page --from FILE measures nothing")
    if chosen.ensmallen and not chosen.ensmallen.is_dir():
        parser.error(f"--ensmallen: {chosen.ensmallen} is no folder")
    return chosen


def parts_left_out(chosen):
    return {part for part in PARTS if part in chosen.without or (chosen.quick and part not in chosen.wanted)}


def why_left_out(benchmark, chosen):
    """None if it runs."""
    if chosen.sizes:
        return None if benchmark.script == "embedded_sizes.py" else "--sizes is another's"
    if benchmark.parts and set(benchmark.parts) <= parts_left_out(chosen):
        return f"{'--quick' if chosen.quick else '--without'}; a whole run has it, or --with {benchmark.parts[0]}"
    return None


def arguments_of(benchmark, chosen, kept):
    words = ["--json", kept, *(["--check"] if chosen.check else []), *(benchmark.quick if chosen.quick else [])]
    if len(benchmark.parts) > 1:  # it can do without one of them
        words += [word for part in benchmark.parts if part in parts_left_out(chosen) for word in ("--without", part)]
    if chosen.ensmallen and benchmark.script == "overhead.py":
        words += ["--ensmallen", chosen.ensmallen.resolve()]
    return words


def rounded(found):
    """Six digits: no figure is better than that."""
    return {name: float(f"{value:.6g}") for name, value in sorted(found.items())}


def measure(chosen):
    """@return figures, seconds by script, scripts that failed"""
    found, seconds, bad, left_out = {}, {}, [], {}
    for benchmark in BENCHMARKS:
        reason = why_left_out(benchmark, chosen)
        if reason:
            left_out[benchmark.script] = reason
            continue
        print(f"--- {benchmark.script}", flush=True)
        packages.need(*BUILD, *benchmark.packages, *(["libarmadillo-dev"] if chosen.ensmallen else []))
        with tempfile.TemporaryDirectory() as folder:
            kept = pathlib.Path(folder) / "figures.json"
            start = time.monotonic()
            words = [str(word) for word in arguments_of(benchmark, chosen, kept)]
            if subprocess.run([sys.executable, HERE / benchmark.script, *words], check=False).returncode != 0:
                bad.append(benchmark.script)
            seconds[benchmark.script] = time.monotonic() - start
            if kept.exists():
                found.update(json.loads(kept.read_text()))
        print(f"--- {benchmark.script}: {seconds[benchmark.script]:.0f} s\n", flush=True)
    if not chosen.sizes:
        for script, reason in left_out.items():
            print(f"left out: {script} ({reason})")
    print(f"{len(found)} figures in {sum(seconds.values()):.0f} s")
    return rounded(found), seconds, bad


def about_file(file):
    return file.with_suffix(".about.json")


def command_of(chosen):
    words = ["./dev bench", *(["--quick"] if chosen.quick else []), *(f"--without {part}" for part in chosen.without),
             *(f"--with {part}" for part in chosen.wanted), *(["--sizes"] if chosen.sizes else []),
             *(["--ensmallen FOLDER"] if chosen.ensmallen else []), *(["--page"] if chosen.page else [])]
    return " ".join(words)


def page_from(found, told):
    packages.need("gnuplot-nox")
    for file in performance_page.write(found, told):
        print(f"written: {file.relative_to(figures.ROOT)}")


def main():
    chosen = options(sys.argv[1:])
    if chosen.source:
        page_from(json.loads(chosen.source.read_text()), json.loads(about_file(chosen.source).read_text()))
        return
    load = os.getloadavg()[0]
    found, seconds, bad = measure(chosen)
    if chosen.json or chosen.page:
        told = about.this_run(command_of(chosen), seconds, load)
        if chosen.json:
            chosen.json.write_text(performance_page.text_of(found))
            about_file(chosen.json).write_text(performance_page.text_of(told))
        if chosen.page:
            page_from(found, told)
    if bad:
        sys.exit(f"failed, or beyond a bound: {', '.join(bad)}")


if __name__ == "__main__":
    main()
