#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What saving a checkpoint costs, each figure as a ratio to its measure in the same run (see checkpoint_store.cpp).

usage: checkpoint_store.py [--mib N] [--rounds N] [--folder DIR] [--json FILE] [--check]
  --folder   on the disk that is to be measured; default build/
  --check    ends with 1 if a ratio is beyond its bound; for a machine that does nothing else
"""

import argparse
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import report  # noqa: E402

# name: bound, and whether larger is better
BOUNDS = {"snapshot_of_memcpy": (1.1, False), "save_of_write": (0.7, True)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mib", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    wanted = parser.parse_args()
    wanted.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=wanted.folder, prefix="bench-") as folder:
        program = pathlib.Path(folder) / "checkpoint_store"
        made = report.run([report.COMPILERS[0], "-std=c++20", "-O2", f"-I{report.INCLUDE}",
                           ROOT / "benchmarks/checkpoint_store.cpp", "-o", program])
        if made.returncode != 0:
            sys.exit(made.stdout)
        ran = report.run([program, folder, wanted.mib, wanted.rounds])
        if ran.returncode != 0:
            sys.exit(ran.stdout)
    figures = {f"checkpoint_{name}": float(value) for name, value in (line.split() for line in ran.stdout.splitlines())}
    bad = []
    for name, value in figures.items():
        bound, larger = BOUNDS.get(name.removeprefix("checkpoint_"), (None, None))
        beyond = bound is not None and (value < bound if larger else value > bound)
        told = "" if bound is None else f"   (bound: {'at least' if larger else 'at most'} {bound})"
        print(f"{name:40} {value:10.3f}{told}")
        if beyond:
            bad.append(name)
    if wanted.json:
        wanted.json.write_text(json.dumps(figures, indent=1) + "\n")
    if wanted.check and bad:
        sys.exit(f"beyond its bound: {', '.join(bad)}")


main()
