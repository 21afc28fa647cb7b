#!/usr/bin/env python3
"""Holds one token of GPT-2 124M on one core against transformers and PyTorch, with random weights.

Rounds of both take turns, so that they meet the same machine. Times are CPU times: of pipeexec's
kernels those of bench/decode.c, of PyTorch those of a forward of one token with a cache, on one
thread. The best round counts. The context of a PyTorch token grows up to the one that is named.

With PIPEEXEC, `pipeexec generate` makes tokens of one sequence, too. Its figure has the whole
program between two tokens, and `outside` is what it does outside of ops.

usage: decode.py BENCH_DECODE [ROUNDS [PIPEEXEC]]
Exit: 0, or 77 if torch or transformers is missing.
"""
import json, os, subprocess, sys, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle

oracle.begin("torch", "transformers")
import torch, transformers

torch.set_num_threads(1)
torch.set_grad_enabled(False)

TOKENS, BATCHES, CONTEXTS = 6, (1, 2, 4, 8), (256, 1024)
TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def own_ms(bench, kind, context):
    """Returns {batch: milliseconds of a token}."""
    text = subprocess.run([bench, kind, str(context)], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in text.splitlines() if " gemm_few " in line]
    return {int(row[2]): float(row[4]) for row in rows}


def print_whole(pipeexec, kind, context):
    """Runs generation up to the context; a byte of a prompt is a token."""
    text = subprocess.run([pipeexec, "generate", "--model", "gpt2", "--precision", kind, "--batch", "1",
                           "--tokens", str(2 * TOKENS), "--prompt", "x" * (context - 2 * TOKENS),
                           "--json"], check=True, capture_output=True, text=True).stdout
    run = json.loads(text)
    print(f"{kind:5} {context:7} {1:5} {1e3 * run['token_s']:7.2f} ms  pipeexec generate, "
          f"{100 * run['machinery_frac']:.2f} % outside", flush=True)


def torch_ms(model, batch, context):
    """Returns the milliseconds of the fastest of the last tokens up to the context."""
    vocab = model.config.vocab_size
    ids = torch.randint(vocab, (batch, context - TOKENS))
    out = model(ids, use_cache=True, logits_to_keep=1)
    best = float("inf")
    for _ in range(TOKENS):
        begin = time.process_time()
        out = model(torch.randint(vocab, (batch, 1)), past_key_values=out.past_key_values, use_cache=True)
        best = min(best, time.process_time() - begin)
    return 1e3 * best


def main():
    bench, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    pipeexec = sys.argv[3] if len(sys.argv) > 3 else None
    torch.manual_seed(1)
    models = {kind: transformers.GPT2LMHeadModel(transformers.GPT2Config()).eval().to(dtype)
              for kind, dtype in TYPES.items()}
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, one thread\n"
          "type  context batch      token    PyTorch    ratio")
    for kind, model in models.items():
        for context in CONTEXTS:
            own, other = {}, {}
            for _ in range(rounds):
                for batch, ms in own_ms(bench, kind, context).items():
                    own[batch] = min(ms, own.get(batch, ms))
                for batch in BATCHES:
                    ms = torch_ms(model, batch, context)
                    other[batch] = min(ms, other.get(batch, ms))
            for batch in BATCHES:
                print(f"{kind:5} {context:7} {batch:5} {own[batch]:7.2f} ms {other[batch]:7.2f} ms "
                      f"{other[batch] / own[batch]:7.2f}", flush=True)
        if pipeexec:
            print_whole(pipeexec, kind, CONTEXTS[0])


main()
