#!/usr/bin/env python3
"""The second half of a generating run, predicted by its first half, against what was measured.

    predict_passes.py PIPEEXEC [ROUNDS]

Each layout runs on the virtual clock. Prints its token, the error of each round and the share of CPU time outside of
ops. Prints the median of all absolute errors last.
"""
import json
import os
import statistics
import subprocess
import sys

PROMPT = "A pipeline schedule is described once. From it comes a program, and engines run it."
LAYOUTS = ["--np 1 --batch 1", "--np 1 --batch 4", "--np 2 --batch 2", "--np 4 --batch 4", "--np 4 --batch 8",
           "--np 2 --tp 2 --batch 2", "--np 2 --dp 2 --batch 2", "--np 4 --batch 8 --groups 4 --prompt-groups 8"]
SIZES = "--model gpt2 --layers 8 --hidden 384 --tokens 128"


def run(pipeexec, layout):
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="1")
    words = [pipeexec, "generate", *SIZES.split(), *layout.split(), "--prompt", PROMPT, "--json"]
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"{layout}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def main():
    pipeexec, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    errors = []
    for layout in LAYOUTS:
        reports = [run(pipeexec, layout) for _ in range(rounds)]
        own = [report["model_error_frac"] for report in reports]
        errors += own
        print(f"{layout:44} {1e3 * statistics.median(r['token_s'] for r in reports):7.2f} ms a token "
              + " ".join(f"{100 * error:+6.1f} %" for error in own)
              + f"  outside of ops {100 * statistics.median(r['machinery_frac'] for r in reports):.1f} %", flush=True)
    print(f"median of {len(errors)}: {100 * statistics.median(map(abs, errors)):.1f} %")


main()
