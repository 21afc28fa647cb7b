/* Sums of fixed point between processes: what NCCL would let wrap is told before. */
#include "exec/transport/gpu.h"
#include "exec/transport/parts.h"

#include <criterion/criterion.h>

enum { COUNT = 5, PROCESSES = 3 };
static const int64_t MOST = INT64_MAX / PROCESSES;

static int issues[PP_NCCL_BROADCAST + 1]; /* by kind */

static enum pp_status issue(struct pp_nccl *nccl, const struct pp_nccl_operation *o, void *stream,
                            struct pp_error *err)
{
    (void)nccl, (void)stream, (void)err;
    cr_assert(o->count == 1 && o->type == PP_NCCL_INT64);
    cr_assert(o->kind != PP_NCCL_SUM || o->pieces[0].count == COUNT - 1);
    issues[o->kind]++;
    return PP_OK;
}

static const struct pp_nccl_calls CALLS = {.issue = issue};

/* Of one process with `copies` copies, the first element being no part of it: its status. */
static int status_of(enum pp_op_kind kind, int copies, int64_t (*x)[COUNT])
{
    struct nccl_sum n;
    struct pp_nccl_run run = {.sums = &n};
    struct pp_gpu_run above = {.nccl = &run};
    struct pp_tcp tcp = {.above = &above};
    struct pp_machine_collective of = {.sum = {.rule = &pp_sum_rules[kind]},
                                       .row_count = PROCESSES};
    struct pp_machine m = {
        .options = {.nccl = &CALLS}, .transport_state = &tcp, .collectives = &of};
    char *at[] = {(char *)x[0], (char *)x[1]};
    struct pp_range shares[2] = {{1, 3}, {3, COUNT}};
    struct pp_nccl_piece piece = {x[0] + 1, COUNT - 1, 0};
    int status = PP_FIXED_OK;

    of.machine = &m;
    n = (struct nccl_sum){.of = &of,
                          .members = &(struct pp_nccl_group){.count = PROCESSES},
                          .here = {.rule = &pp_sum_rules[kind],
                                   .is_exact = true,
                                   .element_bytes = sizeof(int64_t),
                                   .copies = copies,
                                   .at = at,
                                   .pieces = 1,
                                   .piece = {{1, COUNT}},
                                   .share = shares,
                                   .norm = shares,
                                   .status = &status},
                          .summed = {&piece, 1, 1}};

    pp_nccl_sum_run(&pp_kernels_reference, NULL, &of);
    return status;
}

Test(nccl_sums, what_might_wrap_is_told)
{
    static const enum pp_op_kind KINDS[] = {PP_AR, PP_RS};

    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++)
        for (int place = 0; place < COUNT; place++)
            for (int sign = -1; sign <= 1; sign += 2) {
                int64_t x[2][COUNT] = {{0}};
                x[0][place] = sign * MOST;
                cr_assert_eq(status_of(KINDS[k], 1, x), PP_FIXED_OK);
                x[0][place] += sign;
                cr_assert_eq(status_of(KINDS[k], 1, x), place > 0 ? PP_FIXED_OVERFLOW : PP_FIXED_OK,
                             "place %d", place);
            }
    cr_assert(issues[PP_NCCL_SUM] == 4 * COUNT && issues[PP_NCCL_REDUCE] == 4 * COUNT &&
              issues[PP_NCCL_BROADCAST] == 0);
}

/* Copies of one process count as their sum. */
Test(nccl_sums, copies_of_a_process_are_added_first)
{
    int64_t fit[2][COUNT] = {{0, MOST, 1}, {0, -5, 2}};
    int64_t beyond[2][COUNT] = {{0, MOST, 1}, {0, 1, 2}};

    cr_assert_eq(status_of(PP_AR, 2, fit), PP_FIXED_OK);
    cr_assert(fit[0][1] == MOST - 5 && fit[1][1] == MOST - 5 && fit[1][2] == 3);
    cr_assert_eq(status_of(PP_AR, 2, beyond), PP_FIXED_OVERFLOW);
}

/* A share of the second copy comes there; its own of the first one stay. */
Test(nccl_sums, shares_go_to_their_copies)
{
    int64_t x[2][COUNT] = {{9, 1, 2, 3, 4}, {9, 10, 20, 30, 40}};
    static const int64_t second[COUNT] = {9, 10, 20, 33, 44};

    cr_assert_eq(status_of(PP_RS, 2, x), PP_FIXED_OK);
    for (int i = 1; i < COUNT; i++)
        cr_assert(x[0][i] == 11 * i && x[1][i] == second[i]);
}

/* ---- streams ----------------------------------------------------------------------------------*/

static int issued_on[8], issued;

static void launch(struct pp_backend_device *device, pp_stream_id stream, pp_backend_work work,
                   void *argument)
{
    (void)device, (void)work, (void)argument;
    issued_on[issued++] = stream;
}

static bool wait(struct pp_backend_device *device, pp_stream_id stream, pp_event_id event)
{
    (void)device, (void)stream, (void)event;
    return true;
}

static void record(struct pp_backend_device *device, pp_stream_id stream, pp_event_id event)
{
    (void)device, (void)stream, (void)event;
}

static int32_t PAIR[] = {0, 2}, OTHER[] = {1, 2}, ALL[] = {0, 1, 2}, NONE[] = {-1, -1, -1};
static struct pp_machine_collective collective(int32_t *members, int count)
{
    return (struct pp_machine_collective){.members = members, .before = NONE, .row_count = count};
}

/* Six collectives of three sets of processes, posted by one list in an order of its own. */
Test(nccl_sums, those_of_the_same_processes_share_a_stream)
{
    static int32_t args[] = {3, 0, 5, 1, 4, 2};
    static const int lines[] = {0, 1, 0, 3, 1, 0}, due[] = {3, 0, 0, 1, 1, 0},
                     launches[] = {0, 0, 1, 0, 1, 2}; /* by instruction */
    const struct pp_backend backend = {.launch = launch, .wait = wait, .record = record};
    struct pp_machine_collective collectives[] = {collective(PAIR, 2), collective(ALL, 3),
                                                  collective(PAIR, 2), collective(OTHER, 2),
                                                  collective(ALL, 3),  collective(PAIR, 2)};
    const struct pp_program p = {.collective_count = 6, .channel_count = 4, .arg = args};
    struct pp_machine m = {.p = &p,
                           .backend = &backend,
                           .collectives = collectives,
                           .collective_count = 6,
                           .replicas = 2,
                           .tp = 1,
                           .worker_count = 3};
    struct pp_worker w = {.machine = &m};

    pp_device_join_sums(&m);
    for (int c = 0; c < 6; c++)
        cr_assert_eq(collectives[c].stream_of, lines[c], "collective %d", c);
    for (int i = 0; i < 6; i++) {
        pp_device_issue_sum(&w, i, NULL);
        cr_assert_eq(issued_on[i], 3 + 4 * 2 + due[i], "instruction %d", i);
        cr_assert_eq(collectives[args[i]].launch, launches[i], "instruction %d", i);
    }
}

/* ---- multiprocessors --------------------------------------------------------------------------
 */

/* The middle one of three ranks has four channels. */
Test(nccl_sums, waiting_messages_hold_multiprocessors)
{
    struct pp_channel channels[] = {{.source = 0, .dest = 1},
                                    {.source = 1, .dest = 2},
                                    {.source = 2, .dest = 1},
                                    {.source = 1, .dest = 0}};
    const struct pp_program p = {.ranks = 3, .channel_count = 4, .channels = channels};
    const struct pp_machine m = {.p = &p};

    cr_assert_eq(pp_nccl_held_multiprocessors(&m), 4 * PP_NCCL_CHANNEL_CTAS);
}
