#!/usr/bin/env python3
"""Holds pipeexec against transformers and PyTorch on models of the hub.

For each family a small random model is made, and trained by both on the same tokens. Printed are the
relative error of the loss, and of gradients and weights (L2, of the worst tensor) after 1 and 10 steps
of AdamW. PyTorch computes in double precision, with the sines of rotary positions in single precision,
as transformers does, and the router of Mixtral in double precision. Also loaded: weights that pipeexec has written, and its loss with those.

Left out of weights: biases of keys, unless all is in double precision (GPT-2). A softmax does not depend
on them, so their gradients are rounding errors, which AdamW scales to whole steps. Rows of a table of
positions beyond the sample are left out, too: PyTorch decays them, pipeexec keeps them.

usage: hub.py PIPEEXEC [--short]
Exit: 0 all within the bounds, 1 one is not, 77 numpy, torch, transformers or safetensors is missing.
"""
import json, math, os, struct, subprocess, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle

oracle.begin("numpy", "torch", "transformers", "safetensors")
import numpy, torch, transformers
from safetensors.torch import load_file

VOCAB, SEQ, HIDDEN, LR, STEPS = 97, 32, 32, 1e-4, 10
LOSS_BOUND, GRADIENT_BOUND, WEIGHT_BOUND = 1e-6, 1e-5, 1e-5
LLAMA_LIKE = dict(vocab_size=VOCAB, hidden_size=HIDDEN, intermediate_size=56, num_hidden_layers=4,
                  num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64,
                  rms_norm_eps=1e-4)
NEOX_LIKE = dict(vocab_size=VOCAB, hidden_size=HIDDEN, intermediate_size=56, num_hidden_layers=4,
                 num_attention_heads=2, max_position_embeddings=64, hidden_dropout=0.0,
                 attention_dropout=0.0, layer_norm_eps=1e-4)
FAMILIES = {
    "gpt2": (transformers.GPT2LMHeadModel, transformers.GPT2Config,
             dict(vocab_size=VOCAB, n_positions=40, n_embd=HIDDEN, n_layer=4, n_head=4, resid_pdrop=0.0,
                  embd_pdrop=0.0, attn_pdrop=0.0, layer_norm_epsilon=1e-4)),
    "llama": (transformers.LlamaForCausalLM, transformers.LlamaConfig,
              dict(LLAMA_LIKE, rope_theta=500.0)),
    "mistral": (transformers.MistralForCausalLM, transformers.MistralConfig,
                dict(LLAMA_LIKE, head_dim=16, sliding_window=64)),
    "mistral-window": (transformers.MistralForCausalLM, transformers.MistralConfig,
                       dict(LLAMA_LIKE, head_dim=16, sliding_window=9)),
    "qwen2-window": (transformers.Qwen2ForCausalLM, transformers.Qwen2Config,
                     dict(LLAMA_LIKE, use_sliding_window=True, sliding_window=5,
                          max_window_layers=2)),
    "qwen2": (transformers.Qwen2ForCausalLM, transformers.Qwen2Config,
              dict(LLAMA_LIKE, rope_theta=1e6)),
    "llama-linear": (transformers.LlamaForCausalLM, transformers.LlamaConfig,
                     dict(LLAMA_LIKE, rope_parameters=dict(rope_type="linear", rope_theta=1e4,
                                                           factor=4.0))),
    "llama-llama3": (transformers.LlamaForCausalLM, transformers.LlamaConfig,
                     dict(LLAMA_LIKE, rope_parameters=dict(
                         rope_type="llama3", rope_theta=1e4, factor=8.0, low_freq_factor=1.0,
                         high_freq_factor=4.0, original_max_position_embeddings=16))),
    "qwen3": (transformers.Qwen3ForCausalLM, transformers.Qwen3Config,
              dict(LLAMA_LIKE, head_dim=16)),
    "mixtral": (transformers.MixtralForCausalLM, transformers.MixtralConfig,
                dict(LLAMA_LIKE, num_local_experts=4, num_experts_per_tok=2)),
    "qwen3_moe": (transformers.Qwen3MoeForCausalLM, transformers.Qwen3MoeConfig,
                  dict(LLAMA_LIKE, head_dim=16, num_experts=6, num_experts_per_tok=3,
                       moe_intermediate_size=24, norm_topk_prob=True)),
    "qwen3_moe-plain": (transformers.Qwen3MoeForCausalLM, transformers.Qwen3MoeConfig,
                        dict(LLAMA_LIKE, head_dim=16, num_experts=6, num_experts_per_tok=3,
                             moe_intermediate_size=24, decoder_sparse_step=2)),
    "qwen3_moe-listed": (transformers.Qwen3MoeForCausalLM, transformers.Qwen3MoeConfig,
                         dict(LLAMA_LIKE, head_dim=16, num_experts=6, num_experts_per_tok=3,
                              moe_intermediate_size=24, norm_topk_prob=True, mlp_only_layers=[1, 2])),
    "mixtral-balance": (transformers.MixtralForCausalLM, transformers.MixtralConfig,
                        dict(LLAMA_LIKE, num_local_experts=4, num_experts_per_tok=2,
                             output_router_logits=True, router_aux_loss_coef=0.1)),
    "qwen3_moe-balance": (transformers.Qwen3MoeForCausalLM, transformers.Qwen3MoeConfig,
                          dict(LLAMA_LIKE, head_dim=16, num_experts=6, num_experts_per_tok=3,
                               moe_intermediate_size=24, norm_topk_prob=False, decoder_sparse_step=2,
                               output_router_logits=True, router_aux_loss_coef=0.5)),
    "gemma": (transformers.GemmaForCausalLM, transformers.GemmaConfig,
              dict(LLAMA_LIKE, head_dim=16)),
    "gpt_neox": (transformers.GPTNeoXForCausalLM, transformers.GPTNeoXConfig,
                 dict(NEOX_LIKE, use_parallel_residual=True)),
    "gpt_neox-serial": (transformers.GPTNeoXForCausalLM, transformers.GPTNeoXConfig,
                        dict(NEOX_LIKE, use_parallel_residual=False)),
    "bert": (transformers.BertForMaskedLM, transformers.BertConfig,
             dict(vocab_size=VOCAB, hidden_size=HIDDEN, intermediate_size=56, num_hidden_layers=4,
                  num_attention_heads=4, max_position_embeddings=40, hidden_dropout_prob=0.0,
                  attention_probs_dropout_prob=0.0, layer_norm_eps=1e-4, pad_token_id=None)),
    "opt": (transformers.OPTForCausalLM, transformers.OPTConfig,
            dict(vocab_size=VOCAB, hidden_size=HIDDEN, word_embed_proj_dim=HIDDEN, ffn_dim=56,
                 num_hidden_layers=4, num_attention_heads=4, max_position_embeddings=40,
                 dropout=0.0, attention_dropout=0.0, layerdrop=0.0)),
}
RUNS = [  # options of pipeexec
    "--schedule 1f1b --np 2",
    "--schedule zbv --np 2 --precision double",
    "--schedule chimera --np 4 --check",
    "--schedule interleaved-1f1b --np 2 --vp 2 --dp 2 --zero 1 --transport tcp",
]


def make(family, tied, folder, dtype, shard):
    """Saves a random model whose norms and biases are not those of a new one."""
    model_class, config_class, settings = FAMILIES[family]
    torch.manual_seed(7)
    model = model_class(config_class(**settings, tie_word_embeddings=tied))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    model.to(dtype).save_pretrained(folder, max_shard_size=shard)


def route(self, hidden):
    """Mixtral's router in the precision of its weights; theirs is in single precision."""
    logits = torch.nn.functional.linear(hidden.reshape(-1, self.hidden_dim), self.weight)
    weights, chosen = torch.topk(torch.softmax(logits, -1), self.top_k, dim=-1)
    return logits, weights / weights.sum(-1, keepdim=True), chosen


transformers.models.mixtral.modeling_mixtral.MixtralTopKRouter.forward = route


def load(family, folder):
    model_class, _, settings = FAMILIES[family]
    plain = {"experts_implementation": "eager"} if "num_experts_per_tok" in settings else {}
    model = model_class.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager",
                                        **plain)
    return model.to(torch.float64).train()


def write_tokens(path):
    """One sample, so that every place of a step has it, as llm.c writes tokens."""
    generator = torch.Generator().manual_seed(3)
    tokens = torch.randint(0, VOCAB, (SEQ + 1,), generator=generator).tolist()
    with open(path, "wb") as file:
        file.write(struct.pack("<256i", 20240520, 1, len(tokens), *[0] * 253))
        file.write(struct.pack(f"<{len(tokens)}H", *tokens))
    return torch.tensor([tokens])


MASK64 = (1 << 64) - 1


def mix(x):
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9 & MASK64
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb & MASK64
    return x ^ (x >> 31)


def masked(tokens, step, samples):
    """The samples of a step with hidden words, and targets, as exec/data/masked.h draws them."""
    stream = lambda seed, name: mix(seed ^ mix(name + 1))
    ids, targets = [], []
    for index in range(samples):
        own = stream(stream(mix(0x6d61736b), step), index)
        below = lambda counter, count: (mix(own + (counter + 1) * 0x9e3779b97f4a7c15 & MASK64) >> 32) * count >> 32
        left, row, wanted = max(1, round(0.15 * SEQ)), tokens[0, :-1].tolist(), [-100] * SEQ
        for t in range(SEQ):
            if below(3 * t, SEQ - t) < left:
                wanted[t], percent, left = row[t], below(3 * t + 1, 100), left - 1
                row[t] = VOCAB - 1 if percent < 80 else below(3 * t + 2, VOCAB) if percent < 90 else row[t]
        ids.append(row)
        targets.append(wanted)
    return torch.tensor(ids), torch.tensor(targets)


def loss_of(model, tokens, step=0, samples=8):
    if model.config.model_type == "bert":
        ids, targets = masked(tokens, step, samples)
        return model(input_ids=ids, labels=targets).loss
    out = model(input_ids=tokens[:, :-1])
    loss = torch.nn.functional.cross_entropy(out.logits[0], tokens[0, 1:])
    if getattr(model.config, "output_router_logits", False):
        loss += model.config.router_aux_loss_coef * out.aux_loss
    return loss


def train(model, tokens, steps, samples):
    """Returns losses, gradients of the first step, weights after each step."""
    decays = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    optimizer = torch.optim.AdamW([dict(params=decays, weight_decay=0.1),
                                   dict(params=others, weight_decay=0.0)],
                                  betas=(0.9, 0.95), eps=1e-8)
    losses, gradients, weights = [], {}, []
    for step in range(steps):
        done = step / (steps - 1) if steps > 1 else 0
        for group in optimizer.param_groups:
            group["lr"] = LR / 10 + (LR - LR / 10) * 0.5 * (1 + math.cos(math.pi * done))
        optimizer.zero_grad()
        loss = loss_of(model, tokens, step, samples)
        loss.backward()
        if step == 0:
            gradients = {n: p.grad.clone() for n, p in model.named_parameters()}
        optimizer.step()
        losses.append(loss.item())
        weights.append({n: p.detach().clone() for n, p in model.named_parameters()})
    return losses, gradients, weights


def by_head(tensor, heads=NEOX_LIKE["num_attention_heads"]):
    """Query, key and value of each head in turn, as all queries, all keys, all values."""
    rest = tensor.shape[1:]
    return tensor.reshape(heads, 3, -1, *rest).transpose(0, 1).reshape(-1, *rest)


# Parts of a block: our name, theirs, how ours is made of it.
BLOCKS = {
    "transformer.h": [
        ("norm1", ["ln_1"], None), ("qkv", ["attn.c_attn"], "T"), ("out", ["attn.c_proj"], "T"),
        ("norm2", ["ln_2"], None), ("up", ["mlp.c_fc"], "T"), ("down", ["mlp.c_proj"], "T")],
    "model.layers": [
        ("norm1", ["input_layernorm"], None),
        ("qkv", ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"], None),
        ("q_norm", ["self_attn.q_norm"], None), ("k_norm", ["self_attn.k_norm"], None),
        ("out", ["self_attn.o_proj"], None), ("norm2", ["post_attention_layernorm"], None),
        ("up", ["mlp.gate_proj", "mlp.up_proj"], None), ("down", ["mlp.down_proj"], None),
        ("router", ["mlp.gate"], None)],
    "gpt_neox.layers": [
        ("norm1", ["input_layernorm"], None), ("qkv", ["attention.query_key_value"], "heads"),
        ("out", ["attention.dense"], None), ("norm2", ["post_attention_layernorm"], None),
        ("up", ["mlp.dense_h_to_4h"], None), ("down", ["mlp.dense_4h_to_h"], None)],
    "model.decoder.layers": [
        ("norm1", ["self_attn_layer_norm"], None),
        ("qkv", ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"], None),
        ("out", ["self_attn.out_proj"], None), ("norm2", ["final_layer_norm"], None),
        ("up", ["fc1"], None), ("down", ["fc2"], None)],
    "bert.encoder.layer": [
        ("qkv", ["attention.self.query", "attention.self.key", "attention.self.value"], None),
        ("out", ["attention.output.dense"], None), ("norm1", ["attention.output.LayerNorm"], None),
        ("up", ["intermediate.dense"], None), ("down", ["output.dense"], None),
        ("norm2", ["output.LayerNorm"], None)],
}
ENDS = {  # tensors outside of blocks: ours, the first of theirs that is there
    "embedding.weight": ["transformer.wte", "model.embed_tokens", "gpt_neox.embed_in",
                         "model.decoder.embed_tokens", "bert.embeddings.word_embeddings"],
    "positions.weight": ["transformer.wpe", "model.decoder.embed_positions",
                         "bert.embeddings.position_embeddings"],
    "types.weight": ["bert.embeddings.token_type_embeddings"],
    "embedding_norm.weight": ["bert.embeddings.LayerNorm"],
    "dense.weight": ["cls.predictions.transform.dense"],
    "norm.weight": ["transformer.ln_f", "model.norm", "gpt_neox.final_layer_norm",
                    "model.decoder.final_layer_norm", "cls.predictions.transform.LayerNorm"],
    "head.weight": ["lm_head", "embed_out", "cls.predictions.decoder", "cls.predictions"],
}


def ours_of(family, tensors, layers, norm_offset=0.0):
    """Tensors of the hub as pipeexec arranges them: (layer, name) -> values."""
    blocks = next(b for b in BLOCKS if any(n.startswith(b + ".0.") for n in tensors))
    offset = norm_offset if family == "gemma" else 0.0
    out = {}
    for i in range(layers):
        for ours, theirs, order in BLOCKS[blocks]:
            for end in ("weight", "bias"):
                names = [f"{blocks}.{i}.{name}.{end}" for name in theirs]
                if names[0] not in tensors:
                    continue
                value = torch.cat([tensors[name] for name in names])
                if order == "T" and end == "weight":
                    value = value.T
                elif order == "heads":
                    value = by_head(value)
                out[i + 1, f"{ours}.{end}"] = value + offset if ours.startswith("norm") else value
        for ours, theirs in (("up", "gate_up_proj"), ("down", "down_proj")):
            if f"{blocks}.{i}.mlp.experts.{theirs}" in tensors:  # [expert][out][in], without an end
                out[i + 1, f"experts.{ours}.weight"] = tensors[f"{blocks}.{i}.mlp.experts.{theirs}"]
    for ours, theirs in ENDS.items():
        for name in theirs:
            for end in ("weight", "bias"):
                key = f"{ours.split('.')[0]}.{end}"
                layer = 0 if ours[0] in "ept" else layers + 1
                if f"{name}.{end}" in tensors and (layer, key) not in out:
                    out[layer, key] = tensors[f"{name}.{end}"]
    if (0, "positions.weight") in out:
        rows = SEQ + (2 if family == "opt" else 0)
        out[0, "positions.weight"] = out[0, "positions.weight"][:rows]
    out[layers + 1, "norm.weight"] = out[layers + 1, "norm.weight"] + offset
    return {key: value.reshape(-1) for key, value in out.items()}


def read_checkpoint(folder):
    """Weights and gradients of a checkpoint after one step: the first moment is (1 - beta1) g."""
    step = os.path.join(folder, sorted(os.listdir(folder))[-1])
    weights, gradients, layer, at, data = {}, {}, 0, 0, None
    kind = numpy.float32
    for line in open(os.path.join(step, "manifest")):
        words = line.split()
        if words[0] == "precision_bits":
            kind = numpy.float64 if words[1] == "64" else numpy.float32
        elif words[0] == "layer":
            layer, at = int(words[1]), 0
            data = numpy.fromfile(os.path.join(step, f"layer-{layer:05d}.bin"), kind)
        elif words[0] == "tensor":
            count = int(words[2])
            weights[layer, words[1]] = torch.tensor(data[at:at + count], dtype=torch.float64)
            gradients[layer, words[1]] = torch.tensor(data[at + count:at + 2 * count],
                                                      dtype=torch.float64) / (1 - 0.9)
            at += 3 * count
    return weights, gradients


def without_key_bias(ours, family, options):
    if family == "gpt2" and "double" in options:
        return ours
    out = dict(ours)
    for key in ours:
        if key[1] == "qkv.bias":  # queries, keys, values; there may be fewer keys than queries
            keys = (ours[key].numel() - HIDDEN) // 2
            out[key] = torch.cat([ours[key][:HIDDEN], ours[key][HIDDEN + keys:]])
    return out


def worst(ours, theirs):
    """Largest relative difference of a tensor; one below a thousandth of all counts as that."""
    assert ours.keys() == theirs.keys(), set(ours) ^ set(theirs)
    total = math.sqrt(sum(t.double().square().sum().item() for t in theirs.values()))
    return max((ours[k].double() - theirs[k].double()).norm().item() /
               max(theirs[k].double().norm().item(), total / 1000) for k in theirs)


class Bench:
    def __init__(self, pipeexec, folder):
        self.pipeexec, self.folder, self.failed = pipeexec, folder, 0
        self.tokens_file = os.path.join(folder, "tokens.bin")
        self.tokens = write_tokens(self.tokens_file)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, model, options, steps, *more, lr=LR):
        command = [self.pipeexec, "--model", model, *options.split(), "--data", self.tokens_file,
                   "--tokens", "u16", "--seq", str(SEQ), "--mbs", "1", "--steps", str(steps),
                   "--lr", str(lr), "--json", *more]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"FAILED ({done.returncode}): {' '.join(command)}\n{done.stderr}")
            self.failed += 1
            return None
        return json.loads(done.stdout)

    def check(self, what, error, bound):
        is_good = error <= bound
        self.failed += not is_good
        return f"{what} {error:.1e}" + ("" if is_good else f" > {bound:g} FAILED")

    def compare(self, name, family, options):
        layers, samples = 4, 16 if "--dp 2" in options else 8
        losses, gradients, weights = train(load(family, self.path(name)), self.tokens, STEPS,
                                           samples)
        row, tag = [], str(len(os.listdir(self.folder)))
        model = self.path(name)
        one = self.run(model, options, 1, "--checkpoint", self.path("ck" + tag), "--save",
                       self.path("one" + tag))
        ten = self.run(model, options, STEPS, "--save", self.path("ten" + tag))
        if not one or not ten:
            return
        first, _, after_one = train(load(family, model), self.tokens, 1, samples)
        row.append(self.check("loss", max(abs(a / b - 1) for a, b in zip(ten["losses"], losses)),
                              LOSS_BOUND))
        ours, grads = read_checkpoint(self.path("ck" + tag))
        row.append(self.check("gradients", worst(grads, ours_of(family, gradients, layers)),
                              GRADIENT_BOUND))
        saved = {n: p.detach() for n, p in
                 load(family, self.path("ten" + tag)).named_parameters()}
        for what, mine, theirs in (("1 step", ours, after_one[0]),
                                   ("10 steps", ours_of(family, saved, layers, 1.0), weights[-1])):
            row.append(self.check(what, worst(without_key_bias(mine, family, options), without_key_bias(
                ours_of(family, theirs, layers, 1.0), family, options)), WEIGHT_BOUND))
        exported = loss_of(load(family, self.path("ten" + tag)), self.tokens, 0, samples).item()
        again = self.run(self.path("ten" + tag), options, 1)
        row.append(self.check("reloaded", abs(again["losses"][0] / exported - 1) if again else 1,
                              LOSS_BOUND))
        print(f"{name:20} {options:75} {', '.join(row)}", flush=True)

    def preset(self, name, family, widths):
        """A new model of a preset, as pipeexec writes it: its numbers are those of the preset."""
        folder = self.path("preset-" + name)
        report = self.run(name, f"{RUNS[0]} --layers 2 --hidden 32 --heads 4 --vocab {VOCAB} {widths}", 1,
                          "--save", folder, lr=0)
        if report:
            loss = loss_of(load(family, folder).eval(), self.tokens).item()
            print(f"{name:20} {RUNS[0]:75} " +
                  self.check("loss", abs(report["losses"][0] / loss - 1), LOSS_BOUND), flush=True)


PRESETS = [("llama2-7b", "llama", "--ffn 56"), ("llama3-8b", "llama", "--ffn 56 --kv-heads 2"),
           ("llama3.2-1b", "llama", "--ffn 56 --kv-heads 2"), ("mistral-7b", "mistral", "--ffn 56 --kv-heads 2"),
           ("mixtral-8x7b", "mixtral", "--moe-ffn 24 --kv-heads 2"), ("qwen2.5-7b", "qwen2", "--ffn 56 --kv-heads 2"),
           ("qwen3-0.6b", "qwen3", "--ffn 56 --kv-heads 2"),
           ("qwen3-30b-a3b", "qwen3_moe", "--moe-ffn 24 --kv-heads 2"),
           ("gemma-2b", "gemma", "--ffn 56"), ("gpt2", "gpt2", ""), ("gpt-neox-20b", "gpt_neox", "--ffn 56")]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    is_short = "--short" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(sys.argv[1], folder)
        for family in FAMILIES:
            ends = (True,) if family in ("bert", "opt") else (False,) if family.split("-")[-1] in ("balance", "listed") else (False, True)
            for tied in ends:
                name = family + ("-tied" if tied else "")
                make(family, tied, bench.path(name), torch.float32, "50KB" if tied else "5GB")
                for options in RUNS[:2] if is_short else RUNS:
                    bench.compare(name, family, options)
        for dtype in (torch.bfloat16, torch.float16):
            name = "llama-" + str(dtype).split(".")[-1]
            make("llama", False, bench.path(name), dtype, "5GB")
            report = bench.run(bench.path(name), RUNS[0], 1, "--save", bench.path(name + "-saved"),
                               lr=0)
            loss = loss_of(load("llama", bench.path(name)), bench.tokens).item()
            a, b = (load_file(bench.path(f) + "/model.safetensors") for f in (name, name + "-saved"))
            same = all(torch.equal(a[k], b[k]) for k in a) and a.keys() == b.keys()
            bench.failed += not same
            print(f"{name:20} {RUNS[0]:75} " +
                  bench.check("loss", abs(report["losses"][0] / loss - 1), LOSS_BOUND) +
                  (", written as read" if same else ", written otherwise FAILED"))
        for preset in PRESETS:
            bench.preset(*preset)
    print("all within the bounds" if bench.failed == 0 else f"{bench.failed} FAILED")
    sys.exit(bench.failed > 0)


if __name__ == "__main__":
    main()
