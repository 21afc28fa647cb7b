#!/usr/bin/env python3
"""Random command lines of `pipesim run`: options of --help with legal, odd and absurd values.

  commands.py PIPESIM [TRIALS [SEED]]

No crash, no internal error, a reason for each refusal; figures of a report are finite, fractions at most 1. A refused
line is tried again without an option that the message names, until one is simulated.
"""

import json
import math
import random
import re
import sys

from attack import Attack

FRACTIONS = "mfu hfu bubble_frac span_bubble_frac exposed_comm_frac".split()
SCHEDULES = "1f1b bfs chimera dualpipe dualpipev gems gpipe hanayo interleaved interleaved-zb pipedream seq1f1b v-half zb-h1 zbv".split()
MODELS = "bert-large deepseek-v2-lite gemma2-2b gpt-oss-20b gpt2 llama3-8b llama4-scout mistral-7b mixtral-8x7b tiny".split()
SIZES = {"--gpus": (1, 2, 4, 8, 16, 32), "--pp": (1, 2, 3, 4, 6, 10000, 65535), "--tp": (1, 1, 2, 4), "--dp": (1, 1, 2, 8),
         "--vp": (1, 2, 4), "--mbs": (1, 1, 2), "--micro-batches": (1, 3, 4, 8, 16), "--seq": (1, 128, 2048, 131072),
         "--layers": (1, 7, 24, 8192), "--steps": (1, 2, 3)}
WORDS = {"--slow": ("0=0.5", "0=100", "1.1=2", "0=1e-6"), "--link-bw": ("node=0.5", "*=1000", "network=1e-9"),
         "--jitter": ("5%", "99%"), "--recompute": ("none", "full", "selective", "stage-aware=0.5", "full,late", "selective,skip"), "--zero": "0123",
         "--capacity-factor": ("10%", "1.25"), "--p2p": ("buffered:1", "rendezvous"), "--order": ("eager", "eager:4", "dynamic:2x", "arrival"),
         "--seeds": ("1", "3"),
         "--unit": ("F=1,B=2", "F=1,I=1,W=1,C=0.1"), "--flops": ("palm", "causal"), "--engine": ("dag", "simgrid")}
ABSURD = "0 -1 nan inf 1e308 18446744073709551616 x = : , %n".split() + [""]


def finite(value):
    if isinstance(value, dict):
        return all(map(finite, value.values()))
    if isinstance(value, list):
        return all(map(finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def line(rng):
    words = ["--schedule", rng.choice(SCHEDULES)]
    words += ["--model", rng.choice(MODELS)]
    for name, values in rng.sample(sorted({**SIZES, **WORDS}.items()), rng.randint(1, 7)):
        words += [name, rng.choice(ABSURD) if rng.random() < 0.03 else rng.choice(values)]
    return words + ["--json", "--no-alternatives"]


def repair(rng, words, message):
    """Leaves out an option of the message, else any; None when the line is as short as it can be."""
    kept = 4 if "--model" in words[:4] else 2
    places = [at for at in range(kept, len(words) - 2, 2)]
    if not places:
        return None
    at = rng.choice([at for at in places if words[at] in message] or places)
    return words[:at] + words[at + 2:]


def check(attack, words, done):
    report = json.loads(re.sub(r"\b(NaN|-?Infinity)\b", '"\\1"', done.stdout))
    bad = [name for name in FRACTIONS if report.get(name) is not None and not 0 <= report[name] <= 1 + 1e-9]
    parts = sum(value for value in (report.get("time_frac") or {}).values())
    if bad or not finite(report) or re.search(r"\b(NaN|Infinity)\b", done.stdout) or parts and abs(parts - 1) > 1e-6:
        attack.fail(words, f"absurd figures: {bad}, shares of the time are {parts} in all")


def main(program, trials=60, seed=1):
    attack, rng = Attack(program), random.Random(int(seed))
    simulated = 0
    for _ in range(int(trials)):
        words = line(rng)
        while words:
            done = attack.run(*words)
            if done and done.returncode == 0:
                simulated += 1
                check(attack, words, done)
            words = repair(rng, words, done.stderr.split("\n")[0]) if done and done.returncode == 2 else None
    print(f"commands: {simulated} simulated")
    attack.end("commands")


main(*sys.argv[1:])
