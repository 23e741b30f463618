# SPDX-License-Identifier: BSL-1.0
"""What every test script needs: where the root is, which compilers there are, and one way to count and to close."""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"
SKIPPED = 77  # what Meson and ./dev understand as "could not be run here"
# a header's path, a file's name or an include that needs TensorFlow, which only the tests in tests/tensorflow have
NEEDS_TENSORFLOW = re.compile(r"(?:^|/|_)tensorflow(?:[/_.]|$)")
CLOSING = re.compile(r"^(\d+) passed, (\d+) failed$")
LEFT_OUT = re.compile(r"^(\d+) skipped: (.*)$")  # the line before it, if something was
COMPILERS = ("g++", "clang++-19")


def compilers():
    """The compilers that a change must pass on. Ends the script if one is missing: half of a test is not a test."""
    missing = missing_compilers()
    if missing:
        sys.exit(f"{' and '.join(missing)} not installed: a change must pass on {' and '.join(COMPILERS)}")
    return list(COMPILERS)


def missing_compilers():
    return [name for name in COMPILERS if not shutil.which(name)]


def run(command, **more):
    """Runs to the end and gives the result, with both streams in stdout."""
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stderr", subprocess.STDOUT)
    more.setdefault("errors", "replace")
    # messages are compared, so they are those of no particular country
    more["env"] = dict(more.get("env") or os.environ, LC_ALL="C")
    return subprocess.run([str(word) for word in command], text=True, check=False, **more)


def includes_tensorflow(text):
    """Whether a source includes a header of the library that needs TensorFlow."""
    return any(NEEDS_TENSORFLOW.search(path) for path in re.findall(r"^\s*#\s*include\s*<(tautline/[^>]+)>", text, re.MULTILINE))


def in_parallel(function, items):
    """Results in the order of the items. The work is that of child processes, so threads do."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(function, items))


def indent(text, by="    ", most=40, width=300):
    """The first lines of a text, indented: a template's error alone may have thousands."""
    lines = text.rstrip().splitlines()
    shown = [line if len(line) <= width else line[:width] + " ..." for line in lines[:most]]
    if len(lines) > most:
        shown.append(f"... and {len(lines) - most} more lines")
    return "".join(by + line + "\n" for line in shown)


class Tally:
    """Counts results, prints what failed, closes with `N passed, N failed` alone on the last line."""

    def __init__(self, quiet=False):
        self.passed = self.failed = self.skipped = 0
        self.left_out = []
        self.quiet = quiet

    def add(self, name, problem=None):
        """A result: passed without a problem."""
        if problem is None:
            self.passed += 1
            return
        self.failed += 1
        if not self.quiet:
            print(f"FAILED {name}\n{indent(problem)}", end="", flush=True)

    def skip(self, name, reason):
        self.skipped += 1
        self.left_out.append(name)
        print(f"SKIPPED {name}: {reason}", flush=True)

    def add_closing(self, output):
        """Adds the counts of a script's closing lines; False if it has none."""
        lines = output.rstrip().splitlines()
        match = CLOSING.match(lines[-1]) if lines else None
        if match is None:
            return False
        self.passed += int(match[1])
        self.failed += int(match[2])
        skips = LEFT_OUT.match(lines[-2]) if len(lines) > 1 else None
        if skips:
            self.skipped += int(skips[1])
            self.left_out.append(skips[2])
        return True

    def closing(self):
        return f"{self.passed} passed, {self.failed} failed"

    def good(self):
        """Nothing failed, and something ran."""
        return self.failed == 0 and self.passed > 0

    def close(self):
        if self.skipped:
            print(f"{self.skipped} skipped: {', '.join(self.left_out)}", flush=True)
        print(self.closing(), flush=True)
        sys.exit(0 if self.good() else 1)
