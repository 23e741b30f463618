#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The wraps work where no system package is used and nothing can be downloaded: from a package cache.

The cache is filled with the archives that the wraps name, where subprojects/packagecache has them, else with those of
Debian's source packages. Debian repacks two of the four, so for these the copies of the wraps in the test get another
file, hash and folder; what they provide, and our build files for them, stay as they are.

usage: wraps.py        ends with 77 if the archives cannot be had
"""

import configparser
import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tarballs  # noqa: E402
from project import Failed, Project, copy_tautline, must_run, report  # noqa: E402

WRAPS = ("fmt", "range-v3", "doctest", "nlohmann_json")
# package, archive, hash and folder at Debian; range-v3 and nlohmann_json are upstream's to the byte
DEBIAN = {
    "range-v3": ("range-v3", None, None, None),
    "nlohmann_json": ("nlohmann-json3", None, None, None),
    "fmt": ("fmtlib", "fmtlib_9.1.0+ds1.orig.tar.gz",
            "84ce1c2d0be3a9863935137969dcec6970125caac032f82474640bfc81463583", "fmtlib-9.1.0+ds1"),
    "doctest": ("doctest", "doctest_2.4.9~ds.orig.tar.xz",
                "7cc78169975bea36e70ab9d67e7de9b03d89b38653499ad03243e3944429b1ab", "doctest-2.4.9"),
}
OPTIONS = [f"--force-fallback-for={','.join(WRAPS)}", "--wrap-mode=nodownload"]


def read(wrap):
    config = configparser.ConfigParser(interpolation=None)
    config.read_string(wrap.read_text())
    return config


def fill(cache):
    """Fills the cache. @return for each wrap the keys that differ from those in the repository"""
    cache.mkdir(parents=True, exist_ok=True)
    own = report.ROOT / "subprojects/packagecache"
    changes = {}
    wanted = {}
    for name in WRAPS:
        section = read(report.ROOT / f"subprojects/{name}.wrap")["wrap-file"]
        file, digest = section["source_filename"], section["source_hash"]
        if (own / file).exists():
            shutil.copy(own / file, cache / file)
        if (cache / file).exists() and tarballs.sha256(cache / file) == digest:
            continue
        package, other, other_digest, folder = DEBIAN[name]
        if other:
            changes[name] = {"source_filename": other, "source_hash": other_digest, "directory": folder}
        if not (cache / (other or file)).exists():
            wanted[package] = other or file
    if wanted:
        tarballs.fetch(wanted, cache)
    for file in wanted.values():
        if not (cache / file).exists():
            raise tarballs.Missing(f"this Debian has another version than {file}")
    return changes


def prepare(subprojects, cache, changes):
    """Gives a tree's wraps the cache. Meson checks the hashes."""
    shutil.copytree(cache, subprojects / "packagecache")
    for name, keys in changes.items():
        config = read(subprojects / f"{name}.wrap")
        config["wrap-file"].update(keys)
        with open(subprojects / f"{name}.wrap", "w", encoding="utf-8") as file:
            config.write(file)


def as_subproject(folder, compiler, cache, changes):
    project = Project("wraps", folder, compiler)
    nested = project.source / "subprojects/tautline/subprojects"
    shutil.copytree(cache, project.source / "subprojects/packagecache")
    prepare(nested, cache, changes)
    # doctest is the consumer's own need, so its wrap is among the consumer's
    shutil.copy(nested / "doctest.wrap", project.source / "subprojects")
    shutil.copytree(nested / "packagefiles/doctest", project.source / "subprojects/packagefiles/doctest")
    project.run(*OPTIONS)
    libraries = [file for file in project.included() if any(part in file for part in ("fmt/", "range/v3/", "doctest/"))]
    outside = [file for file in libraries if file.startswith("/") and str(project.source) not in file]
    if outside or not libraries:
        raise Failed(f"not from the fallbacks: {outside[:3]}")


def standalone(folder, compiler, cache, changes):
    """The project itself, far enough to see that its own look-ups reach the fallbacks."""
    source = folder / f"tautline-{compiler}"
    copy_tautline(source)
    shutil.copytree(report.ROOT / "tests", source / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    prepare(source / "subprojects", cache, changes)
    said = must_run(["meson", "setup", source / "build", source, *OPTIONS, "-Dtests=enabled", "-Dhooks=enabled",
                     "-Dranges=enabled", "-Dcheckpoints=enabled"], env=dict(os.environ, CXX=compiler))
    for name in WRAPS:
        if f"Executing subproject {name}" not in said:
            raise Failed(f"{name} is not taken from its wrap\n{said}")


def main():
    tally = report.Tally()
    build = report.ROOT / "build"
    cache = build / "packagecache"
    try:
        changes = fill(cache)
    except tarballs.Missing as missing:
        print(f"SKIPPED: the archives of {', '.join(WRAPS)} cannot be had: {missing}")
        sys.exit(report.SKIPPED)
    with tempfile.TemporaryDirectory(dir=build, prefix="wraps-") as folder:
        cases = [(use, compiler) for use in (as_subproject, standalone) for compiler in report.compilers()]

        def check(case):
            use, compiler = case
            try:
                use(pathlib.Path(folder), compiler, cache, changes)
            except Failed as failed:
                return str(failed)
            return None

        for (use, compiler), problem in zip(cases, report.in_parallel(check, cases)):
            tally.add(f"wraps {use.__name__} on {compiler}", problem)
    tally.close()


main()
