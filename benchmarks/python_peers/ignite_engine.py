# SPDX-License-Identifier: BSL-1.0
"""The side of python_peers.py that has pytorch-ignite: an Engine with handlers, and a plain loop over the same update.

usage: ignite_engine.py CASES PERIOD
"""

import math

import ignite
import torch
from ignite.engine import Engine, Events

import by_hand


class Idle:
    def __init__(self, engine, period, last):
        engine.add_event_handler(Events.ITERATION_STARTED, self.before)
        engine.add_event_handler(Events.ITERATION_COMPLETED, self.after)

    def before(self, engine):
        pass

    def after(self, engine):
        pass


class Counter:
    def __init__(self, engine, period, last):
        self.result = 0
        engine.add_event_handler(Events.ITERATION_COMPLETED, self.after)

    def after(self, engine):
        self.result += 1


class RunningMean:
    def __init__(self, engine, period, last):
        self.result = 0.0
        engine.add_event_handler(Events.ITERATION_COMPLETED, self.after)

    def after(self, engine):
        self.result += 0.01 * (engine.state.output - self.result)


class FiniteCheck:
    result = 0

    def __init__(self, engine, period, last):
        engine.add_event_handler(Events.ITERATION_COMPLETED, self.after)

    def after(self, engine):
        if not math.isfinite(engine.state.output):
            raise ArithmeticError("the loss is not finite")


class StopTest:
    def __init__(self, engine, period, last):
        self.result, self.last = 0, last
        engine.add_event_handler(Events.ITERATION_COMPLETED, self.after)

    def after(self, engine):
        if engine.state.iteration >= self.last:
            self.result = 1
            engine.terminate()


class Adder:
    def __init__(self, engine, period, last):
        self.result = 0.0
        engine.add_event_handler(self.when(period), self.after)

    def when(self, period):
        return Events.ITERATION_COMPLETED

    def after(self, engine):
        self.result += engine.state.output


class Sampler(Adder):
    def when(self, period):
        return Events.ITERATION_COMPLETED(every=period)


HOOKS = {"idle": (Idle,), "working": (Counter, RunningMean, FiniteCheck, StopTest, Sampler), "triggered": (Sampler,),
         "fetching": (Adder,)}


class Side:
    def competitors(self, kind, hooks, steps, period, last):
        """@return competitor → (its model, a function that trains and gives what the hooks computed)"""
        bare, model = by_hand.Line(), by_hand.Line()
        step = "loss = update(None, x)"
        loop = by_hand.loop(kind, hooks, "update", "for x in batches(steps):", step, step)
        engine = Engine(model.update)
        made = [HOOKS[kind][i % len(HOOKS[kind])](engine, period, last) for i in range(hooks)]

        def run():
            engine.run(by_hand.batches(steps), max_epochs=1, epoch_length=steps)
            return [hook.result for hook in made if kind != "idle"]

        return {"bare_python": (bare, lambda: loop(bare.update, steps, period, last)), "ignite": (model, run)}

    def check(self, kind, hooks, steps, period):
        found = {}
        for competitor, (model, run) in self.competitors(kind, hooks, steps + 1, period, steps).items():
            computed = run()
            found[competitor] = [model.slope, model.offset, *computed]
        return found

    def turn(self, kind, hooks, steps, period):
        made = self.competitors(kind, hooks, steps, period, by_hand.FAR)
        return {competitor: run for competitor, (_, run) in made.items()}


by_hand.serve(Side(), f"pytorch-ignite {ignite.__version__}, torch {torch.__version__}")
