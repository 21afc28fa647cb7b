/* Micro-batches, samples of a micro-batch, samples of a step: two of them give the third. */
#include "exec/resolve/parts.h"
#include "exec/resolve/planned.h"

#include "core/cost/analytic/roofline.h"
#include <string.h>

enum { USUAL_MBS = 4, USUAL_MICRO_BATCHES = 8 };

/* Returns the first number of micro-batches from `count` up or down (`step` 1 or -1) that the
 * schedule accepts; 0 if none near it is. */
static int64_t legal_micro_batches(const struct pp_schedule *schedule, const struct pp_shape *shape,
                                   int64_t count, int step)
{
    const int group = pp_schedule_option_value(schedule, shape, pp_group_option.name);
    const int reach = 4 * shape->ranks * shape->pipelines + group;
    struct pp_error ignored;

    for (int i = 0; i <= reach; i++, count += step) {
        struct pp_shape tried = *shape;
        if (count < 1 || count > PP_OPTION_BIG)
            return 0;
        tried.micro_batches = (int)count;
        if (pp_schedule_check(schedule, &tried, &ignored) == PP_OK)
            return count;
    }
    return 0;
}

/* Appends the nearest multiples of `unit`. */
static enum pp_status append_multiples(struct pp_error *err, int64_t value, int64_t unit,
                                       const char *separator)
{
    const int64_t below = value / unit * unit;

    if (below)
        pp_error_append(err, "%lld%s", (long long)below, separator);
    return pp_error_append(err, "%lld", (long long)(below + unit));
}

/* --gbs is not a whole number of micro-batches. The nearest numbers are legal for the schedule. */
static enum pp_status uneven(const struct pp_exec_wish *wish, const struct pp_exec_config *config,
                             const struct pp_exec_plan *plan, int mbs, struct pp_error *err)
{
    const struct pp_shape *shape = &plan->selection.shape;
    const struct pp_schedule *schedule = plan->subject.schedule;
    const int64_t unit = (int64_t)config->replicas * mbs, count = config->gbs / unit;
    const int64_t below = legal_micro_batches(schedule, shape, count, -1) * unit,
                  above = legal_micro_batches(schedule, shape, count + 1, 1) * unit;

    pp_error_set(err, PP_EINVAL, "%s is not a multiple of dp * mbs = %lld", wish->given.gbs.typed,
                 (long long)unit);
    if (below)
        pp_error_append(err, "; nearest: %lld", (long long)below);
    return above ? pp_error_append(err, "%s%lld", below ? ", " : "; nearest: ", (long long)above)
                 : err->status;
}

/* --gbs and both of its factors are given, or the number of micro-batches does not divide it. */
static enum pp_status contradiction(const struct pp_exec_wish *wish,
                                    const struct pp_exec_config *config, int micro_batches,
                                    struct pp_error *err)
{
    const int64_t unit = (int64_t)config->replicas * micro_batches, gbs = config->gbs;

    if (!config->mbs) {
        pp_error_set(err, PP_EINVAL, "%s is not a multiple of dp * micro-batches = %lld; nearest: ",
                     wish->given.gbs.typed, (long long)unit);
        return append_multiples(err, gbs, unit, ", ");
    }
    pp_error_set(err, PP_EINVAL,
                 "%s contradicts dp %d * mbs %d * %d micro-batches = %lld; nearest: --gbs %lld",
                 wish->given.gbs.typed, config->replicas, config->mbs, micro_batches,
                 (long long)unit * config->mbs, (long long)unit * config->mbs);
    return gbs % unit ? err->status
                      : pp_error_append(err, ", or --mbs %lld", (long long)(gbs / unit));
}

/* Derives from --gbs the number of micro-batches, or their samples if the number is given. */
static enum pp_status from_gbs(const struct pp_exec_wish *wish, const struct pp_exec_config *config,
                               struct pp_exec_plan *plan, struct pp_error *err)
{
    struct pp_shape *shape = &plan->selection.shape;
    const int64_t gbs = config->gbs;
    const int mbs = config->mbs ? config->mbs : USUAL_MBS;

    if (!shape->micro_batches) {
        if (gbs % ((int64_t)config->replicas * mbs))
            return uneven(wish, config, plan, mbs, err);
        const int64_t count = gbs / config->replicas / mbs;
        if (count > PP_OPTION_BIG)
            return pp_error_set(err, PP_EINVAL, "%s: %lld micro-batches are more than %d",
                                wish->given.gbs.typed, (long long)count, PP_OPTION_BIG);
        shape->micro_batches = (int)count;
        plan->batch.mbs = mbs;
        plan->chosen |= config->mbs ? 0 : PP_EXEC_CHOSE_MBS;
        return PP_OK;
    }
    const int64_t unit = (int64_t)config->replicas * shape->micro_batches;
    if (gbs % unit || (config->mbs && gbs / unit != config->mbs)) {
        if (!plan->subject.file) /* else the advice would be refused, too */
            PP_TRY(pp_schedule_check(plan->subject.schedule, shape, err));
        return contradiction(wish, config, shape->micro_batches, err);
    }
    if (gbs / unit > PP_OPTION_BIG)
        return pp_error_set(err, PP_EINVAL, "%s: more than %d samples in a micro-batch",
                            wish->given.gbs.typed, PP_OPTION_BIG);
    plan->batch.mbs = (int)(gbs / unit);
    return PP_OK;
}

enum pp_status pp_exec_batch(const struct pp_exec_wish *wish, const struct pp_exec_config *config,
                             struct pp_exec_plan *plan, struct pp_error *err)
{
    struct pp_shape *shape = &plan->selection.shape;

    if (!plan->subject.file)
        shape->micro_batches = config->micro_batches;
    plan->batch.mbs = config->mbs ? config->mbs : USUAL_MBS;
    if (config->gbs)
        PP_TRY(from_gbs(wish, config, plan, err));
    else if (!config->mbs)
        plan->chosen |= PP_EXEC_CHOSE_MBS;
    if (shape->micro_batches)
        return PP_OK;
    shape->micro_batches =
        (int)legal_micro_batches(plan->subject.schedule, shape, USUAL_MICRO_BATCHES, 1);
    if (!shape->micro_batches) /* then the schedule says why */
        shape->micro_batches = USUAL_MICRO_BATCHES;
    plan->chosen |= PP_EXEC_CHOSE_MICRO_BATCHES;
    return PP_OK;
}

enum pp_status pp_exec_explain_batch(const struct pp_exec_wish *wish,
                                     const struct pp_exec_config *config, struct pp_error *err)
{
    static const char COUNT[] = "--micro-batches";

    if (!config->gbs || config->micro_batches ||
        strncmp(err->message, COUNT, sizeof(COUNT) - 1) != 0)
        return err->status;
    return pp_error_prefix(err, "%s with dp %d and mbs %d makes ", wish->given.gbs.typed,
                           config->replicas, config->mbs ? config->mbs : USUAL_MBS);
}

/* Kernels count tokens of a forward, and their choices of experts, in 32 bits. */
static enum pp_status check_tokens(const struct pp_exec_config *config,
                                   const struct pp_exec_plan *plan, struct pp_error *err)
{
    const struct pp_shape *shape = &plan->selection.shape;
    const struct pp_net *net = &config->net;
    const int64_t rows = plan->batch.mbs / shape->granules,
                  choices = (int64_t)(net->seq / shape->splits) *
                            (net->experts ? (int64_t)net->top_k * config->expert_replicas : 1),
                  each = choices > net->experts ? choices : net->experts, most = INT32_MAX / each;

    if (rows <= most)
        return PP_OK;
    pp_error_set(err, PP_EINVAL, "--mbs %d: a forward has %lld tokens%s, and at most %d can be; ",
                 plan->batch.mbs, (long long)(rows * each),
                 config->expert_replicas > 1
                     ? ", times the experts of a token and the replicas that share them"
                 : net->experts ? ", times the experts of a token"
                                : "",
                 INT32_MAX);
    return most > 0 ? pp_error_append(err, "nearest: --mbs %lld", (long long)most * shape->granules)
                    : pp_error_append(err, "give a lower --seq");
}

enum pp_status pp_exec_check_cut(const struct pp_exec_config *config,
                                 const struct pp_exec_plan *plan, struct pp_error *err)
{
    const struct pp_shape *shape = &plan->selection.shape;
    const int seq = config->net.seq, splits = shape->splits, mbs = plan->batch.mbs;

    if (shape->granules > 1 && mbs % shape->granules) {
        pp_error_set(err, PP_EINVAL,
                     "--mbs %d: backwards of 1/%d micro-batch need a multiple of %d; nearest: ",
                     mbs, shape->granules, shape->granules);
        return append_multiples(err, mbs, shape->granules, " or ");
    }
    if (splits > 1 && seq % splits) {
        int below = splits, above = splits;
        while (seq % --below)
            ;
        while (above < seq && seq % ++above)
            ;
        pp_error_set(err, PP_EINVAL,
                     "--splits %d does not divide the %d tokens of a sample; "
                     "nearest: --splits %d",
                     splits, seq, below);
        if (seq % above == 0 && above > splits)
            pp_error_append(err, " or %d", above);
        pp_error_append(err, ", or --seq ");
        return append_multiples(err, seq, splits, " or ");
    }
    PP_TRY(check_tokens(config, plan, err));
    PP_TRY(pp_exec_check_token_shares(config, plan, err));
    if (config->kernels->element_bytes < sizeof(float) &&
        mbs / shape->granules * (seq / splits) % 2)
        return pp_error_set(err, PP_EINVAL,
                            "--precision %s: a forward takes %d tokens, and this needs an even "
                            "number; change --seq %d, or --mbs %d",
                            config->precision, mbs / shape->granules * (seq / splits), seq, mbs);
    return PP_OK;
}

/* ---- layers into stages ---------------------------------------------------------------------- */

enum pp_status pp_exec_blocks(struct pp_arena *arena, int layers, int stages,
                              int **blocks_per_stage, struct pp_error *err)
{
    if (layers >= stages)
        return pp_partition_blocks(arena, layers, stages, 0, 0, blocks_per_stage, err);
    int *blocks = PP_ARRAY(arena, int, stages);
    const int inner = stages - 2, spread = layers < inner ? layers : inner;

    /* the k-th inner stage gets a block where the line of slope spread / inner passes an integer */
    for (int k = 0; k < inner; k++)
        blocks[1 + k] = (k + 1) * spread / inner - k * spread / inner;
    if (layers > spread) /* more blocks than inner stages: the rest */
        blocks[0] = layers - spread;
    *blocks_per_stage = blocks;
    return PP_OK;
}
