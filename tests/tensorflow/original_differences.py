# SPDX-License-Identifier: BSL-1.0
"""Where we differ from tf.train.MonitoredTrainingSession and its hooks, each time with the rule that it rests on: its number
in the life of a session (7 is the section on hooks), as in docs/how-a-session-lives.md. original.py holds both to it."""

import dataclasses


@dataclasses.dataclass
class Difference:
    rule: str
    original: object
    ours: object


PERIODS = "7: the original acts in the first run and then N later, we act on completed steps N, 2N, 3N"
MADE = "7: the original saves whenever a session has been made, we save on due steps"
# (training, what is compared): the rule is one of tests/conformance and of the design, section 4
DIFFERENCES = {
    ("from the beginning", "saver"): Difference(MADE, [0, 5, 10, 15, 20, 23], [5, 10, 15, 20, 23]),
    ("from the beginning", "logger"): Difference(PERIODS, [1, 6, 11, 16, 21], [5, 10, 15, 20]),
    ("from the beginning", "rate"): Difference(PERIODS, [6, 11, 16, 21], [5, 10, 15, 20]),
    ("from the beginning", "summaries"): Difference(PERIODS, [1, 6, 11, 16, 21], [5, 10, 15, 20]),
    ("resumed at 10", "saver"): Difference(MADE, [10, 15, 20, 23], [15, 20, 23]),
    ("resumed at 10", "logger"): Difference(PERIODS, [11, 16, 21], [15, 20]),
    ("resumed at 10", "rate"): Difference(PERIODS, [16, 21], [15, 20]),
    ("resumed at 10", "summaries"): Difference(PERIODS, [11, 16, 21], [15, 20]),
    ("resumed at 13", "saver"): Difference(MADE + ", counted from there", [13, 18, 23], [15, 20, 23]),
    ("resumed at 13", "logger"): Difference(PERIODS, [14, 19], [15, 20]),
    ("resumed at 13", "rate"): Difference(PERIODS, [19], [15, 20]),
    ("resumed at 13", "summaries"): Difference(PERIODS, [14, 19], [15, 20]),
    ("resumed at 13", "profiler"): Difference("7: the original counts from the restored step", [18, 23], [15, 20]),
    ("past the last step", "runs"): Difference(
        "1, 10: the original looks at the step after a run only, we look when a session is made", 1, 0),
    ("past the last step", "stop"): Difference("1, 10: as above", [24], [23]),
    ("past the last step", "losses"): Difference("1, 10: as above", [24], []),
    ("past the last step", "saver"): Difference(MADE, [23, 24], []),
    ("past the last step", "logger"): Difference(PERIODS, [24], []),
    ("past the last step", "summaries"): Difference(PERIODS, [24], []),
    ("past the last step", "feed"): Difference("1, 10: as above", [24], []),
    ("past the last step", "final_ops"): Difference("1, 10: as above", [24], [23]),
    ("log at the end", "error"): Difference(
        "7: at the end the original runs the values again, without what hooks feed; we show those of the last run",
        "InvalidArgumentError", ""),
    ("log at the end", "final_ops"): Difference("4: the first failing end keeps the original's later hooks from theirs", [], [23]),
    ("log at the end", "logger"): Difference(PERIODS, [1, 6, 11, 16, 21], [5, 10, 15, 20, 23]),
    ("end of input", "saver"): Difference(MADE, [0, 5, 10, 15], [5, 10, 15]),
    ("end of input", "logger"): Difference(PERIODS, [1, 6, 11], [5, 10, 15]),
    ("end of input", "rate"): Difference(PERIODS, [6, 11], [5, 10, 15]),
    ("end of input", "summaries"): Difference(PERIODS, [1, 6, 11], [5, 10, 15]),
    ("end of input", "stop"): Difference("1, 2, 10: for us the end of the input is a stop, which is recorded", [], [16]),
    ("NaN at 10", "saver"): Difference("6: we look for NaN before we save; the original saves it", [0, 5, 10], [5]),
    ("NaN at 10", "error"): Difference("7: an error has a kind", "NanLossDuringTrainingError", "nan"),
    ("infinite at 10", "saver"): Difference("6, 7: infinite values pass in the original, and are saved", [0, 5, 10], [5]),
    ("infinite at 10", "error"): Difference("7: an error has a kind", "NanLossDuringTrainingError", "nan"),
    ("infinite at 10", "runs"): Difference("7: infinite values pass in the original; NaN follows", 11, 10),
    ("infinite at 10", "feed"): Difference("7: as above", list(range(1, 12)), list(range(1, 11))),
    ("infinite at 10", "losses"): Difference("7: as above", list(range(1, 12)), list(range(1, 11))),
    # 1 is a start, 3 a checkpoint; a reader drops what stands beyond the step of a start
    ("every step", "session logs"): Difference(
        "state, resume: each hook that writes marks each session; the original marks the first summary, and savings",
        [(3, 0), (3, 1), (1, 1), *((3, step) for step in range(2, 7))], [(1, 1), (1, 1)]),
    ("every step", "saver"): Difference(MADE, [0, 1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
    ("every step", "rate"): Difference("7: the original's first rate is that of the second run", [2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
    ("every step", "profiler"): Difference("7: the original never records the first run", [2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
}
for _name, _seven in (("NaN at 10", []), ("infinite at 10", [11])):
    DIFFERENCES[_name, "logger"] = Difference(PERIODS, [1, 6], [5])
    DIFFERENCES[_name, "rate"] = Difference(PERIODS, [6, *_seven], [5, 10])
    DIFFERENCES[_name, "summaries"] = Difference(PERIODS, [1, 6, *_seven], [5, 10])
DIFFERENCES["NaN at 10", "profiler"] = Difference("6: ours stands around all others, and sees the step of an error", [5], [5, 10])


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
        for training, what in self.differences:
            if (training, what) not in self.occurred:
                self.tally.add(f"{training}: {what}", "is listed as a difference, and is none")
