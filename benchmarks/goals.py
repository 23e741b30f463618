# SPDX-License-Identifier: BSL-1.0
"""What is to be reached: each goal with its bound, which stands nowhere else, and why it may be missed."""

import math
import re
from typing import NamedTuple

import performance_texts as texts


class Reason(NamedTuple):
    """Why a goal is missed."""
    text: str
    cases: str = ""  # found in the name of a figure that it says something of
    below: float = math.inf  # that is less than this

    def explains(self, name, value):
        return re.search(self.cases, name) is not None and value < self.below


LAYOUT = Reason(texts.LAYOUT, below=1.3)
TRIGGERED = Reason(texts.TRIGGERED, r"triggered/")
MANY = Reason(texts.MANY, r"(idle|working|fetching)/64/")
LOSS = Reason(texts.LOSS, r"(working|fetching)/")
SPILLED = Reason(texts.SPILLED, r"-Os$")
FLASH = Reason(texts.FLASH)
RAM = Reason(texts.RAM)
OF_HOOKS = (TRIGGERED, MANY)
OF_ENSMALLEN = (LOSS, *OF_HOOKS)


class Goal(NamedTuple):
    words: str
    bound: float
    unit: str  # behind a number that misses it
    reasons: tuple = ()
    places: int = 2  # of such a number
    asked: str = "at most {:g}"  # the bound, in words


NOISE = 0.25  # ns a step: what is below is not measurable
INSTRUCTIONS, TIME = "of the instructions by hand", "of the time of the loop by hand"
MORE_INSTRUCTIONS, MORE_TIME = "more than by hand, in instructions a step", "more than by hand, in ns a step"
GROWN_INSTRUCTIONS = "more than without hooks, in instructions a step"
GROWN_TIME = "more than without hooks, in ns a step"

# in the order of the page
GOALS = {
    "instructions, idle": Goal(  # "1.00" with two digits
        "instructions with idle hooks, `run_to_completion` to by hand", 1.005, INSTRUCTIONS, places=3, asked="1.00"),
    "instructions, working": Goal(
        "instructions with five working hooks, `run_to_completion` to by hand", 1.02, INSTRUCTIONS, places=3),
    "time": Goal(
        "time, `run_to_completion` to by hand, in every case", 1.05, TIME, (LAYOUT, *OF_HOOKS)),
    "steps(), g++": Goal(
        "`steps()`, ns a step over by hand, g++", 8, "ns more than by hand", OF_HOOKS),
    "steps(), clang": Goal(
        "`steps()`, ns a step over by hand, clang", 4, "ns more than by hand", OF_HOOKS),
    "run_steps(100)": Goal(
        "`run_steps(100)` in a loop, ns a step over `run_to_completion`", NOISE, "ns more", OF_HOOKS,
        asked="not measurable"),
    "instructions, virtual": Goal(
        "overhead, instructions: times less than virtual calls", 5, MORE_INSTRUCTIONS, OF_HOOKS, 1, "{:g}"),
    "instructions, function": Goal(
        "overhead, instructions: times less than `std::function`", 10, MORE_INSTRUCTIONS, OF_HOOKS, 1, "{:g}"),
    "instructions, ensmallen": Goal(
        "overhead, instructions: not more than ensmallen", 1, MORE_INSTRUCTIONS, OF_ENSMALLEN, 1, "{:g}"),
    "ns, virtual": Goal(
        "overhead, time: times less than virtual calls", 5, MORE_TIME, OF_HOOKS, asked="{:g}"),
    "ns, function": Goal(
        "overhead, time: times less than `std::function`", 10, MORE_TIME, OF_HOOKS, asked="{:g}"),
    "ns, ensmallen": Goal(
        "overhead, time: not more than ensmallen", 1, MORE_TIME, OF_ENSMALLEN, asked="{:g}"),
    "instructions, growth": Goal(
        "64 hooks, instructions: what they add, to by hand", 1.02, GROWN_INSTRUCTIONS, OF_HOOKS, 1),
    "ns, growth": Goal(
        "64 hooks, time: what they add, to by hand", 1.05, GROWN_TIME, OF_HOOKS),
    "allocations": Goal(
        "allocations in a step", 0, "allocations a step", asked="{:g}"),
    "compile time": Goal(
        "compile time, ms for each further hook", 15, "ms", places=1),
    "Cortex-M4, instructions": Goal(
        "Cortex-M4, instructions with five hooks, to by hand", 1.02, INSTRUCTIONS, (SPILLED,), 3),
    "Cortex-M4, loop": Goal(
        "Cortex-M4, bytes of flash of the loop over by hand", 300, "bytes", (), 0),
    "Cortex-M4, flash": Goal(
        "Cortex-M4, bytes of flash of the image over by hand", 300, "bytes", (FLASH,), 0),
    "Cortex-M4, RAM": Goal(
        "Cortex-M4, bytes of RAM of the session over state and frame", 0, "bytes", (RAM,), 0, "{:g}"),
}

# figures that are held against a bound as they are: name → its goal. Those of overhead.py are in overhead_bounds.py
FIGURES = {
    "compile/per_hook/g++/milliseconds": "compile time",
    "compile/per_hook/clang++-19/milliseconds": "compile time",
    "embedded/instructions_to_hand": "Cortex-M4, instructions",
    "embedded/instructions_to_hand.-Os": "Cortex-M4, instructions",
    "embedded/flash_of_the_loop_over_hand": "Cortex-M4, loop",
    "embedded/flash_over_hand": "Cortex-M4, flash",
    "embedded/ram_over_state_and_frame": "Cortex-M4, RAM",
}


def bounds(part):
    """For figures.tell: those of the figures whose names begin with this part."""
    return {name.rpartition("/")[2]: ("most", GOALS[goal].bound) for name, goal in FIGURES.items()
            if name.startswith(f"{part}/")}


def held(numbers):
    """@return (goal, name, number, bound) of each of these figures that there is"""
    return [(goal, name, numbers[name], GOALS[goal].bound) for name, goal in FIGURES.items() if name in numbers]
