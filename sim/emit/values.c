/* Settings and gaps that several frameworks share. */
#include "sim/emit/settings.h"

#include <stdio.h>
#include <stdlib.h>

bool pp_emit_is_even(const struct pp_emit_job *job, int from, int to)
{
    for (int s = from; s < to; s++)
        if (job->blocks[s] != job->blocks[from])
            return false;
    return true;
}

enum pp_precision pp_emit_precision(const struct pp_emit_job *job)
{
    return job->config->cluster.device.precision;
}

bool pp_emit_is_bf16(const struct pp_emit_job *job)
{
    const enum pp_precision precision = pp_emit_precision(job);

    return precision == PP_PRECISION_BF16 || pp_precision_is_narrow(precision);
}

bool pp_emit_is_fp16(const struct pp_emit_job *job)
{
    return pp_emit_precision(job) == PP_PRECISION_FP16;
}

int pp_emit_replicas(const struct pp_emit_job *job)
{
    return job->layout.dp * job->layout.cp;
}

int pp_emit_nodes(const struct pp_emit_job *job)
{
    const int in_node = job->config->cluster.gpus_per_node;

    return (job->layout.gpus + in_node - 1) / in_node;
}

int pp_emit_node_gpus(const struct pp_emit_job *job)
{
    const int in_node = job->config->cluster.gpus_per_node;

    return job->layout.gpus < in_node ? job->layout.gpus : in_node;
}

int pp_emit_cut(const struct pp_emit_job *job, enum pp_state_class class)
{
    const int cut = pp_state_cut(&job->config->state, class), replicas = pp_emit_replicas(job);

    /* Several pipelines of a rank are replicas, too; a framework with one lacks them. */
    return cut < replicas ? cut : replicas;
}

bool pp_emit_is_sequence_parallel(const struct pp_emit_job *job)
{
    return job->layout.tp > 1 && !job->config->costs.is_tp_only;
}

const char *pp_emit_say_barrier(const struct pp_emit_job *job)
{
    return job->config->engine_options.eval.is_barrier_free && !pp_emit_is_other(job)
               ? "a step ends on all ranks before the next one begins; --step-barrier on predicts "
                 "that"
               : NULL;
}

const char *pp_emit_say_head(const struct pp_emit_job *job)
{
    if (!pp_head_is_shared(job->config->costs.head) || job->layout.pp == 1)
        return NULL;
    return "embedding and head are not shared out over all stages (--head parallel); nearest, and "
           "set here: the first and the last stage hold them (--head last)";
}

const char *pp_emit_say_graph(const struct pp_emit_job *job)
{
    return job->config->costs.is_graph
               ? "no CUDA graphs launch layers (--cuda-graphs on); nearest, and what runs: off"
               : NULL;
}

/* Returns the sentence against the class's home; NULL: it may stay there. Rows are about the host
 * and its drives. */
static const char *lack_of(const struct pp_emit_job *job, enum pp_state_class class,
                           const struct pp_emit_home *row)
{
    const enum pp_tier home = job->config->state.home[class];

    if (home == PP_TIER_DEVICE || (row && row->tiers & PP_EMIT_ON(home)))
        return NULL;
    if (row && pp_tier_rows[home].is_of_host)
        return row->lack;
    return job->tool->stays ? job->tool->stays
                            : pp_arena_printf(job->arena,
                                              "%s does not keep %s on %s (--offload); nearest: on "
                                              "the device",
                                              job->tool->title, pp_state_class_names[class],
                                              pp_tier_rows[home].name);
}

const char *pp_emit_say_home(const struct pp_emit_job *job)
{
    bool has_row[PP_STATE_CLASSES] = {false};
    const char *lack = NULL;

    for (int i = 0; i < job->tool->home_count && !lack; i++) {
        const struct pp_emit_home *row = &job->tool->homes[i];
        has_row[row->class] = true;
        lack = lack_of(job, row->class, row);
    }
    for (int class = 0; class < PP_STATE_CLASSES && !lack; class ++)
        if (!has_row[class])
            lack = lack_of(job, (enum pp_state_class) class, NULL);
    return lack;
}

const char *pp_emit_say_bits(const struct pp_emit_job *job)
{
    if (job->config->state.activation_bits == 0)
        return NULL;
    return pp_arena_printf(job->arena,
                           "saved activations are not quantised to %d bits (--act-bits); nearest: "
                           "--recompute selective",
                           job->config->state.activation_bits);
}

const char *pp_emit_say_again(const struct pp_emit_job *job)
{
    const struct pp_again_words words = job->config->lower.again;

    if (words.is_skipped)
        return "a backward that follows its own forward at once recomputes like any other "
               "(--recompute with skip); nearest: late without skip";
    return words.is_early ? "recomputation waits for the gradient of its backward (--recompute "
                            "with early); nearest: late"
                          : NULL;
}

const char *pp_emit_say_split(const struct pp_emit_job *job)
{
    return job->config->costs.tp_split > 1 && job->layout.tp > 1
               ? "blocks are not cut by rows, so that exchanges run during products (--tp-split); "
                 "nearest: --tp-overlap 50%"
               : NULL;
}

const char *pp_emit_say_tiers(const struct pp_emit_job *job)
{
    const struct pp_state_spec *state = &job->config->state;

    if (state->has_early_update)
        return "the optimizer waits for all gradients (--update jit); nearest: --update end";
    if (state->has_grads_in_params)
        return "gradients have a place of their own (--grads-in-params); nearest: leave it out";
    return state->cached > 1
               ? "gathered parameters stay by a rule of its own (--cache); nearest: leave it out"
               : NULL;
}

const char *pp_emit_say_map(const struct pp_emit_job *job)
{
    char text[PP_MAP_TEXT_BYTES];

    if (pp_map_is_default(job->config->map))
        return NULL;
    return pp_arena_printf(job->arena, "devices are not numbered as --map %s; nearest: the default",
                           pp_map_print(job->config->map, text));
}

const char *pp_emit_keep(const struct pp_emit_job *job, FILE *out, char **text)
{
    fclose(out);
    const char *kept = pp_arena_strdup(job->arena, *text);
    free(*text);
    return kept;
}
