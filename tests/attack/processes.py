#!/usr/bin/env python3
"""Processes of a run are killed or stopped at random times: all others end, and nothing is left.

  processes.py PIPEEXEC [SEED]
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from attack import is_sanitized

OPTIONS = "--schedule 1f1b --layers 4 --hidden 32 --heads 2 --seq 16 --mbs 1 --steps 1000000 --no-check --quiet --timeout 2".split()
SIGNALS = [signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGSTOP, signal.SIGSEGV]


def trial(program, patience, rng, folder):
    """Returns what went wrong, or None."""
    size, number = rng.choice([2, 3, 4]), rng.choice(SIGNALS)
    meet = f"file://{folder}/meet?world_size={size}&rank="
    run = [subprocess.Popen([program, *OPTIONS, "--rendezvous", meet + str(rank)], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for rank in range(size)]
    time.sleep(rng.uniform(0.5, 1.5) * patience)  # they have met
    hit = rng.randrange(size)
    os.kill(run[hit].pid, number)
    until, slow = time.time() + 20 * patience, []
    for rank, process in enumerate(run):
        if rank == hit and number == signal.SIGSTOP:
            continue
        try:
            if process.wait(timeout=max(0.1, until - time.time())) == 0:
                slow.append(f"rank {rank} ended well")
        except subprocess.TimeoutExpired:
            slow.append(f"rank {rank} waits for ever")
    for process in run:
        process.kill()
        process.wait()
    left = os.listdir(folder) if hit or number not in (signal.SIGKILL, signal.SIGSEGV) else []
    for name in os.listdir(folder):
        os.remove(f"{folder}/{name}")
    if number == signal.SIGSTOP and hit == 0:
        left = []  # it was killed above
    return f"{signal.Signals(number).name} of rank {hit} of {size}: {slow} {left}" if slow or left else None


def main(program, seed=1):
    program, rng, folder = os.path.abspath(program), random.Random(int(seed)), tempfile.mkdtemp()
    patience = 6 if is_sanitized(program) else 1
    wrong = [what for what in (trial(program, patience, rng, folder) for _ in range(10)) if what]
    print("\n".join(["failure: " + what for what in wrong] + [f"processes: 10 trials, {len(wrong)} failures"]))
    sys.exit(len(wrong) > 0)


main(*sys.argv[1:])
