/* Plan of a schedule: shape, blocks, program, stages. */
#include "exec/plan/plan.h"
#include "exec/plan/parts.h"
#include "exec/program/stages.h"
#include "exec/resolve/planned.h"
#include "exec/resolve/what_if.h"

#include "schedules/build/build.h"
#include "schedules/evaluate/weight_stream.h"
#include "schedules/lower/cache.h"
#include "schedules/program/uses.h"
#include "schedules/verify/verify.h"

#define USUAL_SCHEDULE "1f1b"

/* ---- program --------------------------------------------------------------------------------- */

/* Refuses an order that follows the durations of a run: they are known too late for a list. */
static enum pp_status check_order(struct pp_order_choice order, struct pp_error *err)
{
    char typed[PP_ORDER_TEXT_BYTES], nearest[PP_ORDER_TEXT_BYTES];
    struct pp_order_choice eager = {.rule = PP_ORDER_EAGER};

    if (!pp_order_follows(order))
        return PP_OK;
    if (order.rule == PP_ORDER_DYNAMIC)
        eager.limit = order.limit, eager.is_multiple = order.is_multiple;
    return pp_error_set(err, PP_EINVAL,
                        "--order %s: pipeexec runs lists that are made before the run; nearest: %s",
                        pp_order_print(order, typed), pp_order_print(eager, nearest));
}

static enum pp_status resolve_shape(const struct pp_exec_wish *wish,
                                    const struct pp_exec_config *config, struct pp_exec_plan *plan,
                                    struct pp_error *err)
{
    struct pp_selection *selection = &plan->selection;
    struct pp_shape *shape = &selection->shape;
    char typed[PP_REQUEST_TYPED_BYTES];

    PP_TRY(pp_select_shape(&wish->request, &plan->subject, selection, err));
    PP_TRY(check_order(selection->order, err));
    shape->ranks_option = wish->given.np.spelled;
    if (!plan->subject.file) {
        shape->ranks = config->ranks ? config->ranks : PP_EXEC_USUAL_RANKS;
        plan->chosen |= config->ranks ? 0 : PP_EXEC_CHOSE_RANKS;
    }
    PP_TRY(pp_exec_batch(wish, config, plan, err));
    if (plan->subject.file)
        return PP_OK;
    if (pp_schedule_check(plan->subject.schedule, shape, err) != PP_OK)
        return pp_exec_explain_batch(wish, config, err);
    const struct pp_schedule_variant *open = pp_schedule_variants(plan->subject.schedule, shape);
    if (open)
        return pp_error_set(err, PP_EINVAL,
                            "%s: pipeexec runs one order; 'pipesim --schedule %s' with the same "
                            "option compares them",
                            pp_request_typed(&wish->request, open->option, typed),
                            plan->subject.name);
    return PP_OK;
}

static enum pp_status check_lowered(const struct pp_exec_wish *wish,
                                    const struct pp_exec_plan *plan, struct pp_error *err)
{
    const struct pp_given *const own[] = {&wish->given.recompute,  &wish->given.post,
                                          &wish->given.recv_slots, &wish->given.grad_sync,
                                          &wish->given.zero,       &wish->given.shard,
                                          &wish->given.gather,     &wish->given.gather_buffers};
    const struct pp_program *file = plan->subject.file;

    if (!file || file->level != PP_LEVEL_LOWERED || plan->subject.is_listed)
        return PP_OK;
    for (size_t i = 0; i < PP_COUNT(own); i++)
        if (own[i]->count)
            return pp_error_set(err, PP_EINVAL,
                                "%s: %s is a lowered program, which has its own; 'pipesim program "
                                "--compute' prints programs without",
                                own[i]->typed, plan->subject.name);
    return PP_OK;
}

/* Instructions and events of all workers have numbers of 32 bits, with room for those of groups. */
static enum pp_status check_size(const struct pp_exec_config *config, const struct pp_program *p,
                                 struct pp_error *err)
{
    const int64_t each = (int64_t)pp_program_size(p) + p->message_count + p->channel_count,
                  most = INT32_MAX / 4 / config->tp / each;

    if (config->replicas <= most)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%d replicas of %lld instructions, messages and channels are too many; "
                        "nearest: --dp %lld, or fewer --micro-batches",
                        config->replicas, (long long)each, (long long)(most > 0 ? most : 1));
}

/* Returns what R computes of a stage, a chunk or one of its layers. */
static struct pp_stage_again again_of(const struct pp_exec_config *config,
                                      const struct pp_exec_plan *plan, int stage)
{
    const int chunk = plan->layers ? pp_layers_chunk_of(plan->layers, stage) : stage;
    struct pp_stage_again again =
        pp_exec_stage_again(config, plan->chunks, chunk, plan->blocks_per_chunk[chunk]);

    if (plan->layers)
        again.blocks = stage - plan->layers->first[chunk] < again.blocks;
    return again;
}

/* Replaces the order by one of ops on layers. */
static enum pp_status cut_layers(struct pp_arena *arena, const struct pp_exec_config *config,
                                 struct pp_exec_plan *plan, struct pp_build *build,
                                 struct pp_error *err)
{
    struct pp_layers *layers = PP_NEW(arena, struct pp_layers);
    struct pp_program *by_layer;

    PP_TRY(pp_layers_find(arena, plan->blocks_per_chunk, plan->chunks, layers, err));
    PP_TRY(pp_layers_cut(arena, build->given, layers, &by_layer, err));
    plan->layers = layers;
    double *fracs = PP_ARRAY(arena, double, by_layer->stages);
    for (int s = 0; s < by_layer->stages; s++)
        fracs[s] = config->recompute.how == PP_RECOMPUTE_STAGE
                       ? again_of(config, plan, s).blocks
                       : build->recompute_frac[pp_layers_chunk_of(layers, s)];
    build->given = by_layer;
    build->costs = NULL; /* those of the chunks */
    build->recompute_frac = fracs;
    return PP_OK;
}

static enum pp_status build(struct pp_arena *arena, const struct pp_exec_wish *wish,
                            const struct pp_exec_config *config, struct pp_exec_plan *plan,
                            struct pp_error *err)
{
    const struct pp_program *file = plan->subject.file;

    plan->chunks = file ? file->stages : pp_shape_stages(&plan->selection.shape);
    PP_TRY(pp_exec_blocks(arena, config->net.layers, plan->chunks, &plan->blocks_per_chunk, err));
    struct pp_build build = {.schedule = plan->subject.schedule,
                             .shape = plan->selection.shape,
                             .given = file,
                             .recompute_frac = pp_exec_recompute_fracs(arena, config, plan->chunks,
                                                                       plan->blocks_per_chunk),
                             .unit = plan->unit,
                             .order = plan->selection.order,
                             .wishes.again = config->recompute.words,
                             .proves_given = true};

    PP_TRY(check_lowered(wish, plan, err));
    PP_TRY(pp_build_order(arena, &build, err));
    PP_TRY(pp_exec_take_shards(wish, config, plan, &build, err));
    if (build.state.gather == PP_GATHER_LAYER && build.wishes.again.is_skipped)
        return pp_error_set(
            err, PP_EINVAL,
            "--recompute %s: parameters are gathered layer by layer, so no backward "
            "of a whole stage follows its forward; nearest: --gather chunk, or no "
            "skip",
            wish->recompute);
    if (build.state.gather == PP_GATHER_LAYER)
        PP_TRY(cut_layers(arena, config, plan, &build, err));
    PP_TRY(pp_cache_check(&build.state, pp_program_most_chunks(build.given), err));
    build.wishes = (struct pp_build_wishes){
        .post = (enum pp_post)wish->post,
        .recv_slots = plan->unit && !wish->given.recv_slots.count ? 0 : wish->recv_slots,
        .grad_sync = (enum pp_grad_sync)wish->grad_sync,
        .again = config->recompute.words,
        .has_whole_updates = true,
        .ties_at_bar = config->net.is_tied,
        .reads_params = config->kernels->element_bytes == config->kernels->gradient_bytes,
        .has_clip = true}; /* at its BAR the norm is computed and gradients are compared */
    build.has_update = true;
    build.has_tied = config->net.is_tied;
    build.joins_tied = pp_state_cut(&build.state, PP_STATE_GRADS) > 1 || plan->batch.sharers > 1 ||
                       pp_state_is_away(&build.state, PP_STATE_GRADS);
    PP_TRY(pp_build(arena, &build, &plan->program, err));
    PP_TRY(pp_exec_check_kinds(wish, config, plan, err));
    PP_TRY(pp_exec_check_bits(config, plan, err));
    PP_TRY(pp_exec_check_shards(wish, config, plan, err));
    PP_TRY(check_size(config, plan->program, err));
    PP_TRY(pp_verify(plan->program, NULL, err));
    pp_exec_note_homes(&build.state, plan->program);
    PP_TRY(pp_exec_check_moves(wish, config, plan, err));
    if (config->has_weight_stream)
        plan->program->weight_stream = pp_weight_stream_create(arena, plan->program);
    return PP_OK;
}

/* ---- stages ---------------------------------------------------------------------------------- */

static int blocks_of(const struct pp_exec_plan *plan, int stage)
{
    return plan->layers ? plan->blocks_per_chunk[pp_layers_chunk_of(plan->layers, stage)] > 0
                        : plan->blocks_per_chunk[stage];
}

static void make_stages(struct pp_arena *arena, const struct pp_exec_config *config,
                        struct pp_exec_plan *plan)
{
    const int stages = plan->program->stages;
    int *blocks = PP_ARRAY(arena, int, stages);
    struct pp_stage_again *again = PP_ARRAY(arena, struct pp_stage_again, stages);
    const struct pp_stages_wish wish = {
        .net = &config->net,
        .kernels = config->kernels,
        .batch = &plan->batch,
        .blocks = blocks,
        .again = again,
        .is_exact = config->recipe.is_exact,
        .shape = {.act_bits = config->act_bits,
                  .tp = config->tp,
                  .is_sequence_parallel = config->is_sequence_parallel,
                  .tp_split = config->tp_split,
                  .etp = config->etp,
                  .ep = config->expert_replicas}};

    for (int s = 0; s < stages; s++) {
        blocks[s] = blocks_of(plan, s);
        again[s] = again_of(config, plan, s);
    }
    for (int c = 0; c < plan->chunks; c++)
        plan->empty_chunks += plan->blocks_per_chunk[c] == 0;
    plan->stages = pp_stages_make(arena, plan->program, &wish);
}

static enum pp_status check_splits(const struct pp_exec_config *config,
                                   const struct pp_exec_plan *plan, struct pp_error *err)
{
    const int splits = plan->program->splits;

    return !config->net.is_encoder || splits == 1
               ? PP_OK
               : pp_error_set(err, PP_EINVAL,
                              "--schedule %s: it cuts samples into %d splits, and each token of "
                              "model '%.80s' meets all tokens of its sample; nearest: --splits 1, "
                              "or a schedule without splits",
                              plan->subject.name, splits, config->net.name);
}

enum pp_status pp_exec_plan_make(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                 const struct pp_exec_config *config, struct pp_subject subject,
                                 struct pp_exec_plan *plan, struct pp_error *err)
{
    *plan = (struct pp_exec_plan){.subject = subject, .chosen = config->chosen};
    if (!subject.name)
        PP_TRY(pp_subject_open(arena, &wish->request, USUAL_SCHEDULE, &plan->subject, err));
    PP_TRY(pp_exec_check_subject(wish, config, &plan->subject, err));
    PP_TRY(resolve_shape(wish, config, plan, err));
    PP_TRY(pp_exec_check_cut(config, plan, err));
    PP_TRY(pp_exec_check_row_parts(wish, config, plan, err));
    PP_TRY(pp_exec_check_again(config, plan, err));
    PP_TRY(pp_exec_plan_unit(arena, wish, config, plan, err));
    PP_TRY(build(arena, wish, config, plan, err));
    PP_TRY(check_splits(config, plan, err));
    PP_TRY(pp_exec_check_balance(config, plan, err));
    const struct pp_program *p = plan->program;
    plan->batch.replicas = config->replicas;
    plan->batch.micro_batches = p->micro_batches;
    plan->batch.granules = p->granules;
    plan->batch.splits = p->splits;
    make_stages(arena, config, plan);
    return pp_exec_plan_costs(arena, wish, config, plan, err);
}
