#!/usr/bin/env python3
"""Checkpoints resumed under another schedule, other ranks, replicas, transports and options.

  resume.py PIPEEXEC [TRIALS [SEED]]

Each run refuses the layout (exit code 2), or ends with the weights of the run that went on, to the bit.
"""

import os
import random
import shutil
import sys
import tempfile

from attack import Attack

OPTIONS = ("--layers 8 --hidden 32 --heads 2 --seq 16 --mbs 2 --micro-batches 8 --exact-grad --no-check --quiet --np 4 "
           "--steps 8 --checkpoint whole --checkpoint-every 4 --checkpoint-keep 9").split()
SCHEDULES = ("1f1b gpipe interleaved zbv zb-h1 zb-h2 chimera dualpipe dualpipev hanayo bfs gems v-half v-min v-1f1b "
             "interleaved-zb eager-1f1b zb-auto").split()
EXTRAS = ("", "", "--recompute full", "--recompute full,late,skip", "--order eager", "--post jit", "--recv-slots 1", "--backend fake", "--clock wall",
          "--grad-sync eager")


def weights(folder):
    return {name: open(f"{folder}/step-000000008/{name}", "rb").read()
            for name in os.listdir(f"{folder}/step-000000008") if name.startswith("layer")}


def line(rng):
    ranks, replicas = rng.choice((1, 2, 4)), rng.choice((1, 1, 2, 4))
    transport = rng.choice(("local", "shm", "tcp"))
    words = ["--schedule", rng.choice(SCHEDULES), "--np", ranks, "--dp", replicas, "--transport", transport]
    if replicas > 1 and rng.random() < 0.3:
        words += ["--zero", 1]
    extra = rng.choice(EXTRAS)
    return words + ([] if transport != "local" and "fake" in extra else extra.split())


def main(program, trials=40, seed=1):
    attack, rng, equal = Attack(os.path.abspath(program), has_limit=False), random.Random(int(seed)), 0
    os.chdir(tempfile.mkdtemp())
    assert attack.run(*OPTIONS).returncode == 0
    expected = weights("whole")
    for _ in range(int(trials)):
        shutil.rmtree("again", ignore_errors=True)
        words = line(rng)
        done = attack.run("--resume", "whole/step-000000004", "--checkpoint", "again", *words, "--quiet", "--no-check", "--timeout", 20)
        if not done or done.returncode == 2:
            continue
        if done.returncode:
            attack.fail(words, f"exit code {done.returncode}: {done.stderr[:200]}")
        elif weights("again") != expected:
            attack.fail(words, "other weights")
        else:
            equal += 1
    print(f"resume: {equal} equal")
    if equal == 0:
        attack.fail(["all"], "refused")
    attack.end("resume")


main(*sys.argv[1:])
