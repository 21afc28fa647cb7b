#!/usr/bin/env python3
"""Traces of pipesim against traces of pipeexec: the same program, for every schedule that runs and every sharding.

  programs.py PIPEEXEC PIPESIM

Each layout is trained. The options that its trace names for pipesim, as they are, must predict the same program: all
ops of one trace are in the other. The replay of the measured durations in that program must be exact. Without
--update-barrier on, the comparison must say what differs; with other gathers it is refused, with the options."""

import json
import os
import random
import re
import subprocess
import sys
import tempfile

from runs import PIPEEXEC, PIPESIM, ask

NET = "--np 2 --layers 8 --hidden 8 --heads 2 --seq 8 --mbs 1 --micro-batches 4".split()
STATES = [[]] + [["--dp", "2", "--zero", str(zero)] for zero in range(4)]
MORE = ["--recompute full", "--recompute selective=act --dp 2", "--vp 2 --dp 2 --zero 3",
        "--gather-buffers 3 --dp 2 --zero 3", "--grad-sync eager --dp 2", "--tp 2",
        "--shard p=2,g=2,os=2 --dp 4", "--experts 4 --dp 2", "--post jit", "--recv-slots 1",
        "--embedding untied"]
BY_DURATIONS = {"hanayo", "v-half", "v-min"}  # their orders depend on costs: both run one file
ENDINGS = [".csv", ".json", ".json.gz"]


def simulated(options, trace):
    code, _, message = ask(PIPESIM, *options, "--engine", "dag", "--no-alternatives", "--trace", trace)
    assert code == 0, message


def compared(predicted, measured):
    code, text, message = ask(PIPESIM, "compare", predicted, measured, "--json")
    return json.loads(text) if code == 0 else message


def different(comparison):
    """What two traces of one program must not have."""
    if isinstance(comparison, str):
        return comparison
    lists = [name for name in ("only_predicted", "only_measured") if comparison[name]["count"]]
    return lists or (None if comparison["same_program"] else "another program")


def options_of(trace):
    with open(trace, encoding="utf-8") as file:
        return json.load(file)["otherData"]["run"]["options"]


def try_layout(options, folder, rng):
    """What is wrong with a layout; None if it is refused."""
    measured, ending = os.path.join(folder, "m.json"), rng.choice(ENDINGS)
    code, text, message = ask(PIPEEXEC, *NET, *options, "--steps", 1, "--no-check", "--json", "--trace", measured)
    if code != 0:
        return None if code == 2 else [message]
    wrong = [f"structural error {e} s" for e in [json.loads(text)["structural_error_s"]] if e != 0]
    shared, predicted = options_of(measured), os.path.join(folder, "p" + ending)
    simulated(shared, predicted)
    wrong += filter(None, [different(compared(predicted, measured))])
    at = shared.index("--update-barrier")
    simulated(shared[:at] + shared[at + 2:], predicted)
    loose = compared(predicted, measured)
    if isinstance(loose, str) or loose["same_program"] or not any("--update-barrier on" in n for n in loose["notes"]):
        wrong.append(f"without a barrier: {loose if isinstance(loose, str) else loose['notes']}")
    if "--gather" in shared:
        at = shared.index("--gather") + 1
        simulated(shared[:at] + [{"layer": "chunk", "chunk": "layer"}[shared[at]]] + shared[at + 1:], predicted)
        other = compared(predicted, measured)
        if isinstance(other, str) and "--gather" not in other:
            wrong.append(f"other gathers: {other}")
    return wrong


def names():
    return re.findall(r"^## (\S+)", ask(PIPESIM, "schedules", "--markdown")[1], re.M)


def main():
    rng, number, refused, bad = random.Random(1), 0, [], 0
    with tempfile.TemporaryDirectory() as folder:
        for schedule in names():
            options = ["--schedule", schedule]
            if schedule in BY_DURATIONS:
                options[1] = os.path.join(folder, schedule + ".csv")
                code, _, message = ask(PIPESIM, "program", "--schedule", schedule, "--pp", 2, "--micro-batches", 4,
                                       "--compute", "-o", options[1])
                assert code == 0, message
            for state in STATES + [rng.choice(MORE).split()]:
                wrong = try_layout(options + state, folder, rng)
                if wrong is None:
                    refused.append(" ".join([schedule] + state))
                    continue
                number += 1
                bad += bool(wrong)
                print("not ok" if wrong else "ok", number, "-", schedule, *state, flush=True)
                for line in wrong:
                    print("#", line)
    print("# refused:", ", ".join(refused))
    print(f"1..{number}")
    return bad > 0 or number < 90


sys.exit(main())
