# SPDX-License-Identifier: BSL-1.0
"""The words of docs/performance.md. Numbers that are measured are not in them: those come from the figures."""

# what steps, toolchains and competitors are called in figures → on the page
STEPS = {"tiny": "some ns", "dense": "about 1 µs", "digits": "about 100 µs"}
TOOLCHAINS = {"g++-O2": "g++ -O2", "g++-O3": "g++ -O3", "clang++-19-O2": "clang++-19 -O2"}
COMPETITORS = {
    "hand": "by hand", "hand_local": "by hand, state in local variables", "fused": "tautline, `run_to_completion`",
    "coroutine": "tautline, `steps()`", "coroutine_pace_100": "tautline, `run_steps(100)` in a loop",
    "classic": "tautline, `run` in a loop", "virtual": "virtual calls", "function": "`std::function`",
    "signals2": "Boost.Signals2", "ensmallen_bare": "ensmallen without callbacks", "ensmallen": "ensmallen",
}

HEAD = """
What hooks cost, beside the same by hand and beside the alternatives. `{command}` made this page, its plots and
[all figures](performance/figures.json); to change a number, run it again.
"""

INSTRUCTIONS = """
By callgrind, so the same on every run. The step is the shortest, a line fitted by gradient descent. Idle hooks have a
`before_run` and an `after_run` that do nothing; working ones are a counter, a running mean, a check for NaN, a stop
test and a sampler of each 1000th step, in turn; triggered ones read the loss each 1000th step, fetching ones each
step. By hand, all that they do stands in one loop, whose state is in an object that outlives it, as a session's must.
Of several checks of one value a compiler makes one where it sees them all in one loop: each but the first looks at a
copy that it does not know, in all loops alike. (Without that g++ merges them by hand, and of hooks it does not:
`working_64` in [the record](../tests/codegen/recorded.json).)
"""
ENSMALLEN = """
ensmallen has a loop and numbers of its own; what its callbacks cost is what it takes more with them than without.
"""
NO_ENSMALLEN = "ensmallen is absent: `--ensmallen FOLDER` names the folder of its headers."

TIME = """
The least of repetitions in which the competitors take turns, on g++ -O2. Columns with a + are what is added to the loop
by hand. Noise is how far repetitions of that loop lie apart (the range of the middle half): a difference below it says
nothing, a negative one says no more. In the plot what is below 0.05 ns stands at 0.05.
"""
GROWTH = """
Whole trainings with five working hooks. Each number is the least of some trainings, fewer of the long ones, which have
more of the noise.
"""
JITTER = """
A step over a model of 1 MiB, with a logger, summaries and a saver, once writing beside the loop and once in it. The
longest step is what the system does to a thread, too.
"""
COMPILE_TIME = "One file with a session, each hook a type of its own, at -O0."
SIZES = """
The text of an optimised program (g++ -O2, unused sections dropped) as `size` tells it: code, constants, and what
unwinds the stack; not the shared libraries. A session has the life cycle, errors and recovery, which the others have
not.
"""
EMBEDDED = """
Bare metal, without heap and exceptions, counted in QEMU ([the example](../examples/embedded)): five hooks of the
example beside the same by hand, and what an image grows by when it gets one hook, with all that comes with it. Bytes
are those of the linked image, its stack apart.
"""
PYTHON = """
The same step in C++, in Python, and as a graph of TensorFlow, each in a loop of its own that does what the hooks do,
and what the library adds to that loop: a step of Python takes longer than one of C++ whatever the hooks are.
"""
ELSEWHERE = "Ratios to a measure of the same run."
AGAIN = """
`./dev bench` measures all this in a quarter of an hour, `./dev bench --quick` the essential in three minutes; `--page`
writes the page, `--json FILE` the figures. `./dev bench --sizes` measures only RAM and flash on a Cortex-M4, which a
quick run has `--with embedded`; one benchmark alone is a script, `python3 benchmarks/overhead.py --only PATTERN`. What
is the same on every run, `./dev test` holds against bounds and against what was recorded ([of
programs](../tests/codegen/recorded.json), [of compiling them](../tests/codegen/compile_cost.json)); times are held by
`./dev bench --check`, on a machine that does nothing else.
"""

# --- why a goal is missed: shown where it is, and only there ----------------------------------------------------------

LAYOUT = """
A loop of some ns is mostly the latency of its own state, and moves by some per cent when its code is laid out
otherwise; the instructions are what the hooks are.
"""
TRIGGERED = """
A hook with a trigger says before the run what it asks for, so that at all other steps nothing is computed for it, and
after the run it is looked at again whether its values are there. Neighbours with triggers are looked at together; a
single one costs two comparisons a step, where by hand there is one.
"""
MANY = """
Of 64 hooks more is alive in a loop than a processor has registers, and a compiler does not inline all of it where the
loop is left at each step: what is stored and loaded again, and calls, are some instructions a hook.
"""
LOSS = """
ensmallen computes the loss in each step, whoever wants it; here it is computed when a hook asks, and counts as the
hooks'.
"""
FLASH = """
A session takes its life cycle once, whatever the hooks are: making and closing, errors as values, who stopped it and
why. The loop by hand has none of that. What a hook more takes stands in the table of the Cortex-M4.
"""
SPILLED = """
With -Os the compiler keeps the comparison of a trigger, and the step, in memory while the step is made, and loads them
again.
"""
RAM = """
A session has 96 bytes of its own (its steps, where in its life it is, who stopped it and why), and beside the frame
room for one error, 64 bytes (`frame_bytes<104>`; without that option frame and errors have 256 bytes). The rest are gaps
between hooks.
"""
