#!/usr/bin/env python3
"""Every command that a report advises is whole, changes what it says, and does what it promises.

Usage: hints.py PIPESIM PIPEEXEC. Runs of varied options are reported as text. Each command of a
note is run as printed, by a shell. Its inputs must be those of the run, but for the stated change
and for degrees that the run's own choice had; its time, memory and fit must be the promised ones.
PIPESIM_LONG=1: many more runs.
"""
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile

PIPESIM, PIPEEXEC = map(os.path.abspath, sys.argv[1:3])
LONG = bool(os.environ.get("PIPESIM_LONG"))
PINS = {"tp": "tp", "pp": "pp", "ep": "ep", "gbs": "gbs", "micro-batches": "micro_batches"}
failures, counts = [], {}


def run(command, program="pipesim"):
    """Runs a line of a shell in which pipesim and pipeexec are the tested programs."""
    prelude = f'pipesim() {{ "{PIPESIM}" "$@"; }}; pipeexec() {{ "{PIPEEXEC}" "$@"; }}; '
    return subprocess.run(["bash", "-c", prelude + command], capture_output=True, text=True)


def fail(command, hint, text):
    failures.append(f"{command}\n#   hint: {hint}\n#   {text}")


def commands_of(text):
    """Yields (paragraph before it, command) of each command that stands on lines of its own."""
    lines, before, at = text.split("\n"), "", 0
    while at < len(lines):
        found = re.match(r"\s+(?:choose +)?(?:try: +)?(pipesim (?!presets |schedules ).*)", lines[at])
        if not found:
            label = re.match(r"  \w", lines[at])
            before = (lines[at] if label else before + " " + lines[at]).strip()
            at += 1
            continue
        command = found[1]
        while command.endswith("\\"):
            at += 1
            assert len(lines[at]) <= 80, lines[at]
            command += "\n" + lines[at]
        yield re.sub(r"\s+", " ", before), command
        at += 1


def report_of(command):
    done = run(command + " --json")
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip()


# ---- one hint ------------------------------------------------------------------------------------

def stated_change(note, inputs):
    """Returns the options that the note names as changed, with their new values."""
    found = re.search(r"with ((?:--[\w-]+ (?!--)\S+ |--cpu-optimizer )+?)(?:\([^)]*\) )?"
                      r"(?:in place of|it needs)", note)
    if found:  # "does not fit; with --tp 4 it needs ..."
        words = shlex.split(found[1].replace("--cpu-optimizer ", "--cpu-optimizer true "))
        return {n[2:]: v == "true" or v for n, v in zip(words[::2], words[1::2])}
    if "twice the batch" in note:
        return {n: str(2 * int(inputs[n])) for n in ("gbs", "micro-batches") if n in inputs}
    if "--head balanced takes" in note:
        return {"head": "balanced"}
    found = re.search(r"note (\S+) takes", note)
    return {"schedule": found[1]} if found else None


def check_inputs(command, note, hint, was, now):
    change = stated_change(note, was["inputs"])
    if change is None:
        return fail(command, hint, f"no change is stated: {note}")
    doubled = 2 if "twice the batch" in note else 1
    for name in set(was["inputs"]) | set(now["inputs"]):
        old, new = was["inputs"].get(name), now["inputs"].get(name)
        layout = now["layout"].get(PINS.get(name))
        pinned = old is None and layout is not None and new == str(layout)
        dropped = new is None and "schedule" in change and name in ("vp", "group", "splits")
        if new != change.get(name, old) and not pinned and not dropped:
            fail(command, hint, f"--{name} was {old} and is {new}")
    for name in ("model", "cluster"):
        if was[name] != now[name]:
            fail(command, hint, f"{name} was {was[name]} and is {now[name]}")
    for name in ("gpus", "tp", "pp", "dp", "cp", "ep", "mbs", "seq", "gbs"):
        old, new = was["layout"][name], now["layout"][name]
        if name == "gbs":
            old *= doubled
        if old != new and "fit" not in note:
            fail(command, hint, f"layout {name} was {old} and is {new}")
    if was["layout"]["gbs"] * doubled != now["layout"]["gbs"]:
        fail(command, hint, "another batch")


def check_promise(command, note, hint, was, now):
    kind = re.search(r"twice the batch|head balanced|\S+(?= takes)|fit", note)
    counts[kind[0]] = counts.get(kind[0], 0) + 1
    sample = [r["iteration_s"] / r["layout"]["gbs"] for r in (was, now)]
    if not now["fits"]:
        fail(command, hint, "it does not fit")
    found = re.search(r"takes ([\d.]+) % less time (?:here|a sample), and (?:([\d.]+) GiB )?"
                      r"(more|less|as much) memory", note)
    if found:
        saved = 100 * (1 - sample[1] / sample[0])
        peaks = [round(r["peak_mem_bytes"] / 2**30, 1) for r in (was, now)]
        more = peaks[1] - peaks[0]  # of the printed figures
        more = -more if found[3] == "less" else more
        if abs(saved - float(found[1])) > 0.06 or abs(more - float(found[2] or 0)) > 0.06:
            fail(command, hint, f"{note}: it takes {saved:.1f} % less time, {more:.1f} GiB")
        if saved < 1:
            fail(command, hint, "it is no faster")
    found = re.search(r"it needs ([\d.]+) GiB", note)
    if found and abs(now["peak_mem_bytes"] / 2**30 - float(found[1])) > 0.06:
        fail(command, hint, f"{note}: it needs {now['peak_mem_bytes'] / 2**30:.1f} GiB")
    if not found and "takes" not in note:
        fail(command, hint, f"nothing is promised: {note}")


def check_reliefs(command, was):
    """Commands that would need less memory, all levels and others in turn, keep their promise."""
    for relief in was.get("oom") or []:
        counts["relief"] = counts.get("relief", 0) + 1
        if not LONG and counts["relief"] % 8 and "--recompute selective" not in relief["flags"]:
            continue
        now = report_of(relief["command"])
        if isinstance(now, str):
            fail(command, relief["command"], now)
        elif any(now[n] != relief[n] for n in ("iteration_s", "peak_mem_bytes", "fits")):
            fail(command, relief["command"], f"{now['iteration_s']} s, {now['peak_mem_bytes']} B")


def check_run(command):
    text = run(command)
    if text.returncode:
        return 0
    was, count = None, 0
    for note, hint in commands_of(text.stdout):
        if was is None:
            was = report_of(command)
            check_reliefs(command, was)
        now = report_of(hint)
        count += 1
        if isinstance(now, str):
            fail(command, hint, now)
            continue
        check_inputs(command, note, hint, was, now)
        check_promise(command, note, hint, was, now)
    return count


# ---- the runs ------------------------------------------------------------------------------------

CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096,
          "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
          "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 8192,
          "tie_word_embeddings": False}
CHOICES = {
    "model": ["llama3-8b", "llama3-70b", "gpt3-175b", "llama2-13b", "mixtral-8x7b", None],
    "gpus": ["8", "16", "64", "256"],
    "schedule": ["1f1b", "gpipe", "interleaved", "zb-h1", "chimera", "interleaved --vp 4", "zbv"],
    "cluster": [None, None, "a100", "h200", "a100-40", "node:64 gpu:8 device:a100",
                "node:32 gpu:8 device:h100 nic:8x200Gbps"],
    "framework": [None, None, "megatron", "deepspeed", "torchtitan", "nemo"],
    "layout": ["", "", "--tp 2 --pp 4", "--tp 4 --pp 2 --gbs 64", "--pp 4", "--tp 8 --gbs 128",
               "--pp 8 --micro-batches 16", "--pp 4 --micro-batches 4 --mbs 2", "--gbs 96"],
    "more": ["", "", "--seq 2048", "--precision fp16", "--recompute full", "--zero 1",
             "--link-bw network=0.5", "--slow 0=0.9 --slow 1=0.8", "--head counted"],
}
FIXED = [
    # of the presets, of measured files, with odd names
    "pipesim --preset chimera-bert48 --engine dag",
    "pipesim --preset megatron-sc21-145b --schedule 1f1b --engine dag",
    "pipesim --preset bfs-52b --gpus 16 --tp 2 --pp 4 --engine dag",
    "pipesim --schedule 1f1b --model 'it'\\''s $HOME.json' --gpus 16 --pp 4 --gbs 64 --engine dag",
    "pipesim --schedule 1f1b --model ./config.json --gpus 16 --gbs 64 --cluster a100-40 "
    "--engine dag",
    "pipesim --schedule interleaved --model llama3-70b --gpus 64 --tp 4 --pp 4 --vp 5 --gbs 128 "
    "--engine dag",
    "pipesim --schedule interleaved --model llama3-70b --gpus 64 --tp 4 --pp 4 --vp 5 --gbs 128 "
    "--recompute none --engine dag",
    "pipesim --schedule 1f1b --model llama3-70b --gpus 16 --gbs 64 --seq 4096 --engine dag",
    "pipesim --schedule 1f1b --layers 24 --hidden 2048 --heads 16 --vocab 51200 --gpus 8 --pp 8 "
    "--gbs 32 --engine dag",
    "pipesim --schedule my.csv --model llama3-8b --gpus 8 --tp 2 --engine dag",
    "pipesim --schedule 1f1b --model llama3-8b --gpus 8 --tp 1 --pp 8 --gbs 8 --head ignored "
    "--no-alternatives --engine dag",
    "pipesim --schedule 1f1b --model llama3-8b --gpus 16 --pp 8 --gbs 64",  # with shared links
    # state and activations leave the device, or leave it as well
    "pipesim --schedule 1f1b --model opt-30b --gpus 1 --gbs 16 --mbs 16 --cluster a100-40 "
    "--offload os=host --engine dag",
    "pipesim --schedule 1f1b --model llama3-405b --gpus 64 --pp 4 --tp 8 --gbs 64 "
    "--recompute none --zero 0 --engine dag",
]


def random_run(rng):
    parts = {name: rng.choice(values) for name, values in CHOICES.items()}
    if not LONG and parts["model"] in ("gpt3-175b", None) and int(parts["gpus"]) < 256:
        parts["model"] = "llama2-13b"  # thousands of micro-batches take half a second each time
    line = f"pipesim --schedule {parts['schedule']} --gpus {parts['gpus']}"
    for name in ("model", "cluster", "framework"):
        if parts[name]:
            line += f" --{name} {shlex.quote(parts[name])}"
    return f"{line} {parts['layout']} {parts['more']} --engine dag"


def check_tries():
    """Commands that errors advise run as they stand."""
    errors = ["pipesim --model llama3-8b", "pipesim --gpus 16 --model llama3-8b --cluster 'node:2 gpu:8 device:a100'",
              "pipesim program --pp 4 --micro-batches 8",
              "pipeexec --schedule pipedream -np 4 --dp 2 --micro-batches 8"]
    for command in errors:
        done = run(command)
        for _, hint in commands_of(done.stderr):
            counts["try"] = counts.get("try", 0) + 1
            again = run(hint + ("" if " program " in hint else " --engine dag"))
            if done.returncode == 0 or again.returncode:
                fail(command, hint, again.stderr)
    if counts.get("try", 0) < 4:
        failures.append(f"{counts.get('try')} commands to try")


def check_plans():
    """The command of a plan's choice gives the step and the peak of its best row."""
    for options in ("--gpus 8 --model llama2-7b --gbs 16 --top 1",
                    "--gpus 16 --model 'it'\\''s $HOME.json' --cluster 'gpu:8 device:a100' "
                    "--gbs 64 --top 1 --schedule 1f1b,interleaved",
                    "--gpus 16 --model llama2-7b --gbs 64 --free shard --framework fsdp",
                    "--gpus 64 --model llama3-70b --gbs 128 --tp 4 --pp 4 --free recompute"):
        command = "pipesim plan --engine dag " + options
        best = report_of(command)["best"]
        for _, hint in commands_of(run(command).stdout):
            now = report_of(hint)
            if isinstance(now, str):
                fail(command, hint, now)
            elif any(abs(now[n] / best[n] - 1) > 1e-9 for n in ("iteration_s", "peak_mem_bytes")):
                fail(command, hint, f"{now['iteration_s']} s, not {best['iteration_s']}")
            counts["plan"] = counts.get("plan", 0) + 1


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in ("config.json", "it's $HOME.json"):
            with open(name, "w", encoding="utf-8") as out:
                json.dump(CONFIG, out)
        run("pipesim program --schedule gpipe --pp 4 --micro-batches 8 --compute -o my.csv")
        rng = random.Random(7)
        runs = FIXED + [random_run(rng) for _ in range(400 if LONG else 16)]
        hints = sum(check_run(command) for command in runs)
        check_tries()
        check_plans()
    if hints < len(runs) / 3:
        failures.append(f"{hints} hints of {len(runs)} runs")
    if counts.get("plan", 0) != 4:
        failures.append(f"{counts.get('plan')} choices of plans")
    print(f"1..1\n{'not ok' if failures else 'ok'} 1 - {hints} commands of {len(runs)} reports, "
          f"{sorted(counts.items())}")
    for failure in failures:
        print("# " + failure)
    return bool(failures)


sys.exit(main())
