/* bench/first_loss.c — the first loss of a model in pieces: the weights of one layer are drawn,
 * used for all samples, and dropped. There is no schedule, machine, or memory tier. So the memory
 * is that of a layer and one activation a sample, whatever the model's size.
 *
 * It takes the options of pipeexec. It prints the loss of the first step with all its digits. */
#include "bench/bench.h"
#include "exec/cli.h"
#include "exec/nodes/loss.h"
#include "exec/plan/plan.h"

#include <math.h>
#include <string.h>

struct pass {
    struct pp_arena *arena;
    const struct pp_exec_config *config;
    struct pp_batch batch;
    int granules;              /* of a step */
int32_t *ids, *targets;    /* [granules][rows][seq] */
char *activations, *after; /* [granules][boundary_bytes], from their first use on */
struct pp_loss_sum loss;
}
;

static int rows_of(const struct pass *pass)
{
    return pass->batch.mbs / pass->batch.granules;
}

/* The whole config of the command line; of the plan, the batch alone. */
static void resolve(struct pass *pass, int argc, char **argv, struct pp_exec_config *config)
{
    struct pp_exec_wish wish = {0};
    struct pp_subject subject = {0};
    struct pp_exec_plan plan = {0};
    struct pp_parsed parsed;
    struct pp_error err = {0};

    must(pp_options_parse(pass->arena, &pp_exec_cli, argc, argv, &parsed, &err), &err);
    wish.request = (struct pp_request){.flags = &parsed};
    pp_wish_bind(pass->arena, &wish.request);
    must(pp_exec_resolve(pass->arena, &wish, NULL, config, &err), &err);
    if (wish.schedule)
        must(pp_subject_open_typed(pass->arena, &wish.request, wish.schedule, &subject, &err),
             &err);
    must(pp_exec_plan_make(pass->arena, &wish, config, subject, &plan, &err), &err);
    pass->config = config;
    pass->batch = plan.batch;
    pass->granules = pp_batch_samples(&plan.batch) / rows_of(pass);
}

static void take_samples(struct pass *pass)
{
    const int seq = pass->config->net.seq, samples = pp_batch_samples(&pass->batch);
    struct pp_error err = {0};

    pass->ids = PP_ARRAY(pass->arena, int32_t, samples * seq);
    pass->targets = PP_ARRAY(pass->arena, int32_t, samples * seq);
    for (int i = 0; i < samples; i++)
        must(pp_text_sample(&pass->config->text, 0, i, pass->ids + (size_t)i * (size_t)seq,
                            pass->targets + (size_t)i * (size_t)seq, &err),
             &err);
}

/* Only weights, drawn; with 16 bits also their masters, from which they are rounded. */
static struct pp_state draw(struct pp_arena *arena, const struct pass *pass,
                            const struct pp_stage *stage)
{
    const struct pp_kernels *k = pass->config->kernels;
    const struct pp_state_bytes bytes = pp_state_bytes(stage, k, false, pp_cuts_none());
    struct pp_state state = {.weights = pp_arena_alloc(arena, bytes.weights),
                             .master = k->element_bytes == k->gradient_bytes
                                           ? NULL
                                           : pp_arena_alloc(arena, bytes.moment),
                             .share = {0, stage->elements},
                             .held = {0, stage->elements}};

    pp_state_fill(stage, k, &pass->config->recipe, &state);
    return state;
}

/* Runs all samples through one stage. */
static void run(struct pass *pass, struct pp_stage_shape shape)
{
    const struct pp_kernels *k = pass->config->kernels;
    const size_t tokens = (size_t)rows_of(pass) * (size_t)pass->config->net.seq;
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    shape.rows = rows_of(pass);
    shape.tokens = pass->config->net.seq;
    shape.splits = 1;
    const struct pp_stage *stage = pp_stage_create(arena, &pass->config->net, &shape, k);
    const struct pp_state state = draw(arena, pass, stage);
    void *kept = pp_arena_alloc(arena, stage->kept_bytes + 64),
         *saved = pp_arena_alloc(arena, stage->saved_bytes + 64);
    double *losses = PP_ARRAY(arena, double, tokens);
    struct pp_stage_work work = {.stage = stage,
                                 .weights = state.weights,
                                 .kept = &kept,
                                 .saved = &saved,
                                 .loss = losses,
                                 .scratch = pp_arena_alloc(arena, stage->scratch_bytes + 64)};
    if (!pass->after)
        pass->after = pp_arena_alloc(pass->arena, (size_t)pass->granules * stage->boundary_bytes);
    for (int g = 0; g < pass->granules; g++) {
        work.ids = pass->ids + (size_t)g * tokens;
        work.targets = pass->targets + (size_t)g * tokens;
        work.in = pass->activations + (size_t)g * stage->boundary_bytes;
        work.out = shape.has_head ? NULL : pass->after + (size_t)g * stage->boundary_bytes;
        pp_stage_forward(k, NULL, &work);
        if (shape.has_head)
            pp_loss_add(&pass->loss, losses, (int64_t)tokens);
    }
    char *const before = pass->activations;
    pass->activations = pass->after;
    pass->after = before;
}

int main(int argc, char **argv)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pass pass = {.arena = arena, .loss = {.is_finite = true}};
    struct pp_exec_config config = {0};

    resolve(&pass, argc, argv, &config);
    const struct pp_net *net = &config.net;
    take_samples(&pass);
    run(&pass, (struct pp_stage_shape){.has_embedding = true});
    for (int layer = 0; layer < net->layers; layer++)
        run(&pass, (struct pp_stage_shape){.first_block = layer, .blocks = 1});
    run(&pass, (struct pp_stage_shape){.first_block = net->layers, .has_head = true});
    printf("%.17g\n", pp_loss_mean(&pass.loss, pp_targets_of_step(&pass.batch, net)));
    return 0;
}
