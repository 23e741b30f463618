#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Files of safetensors against the Python package: what we write it reads bit by bit and writes again byte for byte; what
it refuses we refuse.

usage: safetensors.py [--self-test]
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import report  # noqa: E402

REQUIREMENTS = ["safetensors==0.8.0", "numpy==2.4.6", "ml_dtypes==0.6.0"]
FLAGS = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", f"-I{report.INCLUDE}"]


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def packed(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


F4 = bytes(range(4))
TWO = b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[%s]}}'
# name: bytes of the file, and whether Python and we take it
FOREIGN = {
    "good": (packed({"a": entry("F32", [1], 0, 4)}, F4), True, True),
    "not_padded": (packed(b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}} ', F4), True, True),
    "leading_space": (packed(b'  {"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', F4), True, True),
    "not_aligned": (packed({"a": entry("F32", [1], 0, 4), "b": entry("F64", [1], 4, 12)}, F4 * 3), True, True),
    "other_order": (packed({"b": entry("F32", [1], 4, 8), "a": entry("F32", [1], 0, 4)}, F4 * 2), True, True),
    "empty_in_the_middle": (packed({"a": entry("F32", [1], 0, 4), "b": entry("F32", [0], 4, 4),
                                    "c": entry("F32", [1], 4, 8)}, F4 * 2), True, True),
    "empty": (packed(b"{}"), True, True),
    "only_metadata": (packed({"__metadata__": {"a": "b"}}), True, True),
    "extra_field": (packed({"a": {**entry("F32", [1], 0, 4), "more": 1}}, F4), True, True),
    "overlap": (packed({"a": entry("F32", [1], 0, 4), "b": entry("F32", [1], 2, 6)}, F4 * 2), False, False),
    "hole": (packed({"a": entry("F32", [1], 0, 4), "b": entry("F32", [1], 8, 12)}, F4 * 3), False, False),
    "hole_at_begin": (packed({"a": entry("F32", [1], 4, 8)}, F4 * 2), False, False),
    "trailing_bytes": (packed({"a": entry("F32", [1], 0, 4)}, F4 * 2), False, False),
    "short_data": (packed({"a": entry("F32", [1], 0, 4)}, F4[:3]), False, False),
    "no_data": (packed({"a": entry("F32", [1], 0, 4)}), False, False),
    "wrong_size": (packed({"a": entry("F32", [2], 0, 4)}, F4), False, False),
    "end_before_begin": (packed({"a": entry("F32", [1], 4, 0)}, F4), False, False),
    "unknown_type": (packed({"a": entry("F33", [1], 0, 4)}, F4), False, False),
    "no_type": (packed({"a": {"shape": [1], "data_offsets": [0, 4]}}, F4), False, False),
    "no_shape": (packed({"a": {"dtype": "F32", "data_offsets": [0, 4]}}, F4), False, False),
    "no_offsets": (packed({"a": {"dtype": "F32", "shape": [1]}}, F4), False, False),
    "three_offsets": (packed({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4, 4]}}, F4), False, False),
    "negative_extent": (packed({"a": entry("F32", [-1], 0, 4)}, F4), False, False),
    "fraction": (packed({"a": entry("F32", [1.0], 0, 4)}, F4), False, False),
    "overflow": (packed({"a": entry("F32", [2**62, 4], 0, 0)}), False, False),
    "huge_extent": (packed({"a": entry("F32", [2**64], 0, 0)}), False, False),
    "bad_utf8": (packed(b'{"\xff":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', F4), False, False),
    "metadata_number": (packed({"__metadata__": {"a": 1}}), False, False),
    "metadata_list": (packed({"__metadata__": ["a"]}), False, False),
    "duplicate": (packed(TWO % b"4,8", F4 * 2), False, False),
    "no_json": (packed(b"hello"), False, False),
    "cut_json": (packed(b'{"a":'), False, False),
    "list": (packed(b"[]"), False, False),
    "behind_json": (packed(b"{} {}"), False, False),
    "zero_behind_json": (packed(b"{}\0\0\0\0\0\0"), False, False),
    "byte_order_mark": (packed(b"\xef\xbb\xbf{}"), False, False),
    "header_too_long": (packed(b"{}", length=3), False, False),
    "header_huge": (packed(b"{}", length=2**63), False, False),
    "header_over_100_mb": (packed(b"{}" + b" " * 100_000_001), False, False),
    "eight_bit_float": (packed({"a": entry("F8_E4M3", [4], 0, 4)}, F4), False, False),  # by the package for numpy
    "seven_bytes": (b"\0" * 7, False, False),
    "nothing": (b"", False, False),
    # we are stricter: each of these could mean a file that is not what it seems, or that we cannot hold
    "duplicate_same_range": (packed(TWO % b"0,4", F4), True, False),
    "nine_dimensions": (packed({"a": entry("F32", [1] * 9, 0, 4)}, F4), True, False),
}


# ---- within the environment that has the package

def read_again(file):
    """Reads a file by the package. @return its tensors as (name, type, shape, bytes), and the bytes of a file saved from them"""
    import ml_dtypes  # noqa: F401  numpy learns bfloat16
    import numpy  # noqa: F401
    from safetensors import deserialize, safe_open
    from safetensors.numpy import load_file, save

    arrays = load_file(file)
    with safe_open(file, framework="numpy") as opened:
        metadata = opened.metadata()
    raw = {name: (info["dtype"], list(info["shape"]), bytes(info["data"])) for name, info in deserialize(file.read_bytes())}
    for name, array in arrays.items():
        if array.tobytes() != raw[name][2] or list(array.shape) != raw[name][1]:
            raise ValueError(f"{name} is not the same as an array")
    return ([(name, *rest) for name, rest in raw.items()], save(arrays, metadata=metadata))


def inner(folder, names):
    """Prints one JSON line for each file: what the package finds, or why it refuses it."""
    for name in names:
        file = pathlib.Path(folder) / name
        try:
            tensors, again = read_again(file)
            print(json.dumps({"file": name, "again": again == file.read_bytes(),
                              "tensors": [[n.encode().hex(), d, s, b.hex()] for n, d, s, b in tensors]}))
        except Exception as refused:  # noqa: BLE001  the package has exceptions of its own
            print(json.dumps({"file": name, "refused": str(refused)}))


# ---- outside

def ask_package(python, folder, names):
    # isolated: this file has the name of the package
    said = subprocess.run([python, "-I", __file__, "--inner", folder, *names], capture_output=True, text=True, check=False)
    if said.returncode != 0:
        sys.exit(f"the package could not be asked\n{said.stderr}")
    return {line["file"]: line for line in map(json.loads, said.stdout.splitlines())}


def build(folder):
    program = folder / "safetensors"
    compiler = report.compilers()[0]
    made = report.run([compiler, *FLAGS, HERE / "safetensors.cpp", "-o", program])
    if made.returncode != 0:
        sys.exit(f"safetensors.cpp does not compile\n{made.stdout}")
    return program


def compare_written(listed, found, tally):
    """@param listed the program's lines: what stands in which file"""
    wanted = {}
    for line in listed.splitlines():
        file, name, dtype, shape, data = line.replace("  ", " - ").split(" ")
        wanted.setdefault(file, []).append([name.strip("-"), dtype, json.loads(shape), data.rstrip("-")])
    for file, answer in found.items():
        if "refused" in answer:
            tally.add(f"{file} is read", answer["refused"])
            continue
        for tensor in sorted(wanted.get(file, [])):
            name = bytes.fromhex(tensor[0]).decode()
            tally.add(f"{file}: {name!r}", None if tensor in answer["tensors"] else f"not found as {tensor[1:3]}")
        count = len(wanted.get(file, []))
        tally.add(f"{file}: count", None if count == len(answer["tensors"]) else f"{len(answer['tensors'])}, not {count}")
        tally.add(f"{file} saved again", None if answer["again"] else "other bytes")


def compare_foreign(cases, ours, theirs, tally):
    for (name, (_, python_takes, we_take)), said in zip(cases.items(), ours):
        answer = theirs[name]
        tally.add(f"{name} by the package", None if ("refused" not in answer) == python_takes else str(answer))
        tally.add(f"{name} by us", None if (said == "good") == we_take else said)
        if said != "good":
            tally.add(f"{name} has a reason", None if len(said) > len("refused: ") + 10 else said)


def play(python, tally, spoil=None):
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        program = build(folder)
        written = report.run([program, "write", folder])
        if written.returncode != 0:
            tally.add("writing", written.stdout)
            return
        files = ["all.safetensors", "metadata.safetensors", "empty.safetensors", "only_metadata.safetensors",
                 "store/step-000000000012.safetensors"]
        if spoil:
            spoil(folder)
        compare_written(written.stdout, ask_package(python, folder, files), tally)
        for name, (data, _, _) in FOREIGN.items():
            (folder / name).write_bytes(data)
        checked = report.run([program, "check", *(folder / name for name in FOREIGN)]).stdout.splitlines()
        compare_foreign(FOREIGN, checked, ask_package(python, folder, list(FOREIGN)), tally)


def self_test(python, tally):
    """A file with one bit changed, and verdicts that are turned round, must be noticed."""
    def spoil(folder):
        file = folder / "all.safetensors"
        data = bytearray(file.read_bytes())
        data[-1] ^= 1
        file.write_bytes(data)

    inner_tally = report.Tally(quiet=True)
    play(python, inner_tally, spoil)
    tally.add("a changed bit is noticed", None if inner_tally.failed == 1 else f"{inner_tally.failed} failures")
    for name, (_, python_takes, we_take) in FOREIGN.items():
        turned = report.Tally(quiet=True)
        answer = {name: {"file": name, "refused": "so"} if python_takes else {"file": name}}
        compare_foreign({name: FOREIGN[name]}, ["refused: for some reason or other" if we_take else "good"], answer, turned)
        tally.add(f"self-test {name}", None if turned.failed == 2 else f"{turned.failed} failures")


def main(arguments):
    if arguments[:1] == ["--inner"]:
        inner(arguments[1], arguments[2:])
        return
    import packages  # installs what is missing
    packages.need("nlohmann-json3-dev")
    python = packages.venv(*REQUIREMENTS)
    tally = report.Tally()
    (self_test if "--self-test" in arguments else play)(python, tally)
    tally.close()


main(sys.argv[1:])
