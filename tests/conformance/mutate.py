#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Proves that the scenarios find faults: breaks one rule of the library at a time, in a copy of its headers, and
requires that a scenario which is about that rule fails.

usage: mutate.py [--compiler g++] [NAME...]

Takes minutes, as each broken library is compiled; so it is no part of the normal tests. A mutation that no longer fits
the headers is reported as a failure: it has to be written anew.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CORE = "tautline/core/"
HOOKS = "tautline/hooks/"

# name: (the edits, scenarios of which at least one has to fail). An edit is a header, a regular expression that matches
# there once, and what its match becomes.
MUTATIONS = {
    "on_error is left out": (
        [(CORE + "events.hpp", r"tell_all<callback::on_error, on_error_callback>\(.*\);", "(void)happened;")],
        ["error_of_run_internal"]),
    "end is called after an error": (
        [(CORE + "life_cycle.hpp", r"if \(!from_session\) give_up\(\);", "if (!from_session) finish();")],
        ["error_in_after_run"]),
    "close is left out after an error": (
        [(CORE + "life_cycle.hpp", r"(void give_up\(\) \{[\s\S]*?)\n *this->template tell_all<callback::close.*", r"\1")],
        ["error_in_before_run"]),
    "close is left out after end": (
        [(CORE + "life_cycle.hpp", r"(void finish\(\) \{[\s\S]*?)\n *this->template tell_all<callback::close.*", r"\1")],
        ["order_one_hook"]),
    "the first failing end keeps others from theirs": (
        [(CORE + "events.hpp", r"\(void\((tell_one<Where, Callback, Index>\(.*?\))\), \.\.\.\)",
          r"(void)(true && ... && \1)")],
        ["errors_in_several_ends"]),
    "errors of hooks are recovered": (
        [(CORE + "life_cycle.hpp", r"if \(from_session && settle_making\(\)\)", "if (settle_making())"),
         (CORE + "life_cycle.hpp", r"if \(happened\.where != callback::run && .*\n.*of its after_restore.*", "")],
        ["abort_from_after_run", "abort_from_before_run"]),
    "errors of hooks at the making are recovered": (
        [(CORE + "life_cycle.hpp", r"if \(happened\.where != callback::run && .*\n.*of its after_restore.*", "")],
        ["abort_from_after_create_session"]),
    "the count of recoveries is never begun anew": (
        [(CORE + "life_cycle.hpp", r"if \(this->ran_in_this_session\(\)\) \{", "if (false) {")],
        ["recoveries_are_counted_anew"]),
    "recovery without bound": (
        [(CORE + "life_cycle.hpp", r"if \(this->state\.recoveries >= most\) return false;", "")],
        ["storm_beyond_bound", "no_recovery_allowed"]),
    "unavailable is not recovered": (
        [(CORE + "life_cycle.hpp", r" && happened\.kind != error_kind::unavailable", "")],
        ["unavailable_is_recovered"]),
    "the broken session stays open": (
        [(CORE + "life_cycle.hpp", r"close_backend\(\);(\s*this->state\.forget_errors\(\);)", r"\1")],
        ["abort_keeps_state"]),
    "the later stop is recorded": (
        [(CORE + "life.hpp", r"if \(stop_recorded\(\)\) return;", "")],
        ["end_of_input_in_run_with_stop", "two_limits_at_one_step"]),
    "a stop is forgotten in a recovery": (
        [(CORE + "life_cycle.hpp", r"(\n *)(if \(open_session\(\)\) return true;)", r"\1this->state.forget_stop();\1\2"),
         (CORE + "life.hpp", r"(\n *)(\[\[nodiscard\]\] bool stop_recorded\(\) const \{)",
          r"\1void forget_stop() { stop_by_ = no_hook; __atomic_store_n(&stopped_, false, __ATOMIC_RELAXED); }\1\2")],
        ["abort_after_stop_request"]),
    "after_run is called at the end of the input": (
        [(CORE + "stepper.hpp",
          r"(if \(!done\.ok\(\)\) \[\[unlikely\]\] \{[\s\S]*?)if \(!(tell_all_values<Mask>\(.*\))\) return",
          r"if (done.kind == error_kind::out_of_range) (void)\2;\n      \1if (!\2) return")],
        ["input_begins_anew_in_each_session"]),
    "a hook's end of input is the end": (
        [(CORE + "stepper.hpp", r"if \(from_session && happened\.kind", "if (happened.kind")],
        ["out_of_range_from_after_run", "out_of_range_from_before_run"]),
    "after_run goes on after a failure": (
        [(CORE + "stepper.hpp", r"if \(!(tell_all_values<Mask>\(.*\))\) return outcome::failed;", r"(void)\1;")],
        ["nan_fails"]),
    "outermost hooks close first": (
        [(CORE + "order.hpp", r"Order\.closing\[", "Order.opening[")],
        ["outermost_in_the_middle", "two_outermost_nest"]),
    "relations are turned round": (
        [(CORE + "order.hpp", r"before\[self\]\[other\](.*runs_before)", r"before[other][self]\1")],
        ["order_by_relation", "relation_to_a_stock_hook"]),
    "a second close closes again": (
        [(CORE + "monitored_session.hpp", r"(error try_close\(\) \{\s*)if \(.*\) return \{\};", r"\1")],
        ["close_twice"]),
    "close goes on without end": (
        [(CORE + "monitored_session.hpp", r"shut\(true\);", "shut(false);")],
        ["order_one_hook"]),
    "a refused run costs the hooks their end": (
        [(CORE + "monitored_session.hpp", r"(<= this->state\.uncaught) \|\| this->state\.stop_recorded\(\)", r"\1")],
        ["run_after_stop_not_caught"]),
    "the caller's error is a success": (
        [(CORE + "monitored_session.hpp", r"std::uncaught_exceptions\(\) <= this->state\.uncaught", "true")],
        ["error_of_caller"]),
    "a run after a stop is not refused": (
        [(CORE + "driver.hpp", r"if \(this->state\.stopped\(\)\) return refuse_run<Throw, result_of<args>>\(outcome::stopped\);", "")],
        ["run_after_stop", "caller_stops_and_goes_on"]),
    "begin is called twice": (
        [(CORE + "life_cycle.hpp", r"(\n *call_begin\(told, at, graph\);)", r"\1\1")],
        ["order_one_hook"]),
    "a conflict of feeds is not noticed": (
        [(CORE + "asker.hpp", r"at\.fail\(error_kind::feed_conflict,.*\);\s*return false;", "")],
        ["feed_conflict_of_hooks", "feed_conflict_with_caller"]),
    "at_end always": (
        [(CORE + "events.hpp", r"if \(place\.trigger\.handled \|\| !ran_in_this_session\(\)\) return false;", "")],
        ["at_end_of_a_handled_step", "at_end_after_a_recovery_without_runs"]),
    "at_end forgets runs without hooks": (
        [(CORE + "stepper.hpp", r"place\.trigger\.handled = false;", ";")],
        ["at_end_after_a_run_without_hooks"]),
    "the next step fires in each session": (
        [(CORE + "trigger.hpp", r"kept\.unseen \? view\.step \+ 1 : following\(view\.step\)", "view.step + 1")],
        ["logger_after_rollback"]),
    "values are shown to those who did not ask": (
        [(CORE + "stepper.hpp", r"return asks_now\(request\) &&", "return")],
        ["fetch_every_two_and_three"]),
    "run_with is seen by all": (
        [(CORE + "monitored_session.hpp", r"mask\.on\) on = false;", "mask.on) on = true;")],
        ["run_with_one_hook"]),
    "the limit is looked at after a run only": (
        [(HOOKS + "stop_at_step.hpp", r"look\(at, session\.step\(\)\);", "(void)at;")],
        ["stop_at_step_already_past"]),
    "num_steps is fixed anew in each session": (
        [(HOOKS + "stop_at_step.hpp", r"if \(!fixed_\) \{", "{")],
        ["abort_keeps_num_steps_target"]),
    "fail stops, and stop fails": (
        [(HOOKS + "on_bad_value.hpp", r"if \(policy_ == on_nan::fail\)", "if (policy_ != on_nan::fail)")],
        ["nan_fails", "nan_check_of_two_names"]),
    "a saver that wants to is not called in a step": (
        [(CORE + "stepper.hpp", r"if \(this->wants_save\(saving_hooks<Mask>\{\}\)\)", "if (false)")],
        ["abort_restores_checkpoint"]),
    "checks come where they stand": (
        [(CORE + "order.hpp", r"if constexpr \(is_check<Hook>\)", "if constexpr (false)")],
        ["nan_before_saver"]),
    "variables that are not finite are saved": (
        [(HOOKS + "checkpoint_saver.hpp", r"finite = find_not_finite\(item\.view\) == item\.view\.element_count\(\);", "finite = true;")],
        ["nan_stop_and_poisoned_variables"]),
}


class Unfit(Exception):
    """The text to change does not stand in the header, or not once."""


def broken(include, edits, target):
    """A copy of the headers with these edits."""
    shutil.copytree(include, target)
    for header, old, new in edits:
        path = target / header
        content, count = re.subn(old, new, path.read_text(encoding="utf-8"))
        if count != 1:
            raise Unfit(f"{header} has {count} times: {old}")
        path.write_text(content, encoding="utf-8")


def scenario_files(names):
    files = [folder / f"{name}.json" for name in names for folder in (HERE / "scenarios", HERE / "scenarios-extra")]
    found = [file for file in files if file.exists()]
    if len(found) != len(names):
        raise Unfit(f"no such scenario among {names}")
    return found


def play(include, names, compiler, work):
    """The scenarios that fail on these headers, and what was printed."""
    folder = work / "scenarios"
    folder.mkdir(parents=True)
    for file in scenario_files(names):
        shutil.copy(file, folder)
    generated = work / "generated"
    subprocess.run([sys.executable, HERE / "generate.py", "--out", generated, "--include", include, folder], check=True)
    # one piece, so that no inline function comes from elsewhere
    chunks = sorted(generated.glob("chunk_*.cpp"))
    (generated / "all.cpp").write_text("".join(f'#include "{file}"\n' for file in [*chunks, HERE / "main.cpp"]),
                                       encoding="utf-8")
    libraries = ["-lfmt"] if any("_logger.hpp" in file.read_text(encoding="utf-8") for file in chunks) else []
    program = work / "program"
    done = subprocess.run([compiler, "-std=c++20", "-O0", "-w", f"-I{include}", f"-I{HERE}", f"-I{generated}",
                           generated / "all.cpp", "-o", program, *libraries], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)
    if done.returncode != 0:
        errors = [line for line in done.stdout.splitlines() if "error:" in line]
        raise Unfit("it does not compile: " + (errors or ["?"])[0][:300])
    done = subprocess.run([sys.executable, HERE / "run.py", "--include", include, "--timeout", "60", "--programs",
                           f"throwing={program}", folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    return re.findall(r"^FAILED ([^:\s]+)", done.stdout, re.MULTILINE), done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--include", type=pathlib.Path, default=ROOT / "include")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    chosen = {name: MUTATIONS[name] for name in given.names or MUTATIONS}
    passed = failed = 0

    def add(good, line):
        nonlocal passed, failed
        passed += good
        failed += not good
        print(("found   " if good else "FAILED  ") + line, flush=True)

    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        include = work / "include"  # one state of the headers for all, whoever edits them meanwhile
        shutil.copytree(given.include, include)
        names = sorted({name for _, names in chosen.values() for name in names})
        try:
            wrong, output = play(include, names, given.compiler, work / "unbroken")
        except Unfit as why:
            wrong, output = ["all"], str(why)
        if wrong:
            print(output)
        add(not wrong, f"nothing broken: {len(names)} scenarios pass" if not wrong else f"nothing broken, and yet {wrong} fail")
        for number, (name, (edits, names)) in enumerate(chosen.items()):
            place = work / str(number)
            try:
                broken(include, edits, place / "include")
                wrong, output = play(place / "include", names, given.compiler, place)
                if wrong:
                    add(True, f"{name}: {', '.join(wrong)}")
                else:
                    add(False, f"{name}: no scenario of {names} fails\n{output}")
            except Unfit as why:
                add(False, f"{name}: {why}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
