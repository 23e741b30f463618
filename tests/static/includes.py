#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Which header may include which.

1. Layers: an include goes downwards only, core < sessions < io < hooks < training < testing. `adapt/` stands beside: it includes
   the core and the library that it adapts; the core does not include it. fmt is for adapters and from io upwards,
   range-v3 for adapters. What includes TensorFlow, itself or through others, has `tensorflow` in its path and is neither
   core nor adapter: by that it is left out where TensorFlow is not.
2. The core's ban: none of its headers, and of those ABOVE that a microcontroller uses, too, includes, directly or through
   others, any of BANNED. The chain is printed.

usage: includes.py [--self-test] [INCLUDE_FOLDER]
"""

import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import report  # noqa: E402

LAYERS = {"core": 0, "sessions": 1, "io": 2, "hooks": 3, "training": 4, "testing": 5}
UMBRELLAS = {"tautline": "hooks", "version": "core", "fwd": "core"}  # others are named like their layer

BANNED = """functional string tuple iostream memory vector map chrono thread mutex ranges iterator atomic stdexcept random
    ostream istream sstream algorithm list deque unordered_map set future condition_variable""".split()
ABOVE = ["sessions/static_graph.hpp", "sessions/step_function.hpp", "io/two_slot_checkpoints.hpp", "hooks/checkpoint_saver.hpp"]
# the library's own header of that name, not a part of it such as bits/ or experimental/
BANNED_PATH = re.compile(r"/c\+\+/(?:\d[\d.]*|v1)/(?:%s)$" % "|".join(BANNED))
BANNED_LIBRARY = re.compile(r"/(?:fmt|range/v3)/[^/]+(?:/[^/]+)*\.(?:h|hpp)$")


def layer_of(header):
    """The layer of a path below include/, None for a place that no rule knows."""
    parts = pathlib.PurePosixPath(header).parts
    if len(parts) > 2:
        return parts[1] if parts[1] in LAYERS or parts[1] == "adapt" else None
    stem = pathlib.PurePosixPath(header).stem
    layer = UMBRELLAS.get(stem, stem)
    return layer if layer in LAYERS else None


def allowed(layer, included, header):
    """None, or why a header of this layer must not have this include."""
    if report.NEEDS_TENSORFLOW.search(included) and (layer in ("core", "adapt") or not report.NEEDS_TENSORFLOW.search(header)):
        return "only headers with tensorflow in their paths may, and none of core and adapt"
    if included.startswith("tautline/"):
        target = layer_of(included)
        if target is None:
            return "stands in no layer"
        if layer == "adapt":
            return None if target in ("core", "adapt") else "an adapter includes only the core and what it adapts"
        if target == "adapt":
            return "the core includes no adapter" if layer == "core" else None
        return None if LAYERS[target] <= LAYERS[layer] else f"{layer} is below {target}"
    if included == "range/v3/all.hpp":
        return "costs seconds: include the single headers"
    if included.startswith("range/") and layer != "adapt":
        return "range-v3 is for adapt/ only"
    if included.startswith("fmt/") and layer in ("core", "sessions"):
        return "fmt is for adapt/ and from io upwards"
    return None


def check_layers(folder, tally):
    for file in sorted(folder.rglob("*.hpp")):
        header = file.relative_to(folder).as_posix()
        layer = layer_of(header)
        if layer is None:
            tally.add(f"layers of {header}", "it stands in no known layer")
            continue
        problems = []
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if not match:
                continue
            reason = ('write <tautline/...>, quotes look beside the file first' if match[1] == '"'
                      else allowed(layer, match[2], header))
            if reason:
                problems.append(f"{header}:{number}: {match[2]}: {reason}")
        tally.add(f"layers of {header}", "\n".join(problems) or None)


def find_banned(tree):
    """The chain of includes to the first banned header in the output of -H, outermost first; empty if none."""
    chain = []
    for line in tree.splitlines():
        match = re.match(r"(\.+) (.+)$", line)
        if match:
            chain[len(match[1]) - 1:] = [match[2]]
            if BANNED_PATH.search(match[2]) or BANNED_LIBRARY.search(match[2]):
                return chain
    return []


def check_ban(folder, tally):
    core = [folder / "tautline/core.hpp", *sorted((folder / "tautline/core").rglob("*.hpp")),
            *(folder / "tautline" / header for header in ABOVE)]
    cases = [(file, compiler, more) for file in core if file.exists() for compiler in report.compilers()
             for more in ([], ["-fno-exceptions", "-fno-rtti"])]

    def check(case):
        file, compiler, more = case
        name = " ".join(["ban in", file.relative_to(folder).as_posix(), "on", compiler, *more])
        result = report.run([compiler, "-x", "c++", "-std=c++20", "-E", "-H", "-o", "/dev/null", f"-I{folder}", *more,
                             file])
        if result.returncode != 0:
            return name, result.stdout
        chain = find_banned(result.stdout)
        return name, "\n".join(f"{'  ' * depth}{step}" for depth, step in enumerate(chain)) or None

    for name, problem in report.in_parallel(check, cases):
        tally.add(name, problem)


def play(folder, tally):
    check_layers(folder, tally)
    check_ban(folder, tally)
    return tally


# header, its text, and a word of the problem that must be found; None: it must pass
SELF_TEST = [
    ("tautline/core/x.hpp", "#include <cstddef>\n#include <type_traits>\n#include <coroutine>\n", None),
    ("tautline/core/x.hpp", "#include <functional>\n", "functional"),
    ("tautline/core/x.hpp", "#include <optional>\n#include <array>\n#include <numeric>\n#include <regex>\n", "c++/"),
    ("tautline/core/x.hpp", "#include <tautline/adapt/y.hpp>\n", "no adapter"),
    ("tautline/core/x.hpp", "#include <tautline/hooks/y.hpp>\n", "is below"),
    ("tautline/core/x.hpp", '#include "y.hpp"\n', "quotes"),
    ("tautline/core/x.hpp", "#include <range/v3/version.hpp>\n", "range"),
    ("tautline/hooks/x.hpp", "#include <fmt/format.h>\n#include <string>\n#include <tautline/io/y.hpp>\n", None),
    ("tautline/hooks/x.hpp", "#include <tautline/training/y.hpp>\n", "is below"),
    ("tautline/io/two_slot_checkpoints.hpp", "#include <string>\n", "string"),
    ("tautline/io/x.hpp", "#include <string>\n", None),
    ("tautline/hooks/x.hpp", "#include <range/v3/view/take.hpp>\n", "adapt/ only"),
    ("tautline/sessions/x.hpp", "#include <fmt/format.h>\n", "from io upwards"),
    ("tautline/adapt/x.hpp", "#include <range/v3/view/take.hpp>\n#include <tautline/core/y.hpp>\n", None),
    ("tautline/adapt/x.hpp", "#include <range/v3/all.hpp>\n", "seconds"),
    ("tautline/adapt/x.hpp", "#include <tautline/sessions/y.hpp>\n", "only the core"),
    ("tautline/sessions/tensorflow/x.hpp", "#include <tensorflow/c/c_api.h>\n", None),
    ("tautline/io/tensorflow_x.hpp", "#include <tautline/sessions/tensorflow.hpp>\n", None),
    ("tautline/sessions/x.hpp", "#include <tensorflow/c/c_api.h>\n", "tensorflow in their paths"),
    ("tautline/training/x.hpp", "#include <tautline/sessions/tensorflow.hpp>\n", "tensorflow in their paths"),
    ("tautline/adapt/tensorflow.hpp", "#include <tensorflow/c/c_api.h>\n", "tensorflow in their paths"),
    ("tautline/other/x.hpp", "\n", "no known layer"),
]


class Listener(report.Tally):
    def __init__(self):
        super().__init__(quiet=True)
        self.problems = ""

    def add(self, name, problem=None):
        super().add(name, problem)
        self.problems += problem or ""


def self_test(tally):
    for number, (header, text, word) in enumerate(SELF_TEST):
        with tempfile.TemporaryDirectory() as folder:
            for other in ("core", "adapt", "hooks", "io", "training", "sessions"):
                file = pathlib.Path(folder) / "tautline" / other / "y.hpp"
                file.parent.mkdir(parents=True)
                file.touch()
            file = pathlib.Path(folder) / header
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("#pragma once\n" + text)
            if "range/v3/version" in text:  # the ban must work without the library
                (pathlib.Path(folder) / "range/v3").mkdir(parents=True)
                (pathlib.Path(folder) / "range/v3/version.hpp").touch()
            inner = play(pathlib.Path(folder), Listener())
            right = inner.good() if word is None else inner.failed > 0 and word in inner.problems
            tally.add(f"self-test {number}: {header} with {text!r}", None if right else f"found: {inner.problems}")
    return tally


def main(arguments):
    tally = report.Tally()
    folders = [pathlib.Path(word).resolve() for word in arguments if not word.startswith("--")]
    if "--self-test" in arguments:
        self_test(tally)
    else:
        play(folders[0] if folders else report.INCLUDE, tally)
    tally.close()


main(sys.argv[1:])
