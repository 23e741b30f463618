#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Ten million steps under all hooks: the memory stays what it was after the first parts.

usage: run.py [--self-test | --with-self-test] [--steps N]     with: both, by one program, whose compiling takes longest
"""

import argparse
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import report  # noqa: E402

PARTS = 10
WARM = 3  # parts, in which buffers grow to their size
MOST_HEAP = 1024  # bytes: an answer of the allocator to another thread may differ a little
MOST_RESIDENT = 1 << 20


def build(folder):
    program = folder / "all_hooks"
    result = report.run(["g++", "-std=c++20", "-O2", "-w", "-ffp-contract=off", f"-I{report.INCLUDE}", HERE / "all_hooks.cpp",
                         "-o", program, "-pthread", "-lfmt"])
    if result.returncode != 0:
        sys.exit(f"tests/leak/all_hooks.cpp does not compile\n{report.indent(result.stdout)}")
    return program


def measure(program, folder, steps, *more):
    """(step, heap, resident) after each part, or a text."""
    folder.mkdir()
    result = report.run([program, folder, steps, PARTS, *more])
    if result.returncode != 0:
        return result.stdout
    # some hooks say something, too
    found = [tuple(int(word) for word in line.split()) for line in result.stdout.splitlines()
             if re.fullmatch(r"\d+ \d+ \d+", line)]
    if [step for step, _, _ in found] != [steps // PARTS * (part + 1) for part in range(PARTS)]:
        return f"not all steps were made\n{result.stdout}"
    return found


def verdict(found):
    if isinstance(found, str):
        return found
    (_, heap, resident), (_, last_heap, last_resident) = found[WARM - 1], found[-1]
    table = "\n".join(f"after {step} steps {heap} bytes on the heap, {resident} resident" for step, heap, resident in found)
    if last_heap - heap > MOST_HEAP:
        return f"the heap grew by {last_heap - heap} bytes\n{table}"
    if last_resident - resident > MOST_RESIDENT:
        return f"the process grew by {last_resident - resident} bytes\n{table}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--with-self-test", action="store_true")
    parser.add_argument("--steps", type=int, default=10_000_000)
    given = parser.parse_args()
    tally = report.Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = build(folder)
        if given.self_test or given.with_self_test:
            problem = verdict(measure(program, folder / "leak", 1_000_000, "leak"))
            tally.add("self-test: 16 bytes in every thousandth step", None if problem and "heap grew" in problem else problem or "it was not seen")
        if not given.self_test:
            found = measure(program, folder / "run", given.steps)
            tally.add(f"{given.steps} steps under all hooks", verdict(found))
            if not isinstance(found, str):
                (_, heap, resident), (_, last_heap, last_resident) = found[WARM - 1], found[-1]
                print(f"{given.steps} steps: the heap grew by {last_heap - heap} of {last_heap} bytes after warm-up, the "
                      f"process by {last_resident - resident} of {last_resident}")
    tally.close()


main()
