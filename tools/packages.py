# SPDX-License-Identifier: BSL-1.0
"""Installs what a command needs and that is missing: Debian packages, and Python packages into a folder of their own."""

import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# packages that are there if their program is, whoever installed it; all others are asked for by name
PROGRAMS = {
    "meson": "meson",
    "ninja-build": "ninja",
    "g++": "g++",
    "clang-19": "clang++-19",
    "cmake": "cmake",
    "valgrind": "valgrind",
    "pkg-config": "pkg-config",
    "gcc-arm-none-eabi": "arm-none-eabi-g++",
    "qemu-system-arm": "qemu-system-arm",
}
# compiler and emulator for a Cortex-M, 2.5 GB on disk
CORTEX_M = ["gcc-arm-none-eabi", "libnewlib-arm-none-eabi", "libstdc++-arm-none-eabi-newlib", "qemu-system-arm"]


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


def venv(*requirements, over=()):
    """The Python of an environment below build/ that has these packages, each with its version (`name==1.2.3`). It is
    made once for each set. Ends the program if that fails.
    @param over Debian packages, if these packages are to stand on Debian's Python: they see what it has, and nothing
                else that they depend on is installed"""
    need("python3-venv", *over)
    wanted = sorted(requirements)
    name = wanted[0].partition("==")[0] if wanted else "bare"
    base = shutil.which("python3", path=os.defpath) if over else sys.executable
    of_base, of_packages = (["--system-site-packages"], ["--no-deps"]) if over else ([], [])
    folder = ROOT / "build/venv" / f"{name}-{hashlib.sha256(' '.join([*wanted, *over]).encode()).hexdigest()[:8]}"
    python, complete = folder / "bin/python", folder / "complete"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{folder}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two scripts may want the same one at once
        if complete.exists() and python.exists():
            return python
        print(f"./dev: installing {', '.join(wanted)} into {folder.relative_to(ROOT)}", file=sys.stderr, flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        for command in ([base, "-m", "venv", *of_base, folder],
                        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *of_packages, *wanted]):
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            if done.returncode != 0:
                last = "\n".join(done.stdout.strip().splitlines()[-5:])
                shutil.rmtree(folder, ignore_errors=True)
                sys.exit(f"./dev: could not install {', '.join(wanted)}\n{last}")
        complete.touch()
    return python


def enter(python):
    """Goes on as the same script in the environment of this Python."""
    if pathlib.Path(sys.prefix).resolve() != pathlib.Path(python).parent.parent.resolve():
        sys.stdout.flush()
        os.execv(python, [str(python), *sys.argv])


# the release that the tests are written for; tests/tensorflow/links.cpp holds its library to this version
TENSORFLOW = "tensorflow-cpu==2.21.0"


class TensorFlow:
    """A Python that has TensorFlow, and what a compiler is told to use its C library: headers as a system's, and the
    folder of its libraries in the program, which needs no LD_LIBRARY_PATH then."""

    def __init__(self, python):
        self.python = pathlib.Path(python)
        self.version = TENSORFLOW.partition("==")[2]
        found = sorted(self.python.parent.parent.glob("lib/python*/site-packages/tensorflow"))
        if not found:
            sys.exit(f"./dev: {TENSORFLOW} is installed, but without a folder tensorflow")
        self.folder = found[0]
        self.compile_args = ["-isystem", str(self.folder / "include")]
        self.link_args = [f"-L{self.folder}", "-l:libtensorflow_cc.so.2", "-l:libtensorflow_framework.so.2",
                          f"-Wl,-rpath,{self.folder}"]


def tensorflow():
    """TensorFlow, in an environment below build/. Ends the program where it cannot be installed."""
    return TensorFlow(venv(TENSORFLOW))


# the last release that works with the torch of Debian 12, which is built for the CPU alone: pip's comes with libraries
# for graphics cards, gigabytes of them
IGNITE = "pytorch-ignite==0.5.3"


def ignite():
    """The Python of an environment that has pytorch-ignite, over Debian's torch. Ends the program where it cannot be
    installed."""
    return venv(IGNITE, over=("python3-torch", "python3-packaging"))
