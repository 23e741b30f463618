# SPDX-License-Identifier: BSL-1.0
"""Build folders: configured once, then kept up to date."""

import collections
import json
import os
import pathlib
import shutil

import report

CORES = os.cpu_count() or 1


def configure(folder, options, compiler=None):
    """None, or what meson said as it failed. A folder that cannot be brought up to date is made anew."""
    env = dict(os.environ, CXX=compiler) if compiler else dict(os.environ)
    setup = ["meson", "setup", folder, report.ROOT, "--wrap-mode=nodownload", *options]
    if (folder / "build.ninja").exists():
        if report.run([*setup, "--reconfigure"], env=env).returncode == 0:
            return None
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    result = report.run(setup, env=env)
    return None if result.returncode == 0 else result.stdout


def compile_all(folder, *targets, beside=False):
    """Builds all it can; None, or what the compilers said.
    @param beside: something else is done meanwhile, which has the cores first"""
    result = report.run([*(["nice", "-n", "19"] if beside else []), "ninja", "-C", folder, "-j", CORES, "-k", "0", *targets])
    return None if result.returncode == 0 else result.stdout


def executable(folder, name):
    """The path of an executable; None if the build has none of that name."""
    said = report.run(["meson", "introspect", "--targets", folder])
    for target in json.loads(said.stdout) if said.returncode == 0 else []:
        if target["name"] == name and target["type"] == "executable":
            return target["filename"][0]
    return None


def listed_tests(folder, without_suite):
    """The names of the tests of a folder, each with whether its program is there."""
    said = report.run(["meson", "introspect", "--tests", folder])
    return [(test["name"], pathlib.Path(test["cmd"][0]).exists())
            for test in (json.loads(said.stdout) if said.returncode == 0 else [])
            if not any(suite.endswith(without_suite) for suite in test["suite"])]


def not_run(listed, entries):
    """The listed tests without an entry in meson's log, where a test may have its suite before its name."""
    return list((collections.Counter(listed) - collections.Counter(
        entry["name"].rpartition(" / ")[2] for entry in entries)).elements())


def run_tests(folder, without_suite):
    """Runs the tests of a folder as far as they are built. @return for each its name, result and output, and as one
    more the tests that were not run: a configuration without tests has not passed."""
    log = folder / "meson-logs/testlog.json"
    log.unlink(missing_ok=True)
    tests = listed_tests(folder, without_suite)
    # meson gives up where a program is missing
    names = [name for name, built in tests if built]
    if not names:
        return [("tests", "ERROR", f"no test of this configuration was built; it lists {len(tests)}")]
    sanitized = dict(os.environ)
    # without this the undefined-behaviour sanitizer prints, and the test passes
    sanitized.setdefault("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")
    sanitized.setdefault("ASAN_OPTIONS", "detect_stack_use_after_return=1:strict_string_checks=1")
    result = report.run(["meson", "test", "-C", folder, "--no-rebuild", "--timeout-multiplier", "10", *names], env=sanitized)
    entries = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    if not entries:
        return [("meson test", "ERROR", result.stdout)]
    results = [(entry["name"], entry["result"], entry.get("stdout", "") + entry.get("stderr", "")) for entry in entries]
    missed = not_run([name for name, _ in tests], entries)
    if missed:
        results.append(("tests", "ERROR", f"not run, of {len(tests)} listed: {', '.join(missed)}"))
    return results
