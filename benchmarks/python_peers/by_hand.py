# SPDX-License-Identifier: BSL-1.0
"""What the sides of python_peers.py share: the step, the work of the hooks without hooks, and how they take turns."""

import itertools
import json
import math
import platform
import sys
import time
import typing

FAR = 10**12


def batches(steps):
    """x: the numbers of the tiny step in overhead/steps.hpp."""
    def points():
        state = 1
        while True:
            state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
            yield (state >> 8) / 16777216

    return itertools.islice(points(), steps)


class Line:
    """A line fitted by stochastic gradient descent."""

    def __init__(self):
        self.slope = self.offset = 0.0

    def update(self, engine, x):
        """One step, as ignite wants it. @return the loss before it"""
        error = self.slope * x + self.offset - (2 * x + 1)
        self.slope -= 0.1 * error * x
        self.offset -= 0.1 * error
        return error * error


class Body(typing.NamedTuple):
    """What one hook does, as statements; {i} is its place."""

    before: str = ""
    each: str = ""  # in each step
    due: str = ""  # in those steps in which it is due
    result: str = "0"


ADDER = Body("sum{i} = 0.0", each="sum{i} += loss", result="sum{i}")
SAMPLER = Body("sum{i} = 0.0", due="sum{i} += loss", result="sum{i}")
WORKING = (Body("runs{i} = 0", each="runs{i} += 1", result="runs{i}"),
           Body("mean{i} = 0.0", each="mean{i} += 0.01 * (loss - mean{i})", result="mean{i}"),
           Body(each="if not isfinite(loss): raise ArithmeticError('the loss is not finite')"),
           Body(each="if step >= last: stopped = True", result="int(stopped)"),
           SAMPLER)


def bodies(kind, hooks):
    of = {"idle": (), "working": WORKING, "triggered": (SAMPLER,), "fetching": (ADDER,)}[kind]
    return [Body(*(statement.format(i=i) for statement in of[i % len(of)])) for i in range(hooks if of else 0)]


def loop(kind, hooks, arguments, head, step, step_with_loss):
    """All in one loop, as one writes it by hand: state in local variables, and one trigger for all who share it.
    @param arguments       the names that head and statements use
    @param step            a statement that trains
    @param step_with_loss  one that gives `loss`, too
    @return a function of these arguments, steps, period and last; it gives what each hook computed"""
    done = bodies(kind, hooks)
    each = [body.each for body in done if body.each]
    due = [body.due for body in done if body.due]
    always = any("loss" in statement for statement in each)
    lines = [step_with_loss if always else step] if always or not due else []
    lines += ["step += 1"] if due or any("step" in statement for statement in each) else []
    lines += each
    if due:
        lines += ["if step >= following:", *([] if always else [f"    {step_with_loss}"]),
                  *(f"    {statement}" for statement in due), "    following += period"]
        lines += [] if always else ["else:", f"    {step}"]
    if any("stopped" in statement for statement in each):
        lines += ["if stopped: break"]
    text = [f"def by_hand({arguments}, steps, period, last):", "    step, following, stopped = 0, period, False",
            *(f"    {body.before}" for body in done if body.before), f"    {head}",
            *(f"        {line}" for line in lines),
            f"    return [{', '.join(body.result for body in done)}]"]
    names = {"isfinite": math.isfinite, "batches": batches}
    exec("\n".join(text), names)
    return names["by_hand"]


def serve(side, library):
    """Answers the driver, a line for a line, until it asks no more.
    @param library  its name and version
    The side has
    check(kind, hooks, steps, period): competitor → weights, and what each hook computed. There is one point more than
    the stop test lets through;
    turn(kind, hooks, steps, period): competitor → a function whose time counts."""
    answers, sys.stdout = sys.stdout, sys.stderr  # where all else goes that is printed
    cases, period = json.loads(sys.argv[1]), int(sys.argv[2])

    def say(line):
        answers.write(line + "\n")
        answers.flush()

    def times(competitors, steps, backwards):
        for competitor in sorted(competitors, reverse=backwards):
            # of all threads, and only theirs: none of these loops waits, but others may have the processor for a while
            start = time.process_time_ns()
            competitors[competitor]()
            yield competitor, (time.process_time_ns() - start) / steps

    say(f"ready: {library}, Python {platform.python_version()}")
    for number, line in enumerate(sys.stdin):
        what, steps, *periods = line.split()
        found = {}
        for kind, hooks in cases:
            if what == "check":
                of = side.check(kind, hooks, int(steps), int(periods[0])).items()
            else:
                # each has its share of steps in which something is due
                some = period if kind == "triggered" and what == "turn" else int(steps)
                of = times(side.turn(kind, hooks, some, period), some, number % 2 == 1)
            found.update({f"{kind}/{hooks}/{competitor}": value for competitor, value in of})
        say(json.dumps(found))
