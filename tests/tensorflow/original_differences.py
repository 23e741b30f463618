# SPDX-License-Identifier: BSL-1.0
"""Where we differ from tf.train.MonitoredTrainingSession and its hooks, each time with the rule that it rests on, in the words
of docs/coming-from.md. original.py holds both sides to it."""

import dataclasses
import pathlib

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/coming-from.md"


@dataclasses.dataclass
class Difference:
    rule: str
    original: object
    ours: object


PERIODS = "timers fire in the first run, then N later"
LOGGING = "logging counts runs, from `begin` on"
MADE = "a saver saves whenever a session was made"
LIMIT = "the step limit is looked at only after a run: a resume at the limit trains one step more"
END = "after end of input `should_stop` is false, and runs go on"
AT_END = "`at_end` runs the session again, which fails after end of input"
FAILING_END = "the first `end` that fails keeps later hooks from theirs"
NAN = "a saver before the NaN check saves the NaN"
INFINITE = "infinite values pass the NaN check"
KINDS = "an error of the kind `nan`"
PROFILER = "`ProfilerHook` never records the first run, and counts from there"
OUTERMOST = "`ProfilerHook` writes in its place, so nothing of a step that a hook before it ended by an error"
MARKS = "event files have a mark for the first summary and for each checkpoint"

# by the training and what is compared. Periods are 5 steps; a training goes to step 23 if nothing else is said
DIFFERENCES = {
    ("from the beginning", "saver"): Difference(MADE, [0, 5, 10, 15, 20, 23], [5, 10, 15, 20, 23]),
    ("from the beginning", "logger"): Difference(LOGGING, [1, 6, 11, 16, 21], [5, 10, 15, 20]),
    ("from the beginning", "rate"): Difference(PERIODS, [6, 11, 16, 21], [5, 10, 15, 20]),
    ("from the beginning", "summaries"): Difference(PERIODS, [1, 6, 11, 16, 21], [5, 10, 15, 20]),
    ("resumed at 10", "saver"): Difference(MADE, [10, 15, 20, 23], [15, 20, 23]),
    ("resumed at 10", "logger"): Difference(LOGGING, [11, 16, 21], [15, 20]),
    ("resumed at 10", "rate"): Difference(PERIODS, [16, 21], [15, 20]),
    ("resumed at 10", "summaries"): Difference(PERIODS, [11, 16, 21], [15, 20]),
    ("resumed at 13", "saver"): Difference(MADE, [13, 18, 23], [15, 20, 23]),
    ("resumed at 13", "logger"): Difference(LOGGING, [14, 19], [15, 20]),
    ("resumed at 13", "rate"): Difference(PERIODS, [19], [15, 20]),
    ("resumed at 13", "summaries"): Difference(PERIODS, [14, 19], [15, 20]),
    ("resumed at 13", "profiler"): Difference(PROFILER, [18, 23], [15, 20]),
    ("past the last step", "runs"): Difference(LIMIT, 1, 0),
    ("past the last step", "stop"): Difference(LIMIT, [24], [23]),
    ("past the last step", "losses"): Difference(LIMIT, [24], []),
    ("past the last step", "feed"): Difference(LIMIT, [24], []),
    ("past the last step", "final_ops"): Difference(LIMIT, [24], [23]),
    ("past the last step", "saver"): Difference(MADE, [23, 24], []),
    ("past the last step", "logger"): Difference(LOGGING, [24], []),
    ("past the last step", "summaries"): Difference(PERIODS, [24], []),
    ("log at the end", "error"): Difference(AT_END, "InvalidArgumentError", ""),
    ("log at the end", "final_ops"): Difference(FAILING_END, [], [23]),
    ("log at the end", "logger"): Difference(LOGGING, [1, 6, 11, 16, 21], [5, 10, 15, 20, 23]),
    ("end of input", "saver"): Difference(MADE, [0, 5, 10, 15], [5, 10, 15]),
    ("end of input", "logger"): Difference(LOGGING, [1, 6, 11], [5, 10, 15]),
    ("end of input", "rate"): Difference(PERIODS, [6, 11], [5, 10, 15]),
    ("end of input", "summaries"): Difference(PERIODS, [1, 6, 11], [5, 10, 15]),
    ("end of input", "stop"): Difference(END, [], [16]),
    ("NaN at 10", "saver"): Difference(NAN, [0, 5, 10], [5]),
    ("NaN at 10", "error"): Difference(KINDS, "NanLossDuringTrainingError", "nan"),
    ("NaN at 10", "logger"): Difference(LOGGING, [1, 6], [5]),
    ("NaN at 10", "rate"): Difference(PERIODS, [6], [5, 10]),
    ("NaN at 10", "summaries"): Difference(PERIODS, [1, 6], [5, 10]),
    ("NaN at 10", "profiler"): Difference(OUTERMOST, [5], [5, 10]),
    ("infinite at 10", "saver"): Difference(INFINITE, [0, 5, 10], [5]),
    ("infinite at 10", "error"): Difference(KINDS, "NanLossDuringTrainingError", "nan"),
    ("infinite at 10", "runs"): Difference(INFINITE, 11, 10),
    ("infinite at 10", "feed"): Difference(INFINITE, list(range(1, 12)), list(range(1, 11))),
    ("infinite at 10", "losses"): Difference(INFINITE, list(range(1, 12)), list(range(1, 11))),
    ("infinite at 10", "logger"): Difference(LOGGING, [1, 6], [5]),
    ("infinite at 10", "rate"): Difference(PERIODS, [6, 11], [5, 10]),
    ("infinite at 10", "summaries"): Difference(PERIODS, [1, 6, 11], [5, 10]),
    # every hook in every step, up to step 6; a mark of kind 1 is a start, one of kind 3 a checkpoint
    ("every step", "saver"): Difference(MADE, [0, 1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
    ("every step", "rate"): Difference(PERIODS, [2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
    ("every step", "profiler"): Difference(PROFILER, [2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
    ("every step", "session logs"): Difference(
        MARKS, [(3, 0), (3, 1), (1, 1), (3, 2), (3, 3), (3, 4), (3, 5), (3, 6)], [(1, 1), (1, 1)]),
}


class Comparison:
    """Holds what was found against DIFFERENCES, and knows which of these occurred."""

    def __init__(self, tally, differences):
        self.tally, self.differences, self.occurred = tally, differences, set()

    def hold(self, training, what, original, ours):
        listed = self.differences.get((training, what))
        if listed is None:
            problem = None if original == ours else f"the original: {original}\nours: {ours}\nno such difference is listed"
        else:
            if original != ours:
                self.occurred.add((training, what))
            as_listed = (original, ours) == (listed.original, listed.ours)
            problem = None if as_listed else (f"the original: {original}\nlisted:       {listed.original}\n"
                                              f"ours:   {ours}\nlisted: {listed.ours}")
        self.tally.add(f"{training}: {what}", problem)

    def close(self):
        page = PAGE.read_text()
        for rule in sorted({each.rule for each in self.differences.values()}):
            self.tally.add(f"the rule: {rule}", None if rule in page else f"{PAGE.name} does not have it")
        for training, what in self.differences:
            if (training, what) not in self.occurred:
                self.tally.add(f"{training}: {what}", "is listed as a difference, and is none")
