# SPDX-License-Identifier: BSL-1.0
"""Where and with what figures were measured: all that one must know to measure them again, and no name of a machine."""

import datetime
import os
import pathlib
import platform
import re
import shutil

import figures
import packages
import report

# what is asked for its version: name → command, and the part of its answer
TOOLS = {
    "g++": (["g++", "-dumpfullversion"], r"\S+"),
    "clang++-19": (["clang++-19", "-dumpversion"], r"\S+"),
    "arm-none-eabi-g++": (["arm-none-eabi-g++", "-dumpfullversion"], r"\S+"),
    "qemu-system-arm": (["qemu-system-arm", "--version"], r"[\d.]+"),
    "valgrind": (["valgrind", "--version"], r"[\d.]+"),
}
# those of Python, by the benchmark that needs them
PYTHON = {"tensorflow_step.py": packages.TENSORFLOW, "python_peers.py": packages.IGNITE}


def field_of(file, pattern):
    path = pathlib.Path(file)
    found = re.search(pattern, path.read_text(), re.MULTILINE) if path.exists() else None
    return found[1].strip() if found else "unknown"


def versions(scripts):
    told = {}
    for name, (command, pattern) in TOOLS.items():
        if shutil.which(command[0]):
            told[name] = re.search(pattern, report.run(command).stdout)[0]
    told["Python"] = platform.python_version()
    for script, requirement in PYTHON.items():
        told.update([requirement.split("==")] if script in scripts else [])
    boost = field_of("/usr/include/boost/version.hpp", r'BOOST_LIB_VERSION "(.*)"')
    if boost != "unknown":
        told["Boost"] = boost.replace("_", ".")
    return told


def commit():
    """What was measured; with a mark where files differ from it."""
    git = ["git", "-C", figures.ROOT]
    told = report.run([*git, "rev-parse", "--short=10", "HEAD"])
    if told.returncode != 0:
        return "unknown"
    changed = report.run([*git, "diff", "--quiet", "HEAD", "--", "include", "benchmarks", "examples"]).returncode
    return told.stdout.strip() + (" with changes" if changed else "")


def this_run(command, seconds, load):
    """@param command what made it, without files. @param seconds of each script. @param load before it"""
    flags = field_of("/proc/cpuinfo", r"^flags\s*: (.*)$").split()
    return {
        "command": command,
        "commit": commit(),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": field_of("/proc/cpuinfo", r"^model name\s*: (.*)$"),
        "cores": os.cpu_count(),
        "virtual": "hypervisor" in flags,
        "load": round(load, 2),
        "system": f"{platform.freedesktop_os_release()['PRETTY_NAME']}, Linux {platform.release().partition('-')[0]}",
        "versions": versions(seconds),
        "seconds": {name: round(value) for name, value in seconds.items()},
    }
