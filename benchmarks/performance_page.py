# SPDX-License-Identifier: BSL-1.0
"""docs/performance.md and its plots, made from the figures of a run. Every number on the page is one of them.

usage: performance_page.py          makes them anew from docs/performance/figures.json
"""

import json
import sys
import textwrap

import figures
import overhead_bounds
import plots

FOLDER = figures.ROOT / "docs/performance"
PAGE = figures.ROOT / "docs/performance.md"
HOOKS = (0, 1, 5, 20, 64)
KINDS = ("idle", "working", "triggered", "fetching")
STEPS = {"tiny": "some ns", "dense": "about 1 µs", "digits": "about 100 µs"}
TOOLCHAINS = {"g++-O2": "g++ -O2", "g++-O3": "g++ -O3", "clang++-19-O2": "clang++-19 -O2"}
COMPETITORS = {
    "hand": "by hand", "hand_local": "by hand, state in local variables", "fused": "tautline, `run_to_completion`",
    "coroutine": "tautline, `steps()`", "coroutine_pace_100": "tautline, `run_steps(100)` in a loop",
    "classic": "tautline, `run` in a loop", "virtual": "virtual calls", "function": "`std::function`",
    "signals2": "Boost.Signals2", "ensmallen_bare": "ensmallen without callbacks", "ensmallen": "ensmallen",
}
OTHERS = ("virtual", "function", "signals2", "ensmallen")


def number(value, digits=3):
    """A number for people: so many digits that count, and no exponent."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    whole = f"{value:.{digits}g}"
    if "e" in whole:
        whole = f"{value:.0f}"
    return "0" if whole in ("-0", "0") else whole


def fixed(value, places=2):
    return "–" if value is None else f"{value:.{places}f}".replace("-0." + "0" * places, "0." + "0" * places)


def table(head, rows):
    """Markdown; the first column is of words. Rows and columns of which nothing was measured are left out; "" if all are."""
    rows = [row for row in rows if any(cell != "–" for cell in row[1:])]
    if not rows:
        return ""
    kept = [place for place in range(len(head)) if place == 0 or any(row[place] != "–" for row in rows)]
    head, rows = [head[place] for place in kept], [[row[place] for place in kept] for row in rows]
    lines = [head, [":--" if place == 0 else "--:" for place in range(len(head))], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n\n"


def paragraph(text):
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n\n"


def title_of(competitor):
    return COMPETITORS[competitor].replace("`", "")


class Page:
    def __init__(self, found, about):
        self.found, self.about = found, about
        self.text, self.plots = "", {}

    def of(self, step, toolchain="g++-O2"):
        return overhead_bounds.Figures(self.found, step, toolchain)

    def get(self, name):
        return self.found.get(name)

    def add(self, *parts):
        self.text += "".join(parts)

    def section(self, title, *parts):
        """Without measured parts only that is said."""
        body = "".join(parts)
        self.add(f"## {title}\n\n", body if body.strip() else "Not measured in this run.\n\n")

    def plot(self, name, words, plot):
        """@return markdown; "" without points"""
        if not plot.series:
            return ""
        self.plots[f"{name}.svg"] = plot
        return f"![{words}](performance/{name}.svg)\n\n"

    # --- what hooks cost --------------------------------------------------------------------------------------------

    def by_hooks(self, step, kind, figure, show, competitors=tuple(COMPETITORS)):
        of = self.of(step)
        rows = []
        for competitor in competitors:
            cells = []
            for hooks in HOOKS:
                where = kind if hooks else "idle"  # without hooks all kinds are the same
                cells.append(show(of.at(where, hooks, competitor, figure)))
            rows.append([COMPETITORS[competitor], *cells])
        return table([f"{kind} hooks", *map(str, HOOKS)], rows)

    def curve(self, kind, figure):
        of, series = self.of("tiny"), []
        for competitor in ("hand", "fused", "coroutine", *OTHERS):
            points = [(hooks or 0.4, of.at(kind if hooks else "idle", hooks, competitor, figure)) for hooks in HOOKS]
            series.append((competitor, title_of(competitor), [point for point in points if point[1]]))
        return series

    def instructions(self):
        ticks = [("0", 0.4), *((str(hooks), hooks) for hooks in HOOKS[1:])]
        parts = []
        for kind in ("idle", "working"):
            parts.append(self.plot(f"instructions-{kind}", f"instructions a step against the number of {kind} hooks, by competitor",
                                   plots.Plot(f"Instructions a step, {kind} hooks, g++ -O2", "hooks", "instructions a step",
                                              self.curve(kind, "instructions_per_step"), "xy", ticks)))
            parts.append(self.by_hooks("tiny", kind, "instructions_per_step", lambda value: fixed(value, 1)))
        rows = []
        for kind in KINDS:
            for hooks in (1, 5, 20, 64):
                cells = [fixed(self.of("tiny", name).at(kind, hooks, "fused", "instructions_to_hand"), 3) for name in TOOLCHAINS]
                rows.append([f"{hooks} {kind}", *cells])
        ratios = table(["`run_to_completion` to by hand", *TOOLCHAINS.values()], rows)
        intro = paragraph("By callgrind, so the same on every run. The step is the shortest, a line fitted by gradient descent. Idle hooks have a "
                 "`before_run` and an `after_run` that do nothing; working ones are a counter, a running mean, a check for "
                 "NaN, a stop test and a sampler of each 1000th step, in turn. By hand, all that they do stands in one "
                 "loop, whose state is in an object that outlives it, as a session's must.")
        self.section("Instructions a step", intro if "".join(parts) else "", *parts, ratios)

    def noise(self, step, kind, hooks, toolchain="g++-O2"):
        """How far repetitions lie apart: the larger of the two spreads that a ratio rests on, as a share."""
        of = self.of(step, toolchain)
        spreads = [of.at(kind, hooks, name, "ns_per_step_spread") for name in ("hand", "fused")]
        whole = of.at(kind, hooks, "hand", "ns_per_step")
        return None if None in spreads or not whole else max(spreads) / whole

    def time(self):
        parts = []
        for step, words in STEPS.items():
            of = self.of(step)
            rows = []
            for kind in KINDS:
                for hooks in (5, 64):
                    base = of.at(kind, hooks, "hand", "ns_per_step")
                    overhead = [of.over_hand(kind, hooks, name, "ns_per_step") for name in ("fused", "coroutine", "classic", *OTHERS)]
                    noise = of.at(kind, hooks, "hand", "ns_per_step_spread")
                    places = 2 if step == "tiny" else 1 if step == "dense" else 0
                    rows.append([f"{hooks} {kind}", fixed(base, places), *(fixed(value, places) for value in overhead), fixed(noise, places)])
            parts.append(table([f"a step of {words}: ns", "by hand", "+ `run_to_completion`", "+ `steps()`", "+ `run` in a loop",
                                "+ virtual calls", "+ `std::function`", "+ Boost.Signals2", "+ ensmallen", "noise"], rows))
        of, series = self.of("tiny"), []
        for place, competitor in enumerate(("fused", "coroutine", "classic", *OTHERS)):
            points = [(1 + at + (place - 3) * 0.06, max(value, 0.05)) for at, kind in enumerate(KINDS)
                      if (value := of.over_hand(kind, 5, competitor, "ns_per_step")) is not None]
            series.append((competitor, title_of(competitor), points))
        picture = self.plot("overhead", "nanoseconds a step over the loop by hand, by kind of hook and by competitor",
                            plots.Plot("What five hooks add to a step of some ns, g++ -O2", "", "ns over the loop by hand", series, "y",
                                       [(kind, 1 + at) for at, kind in enumerate(KINDS)], lines=False,
                                       more=["set xrange [0.5:4.5]", "set yrange [0.04:*]"]))
        intro = paragraph("The least of repetitions in which the competitors take turns, on g++ -O2. Columns with a + are what is added to the loop "
                 "by hand. Noise is how far repetitions of that loop lie apart (the range of the middle half): a difference below it "
                 "says nothing, negative ones say no more. In the plot what is below 0.05 ns stands at 0.05.")
        self.section("Time a step", intro if picture else "", picture, *parts)

    def allocations(self):
        names = [name for name in self.found if name.endswith("/allocations_per_step")]
        if not names:
            return
        bad = sorted({name.split("/")[2].partition(".")[0] for name in names if self.found[name] > 0})
        self.add("Allocations in a step: ", f"{', '.join(map(title_of, bad))}; no other.\n\n" if bad else "nobody makes any.\n\n")

    def growth(self):
        exponents = range(3, 9)
        rows, series = [], []
        for competitor in COMPETITORS:
            values = {n: self.get(f"growth/5/{competitor}/ns_per_step_at_1e{n}") for n in exponents}
            rows.append([COMPETITORS[competitor], *(fixed(value) for value in values.values())])
            if competitor in ("hand", "fused", "coroutine", *OTHERS):
                series.append((competitor, title_of(competitor), [(10**n, value) for n, value in values.items() if value]))
        picture = self.plot("growth", "nanoseconds a step against the number of steps of a training",
                            plots.Plot("ns a step of whole trainings, five working hooks", "steps", "ns a step", series, "xy",
                                       [(f"10^{n}", 10**n) for n in exponents]))
        self.section("From a thousand steps to a hundred million",
                     picture, table(["five working hooks: ns a step", *(f"10{mark} steps" for mark in "³⁴⁵⁶⁷⁸")], rows))

    # --- the rest ---------------------------------------------------------------------------------------------------

    def jitter(self):
        cases = {"0/bare": "no hooks", "3/writers_off_thread": "written by other threads",
                 "3/writers_on_thread": "written in the step"}
        percentiles = {"p50": "p50", "p99": "p99", "p999": "p99.9", "max": "longest"}
        rows, series = [], []
        for case, words in cases.items():
            values = [self.get(f"jitter/{case}/{name}_ns") for name in percentiles]
            rows.append([words, *(fixed(value and value / 1000, 1) for value in values)])
            series.append((case.partition("/")[2], words, [(place, value / 1000) for place, value in enumerate(values) if value]))
        picture = self.plot("jitter", "percentiles of the time of a step, with writers on and off its thread",
                            plots.Plot("How long single steps take", "", "µs", series, "y",
                                       [(words, place) for place, words in enumerate(percentiles.values())],
                                       more=["set xrange [-0.3:3.3]"]))
        intro = paragraph("A step over a model of 1 MiB, with a logger, summaries and a saver, once writing beside the loop and once in it. "
                 "The longest step is what the system does to a thread, too.")
        self.section("Single steps", intro if picture else "", picture, table(["µs a step", *percentiles.values()], rows))

    def compile_time(self):
        of = {(hooks, compiler, figure): self.get(f"compile/{hooks}/{compiler}/{figure}")
              for hooks in HOOKS for compiler in ("g++", "clang++-19") for figure in ("seconds", "mebibytes")}
        counted = [hooks for hooks in HOOKS if any(of[hooks, compiler, "seconds"] for compiler in ("g++", "clang++-19"))]
        parts = []
        for figure, words in (("seconds", "seconds"), ("mebibytes", "MiB of memory")):
            rows = [[compiler, *(fixed(of[hooks, compiler, figure], 2 if figure == "seconds" else 0) for hooks in counted)]
                    for compiler in ("g++", "clang++-19")]
            series = [(compiler, compiler, [(hooks, of[hooks, compiler, figure]) for hooks in counted if of[hooks, compiler, figure]])
                      for compiler in ("g++", "clang++-19")]
            parts.append(self.plot(f"compile-{figure}", f"{words} to compile one file, against the number of hooks",
                                   plots.Plot(f"Compiling one file, -O0: {words}", "hooks", words, series, height=300,
                                              more=["set yrange [0:*]", "set xrange [0:66]"])))
            parts.append(table([f"hooks: {words}", *map(str, counted)], rows))
        self.section("Compile time", *parts)

    def sizes(self):
        rows = [[COMPETITORS[competitor], *(number(self.get(f"size/{hooks}/{competitor}/text_bytes"), 6) for hooks in HOOKS)]
                for competitor in COMPETITORS]
        told = table(["working hooks: bytes", *map(str, HOOKS)], rows)
        intro = paragraph("Code and constants of an optimised program (g++ -O2) that can be reached from the training, with what it takes of the "
                 "libraries' headers, without the libraries themselves.")
        self.section("Size of the program", intro if told else "", told)

    def python(self):
        peers = {"bare_python": "Python, without hooks", "ignite": "pytorch-ignite: `Engine`",
                 "bare_session": "TensorFlow, without hooks: `Session.run`", "monitored_session": "TensorFlow: `MonitoredSession`"}
        parts = []
        for kind in KINDS:
            rows = [[words, *(number(self.get(f"{kind if hooks else 'idle'}/{hooks}/{peer}/ns_per_step")) for hooks in HOOKS)]
                    for peer, words in {"fused": COMPETITORS["fused"], **peers}.items()]
            if any(cell != "–" for row in rows[1:] for cell in row[1:]):
                parts.append(table([f"{kind} hooks: ns a step", *map(str, HOOKS)], rows))
        about = paragraph("The same step and the same work in each: \"without hooks\" does what the hooks do in its loop. What a "
                          "library costs is the difference from that, since a step of Python, or of a graph that TensorFlow "
                          "walks through, takes longer than one of C++ whatever the hooks are.")
        self.section("Beside Python", about if parts else "", *parts)

    def embedded(self):
        names = sorted(name for name in self.found if name.startswith("embedded/"))
        columns = list(dict.fromkeys(name.rpartition("/")[2] for name in names))
        rows = [[what.partition("/")[2], *(number(self.get(f"{what}/{column}"), 6) for column in columns)]
                for what in dict.fromkeys(name.rpartition("/")[0] for name in names)]
        self.section("Cortex-M4", table(["", *(column.replace("_", " ") for column in columns)], rows))

    def head(self):
        about = self.about
        versions = ", ".join(f"{name} {version}" for name, version in sorted(about["versions"].items()))
        command = " ".join(dict.fromkeys([*about["command"].split(), "--page"]))
        machine = f"{about['processor']}, {about['cores']} cores{' of a virtual machine' if about['virtual'] else ''}"
        self.add(
            "# Performance\n\n",
            paragraph(f"What hooks cost, beside the same by hand and beside the alternatives. `{command}` made this page, its "
                      "plots and [all figures](performance/figures.json); to change a number, run it again."),
            table(["", "measured on"], [
                ["machine", machine], ["system", about["system"]], ["versions", versions], ["date", about["date"]],
                ["commit", about["commit"]], ["load before", number(about["load"])],
                ["time taken", f"{sum(about['seconds'].values())} s"]]).replace("--:", ":--"))


def made(found, about):
    """@return text of the page, plots by file name"""
    import performance_goals  # which needs what stands here
    page = Page(found, about)
    page.head()
    performance_goals.add(page)
    page.instructions()
    page.time()
    page.allocations()
    page.growth()
    page.jitter()
    page.compile_time()
    page.sizes()
    page.embedded()
    page.python()
    page.add(TAIL)
    return page.text.rstrip() + "\n", page.plots


TAIL = "## Again\n\n" + paragraph(
    "`./dev bench` measures all this in a quarter of an hour, `./dev bench --quick` the essential in three minutes; `--page` "
    "writes the page, `--json FILE` the figures. What is the same on every run, `./dev test` holds against bounds and against "
    "[what was recorded](../tests/codegen/recorded.json); times are held by `./dev bench --check`, on a machine that does "
    "nothing else.")


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
    told = [(name, "not as it is written: sorted, one to a line") for name, data in (("figures.json", found), ("figures.about.json", about))
            if (folder / name).read_text() != text_of(data)]
    text, drawn = made(found, about)
    if page.read_text() != text:
        lines = zip(page.read_text().splitlines() + [""] * 999, text.splitlines())
        told.append((page.name, next((f"{old!r} should be {new!r}" for old, new in lines if old != new), "it goes on behind its end")))
    for name, plot in drawn.items():
        problem = plots.problem_of((folder / name).read_text(), plot.script()) if (folder / name).exists() else "not there"
        told += [(name, problem)] if problem else []
    told += [(file.name, "no plot of the page") for file in sorted(folder.glob("*.svg")) if file.name not in drawn]
    return told


if __name__ == "__main__":
    for each in write(*(json.loads((FOLDER / name).read_text()) for name in ("figures.json", "figures.about.json"))):
        print(each.relative_to(figures.ROOT), file=sys.stderr)
