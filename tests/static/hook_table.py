#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The table of all hooks in docs/hooks/README.md is what the headers say: hook_table.cpp tells callbacks, state, size,
and whether a step takes memory; callgrind counts what a hook that has nothing to do adds to a step. Each header of
include/tautline/hooks has a row, or stands below with the reason why it has none.

usage: hook_table.py [--self-test] [--update]
  --update   writes the table anew
"""

import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import report  # noqa: E402

PAGE = report.ROOT / "docs/hooks/README.md"
PROGRAM = HERE / "hook_table.cpp"
BEGIN, END = "<!-- hook_table.py: begin -->\n", "<!-- hook_table.py: end -->\n"
FLAGS = ["-std=c++20", "-O2", "-DNDEBUG", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", f"-I{report.INCLUDE}"]
FEW, MANY = 1000, 3000  # steps, as in hook_table.cpp
# name in hook_table.cpp: title, family, page, header, what it does when it acts, in words
ROWS = {
    "stop_at_step": ("stop_at_step", "stopping", "stop_at_step.md", "stop_at_step", "a stop request"),
    "stopper": ("stopper", "stopping", "stopper.md", "stopper", "a stop request"),
    "early_stopping": ("stop_if_no_decrease", "stopping", "early_stopping.md", "early_stopping", "a stop request"),
    "stop_on_signal": ("stop_on_signal", "stopping", "stop_on_signal.md", "stop_on_signal", "in the signal handler: a store"),
    "nan_checker": ("nan_checker", "checks", "nan_checker.md", "nan_checker", "in every step; a look at each number"),
    "nan_checker_skips": ("nan_checker with skip_at_most", "checks", "nan_checker.md#policies", "on_bad_value", "a veto"),
    "nan_checker_goes_back": ("nan_checker with roll_back_at_most", "checks", "nan_checker.md#policies", "on_bad_value",
                              "a session made anew from a checkpoint"),
    "spike_checker": ("spike_checker", "checks", "spike_checker.md", "spike_checker", "in every step; as nan_checker"),
    "tensor_logger": ("tensor_logger", "logging", "tensor_logger.md", "tensor_logger", "a line is formatted"),
    "loss_logger": ("loss_logger", "logging", "loss_logger.md", "loss_logger", "a line is formatted"),
    "step_rate_logger": ("step_rate_logger", "logging", "step_rate_logger.md", "step_rate_logger", "a line is formatted"),
    "progress_bar": ("progress_bar", "logging", "progress_bar.md", "progress_bar", "a line is formatted"),
    "jsonl_logger": ("jsonl_logger", "logging", "jsonl_logger.md", "row_logger", "a system call"),
    "csv_logger": ("csv_logger", "logging", "jsonl_logger.md", "row_logger", "a system call"),
    "summary_saver": ("summary_saver", "summaries", "summary_saver.md", "summary_saver", "a copy of the values; what the writer takes"),
    "prometheus_metrics": ("prometheus_metrics", "summaries", "prometheus_metrics.md", "prometheus_metrics", "four system calls"),
    "checkpoint_saver": ("checkpoint_saver", "checkpoints", "checkpoint_saver.md", "checkpoint_saver", "what its sink takes"),
    "basic_evaluator": ("basic_evaluator", "evaluation", "evaluator.md", "basic_evaluator", "a run for each element of its data"),
    "evaluator": ("evaluator", "evaluation", "evaluator.md", "evaluator", "the same, and a table is formatted"),
    "timeline": ("timeline", "tracing", "timeline.md", "timeline", "0.3 µs for each callback of each hook"),
    "basic_step_timer": ("basic_step_timer", "tracing", "step_timer.md", "basic_step_timer", "in every step; a reading of the clock for each callback"),
    "phase_clock": ("phase_clock", "tracing", "watchdog.md", "phase_clock", "in every step; a few stores"),
    "watchdog": ("watchdog", "tracing", "watchdog.md", "watchdog", "on its own thread"),
    "feed_fn": ("feed_fn", "control", "feed_fn.md", "feed_fn", "in every step; its callable"),
    "final_ops": ("final_ops", "control", "final_ops.md", "final_ops", "a run at the end"),
    "global_step_waiter": ("global_step_waiter", "control", "global_step_waiter.md", "global_step_waiter", "the first run waits"),
    "learning_rate_schedule": ("learning_rate_schedule", "control", "learning_rate_schedule.md", "learning_rate_schedule", "in every step; its schedule"),
    "ema": ("ema", "control", "ema.md", "ema", "in every step; two operations for each number"),
    "ema_on_heap": ("ema_on_heap", "control", "ema.md", "ema_on_heap", "the same"),
    "pipeline": ("observe, with four stages", "composition", "../pipelines.md", "pipeline", "its stages"),
    "script": ("script", "composition", "../scripts.md", "script", "its coroutine is resumed"),
    "triggered": ("triggered", "composition", "triggered.md", "triggered", "the hook inside"),
    "on_rank_zero": ("on_rank_zero", "composition", "on_rank_zero.md", "on_rank_zero", "the hook inside"),
    "any_hook": ("any_hook, empty", "composition", "any_hook.md", "any_hook", "the hook inside, by indirect calls"),
    "off_thread": ("off_thread", "composition", "off_thread.md", "off_thread", "the hook inside, on its own thread"),
}
NO_ROW = {
    "any_trigger": "a trigger",
    "logging": "what logging hooks have in common",
    "model_dependent": "a base of hooks",
    "step_timer": "basic_step_timer with a report",
    "summary_writer_add_on": "a base of hooks",
    "time_histogram": "what step_timer counts with",
}
HEAD = ["hook", "family", "callbacks", "idle step", "when it acts", "heap", "real time", "state", "bytes", "example"]


def examples(root):
    """Path below examples/ -> text."""
    folder = root / "examples"
    files = sorted(folder.glob("*.cpp")) + sorted(folder.glob("*/*.cpp")) + sorted(folder.glob("*/*.hpp"))
    return {file.relative_to(folder).as_posix(): file.read_text() for file in files}


def example_of(name, title, texts):
    word = {"pipeline": "observe", "nan_checker_skips": "skip_at_most", "nan_checker_goes_back": "roll_back_at_most"}.get(
        name, title.split(",")[0])
    for path, text in texts.items():
        if re.search(rf"\b{word}\b", text):
            return f"[{path.split('/')[0] if '/' in path else path.removesuffix('.cpp')}](../../examples/{path})"
    return ""


def facts_of(printed):
    """Name -> callbacks, real time, state, bytes, heap, as hook_table.cpp prints them."""
    return {words[0]: words[1:] for words in (line.split("|") for line in printed.splitlines()) if len(words) == 6}


def costs_of(profile):
    """Name -> instructions that it adds to a step, from callgrind's file: what main's calls cost, all included."""
    names, totals, called, within = {}, {}, None, None
    calls = False
    for line in profile.splitlines():
        found = re.match(r"(c?fn)=\((\d+)\)(?: (.*))?$", line)
        if found:
            if found[3]:
                names[found[2]] = found[3]
            if found[1] == "fn":
                within = names.get(found[2])
            else:
                called = names.get(found[2])
        elif line.startswith("calls="):
            calls = True
        elif calls:
            calls = False
            if within == "main" and called:
                totals[called] = totals.get(called, 0) + int(line.split()[1])
    def per_step(name):
        return (totals[f"large_{name}"] - totals[f"small_{name}"]) / (MANY - FEW)

    known = [name.removeprefix("small_") for name in totals if name.startswith("small_")]
    return {name: per_step(name) - per_step("none") for name in known if name != "none" and f"large_{name}" in totals}


def close(page, found):
    return abs(page - found) <= max(3, 0.12 * found)


def table(facts, costs, texts, page):
    """The lines of the table; numbers of the page stay where they are about right."""
    old = {cells[0]: cells[3] for cells in rows_of(page) if len(cells) == len(HEAD)}
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    for name, (title, family, link, _, acts) in ROWS.items():
        if name not in facts:
            continue
        callbacks, real_time, state, size, heap = facts[name]
        hook = f"[{title}]({link})"
        cost = f"{max(0, round(costs[name]))}" if name in costs else ""
        was = old.get(hook, "")
        if was.isdigit() and (name not in costs or close(int(was), costs[name])):
            cost = was
        cells = [hook, family, ", ".join(callbacks.split()), cost, acts, "when it acts" if heap == "yes" else "no", real_time,
                 state, size, example_of(name, title, texts)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def rows_of(page):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| [")]


def part_of(text):
    """What stands between the marks, or None."""
    begin, end = text.find(BEGIN), text.find(END)
    return text[begin + len(BEGIN):end] if 0 <= begin < end else None


def check(tally, text, facts, costs, texts, headers, pages):
    part = part_of(text)
    tally.add("the table is there", None if part is not None else f"{PAGE.name} has no part between {BEGIN.strip()} and its end")
    part = part or ""
    wanted, found = table(facts, costs, texts, part), part.strip().splitlines()
    for line in wanted:
        tally.add(f"row {line[:40]}", None if line in found else f"the page must say\n{line}\nMend: tests/static/hook_table.py --update")
    tally.add("no more rows", None if set(found) <= set(wanted) else "\n".join(sorted(set(found) - set(wanted))))
    with_row = {row[3] for name, row in ROWS.items() if name in facts}
    for header in headers:
        problem = None
        if header not in with_row and header not in NO_ROW:
            problem = "it has no row. Add a HOOK line to hook_table.cpp and a row to hook_table.py"
        elif header in with_row and header in NO_ROW:
            problem = f"it has a row, but is called {NO_ROW[header]}"
        tally.add(f"row of {header}.hpp", problem)
    for name, row in ROWS.items():
        tally.add(f"facts of {name}", None if name in facts else "hook_table.cpp says nothing of it")
        tally.add(f"page of {name}", None if row[2].split("#")[0] in pages else f"there is no {row[2]}")
    for name in facts:
        tally.add(f"words of {name}", None if name in ROWS else "hook_table.py has no row for it")


def ask(tally):
    """Facts and costs, or None."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = folder / "hook_table"
        made = report.run(["g++", *FLAGS, PROGRAM, "-o", program, "-pthread", "-lfmt"])
        if made.returncode != 0:
            tally.add("hook_table.cpp", made.stdout)
            return None
        told = report.run([program], cwd=folder, timeout=300)
        if told.returncode != 0:
            tally.add("hook_table.cpp", f"ended with {told.returncode}\n{told.stdout}")
            return None
        if not shutil.which("valgrind"):
            tally.skip("instructions", "valgrind is not installed")
            return facts_of(told.stdout), {}
        counted = report.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=profile", program, "count"], cwd=folder, timeout=300)
        if counted.returncode != 0:
            tally.add("callgrind", counted.stdout)
            return None
        return facts_of(told.stdout), costs_of((folder / "profile").read_text())


def headers_of(root):
    return sorted(file.stem for file in (root / "include/tautline/hooks").glob("*.hpp"))


def pages_of(root):
    return {file.name for file in (root / "docs/hooks").glob("*.md")} | {f"../{file.name}" for file in (root / "docs").glob("*.md")}


def self_test(tally):
    facts = {name: ["begin after_run ", "yes", "none", "8", "no"] for name in ROWS}
    costs = {name: 20.0 for name in ROWS}
    headers = sorted({row[3] for row in ROWS.values()} | set(NO_ROW))
    pages = {row[2].split("#")[0] for row in ROWS.values()}
    texts = {"ten_lines.cpp": "stop_at_step{3}"}
    good = BEGIN + "\n".join(table(facts, costs, texts, "")) + "\n" + END

    def failures(text=good, **changed):
        inner = report.Tally(quiet=True)
        given = {"facts": facts, "costs": costs, "texts": texts, "headers": headers, "pages": pages, **changed}
        check(inner, text, given["facts"], given["costs"], given["texts"], given["headers"], given["pages"])
        return inner.failed

    def must(name, right):
        tally.add(f"self-test {name}", None if right else "the wrong verdict")

    must("good", failures() == 0)
    must("about right", failures(costs={name: 22.0 for name in ROWS}) == 0)
    must("without valgrind", failures(costs={}) == 0)
    must("more expensive", failures(costs={**costs, "ema": 40.0}) > 0)
    must("another fact", failures(facts={**facts, "ema": ["begin ", "yes", "none", "8", "no"]}) > 0)
    must("heap", failures(facts={**facts, "ema": ["begin after_run ", "yes", "none", "8", "yes"]}) > 0)
    must("no table", failures(text="") > 0)
    must("a row less", failures(text="".join(line for line in good.splitlines(True) if "[ema]" not in line)) > 0)
    must("a row more", failures(text=good.replace(END, "| [x](x.md) |\n" + END)) > 0)
    must("a header without a row", failures(headers=[*headers, "new_hook"]) > 0)
    must("a hook without a row", failures(facts={**facts, "new_hook": facts["ema"]}) > 0)
    must("a row without a hook", failures(facts={name: fact for name, fact in facts.items() if name != "ema"}) > 0)
    must("no page", failures(pages=pages - {"ema.md"}) > 0)
    must("another example", failures(texts={"other.cpp": "stop_at_step{3}"}) > 0)
    profile = "\n".join(["fn=(1) main", *(f"cfn=({i}) {name}\ncalls=1 1\n1 {cost}" for i, (name, cost) in enumerate(
        {"small_none": 1000, "large_none": 3000, "small_a": 11000, "large_a": 43000}.items(), 2)), "fn=(9) other", "cfn=(4)", "calls=1 1", "1 9"])
    must("costs", costs_of(profile) == {"a": 15.0})


def main(arguments):
    tally = report.Tally()
    if "--self-test" in arguments:
        self_test(tally)
        tally.close()
    asked = ask(tally)
    if asked is None:
        tally.close()
    facts, costs = asked
    text, texts = PAGE.read_text(), examples(report.ROOT)
    if "--update" in arguments:
        part = part_of(text) or ""
        new = BEGIN + "\n".join(table(facts, costs, texts, part)) + "\n" + END
        text = text.replace(BEGIN + part + END, new) if BEGIN in text else text.rstrip() + "\n\n" + new
        PAGE.write_text(text)
    check(tally, text, facts, costs, texts, headers_of(report.ROOT), pages_of(report.ROOT))
    tally.close()


main(sys.argv[1:])
