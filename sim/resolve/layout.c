/* Resolves degrees and batch into a complete, checked layout. */
#include "sim/resolve/mode.h"
#include "sim/resolve/resolve.h"

#include <math.h>

/* Default batch: about 4 M tokens, in at most so many samples. */
enum { TOKENS_PER_STEP = 4 << 20, USUAL_SAMPLES = 1 << 14 };

static enum pp_status check_shape(struct pp_config *config, int micro_batches, struct pp_error *err)
{
    struct pp_shape shape = config->shape;

    if (config->file_program)
        return PP_OK;
    shape.micro_batches = micro_batches;
    PP_TRY(pp_schedule_check(config->schedule, &shape, err));
    config->shape = shape;
    config->layout.vp = shape.chunks;
    if (config->generation.passes)
        config->layout.vp /= config->generation.passes;
    return PP_OK;
}

/* First number of micro-batches from `count` up or down (`step` 1 or -1) that the schedule accepts;
 * 0 if none near it is. */
static int legal_micro_batches(struct pp_config *config, int64_t count, int step)
{
    const struct pp_shape before = config->shape;
    const int reach = 4 * config->shape.ranks * config->shape.pipelines + 8;
    struct pp_error ignored;

    for (int i = 0; i <= reach; i++, count += step) {
        if (count < 1 || count > PP_OPTION_BIG)
            return 0;
        if (check_shape(config, (int)count, &ignored) != PP_OK)
            continue;
        config->shape = before;
        return (int)count;
    }
    return 0;
}

/* Number of micro-batches nearest to `wanted` that the schedule accepts; 0 if none is near. */
static int nearest_micro_batches(struct pp_config *config, int wanted)
{
    const int below = legal_micro_batches(config, wanted, -1),
              above = legal_micro_batches(config, wanted, 1);

    return !below || (above && above - wanted <= wanted - below) ? above : below;
}

static enum pp_status uneven_batch(const struct pp_wish *wish, struct pp_config *config,
                                   int64_t gbs, struct pp_error *err)
{
    const struct pp_layout *l = &config->layout;
    const int64_t unit = (int64_t)l->dp * l->mbs,
                  below = legal_micro_batches(config, gbs / unit, -1) * unit,
                  above = legal_micro_batches(config, gbs / unit + 1, 1) * unit;

    if (wish->gbs)
        pp_error_set(err, PP_EINVAL, "%s", wish->given.gbs.typed);
    else
        pp_error_set(err, PP_EINVAL, "--gbs %lld", (long long)gbs);
    pp_error_append(err, " is not a multiple of dp * mbs = %d * %d = %lld", l->dp, l->mbs,
                    (long long)unit);
    if (below)
        pp_error_append(err, "; nearest: %lld", (long long)below);
    return above ? pp_error_append(err, "%s%lld", below ? ", " : "; nearest: ", (long long)above)
                 : err->status;
}

/* Sets micro_batches from `gbs`: exactly if the user gave it, else adjusted. */
static enum pp_status micro_batches_from_gbs(const struct pp_wish *wish, struct pp_config *config,
                                             int64_t gbs, bool is_firm, struct pp_error *err)
{
    struct pp_layout *l = &config->layout;
    const int64_t unit = (int64_t)l->dp * l->mbs;
    int64_t n = gbs / unit;

    if (is_firm && gbs % unit)
        return uneven_batch(wish, config, gbs, err);
    if (n > 1 << 20)
        return pp_error_set(err, PP_EINVAL, "%lld micro-batches a replica are more than 1,048,576",
                            (long long)n);
    if (n < 1)
        n = 1;
    if (!is_firm) {
        const int legal = nearest_micro_batches(config, (int)n);
        n = legal ? legal : n;
    }
    l->micro_batches = (int)n;
    l->gbs = n * unit;
    return PP_OK;
}

int64_t pp_resolve_usual_gbs(int seq)
{
    const int64_t samples = lround((double)TOKENS_PER_STEP / seq);

    return samples < USUAL_SAMPLES ? samples : USUAL_SAMPLES;
}

/* --gbs and the number of micro-batches are given, and do not fit together. */
static enum pp_status contradiction(const struct pp_wish *wish, const struct pp_layout *l,
                                    struct pp_error *err)
{
    const int64_t unit = (int64_t)l->dp * l->micro_batches, below = wish->gbs / unit * unit;

    if (!wish->mbs) {
        pp_error_set(err, PP_EINVAL, "%s is not a multiple of dp * micro-batches = %lld; nearest: ",
                     wish->given.gbs.typed, (long long)unit);
        if (below)
            pp_error_append(err, "%lld, ", (long long)below);
        return pp_error_append(err, "%lld", (long long)(below + unit));
    }
    pp_error_set(err, PP_EINVAL,
                 "%s contradicts dp %d * mbs %d * %d micro-batches = %lld; nearest: --gbs %lld",
                 wish->given.gbs.typed, l->dp, l->mbs, l->micro_batches, (long long)l->gbs,
                 (long long)l->gbs);
    return wish->gbs % unit
               ? err->status
               : pp_error_append(err, ", or --mbs %lld", (long long)(wish->gbs / unit));
}

/* Resolves mbs, micro_batches and gbs: dp and two of them give the third. */
static enum pp_status resolve_batch(const struct pp_wish *wish, struct pp_config *config,
                                    int default_mbs, struct pp_error *err)
{
    struct pp_layout *l = &config->layout;
    const bool is_firm = wish->given.gbs.origin == PP_FROM_FLAG;
    const int64_t fixed_n =
        config->file_program ? config->file_program->micro_batches : wish->micro_batches;

    l->mbs = wish->mbs ? wish->mbs : default_mbs;
    if (fixed_n && is_firm && wish->given.mbs.origin != PP_FROM_FLAG &&
        wish->gbs % (l->dp * fixed_n) == 0)
        l->mbs = (int)(wish->gbs / (l->dp * fixed_n));
    else if (!wish->mbs)
        config->origin.chosen |= PP_CHOSE_MBS;
    if (fixed_n) {
        l->micro_batches = (int)fixed_n;
        l->gbs = (int64_t)l->dp * l->mbs * fixed_n;
        if (!is_firm)
            config->origin.chosen |= PP_CHOSE_GBS;
        if (is_firm && wish->gbs != l->gbs) {
            PP_TRY(
                check_shape(config, l->micro_batches, err)); /* else the advice is refused, too */
            return contradiction(wish, l, err);
        }
        return PP_OK;
    }
    config->origin.chosen |= PP_CHOSE_MICRO_BATCHES;
    if (wish->gbs)
        return micro_batches_from_gbs(wish, config, wish->gbs, is_firm, err);
    config->origin.chosen |= PP_CHOSE_GBS;
    return micro_batches_from_gbs(wish, config, pp_resolve_usual_gbs(l->seq), false, err);
}

/* Takes the batch that the caller has chosen in `degrees`. */
static enum pp_status take_batch(const struct pp_wish *wish, struct pp_config *config,
                                 const struct pp_degrees *degrees, struct pp_error *err)
{
    struct pp_layout *l = &config->layout;

    l->mbs = degrees->mbs;
    if (degrees->gbs)
        return micro_batches_from_gbs(wish, config, degrees->gbs, true, err);
    l->micro_batches = wish->micro_batches ? wish->micro_batches : 1;
    l->gbs = (int64_t)l->dp * l->mbs * l->micro_batches;
    return PP_OK;
}

static enum pp_status check_degrees(const struct pp_wish *wish, const struct pp_config *config,
                                    struct pp_error *err)
{
    const struct pp_layout *l = &config->layout;
    const struct pp_model *m = &config->model;

    if (m->heads % l->tp)
        return pp_error_set(err, PP_EINVAL, "%s does not divide the %d attention heads of %s",
                            wish->given.tp.typed, m->heads, m->name);
    if (l->seq % l->cp)
        return pp_error_set(err, PP_EINVAL, "%s does not divide the %d tokens of a sample",
                            wish->given.cp.typed, l->seq);
    if (m->positions && l->seq > m->positions)
        return pp_error_set(err, PP_EINVAL, "%s: %s has a table of %d positions",
                            wish->given.seq.typed, m->name, m->positions);
    return PP_OK;
}

/* Returns the next number from `from` on, in steps of `step`, that divides the rows; 0 = none. */
static int next_part(int64_t rows, int from, int step)
{
    enum { MOST = 16 };

    while (from > 0 && from <= MOST && rows % from != 0)
        from += step;
    return from <= MOST ? from : 0;
}

/* Parts of a block have equally many rows. */
static enum pp_status check_parts(const struct pp_wish *wish, const struct pp_config *config,
                                  struct pp_error *err)
{
    const struct pp_layout *l = &config->layout;
    const int64_t rows = (int64_t)l->mbs * l->seq / l->cp / config->shape.splits;
    const int parts = config->costs.tp_split;

    if (parts <= 1 || l->tp == 1 || rows % parts == 0)
        return PP_OK;
    const int above = next_part(rows, parts, 1);
    pp_error_set(
        err, PP_EINVAL,
        "%s does not divide the rows of a block, %lld (--mbs %d x %d tokens%s); nearest: %d",
        wish->given.tp_split.typed, (long long)rows, l->mbs, l->seq,
        l->cp * config->shape.splits > 1 ? ", cut by --cp and --splits" : "",
        next_part(rows, parts, -1));
    return above ? pp_error_append(err, " or %d", above) : PP_EINVAL;
}

enum pp_status pp_resolve_blocks(struct pp_arena *arena, struct pp_config *config,
                                 struct pp_error *err)
{
    const int stages = pp_config_stages(config);
    const struct pp_cost_inputs inputs = {.model = &config->model,
                                          .map = pp_map_make(config->map, &config->layout),
                                          .cluster = &config->cluster,
                                          .layout = config->layout,
                                          .stages = stages,
                                          .splits = config->shape.splits,
                                          .recompute = config->costs.recompute,
                                          .again = config->costs.again,
                                          .ep_overlap_frac = config->costs.ep_overlap_frac,
                                          .ep_share_frac = config->costs.ep_share_frac,
                                          .capacity_factor = config->costs.capacity_factor,
                                          .is_sent_once = config->costs.is_sent_once,
                                          .tp_split = config->costs.tp_split,
                                          .intra_factor = config->costs.intra_factor,
                                          .inter_factor = config->costs.inter_factor};

    if (config->costs.head == PP_HEAD_BALANCED)
        return pp_partition_balanced(arena, &inputs, &config->blocks_per_stage, err);
    if (config->costs.head == PP_HEAD_COUNTED)
        return pp_partition_counted(arena, config->model.layers, stages, &config->blocks_per_stage,
                                    err);
    return pp_partition_blocks(arena, config->model.layers, stages, config->first_stage_layers,
                               config->last_stage_layers, &config->blocks_per_stage, err);
}

enum pp_status pp_resolve_division(struct pp_arena *arena, struct pp_config *config,
                                   struct pp_error *err)
{
    PP_TRY(pp_resolve_granules(config, err));
    PP_TRY(pp_resolve_blocks(arena, config, err));
    if (config->layout.pp > PP_COST_RANKS_MAX)
        return pp_error_set(err, PP_EINVAL,
                            "--pp %d: a model with costs takes at most %d ranks; nearest: %d, or "
                            "--unit, which takes all",
                            config->layout.pp, PP_COST_RANKS_MAX, PP_COST_RANKS_MAX);
    return pp_resolve_shards(arena, config, err);
}

enum pp_status pp_resolve_layout(struct pp_arena *arena, const struct pp_wish *wish,
                                 const struct pp_degrees *degrees, struct pp_config *config,
                                 struct pp_error *err)
{
    struct pp_layout *l = &config->layout;

    l->tp = degrees->tp;
    l->cp = degrees->cp;
    l->pp = degrees->pp;
    l->dp = degrees->dp;
    l->ep = degrees->ep > 0 ? degrees->ep : 1;
    l->vp = config->shape.chunks;
    l->gpus = l->tp * l->cp * l->pp * l->dp;
    config->shape.ranks = l->pp;
    PP_TRY(check_degrees(wish, config, err));
    PP_TRY(pp_resolve_experts(wish, config, err));
    if (config->generation.passes)
        PP_TRY(pp_resolve_groups(wish, config, err));
    else if (degrees->mbs)
        PP_TRY(take_batch(wish, config, degrees, err));
    else
        PP_TRY(resolve_batch(wish, config, 1, err));
    PP_TRY(check_shape(config, l->micro_batches, err));
    if (!degrees->mbs && !config->generation.passes && config->origin.chosen & PP_CHOSE_MBS &&
        config->shape.granules > 1) { /* one sample for each granule */
        PP_TRY(resolve_batch(wish, config, config->shape.granules, err));
        PP_TRY(check_shape(config, l->micro_batches, err));
    }
    PP_TRY(check_parts(wish, config, err));
    return pp_resolve_division(arena, config, err);
}

/* Sets the micro-batches of unit mode, which runs one replica, from GPUs and batch of a preset. */
static enum pp_status unit_batch_of_preset(const struct pp_wish *wish, struct pp_config *config,
                                           struct pp_error *err)
{
    struct pp_layout *l = &config->layout;
    const int gpus = wish->gpus, ranks = config->shape.ranks;
    const int degrees = (wish->tp ? wish->tp : 1) * wish->cp;

    if (!wish->gbs || !gpus)
        return pp_error_set(err, PP_EINVAL, "--unit needs --pp and --micro-batches");
    if (gpus % (degrees * (int64_t)ranks))
        return pp_error_set(err, PP_EINVAL,
                            "%s: the %d GPUs of --preset %s are not a multiple of tp * cp * pp = "
                            "%lld; give --micro-batches, or a --pp that divides %d",
                            wish->given.pp.typed, gpus, wish->request.preset_row->name,
                            (long long)degrees * ranks, gpus / degrees);
    l->dp = gpus / degrees / ranks;
    l->mbs = wish->mbs ? wish->mbs : 1;
    config->origin.chosen |= PP_CHOSE_MICRO_BATCHES;
    return micro_batches_from_gbs(wish, config, wish->gbs, false, err);
}

static enum pp_status unit_shape(const struct pp_wish *wish, struct pp_config *config,
                                 struct pp_error *err)
{
    const int given = wish->micro_batches;

    if (config->generation.passes) {
        config->shape.ranks = wish->pp;
        if (!wish->given.pp.count)
            return pp_error_set(err, PP_EINVAL, "--unit needs --pp, and --groups and --tokens");
        PP_TRY(pp_resolve_groups(wish, config, err));
        return check_shape(config, config->layout.micro_batches, err);
    }
    if (!wish->given.pp.count || (!given && !wish->request.preset_row))
        return pp_error_set(err, PP_EINVAL, "--unit needs --pp and --micro-batches");
    config->shape.ranks = wish->pp;
    if (!given)
        PP_TRY(unit_batch_of_preset(wish, config, err));
    return check_shape(config, given ? given : config->layout.micro_batches, err);
}

enum pp_status pp_resolve_unit(const struct pp_wish *wish, struct pp_config *config,
                               struct pp_error *err)
{
    if (!config->file_program)
        PP_TRY(unit_shape(wish, config, err));
    else if (config->generation.passes)
        PP_TRY(pp_resolve_groups(wish, config, err));
    config->layout = pp_config_unit_layout(&config->shape);
    if (config->generation.passes)
        config->layout.vp /= config->generation.passes;
    config->lower.recv_slots = 0;
    config->engine_options.eval.is_buffered = true;
    return PP_OK;
}
