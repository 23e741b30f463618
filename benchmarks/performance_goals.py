# SPDX-License-Identifier: BSL-1.0
"""What is to be reached, what was found, and why where it was missed: the first table of docs/performance.md."""

import goals
import overhead_bounds
from goals import GOALS
from page_parts import fixed, paragraph, table
from performance_texts import STEPS, TOOLCHAINS


def held(numbers):
    """@return (goal, name, number, bound) of everything that a goal is about"""
    told = [one for step in STEPS for toolchain in TOOLCHAINS for one in overhead_bounds.held(numbers, step, toolchain)]
    return told + goals.held(numbers)


def share(cases, beyond):
    """How many of its cases hold a goal, for people."""
    if not cases:
        return "not measured"
    if not beyond:
        return "held"
    return "missed" if len(cases) == 1 else f"{len(cases) - len(beyond)} of {len(cases)} cases"


def missed(goal, beyond):
    """A line of a list: the farthest of the cases that are beyond their bound."""
    name, number, bound = max(beyond, key=lambda one: one[1] / one[2] if one[2] > 0 else one[1])
    case = name.rpartition("/")[0]
    return listed(f"- {goal.words}: missed in {len(beyond)}; farthest in `{case}`: "
                  f"{fixed(number, goal.places)} {goal.unit}, where {fixed(bound, goal.places)} would do")


def listed(text):
    return paragraph(text).rstrip().replace("\n", "\n  ") + "\n"


def add(page):
    every, rows, lines, why = held(page.found), [], [], []
    for key, goal in GOALS.items():
        cases = [one for of_goal, *one in every if of_goal == key]
        beyond = [one for one in cases if one[1] > one[2] + 1e-9]
        rows.append([goal.words, goal.asked.format(goal.bound), share(cases, beyond)])
        if beyond:
            lines.append(missed(goal, beyond))
        why += [reason.text for reason in goal.reasons
                if any(reason.explains(name, number) for name, number, _ in beyond)]
    page.add("## What is to be reached\n\n", table(["", "goal", "found"], rows).replace("--:", ":--"))
    if lines:
        page.add("Missed, in names as in the figures (case / hooks / competitor . toolchain):\n\n", *lines, "\n")
    if why:
        page.add("Why:\n\n", *(listed(f"- {text}") for text in dict.fromkeys(why)), "\n")
