# SPDX-License-Identifier: BSL-1.0
"""Builds a program of variants (variants.hpp) and counts what is the same on every run: instructions, kinds of
instructions, allocations, bytes."""

import collections
import re

import report

FLAGS = ["-std=c++20", "-DNDEBUG", "-ffp-contract=off", "-ffunction-sections", "-fdata-sections", f"-I{report.INCLUDE}",
         f"-I{report.ROOT / 'tests/codegen'}"]
# what is measured: figure → its unit
UNITS = {
    "instructions": "instructions a step",
    "calls": "calls a step",
    "indirect_jumps": "indirect jumps a step",
    "locks": "locked instructions a step",
    "allocations": "allocations in all",
    "bytes": "bytes of code and constants",
    "session_bytes": "bytes of the session beside graph, hooks and frame",
}
OF_INSTRUCTIONS = {"calls", "indirect_jumps", "locks"}
ALLOCATING = {"malloc", "calloc", "realloc", "memalign", "aligned_alloc", "posix_memalign", "mmap", "sbrk"}


class Problem(Exception):
    """Why something could not be counted."""


def ran(command):
    """The output of a command that must succeed."""
    result = report.run(command)
    if result.returncode != 0:
        raise Problem(f"{' '.join(str(word) for word in command)}\n{result.stdout}")
    return result.stdout


def kind_of(instruction):
    """The kinds of OF_INSTRUCTIONS that a line of the disassembly is of."""
    words = instruction.split()
    while words and words[0] in ("notrack", "bnd", "data16", "rep", "cs", "ds"):
        words = words[1:]
    operation, operands = (words + ["", ""])[:2]
    if operation.startswith("call"):
        yield "calls"
    if operation.startswith(("call", "jmp")) and operands.startswith("*"):
        yield "indirect_jumps"
    if operation in ("lock", "mfence") or (operation.startswith("xchg") and "(" in operands):
        yield "locks"


class Dump:
    """One dump of callgrind: instructions, executions of each address of the program, calls that allocate."""

    def __init__(self, file, program):
        text = file.read_text()
        self.name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)[1]
        self.instructions = int(re.search(r"^summary: (\d+)", text, re.MULTILINE)[1])
        self.executions, self.allocations = collections.Counter(), 0
        inside, callee, inclusive = False, "", False
        for line in text.splitlines():
            if line.startswith("ob="):
                inside = line == f"ob={program}"
            elif line.startswith("cfn="):
                callee = line.removeprefix("cfn=").partition("@")[0].partition("'")[0]
            elif line.startswith("calls="):
                self.allocations += int(line.removeprefix("calls=").split()[0]) if callee in ALLOCATING else 0
                inclusive = True  # the next line is what the callee cost
            elif line.startswith("0x"):
                if inside and not inclusive:
                    address, cost = line.split()
                    self.executions[int(address, 16)] += int(cost)
                inclusive = False


class Program:
    """A source, compiled on one toolchain."""

    def __init__(self, source, toolchain, flags, folder):
        self.object = folder / f"{source.stem}{''.join(toolchain)}.o"
        self.program = self.object.with_suffix("")
        compile_args = [flag for flag in flags if not flag.startswith("-l")]
        ran([*toolchain, *FLAGS, *compile_args, "-c", source, "-o", self.object])
        ran([*toolchain, self.object, "-o", self.program, *(flag for flag in flags if flag.startswith("-l"))])

    def count(self, wanted, steps):
        """@param wanted pairs of variant and figure. @return pair → number"""
        told = {}
        counted = [variant for variant, figure in wanted if figure not in ("bytes", "session_bytes")]
        if counted:
            told.update(self.callgrind(list(dict.fromkeys(counted)), steps, {figure for _, figure in wanted}))
        for variant in dict.fromkeys(variant for variant, figure in wanted if figure == "bytes"):
            told[variant, "bytes"] = self.bytes_of(variant)
        if any(figure == "session_bytes" for _, figure in wanted):
            for figure, variant, number in map(str.split, ran([self.program]).splitlines()):
                told[variant, figure] = float(number)
        missing = [f"{figure} of {variant}" for variant, figure in wanted if (variant, figure) not in told]
        if missing:
            raise Problem(f"the program does not tell {', '.join(missing)}")
        return {pair: told[pair] for pair in wanted}

    def callgrind(self, variants, steps, figures):
        """In one run: the difference between 2N steps and N is free of what starting and ending cost."""
        out = self.program.with_suffix(".callgrind")
        closer = ["--dump-instr=yes", "--dump-line=no"] if figures - {"instructions"} else []
        ran(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--compress-strings=no",
             "--compress-pos=no", *closer, self.program, steps, *variants])
        dumps = [Dump(file, self.program) for file in out.parent.glob(f"{out.name}.*")]
        dumps = {dump.name: dump for dump in dumps}
        kinds = {}
        if figures & OF_INSTRUCTIONS:
            listing = ran(["objdump", "-d", "--no-show-raw-insn", self.program])
            for address, instruction in re.findall(r"^\s*([0-9a-f]+):\t(.*)$", listing, re.MULTILINE):
                kinds[int(address, 16)] = list(kind_of(instruction))
        told = {}
        for variant in variants:
            once, twice = dumps[f"{variant} 1"], dumps[f"{variant} 2"]
            told[variant, "instructions"] = (twice.instructions - once.instructions) / steps
            told[variant, "allocations"] = max(once.allocations, twice.allocations)
            if figures & OF_INSTRUCTIONS:
                told.update({(variant, kind): 0.0 for kind in OF_INSTRUCTIONS})
                twice.executions.subtract(once.executions)
                if not any(address in kinds for address in twice.executions):
                    raise Problem(f"no instruction of {self.program.name} was counted")
                for address, executions in twice.executions.items():
                    for kind in kinds.get(address, ()):
                        told[variant, kind] += executions / steps
                for kind in OF_INSTRUCTIONS:  # what is met once in a run, and not a step, is none of it
                    told[variant, kind] = max(0.0, round(told[variant, kind], 3))
        return told

    def bytes_of(self, variant):
        """Code and constants that can be reached from the function `variant_NAME`: what a linker that drops the rest
        keeps."""
        kept = self.object.with_suffix(f".{variant}.o")
        ran(["ld", "-r", "--gc-sections", "-e", f"variant_{variant}", "-u", f"variant_{variant}", self.object,
             "-o", kept])
        sections = re.findall(r"^(\.text|\.rodata)\S*\s+(\d+)", ran(["size", "-A", kept]), re.MULTILINE)
        return float(sum(int(size) for _, size in sections))
