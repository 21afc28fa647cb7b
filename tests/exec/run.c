#include "tests/exec/run.h"
#include "exec/program/stages.h"
#include "schedules/order/concat.h"

#include "schedules/evaluate/weight_stream.h"
#include "schedules/registry.h"
#include "schedules/verify/verify.h"

static int or (int value, int usual)
{
    return value ? value : usual;
}

static struct pp_text text_make(struct pp_arena *arena, struct pp_net net, uint64_t seed)
{
    enum { COUNT = 4096 };
    unsigned char *bytes = PP_ARRAY(arena, unsigned char, COUNT);
    unsigned state = 1;
    struct pp_text text;

    for (int i = 0; i < COUNT; i++) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)((i % 7 + (state >> 30)) % (unsigned)net.vocab);
    }
    pp_text_of_bytes(arena, (struct pp_named_bytes){"test", (const char *)bytes, COUNT}, net.seq,
                     net.vocab, &text);
    text.order.seed = seed;
    return text;
}

static struct pp_net net_of(const struct exec_case *c)
{
    const int hidden = or (c->hidden, 16), heads = or (c->heads, 2);

    return (struct pp_net){.name = "test",
                           .layers = or (c->layers, 8),
                           .hidden = hidden,
                           .heads = heads,
                           .kv_heads = c->has_rope ? heads / 2 : heads,
                           .head_dim = hidden / heads,
                           .ffn = c->is_gated ? 2 * hidden : 4 * hidden,
                           .vocab = or (c->vocab, 48),
                           .seq = or (c->seq, 8),
                           .has_positions = !c->has_rope,
                           .is_gated = c->is_gated,
                           .activation = c->is_gated ? PP_SILU : PP_GELU_TANH,
                           .is_tied = !c->is_untied,
                           .has_qk_norm = c->has_qk_norm,
                           .is_rms = c->is_gated,
                           .has_bias_qkv = !c->is_gated,
                           .has_bias_out = !c->is_gated,
                           .has_bias_mlp = !c->is_gated,
                           .has_bias_norm = !c->is_gated,
                           .norm_epsilon = 1e-5,
                           .rotary.theta = 10000};
}

static void make_stages(struct exec_run *run, const struct exec_case *c,
                        const struct pp_kernels *kernels)
{
    const int layers = run->training.net.layers, stages = run->program->stages;
    int *blocks = PP_ARRAY(run->arena, int, stages);
    struct pp_stage_again *again = PP_ARRAY(run->arena, struct pp_stage_again, stages);
    const struct pp_stages_wish wish = {.net = &run->training.net,
                                        .kernels = kernels,
                                        .batch = &run->batch,
                                        .blocks = blocks,
                                        .again = again,
                                        .is_exact = c->is_exact,
                                        .shape = {.act_bits = c->act_bits,
                                                  .tp = or (c->tp, 1),
                                                  .is_sequence_parallel = c->is_sequence_parallel,
                                                  .tp_split = c->tp_split}};

    for (int s = 0; s < stages; s++) {
        blocks[s] = layers * (s + 1) / stages - layers * s / stages;
        again[s] = run->again;
    }
    run->stages = (struct pp_stage **)pp_stages_make(run->arena, run->program, &wish);
}

static void set_homes(const struct exec_case *c, struct pp_state_spec *state)
{
    for (int class = 0; class < PP_STATE_SHARDED; class ++)
        state->home[class] = c->homes[class];
    state->home[PP_STATE_ACTIVATIONS] = c->saved_home;
    state->moved_frac[PP_STATE_ACTIVATIONS] = c->saved_share;
    state->is_summed_on_device = state->home[PP_STATE_GRADS] && !c->sums_on_host;
    state->moved_frac[PP_STATE_OPTIMIZER] = c->moved_optimizer;
    state->is_cpu_update = c->is_cpu_update;
    state->has_early_update = c->is_early;
    state->update_bucket_params = c->bucket;
    state->update_buckets = c->bucket_count;
    state->cached = c->cached;
    state->evict = c->evict;
}

static enum pp_status make_program(struct pp_arena *arena, const struct exec_case *c,
                                   const struct pp_kernels *kernels, struct exec_run *run,
                                   struct pp_error *err)
{
    const struct pp_schedule *schedule = c->schedule ? pp_schedule_find(c->schedule) : NULL;
    struct pp_shape shape = c->shape;
    struct pp_program *compute = NULL;
    double *recompute_frac = NULL;

    if (schedule) {
        PP_TRY(pp_schedule_check(schedule, &shape, err));
        PP_TRY(pp_schedule_program(arena, schedule, &shape, NULL, &compute, err));
    }
    const struct pp_program *source = schedule ? compute : c->compute;
    if (c->is_recomputed) {
        recompute_frac = PP_ARRAY(arena, double, source->stages);
        for (int s = 0; s < source->stages; s++)
            recompute_frac[s] = 1;
    }
    int *buckets = PP_ARRAY(arena, int, source->stages);
    for (int s = 0; s < source->stages; s++)
        buckets[s] = or (c->buckets, 1);
    const struct pp_mesh replicas = { or (c->replicas, 1) * source->pipelines, 1};
    struct pp_state_spec state = pp_state_spec_zero(c->zero, replicas);
    state.buffers = or (c->gather_buffers, 2);
    set_homes(c, &state);
    const int sharers = c->sharers                             ? c->sharers
                        : c->zero > 1 && source->pipelines > 1 ? or (c->replicas, 1)
                                                               : 0;
    for (int class = 0; class < PP_STATE_SHARDED; class ++)
        if (sharers > 0 && pp_mesh_size(state.shard[class]) > 1)
            state.shard[class].in_node = sharers;
    run->batch.sharers = sharers;
    const struct pp_lower_options options = {
        .post = c->post,
        .recv_slots = 2,
        .buckets = buckets,
        .grad_sync = c->grad_sync,
        .state = state,
        .has_sync = pp_mesh_size(replicas) > pp_state_cut(&state, PP_STATE_PARAMS),
        .has_optimizer = true,
        .has_clip = true,
        .has_whole_updates = true,
        .ties_at_bar = !c->is_untied,
        .reads_params = kernels->element_bytes == kernels->gradient_bytes,
        .has_tied = !c->is_untied,
        .joins_tied = c->zero > 1 || sharers > 0 || pp_state_is_away(&state, PP_STATE_GRADS),
        .recompute_frac = recompute_frac};
    const struct pp_verify_options strict = {0};
    PP_TRY(pp_lower(arena, source, &options, &run->program, err));
    set_homes(c, &run->program->state.spec);
    if (c->has_weight_stream)
        run->program->weight_stream = pp_weight_stream_create(arena, run->program);
    return pp_verify(run->program, &strict, err);
}

enum pp_status exec_run_make(struct pp_arena *arena, const struct exec_case *c,
                             struct exec_run *run, struct pp_error *err)
{
    const struct pp_kernels *kernels = c->kernels     ? c->kernels
                                       : c->is_double ? &pp_kernels_reference
                                       : c->is_bf16   ? &pp_kernels_bf16
                                                      : pp_kernels_fp32(true);
    const struct pp_exec_wires wires = {
        .alpha_s = 10e-6,
        .bytes_per_s = 10e9,
        .tier_bytes_per_s = {[PP_TIER_HOST] = 10e9, [PP_TIER_NVME] = 2e9}};

    *run = (struct exec_run){.arena = arena, .again = c->again};
    PP_TRY(make_program(arena, c, kernels, run, err));
    run->batch = (struct pp_batch){.replicas = or (c->replicas, 1),
                                   .micro_batches = run->program->micro_batches,
                                   .mbs = c->mbs * run->program->granules,
                                   .granules = run->program->granules,
                                   .splits = run->program->splits,
                                   .sharers = run->batch.sharers};
    run->recipe = (struct pp_recipe){.seed = c->seed + 1,
                                     .is_exact = c->is_exact,
                                     .rate = 1e-2,
                                     .end_rate = 1e-3,
                                     .warmup_steps = 2,
                                     .steps = c->steps,
                                     .beta1 = 0.9,
                                     .beta2 = 0.95,
                                     .epsilon = 1e-8,
                                     .decay = 0.1,
                                     .clip = c->clip};
    run->training =
        (struct pp_training){.schedule = c->schedule ? pp_schedule_find(c->schedule) : NULL,
                             .net = net_of(c),
                             .text = text_make(arena, net_of(c), run->recipe.seed),
                             .steps = c->steps,
                             .warmup = 1,
                             .check = PP_CHECK_ALL};
    run->valid = run->training.text; /* forwards alone between steps change nothing */
    run->valid.order = (struct pp_sample_order){.kind = PP_ORDER_IN_TURN,
                                                .step_samples = pp_batch_samples(&run->batch)};
    run->training.valid = &run->valid;
    run->training.valid_every = 2;
    run->training.valid_steps = 1;
    make_stages(run, c, kernels);
    run->training.machine =
        (struct pp_machine_options){.program = run->program,
                                    .stages = (const struct pp_stage *const *)run->stages,
                                    .tp = c->tp,
                                    .batch = &run->batch,
                                    .recipe = &run->recipe,
                                    .kernels = kernels,
                                    .backend = c->backend ? c->backend : &pp_backend_cpu,
                                    .transport = c->transport ? c->transport : &pp_transport_local,
                                    .clock = c->clock,
                                    .cores = c->cores,
                                    .mode = c->mode,
                                    .uses_graphs = c->uses_graphs,
                                    .kept_steps = 3,
                                    .tiers.dir = c->nvme,
                                    .is_poisoned = true,
                                    .seed = c->seed};
    run->training.machine.costs = pp_exec_costs(arena, run->program, run->training.machine.stages,
                                                &run->batch, kernels, &wires, c->is_exact);
    return PP_OK;
}

const char *exec_case_text(struct pp_arena *arena, const struct exec_case *c)
{
    return pp_arena_printf(
        arena,
        "%s P%d V%d N%d tp%d%s dp%d pipelines%d splits%d concat%d %s%s%s%s%s modules%u post%d "
        "sync%d buckets%d zero%d of %d buffers%d bits%d cache%d %d homes%d%d%d saved%d %g seed%llu",
        c->schedule ? c->schedule : "program", c->shape.ranks, c->shape.chunks,
        c->shape.micro_batches, or (c->tp, 1), c->is_sequence_parallel ? " sequence" : "",
        or (c->replicas, 1), c->shape.pipelines, c->shape.splits, c->shape.option[PP_CONCAT_AT],
        c->is_exact ? "exact " : "",
        c->is_double ? "double "
        : c->is_bf16 ? "bf16 "
                     : "",
        c->is_recomputed ? "recompute " : "", c->is_untied ? "untied " : "",
        c->is_gated ? "gated " : "", c->again.modules, (int)c->post, (int)c->grad_sync, c->buckets,
        c->zero, c->sharers, or (c->gather_buffers, 2), c->act_bits, c->cached, (int)c->evict,
        (int)c->homes[0], (int)c->homes[1], (int)c->homes[2], (int)c->saved_home, c->saved_share,
        (unsigned long long)c->seed);
}
