#!/usr/bin/env python3
"""Damaged checkpoints: flipped bits, cut, longer and exchanged files. None is resumed.

  checkpoints.py PIPEEXEC [SEED]
"""

import os
import random
import shutil
import sys
import tempfile

from attack import Attack

OPTIONS = ("--layers 2 --hidden 16 --heads 2 --seq 8 --mbs 2 --micro-batches 2 --np 2 --exact-grad --no-check --quiet "
           "--steps 6 --checkpoint a --checkpoint-every 3 --checkpoint-keep 9").split()


def damage(rng, files):
    name = rng.choice(files) if rng.random() < 0.6 else "manifest"
    with open("b/" + name, "rb") as file:
        data = bytearray(file.read())
    way = rng.randrange(4)
    if way == 0:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif way == 1:
        del data[rng.randrange(len(data)):]
    elif way == 2:
        data += rng.randbytes(rng.randrange(1, 50))
    else:
        with open("b/" + rng.choice([other for other in files if other != name]), "rb") as file:
            data = bytearray(file.read())
    with open("b/" + name, "wb") as file:
        file.write(data)
    return f"{name}, way {way}"


def main(program, seed=1):
    rng, attack = random.Random(int(seed)), Attack(os.path.abspath(program), has_limit=False)
    os.chdir(tempfile.mkdtemp())
    assert attack.run(*OPTIONS).returncode == 0
    source = "a/step-000000003"
    for _ in range(200):
        shutil.rmtree("b", ignore_errors=True)
        shutil.copytree(source, "b")
        what = damage(rng, sorted(os.listdir(source)))
        done = attack.run("--resume", "b", "--steps", 4, "--quiet", "--no-check")
        if done and done.returncode not in (1, 2):
            attack.fail([what], f"exit code {done.returncode}")
    attack.end("checkpoints")


main(*sys.argv[1:])
