#include "sim/buckets.h"

#include <math.h>

static const double MAX_BUCKET_BYTES = 1e15;

enum pp_status pp_buckets_resolve(const struct pp_request *request, struct pp_config *config,
                                  struct pp_error *err)
{
    enum pp_origin count_origin, size_origin;
    const struct pp_option_value *count = pp_request_get(request, "buckets", &count_origin);
    const struct pp_option_value *size = pp_request_get(request, "bucket-size", &size_origin);

    if (count && size && count_origin == size_origin)
        return pp_error_set(err, PP_EINVAL,
                            "--buckets %s and --bucket-size %s exclude each other: one gives the "
                            "number, the other the size",
                            count->text, size->text);
    if (size && count && count_origin == PP_FROM_FLAG)
        size = NULL;
    if (!size) {
        config->buckets = count ? (int)count->integer : 0;
        return PP_OK;
    }
    config->bucket_size = size->text;
    PP_TRY(pp_units_parse(size->text, PP_UNIT_BYTES, &config->bucket_bytes, err) == PP_OK
               ? PP_OK
               : pp_error_prefix(err, "--bucket-size %s: ", size->text));
    if (config->bucket_bytes < 1 || config->bucket_bytes > MAX_BUCKET_BYTES)
        return pp_error_set(err, PP_EINVAL, "--bucket-size %s: expected 1 B to 1 PB, such as 25MB",
                            size->text);
    return PP_OK;
}

bool pp_buckets_are_used(const struct pp_config *config)
{
    return config->buckets > 1 || config->bucket_bytes > 0;
}

/* The least size with which no stage has too many, to two digits. */
static double least_mb(double bytes)
{
    const double mb = bytes / PP_MAX_BUCKETS / 1e6, digit = pow(10, floor(log10(mb)) - 1);

    return ceil(mb / digit) * digit;
}

static enum pp_status count_buckets(const struct pp_config *config, const struct pp_costs *costs,
                                    int stage, int *buckets, struct pp_error *err)
{
    const double bytes = costs->op[PP_AR][stage].bytes, count = ceil(bytes / config->bucket_bytes);
    char all[PP_UNITS_TEXT_BYTES];

    *buckets = count > 1 ? (int)fmin(count, PP_MAX_BUCKETS) : 1;
    if (count <= PP_MAX_BUCKETS)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "--bucket-size %s cuts the %s of gradients of stage %d into %.0f buckets: "
                        "at most %d; --bucket-size %.12gMB is enough",
                        config->bucket_size, pp_units_print(bytes, PP_UNIT_BYTES, all), stage,
                        count, PP_MAX_BUCKETS, least_mb(bytes));
}

enum pp_status pp_buckets_lower(struct pp_arena *arena, const struct pp_config *config,
                                const struct pp_costs *costs, struct pp_lower_options *lower,
                                struct pp_error *err)
{
    int *buckets;

    if (!lower->has_sync || !pp_buckets_are_used(config))
        return PP_OK;
    lower->buckets = buckets = PP_ARRAY(arena, int, costs->stages);
    for (int s = 0; s < costs->stages; s++) {
        buckets[s] = config->buckets;
        if (config->bucket_bytes > 0)
            PP_TRY(count_buckets(config, costs, s, &buckets[s], err));
    }
    return PP_OK;
}

/* ---- words ----------------------------------------------------------------------------------- */

const char *pp_buckets_text(const struct pp_config *config, char text[PP_UNITS_TEXT_BYTES])
{
    text[0] = '\0';
    if (config->buckets > 1)
        snprintf(text, PP_UNITS_TEXT_BYTES, " in %d buckets a stage", config->buckets);
    else if (config->bucket_bytes > 0)
        snprintf(text, PP_UNITS_TEXT_BYTES, " in buckets of %.20s", config->bucket_size);
    return text;
}

/* Any one of the equal buckets of a stage's sum; NULL where it is not cut. */
static const struct pp_collective *bucket_of(const struct pp_program *p, int stage)
{
    for (int c = 0; c < p->collective_count; c++)
        if (p->collectives[c].stage == stage && p->collectives[c].buckets > 1 &&
            p->collectives[c].kind != PP_AG)
            return &p->collectives[c];
    return NULL;
}

static struct pp_op op_of(const struct pp_collective *c)
{
    return (struct pp_op){
        .kind = c->kind, .split = c->bucket, .granules = c->buckets, .stage = c->stage};
}

static bool is_like(const struct pp_result *r, int a, int b)
{
    const struct pp_collective *x = bucket_of(r->program, a), *y = bucket_of(r->program, b);

    if (!x || !y)
        return x == y;
    const struct pp_op first = op_of(x), second = op_of(y);
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
    struct pp_op op = op_of(c);
    const struct pp_cost cost = pp_costs_op(r->costs, &op, NULL);
    op.split = op.granules = 0;
    fprintf(
        out, "%d buckets of %s, %s each: %s together, %s in one piece\n", c->buckets,
        pp_units_print(cost.bytes, PP_UNIT_BYTES, bytes),
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
          "share of\n  the last backward has passed, where the sum follows it\n",
          out);
    for (int s = 0, last; s < r->program->stages; s = last + 1) {
        for (last = s; last + 1 < r->program->stages && is_like(r, s, last + 1); last++)
            ;
        fprintf(out, last > s ? "    stages %d-%d: " : "    stage %d: ", s, last);
        explain_stage(r, s, out);
    }
}
