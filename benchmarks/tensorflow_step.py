#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What a step of a TensorFlow session costs with 0, 1, 5, 8 and 64 hooks that fetch, over TF_SessionRun by hand with
the same fetches, and over Python's sessions: the same graphs, in turns, in one run. Two graphs: a network, and a mere
counter, in which everything beside TensorFlow's own work shows most.
"""

import sys

import figures

sys.path.insert(0, str(figures.ROOT / "tools"))
import packages  # noqa: E402
import report  # noqa: E402

HERE = figures.ROOT / "benchmarks"
HOOKS = (0, 1, 5, 8, 64)
ROWS = ("bare", "tautline", "python", "monitored_session")
# of the network TensorFlow's own work alone may be more than a fifth of Python's step: there what is beside it counts
BOUNDS = {"five_over_bare": ("most", 1.05), "five_over_monitored_session": ("most", 0.2),
          "five_beside_engine": ("most", 0.2)}


def table(kind, found, which):
    """Microseconds a step."""
    print(f"\n{kind}: {which} of the turns, µs a step")
    print(f"{'fetching hooks':20}" + "".join(f"{hooks:>10}" for hooks in HOOKS))
    for row in ROWS:
        print(f"{row:20}" + "".join(f"{found[f'{kind}/{row}_{hooks}/{which}']:>10.2f}" for hooks in HOOKS))


def ratios(kind, found):
    """Of ours to the bare run: the median of the ratios of turns that stand beside each other. The least turn is no
    measure: now and then TensorFlow's threads need no waking, and a turn takes half as long."""
    at = {row: {hooks: found[f"{kind}/{row}_{hooks}/median"] for hooks in HOOKS} for row in ROWS}
    yield "five_over_bare", found[f"{kind}/over_bare_5"]
    of_python = at["tautline"][5] / at["monitored_session"][5]
    yield "five_over_monitored_session" if kind == "counter" else "five_of_monitored_session", of_python
    beside = (found[f"{kind}/over_bare_5"] - 1) * at["bare"][5]
    yield "five_beside_engine", beside / (at["monitored_session"][5] - at["bare"][5])
    for hooks in (0, 1, 8, 64):
        yield f"{hooks}_over_bare", found[f"{kind}/over_bare_{hooks}"]
    for row in ("bare", "tautline", "monitored_session"):
        yield f"us_a_value/{row}", (at[row][64] - at[row][0]) / 64


def main():
    parser = figures.parser(__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--steps", type=int, default=50, help="of each kind in a turn")
    wanted = parser.parse_args()
    tensorflow = packages.tensorflow()
    with figures.folder() as folder:
        program = folder / "tensorflow_step"
        made = report.run(["g++", "-std=c++20", "-O2", "-DNDEBUG", f"-I{report.INCLUDE}", *tensorflow.compile_args,
                           HERE / "tensorflow_step.cpp", "-o", program, *tensorflow.link_args])
        if made.returncode != 0:
            sys.exit(made.stdout)
        ran = report.run([tensorflow.python, HERE / "tensorflow_rounds.py", program, folder, wanted.rounds,
                          wanted.steps])
        if ran.returncode != 0:
            sys.exit(ran.stdout)
    lines = [line.split() for line in ran.stdout.splitlines() if line.startswith(("network/", "counter/"))]
    found = {name: float(value) for name, value in lines}
    shown = {}
    for kind in ("network", "counter"):
        for which in ("least", "median"):
            table(kind, found, which)
        shown.update({f"tensorflow_step/{kind}/{name}": value for name, value in ratios(kind, found)})
    print()
    figures.tell(shown, BOUNDS, wanted)


main()
