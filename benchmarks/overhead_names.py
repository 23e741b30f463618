# SPDX-License-Identifier: BSL-1.0
"""What the figures of overhead.py are called, CASE/HOOKS/COMPETITOR/FIGURE, and looking them up."""

HOOKS = (0, 1, 5, 20, 64)
KINDS = ("idle", "working", "triggered", "fetching")


def cases():
    """On each step: without hooks all kinds are the same."""
    return [(kind, hooks) for kind in KINDS for hooks in HOOKS if hooks > 0 or kind == "idle"]


def difference(value, reference):
    """None where one of them was not measured."""
    return None if value is None or reference is None else value - reference


class Names:
    """Those of one step on one toolchain."""

    def __init__(self, step, toolchain):
        self.prefix = "" if step == "tiny" else f"{step}_"
        self.suffix = "" if toolchain == "g++-O2" else f".{toolchain}"

    def name(self, kind, hooks, competitor, figure):
        return f"{self.prefix}{kind}/{hooks}/{competitor}{self.suffix}/{figure}"


class Measured(Names):
    """Their numbers; None is what was not measured."""

    def __init__(self, numbers, step, toolchain):
        """@param numbers by name"""
        super().__init__(step, toolchain)
        self.numbers = numbers

    def at(self, kind, hooks, competitor, figure):
        return self.numbers.get(self.name(kind, hooks, competitor, figure))

    def over_hand(self, kind, hooks, competitor, figure):
        """What a competitor costs beyond the loop by hand."""
        return difference(self.at(kind, hooks, competitor, figure), self.at(kind, hooks, "hand", figure))
