#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Each hook of the library is tried by the laws: every header of include/tautline/hooks has a line in
tests/runtime/laws/list.hpp, or stands below with the reason why it has none; every line has its header and its function.

usage: laws.py [--self-test] [ROOT]
"""

import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import report  # noqa: E402

NO_HOOKS = {
    "any_trigger.hpp": "a trigger",
    "logging.hpp": "what logging hooks have in common",
    "model_dependent.hpp": "a base of hooks",
    "summary_writer_add_on.hpp": "a base of hooks",
    "time_histogram.hpp": "counts times",
}
LINE = re.compile(r'^\s*X\((\w+),\s*"([^"]+)"\)', re.M)


def play(root, tally, no_hooks):
    laws = root / "tests/runtime/laws"
    lines = LINE.findall((laws / "list.hpp").read_text())
    listed = {header for _, header in lines}
    functions = set()
    for file in laws.glob("*.cpp"):
        functions.update(re.findall(r"^law_report (\w+)\(\)", file.read_text(), re.M))
    for header in sorted((root / "include/tautline/hooks").glob("*.hpp")):
        name = header.name
        problem = None
        if f"hooks/{name}" not in listed and name not in no_hooks:
            problem = "no law is tried on it. Add a line to tests/runtime/laws/list.hpp, and its function to a file beside it"
        elif f"hooks/{name}" in listed and name in no_hooks:
            problem = f"it has laws, but is called {no_hooks[name]}"
        tally.add(f"laws of {name}", problem)
    for name in sorted(no_hooks):
        found = (root / "include/tautline/hooks" / name).exists()
        tally.add(f"{name}, which has no laws", None if found else "there is no such header")
    for name, header in lines:
        found = (root / "include/tautline" / header).exists()
        tally.add(f"header of {name}", None if found else f"there is no header {header}")
        tally.add(f"function of {name}", None if name in functions else f"no file defines law_report {name}()")
    return tally


# files, and a word of the problem that must be found; None: it must pass
SELF_TEST = [
    ({"hooks/a.hpp": "", "hooks/b.hpp": ""}, 'X(a, "hooks/a.hpp")', "law_report a() {", None),
    ({"hooks/a.hpp": "", "hooks/b.hpp": "", "hooks/c.hpp": ""}, 'X(a, "hooks/a.hpp")', "law_report a() {", "laws of c.hpp"),
    ({"hooks/a.hpp": "", "hooks/b.hpp": ""}, 'X(a, "hooks/a.hpp")', "law_report b() {", "function of a"),
    ({"hooks/b.hpp": ""}, 'X(a, "hooks/a.hpp")', "law_report a() {", "header of a"),
    ({"hooks/a.hpp": ""}, 'X(a, "hooks/a.hpp")', "law_report a() {", "b.hpp, which has no laws"),
    ({"hooks/a.hpp": "", "hooks/b.hpp": ""}, 'X(a, "hooks/a.hpp")\nX(b, "hooks/b.hpp")', "law_report a() {\nlaw_report b() {",
     "laws of b.hpp"),
]


class Listener(report.Tally):
    def __init__(self):
        super().__init__(quiet=True)
        self.problems = []

    def add(self, name, problem=None):
        super().add(name, problem)
        if problem:
            self.problems.append(name)


def self_test(tally):
    for number, (headers, lines, functions, wanted) in enumerate(SELF_TEST):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "tests/runtime/laws").mkdir(parents=True)
            (root / "tests/runtime/laws/list.hpp").write_text(lines + "\n")
            (root / "tests/runtime/laws/all.cpp").write_text(functions + "\n")
            (root / "include/tautline/hooks").mkdir(parents=True)
            for name, text in headers.items():
                (root / "include/tautline" / name).write_text(text)
            found = play(root, Listener(), {"b.hpp": "no hook"}).problems
            tally.add(f"self-test {number}", None if found == ([wanted] if wanted else []) else f"found: {found}")
    return tally


def main(arguments):
    tally = report.Tally()
    folders = [pathlib.Path(word).resolve() for word in arguments if not word.startswith("--")]
    if "--self-test" in arguments:
        self_test(tally)
    else:
        play(folders[0] if folders else report.ROOT, tally, NO_HOOKS)
    tally.close()


main(sys.argv[1:])
