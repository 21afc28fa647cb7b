/* Buckets of gradient sums, by number, by size or by the framework's default size. */
#include "sim/config/buckets.h"

#include <math.h>
#include <string.h>

/* Most buckets by default. More hide hardly more: only the last bucket is exposed. */
enum { HABIT_BUCKETS = 16 };
static const double MAX_BUCKET_BYTES = 1e15,
                    DDP_BUCKET_BYTES = 25 * 1024.0 * 1024; /* PyTorch's bucket_cap_mb */

static enum pp_status resolve_number(const struct pp_wish *wish, struct pp_config *config,
                                     struct pp_error *err)
{
    const struct pp_given *count = &wish->given.buckets, *size = &wish->given.bucket_size;

    if (count->count && size->count && count->origin == size->origin)
        return pp_error_set(err, PP_EINVAL,
                            "--buckets %s and --bucket-size %s exclude each other: one gives the "
                            "number, the other the size",
                            count->text, size->text);
    if (!size->count || count->origin == PP_FROM_FLAG) {
        config->buckets.count = count->count ? wish->buckets : 0;
        return PP_OK;
    }
    config->buckets.size = size->text;
    PP_TRY(pp_units_parse(size->text, PP_UNIT_BYTES, &config->buckets.bytes, err) == PP_OK
               ? PP_OK
               : pp_error_prefix(err, "--bucket-size %s: ", size->text));
    if (config->buckets.bytes < 1 || config->buckets.bytes > MAX_BUCKET_BYTES)
        return pp_error_set(err, PP_EINVAL, "--bucket-size %s: expected 1 B to 1 PB, such as 25MB",
                            size->text);
    return PP_OK;
}

static bool is_neutral(const struct pp_given *given)
{
    return given->option->neutral && !strcmp(given->text, given->option->neutral);
}

static enum pp_status refuse(const char *dp_overlap, const struct pp_given *given,
                             struct pp_error *err)
{
    return pp_error_set(err, PP_EINVAL, "--dp-overlap %s and %s exclude each other: leave one out",
                        dp_overlap, given->typed);
}

/* Refuses buckets and early sums with --dp-overlap off, which leaves nothing to cut. */
static enum pp_status check_off(const struct pp_wish *wish, struct pp_error *err)
{
    const struct pp_given *const asking[] = {&wish->given.grad_sync, &wish->given.buckets,
                                             &wish->given.bucket_size};

    for (size_t i = 0; i < PP_COUNT(asking); i++)
        if (asking[i]->origin == PP_FROM_FLAG && !is_neutral(asking[i]))
            return refuse("off", asking[i], err);
    return PP_OK;
}

/* Sets whether sums overlap with backwards. --grad-sync end turns a framework's overlap off. */
static enum pp_status resolve_overlap(const struct pp_wish *wish, struct pp_config *config,
                                      struct pp_error *err)
{
    const struct pp_given *overlap = &wish->given.dp_overlap, *sync = &wish->given.grad_sync;
    const bool is_end = sync->count && wish->grad_sync == PP_SYNC_END,
               is_on = overlap->count ? wish->dp_overlap == 1
                                      : config->costs.framework->has_sync_overlap,
               is_flag_late = sync->origin == PP_FROM_FLAG && overlap->origin != PP_FROM_FLAG;

    config->costs.is_dp_overlapped = is_on && !(is_end && (!overlap->count || is_flag_late));
    if (overlap->count && !is_on)
        return check_off(wish, err);
    return is_on && is_end && overlap->count && overlap->origin == sync->origin
               ? refuse("on", sync, err)
               : PP_OK;
}

/* Sets the overlap's defaults; options that are given win. */
static void overlap(struct pp_arena *arena, const struct pp_wish *wish, struct pp_config *config)
{
    const double habit_bytes = config->costs.framework->bucket_bytes;

    if (!wish->given.grad_sync.count || wish->grad_sync == PP_SYNC_END)
        config->lower.grad_sync = PP_SYNC_EAGER;
    if (config->buckets.count > 0 || config->buckets.bytes > 0)
        return;
    config->buckets.count = HABIT_BUCKETS;
    config->buckets.bytes = habit_bytes > 0 ? habit_bytes : DDP_BUCKET_BYTES;
    config->buckets.replica_bytes = config->costs.framework->bucket_replica_bytes;
    config->buckets.size =
        pp_arena_printf(arena, "%.0fMB, %d at most", config->buckets.bytes / 1e6, HABIT_BUCKETS);
}

enum pp_status pp_buckets_resolve(struct pp_arena *arena, const struct pp_wish *wish,
                                  struct pp_config *config, struct pp_error *err)
{
    PP_TRY(resolve_number(wish, config, err));
    PP_TRY(resolve_overlap(wish, config, err));
    if (config->costs.is_dp_overlapped)
        overlap(arena, wish, config);
    return PP_OK;
}

bool pp_buckets_are_used(const struct pp_config *config)
{
    return config->buckets.count > 1 || config->buckets.bytes > 0;
}

static int count_buckets(const struct pp_config *config, const struct pp_costs *costs, int stage)
{
    const double bytes = fmax(config->buckets.bytes,
                              config->buckets.replica_bytes * (double)pp_config_copies(config));
    const double count = ceil(costs->op[PP_AR][stage].bytes / bytes);

    return count > 1 ? (int)fmin(count,
                                 config->buckets.count > 0 ? config->buckets.count : PP_MAX_BUCKETS)
                     : 1;
}

const int *pp_buckets_of(struct pp_arena *arena, const struct pp_config *config,
                         const struct pp_costs *costs)
{
    if (!pp_config_is_summed(config) || !pp_buckets_are_used(config))
        return NULL;
    int *buckets = PP_ARRAY(arena, int, costs->stages);
    for (int s = 0; s < costs->stages; s++)
        buckets[s] =
            config->buckets.bytes > 0 ? count_buckets(config, costs, s) : config->buckets.count;
    return buckets;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* One of the equal buckets of a stage's sum; NULL if it is not cut. */
static const struct pp_collective *bucket_of(const struct pp_program *p, int stage)
{
    for (int c = 0; c < p->collective_count; c++)
        if (p->collectives[c].stage == stage && p->collectives[c].buckets > 1 &&
            p->collectives[c].kind != PP_AG)
            return &p->collectives[c];
    return NULL;
}

static double bytes_of(const struct pp_result *r, const struct pp_collective *c)
{
    const struct pp_op op = pp_collective_op(c);

    return pp_costs_op(r->costs, &op, NULL).bytes;
}

static bool is_capped(const struct pp_result *r, const struct pp_collective *c)
{
    return c && c->buckets == PP_MAX_BUCKETS && r->config.buckets.bytes > 0 &&
           bytes_of(r, c) > r->config.buckets.bytes * (1 + 1e-9);
}

double pp_buckets_capped_bytes(const struct pp_result *r)
{
    double most_bytes = 0;

    for (int s = 0; r->config.buckets.bytes > 0 && s < r->program->stages; s++) {
        const struct pp_collective *c = bucket_of(r->program, s);
        if (is_capped(r, c))
            most_bytes = fmax(most_bytes, bytes_of(r, c));
    }
    return most_bytes;
}

const char *pp_buckets_text(struct pp_arena *arena, const struct pp_result *r)
{
    const double capped_bytes = pp_buckets_capped_bytes(r);

    if (capped_bytes > 0)
        return pp_arena_printf(arena, " in %d buckets of %.3g~MB, the most there can be",
                               PP_MAX_BUCKETS, capped_bytes / 1e6);
    if (r->config.buckets.bytes > 0)
        return pp_arena_printf(arena, " in buckets of %.20s", r->config.buckets.size);
    if (r->config.buckets.count > 1)
        return pp_arena_printf(arena, " in %d buckets a stage", r->config.buckets.count);
    return "";
}

static bool is_like(const struct pp_result *r, int a, int b)
{
    const struct pp_collective *x = bucket_of(r->program, a), *y = bucket_of(r->program, b);

    if (!x || !y)
        return x == y;
    const struct pp_op first = pp_collective_op(x), second = pp_collective_op(y);
    return x->buckets == y->buckets &&
           pp_costs_op(r->costs, &first, NULL).ps == pp_costs_op(r->costs, &second, NULL).ps;
}

static void explain_stage(const struct pp_result *r, int stage, FILE *out)
{
    const struct pp_collective *c = bucket_of(r->program, stage);
    char bytes[PP_UNITS_TEXT_BYTES], each[PP_UNITS_TEXT_BYTES], all[PP_UNITS_TEXT_BYTES],
        whole[PP_UNITS_TEXT_BYTES];

    if (!c) {
        fputs("one sum, not cut\n", out);
        return;
    }
    struct pp_op op = pp_collective_op(c);
    const struct pp_cost cost = pp_costs_op(r->costs, &op, NULL);
    op.split = op.granules = 0;
    fprintf(
        out, "%d buckets of %s%s, %s each: %s together, %s in one piece\n", c->buckets,
        pp_units_print(cost.bytes, PP_UNIT_BYTES, bytes),
        is_capped(r, c) ? " (the most there can be)" : "",
        pp_units_print(pp_units_s(cost.ps), PP_UNIT_SECONDS, each),
        pp_units_print(pp_units_s(cost.ps * c->buckets), PP_UNIT_SECONDS, all),
        pp_units_print(pp_units_s(pp_costs_op(r->costs, &op, NULL).ps), PP_UNIT_SECONDS, whole));
}

void pp_buckets_explain(const struct pp_result *r, FILE *out)
{
    bool is_cut = false;

    for (int c = 0; c < r->program->collective_count; c++)
        is_cut |= r->program->collectives[c].buckets > 1;
    if (!is_cut)
        return;
    fputs("  gradient sums in buckets; each pays the whole latency, and is posted as soon as its "
          "share of the last backward has passed, where the sum follows it\n",
          out);
    for (int s = 0, last; s < r->program->stages; s = last + 1) {
        for (last = s; last + 1 < r->program->stages && is_like(r, s, last + 1); last++)
            ;
        fprintf(out, last > s ? "    stages %d-%d: " : "    stage %d: ", s, last);
        explain_stage(r, s, out);
    }
}
