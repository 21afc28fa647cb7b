#!/usr/bin/env python3
"""Checkpoints and weights of runs with memory tiers equal those of runs without, to the byte.

  tier_checkpoints.py PIPEEXEC

Each layout trains four steps without tiers, with a checkpoint after each. With each of its homes it must write the
same ones, and the same weights (--save). Then it resumes on other tiers, or without, from a checkpoint of the middle.
The end must be the same. Homes that pipeexec refuses as simulated are left out."""

import os

import tier_runs
from tier_runs import Folder, command, executable, files, report, run, sums

TRANSPORTS = ["local", "shm", "tcp"]


def train(layout, home, folder, *more):
    """Returns the checkpoints of a training in folder.kept, and the weights that it saves."""
    saved = os.path.join(folder.path, "saved")
    code, _, err, _, left = run(command(layout, home, folder.nvme, "--quiet", *more, "--checkpoint", folder.kept, "--save", saved,
                                        "--checkpoint-every", "1", "--checkpoint-keep", "9"), folder)
    if code or left:
        return f"exit code {code}, left {left}: {err}", {}
    return sums(folder.kept), files(saved, ".safetensors")


def resume(layout, home, path, how):
    """The last checkpoint of a training that goes on from step 2."""
    with Folder() as folder:
        kept, weights = train(layout, home, folder, "--resume", os.path.join(path, "step-000000002"), *how)
        return kept.get(4, kept) if isinstance(kept, dict) else kept, weights


def compare(what, got, wanted):
    report("" if got == wanted else f"{got}\nis not\n{wanted}", what)


def check(layout, home, other, whole, weights, k):
    transport = TRANSPORTS[k % len(TRANSPORTS)]
    with Folder() as folder:
        kept = train(layout, home, folder, "--steps", "4", "--transport", transport)
        compare(f"{layout} --offload {home} --transport {transport}", kept, (whole, weights))
        if kept[0] == whole:
            again = TRANSPORTS[(k + 1) % len(TRANSPORTS)]
            compare(f"{layout}: {home}, then {other or 'no tiers'} --transport {again}",
                    resume(layout, other, folder.kept, ["--transport", again]), (whole[4], weights))


cases = executable()
for layout in sorted({case[0] for case in cases}):
    homes = [home for where, home, _ in cases if where == layout]
    with Folder() as plain:
        whole, weights = train(layout, None, plain, "--steps", "4")
        if not isinstance(whole, dict) or sorted(whole) != [1, 2, 3, 4] or not weights:
            report(f"{whole}", layout)
            continue
        for k, home in enumerate(homes):
            check(layout, home, [*homes, None][(k + 1) % (len(homes) + 1)], whole, weights, k)
            compare(f"{layout}: no tiers, then {home}", resume(layout, home, plain.kept, []), (whole[4], weights))
tier_runs.end(f"{len(cases)} layouts with tiers")
