#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Checkpoints that Python reads, and Python's that we read; and a training that is killed (SIGKILL) at random moments
while it saves: after each kill both find a checkpoint that is whole, and not older than the one before.

usage: checkpoints.py [--kills N] [--seed N]
"""

import argparse
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import threading
import time

import common
from common import report

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# pylint: disable=wrong-import-position
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

LIMIT = 60  # seconds for what takes a fraction of one: only for a training that hangs


def w_after(steps):
    w = np.zeros(2, np.float32)
    for _ in range(steps):
        w = w + (np.array([1, 2], np.float32) - w) * np.float32(0.1)
    return w


def build(resources=True, **saver):
    """The training of training.hpp in Python."""
    graph = tf.Graph()
    with graph.as_default():
        w = tf.get_variable("w", [2], initializer=tf.zeros_initializer(), use_resource=resources)
        step = tf.train.create_global_step()
        moved = w.assign_add((tf.constant([1.0, 2.0]) - w) * 0.1)
        tf.group(moved, step.assign_add(1), name="train")
        tf.add_to_collection("made", tf.global_variables_initializer())
        made = tf.train.Saver(**saver)
    return graph, made


class Trained:
    """A run of the program."""

    def __init__(self, program, folder, steps, *more):
        done = report.run([program, folder, steps, *more], env=common.environment(), timeout=300)
        self.output, self.code = done.stdout, done.returncode
        lines = [line.split() for line in done.stdout.splitlines() if line.startswith("from ")]
        self.first = int(lines[0][1]) if lines else None
        self.seen = int(lines[0][3]) if lines else None
        self.w = np.array(lines[0][5:], np.float32) if lines else None


def wrong(folder, steps):
    """What Python finds in a folder that is not the checkpoint of that step; None if it is."""
    path = tf.train.latest_checkpoint(folder)
    if path is None:
        return "Python finds no checkpoint"
    reader = tf.train.NewCheckpointReader(path)
    found = int(reader.get_tensor("global_step"))
    if steps is not None and found != steps:
        return f"{path} is of step {found} instead of {steps}"
    if not np.array_equal(reader.get_tensor("w"), w_after(found)):
        return f"{path}: w is {reader.get_tensor('w')} instead of {w_after(found)}"
    return None


def goes_on(program, folder, tally):
    """By turns: we, a Saver of Python, we, a MonitoredTrainingSession, we."""
    ours = Trained(program, folder, 5)
    tally.add("a training saves", None if ours.code == 0 and ours.first == 0 else ours.output)
    tally.add("Python reads it", wrong(folder, 5))

    graph, saver = build()
    with tf.Session(graph=graph) as session:
        state = tf.train.get_checkpoint_state(folder)
        saver.restore(session, state.model_checkpoint_path)
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        for _ in range(3):
            session.run("train")
        saver.save(session, str(folder / "model.ckpt"), global_step=8)
    tally.add("a Saver of Python goes on from it", wrong(folder, 8))
    names = sorted(path.name for path in folder.glob("*.index"))
    tally.add("and knows those that were there", None if names == [f"model.ckpt-{n}.index" for n in (3, 4, 5, 8)] else names)

    ours = Trained(program, folder, 11)
    good = ours.code == 0 and ours.first == 8 and ours.seen == 0
    tally.add("we go on from Python's, with new hooks", None if good else ours.output)
    tally.add("Python reads that", wrong(folder, 11))
    names = sorted(path.name for path in folder.glob("*.index"))
    tally.add("Python's are removed in their turn", None if names == [f"model.ckpt-{n}.index" for n in (10, 11, 9)] else names)
    left = [path.name for path in folder.iterdir() if path.name.endswith(".meta")]
    tally.add("with their meta graphs", None if not left else left)

    graph, _ = build()
    with graph.as_default(), tf.train.MonitoredTrainingSession(checkpoint_dir=str(folder), save_checkpoint_steps=2,
                                                               log_step_count_steps=0) as session:
        for _ in range(4):
            session.run("train")
    tally.add("a MonitoredTrainingSession goes on from ours", wrong(folder, 15))
    ours = Trained(program, folder, 16)
    tally.add("and we from its", None if ours.code == 0 and ours.first == 15 else ours.output)

    with tf.Graph().as_default() as graph:
        definition = graph.as_graph_def()
        definition.ParseFromString((folder / "graph.pb").read_bytes())
        tf.import_graph_def(definition, name="")
        with tf.Session() as session:
            session.run("save/restore_all", {"save/Const:0": tf.train.latest_checkpoint(folder)})
            found = session.run("w/Read/ReadVariableOp:0")
    tally.add("Python runs graph.pb", None if np.array_equal(found, w_after(16)) else found)


def by_pythons_saver(program, folder, tally):
    """Graphs of Python with savers of each kind."""
    for name, arguments in (("variables that are resources", {}), ("variables that are references", {"resources": False}),
                            ("a saver in parts", {"sharded": True})):
        where = folder / name.replace(" ", "_")
        where.mkdir()
        graph, saver = build(**arguments)
        with graph.as_default(), tf.Session() as session:
            session.run(tf.get_collection("made"))
            session.run("train")
            saver.save(session, str(where / "model.ckpt"), global_step=1)
        meta = where / "model.ckpt-1.meta"
        (where / "graph.meta").write_bytes(meta.read_bytes())
        ours = Trained(program, where, 4, where / "graph.meta")
        good = ours.code == 0 and ours.first == 1 and np.array_equal(ours.w, w_after(1))
        tally.add(f"{name}: we go on", None if good else ours.output)
        tally.add(f"{name}: Python reads that", wrong(where, 4))
        ours = Trained(program, where, 4, where / "graph.meta")
        tally.add(f"{name}: and so do we", None if ours.first == 4 and np.array_equal(ours.w, w_after(4)) else ours.output)
    where = folder / "old"
    where.mkdir()
    graph, saver = build(write_version=tf.train.SaverDef.V1)
    saver.export_meta_graph(str(where / "graph.meta"))
    with graph.as_default():
        tf.train.export_meta_graph(str(where / "graph.meta"), saver_def=saver.as_saver_def())
    ours = Trained(program, where, 1, where / "graph.meta")
    tally.add("a saver of the format V1 is refused", None if ours.code == 1 and "format V1" in ours.output else ours.output)


def newest(folder):
    """The step of the checkpoint that Python's list names as the latest, 0 if there is no list. Of a training that runs:
    whether the files are still there is not asked, it may have gone on by then."""
    state = tf.train.get_checkpoint_state(folder)
    return int(state.model_checkpoint_path.rsplit("-", 1)[1]) if state else 0


def wait_for(training, folder, step):
    """Until a training has saved that step, it has ended, or the limit is over. The newest step that was seen."""
    end = time.monotonic() + LIMIT
    seen = newest(folder)
    while seen < step and training.poll() is None and time.monotonic() < end:
        time.sleep(0.002)
        seen = max(seen, newest(folder))
    return seen


def kill_once(program, folder, last, more, pause):
    """A training that is killed when it has saved so many steps more, and a pause later. What it must have saved by then,
    and what is wrong."""
    with subprocess.Popen([program, folder, "1000000"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=common.environment()) as training:
        hangs = threading.Timer(LIMIT, training.kill)
        hangs.start()
        line = training.stdout.readline()
        while line and not line.startswith(("from ", "failed")):
            line = training.stdout.readline()
        hangs.cancel()
        began = int(line.split()[1]) if line.startswith("from ") else last
        seen = wait_for(training, folder, began + more)
        time.sleep(pause)
        ended = training.poll()
        training.send_signal(signal.SIGKILL)
        rest = training.stdout.read()
    if not line.startswith("from ") or "not those" in rest:
        return seen, line + rest
    if ended is not None:
        return seen, f"it ended by itself with {ended}: {rest}"
    if began < last:
        return seen, f"it began at {line.strip()} after step {last}"
    if int(line.split()[3]) != began:
        return seen, f"the hook is not that of the step: {line.strip()}"
    if seen < began + more:
        return seen, f"it began at {began}, and has only saved {seen} after {LIMIT} s"
    return seen, None


def killed(program, folder, kills, chance, tally):
    last, wanted, problem = 0, 0, None
    for number in range(kills):
        # some at any moment, the first one maybe before there is a checkpoint; most when there are some more
        more = 0 if number % 3 == 0 else chance.randrange(1, 8)
        wanted += more
        seen, problem = kill_once(program, folder, last, more, chance.uniform(0, 0.3 if more == 0 else 0.03))
        if not problem and (seen > 0 or (folder / "checkpoint").exists()):
            problem = wrong(folder, None)
        if problem:
            break
        found = newest(folder)
        if found < seen:
            problem = f"after the kill the latest is that of step {found}, before it was that of step {seen}"
            break
        last = found
    tally.add(f"a training that is killed {kills} times always finds its last checkpoint", problem)
    tally.add("and gets on", None if last >= wanted > 0 else f"step {last} only, and not {wanted}")
    ours = Trained(program, folder, last + 1)
    left = [path.name for path in folder.iterdir() if path.name.startswith(".tautline-tmp") or
            (path.name.startswith("model.ckpt") and not list(folder.glob(path.name.split(".data-")[0].split(".hooks")[0] + "*")))]
    tally.add("nothing that was half written stays", None if ours.code == 0 and not left else ours.output + " ".join(left))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    given = parser.parse_args()
    tally = report.Tally()
    program = common.program("checkpoints_made")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in ("turns", "savers", "killed"):
            (folder / part).mkdir()
        goes_on(program, folder / "turns", tally)
        by_pythons_saver(program, folder / "savers", tally)
        before = tally.failed
        killed(program, folder / "killed", given.kills, random.Random(given.seed), tally)
        if tally.failed > before:
            print(f"with --seed {given.seed}")
    tally.close()


main()
