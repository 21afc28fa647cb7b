"""GPT-2's byte-pair encoding, as plainly as it can be said: no regular expressions, no heaps, no
cache. What pipeexec does is held against this."""
import json
import os
import sys
import unicodedata

END_OF_TEXT = "<|endoftext|>"
SUFFIXES = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")
# Unicode's property White_Space.
SPACES = set(map(chr, [*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028,
                       0x2029, 0x202F, 0x205F, 0x3000]))


def letters():
    """byte -> the letter that spells it"""
    plain = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {**{byte: chr(byte) for byte in plain},
            **{byte: chr(256 + i) for i, byte in enumerate(others)}}


def kind(char):
    """What a run of characters is of: space, letter, digit, or other sign."""
    if char in SPACES:
        return "space"
    major = unicodedata.category(char)[0]
    return major if major in "LN" else "other"


def words(text):
    at = 0
    while at < len(text):
        suffix = next((s for s in SUFFIXES if text.startswith(s, at)), None)
        if suffix:
            end = at + len(suffix)
        else:
            end = run_end(text, at)
        yield text[at:end]
        at = end


def run_end(text, at):
    start = at
    if text[at] == " " and at + 1 < len(text) and kind(text[at + 1]) != "space":
        start = at + 1  # the one space before a run is part of it
    end = start
    while end < len(text) and kind(text[end]) == kind(text[start]):
        end += 1
    if kind(text[start]) == "space" and end < len(text) and end - start > 1:
        end -= 1  # the last space belongs to what follows
    return end


def merge(parts, left, right):
    done, i = [], 0
    while i < len(parts):
        if parts[i:i + 2] == [left, right]:
            done.append(left + right)
            i += 2
        else:
            done.append(parts[i])
            i += 1
    return done


class Tokenizer:
    def __init__(self, ids, merges):
        self.ids = ids
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.letters = letters()

    def word(self, text):
        parts = [self.letters[byte] for byte in text.encode()]
        while True:
            ranks = [(self.ranks[pair], pair) for pair in zip(parts, parts[1:]) if pair in self.ranks]
            if not ranks:
                return [self.ids[part] for part in parts]
            parts = merge(parts, *min(ranks)[1])

    def encode(self, text):
        tokens = []
        for i, document in enumerate(text.split(END_OF_TEXT) if END_OF_TEXT in self.ids else [text]):
            tokens += [self.ids[END_OF_TEXT]] if i else []
            for word in words(document):
                tokens += self.word(word)
        return tokens


NAMES = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))


def load(folder):
    vocab, merges = next(pair for pair in NAMES if os.path.exists(os.path.join(folder, pair[0])))
    with open(os.path.join(folder, vocab), encoding="utf-8") as file:
        ids = json.load(file)
    with open(os.path.join(folder, merges), encoding="utf-8") as file:
        lines = file.read().split("\n")[1:-1]
    return Tokenizer(ids, [tuple(line.split(" ")) for line in lines])


if __name__ == "__main__":
    print(*load(sys.argv[1]).encode(sys.stdin.buffer.read().decode()), sep="\n")
