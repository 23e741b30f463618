#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Which of the compiler defects that shape the code are present here, held against what is expected.

Each canary is a program for one defect. Its head says:

    // rule: what we do because of it
    // flags: -O2                                   more flags for the compiler; -O0 without
    // compiles: not where the defect is present    the defect is that the compiler rejects it

It ends with 0 where the compiler is right and 10 where the defect is present; any other end is a crash, and counts as
present. `expected.json` has, for each compiler by name and version, the canaries whose defect is present. Where that
list is out of date this fails and says which rule may be retired, or is needed now. A compiler of another version has no
list: what was found is printed, and nothing fails.

usage: run.py [--self-test] [--record]      --record writes the list of the compilers that are here
"""

import json
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import report  # noqa: E402

EXPECTED = HERE / "expected.json"
RIGHT, PRESENT = 0, 10


def head_of(text):
    """The keys of a canary's head."""
    return {key: value.strip() for key, value in re.findall(r"^// (rule|flags|compiles): (.+)$", text, re.MULTILINE)}


def version_of(compiler):
    told = report.run([compiler, "-dumpfullversion" if "clang" not in compiler else "-dumpversion"]).stdout.strip()
    return f"{compiler} {told}"


def is_present(compiler, file, folder):
    """True, False, or a text that says why the canary could not be asked."""
    head = head_of(file.read_text())
    if "rule" not in head:
        return "its head has no rule"
    program = pathlib.Path(folder) / f"{compiler}-{file.stem}"
    made = report.run([compiler, "-std=c++20", *head.get("flags", "-O0").split(), f"-I{HERE}", file, "-o", program])
    if made.returncode != 0:
        return True if "compiles" in head else "it does not compile:\n" + made.stdout
    return report.run([program]).returncode != RIGHT


def differences(found, expected, rules):
    """Texts for what is not as expected: `found` and `expected` are sets of names."""
    told = [f"{name}: the defect is gone, and its rule may be retired: {rules[name]}" for name in sorted(expected - found)
            if name in rules]
    told += [f"{name}: the defect is present and was not expected; the rule holds here, too: {rules[name]}"
             for name in sorted(found - expected)]
    told += [f"{name}: there is no such canary" for name in sorted(expected - set(rules))]
    return told


def play(tally, record, folder_of_canaries=HERE, lists=None):
    known = lists if lists is not None else (json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {})
    canaries = sorted(folder_of_canaries.glob("*.cpp"))
    rules = {file.stem: head_of(file.read_text()).get("rule", "") for file in canaries}
    with tempfile.TemporaryDirectory() as folder:
        for compiler in report.compilers():
            results = report.in_parallel(lambda file: is_present(compiler, file, folder), canaries)
            name = version_of(compiler)
            unusable = [(file.stem, result) for file, result in zip(canaries, results) if isinstance(result, str)]
            for stem, problem in unusable:
                tally.add(f"{name}: {stem}", problem)
            found = {file.stem for file, result in zip(canaries, results) if result is True}
            print(f"{name}: present: {', '.join(sorted(found)) or 'none'}")
            if record:
                known[name] = sorted(found)
            if name not in known:
                tally.skip(name, "no list for this version; run.py --record writes one")
                continue
            told = differences(found, set(known[name]), rules)
            for file in canaries:
                if any(stem == file.stem for stem, _ in unusable):
                    continue
                mine = [line for line in told if line.startswith(file.stem + ":")]
                tally.add(f"{name}: {file.stem}", "\n".join(mine) or None)
            for line in told:
                if line.endswith("no such canary"):
                    tally.add(name, line)
    if record:
        EXPECTED.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    return tally


def self_test(tally):
    rules = {"a": "ra", "b": "rb"}
    for number, (found, expected, words) in enumerate([
            ({"a"}, {"a"}, []), ({"a"}, {"a", "b"}, ["b: the defect is gone", "rb"]),
            ({"a", "b"}, {"a"}, ["b: the defect is present and was not expected", "rb"]),
            (set(), {"c"}, ["c: there is no such canary"])]):
        told = "\n".join(differences(found, expected, rules))
        good = (told == "") == (not words) and all(word in told for word in words)
        tally.add(f"self-test {number}", None if good else told)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        head = "// rule: r\n"
        (folder / "right.cpp").write_text(head + "int main() { return 0; }\n")
        (folder / "wrong.cpp").write_text(head + "int main() { return 10; }\n")
        (folder / "crash.cpp").write_text(head + "int main() { __builtin_trap(); }\n")
        (folder / "rejected.cpp").write_text(head + "// compiles: not where the defect is present\nint main() { return x; }\n")
        (folder / "broken.cpp").write_text(head + "int main() { return x; }\n")
        (folder / "nameless.cpp").write_text("int main() { return 0; }\n")
        compiler = report.compilers()[0]
        for stem, wanted in (("right", False), ("wrong", True), ("crash", True), ("rejected", True)):
            got = is_present(compiler, folder / f"{stem}.cpp", folder)
            tally.add(f"self-test {stem}", None if got is wanted else f"{got}")
        for stem in ("broken", "nameless"):
            got = is_present(compiler, folder / f"{stem}.cpp", folder)
            tally.add(f"self-test {stem}", None if isinstance(got, str) else f"{got}")
        for stem in ("broken", "nameless"):
            (folder / f"{stem}.cpp").unlink()
        out_of_date = report.Tally(quiet=True)
        play(out_of_date, False, folder, {version_of(name): ["right", "wrong"] for name in report.compilers()})
        wanted = 3 * len(report.compilers())  # `right` is gone, `crash` and `rejected` are new
        tally.add("self-test of a list out of date", None if out_of_date.failed == wanted else out_of_date.closing())
    return tally


def main(arguments):
    tally = report.Tally()
    if "--self-test" in arguments:
        self_test(tally)
    else:
        play(tally, "--record" in arguments)
    tally.close()


main(sys.argv[1:])
