/* A training that stops and goes on under another schedule, in other numbers of ranks and replicas,
 * trains to the same bits. */
#include "tests/exec/checkpoints.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

TestSuite(checkpoint, .init = make_folder, .fini = remove_folder);

enum { HALF = 3 };

/* Train a case from a checkpoint (NULL: from the seed) and keep the last states in `to` (NULL:
 * none).
 */
static struct exec_run *train_from(const struct exec_case *c, const struct pp_checkpoint *from,
                                   const char *to, int every, int keep)
{
    struct exec_run *run = PP_NEW(arena, struct exec_run);
    struct pp_checkpoint_folder opened;
    struct pp_error err = {0};

    cr_assert_eq(exec_run_make(arena, c, run, &err), PP_OK, "%s", err.message);
    const struct pp_manifest head = head_of(run);
    if (to) {
        opened = open_folder(to, keep, from ? &from->manifest : NULL);
        run->training.folder = &opened;
        run->training.manifest = &head;
        run->training.checkpoint_every = every;
    }
    run->training.resumed = from;
    run->training.first_step = from ? from->manifest.step : 0;
    cr_assert_eq(pp_train(arena, &run->training, &run->result, &err), PP_OK, "%s: %s",
                 exec_case_text(arena, c), err.message);
    cr_assert_eq(run->result.checkpoint_error.status, PP_OK, "%s",
                 run->result.checkpoint_error.message);
    if (to)
        pp_checkpoint_close(&opened);
    return run;
}

/* The checksums stand for the files: those are held against them when they are read. */
static void expect_same(const struct pp_manifest *a, const struct pp_manifest *b, const char *what)
{
    cr_assert_eq(a->step, b->step);
    cr_assert_eq(a->layer_count, b->layer_count);
    for (int i = 0; i < a->layer_count; i++)
        cr_assert(a->layers[i].bytes == b->layers[i].bytes && a->layers[i].crc == b->layers[i].crc,
                  "%s: layer %d differs", what, i);
}

/* ---- it goes on ------------------------------------------------------------------------------ */

Test(checkpoint, every_layout_goes_on_to_the_same_bits)
{
    static const struct exec_case others[] = {
        {.schedule = "1f1b", .shape = {.ranks = 4, .micro_batches = 8}},
        {.schedule = "gpipe", .shape = {.ranks = 1, .micro_batches = 8}},
        {.schedule = "1f1b", .shape = {.ranks = 10, .micro_batches = 8}},
        {.schedule = "1f1b", .shape = {.ranks = 2, .micro_batches = 2}, .replicas = 4},
        {.schedule = "chimera", .shape = {.ranks = 4, .micro_batches = 4}, .replicas = 2},
        {.schedule = "interleaved", .shape = {.ranks = 2, .micro_batches = 8, .chunks = 2}},
        {.schedule = "zbv", .shape = {.ranks = 4, .micro_batches = 8}},
        {.schedule = "dualpipe", .shape = {.ranks = 4, .micro_batches = 8}},
        {.schedule = "zb-h1", .shape = {.ranks = 4, .micro_batches = 8}, .is_recomputed = true},
        {.schedule = "1f1b",
         .shape = {.ranks = 4, .micro_batches = 8},
         .backend = &pp_backend_fake},
        {.schedule = "1f1b", .shape = {.ranks = 2, .micro_batches = 2}, .replicas = 4, .zero = 1},
        {.schedule = "chimera",
         .shape = {.ranks = 4, .micro_batches = 4},
         .replicas = 2,
         .zero = 1},
        {.schedule = "zbv",
         .shape = {.ranks = 2, .micro_batches = 4},
         .replicas = 2,
         .zero = 1,
         .transport = &pp_transport_tcp},
        {.schedule = "dualpipe", .shape = {.ranks = 4, .micro_batches = 8}, .zero = 1},
        {.schedule = "1f1b", .shape = {.ranks = 2, .micro_batches = 2}, .replicas = 4, .zero = 2},
        {.schedule = "1f1b", .shape = {.ranks = 2, .micro_batches = 2}, .replicas = 4, .zero = 3},
        {.schedule = "1f1b",
         .shape = {.ranks = 2, .micro_batches = 2},
         .replicas = 4,
         .zero = 3,
         .sharers = 2},
        {.schedule = "interleaved",
         .shape = {.ranks = 2, .micro_batches = 4, .chunks = 2},
         .replicas = 2,
         .zero = 3,
         .transport = &pp_transport_tcp},
    };

    for (int variant = 0; variant < 3; variant++) {
        const bool is_untied = variant == 1, is_bf16 = variant == 2;
        struct exec_case first = base;
        first.is_untied = is_untied;
        first.is_bf16 = is_bf16;
        const struct exec_run *whole = train_from(&first, NULL, in("whole"), HALF, 9);
        const struct pp_checkpoint *end = read_one(in("whole")),
                                   *half = read_one(in("whole/step-000000003"));
        cr_assert_eq(whole->result.checkpoints, 2);
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            struct exec_case c = others[i];
            c.replicas = c.replicas ? c.replicas : 1;
            c.mbs = 1;
            c.steps = STEPS;
            c.is_exact = true;
            c.clip = 1;
            c.is_untied = is_untied;
            c.is_bf16 = is_bf16;
            const char *what = exec_case_text(arena, &c);
            const struct exec_run *run = train_from(&c, half, in("again"), 0, 1);
            const struct pp_training_result *r = &run->result;

            cr_assert_eq(r->steps_done, STEPS - HALF);
            for (int k = 0; k < STEPS - HALF; k++)
                cr_assert(r->losses[k] == whole->result.losses[HALF + k], "%s: loss %d", what, k);
            cr_assert(r->gradients.differing == 0 && r->weights.differing == 0 && r->is_loss_equal,
                      "%s: not as training on one rank", what);
            cr_assert_eq(r->structural_error_s, 0);
            expect_same(&end->manifest, &read_one(in("again"))->manifest, what);
            cr_assert_eq(system(pp_arena_printf(arena, "rm -r %s", in("again"))), 0);
        }
        cr_assert_eq(system(pp_arena_printf(arena, "rm -r %s", in("whole"))), 0);
    }
}

Test(checkpoint, without_exact_gradients_the_same_layout_goes_on_to_the_same_bits)
{
    static const struct exec_case cases[] = {
        {.schedule = "1f1b", .shape = {.ranks = 4, .micro_batches = 8}},
        {.schedule = "chimera", .shape = {.ranks = 4, .micro_batches = 4}, .replicas = 2},
        {.schedule = "zbv", .shape = {.ranks = 2, .micro_batches = 4}, .is_double = true},
        {.schedule = "zb-h1", .shape = {.ranks = 2, .micro_batches = 4}, .is_bf16 = true},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct exec_case c = cases[i];
        c.replicas = c.replicas ? c.replicas : 1;
        c.mbs = 1;
        c.steps = STEPS;
        const char *to = in(c.schedule), *again = in("again");
        train_from(&c, NULL, to, HALF, 9);
        const struct pp_checkpoint *half =
            read_one(pp_arena_printf(arena, "%s/step-000000003", to));
        train_from(&c, half, again, 0, 1);
        expect_same(&read_one(to)->manifest, &read_one(again)->manifest, c.schedule);
        cr_assert_eq(system(pp_arena_printf(arena, "rm -r %s", again)), 0);
    }
}

/* What shares have written is what one copy would have, and any layout takes it up. */
Test(checkpoint, shares_are_written_as_a_whole)
{
    struct exec_case cut = {.schedule = "1f1b",
                            .shape = {.ranks = 2, .micro_batches = 2},
                            .replicas = 4,
                            .mbs = 1,
                            .steps = STEPS,
                            .is_exact = true,
                            .clip = 1};

    train_from(&base, NULL, in("whole"), HALF, 9);
    for (cut.zero = 1; cut.zero <= 3; cut.zero++) {
        const char *what = exec_case_text(arena, &cut);

        train_from(&cut, NULL, in("cut"), HALF, 9);
        const struct pp_checkpoint *half = read_one(in("cut/step-000000003")),
                                   *end = read_one(in("whole"));
        expect_same(&read_one(in("whole/step-000000003"))->manifest, &half->manifest, what);
        expect_same(&end->manifest, &read_one(in("cut"))->manifest, what);
        train_from(&base, half, in("again"), 0, 1);
        expect_same(&end->manifest, &read_one(in("again"))->manifest, what);
        cr_assert_eq(system(pp_arena_printf(arena, "rm -r %s %s", in("cut"), in("again"))), 0);
    }
}

/* ---- a rank that dies between steps -----------------------------------------------------------
 */

/* The last of those that this thread has started; it is dead then, and still to be waited for. */
static void kill_a_child(void)
{
    FILE *children = fopen("/proc/thread-self/children", "r");
    siginfo_t info;
    int child = 0;

    cr_assert_not_null(children);
    while (fscanf(children, "%d", &child) == 1) {
    }
    fclose(children);
    cr_assert_gt(child, 0);
    cr_assert_eq(kill(child, SIGKILL), 0);
    cr_assert_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
}

static void kill_after(void *closure, int step, const struct pp_step_result *result)
{
    (void)result;
    if (step == *(const int *)closure)
        kill_a_child();
}

/* What it has learned cannot be had: weights that are older are no checkpoint. */
Test(checkpoint, weights_that_cannot_be_fetched_are_not_written)
{
    for (int step = 0; step < STEPS; step += STEPS - 1) {
        struct exec_case c = base;
        struct exec_run run;
        struct pp_error err = {0};
        int *steps, count;

        c.transport = &pp_transport_tcp;
        cr_assert_eq(exec_run_make(arena, &c, &run, &err), PP_OK, "%s", err.message);
        const struct pp_manifest head = head_of(&run);
        const char *to = in(step ? "last" : "first");
        struct pp_checkpoint_folder opened = open_folder(to, STEPS, NULL);
        run.training.folder = &opened;
        run.training.manifest = &head;
        run.training.checkpoint_every = 1;
        run.training.checkpoint_sync = true; /* else that before it may be lost, too */
        run.training.on_step = kill_after;
        run.training.valid = NULL; /* which would fail first */
        run.training.closure = &step;
        cr_assert_eq(pp_train(arena, &run.training, &run.result, &err), PP_EFAIL);
        const char *named = pp_arena_printf(arena, "step %d: rank 3", step + 1);
        cr_assert_not_null(strstr(err.message, named), "%s", err.message);
        cr_assert_str_eq(run.result.checkpoint_error.message, err.message);
        cr_assert_eq(run.result.steps_done, step + 1);
        cr_assert_eq(run.result.checkpoints, step);
        cr_assert_eq(pp_checkpoint_steps(arena, to, &steps, &count, &err), PP_OK);
        cr_assert(count == step && count_entries(to) == step, "step %d: %d", step, count);
        pp_checkpoint_close(&opened);
    }
}

/* ---- the folder ------------------------------------------------------------------------------ */

Test(checkpoint, the_newest_stay)
{
    int *steps, count;
    struct pp_error err;

    train_from(&base, NULL, folder, 1, 2);
    cr_assert_eq(pp_checkpoint_steps(arena, folder, &steps, &count, &err), PP_OK);
    cr_assert(count == 2 && steps[0] == STEPS - 1 && steps[1] == STEPS);
    cr_assert_eq(count_entries(folder), 2);
    cr_assert_eq(read_one(folder)->manifest.step, STEPS);
}

static void expect_refusal(enum pp_status expected, const struct pp_manifest *before,
                           const char *message)
{
    struct pp_checkpoint_folder opened;
    struct pp_error err = {0};

    cr_assert_eq(pp_checkpoint_open(arena, folder, 1, before, &opened, &err), expected);
    cr_assert_not_null(strstr(err.message, message), "%s", err.message);
}

Test(checkpoint, a_folder_is_not_shared_and_steps_do_not_go_back)
{
    train_from(&base, NULL, folder, 0, 1);
    expect_refusal(PP_EINVAL, NULL, "has step-000000006 already, and this run begins at step 0");
    const struct pp_manifest *last = &read_one(folder)->manifest;
    struct pp_manifest early = *last;
    early.step = 5;
    expect_refusal(PP_EINVAL, &early, "remove the later ones");
    struct pp_checkpoint_folder first = open_folder(folder, 1, last);
    expect_refusal(PP_EFAIL, last, "another run writes its checkpoints there");
    pp_checkpoint_close(&first);
    cr_assert_eq(mkdir(in(".pipeexec-tmp-step-000000007"), 0777), 0);
    cr_assert_eq(mkdir(in(".pipeexec"), 0777), 0);
    first = open_folder(folder, 1, last);
    cr_assert_eq(count_entries(folder), 2, "what is half-written goes, what is not ours stays");
    pp_checkpoint_close(&first);
}

/* It would remove them as it makes progress. */
Test(checkpoint, those_of_another_training_stay)
{
    struct pp_manifest_option seed = {"seed", "8"};

    train_from(&base, NULL, folder, 0, 1);
    const struct pp_manifest *same = &read_one(folder)->manifest;
    struct pp_manifest model = *same, seeded = *same, data = *same;

    model.step = seeded.step = data.step = STEPS + 3;
    model.identity.value[PP_IDENTITY_LAYERS]++;
    seeded.options = &seed;
    seeded.option_count = 1;
    data.tokens_crc ^= 1;
    expect_refusal(PP_EINVAL, &model, "step-000000006 is of another model: layers is ");
    expect_refusal(PP_EINVAL, &seeded,
                   "step-000000006 has another seed: none there and 8 here; choose");
    expect_refusal(PP_EINVAL, &data, "step-000000006 was trained on other data; choose");
    cr_assert_eq(count_entries(folder), 1);
    struct pp_checkpoint_folder opened = open_folder(folder, 1, same);
    pp_checkpoint_close(&opened);
}

Test(checkpoint, there_is_none)
{
    struct pp_checkpoint checkpoint;
    struct pp_error err = {0};

    cr_assert_eq(pp_checkpoint_read(arena, folder, &checkpoint, &err), PP_EFAIL);
    cr_assert_not_null(strstr(err.message, "has no checkpoint"), "%s", err.message);
    cr_assert_eq(pp_checkpoint_read(arena, in("nowhere"), &checkpoint, &err), PP_EFAIL);
    cr_assert_not_null(strstr(err.message, "No such file"), "%s", err.message);
}

/* ---- another model --------------------------------------------------------------------------- */

Test(checkpoint, another_model_is_refused_by_what_differs)
{
    struct pp_net net = {.layers = 2,
                         .hidden = 8,
                         .heads = 2,
                         .kv_heads = 2,
                         .head_dim = 4,
                         .ffn = 32,
                         .vocab = 7,
                         .seq = 4,
                         .has_positions = true},
                  other = net;
    struct pp_error err = {0};
    const struct pp_identity a = pp_identity_of(&net, pp_kernels_fp32(true));

    other.seq = 5;
    other.is_gated = true;
    struct pp_identity b = pp_identity_of(&other, &pp_kernels_reference);
    cr_assert_eq(pp_identity_check("p", &a, &a, &err), PP_OK);
    cr_assert_eq(pp_identity_check("p", &a, &b, &err), PP_EINVAL);
    cr_assert_str_eq(err.message,
                     "p is of another model: precision_bits is 32 there and 64 here "
                     "(--precision), positions is 4 there and 5 here (--seq), is_gated "
                     "is 0 there and 1 here (--mlp)");
    other = net;
    other.activation = PP_RELU;
    other.norm_epsilon = 1e-6;
    b = pp_identity_of(&other, pp_kernels_fp32(true));
    cr_assert_eq(pp_identity_check("p", &a, &b, &err), PP_EINVAL);
    cr_assert_str_eq(err.message, "p is of another model: activation is gelu_new there and relu "
                                  "here, norm_epsilon is 0 there and 1e-06 here");
    net.has_positions = other.has_positions = false;
    other = net;
    other.seq = 5;
    b = pp_identity_of(&net, &pp_kernels_reference);
    const struct pp_identity c = pp_identity_of(&other, &pp_kernels_reference);
    cr_assert_eq(pp_identity_check("p", &b, &c, &err), PP_OK,
                 "without a table of positions, samples may have another length");
}
