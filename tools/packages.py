# SPDX-License-Identifier: BSL-1.0
"""Installs Debian packages that a command needs and that are missing."""

import os
import shutil
import subprocess
import sys

# packages that are there if their program is, whoever installed it; all others are asked for by name
PROGRAMS = {
    "meson": "meson",
    "ninja-build": "ninja",
    "g++": "g++",
    "clang-19": "clang++-19",
    "cmake": "cmake",
    "valgrind": "valgrind",
    "pkg-config": "pkg-config",
}


def installed(package):
    program = PROGRAMS.get(package)
    if program and shutil.which(program):
        return True
    asked = subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Status}", package], capture_output=True, text=True,
                           check=False)
    return asked.returncode == 0 and asked.stdout == "installed"


def apt(*words):
    """Runs apt-get as root. None, or the last words of what went wrong."""
    admin = [] if os.geteuid() == 0 else ["sudo"]
    result = subprocess.run([*admin, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", *words],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode == 0:
        return None
    return "\n".join(result.stdout.strip().splitlines()[-5:]) or f"apt-get ended with {result.returncode}"


def need(*packages):
    """Sees to it that the packages are there, or ends the program."""
    if not (shutil.which("dpkg-query") and shutil.which("apt-get")):
        missing = [name for name in packages if name in PROGRAMS and not shutil.which(PROGRAMS[name])]
        if missing:
            sys.exit(f"./dev: this system has no apt-get; please install what Debian calls {', '.join(missing)}")
        return
    missing = [name for name in packages if not installed(name)]
    if not missing:
        return
    if os.geteuid() != 0 and not shutil.which("sudo"):
        sys.exit(f"./dev: neither root nor sudo; please install {' '.join(missing)}")
    for name in missing:
        print(f"./dev: installing {name}", file=sys.stderr, flush=True)
    install = ["install", "-y", "--no-install-recommends", *missing]
    problem = apt(*install)
    if problem:  # no lists yet, or old ones
        if apt("update"):
            apt("update")
        problem = apt(*install)
    if problem:
        sys.exit(f"./dev: could not install {' '.join(missing)}\n{problem}")
