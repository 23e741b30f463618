#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""All tests with TensorFlow, which is installed below build/.

1. The scripts in FILES write what the programs read (GraphDefs, SavedModels), into the folder that they get as their
   argument; a program finds it as TAUTLINE_TENSORFLOW_FILES.
2. The programs that meson.build here lists, with the sanitizers on g++ and optimized on clang.
3. The scripts in SCRIPTS, each of which closes with `N passed, N failed`; of other scripts of tests/ what needs
   TensorFlow.
4. A project that uses tautline with TensorFlow, as a subproject.

All scripts are run by the Python that has TensorFlow.

usage: run.py [--self-test] [--configuration NAME]... [SCRIPT...]     with scripts: these alone
"""

import argparse
import os
import pathlib
import shutil
import sys
import tempfile
import time

import common
from common import builds, packages, report

HERE = pathlib.Path(__file__).resolve().parent
FILES = ["fixtures.py"]
SCRIPTS = [
    ["ops.py"],
    ["checkpoints.py"],
    ["example.py"],
    ["../headers/run.py", "--tensorflow"],
    ["../compile_fail/run.py", "--tensorflow"],
    ["../docs/run.py", "--tensorflow"],
    ["cluster.py"],
    ["original.py", "--self-test"],
    ["original.py"],
    ["conformance.py", "--self-test", "--quick"],
    ["conformance.py", "--quick"],
]


def install(tally):
    """Whether TensorFlow is there. That it cannot be had is a failure: a test that did not run has not passed."""
    try:
        common.tensorflow()
    except SystemExit as problem:
        tally.add("TensorFlow is installed", f"{problem}\nwithout it: ./dev test --without tensorflow")
        return False
    tally.add("TensorFlow is installed")
    return True


def write_files(tally):
    shutil.rmtree(common.FILES, ignore_errors=True)
    common.FILES.mkdir(parents=True)
    for script in FILES:
        made = report.run([common.tensorflow().python, HERE / script, common.FILES], env=common.environment())
        tally.add(f"{script} writes its files", made.stdout if made.returncode != 0 else None)


def play(configuration, tally):
    """Builds and runs the programs of one configuration."""
    problem = common.configure(configuration)
    if problem:
        tally.add(f"{configuration}: configure", problem)
        return
    problem = builds.compile_all(common.folder(configuration))
    if problem:
        errors = [line for line in problem.splitlines() if "error" in line.lower() or "FAILED" in line]
        tally.add(f"{configuration}: build", "\n".join(errors) or problem)
    for name, result, output in builds.run_tests(common.folder(configuration), without_suite="script"):
        tally.add(f"{configuration}: {name}", None if result == "OK" else f"{result}\n{output}")


def script(words, tally, folder=HERE):
    name = " ".join(words)
    ran = report.run([common.tensorflow().python, folder / words[0], *words[1:]], env=common.environment())
    if ran.returncode == report.SKIPPED:
        tally.skip(name, (ran.stdout.strip() or "no reason given").splitlines()[-1].removeprefix("SKIPPED: "))
        return
    before = tally.failed
    counted = tally.add_closing(ran.stdout)
    if not counted or (ran.returncode != 0 and tally.failed == before):
        tally.add(name, f"ended with {ran.returncode}\n{ran.stdout}")
    elif tally.failed > before and not tally.quiet:
        print(f"FAILED {name}\n{report.indent(ran.stdout)}", end="", flush=True)


def consumer(tally):
    sys.path.insert(0, str(HERE.parent / "consumer"))
    import project

    problem = None
    with tempfile.TemporaryDirectory(dir=report.ROOT / "build", prefix="consumer-") as folder:
        try:
            project.Project("tensorflow", pathlib.Path(folder), "g++").run(
                f"-Dtautline:tensorflow_folder={common.tensorflow().folder}")
        except project.Failed as failed:
            problem = str(failed)
    tally.add("a project that uses tautline with TensorFlow", problem)


def timed(name, function, *arguments):
    start = time.monotonic()
    function(*arguments)
    print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)


def everything(tally, configurations, scripts):
    if not install(tally):
        return
    if not scripts:
        timed("files", write_files, tally)
        for configuration in configurations:
            timed(configuration, play, configuration, tally)
    for words in ([word] for word in scripts) if scripts else SCRIPTS:
        timed(" ".join(words), script, words, tally)
    if not scripts:
        timed("consumer", consumer, tally)


def self_test(tally):
    """What must fail does: no TensorFlow to be had, a program with a leak, a script that fails or does not close."""
    wanted, packages.TENSORFLOW = packages.TENSORFLOW, "tensorflow-cpu==0.0.1"
    inner = report.Tally(quiet=True)
    found = install(inner)
    packages.TENSORFLOW = wanted
    common.tensorflow.cache_clear()
    tally.add("self-test: TensorFlow that cannot be had", None if not found and inner.failed == 1 else "it passed")
    if not install(tally):
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for text, failures in (("print('2 passed, 0 failed')", 0), ("print('1 passed, 1 failed'); exit(1)", 1), ("", 1),
                               ("print('1 passed, 0 failed'); exit(1)", 1), ("print('SKIPPED: x'); exit(77)", 0)):
            (folder / "script.py").write_text(text)
            inner = report.Tally(quiet=True)
            with open(os.devnull, "w", encoding="utf-8") as nowhere:
                out, sys.stdout = sys.stdout, nowhere
                try:
                    script(["script.py"], inner, folder)
                finally:
                    sys.stdout = out
            tally.add(f"self-test: a script {text!r}", None if inner.failed == failures else f"{inner.failed} failures")
        self_test_of_leaks(folder, tally)


# a leak of ours, and one of an object of TensorFlow that we do not give back: no suppression may hide them
LEAKS = {"nothing": "", "memory of ours": "int* p = new int(TF_Version()[0]); asm volatile(\"\" : : \"r\"(p));",
         "an object of TensorFlow": "TF_NewStatus();", "a graph": "TF_NewGraph();"}


def self_test_of_leaks(folder, tally):
    source = folder / "leaks.cpp"
    cases = "".join(f"  if (argv[1][0] == '{number}') {{ {text} }}\n" for number, text in enumerate(LEAKS.values()))
    source.write_text("#include <tensorflow/c/c_api.h>\n[[gnu::noinline]] void leak(char** argv) {\n" + cases +
                      "}\nint main(int, char** argv) { leak(argv); return 0; }\n")
    tensorflow = common.tensorflow()
    built = report.run(["g++", "-std=c++20", "-g1", "-fsanitize=address", "-fuse-ld=gold", *tensorflow.compile_args, source, "-o",
                        folder / "leaks", *tensorflow.link_args])
    if built.returncode != 0:
        tally.add("self-test: a program with leaks", built.stdout)
        return
    for number, name in enumerate(LEAKS):
        ran = report.run([folder / "leaks", number], env=common.environment())
        seen = ran.returncode != 0 and "detected memory leaks" in ran.stdout
        right = seen if number else ran.returncode == 0
        tally.add(f"self-test: a leak of {name}", None if right else ran.stdout or "it was not seen")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--configuration", action="append", choices=list(common.CONFIGURATIONS))
    parser.add_argument("scripts", nargs="*")
    given = parser.parse_args()
    tally = report.Tally()
    if given.self_test:
        self_test(tally)
    else:
        everything(tally, given.configuration or list(common.CONFIGURATIONS), given.scripts)
    tally.close()


main()
