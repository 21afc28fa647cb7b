/* Sums of fixed point between processes: what NCCL would let wrap is told before. */
#include "exec/transport_nccl.h"

#include <criterion/criterion.h>

enum { COUNT = 5, PROCESSES = 3 };
static const int64_t MOST = INT64_MAX / PROCESSES;

static int sums, reductions, broadcasts;

static enum pp_status sum(struct pp_nccl *nccl, int group, void *buffer, size_t count,
                          enum pp_nccl_type type, void *stream, struct pp_error *err)
{
    (void)nccl, (void)group, (void)buffer, (void)stream, (void)err;
    cr_assert(count == COUNT - 1 && type == PP_NCCL_INT64);
    sums++;
    return PP_OK;
}

static enum pp_status reduce(struct pp_nccl *nccl, int group, const struct pp_nccl_piece *pieces,
                             int count, enum pp_nccl_type type, void *stream, struct pp_error *err)
{
    (void)nccl, (void)group, (void)pieces, (void)stream, (void)err;
    cr_assert(count == 1 && type == PP_NCCL_INT64);
    reductions++;
    return PP_OK;
}

static enum pp_status broadcast(struct pp_nccl *nccl, int group, const struct pp_nccl_piece *pieces,
                                int count, void *stream, struct pp_error *err)
{
    (void)nccl, (void)group, (void)pieces, (void)count, (void)stream, (void)err;
    broadcasts++;
    return PP_OK;
}

static const struct pp_nccl_calls CALLS = {.sum = sum, .reduce = reduce, .broadcast = broadcast};

/* Of one process with `copies` copies, the first element being no part of it: its status. */
static int status_of(enum pp_op_kind kind, int copies, int64_t (*x)[COUNT])
{
    struct pp_nccl_run run = {.calls = &CALLS};
    struct pp_machine m = {.nccl = &run};
    char *at[] = {(char *)x[0], (char *)x[1]};
    struct pp_range shares[2] = {{1, 3}, {3, COUNT}};
    struct pp_nccl_piece piece = {x[0] + 1, COUNT - 1, 0};
    int status = PP_FIXED_OK;
    struct nccl_sum n = {.m = &m,
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
                         .kind = kind,
                         .processes = PROCESSES,
                         .summed = {&piece, 1, 1}};

    pp_nccl_sum_run(&pp_kernels_reference, NULL, &n);
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
    cr_assert(sums == 4 * COUNT && reductions == 4 * COUNT && broadcasts == 0);
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
