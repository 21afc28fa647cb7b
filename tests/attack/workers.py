#!/usr/bin/env python3
"""Workers of sweep and plan are killed or stopped: the answer stays the same, and a warning says so.

  workers.py PIPESIM [SEED]
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time

PLAN = "plan --gpus 16 --gbs 64 --model llama2-7b -j 2 --json".split()
SWEEP = "sweep --schedule 1f1b,zb-h1 --pp 4,8,16 --micro-batches 8:64:+1 --unit F=1,B=2 -j 2 -o".split()
SIGNALS = [signal.SIGKILL, signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP]


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(word) for word in file.read().split()]
    except FileNotFoundError:
        return []


def run(command, rng=None, number=None):
    """Returns exit code, stdout, stderr, and whether a worker was hit."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        is_hit = False
        if number:
            time.sleep(rng.uniform(0.02, 0.5))
            for _ in range(200):
                workers = children(process.pid)
                if workers or process.poll() is not None:
                    break
                time.sleep(0.005)
            for worker in workers[:1]:
                os.kill(worker, number)
                is_hit = True
        out, errors = process.communicate(timeout=120)
    return process.returncode, out, errors, is_hit


def main(program, seed=1):
    program, rng, hits, failures = os.path.abspath(program), random.Random(int(seed)), 0, 0
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    for name, words in (("plan", PLAN), ("sweep", SWEEP)):
        def once(number=None, words=words, name=name):
            path = [f"{number}.csv"] if name == "sweep" else []
            if path and os.path.exists(path[0]):
                os.remove(path[0])
            code, out, errors, is_hit = run([program, *words, *path], rng, number)
            return code, sorted(open(path[0])) if path else out, errors, is_hit
        right = once()
        for number in SIGNALS:
            code, answer, errors, is_hit = once(number)
            hits += is_hit
            if code != right[0] or answer != right[1]:
                failures += 1
                print(f"failure: {name} after {signal.Signals(number).name}: exit code {code}, another answer: {errors[:200]}")
            if "ended early" in errors and "again" not in errors:
                failures += 1
                print("failure: nothing is said of the second try:", errors[:200])
    print(f"workers: {hits} of {2 * len(SIGNALS)} trials hit a worker, {failures} failures")
    sys.exit(failures > 0 or hits == 0)


main(*sys.argv[1:])
