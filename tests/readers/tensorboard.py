#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Holds the event files that event_file.cpp writes against TensorBoard itself, in an environment below build/.

- Its EventAccumulator, which checks all checksums, finds every value, bit for bit, and stops where a byte was changed.
- A started TensorBoard shows scalars, histograms, images, texts, hyperparameters and the graph, with its loader in Python
  and with its fast one, which looks at no payload's checksum.

usage: tensorboard.py [--self-test]
"""

import collections
import io
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
# this file must not be found in place of the package of its name
sys.path[:] = [place for place in sys.path if pathlib.Path(place or ".").resolve() != HERE]
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import packages  # noqa: E402
import report  # noqa: E402

# setuptools for pkg_resources, which Python's own environments have no longer
REQUIREMENTS = ["tensorboard==2.21.0", "setuptools==80.9.0"]
SECONDS = 120  # for a server to have read everything


def enter_environment():
    python = pathlib.Path(packages.venv(*REQUIREMENTS))
    if pathlib.Path(sys.prefix).resolve() != python.parent.parent.resolve():
        os.execv(python, [str(python), str(HERE / "tensorboard.py"), *sys.argv[1:]])


def build_and_run(name, folder, argument):
    """NAME.cpp, its program in `folder`. @return what it prints"""
    program = folder / name
    built = report.run(["g++", "-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", f"-I{report.INCLUDE}",
                        HERE / f"{name}.cpp", "-o", program])
    if built.returncode != 0:
        sys.exit(built.stdout)
    ran = report.run([program, argument])
    if ran.returncode != 0:
        sys.exit(f"{name} ended with {ran.returncode}\n{ran.stdout}")
    return ran.stdout


def write_files(folder):
    """Builds and runs the writer. @return what it says that it wrote: (run, kind, tag) -> [(step, value)]"""
    said = build_and_run("event_file", folder, folder / "logs")
    written = collections.defaultdict(list)
    for line in said.splitlines():
        run, kind, rest = line.split(" ", 2)
        tag, step, bits = rest.rsplit(" ", 2)
        written[run, kind, tag].append((int(step), struct.unpack(">d", bytes.fromhex(bits))[0]))
    return written


def bits(value):
    return struct.pack(">d", value).hex()


def same(found, expected):
    """None, or where two lists differ."""
    if found == expected:
        return None
    place = next((i for i, (a, b) in enumerate(zip(found, expected)) if a != b), min(len(found), len(expected)))
    return (f"{len(found)} found, {len(expected)} expected; the first difference is at {place}:\n"
            f"{found[place:place + 3]}\n{expected[place:place + 3]}")


def scalars_of(written, run):
    return {tag: points for (name, kind, tag), points in written.items() if name == run and kind == "scalar"}


def histograms_of(written, run):
    """Tag -> step -> numbers. One without numbers says nothing."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for (name, kind, tag), numbers in written.items():
        for step, number in numbers:
            if name == run and kind == "number":
                found[tag][step].append(number)
    return found


def check_buckets(rows, numbers):
    """None, or why rows of left edge, right edge and count are not those of the numbers."""
    import numpy
    finite = numpy.array([number for number in numbers if numpy.isfinite(number)])
    rows = numpy.array(rows, dtype=float).reshape(-1, 3)
    if len(finite) == 0:
        return None if len(rows) == 0 else f"{len(rows)} buckets of no numbers"
    if finite.min() == finite.max():
        right = len(rows) == 1 and rows[0][0] < finite[0] < rows[0][1] and rows[0][2] == len(finite)
        return None if right else f"equal numbers are {rows}"
    counts, edges = numpy.histogram(finite, bins=30, range=(finite.min(), finite.max()))
    if list(rows[:, 2]) != list(counts):
        return f"counts {rows[:, 2]}, expected {counts}"
    if not (numpy.allclose(rows[:, 0], edges[:-1], rtol=1e-12, atol=1e-15) and
            numpy.allclose(rows[:, 1], edges[1:], rtol=1e-12, atol=1e-15)):
        return f"edges {rows[:, :2]}, expected {edges}"
    return None


# --- the strict reader ------------------------------------------------------------------------------------------------


def accumulate(folder):
    from tensorboard.backend.event_processing import event_accumulator
    every = {kind: 0 for kind in ("scalars", "tensors", "histograms", "images", "compressedHistograms", "audio")}
    return event_accumulator.EventAccumulator(str(folder), size_guidance=every).Reload()


def array_of(event):
    from tensorboard.util import tensor_util
    return tensor_util.make_ndarray(event.tensor_proto)


def strict_scalars(read, tag):
    return [(event.step, bits(event.value)) for event in read.Scalars(tag)]


def check_strict(tally, logs, written):
    import PIL.Image
    from tensorboard.compat.proto import graph_pb2
    all_kinds = accumulate(logs / "all")
    scalars = scalars_of(written, "all")
    others = {"weights", "equal", "nothing", "notes", "picture", "_hparams_/experiment", "_hparams_/session_start_info",
              "_hparams_/session_end_info"}
    tally.add("tags", same(sorted(all_kinds.Tags()["tensors"]), sorted(others)))
    tally.add("tags of scalars", same(sorted(all_kinds.Tags()["scalars"]), sorted(scalars)))
    for tag, points in scalars.items():
        tally.add(f"scalars of {tag}", same(strict_scalars(all_kinds, tag), [(step, bits(value)) for step, value in points]))
    times = [event.wall_time for event in all_kinds.Scalars("values/exact")]
    # the clock goes on by a quarter each time it is asked, first for the name of the file
    tally.add("wall times", same(times, [1700000000.125 + 0.25 * (2 + i) for i in range(len(times))]))
    for tag, steps in histograms_of(written, "all").items():
        found = {event.step: array_of(event) for event in all_kinds.Tensors(tag)}
        tally.add(f"steps of {tag}", same(sorted(found), sorted(steps)))
        for step in sorted(set(found) & set(steps)):
            tally.add(f"buckets of {tag} at {step}", check_buckets(found[step], steps[step]))
    tally.add("a histogram of nothing", same([array_of(event).shape for event in all_kinds.Tensors("nothing")], [(0, 3)]))
    tally.add("text", same([array_of(event).item() for event in all_kinds.Tensors("notes")],
                           [b"**bold** <script>alert(1)</script>"]))
    width, height, png = array_of(all_kinds.Tensors("picture")[0])
    picture = PIL.Image.open(io.BytesIO(png))
    tally.add("image", same([width, height, picture.size, picture.mode, picture.tobytes()],
                            [b"6", b"4", (6, 4), "RGB", bytes(i * 3 % 256 for i in range(72))]))
    graph = graph_pb2.GraphDef.FromString(all_kinds.Graph().SerializeToString())
    nodes = {node.name: (node.op, list(node.input)) for node in graph.node}
    tally.add("graph", same(sorted(nodes.items()), sorted({
        "weights": ("variable", []), "rate": ("placeholder", []), "model/loss": ("op", ["weights"]),
        "model/train": ("update", ["weights", "rate", "model/loss"])}.items())))
    weights = next(node for node in graph.node if node.name == "weights")
    tally.add("shape of a node", same([[dim.size for dim in weights.attr["shape"].shape.dim], weights.attr["dtype"].type],
                                      [[2, 3], 1]))
    resumed = accumulate(logs / "resumed")
    for tag, points in scalars_of(written, "resumed").items():
        tally.add(f"{tag} after a resume", same(strict_scalars(resumed, tag), [(step, bits(value)) for step, value in points]))


TRAINED = [(step, struct.unpack("f", struct.pack("f", 1 / step))[0]) for step in range(1, 21)]  # as training.cpp does


def check_training(tally, folder):
    """A whole training: broken off, recovered, killed and resumed. Each step is there once, with its loss."""
    from tensorboard.backend.event_processing import plugin_event_accumulator
    accumulated = accumulate(folder / "logs" / "training")
    tally.add("training: loss", same(strict_scalars(accumulated, "loss"), [(step, bits(value)) for step, value in TRAINED]))
    # the other one keeps histograms in their newer form of steps that are forgotten
    shown = plugin_event_accumulator.EventAccumulator(str(folder / "logs" / "training"), tensor_size_guidance={"both": 0}).Reload()
    tally.add("training: histograms", same([event.step for event in shown.Tensors("both")], [step for step, _ in TRAINED]))
    tally.add("training: files", same(len(list((folder / "logs" / "training").iterdir())), 2))
    graph = accumulated.Graph()
    tally.add("training: graph", same(sorted(node.name for node in graph.node), ["both", "gradient", "loss", "train", "w", "x"]))


def write_training(folder):
    build_and_run("training", folder, folder)


def offsets(content):
    """Where each record begins."""
    found, at = [], 0
    while at < len(content):
        found.append(at)
        at += 16 + struct.unpack_from("<Q", content, at)[0]
    return found


def changed(content, at):
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1:]


def damaged(plain):
    """Name -> bytes of a file with ten points, and the number of points that a strict reader finds in it."""
    begin = offsets(plain)  # the first record is the version
    return {
        "untouched": (plain, 10),
        "payload": (changed(plain, begin[6] + 12 + 20), 5),
        "length": (changed(plain, begin[6]), 5),
        "checksum of the length": (changed(plain, begin[6] + 8), 5),
        "checksum of the payload": (changed(plain, begin[7] - 1), 5),
        "cut in the last payload": (plain[:-10], 9),
        "cut in the last length": (plain[:begin[10] + 3], 9),
        "last byte gone": (plain[:-1], 9),
    }


def check_damage(tally, logs, folder):
    plain = next((logs / "plain").iterdir())
    for name, (content, points) in damaged(plain.read_bytes()).items():
        place = folder / "damaged" / name.replace(" ", "_")
        place.mkdir(parents=True)
        (place / plain.name).write_bytes(content)
        found = [step for step, _ in strict_scalars(accumulate(place), "loss")]
        tally.add(f"damage: {name}", same(found, list(range(1, points + 1))))


# --- as a user sees it ------------------------------------------------------------------------------------------------


class Server:
    def __init__(self, logs, fast):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.words = tempfile.TemporaryFile("w+")
        # 0 is "all" for the loader but "none" for the pages
        every = ",".join(f"{kind}=100000" for kind in ("scalars", "histograms", "images", "text"))
        self.process = subprocess.Popen(
            [pathlib.Path(sys.executable).parent / "tensorboard", "--logdir", str(logs), "--host", "127.0.0.1", "--port",
             str(self.port), f"--load_fast={'true' if fast else 'false'}", f"--samples_per_plugin={every}"],
            stdout=self.words, stderr=subprocess.STDOUT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def get(self, path, posted=None, **query):
        address = f"http://127.0.0.1:{self.port}/data/{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
        asked = urllib.request.Request(address, json.dumps(posted).encode() if posted is not None else None,
                                       {"Content-Type": "application/json"})
        with urllib.request.urlopen(asked, timeout=SECONDS) as answer:
            return answer.read()

    def json(self, path, posted=None, **query):
        return json.loads(self.get(path, posted, **query))

    def wait_for(self, run, tag, step):
        """Until the last point of a run is there. @return None, or what went wrong"""
        last = None
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                points = self.json("plugin/scalars/scalars", run=run, tag=tag)
                if points and points[-1][1] == step:
                    return None
                last = f"{len(points)} points"
            except (OSError, ValueError) as problem:  # not up yet, or the tag not found yet
                last = problem
            time.sleep(0.2)
        self.words.seek(0)
        return f"not ready: {last}\n{self.words.read()}"


def shown(value):
    """As TensorBoard writes a number in JSON."""
    if value != value:
        return "NaN"
    return {float("inf"): "Infinity", float("-inf"): "-Infinity"}.get(value, value)


def check_server(tally, logs, written, fast):
    kind = "fast" if fast else "Python"
    add = lambda name, problem: tally.add(f"{kind} loader: {name}", problem)  # noqa: E731
    with Server(logs, fast) as server:
        problem = (server.wait_for("all", "many", 3000) or server.wait_for("resumed", "loss", 120) or
                   server.wait_for("plain", "loss", 10) or
                   (server.wait_for("training", "loss", 20) if (logs / "training").exists() else None))
        add("ready", problem)
        if problem:
            return
        trained = ["training"] if (logs / "training").exists() else []
        add("runs", same(sorted(server.json("runs")), ["all", "plain", "resumed", *trained]))
        if trained:
            found = server.json("plugin/scalars/scalars", run="training", tag="loss")
            add("a training", same([(step, value) for _, step, value in found], TRAINED))
            found = server.json("plugin/histograms/histograms", run="training", tag="both")
            add("histograms of a training", same([step for _, step, _ in found], [step for step, _ in TRAINED]))
        for tag, points in scalars_of(written, "all").items():
            found = [(step, value) for _, step, value in server.json("plugin/scalars/scalars", run="all", tag=tag)]
            add(f"scalars of {tag}", same(found, [(step, shown(value)) for step, value in points]))
        found = server.json("plugin/scalars/scalars", run="resumed", tag="loss")
        add("a resumed run", same([(step, value) for _, step, value in found], scalars_of(written, "resumed")["loss"]))
        for tag, steps in histograms_of(written, "all").items():
            found = {step: rows for _, step, rows in server.json("plugin/histograms/histograms", run="all", tag=tag)}
            add(f"histogram steps of {tag}", same(sorted(found), sorted(steps)))
            for step in sorted(set(found) & set(steps)):
                add(f"buckets of {tag} at {step}", check_buckets(found[step], steps[step]))
        found = server.json("plugin/histograms/histograms", run="all", tag="nothing")
        add("a histogram of nothing", same([rows for _, _, rows in found], [[]]))
        texts = server.json("plugin/text/text", run="all", tag="notes")
        add("text", None if "<strong>bold</strong>" in texts[0]["text"] and "<script>" not in texts[0]["text"] else str(texts))
        picture = server.json("plugin/images/images", run="all", tag="picture", sample=0)[0]
        png = server.get("plugin/images/individualImage?" + picture["query"])
        add("image", same(png, bytes(array_of(accumulate(logs / "all").Tensors("picture")[0])[2])))
        experiment = server.json("plugin/hparams/experiment", {})
        add("hyperparameters", same(sorted(info["name"] for info in experiment["hparamInfos"]),
                                    ["depth", "nesterov", "optimizer", "rate"]))
        groups = server.json("plugin/hparams/session_groups", {
            "startIndex": 0, "sliceSize": 10, "allowedStatuses": ["STATUS_SUCCESS"],
            "colParams": [{"hparam": name, "includeInResult": True} for name in ("depth", "nesterov", "optimizer", "rate")]})
        add("values of hyperparameters", same(groups["sessionGroups"][0]["hparams"],
                                              {"rate": 0.1, "depth": 3, "nesterov": True, "optimizer": "sgd"}))
        metric = groups["sessionGroups"][0]["metricValues"][0]
        add("metric", same([metric["name"]["tag"], metric["value"]], ["values/exact", 16777216.0]))
        info = server.json("plugin/graphs/info")
        add("graph", same(info.get("all", {}).get("run_graph"), True))
        drawn = server.get("plugin/graphs/graph", run="all", conceptual="false").decode()
        add("nodes of the graph", same([drawn.count("node {"), 'name: "model/train"' in drawn, 'input: "model/loss"' in drawn],
                                       [4, True, True]))


# --- that it can fail -------------------------------------------------------------------------------------------------


def self_test(tally, logs, written, folder):
    def must_fail(name, change):
        inner = report.Tally(quiet=True)
        change(inner)
        tally.add(f"self-test: {name}", None if inner.failed > 0 else "nothing failed")

    def with_value(key, place, point):
        other = collections.defaultdict(list, {name: list(points) for name, points in written.items()})
        other[key][place] = point
        return other

    good = report.Tally(quiet=True)
    check_strict(good, logs, written)
    tally.add("self-test: what is right passes", None if good.good() else "it fails")
    must_fail("one bit of a scalar", lambda inner: check_strict(
        inner, logs, with_value(("all", "scalar", "values/exact"), 0, (0, 0.10000000894069672))))
    must_fail("the sign of a zero", lambda inner: check_strict(
        inner, logs, with_value(("all", "scalar", "values/exact"), 1, (1, 0.0))))
    must_fail("a step", lambda inner: check_strict(inner, logs, with_value(("all", "scalar", "far"), 0, (1, 1.0))))
    must_fail("one number of a histogram", lambda inner: check_strict(
        inner, logs, with_value(("all", "number", "weights"), 10, (1, 0.0))))
    # a resume without its mark: what came after step 60 stands there twice
    unmarked = folder / "unmarked"
    shutil.copytree(logs, unmarked)
    last = sorted((unmarked / "resumed").iterdir())[-1]
    content = last.read_bytes()
    begin = offsets(content)
    last.write_bytes(content[:begin[1]] + content[begin[3]:])
    must_fail("a resume without a mark", lambda inner: check_strict(inner, unmarked, written))
    # one mark alone does for this reader, but is the beginning of the training for a started TensorBoard
    last.write_bytes(content[:begin[1]] + content[begin[2]:])
    must_fail("a resume with one mark, as shown", lambda inner: check_server(inner, unmarked, written, False))
    write_training(folder)
    check_training(good, folder)
    tally.add("self-test: a training passes", None if good.good() else "it fails")
    second = sorted((logs / "training").iterdir())[-1]
    content = second.read_bytes()
    begin = offsets(content)
    second.write_bytes(content[:begin[1]] + content[begin[3]:])
    must_fail("a training resumed without a mark", lambda inner: check_training(inner, folder))
    second.write_bytes(content[:-1])
    must_fail("a training that lacks a step", lambda inner: check_training(inner, folder))
    shutil.rmtree(logs / "training")
    lost = folder / "lost"
    shutil.copytree(logs, lost)
    plain = next((lost / "plain").iterdir())
    plain.write_bytes(plain.read_bytes()[:-1])
    must_fail("a point that is lost", lambda inner: check_damage(inner, lost, folder / "of_lost"))


def main(arguments):
    enter_environment()
    tally = report.Tally()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        written = write_files(folder)
        logs = folder / "logs"
        if "--self-test" in arguments:
            self_test(tally, logs, written, folder)
        else:
            check_strict(tally, logs, written)
            check_damage(tally, logs, folder)
            write_training(folder)
            check_training(tally, folder)
            for fast in (False, True):
                check_server(tally, logs, written, fast)
    tally.close()


main(sys.argv[1:])
