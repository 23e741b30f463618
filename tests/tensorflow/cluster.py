# SPDX-License-Identifier: BSL-1.0
"""A training in a real cluster on this machine: a parameter server and two workers, each a process of its own, which are
killed and started anew in turn while the training goes on. And what a worker says when somebody is not there.

usage: cluster.py [--seed N]... [--member PROGRAM] [--keep FOLDER]
"""

import argparse
import dataclasses
import json
import math
import pathlib
import random
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

import common
from common import report

STEPS = 1500  # global ones, and more until the last one has been killed
SAVE_STEPS = 100  # as in cluster_member.cpp
DEADLINE = 300  # seconds, for each process: it ends itself then
NET = 120  # seconds for what comes within some on a machine that is not busy
IN_TIME = 60  # seconds for an error that is due after 1.5: who waits for anything else takes longer
IN_A_ROW = 5  # recoveries


def free_addresses(count):
    """Of ports that are free now; all are held until the last one is found."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("localhost", 0))
    addresses = [f"localhost:{each.getsockname()[1]}" for each in sockets]
    for each in sockets:
        each.close()
    return addresses


@dataclasses.dataclass
class Member:
    """One place in the cluster, and the process that has it now."""
    kind: str
    index: int
    process: subprocess.Popen = None
    started: float = 0
    said: str = ""

    def __str__(self):
        return f"{self.kind} {self.index}"


class Cluster:
    def __init__(self, program, folder, steps=STEPS):
        self.program, self.folder, self.steps = program, folder, steps
        self.ps, *self.workers = free_addresses(3)
        self.members = {}

    def start(self, kind, index, **environment):
        one = self.members.setdefault((kind, index), Member(kind, index))
        words = [self.program, kind, str(index), self.ps, ",".join(self.workers), str(self.folder), str(self.steps)]
        one.said = self.folder / f"{kind}_{index}.out"
        with open(one.said, "ab") as out:
            # pylint: disable=consider-using-with
            one.process = subprocess.Popen(words, stdout=out, stderr=out, start_new_session=True,
                                           env={**common.environment(), **environment})
        one.started = time.monotonic()
        return one

    def kill(self, kind, index):
        one = self.members[kind, index]
        one.process.send_signal(signal.SIGKILL)
        one.process.wait()

    def lines(self, index):
        path = self.folder / f"worker_{index}.log"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def global_step(self):
        """The last that a worker has seen."""
        found = [int(line.split()[2]) for index in range(len(self.workers))
                 for line in self.lines(index)[-20:] if line.startswith("run ")]
        return max(found, default=0)

    def has_saved(self):
        return any((self.folder / "checkpoints").glob("step-*.json"))

    def wait(self):
        """Waits for all processes, the parameter server as the last. What is wrong with their ends."""
        problems = []
        for one in sorted(self.members.values(), key=lambda each: each.kind == "ps"):
            if one.kind == "ps":
                (self.folder / "over").touch()
            left = one.started + DEADLINE + 5 - time.monotonic()
            try:
                code = one.process.wait(max(left, 0.1))
                took = time.monotonic() - one.started
                if code != 0 or took > DEADLINE:
                    problems.append(f"{one} ended with {code} after {took:.0f} s:\n" + tail(one.said))
            except subprocess.TimeoutExpired:
                problems.append(f"{one} did not end:\n" + tail(one.said))
        return problems

    def end(self):
        """Whatever happened, no process is left. Those that were still there."""
        left = [one for one in self.members.values() if one.process.poll() is None]
        for one in left:
            one.process.kill()
            one.process.wait()
        return [str(one) for one in left]


def tail(path):
    return "\n".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-8:])


def values_in(manifest):
    """The whole numbers of a checkpoint."""
    data = (manifest.parent / json.loads(manifest.read_text())["data"]["file"]).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    found = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name != "__metadata__" and entry["dtype"] == "I64" and entry["shape"] == []:
            begin = 8 + size + entry["data_offsets"][0]
            found[name.rsplit(":", 1)[-1].rsplit("/", 1)[-1]] = struct.unpack("<q", data[begin:begin + 8])[0]
    return found


def wait_until(cluster, wanted, seconds):
    until = time.monotonic() + seconds
    while not wanted():
        if time.monotonic() > until or all(one.process.poll() is not None for one in cluster.members.values()):
            return False
        time.sleep(0.02)
    return True


@dataclasses.dataclass
class Restart:
    """What was there around a kill."""
    who: tuple
    step_before: int = 0
    restored: dict = None
    restored_before: int = 0  # lines of the chief


def play(cluster, chance):
    """Trains, and kills. A list of `Restart`, and what went wrong on the way."""
    order = [("worker", 0), ("worker", 1), ("ps", 0)]
    chance.shuffle(order)
    order += [("ps", 0)]
    for who in (("ps", 0), ("worker", 0), ("worker", 1)):
        cluster.start(*who)
    done = []
    moment = 0
    for number, who in enumerate(order):
        moment = max(moment, cluster.global_step()) + chance.randrange(120, 220)
        # the chief may be behind the other worker, and without a checkpoint nothing is restored
        if not wait_until(cluster, lambda: cluster.global_step() >= moment and cluster.has_saved(), NET):
            return done, f"before the kill of {who} the global step was {cluster.global_step()}, not yet {moment}"
        restored_before = sum(line.startswith("restored") for line in cluster.lines(0))
        cluster.kill(*who)
        # what others have written by then
        time.sleep(chance.choice([0, 0.3, 1.2]))
        made = Restart(who, cluster.global_step(), restored_before=restored_before)
        done.append(made)
        cluster.start(*who)
        if who == ("worker", 1):
            moment = made.step_before
            continue

        def restored():
            lines = [line for line in cluster.lines(0) if line.startswith("restored")]
            return lines[restored_before:]
        if not wait_until(cluster, restored, NET):
            return done, f"after the kill number {number}, of {who}, nothing was restored"
        step = int(restored()[0].split()[1])
        path = cluster.folder / "checkpoints" / f"step-{step:012d}.json"
        made.restored = values_in(path)  # before a later saving can replace it
        moment = made.restored["global_step"]
    (cluster.folder / "undisturbed").touch()
    return done, None


def runs_before_restore(lines, number):
    """The global steps that the chief saw between a restoring and the one before it, until its first failure."""
    at = [place for place, line in enumerate(lines) if line.startswith("restored")]
    seen = []
    for line in lines[at[number - 1] if number else 0:at[number]]:
        if line.startswith("error"):
            break
        if line.startswith("run "):
            seen.append(int(line.split()[2]))
    return seen


def check(tally, cluster, restarts, seed):
    """Reads what the workers wrote down."""
    def add(name, problems):
        tally.add(f"seed {seed}: {name}", "\n".join(problems[:10]) or None)

    logs = [cluster.lines(index) for index in range(2)]
    # a run that succeeded is not made again: a worker's own count grows by one from each success to the next, but where
    # variables were restored, or where it was killed or failed within a run of which it was never told
    twice, back, rows = [], [], []
    restored = [one.restored for one in restarts if one.restored]
    kills = {0: 0, 1: 0}
    for one in restarts:
        if one.who[0] == "worker":
            kills[one.who[1]] += 1
    for index, lines in enumerate(logs):
        before, unsure, in_a_row = None, kills[index] > 0, 0
        failed = False
        for line in lines:
            what, *rest = line.split(" ", 2)
            if what == "error":
                in_a_row += 1
                failed = True
                if in_a_row > IN_A_ROW:
                    rows.append(f"worker {index}: {in_a_row} failures in a row: {line}")
            if what == "session":
                failed = True  # the process may be another one
            if what != "run":
                continue
            own, in_a_row = int(rest[0]), 0
            starts = {values[f"runs_{index}"] + more for values in restored for more in (0, 1)}
            allowed = {1} if before is None else {before + 1} | starts
            if failed and before is not None:
                allowed |= {before + 2} | {start + 1 for start in starts if unsure}
            if own not in allowed:
                twice.append(f"worker {index}: run {own} after run {before}")
            before, failed = own, False
    add("no run is made twice, none is left out", twice)
    add(f"never more than {IN_A_ROW} recoveries in a row", rows)

    # a parameter server that was killed: back by no more than what was not saved
    for one in restarts:
        if one.who[0] != "ps":
            continue
        # However many runs the other worker makes meanwhile: a saving is due in the first run of the chief at or behind the
        # hundredth. Of its last run the saving may have failed; the one before has seen what came before it.
        runs = runs_before_restore(logs[0], one.restored_before)
        due = (one.restored["global_step"] // SAVE_STEPS + 1) * SAVE_STEPS
        if len(runs) > 2 and runs[-3] >= due:
            back.append(f"the chief had seen {runs[-3]} and made two more runs, and the step went back to "
                        f"{one.restored['global_step']}")
    add("a parameter server that is killed costs one period of savings at most", back)

    # since the last restore: the counter is the number of runs that succeeded
    last = restarts[-1].restored
    counted, highest = 0, 0
    for index, lines in enumerate(logs):
        own = [int(line.split()[1]) for line in lines if line.startswith("run ")]
        counted += own[-1] - last[f"runs_{index}"]
        highest = max(highest, int([line for line in lines if line.startswith("run ")][-1].split()[2]))
    made = highest - last["global_step"]
    add("the global step is the number of runs since the last restore",
        [] if made == counted else [f"the global step grew by {made}, in {counted} runs"])
    add("the training reaches its last step", [] if highest >= STEPS else [f"it ended at {highest}"])
    first = next(int(line.split()[2]) for line in logs[1] if line.startswith("run "))
    wanted = int(50 * math.log(2))
    add("the second worker waits for some steps of the first", [] if first > wanted else [f"it began at {first}"])


def training(tally, program, seed, keep):
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="cluster-") as name:
        cluster = Cluster(program, pathlib.Path(name))
        try:
            restarts, problem = play(cluster, chance)
            problems = [problem] if problem else []
            if not problem:
                problems = cluster.wait()
        finally:
            left = cluster.end()
        said = "\n".join(f"-- {path.name}\n{tail(path)}" for path in sorted(cluster.folder.glob("*.out")))
        said += "\n".join(f"-- {path.name}\n{tail(path)}" for path in sorted(cluster.folder.glob("*.log")))
        order = ", ".join(" ".join(map(str, one.who)) for one in restarts)
        tally.add(f"seed {seed}: {order} killed in turn, and every process ends by itself",
                  "\n".join(problems) + "\n" + said if problems else None)
        tally.add(f"seed {seed}: no process is left", f"{left}" if left and not problem else None)
        if not problems:
            check(tally, cluster, restarts, seed)
        if keep:
            shutil.copytree(name, keep, dirs_exist_ok=True)


def somebody_missing(tally, program):
    """One clear error with the address, in time, and no process left."""
    connect, chief = {"CLUSTER_CONNECT_WAIT_MS": "1500"}, {"CLUSTER_MAX_WAIT_MS": "1500"}
    cases = {
        "a server that is not there": ([("client", 0)], connect, ["has not answered within 1500 ms", "{worker0}"]),
        "a parameter server that is not there": ([("worker", 0)], connect, ["has not answered within 1500 ms", "(/job:ps, "]),
        "a chief that never comes": ([("ps", 0), ("worker", 1)], chief,
                                       ["nobody has initialised the variables within 1500 ms", '"w"']),
        "a port that is taken": ([("worker", 0), ("worker", 0)], {}, ["the server /job:worker/task:0 at {worker0}"]),
    }
    for name, (who, waits, words) in cases.items():
        with tempfile.TemporaryDirectory(prefix="cluster-") as folder:
            cluster = Cluster(program, pathlib.Path(folder))
            try:
                others = [cluster.start(*each) for each in who[:-1]]
                processes = [each.process for each in others]
                if others:
                    wait_until(cluster, lambda: others[0].said.read_text().find("up") >= 0, NET)
                last = cluster.start(*who[-1], **waits)
                problem = None
                try:
                    code = last.process.wait(IN_TIME)
                    said = last.said.read_text(errors="replace").replace("\n", " ")
                    words = [word.replace("{worker0}", cluster.workers[0]) for word in words]
                    if code != 1:
                        problem = f"it ended with {code}: {said}"
                    elif not all(word in said for word in words):
                        problem = f"it said {said}"
                except subprocess.TimeoutExpired:
                    problem = f"it did not end within {IN_TIME} s"
                tally.add(f"{name}: one error within its deadline", problem)
                for process in processes:
                    process.kill()
                    process.wait()
            finally:
                cluster.end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, action="append")
    parser.add_argument("--member", type=pathlib.Path)
    parser.add_argument("--keep")
    given = parser.parse_args()
    tally = report.Tally()
    program = given.member or common.program("cluster_member")
    somebody_missing(tally, program)
    for seed in given.seed or [1]:
        training(tally, program, seed, given.keep)
    tally.close()


main()
