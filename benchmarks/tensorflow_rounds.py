# SPDX-License-Identifier: BSL-1.0
"""The rounds of tensorflow_step.py, in TensorFlow's own Python: makes the graphs, and measures Python's sessions
between the rounds of the program. Prints figures: name and number, a line each.

usage: tensorflow_rounds.py PROGRAM FOLDER ROUNDS STEPS       STEPS are those of a turn, of which a round has several
"""

import os
import pathlib
import statistics
import subprocess
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow.compat.v1 as tf  # noqa: E402

VALUES = 64
HOOKS = (0, 1, 5, 8, 64)


def network():
    """64-16-10 with momentum, on a batch of 32 that is in the graph."""
    pictures = tf.constant([[(7 * i + j) % 17 / 16 for j in range(64)] for i in range(32)], tf.float32)
    answers = tf.constant([i % 10 for i in range(32)], tf.int64)

    def layer(value, outputs, name):
        with tf.variable_scope(name, use_resource=True):
            weights = tf.get_variable("weights", [value.shape[1], outputs],
                                      initializer=tf.glorot_uniform_initializer(seed=3))
            return tf.matmul(value, weights) + tf.get_variable("biases", [outputs], initializer=tf.zeros_initializer())

    logits = layer(tf.nn.relu(layer(pictures, 16, "hidden")), 10, "out")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=answers, logits=logits))
    tf.train.MomentumOptimizer(0.001, 0.9).minimize(loss, global_step=tf.train.get_global_step(), name="train")
    return loss


def counter():
    """The least that is a training: the step is counted."""
    with tf.variable_scope("counter", use_resource=True):
        value = tf.get_variable("value", [], initializer=tf.zeros_initializer())
    shown = value.read_value()
    with tf.control_dependencies([shown]):
        tf.group(tf.assign_add(tf.train.get_global_step(), 1), name="train")
    return shown


GRAPHS = {"network": network, "counter": counter}


def build(kind):
    tf.train.get_or_create_global_step()
    shown = GRAPHS[kind]()
    for i in range(VALUES):
        tf.add(shown, float(i), name=f"v{i:02}")
    return tf.group(tf.global_variables_initializer(), name="init")


def export(kind, path):
    with tf.Graph().as_default() as graph:
        init = build(kind)
        tf.add_to_collection(tf.GraphKeys.INIT_OP, init)  # the scaffold takes it from there
        tf.train.Scaffold().finalize()
        path.with_suffix(".pb").write_bytes(graph.as_graph_def().SerializeToString())
        tf.train.export_meta_graph(f"{path}.meta", graph=graph)


class Reader(tf.train.SessionRunHook):
    def __init__(self, name):
        self.name, self.sum = name, 0.0

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.name)

    def after_run(self, run_context, run_values):
        self.sum += float(run_values.results)


class Sessions:
    """Python's sessions over one graph, one for each number of hooks."""

    def __init__(self, kind):
        self.graph = tf.Graph()
        self.monitored = {}
        with self.graph.as_default():
            init = build(kind)
            self.train = self.graph.get_operation_by_name("train")
            self.values = [self.graph.get_tensor_by_name(f"v{i:02}:0") for i in range(VALUES)]
            self.raw = tf.Session()
            self.raw.run(init)
            for hooks in HOOKS:
                readers = [Reader(value) for value in self.values[:hooks]]
                self.monitored[hooks] = tf.train.MonitoredSession(hooks=readers)

    def times(self, steps):
        """Nanoseconds a step."""
        for hooks in HOOKS * 2:
            fetches = [self.train, *self.values[:hooks]]
            start = time.perf_counter()
            for _ in range(steps):
                self.raw.run(fetches)
            yield f"python_{hooks}", (time.perf_counter() - start) / steps * 1e9
            session = self.monitored[hooks]
            start = time.perf_counter()
            for _ in range(steps):
                session.run(self.train)
            yield f"monitored_session_{hooks}", (time.perf_counter() - start) / steps * 1e9


def main():
    tf.disable_eager_execution()
    tf.get_logger().setLevel("ERROR")
    program, folder, rounds, steps = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    for kind in GRAPHS:
        export(kind, folder / kind)
        found = {}
        sessions = Sessions(kind)
        with subprocess.Popen([program, folder / kind, str(steps)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as other:
            for turn in range(rounds + 1):
                other.stdin.write("\n")
                other.stdin.flush()
                times = []
                while (line := other.stdout.readline()) not in ("round\n", ""):
                    times.append(line.split())
                if not line:
                    sys.exit("the program ended")
                times.extend(sessions.times(steps))
                for name, value in times if turn > 0 else ():  # the first round warms up
                    found.setdefault(name, []).append(float(value))
            other.stdin.close()
        for name, values in found.items():
            # microseconds
            print(f"{kind}/{name}/least {min(values) / 1000}")
            print(f"{kind}/{name}/median {statistics.median(values) / 1000}")
        for hooks in HOOKS:  # each turn to the one beside it
            pairs = zip(found[f"tautline_{hooks}"], found[f"bare_{hooks}"], strict=True)
            print(f"{kind}/over_bare_{hooks} {statistics.median(ours / bare for ours, bare in pairs)}")


main()
