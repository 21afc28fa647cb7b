/* Checks of a proved program before it is bound. The gradients are complete at the last BAR of a
 * list: their norm is computed there, and every later update reads it. Program and model must agree
 * on the matrix that embedding and head share, and on recomputation. */
#include "exec/program/check.h"

static int last_barrier(const struct pp_program *p, int rank)
{
    int at = -1;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        at = p->kind[i] == PP_BAR ? i : at;
    return at;
}

/* Is true if the instruction makes or completes gradients. */
static bool is_gradient(const struct pp_program *p, int i)
{
    const int kind = p->kind[i] == PP_WAIT ? p->aux[i] : p->kind[i];

    return kind == PP_B || kind == PP_W || kind == PP_AR || kind == PP_RS;
}

enum pp_status pp_check_updates(const struct pp_program *p, struct pp_error *err)
{
    for (int r = 0; r < p->ranks; r++) {
        const int barrier = last_barrier(p, r);

        for (int i = p->begin[r]; i < p->begin[r + 1]; i++) {
            const bool is_early = i < barrier && p->kind[i] == PP_U,
                       is_late = i > barrier && is_gradient(p, i);
            char text[PP_OP_TEXT_BYTES];

            if (!is_early && !is_late)
                continue;
            pp_program_print_op(p, i, text);
            return pp_error_set(err, PP_EPROGRAM,
                                "rank %d op %d: %s stands %s the last BAR of its list, where the "
                                "norm of all gradients is taken; move it %s",
                                r, i - p->begin[r], text, is_early ? "before" : "after",
                                is_early ? "after that BAR" : "before that BAR");
        }
    }
    return PP_OK;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static bool is_tied_sum(const struct pp_program *p, int i)
{
    return p->kind[i] == PP_AR && p->aux[i] == PP_TIED;
}

static bool has_sum(const struct pp_program *p, int rank, int stage)
{
    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        if ((p->kind[i] == PP_AR || p->kind[i] == PP_RS) && p->stage[i] == stage &&
            !is_tied_sum(p, i))
            return true;
    return false;
}

/* Copies of a stage, in replicas or pipelines, must sum their gradients. */
static enum pp_status check_copies(const struct pp_program *p, int replicas, struct pp_error *err)
{
    if (replicas * p->pipelines == 1)
        return PP_OK;
    for (int pipe = 0; pipe < p->pipelines; pipe++)
        for (int stage = 0; stage < p->stages; stage++) {
            const int rank = pp_program_rank_of(p, pipe, stage);

            if (!has_sum(p, rank, stage))
                return pp_error_set(err, PP_EPROGRAM,
                                    "rank %d: nothing sums the gradients of stage %d, which has %d "
                                    "copies; put %dAR and (%dAR)WAIT before the last BAR",
                                    rank, stage, replicas * p->pipelines, stage, stage);
        }
    return PP_OK;
}

static enum pp_status check_tied(const struct pp_program *p, bool is_tied, struct pp_error *err)
{
    const int last = p->stages - 1;

    if (pp_program_has_tied(p) && !is_tied)
        return pp_error_set(err, PP_EPROGRAM,
                            "(0;%d)AR sums a matrix that embedding and head share, but the head "
                            "of this model has its own",
                            last);
    if (pp_program_has_tied(p) || !is_tied)
        return PP_OK;
    for (int pipe = 0; pipe < p->pipelines; pipe++) {
        const int first_rank = pp_program_rank_of(p, pipe, 0),
                  last_rank = pp_program_rank_of(p, pipe, last);
        if (first_rank != last_rank)
            return pp_error_set(err, PP_EPROGRAM,
                                "rank %d: the embedding of stage 0 is also the head of stage %d on "
                                "rank %d, but (0;%d)AR, which sums the gradients, is missing",
                                first_rank, last, last_rank, last);
    }
    return PP_OK;
}

static enum pp_status check_recomputed(const struct pp_program *p, struct pp_error *err)
{
    for (int rank = 0; p->splits > 1 && rank < p->ranks; rank++)
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            char text[PP_OP_TEXT_BYTES];

            if (p->kind[i] != PP_R)
                continue;
            pp_program_print_op(p, i, text);
            return pp_error_set(err, PP_EPROGRAM,
                                "rank %d op %d: %s cannot recompute one of %d sequence splits "
                                "alone: the other splits need its saved tensors",
                                rank, i - p->begin[rank], text, p->splits);
        }
    return PP_OK;
}

enum pp_status pp_check_program(const struct pp_program *p, bool is_tied, bool is_partly_again,
                                int replicas, struct pp_error *err)
{
    if (!is_partly_again)
        PP_TRY(check_recomputed(p, err));
    PP_TRY(check_tied(p, is_tied, err));
    PP_TRY(check_copies(p, replicas, err));
    return pp_check_updates(p, err);
}
