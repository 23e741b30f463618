# SPDX-License-Identifier: BSL-1.0
"""docs/performance.md and its plots, made from the figures of a run. Every number on the page is one of them.

usage: performance_page.py          makes them anew from docs/performance/figures.json
"""

import json
import sys
import zlib

import figures
import overhead_names
import performance_goals
import performance_texts as texts
import plots
from overhead_names import HOOKS, KINDS, difference
from page_parts import fixed, number, paragraph, table
from performance_texts import COMPETITORS, STEPS, TOOLCHAINS

FOLDER = figures.ROOT / "docs/performance"
PAGE = figures.ROOT / "docs/performance.md"
DRAWN = ("hand", "fused", "coroutine", "virtual", "function", "signals2", "ensmallen")


def title_of(competitor):
    return COMPETITORS[competitor].replace("`", "")


class Page:
    def __init__(self, found, about):
        self.found, self.about = found, about
        self.text, self.plots = "", {}

    def measured(self, step, toolchain="g++-O2"):
        return overhead_names.Measured(self.found, step, toolchain)

    def by_hooks(self, kind, competitors, figure, step="tiny"):
        """@return (competitor, hooks) → figure; without hooks all kinds are the same"""
        measured = self.measured(step)
        return {(name, hooks): measured.at(kind if hooks else "idle", hooks, name, figure)
                for name in competitors for hooks in HOOKS}

    def add(self, *parts):
        self.text += "".join(parts)

    def section(self, title, intro, *parts):
        """Where nothing was measured only that is said."""
        body = "".join(parts)
        self.add(f"## {title}\n\n", paragraph(intro) + body if body else "Not measured in this run.\n\n")

    def plot(self, name, words, plot):
        """@return markdown; "" without points"""
        if not plot.series:
            return ""
        self.plots[f"{name}.svg"] = plot
        return f"![{words}](performance/{name}.svg)\n\n"

    def head(self):
        about = self.about
        command = about["command"] + ("" if "--page" in about["command"].split() else " --page")
        cores = f"{about['cores']} cores{' of a virtual machine' if about['virtual'] else ''}"
        rows = [["machine", f"{about['processor']}, {cores}"],
                ["system", about["system"]],
                ["versions", ", ".join(f"{name} {version}" for name, version in sorted(about["versions"].items()))],
                ["date", about["date"]],
                ["commit", about["commit"]],
                ["load before", number(about["load"])],
                ["time taken", f"{sum(about['seconds'].values())} s"]]
        self.add("# Performance\n\n", paragraph(texts.HEAD.format(command=command)),
                 table(["", "measured on"], rows).replace("--:", ":--"))

    # --- what hooks cost a step -------------------------------------------------------------------------------------

    def instructions(self):
        parts = []
        ticks = [("0", 0.4), *((str(hooks), hooks) for hooks in HOOKS[1:])]
        for kind in ("idle", "working"):
            found = self.by_hooks(kind, COMPETITORS, "instructions_per_step")
            drawn = [(name, title_of(name),
                      [(hooks or 0.4, found[name, hooks]) for hooks in HOOKS if found[name, hooks]])
                     for name in DRAWN]
            plot = plots.Plot(f"Instructions a step, {kind} hooks, g++ -O2", "hooks", "instructions a step", drawn,
                              "xy", ticks)
            words = f"instructions a step against the number of {kind} hooks, by competitor"
            parts.append(self.plot(f"instructions-{kind}", words, plot))
            rows = [[words, *(fixed(found[name, hooks], 1) for hooks in HOOKS)] for name, words in COMPETITORS.items()]
            parts.append(table([f"{kind} hooks: instructions", *map(str, HOOKS)], rows))
        rows = []
        for kind, hooks in overhead_names.cases():
            found = [self.measured("tiny", name).at(kind, hooks, "fused", "instructions_to_hand")
                     for name in TOOLCHAINS]
            rows.append([f"{hooks} {kind}", *(fixed(value, 3) for value in found)])
        parts.append(table(["`run_to_completion` to by hand", *TOOLCHAINS.values()], rows))
        ensmallen = texts.ENSMALLEN if any("/ensmallen" in name for name in self.found) else texts.NO_ENSMALLEN
        self.section("Instructions a step", texts.INSTRUCTIONS + ensmallen, *parts)

    def time(self):
        measured, competitors, drawn, parts = self.measured("tiny"), [name for name in DRAWN if name != "hand"], [], []
        competitors.insert(2, "classic")
        for place, name in enumerate(competitors):
            over = {1 + at + (place - 3) * 0.06: measured.over_hand(kind, 5, name, "ns_per_step")
                    for at, kind in enumerate(KINDS)}
            points = [(x, max(value, 0.05)) for x, value in over.items() if value is not None]
            drawn.append((name, title_of(name), points))
        plot = plots.Plot("What five hooks add to a step of some ns, g++ -O2", "", "ns over the loop by hand", drawn,
                          "y", [(kind, 1 + at) for at, kind in enumerate(KINDS)], lines=False,
                          more=["set xrange [0.5:4.5]", "set yrange [0.04:*]"])
        picture = self.plot("overhead", "nanoseconds a step over the loop by hand, by kind of hook and by competitor",
                            plot)
        for step, words in STEPS.items():
            measured, places, rows = self.measured(step), {"tiny": 2, "dense": 1, "digits": 0}[step], []
            for kind in KINDS:
                for hooks in (5, 64):
                    alone, noise = (measured.at(kind, hooks, "hand", figure)
                                    for figure in ("ns_per_step", "ns_per_step_spread"))
                    over = [measured.over_hand(kind, hooks, name, "ns_per_step") for name in competitors]
                    rows.append([f"{hooks} {kind}", *(fixed(value, places) for value in (alone, *over, noise))])
            heads = ["+ " + COMPETITORS[name].removeprefix("tautline, ") for name in competitors]
            parts.append(table([f"a step of {words}: ns", "by hand", *heads, "noise"], rows))
        self.section("Time a step", texts.TIME, picture, *parts, self.allocations())

    def allocations(self):
        names = [name for name in self.found if name.endswith("/allocations_per_step")]
        bad = sorted({name.split("/")[2].partition(".")[0] for name in names if self.found[name] > 0})
        told = f"{', '.join(COMPETITORS.get(name, name) for name in bad)}; no other" if bad else "nobody makes any"
        return f"Allocations in a step: {told}.\n\n" if names else ""

    def growth(self):
        exponents, rows, drawn = range(3, 9), [], []
        for name, words in COMPETITORS.items():
            found = {n: self.found.get(f"growth/5/{name}/ns_per_step_at_1e{n}") for n in exponents}
            rows.append([words, *map(fixed, found.values())])
            drawn.append((name, title_of(name), [(10**n, value) for n, value in found.items() if value]))
        plot = plots.Plot("ns a step of whole trainings, five working hooks", "steps", "ns a step", drawn, "x",
                          [(f"10^{n}", 10**n) for n in exponents], more=["set yrange [0:*]"])
        picture = self.plot("growth", "nanoseconds a step against the number of steps of a training", plot)
        self.section("From a thousand steps to a hundred million", texts.GROWTH, picture,
                     table(["ns a step", *(f"10{mark} steps" for mark in "³⁴⁵⁶⁷⁸")], rows))

    # --- the rest ---------------------------------------------------------------------------------------------------

    def jitter(self):
        cases = {"0/bare": "no hooks", "3/writers_off_thread": "written by other threads",
                 "3/writers_on_thread": "written in the step"}
        percentiles, rows, drawn = {"p50": "p50", "p99": "p99", "p999": "p99.9", "max": "longest"}, [], []
        for case, words in cases.items():
            found = [self.found.get(f"jitter/{case}/{name}_ns") for name in percentiles]
            rows.append([words, *(fixed(value and value / 1000, 1) for value in found)])
            drawn.append((case.partition("/")[2], words, [(x, value / 1000) for x, value in enumerate(found) if value]))
        ticks = [(words, x) for x, words in enumerate(percentiles.values())]
        plot = plots.Plot("How long single steps take", "", "µs", drawn, "y", ticks, more=["set xrange [-0.3:3.3]"])
        picture = self.plot("jitter", "percentiles of the time of a step, with writers on and off its thread", plot)
        self.section("Single steps", texts.JITTER, picture, table(["µs a step", *percentiles.values()], rows))

    def compile_time(self):
        compilers, parts = ("g++", "clang++-19"), []
        for figure, words, places in (("seconds", "seconds", 2), ("mebibytes", "MiB of memory", 0)):
            found = {(name, hooks): self.found.get(f"compile/{hooks}/{name}/{figure}")
                     for name in compilers for hooks in HOOKS}
            drawn = [(name, name, [(hooks, found[name, hooks]) for hooks in HOOKS if found[name, hooks]])
                     for name in compilers]
            plot = plots.Plot(f"Compiling one file: {words}", "hooks", words, drawn, height=300,
                              more=["set yrange [0:*]", "set xrange [0:66]"])
            title = f"{words} to compile one file, against the number of hooks"
            parts.append(self.plot(f"compile-{figure}", title, plot))
            rows = [[name, *(fixed(found[name, hooks], places) for hooks in HOOKS)] for name in compilers]
            parts.append(table([f"hooks: {words}", *map(str, HOOKS)], rows))
        self.section("Compile time", texts.COMPILE_TIME, *parts)

    def sizes(self):
        rows = [[words, *(fixed(self.found.get(f"size/{hooks}/{name}/text_bytes"), 0) for hooks in HOOKS)]
                for name, words in COMPETITORS.items()]
        self.section("Size of the program", texts.SIZES, table(["working hooks: bytes", *map(str, HOOKS)], rows))

    def embedded(self):
        get, rows = self.found.get, []
        for level, suffix in (("-O2", ""), ("-Os", ".-Os")):
            for form, words in (("hand", "by hand"), ("fused", "tautline")):
                count, *all_bytes = (get(f"embedded/5/{form}{suffix}/{figure}") for figure in
                                     ("instructions_per_step", "loop_bytes", "flash_bytes", "ram_bytes"))
                rows.append([f"{words}, {level}", fixed(count, 1), *(fixed(value, 0) for value in all_bytes)])
        beside = table(["five hooks", "instructions a step", "flash of the loop", "flash of the image", "RAM"], rows)
        # the last two of single hooks only
        names = ("flash_bytes", "ram_bytes", "flash_bytes_at-O2", "ram_bytes_at-O2")
        hooks = sorted(name.split("/")[1] for name in self.found
                       if name.startswith("embedded/") and name.endswith(names[-1]))
        rows = [[f"`{hook}`", *(fixed(get(f"embedded/{hook}/{name}"), 0) for name in names)] for hook in hooks]
        by_hook = table(["one hook: bytes of", "flash, -Os", "RAM, -Os", "flash, -O2", "RAM, -O2"], rows)
        self.section("Cortex-M4", texts.EMBEDDED, beside, by_hook)

    def python(self):
        pairs = {"fused": ("tautline", "hand"), "ignite": ("pytorch-ignite, `Engine`", "bare_python"),
                 "monitored_session": ("TensorFlow, `MonitoredSession`", "bare_session")}
        bare = {"hand": "C++, by hand", "bare_python": "Python, a loop over the same function",
                "bare_session": "Python, `tf.Session.run` in a loop"}
        parts = []
        for kind in KINDS:
            at = self.by_hooks(kind, (*pairs, *bare), "ns_per_step")
            if any(value for (name, _), value in at.items() if name in ("ignite", "monitored_session")):
                rows = []
                for name, (words, loop) in pairs.items():
                    over = (difference(at[name, hooks], at[loop, hooks]) for hooks in HOOKS)
                    rows.append([f"{words}: over its loop", *map(number, over)])
                rows += [[words, *(number(at[name, hooks]) for hooks in HOOKS)] for name, words in bare.items()]
                parts.append(table([f"{kind} hooks: ns a step", *map(str, HOOKS)], rows))
        self.section("Beside Python", texts.PYTHON, *parts)

    def elsewhere(self):
        rows = [[words, number(value), f"{bound}{'' if keeps(value, bound) else ': missed'}"]
                for name, words, bound in ELSEWHERE if (value := self.found.get(name)) is not None]
        self.section("Saving, and TensorFlow", texts.ELSEWHERE, table(["", "found", "bound"], rows))


def keeps(value, bound):
    """Whether a figure is within "1.5" or "at least 0.7"."""
    least = bound.removeprefix("at least ")
    return value >= float(least) if least != bound else value <= float(bound)


ELSEWHERE = [
    ("saving/64MiB/step_due_over_memcpy/g++",
     "a step in which a saving in the background is due, to a copy of the same bytes", "1.5"),
    ("checkpoint_store/snapshot_of_memcpy", "a snapshot of a checkpoint, to a copy of the same bytes", "1.1"),
    ("checkpoint_store/save_of_write",
     "throughput of saving, to that of writing and syncing the same bytes", "at least 0.7"),
    ("off_the_step/add_scalar_to_clock", "handing a scalar to another thread, to a reading of the clock", "3"),
    ("tensorflow_step/network/five_over_bare",
     "a step of TensorFlow with five fetching hooks, to `TF_SessionRun` by hand", "1.05"),
    ("tensorflow_step/counter/five_over_monitored_session",
     "the least such step, to the same in `MonitoredSession`", "0.2"),
]


def made(found, about):
    """@return text of the page, plots by file name"""
    page = Page(found, about)
    page.head()
    performance_goals.add(page)
    for section in (page.instructions, page.time, page.growth, page.jitter, page.compile_time, page.sizes,
                    page.embedded, page.python, page.elsewhere):
        section()
    page.section("Again", texts.AGAIN, "\n")
    # so that each figure counts here, also those that no table shows
    page.add(f"Made of {len(found)} figures; their CRC-32 is {zlib.crc32(text_of(found).encode()):08x}.\n")
    return page.text.rstrip() + "\n", page.plots


def text_of(data):
    return json.dumps(data, indent=1, sort_keys=True) + "\n"


def write(found, about):
    """@return the files"""
    found, about = json.loads(text_of(found)), json.loads(text_of(about))
    text, drawn = made(found, about)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.svg"):
        old.unlink()
    written = {PAGE: text, FOLDER / "figures.json": text_of(found), FOLDER / "figures.about.json": text_of(about)}
    written.update({FOLDER / name: plot.svg() for name, plot in drawn.items()})
    for file, content in written.items():
        file.write_text(content)
    return list(written)


def problems(page=PAGE, folder=FOLDER):
    """Where page, plots and figures do not fit each other: each as (file, what)."""
    if not page.exists() or not (folder / "figures.json").exists():
        return [(page.name, "there is no page or there are no figures")]
    found, about = (json.loads((folder / name).read_text()) for name in ("figures.json", "figures.about.json"))
    told = [(name, "not as it is written: sorted, one to a line") for name, data in (("figures.json", found),
            ("figures.about.json", about)) if (folder / name).read_text() != text_of(data)]
    text, drawn = made(found, about)
    if page.read_text() != text:
        lines = zip(page.read_text().splitlines() + [""] * 999, text.splitlines())
        differ = (f"{old!r} should be {new!r}" for old, new in lines if old != new)
        told.append((page.name, next(differ, "it goes on behind its end")))
    for name, plot in drawn.items():
        file = folder / name
        problem = plots.problem_of(file.read_text(), plot.script()) if file.exists() else "not there"
        told += [(name, problem)] if problem else []
    told += [(file.name, "no plot of the page") for file in sorted(folder.glob("*.svg")) if file.name not in drawn]
    return told


if __name__ == "__main__":
    for each in write(*(json.loads((FOLDER / name).read_text()) for name in ("figures.json", "figures.about.json"))):
        print(each.relative_to(figures.ROOT), file=sys.stderr)
