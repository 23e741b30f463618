#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""`./dev bench` runs each benchmark that there is, and leaves out what its options say.

usage: run.py [--self-test]
"""

import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# before the folder of this script, whose run.py is another
sys.path[:0] = [str(HERE.parent.parent / "tools"), str(HERE.parent.parent / "benchmarks")]
import report  # noqa: E402
import run as bench  # noqa: E402

LARGE = {"saving.py", "checkpoint_store.py", "python_peers.py", "tensorflow_step.py", "embedded_sizes.py"}
# words behind ./dev bench, and what is left out then
CHOICES = {
    "": set(),
    "--without tensorflow": {"tensorflow_step.py"},
    "--without tensorflow --without ignite": {"tensorflow_step.py", "python_peers.py"},
    "--without embedded": {"embedded_sizes.py"},
    "--quick": LARGE,
    "--quick --with ignite": LARGE - {"python_peers.py"},
    "--quick --with tensorflow --with disk": {"embedded_sizes.py"},
    "--sizes": {each.script for each in bench.BENCHMARKS} - {"embedded_sizes.py"},
}


def problem_of_list(listed, folder):
    there = {file.name for file in folder.glob("*.py") if "figures.parser(" in file.read_text()}
    told = [f"{name}: not listed" for name in sorted(there - listed)]
    told += [f"{name}: not there" for name in sorted(listed - there)]
    return "\n".join(told) or None


def play(tally):
    for words, wanted in CHOICES.items():
        chosen = bench.options(words.split())
        left_out = {each.script for each in bench.BENCHMARKS if bench.why_left_out(each, chosen)}
        told = f"leaves out {', '.join(sorted(left_out)) or 'nothing'}" if left_out != wanted else None
        tally.add(f"./dev bench {words}", told)
    peers = next(each for each in bench.BENCHMARKS if each.script == "python_peers.py")
    words = bench.arguments_of(peers, bench.options(["--without", "tensorflow"]), "kept")
    tally.add("half of a benchmark", None if words == ["--json", "kept", "--without", "tensorflow"] else str(words))
    listed = {each.script for each in bench.BENCHMARKS}
    tally.add("benchmarks that ./dev bench runs", problem_of_list(listed, bench.HERE))


def self_test(tally):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "a.py").write_text("wanted = figures.parser(__doc__)\n")
        (pathlib.Path(folder) / "b.py").write_text("no benchmark\n")
        for listed, wanted in (({"a.py"}, None), (set(), "a.py: not listed"), ({"a.py", "b.py"}, "b.py: not there")):
            told = problem_of_list(listed, pathlib.Path(folder))
            tally.add(f"self-test list of {len(listed)}", None if told == wanted else f"{told} instead of {wanted}")


def main(arguments):
    tally = report.Tally()
    (self_test if "--self-test" in arguments else play)(tally)
    tally.close()


main(sys.argv[1:])
