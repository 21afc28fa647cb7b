#!/usr/bin/env python3
"""Every option of every command with its least, largest, odd and absurd values, alone and with others.

  options.py PIPESIM PIPEEXEC [TRIALS [SEED]]

No crash, no internal error, a reason for each refusal, no control character in it. What is not a size of the job takes
at most a minute.
"""

import os
import random
import re
import sys
import tempfile

from attack import Attack

SMALL = "--model tiny --tp 1 --mbs 2 --no-alternatives".split()
COMMANDS = {
    "run": ["--schedule", "1f1b", "--gpus", "4", *SMALL], "schedules": [], "models": [], "clusters": ["--gpus", "8"],
    "program": "--schedule 1f1b --pp 2 --micro-batches 4".split(), "verify": ["p.csv"], "compare": ["t.csv", "t.csv"],
    "calibrate": ["t.csv", "-o", "c.json"], "sweep": "--schedule 1f1b,zbv --gpus 4 --model tiny --mbs 2".split(),
    "plot": ["s.csv", "-o", "s.svg"], "validate": ["m.csv"], "plan": "--gpus 4 --model tiny --gbs 32".split(),
    "check": ["r.json"], "export": "--to goal --schedule 1f1b --gpus 4 --model tiny --mbs 2 -o g.txt".split()}
INFER = "--mode infer --model tiny --batch 4 --prompt 8 --tokens 4".split()
GENERATING = {
    "run": [*INFER, "--gpus", "2", "--pp", "2", "--no-alternatives"], "sweep": [*INFER, "--gpus", "2"],
    "plan": [*INFER, "--gpus", "2"], "program": "--mode infer --pp 2 --groups 2 --tokens 4".split(),
    "export": ["--to", "goal", *INFER, "--gpus", "2", "--pp", "2", "-o", "g.txt"]}
TRAINING = "--np 2 --layers 4 --hidden 16 --heads 2 --seq 8 --mbs 2 --steps 1 --quiet --timeout 20".split()
SPEAKING = "--np 2 --layers 2 --hidden 16 --heads 2 --prompt ab --tokens 4 --quiet --timeout 20".split()
ABSURD = ["", "0", "-1", "nan", "inf", "1e308", "1e-320", "18446744073709551616", "0x10", "x", ":", ",", "=", "a=b", "0=1",
          "1:2:x3", "%n", "*", "/", "..", "missing/x", "p.csv", "t.csv", "x" * 10000, "[" * 5000, "\x1b]0;x\x07", "\xff\xfe"]
# Sizes of a job: the largest ones take long and much memory by right.
SIZES = {"--micro-batches", "--gpus", "--nodes", "--dp", "--steps", "--pp", "--gbs", "--vp", "--depth-first", "--layers",
         "--batch", "--prompt", "--tokens", "--groups", "--prompt-groups"}


def options_of(attack, command):
    """Names with the values that the help gives."""
    text = re.sub(r"\n {20,}", " ", attack.run(*command, "--help").stdout)
    rows = {}
    for name, rest in re.findall(r"^  (--?[a-z][a-z0-9-]*)(.*)$", text, re.MULTILINE):
        values = re.findall(r"\((\d+) to (\d+)", rest)
        known = [value for pair in values for value in (pair[0], int(pair[0]) - 1, int(pair[1]) + 1)]
        known += [] if name in SIZES or not command else [largest for _, largest in values]
        words = re.findall(r"\(([a-z0-9-]+(?:, [a-z0-9-]+)* or [a-z0-9-]+)", rest)
        known += [word for group in words for word in re.split(r", | or ", group)]
        rows[name] = (bool(re.match(r" [^ ]", rest)), known)
    return rows


def prepare(simulator):
    """Files that commands read."""
    run = ["--schedule", "1f1b", "--gpus", 4, *SMALL, "--trace", "t.csv", "--json"]
    for path, words in (("p.csv", ["program", *COMMANDS["program"]]), ("r.json", run), ("s.csv", ["sweep", *COMMANDS["sweep"]])):
        with open(path, "w") as out:
            out.write(simulator.run(*words).stdout)
    with open("m.csv", "w") as out:
        out.write("schedule,model,gpus,tp,pp,mbs,gbs,cluster,iteration_s\n1f1b,gpt2,8,1,4,1,64,a100,1.0\n")


def line(rng, base, options):
    words = list(base)
    for name in rng.sample(sorted(options), min(len(options), rng.choice((1, 1, 1, 2, 3)))):
        takes, known = options[name]
        value = str(rng.choice(known if known and rng.random() < 0.6 else ABSURD))
        if name in ("-j", "--jobs") and value.isdigit() and int(value) > 8:
            value = "8"
        words += [name, value] if takes and rng.random() < 0.97 else [name]
    return words


def main(pipesim, pipeexec, trials=300, seed=1):
    simulator, executor = Attack(os.path.abspath(pipesim)), Attack(os.path.abspath(pipeexec), has_limit=False)
    rng = random.Random(int(seed))
    folder = tempfile.TemporaryDirectory()
    os.chdir(folder.name)
    prepare(simulator)
    bases = [*COMMANDS.items(), *GENERATING.items()]
    jobs = [(simulator, [name, *base], options_of(simulator, [name])) for name, base in bases]
    jobs.append((executor, TRAINING, options_of(executor, [])))
    jobs.append((executor, ["generate", *SPEAKING], options_of(executor, ["generate"])))
    weights = [len(options) + 5 for _, _, options in jobs]
    for _ in range(int(trials)):
        attack, base, options = rng.choices(jobs, weights)[0]
        words = line(rng, base, options)
        done = attack.run(*words)
        if done and re.search(r"[\x00-\x08\x0b-\x1f\x7f]", done.stderr):
            attack.fail([word[:80] for word in words], f"control character: {done.stderr[:200]!r}")
    simulator.trials += executor.trials
    simulator.failures += executor.failures
    simulator.end("options")


main(*sys.argv[1:])
