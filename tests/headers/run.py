#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Every header stands alone: each is compiled as the only one of its translation unit, included twice, with warnings
as errors; those of the core on both compilers, and without exceptions and RTTI as well, the others on clang, which is
quicker at it. And all of them go together into one, on both. Headers with `tensorflow` in their paths are left out.

usage: run.py [--self-test] [--optional] [--tensorflow] [INCLUDE_FOLDER]
  --optional     headers whose third-party library is not installed are left out, and named
  --tensorflow   those with TensorFlow alone, together also without exceptions; it is installed below build/
"""

import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import packages  # noqa: E402
import report  # noqa: E402

FLAGS = ["-x", "c++", "-fsyntax-only", "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion",
         "-Wsign-conversion", "-Wold-style-cast", "-Wundef", "-Werror"]
SHADOW = {"g++": "-Wshadow=local", "clang++-19": "-Wshadow"}  # as in meson.build
BARE = ["-fno-exceptions", "-fno-rtti"]


def is_core(header):
    return header.parts[:2] == ("tautline", "core") or header.as_posix() in ("tautline/core.hpp", "tautline/version.hpp")


def check(case):
    folder, header, compiler, more = case
    name = " ".join([f"{header} on {compiler}", *more])
    twice = f"#include <{header}>\n#include <{header}>\n" + "int main() {}\n"
    result = report.run([compiler, *FLAGS, SHADOW[compiler], *more, f"-I{folder}", "-"], input=twice)
    return name, None if result.returncode == 0 else result.stdout, header


def check_together(case):
    folder, headers, compiler, more = case
    text = "".join(f"#include <{header}>\n" for header in headers) + "int main() {}\n"
    result = report.run([compiler, *FLAGS, SHADOW[compiler], *more, f"-I{folder}", "-"], input=text)
    name = " ".join(["all headers together on", compiler, *(word for word in more if word in BARE)])
    return name, None if result.returncode == 0 else result.stdout


def play(folder, tally, optional=False, tensorflow=None):
    """@param tensorflow: flags for its headers, which are played then, and no others"""
    headers = [file.relative_to(folder) for file in sorted(folder.rglob("*.hpp"))]
    if tensorflow is None:
        headers = [header for header in headers if not report.NEEDS_TENSORFLOW.search(header.as_posix())]
        chosen = headers
    else:
        chosen = [header for header in headers if report.NEEDS_TENSORFLOW.search(header.as_posix())]
    shared = tensorflow or []
    cases = [(folder, header, compiler, shared + more) for header in chosen
             for compiler in (report.compilers() if is_core(header) else report.compilers()[-1:])
             for more in ([[], BARE] if is_core(header) else [[]])]
    for name, problem, header in report.in_parallel(check, cases):
        missing = re.search(r"fatal error: '?(\S+?)'?(: No such file| file not found)", problem or "")
        if missing and optional and not missing[1].startswith("tautline/"):
            tally.skip(name, f"{missing[1]} is not installed")
            headers = [other for other in headers if other != header]
        else:
            tally.add(name, problem)
    together = [(folder, headers, it, shared) for it in report.compilers()]
    if tensorflow:  # one by one as the core's headers are, they would take as long again
        together.append((folder, chosen, report.compilers()[-1], shared + BARE))
    for name, problem in report.in_parallel(check_together, together):
        tally.add(name, problem)
    return tally


# text of a header, and whether it must pass
SELF_TEST = {
    "tautline/core/good.hpp": (True, "#pragma once\ninline int f() { return 1; }\n"),
    "tautline/core/not_guarded.hpp": (False, "inline int f() { return 1; }\n"),
    "tautline/core/not_alone.hpp": (False, "#pragma once\nstd::size_t f();\n"),
    "tautline/core/throws.hpp": (False, "#pragma once\ninline void f() { throw 1; }\n"),
    "tautline/hooks/throws.hpp": (True, "#pragma once\ninline void f() { throw 1; }\n"),
    "tautline/hooks/tensorflow_x.hpp": (False, "#pragma once\ninline int f(int unused) { return 1; }\n"),
    "tautline/sessions/tensorflow/x.hpp": (False, "#pragma once\ninline void f() { throw 1; }\n"),
    "tautline/hooks/warns.hpp": (False, "#pragma once\ninline int f(int unused) { return 1; }\n"),
}


def self_test(tally):
    for name, (must_pass, text) in SELF_TEST.items():
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / name
            file.parent.mkdir(parents=True)
            file.write_text(text)
            with_tensorflow = ["-DTENSORFLOW"] if report.NEEDS_TENSORFLOW.search(name) else None
            inner = play(pathlib.Path(folder), report.Tally(quiet=True), tensorflow=with_tensorflow)
            fewest = 1 if with_tensorflow else len(report.compilers())
            right = inner.good() if must_pass else inner.failed >= fewest  # alone, or all together
            tally.add(f"self-test {name}", None if right else "the wrong verdict")
    with tempfile.TemporaryDirectory() as folder:  # each is good by itself
        for name in ("a", "b"):
            file = pathlib.Path(folder) / f"tautline/{name}.hpp"
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"#pragma once\n// {name}: files of one text are one to g++\ninline int same_name() {{ return 1; }}\n")
        inner = play(pathlib.Path(folder), report.Tally(quiet=True))
        tally.add("self-test of two headers with one name",
                  None if inner.failed == len(report.compilers()) else "the wrong verdict")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("a", "inline int a = 1;\n"), ("tensorflow_b", "#include <tensorflow/c/c_api.h>\nint b = nothing;\n")):
            file = pathlib.Path(folder) / f"tautline/hooks/{name}.hpp"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("#pragma once\n" + text)
        inner = play(pathlib.Path(folder), report.Tally(quiet=True))
        tally.add("self-test of headers with TensorFlow, which are left out", None if inner.good() else "the wrong verdict")
    return tally


def main(arguments):
    tally = report.Tally()
    folders = [pathlib.Path(word).resolve() for word in arguments if not word.startswith("--")]
    if "--self-test" in arguments:
        self_test(tally)
    else:
        tensorflow = packages.tensorflow().compile_args if "--tensorflow" in arguments else None
        play(folders[0] if folders else report.INCLUDE, tally, "--optional" in arguments, tensorflow)
    tally.close()


main(sys.argv[1:])
