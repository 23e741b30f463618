#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Python's json and csv read our rows: every number comes back to the bit, texts as far as the format can hold them.

usage: rows.py [--self-test]
"""

import csv
import json
import math
import pathlib
import struct
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import files  # noqa: E402
import report  # noqa: E402

NOT_FINITE = [math.nan, math.inf, -math.inf]


def same(a, b):
    """Equal to the bit, or both no number."""
    a, b = float(a), float(b)
    return struct.pack("<d", a) == struct.pack("<d", b) or (a != a and b != b)


def json_value(value):
    return math.nan if value is None else value


def no_constant(word):
    raise ValueError(f"{word} is no JSON")


def read_json(path):
    return [json.loads(line, parse_constant=no_constant) for line in path.read_text().split("\n")[:-1]]


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.reader(file, strict=True))


def check_json_rows(rows):
    wanted = files.HARD + NOT_FINITE
    if len(rows) != len(wanted):
        return f"{len(rows)} rows, expected {len(wanted)}"
    for step, (row, value) in enumerate(zip(rows, wanted), 1):
        hard = step <= len(files.HARD)
        if list(row) != ["step", "value", "single", files.ODD, "yes", "absent"]:
            return f"columns {list(row)}"
        if row["step"] != step or not same(json_value(row["value"]), value):
            return f"{row}, expected {value!r} in step {step}"
        if not same(row["single"], float(f"{step / 10:.6g}") if hard else 0):
            return f"single {row['single']!r} in step {step}"
        if (row[files.ODD], row["yes"], row["absent"]) != ((files.ODD, step % 2 == 0, None) if hard else ("", False, 7)):
            return f"{row}"
    return None


def check_json_scalars(rows):
    wanted = files.HARD + NOT_FINITE
    for step, (row, value) in enumerate(zip(rows, wanted, strict=True), 1):
        tag = files.ODD if step <= len(files.HARD) else "odd"
        if list(row) != ["step", "tag", "value"] or row["step"] != step or row["tag"] != tag:
            return f"{row}, expected {tag!r} in step {step}"
        if not same(json_value(row["value"]), value):
            return f"{row}, expected {value!r}"
    return None


def check_csv_rows(rows):
    header, *rows = rows
    if header != ["step", "value", "single", 'a "quoted, column"', "text"]:
        return f"header {header}"
    for step, (row, value) in enumerate(zip(rows, files.HARD + NOT_FINITE, strict=True), 1):
        hard = step <= len(files.HARD)
        if int(row[0]) != step or not same(row[1], value) or not same(row[2], float(f"{step / 10:.6g}") if hard else 0):
            return f"{row}, expected {value!r} in step {step}"
        if row[3:] != (["", 'a, "b" c'] if hard else ["7", ""]):
            return f"{row}"
    return None


def check_csv_scalars(rows):
    header, *rows = rows
    if header != ["step", "tag", "value"]:
        return f"header {header}"
    for step, (row, value) in enumerate(zip(rows, files.HARD + NOT_FINITE, strict=True), 1):
        if int(row[0]) != step or row[1] != ('loss, "train"' if step <= len(files.HARD) else "odd") or not same(row[2], value):
            return f"{row}, expected {value!r} in step {step}"
    return None


CHECKS = {"rows.jsonl": (read_json, check_json_rows), "scalars.jsonl": (read_json, check_json_scalars),
          "rows.csv": (read_csv, check_csv_rows), "scalars.csv": (read_csv, check_csv_scalars)}


def judge(path):
    """None, or how what is read differs from what was written."""
    read, check = CHECKS[path.name]
    try:
        return check(read(path))
    except (ValueError, IndexError, csv.Error) as error:
        return f"cannot be read: {error}"


def play(tally):
    for compiler in report.compilers():
        with tempfile.TemporaryDirectory() as folder:
            problem = files.write(compiler, folder)
            for name in CHECKS:
                tally.add(f"{name} of {compiler}", problem or judge(pathlib.Path(folder) / name))
    return tally


# a file, what to change in it, and into what: each must be seen
SELF_TEST = [
    ("rows.jsonl", "0.3333333333333333", "0.3333333333333334"), ("rows.jsonl", "-0.0", "-0"), ("rows.jsonl", "null}", "NaN}"),
    ("rows.jsonl", '"step":3', '"step":4'), ("rows.jsonl", "0.7,", "0.70000001,"), ("rows.jsonl", "\n", ""),
    ("scalars.jsonl", '"-Infinity"', "null"), ("scalars.jsonl", "\\u0001", "\x01"), ("scalars.csv", "1e+22", "1e+21"),
    ("rows.csv", "5e-324", "0"), ("rows.csv", '"a ""quoted, column"""', "a"), ("rows.csv", ",7,", ",8,"),
    ("scalars.csv", "step,tag,value\n", ""), ("scalars.csv", "-inf", "inf"),
]


def self_test(tally):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        problem = files.write(report.compilers()[0], folder)
        tally.add("self-test files", problem)
        for number, (name, old, new) in enumerate([] if problem else SELF_TEST):
            text = (folder / name).read_text()
            (folder / str(number)).mkdir()
            changed = folder / str(number) / name
            changed.write_text(text.replace(old, new, 1))
            seen = old in text and judge(changed)
            tally.add(f"self-test {name} {old!r} -> {new!r}", None if seen else "it was not seen")
    return tally


def main(arguments):
    tally = report.Tally()
    (self_test if "--self-test" in arguments else play)(tally)
    tally.close()


main(sys.argv[1:])
