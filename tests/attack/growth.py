#!/usr/bin/env python3
"""Memory of the process per operation, at 1, 2, 4 and 8 times a size, of traces up to 4; an operation is an F, B, I or W of a stage.

  growth.py PIPESIM

The growth of the peak from the least to the greatest size, over that of the operations, is bounded. The least size is so
large that the freed memory that the C library keeps does not count. MALLOC_PERTURB_ would write to memory that no
program uses, so it is off. Times are shown alone.
"""

import os
import re
import resource
import subprocess
import sys

from attack import is_sanitized

UNIT = "--unit F=1,I=1,W=1 --json"
MODEL = "--model tiny --tp 1 --dp 1 --mbs 1 --zero 0 --recompute none"
# Name, schedule, what to run, option of the size and its least value, bound in bytes an operation.
RUNS = (
    ("dag, micro-batches", "1f1b", f"{UNIT} --engine dag --pp 4", "--micro-batches", 32768, 300),
    ("dag, two chunks", "interleaved", f"{UNIT} --engine dag --pp 4", "--micro-batches", 16384, 300),
    ("dag, split backwards", "zbv", f"{UNIT} --engine dag --pp 4", "--micro-batches", 12288, 300),
    ("dag, two directions", "chimera", f"{UNIT} --engine dag --pp 4", "--micro-batches", 32768, 300),
    ("simgrid, micro-batches", "1f1b", f"{UNIT} --engine simgrid --pp 4", "--micro-batches", 32768, 300),
    ("simgrid, split backwards", "zbv", f"{UNIT} --engine simgrid --pp 4", "--micro-batches", 12288, 300),
    ("dag, stages", "1f1b", f"{UNIT} --engine dag --micro-batches 256", "--pp", 256, 350),
    ("program, micro-batches", "1f1b", "program --pp 4 -o /dev/null", "--micro-batches", 32768, 350),
    ("a model, JSON", "1f1b", f"{MODEL} --gpus 4 --pp 4 --engine dag --json", "--micro-batches", 32768, 300),
    ("a model, report", "1f1b", f"{MODEL} --gpus 4 --pp 4 --engine dag", "--micro-batches", 32768, 500),
    ("dag, trace as CSV", "1f1b", f"{UNIT} --engine dag --pp 4 --trace growth.csv", "--micro-batches", 32768, 300),
    ("dag, trace as JSON", "1f1b", f"{UNIT} --engine dag --pp 4 --trace growth.json", "--micro-batches", 32768, 300),
    ("dag, trace as Paje", "1f1b", f"{UNIT} --engine dag --pp 4 --trace growth.paje", "--micro-batches", 32768, 300),
    ("simgrid, trace as CSV", "1f1b", f"{UNIT} --engine simgrid --pp 4 --trace growth.csv", "--micro-batches", 32768, 300),
)


def operations(program, schedule, words, option, size):
    """Counts the cells of the order."""
    stages = ["--pp", size] if option == "--pp" else ["--pp", words[words.index("--pp") + 1]]
    mbs = ["--micro-batches", size] if option == "--micro-batches" else ["--micro-batches", words[words.index("--micro-batches") + 1]]
    text = subprocess.run([program, "program", "--compute", "--schedule", schedule, *map(str, stages + mbs)],
                          capture_output=True, text=True, check=True).stdout
    return len(re.findall(r"\d+[FBIW]\d+", re.sub(r"(?m)^#.*$", "", text)))


def measure(command):
    """Returns the peak of resident bytes, and the CPU time in seconds."""
    process = os.fork()
    if process == 0:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        os.execve(command[0], command, dict(os.environ, MALLOC_PERTURB_="0"))
    _, status, usage = os.wait4(process, 0)
    return (usage.ru_maxrss << 10, usage.ru_utime + usage.ru_stime) if status == 0 else (None, 0)


def says_why(program):
    """A program too large to be compared says so, and how to compare."""
    words = f"--schedule 1f1b {MODEL} --gpus 4 --pp 4 --engine dag --micro-batches 40000".split()
    text = subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout
    return "no others, 1280" in text and "instructions: --schedule a,b" in text


def main(program):
    program, failures, runs = os.path.abspath(program), 0, 0
    if is_sanitized(program):
        print("skipped: address sanitizer keeps freed memory")
        sys.exit(77)
    print(f"{'run':26}{'x':>4}{'operations':>12}{'MiB':>8}{'us/op':>8}{'bytes/op':>10}{'bound':>8}")
    for name, schedule, text, option, least, bound in RUNS:
        words, points = text.split(), []
        unit = None
        verb = [words.pop(0)] if words[0] == "program" else ["run"]
        for times in (1, 2, 4) if "--trace" in words else (1, 2, 4, 8):
            size = least * times
            command = [program, *verb, "--schedule", schedule, *words, option, str(size)]
            unit = unit or operations(program, schedule, words, option, size)
            (peak, seconds), count = measure(command), unit * times
            runs += 1
            if peak is None:
                print("failure:", *command)
                failures += 1
                break
            points.append((count, peak))
            slope = (peak - points[0][1]) / (count - points[0][0]) if times > 1 else 0
            print(f"{name:26}{times:4}{count:12}{peak >> 20:8}{1e6 * seconds / count:8.2f}{slope:10.0f}{bound:8}", flush=True)
        else:
            if slope > bound:
                print(f"failure: {name}: {slope:.0f} bytes an operation, at most {bound}")
                failures += 1
    if not says_why(program):
        print("failure: a large run does not say why other schedules are left out")
        failures += 1
    for name in ("growth.csv", "growth.json", "growth.paje"):
        if os.path.exists(name):
            os.remove(name)
    print(f"growth: {runs} runs, {failures} failures")
    sys.exit(failures > 0)


main(*sys.argv[1:])
