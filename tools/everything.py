# SPDX-License-Identifier: BSL-1.0
"""`./dev test`: all build configurations and all scripts, counted together.

Most scripts leave a core idle, for a while or all the time. So the configurations are built beside them, at the lowest
priority: a script, and what it measures, has the cores whenever it wants them. Their tests run when the scripts are through.
"""

import concurrent.futures
import re
import sys
import time

import builds
import report


# not --buildtype=, which would have the last word about what stands beside it
DEBUG = ["-Dbuildtype=debug", "-Ddebug=false"]
RELEASE = ["--buildtype=release"]  # -O3; what is counted in codegen/ is compiled with -O2, too


def sanitize(*without, checks="address,undefined"):
    """The options of a debug build with sanitizers. Lines are enough for their reports, and full debug information takes
    a third of the time.
    @param without: what the undefined-behaviour sanitizer does not ask"""
    words = " ".join(["-g1", *(f"-fno-sanitize={check}" for check in without)])
    return [*DEBUG, f"-Dcpp_args={words}", f"-Db_sanitize={checks}"]


BARE = [*DEBUG, "-Dcpp_eh=none", "-Dcpp_rtti=false"]
EXAMPLES = ["-Dexamples=enabled"]
NO_EXAMPLES = ["-Dexamples=disabled"]
# the scenarios take minutes to compile: once as ./dev conformance plays them, and once with the sanitizers
SCENARIOS = ["-Dconformance=enabled"]
NO_SCENARIOS = ["-Dconformance=disabled"]
# core, and the hooks and places to write to that need nothing else. What needs more is compiled once on each compiler:
# on clang with the sanitizers, on g++ optimized
CORE = ["-Dhooks=disabled", "-Dcheckpoints=disabled", "-Dbackground=disabled", "-Dranges=disabled"]
# name, compiler, options; those of a quick run first
QUICK_CONFIGURATIONS = 2
CONFIGURATIONS = [
    # what is asked at each access is a third of g++'s time; on clang it is asked
    ("gcc-debug", "g++", [*sanitize("null", "alignment", "object-size", "vptr"), *CORE, *NO_EXAMPLES, *NO_SCENARIOS]),
    ("clang-release", "clang++-19", [*RELEASE, *CORE, *NO_EXAMPLES, *NO_SCENARIOS]),
    # b_lundef: clang links the sanitizers' runtime into programs only
    ("clang-debug", "clang++-19", [*sanitize(), "-Db_lundef=false", *NO_EXAMPLES, *SCENARIOS]),
    ("gcc-release", "g++", [*RELEASE, *EXAMPLES, *NO_SCENARIOS]),
    # without exceptions and RTTI; clang plays the scenarios so in clang-debug
    ("gcc-bare", "g++", [*BARE, *CORE, *NO_EXAMPLES, *NO_SCENARIOS]),
]
COMMON = ["--werror", "-Dtests=enabled", "-Dbenchmarks=disabled", "-Dtensorflow=disabled"]

# script and arguments below tests/; those of a quick run first
QUICK_SCRIPTS = 6
SCRIPTS = [
    ["static/lint.py"],
    ["static/includes.py"],
    ["static/diagnostic_pages.py"],
    ["static/laws.py"],
    ["compile_fail/run.py"],
    ["headers/run.py"],
    ["static/lint.py", "--self-test"],
    ["static/includes.py", "--self-test"],
    ["static/diagnostic_pages.py", "--self-test"],
    ["static/laws.py", "--self-test"],
    ["static/hook_table.py", "--self-test"],
    ["static/hook_table.py"],
    ["conformance/run.py", "--self-test"],
    ["compile_fail/run.py", "--self-test"],
    ["headers/run.py", "--self-test"],
    ["toolchain/run.py", "--self-test"],
    ["toolchain/run.py"],
    ["codegen/run.py", "--self-test"],
    ["codegen/run.py"],
    ["codegen/compile_cost.py", "--self-test"],
    ["codegen/compile_cost.py"],
    ["docs/run.py", "--self-test"],
    ["docs/run.py"],
    ["docs/performance.py", "--self-test"],
    ["docs/performance.py"],
    ["bench/run.py", "--self-test"],
    ["bench/run.py"],
    ["readers/safetensors.py", "--self-test"],
    ["readers/safetensors.py"],
    ["readers/tensorboard.py", "--self-test"],
    ["readers/tensorboard.py"],
    ["readers/rows.py", "--self-test"],
    ["readers/rows.py"],
    ["readers/promtool.py", "--self-test"],
    ["readers/promtool.py"],
    ["readers/perfetto.py", "--self-test"],
    ["readers/perfetto.py"],
    ["crash/run.py", "--with-self-test"],
    ["leak/run.py", "--with-self-test"],
    ["realtime/run.py"],
    ["threads/run.py"],
    ["consumer/run.py"],
    ["consumer/wraps.py"],
    ["../benchmarks/overhead.py", "--self-test"],
    ["../benchmarks/python_peers.py", "--self-test"],
    ["embedded/run.py", "--self-test"],
    ["embedded/run.py"],
    ["tensorflow/run.py", "--self-test"],
    ["tensorflow/run.py"],
]
# what --without leaves out and --only runs alone: the scripts of a folder
PARTS = {"embedded": "embedded/", "tensorflow": "tensorflow/"}


class Run:
    def __init__(self):
        self.tally = report.Tally()
        self.folder = report.ROOT / "build/test"
        self.logs = self.folder / "logs"
        self.logs.mkdir(parents=True, exist_ok=True)

    def log(self, name, text):
        """Keeps a text. @return where, for people"""
        file = self.logs / (re.sub(r"[^\w.-]+", "-", name) + ".log")
        file.write_text(text)
        return file.relative_to(report.ROOT)

    def fail(self, name, text):
        where = self.log(name, text)
        telling = [line for line in text.splitlines() if "error" in line.lower() or "FAILED" in line] or text.splitlines()
        self.tally.add(name, report.indent("\n".join(telling), by="", most=8) + f"log: {where}")

    def build(self, name, compiler, options):
        """Configures and builds beside what else is done. @return the seconds, and what went wrong: as it was configured, as
        it was compiled"""
        start, folder = time.monotonic(), self.folder / name
        not_configured = builds.configure(folder, [*COMMON, *options], compiler)
        not_built = None if not_configured else builds.compile_all(folder, beside=True)
        return time.monotonic() - start, not_configured, not_built

    def configuration(self, name, built):
        """One build configuration. @param built: what build gives for it, when it is done"""
        seconds, not_configured, not_built = built.result()
        print(f"{name}: built in {seconds:.0f} s beside the rest", flush=True)
        if not_configured:
            self.fail(f"{name}: configure", not_configured)
            return
        if not_built:
            self.fail(f"{name}: build", not_built)
        folder = self.folder / name
        for test, result, output in builds.run_tests(folder, without_suite="script"):
            full = f"{name}: {test}"
            if result == "SKIP":
                self.tally.skip(full, output.strip().splitlines()[-1] if output.strip() else "no reason given")
            elif result in ("OK", "EXPECTEDFAIL"):
                self.tally.add(full)
            else:
                self.fail(full, f"{result}\n{output}")

    def script(self, words, root=report.ROOT / "tests"):
        name = " ".join(str(word) for word in words)
        result = report.run([sys.executable, root / words[0], *words[1:]])
        if result.returncode == report.SKIPPED:
            self.tally.skip(name, (result.stdout.strip() or "no reason given").splitlines()[-1].removeprefix("SKIPPED: "))
            return
        before = self.tally.failed
        counted = self.tally.add_closing(result.stdout)
        if not counted or (result.returncode != 0 and self.tally.failed == before):
            self.fail(name, f"ended with {result.returncode}\n{result.stdout}")
        elif self.tally.failed > before:
            print(f"FAILED {name}\n{report.indent(result.stdout)}    log: {self.log(name, result.stdout)}", flush=True)
        else:
            for line in result.stdout.splitlines():
                if line.startswith(("SKIPPED ", "WORSE ")):
                    print(line, flush=True)

    def timed(self, name, function, *arguments):
        start, passed, failed = time.monotonic(), self.tally.passed, self.tally.failed
        function(*arguments)
        print(f"{name}: {self.tally.passed - passed} passed, {self.tally.failed - failed} failed"
              f" ({time.monotonic() - start:.0f} s)", flush=True)


def main(quick=False, without=(), only=()):
    """@param without, only: names of PARTS; a quick run has none of them anyway"""
    run = Run()
    missing = report.missing_compilers()
    if missing:
        run.tally.add("compilers", f"{' and '.join(missing)} not installed: a change must pass on {' and '.join(report.COMPILERS)}")
        run.tally.close()
    if only:
        for words in SCRIPTS:
            if any(words[0].startswith(PARTS[part]) for part in only):
                run.timed(" ".join(words), run.script, words)
        run.tally.close()
    scripts = SCRIPTS[:QUICK_SCRIPTS] if quick else SCRIPTS
    for part in without:
        run.tally.skip(part, "left out, as --without says")
        scripts = [words for words in scripts if not words[0].startswith(PARTS[part])]
    configurations = CONFIGURATIONS[:QUICK_CONFIGURATIONS] if quick else CONFIGURATIONS
    ahead = concurrent.futures.ThreadPoolExecutor(1)
    try:
        built = [(name, ahead.submit(run.build, name, compiler, options)) for name, compiler, options in configurations]
        for words in scripts:
            run.timed(" ".join(words), run.script, words)
        scenarios = report.ROOT / "tests/conformance/scenarios"
        if not scenarios.is_dir():
            run.tally.add("conformance", f"there is no folder {scenarios.relative_to(report.ROOT)}")
        elif not quick:
            run.timed("conformance", run.script, ["conformance/run.py", scenarios])
        for name, result in built:
            run.timed(name, run.configuration, name, result)
    finally:
        ahead.shutdown(cancel_futures=True)
    run.tally.close()
