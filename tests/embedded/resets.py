# SPDX-License-Identifier: BSL-1.0
"""Resets of the firmware: the power cut at each write to the flash, a reset from outside at any moment, a step that
hangs. However it was interrupted, a training must end like one that was not."""

import json
import pathlib
import random
import re
import socket
import subprocess
import time
from typing import NamedTuple

from cross import EXAMPLES, HERE, run_in_qemu

INTERRUPTED = [HERE / "interrupted.cpp", "-Wl,--wrap=main"]  # what makes a firmware one that is interrupted
ENDED = re.compile(r"^# ended, cut at write (\d+) of (\d+), boots: (\d+)\n", re.MULTILINE)
BOOTS = "# boots\n"
GOES_ON = "# goes on from step "
WALK_STEPS = 600  # three savings: into one slot, into the other, over the first


class Training(NamedTuple):
    """One that has ended."""

    said: list[str]
    resumed: int  # how often it went on from a checkpoint
    cut: int      # the write to the flash at which the power went; 0: none
    writes: int
    boots: int


def trainings(printed):
    made, begin = [], 0
    for end in ENDED.finditer(printed):
        said = printed[begin:end.start()]
        made.append(Training(run_in_qemu.compared(said), said.count(GOES_ON), *map(int, end.groups())))
        begin = end.end()
    return made


def problem_of_walk(code, printed, stride=1):
    made = trainings(printed)
    if code != 0 or not made or not made[0].said:
        return f"ended with {code}\n{printed[-2000:]}"
    undisturbed, *interrupted = made
    wanted = list(range(1, undisturbed.writes + 1, stride))
    if undisturbed.writes < 300 or [one.cut for one in interrupted] != wanted:
        return (f"{len(interrupted)} cuts at {undisturbed.writes} writes: were there three savings, and was each write "
                "cut?")
    for one in interrupted:
        if one.said != undisturbed.said or one.boots != 2:
            return f"cut at write {one.cut}: after {one.boots} boots the training ended otherwise\n{''.join(one.said)}"
    # before the first checkpoint is whole there is nothing to go on from; afterwards there always is
    later = sum(cut > undisturbed.writes // 3 for cut in wanted)
    resumed = sum(one.resumed for one in interrupted)
    return None if resumed == later else f"{resumed} of {len(wanted)} trainings went on from a checkpoint, not {later}"


class Board:
    """An emulated board that can be reset from outside, and what it has printed so far."""

    def __init__(self, core, image, folder, options):
        door, self.file = (folder / f"{kind}-{core.name}-{pathlib.Path(image).stem}" for kind in ("qmp", "printed"))
        door.unlink(missing_ok=True)
        command = run_in_qemu.command(core.board, image, options, ["-qmp", f"unix:{door},server=on,wait=off"])
        with open(self.file, "w", encoding="utf-8") as printed:
            # pylint: disable=consider-using-with
            self.emulator = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed)
        self.until = time.monotonic() + run_in_qemu.SECONDS
        line = socket.socket(socket.AF_UNIX)
        while self.runs() and line.connect_ex(str(door)) != 0:
            time.sleep(0.01)
        self.told = line.makefile("rw")
        self.say()
        self.say("qmp_capabilities")

    def runs(self):
        """One that hangs is ended when its time is over."""
        if time.monotonic() > self.until:
            self.emulator.kill()
            self.emulator.wait()
        return self.emulator.poll() is None

    def printed(self):
        return self.file.read_text(encoding="utf-8", errors="replace")

    def say(self, command=None):
        """Without a command: hears the greeting.
        @return: whether it was heard; not if the board has ended"""
        try:
            if command:
                self.told.write(json.dumps({"execute": command}) + "\n")
                self.told.flush()
            while not {"return", "QMP"} & set(json.loads(self.told.readline())):
                pass
            return True
        except (OSError, ValueError):
            return False

    def end(self):
        """@return: exit code, what was printed"""
        while self.runs():
            time.sleep(0.005)
        return self.emulator.returncode, run_in_qemu.without_noise(self.printed())


def reset_from_outside(core, image, folder, steps, resets, seed):
    """Runs a training and resets the board at seeded moments: until one has gone on from a checkpoint, after ever longer
    times, as nobody knows how fast the board is emulated; then each time after it has said that it goes on.
    @return: exit code, what was printed, resets made"""
    moments, made, patience = random.Random(seed), 0, 1
    board = Board(core, image, folder, [f"steps={steps}"])
    for _ in range(resets):
        if GOES_ON in board.printed():
            while board.runs() and GOES_ON not in board.printed().rpartition(BOOTS)[2]:
                time.sleep(0.005)
        else:
            patience *= 1.5
        time.sleep(moments.uniform(0.02, 0.1) * (1 if GOES_ON in board.printed() else patience))
        boots = board.printed().count(BOOTS)
        if not board.runs() or not board.say("system_reset"):
            break
        while board.runs() and board.printed().count(BOOTS) == boots:
            time.sleep(0.005)
        made += 1
    return *board.end(), made


def problem_of_resets(undisturbed, code, printed, made):
    """@param undisturbed: the training that was not interrupted"""
    ended = trainings(printed)
    if code != 0 or len(ended) != 1:
        return f"ended with {code} after {made} resets\n{printed}"
    if ended[0].said != undisturbed.said:
        return f"undisturbed:\n{''.join(undisturbed.said)}after {made} resets:\n{printed}"
    if made < 3:
        return f"only {made} resets before it ended"
    went_on = [GOES_ON in boot for boot in printed.split(BOOTS)[1:]]
    # before the first checkpoint is whole there is nothing to go on from; afterwards there always is
    if ended[0].boots < made or sum(went_on) < 2 or not all(went_on[went_on.index(True):]):
        return f"{made} resets, and then:\n{printed}"
    return None


def problem_outside(core, image, folder):
    steps = 200_000
    code, printed = core.run(image, [f"steps={steps}"])
    ended = trainings(printed)
    # such a long training outlives a watchdog that nobody reloads
    if code != 0 or len(ended) != 1 or (ended[0].boots, ended[0].resumed) != (1, 0):
        return f"undisturbed it ended with {code}\n{printed}"
    for seed in range(7, 12):
        played = reset_from_outside(core, image, folder, steps, resets=8, seed=seed)
        # whoever resets it was kept waiting while the board went on: that shows nothing, and it is played again
        if played[2] >= 3 and played[1].count(GOES_ON) >= 2:
            break
    return problem_of_resets(ended[0], *played)


def problem_of_end(code, printed, boots, resumed):
    """Of a training of train_float that ends as it should, after so many boots."""
    wanted = run_in_qemu.compared((EXAMPLES / "train_float.expected").read_text())
    ended = [(one.said, one.boots, one.resumed) for one in trainings(printed)]
    return None if code == 0 and ended == [(wanted, boots, resumed)] else f"ended with {code}\n{printed}"


def problem_of_hang(core, image):
    return problem_of_end(*core.run(image, ["hang=500000"]), boots=2, resumed=1)


def problem_of_new_model(code, printed):
    """After an update: the first boot is that of the firmware before it, the second forgets what that one saved."""
    return problem_of_end(code, printed, boots=3, resumed=0)
