#!/usr/bin/env python3
"""Random layouts train to the bits of one rank, or are refused for a reason that docs/executor.md names.

  layouts.py PIPEEXEC PIPESIM COUNT [SEED [cuda]]

Draws command lines until COUNT of them have run, and states how many were refused, by reason. SEED is that of
the first draw; with COUNT 1 it repeats one. With `cuda`, small layouts run on GPUs, emulated or not. Only options and values that `pipeexec help` knows are drawn. Each run must
  - have the gradients, weights and losses of pipeexec's own loop on one rank (--exact-grad --check),
  - have the losses and norms of a run on one rank, unless it cuts micro-batches,
  - be replayed without error on the virtual clock,
  - touch the memory that was predicted, on every rank.
From 100 runs on, each of FEATURES must be in one.
A refusal is explained if its message is in the table "What is refused" of docs/executor.md, or if pipesim refuses
the same schedule in the same shape. Each row of the table is in a text of the sources."""

import json
import os
import random
import re
import subprocess
import sys

from runs import HERE, PATIENCE_S, PIPEEXEC, PIPESIM, ask, faults, reasons, train, unsaid, words

WANTED, FIRST = int(sys.argv[3]), int((sys.argv[4:] or ["1"])[0])
IS_CUDA = "cuda" in sys.argv[5:]
MOST_WORKERS = 8 if IS_CUDA else 24
CONFIGS = os.path.join(HERE, "../data/configs")
WIDTHS = "--hidden 32 --heads 4 --seq 8".split() + (["--backend", "cuda"] if IS_CUDA else [])

# Option, values, and how often it is given at all.
SHARED = [
    ("--schedule", None, 1),  # those that run
    ("--np", [1, 2, 2, 2, 3, 4, 4, 6], 1),
    ("--vp", [1, 2, 3], 0.2),
    ("--micro-batches", [1, 2, 3, 4, 6, 8, 12], 0.8),
    ("--splits", [1, 2, 4, 8], 0.2),
    ("--order", ["strict", "eager", "eager:3", "eager:2x"], 0.15),
]
OWN = [
    ("--dp", [1, 2, 2, 2, 3, 4], 0.8),
    ("--mbs", [1, 2, 3, 4], 1),
    ("--tp", [2, 2, 4], 0.5),
    ("--ep", [1, 2, 2, 4, 8], 0.8),
    ("--etp", [1, 1, 2], 0.3),
    ("--zero", [0, 1, 2, 3, 3], 0.7),
    ("--shard", ["os=2", "g=2", "p=2", "p=2,os=4", "p=2,os=4"], 0.2),
    ("--gather", ["chunk", "layer", "layer"], 0.4),
    ("--gather-buffers", [1, 2, 3], 0.4),
    ("--sequence-parallel", ["on", "off"], 0.2),
    ("--recompute", ["none", "full", "selective", "selective=layernorm", "selective=mlp+core_attn", "selective=act",
                     "stage-aware=0.5", "stage-aware=1"], 0.6),
    ("--transport", ["local", "shm", "shm", "tcp"], 0.6),
    ("--backend", ["fake"], 0.2),
    ("--weight-grad-stream", ["on"], 0.4),
    ("--clock", ["virtual", "virtual", "wall"], 0.3),
    ("--grad-sync", ["end", "eager", "eager-opt"], 0.4),
    ("--post", ["early", "jit", "batched", "sender"], 0.4),
    ("--recv-slots", [1, 2, 3], 0.4),
    ("--slow", ["0=0.5"], 0.1),
]
MODEL = [  # these and the samples say what is computed, the others where
    ("--model", ["tiny", "mini", "tiny-llama"], 1),
    ("--layers", [1, 3, 4, 6, 8], 1),
    ("--embedding", ["tied", "untied"], 0.5),
    ("--kv-heads", [2, 4], 0.4),
    ("--experts", [4, 8], 0.35),
    ("--precision", ["fp32", "fp32", "bf16", "double"], 0.3),
    ("--clip", [0.5, 1], 0.6),
    ("--seed", [1, 2, 3], 0.5),
]
ELSEWHERE = [("--offload", ["a=host", "a=host", "a=host:40%", "p=host", "p,a=host"], 0.4)]
OF_SCHEDULE = {
    "chimera": [("--pipelines", [2, 4], 0.2), ("--concat", ["direct", "doubling", "halving", "halving"], 0.8)],
    "interleaved": [("--group", [2, 3, 4], 0.3), ("--extra-warmup", [1], 0.2), ("--warmup-style", ["lazy"], 0.2)],
    "bfs": [("--depth-first", [2], 0.3), ("--bfs-backward", ["descending"], 0.3)],
    "v-half": [("--max-activations", [4, 6, 8], 0.3)],
}
ON_GPUS = {"--transport": (["local", "ipc", "nccl", "ipc+nccl"], 0.9), "--precision": (["fp32", "bf16"], 0.5),
           "--weight-grad-stream": ([], 0), "--backend": ([], 0), "--slow": ([], 0), "--layers": ([1, 2, 4], 1),
           "--offload": ([], 0),
           "--micro-batches": ([1, 2, 4], 1), "--experts": ([4, 8], 0.7), "--model": (["tiny", "tiny-llama"], 1)}
OFTEN = ["chimera", "chimera", "chimera"]  # the only schedule of half backwards
EXPERTS = [("--top-k", [1, 2, 3], 0.5), ("--capacity-factor", [0.5, 1.25], 0.5), ("--shared-ffn", [32], 0.3),
           ("--moe-every", [2], 0.3), ("--balance-loss", [0.01, 0.5], 0.4)]
FAMILIES = ["bert-base-pretraining", "gemma-7b", "pythia-160m", "opt-125m", "qwen3-8b", "mistral-7b"]
SMALL = {"--ffn": "64", "--vocab": "256", "--kv-heads": "4"}


def shares_tokens(r, w):
    return r["layout"]["tp"] > 1 and w.get("--sequence-parallel") == "on"


def recomputes(w):
    return w.get("--recompute", "none") != "none" or "--recompute-modules" in w


FEATURES = {  # of a report and its words
    "tp": lambda r, w: r["layout"]["tp"] > 1,
    "pp": lambda r, w: r["layout"]["np"] > 1,
    "dp": lambda r, w: r["layout"]["dp"] > 1,
    "chunks": lambda r, w: r["layout"]["vp"] > 1,
    "pipelines": lambda r, w: r["layout"]["pipelines"] > 1,
    "splits": lambda r, w: r["layout"]["splits"] > 1,
    "granules": lambda r, w: r["layout"]["granules"] > 1,
    "zero 1": lambda r, w: r["layout"]["zero"] == 1,
    "zero 2": lambda r, w: r["layout"]["zero"] == 2,
    "groups of copies": lambda r, w: "--shard" in w,
    "meshes of two sizes": lambda r, w: "," in w.get("--shard", ""),
    "zero 3": lambda r, w: r["layout"]["zero"] == 3,
    "gathers of layers": lambda r, w: r["layout"].get("gather") == "layer",
    "ep": lambda r, w: r["layout"]["ep"] > 1,
    "ep, zero": lambda r, w: r["layout"]["ep"] > 1 and r["layout"]["zero"] > 0 and "--shard" not in w,
    "ep, groups of copies": lambda r, w: r["layout"]["ep"] > 1 and "--shard" in w,
    "ep over tp": lambda r, w: r["layout"]["etp"] < r["layout"]["tp"],
    "ep over tp and dp": lambda r, w: r["layout"]["etp"] * r["layout"]["ep"] > r["layout"]["tp"] > r["layout"]["etp"],
    "ep over tp, zero": lambda r, w: r["layout"]["etp"] < r["layout"]["tp"] and r["layout"]["zero"] > 0,
    "sequence parallel": shares_tokens,
    "sequence parallel, experts": lambda r, w: shares_tokens(r, w) and "--experts" in w,
    "sequence parallel, ep": lambda r, w: shares_tokens(r, w) and r["layout"]["ep"] > 1,
    "sequence parallel, encoder": lambda r, w: shares_tokens(r, w) and "/bert" in w["--model"],
    "experts": lambda r, w: "--experts" in w,
    "balance": lambda r, w: "--balance-loss" in w,
    "recompute": lambda r, w: recomputes(w),
    "modules": lambda r, w: "--recompute-modules" in w,
    "experts, recompute": lambda r, w: "--experts" in w and recomputes(w) and w.get("--recompute") != "full",
    "families": lambda r, w: w["--model"] not in ("tiny", "mini", "tiny-llama"),
    "families, recompute": lambda r, w: w["--model"] not in ("tiny", "mini", "tiny-llama") and recomputes(w),
    "shm": lambda r, w: r["transport"] == "shm",
    "tcp": lambda r, w: r["transport"] == "tcp",
    "few bits": lambda r, w: "--act-bits" in w,
    "fake": lambda r, w: r["backend"] == "fake",
    "stream": lambda r, w: r["weight_grad_stream"],
    "bf16": lambda r, w: r["precision"] == "bf16",
    "activations elsewhere": lambda r, w: "a=" in w.get("--offload", ""),
    "activations elsewhere, recompute": lambda r, w: "a=" in w.get("--offload", "") and recomputes(w),
    "parameters elsewhere": lambda r, w: w.get("--offload", "").startswith("p"),
    "parameters elsewhere, zero 1": lambda r, w: w.get("--offload", "").startswith("p") and r["layout"]["zero"] == 1,
    "gradients elsewhere": lambda r, w: "--sum" in w,
    "gradients elsewhere, copies": lambda r, w: "--sum" in w and r["layout"]["dp"] > 1,
    "gradients elsewhere, tp": lambda r, w: "--sum" in w and r["layout"]["tp"] > 1,
    "gradients elsewhere, experts": lambda r, w: "--sum" in w and "--experts" in w,
    "eager": lambda r, w: w.get("--order", "strict") != "strict",
    "tp, dp, zero": lambda r, w: r["layout"]["tp"] > 1 and r["layout"]["dp"] > 1 and r["layout"]["zero"] > 0,
    "tp, experts": lambda r, w: r["layout"]["tp"] > 1 and "--experts" in w,
    "tp, ep": lambda r, w: r["layout"]["tp"] > 1 and r["layout"]["ep"] > 1,
    "tp, ep, tcp": lambda r, w: r["layout"]["tp"] > 1 and r["layout"]["ep"] > 1 and r["transport"] == "tcp",
    "tp, encoder": lambda r, w: r["layout"]["tp"] > 1 and "/bert" in w["--model"],
    "tp, recompute": lambda r, w: r["layout"]["tp"] > 1 and recomputes(w),
}


def known(option, values):
    """The values of an option that are within the span of its help."""
    code, text, _ = ask(PIPEEXEC, "help", option.strip("-"))
    text = " ".join(text.split())
    if code or option + " " not in text[:40]:
        sys.exit(f"pipeexec help {option} does not know it")
    span = re.search(r"\((\d+) to (\d+)[;)]", text)
    return [v for v in values if not span or int(span[1]) <= int(v) <= int(span[2])]


def tables():
    _, text, _ = ask(PIPESIM, "schedules", "--json")
    names = [s["name"] for s in json.loads(text)["schedules"] if s["executable"]] + OFTEN
    for table in (SHARED, OWN, ELSEWHERE, MODEL, EXPERTS, *OF_SCHEDULE.values()):
        if IS_CUDA:
            table[:] = [(o, *ON_GPUS.get(o, (v, share))) for o, v, share in table]
        table[:] = [(o, names if o == "--schedule" else known(o, v), share) for o, v, share in table]


def draw(rng):
    """The words of one layout in three parts: shape of the schedule, place, and what is computed."""
    def some(table):
        return {o: str(rng.choice(values)) for o, values, share in table if values and rng.random() < share}

    shared, own, model = some(SHARED), some(OWN), some(MODEL)
    shared.update(some(OF_SCHEDULE.get(shared["--schedule"], [])))
    if "--experts" in model:
        model.update(some(EXPERTS))
        if "--ep" in own and rng.random() < 0.6:
            own["--dp"] = str(rng.choice([2, 4]))
            if "--tp" in own and not IS_CUDA and rng.random() < 0.3:
                own["--transport"] = "tcp"
        elif rng.random() < 0.9:
            own.pop("--ep", None)
        if "--tp" in own and rng.random() < 0.4:
            own["--sequence-parallel"] = "on"
    elif rng.random() < 0.9:
        own.pop("--ep", None)
    if "--ep" not in own or "--tp" not in own:
        own.pop("--etp", None)
    if "--tp" not in own and rng.random() < 0.95:
        own.pop("--sequence-parallel", None)
    if "--shard" in own:
        own["--dp"] = str(rng.choice([4, 4, 8] if "," in own["--shard"] else [2, 4]))
        own.pop("--zero", None)
    if own.get("--zero") != "3" and not own.get("--shard", "").startswith("p=") and rng.random() < 0.95:
        own.pop("--gather", None)
        own.pop("--gather-buffers", None)
    if "--backend" in own and rng.random() < 0.9:
        own.pop("--transport", None)
    if "--backend" not in own and rng.random() < 0.9:
        own.pop("--weight-grad-stream", None)
    if "--experts" in model and own.get("--recompute", "").startswith("selective") and rng.random() < 0.5:
        own["--recompute"] = rng.choice(["selective=moe", "selective=moe+layernorm", "selective=act+core_attn"])
    modules = re.match("selective=(.*)", own.get("--recompute", ""))
    if modules and rng.random() < 0.5:
        del own["--recompute"]
        own["--recompute-modules"] = modules[1].replace("+", ",")
    if "--experts" not in model and rng.random() < 0.25:
        model.update(SMALL, **{"--model": os.path.join(CONFIGS, rng.choice(FAMILIES) + ".json")})
        if "/bert" in model["--model"] and "--tp" in own and rng.random() < 0.7:
            own["--sequence-parallel"] = "on"
    own.update(some(ELSEWHERE))
    return shared, own, model


def workers(shared, own):
    count = 1
    for table, option in ((shared, "--np"), (own, "--tp"), (own, "--dp")):
        count *= int(table.get(option, 1))
    return count


def loop_of(report, own, model):
    """Words of the same computation on one rank of one replica."""
    layout = report["layout"]
    same = {"--tp": str(layout["tp"]), "--mbs": str(layout["mbs"]), "--np": "1", "--schedule": "1f1b",
            "--micro-batches": str(layout["micro_batches"] * layout["dp"])}
    if layout["etp"] < layout["tp"]:  # parts of a sum have other experts
        same.update({"--etp": str(layout["etp"]), "--ep": str(layout["tp"] // layout["etp"])})
    if "--sequence-parallel" in own:
        same["--sequence-parallel"] = own["--sequence-parallel"]
    return words(same, model)


def differences(report, own, model):
    """Where losses and norms differ from those of the same computation on one rank."""
    if report["layout"]["granules"] * report["layout"]["splits"] > 1:
        return  # matrices of other shapes
    code, text, message = train(WIDTHS + loop_of(report, own, model))
    one = json.loads(text) if not code else {"losses": message, "grad_norms": message}
    for what in ("losses", "grad_norms"):
        if report[what] != one[what]:
            yield f"{what} {report[what]} here, {one[what]} on one rank"


def reason_of(message, shared, known_reasons):
    for row, pattern in known_reasons:
        if pattern.search(message):
            return row
    shape = {"--micro-batches": "8", **shared}
    shape["--pp"] = shape.pop("--np")
    code, _, same = ask(PIPESIM, "program", *words(shape))
    strip = lambda text: re.sub(r"--(np|pp)\b", "--pp", text.split("error:")[-1].split(";")[0].strip())
    return "limits of the schedule" if code == 2 and strip(same) == strip(message) else None


def try_one(seed, known_reasons, covered):
    """None if too large, else the reason of its refusal ("" = it ran) and its faults. Counts features of runs."""
    shared, own, model = draw(random.Random(seed))
    few = random.Random(f"act-bits {seed}")  # apart, so that all else stays as it was
    if few.random() < 0.2:
        model["--act-bits"] = few.choice(["2", "4", "8"])
    if workers(shared, own) > MOST_WORKERS:
        return None
    grads = random.Random(f"gradients {seed}")
    flags = []
    if grads.random() < 0.2 and not IS_CUDA:
        own["--offload"] = grads.choice(["g,os=host", "g,os=host", "p,g,os=host"])
        own["--sum"] = grads.choice(["device", "host"])
        flags = ["--cpu-optimizer"]
    options = words(shared, own, model) + flags
    command = " ".join(["pipeexec", *WIDTHS, *options, "--steps 3 --exact-grad --check"])
    try:
        code, text, message = train(WIDTHS + options)
    except subprocess.TimeoutExpired:
        return "", [f"longer than {PATIENCE_S} s", command]
    if code == 0:
        report = json.loads(text)
        for name, has in FEATURES.items():
            covered[name] += bool(has(report, {**shared, **own, **model}))
        found = [*faults(report), *differences(report, own, model)]
        return "", found + [command] if found else []
    reason = reason_of(message, shared, known_reasons) if code in (2, 4) else None
    return reason or "?", [] if reason else [f"exit code {code}: {message.strip()}", command]


def main():
    tables()
    known_reasons, refused, covered = reasons(), {}, dict.fromkeys(FEATURES, 0)
    seed, ran, failures = FIRST, 0, 0
    while ran < WANTED and seed < FIRST + 20 * WANTED and failures < 10:
        outcome = try_one(seed, known_reasons, covered)
        if outcome:
            reason, found = outcome
            ran += not reason
            if reason:
                refused[reason] = refused.get(reason, 0) + 1
            if found:
                failures += 1
                print("\n".join(f"# seed {seed}: {line}" for line in "\n".join(found).splitlines()), flush=True)
        seed += 1
    print(f"# {ran} of {ran + sum(refused.values())} layouts ran, seeds {FIRST} to {seed - 1}; refused:")
    for reason, count in sorted(refused.items(), key=lambda pair: -pair[1]):
        print(f"#   {count:4} {reason}")
    print("# ran with " + ", ".join(f"{name}: {count}" for name, count in covered.items()))
    print("ok" if not failures else "not ok", f"1 - {WANTED} random layouts have the bits of one rank")
    print("ok" if ran == WANTED else "not ok", "2 - as many layouts ran as were asked for")
    missing = [name for name, count in covered.items() if not count and WANTED >= 100]
    print("ok" if not missing else "not ok", "3 - of each kind at least one ran:", ", ".join(missing) or "none lacks")
    stale = unsaid()
    print("ok" if not stale else "not ok", "4 - each row of the table is a message of the sources:", stale or "all are")
    print("1..4")
    sys.exit(failures > 0 or ran < WANTED or len(missing) > 0 or len(stale) > 0)


main()
