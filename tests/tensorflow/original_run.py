# SPDX-License-Identifier: BSL-1.0
"""A training under tf.train.MonitoredTrainingSession with its own hooks, and what it did, written down."""

import contextlib
import dataclasses
import json
import pathlib
import unittest.mock

import numpy as np
import original_graph
import tensorflow.compat.v1 as tf

PERIOD = 5


@dataclasses.dataclass
class Record:
    """What happened. Losses by step, as bits; steps at which a hook acted, by the hook's name, in order."""

    losses: dict = dataclasses.field(default_factory=dict)
    acted: dict = dataclasses.field(default_factory=dict)
    order: list = dataclasses.field(default_factory=list)
    error: str = ""
    final: dict = dataclasses.field(default_factory=dict)
    runs: int = 0

    def act(self, name, step):
        self.acted.setdefault(name, []).append(int(step))
        self.order.append((name, int(step)))


def bits(number):
    return np.asarray(number, np.float32).tobytes()[::-1].hex()


class Interrupted(Exception):
    """Ends a training as a crash would: no hook's `end` is called."""


class Clock(tf.train.SessionRunHook):
    """The first hook: keeps the loss of every step, and knows the step, read when nothing runs."""

    def __init__(self, record, interrupt_at=None):
        self.record, self.interrupt_at, self.step = record, interrupt_at, 0

    def begin(self):
        self.read = tf.train.get_global_step()

    def after_create_session(self, session, coord):
        self.step = int(session.run(self.read))

    def before_run(self, run_context):
        return tf.train.SessionRunArgs("loss:0")

    def after_run(self, run_context, run_values):
        self.step += 1
        self.record.runs += 1
        self.record.losses[self.step] = bits(run_values.results)


class Interrupter(tf.train.SessionRunHook):
    """The last hook: all others have done their part of that step."""

    def __init__(self, clock):
        self.clock = clock

    def after_run(self, run_context, run_values):
        if self.clock.step == self.clock.interrupt_at:
            raise Interrupted


class Listener(tf.train.CheckpointSaverListener):
    def __init__(self, record):
        self.record = record

    def after_save(self, session, step):
        self.record.act("saver", step)


class Watched:
    """Hooks of TensorFlow whose action is written down just before it happens."""

    def __init__(self, record, clock, period, log_at_end):
        class Stop(tf.train.StopAtStepHook):
            def after_run(self, run_context, run_values):
                super().after_run(run_context, run_values)
                if run_context.stop_requested:
                    record.act("stop", clock.step)

        class Feed(tf.train.FeedFnHook):
            def __init__(self, data):
                super().__init__(lambda: dict(zip(("pictures:0", "answers:0"), original_graph.batch(clock.step + 1, data))))

            def before_run(self, run_context):
                record.act("feed", clock.step + 1)
                return super().before_run(run_context)

        class Profile(tf.train.ProfilerHook):
            def _save(self, step, save_path, step_stats):
                record.act("profiler", step)
                super()._save(step, save_path, step_stats)

        class Final(tf.train.FinalOpsHook):
            def end(self, session):
                super().end(session)
                record.act("final_ops", clock.step)

        self.Stop, self.Feed, self.Profile, self.Final = Stop, Feed, Profile, Final
        self.log = tf.train.LoggingTensorHook(
            {"loss": "loss:0"}, every_n_iter=period, at_end=log_at_end,
            formatter=lambda values: record.act("logger", clock.step) or f"loss = {values['loss']}")


@contextlib.contextmanager
def watch_rate(record):
    """The step counter is one of the session's own hooks, so it is watched by its class."""
    original = tf.train.StepCounterHook._log_and_record

    def watched(self, elapsed_steps, elapsed_time, global_step):
        record.act("rate", global_step)
        original(self, elapsed_steps, elapsed_time, global_step)

    with unittest.mock.patch.object(tf.train.StepCounterHook, "_log_and_record", watched):
        yield


def train(kind, folder, last, *, dropout="by_step", poison_at=None, ends=False, interrupt_at=None, period=PERIOD,
          profile=True, log_at_end=False, saved_model=None):
    """One training, from what is in the folder, from the variables of a SavedModel, or from the beginning. @return its record"""
    tf.summary.FileWriterCache.clear()
    record = Record()
    clock = Clock(record, interrupt_at)
    hooks = Watched(record, clock, period, log_at_end)
    data = original_graph.digits()
    folder = pathlib.Path(folder)
    with tf.Graph().as_default() as graph, watch_rate(record):
        original_graph.build(kind, dropout=dropout, poison_at=poison_at, ends=ends)
        mine = [clock, hooks.Stop(last_step=last), tf.train.NanTensorHook("loss:0"), hooks.log,
                hooks.Final(["hidden/weights/read:0" if kind == "fed" else "hidden/weights/Read/ReadVariableOp:0"])]
        if kind == "fed":
            mine.append(hooks.Feed(data))
        if profile:
            (folder / "profile").mkdir(parents=True, exist_ok=True)
            mine.append(hooks.Profile(save_steps=period, output_dir=str(folder / "profile")))
        init_fn = None
        if saved_model:
            init_fn = lambda scaffold, session: scaffold.saver.restore(session, f"{saved_model}/variables/variables")
        # a listener is told by the saver of the session, which is made of these arguments
        saver = tf.train.CheckpointSaverHook(str(folder), save_steps=period, listeners=[Listener(record)],
                                             scaffold=(scaffold := tf.train.Scaffold(init_fn=init_fn)))
        try:
            with tf.train.MonitoredTrainingSession(
                    checkpoint_dir=str(folder), scaffold=scaffold, hooks=[*mine, Interrupter(clock)],
                    chief_only_hooks=[saver], save_checkpoint_steps=0, save_checkpoint_secs=None,
                    save_summaries_steps=period, log_step_count_steps=period, config=original_graph.session_config()) as session:
                train_op = graph.get_operation_by_name("train")
                while not session.should_stop():
                    session.run(train_op)
            record.final = {"weights": np.asarray(mine[4].final_ops_values[0])}
        except Interrupted:
            record.error = "interrupted"
        except Exception as error:  # what it was is compared
            record.error = f"{type(error).__name__}: {error}"
    tf.summary.FileWriterCache.clear()
    return record


def events(folder):
    """@return tag → list of (step, value): the bits of a number, or of a histogram the bits of its least and its largest
    number, and how many there are: one form has buckets, the other has sums besides; and session logs, (status, step)"""
    curves, logs = {}, []
    for file in sorted(pathlib.Path(folder).glob("events.out.tfevents.*")):
        for event in tf.train.summary_iterator(str(file)):
            if event.HasField("session_log"):
                logs.append((event.session_log.status, event.step))
            for value in event.summary.value:
                if value.HasField("histo"):
                    kept = bits(value.histo.min), bits(value.histo.max), value.histo.num
                elif value.HasField("simple_value"):
                    kept = bits(value.simple_value)
                elif (numbers := tf.make_ndarray(value.tensor)).ndim == 2:  # left, right, count
                    kept = bits(numbers[0, 0]), bits(numbers[-1, 1]), numbers[:, 2].sum()
                else:
                    kept = bits(numbers)
                curves.setdefault(value.tag, []).append((event.step, kept))
    return curves, logs


def show(record):
    """For messages."""
    return json.dumps({"acted": record.acted, "error": record.error, "runs": record.runs,
                       "losses": dict(list(record.losses.items())[-3:])})
