#!/usr/bin/env python3
"""The same command in other environments: locale, time zone, width, address layout, memory, number of workers.

  repeat.py PIPESIM [TRIALS [SEED]]

All outputs are the same to the byte, but the times that a report states of itself.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

from attack import Attack

SCHEDULES = "1f1b bfs chimera dualpipe hanayo interleaved pipedream v-half zb-auto zb-h1 zbv".split()
MODELS = "tiny gpt2 llama2-7b mixtral-8x7b".split()
# Variables, words before the program, workers.
PLACES = (({}, [], 1), ({"LC_ALL": "C", "TZ": "Asia/Kolkata"}, [], 2), ({"COLUMNS": "200", "LANG": "de_DE.UTF-8"}, [], 3),
          ({"MALLOC_PERTURB_": "165", "MALLOC_ARENA_MAX": "1"}, ["nice"], 4), ({"HOME": "/nonexistent", "TERM": "dumb"}, [], 1))
TIMES = ("meta", "seconds", "elapsed_s", "search_s", "took_s")


def plain(text):
    """Drops what differs between two runs: the times of the run itself."""
    if not text.startswith("{"):
        return text
    report = json.loads(text)
    return json.dumps({key: value for key, value in report.items() if key not in TIMES})


def line(rng):
    stages = rng.choice((2, 4, 8))
    run = ["--schedule", rng.choice(SCHEDULES), "--pp", stages, "--gpus", stages * rng.choice((1, 2, 4)), "--model", rng.choice(MODELS),
           "--micro-batches", rng.choice((8, 16)), "--mbs", 1, "--tp", 1, "--engine", rng.choice(("dag", "simgrid"))]
    return rng.choice((
        (run + ["--json"], None), (run + ["--json", "--jitter", "10%", "--seed", rng.randrange(99), "--steps", 3], None),
        (run + ["--trace", "t.csv", "--json"], "t.csv"), (run + ["--html", "t.html", "--json"], "t.html"),
        (["export", "--to", "goal", *run, "-o", "t.goal"], "t.goal"),
        (["sweep", "--schedule", "1f1b,zbv", "--pp", "2,4", "--gpus", 8, "--model", "gpt2", "--micro-batches", "8,16", "-o", "t.csv",
          "--jobs", "JOBS"], "t.csv"),
        (["plan", "--gpus", 8, "--model", "gpt2", "--gbs", 16, "--json", "--jobs", "JOBS"], None)))


def main(program, trials=14, seed=1):
    attack, rng = Attack(os.path.abspath(program)), random.Random(int(seed))
    os.chdir(tempfile.mkdtemp())
    for _ in range(int(trials)):
        words, path = line(rng)
        seen = []
        for variables, before, jobs in PLACES:
            if path and os.path.exists(path):
                os.remove(path)
            command = [*before, attack.program, *(str(jobs if word == "JOBS" else word) for word in words)]
            done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables}, timeout=120, check=False)
            attack.trials += 1
            written = open(path, "rb").read() if path and os.path.exists(path) else None
            seen.append((done.returncode, plain(done.stdout), written))
        if any(other != seen[0] for other in seen):
            attack.fail(words, f"differs in {[number for number, other in enumerate(seen) if other != seen[0]]}")
    attack.end("repeat")


main(*sys.argv[1:])
