# SPDX-License-Identifier: BSL-1.0
"""The side of python_peers.py that has TensorFlow: MonitoredSession with hooks, and tf.Session.run in a loop on the
same graph.

usage: monitored_session.py CASES PERIOD
"""

import math
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow.compat.v1 as tf  # noqa: E402

import by_hand  # noqa: E402

# all operations in the thread that calls: waking another takes longer than this graph, and is no matter of hooks
CONFIG = tf.ConfigProto(inter_op_parallelism_threads=-1, intra_op_parallelism_threads=1)


class Idle(tf.train.SessionRunHook):
    def before_run(self, run_context):
        pass

    def after_run(self, run_context, run_values):
        pass


class Counter(tf.train.SessionRunHook):
    result = 0

    def after_run(self, run_context, run_values):
        self.result += 1


class ReadsLoss(tf.train.SessionRunHook):
    result = 0.0

    def __init__(self, loss):
        self.asked = tf.train.SessionRunArgs(loss)

    def before_run(self, run_context):
        return self.asked


class RunningMean(ReadsLoss):
    def after_run(self, run_context, run_values):
        self.result += 0.01 * (float(run_values.results) - self.result)


class FiniteCheck(ReadsLoss):
    result = 0

    def after_run(self, run_context, run_values):
        if not math.isfinite(run_values.results):
            raise ArithmeticError("the loss is not finite")


class Adder(ReadsLoss):
    def after_run(self, run_context, run_values):
        self.result += float(run_values.results)


class Sampler(ReadsLoss):
    """Asks for the loss when it is due, in the manner of LoggingTensorHook."""

    def __init__(self, loss, period):
        super().__init__(loss)
        self.step = 0
        self.timer = tf.train.SecondOrStepTimer(every_steps=period)
        self.timer.update_last_triggered_step(0)

    def before_run(self, run_context):
        self.step += 1
        self.due = self.timer.should_trigger_for_step(self.step)
        return self.asked if self.due else None

    def after_run(self, run_context, run_values):
        if self.due:
            self.timer.update_last_triggered_step(self.step)
            self.result += float(run_values.results)


class AtEnd(tf.train.SessionRunHook):
    """Reads, when the training is over."""

    def __init__(self, wanted):
        self.wanted = wanted

    def end(self, session):
        self.values = [float(value) for value in session.run(self.wanted)]


class Side:
    def __init__(self):
        self.kept = {}
        with tf.Graph().as_default():
            self.build()
            init = tf.global_variables_initializer()
            tf.add_to_collection(tf.GraphKeys.INIT_OP, init)  # the scaffold takes it from there
            self.scaffold = tf.train.Scaffold().finalize()
            self.raw = tf.Session(config=CONFIG)
            self.initialise = lambda: self.raw.run(init)
            self.graph = tf.get_default_graph()
        self.graph.finalize()
        self.initialise()

    def build(self):
        """The step of by_hand.Line and by_hand.batches."""
        def variable(name, value, kind):
            return tf.get_variable(name, initializer=tf.constant(value, kind), use_resource=True)

        state = variable("state", 1, tf.int64)
        slope, offset = variable("slope", 0, tf.float64), variable("offset", 0, tf.float64)
        following = tf.bitwise.bitwise_and(state.read_value() * 1664525 + 1013904223, 0xFFFFFFFF)
        x = tf.cast(tf.bitwise.right_shift(following, tf.constant(8, tf.int64)), tf.float64) / 16777216
        error = slope.read_value() * x + offset.read_value() - (2 * x + 1)
        with tf.control_dependencies([error]):
            self.train = tf.group(state.assign(following),
                                  slope.assign_sub(0.1 * error * x), offset.assign_sub(0.1 * error),
                                  tf.assign_add(tf.train.get_or_create_global_step(), 1))
        self.loss = error * error
        self.weights = [slope, offset]
        tf.train.StopAtStepHook(last_step=1).begin()  # adds the operation by which all of them read the step

    def monitored(self, kind, hooks, period, last, more=()):
        """@return (session, its hooks)"""
        kinds = {"idle": [Idle], "triggered": [lambda: Sampler(self.loss, period)],
                 "fetching": [lambda: Adder(self.loss)],
                 "working": [Counter, lambda: RunningMean(self.loss), lambda: FiniteCheck(self.loss),
                             lambda: tf.train.StopAtStepHook(last_step=last), lambda: Sampler(self.loss, period)]}[kind]
        with self.graph.as_default():
            made = [kinds[i % len(kinds)]() for i in range(hooks)]
            creator = tf.train.ChiefSessionCreator(self.scaffold, config=CONFIG)
            return tf.train.MonitoredSession(creator, hooks=[*made, *more]), made

    def by_hand(self, kind, hooks, steps, period, last):
        """@return a function that trains, and gives what the hooks would have computed"""
        loop = by_hand.loop(kind, hooks, "run, train, both", "for _ in range(steps):", "run(train)",
                            "loss = float(run(both)[1])")
        return lambda: loop(self.raw.run, self.train, [self.train, self.loss], steps, period, last)

    def check(self, kind, hooks, steps, period):
        self.initialise()
        computed = self.by_hand(kind, hooks, steps + 1, period, steps)()
        found = {"bare_session": [*map(float, self.raw.run(self.weights)), *computed]}
        weights = AtEnd(self.weights)
        session, made = self.monitored(kind, hooks, period, steps, [weights])
        for _ in range(steps + 1):
            if session.should_stop():
                break
            session.run(self.train)
        for hook in made:
            if isinstance(hook, tf.train.StopAtStepHook):
                hook.result = int(session.should_stop())
        session.close()
        found["monitored_session"] = [*weights.values, *(hook.result for hook in made if kind != "idle")]
        return found

    def turn(self, kind, hooks, steps, period):
        if (kind, hooks) not in self.kept:
            self.kept[kind, hooks] = self.monitored(kind, hooks, period, by_hand.FAR)[0]
        session, train = self.kept[kind, hooks], self.train

        def run():
            for _ in range(steps):
                if session.should_stop():
                    break
                session.run(train)

        return {"bare_session": self.by_hand(kind, hooks, steps, period, by_hand.FAR), "monitored_session": run}


tf.disable_eager_execution()
tf.get_logger().setLevel("ERROR")
by_hand.serve(Side(), f"tensorflow {tf.__version__}")
