#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What runs on threads has no data race: its tests under the thread sanitizer, on clang++-19. Then one store of the queue's
worker is made weaker in a copy of the headers, which the sanitizer must see.

usage: run.py
"""

import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import report  # noqa: E402

COMPILER = "clang++-19"
FLAGS = ["-std=c++20", "-O1", "-g1", "-pthread", "-fsanitize=thread"]
RUNTIME = report.ROOT / "tests/runtime"
TESTS = ["io/background_writer.cpp", "io/async_summary_writer.cpp", "hooks/off_thread.cpp"]
WEAKENED = ("tautline/io/background_writer.hpp", "written.load(std::memory_order_relaxed) + 1, std::memory_order_release",
            "written.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed")


def build(folder, test, include):
    """The program, or None and what the compiler says."""
    program = folder / pathlib.Path(test).stem
    made = report.run([COMPILER, *FLAGS, f"-I{include}", RUNTIME / test, folder / "main.o", "-o", program])
    return (program, "") if made.returncode == 0 else (None, made.stdout)


def main():
    report.compilers()
    tally = report.Tally()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made = report.run([COMPILER, *FLAGS, "-c", RUNTIME / "main.cpp", "-o", folder / "main.o"])
        if made.returncode != 0:
            sys.exit(made.stdout)
        for test in TESTS:
            program, problem = build(folder, test, report.INCLUDE)
            if program:
                ran = report.run([program])
                problem = ran.stdout if ran.returncode != 0 else None
            tally.add(f"{test} under the thread sanitizer", problem)

        copy = folder / "include"
        shutil.copytree(report.INCLUDE, copy)
        header, strong, weak = WEAKENED
        text = (copy / header).read_text()
        (copy / header).write_text(text.replace(strong, weak))
        program, problem = build(folder, TESTS[0], copy)
        # which accesses meet is up to the scheduler: once is enough
        seen = program and any("data race" in report.run([program]).stdout for _ in range(5))
        tally.add("a weakened store is seen", None if strong in text and seen else problem or "no data race was reported")
    tally.close()


main()
