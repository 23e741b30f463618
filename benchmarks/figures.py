# SPDX-License-Identifier: BSL-1.0
"""What the benchmarks have in common: a program that prints lines `name value`, bounds, and a file of figures."""

import argparse
import contextlib
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import report  # noqa: E402


def parser(usage):
    """The options that every benchmark has."""
    made = argparse.ArgumentParser(description=usage, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--json", type=pathlib.Path, help="writes the figures as one flat object: name → number")
    made.add_argument("--check", action="store_true",
                      help="ends with 1 if a figure is beyond its bound; for a machine that does nothing else")
    return made


@contextlib.contextmanager
def folder(below=ROOT / "build"):
    """A folder on the disk, for the time of a measurement."""
    below.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=below, prefix="bench-") as made:
        yield pathlib.Path(made)


def measure(name, into, compiler=report.COMPILERS[0], flags=(), arguments=()):
    """Compiles benchmarks/NAME.cpp into the folder, and runs it. @return its figures: NAME/figure → number"""
    program = into / name
    made = report.run([compiler, "-std=c++20", "-O2", f"-I{report.INCLUDE}", ROOT / f"benchmarks/{name}.cpp",
                       "-o", program, *flags])
    ran = report.run([program, *arguments]) if made.returncode == 0 else made
    if ran.returncode != 0:
        sys.exit(ran.stdout)
    return {f"{name}/{figure}": float(value) for figure, value in (line.split() for line in ran.stdout.splitlines())}


def tell(figures, bounds, wanted, shown=lambda name: True):
    """Prints the figures, writes them where that is wanted, and ends the program if one is beyond its bound.
    @param bounds by a part of the name, as `("most", number)` or `("least", number)`
    @param shown which of them are printed"""
    bad = []
    for name, value in figures.items():
        kind, bound = next((bounds[part] for part in name.split("/") if part in bounds), (None, None))
        if shown(name):
            print(f"{name:55} {value:10.3f}{f'   (bound: at {kind} {bound})' if kind else ''}")
        if (kind == "most" and value > bound) or (kind == "least" and value < bound):
            bad.append(name)
    if wanted.json:
        wanted.json.write_text(json.dumps(figures, indent=1) + "\n")
    if wanted.check and bad:
        sys.exit(f"beyond its bound: {', '.join(bad)}")
