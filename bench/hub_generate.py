#!/usr/bin/env python3
"""Holds pipeexec generate against transformers' own generate, on a random model of each family.

Both continue the same prompts greedily, transformers in double precision. Tokens must be equal: in double
precision and in single precision, on several layouts, groups and transports, with sequences of a group
read in pieces. --check also compares with one rank and without a cache.

usage: hub_generate.py PIPEEXEC [--short]
Exit: 0 all equal, 1 one is not, 77 torch, transformers or safetensors is missing.
"""
import json, os, subprocess, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hub
import torch

PROMPTS = ["THE CAT AT", "A 4 2 ZOO ", "0123456789", "    ....  "]  # bytes below the vocabulary
LEARNED = ("gpt2", "opt")  # their positions are few
RUNS = [
    "--precision double",
    "--np 2 --groups 2 --prompt-groups 4 --precision double --check",
    "--np 4 --groups 4",
    "--np 2 --tp 2 --groups 2 --transport shm --precision double",
]


def tokens_of(family):
    """Rotary positions may exceed those of the config, 64, and so does a window of 64."""
    return 24 if family in LEARNED else 70


def expected(family, folder):
    model = hub.load(family, folder).eval()
    ids = torch.tensor([[ord(c) for c in prompt] for prompt in PROMPTS])
    with torch.no_grad():
        out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens_of(family),
                             do_sample=False, eos_token_id=None, pad_token_id=0)
    return out[:, ids.shape[1]:].tolist()


def ours(pipeexec, folder, tokens, options):
    prompts = [word for prompt in PROMPTS for word in ("--prompt", prompt)]
    run = subprocess.run([pipeexec, "generate", "--model", folder, "--tokens", str(tokens), "--json",
                          *prompts, *options.split()], capture_output=True, text=True)
    if run.returncode != 0:
        return run.stderr.strip()
    return json.loads(run.stdout)["tokens"]


def main():
    pipeexec, is_short = os.path.abspath(sys.argv[1]), "--short" in sys.argv
    failures = 0
    for family in hub.FAMILIES:
        if family == "bert" or "balance" in family:  # an encoder; the loss does not matter
            continue
        with tempfile.TemporaryDirectory() as folder:
            hub.make(family, family.startswith("gemma"), folder, torch.float32, "1GB")
            want = expected(family, folder)
            for options in RUNS[1:3] if is_short else RUNS:
                got = ours(pipeexec, folder, tokens_of(family), options)
                is_equal = got == want
                failures += not is_equal
                print(f"{'ok' if is_equal else 'DIFFERS'}  {family}  {options}"
                      + ("" if is_equal else f"\n  {got}\n  {want}"))
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
