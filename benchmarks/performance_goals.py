# SPDX-License-Identifier: BSL-1.0
"""What is to be reached, what was found, and why where it was missed: the first table of docs/performance.md."""

from typing import NamedTuple

import overhead_bounds
import performance_texts as texts
from performance_page import STEPS, TOOLCHAINS, fixed, paragraph, table


class Goal(NamedTuple):
    words: str
    asked: str
    chosen: object  # of the name of a figure: whether it is one of this goal
    why: str = ""  # shown where it is missed, and only there
    places: int = 2


def ends(*ways, on=""):
    return lambda name: name.endswith(ways) and on in name


def of_overhead(competitor, figure):
    return ends(f"/overhead_to_{competitor}_in_{figure}_per_step")


GOALS = [
    Goal("instructions with idle hooks, `run_to_completion` to by hand", "1.00", ends("/instructions_to_hand", on="idle/"), places=3),
    Goal("instructions with five working hooks, `run_to_completion` to by hand", "at most 1.02",
         ends("/instructions_to_hand", on="working/5/"), places=3),
    Goal("time, `run_to_completion` to by hand, in every case", "at most 1.05", ends("/ns_to_hand"), texts.WHY_TIME),
    Goal("`steps()`, ns a step over by hand, g++", "at most 8", lambda name: name.endswith("/ns_over_hand") and "clang" not in name),
    Goal("`steps()`, ns a step over by hand, clang", "at most 4", ends("/ns_over_hand", on="clang")),
    Goal("`run_steps(100)` in a loop, ns a step over `run_to_completion`", "not measurable", ends("/ns_over_fused")),
    Goal("overhead, instructions: times less than virtual calls", "5", of_overhead("virtual", "instructions"), places=1),
    Goal("overhead, instructions: times less than `std::function`", "10", of_overhead("function", "instructions"), places=1),
    Goal("overhead, instructions: not more than ensmallen", "1", of_overhead("ensmallen", "instructions"), places=1),
    Goal("overhead, time: times less than virtual calls", "5", of_overhead("virtual", "ns")),
    Goal("overhead, time: times less than `std::function`", "10", of_overhead("function", "ns")),
    Goal("overhead, time: not more than ensmallen", "1", of_overhead("ensmallen", "ns")),
    Goal("64 hooks, instructions: what they add, to by hand", "at most 1.02", ends("/growth_of_instructions_per_step"), places=1),
    Goal("64 hooks, time: what they add, to by hand", "at most 1.05", ends("/growth_of_ns_per_step")),
    Goal("allocations in a step", "0", ends("/allocations_per_step")),
    Goal("compile time, ms for each further hook", "at most 15", ends("/ms_a_hook"), places=1),
    Goal("Cortex-M4, instructions with five hooks, to by hand", "at most 1.02", ends("embedded/instructions_to_hand"), places=3),
    Goal("Cortex-M4, bytes of flash over by hand", "at most 300", ends("embedded/flash_over_hand"), places=0),
    Goal("Cortex-M4, bytes of RAM of the session over state and frame", "0", ends("embedded/ram_over_state_and_frame"), places=0),
]


def compile_bounds(found):
    for compiler in ("g++", "clang++-19"):
        one, many = (found.get(f"compile/{hooks}/{compiler}/seconds") for hooks in (1, 64))
        if one is not None and many is not None:
            yield f"compile/{compiler}/ms_a_hook", (many - one) / 63 * 1000, 15


def held(found):
    """@return (name, found, most) of everything that a goal is about"""
    told = [one for step in STEPS for toolchain in TOOLCHAINS for one in overhead_bounds.held(found, step, toolchain)]
    return told + list(compile_bounds(found))


def missed(goal, name, value, most):
    """A paragraph of a list."""
    case, _, figure = name.rpartition("/")
    text = (f"- {goal.words}: farthest in `{case}`, {figure.replace('_', ' ')} {fixed(value, goal.places)}, at most "
            f"{fixed(most, goal.places)}.")
    return paragraph(text, goal.why).rstrip().replace("\n", "\n  ") + "\n"


def add(page):
    every, rows, told = held(page.found), [], []
    for goal in GOALS:
        cases = [one for one in every if goal.chosen(one[0])]
        beyond = [one for one in cases if one[1] > one[2] + 1e-9]
        share = "held" if not beyond else f"{len(cases) - len(beyond)} of {len(cases)} cases"
        rows.append([goal.words, goal.asked, share if cases else "not measured"])
        if beyond:
            told.append(missed(goal, *max(beyond, key=lambda one: one[1] / one[2] if one[2] > 0 else one[1])))
    page.add("## What is to be reached\n\n", table(["", "goal", "found"], rows).replace("--:", ":--"))
    if told:
        page.add("Missed, in names as in the figures (case / hooks / competitor . toolchain):\n\n", *told, "\n")
