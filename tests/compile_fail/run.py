#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Holds the compilers' messages against what the files of this folder expect.

A file has, in comments,
    // expect-error: REGEX    on the first line with `error:`, or within five lines of it
    // expect-near: REGEX     the same window, for what must stand beside the message (names, numbers)
    // expect-errors: N       how many lines have `error:`; 1
    // expect-flags: FLAG...  more flags for the compiler
and compiles cleanly with -DCONTROL. Several lines of a kind must all match.

usage: run.py [--self-test] [FILE...]
"""

import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import report  # noqa: E402

WINDOW = 5
FLAGS = ["-fsyntax-only", "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", f"-I{report.INCLUDE}"]


def expectations(text):
    def lines(key):
        return re.findall(rf"^\s*//\s*{key}:\s*(.+?)\s*$", text, re.MULTILINE)

    count = lines("expect-errors")
    return (lines("expect-error") + lines("expect-near"), int(count[0]) if count else 1,
            " ".join(lines("expect-flags")).split())


def check_message(output, status, patterns, count):
    """None, or what is wrong with the compiler's answer."""
    lines = output.splitlines()
    errors = [i for i, line in enumerate(lines) if re.search(r"\berror:", line)]
    if status == 0 or not errors:
        return "it compiles"
    if len(errors) != count:
        return f"{len(errors)} errors, expected {count}"
    window = lines[max(0, errors[0] - WINDOW):errors[0] + WINDOW + 1]
    for pattern in patterns:
        if not any(re.search(pattern, line) for line in window):
            return f"no match near the first error for: {pattern}"
    return None


def check(case):
    """One file on one compiler: (name, problem or None)."""
    file, compiler = case
    name = f"{file.name} on {compiler}"
    patterns, count, flags = expectations(file.read_text())
    if not patterns:
        return name, "the file has no expect-error line"
    command = [compiler, *FLAGS, *flags, file]
    failing = report.run(command)
    problem = check_message(failing.stdout, failing.returncode, patterns, count)
    if problem:
        return name, f"{problem}\n{failing.stdout}"
    control = report.run([*command, "-DCONTROL", "-Werror"])
    if control.returncode != 0:
        return name, f"-DCONTROL does not compile\n{control.stdout}"
    return name, None


def play(files, tally):
    cases = [(file, compiler) for file in files for compiler in report.compilers()]
    for name, problem in report.in_parallel(check, cases):
        tally.add(name, problem)
    return tally


# what the runner itself must notice: file text, and whether it must pass
SELF_TEST = {
    "good": (True, '#ifndef CONTROL\n// expect-error: right words\nstatic_assert(false, "right words");\n#endif\n'),
    "compiles": (False, "// expect-error: x\nint x = 1;\n"),
    "wrong_message": (False, '#ifndef CONTROL\n// expect-error: right\nstatic_assert(false, "wrong");\n#endif\n'),
    "wrong_beside": (False, '#ifndef CONTROL\n// expect-error: right\n// expect-near: nowhere\n'
                            'static_assert(false, "right");\n#endif\n'),
    "two_errors": (False, '#ifndef CONTROL\n// expect-error: right\nstatic_assert(false, "right");\n'
                          'static_assert(false, "more");\n#endif\n'),
    "two_expected": (True, '#ifndef CONTROL\n// expect-error: right\n// expect-errors: 2\n'
                           'static_assert(false, "right");\nstatic_assert(false, "more");\n#endif\n'),
    "bad_control": (False, '// expect-error: right\nstatic_assert(false, "right");\n'),
    "warning_in_control": (False, '#ifndef CONTROL\n// expect-error: right\nstatic_assert(false, "right");\n#endif\n'
                                  "inline void f() { int unused; }\n"),
    "expects_nothing": (False, "#ifndef CONTROL\nstatic_assert(false);\n#endif\n"),
}


def self_test(tally):
    with tempfile.TemporaryDirectory() as folder:
        for name, (must_pass, text) in SELF_TEST.items():
            file = pathlib.Path(folder) / f"{name}.cpp"
            file.write_text(text)
            inner = play([file], report.Tally(quiet=True))
            wrong = inner.failed if must_pass else inner.passed
            tally.add(f"self-test {name}", f"{wrong} compilers gave the wrong verdict" if wrong else None)
    far = "x.cpp:1: error: first\n" + "note\n" * WINDOW + "right\n"
    tally.add("self-test too_far", None if check_message(far, 1, ["right"], 1) else "a match out of the window counts")
    near = "x.cpp:1: error: first\n" + "note\n" * (WINDOW - 1) + "right\n"
    tally.add("self-test near", check_message(near, 1, ["right"], 1))
    return tally


def main(arguments):
    tally = report.Tally()
    files = [pathlib.Path(word).resolve() for word in arguments if word != "--self-test"]
    if "--self-test" in arguments:
        self_test(tally)
    else:
        play(files or sorted(HERE.glob("*.cpp")), tally)
    tally.close()


main(sys.argv[1:])
