#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs an image on an emulated board: run_in_qemu.py [--expect FILE] BOARD IMAGE [NAME=NUMBER…]

Prints what it prints and ends with its exit code. With --expect its lines, but for those that begin with "#", must be
those of the file. Time is counted in instructions: a run is the same each time, however busy the machine is.
"""

import difflib
import pathlib
import subprocess
import sys

SECONDS = 120
SHIFT = 6  # an instruction takes 2 to the power of this, in ns


def command(board, image, options=(), more=()):
    semihosting = ",".join(["enable=on,target=native,chardev=said", f"arg={pathlib.Path(image).name}",
                            *(f"arg={option}" for option in options)])
    return ["qemu-system-arm", "-machine", board, "-display", "none", "-monitor", "none", "-serial", "none",
            "-chardev", "stdio,id=said", "-semihosting-config", semihosting, "-icount", f"shift={SHIFT},sleep=off", *more,
            "-kernel", str(image)]


def without_noise(text):
    """QEMU says so of any program that waits in a loop while time is counted in instructions."""
    return "".join(line for line in text.splitlines(keepends=True) if "no active timers" not in line)


def run(board, image, options=(), seconds=SECONDS):
    """@return exit code (-1 if it had to be ended), what was printed"""
    try:
        ran = subprocess.run(command(board, image, options), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, errors="replace", timeout=seconds, check=False)
    except subprocess.TimeoutExpired as late:
        return -1, f"{(late.stdout or b'').decode(errors='replace')}not over after {seconds} s\n"
    return ran.returncode, ran.stdout + without_noise(ran.stderr)


def compared(text):
    return [line for line in text.splitlines(keepends=True) if not line.startswith("#")]


def main(words):
    expected = None
    if words[:1] == ["--expect"]:
        expected, words = pathlib.Path(words[1]), words[2:]
    if len(words) < 2:
        sys.exit(__doc__)
    code, printed = run(words[0], words[1], words[2:])
    print(printed, end="")
    if code == 0 and expected:
        wanted = expected.read_text()
        difference = list(difflib.unified_diff(compared(wanted), compared(printed), str(expected), "printed"))
        if difference or not wanted:
            sys.stdout.writelines(difference)
            return 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
