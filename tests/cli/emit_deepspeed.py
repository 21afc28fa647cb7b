#!/usr/bin/env python3
"""Sections of offloading in fragments for DeepSpeed: names, types and values of its configuration.

The fields are those of deepspeed/runtime/zero/offload_config.py and config.py (0.16.5 and 0.19.8).
Where DeepSpeed is installed, its own class reads each fragment, too: the python3 in use, or the one
that PIPESIM_DEEPSPEED_PYTHON names.

  emit_deepspeed.py PIPESIM
"""

import json
import os
import subprocess
import sys

FIELDS = {
    "offload_optimizer": {"device": str, "nvme_path": str, "pin_memory": bool, "ratio": float,
                          "buffer_count": int, "pipeline_read": bool, "pipeline_write": bool,
                          "fast_init": bool},
    "offload_param": {"device": str, "nvme_path": str, "pin_memory": bool, "buffer_count": int,
                      "buffer_size": int, "max_in_cpu": int},
}
RUN = "--engine dag --schedule 1f1b --model llama3-8b --pp 1 --tp 1 --recompute full --emit deepspeed"
# options, then the sections that are expected; None: there is none
CASES = [
    ("--gpus 16 --zero 3 --offload p=host,os=host --cpu-optimizer",
     {"device": "cpu", "pin_memory": True}, {"device": "cpu", "pin_memory": True}),
    ("--gpus 16 --zero 3 --offload p=host,os=host:40% --cpu-optimizer",
     {"device": "cpu", "pin_memory": True, "ratio": 0.4}, {"device": "cpu", "pin_memory": True}),
    ("--gpus 16 --zero 3 --offload p=nvme,os=nvme --cpu-optimizer",
     {"device": "nvme", "nvme_path": "/local_nvme", "pin_memory": True},
     {"device": "nvme", "nvme_path": "/local_nvme", "pin_memory": True}),
    ("--gpus 16 --zero 3 --offload p=host,os=nvme --cpu-optimizer",
     {"device": "nvme", "nvme_path": "/local_nvme", "pin_memory": True},
     {"device": "cpu", "pin_memory": True}),
    ("--gpus 16 --zero 1 --offload os=host --cpu-optimizer", {"device": "cpu", "pin_memory": True}, None),
    ("--gpus 16 --zero 1 --offload os=host:40% --cpu-optimizer", {"device": "cpu", "pin_memory": True}, None),
    ("--gpus 1 --offload os=host --cpu-optimizer", {"device": "cpu", "pin_memory": True}, None),
    ("--gpus 1 --offload p=host,os=host --cpu-optimizer", {"device": "cpu", "pin_memory": True},
     {"device": "cpu", "pin_memory": True}),
    ("--gpus 1 --offload g=host,os=host --cpu-optimizer", {"device": "cpu", "pin_memory": True}, None),
    ("--gpus 16 --zero 2 --offload g=host,os=host --cpu-optimizer", {"device": "cpu", "pin_memory": True},
     None),
    ("--gpus 16 --zero 3 --offload p=nvme,g=nvme,os=nvme --cpu-optimizer",
     {"device": "nvme", "nvme_path": "/local_nvme", "pin_memory": True},
     {"device": "nvme", "nvme_path": "/local_nvme", "pin_memory": True}),
    ("--gpus 16 --zero 3", None, None),
]
ORACLE = """
import json, sys
from deepspeed.runtime.zero.config import get_zero_config
for line in sys.stdin:
    config = get_zero_config(json.loads(line))
    print("READ", json.dumps([config.stage, *[
        section and {k: str(getattr(section, k)) for k in section.model_fields_set}
        for section in (config.offload_optimizer, config.offload_param)]]))
"""


def fragment(pipesim, options):
    text = subprocess.run([pipesim, *RUN.split(), "--gbs", "64", *options.split()], check=True,
                          capture_output=True, text=True).stdout
    return json.loads(text)


def faults(zero, expected):
    """What is wrong with the sections of a fragment."""
    for name, wanted in zip(FIELDS, expected):
        section = zero.get(name)
        if section != wanted:
            yield f"{name} is {section}, expected {wanted}"
        for key, value in (section or {}).items():
            if not isinstance(value, FIELDS[name].get(key, ())):
                yield f"{name}.{key}: {value!r} is no field of DeepSpeed"
        if section and zero["stage"] < (3 if name == "offload_param" else 1):
            yield f"{name} with stage {zero['stage']}"


def oracle(fragments):
    """What DeepSpeed's own class reads, or None where it is not installed."""
    python = os.environ.get("PIPESIM_DEEPSPEED_PYTHON", sys.executable)
    lines = "\n".join(json.dumps(f) for f in fragments)
    run = subprocess.run([python, "-c", ORACLE], input=lines, capture_output=True, text=True)
    if "No module named" in run.stderr:
        return None
    return [json.loads(line[5:]) for line in run.stdout.splitlines() if line.startswith("READ ")]


def main(pipesim):
    fragments = [fragment(pipesim, options) for options, *_ in CASES]
    read = oracle(fragments)
    print(f"1..{len(CASES)}")
    for i, (options, *expected) in enumerate(CASES):
        zero = fragments[i]["zero_optimization"]
        wrong = list(faults(zero, expected))
        if read is not None and len(read) == len(CASES):
            stage, *sections = read[i]
            if stage != zero["stage"] or [s and set(s) for s in sections] != [s and set(s) for s in expected]:
                wrong.append(f"DeepSpeed reads {read[i]}")
        elif read is not None:
            wrong.append("DeepSpeed refuses a fragment")
        print(f"{'not ok' if wrong else 'ok'} {i + 1} - {options}")
        for text in wrong:
            print(f"# {text}")
    print(f"# DeepSpeed's own class read them: {'no' if read is None else 'yes'}")


main(sys.argv[1])
