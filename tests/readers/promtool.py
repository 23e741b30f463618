#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Prometheus's own tool reads and lints our metrics, and the values are read back from the text: `promtool check metrics`
must have nothing to say.

usage: promtool.py [--self-test]
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import files  # noqa: E402
import packages  # noqa: E402
import report  # noqa: E402

SAMPLE = re.compile(r'(?P<name>[a-zA-Z_]\w*)(?:\{(?P<labels>(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\n"])*",?)*)\})? (?P<value>\S+)')
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\n"])*)"')


def said(text):
    """None, or what promtool objects to."""
    ran = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    words = ran.stdout + ran.stderr
    return f"promtool ended with {ran.returncode}\n{words}" if ran.returncode != 0 or words.strip() else None


def unescaped(text):
    return re.sub(r"\\(.)", lambda it: "\n" if it[1] == "n" else it[1], text)


def values(text):
    """(name, le) -> value, the help texts, and the other labels that all samples have."""
    found, helps, labels = {}, {}, set()
    for line in text.split("\n"):
        if line.startswith("# HELP "):
            name, _, words = line[7:].partition(" ")
            helps[name] = unescaped(words)
        elif line and not line.startswith("#"):
            match = SAMPLE.fullmatch(line)
            if not match:
                raise ValueError(f"no sample: {line}")
            own = {name: unescaped(value) for name, value in LABEL.findall(match["labels"] or "")}
            key = (match["name"], own.pop("le", None))
            if key in found:
                raise ValueError(f"twice: {line}")
            found[key] = float(match["value"])
            labels.add(tuple(own.items()))
    return found, helps, labels


# what write_files.cpp observes: 0.0005, 0.001, 0.02, 0.5, 2e6
BUCKETS = {"0.001": 2, "0.01": 2, "0.1": 3, "1": 4, "1e+06": 4, "+Inf": 5}
WANTED = {("demo_loss", None): 1 / 3, ("demo_steps_total", None): 1234567, ("demo_step_seconds_count", None): 5,
          ("demo_step_seconds_sum", None): 0.0005 + 0.001 + 0.02 + 0.5 + 2e6,
          **{("demo_step_seconds_bucket", bound): count for bound, count in BUCKETS.items()}}


def judge(text):
    """None, or what is not as it was written."""
    try:
        found, helps, labels = values(text)
    except ValueError as error:
        return str(error)
    nan = found.pop(("demo_not_a_number", None), 0)
    if nan == nan:
        return f"demo_not_a_number is {nan}"
    if found != WANTED:
        return f"found {found}, expected {WANTED}"
    if labels != {(("run", files.ODD), ("rank", "0"))}:
        return f"labels: {labels}"
    if helps.get("demo_loss") != 'Loss of the "last" step,\nmean over the batch \\ example.':
        return f"help: {helps}"
    return None


# of training.cpp: 8 steps, one failure, 5 more until the checkpoint from which it was resumed, and 10
TRAINED = {"tautline_steps_total": 23, "tautline_failures_total": 1, "tautline_step": 20, "tautline_running": 0, "tautline_loss": 1 / 20}


def judge_training(text):
    """None, or what is not as the training was."""
    try:
        found, _, labels = values(text)
    except ValueError as error:
        return str(error)
    wanted = {(name, None): value for name, value in TRAINED.items()}
    return None if found == wanted and labels == {(("run", "a"),)} else f"found {found} with {labels}, expected {wanted}"


def play_training(tally):
    with tempfile.TemporaryDirectory() as folder:
        problem = files.write("g++", folder, "training")
        tally.add("a training writes", problem)
        if not problem:
            text = (pathlib.Path(folder) / "train.prom").read_text()
            tally.add("promtool on metrics of a training", said(text))
            tally.add("values in metrics of a training", judge_training(text))


def play(tally):
    play_training(tally)
    for compiler in report.compilers():
        with tempfile.TemporaryDirectory() as folder:
            problem = files.write(compiler, folder)
            if problem:
                tally.add(f"metrics of {compiler}", problem)
                continue
            text = (pathlib.Path(folder) / "demo.prom").read_text()
            tally.add(f"promtool on metrics of {compiler}", said(text))
            tally.add(f"values in metrics of {compiler}", judge(text))
            left = sorted(file.name for file in pathlib.Path(folder).glob("demo*"))
            tally.add(f"no other file of {compiler}", None if left == ["demo.prom"] else str(left))
    return tally


GOOD = '# HELP a_length A.\n# TYPE a_length gauge\na_length{c="d\\"\\n"} NaN\n'
# a text, and whether promtool must have nothing to say
SELF_TEST = {
    "good": (GOOD, True),
    "no help": ("# TYPE a_length gauge\na_length 1\n", False),
    "a counter without _total": (GOOD.replace("gauge", "counter"), False),
    "a quote that is not escaped": (GOOD.replace('\\"', '"'), False),
    "a wrong number": (GOOD.replace("NaN", "none"), False),
    "no line end": (GOOD[:-1], False),
    "a wrong name": (GOOD.replace("a_length", "a-length"), False),
}


def self_test(tally):
    for name, (text, must_pass) in SELF_TEST.items():
        problem = said(text)
        tally.add(f"self-test {name}", None if must_pass == (problem is None) else f"the wrong verdict: {problem}")
    found, _, labels = values(GOOD)
    tally.add("self-test values", None if list(found) == [("a_length", None)] and labels == {(("c", 'd"\n'),)} else f"{found} {labels}")
    good = "".join(f'{name}{{run="a"}} {value}\n' for name, value in TRAINED.items())
    tally.add("self-test training", judge_training(good))
    tally.add("self-test another training", None if judge_training(good.replace("} 23", "} 20")) else "it takes anything")
    tally.add("self-test judge", None if judge(GOOD) else "it takes anything")
    return tally


def main(arguments):
    packages.need("prometheus")
    if not shutil.which("promtool"):
        sys.exit("promtool is not here, and could not be installed")
    tally = report.Tally()
    (self_test if "--self-test" in arguments else play)(tally)
    tally.close()


main(sys.argv[1:])
