#!/usr/bin/env python3
"""Makes tests/data/bpe/vocab.json and merges.txt: the commonest pair of neighbours is merged, again
and again. train.py FOLDER TEXT..."""
import collections
import json
import os
import sys

import gpt2

TOKENS = 1024


def train(text):
    letters = gpt2.letters()
    counts = collections.Counter(gpt2.words(text))
    parts = {word: [letters[byte] for byte in word.encode()] for word in counts}
    merges = []
    while 256 + len(merges) + 1 < TOKENS:
        pairs = collections.Counter()
        for word, count in counts.items():
            for pair in zip(parts[word], parts[word][1:]):
                pairs[pair] += count
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        parts = {word: gpt2.merge(p, *best) for word, p in parts.items()}
    return merges


def main(folder, *paths):
    text = "".join(open(path, encoding="utf-8").read() for path in paths)
    merges = train(text)
    tokens = [*gpt2.letters().values(), *map("".join, merges), gpt2.END_OF_TEXT]
    assert len(set(tokens)) == TOKENS
    with open(os.path.join(folder, "vocab.json"), "w", encoding="utf-8") as file:
        json.dump({token: i for i, token in enumerate(tokens)}, file, ensure_ascii=True)
        file.write("\n")
    with open(os.path.join(folder, "merges.txt"), "w", encoding="utf-8") as file:
        print("#version: 0.2", *(f"{left} {right}" for left, right in merges), sep="\n", file=file)


main(*sys.argv[1:])
