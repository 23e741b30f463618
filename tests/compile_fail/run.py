#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Holds the compilers' messages against what the files of this folder expect.

A file has, in comments,
    // expect-error: REGEX    on the first line with `error:`
    // expect-near: REGEX     within five lines of it, for what must stand beside the message (names, numbers)
    // expect-errors: N       how many lines have `error:`; 1
    // expect-flags: FLAG...  more flags for the compiler
and compiles cleanly with -DCONTROL. Several lines of a kind must all match. What common.hpp includes is compiled once
for each compiler: it is nine tenths of a file. Files named tensorflow_*.cpp need TensorFlow and are left out.

usage: run.py [--self-test] [--tensorflow] [FILE...]
  --tensorflow   those with TensorFlow alone; it is installed below build/
"""

import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import packages  # noqa: E402
import report  # noqa: E402

WINDOW = 5
FLAGS = ["-fsyntax-only", "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", f"-I{report.INCLUDE}"]


def expectations(text):
    def lines(key):
        return re.findall(rf"^\s*//\s*{key}:\s*(.+?)\s*$", text, re.MULTILINE)

    count = lines("expect-errors")
    return (lines("expect-error"), lines("expect-near"), int(count[0]) if count else 1,
            " ".join(lines("expect-flags")).split())


def precompiled(compiler, folder):
    """Flags that put the headers of common.hpp in front of a file; none if that does not work."""
    header = HERE / "common.hpp"
    copy = folder / compiler / header.name
    copy.parent.mkdir()
    shutil.copy2(header, copy)  # with its time: g++ knows by that, and by the text, that it is the same
    is_clang = "clang" in compiler
    made = copy.with_suffix(".pch" if is_clang else ".hpp.gch")
    flags = [flag for flag in FLAGS if flag != "-fsyntax-only"]
    if report.run([compiler, *flags, "-x", "c++-header", header, "-o", made]).returncode != 0:
        return []
    return ["-include-pch", made] if is_clang else ["-include", copy]


def check_message(output, status, patterns, beside, count):
    """None, or what is wrong with the compiler's answer."""
    lines = output.splitlines()
    errors = [i for i, line in enumerate(lines) if re.search(r"\berror:", line)]
    if status == 0 or not errors:
        return "it compiles"
    if len(errors) != count:
        return f"{len(errors)} errors, expected {count}"
    window = lines[max(0, errors[0] - WINDOW):errors[0] + WINDOW + 1]
    for pattern in patterns:
        if not re.search(pattern, lines[errors[0]]):
            return f"no match in the first error for: {pattern}"
    for pattern in beside:
        if not any(re.search(pattern, line) for line in window):
            return f"no match near the first error for: {pattern}"
    return None


def check(case):
    """One file on one compiler: (name, problem or None)."""
    file, compiler, headers, more = case
    name = f"{file.name} on {compiler}"
    text = file.read_text()
    patterns, beside, count, flags = expectations(text)
    if not patterns:
        return name, "the file has no expect-error line"
    if flags or '#include "common.hpp"' not in text:
        headers = []
    command = [compiler, *FLAGS, *more, *flags, *headers, file]
    failing = report.run(command)
    problem = check_message(failing.stdout, failing.returncode, patterns, beside, count)
    if problem:
        return name, f"{problem}\n{failing.stdout}"
    control = report.run([*command, "-DCONTROL", "-Werror"])
    if control.returncode != 0:
        return name, f"-DCONTROL does not compile\n{control.stdout}"
    return name, None


def play(files, tally, more=()):
    """@param more: flags for all files"""
    with tempfile.TemporaryDirectory() as folder:
        headers = {name: precompiled(name, pathlib.Path(folder)) if len(files) > 1 else [] for name in report.compilers()}
        cases = [(file, name, headers[name], more) for file in files for name in report.compilers()]
        for name, problem in report.in_parallel(check, cases):
            tally.add(name, problem)
    return tally


# what the runner itself must notice: file text, and whether it must pass
SELF_TEST = {
    "good": (True, '#ifndef CONTROL\n// expect-error: right words\nstatic_assert(false, "right words");\n#endif\n'),
    "compiles": (False, "// expect-error: x\nint x = 1;\n"),
    "wrong_message": (False, '#ifndef CONTROL\n// expect-error: right\nstatic_assert(false, "wrong");\n#endif\n'),
    "message_beside_another": (False, '#ifndef CONTROL\n// expect-error: right\nint i = wrong;  // right\n#endif\n'),
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
    tally.add("self-test too_far", None if check_message(far, 1, ["first"], ["right"], 1) else "a match out of the window counts")
    near = "x.cpp:1: error: first\n" + "note\n" * (WINDOW - 1) + "right\n"
    tally.add("self-test near", check_message(near, 1, ["first"], ["right"], 1))
    return tally


def main(arguments):
    tally = report.Tally()
    files = [pathlib.Path(word).resolve() for word in arguments if not word.startswith("--")]
    tensorflow = "--tensorflow" in arguments
    if "--self-test" in arguments:
        self_test(tally)
    else:
        files = files or [file for file in sorted(HERE.glob("*.cpp"))
                          if bool(report.NEEDS_TENSORFLOW.search(file.name)) == tensorflow]
        if tensorflow and not files:
            print("SKIPPED: there is no tensorflow_*.cpp")
            sys.exit(report.SKIPPED)
        play(files, tally, packages.tensorflow().compile_args if tensorflow else [])
    tally.close()


main(sys.argv[1:])
