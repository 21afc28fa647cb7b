#!/usr/bin/env python3
"""Values of config.json and of a cost file replaced one by one by absurd ones; texts that inflate.

  files.py PIPESIM
"""

import copy
import gzip
import json
import math
import os
import sys
import tempfile

from attack import Attack

MODEL = {"model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 8,
         "num_attention_heads": 8, "num_key_value_heads": 8, "vocab_size": 1000, "max_position_embeddings": 512,
         "tie_word_embeddings": False}
ABSURD = (0, -1, 1e300, 1e-300, 2**31, 2**62, "x", None, True, [], {}, 1.5)


def leaves(value, path=()):
    if isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path


def replaced(document, path, value):
    document = copy.deepcopy(document)
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return document


def check(attack, document, *words):
    with open("odd.json", "w") as out:
        json.dump(document, out)
    done = attack.run(*words, "odd.json", "--json", "--no-alternatives", "--engine", "dag")
    if done and done.returncode == 0:
        report = json.loads(done.stdout)
        step = report["iteration_s"]
        if not (math.isfinite(step) and step > 0) or (report["hfu"] or 0) > 1:
            attack.fail(("odd.json:", json.dumps(document)[:300]), f"step {step} s, HFU {report['hfu']}")


def inflate(attack, element):
    with gzip.open("bomb.json", "wb") as out:
        out.write(b'{"a":[')
        for _ in range(100):
            out.write((element + b",") * (1 << 17))
        out.write(b"1]}")
    for words in (("models",), ("--from",), ("check",), ("--schedule", "1f1b", "--pp", 2, "--cost")):
        done = attack.run(*words, "bomb.json", seconds=30)
        if done and done.returncode == 0:
            attack.fail(words, "accepts it")


def calibrated(attack):
    """Returns the cost file of a simulated trace."""
    attack.run("--model", "tiny", "--seq", 64, "--mbs", 4, "--tp", 1, "--dp", 1, "--engine", "dag", "--precision", "fp32",
               "--no-alternatives", "--micro-batches", 8, "--schedule", "zb-h1", "--pp", 2, "--trace", "a.csv")
    attack.run("calibrate", "a.csv", "-o", "cost.json")
    with open("cost.json") as file:
        return json.load(file)


def main(program):
    attack = Attack(os.path.abspath(program))
    os.chdir(tempfile.mkdtemp())
    costs = calibrated(attack)
    for path in leaves(MODEL):
        for value in ABSURD:
            check(attack, replaced(MODEL, path, value), "--schedule", "1f1b", "--gpus", 4, "--pp", 2, "--model")
    for number, path in enumerate(leaves(costs)):
        check(attack, replaced(costs, path, ABSURD[number % len(ABSURD)]),
              "--schedule", "1f1b", "--pp", 2, "--micro-batches", 4, "--cost")
    for element in (b"1", b"{}", b"[]"):
        inflate(attack, element)
    attack.end("files")


main(*sys.argv[1:])
