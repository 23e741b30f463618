#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Kills a training (SIGKILL) at random moments, again and again, and lets it go on each time: what it ends with is equal
to the bit to that of a training that nobody killed. After each kill the latest checkpoint can be loaded, and is not
older than the one before.

usage: run.py [--self-test | --with-self-test] [--kills N] [--seed N]     with: both, by one program

Files are on a file system in memory where there is one: a kill loses nothing that was handed to the system, so the disk
would only make it slow.
"""

import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import report  # noqa: E402

STEPS = 1500
LIMIT = 300  # seconds for a training that nobody kills; it takes some
MEMORY = pathlib.Path("/dev/shm")


def build(folder):
    program = folder / "train"
    result = report.run(["g++", "-std=c++20", "-O1", "-ffp-contract=off", f"-I{report.INCLUDE}", HERE / "train.cpp", "-o",
                         program, "-pthread", "-lfmt"])
    if result.returncode != 0:
        sys.exit(f"tests/crash/train.cpp does not compile\n{report.indent(result.stdout)}")
    return program


def latest(program, run):
    """The step of the latest checkpoint, -1 if there is none; a text if it cannot be loaded."""
    said = report.run([program, run, "check"])
    words = said.stdout.strip()
    if said.returncode != 0:
        return words
    return -1 if words == "none" else int(words)


def outputs(run):
    return {name: (run / name).read_bytes() for name in ("final.bin", "loss.jsonl")}


def train_to_the_end(program, run):
    run.mkdir()
    done = report.run([program, run, STEPS], timeout=LIMIT)
    return done.stdout if done.returncode != 0 else None


def play(program, folder, kills, seed, tally):
    chance = random.Random(seed)
    start = time.monotonic()
    problem = train_to_the_end(program, folder / "whole")
    if problem:
        return tally.add("a training that nobody kills", problem)
    whole = time.monotonic() - start
    expected = outputs(folder / "whole")
    killed = trainings = 0
    while killed < kills:
        trainings += 1
        run = folder / f"killed-{trainings}"
        run.mkdir()
        before, stretch = -1, 1.0
        while True:
            process = subprocess.Popen([program, run, str(STEPS)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            try:
                # most within the first third, so that a training is killed several times
                moment = chance.uniform(0, whole) * chance.choice((0.3, 0.3, 1)) * stretch
                said = process.communicate(timeout=moment if killed < kills else LIMIT)[1]
                if process.returncode != 0:
                    return tally.add(f"training {trainings} goes on", said.decode(errors="replace"))
                break
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                if killed >= kills:
                    return tally.add(f"training {trainings} ends", f"not within {LIMIT} s")
                killed += 1
            now = latest(program, run)
            if not isinstance(now, int) or now < before:
                return tally.add(f"after kill {killed} the latest checkpoint is there",
                                 f"{now}, before it was that of step {before}")
            # the machine may have become slower since: who gets nowhere is given more time, or there would be no end
            stretch = stretch * 1.2 if now == before else 1.0
            before = now
        got = outputs(run)
        for name, content in expected.items():
            tally.add(f"training {trainings}: {name} after its kills",
                      None if got[name] == content else f"{name} is another one than that of a training that nobody killed")
        shutil.rmtree(run)
    tally.add(f"{killed} kills", None if killed >= kills else "too few")
    print(f"{killed} kills of {trainings} trainings, which take {whole:.2f} s if nobody kills them")
    return tally


def self_test(program, folder, tally):
    """A training whose files are tampered with is found out."""
    (folder / "self").mkdir()
    problem = train_to_the_end(program, folder / "self/a")
    tally.add("self-test: a training", problem)
    run = folder / "self/a"
    for file in sorted((run / "checkpoints").glob("*.safetensors")):
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
    found = latest(program, run)
    tally.add("self-test: damaged files are found", None if isinstance(found, str) and "damaged" in found else str(found))
    (run / "loss.jsonl").write_text("")
    again = report.run([program, run, STEPS + 100])
    tally.add("self-test: nothing that can be loaded is an error", None if again.returncode != 0 else "it went on")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--with-self-test", action="store_true")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    given = parser.parse_args()
    tally = report.Tally()
    where = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where) as name:
        folder = pathlib.Path(name)
        program = build(folder)
        if given.self_test or given.with_self_test:
            self_test(program, folder, tally)
        if not given.self_test:
            print(f"seed {given.seed}")
            play(program, folder, given.kills, given.seed, tally)
    tally.close()


main()
