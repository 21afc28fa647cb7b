#!/usr/bin/env python3
"""Layouts of `pipesim plan` run with its options.

  plan_rows.py PIPEEXEC PIPESIM COUNT [SEED]

Of each plan: the command that it chooses, and COUNT of its legal rows, drawn by SEED. Their options are given to
pipeexec as they are. A run must have the bits of one rank; a refusal must be in the table "What is refused" of
docs/executor.md, and say what would do."""

import collections
import csv
import json
import os
import random
import re
import shlex
import sys
import tempfile

from runs import PIPEEXEC, PIPESIM, ask, faults, reasons, train

COUNT, SEED = int(sys.argv[3]), int((sys.argv[4:] or ["1"])[0])
PLANS = [
    "--gpus 2 --model tiny --layers 4 --hidden 32 --seq 16 --gbs 8",
    "--gpus 4 --model tiny-llama --layers 4 --hidden 32 --seq 16 --gbs 16 --cluster a100",
    "--gpus 8 --model tiny --embedding untied --layers 8 --hidden 32 --seq 16 --gbs 16",
    "--gpus 4 --model mini --experts 4 --layers 4 --hidden 32 --seq 16 --gbs 16 --free ep,mbs,pp,schedule,tp,zero",
    "--gpus 4 --model tiny-llama --experts 4 --layers 4 --hidden 32 --seq 16 --gbs 16 --ep 2 --free mbs,pp,schedule,zero",
    "--gpus 4 --model tiny-llama --experts 4 --layers 4 --hidden 32 --seq 16 --gbs 16 --tp 2 --free ep,mbs,pp,zero",
    "--gpus 8 --model tiny --experts 8 --layers 2 --hidden 32 --seq 16 --gbs 16 --tp 4 --free ep,mbs,pp,zero",
    "--gpus 4 --model bert-base --vocab 256 --ffn 64 --heads 4 --layers 4 --hidden 32 --seq 16 --gbs 16 --tp 2 "
    "--free mbs,pp,zero",
    "--gpus 8 --model tiny --layers 8 --hidden 32 --seq 16 --gbs 16 --free recompute,pp,schedule,zero,mbs",
]
COLUMNS = ["schedule", "tp", "pp", "cp", "ep", "vp", "mbs", "gbs", "recompute", "zero"]
REMEDY = re.compile(r"nearest|give |use |try|choose |leave out")


def layouts_of(plan):
    """The words of the chosen command, then those of drawn rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.csv")
        code, text, message = ask(PIPESIM, "plan", *plan.split(), "--json", "-o", path)
        assert code == 0, message
        with open(path, encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["status"] in ("fits", "slower")]
    yield shlex.split(json.loads(text)["choose"])[1:]
    given = re.sub(r" --(free|gbs|tp|ep) \S+", "", plan).split()
    fit = [row for row in rows if row["status"] == "fits"]
    rng = random.Random(SEED)
    for row in rng.sample(fit, min(COUNT // 2, len(fit))) + rng.sample(rows, min(COUNT - COUNT // 2, len(rows))):
        shares = ["--sequence-parallel", "on"] if row["tp"] != "1" else []  # as they are priced
        yield given + [word for column in COLUMNS if row[column] for word in ("--" + column, row[column])] + shares


def try_layout(options, known_reasons, refused):
    """What is wrong with a layout, and whether it ran."""
    code, text, message = train(options)
    if code == 0:
        return list(faults(json.loads(text))), True
    row = next((row for row, pattern in known_reasons if code == 2 and pattern.search(message)), None)
    if row is None or not REMEDY.search(message):
        return [f"exit code {code}: {message.strip()}"], False
    refused[row] += 1
    return [], False


def main():
    known_reasons, refused = reasons(), collections.Counter()
    failures = 0
    for number, plan in enumerate(PLANS, 1):
        ran = tried = 0
        wrong = []
        for options in layouts_of(plan):
            found, has_run = try_layout(options, known_reasons, refused)
            ran, tried = ran + has_run, tried + 1
            wrong += found + ["pipeexec " + shlex.join(options)] if found else []
        if not ran:
            wrong.append("none ran")
        failures += bool(wrong)
        print("not ok" if wrong else "ok", number, f"- {ran} of {tried} layouts ran: plan", plan, flush=True)
        for line in "\n".join(wrong).splitlines():
            print("#", line)
    for row, count in refused.most_common():
        print(f"# {count:4} refused: {row}")
    print(f"1..{len(PLANS)}")
    sys.exit(failures > 0)


main()
