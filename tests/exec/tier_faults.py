#!/usr/bin/env python3
"""Faults of memory tiers are named, leave nothing over, and no step trains on wrong bytes.

  tier_faults.py PIPEEXEC COUNT [SEED]

Each trial draws a layout, a transport, homes of the state, and a fault: a flipped bit, a short read, an error of the
device, a full drive, a killed rank. It strikes a random rank at a random op of a random step, in a run that would
take hours. The run must end with exit code 1, and name rank, folder, step and fault. It must leave no process, no
shared memory, and no file in the folder of the tier. Checkpoints that it wrote before equal those of a run without
fault, and there is none of the step of the fault or a later one.
Homes that pipeexec refuses as simulated are left out. The slowest end is stated, not judged."""

import json
import os
import random
import re
import subprocess
import sys

import tier_runs
from tier_runs import LAYOUTS, PIPEEXEC, SMALL, Folder, command, executable, report, run, sums

COUNT, SEED = int(sys.argv[2]), int((sys.argv[3:] or ["1"])[0])
STEPS = "100000"
FAULTS = {"flip": "reading at byte [0-9]+: the checksum differs", "short": "reading at byte [0-9]+: short: [0-9]+ of",
          "eio": "reading at byte [0-9]+: Input/output error", "full": "writing at byte [0-9]+: No space left on device"}
slowest_s = 0.0
rng = random.Random(SEED)

CLEAN = {}


def clean(layout):
    """Checkpoints of the first steps without tiers. The rate depends on the number of steps, so it ends early."""
    if layout not in CLEAN:
        with Folder() as folder:
            subprocess.run([PIPEEXEC, *SMALL, *layout.split(), "--steps", STEPS, "--checkpoint", folder.kept,
                            "--checkpoint-every", "1", "--checkpoint-keep", "9", "--inject", "kill rank:0 op:0 step:6"],
                           check=False, capture_output=True)
            CLEAN[layout] = sums(folder.kept)
    return CLEAN[layout]


def expected(kind, transport, rank, step, folder):
    if kind != "kill":
        return rf"^pipeexec: error: step ({step}|{step + 1}), (op \d+, .*|update of stage \d+): nvme of rank {rank}( of replica 0)? in {folder.nvme}: {FAULTS[kind]}"
    return None if transport == "local" else rf"^pipeexec: error: step ({step}): rank {rank}.* its process \d+ was ended by signal 9"


def trial(layout, home, ranks):
    global slowest_s
    kind, transport = rng.choice([*FAULTS, "kill"]), rng.choice(["local", "shm", "tcp"])
    rank, op, step = rng.randrange(ranks), rng.randrange(30), rng.randrange(1, 4)
    name = f"{layout} --offload {home} --transport {transport}, {kind} rank:{rank} op:{op} step:{step}"
    with Folder() as folder:
        words = command(layout, home, folder.nvme, "--quiet", "--transport", transport, "--steps", STEPS, "--timeout", "60",
                        "--inject", f"{kind} rank:{rank} op:{op} step:{step}")
        if kind not in ("short", "eio"):  # a checkpoint that meets one reads once more, and the training goes on
            words += ["--checkpoint", folder.kept, "--checkpoint-every", "1", "--checkpoint-keep", "9"]
        words += ["--clock", "wall"] if rng.random() < 0.3 else []
        code, out, err, took_s, left = run(words, folder)
        if code == 2 and re.search("copies nothing to the tier nvme|this run has", err):
            return False
        wanted, why = expected(kind, transport, rank, step, folder), []
        if code != (-9 if kind == "kill" and transport == "local" else 1):
            why.append(f"exit code {code}")
        struck = re.search(wanted, err, re.M) if wanted else None
        if wanted and not struck:
            why.append(f"not named: {err}")
        if out:
            why.append("there is a report")
        if left and not (kind == "kill" and transport == "local" and all("tmp" in name for name in left)):
            why.append(f"left over: {left}")
        written, whole = sums(folder.kept), clean(layout)
        for at, files in written.items():
            if at >= (int(struck[1]) if struck else step) or files != whole.get(at):
                why.append(f"checkpoint of step {at} is of no training without a fault")
        slowest_s = max(slowest_s, took_s)
        report("\n".join(why), name)
    return True


def folders():
    """Folders that cannot be used, and one for two runs at once."""
    layout, home = LAYOUTS[0], "a=nvme"
    with Folder() as folder:
        for path, words in [("/proc", "cannot create a file in /proc"), ("/dev/null", "is not a directory"),
                            (folder.nvme + "/a/b", f"is not a directory; nearest: {folder.nvme}")]:
            refused = subprocess.run(command(layout, home, path), capture_output=True, text=True)
            report("" if refused.returncode == 1 and words in refused.stderr and not refused.stdout else refused.stderr,
                   f"--nvme {path} is refused")
        runs = [subprocess.Popen(command(layout, home, folder.nvme, "--steps", "4", "--json"), stdout=subprocess.PIPE, text=True)
                for _ in range(2)]
        losses = [json.loads(child.communicate()[0])["losses"] for child in runs]
        alone = json.loads(subprocess.run([PIPEEXEC, *SMALL, *layout.split(), "--steps", "4", "--json"],
                                          capture_output=True, text=True).stdout)["losses"]
        report("" if losses == [alone, alone] and not os.listdir(folder.nvme) else f"{losses} {alone}",
               "two runs with one folder")


folders()
cases = executable()
done = refused = 0
while done < COUNT:
    if trial(*rng.choice(cases)):
        done += 1
    else:
        refused += 1
tier_runs.end(f"{done} trials on {len(cases)} layouts with tiers; {refused} drawn places are in no list; the slowest "
              f"took {slowest_s:.2f} s")
