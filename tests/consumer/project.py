# SPDX-License-Identifier: BSL-1.0
"""A consumer's project: a copy of a folder here, with tautline as a subproject, configured, built and tested."""

import os
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import report  # noqa: E402

# what a release has, as far as a consumer's build looks at it
PARTS = ["meson.build", "meson_options.txt", "VERSION", "LICENSE", "include", "subprojects"]
UNPACKED = shutil.ignore_patterns("*-[0-9]*", "packagecache")
# no library can be found by a tool, as on a machine that has only a compiler
NO_TOOLS = "[binaries]\npkgconfig = 'no-such-tool'\npkg-config = 'no-such-tool'\ncmake = 'no-such-tool'\n"


class Failed(Exception):
    """A command failed; the text is what it said."""


def must_run(command, **more):
    result = report.run(command, **more)
    if result.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}\n{result.stdout}")
    return result.stdout


def copy_tautline(to):
    to.mkdir(parents=True)
    for part in PARTS:
        source = report.ROOT / part
        if source.is_dir():
            shutil.copytree(source, to / part, ignore=UNPACKED)
        else:
            shutil.copy(source, to / part)


class Project:
    def __init__(self, name, folder, compiler):
        self.source = folder / f"{name}-{compiler}"
        self.build = self.source / "build"
        self.compiler = compiler
        shutil.copytree(HERE / name, self.source)
        copy_tautline(self.source / "subprojects/tautline")

    def run(self, *options, hide_tools=False):
        """@return what meson setup said"""
        words = ["meson", "setup", self.build, self.source, "--wrap-mode=nodownload", *options]
        if hide_tools:
            (self.source / "no_tools.ini").write_text(NO_TOOLS)
            words.append(f"--native-file={self.source / 'no_tools.ini'}")
        said = must_run(words, env=dict(os.environ, CXX=self.compiler))
        must_run(["meson", "test", "-C", self.build, "--print-errorlogs"])
        return said

    def included(self):
        """All files that the compiled files included."""
        said = must_run(["ninja", "-C", self.build, "-t", "deps"])
        return re.findall(r"^    (\S+)$", said, re.MULTILINE)
