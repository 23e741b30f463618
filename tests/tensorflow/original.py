#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The original beside ours: one graph, made in Python, is trained by tf.train.MonitoredTrainingSession with its hooks, and by
original.cpp with ours.

- Losses are equal to the bit, from the meta graph, the GraphDef and the SavedModel, for seeds on the graph and on operations.
- Hooks act at the same steps, but for the differences in original_differences.py, each of which rests on a rule. One that is
  not listed fails, and so does a listed one that is no difference any more.
- Each side goes on from the other's checkpoints and from its own, as the training would have gone on without a break.
- Both write the same curves into event files, and safetensors of ours hold what the original's checkpoint holds.

usage: original.py [--self-test]
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import common  # noqa: E402
import numpy as np  # noqa: E402
import original_differences  # noqa: E402
import original_graph  # noqa: E402
import original_run  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402
from common import packages, report  # noqa: E402

LAST = 23
INTERRUPT = 13
SAFETENSORS = ["safetensors==0.8.0", "numpy==2.4.6", "ml_dtypes==0.6.0"]


class Sides:
    """Trainings of both sides over the exported graphs."""

    def __init__(self, folder, tally):
        self.folder, self.tally, self.program = pathlib.Path(folder), tally, common.program("original")
        self.count = 0

    def export(self, name, kind, **how):
        place = self.folder / "exported" / name
        place.mkdir(parents=True)
        original_graph.export(kind, place, **how)
        return place / kind

    def new_folder(self, name):
        self.count += 1
        made = self.folder / f"{self.count}-{name}"
        made.mkdir()
        return made

    def ours(self, kind, graph, folder, last=LAST, *, form="meta", period=original_run.PERIOD, interrupt=0, **options):
        words = [f"interrupt={interrupt}"] + [f"{key}={value}" for key, value in options.items()]
        data = original_graph.ROOT / "examples/data/digits.csv"
        trace = folder / "trace.json"
        trace.unlink(missing_ok=True)
        before = set(folder.glob("trace*"))
        ran = report.run([self.program, kind, form, graph, folder, data, last, period, *words], env=common.environment(),
                         stderr=subprocess.PIPE)
        record = original_run.Record()
        if ran.returncode not in (0, 3):
            self.tally.add(f"the program over {graph.name} in {folder.name}", f"ended with {ran.returncode}\n{ran.stderr}")
        for line in ran.stdout.splitlines():
            what, _, rest = line.partition(" ")
            if what == "loss":
                step, loss = rest.split()
                record.losses[int(step)] = loss
                record.runs += 1
            elif what == "act":
                record.act(*rest.split())
            elif what == "error":
                record.error = rest
            elif what == "final" and len(rest) == 64 * 16 * 8:
                record.final["weights"] = np.frombuffer(bytes.fromhex(rest), ">f4").astype(np.float32).reshape(64, 16)
        if ran.returncode == 3:
            record.error = "interrupted"
        for file in sorted(set(folder.glob("trace*")) - before) if not interrupt else []:
            for step in traced_steps(file):
                record.act("profiler", step)
        return record


def traced(file):
    """The slices of a trace of ours."""
    return [event for event in json.loads(file.read_text()) if event.get("ph") == "X"]


def traced_steps(file):
    return [event["args"]["step"] for event in traced(file) if event["name"] == "step"]


def steps_of(curves, tag):
    return [step for step, _ in curves.get(tag, [])]


HOOKS = ("saver", "stop", "logger", "rate", "profiler", "feed", "final_ops")
CURVES = ("loss_curve", "accuracy_curve", "hidden_spread")


def first_word(error):
    return error.replace(":", " ").split(" ")[0]


def hold_trainings(held, training, original, ours, curves, without=()):
    """The same training of both sides. @param curves what the event files of both have"""
    for hook in HOOKS:
        if hook not in without:
            held.hold(training, hook, original.acted.get(hook, []), ours.acted.get(hook, []))
    held.hold(training, "error", first_word(original.error), first_word(ours.error))
    held.hold(training, "runs", original.runs, ours.runs)
    held.hold(training, "losses", list(original.losses), list(ours.losses))
    held.hold(training, "summaries", *(steps_of(curve, "loss_curve") for curve in curves))
    hold_losses(held, training, original, ours)


def hold_losses(held, name, original, ours, steps=None):
    """To the bit, at the steps of both, or at these."""
    steps = [step for step in original.losses if step in ours.losses] if steps is None else list(steps)
    held.hold(name, f"bits of {len(steps)} losses", [original.losses.get(step) for step in steps],
              [ours.losses.get(step) for step in steps])


def hold_weights(held, name, original, ours):
    equal = "weights" in ours.final and original.final["weights"].tobytes() == ours.final["weights"].tobytes()
    held.tally.add(f"{name}: weights at the end", None if equal else "they differ, or are not there")


def same_losses(held, sides):
    """Unbroken, with random numbers of TensorFlow's own kind, from all forms of the graph."""
    for kind in ("dataset", "fed"):
        graph = sides.export(f"random-{kind}", kind, dropout="stateful")
        original = original_run.train(kind, sides.new_folder(f"original-{kind}"), LAST, dropout="stateful")
        held.tally.add(f"{kind}: trained", None if original.runs == LAST and not original.error else original_run.show(original))
        for form in ("meta", "graph_def", "saved_model"):
            if form == "saved_model":
                original = original_run.train(kind, sides.new_folder(f"original-{kind}-saved"), LAST, dropout="stateful",
                                              saved_model=f"{graph}_saved")
            ours = sides.ours(kind, graph, sides.new_folder(f"ours-{kind}-{form}"), form=form)
            hold_losses(held, f"{kind} from the {form}", original, ours, range(1, LAST + 1))
            hold_weights(held, f"{kind} from the {form}", original, ours)


def copy_training(source, target):
    """The original's list of checkpoints has their whole paths."""
    shutil.copytree(source, target, dirs_exist_ok=True)
    listed = target / "checkpoint"
    listed.write_text(listed.read_text().replace(str(source), str(target)))


def resumed(held, sides):
    """Broken off and taken up again, on the same side and on the other."""
    for kind in ("fed", "saved_place"):
        graph = sides.export(f"exact-{kind}", kind, dropout="by_step")
        whole = original_run.train(kind, folder := sides.new_folder(f"{kind}-original"), LAST)
        ours = sides.ours(kind, graph, other := sides.new_folder(f"{kind}-ours"))
        hold_losses(held, f"{kind} without a break", whole, ours, range(1, LAST + 1))
        if kind == "fed":
            curves = original_run.events(folder)[0], original_run.events(other)[0]
            hold_trainings(held, "from the beginning", whole, ours, curves)
            same_trace(held, folder / "profile/timeline-5.json", other / "trace.json")
            past_the_last_step(held, sides, folder, other, graph)
        for name, at, how in (("resumed at 10", 10, "killed"), ("resumed at 13", 13, "ended")):
            records = {}
            for first in ("original", "ours"):
                broken_off = sides.new_folder(f"{kind}-{first}")
                last, interrupt = (LAST, INTERRUPT) if how == "killed" else (at, 0)
                if first == "original":
                    original_run.train(kind, broken_off, last, interrupt_at=interrupt)
                else:
                    sides.ours(kind, graph, broken_off, last, interrupt=interrupt)
                for file in broken_off.glob("events.*"):
                    file.unlink()
                for second in ("original", "ours"):
                    folder = sides.new_folder(f"{kind}-{first}-{second}")
                    copy_training(broken_off, folder)
                    go_on = original_run.train(kind, folder, LAST) if second == "original" else sides.ours(kind, graph, folder)
                    told = f"{kind} {how} at {at}, {first} to {second}"
                    hold_losses(held, told, whole, go_on, range(at + 1, LAST + 1))
                    held.hold(told, "steps", list(range(at + 1, LAST + 1)), list(go_on.losses))
                    hold_weights(held, told, whole, go_on)
                    records[first, second] = go_on, original_run.events(folder)[0]
            if kind == "fed":
                (original, curves), (ours, our_curves) = records["original", "original"], records["ours", "ours"]
                hold_trainings(held, name, original, ours, (curves, our_curves))
                for first, second in (("original", "ours"), ("ours", "original")):  # it is no matter whose checkpoint it was
                    held.hold(f"{name}, {first} to {second}", "acts as after its own", records[second, second][0].acted,
                              records[first, second][0].acted)


def same_trace(held, original, ours):
    """Both have what the engine did in step 5. What is fetched differs, so only the updates must be the same."""
    known = {event["args"]["name"]: event["name"] for event in json.loads(original.read_text())["traceEvents"]
             if event.get("ph") == "X" and "op" in event.get("args", {})}
    found = {event["name"]: event["cat"] for event in traced(ours) if event["args"].get("step") == 5}
    updates = {node: op for node, op in known.items() if op.startswith("Apply")}
    held.tally.add("from the beginning: the original traced the updates", None if len(updates) == 4 else f"{known}")
    held.hold("from the beginning", "traced updates", updates, {node: op for node, op in found.items() if op.startswith("Apply")})


def past_the_last_step(held, sides, folder, other, graph):
    for place in (folder, other):
        for file in place.glob("events.*"):
            file.unlink()
    original, ours = original_run.train("fed", folder, 20), sides.ours("fed", graph, other, 20)
    curves = original_run.events(folder)[0], original_run.events(other)[0]
    hold_trainings(held, "past the last step", original, ours, curves)


def logged_at_the_end(held, sides):
    graph = sides.export("at-the-end", "fed", dropout="by_step")
    folder, other = sides.new_folder("end-original"), sides.new_folder("end-ours")
    original = original_run.train("fed", folder, LAST, log_at_end=True, profile=False)
    ours = sides.ours("fed", graph, other, log_at_end=1)
    for hook in ("logger", "final_ops"):
        held.hold("log at the end", hook, original.acted.get(hook, []), ours.acted.get(hook, []))
    held.hold("log at the end", "error", first_word(original.error), first_word(ours.error))


def end_of_input(held, sides):
    graph = sides.export("ends", "dataset", dropout="by_step", ends=True)
    folder, other = sides.new_folder("ends-original"), sides.new_folder("ends-ours")
    original, ours = original_run.train("dataset", folder, LAST, ends=True), sides.ours("dataset", graph, other)
    hold_trainings(held, "end of input", original, ours, (original_run.events(folder)[0], original_run.events(other)[0]))
    hold_weights(held, "end of input", original, ours)


def not_finite(held, sides):
    for name, number in (("NaN at 10", "nan"), ("infinite at 10", "inf")):
        graph = sides.export(f"poisoned-{number}", "fed", dropout="by_step", poison_at=(number, 10))
        folder, other = sides.new_folder(f"{number}-original"), sides.new_folder(f"{number}-ours")
        original = original_run.train("fed", folder, LAST, poison_at=(number, 10))
        ours = sides.ours("fed", graph, other)
        hold_trainings(held, name, original, ours, (original_run.events(folder)[0], original_run.events(other)[0]))
        kept = [tf.train.load_checkpoint(str(place)).get_tensor("hidden/weights") for place in (folder, other)]
        held.tally.add(f"{name}: the original's latest checkpoint is poisoned", None if not np.isfinite(kept[0]).all() else "no")
        held.tally.add(f"{name}: ours is not", None if np.isfinite(kept[1]).all() else "it is")


def same_events(held, sides):
    """Every step, so that both write at the same ones."""
    graph = sides.export("every-step", "fed", dropout="by_step")
    folder, other = sides.new_folder("every-original"), sides.new_folder("every-ours")
    original = original_run.train("fed", folder, 6, period=1)
    ours = sides.ours("fed", graph, other, 6, period=1)
    (curves, logs), (our_curves, our_logs) = original_run.events(folder), original_run.events(other)
    held.hold("every step", "session logs", logs, our_logs)
    hold_trainings(held, "every step", original, ours, (curves, our_curves))
    held.hold("every step", "tags", sorted(curves), sorted(our_curves))
    for tag in CURVES:
        held.hold("every step", f"{tag} by value", curves.get(tag), our_curves.get(tag))


READ_SAFETENSORS = """
import sys, numpy, safetensors.numpy
numpy.savez(sys.argv[2], **safetensors.numpy.load_file(sys.argv[1]))
"""


def safetensors_hold_the_same(held, sides):
    graph = sides.export("safetensors", "dataset", dropout="by_step")
    folder, other = sides.new_folder("safetensors-original"), sides.new_folder("safetensors-ours")
    original = original_run.train("dataset", folder, LAST)
    ours = sides.ours("dataset", graph, other, saver="safetensors")
    hold_losses(held, "safetensors", original, ours, range(1, LAST + 1))
    for step in (5, 20, LAST):
        saved = tf.train.load_checkpoint(str(folder / f"model.ckpt-{step}"))
        file = other / f"safetensors/step-{step:012}.safetensors"
        values = sides.folder / "values.npz"
        ran = report.run([packages.venv(*SAFETENSORS), "-c", READ_SAFETENSORS, file, values])
        if ran.returncode != 0:
            held.tally.add(f"safetensors of step {step}", ran.stdout)
            continue
        with np.load(values) as read:
            names = sorted(saved.get_variable_to_shape_map())
            ours = {name.removeprefix("variable/"): read[name] for name in read.files if name.startswith("variable/")}
        held.hold(f"safetensors of step {step}", "names", names, sorted(ours))
        different = [name for name in names if name in ours and not same(saved.get_tensor(name), ours[name])]
        held.hold(f"safetensors of step {step}", "values that differ", [], different)
    whole = original_run.train("fed", sides.new_folder("fed"), LAST)
    graph, folder = sides.export("safetensors-fed", "fed", dropout="by_step"), sides.new_folder("fed-safetensors")
    sides.ours("fed", graph, folder, saver="safetensors", interrupt=INTERRUPT)
    hold_losses(held, "from safetensors", whole, sides.ours("fed", graph, folder, saver="safetensors"), range(11, LAST + 1))


def same(one, other):
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def self_test(tally):
    """A difference that is not listed, one that is listed and is none, one that is another one than is listed, and one whose
    rule no page has."""
    listed = {("a", "b"): original_differences.Difference(original_differences.PERIODS, [1], [2])}
    for name, found, failures in (("as listed", [("a", "b", [1], [2])], 0), ("none", [("a", "b", [1], [1])], 2),
                                  ("another", [("a", "b", [1], [3])], 1), ("not looked at", [], 1),
                                  ("not listed", [("a", "b", [1], [2]), ("a", "c", 1, 2)], 1)):
        inner = report.Tally(quiet=True)
        held = original_differences.Comparison(inner, listed)
        for each in found:
            held.hold(*each)
        held.close()
        tally.add(f"self-test: {name}", None if inner.failed == failures else f"{inner.failed} failures")
    inner = report.Tally(quiet=True)
    held = original_differences.Comparison(inner, {("a", "b"): original_differences.Difference("no rule at all", 1, 2)})
    held.hold("a", "b", 1, 2)
    held.close()
    tally.add("self-test: no such rule", None if inner.failed == 1 else f"{inner.failed} failures")


def main():
    tf.disable_eager_execution()
    tf.get_logger().setLevel("FATAL")
    tally = report.Tally()
    if sys.argv[1:] == ["--self-test"]:
        self_test(tally)
    else:
        held = original_differences.Comparison(tally, original_differences.DIFFERENCES)
        with tempfile.TemporaryDirectory() as folder:
            sides = Sides(folder, tally)
            for part in (same_losses, resumed, logged_at_the_end, end_of_input, not_finite, same_events, safetensors_hold_the_same):
                part(held, sides)
        held.close()
    tally.close()


main()
