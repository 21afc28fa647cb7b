#!/usr/bin/env python3
# %% [markdown]
# First steps with pipesim in Python. Each "# %%" begins a cell in editors that know notebooks.
# Run it as a script, too: PYTHONPATH=python python3 python/examples/first_steps.py

# %% A schedule in units of time: F, I and W of a micro-batch on a rank take 1 each.
import sys
from pathlib import Path

import pipesim

UNIT = dict(pp=4, micro_batches=8, unit="F=1,I=1,W=1")
report = pipesim.run(schedule="zbv", **UNIT)
print(report)
print(report.gantt())

# %% Several schedules. In a notebook, `some` alone shows the table.
some = pipesim.run(schedule=["1f1b", "zb-h1", "zbv"], **UNIT)
for one in sorted(some, key=lambda one: one.step):
    print(f"{one['schedule']:8} {one.step:6.1f} units, bubble {one['bubble_frac']:.1%}")

# %% A schedule of your own: a program in any language prints it.
own = f"!{sys.executable} {Path(__file__).parent / 'ffbb.py'} {{pp}} {{micro_batches}}"
rows = pipesim.sweep(schedule=["1f1b", own], pp=4, micro_batches=[8, 16, 32], unit="F=1,B=2")
for row in rows:
    name = "ffbb" if row["schedule"] == own else row["schedule"]
    print(f"{name:8} N {row['micro_batches']:2}: {row['iteration_s']:4.0f} units, "
          f"{row['peak_activations']:2.0f} activations")

# %% A model on a cluster, laid out by a search.
best = pipesim.plan(model="llama3-8b", gpus=64, schedule=["1f1b", "zbv"], pp=4, cp=1)
print(best.command)
print(f"{best[0]['iteration_s']:.2f} s a step, {best[0]['mfu']:.1%} MFU")

# %% Errors are the program's messages.
try:
    pipesim.run(schedule="chimera", pp=3, micro_batches=8, unit="F=1,B=2")
except pipesim.Error as error:
    print("refused:", error)
