# SPDX-License-Identifier: BSL-1.0
"""Resets of the firmware: the power cut at each write to the flash, a reset from outside at any moment, a step that
hangs. However it was interrupted, a training must end like one that was not."""

import json
import random
import re
import socket
import subprocess
import time
from typing import NamedTuple

from cross import EXAMPLES, HERE, run_in_qemu

INTERRUPTED = [HERE / "interrupted.cpp", "-Wl,--wrap=main"]  # what makes a firmware one that is interrupted
ENDED = re.compile(r"^# ended, cut at write (\d+) of (\d+), boots: (\d+)\n", re.MULTILINE)
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


def reset_from_outside(core, image, folder, steps, resets, seed):
    """Runs a training and resets the board at seeded moments. @return exit code, what was printed, resets made"""
    door = folder / f"qmp-{core.name}"
    door.unlink(missing_ok=True)
    command = run_in_qemu.command(core.board, image, [f"steps={steps}"], ["-qmp", f"unix:{door},server=on,wait=off"])
    emulator = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True)
    made, moments = 0, random.Random(seed)
    try:
        line = socket.socket(socket.AF_UNIX)
        for _ in range(200):
            try:
                line.connect(str(door))
                break
            except OSError:
                time.sleep(0.01)
        told = line.makefile("rw")

        def say(command):
            told.write(json.dumps({"execute": command}) + "\n")
            told.flush()
            while "return" not in json.loads(told.readline()):
                pass

        told.readline()
        say("qmp_capabilities")
        for _ in range(resets):
            time.sleep(moments.uniform(0.03, 0.12))
            say("system_reset")
            made += 1
    except (OSError, ValueError):
        pass  # it has ended
    try:
        printed = emulator.communicate(timeout=run_in_qemu.SECONDS)[0]
    except subprocess.TimeoutExpired:
        emulator.kill()
        printed = emulator.communicate()[0]
    return emulator.returncode, run_in_qemu.without_noise(printed), made


def problem_of_resets(undisturbed, code, printed, made):
    """@param undisturbed the training that was not interrupted"""
    ended = trainings(printed)
    if code != 0 or len(ended) != 1:
        return f"ended with {code} after {made} resets\n{printed}"
    if ended[0].said != undisturbed.said:
        return f"undisturbed:\n{''.join(undisturbed.said)}after {made} resets:\n{printed}"
    if made < 3:
        return f"only {made} resets before it ended"
    # one may fall into the time before the first checkpoint, and the last one into the end
    if ended[0].boots < made or ended[0].resumed < ended[0].boots - 2:
        return f"{made} resets, and then:\n{printed}"
    return None


def problem_outside(core, image, folder):
    steps = 200_000
    code, printed = core.run(image, [f"steps={steps}"])
    ended = trainings(printed)
    # such a long training outlives a watchdog that nobody reloads
    if code != 0 or len(ended) != 1 or (ended[0].boots, ended[0].resumed) != (1, 0):
        return f"undisturbed it ended with {code}\n{printed}"
    return problem_of_resets(ended[0], *reset_from_outside(core, image, folder, steps, resets=8, seed=7))


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
