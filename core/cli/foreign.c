/* Options of Megatron-LM that are no option here: what to give instead. Those that mean the same as
 * one of ours are its other names, in the tables of options. */
#include "core/cli/table.h"

#include <string.h>

static const struct {
    const char *theirs;
    const char *option, *value; /* ours; NULL = nothing */
    const char *note;           /* NULL = none */
} ROWS[] = {
    {"adam-beta1", NULL, NULL, "the AdamW of pipeexec has a beta1 of 0.9"},
    {"adam-beta2", NULL, NULL, "the AdamW of pipeexec has a beta2 of 0.95"},
    {"adam-eps", NULL, NULL, "the AdamW of pipeexec has an epsilon of 1e-8"},
    {"attention-dropout", NULL, NULL, "pipeexec computes no dropout"},
    {"bf16", "precision", "bf16", NULL},
    {"clip-grad", "clip", "NORM", NULL},
    {"data-path", "data", "FILE", NULL},
    {"disable-bias-linear", "model", "FILE", "a config.json says which biases there are"},
    {"distributed-backend", "transport", "nccl", NULL},
    {"eval-interval", "valid-every", "K", NULL},
    {"eval-iters", "valid-steps", "M", NULL},
    {"fp16", "precision", "fp16", NULL},
    {"fp8-format", "precision", "fp8", NULL},
    {"group-query-attention", "kv-heads", "K", NULL},
    {"hidden-dropout", NULL, NULL, "pipeexec computes no dropout"},
    {"init-method-std", NULL, NULL, "pipeexec draws weights with a deviation of 0.02"},
    {"kv-channels", "model", "FILE", "head_dim of a config.json is the size of heads"},
    {"layernorm-epsilon", "model", "FILE", "a config.json has the epsilon of norms"},
    {"load", "resume", "DIR", NULL},
    {"log-interval", "log", "FILE", "it has a row for each step"},
    {"lr", "lr", "X", NULL},
    {"lr-decay-style", "min-lr", "X", "the rate falls to it by a cosine"},
    {"lr-warmup-iters", "lr-warmup", "K", NULL},
    {"min-lr", "min-lr", "X", NULL},
    {"norm-epsilon", "model", "FILE", "a config.json has the epsilon of norms"},
    {"normalization", "model", "FILE", "a config.json says which norm there is"},
    {"num-layers-per-virtual-pipeline-stage", "vp", "V",
     "V is the layers of a rank over those of a chunk"},
    {"optimizer", NULL, NULL, "the optimizer is AdamW"},
    {"overlap-grad-reduce", "grad-sync", "eager", NULL},
    {"overlap-param-gather", "gather-buffers", "2", "with --zero 3"},
    {"position-embedding-type", "positions", "0",
     "a model without a table of positions has rotary ones"},
    {"recompute-activations", "recompute", "selective", NULL},
    {"recompute-method", "recompute", "full", "stage-aware=R recomputes the share R of the blocks"},
    {"recompute-num-layers", "recompute", "full",
     "stage-aware=R recomputes the share R of the blocks"},
    {"rotary-base", "model", "FILE", "rope_theta of a config.json is that base"},
    {"save", "save", "DIR", NULL},
    {"save-interval", "checkpoint-every", "K", NULL},
    {"split", "valid-data", "FILE", NULL},
    {"swiglu", "mlp", "gated", NULL},
    {"tokenizer-model", "tokenizer", "FILE", NULL},
    {"tokenizer-type", "tokenizer", "FILE", NULL},
    {"train-iters", "steps", "K", NULL},
    {"untie-embeddings-and-output-weights", "embedding", "untied", NULL},
    {"use-cpu-initialization", NULL, NULL, "pipeexec always draws weights on CPUs"},
    {"use-distributed-optimizer", "zero", "1", NULL},
    {"use-flash-attn", "attention", "fused", NULL},
    {"weight-decay", "weight-decay", "X", NULL},
};

/* True for equal names, with dashes or underscores. */
static bool is_name(const char *a, const char *b)
{
    while (*a && (*a == *b || (*a == '-' && *b == '_')))
        a++, b++;
    return *a == *b;
}

/* True if the program can do it: it has that option, with that word if the words are its own. */
static bool is_here(const struct pp_cli *cli, int command, const char *name, const char *value)
{
    const struct pp_option *option = NULL;
    struct pp_option_value ignored;
    struct pp_error err = {0};

    for (int i = 0; i < cli->option_count && !option; i++)
        if (pp_option_is_in(&cli->options[i], command) && !strcmp(cli->options[i].name, name))
            option = &cli->options[i];
    return option && (option->type != PP_OPTION_CHOICE ||
                      pp_option_read(option, value, &ignored, &err) == PP_OK);
}

bool pp_cli_name_ours(const struct pp_cli *cli, int command, const char *theirs,
                      struct pp_error *err)
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
    if (is_here(cli, command, ROWS[r].option, ROWS[r].value))
        pp_error_append(err, "; its name here is --%s %s", ROWS[r].option, ROWS[r].value);
    else
        pp_error_append(err, "; only %s has it, by the name --%s %s", other, ROWS[r].option,
                        ROWS[r].value);
    if (ROWS[r].note)
        pp_error_append(err, " (%s)", ROWS[r].note);
    return true;
}
