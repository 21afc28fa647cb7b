/* How a step fails: with the reason, on every device, and all threads come back. */
#include "exec/machine/parts.h"
#include "tests/exec/train.h"

#include <dirent.h>
#include <math.h>
#include <string.h>

static const struct pp_backend *const BACKENDS[] = {&pp_backend_cpu, &pp_backend_fake};
enum { BACKEND_COUNT = sizeof(BACKENDS) / sizeof(*BACKENDS) };

static void start(struct pp_arena *arena, const struct pp_backend *backend, struct exec_run *run,
                  struct pp_machine **machine)
{
    const struct exec_case c = {.schedule = "chimera",
                                .shape = {.ranks = 4, .micro_batches = 4},
                                .replicas = 2,
                                .mbs = 1,
                                .steps = 4,
                                .is_exact = true,
                                .clip = 1,
                                .backend = backend};
    struct pp_error err = {0};

    cr_assert_eq(exec_run_make(arena, &c, run, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_machine_create(arena, &run->training.machine, machine, &err), PP_OK, "%s",
                 err.message);
}

static enum pp_status step(struct pp_machine *machine, const struct exec_run *run, int number,
                           struct pp_error *err)
{
    struct pp_step_result result;

    *err = (struct pp_error){0};
    return pp_machine_step(machine, &run->training.text, number, &result, err);
}

static int count_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    int count = 0;

    if (!folder)
        return 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* ---- messages -------------------------------------------------------------------------------*/

/* One field of a header at a time. Not the step: every post writes it. */
static void flip_hash(struct pp_header *h)
{
    h->program_hash ^= 1;
}
static void flip_bytes(struct pp_header *h)
{
    h->bytes += 64;
}
static void flip_mb(struct pp_header *h)
{
    h->mb += 1000;
}
static void flip_sequence(struct pp_header *h)
{
    h->sequence += 1000;
}
static void flip_stage(struct pp_header *h)
{
    h->stage += 1000;
}
static void flip_kind(struct pp_header *h)
{
    h->kind = h->kind == PP_SEND_F ? PP_SEND_B : PP_SEND_F;
}
static void flip_split(struct pp_header *h)
{
    h->split += 100;
}
static void flip_granules(struct pp_header *h)
{
    h->granules += 100;
}

static void describe(const struct pp_header *h, char text[static 128])
{
    snprintf(text, 128, "%d%s%d split %d x%d seq %d", h->stage, pp_op_kinds[h->kind].text, h->mb,
             h->split, h->granules, h->sequence);
}

static void check_flip(const struct pp_backend *backend, void (*flip)(struct pp_header *), int at,
                       bool is_sender)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_machine *m;
    struct pp_error err, again;
    struct exec_run run;
    char sent[128], expected[128];

    start(arena, backend, &run, &m);
    cr_assert_eq(step(m, &run, 0, &err), PP_OK, "%s", err.message);
    struct pp_machine_message *message = &m->messages[at % (m->p->message_count * m->replicas)];
    flip(is_sender ? &message->send.header : &message->recv.header);
    describe(&message->send.header, sent);
    describe(&message->recv.header, expected);
    cr_assert_eq(step(m, &run, 3, &err), PP_EFAIL);
    cr_assert(strstr(err.message, "step 4, replica ") && strstr(err.message, "rank "), "%s",
              err.message);
    const char *first = strstr(err.message, sent);
    cr_assert(first && strstr(first + strlen(sent), expected), "%s\nsent %s, expected %s",
              err.message, sent, expected);
    cr_assert_eq(step(m, &run, 4, &again), PP_EFAIL); /* it stays so, and says why */
    cr_assert_str_eq(again.message, err.message);
    pp_machine_destroy(m);
}

Test(failures, a_message_that_is_another_ends_the_run)
{
    static void (*const flips[])(struct pp_header *) = {flip_hash,     flip_bytes,   flip_mb,
                                                        flip_sequence, flip_stage,   flip_kind,
                                                        flip_split,    flip_granules};
    int at = 0;

    check_flip(&pp_backend_cpu, flip_mb, 0, true);
    const int threads = count_threads();
    for (int b = 0; b < BACKEND_COUNT; b++)
        for (size_t k = 0; k < sizeof(flips) / sizeof(*flips); k++)
            for (int is_sender = 0; is_sender < 2; is_sender++)
                check_flip(BACKENDS[b], flips[k], at += 7, is_sender);
    cr_assert_eq(count_threads(), threads, "threads are left");
}

/* ---- numbers --------------------------------------------------------------------------------*/

static struct pp_state state_of(const struct pp_machine *m, int replica)
{
    struct pp_error err = {0};
    struct pp_state state;

    cr_assert_eq(pp_machine_state(m, replica, 0, 1, &state, &err), PP_OK, "%s", err.message);
    return state;
}

/* Each replica can hold its gradient, the sum of both cannot. */
Test(failures, a_sum_beyond_fixed_point_ends_the_run)
{
    for (int b = 0; b < BACKEND_COUNT; b++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_machine *m;
        struct pp_error err;
        struct exec_run run;

        start(arena, BACKENDS[b], &run, &m);
        cr_assert_eq(step(m, &run, 0, &err), PP_OK, "%s", err.message);
        for (int replica = 0; replica < 2; replica++)
            state_of(m, replica).fixed[0] = INT64_MAX / 2 + (1LL << 44);
        cr_assert_eq(pp_machine_changed(m, &err), PP_OK);
        cr_assert_eq(step(m, &run, 1, &err), PP_EFAIL);
        cr_assert(strstr(err.message, "step 2, sum over replicas: a gradient beyond the range"),
                  "%s: %s", BACKENDS[b]->name, err.message);
        pp_machine_destroy(m);
    }
}

Test(failures, every_device_gives_the_same_reason)
{
    struct pp_error errors[BACKEND_COUNT];

    for (int b = 0; b < BACKEND_COUNT; b++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_machine *m;
        struct exec_run run;

        start(arena, BACKENDS[b], &run, &m);
        cr_assert_eq(step(m, &run, 0, &errors[b]), PP_OK, "%s", errors[b].message);
        for (int replica = 0; replica < 2; replica++)
            ((float *)state_of(m, replica).weights)[0] = NAN;
        cr_assert_eq(pp_machine_changed(m, &errors[b]), PP_OK);
        cr_assert_eq(step(m, &run, 1, &errors[b]), PP_EFAIL);
        pp_machine_destroy(m);
    }
    cr_assert(strstr(errors[0].message, "step 2: the loss is not a finite number"), "%s",
              errors[0].message);
    cr_assert_str_eq(errors[0].message, errors[1].message);
}
