# SPDX-License-Identifier: BSL-1.0
"""The bounds that the figures of overhead.py are held against, and a test of them with figures that are made up."""

HOOKS = (0, 1, 5, 20, 64)
KINDS = ("idle", "working", "triggered", "fetching")
SAME_INSTRUCTIONS = 1.005  # "1.00" with two digits
PACE_100 = 0.25  # ns a step: what is below is not measurable


def difference(found, reference):
    return None if found is None or reference is None else found - reference


def cases():
    """On each step: without hooks all kinds are the same."""
    return [(kind, hooks) for kind in KINDS for hooks in HOOKS if hooks > 0 or kind == "idle"]


class Figures:
    """Looks figures up. What was not measured is no number, and no bound is held against it."""

    def __init__(self, figures, step, toolchain):
        self.figures = figures
        self.prefix = "" if step == "tiny" else f"{step}_"
        self.suffix = "" if toolchain == "g++-O2" else f".{toolchain}"

    def name(self, kind, hooks, competitor, figure):
        return f"{self.prefix}{kind}/{hooks}/{competitor}{self.suffix}/{figure}"

    def at(self, *where):
        return self.figures.get(self.name(*where))

    def over_hand(self, kind, hooks, competitor, figure):
        """What a competitor costs beyond the loop by hand."""
        return difference(self.at(kind, hooks, competitor, figure), self.at(kind, hooks, "hand", figure))


def held(figures, step, toolchain):
    """@return (name of a figure, found, most) for each bound that there are figures for"""
    of = Figures(figures, step, toolchain)
    found = []

    def most(name, value, limit):
        if value is not None and limit is not None:
            found.append((name, value, limit))

    for kind, hooks in cases():
        def name(competitor, figure, kind=kind, hooks=hooks):
            return of.name(kind, hooks, competitor, figure)

        most(name("fused", "ns_to_hand"), of.at(kind, hooks, "fused", "ns_to_hand"), 1.05)
        if kind == "idle":
            most(name("fused", "instructions_to_hand"), of.at(kind, hooks, "fused", "instructions_to_hand"), SAME_INSTRUCTIONS)
        if kind == "working" and hooks == 5:
            most(name("fused", "instructions_to_hand"), of.at(kind, hooks, "fused", "instructions_to_hand"), 1.02)
        for competitor in ("fused", "coroutine", "classic"):
            most(name(competitor, "allocations_per_step"), of.at(kind, hooks, competitor, "allocations_per_step"), 0)
        if step != "tiny":
            continue  # what few ns are beside a microsecond, or a few instructions beside thousands, cannot be told
        most(name("coroutine", "ns_over_hand"), of.over_hand(kind, hooks, "coroutine", "ns_per_step"),
             4 if toolchain.startswith("clang") else 8)
        fused = of.at(kind, hooks, "fused", "ns_per_step")
        paced = of.at(kind, hooks, "coroutine_pace_100", "ns_per_step")
        if fused is not None and paced is not None:
            most(name("coroutine_pace_100", "ns_over_fused"), paced - fused, max(PACE_100, 0.03 * fused))
        for figure, noise in (("ns_per_step", PACE_100), ("instructions_per_step", 0)):
            ours = of.over_hand(kind, hooks, "fused", figure)
            for competitor, times in (("virtual", 5), ("function", 10)):
                theirs = of.over_hand(kind, hooks, competitor, figure) if hooks > 0 else None
                if ours is not None and theirs is not None:
                    most(name("fused", f"overhead_to_{competitor}_in_{figure}"), ours, max(theirs / times, noise))
            # ensmallen's loop is its own: with hooks beyond without hooks, on both sides
            ours = difference(of.at(kind, hooks, "fused", figure), of.at("idle", 0, "fused", figure))
            theirs = difference(of.at(kind, hooks, "ensmallen", figure), of.at(kind, hooks, "ensmallen_bare", figure))
            if ours is not None and theirs is not None:
                most(name("fused", f"overhead_to_ensmallen_in_{figure}"), ours, max(theirs, noise))
    for figure, share in (("ns_per_step", 1.05), ("instructions_per_step", 1.02)):
        for kind in KINDS:
            grown = [difference(of.at(kind, 64, competitor, figure), of.at("idle", 0, competitor, figure))
                     for competitor in ("fused", "hand")]
            if step == "tiny" and None not in grown:
                least = PACE_100 if figure == "ns_per_step" else 0.5
                most(of.name(kind, 64, "fused", f"growth_of_{figure}"), grown[0], max(share * grown[1], least))
    return found


def beyond(figures, steps, toolchains):
    """@return a line for each bound that does not hold"""
    return [f"{name} is {found:.3f}, at most {most:.3f}" for step in steps for toolchain in toolchains
            for name, found, most in held(figures, step, toolchain) if found > most]


def made_up(toolchain):
    """Figures that hold all bounds."""
    of, figures = Figures({}, "tiny", toolchain), {}
    over = {"hand": 0, "fused": 0, "coroutine": 3, "coroutine_pace_100": 0.02, "classic": 9, "virtual": 5, "function": 5,
            "signals2": 90, "ensmallen_bare": 20, "ensmallen": 22}
    for kind, hooks in cases():
        for competitor, more in over.items():
            extra = more if competitor == "ensmallen_bare" else 0 if hooks == 0 else more
            for figure, base in (("ns_per_step", 7), ("instructions_per_step", 40)):
                work = 0 if competitor == "ensmallen_bare" else hooks
                figures[of.name(kind, hooks, competitor, figure)] = base + work + extra
            figures[of.name(kind, hooks, competitor, "ns_to_hand")] = 1 if extra == 0 else 1 + extra / (7 + hooks)
            figures[of.name(kind, hooks, competitor, "instructions_to_hand")] = 1 if extra == 0 else 1 + extra / (40 + hooks)
            figures[of.name(kind, hooks, competitor, "allocations_per_step")] = 0
    return figures


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
        of = Figures({}, "tiny", toolchain)
        good = made_up(toolchain)
        lines = beyond(good, ["tiny"], [toolchain])
        tally.add(f"bounds hold on {toolchain}", "\n".join(lines) or None)
        for where, more, word in SELF_TEST:
            name = of.name(*where.split("/"))
            lines = beyond(good | {name: good[name] + more}, ["tiny"], [toolchain])
            right = not lines if word is None else any(word in line for line in lines)
            tally.add(f"{name} + {more}", None if right else f"expected {word}, found: " + ("; ".join(lines) or "nothing"))
