#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Counts what is the same on every run, holds it against the bounds that stand in the source, and against the record.

In a program of variants (variants.hpp), as comments:

    // bound: hooked <= 1.02 * by_hand             instructions a step, on every toolchain, or
    // bound on clang++-19 -O2: hooked <= 1.05 * by_hand      on that one; a name that is none of them is refused
    // bound: hooked <= 60
    // bound: calls(hooked) <= 0                   another figure (counts.UNITS) than instructions:
    // bound: bytes(hooked) <= 1.5 * bytes(by_hand) + 100
    // show: another_variant                       is in the table, without a bound
    // steps: 20000                                N; 10000
    // flags: -fno-exceptions                      more flags for the compiler

`bytes` needs a function `extern "C" variant_NAME`. recorded.json has every number by file, toolchain and variant, with
the versions of the compilers. A bound that does not hold fails and tells the number that was recorded. A number that is
worse than the record and within its bound is told in a line that begins with WORSE. A number without a record, and a
record without its number, fail. Compilers of other versions have no record: bounds are all that is looked at.

usage: run.py [--self-test] [--record] [FILE...]      --record writes the numbers of the files into recorded.json
"""

import json
import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import counts  # noqa: E402
import report  # noqa: E402

RECORD = HERE / "recorded.json"
TOOLCHAINS = [("g++", "-O2"), ("g++", "-O3"), ("clang++-19", "-O2")]
# what may differ without being worse: a number has two places, and some depend a little on the C library
TOLERANCE = 0.006
OF = r"(?:(?P<{0}_figure>\w+)\((?P<{0}_of>\w+)\)|(?P<{0}>\w+))"
NUMBER = r"[\d.]+"
BOUND = re.compile(rf"^\s*//\s*bound(?: on (?P<where>[^:]+))?:\s*(?P<words>{OF.format('left')}\s*<=\s*"
                   rf"(?:(?P<factor>{NUMBER})\s*\*\s*{OF.format('right')}(?:\s*\+\s*(?P<more>{NUMBER}))?"
                   rf"|(?P<limit>{NUMBER})))\s*$", re.MULTILINE)
SHOW = re.compile(rf"^\s*//\s*show:\s*{OF.format('left')}\s*$", re.MULTILINE)


def pair_of(match, side):
    """The variant and the figure that a line names; None if that side has a number only."""
    if match[f"{side}_of"]:
        return match[f"{side}_of"], match[f"{side}_figure"]
    return (match[side], "instructions") if match[side] else None


class Bound:
    def __init__(self, match):
        self.where, self.words = match["where"], match["words"]
        self.left, self.right = pair_of(match, "left"), pair_of(match, "right")
        self.factor, self.more = float(match["factor"] or 0), float(match["more"] or match["limit"] or 0)

    def limit(self, numbers):
        return self.factor * numbers[self.right] + self.more if self.right else self.more

    def text(self, numbers):
        text = self.words.partition("<=")[2].strip()
        return f"{text} = {self.limit(numbers):.2f}" if self.right else text


class Source:
    def __init__(self, file):
        self.file = file
        text = file.read_text()
        self.bounds = [Bound(match) for match in BOUND.finditer(text)]
        shown = [pair_of(match, "left") for match in SHOW.finditer(text)]
        bound = [pair for bound in self.bounds for pair in (bound.right, bound.left) if pair]
        self.pairs = list(dict.fromkeys(bound + shown))
        steps = re.search(r"^\s*//\s*steps:\s*(\d+)", text, re.MULTILINE)
        self.steps = int(steps[1]) if steps else 10000
        flags = re.search(r"^\s*//\s*flags:\s*(.+)$", text, re.MULTILINE)
        self.flags = flags[1].split() if flags else []
        self.lines = len(re.findall(r"^\s*//\s*(?:bound|show)\b.*:", text, re.MULTILINE)) - len(shown)

    def problem(self):
        """What is wrong with its comments."""
        if not self.bounds or self.lines != len(self.bounds):
            return "no bounds, or a line that cannot be read"
        unknown = {bound.where for bound in self.bounds} - {None, *map(" ".join, TOOLCHAINS)}
        if unknown:
            return f"bounds on a toolchain that is not known: {', '.join(sorted(unknown))}"
        unknown = {figure for _, figure in self.pairs} - set(counts.UNITS)
        if unknown:
            return f"figures that are not known: {', '.join(sorted(unknown))}; there is {', '.join(counts.UNITS)}"
        return None


class Record:
    """What was recorded: `file/toolchain/variant/figure` → number, and the compilers' versions."""

    def __init__(self, data, renewed=False):
        self.renewed = renewed
        self.figures = data.get("figures", {})
        self.compilers = data.get("compilers", {})
        self.now = {name: version_of(name) for name in report.compilers()}
        self.fresh = {}

    def knows(self, toolchain):
        return self.compilers.get(toolchain[0]) == self.now[toolchain[0]]

    def was(self, source, toolchain, pair):
        return self.figures.get(key_of(source, toolchain, pair)) if self.knows(toolchain) else None

    def keep(self, source, toolchain, numbers):
        self.fresh.update({key_of(source, toolchain, pair): round(number, 2) for pair, number in numbers.items()})

    def gone(self, source, toolchain, numbers):
        """Keys of figures that the source has no longer."""
        measured = {key_of(source, toolchain, pair) for pair in numbers}
        return sorted(key for key in self.figures if key.startswith(key_of(source, toolchain)) and key not in measured)

    def files(self):
        return {key.partition("/")[0] for key in self.figures}

    def written(self, everything):
        """The text of the file, with what was measured now."""
        measured = {key.partition("/")[0] for key in self.fresh}
        kept = {} if everything else {
            key: was for key, was in self.figures.items() if key.partition("/")[0] not in measured}
        return json.dumps({"compilers": self.now, "figures": {**kept, **self.fresh}}, indent=1, sort_keys=True) + "\n"


def key_of(source, toolchain, pair=("", "")):
    """Without a pair: how all keys of the toolchain begin."""
    return "/".join([source.file.name, " ".join(toolchain), *pair]).removesuffix("/")


def version_of(compiler):
    return report.run([compiler, "-dumpversion" if "clang" in compiler else "-dumpfullversion"]).stdout.strip()


def worse(now, was):
    return now > was + max(TOLERANCE, 0.0005 * was)


def name_of(pair):
    return pair[0] if pair[1] == "instructions" else f"{pair[1]}({pair[0]})"


def told(pair, was, now):
    return f"{'' if was is None else f'was {was:.2f}, '}now {now:.2f} {counts.UNITS[pair[1]]}"


HOW = "`tests/codegen/run.py --record` renews the record"
ADVICE = ("what to do: hold `objdump -d` of the program against that of the commit before (a call, or values stored "
          f"and loaded again, tell which function grew). If the change is meant, move the bound in the source; {HOW}")


def judge(source, toolchain, numbers, record, tally):
    """Holds the numbers of one toolchain against bounds and record. @return lines for people"""
    on, lines, failed = f"{source.file.name} on {' '.join(toolchain)}", [], set()
    limits = {}
    for bound in source.bounds:
        if bound.where not in (None, " ".join(toolchain)):
            continue
        now, limit = numbers[bound.left], bound.limit(numbers)
        limits.setdefault(bound.left, []).append(bound.text(numbers))
        exceeded = now > limit + 1e-9
        failed |= {bound.left} if exceeded else set()
        tally.add(f"{on}: {bound.words}",
                  f"{name_of(bound.left)}: {told(bound.left, record.was(source, toolchain, bound.left), now)}, "
                  f"at most {bound.text(numbers)}" if exceeded else None)
    if record.renewed:
        return []
    if not record.knows(toolchain):
        return [f"{on}: this version was never recorded"]
    for pair, now in numbers.items():
        was = record.was(source, toolchain, pair)
        if was is None:
            problem = f"now {now:.2f} {counts.UNITS[pair[1]]}, never recorded; {HOW}"
            tally.add(f"{on}: record of {name_of(pair)}", problem)
        elif worse(now, was) and pair not in failed:
            within = f"within {' and '.join(limits[pair])}" if pair in limits else "without a bound"
            lines.append(f"WORSE {on}: {name_of(pair)}: {told(pair, was, now)}, {within}; {HOW}")
    gone = record.gone(source, toolchain, numbers)
    problem = f"{', '.join(gone)}: recorded, and no longer measured; {HOW}" if gone else None
    tally.add(f"{on}: what is recorded", problem)
    return lines


def play_file(source, folder, record, tally, toolchains=tuple(TOOLCHAINS)):
    """@return lines of the table"""
    problem = source.problem()
    if problem:
        tally.add(source.file.name, problem)
        return []

    def measure(toolchain):
        try:
            return counts.Program(source.file, toolchain, source.flags, folder).count(source.pairs, source.steps)
        except counts.Problem as caught:
            return caught

    table = []
    for toolchain, numbers in zip(toolchains, report.in_parallel(measure, toolchains)):
        name = " ".join(toolchain)
        if isinstance(numbers, counts.Problem):
            tally.add(f"{source.file.name} on {name}", str(numbers))
            continue
        record.keep(source, toolchain, numbers)
        row = ", ".join(f"{name_of(pair)} {number:.2f}".removesuffix(".00") for pair, number in numbers.items())
        table.append(f"{source.file.name:15} {name:15} {row}")
        table += judge(source, toolchain, numbers, record, tally)
    return table


def play(files, record, tally, toolchains=tuple(TOOLCHAINS)):
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            lines = play_file(Source(file), pathlib.Path(folder), record, tally, toolchains)
            if lines and not tally.quiet:
                print("\n".join(lines), flush=True)
    return tally


PROGRAM = """
#include <cstdlib>
#include "variants.hpp"
int volatile sink;
void (*volatile function)(int) = [](int value) { sink = value; };
[[gnu::noinline]] void call(int value) { sink = value; asm volatile(""); }
double bad(std::int64_t) { std::exit(1); }
double one(std::int64_t steps) { for (std::int64_t i = 0; i < steps; ++i) sink = 1; return 0; }
double two(std::int64_t steps) { return one(2 * steps); }
#ifdef __clang__
constexpr auto gcc_two = one;
#else
constexpr auto gcc_two = two;
#endif
double calling(std::int64_t steps) { for (std::int64_t i = 0; i < steps; ++i) call(1); return 0; }
double indirect(std::int64_t steps) { for (std::int64_t i = 0; i < steps; ++i) function(1); return 0; }
double locking(std::int64_t steps) {
  for (std::int64_t i = 0; i < steps; ++i) __atomic_fetch_add(&sink, 1, __ATOMIC_RELAXED);
  return 0;
}
void* volatile kept;  // or nothing need be allocated
double making(std::int64_t steps) { kept = std::malloc(9); std::free(kept); return one(steps); }
double renewing(std::int64_t steps) {
  for (std::int64_t i = 0; i < steps; ++i) { kept = new int(1); delete static_cast<int*>(kept); }
  return 0;
}
int const table[100] = {1, 2, 3};
extern "C" double variant_small(std::int64_t) { return 1; }
extern "C" double variant_large(std::int64_t steps) { return table[steps % 100] + one(steps); }
constexpr variant all[] = {{"bad", bad}, {"one", one}, {"two", two}, {"gcc_two", gcc_two}, {"calling", calling},
                           {"indirect", indirect}, {"locking", locking}, {"making", making}, {"renewing", renewing},
                           {"small", variant_small, 40}, {"large", variant_large, 80}};
int main(int count, char** arguments) { return run_variants(all, count, arguments); }
"""
# bounds, and whether they must hold; without a record
SELF_TEST = {
    "holds": (True, "bound: two <= 2.1 * one", "bound: one <= 9"),
    "exceeded": (False, "bound: two <= 1.9 * one"),
    "absolute_exceeded": (False, "bound: one <= 0.5"),
    "program_fails": (False, "bound: one <= 2 * bad"),
    "no_bounds": (False, "show: one"),
    "malformed": (False, "bound: one <= 9", "bound: one less than two"),
    "malformed_sum": (False, "bound: one <= 9", "bound: one <= two + 1"),
    "other_toolchain": (True, "bound: one <= 9", "bound on clang++-19 -O2: gcc_two <= 1.1 * one"),
    "other_toolchain_too": (False, "bound: one <= 9", "bound: gcc_two <= 1.1 * one"),
    "unknown_toolchain": (False, "bound: one <= 9", "bound on clang++-18 -O2: one <= 9"),
    "unknown_figure": (False, "bound: one <= 9", "bound: cycles(one) <= 9"),
    "unknown_variant": (False, "bound: one <= 9", "bound: three <= 9"),
    "this_toolchain": (False, "bound: one <= 9", "bound on g++ -O3: one <= 0"),
    "kinds_on_each_toolchain": (True, "bound: calls(one) <= 0", "bound: indirect_jumps(one) <= 0",
                                "bound: locks(one) <= 0", "bound: indirect_jumps(calling) <= 0",
                                "bound: locks(calling) <= 0", "bound: calls(locking) <= 0",
                                "bound: allocations(one) <= 0", "bound: calls(making) <= 0"),
    "calls": (False, "bound: calls(calling) <= 0.99"),
    "indirect_jumps": (False, "bound: indirect_jumps(indirect) <= 0.99"),
    "indirect_calls": (False, "bound: calls(indirect) <= 0.99"),
    "locks": (False, "bound: locks(locking) <= 0.99"),
    "allocates_in_making": (False, "bound: allocations(making) <= 0"),
    "allocates_in_steps": (False, "bound: allocations(renewing) <= 9999"),
    "bytes": (True, "bound: bytes(large) <= 1 * bytes(small) + 600", "bound: session_bytes(small) <= 40"),
    "bytes_exceeded": (False, "bound: bytes(large) <= 1 * bytes(small) + 400"),
    "bytes_of_no_root": (False, "bound: bytes(one) <= 100000"),
    "session_bytes_exceeded": (False, "bound: session_bytes(large) <= 1 * session_bytes(small)"),
    "session_bytes_of_none": (False, "bound: session_bytes(one) <= 9"),
    "no_code": (False, "bound: one <= 9", "\n#error no code\n"),
}
BOUNDS = ("bound: one <= 9", "bound: allocations(making) <= 9", "show: two")
# what is done to the record of BOUNDS, and what must be told then, in one line; whether it fails
RECORDS = {
    "as_it_was": ({}, "", True),
    "better": ({"two/instructions": 99.0}, "", True),
    "worse": ({"one/instructions": 0.5}, "WORSE it.cpp on g++ -O2: one: was 0.50, now", True),
    "worse_unbound": ({"two/instructions": 0.5}, "instructions a step, without a bound", True),
    "worse_allocations": ({"making/allocations": 0.0}, "was 0.00, now 1.00 allocations in all, within 9", True),
    "never_recorded": ({"two/instructions": None}, "record of two: now", False),
    "no_longer_measured": (
        {"three/instructions": 3.0}, "it.cpp/g++ -O2/three/instructions: recorded, and no longer", False),
}


def self_test(tally):
    with tempfile.TemporaryDirectory() as folder:
        def written(name, lines):
            file = pathlib.Path(folder) / f"{name}.cpp"
            file.write_text("".join(line if line.startswith("\n") else f"// {line}\n" for line in lines) + PROGRAM)
            return file

        def verdict(item):
            name, (must_pass, *lines) = item
            toolchains = TOOLCHAINS if "toolchain" in name else TOOLCHAINS[:1]
            inner = play([written(name, lines)], Record({}), report.Tally(quiet=True), toolchains)
            return name, None if inner.good() == must_pass else f"the wrong verdict: {inner.closing()}"

        for name, problem in report.in_parallel(verdict, SELF_TEST.items()):
            tally.add(f"self-test {name}", problem)
        self_test_record(written, tally)
    return tally


class Heard(report.Tally):
    """Keeps what it is told."""

    def __init__(self):
        super().__init__(quiet=True)
        self.problems = []

    def add(self, name, problem=None):
        super().add(name, problem)
        self.problems += [f"{name}: {problem}"] if problem else []


def self_test_record(written, tally):
    source, toolchain, first = Source(written("it", BOUNDS)), TOOLCHAINS[0], Record({}, renewed=True)
    with tempfile.TemporaryDirectory() as folder:
        play_file(source, pathlib.Path(folder), first, report.Tally(quiet=True), [toolchain])
    numbers = {pair: first.fresh[key_of(source, toolchain, pair)] for pair in source.pairs}

    def told_of(now, compilers=first.now, **changes):
        figures = {**first.fresh, **{f"it.cpp/g++ -O2/{key}": was for key, was in changes.items()}}
        heard = Heard()
        figures = {key: was for key, was in figures.items() if was is not None}
        record = Record({"compilers": compilers, "figures": figures})
        return heard, "\n".join(judge(source, toolchain, now, record, heard) + heard.problems)

    for name, (changes, wanted, must_pass) in RECORDS.items():
        heard, found = told_of(numbers, **changes)
        good = (wanted in found and bool(wanted) == bool(found) and "\n" not in found
                and (heard.failed == 0) == must_pass)
        tally.add(f"self-test record {name}", None if good else f"the wrong verdict:\n{found or 'nothing'}")
    many = {pair: 20.0 for pair in source.pairs}
    heard, found = told_of(many, compilers={"g++": "1.0"})
    right = heard.failed == 2 and "was" not in found.replace("was never", "")
    tally.add("self-test record of another compiler", None if right else f"the wrong verdict:\n{found}")
    _, found = told_of(many)
    wanted = f"one: was {numbers['one', 'instructions']:.2f}, now 20.00 instructions a step, at most 9"
    tally.add("self-test a failing bound tells", None if wanted in found else found)


def found(word):
    """A file as it is named from here, or one beside this script."""
    for path in (pathlib.Path(word), HERE / word):
        if path.is_file():
            return path.resolve()
    sys.exit(f"there is no {word}; beside run.py are {', '.join(sorted(file.name for file in HERE.glob('*.cpp')))}")


def main(arguments):
    if not shutil.which("valgrind"):
        print("SKIPPED: valgrind is not installed")
        sys.exit(report.SKIPPED)
    tally = report.Tally()
    files = [found(word) for word in arguments if not word.startswith("--")]
    if "--self-test" in arguments:
        self_test(tally)
        tally.close()
    everything = sorted(HERE.glob("*.cpp"))
    record = Record(json.loads(RECORD.read_text()) if RECORD.exists() else {}, renewed="--record" in arguments)
    play(files or everything, record, tally)
    if tally.failed:
        print(ADVICE)
    if not files and not record.renewed:
        gone = sorted(record.files() - {file.name for file in everything})
        problem = f"{', '.join(gone)}: recorded, and no longer there; {HOW}" if gone else None
        tally.add("files that are recorded", problem)
    if record.renewed:
        RECORD.write_text(record.written(everything=not files))
        print(f"written: {RECORD.relative_to(report.ROOT)}")
    tally.close()


main(sys.argv[1:])
