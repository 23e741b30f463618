#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""A step in real-time mode makes no allocation, takes no lock and makes no system call: counted over a million steps with
logging, summaries and a saver that saves (proof.cpp). Then a hook does each of these, which must be seen.

usage: run.py        ends with 77 where the kernel allows no seccomp filter
"""

import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import report  # noqa: E402

FLAGS = ["-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{report.INCLUDE}"]
STEPS = 1_000_000
BREACHES = 1000  # a hook that breaks the rule does so every 1000 steps
COUNTED = ("allocations", "locks", "system_calls")
# what the hook does: what must be counted, at least BREACHES times
BREACH = {"new": "allocations", "malloc": "allocations", "lock": "locks", "syscall": "system_calls"}


def counts(output):
    """{name: number} of the program's line, or nothing if there is none."""
    words = output.split()
    if words[:1] != ["saved"] or len(words) % 2:
        return {}
    return {name: int(number) for name, number in zip(words[::2], words[1::2])}


def problem_of(seen, breach):
    """None, or what is wrong with these counts."""
    if not seen or seen["steps"] != STEPS:
        return "the steps were not made"
    for name in COUNTED:
        if breach is None and seen[name] != 0:
            return f"{seen[name]} {name} on the thread of the steps"
        if breach is not None and BREACH[breach] == name and seen[name] < BREACHES:
            return f"a hook made {BREACHES} {name}, and {seen[name]} were counted"
    # what was to be written has been, unless it was dropped, which is allowed
    if seen["lines"] + seen["curve"] + seen["dropped"] != 2 * STEPS // 100:
        return "lines and numbers are missing without being counted"
    if seen["saved"] == 0 or seen["saved"] + seen["left_out"] != 20:
        return f"of 20 savings {seen['saved']} were made and {seen['left_out']} left out"
    if seen["lines"] == 0 or seen["curve"] == 0:
        return "nothing was written"
    return None


def main():
    tally = report.Tally()
    with tempfile.TemporaryDirectory() as folder:
        for compiler in report.compilers():
            program = pathlib.Path(folder) / compiler
            built = report.run([compiler, *FLAGS, HERE / "proof.cpp", "-o", program, "-lfmt", "-ldl"])
            tally.add(f"proof.cpp on {compiler}", None if built.returncode == 0 else built.stdout)
            if built.returncode != 0:
                continue
            for breach in (None, *BREACH):
                result = report.run([program, *([breach] if breach else [])])
                if result.returncode == report.SKIPPED:
                    print("SKIPPED: the kernel allows no seccomp filter")
                    sys.exit(report.SKIPPED)
                name = f"{compiler}: {'nothing is counted' if breach is None else f'{breach} is seen'}"
                problem = problem_of(counts(result.stdout), breach)
                tally.add(name, f"{problem}\n{result.stdout}" if problem else None)
    tally.close()


main()
