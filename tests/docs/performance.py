#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""docs/performance.md and its plots are what is made from docs/performance/figures.json: nobody edits a number by hand.

usage: performance.py [--self-test]
"""

import json
import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / "tools"), str(HERE.parent.parent / "benchmarks")]
import performance_page  # noqa: E402
import report  # noqa: E402


def play(tally):
    told = performance_page.problems()
    problem = "\n".join(f"{name}: {what}" for name, what in told)
    tally.add("page, plots and figures of performance", problem or None)
    about = json.loads((performance_page.FOLDER / "figures.about.json").read_text())
    for words in ("--without tensorflow --without ignite", "--quick --page"):
        said = performance_page.made({}, about | {"command": f"./dev bench {words}"})[0]
        wanted = f"`./dev bench {words.removesuffix(' --page')} --page`"
        problem = None if wanted in " ".join(said.split()) else f"{wanted} is not on it"
        tally.add(f"the command of the page: {words}", problem)


def changed_number(text):
    """One digit of a number in the last table is another."""
    place = [match.start() for match in re.finditer(r"\d(?= \|)", text)][-1]
    return text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1:]


def other_figures(text):
    """One that a table and a plot show."""
    found, name = json.loads(text), "idle/5/fused/instructions_per_step"
    return performance_page.text_of(found | {name: found[name] + 1})


def hidden_figure(text):
    """One that no table and no plot shows."""
    found = json.loads(text)
    name = next(name for name in found if name.endswith("_spread"))
    return performance_page.text_of(found | {name: found[name] + 1})


def other_machine(text):
    return performance_page.text_of(json.loads(text) | {"cores": 999})


# what is changed, how, and the file that must be told of
SELF_TEST = [
    ("performance.md", changed_number, "performance.md"),
    ("performance.md", lambda text: text + "more\n", "performance.md"),
    ("figures.json", other_figures, "performance.md"),
    ("figures.json", other_figures, "instructions-idle.svg"),
    ("figures.json", hidden_figure, "performance.md"),
    ("figures.json", lambda text: text.replace("\n ", "\n  "), "figures.json"),
    ("figures.about.json", other_machine, "performance.md"),
    ("instructions-idle.svg", lambda text: text.replace("1.5", "1.6", 1).replace("<g ", "<g  ", 1),
     "instructions-idle.svg"),
    ("instructions-idle.svg", lambda text: re.sub("drawn from", "from", text), "instructions-idle.svg"),
    ("instructions-idle.svg", None, "instructions-idle.svg"),
    ("another.svg", lambda text: "<svg/>\n", "another.svg"),
]


def self_test(tally):
    for number, (name, change, wanted) in enumerate(SELF_TEST):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary) / "performance"
            shutil.copytree(performance_page.FOLDER, folder)
            page = shutil.copy(performance_page.PAGE, temporary)
            file = pathlib.Path(page) if name.endswith(".md") else folder / name
            if change is None:
                file.unlink()
            else:
                file.write_text(change(file.read_text() if file.exists() else ""))
            told = {where for where, _ in performance_page.problems(pathlib.Path(page), folder)}
            problem = None if wanted in told else f"{wanted} is not among {sorted(told)}"
            tally.add(f"self-test {number}: {name}", problem)


def main(arguments):
    tally = report.Tally()
    (self_test if "--self-test" in arguments else play)(tally)
    tally.close()


main(sys.argv[1:])
