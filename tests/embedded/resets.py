# SPDX-License-Identifier: BSL-1.0
"""Resets of the firmware: the power cut at each write to the flash, a reset from outside at any moment, a step that hangs.
However it was interrupted, a training must end like one that was not."""

import json
import random
import re
import socket
import subprocess
import time

from cross import EXAMPLES, run_in_qemu

WALK = re.compile(r"^cut at (\d+) of (\d+) writes: every training ended like the undisturbed one, (\d+) went on from a checkpoint$",
                  re.MULTILINE)
BOOTS = re.compile(r"^# boots: (\d+), from a checkpoint: (\d+)$", re.MULTILINE)
WALK_STEPS = 600  # three savings: into one slot, into the other, over the first


def problem_of_walk(code, printed, stride=1):
    match = WALK.search(printed)
    if code != 0 or not match:
        return f"ended with {code}\n{printed}"
    cuts, writes, resumed = map(int, match.groups())
    wanted = range(1, writes + 1, stride)
    if writes < 300 or cuts != len(wanted):
        return f"{cuts} cuts at {writes} writes: were there three savings, and was each write cut?"
    # before the first checkpoint is whole there is nothing to go on from; afterwards there always is
    later = sum(cut > writes // 3 for cut in wanted)
    return None if resumed == later else f"{resumed} of {cuts} trainings went on from a checkpoint, not {later}"


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
    boots = BOOTS.search(printed)
    if code != 0 or not boots:
        return f"ended with {code} after {made} resets\n{printed}"
    if run_in_qemu.compared(printed) != run_in_qemu.compared(undisturbed):
        return f"undisturbed:\n{undisturbed}after {made} resets:\n{printed}"
    if made < 3:
        return f"only {made} resets before it ended"
    # one may fall into the time before the first checkpoint, and the last one into the end
    if int(boots[1]) < made or int(boots[2]) < int(boots[1]) - 2:
        return f"{made} resets, and then:\n{printed}"
    return None


def problem_outside(core, image, folder):
    steps = 200_000
    code, undisturbed = core.run(image, [f"steps={steps}"])
    boots = BOOTS.search(undisturbed)
    # such a long training outlives a watchdog that nobody reloads
    if code != 0 or not boots or boots.groups() != ("1", "0"):
        return f"undisturbed it ended with {code}\n{undisturbed}"
    return problem_of_resets(undisturbed, *reset_from_outside(core, image, folder, steps, resets=8, seed=7))


def problem_of_hang(core, image):
    wanted = (EXAMPLES / "train_float.expected").read_text()
    code, printed = core.run(image, ["hang=321"])
    boots = BOOTS.search(printed)
    if code != 0 or not boots or boots.groups() != ("2", "1") or run_in_qemu.compared(printed) != run_in_qemu.compared(wanted):
        return f"ended with {code}\n{printed}"
    return None


def problem_of_new_model(code, printed):
    """After an update: the first boot is that of the firmware before it, the second forgets what that one saved."""
    wanted = (EXAMPLES / "train_float.expected").read_text()
    boots = BOOTS.search(printed)
    if code != 0 or not boots or boots.groups() != ("3", "0") or run_in_qemu.compared(printed) != run_in_qemu.compared(wanted):
        return f"ended with {code}\n{printed}"
    return None
