#!/usr/bin/env python3
"""GPT-2 as pipeexec has it, in PyTorch: held against a step of pipeexec, and beside its speed.

  torch_gpt2.py check CHECKPOINT REPORT TOKENS [DEVICE]
  torch_gpt2.py speed DEVICE LAYERS HIDDEN HEADS VOCAB SEQ BATCH MICRO_BATCHES STEPS compiled|eager

check: CHECKPOINT is one of pipeexec after its first step with --lr 0 and --weight-decay 0, so its
weights are those of the start and its first moments the gradients times 1 - BETA1; REPORT is the JSON
of that run; TOKENS a shard of 16-bit tokens that holds one sample. In single precision, no TF32. On a GPU
also how far PyTorch's gradients with autocast to bf16 are from these (autocast_rel_l2).
No dropout, no weights shared but embedding and head, GELU in its form of tanh, epsilon 1e-5: as pipeexec.
speed: forward, backward and fused AdamW, autocast to bf16 with masters in single precision, flash
attention where PyTorch has it; the gradients of a step are those of some micro-batches of BATCH samples.
Both print one JSON object. Needs torch 1.13 or later."""
import json
import os
import statistics
import sys
import time

import torch
import torch.nn.functional as F

BETA1 = 0.9  # of pipeexec
SHARD_HEADER_BYTES = 1024


class Block(torch.nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = torch.nn.LayerNorm(hidden)
        self.qkv = torch.nn.Linear(hidden, 3 * hidden)
        self.out = torch.nn.Linear(hidden, hidden)
        self.norm2 = torch.nn.LayerNorm(hidden)
        self.up = torch.nn.Linear(hidden, 4 * hidden)
        self.down = torch.nn.Linear(4 * hidden, hidden)

    def attention(self, x):
        batch, seq, hidden = x.shape
        q, k, v = (t.view(batch, seq, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = q @ k.transpose(2, 3) / (hidden // self.heads) ** 0.5
            later = torch.ones(seq, seq, dtype=torch.bool, device=x.device).triu(1)
            y = scores.masked_fill(later, -float("inf")).softmax(-1) @ v
        return self.out(y.transpose(1, 2).reshape(batch, seq, hidden))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class GPT2(torch.nn.Module):
    def __init__(self, layers, hidden, heads, vocab, seq):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocab, hidden)
        self.positions = torch.nn.Embedding(seq, hidden)
        self.blocks = torch.nn.ModuleList(Block(hidden, heads) for _ in range(layers))
        self.norm = torch.nn.LayerNorm(hidden)
        self.head = self.loss

    def compile(self):
        """Block by block: one block's code serves all, in seconds where the whole model takes minutes."""
        for block in self.blocks:
            block.compile()
        self.head = torch.compile(self.loss)

    def loss(self, x, targets):
        logits = F.linear(self.norm(x), self.embedding.weight)
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())

    def forward(self, ids, targets):
        x = self.embedding(ids) + self.positions.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(x, targets)


def read_manifest(folder):
    """Dimensions, and the tensors (name, elements) of each layer."""
    dimensions, layers = {}, []
    with open(os.path.join(folder, "manifest")) as lines:
        for line in lines:
            word = line.split()
            if word[0] == "layer":
                layers.append([])
            elif word[0] == "tensor":
                layers[-1].append((word[1], int(word[2])))
            elif not layers and len(word) == 2 and word[1].isdigit():
                dimensions.setdefault(word[0], int(word[1]))
    return dimensions, layers


def read_state(folder, layers):
    """For each tensor: its name in GPT2, weights and gradients."""
    for number, tensors in enumerate(layers):
        with open(os.path.join(folder, "layer-%05d.bin" % number), "rb") as file:
            numbers = torch.frombuffer(bytearray(file.read()), dtype=torch.float32)
        place = 0
        for name, count in tensors:
            is_block = 0 < number < len(layers) - 1
            weights, moment = numbers[place : place + count], numbers[place + count : place + 2 * count]
            yield "blocks.%d.%s" % (number - 1, name) if is_block else name, weights, moment / (1 - BETA1)
            place += 3 * count


def difference(x, y):
    """L2 norm of the difference, over that of y."""
    return float((x - y).norm() / y.norm().clamp_min(1e-30))


def gradients_of(model, ids, device, is_autocast):
    """The loss, and all gradients as one vector for each parameter."""
    model.zero_grad()
    with torch.autocast("cuda" if device != "cpu" else "cpu", dtype=torch.bfloat16, enabled=is_autocast):
        loss = model(ids[:, :-1], ids[:, 1:])
    loss.backward()
    return loss.item(), {name: p.grad.cpu().flatten() for name, p in model.named_parameters()}


def check(folder, report, tokens, device="cuda"):
    dimensions, layers = read_manifest(folder)
    ids = torch.frombuffer(bytearray(open(tokens, "rb").read()[SHARD_HEADER_BYTES:]), dtype=torch.int16)
    ids = (ids.long() & 0xFFFF).to(device)[None]
    model = GPT2(dimensions["layers"], dimensions["hidden"], dimensions["heads"], dimensions["vocab"],
                 dimensions["positions"])
    parameters = dict(model.named_parameters())
    gradients = {}
    for name, weights, gradient in read_state(folder, layers):
        parameters[name].data.copy_(weights.view_as(parameters[name]))
        gradients[name] = gradient
    assert gradients.keys() == parameters.keys(), "tensors of another model"
    model.to(device)
    loss, expected = gradients_of(model, ids, device, False)
    own = json.load(open(report))["losses"][0]
    by_tensor = {name: difference(gradients[name], expected[name]) for name in expected}
    worst = max(by_tensor, key=by_tensor.get)
    everything = torch.cat(list(expected.values()))
    row = {"torch": torch.__version__, "loss": loss, "pipeexec_loss": own, "loss_error_frac": own / loss - 1,
           "gradients_rel_l2": difference(torch.cat([gradients[name] for name in expected]), everything),
           "worst_rel_l2": by_tensor[worst], "worst": worst, "tensors": len(by_tensor)}
    if device != "cpu":
        autocast = gradients_of(model, ids, device, True)[1]
        row["autocast_rel_l2"] = difference(torch.cat(list(autocast.values())), everything)
    return row


def attention_of(call):
    """Which of PyTorch's implementations of attention a call used: cudnn, flash, efficient or math."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        call()
    calls = [e.key for e in profile.key_averages() if e.key.startswith("aten::_scaled_dot_product_")]
    return "+".join(way for way in ("cudnn", "flash", "efficient", "math") if any(way in c for c in calls)) or "none"


def speed(device, layers, hidden, heads, vocab, seq, batch, micro_batches, steps, way):
    torch.set_float32_matmul_precision("high")
    model = GPT2(layers, hidden, heads, vocab, seq).to(device)
    is_gpu = device != "cpu"
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **({"fused": True} if is_gpu else {}))
    if is_gpu and way == "compiled":
        model.compile()
    ids = torch.randint(vocab, (batch, seq + 1), device=device)
    times_s = []

    def micro_batch():
        with torch.autocast("cuda" if is_gpu else "cpu", dtype=torch.bfloat16):
            return model(ids[:, :-1], ids[:, 1:]) / micro_batches

    for step in range(3 + steps):
        start = time.perf_counter()
        for _ in range(micro_batches):
            loss = micro_batch()
            loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        last = loss.item()  # waits for the device
        times_s.append(time.perf_counter() - start)
    step_s = statistics.median(times_s[3:])
    attention = attention_of(lambda: micro_batch().backward())
    nccl = torch.cuda.nccl.version() if is_gpu and torch.distributed.is_nccl_available() else None
    return {"torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version(),
            "nccl": ".".join(map(str, nccl)) if nccl else None, "attention": attention,
            "way": way, "layers": layers, "hidden": hidden, "batch": batch, "seq": seq,
            "micro_batches": micro_batches, "step_s": step_s,
            "tokens_per_s": batch * micro_batches * seq / step_s, "loss": last * micro_batches}


def main(arguments):
    if len(arguments) in (4, 5) and arguments[0] == "check":
        print(json.dumps(check(*arguments[1:])))
    elif len(arguments) == 11 and arguments[0] == "speed" and arguments[10] in ("compiled", "eager"):
        print(json.dumps(speed(arguments[1], *map(int, arguments[2:10]), arguments[10])))
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
