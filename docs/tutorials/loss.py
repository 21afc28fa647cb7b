#!/usr/bin/env python3
"""Loads a model with transformers, and prints its mean loss on the first samples of a text of bytes.

usage: loss.py DIR FILE SEQ SAMPLES
"""
import sys
import torch, transformers

folder, text, seq, samples = sys.argv[1], open(sys.argv[2], "rb").read(), *map(int, sys.argv[3:5])
model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
ids = torch.tensor([list(text[i * seq : (i + 1) * seq + 1]) for i in range(samples)])
with torch.no_grad():
    logits = model(ids[:, :-1]).logits
print(f"{type(model).__name__}: loss {torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()):.4f}")
