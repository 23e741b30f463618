#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs the example as a user would: test_digits.py PROGRAM DATA [FOLDER]

The losses depend on the processor in the last digits, so what is compared is what holds everywhere. With FOLDER the
checkpoints stay there.
"""

import os
import re
import subprocess
import sys
import tempfile

PROGRAM, DATA = sys.argv[1:3]


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100,
                          env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"})


def trained(folder, to, first, steps):
    ran = run(DATA, folder, str(to))
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0] == f"from step {first}", ran.stdout
    logged = [re.fullmatch(r"step +(\d+): loss = (0\.\d+)", line) for line in lines[1:-1]]
    assert all(logged) and [int(line[1]) for line in logged] == steps, ran.stdout
    read = re.fullmatch(r"(\d+) of 100 digits that were held out are read", lines[-1])
    assert read and int(read[1]) >= 85, ran.stdout
    assert float(logged[-1][2]) < 1, ran.stdout  # of one batch: 2.3 is what guessing has


def main(folder):
    trained(folder, 1000, 0, [300, 600, 900])
    trained(folder, 1500, 1000, [1200, 1500])
    for arguments, words in ((["nothing.csv", folder, "10"], "nothing.csv has not 1797 pictures"), ([], "usage: ")):
        ran = run(*arguments)
        assert ran.returncode == 1 and words in ran.stderr, ran.stderr
    print("2 trainings and 2 mistakes: as they should")


if len(sys.argv) > 3:
    main(sys.argv[3])
else:
    with tempfile.TemporaryDirectory() as name:
        main(name)
