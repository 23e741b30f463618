#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What a further hook costs g++ to compile, in instructions of the compiler: the same on every run, as its time is not.

The files are those of benchmarks/compile_time.py (-O0, no warnings), without hooks and with some; a hook costs the
difference by their number. compile_cost.json has what was recorded, and on which compiler. A hook that costs more than
that by TOLERANCE fails. Another compiler has no record: nothing is compared then.

usage: compile_cost.py [--record | --self-test]      --record writes compile_cost.json
"""

import json
import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / "tools"), str(HERE.parent.parent / "benchmarks")]
import compile_time  # noqa: E402
import report  # noqa: E402

RECORD = HERE / "compile_cost.json"
HOOKS = 16
TOLERANCE = 0.03  # the length of a path, and the like, change some per thousand
KINDS = {
    "plain": "",
    "triggered": "every_steps trigger{100};",  # asked in groups, whose functions must not have all hooks in their names
}


def instructions(folder, name, text):
    """Instructions of the compiler for one file."""
    source = folder / f"{name}.cpp"
    source.write_text(text)
    counting = "valgrind,--tool=cachegrind,--cache-sim=no,--cachegrind-out-file=/dev/null"
    ran = report.run(["g++", "-wrapper", counting, "-std=c++20", "-O0", "-w", f"-I{report.INCLUDE}", "-S", source,
                      "-o", "/dev/null"])
    counted = re.search(r"I\s+refs:\s+([\d,]+)", ran.stdout)
    if ran.returncode != 0 or not counted:
        sys.exit(f"{source.name} was not compiled under valgrind\n{report.indent(ran.stdout)}")
    return int(counted[1].replace(",", ""))


def measured(folder, kinds):
    """@param kinds: kind → one more member of each hook
    @return: kind → millions of instructions for each hook"""
    texts = {"none": compile_time.unit(0), **{kind: compile_time.unit(HOOKS, member) for kind, member in kinds.items()}}
    counts = dict(zip(texts, report.in_parallel(lambda one: instructions(folder, *one), texts.items())))
    return {kind: round((counts[kind] - counts["none"]) / HOOKS / 1e6, 1) for kind in kinds}


def problem_of(kind, now, was):
    """What is wrong with a figure; None if nothing is."""
    if was is None:
        return f"{kind}: no record; it is {now} million instructions a hook. Mend: compile_cost.py --record"
    if now > was * (1 + TOLERANCE):
        return (f"{kind}: was {was}, now {now} million instructions of g++ for each hook. Mend: compile less for each of "
                "them (functions and classes with a hook or its index among their arguments; code that is inlined at each "
                "hook; types around each hook in the session's type), or compile_cost.py --record if it is worth that")
    return None


def self_test(tally):
    said = problem_of("plain", 103.2, 100.0)
    tally.add("a hook that costs more fails, with both numbers",
              None if said and "was 100.0, now 103.2" in said else said or "passed")
    tally.add("one that costs little more does not", problem_of("plain", 102.8, 100.0))
    said = problem_of("plain", 1.0, None)
    tally.add("a figure without a record fails", None if said and "no record" in said else said or "passed")
    with tempfile.TemporaryDirectory() as name:
        found = measured(pathlib.Path(name), {"plain": "", "ending": "void end(auto&) {}"})
    said = problem_of("ending", found["ending"], found["plain"])
    tally.add("a callback more of each hook is seen", None if said else f"not seen: {found}")


def main():
    if not shutil.which("valgrind"):
        print("SKIPPED: valgrind is not installed")
        sys.exit(report.SKIPPED)
    tally = report.Tally()
    if "--self-test" in sys.argv:
        self_test(tally)
    else:
        with tempfile.TemporaryDirectory() as name:
            found = measured(pathlib.Path(name), KINDS)
        record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
        version = " ".join(report.run(["g++", word]).stdout.strip() for word in ("-dumpmachine", "-dumpfullversion"))
        if "--record" in sys.argv:
            record = {"g++": version, "millions": found}
            RECORD.write_text(json.dumps(record, indent=1) + "\n")
        for kind, now in found.items():
            print(f"{kind}: {now} million instructions of g++ for each hook")
            if record.get("g++") in (None, version):
                tally.add(f"a {kind} hook", problem_of(kind, now, record.get("millions", {}).get(kind)))
    tally.close()


if __name__ == "__main__":
    main()
