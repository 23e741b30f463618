# SPDX-License-Identifier: BSL-1.0
"""What is to be reached, what was found, and why where it was missed: the first table of docs/performance.md."""

from typing import NamedTuple

import overhead_bounds
from performance_page import STEPS, TOOLCHAINS, fixed, paragraph, table


class Goal(NamedTuple):
    words: str
    asked: str
    chosen: object  # of the name of a figure: whether it is one of this goal
    why: str = ""  # shown where it is missed, and only there
    places: int = 2


def ends(*ways, on=""):
    return lambda name: name.endswith(ways) and on in name


GOALS = [
    Goal("instructions with idle hooks, `run_to_completion` to by hand", "1.00",
         lambda name: name.endswith("/fused/instructions_to_hand") or ("idle/" in name and name.endswith("/instructions_to_hand")), places=3),
    Goal("instructions with five working hooks, `run_to_completion` to by hand", "at most 1.02",
         lambda name: "working/5/fused" in name and name.endswith("/instructions_to_hand"), places=3),
    Goal("time, `run_to_completion` to by hand, in every case", "at most 1.05", ends("/ns_to_hand"),
         "A loop of some ns is mostly the latency of its own state, and moves by more than that when its code is laid out otherwise; "
         "the instructions above are what the hooks are."),
    Goal("`steps()`, ns a step over by hand, g++", "at most 8", lambda name: name.endswith("/ns_over_hand") and "clang" not in name),
    Goal("`steps()`, ns a step over by hand, clang", "at most 4", ends("/ns_over_hand", on="clang"),
         "The frame that clang makes for a loop that is left at each step is in memory, and its state is stored and read again."),
    Goal("`run_steps(100)` in a loop, ns a step over `run_to_completion`", "not measurable", ends("/ns_over_fused")),
    Goal("overhead, instructions: times less than virtual calls", "5", ends("/overhead_to_virtual_in_instructions_per_step"), places=1),
    Goal("overhead, instructions: times less than `std::function`", "10", ends("/overhead_to_function_in_instructions_per_step"), places=1),
    Goal("overhead, instructions: not more than ensmallen", "1", ends("/overhead_to_ensmallen_in_instructions_per_step"), places=1),
    Goal("overhead, time: times less than virtual calls", "5", ends("/overhead_to_virtual_in_ns_per_step")),
    Goal("overhead, time: times less than `std::function`", "10", ends("/overhead_to_function_in_ns_per_step")),
    Goal("overhead, time: not more than ensmallen", "1", ends("/overhead_to_ensmallen_in_ns_per_step")),
    Goal("64 hooks, instructions: what they add, to by hand", "at most 1.02", ends("/growth_of_instructions_per_step"), places=1),
    Goal("64 hooks, time: what they add, to by hand", "at most 1.05", ends("/growth_of_ns_per_step")),
    Goal("allocations in a step", "0", lambda name: name.endswith("/allocations_per_step")),
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


def add(page):
    every, rows, missed = held(page.found), [], []
    for goal in GOALS:
        cases = [one for one in every if goal.chosen(one[0])]
        beyond = [one for one in cases if one[1] > one[2] + 1e-9]
        if not cases:
            rows.append([goal.words, goal.asked, "not measured"])
            continue
        rows.append([goal.words, goal.asked, "held" if not beyond else f"{len(cases) - len(beyond)} of {len(cases)} cases"])
        if beyond:
            name, value, most = max(beyond, key=lambda one: one[1] / one[2] if one[2] > 0 else one[1])
            case, _, figure = name.rpartition("/")
            text = (f"- {goal.words}: farthest in `{case}`, {figure.replace('_', ' ')} {fixed(value, goal.places)}, at most "
                    f"{fixed(most, goal.places)}. {goal.why}").rstrip()
            missed.append(paragraph(text).rstrip().replace("\n", "\n  ") + "\n")
    page.add("## What is to be reached\n\n", table(["", "goal", "found"], rows).replace("--:", ":--"))
    if missed:
        page.add("Missed, in names as in the figures (case / hooks / competitor . toolchain):\n\n", *missed, "\n")
