#!/usr/bin/env python3
"""Prints a pipeline schedule for pipesim: 1F1B with pairs of micro-batches, F F B B.

Usage: ffbb.py RANKS MICRO_BATCHES
       pipesim --schedule '!python3 ffbb.py {pp} {micro_batches}' --pp 4 --micro-batches 8 ...

A row is a rank, a cell an op: 2F5 is the forward of micro-batch 5 in stage 2.
"""
import sys


def rank_of_ffbb(rank, ranks, pairs):
    """Returns the ops of a rank: warm-up, steady state, cool-down, all in pairs."""
    warm_up = min(ranks - rank - 1, pairs)
    order = [("F", pair) for pair in range(warm_up)]
    for pair in range(pairs - warm_up):
        order += [("F", warm_up + pair), ("B", pair)]
    order += [("B", pair) for pair in range(pairs - warm_up, pairs)]
    return [f"{rank}{kind}{2 * pair + i}" for kind, pair in order for i in (0, 1)]


def main():
    ranks, micro_batches = int(sys.argv[1]), int(sys.argv[2])
    if micro_batches % 2:
        sys.exit(f"{micro_batches} micro-batches are odd; nearest: {micro_batches + 1}")
    for rank in range(ranks):
        print(",".join(rank_of_ffbb(rank, ranks, micro_batches // 2)))


if __name__ == "__main__":
    main()
