#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What a hook takes of a Cortex-M4: flash and RAM of an image with it alone, less those of the same image without
hooks; and what five of them cost beside the same code by hand. Bytes are those of the linked image: code, constants,
static objects, and of newlib and libgcc what comes with them; stack is not counted.
"""

import pathlib
import sys
import tempfile
from typing import NamedTuple

import figures
import goals
from figures import ROOT, report

sys.path.insert(0, str(ROOT / "tests/embedded"))
import cross  # noqa: E402

LEVELS = ["-Os", "-O2"]
PAGE = ROOT / "docs/embedded.md"


class Hook(NamedTuple):
    name: str
    expression: str
    header: str | None = None  # in tautline/hooks; None: it is one of the example
    options: str | None = None
    prepare: str | None = None
    more: tuple[str, ...] = ()

    def flags(self):
        header = f"<tautline/hooks/{self.header}.hpp>" if self.header else None
        given = {"HOOK": self.expression, "HEADER": header, "OPTIONS": self.options, "PREPARE": self.prepare}
        return [*(f"-D{name}={value}" for name, value in given.items() if value), *self.more]


HOOKS = [
    Hook("stop_at_step", "stop_at_step{50}", "stop_at_step"),
    Hook("stopper", 'stopper<"loss">{{.max_steps = 50, .rel_loss_change_tol = 1e-4}}', "stopper"),
    Hook("stop_if_no_decrease", 'stop_if_no_decrease<"loss">{{.patience = 10}}', "early_stopping"),
    Hook("nan_checker", 'nan_checker<"loss">{}', "nan_checker"),
    Hook("nan_checker with skip_at_most", 'nan_checker<"loss">::with(skip_at_most{3})', "nan_checker"),
    Hook("spike_checker", 'spike_checker<"loss">::with(skip_at_most{2}, {.deviations = 8})', "spike_checker"),
    Hook("feed_fn", 'feed_fn<"rate">([](step_number step) { return step < 10 ? 0.4F : 0.1F; })', "feed_fn"),
    Hook("learning_rate_schedule",
         'learning_rate_schedule<"rate">([](step_number step) noexcept { return step < 10 ? 0.4F : 0.1F; })',
         "learning_rate_schedule"),
    Hook("ema", "ema(graph, {.decay = 0.99})", "ema"),
    Hook("final_ops", 'final_ops<"loss">{}', "final_ops"),
    Hook("phase_clock", "phase_clock{{.step = 0.01}, 1000}", "phase_clock"),
    Hook("pipeline",
         'observe<"loss">() | every_steps{10} | smooth(0.9F) | where(below(0.05F)) | request_stop("low")', "pipeline"),
    Hook("script", "script<&wait_for_it>{}", "script",
         prepare='static script_body wait_for_it(script_context<value_of<"loss", float>> life) { '
                 "for (int low = 0; low < 3;) { "
                 "float const loss = co_await life.next_value(); low += loss < 0.1F ? 1 : 0; } "
                 'life.request_stop("low"); }'),
    Hook("checkpoint_saver with two_slot_checkpoints", "checkpoint_saver{checkpoints, every_steps{10}}",
         "checkpoint_saver", options="options{restore_from{checkpoints}}", more=("-DCHECKPOINTS",)),
    Hook("running_statistics (example)", 'running_statistics<"loss">{}'),
    Hook("ring_log (example)", 'ring_log<"loss",float,8>{every_steps{16}}'),
    Hook("board_watchdog (example)", "board_watchdog{2500000}"),
]


def measure(core, folder):
    """@return figures, and the sizes of the image without hooks by level"""
    found, empty = {}, {}
    for level in LEVELS:
        def built(name, flags, level=level):
            image = folder / "image"
            problem = core.build(ROOT / "benchmarks/embedded_sizes.cpp", image, level, flags)
            if problem:
                sys.exit(f"{name}: {problem}")
            code, printed = core.run(image)
            if code != 0:
                sys.exit(f"{name}: ended with {code}\n{printed}")
            return cross.sizes(image)

        empty[level] = built("without hooks", [])
        for hook in HOOKS:
            flash, ram = built(hook.name, hook.flags())
            suffix = "" if level == "-Os" else f"_at{level}"
            found[f"embedded/{hook.name}/flash_bytes{suffix}"] = flash - empty[level][0]
            found[f"embedded/{hook.name}/ram_bytes{suffix}"] = ram - empty[level][1]
    return found, empty


def beside_by_hand(core, folder):
    """Five hooks of the example, and the same by hand. What bytes are over is that of -Os."""
    found = {}
    for level in LEVELS:
        suffix = "" if level == "-O2" else f".{level}"
        both = {form: cross.Cost(core, folder, form == "hand", 5, level) for form in ("fused", "hand")}
        one = {form: cross.Cost(core, folder, form == "hand", 1, level) for form in ("fused", "hand")}
        for cost in (*both.values(), *one.values()):
            if cost.problem:
                sys.exit(cost.problem)
        fused, hand = both["fused"], both["hand"]
        if fused.results != hand.results:
            sys.exit(f"not the same results: {fused.results} with hooks, {hand.results} by hand")
        for form, cost in both.items():
            found |= {f"embedded/5/{form}{suffix}/instructions_per_step": cost.instructions,
                      f"embedded/5/{form}{suffix}/flash_bytes": cost.flash,
                      f"embedded/5/{form}{suffix}/loop_bytes": cost.loop,
                      f"embedded/5/{form}{suffix}/ram_bytes": cost.ram}
        found[f"embedded/instructions_to_hand{suffix}"] = fused.instructions / hand.instructions
        if level == "-Os":
            parts = fused.parts
            found["embedded/flash_of_the_loop_over_hand"] = fused.loop - hand.loop
            found["embedded/flash_over_hand"] = fused.flash - hand.flash
            found["embedded/flash_of_four_more_hooks_over_hand"] = (
                (fused.flash - one["fused"].flash) - (hand.flash - one["hand"].flash))
            found["embedded/ram_over_state_and_frame"] = fused.object - parts["graph"] - parts["hooks"] - parts["frame"]
    return found


def tables(found, empty):
    """The parts of docs/embedded.md: {name: text}"""
    hooks = ["| | flash, -Os | RAM | flash, -O2 |", "|---|--:|--:|--:|",
             f"| *an image without hooks* | {empty['-Os'][0]} | {empty['-Os'][1]} | {empty['-O2'][0]} |"]
    for hook in HOOKS:
        key = f"embedded/{hook.name}"
        cells = (found[f"{key}/{figure}"] for figure in ("flash_bytes", "ram_bytes", "flash_bytes_at-O2"))
        hooks.append(f"| {hook.name} | {' | '.join(map(str, cells))} |")
    hand = ["| | instructions a step | flash of the loop | flash of the image | RAM |", "|---|--:|--:|--:|--:|"]
    for level, suffix in (("-O2", ""), ("-Os", ".-Os")):
        for form, words in (("fused", "five hooks"), ("hand", "by hand")):
            key = f"embedded/5/{form}{suffix}"
            cells = (found[f"{key}/{figure}"] for figure in ("loop_bytes", "flash_bytes", "ram_bytes"))
            hand.append(f"| {words}, {level} | {found[key + '/instructions_per_step']:.1f} | "
                        f"{' | '.join(map(str, cells))} |")
    return {"hooks": "\n".join(hooks), "hand": "\n".join(hand)}


def write_page(found, empty):
    text = PAGE.read_text()
    for name, table in tables(found, empty).items():
        begin, end = (f"<!-- embedded_sizes.py {name}: {place} -->" for place in ("begin", "end"))
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{table}\n{end}{rest.partition(end)[2]}"
    PAGE.write_text(text)


def main():
    parser = figures.parser(__doc__)
    parser.add_argument("--page", action="store_true", help="writes the tables of docs/embedded.md")
    wanted = parser.parse_args()
    missing = cross.missing_tools()
    if missing:
        sys.exit(f"{' and '.join(missing)} not installed")
    core = cross.Core("m4")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        found, empty = measure(core, folder)
        found |= beside_by_hand(core, folder)
    print(f"Cortex-M4, arm-none-eabi-g++ {cross.version()}, -Os (-O2). Without hooks: "
          f"flash {empty['-Os'][0]} ({empty['-O2'][0]}), RAM {empty['-Os'][1]} ({empty['-O2'][1]}) bytes. "
          "With one hook more:")
    print(f"{'':46} {'flash':>14} {'RAM':>12}")
    for hook in HOOKS:
        key = f"embedded/{hook.name}"
        print(f"{hook.name:46} {found[key + '/flash_bytes']:6} ({found[key + '/flash_bytes_at-O2']:5}) "
              f"{found[key + '/ram_bytes']:4} ({found[key + '/ram_bytes_at-O2']:4})")
    if wanted.page:
        write_page(found, empty)
    # the others stand in the lines above
    figures.tell(found, goals.bounds("embedded"), wanted,
                 shown=lambda name: name.count("/") != 2 or "/5/" in name)


main()
