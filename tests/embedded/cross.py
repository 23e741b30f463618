# SPDX-License-Identifier: BSL-1.0
"""Images for a Cortex-M: compiled with the flags of the cross files in examples/embedded, sized, run in QEMU."""

import ast
import functools
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import report  # noqa: E402

EXAMPLES = report.ROOT / "examples/embedded"
sys.path.insert(0, str(EXAMPLES))
import run_in_qemu  # noqa: E402

TOOLS = ["arm-none-eabi-g++", "arm-none-eabi-nm", "arm-none-eabi-size", "qemu-system-arm"]
TICKS_PER_INSTRUCTION = 2**run_in_qemu.SHIFT * 25e6 / 1e9  # the counter has 25 MHz


def missing_tools():
    return [name for name in TOOLS if not shutil.which(name)]


@functools.cache
def version():
    return report.run(["arm-none-eabi-g++", "-dumpfullversion"]).stdout.strip()


class Core:
    """One of the cross files: "m4"."""

    def __init__(self, name):
        self.name = name
        self.file = EXAMPLES / f"cortex-{name}.ini"
        text = self.file.read_text()
        self.flags = [word for each in ("cpu", "exact", "lean") for word in self._value(text, each)]
        self.board = self._value(text, "emulated_board")

    @staticmethod
    def _value(text, name):
        return ast.literal_eval(re.search(rf"^{name} = (.+(?:\n .+)*)$", text, re.MULTILINE)[1])

    def build(self, source, image, level="-Os", more=()):
        """None, or what the compiler said."""
        made = report.run(["arm-none-eabi-g++", "-std=c++20", level, *self.flags, "-fno-exceptions", "-fno-rtti",
                           "-Wno-psabi", "-DNDEBUG", f"-I{report.INCLUDE}", f"-I{EXAMPLES}", *more, source,
                           EXAMPLES / "board/startup.cpp", "-nostartfiles", "--specs=nano.specs", "-Wl,--gc-sections",
                           "-T", EXAMPLES / "board/mps2.ld", "-o", image])
        return None if made.returncode == 0 else made.stdout

    def run(self, image, options=()):
        """@return exit code, what was printed"""
        return run_in_qemu.run(self.board, image, options)


def sizes(image):
    """@return bytes of flash, bytes of RAM: what static objects take, without stack"""
    text, data, bss = map(int, report.run(["arm-none-eabi-size", image]).stdout.splitlines()[-1].split()[:3])
    return text + data, data + bss


def size_of_function(image, part):
    """Bytes of the functions with this in their mangled names."""
    rows = [line.split() for line in report.run(["arm-none-eabi-nm", "-S", image]).stdout.splitlines()]
    return sum(int(row[1], 16) for row in rows if len(row) == 4 and row[2] in "tTW" and part in row[3])


class Cost:
    """What cost.cpp says of one form of one training."""

    RESULTS = ["weights", "mean", "squares", "logged", "skipped", "steps", "ok"]
    PARTS = ["graph", "hooks", "memory", "own", "frame"]

    def __init__(self, core, folder, hand, hooks, level, more=()):
        image = folder / f"cost-{core.name}-{'hand' if hand else 'hooks'}-{hooks}{level}"
        self.problem = core.build(HERE / "cost.cpp", image, level, [f"-DHAND={int(hand)}", f"-DHOOKS={hooks}", *more])
        if self.problem:
            return
        self.image = image
        self.flash, self.ram = sizes(image)
        self.loop = size_of_function(image, "hand_loop3run" if hand else "9run_until")
        code, printed = core.run(image)
        try:
            found = {name: int(value) for name, value in (line.split() for line in printed.splitlines())}
            self.results = {name: found[name] for name in self.RESULTS}
            self.object = found["object"]
            self.instructions = found["ticks"] / TICKS_PER_INSTRUCTION / found["steps"]
            self.parts = {name: found[name] for name in self.PARTS if not hand}
        except (ValueError, KeyError, ZeroDivisionError):
            self.problem = f"ended with {code}, printed {printed!r}"
