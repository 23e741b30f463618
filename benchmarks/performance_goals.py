# SPDX-License-Identifier: BSL-1.0
"""What is to be reached, what was found, and why where it was missed: the first table of docs/performance.md."""

from typing import NamedTuple

import overhead_bounds
import performance_texts as texts
from page_parts import fixed, paragraph, table
from performance_texts import STEPS, TOOLCHAINS


class Goal(NamedTuple):
    words: str
    asked: str
    chosen: object  # of the name of a figure: whether it is one of this goal
    why: tuple = ()  # names of texts.WHY that may be shown where it is missed
    places: int = 2


def ends(*ways, on=""):
    return lambda name: name.endswith(ways) and on in name


def of_overhead(competitor, figure):
    return ends(f"/overhead_to_{competitor}_in_{figure}_per_step")


OF_HOOKS = ("triggered", "many")
GOALS = [
    Goal("instructions with idle hooks, `run_to_completion` to by hand", "1.00",
         ends("/instructions_to_hand", on="idle/"), places=3),
    Goal("instructions with five working hooks, `run_to_completion` to by hand", "at most 1.02",
         ends("/instructions_to_hand", on="working/5/"), places=3),
    Goal("time, `run_to_completion` to by hand, in every case", "at most 1.05", ends("/ns_to_hand"),
         ("layout", *OF_HOOKS)),
    Goal("`steps()`, ns a step over by hand, g++", "at most 8",
         lambda name: name.endswith("/ns_over_hand") and "clang" not in name, OF_HOOKS),
    Goal("`steps()`, ns a step over by hand, clang", "at most 4", ends("/ns_over_hand", on="clang"), OF_HOOKS),
    Goal("`run_steps(100)` in a loop, ns a step over `run_to_completion`", "not measurable", ends("/ns_over_fused"), OF_HOOKS),
    Goal("overhead, instructions: times less than virtual calls", "5", of_overhead("virtual", "instructions"),
         OF_HOOKS, places=1),
    Goal("overhead, instructions: times less than `std::function`", "10", of_overhead("function", "instructions"),
         OF_HOOKS, places=1),
    Goal("overhead, instructions: not more than ensmallen", "1", of_overhead("ensmallen", "instructions"),
         ("loss", *OF_HOOKS), places=1),
    Goal("overhead, time: times less than virtual calls", "5", of_overhead("virtual", "ns"), OF_HOOKS),
    Goal("overhead, time: times less than `std::function`", "10", of_overhead("function", "ns"), OF_HOOKS),
    Goal("overhead, time: not more than ensmallen", "1", of_overhead("ensmallen", "ns"), ("loss", *OF_HOOKS)),
    Goal("64 hooks, instructions: what they add, to by hand", "at most 1.02", ends("/growth_of_instructions_per_step"),
         OF_HOOKS, places=1),
    Goal("64 hooks, time: what they add, to by hand", "at most 1.05", ends("/growth_of_ns_per_step"), OF_HOOKS),
    Goal("allocations in a step", "0", ends("/allocations_per_step")),
    Goal("compile time, ms for each further hook", "at most 15", ends("/ms_a_hook"), places=1),
    Goal("Cortex-M4, instructions with five hooks, to by hand", "at most 1.02", ends("embedded/instructions_to_hand", "embedded/instructions_to_hand.-Os"),
         ("spilled",), places=3),
    Goal("Cortex-M4, bytes of flash of the loop over by hand", "at most 300", ends("embedded/flash_of_the_loop_over_hand"),
         places=0),
    Goal("Cortex-M4, bytes of flash of the image over by hand", "at most 300", ends("embedded/flash_over_hand"), ("flash",), places=0),
    Goal("Cortex-M4, bytes of RAM of the session over state and frame", "0", ends("embedded/ram_over_state_and_frame"),
         ("ram",), places=0),
]


def compile_bounds(found):
    for compiler in ("g++", "clang++-19"):
        one, many = (found.get(f"compile/{hooks}/{compiler}/seconds") for hooks in (1, 64))
        if one is not None and many is not None:
            yield f"compile/{compiler}/ms_a_hook", (many - one) / 63 * 1000, 15


EMBEDDED = {"instructions_to_hand": 1.02, "instructions_to_hand.-Os": 1.02, "flash_of_the_loop_over_hand": 300, "flash_over_hand": 300,
            "ram_over_state_and_frame": 0}


def embedded_bounds(found):
    for figure, most in EMBEDDED.items():
        if f"embedded/{figure}" in found:
            yield f"embedded/{figure}", found[f"embedded/{figure}"], most


def held(found):
    """@return (name, found, most) of everything that a goal is about"""
    told = [one for step in STEPS for toolchain in TOOLCHAINS for one in overhead_bounds.held(found, step, toolchain)]
    return told + list(compile_bounds(found)) + list(embedded_bounds(found))


# which of the texts say something of a case that is beyond its bound
SAYS = {
    "layout": lambda name, value, most: value < 1.3,
    "flash": lambda name, value, most: True,
    "spilled": lambda name, value, most: name.endswith("-Os"),
    "ram": lambda name, value, most: True,
    "loss": lambda name, value, most: "fetching/" in name or "working/" in name,
    "many": lambda name, value, most: "/64/" in name and "triggered/" not in name,
    "triggered": lambda name, value, most: "triggered/" in name,
}


# what a figure of the list is, where its name alone does not say
UNITS = {"ns_to_hand": "of the time of the loop by hand", "ns_over_hand": "ns more than by hand", "ns_over_fused": "ns more",
         "overhead_to_": "more than by hand, in {}", "growth_of_": "more than without hooks, in {}",
         "instructions_to_hand": "of the instructions by hand", "ms_a_hook": "ms", "_over_": "bytes"}


def unit(figure):
    """For people."""
    key, words = next(((key, words) for key, words in UNITS.items() if key in figure), ("", ""))
    which = "instructions a step" if "instructions" in figure else "ns a step"
    return f" {words.format(which)}" if words else ""


def missed(goal, beyond):
    """A line of a list: the farthest of the cases that are beyond their bound."""
    name, value, most = max(beyond, key=lambda one: one[1] / one[2] if one[2] > 0 else one[1])
    case, _, figure = name.rpartition("/")
    return listed(f"- {goal.words}: missed in {len(beyond)}; farthest in `{case}`: {fixed(value, goal.places)}{unit(figure)}, where "
                  f"{fixed(most, goal.places)} would do")


def listed(text):
    return paragraph(text).rstrip().replace("\n", "\n  ") + "\n"


def add(page):
    every, rows, told, why = held(page.found), [], [], {}
    for goal in GOALS:
        cases = [one for one in every if goal.chosen(one[0])]
        beyond = [one for one in cases if one[1] > one[2] + 1e-9]
        share = "held" if not beyond else "missed" if len(cases) == 1 else f"{len(cases) - len(beyond)} of {len(cases)} cases"
        rows.append([goal.words, goal.asked, share if cases else "not measured"])
        if beyond:
            told.append(missed(goal, beyond))
            why.update({key: texts.WHY[key] for key in goal.why if any(SAYS[key](*one) for one in beyond)})
    page.add("## What is to be reached\n\n", table(["", "goal", "found"], rows).replace("--:", ":--"))
    if told:
        page.add("Missed, in names as in the figures (case / hooks / competitor . toolchain):\n\n", *told, "\n")
    if why:
        page.add("Why:\n\n", *(listed(f"- {text}") for text in why.values()), "\n")
