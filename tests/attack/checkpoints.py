#!/usr/bin/env python3
"""Damaged checkpoints: flipped bits, cut, longer and exchanged files. None is resumed. Manifests with other lines and a
right checksum are refused, or change nothing outside of the checkpoint.

  checkpoints.py PIPEEXEC [SEED]
"""

import os
import random
import shutil
import sys
import tempfile
import zlib

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


NUMBERS = "0 -1 2147483648 9223372036854775808 99999999999999999999 x NaN".split() + ["", " "]
FORGED = ("checkpoint EVIL", "trace EVIL", "json ", "data /etc/passwd", "model /etc/passwd", "steps 3", "steps 999999999", "lr nan",
          "lr 1e400", "inject kill rank:0 op:1 step:1", "mbs 1048576", "gbs 18446744073709551615", "vocab 268435456", "seed -1",
          "hidden 1048576", "layers 65535", "resume b", "plot EVIL.gp", "slow 0=0.5")


def forge(rng, text):
    """Returns the manifest with another line or number, and the checksum of that."""
    body = text[:text.rindex("end ")]
    lines = body.split("\n")[:-1]
    at, way = rng.randrange(len(lines)), rng.randrange(5)
    if way == 0:
        words = lines[at].split(" ")
        words[rng.randrange(len(words))] = rng.choice(NUMBERS)
        lines[at] = " ".join(words)
    elif way == 1:
        del lines[at]
    elif way == 2:
        lines.insert(at, rng.choice(lines))
    elif way == 3:
        lines[at] += rng.choice((" ", "\t", "x", " 1", "\r"))
    else:
        options = next(number for number, line in enumerate(lines) if line.startswith("options"))
        lines[options] = f"options {int(lines[options].split()[1]) + 1}"
        lines.insert(options + 1, rng.choice(FORGED))
    forged = "\n".join(lines) + "\n"
    return forged, forged + "end %08x\n" % zlib.crc32(forged.encode()), forged == body


def check_forged(rng, attack, source, trials):
    with open(source + "/manifest") as file:
        manifest = file.read()
    for _ in range(trials):
        shutil.rmtree("b", ignore_errors=True)
        shutil.copytree(source, "b")
        forged, text, is_same = forge(rng, manifest)
        with open("b/manifest", "w") as file:
            file.write(text)
        done = attack.run("--resume", "b", "--steps", 4, "--quiet", "--no-check")
        if done and done.returncode == 0 and not is_same:
            attack.fail([forged], "is resumed")
    for name in os.listdir("."):
        if name not in ("a", "b"):
            attack.fail([name], "a manifest wrote it")


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
    check_forged(rng, attack, source, 200)
    attack.end("checkpoints")


main(*sys.argv[1:])
