#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""All benchmarks, one after the other: every figure with its bound, times as ratios to a measure of the same run.

usage: run.py [--quick] [--without tensorflow] [--json FILE] [--check]
  --quick   fewer repetitions
  --without tensorflow   leaves out what needs TensorFlow, a large package
  --json    writes the figures as one flat object: name → number
  --check   ends with 1 if a figure is beyond its bound; for a machine that does nothing else
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

# script, arguments of a quick run
SCRIPTS = [
    ("saving.py", []),
    ("checkpoint_store.py", ["--mib", "32", "--rounds", "5"]),
    ("off_the_step.py", []),
    ("overhead.py", ["--quick"]),
    ("compile_time.py", ["--quick"]),
    ("tensorflow_step.py", ["--rounds", "5"]),
]
PARTS = {"tensorflow": ["tensorflow_step.py"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--without", action="append", default=[], choices=PARTS)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    wanted = parser.parse_args()
    figures, bad = {}, []
    with tempfile.TemporaryDirectory() as folder:
        for script, quick in SCRIPTS:
            if any(script in PARTS[part] for part in wanted.without):
                print(f"--- {script}: left out", flush=True)
                continue
            print(f"--- {script}", flush=True)
            kept = pathlib.Path(folder) / (script + ".json")
            words = [*(quick if wanted.quick else []), "--json", str(kept), *(["--check"] if wanted.check else [])]
            if subprocess.run([sys.executable, HERE / script, *words], check=False).returncode != 0:
                bad.append(script)
            if kept.exists():
                figures.update(json.loads(kept.read_text()))
    if wanted.json:
        wanted.json.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n")
    if bad:
        sys.exit(f"failed, or beyond a bound: {', '.join(bad)}")


main()
