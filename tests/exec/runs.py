"""Runs of pipeexec for tests that draw layouts: command lines, reports, and reasons of refusals."""

import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../attack"))
from attack import is_sanitized

PIPEEXEC, PIPESIM = (os.path.abspath(path) for path in sys.argv[1:3])
PATIENCE_S = 1200 if is_sanitized(PIPEEXEC) else 240


def ask(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=PATIENCE_S,
                          stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def words(*parts):
    return [word for part in parts for pair in part.items() for word in pair]


def reasons():
    """The rows of the table: a part of the message as a pattern, and the row itself."""
    text = open(os.path.join(HERE, "../../docs/executor.md"), encoding="utf-8").read()
    section = text.split("\n## What is refused\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(.+?)` \|", section, re.M)
    assert rows, "docs/executor.md has no table of refusals"
    return [(row, re.compile(re.escape(row).replace(r"\.\.\.", ".*").replace(r"\ ", r"\s+"), re.S)) for row in rows]


def unsaid():
    """The rows of the table with a part, between `...`, that is in no text of the sources."""
    literal = r'"(?:[^"\\\n]|\\.)*"'
    texts = set()
    for area in ("core", "exec", "schedules", "sim"):
        for folder, _, names in os.walk(os.path.join(HERE, "../..", area)):
            for name in names:
                code = open(os.path.join(folder, name), encoding="utf-8").read() if name.endswith((".c", ".h")) else ""
                code = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
                texts.update(re.sub(r'"\s*"', "", text) for text in re.findall(rf"{literal}(?:\s*{literal})*", code))
    said = "\n".join(texts)
    return [row for row, _ in reasons() if not all(part.strip() in said for part in row.split("..."))]


def faults(report):
    """What is wrong with the report of a run with exact gradients and all checks."""
    for check in ("grad_check", "weight_check"):
        if not report[check] or not report[check]["bit_equal"] or not report[check]["elements"]:
            yield f"{check} {report[check]}"
    if not report["grad_check"]["loss_equal"]:
        yield "losses differ from those of the loop"
    if report["clock"] == "virtual" and report["structural_error_s"] != 0:
        yield f"structural error {report['structural_error_s']} s"
    for rank in report["ranks"]:
        if rank["peak_mem_bytes"] != rank["predicted_peak_mem_bytes"]:
            yield f"memory of rank {rank['rank']}: {rank}"
    if abs(sum(report["time_frac"].values()) - 1) > 1e-9:
        yield f"shares of time: {report['time_frac']}"


def train(options):
    return ask(PIPEEXEC, *options, "--steps", 3, "--exact-grad", "--check", "--json")
