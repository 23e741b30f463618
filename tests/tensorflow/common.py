# SPDX-License-Identifier: BSL-1.0
"""What the scripts with TensorFlow share: the package, the build folders, and their programs."""

import functools
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import builds  # noqa: E402
import everything  # noqa: E402
import packages  # noqa: E402
import report  # noqa: E402

# all programs with the sanitizer that sees leaks (the other one would take half as long again), and some as others compile them
CONFIGURATIONS = {
    "tensorflow": ("g++", everything.sanitize(checks="address")),
    "tensorflow-clang": ("clang++-19", everything.RELEASE),
}
FILES = report.ROOT / "build/test/tensorflow-files"

tensorflow = functools.cache(packages.tensorflow)


def folder(configuration):
    return report.ROOT / "build/test" / configuration


def environment():
    """That of a program or a script: TensorFlow says nothing but errors, and what it keeps itself is no leak."""
    return {"UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1", **os.environ, "TF_CPP_MIN_LOG_LEVEL": "2",
            "LSAN_OPTIONS": f"print_suppressions=0:suppressions={HERE / 'lsan.supp'}", "TAUTLINE_TENSORFLOW_FILES": str(FILES)}


def configure(configuration, *more):
    """None, or what meson said as it failed."""
    compiler, options = CONFIGURATIONS[configuration]
    return builds.configure(folder(configuration), [
        "--werror", "-Dtests=enabled", "-Dtests_of=tensorflow", "-Dexamples=disabled", "-Dbenchmarks=disabled",
        "-Dtensorflow=enabled", f"-Dtensorflow_folder={tensorflow().folder}", *options, *more], compiler)


def program(name, configuration="tensorflow"):
    """The path of a program of meson.build, built now if it is not yet. Ends the script if it cannot be built."""
    if (folder(configuration) / "build.ninja").exists():  # a program may have been added since
        problem = builds.compile_all(folder(configuration), "build.ninja")
    else:
        problem = configure(configuration)
    path = None if problem else builds.executable(folder(configuration), name)
    if not problem and not path:
        problem = f"tests/tensorflow/meson.build lists no program {name}"
    problem = problem or builds.compile_all(folder(configuration), os.path.relpath(path, folder(configuration)))
    if problem:
        sys.exit(f"{problem}\n{name} could not be built")
    return pathlib.Path(path)
