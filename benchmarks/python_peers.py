#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What hooks cost a step in Python, each library against the same work in a loop without hooks.

Competitors
  monitored_session   TensorFlow's MonitoredSession with SessionRunHooks
  bare_session        its reference: tf.Session.run in a loop, on the same graph
  ignite              pytorch-ignite's Engine with handlers
  bare_python         its reference: the same update function in a loop

Cases and numbers of hooks are those of overhead.py. The step is its tiny one, in double precision: in a graph of
TensorFlow, and in plain Python. All competitors must compute the same, bit by bit, weights as well as what hooks
compute, before anything is measured. Each library is in a process of its own; the processes take turns, and so do the
competitors in them. Figures: ns a step of processor time (of all threads; no loop waits), least, median and
interquartile range of the turns.
What cannot be installed is left out, and a line says so.
There is no bound for --check: the figures are those of others.
"""

import json
import pathlib
import statistics
import subprocess
import sys

import figures
import overhead_names
import packages
import report

HERE = pathlib.Path(__file__).resolve().parent / "python_peers"
PERIOD = 1000


def last_line(text):
    return (text.strip().splitlines() or ["it says nothing"])[-1]


class Side:
    """A process with one library: a competitor, its reference, and how many steps each has in a turn."""

    def __init__(self, part, python, script, names, steps):
        self.part, self.python, self.script, self.names, self.steps = part, python, script, names, steps

    def start(self, cases, errors):
        """@return why it is left out, or None"""
        try:
            python = self.python()
        except SystemExit as problem:
            return last_line(str(problem))
        self.errors = errors / self.part
        with self.errors.open("w") as kept:
            self.process = subprocess.Popen([python, HERE / self.script, json.dumps(cases), str(PERIOD)], text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=kept)
        ready, _, library = self.process.stdout.readline().partition(": ")
        if ready == "ready":
            print(f"{' and '.join(self.names)}: {library}", end="", flush=True)
            return None
        self.stop()
        return last_line(self.errors.read_text())

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"{self.script} ended\n{report.indent(self.errors.read_text())}")
        return json.loads(answer)

    def stop(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


SIDES = [Side("tensorflow", lambda: packages.tensorflow().python, "monitored_session.py",
              ("monitored_session", "bare_session"), 100),
         Side("ignite", packages.ignite, "ignite_engine.py", ("ignite", "bare_python"), 500)]


def differences(results):
    """@param results case/hooks/competitor → weights, and what each hook computed
    @return a line for each that is not what the first of its case is"""
    first, found = {}, []
    for name, values in results.items():
        case, _, competitor = name.rpartition("/")
        other, expected = first.setdefault(case, (competitor, values))
        if len(values) != len(expected):
            found.append(f"not equal: {name} has {len(values)} results, {other} {len(expected)}")
            continue
        at = next((i for i, pair in enumerate(zip(values, expected)) if not pair[0] == pair[1]), None)
        if at is not None:
            found.append(f"not equal: number {at} of the results of {name} is {values[at]!r}, "
                         f"of {other} {expected[at]!r}")
    return found


def measure(sides, wanted):
    """@return figures"""
    # some points more than the period of its triggers, which are due twice
    wrong = differences({name: values for side in sides for name, values in side.ask("check", 250, 100).items()})
    if wrong:
        sys.exit("\n".join(wrong))
    turns = {}
    for turn in range(1 + (wanted.repetitions or (7 if wanted.quick else 15))):
        for side in sides:
            # the first turn warms up
            times = side.ask("turn", side.steps) if turn > 0 else side.ask("warm", 20)
            for name, value in times.items() if turn > 0 else ():
                turns.setdefault(name, []).append(value)
    found = {}
    for name, values in turns.items():
        quarters = statistics.quantiles(values, n=4)
        found |= {f"{name}/ns_per_step": min(values), f"{name}/ns_per_step_median": statistics.median(values),
                  f"{name}/ns_per_step_spread": quarters[2] - quarters[0]}
    return found


def show(found):
    """A line a competitor, a column a number of hooks."""
    measured = overhead_names.Measured(found, "tiny", "g++-O2")
    for kind in overhead_names.KINDS:
        lines = []
        for competitor, reference in (side.names for side in SIDES):
            for name in (reference, competitor):
                cells = []
                for hooks in overhead_names.HOOKS:
                    value, by_hand = (measured.at(kind, hooks, one, "ns_per_step") for one in (name, reference))
                    cells.append(" " * 21 if value is None else f"{value:12.0f} ({value / by_hand:6.2f})")
                if "".join(cells).strip():
                    lines.append(f"{name:20}" + "".join(cells))
        if lines:
            print(f"\n{kind}: least ns a step (× its loop without hooks)\n{'hooks':20}"
                  + "".join(f"{hooks:12}{'':9}" for hooks in overhead_names.HOOKS))
            print("\n".join(lines))


def self_test():
    """What is not equal is found, and named."""
    tally = report.Tally()
    same = {"working/2/a": [1.5, 2, 3], "working/2/b": [1.5, 2.0, 3], "idle/1/b": [7]}
    for name, more, expected in (
            ("equal results", {}, []),
            ("a hook that computed something else", {"working/2/b": [1.5, 2, 4]},
             ["not equal: number 2 of the results of working/2/b is 4, of a 3"]),
            ("a weight that differs in its last bit", {"working/2/b": [1.5000000000000002, 2, 3]},
             ["not equal: number 0 of the results of working/2/b is 1.5000000000000002, of a 1.5"]),
            ("a hook that is missing", {"working/2/b": [1.5, 2]}, ["not equal: working/2/b has 2 results, a 3"]),
            ("no number", {"working/2/b": [float("nan"), 2, 3]},
             ["not equal: number 0 of the results of working/2/b is nan, of a 1.5"])):
        found = differences(same | more)
        tally.add(name, None if found == expected else f"found {found}")
    tally.close()


def main():
    parser = figures.parser(__doc__)
    parser.add_argument("--quick", action="store_true", help="0, 5 and 64 hooks only, fewer repetitions")
    parser.add_argument("--repetitions", type=int, help="of each time")
    parser.add_argument("--without", action="append", default=[], choices=[side.part for side in SIDES])
    parser.add_argument("--self-test", action="store_true", help="tests that the check finds what it looks for")
    wanted = parser.parse_args()
    if wanted.self_test:
        self_test()
    cases = [case for case in overhead_names.cases() if not wanted.quick or case[1] in (0, 5, 64)]
    sides = []
    with figures.folder() as errors:
        for side in SIDES:
            problem = "as asked for" if side.part in wanted.without else side.start(cases, errors)
            if problem:
                print(f"{' and '.join(side.names)}: left out: {problem}", flush=True)
            else:
                sides.append(side)
        found = measure(sides, wanted)
        for side in sides:
            side.stop()
    show(found)
    if wanted.json:
        wanted.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
