#!/usr/bin/env python3
"""Random compute-only programs, some spoilt, against an executor by brute force.

  programs.py PIPESIM [TRIALS [SEED]]

`verify` accepts what the executor can run to its end, and nothing else; dag takes as long as the executor.
"""

import json
import os
import random
import sys
import tempfile

from attack import Attack

TIME = {"F": 1, "B": 2, "I": 1, "W": 1}


def needs(op, stages, ops):
    stage, kind, mb = op
    if kind == "F":
        return [(stage - 1, "F", mb)] if stage else []
    if kind == "W":
        return [(stage, "I", mb)]
    later = (stage + 1, "B" if (stage + 1, "B", mb) in ops else "I", mb)
    return [(stage, "F", mb)] + ([later] if stage + 1 < stages else [])


def is_complete(lists):
    """Each stage of each micro-batch lies on one rank and has F, and B or I and W, if any has a backward."""
    ops = [op for cells in lists for op in cells]
    stages, mbs = 1 + max(op[0] for op in ops), 1 + max(op[2] for op in ops)
    ranks = {}
    for rank, cells in enumerate(lists):
        for op in cells:
            ranks.setdefault((op[0], op[2]), set()).add(rank)
    wanted = ({"F"},) if all(op[1] == "F" for op in ops) else ({"F", "B"}, {"F", "I", "W"})
    return len(set(ops)) == len(ops) and all(
        {op[1] for op in ops if (op[0], op[2]) == (stage, mb)} in wanted and len(ranks[stage, mb]) == 1
        for stage in range(stages) for mb in range(mbs))


def play(lists):
    """Returns the makespan; None if a rank waits for ever."""
    ops = {op for cells in lists for op in cells}
    stages, end, at, clock = 1 + max(op[0] for op in ops), {}, [0] * len(lists), [0] * len(lists)
    is_moving = True
    while is_moving:
        is_moving = False
        for rank, cells in enumerate(lists):
            while at[rank] < len(cells) and all(need in end for need in needs(cells[at[rank]], stages, ops)):
                op = cells[at[rank]]
                start = max([clock[rank]] + [end[need] for need in needs(op, stages, ops)])
                end[op] = clock[rank] = start + TIME[op[1]]
                at[rank] += 1
                is_moving = True
    return max(clock) if len(end) == len(ops) else None


def generate(rng):
    ranks, mbs = rng.randint(1, 4), rng.randint(1, 5)
    stages = ranks * rng.choice((1, 1, 2))
    place = [stage % ranks for stage in range(stages)] if rng.random() < 0.7 else [rng.randrange(ranks) for _ in range(stages)]
    is_split = rng.random() < 0.5
    left = {(stage, kind, mb) for stage in range(stages) for kind in ("FIW" if is_split else "FB") for mb in range(mbs)}
    ops, done, lists = set(left), set(), [[] for _ in range(ranks)]
    while left:
        ready = sorted(op for op in left if done.issuperset(needs(op, stages, ops)))
        back = [op for op in ready if op[1] != "F"]
        op = rng.choice(back if back and rng.random() < 0.6 else ready)
        left.discard(op)
        done.add(op)
        lists[place[op[0]]].append(op)
    return lists


def spoil(rng, lists):
    for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
        cells = rng.choice(lists)
        if not cells:
            continue
        i, j = rng.randrange(len(cells)), rng.randrange(len(cells))
        how = rng.randrange(5)
        if how < 3:
            cells[i], cells[j] = cells[j], cells[i]
        elif how == 3:
            del cells[i]
        else:
            cells.insert(j, cells[i])


def main(program, trials=200, seed=1):
    attack, rng, legal = Attack(os.path.abspath(program)), random.Random(int(seed)), 0
    os.chdir(tempfile.mkdtemp())
    for _ in range(int(trials)):
        lists = generate(rng)
        spoil(rng, lists)
        lists = [cells for cells in lists if cells]
        if not lists:
            continue
        with open("p.csv", "w") as out:
            out.writelines(",".join("%d%s%d" % op for op in cells) + "\n" for cells in lists)
        span = play(lists) if is_complete(lists) else None
        legal += span is not None
        done = attack.run("verify", "p.csv")
        if done and (done.returncode == 0) != (span is not None):
            attack.fail((open("p.csv").read(),), f"verify: {done.returncode}, executor: {span}, {done.stderr[:200]}")
        if done and done.returncode == 0 and span is not None:
            unit = attack.run("--schedule", "p.csv", "--pp", len(lists), "--unit", "F=1,I=1,W=1", "--engine", "dag", "--json")
            if unit and (unit.returncode or json.loads(unit.stdout)["iteration_s"] != span):
                attack.fail((open("p.csv").read(),), f"the executor takes {span}: {unit.stdout[:100]} {unit.stderr[:200]}")
    print(f"programs: {legal} legal ones")
    attack.end("programs")


main(*sys.argv[1:])
