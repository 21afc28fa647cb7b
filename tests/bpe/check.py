#!/usr/bin/env python3
"""Tokens of pipeexec against those of gpt2.py, on texts that are written and on texts that are
drawn, from all forms of a tokenizer: check.py ENCODE FOLDER TEXT...

With GPT-2's own files in the folder $PIPESIM_GPT2 these are held against what is known of it."""
import json
import os
import random
import subprocess
import sys
import tempfile
import unicodedata

import gpt2

WRITTEN = [
    "", " ", "  ", "\n", "a", " a", "  a", "a  ", "\t\ta\n\nb \n c", "I'm we've they'll don't he's I'd you're",
    "'s 's '' 'S 'twas", "x'sy'tz", " 's", "!'s", "1234 12a34 ²³ ½ Ⅷ ४५", "été Ünïcödé \u0301a\u0301", "\u00a0x\u00a0\u00a0y",
    "\u3000日本語\u3000テスト", "🙂🙂 👩‍👩‍👧 ok", "\u0085a\u2028b\u2029c\x1c\x1d\x1e\x1fd\u180ee\u200bf\ufeff",
    "<|endoftext|>", "a<|endoftext|>b <|endoftext|> c", "<|endoftext", "|>", "<|<|endoftext|>|>", "<|endoftext|><|endoftext|>",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "the" * 100, " the" * 100, "\x00\x01 \x7f", "\U0010ffff\ud7ff\ue000",
]
# GPT-2's, as published with its code and in the documentation of its users.
KNOWN = {
    "Hello world": [15496, 995],
    "Hello, world!": [15496, 11, 995, 0],
    "<|endoftext|>": [50256],
    "The quick brown fox jumps over the lazy dog": [464, 2068, 7586, 21831, 18045, 625, 262, 16931, 3290],
}


def is_old(char):
    """Has a category that no version of Unicode has changed since 3.2, nor will."""
    category = unicodedata.category(char)
    return category not in ("Cn", "Cs") and category == unicodedata.ucd_3_2_0.category(char)


def drawn(rng, old):
    """Runs of all kinds, with what the rule treats specially."""
    pieces = ["'s", "'ll", "'re", "'", " ", "  ", "\n", "\r\n", "\t", gpt2.END_OF_TEXT, "<|", "the", " and", "ing", "1813", "aa"]
    return "".join(rng.choice(pieces) if rng.random() < 0.5 else rng.choice(old) * rng.randint(1, 3)
                   for _ in range(rng.randint(1, 60)))


def encode(program, where, text):
    # "\0" and all else as it is
    done = subprocess.run([program, where], input=text.encode(), capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{where}: {done.stderr.decode()}")
    return [int(line) for line in done.stdout.split()]


def write_forms(folder, other):
    """The same tokenizer as GPT-2 spells it, and in both forms of tokenizer.json."""
    vocab, merges = (open(os.path.join(folder, name), encoding="utf-8").read() for name in ("vocab.json", "merges.txt"))
    ids, lines = json.loads(vocab), merges.split("\n")[1:-1]
    forms = {"old/encoder.json": vocab, "old/vocab.bpe": merges}
    for name, as_listed in (("lines", lines), ("pairs", [line.split(" ") for line in lines])):
        forms[f"{name}/tokenizer.json"] = json.dumps({
            "version": "1.0", "normalizer": None,
            "added_tokens": [{"id": ids[gpt2.END_OF_TEXT], "content": gpt2.END_OF_TEXT, "special": True, "single_word": False,
                              "lstrip": False, "rstrip": False, "normalized": False}],
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "",
                      "end_of_word_suffix": "", "fuse_unk": False, "vocab": ids, "merges": as_listed}})
    for name, text in forms.items():
        path = os.path.join(other, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return [os.path.join(other, name) for name in ("old", "lines", "pairs/tokenizer.json")] + [
        f"{other}/old/encoder.json:{other}/old/vocab.bpe"]


def compare(program, where, oracle, text):
    got, expected = encode(program, where, text), oracle.encode(text)
    if got != expected:
        sys.exit(f"{where}: {text!r}\n got      {got}\n expected {expected}")
    return len(got)


def main(program, folder, *paths):
    oracle, rng, count = gpt2.load(folder), random.Random(7), 0
    old = [chr(code) for code in range(0x110000) if is_old(chr(code))]
    texts = [text.encode("utf-8", "ignore").decode() for text in WRITTEN] + [drawn(rng, old) for _ in range(400)]
    texts += ["".join(drawn(rng, old) for _ in range(3000))]
    texts += [open(path, encoding="utf-8").read()[:30000] for path in paths]
    for text in texts:
        count += compare(program, folder, oracle, text)
    with tempfile.TemporaryDirectory() as other:
        for where in write_forms(folder, other):
            count += compare(program, where, oracle, "".join(texts[:60]))
    print(f"{count} tokens of {len(texts)} texts are the same")
    check_gpt2(program)


def check_gpt2(program):
    folder = os.environ.get("PIPESIM_GPT2")
    if not folder:
        return
    for text, expected in KNOWN.items():
        assert encode(program, folder, text) == expected, text
    print("GPT-2's own tokens are the known ones")


main(*sys.argv[1:])
