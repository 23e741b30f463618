# SPDX-License-Identifier: BSL-1.0
"""The figures of overhead.py held against the bounds of goals.py, and a test of that with figures that are made up."""

from goals import GOALS, NOISE
from overhead_names import KINDS, Measured, Names, cases, difference

# figures of what hooks cost: what they are called in goals, and what of them is too little to be told from nothing
COSTS = {"ns_per_step": ("ns", NOISE), "instructions_per_step": ("instructions", 0)}


def held(numbers, step, toolchain):
    """@param numbers by the name of their figure
    @return (goal, name, number, bound) of each figure that has a bound; the name may be one that is computed here"""
    measured = Measured(numbers, step, toolchain)
    told = list(ratios(measured))
    if step == "tiny":  # what few ns are beside a microsecond, or a few instructions beside thousands, cannot be told
        told += [*coroutines(measured, toolchain), *overheads(measured), *growths(measured)]
    return [(goal, measured.name(*where), number, bound) for goal, where, number, bound in told
            if number is not None and bound is not None]


# Each of these gives (goal, kind and hooks and competitor and figure, number, bound); None is what was not measured


def ratios(measured):
    for kind, hooks in cases():
        of_goals = [("time", "fused", "ns_to_hand")]
        of_goals += [("allocations", competitor, "allocations_per_step")
                     for competitor in ("fused", "coroutine", "classic")]
        if kind == "idle":
            of_goals.append(("instructions, idle", "fused", "instructions_to_hand"))
        if kind == "working" and hooks == 5:
            of_goals.append(("instructions, working", "fused", "instructions_to_hand"))
        for goal, competitor, figure in of_goals:
            where = (kind, hooks, competitor, figure)
            yield goal, where, measured.at(*where), GOALS[goal].bound


def coroutines(measured, toolchain):
    goal = "steps(), clang" if toolchain.startswith("clang") else "steps(), g++"
    for case in cases():
        over = measured.over_hand(*case, "coroutine", "ns_per_step")
        yield goal, (*case, "coroutine", "ns_over_hand"), over, GOALS[goal].bound
        fused = measured.at(*case, "fused", "ns_per_step")
        over = difference(measured.at(*case, "coroutine_pace_100", "ns_per_step"), fused)
        bound = fused and max(GOALS["run_steps(100)"].bound, 0.03 * fused)
        yield "run_steps(100)", (*case, "coroutine_pace_100", "ns_over_fused"), over, bound


def overheads(measured):
    """Ours, and what it may be beside that of others."""
    for kind, hooks in cases():
        for figure, (short, noise) in COSTS.items():
            def at(competitor, kind=kind, hooks=hooks, figure=figure):
                return measured.at(kind, hooks, competitor, figure)

            # ensmallen's loop is its own: with hooks beyond without hooks, on both sides
            sides = {"ensmallen": (difference(at("fused"), at("fused", "idle", 0)),
                                   difference(at("ensmallen"), at("ensmallen_bare")))}
            for competitor in ("virtual", "function") if hooks > 0 else ():
                sides[competitor] = [difference(at(one), at("hand")) for one in ("fused", competitor)]
            for competitor, (ours, theirs) in sides.items():
                goal = f"{short}, {competitor}"
                bound = None if theirs is None else max(theirs / GOALS[goal].bound, noise)
                yield goal, (kind, hooks, "fused", f"overhead_to_{competitor}_in_{figure}"), ours, bound


def growths(measured):
    """What 64 hooks add, and what they may by what they add by hand."""
    for figure, (short, _) in COSTS.items():
        goal = f"{short}, growth"
        least = {"ns": NOISE, "instructions": 0.5}[short]
        for kind in KINDS:
            ours, by_hand = (difference(measured.at(kind, 64, one, figure), measured.at("idle", 0, one, figure))
                             for one in ("fused", "hand"))
            bound = None if by_hand is None else max(GOALS[goal].bound * by_hand, least)
            yield goal, (kind, 64, "fused", f"growth_of_{figure}"), ours, bound


def beyond(numbers, steps, toolchains):
    """@return a line for each bound that does not hold"""
    return [f"{name} is {number:.3f}, at most {bound:.3f}" for step in steps for toolchain in toolchains
            for _, name, number, bound in held(numbers, step, toolchain) if number > bound]


def made_up(toolchain):
    """@return numbers that hold all bounds"""
    names, numbers = Names("tiny", toolchain), {}
    over = {"hand": 0, "fused": 0, "coroutine": 3, "coroutine_pace_100": 0.02, "classic": 9, "virtual": 5,
            "function": 5, "signals2": 90, "ensmallen_bare": 20, "ensmallen": 22}
    for kind, hooks in cases():
        for competitor, more in over.items():
            bare = competitor == "ensmallen_bare"
            extra = more if bare or hooks > 0 else 0
            for figure, base, ratio in (("ns_per_step", 7, "ns_to_hand"),
                                        ("instructions_per_step", 40, "instructions_to_hand")):
                numbers[names.name(kind, hooks, competitor, figure)] = base + (0 if bare else hooks) + extra
                numbers[names.name(kind, hooks, competitor, ratio)] = 1 + extra / (base + hooks)
            numbers[names.name(kind, hooks, competitor, "allocations_per_step")] = 0
    return numbers


# what is made worse, by how much, and a word of the line that must say so
SELF_TEST = [
    ("idle/5/fused/ns_to_hand", 0.06, "ns_to_hand"),
    ("idle/20/fused/instructions_to_hand", 0.01, "instructions_to_hand"),
    ("working/5/fused/instructions_to_hand", 0.03, "instructions_to_hand"),
    ("fetching/64/coroutine/ns_per_step", 6, "ns_over_hand"),
    ("fetching/5/coroutine_pace_100/ns_per_step", 1, "ns_over_fused"),
    ("idle/1/fused/allocations_per_step", 0.001, "allocations"),
    ("triggered/1/fused/ns_per_step", 1.1, "overhead_to_virtual"),
    ("triggered/1/fused/ns_per_step", 0.6, "overhead_to_function"),
    ("triggered/1/ensmallen/ns_per_step", -1, None),  # still more than ours
    ("triggered/1/ensmallen/ns_per_step", -2.5, "overhead_to_ensmallen"),
    ("working/1/fused/instructions_per_step", 3, "overhead_to_ensmallen"),
    ("working/64/fused/ns_per_step", 4, "growth_of_ns_per_step"),
    ("working/64/fused/instructions_per_step", 2, "growth_of_instructions"),
]


def self_test(tally):
    for toolchain in ("g++-O2", "clang++-19-O2"):
        names = Names("tiny", toolchain)
        good = made_up(toolchain)
        lines = beyond(good, ["tiny"], [toolchain])
        tally.add(f"bounds hold on {toolchain}", "\n".join(lines) or None)
        for where, more, word in SELF_TEST:
            name = names.name(*where.split("/"))
            lines = beyond(good | {name: good[name] + more}, ["tiny"], [toolchain])
            right = not lines if word is None else any(word in line for line in lines)
            problem = None if right else f"expected {word}, found: {'; '.join(lines) or 'nothing'}"
            tally.add(f"{name} + {more}", problem)
