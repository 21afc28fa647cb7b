/* Any text is refused with a reason or runs as a program. A program that runs trains exactly as
 * the loop does: with the same gradients, the same loss, and the predicted memory.
 * The bytes themselves draw the model (tied or not), the replicas, the device and the lowering. */
#include "exec/cli.h"
#include "exec/plan/plan.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

/* A run takes milliseconds. */
enum { RANKS = 8, STAGES = 64, INSTRUCTIONS = 2000, SPLITS = 8, GRANULES = 64 };

static struct pp_exec_wish wish;
static struct pp_exec_config usual[2]; /* [tied] */

static void resolve(struct pp_arena *arena, const char *model, struct pp_exec_config *config)
{
    const char *argv[] = {"pipeexec", "--model", model,     "--layers",    "2", "--hidden",
                          "8",        "--heads", "2",       "--steps",     "1", "--cores",
                          "8",        "--clock", "virtual", "--exact-grad"};
    struct pp_parsed *parsed = PP_NEW(arena, struct pp_parsed);
    struct pp_error err = {0};

    FUZZ_CHECK(pp_options_parse(arena, &pp_exec_cli, sizeof(argv) / sizeof(*argv),
                                (char **)(uintptr_t)argv, parsed, &err) == PP_OK);
    wish.request = (struct pp_request){.flags = parsed};
    pp_wish_bind(arena, &wish.request);
    FUZZ_CHECK(pp_exec_resolve(arena, &wish, NULL, config, &err) == PP_OK);
}

static void resolve_once(void)
{
    static struct pp_arena *arena;

    if (arena)
        return;
    arena = pp_arena_create();
    resolve(arena, "mini", &usual[1]);
    resolve(arena, "tiny", &usual[0]);
    FUZZ_CHECK(usual[1].net.is_tied && !usual[0].net.is_tied);
}

static bool is_small(const struct pp_program *p)
{
    return p->ranks <= RANKS && p->stages <= STAGES && p->splits <= SPLITS &&
           p->granules * p->micro_batches <= GRANULES && p->pipelines <= RANKS &&
           pp_program_size(p) <= INSTRUCTIONS;
}

static uint32_t hash(const uint8_t *data, size_t size)
{
    uint32_t value = 2166136261u;

    for (size_t i = 0; i < size; i++)
        value = (value ^ data[i]) * 16777619u;
    return value ^ value >> 15;
}

static const struct pp_recompute_choice recomputations[] = {
    {.how = PP_RECOMPUTE_FULL},
    {.how = PP_RECOMPUTE_SELECTIVE, .again = PP_AGAIN_CORE | PP_AGAIN_ACT},
    {.how = PP_RECOMPUTE_SELECTIVE, .again = PP_AGAIN_NORM | PP_AGAIN_MLP},
    {.how = PP_RECOMPUTE_STAGE, .first_stage_ratio = 0.5},
};

static struct pp_exec_config draw(const struct pp_program *p, uint32_t bits)
{
    struct pp_exec_config config = usual[bits & 1];

    config.net.seq = config.text.seq = 2 * p->splits;
    config.mbs = p->granules;
    config.replicas = 1 + (bits >> 1 & 1);
    if (bits >> 2 & 1 && p->level != PP_LEVEL_LOWERED)
        config.recompute = recomputations[bits >> 4 & 3];
    config.backend = bits >> 3 & 1 ? &pp_backend_fake : &pp_backend_cpu;
    return config;
}

static void check_result(const struct pp_training *training, const struct pp_training_result *r)
{
    FUZZ_CHECK(r->is_checked && r->gradients.elements > 0);
    FUZZ_CHECK(r->gradients.differing == 0 && r->is_loss_equal);
    FUZZ_CHECK(r->structural_error_s == 0);
    for (int rank = 0; rank < training->machine.program->ranks; rank++)
        FUZZ_CHECK(r->touched_bytes[rank] == (double)r->layout[rank].peak_bytes);
}

static void execute(struct pp_arena *arena, const struct pp_program *p, uint32_t bits)
{
    const struct pp_exec_config config = draw(p, bits);
    const struct pp_subject subject = {.file = p, .name = "f.csv"};
    struct pp_training_result result;
    struct pp_exec_plan plan;
    struct pp_error err = {0};
    enum pp_status status = pp_exec_plan_make(arena, &wish, &config, subject, &plan, &err);

    if (status != PP_OK) {
        FUZZ_CHECK((status == PP_EINVAL || status == PP_EPROGRAM) && strlen(err.message) > 0);
        return;
    }
    const struct pp_training training = pp_exec_training(&wish, &config, &plan);
    status = pp_train(arena, &training, &result, &err);
    if (status == PP_OK)
        check_result(&training, &result);
    else if (status != PP_EPROGRAM)
        fprintf(stderr, "%s\n", err.message);
    FUZZ_CHECK(status == PP_OK || (status == PP_EPROGRAM && strlen(err.message) > 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();
    struct pp_program *p = NULL;
    struct pp_error err = {0};

    resolve_once();
    if (pp_program_parse(arena, "f.csv", (const char *)data, size, PP_DIALECT_2025, &p, &err) ==
            PP_OK &&
        is_small(p))
        execute(arena, p, hash(data, size));
    pp_arena_destroy(arena);
    return 0;
}
