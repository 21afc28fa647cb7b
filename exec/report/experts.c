/* Mixtures of experts: how evenly tokens are spread, and how many found no room. */
#include "exec/report/report.h"

#include "core/text/json_write.h"

#include <jansson.h>
#include <math.h>

/* Tokens of one mixture in all steps of the run. */
struct mixture {
    int block;
    double taken, dropped, moved, load; /* load: of the fullest expert, over the mean of all */
    double moved_bytes;                 /* by all devices; those that share a set count the same */
};

static const double *tokens_of(const struct pp_exec_run *run, int mixture)
{
    return run->result.expert_tokens +
           (size_t)mixture * (size_t)(run->config.net.experts + PP_EXPERT_MORE);
}

static struct mixture sum_of(const struct pp_exec_run *run, int mixture, int block)
{
    const int experts = run->config.net.experts;
    const double *tokens = tokens_of(run, mixture);
    struct mixture sum = {.block = block,
                          .dropped = tokens[experts + PP_EXPERT_DROPPED],
                          .moved = tokens[experts + PP_EXPERT_MOVED],
                          .moved_bytes = run->config.etp * tokens[experts + PP_EXPERT_BYTES]};
    double most = 0;

    for (int e = 0; e < experts; e++) {
        sum.taken += tokens[e];
        most = fmax(most, tokens[e]);
    }
    sum.load = most * experts / sum.taken;
    return sum;
}

/* Returns the mixture of the fullest expert, with the tokens of all. */
static struct mixture worst_of(const struct pp_exec_run *run)
{
    const struct pp_net *net = &run->config.net;
    struct mixture worst = {0}, all = {0};
    int mixture = 0;

    for (int block = 0; block < net->layers; block++) {
        if (!pp_net_has_experts(net, block))
            continue;
        const struct mixture m = sum_of(run, mixture++, block);
        all.taken += m.taken;
        all.dropped += m.dropped;
        all.moved += m.moved;
        all.moved_bytes += m.moved_bytes;
        if (m.load > worst.load)
            worst = m;
    }
    worst.taken = all.taken;
    worst.dropped = all.dropped;
    worst.moved = all.moved;
    worst.moved_bytes = all.moved_bytes;
    return worst;
}

void pp_exec_report_experts(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    const struct pp_net *net = &run->config.net;
    char text[PP_EXEC_TEXT_BYTES], bytes[PP_UNITS_TEXT_BYTES];
    size_t used;

    if (net->experts == 0)
        return;
    const struct mixture worst = worst_of(run);
    used = pp_exec_append(text, 0, "%d, of which each token meets %d", net->experts, net->top_k);
    if (net->capacity > 0)
        used = pp_exec_append(
            text, used,
            "; an expert takes %d of a sample's tokens, and %.1f~%% of choices found no room",
            net->capacity, 100 * worst.dropped / (worst.taken + worst.dropped));
    if (run->config.expert_replicas > 1)
        used = pp_exec_append(text, used,
                              "; %.1f~%% of rows go to another replica (%.1f~%% at balance), "
                              "%s in all exchanges",
                              100 * worst.moved / worst.taken,
                              100 - 100.0 / run->config.expert_replicas,
                              pp_units_print(worst.moved_bytes, PP_UNIT_BYTES, bytes));
    pp_exec_append(text, used, "; the fullest, in block %d, has %.2f of the mean", worst.block + 1,
                   worst.load);
    pp_exec_paragraph(page, "experts", "%s", text);
}

static json_t *mixture_json(const struct pp_exec_run *run, int mixture, int block)
{
    const struct mixture sum = sum_of(run, mixture, block);
    json_t *o = json_object(), *tokens = json_array();

    for (int e = 0; e < run->config.net.experts; e++)
        json_array_append_new(tokens, json_integer((json_int_t)tokens_of(run, mixture)[e]));
    pp_json_put_int(o, "block", block + 1);
    pp_json_put(o, "load", sum.load);
    pp_json_put_int(o, "dropped", (int64_t)sum.dropped);
    json_object_set_new(o, "tokens", tokens);
    return o;
}

json_t *pp_exec_experts_json(const struct pp_exec_run *run)
{
    const struct pp_net *net = &run->config.net;
    int mixture = 0;

    if (net->experts == 0)
        return json_null();
    const struct mixture worst = worst_of(run);
    json_t *o = json_object(), *mixtures = json_array();
    pp_json_put_int(o, "count", net->experts);
    pp_json_put_int(o, "top_k", net->top_k);
    json_object_set_new(o, "capacity",
                        net->capacity > 0 ? json_integer(net->capacity) : json_null());
    pp_json_put(o, "load", worst.load);
    pp_json_put(o, "dropped_frac", worst.dropped / (worst.taken + worst.dropped));
    pp_json_put(o, "moved_frac", worst.moved / worst.taken);
    pp_json_put_int(o, "moved_bytes", (int64_t)worst.moved_bytes);
    for (int block = 0; block < net->layers; block++)
        if (pp_net_has_experts(net, block))
            json_array_append_new(mixtures, mixture_json(run, mixture++, block));
    json_object_set_new(o, "mixtures", mixtures);
    return o;
}
