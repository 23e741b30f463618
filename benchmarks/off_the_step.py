#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What logging, summaries and saving beside the loop leave on the thread of the steps (see off_the_step.cpp).

usage: off_the_step.py [--json FILE] [--check]
  --check    ends with 1 if a figure is beyond its bound; for a machine that does nothing else
"""

import argparse
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import report  # noqa: E402

BOUNDS = {"step_p999_ratio": 1.2, "step_p999_least_ratio": 1.2, "step_records_dropped": 0, "add_scalar_ns": 100,
          "add_scalar_to_clock": 3}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    wanted = parser.parse_args()
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="bench-") as folder:
        program = pathlib.Path(folder) / "off_the_step"
        made = report.run([report.COMPILERS[0], "-std=c++20", "-O2", "-pthread", f"-I{report.INCLUDE}",
                           ROOT / "benchmarks/off_the_step.cpp", "-o", program, "-lfmt"])
        if made.returncode != 0:
            sys.exit(made.stdout)
        ran = report.run([program])
        if ran.returncode != 0:
            sys.exit(ran.stdout)
    figures = {name: float(value) for name, value in (line.split() for line in ran.stdout.splitlines())}
    bad = [name for name, bound in BOUNDS.items() if figures[name] > bound]
    for name, value in figures.items():
        print(f"{name:40} {value:10.3f}{f'   (bound: at most {BOUNDS[name]})' if name in BOUNDS else ''}")
    if wanted.json:
        wanted.json.write_text(json.dumps(figures, indent=1) + "\n")
    if wanted.check and bad:
        sys.exit(f"beyond its bound: {', '.join(bad)}")


main()
