#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The firmware of examples/embedded, built by its cross files, run in QEMU, and looked into.

What it prints, on a Cortex-M4 and a Cortex-M7, in float and in fixed point; that a training ends the same when the
power goes at any single write to the flash, when the chip is reset from outside at any moment, and when a step hangs;
that run_for keeps its budget; that an image has nothing in it of heap, exceptions, type information and threads; what
the hooks cost beside the same written by hand, in instructions, flash and RAM; that a consumer's project can be
cross-built.

Numbers are held against bounds (BOUNDS); what changed since recorded.json is told, and `--record` renews it.

usage: run.py [--self-test] [--record]      ends with 77 where there is no Arm toolchain or no QEMU
"""

import json
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cross  # noqa: E402
from cross import EXAMPLES, HERE, Core, Cost, report  # noqa: E402
from resets import (  # noqa: E402
    INTERRUPTED, WALK_STEPS, Training, problem_of_end, problem_of_hang, problem_of_new_model, problem_of_resets,
    problem_of_walk, problem_outside)

import builds  # noqa: E402

sys.path.insert(0, str(report.ROOT / "benchmarks"))
from goals import GOALS  # noqa: E402

RECORD = HERE / "recorded.json"
BUILD = report.ROOT / "build/test/embedded"
PROGRAMS = ["train_float", "train_fixed", "control_loop"]
LEVELS = ["-Os", "-O2"]

# --- what an image must not have in it ------------------------------------------------------------------------------

FORBIDDEN = re.compile(
    r"^(?:_?malloc(?:_r)?|_?free(?:_r)?|_?realloc(?:_r)?|_?calloc(?:_r)?|_?sbrk(?:_r)?"  # heap
    r"|_Zn[wa].*|_Zd[la].*"  # operator new, operator delete
    r"|__cxa_.*|_Unwind_.*|__gxx_personality.*|_ZSt9terminatev"  # exceptions, and what static objects may need
    r"|_ZT[ISV].*"  # type information, virtual functions
    r"|pthread_.*|__gthread.*|_ZNSt6thread.*|_ZNSt5mutex.*"
    r"|abort|raise|_?exit|__assert_func)$")


def symbols(image):
    return [line.split()[-1] for line in report.run(["arm-none-eabi-nm", image]).stdout.splitlines() if line.strip()]


def problem_of_symbols(names):
    found = sorted(name for name in names if FORBIDDEN.match(name))
    if "main" not in names:
        return "no main in it: the symbols could not be read"
    return f"must not be in the image: {', '.join(found)}" if found else None


# --- budgets --------------------------------------------------------------------------------------------------------

SLICES = re.compile(r"^(\d+) periods; slices that took too long: (\d+), as the session counts: (\d+)$", re.MULTILINE)
STEPS = re.compile(r"^# (\d+) steps", re.MULTILINE)


def problem_of_slices(code, printed):
    match, steps = SLICES.search(printed), STEPS.search(printed)
    if not match or not steps:
        return f"ended with {code}\n{printed}"
    periods, late, counted = map(int, match.groups())
    if late != 1 or counted != 1:
        return (f"{late} slices took too long, the session counted {counted}; it is the first one, and no other\n"
                f"{printed}")
    if int(steps[1]) < 5 * periods:
        return f"hardly a step was made: {printed}"
    return None if code == 0 else f"ended with {code}\n{printed}"


# --- costs ----------------------------------------------------------------------------------------------------------

# figure: (what it is held against, factor, more): figure <= factor * other + more
INSTRUCTIONS, LOOP = (GOALS[f"Cortex-M4, {goal}"].bound for goal in ("instructions", "loop"))
BOUNDS = {
    "5/fused-O2/instructions_per_step": ("5/hand-O2/instructions_per_step", INSTRUCTIONS, 0),
    "5/fused-Os/instructions_per_step": ("5/hand-Os/instructions_per_step", INSTRUCTIONS, 0),
    # the loop with all that the hooks do in a step
    "5/fused-Os/loop_bytes": ("5/hand-Os/loop_bytes", 1, LOOP / 4),
    "5/fused-O2/loop_bytes": ("5/hand-O2/loop_bytes", 1, LOOP / 4),
    "1/fused-Os/loop_bytes": ("1/hand-Os/loop_bytes", 1, 32),
    # a session can stop, fail, be resumed, closed and asked: that is paid once, whatever the hooks are. What of it nobody
    # asks for is not in the image
    "1/fused-Os/flash_bytes": ("1/hand-Os/flash_bytes", 1, 1000),
    "5/fused-Os/flash_bytes": ("5/hand-Os/flash_bytes", 1, 1600),
    "5/fused-O2/flash_bytes": ("5/hand-O2/flash_bytes", 1, 1600),
    "5/fused-Os/ram_bytes": ("5/hand-Os/ram_bytes", 1, 224),
}


def measure(core, folder, tally):
    """@return the figures: HOOKS/FORM-LEVEL/FIGURE → number"""
    figures = {}
    for level in LEVELS:
        for hooks in (1, 5):
            both = {form: Cost(core, folder, form == "hand", hooks, level) for form in ("hand", "fused")}
            name = f"{hooks} hooks, {level}: with hooks and by hand the same results"
            problem = both["hand"].problem or both["fused"].problem
            if not problem and both["hand"].results != both["fused"].results:
                problem = f"by hand {both['hand'].results}, with hooks {both['fused'].results}"
            tally.add(name, problem)
            if problem:
                continue
            for form, cost in both.items():
                key = f"{hooks}/{form}{level}"
                figures |= {f"{key}/instructions_per_step": round(cost.instructions, 2),
                            f"{key}/flash_bytes": cost.flash, f"{key}/loop_bytes": cost.loop,
                            f"{key}/ram_bytes": cost.ram, f"{key}/object_bytes": cost.object}
                figures |= {f"{key}/{part}_bytes": number for part, number in cost.parts.items()}
    return figures


def problem_of_bound(name, figures, recorded):
    against, factor, more = BOUNDS[name]
    if name not in figures or against not in figures:
        return "could not be measured"
    limit = factor * figures[against] + more
    if figures[name] <= limit:
        return None
    return (f"was {recorded.get(name, 'not recorded')}, now {figures[name]}, "
            f"at most {factor} * {against} + {more} = {limit:.2f}")


def problem_of_parts(key, figures):
    """A session is its graph, its hooks, its memory for frame and errors, its own 96 bytes, and what aligns them."""
    names = ["object", "graph", "hooks", "memory", "own", "frame"]
    if any(f"{key}/{name}_bytes" not in figures for name in names):
        return "could not be measured"
    whole, graph, hooks, memory, own, frame = (figures[f"{key}/{name}_bytes"] for name in names)
    over = whole - graph - hooks - memory - own
    if 0 <= over <= 24 and frame <= memory - 64 and own <= 96:
        return None
    return (f"{whole} bytes: graph {graph}, hooks {hooks}, memory {memory} (of which the frame takes {frame}), "
            f"the session's own {own}, {over} over")


def judge(figures, data, tally, renewed):
    """Bounds, and the record: figures that are worse than it, and within their bounds, or better are told."""
    recorded = data.get("figures", {}) if data.get("compiler") == cross.version() else {}
    for name in BOUNDS:
        tally.add(f"bound on {name}", problem_of_bound(name, figures, recorded))
    for key in sorted({name.rpartition("/")[0] for name in figures if "/fused" in name}):
        tally.add(f"RAM of a session: {key}", problem_of_parts(key, figures))
    if renewed:
        return
    for name, now in figures.items():
        was = recorded.get(name)
        if recorded and was is None:
            tally.add(f"record of {name}", f"there is none; now {now}; `run.py --record` renews the record")
        elif was is not None and abs(now - was) > 0.02 and not tally.quiet:
            verdict = "WORSE" if now > was else "BETTER"
            print(f"{verdict} {name}: was {was}, now {now}; `run.py --record` renews the record", flush=True)
    for name in sorted(set(recorded) - set(figures)):
        tally.add(f"record of {name}", "it is recorded, and was not measured")


# --- a consumer -----------------------------------------------------------------------------------------------------

def consumer(core, folder):
    """tests/consumer/cortex_m: a project of somebody else, with tautline as a subproject. None, or what went wrong."""
    sys.path.insert(0, str(report.ROOT / "tests/consumer"))
    from project import copy_tautline
    source = folder / "consumer"
    shutil.copytree(report.ROOT / "tests/consumer/cortex_m", source)
    shutil.copy(report.ROOT / "tests/consumer/core_only/main.cpp", source)
    shutil.copytree(EXAMPLES / "board", source / "board")
    copy_tautline(source / "subprojects/tautline")
    emulator = folder / "emulator.ini"
    emulator.write_text(f"[binaries]\nexe_wrapper = ['{EXAMPLES / 'run_in_qemu.py'}', '{core.board}']\n")
    for command in (["meson", "setup", source / "build", source, "--wrap-mode=nodownload", f"--cross-file={core.file}",
                     f"--cross-file={emulator}"],
                    ["meson", "test", "-C", source / "build", "--print-errorlogs"]):
        result = report.run(command)
        if result.returncode != 0:
            return result.stdout
    if not re.search(r"^Ok: +1\b", result.stdout, re.MULTILINE):  # without an emulator it is skipped, and does not fail
        return result.stdout
    text = report.run(["ninja", "-C", source / "build", "-t", "deps"]).stdout
    included = set(re.findall(r"include/(tautline/\S+\.hpp)", text))
    outside = {name for name in included if not name.startswith("tautline/core") and name != "tautline/version.hpp"}
    if not included or outside:
        return f"<tautline/core.hpp> brought {', '.join(sorted(outside)) or 'nothing'}"
    return problem_of_symbols(symbols(source / "build/core_only"))


# --- an update ------------------------------------------------------------------------------------------------------

SESSION = "  static auto session = make_session("
# what was there before the update: a training of another model, which has left a checkpoint
BEFORE = """  if (board::kept().boots == 1) {
    auto graph = static_graph{}.variable<"w">(0.0F).update<"train", "w">([](float& w) { w += 1; });
    auto old = monitored(graph, checkpoint_saver{checkpoints, at_end});
    if (!old.run_steps(5, target<"train">)) return 2;
    old.close();
    if (checkpoints.is_empty()) return 3;
    board::reset_now();
  }
"""


def new_model(core, folder):
    source = changed("train_float", folder, SESSION, BEFORE + SESSION)
    image = source.with_suffix(".elf")
    return core.build(source, image, more=INTERRUPTED) or problem_of_new_model(*core.run(image))


# --- all of it ------------------------------------------------------------------------------------------------------

def build(core, tally):
    """As a user builds it. @return the folder, or None"""
    folder = BUILD / core.name
    problem = builds.configure(folder, ["--cross-file", str(core.file), "--werror"]) or builds.compile_all(folder)
    tally.add(f"build on {core.name}", problem)
    return None if problem else folder


def interrupted(core, program, folder, tally):
    """@return the firmware, linked with what interrupts it"""
    image = folder / f"{program}-{core.name}"
    tally.add(f"{program} with interruptions on {core.name}",
              core.build(EXAMPLES / f"{program}.cpp", image, more=INTERRUPTED))
    return image


def play(record, tally):
    cores = {name: Core(name) for name in ("m4", "m7")}
    built = {name: build(core, tally) for name, core in cores.items()}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        jobs = []  # name, function without parameters that gives a problem
        for name, core in cores.items():
            if not built[name]:
                continue
            images = {program: built[name] / "examples/embedded" / program for program in PROGRAMS}
            for test, result, output in builds.run_tests(built[name], without_suite="script"):
                tally.add(f"{test} on {name}", None if result == "OK" else f"{result}\n{output}")
            for program, image in images.items():
                tally.add(f"symbols of {program} on {name}", problem_of_symbols(symbols(image)))
            program = "train_float" if name == "m4" else "train_fixed"
            others = {each: interrupted(core, each, folder, tally) for each in {program, "train_float"}}
            jobs += [
                (f"power cut at each write: {program} on {name}",
                 lambda core=core, image=others[program]:
                     problem_of_walk(*core.run(image, [f"steps={WALK_STEPS}", "walk=1"]))),
                (f"resets from outside: {program} on {name}",
                 lambda core=core, image=others[program]: problem_outside(core, image, folder)),
                (f"a step that hangs on {name}",
                 lambda core=core, image=others["train_float"]: problem_of_hang(core, image)),
                (f"budget of slices on {name}",
                 lambda core=core, image=images["control_loop"]: problem_of_slices(*core.run(image))),
            ]
        jobs.append(("a firmware with another model on m4", lambda: new_model(cores["m4"], folder)))
        jobs.append(("a consumer's project", lambda: consumer(cores["m4"], folder)))
        for (name, _), problem in zip(jobs, report.in_parallel(lambda job: job[1](), jobs)):
            tally.add(name, problem)
        tally.add("a native build has none of it", native(folder))
        figures = measure(cores["m4"], folder, tally)
    judge(figures, json.loads(RECORD.read_text()) if RECORD.exists() else {}, tally, record)
    if record:
        renewed = {"compiler": cross.version(), "figures": figures}
        RECORD.write_text(json.dumps(renewed, indent=1, sort_keys=True) + "\n")
    for level in LEVELS:
        for hooks in (1, 5):
            fused, hand = (f"{hooks}/{form}{level}" for form in ("fused", "hand"))
            print(f"{hooks} hooks {level}: " + ", ".join(
                f"{part} {figures.get(f'{fused}/{part}', 0)} (by hand {figures.get(f'{hand}/{part}', 0)})"
                for part in ("instructions_per_step", "flash_bytes", "ram_bytes")))


def native(folder):
    """A build for this machine says and makes nothing of all that."""
    said = report.run(["meson", "setup", folder / "native", report.ROOT, "--wrap-mode=nodownload", "-Dtests=disabled",
                       "-Dexamples=enabled", "-Dbenchmarks=disabled", "-Dtensorflow=disabled"])
    targets = report.run(["meson", "introspect", "--targets", folder / "native"]).stdout
    if said.returncode != 0 or "embedded_loop" not in targets:
        return said.stdout
    found = [word for word in ("qemu", "arm-none-eabi", "train_float") if word in said.stdout + targets]
    return f"it mentions {', '.join(found)}" if found else None


# --- the tests of the tests -----------------------------------------------------------------------------------------

HEAP = "extern \"C\" void* malloc(unsigned);\nint main() { return malloc(8) == nullptr; }\n"
VIRTUAL = ("struct base { virtual int number() const = 0; };\n"
           "struct one : base { int number() const override { return 1; } };\n"
           "one first;\nbase const* volatile which = &first;\nint main() { return which->number(); }\n")
FORGETFUL = ('struct statistics : running_statistics<"loss"> {\n  static constexpr bool stateless = true;\n'
             "  int state() { return 0; }\n};")
SBRK = "extern \"C\" void* _sbrk(int) { return nullptr; }\n"


def changed(program, folder, old, new):
    """A copy of a program of the examples with one thing changed."""
    text = (EXAMPLES / f"{program}.cpp").read_text()
    if text.count(old) != 1:
        raise SystemExit(f"the self-test cannot change {old!r} in {program}.cpp")
    file = folder / f"{program}-{len(list(folder.iterdir()))}.cpp"
    file.write_text(text.replace(old, new))
    return file


def self_test(tally):
    core = Core("m4")

    def refused(name, problem, why=""):
        tally.add(f"self-test: {name}", None if problem and why in problem else f"the wrong verdict: {problem}")

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def image_of(source, more=()):
            image = source.with_suffix(".elf")
            problem = core.build(source, image, more=more)
            if problem:
                tally.add(f"self-test: {source.name}", problem)
            return image

        for which, text, why in (("heap", HEAP + SBRK, "malloc"), ("virtual functions", VIRTUAL, "_ZTV")):
            source = folder / f"{which.split()[0]}.cpp"
            source.write_text(text)
            refused(f"an image with {which}", problem_of_symbols(symbols(image_of(source))), why)
        refused("an image without symbols", problem_of_symbols([]), "could not be read")

        walk = [f"steps={WALK_STEPS}", "walk=37"]

        def walker(old, new):
            return image_of(changed("train_float", folder, old, new), INTERRUPTED)

        code, printed = core.run(walker("0.1 s", ""), walk)
        tally.add("self-test: a walk", problem_of_walk(code, printed, 37))
        refused("a walk that left writes out", problem_of_walk(code, printed), "each write")
        image = walker("options{restore_from{checkpoints}},", "options{},")
        refused("no restore, the power cut", problem_of_walk(*core.run(image, walk), 37), "went on from a checkpoint")
        image = walker('using statistics = running_statistics<"loss">;', FORGETFUL)
        refused("a hook that hides its state, the power cut", problem_of_walk(*core.run(image, walk), 37),
                "ended otherwise")
        forget = "checkpoints.clear().ok()"
        image = walker(forget, "false")
        tally.add("self-test: the same model, and nothing that forgets", problem_of_hang(core, image))
        refused("a step that does not hang", problem_of_end(*core.run(image), boots=2, resumed=1), "boots: 1")
        source = changed("train_float", folder, SESSION, BEFORE + SESSION)
        source.write_text(source.read_text().replace(forget, "false"))
        refused("an update after which nothing is forgotten",
                problem_of_new_model(*core.run(image_of(source, INTERRUPTED))), "another training")

        undisturbed = Training(["digest 1\n"], resumed=0, cut=0, writes=648, boots=1)
        again, end = "# boots\n# goes on from step 200\n", "digest 1\n# ended, cut at write 0 of 648, boots: 9\n"
        tally.add("self-test: resets", problem_of_resets(undisturbed, 0, again * 8 + end, 8))
        refused("resets with another result", problem_of_resets(undisturbed, 0, again * 8 + end.replace("1", "2"), 8),
                "undisturbed")
        refused("resets without a restore", problem_of_resets(undisturbed, 0, end, 8), "8 resets, and then")
        lost = again * 4 + "# boots\n" + again * 3 + end
        refused("a boot that finds no checkpoint any more", problem_of_resets(undisturbed, 0, lost, 8), "8 resets, and then")
        early = "# boots\n" * 2 + again * 6 + end
        tally.add("self-test: resets before the first checkpoint", problem_of_resets(undisturbed, 0, early, 8))
        refused("resets that did not take place", problem_of_resets(undisturbed, 0, again * 8 + end, 1), "only 1")

        image = image_of(changed("control_loop", folder, "run_for(left,", "run_for(left > 0 ? left + 30'000 : 0,"))
        refused("slices that are too long", problem_of_slices(*core.run(image)), "took too long")
        image = image_of(changed("control_loop", folder, "run_for(left,", "run_for(period % 100 == 1 ? left : 0,"))
        refused("slices that are too short", problem_of_slices(*core.run(image)), "hardly")

        wanted = folder / "other.expected"
        wanted.write_text("another line\n")
        said = report.run([sys.executable, EXAMPLES / "run_in_qemu.py", "--expect", wanted, core.board, image,
                           "periods=3"])
        tally.add("self-test: another output", None if said.returncode == 1 else said.stdout)

    figures = {name: 100 for pair in BOUNDS.items() for name in (pair[0], pair[1][0])}
    worse = figures | {name: 100_000 for name in BOUNDS}
    for name in BOUNDS:
        refused(f"beyond {name}", problem_of_bound(name, worse, {name: 99}), "was 99, now 100000")
        tally.add(f"self-test: within {name}", problem_of_bound(name, figures, {}))
        refused(f"without {name}", problem_of_bound(name, {}, {}), "could not")
    parts = {f"k/{name}_bytes": number for name, number in
             {"object": 600, "graph": 200, "hooks": 40, "memory": 256, "own": 96, "frame": 72}.items()}
    tally.add("self-test: RAM that is accounted for", problem_of_parts("k", parts))
    refused("RAM that is not", problem_of_parts("k", parts | {"k/object_bytes": 640}), "48 over")
    inner = report.Tally(quiet=True)
    unexplained = len({name.rpartition("/")[0] for name in BOUNDS})  # sessions of which only one figure is given
    judge(figures | {"new": 2}, {"compiler": cross.version(), "figures": figures | {"gone": 1}}, inner, False)
    tally.add("self-test: figures without a record, and the other way round",
              None if inner.failed == 2 + unexplained else inner.closing())


def main(words):
    missing = cross.missing_tools()
    if missing:
        print(f"SKIPPED: {' and '.join(missing)} not installed")
        sys.exit(report.SKIPPED)
    tally = report.Tally()
    if "--self-test" in words:
        self_test(tally)
    else:
        play("--record" in words, tally)
    tally.close()


if __name__ == "__main__":
    main(sys.argv[1:])
