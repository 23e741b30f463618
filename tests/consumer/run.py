#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Uses tautline as others do: as a subproject (the core alone, without any library at hand; hooks with fmt and
range-v3), and installed, by pkg-config.

usage: run.py
"""

import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from project import HERE, Failed, Project, must_run, report  # noqa: E402


def core_only(folder, compiler):
    project = Project("core_only", folder, compiler)
    project.run(hide_tools=True)
    foreign = [file for file in project.included() if "/fmt/" in file or "/range/v3/" in file]
    if foreign:
        raise Failed(f"the core included {foreign}")
    must_run(["meson", "install", "-C", project.build, f"--destdir={project.source / 'installed'}"])
    shipped = list((project.source / "installed").rglob("*.hpp"))
    if shipped:
        raise Failed(f"installing the consumer also installed {shipped[0]}")


def core_without_exceptions(folder, compiler):
    project = Project("core_only", folder / "bare", compiler)
    project.run("-Dcpp_eh=none", "-Dcpp_rtti=false", hide_tools=True)


def hooks(folder, compiler):
    Project("hooks", folder, compiler).run()


def installed(folder, compiler):
    prefix, build = folder / f"prefix-{compiler}", folder / f"install-{compiler}"
    env = dict(os.environ, CXX=compiler)
    must_run(["meson", "setup", build, report.ROOT, f"--prefix={prefix}", "-Dtests=disabled", "-Dexamples=disabled",
              "-Dbenchmarks=disabled", "--wrap-mode=nodownload"], env=env)
    must_run(["meson", "install", "-C", build])
    ours = {file.relative_to(report.INCLUDE) for file in report.INCLUDE.rglob("*.hpp")}
    theirs = {file.relative_to(prefix / "include") for file in prefix.rglob("*.hpp")}
    if ours != theirs:
        raise Failed(f"installed headers differ: {sorted(map(str, ours ^ theirs))}")
    packages = list(prefix.rglob("*.pc"))
    for package in packages:
        if "range" in package.read_text():
            raise Failed(f"{package.name} asks for range-v3, which has no pkg-config file on Debian")
    env["PKG_CONFIG_PATH"] = str(packages[0].parent)
    for name, source in (("tautline", "core_only"), ("tautline-hooks", "hooks")):
        flags = must_run(["pkg-config", "--cflags", "--libs", name], env=env).split()
        program = folder / f"{source}-installed-{compiler}"
        must_run([compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", HERE / source / "main.cpp", "-o", program, *flags])
        must_run([program])


def main():
    tally = report.Tally()
    (report.ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=report.ROOT / "build", prefix="consumer-") as folder:
        cases = [(use, compiler) for use in (core_only, core_without_exceptions, hooks, installed)
                 for compiler in report.compilers()]

        def check(case):
            use, compiler = case
            try:
                use(pathlib.Path(folder), compiler)
            except Failed as failed:
                return str(failed)
            return None

        for (use, compiler), problem in zip(cases, report.in_parallel(check, cases)):
            tally.add(f"consumer {use.__name__} on {compiler}", problem)
    tally.close()


main()
