#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs a program and compares what it prints with a file: check_output.py EXPECTED PROGRAM [ARGUMENTS…]

The program must exit with 0 and write nothing to standard error. With --update as the first argument the file is written
instead of compared.
"""

import difflib
import pathlib
import subprocess
import sys


def main(arguments):
    update = arguments[:1] == ["--update"]
    expected, *command = arguments[1:] if update else arguments
    expected = pathlib.Path(expected)
    ran = subprocess.run(command, capture_output=True, text=True, timeout=100)
    if ran.returncode != 0 or ran.stderr:
        print(f"{' '.join(command)} exited with {ran.returncode}; standard error:\n{ran.stderr}")
        return 1
    if update:
        expected.write_text(ran.stdout)
        return 0
    wanted = expected.read_text()
    if not wanted:
        print(f"{expected} is empty")
        return 1
    if ran.stdout != wanted:
        sys.stdout.writelines(difflib.unified_diff(wanted.splitlines(keepends=True), ran.stdout.splitlines(keepends=True),
                                                   str(expected), "printed"))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
