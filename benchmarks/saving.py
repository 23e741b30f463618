#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""How long a saving in the background blocks the step, as a ratio to a memcpy of the same bytes (see saving.cpp).

usage: saving.py [--json FILE] [--check]
"""

import argparse
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import report  # noqa: E402

BOUNDS = {"step_due_over_memcpy": 1.5}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    wanted = parser.parse_args()
    (ROOT / "build").mkdir(exist_ok=True)
    figures, bad = {}, []
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="bench-") as folder:
        for compiler in report.COMPILERS:
            program = pathlib.Path(folder) / f"saving-{compiler}"
            made = report.run([compiler, "-std=c++20", "-O2", "-pthread", f"-I{report.INCLUDE}",
                               ROOT / "benchmarks/saving.cpp", "-o", program])
            out = pathlib.Path(folder) / compiler
            out.mkdir()
            ran = report.run([program, out]) if made.returncode == 0 else made
            if ran.returncode != 0:
                sys.exit(ran.stdout)
            for line in ran.stdout.splitlines():
                name, value = line.split()
                figures[f"{name}/{compiler}"] = float(value)
    for name, value in figures.items():
        bound = BOUNDS.get(name.split("/")[-2])
        print(f"{name:55} {value:10.3f}{f'   (bound: at most {bound})' if bound else ''}")
        if bound and value > bound:
            bad.append(name)
    if wanted.json:
        wanted.json.write_text(json.dumps(figures, indent=1) + "\n")
    if wanted.check and bad:
        sys.exit(f"beyond its bound: {', '.join(bad)}")


main()
