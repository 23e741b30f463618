#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs the demo as a user would: test_demo.py PROGRAM DATA

Each test_… function is one test; the closing line counts them.
"""

import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import time
import traceback

PROGRAM, DATA = sys.argv[1:3]
SECONDS = re.compile(r"[\d.]+ s\b|[\d.]+ steps/s|steps/sec: [\d.]+")


def run(*options, data=DATA):
    where = ["--data", str(data)] if data is not None else []
    ran = subprocess.run([PROGRAM, *where, *options], capture_output=True, timeout=100)
    ran.stdout, ran.stderr = ran.stdout.decode(), ran.stderr.decode()  # text=True would turn \r into \n
    return ran


def numbers_only(output):
    """The output without what depends on the clock."""
    return SECONDS.sub("…", output)


def accuracy(output):
    found = re.search(r"^held-out accuracy: (0\.\d{3})$", output, re.MULTILINE)
    assert found, output
    return float(found[1])


def refused(ran, *words):
    """One line on stderr with these words, exit code 2, nothing on stdout."""
    assert ran.returncode == 2, (ran.returncode, ran.stderr)
    assert ran.stdout == "", ran.stdout
    assert ran.stderr.count("\n") == 1 and ran.stderr.startswith("digits_demo: "), ran.stderr
    for word in words:
        assert word in ran.stderr, f"{word!r} is not in {ran.stderr!r}"


def rows():
    return pathlib.Path(DATA).read_text().splitlines()


def refuse_data(lines, *words, options=()):
    with tempfile.TemporaryDirectory() as folder:
        bad = pathlib.Path(folder, "bad.csv")
        bad.write_text("\n".join(lines) + "\n" if lines else "")
        out = pathlib.Path(folder, "out")
        refused(run("--out", str(out), *options, data=bad), "bad.csv", *words)
        assert not out.exists(), "something was written"


def with_field(line, column, text):
    """The rows, with one field replaced; line and column count from 1."""
    changed = rows()
    fields = changed[line - 1].split(",")
    fields[column - 1] = text
    changed[line - 1] = ",".join(fields)
    return changed


def test_it_learns():
    ran = run()
    assert ran.returncode == 0, ran.stderr
    assert accuracy(ran.stdout) >= 0.95, ran.stdout
    assert ran.stdout.splitlines()[-1].startswith("held-out accuracy: "), ran.stdout
    assert re.search(r"end_of_input.*\n1800 steps", ran.stdout), ran.stdout
    for step in 600, 1200, 1800:
        assert ran.stderr.count(f"Step {step} evaluation:") == 1, ran.stderr


def test_the_same_seed_gives_the_same_output():
    first, second, other = run("--epochs", "4"), run("--epochs", "4"), run("--epochs", "4", "--seed", "2")
    assert first.returncode == 0, first.stderr
    assert numbers_only(first.stdout) == numbers_only(second.stdout)
    assert numbers_only(first.stderr) == numbers_only(second.stderr)
    assert numbers_only(first.stdout) != numbers_only(other.stdout)
    assert numbers_only(first.stderr) != numbers_only(other.stderr)


def test_steps_stop_it():
    ran = run("--steps", "70")
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"stop_at_step.*step 70", ran.stdout), ran.stdout
    accuracy(ran.stdout)


def test_steps_beyond_the_default_epochs():
    ran = run("--steps", "2000")
    assert re.search(r"stop_at_step.*step 2000", ran.stdout), ran.stdout


def test_epochs_and_steps_together():
    assert "end_of_input" in run("--steps", "100", "--epochs", "1").stdout
    assert "stop_at_step" in run("--steps", "40", "--epochs", "1").stdout


def json_lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_out_writes_files_and_lists_them():
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "new", "run")
        ran = run("--steps", "100", "--out", str(out))
        assert ran.returncode == 0, ran.stderr
        written = sorted(str(path) for path in out.rglob("*") if path.is_file() and path.name != ".lock")
        listed = ran.stdout.split("files written:\n")[1].split("\n")
        assert sorted(line.strip() for line in listed if line.strip()) == written, (listed, written)
        names = {pathlib.Path(path).name for path in written}
        assert {"latest", "step-000000000100.safetensors", "step-000000000100.json", "metrics.jsonl", "evaluation.jsonl",
                "trace.json", "digits.prom"} <= names, names
        assert any(name.startswith("events.out.tfevents.") for name in names), names
        rows_written = json_lines(out / "metrics.jsonl")
        assert [row["step"] for row in rows_written] == list(range(10, 101, 10)), rows_written
        assert 0 < rows_written[-1]["loss"] < 2.3, rows_written[-1]
        assert {event["name"] for event in json.loads((out / "trace.json").read_text())} >= {"step", "run", "stop_at_step"}
        assert "tautline_steps_total 100\n" in (out / "digits.prom").read_text()
        assert (out / "checkpoints/latest").read_text().strip(), "latest is empty"


def test_resume_goes_on_as_if_nothing_had_happened():
    with tempfile.TemporaryDirectory() as folder:
        whole, parts = pathlib.Path(folder, "whole"), pathlib.Path(folder, "parts")
        straight = run("--steps", "900", "--out", str(whole))
        run("--steps", "470", "--out", str(parts))
        ran = run("--steps", "900", "--out", str(parts), "--resume")
        assert ran.returncode == 0, ran.stderr
        assert "resumed at step 470\n" in ran.stdout and "430 steps in" in ran.stdout, ran.stdout
        assert accuracy(ran.stdout) == accuracy(straight.stdout)
        assert (parts / "metrics.jsonl").read_bytes() == (whole / "metrics.jsonl").read_bytes()
        assert len(list((parts / "events").iterdir())) == 2


def test_a_signal_saves():
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "run")
        with subprocess.Popen([PROGRAM, "--data", DATA, "--epochs", "100000", "--out", str(out)], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as ran:
            while not (out / "checkpoints/latest").exists() and ran.poll() is None:
                time.sleep(0.05)
            ran.terminate()
            said = ran.communicate()[0]
        assert ran.returncode == 0, said
        step = int(re.search(r"stopped by stop_on_signal at step (\d+): .*SIGTERM", said)[1])
        assert (out / f"checkpoints/step-{step:012}.json").exists(), said
        again = run("--steps", str(step + 10), "--out", str(out), "--resume")
        assert f"resumed at step {step}\n" in again.stdout, again.stdout + again.stderr


def test_a_folder_that_is_not_as_it_should_be():
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "run")
        refused(run("--resume", "--out", str(out)), str(out), "no training")
        run("--steps", "20", "--out", str(out))
        refused(run("--steps", "40", "--out", str(out)), str(out), "--resume")


def test_out_that_cannot_be_made():
    with tempfile.TemporaryDirectory() as folder:
        taken = pathlib.Path(folder, "file")
        taken.write_text("")
        refused(run("--out", str(taken / "below")), str(taken))
        refused(run("--out", str(taken)), str(taken))


def test_an_unknown_option():
    refused(run("--bogus"), "--bogus")
    refused(run("--resume"), "--resume")
    refused(run("extra"), "extra")


def test_values_of_options():
    for option in "--steps", "--epochs":
        for value in "0", "-1", "x", "1.5", "", "99999999999999999999":
            refused(run(option, value), option)
    for value in "0", "-0.1", "nan", "inf", "fast":
        refused(run("--rate", value), "--rate")
    refused(run("--seed", "-1"), "--seed")
    refused(run("--seed", "1\n2"), "--seed")
    refused(run("--steps"), "--steps")


def test_help():
    ran = run("--help", data=None)
    assert ran.returncode == 0 and "--epochs" in ran.stdout and not ran.stderr


def test_a_file_that_is_missing():
    refused(run(data="no/such.csv"), "no/such.csv", "no such file")
    refused(run(data="/"), "directory")


def test_a_bad_number():
    refuse_data(with_field(3, 7, "ink"), "line 3, column 7", "'ink'")
    refuse_data(with_field(1797, 64, "17"), "line 1797, column 64", "'17'")
    refuse_data(with_field(2, 1, "-1"), "line 2, column 1", "'-1'")
    refuse_data(with_field(2, 1, ""), "line 2, column 1", "''")
    refuse_data(with_field(2, 1, "1.5"), "line 2, column 1", "'1.5'")
    refuse_data(with_field(2, 1, "\x1b[2J" + 30 * "5"), "line 2, column 1", "'?[2J")


def test_a_digit_out_of_range():
    refuse_data(with_field(5, 65, "10"), "line 5, column 65", "digit", "'10'")


def test_rows_of_a_wrong_length():
    short, long = rows(), rows()
    short[9] = short[9].rsplit(",", 1)[0]
    long[9] += ",1"
    refuse_data(short, "line 10, column 65")
    refuse_data(long, "line 10, column 66")
    refuse_data(rows()[:4], "4 rows")
    refuse_data([], "0 rows")


def test_a_loss_that_is_not_a_number():
    ran = run("--rate", "1e30")
    assert ran.returncode == 1, ran.returncode
    assert ran.stderr.count("\n") == 1 and ran.stderr.startswith("digits_demo: "), ran.stderr
    for word in "loss is nan", "hook nan_checker", "step 5":
        assert word in ran.stderr, ran.stderr
    assert "held-out accuracy" not in ran.stdout, ran.stdout


def test_a_progress_bar_on_a_terminal_only():
    piped = run("--steps", "2000")
    assert "\r" not in piped.stdout + piped.stderr and "%" not in piped.stderr, piped.stderr
    parent, child = pty.openpty()
    shown = b""
    with subprocess.Popen([PROGRAM, "--data", DATA, "--epochs", "200"], stdin=child, stdout=child, stderr=child) as ran:
        os.close(child)
        while True:
            try:
                read = os.read(parent, 4096)
            except OSError:  # the other end is closed
                break
            if not read:
                break
            shown += read
    os.close(parent)
    assert ran.returncode == 0
    bare = re.sub(rb"\r\n", b"\n", shown)
    assert b"\r" in bare and b"%" in bare, bare[-2000:]
    assert b"held-out accuracy: 0.9" in bare


def main():
    passed = failed = 0
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            try:
                test()
                passed += 1
            except Exception:  # the next test runs all the same
                failed += 1
                print(f"{name} failed")
                traceback.print_exc(file=sys.stdout)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
