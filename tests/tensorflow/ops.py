#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Graphs that are built in C++ beside the same ones built in Python: random numbers and losses to the bit, names of
nodes, checkpoints read by each other.

usage: ops.py     by the Python that has TensorFlow
"""

import os
import pathlib
import tempfile

import numpy as np

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
# oneDNN fuses what it finds side by side, and rounds otherwise where it does: two graphs that compute the same differ
# in the last bit by what else they hold
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import common  # noqa: E402
from common import report  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402

tf.disable_eager_execution()


def write_checkpoint(folder):
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", initializer=[[1.0, 2.0], [3.0, 4.0]])
        session.run([w.initializer, step.initializer])
        session.run(step.assign(42))
        tf.train.Saver([w, step]).save(session, str(folder / "python"), write_meta_graph=False)


def random_values(seed):
    with tf.Graph().as_default(), tf.Session() as session:
        if seed is not None:
            tf.set_random_seed(seed)
        variables = [
            tf.get_variable("a", [5, 3], initializer=tf.random_normal_initializer(0.5, 0.1, seed=3)),
            tf.get_variable("b", [5, 3], initializer=tf.truncated_normal_initializer(stddev=0.3, seed=4)),
            tf.get_variable("c", [5, 3], initializer=tf.random_uniform_initializer(-2, 0.3, seed=5)),
            tf.get_variable("d", [5, 3], initializer=tf.glorot_uniform_initializer(seed=6)),
            tf.get_variable("e", [3, 3, 2, 4], initializer=tf.glorot_uniform_initializer(seed=7)),
            tf.get_variable("f", [7], initializer=tf.glorot_uniform_initializer(seed=8)),
        ]
        whole = tf.cast(tf.random_uniform([9], 0, 1000, dtype=tf.int32, seed=9), tf.float32)
        more = [whole, tf.random_normal([4], seed=-1)]
        data = tf.data.Dataset.range(20).shuffle(7, seed=10).repeat(2).batch(40)
        more.append(tf.cast(tf.data.make_one_shot_iterator(data).get_next(), tf.float32))
        session.run(tf.global_variables_initializer())
        return np.concatenate([value.reshape(-1) for value in session.run(variables + more)])


OPTIMIZERS = {
    "sgd": lambda: tf.train.GradientDescentOptimizer(0.5),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda: tf.train.AdamOptimizer(0.01),
}


def network(optimizer):
    """That of ops_made.cpp."""
    tf.set_random_seed(11)
    x = tf.placeholder(tf.float32, [None, 6], "x")
    label = tf.placeholder(tf.int32, [None], "label")
    w1 = tf.get_variable("w1", [6, 8], initializer=tf.random_normal_initializer(stddev=0.4, seed=1))
    b1 = tf.get_variable("b1", [8], initializer=tf.zeros_initializer())
    w2 = tf.get_variable("w2", [8, 3], initializer=tf.glorot_uniform_initializer(seed=2))
    b2 = tf.get_variable("b2", [3], initializer=tf.zeros_initializer())
    hidden = tf.tanh(tf.matmul(x, w1) + b1, name="hidden")
    logits = tf.nn.bias_add(tf.matmul(hidden, w2), b2, name="logits")
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logits)
    loss = tf.add(tf.reduce_mean(losses), 0.01 * tf.nn.l2_loss(w1), name="loss")
    train = optimizer().minimize(loss, global_step=tf.train.get_or_create_global_step())
    data = np.array([(i * 7 % 13) / 8 - 0.5 for i in range(60)], np.float32).reshape(10, 6)
    labels = np.array([i * 5 % 3 for i in range(10)], np.int32)
    return loss, train, {x: data, label: labels}


def play_training(folder, name, tally):
    optimizer = OPTIMIZERS[name]
    made = np.fromfile(folder / f"losses_{name}", np.float32)
    path = str(folder / f"checkpoint_{name}")
    with tf.Graph().as_default() as graph, tf.Session() as session:
        loss, train, feed = network(optimizer)
        saver = tf.train.Saver()
        init = tf.global_variables_initializer()
        session.run(init)
        losses = np.array([session.run([loss, train], feed)[0] for _ in range(20)], np.float32)
        tally.add(f"{name}: losses to the bit", None if np.array_equal(losses, made) else f"{losses}\n{made}")

        saved = {v.op.name: session.run(v) for v in tf.global_variables()}
        reader = tf.train.load_checkpoint(path)
        there = sorted(reader.get_variable_to_shape_map())
        tally.add(f"{name}: names in the checkpoint", None if there == sorted(saved) else f"{there} {sorted(saved)}")
        other = [key for key in there if key in saved and not np.array_equal(reader.get_tensor(key), saved[key])]
        tally.add(f"{name}: values in the checkpoint", f"differ: {other}" if other else None)

        session.run(init)
        saver.restore(session, path)
        step = session.run(tf.train.get_global_step(graph))
        tally.add(f"{name}: restored by Python's Saver", None if step == 20 else f"step {step}")
        ours = tf.GraphDef.FromString((folder / f"graph_{name}").read_bytes())
        nodes = {node.name: node for node in ours.node}
        # what others ask for by name: variables, their parts, the saver, init, and what the optimizer makes of them
        theirs = {n.name: n for n in graph.as_graph_def().node if not n.name.startswith("gradients")}
        wanted = [n for n in theirs if n.startswith(("save/", "w1", "b1", "w2", "b2", "beta", "global_step", "init"))
                  or n in ("x", "label", "hidden", "logits", "loss") or "/update_" in n and "Apply" in n.split("/")[-1]]
        wanted += [n.name for n in [train]]
        missing = [n for n in wanted if n not in nodes]
        tally.add(f"{name}: names of nodes", f"missing: {missing}" if missing or not wanted else None)
        other = [n for n in wanted if n in nodes and nodes[n].op != theirs[n].op]
        tally.add(f"{name}: types of nodes", f"differ: {other}" if other else None)


def main():
    tally = report.Tally()
    program = common.program("ops_made")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_checkpoint(folder)
        made = report.run([program], env={**common.environment(), "TAUTLINE_OPS_FOLDER": name})
        tally.add("ops_made runs", made.stdout if made.returncode != 0 else None)
        if made.returncode == 0:
            for kind, seed in (("both", 7), ("own", None)):
                found, expected = np.fromfile(folder / f"random_{kind}", np.float32), random_values(seed)
                same = found.shape == expected.shape and np.array_equal(found, expected)
                tally.add(f"random numbers, seeds: {kind}", None if same else f"{found}\n{expected}")
            for name in OPTIMIZERS:
                play_training(folder, name, tally)
    tally.close()


main()
