#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What hooks cost, each way to have them against the loop that is written by hand, in one run.

Competitors
  hand         all statements in one loop; its state is in an object that outlives the loop, and a stop may come from
               outside: the reference of all ratios
  hand_local   the same with all state in local variables, which no loop can have that others look at
  fused        tautline, session.run_to_completion(…)
  coroutine    tautline, for (auto const& step : session.steps(…))
  coroutine_pace_100   tautline, session.run_steps(100, …) in a loop
  classic      tautline, while (!session.should_stop()) session.run(…)
  virtual      std::vector<std::unique_ptr<hook>> with virtual before_run and after_run
  function     two std::vector<std::function<…>>, for before and after the run; a hook stands only in those that it
               needs
  signals2     two signals of Boost.Signals2, with dummy_mutex, as it is meant to be used with one thread
  ensmallen    callbacks of ensmallen's own optimiser, against the same without callbacks (ensmallen_bare), as it has
               its own loop and its own type of numbers; with --ensmallen only

Cases: hooks that do nothing before and after the run (idle); counter, running mean, finite check, stop test and sampler
in turn (working); that read the loss every 1000 steps (triggered), or in each step (fetching). The loops by hand and
those with lists are written for their case: the loss is computed in each step where each step needs it, else by who
asks. Steps: tiny (a line fitted: some 30 instructions, whose time is mostly the latency of its own state), dense (a
layer of 32 × 16, about 1 µs), digits (the network of examples/digits on 32 pictures, about 100 µs). All call the same
functions.

All loops must compute the same, bit by bit, before anything is measured. Figures: ns a step (least, median and
interquartile range; the competitors take turns in one process), instructions and branches a step (by callgrind: the
difference of runs with N and with 2N steps, divided by N), allocations a step, ns a step of trainings from 1e3 to 1e8
steps.
"""

import hashlib
import json
import pathlib
import re
import statistics
import sys
import tempfile

import figures
import overhead_bounds
import report
from overhead_names import HOOKS, KINDS, Measured, Names

HERE = pathlib.Path(__file__).resolve().parent
KEPT = figures.ROOT / "build/bench/overhead"
TOOLCHAINS = {"g++-O2": ["g++", "-O2"], "clang++-19-O2": ["clang++-19", "-O2"], "g++-O3": ["g++", "-O3"]}
COUNTED_ONLY = ("g++-O3",)
FLAGS = ["-std=c++20", "-DNDEBUG", "-ffp-contract=off", f"-I{report.INCLUDE}"]
# flags; steps that are counted (the larger ones on the first toolchain alone: the hooks are those of the tiny step)
STEPS = {"tiny": (["-DSTEP=tiny"], 2000), "dense": (["-DSTEP=dense"], 1000),
         "digits": (["-DSTEP=digits_step", "-DDIGITS", "-DFMT_HEADER_ONLY"], 10)}
PICTURES = figures.ROOT / "examples/data/digits.csv"
PLAIN = ("hand", "hand_local", "fused", "coroutine", "coroutine_pace_100", "classic", "virtual", "function", "signals2")
ENSMALLEN = ("ensmallen_bare", "ensmallen")


class Program:
    """One step and one number of hooks, on one toolchain."""

    def __init__(self, toolchain, step, hooks, more=(), link=()):
        self.toolchain, self.step, self.hooks = toolchain, step, hooks
        self.command = [*TOOLCHAINS[toolchain], *FLAGS, *STEPS[step][0], f"-DHOOKS={hooks}", *more,
                        HERE / "overhead/main.cpp"]
        self.link = link
        self.path = KEPT / f"{toolchain}/{step}-{hooks}{'-ensmallen' if more else ''}"

    def build(self, sources):
        """Compiles, unless that was done with these sources and these words. @return a problem, or None"""
        stamp = self.path.with_suffix(".made_of")
        made_of = f"{sources} {self.command} {self.link}"
        if self.path.exists() and stamp.exists() and stamp.read_text() == made_of:
            return None
        self.path.parent.mkdir(parents=True, exist_ok=True)
        stamp.unlink(missing_ok=True)
        made = report.run([*self.command, "-o", self.path, *self.link])
        if made.returncode != 0:
            return made.stdout
        stamp.write_text(made_of)
        return None

    def run(self, mode, number, before=()):
        """@return the lines that it printed, as words"""
        ran = report.run([*before, self.path, PICTURES, mode, number])
        if ran.returncode != 0:
            sys.exit(f"{self.path.relative_to(figures.ROOT)} {mode} {number}\n{ran.stdout}")
        return [line.split() for line in ran.stdout.splitlines() if not line.startswith("==")]

    def times(self, repetitions):
        """@return figures"""
        names, found = Names(self.step, self.toolchain), {}
        for kind, competitor, *turns in self.run("time", repetitions):
            values = sorted(float(turn) for turn in turns)
            quarters = statistics.quantiles(values, n=4)
            for figure, value in (("ns_per_step", values[0]), ("ns_per_step_median", statistics.median(values)),
                                  ("ns_per_step_spread", quarters[2] - quarters[0])):
                found[names.name(kind, self.hooks, competitor, figure)] = value
        return found

    def counts(self):
        """@return figures"""
        names, found, dumped = Names(self.step, self.toolchain), {}, {}
        steps = STEPS[self.step][1]
        with tempfile.TemporaryDirectory() as folder:
            allocations = self.run("count", steps, ["valgrind", "--tool=callgrind", "--branch-sim=yes",
                                                    f"--callgrind-out-file={folder}/out"])
            for file in pathlib.Path(folder).iterdir():
                text = file.read_text()
                name = re.search(r"^desc: Trigger: Client Request: (\S+)$", text, re.MULTILINE)
                if name:
                    events = re.search(r"^events: (.+)$", text, re.MULTILINE)[1].split()
                    # trailing zeros are left out
                    numbers = [int(word) for word in re.search(r"^summary:(.*)$", text, re.MULTILINE)[1].split()]
                    dumped[name[1]] = dict.fromkeys(events, 0) | dict(zip(events, numbers))
        for kind, competitor, allocated in allocations:
            once, twice = (dumped[f"{kind}/{competitor}/{count}"] for count in (steps, 2 * steps))
            a_step = {event: (twice[event] - once[event]) / steps for event in once}
            for figure, value in (("instructions_per_step", a_step["Ir"]),
                                  ("branches_per_step", a_step["Bc"] + a_step["Bi"]),
                                  ("indirect_branches_per_step", a_step["Bi"]),
                                  ("allocations_per_step", float(allocated))):
                found[names.name(kind, self.hooks, competitor, figure)] = value
        return found

    def growth(self, most):
        found = {}
        for competitor, steps, *turns in self.run("growth", most):
            suffix = "" if self.toolchain == "g++-O2" else f".{self.toolchain}"
            exponent = len(steps) - 1
            found[f"growth/{self.hooks}/{competitor}{suffix}/ns_per_step_at_1e{exponent}"] = min(map(float, turns))
        return found


def hash_of_sources():
    """Of all that the programs are made of."""
    made = hashlib.sha256()
    for folder in (report.INCLUDE, HERE / "overhead", figures.ROOT / "examples/digits"):
        for file in sorted(folder.rglob("*.[hc]pp")):
            made.update(f"{file.relative_to(figures.ROOT)}\n".encode() + file.read_bytes())
    return made.hexdigest()


def programs(wanted):
    made = []
    for toolchain in TOOLCHAINS:
        for step in STEPS:
            for hooks in HOOKS:
                if (toolchain in COUNTED_ONLY and step != "tiny") or (
                        wanted.quick and (toolchain != "g++-O2" or step != "tiny" or hooks not in (0, 5, 64))):
                    continue
                if not re.search(wanted.only, f"{toolchain}/{step}-{hooks}"):
                    continue
                if wanted.ensmallen is not None and step == "tiny":
                    made.append(Program(toolchain, step, hooks, ["-DENSMALLEN", "-isystem", wanted.ensmallen],
                                        ["-larmadillo"]))
                else:
                    made.append(Program(toolchain, step, hooks))
    return made


def measure(wanted):
    """Builds and runs. @return all figures"""
    if wanted.ensmallen is None:
        print("ensmallen: left out; --ensmallen FOLDER names the folder of its headers")
    else:
        version = (wanted.ensmallen / "ensmallen_bits/ens_version.hpp").read_text()
        parts = [re.search(rf"define ENS_VERSION_{part} (\d+)", version)[1] for part in ("MAJOR", "MINOR", "PATCH")]
        print(f"ensmallen: headers that say {'.'.join(parts)}, beside the tiny step")
    all_programs = programs(wanted)
    sources = hash_of_sources()
    # those with most hooks take longest: they come first, so that no core is left with one of them at the end
    slow_first = sorted(all_programs, key=lambda one: -one.hooks)
    for program, problem in zip(slow_first, report.in_parallel(lambda one: one.build(sources), slow_first)):
        if problem:
            sys.exit(f"{program.path.relative_to(figures.ROOT)}\n{report.indent(problem)}")
    counted = [one for one in slow_first if one.step == "tiny" or one.toolchain == "g++-O2"]
    found = {}
    for part in report.in_parallel(Program.counts, counted):
        found.update(part)
    for program in all_programs:  # one after the other, with nothing beside them
        if program.toolchain not in COUNTED_ONLY:
            found.update(program.times(wanted.repetitions or (11 if wanted.quick else 21)))
        if program.toolchain not in COUNTED_ONLY and (program.step, program.hooks) == ("tiny", 5):
            found.update(program.growth(10**7 if wanted.quick else 10**8))
    add_ratios(found)
    return found


def add_ratios(found):
    for name, value in list(found.items()):
        case, hooks, competitor, figure = name.split("/")
        short = {"ns_per_step": "ns_to_hand", "instructions_per_step": "instructions_to_hand"}.get(figure)
        if short:
            plain, dot, suffix = competitor.partition(".")
            reference = f"{'ensmallen_bare' if plain in ENSMALLEN else 'hand'}{dot}{suffix}"
            found[f"{case}/{hooks}/{competitor}/{short}"] = value / found[f"{case}/{hooks}/{reference}/{figure}"]


def show(found):
    for toolchain in TOOLCHAINS:
        for step in STEPS:
            measured = Measured(found, step, toolchain)
            for kind in KINDS:
                case = f"{step}, {kind}, {toolchain}"
                table(measured, f"{case}: ns a step (× hand)", kind, "ns_per_step", "ns_to_hand")
                table(measured, f"{case}: instructions a step (× hand)", kind, "instructions_per_step",
                      "instructions_to_hand")
                table(measured, f"{case}: branches a step (how many of them are indirect)", kind, "branches_per_step",
                      "indirect_branches_per_step")
    for name in sorted(name for name in found if name.startswith("growth/")):
        print(f"{name:60} {found[name]:10.3f}")
    allocating = [name for name, value in found.items() if name.endswith("allocations_per_step") and value > 0]
    print("\nallocations in a step: " + (", ".join(allocating) or "none, by anybody"))


def table(measured, title, kind, figure, beside):
    """A line a competitor, a pair of columns a number of hooks: the figure, and what stands beside it."""
    lines = []
    for competitor in (*PLAIN, *ENSMALLEN):
        cells = []
        for hooks in HOOKS:
            value = measured.at(kind, hooks, competitor, figure)
            other = measured.at(kind, hooks, competitor, beside)
            cells.append(" " * 20 if value is None else f"{value:12.2f} ({other:5.2f})")
        if "".join(cells).strip():
            lines.append(f"{competitor:20}" + "".join(cells))
    if lines:
        print(f"\n{title}")
        print(f"{'hooks':20}" + "".join(f"{hooks:12}{'':8}" for hooks in HOOKS))
        print("\n".join(lines))


def self_test():
    """A competitor that computes something else ends the program, and it alone; a figure beyond its bound is found."""
    tally = report.Tally()
    with figures.folder() as folder:
        program = Program("g++-O2", "tiny", 1, ["-DWRONG", "-O0"])
        program.path = folder / "wrong"
        problem = program.build("")
        tally.add("a wrong competitor is built", problem)
        if not problem:
            ran = report.run([program.path, PICTURES, "check", 100])
            right = ran.returncode == 1 and len(ran.stdout.splitlines()) == len(KINDS) and all(
                line.startswith(f"not equal: wrong of tiny with {kind} hooks, 1 of them, after 100 steps: number 0 of ")
                for kind, line in zip(KINDS, ran.stdout.splitlines()))
            tally.add("a wrong competitor is found", None if right else f"ended with {ran.returncode}: {ran.stdout}")
    overhead_bounds.self_test(tally)
    tally.close()


def main():
    parser = figures.parser(__doc__)
    parser.add_argument("--quick", action="store_true", help="g++ -O2, the tiny step, and 0, 5 and 64 hooks only")
    parser.add_argument("--repetitions", type=int, help="of each time")
    parser.add_argument("--only", default="", metavar="PATTERN",
                        help="the programs that a regular expression finds by TOOLCHAIN/STEP-HOOKS, as in "
                             "clang.*/tiny-5")
    parser.add_argument("--ensmallen", type=lambda word: pathlib.Path(word).resolve(), metavar="FOLDER",
                        help="the folder of ensmallen's headers; Armadillo is to be installed, too")
    parser.add_argument("--self-test", action="store_true", help="tests that the checks find what they look for")
    wanted = parser.parse_args()
    if wanted.self_test:
        self_test()
    if not programs(wanted):
        parser.error(f"--only {wanted.only}: finds no program; there is TOOLCHAIN/STEP-HOOKS for "
                     f"{', '.join(TOOLCHAINS)}; {', '.join(STEPS)}; {', '.join(map(str, HOOKS))}")
    found = measure(wanted)
    show(found)
    if wanted.json:
        wanted.json.write_text(json.dumps(found, indent=1) + "\n")
    bad = overhead_bounds.beyond(found, STEPS, TOOLCHAINS)
    print("\nbeyond a bound:" if bad else "\nall bounds hold", *bad, sep="\n  ")
    if wanted.check and bad:
        sys.exit(1)


if __name__ == "__main__":
    main()
