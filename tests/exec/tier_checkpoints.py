#!/usr/bin/env python3
"""Checkpoints and weights of runs with memory tiers equal those of runs without, to the byte.

  tier_checkpoints.py PIPEEXEC

Each layout trains four steps without tiers, with a checkpoint after each. With each of its homes it must write the
same ones, and the same weights (--save). Then it resumes on other tiers, or without, from a checkpoint of the middle.
The end must be the same. Homes that pipeexec refuses as simulated are left out."""

import contextlib
import os

import tier_runs
from tier_runs import HOMES, LAYOUTS, Folder, command, files, one_step, report, run, sums

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


def train_all(layout, stack):
    """Trains with each home that runs: the homes and their folders. A refused one is asked for alone, too."""
    trained = []
    for home in HOMES:
        folder, transport = stack.enter_context(Folder()), TRANSPORTS[len(trained) % len(TRANSPORTS)]
        kept = train(layout, home, folder, "--steps", "4", "--transport", transport)
        if isinstance(kept[0], dict) or one_step(layout, home):
            trained.append((home, folder))
            compare(f"{layout} --offload {home} --transport {transport}", kept, (whole, weights))
    return trained


def go_on(layout, trained, k):
    """From the checkpoint of home k on the next one, or without tiers; and from that of no tiers on k."""
    home, folder = trained[k]
    other, again = [*(one for one, _ in trained), None][k + 1], TRANSPORTS[(k + 1) % len(TRANSPORTS)]
    compare(f"{layout}: {home}, then {other or 'no tiers'} --transport {again}",
            resume(layout, other, folder.kept, ["--transport", again]), (whole[4], weights))
    compare(f"{layout}: no tiers, then {home}", resume(layout, home, plain.kept, []), (whole[4], weights))


cases = 0
for layout in LAYOUTS:
    with contextlib.ExitStack() as stack:
        plain = stack.enter_context(Folder())
        whole, weights = train(layout, None, plain, "--steps", "4")
        if not isinstance(whole, dict) or sorted(whole) != [1, 2, 3, 4] or not weights:
            report(f"{whole}", layout)
            continue
        trained = train_all(layout, stack)
        for k in range(len(trained)):
            go_on(layout, trained, k)
        cases += len(trained)
tier_runs.end(f"{cases} layouts with tiers")
