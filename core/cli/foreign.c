/* Options of trainers that are no option here, and what to give instead: of Megatron-LM,
 * transformers, DeepSpeed, torchtitan and torchrun. Those that mean the same as one of ours are its
 * other names, in the tables of options. */
#include "core/cli/table.h"

#include <string.h>

static const struct {
    const char *theirs;
    const char *option, *value; /* ours; NULL = nothing, and a flag has no value */
    const char *note;           /* NULL = none */
} ROWS[] = {
    {"account-for-embedding-in-pipeline-split", "head", "counted", NULL},
    {"account-for-loss-in-pipeline-split", "head", "counted", NULL},
    {"activation-checkpoint.mode", "recompute", "full", NULL},
    {"adam-beta1", NULL, NULL, "the AdamW of pipeexec has a beta1 of 0.9"},
    {"adam-beta2", NULL, NULL, "the AdamW of pipeexec has a beta2 of 0.95"},
    {"adam-eps", NULL, NULL, "the AdamW of pipeexec has an epsilon of 1e-8"},
    {"add-qkv-bias", "model", "FILE", "a config.json says which biases there are"},
    {"async-save", NULL, NULL,
     "checkpoints are written while training goes on; --checkpoint-sync waits"},
    {"attention-dropout", NULL, NULL, "pipeexec computes no dropout"},
    {"attn-implementation", "attention", "fused", NULL},
    {"bf16", "precision", "bf16", NULL},
    {"block-size", "seq", "TOKENS", NULL},
    {"checkpoint.folder", "checkpoint", "DIR", NULL},
    {"checkpoint.interval", "checkpoint-every", "K", NULL},
    {"clip-grad", "clip", "NORM", NULL},
    {"data-parallel-sharding-strategy", "zero", "3",
     "optim: 1, optim_grads: 2, optim_grads_params: 3"},
    {"data-path", "data", "FILE", NULL},
    {"data-seed", "seed", "S", NULL},
    {"dataloader-num-workers", NULL, NULL, "data are mapped, and read where they are used"},
    {"dataset-name", "data", "FILE", "a text, or files of tokens"},
    {"decoder-first-pipeline-num-layers", "first-stage-layers", "L", NULL},
    {"decoder-last-pipeline-num-layers", "last-stage-layers", "L", NULL},
    {"deepspeed", "zero", "STAGE", "stage of a configuration's zero_optimization"},
    {"deterministic-mode", "exact-grad", NULL, NULL},
    {"disable-bias-linear", "model", "FILE", "a config.json says which biases there are"},
    {"distributed-backend", "transport", "nccl", NULL},
    {"distributed-timeout-minutes", "timeout", "S", "in seconds"},
    {"encoder-num-layers", "layers", "L", NULL},
    {"encoder-seq-length", "seq", "TOKENS", NULL},
    {"eval-interval", "valid-every", "K", NULL},
    {"eval-iters", "valid-steps", "M", NULL},
    {"eval-steps", "valid-every", "K", NULL},
    {"exit-interval", "steps", "K", NULL},
    {"finetune", "model", "DIR", "a folder with weights"},
    {"fp16", "precision", "fp16", NULL},
    {"fp8-format", "precision", "fp8", NULL},
    {"fsdp", "zero", "3", NULL},
    {"gradient-accumulation-steps", "micro-batches", "N", NULL},
    {"gradient-checkpointing", "recompute", "full", NULL},
    {"gradient-clipping", "clip", "NORM", NULL},
    {"group-query-attention", "kv-heads", "K", NULL},
    {"hidden-dropout", NULL, NULL, "pipeexec computes no dropout"},
    {"init-method-std", NULL, NULL, "pipeexec draws weights with a deviation of 0.02"},
    {"kv-channels", "model", "FILE", "head_dim of a config.json is the size of heads"},
    {"layernorm-epsilon", "model", "FILE", "a config.json has the epsilon of norms"},
    {"learning-rate", "lr", "X", NULL},
    {"load", "resume", "DIR", NULL},
    {"log-interval", "log", "FILE", "it has a row for each step"},
    {"logging-dir", "log", "FILE", "it has a row for each step"},
    {"logging-steps", "log", "FILE", "it has a row for each step"},
    {"lr", "lr", "X", NULL},
    {"lr-decay-iters", "steps", "K", "the rate falls until the last one"},
    {"lr-decay-style", "min-lr", "X", "the rate falls to it by a cosine"},
    {"lr-scheduler-type", "min-lr", "X", "the rate falls to it by a cosine"},
    {"lr-scheduler.warmup-steps", "lr-warmup", "K", NULL},
    {"lr-warmup-fraction", "lr-warmup", "K", "in steps"},
    {"lr-warmup-iters", "lr-warmup", "K", NULL},
    {"lr-warmup-samples", "lr-warmup", "K", "in steps"},
    {"make-vocab-size-divisible-by", "vocab", "V", "the padded size"},
    {"master-addr", "rendezvous", "tcp://HOST:PORT", NULL},
    {"max-grad-norm", "clip", "NORM", NULL},
    {"max-seq-length", "seq", "TOKENS", NULL},
    {"max-steps", "steps", "K", NULL},
    {"merge-file", "tokenizer", "VOCAB:MERGES", NULL},
    {"min-lr", "min-lr", "X", NULL},
    {"model-name-or-path", "model", "DIR", NULL},
    {"model-parallel-size", "tp", "T", NULL},
    {"moe-grouped-gemm", NULL, NULL, "all experts are one multiplication"},
    {"moe-layer-recompute", "recompute", "selective=moe", NULL},
    {"moe-router-load-balancing-type", "balance-loss", "X", "aux_loss with this factor; 0: none"},
    {"moe-token-dispatcher-type", "ep-dispatch", "each", "once: one copy for each node"},
    {"multi-latent-attention", "model", "FILE", "a config.json says which attention there is"},
    {"no-position-embedding", "positions", "0", NULL},
    {"norm-epsilon", "model", "FILE", "a config.json has the epsilon of norms"},
    {"normalization", "model", "FILE", "a config.json says which norm there is"},
    {"nproc-per-node", "gpus", "N", "in all"},
    {"num-gpus", "gpus", "N", NULL},
    {"num-layers-per-virtual-pipeline-stage", "vp", "V",
     "V is the layers of a rank over those of a chunk"},
    {"num-train-epochs", "steps", "K", "samples of an epoch / --gbs are one epoch"},
    {"num-workers", NULL, NULL, "data are mapped, and read where they are used"},
    {"openai-gelu", "model", "FILE", "hidden_act of a config.json is the activation"},
    {"optim", NULL, NULL, "the optimizer is AdamW"},
    {"optimizer", NULL, NULL, "the optimizer is AdamW"},
    {"optimizer-cpu-offload", "offload", "os=host", NULL},
    {"optimizer.lr", "lr", "X", NULL},
    {"output-dir", "save", "DIR", "--checkpoint DIR also saves on the way"},
    {"overlap-grad-reduce", "grad-sync", "eager", NULL},
    {"overlap-param-gather", "gather-buffers", "2", "with --zero 3"},
    {"parallelism.data-parallel-shard-degree", "shard", "p=A,g=A,os=A", NULL},
    {"per-device-eval-batch-size", "mbs", "B", "validation has the micro-batches of training"},
    {"per-device-train-batch-size", "mbs", "B", NULL},
    {"pipe-parallel-size", "pp", "P", NULL},
    {"position-embedding-type", "positions", "0",
     "a model without a table of positions has rotary ones"},
    {"qk-layernorm", "model", "FILE", "a config.json says whether queries and keys have norms"},
    {"rampup-batch-size", "gbs", "N", "the same in all steps"},
    {"rdzv-endpoint", "rendezvous", "tcp://HOST:PORT", NULL},
    {"recompute-activations", "recompute", "selective", NULL},
    {"recompute-method", "recompute", "full", "stage-aware=R recomputes the share R of the blocks"},
    {"recompute-num-layers", "recompute", "full",
     "stage-aware=R recomputes the share R of the blocks"},
    {"report-to", "log", "FILE", "it has a row for each step"},
    {"resume-from-checkpoint", "resume", "DIR", NULL},
    {"rotary-base", "model", "FILE", "rope_theta of a config.json is that base"},
    {"rotary-percent", "model", "FILE", "partial_rotary_factor of a config.json is that part"},
    {"save", "save", "DIR", NULL},
    {"save-interval", "checkpoint-every", "K", NULL},
    {"save-steps", "checkpoint-every", "K", NULL},
    {"save-total-limit", "checkpoint-keep", "K", NULL},
    {"split", "valid-data", "FILE", NULL},
    {"squared-relu", "model", "FILE", "hidden_act of a config.json is the activation"},
    {"swiglu", "mlp", "gated", NULL},
    {"tensorboard-dir", "log", "FILE", "it has a row for each step"},
    {"tf32", "precision", "tf32", NULL},
    {"tokenizer-model", "tokenizer", "FILE", NULL},
    {"tokenizer-name", "tokenizer", "DIR", NULL},
    {"tokenizer-type", "tokenizer", "FILE", NULL},
    {"torch-dtype", "precision", "bf16", NULL},
    {"tp-comm-overlap", "tp-overlap", "50%", "the share that is hidden"},
    {"train-batch-size", "gbs", "N", NULL},
    {"train-data-path", "data", "FILE", NULL},
    {"train-file", "data", "FILE", NULL},
    {"train-iters", "steps", "K", NULL},
    {"train-micro-batch-size-per-gpu", "mbs", "B", NULL},
    {"train-samples", "steps", "K", "each has --gbs samples"},
    {"training.dataset", "data", "FILE", NULL},
    {"training.dataset-path", "data", "FILE", NULL},
    {"training.local-batch-size", "mbs", "B", "of a micro-batch"},
    {"training.max-norm", "clip", "NORM", NULL},
    {"training.mixed-precision-param", "precision", "bf16", NULL},
    {"training.steps", "steps", "K", NULL},
    {"transformer-impl", NULL, NULL, "kernels are those of --backend"},
    {"untie-embeddings-and-output-weights", "embedding", "untied", NULL},
    {"use-cpu-initialization", NULL, NULL, "pipeexec always draws weights on CPUs"},
    {"use-distributed-optimizer", "zero", "1", NULL},
    {"use-flash-attn", "attention", "fused", NULL},
    {"use-mcore-models", NULL, NULL, "there is one implementation of models"},
    {"use-megatron-fsdp", "zero", "3", NULL},
    {"use-rope-scaling", "model", "FILE", "rope_scaling of a config.json scales positions"},
    {"use-rotary-position-embeddings", "positions", "0", NULL},
    {"use-torch-fsdp2", "zero", "3", NULL},
    {"valid-data-path", "valid-data", "FILE", NULL},
    {"validation-file", "valid-data", "FILE", NULL},
    {"vocab-file", "tokenizer", "VOCAB:MERGES", NULL},
    {"wandb-project", "log", "FILE", "it has a row for each step"},
    {"warmup-ratio", "lr-warmup", "K", "in steps"},
    {"warmup-steps", "lr-warmup", "K", NULL},
    {"weight-decay", "weight-decay", "X", NULL},
    {"window-size", "model", "FILE", "sliding_window of a config.json is the width"},
    {"zero-stage", "zero", "STAGE", NULL},
};

/* True for equal names, with dashes or underscores. */
static bool is_name(const char *a, const char *b)
{
    while (*a && (*a == *b || (*a == '-' && *b == '_')))
        a++, b++;
    return *a == *b;
}

/* True if the program can do it: it has that option, with that word if the words are its own. */
static bool is_here(const struct pp_cli *cli, const char *name, const char *value)
{
    const struct pp_option *option = NULL;
    struct pp_option_value ignored;
    struct pp_error err = {0};

    for (int i = 0; i < cli->option_count && !option; i++)
        if (!strcmp(cli->options[i].name, name))
            option = &cli->options[i];
    return option && (option->type != PP_OPTION_CHOICE ||
                      pp_option_read(option, value, &ignored, &err) == PP_OK);
}

bool pp_cli_name_ours(const struct pp_cli *cli, const char *theirs, struct pp_error *err)
{
    const char *other = strcmp(cli->program, "pipesim") == 0 ? "pipeexec" : "pipesim";
    size_t r = 0;

    while (r < PP_COUNT(ROWS) && !is_name(ROWS[r].theirs, theirs))
        r++;
    if (r == PP_COUNT(ROWS))
        return false;
    if (!ROWS[r].option) {
        pp_error_append(err, "; leave it out: %s", ROWS[r].note);
        return true;
    }
    if (is_here(cli, ROWS[r].option, ROWS[r].value))
        pp_error_append(err, "; its name here is --%s", ROWS[r].option);
    else
        pp_error_append(err, "; only %s has it, by the name --%s", other, ROWS[r].option);
    if (ROWS[r].value)
        pp_error_append(err, " %s", ROWS[r].value);
    if (ROWS[r].note)
        pp_error_append(err, " (%s)", ROWS[r].note);
    return true;
}
