#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Counts instructions a step, by callgrind, and holds them against the bounds that stand in the source.

A program is called as `prog VARIANT STEPS` and runs that variant for so many steps. Two runs, with N and with 2N steps:
their difference divided by N is free of what starting and ending cost. In the source, as comments:

    // bound: hooked <= 1.02 * by_hand             on every toolchain, or
    // bound on clang++-19 -O2: hooked <= 1.05 * by_hand      on that one; a name that is none of them is refused
    // bound: hooked <= 60                         instructions
    // show: another_variant                       is in the table, without a bound
    // steps: 20000                                N; 10000
    // flags: -fno-exceptions                      more flags for the compiler

usage: run.py [--self-test] [FILE...]
"""

import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import report  # noqa: E402

TOOLCHAINS = [(compiler, level) for compiler, level in (("g++", "-O2"), ("g++", "-O3"), ("clang++-19", "-O2"))]
FLAGS = ["-std=c++20", "-DNDEBUG", "-ffp-contract=off", f"-I{report.INCLUDE}"]
BOUND = re.compile(r"^\s*//\s*bound(?: on (?P<where>[^:]+))?:\s*(?P<variant>\w+)\s*<=\s*(?P<factor>[\d.]+)"
                   r"(?:\s*\*\s*(?P<reference>\w+))?\s*$", re.MULTILINE)


class Source:
    def __init__(self, file):
        self.file = file
        text = file.read_text()
        self.bounds = [match.groupdict() for match in BOUND.finditer(text)]
        shown = re.findall(r"^\s*//\s*show:\s*(\w+)", text, re.MULTILINE)
        self.malformed = len(re.findall(r"^\s*//\s*bound\b", text, re.MULTILINE)) != len(self.bounds)
        steps = re.search(r"^\s*//\s*steps:\s*(\d+)", text, re.MULTILINE)
        self.steps = int(steps[1]) if steps else 10000
        flags = re.search(r"^\s*//\s*flags:\s*(.+)$", text, re.MULTILINE)
        self.flags = flags[1].split() if flags else []
        names = [bound[key] for bound in self.bounds for key in ("reference", "variant") if bound[key]]
        self.variants = list(dict.fromkeys(names + shown))


def count(program, variant, steps):
    """Instructions of a whole run, or a text that says what went wrong."""
    result = report.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, variant, steps])
    match = re.search(r"Collected : (\d+)", result.stdout)
    return int(match[1]) if result.returncode == 0 and match else f"{program.name} {variant} {steps}\n{result.stdout}"


def measure(case):
    program, variant, steps = case
    once, twice = count(program, variant, steps), count(program, variant, 2 * steps)
    for found in (once, twice):
        if isinstance(found, str):
            return found
    return (twice - once) / steps


def play_file(source, folder, tally):
    """@return lines of the table"""
    toolchains = [pair for pair in TOOLCHAINS if pair[0] in report.compilers()]
    name = source.file.name

    def build(pair):
        program = folder / f"{source.file.stem}{pair[0]}{pair[1]}"
        return program, report.run([*pair, *FLAGS, *source.flags, source.file, "-o", program])

    if source.malformed or not source.bounds:
        tally.add(name, "no bounds, or one that cannot be read")
        return []
    unknown = {bound["where"] for bound in source.bounds} - {None, *map(" ".join, TOOLCHAINS)}
    if unknown:
        tally.add(name, f"bounds on a toolchain that is not known: {', '.join(sorted(unknown))}")
        return []
    built = dict(zip(toolchains, report.in_parallel(build, toolchains)))
    for pair, (program, result) in built.items():
        if result.returncode != 0:
            tally.add(f"{name} on {' '.join(pair)}", result.stdout)
    cases = [(pair, variant) for pair, (_, result) in built.items() if result.returncode == 0
             for variant in source.variants]
    numbers = dict(zip(cases, report.in_parallel(measure, [(built[pair][0], variant, source.steps)
                                                           for pair, variant in cases])))
    for (pair, variant), number in numbers.items():
        if isinstance(number, str):
            tally.add(f"{name}: {variant} on {' '.join(pair)}", number)
    table = []
    for pair in built:
        row = [f"{variant} {numbers[pair, variant]:.2f}" for variant in source.variants
               if isinstance(numbers.get((pair, variant)), float)]
        table.append(f"{name:24} {' '.join(pair):15} {', '.join(row)}")
        for bound in source.bounds:
            if bound["where"] not in (None, " ".join(pair)):
                continue
            found = numbers.get((pair, bound["variant"]))
            unit = numbers.get((pair, bound["reference"])) if bound["reference"] else 1.0
            if not isinstance(found, float) or not isinstance(unit, float):
                continue  # counted above
            limit = float(bound["factor"]) * unit
            words = f"{bound['variant']} <= {bound['factor']}" + (f" * {bound['reference']}" if bound["reference"] else "")
            tally.add(f"{name} on {' '.join(pair)}: {words}",
                      None if found <= limit else f"{found:.2f} instructions a step, at most {limit:.2f}")
    return table


def play(files, tally):
    table = []
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            table += play_file(Source(file), pathlib.Path(folder), tally)
    if not tally.quiet:
        print("\n".join(table))
    return tally


PROGRAM = """
#include <cstdlib>
#include <cstring>
int volatile sink;
int main(int, char** words) {
  long const steps = std::atol(words[2]);
  if (std::strcmp(words[1], "bad") == 0) return 1;
  long stores = std::strcmp(words[1], "two") == 0 ? 2 * steps : steps;
#ifndef __clang__
  if (std::strcmp(words[1], "gcc_two") == 0) stores = 2 * steps;
#endif
  for (long i = 0; i < stores; ++i) sink = 1;
}
"""
# bounds, and whether they must hold
SELF_TEST = {
    "holds": (True, "// bound: two <= 2.1 * one\n// bound: one <= 9\n"),
    "exceeded": (False, "// bound: two <= 1.9 * one\n"),
    "absolute_exceeded": (False, "// bound: one <= 0.5\n"),
    "program_fails": (False, "// bound: one <= 2 * bad\n"),
    "no_bounds": (False, "// show: one\n"),
    "malformed": (False, "// bound: one <= 9\n// bound: one less than two\n"),
    "other_toolchain": (True, "// bound: one <= 9\n// bound on clang++-19 -O2: gcc_two <= 1.1 * one\n"),
    "other_toolchain_too": (False, "// bound: one <= 9\n// bound: gcc_two <= 1.1 * one\n"),
    "unknown_toolchain": (False, "// bound: one <= 9\n// bound on clang++-18 -O2: one <= 9\n"),
    "this_toolchain": (False, "// bound: one <= 9\n// bound on g++ -O3: one <= 0\n"),
    "no_code": (False, "// bound: one <= 9\n#error no code\n"),
}


def self_test(tally):
    for name, (must_pass, bounds) in SELF_TEST.items():
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / f"{name}.cpp"
            file.write_text(bounds + PROGRAM)
            inner = play([file], report.Tally(quiet=True))
            tally.add(f"self-test {name}", None if inner.good() == must_pass else f"the wrong verdict: {inner.closing()}")
    return tally


def main(arguments):
    if not shutil.which("valgrind"):
        print("SKIPPED: valgrind is not installed")
        sys.exit(report.SKIPPED)
    tally = report.Tally()
    files = [pathlib.Path(word).resolve() for word in arguments if word != "--self-test"]
    if "--self-test" in arguments:
        self_test(tally)
    else:
        play(files or sorted(HERE.glob("*.cpp")), tally)
    tally.close()


main(sys.argv[1:])
