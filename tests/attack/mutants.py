#!/usr/bin/env python3
"""Mutants of complete programs. What `verify` accepts runs to its end in both engines, and in pipeexec.

  mutants.py PIPESIM PIPEEXEC [TRIALS [SEED]]

Shared links never make a step faster. pipeexec trains to the gradients of one rank, or refuses a limit of its own.
"""

import json
import os
import random
import re
import sys
import tempfile

from attack import Attack

SCHEDULES = "1f1b gpipe interleaved zbv zb-h1 chimera dualpipe dualpipev hanayo bfs gems seq1f1b v-half".split()
EXTRAS = ((), ("--recompute", "full"), ("--dp", 2), ("--dp", 2, "--zero", 1), ("--grad-sync", "eager", "--dp", 2))
MODEL = "--tp 1 --model tiny --layers 16 --mbs 4 --no-alternatives --json --engine".split()
TRAINING = ("--layers 16 --hidden 16 --heads 2 --seq 8 --mbs 4 --steps 2 --exact-grad --check --quiet --timeout 20").split()


def cells_of(line):
    """Splits at commas outside of parentheses."""
    return re.findall(r"(?:\([^)]*\)|[^,(])+", line)


def swap(rng, cells, k):
    other = min(k + 1, len(cells) - 1) if rng.random() < 0.8 else rng.randrange(len(cells))
    cells[k], cells[other] = cells[other], cells[k]


def move(rng, cells, k):
    cell = cells.pop(k)
    cells.insert(max(0, k + rng.randint(-4, 4)), cell)


def delete(rng, cells, k):
    del cells[k]


def double(rng, cells, k):
    cells.insert(rng.randrange(len(cells) + 1), cells[k])


def renumber(rng, cells, k):
    pattern = rng.choice((r"(?<=\[)\d+", r"\d+"))
    cells[k] = re.sub(pattern, lambda m: str(max(0, int(m[0]) + rng.choice((-1, 1)))), cells[k], count=1)


def mutate(rng, text):
    lines = text.rstrip("\n").split("\n")
    rows = [cells_of(line) for line in lines if not line.startswith("#")]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        cells = rng.choice(rows)
        if len(cells) > 1:
            rng.choice((swap, swap, swap, swap, move, delete, double, renumber, renumber))(rng, cells, rng.randrange(len(cells)))
    return "\n".join([line for line in lines if line.startswith("#")] + [",".join(cells) for cells in rows]) + "\n"


def play(simulator, ranks, dp):
    steps = {}
    for engine in ("dag", "simgrid"):
        done = simulator.run("--schedule", "p.csv", "--pp", ranks, "--dp", dp, "--gpus", ranks * dp, *MODEL, engine)
        if done and done.returncode in (0, 2):
            steps[engine] = json.loads(done.stdout)["iteration_s"] if done.returncode == 0 else None
        elif done:
            simulator.fail((open("p.csv").read(),), f"verify accepts it, {engine} does not: {done.stderr[:200]}")
    if all(steps.get(engine) for engine in ("dag", "simgrid")) and steps["simgrid"] < steps["dag"] * (1 - 1e-9):
        simulator.fail((open("p.csv").read(),), f"shared links make it faster: {steps}")


def train(executor, dp):
    done = executor.run("--schedule", "p.csv", "--dp", dp, *TRAINING)
    if done and done.returncode not in (0, 2):
        executor.fail((open("p.csv").read(),), f"verify accepts it, pipeexec ends with {done.returncode}: {done.stderr[:200]}")


def main(pipesim, pipeexec, trials=250, seed=1):
    simulator, executor = Attack(os.path.abspath(pipesim)), Attack(os.path.abspath(pipeexec), has_limit=False)
    rng, programs, accepted = random.Random(int(seed)), {}, 0
    os.chdir(tempfile.mkdtemp())
    for _ in range(int(trials)):
        ranks, extra = rng.choice((2, 4)), rng.choice(EXTRAS)
        words = ("program", "--schedule", rng.choice(SCHEDULES), "--pp", ranks, "--micro-batches", rng.choice((ranks, 2 * ranks)), *extra)
        if words not in programs:
            programs[words] = simulator.run(*words)
        if not programs[words] or programs[words].returncode:
            continue
        with open("p.csv", "w") as out:
            out.write(mutate(rng, programs[words].stdout))
        verdict = simulator.run("verify", "p.csv", seconds=20)
        if not verdict or verdict.returncode:
            continue
        accepted += 1
        dp = 2 if "--dp" in extra else 1
        play(simulator, ranks, dp)
        train(executor, dp)
    print(f"mutants: {accepted} accepted")
    simulator.trials += executor.trials
    simulator.failures += executor.failures
    simulator.end("mutants")


main(*sys.argv[1:])
