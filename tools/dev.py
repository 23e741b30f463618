#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""usage: ./dev COMMAND

  demo [ARGUMENT...]     builds and runs the main example; arguments go to it, --help lists them
  test [--quick]         everything that a change must pass; --quick: two configurations, the fast scripts
       --without tensorflow   leaves out the tests with TensorFlow, a large package (1.6 GB on disk); --quick does, too
       --without embedded     leaves out those on a Cortex-M, whose compiler and emulator are large, too (2.5 GB); --quick does
       --only tensorflow, --only embedded      runs them alone
  conformance FOLDER...  plays the scenario files in the folders
  bench [--quick] [--json FILE] [--check] [--page]
                         the benchmarks, in 15 minutes, --quick: in 3; --check fails beyond a bound, for a machine that
                         does nothing else; --page writes docs/performance.md; `bench --help` has more
        --sizes          RAM and flash by hook on a Cortex-M4, nothing else
        --quick --with embedded
                         the quick run, and these, which it leaves out otherwise, as it does all that needs large packages
                         (one benchmark by itself is a script: python3 benchmarks/overhead.py --only PATTERN)
  docs [PAGE...]         compiles and runs the programs of the documentation but those with TensorFlow, follows its links
  help                   this text

Each command installs what it needs and is missing, with apt-get, and says so. Whatever it builds is under build/.
"""

import os
import pathlib
import subprocess
import sys

import builds
import everything
import packages
import report

BUILD = ["meson", "ninja-build", "g++"]


def refuse(text):
    """Ends a command that was called wrongly."""
    print(f"./dev: {text}", file=sys.stderr)
    sys.exit(2)


def run_script(script, arguments):
    sys.exit(subprocess.run([sys.executable, report.ROOT / script, *arguments], check=False).returncode)


def demo(arguments):
    packages.need(*BUILD, "pkg-config", "libfmt-dev", "libcli11-dev", "nlohmann-json3-dev")
    folder = report.ROOT / "build/demo"
    print("./dev: building the demo", file=sys.stderr, flush=True)
    problem = builds.configure(folder, ["--buildtype=release", "-Dexamples=enabled", "-Dhooks=enabled", "-Dtests=disabled",
                                        "-Dbenchmarks=disabled"])
    program = None if problem else builds.executable(folder, "digits_demo")
    if not problem and not program:
        problem = "examples/meson.build defines no executable digits_demo"
    problem = problem or builds.compile_all(folder, os.path.relpath(program, folder))
    if problem:
        sys.exit(f"{problem}\n./dev: the demo could not be built")
    # it runs in the caller's folder, from which its paths count
    if not any(word == "--data" or word.startswith("--data=") for word in arguments):
        arguments = ["--data", str(report.ROOT / "examples/data/digits.csv"), *arguments]
    os.execv(program, [program, *arguments])


def test(arguments):
    quick, chosen, words = False, {"--without": [], "--only": []}, iter(arguments)
    for word in words:
        option, _, part = word.partition("=")
        if word == "--quick":
            quick = True
        elif option in chosen:
            part = part or next(words, "")
            if part not in everything.PARTS:
                refuse(f"test {option} knows no part {part!r}; there is {', '.join(everything.PARTS)}")
            chosen[option].append(part)
        else:
            refuse(f"test knows no option {word!r}; see ./dev help")
    without, only = chosen.values()
    if only and (quick or without):
        refuse("test --only stands alone: it goes neither with --quick nor with --without")
    packages.need(*BUILD, "clang-19", "libclang-rt-19-dev", "doctest-dev", "libfmt-dev", "librange-v3-dev", "libcli11-dev",
                  "nlohmann-json3-dev", "libreaderwriterqueue-dev", "valgrind", "pkg-config", "libboost-dev", "libstb-dev",
                  "python3-venv")
    if not quick and "embedded" not in without and (not only or "embedded" in only):
        packages.need(*packages.CORTEX_M)
    everything.main(quick, without, only)


def conformance(arguments):
    if not arguments:
        refuse("conformance needs at least one folder of scenarios")
    for word in arguments:
        if word.startswith("-"):
            refuse(f"conformance knows no option {word!r}; see ./dev help")
        if not pathlib.Path(word).is_dir():
            refuse(f"{word} is no folder")
    packages.need(*BUILD, "pkg-config", "libfmt-dev")  # without fmt the scenarios with loggers would be skipped
    run_script("tests/conformance/run.py", [str(pathlib.Path(word).resolve()) for word in arguments])


def bench(arguments):
    run_script("benchmarks/run.py", arguments)  # each benchmark installs what it needs


def docs(arguments):
    for word in arguments:
        if word.startswith("-"):
            refuse(f"docs knows no option {word!r}; see ./dev help")
        if not pathlib.Path(word).is_file():
            refuse(f"there is no page {word}")
        if report.ROOT not in pathlib.Path(word).resolve().parents:
            refuse(f"{word} is no page of this repository")
    packages.need("g++", "clang-19", "libclang-rt-19-dev", "libfmt-dev", "librange-v3-dev", "nlohmann-json3-dev",
                  "libreaderwriterqueue-dev")
    run_script("tests/docs/run.py", [str(pathlib.Path(word).resolve()) for word in arguments])


COMMANDS = {"demo": demo, "test": test, "conformance": conformance, "bench": bench, "docs": docs}


def main(words):
    if not words:
        print(__doc__, end="", file=sys.stderr)
        sys.exit(2)
    if words[0] in ("help", "--help", "-h"):
        print(__doc__, end="")
        return
    if words[0] not in COMMANDS:
        refuse(f"unknown command {words[0]!r}; see ./dev help")
    COMMANDS[words[0]](words[1:])


main(sys.argv[1:])
