#!/usr/bin/env python3
"""Predicted against measured steps of runs whose data live on other memory tiers.

    predict_tiers.py PIPEEXEC [HOMES...]      such as: a=host "p,g,os=host --cpu-optimizer"

Each schedule is predicted from durations of another one, on the virtual clock. Prints a row for each, the median of
the absolute errors for each home, and whether copied bytes are those predicted.
"""
import json
import statistics
import subprocess
import sys
import tempfile

SIZES = "--np 4 --layers 16 --hidden 128 --seq 64 --mbs 4 --micro-batches 16 --steps 9 --warmup 3 --no-check"
SCHEDULES = [("gpipe", "1f1b"), ("1f1b", "gpipe"), ("eager-1f1b", "1f1b"), ("bfs --vp 2", "1f1b"),
             ("interleaved --vp 2", "1f1b"), ("chimera", "1f1b"), ("zb-h1", "1f1b"), ("zbv", "1f1b"),
             ("dualpipev", "1f1b"), ("hanayo --vp 2", "1f1b")]
HOMES = ["a=host", "a=nvme", "os=host", "os=host --cpu-optimizer", "g,os=host --cpu-optimizer", "p=host",
         "p,g,os=host --cpu-optimizer", "p,g,os,a=nvme"]
RATES = "host:1GBps nvme:0.5GBps"


def run(pipeexec, schedule, other, home):
    words = f"--schedule {schedule} --calibrate-on {other} --offload {home} {SIZES}".split()
    with tempfile.TemporaryDirectory() as folder:
        if "nvme" in home:
            words += ["--nvme", folder]
        done = subprocess.run([pipeexec, *words, "--tier", RATES, "--json"], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip().split("\n")[0]


def is_counted(report):
    keys = ("down_bytes", "up_bytes")
    return all(c[k] == c["predicted_" + k] for c in report["tiers"]["copies"] for k in keys)


def main():
    pipeexec, homes = sys.argv[1], sys.argv[2:] or HOMES
    for home in homes:
        errors = []
        for schedule, other in SCHEDULES:
            report = run(pipeexec, schedule, other, home)
            if isinstance(report, str):
                print(f"{home:30} {schedule:20} {report[:90]}")
                continue
            errors.append(report["model_error_frac"])
            print(f"{home:30} {schedule:20} {1e3 * report['step_s']:8.1f} ms {100 * errors[-1]:+6.1f} %"
                  f"  copies {100 * report['time_frac']['moves']:5.1f} %"
                  f"  structural {report['structural_error_s']:g}"
                  f"  bytes {'equal' if is_counted(report) else 'DIFFER'}", flush=True)
        if errors:
            print(f"{home:30} median of {len(errors)}: {100 * statistics.median(map(abs, errors)):.1f} %", flush=True)


main()
