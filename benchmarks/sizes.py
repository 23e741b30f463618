#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Size of an optimised program with working hooks (see sizes.cpp): its text as `size` tells it, which has code,
constants and what is needed to unwind; the shared libraries are not in it."""

import sys

import figures
import report
from overhead_names import HOOKS

HERE = figures.ROOT / "benchmarks"
COMPETITORS = {"hand": "hand", "fused": "fused_alone", "virtual": "virtual_list", "function": "function_list",
               "signals2": "signals2"}
FLAGS = ["-std=c++20", "-O2", "-DNDEBUG", "-ffp-contract=off", "-ffunction-sections", "-fdata-sections",
         "-Wl,--gc-sections"]


def text_bytes(case):
    hooks, competitor, folder = case
    program = folder / f"{competitor}-{hooks}"
    made = report.run(["g++", *FLAGS, f"-I{report.INCLUDE}", f"-DHOOKS={hooks}",
                       f"-DCOMPETITOR={COMPETITORS[competitor]}", HERE / "sizes.cpp", "-o", program])
    told = report.run(["size", program]) if made.returncode == 0 else made
    if told.returncode != 0:
        sys.exit(f"{competitor} with {hooks} hooks\n{report.indent(told.stdout)}")
    return f"size/{hooks}/{competitor}/text_bytes", float(told.stdout.splitlines()[1].split()[0])


def main():
    parser = figures.parser(__doc__)
    parser.add_argument("--quick", action="store_true", help="0 and 5 hooks only")
    wanted = parser.parse_args()
    with figures.folder() as folder:
        cases = [(hooks, name, folder) for hooks in ((0, 5) if wanted.quick else HOOKS) for name in COMPETITORS]
        figures.tell(dict(report.in_parallel(text_bytes, cases)), {}, wanted)


main()
