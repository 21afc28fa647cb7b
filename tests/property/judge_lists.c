/* What the lists say, searched from end to end. */
#include "tests/property/judge_parts.h"

#include <string.h>

bool judge_is_lowered(const struct machine *m)
{
    return m->head->level == PP_LEVEL_LOWERED;
}

int judge_pipe_of(const struct machine *m, int granule)
{
    return m->head->pipe_of ? m->head->pipe_of[granule] : 0;
}

int judge_home(const struct machine *m, int pipe, int stage)
{
    return m->head->rank_of[pipe * m->head->stages + stage];
}

int judge_complain(struct machine *m, const struct pp_op *op, int rank, const char *what)
{
    char text[PP_OP_TEXT_BYTES];

    pp_op_print(op, (struct pp_op_style){.splits = true, .pipelines = true, .slots = true}, text);
    snprintf(m->why, WHY_BYTES, "rank %d, %s: %s", rank, text, what);
    return -1;
}

/* In a compute-only program things are seen by everybody, else on their rank. */
bool judge_has(const struct machine *m, char what, int rank, int stage, int granule, int split)
{
    for (int k = 0; k < m->thing_count; k++) {
        const struct thing *t = &m->things[k];
        if (t->what == what && t->stage == stage && t->granule == granule && t->split == split &&
            (!judge_is_lowered(m) || t->rank == rank))
            return true;
    }
    return false;
}

void judge_put(struct machine *m, char what, int rank, int stage, int granule, int split)
{
    m->things[m->thing_count++] = (struct thing){what, rank, stage, granule, split};
}

bool judge_is_listed(const struct machine *m, int kind, int stage, int granule, int split)
{
    for (int r = 0; r < m->lists->ranks; r++)
        for (int i = 0; i < m->lists->count[r]; i++) {
            const struct pp_op *op = &m->lists->ops[r][i];
            if (op->kind == kind && op->stage == stage && op->split == split && op->mb <= granule &&
                granule < op->mb + op->granules)
                return true;
        }
    return false;
}

/* ---- completeness ---------------------------------------------------------------------------- */

static int count_units(const struct machine *m, int kind, int stage, int granule, int split)
{
    int count = 0;

    for (int r = 0; r < m->lists->ranks; r++)
        for (int i = 0; i < m->lists->count[r]; i++) {
            const struct pp_op *op = &m->lists->ops[r][i];
            for (int g = 0; g < op->granules; g++)
                count += op->kind == kind && op->stage == stage && op->split == split &&
                         op->mb + g == granule;
        }
    return count;
}

/* What a collective or a copy is for, 0: the sum or the gather of a step. */
int judge_purpose_of(const struct pp_op *op)
{
    return pp_op_has_purpose(op->kind == PP_WAIT ? op->aux : op->kind) ? op->purpose : 0;
}

int judge_count_chunk(const struct machine *m, int kind, int pipe, int stage)
{
    int count = 0;

    for (int r = 0; r < m->lists->ranks; r++)
        for (int i = 0; i < m->lists->count[r]; i++) {
            const struct pp_op *op = &m->lists->ops[r][i];
            count += op->kind == kind && op->pipe == pipe && op->stage == stage && op->split == 0 &&
                     !(kind == PP_AR && op->aux == PP_TIED) && judge_purpose_of(op) == 0;
        }
    return count;
}

/* Counts sums of a stage on its rank in this pipeline, for every pipeline that the sums name. A
 * rank adds up its copies of a stage. */
int judge_count_sums(const struct machine *m, int pipe, int stage)
{
    int count = 0;

    for (int p = 0; p < m->head->pipelines; p++)
        if (judge_home(m, p, stage) == judge_home(m, pipe, stage))
            count += judge_count_chunk(m, PP_AR, p, stage) + judge_count_chunk(m, PP_RS, p, stage);
    return count;
}

/* A rank posts a collective whole, or all its buckets one after another, each once. */
static bool is_cut_well(const struct machine *m, int rank, int kind, int purpose, int stage)
{
    int next = 0, buckets = 0;

    for (int i = 0; i < m->lists->count[rank]; i++) {
        const struct pp_op *op = &m->lists->ops[rank][i];
        if (op->kind != kind || op->stage != stage || (kind == PP_AR && op->aux == PP_TIED) ||
            judge_purpose_of(op) != purpose)
            continue;
        if (op->split != next || (next > 0 && op->granules != buckets))
            return false;
        buckets = op->granules;
        next = next + 1 < buckets ? next + 1 : 0;
    }
    return next == 0;
}

static bool are_cut_well(const struct machine *m)
{
    static const int kinds[] = {PP_AR, PP_RS, PP_AG};

    for (int rank = 0; rank < m->lists->ranks; rank++)
        for (int stage = 0; stage < m->head->stages; stage++)
            for (int k = 0; k < 3; k++)
                for (int purpose = 0; purpose < PP_PURPOSES; purpose++)
                    if (!is_cut_well(m, rank, kinds[k], purpose, stage))
                        return false;
    return true;
}

/* Whether copies of a stage on a rank have shares of its update that no AG gathers. */
static bool is_left_cut(const struct machine *m, int pipe, int stage)
{
    int scatters = 0, gathers = 0;

    for (int p = 0; p < m->head->pipelines; p++)
        if (judge_home(m, p, stage) == judge_home(m, pipe, stage)) {
            scatters += judge_count_chunk(m, PP_RS, p, stage);
            gathers += judge_count_chunk(m, PP_AG, p, stage);
        }
    return scatters && !gathers && judge_count_chunk(m, PP_U, pipe, stage) &&
           !judge_count_chunk(m, PP_DROP, pipe, stage);
}

/* In training, all instructions with a buffer name its slot, or none does. */
static bool are_slots_named(const struct machine *m)
{
    int named = 0, all = 0;

    for (int rank = 0; rank < m->lists->ranks; rank++)
        for (int i = 0; i < m->lists->count[rank]; i++) {
            const struct pp_op *op = &m->lists->ops[rank][i];
            const bool is_up = op->kind == PP_COPY && op->purpose == PP_FOR_UP;
            if (op->kind != PP_F && op->kind != PP_R && !is_up && !pp_op_is_send(op->kind) &&
                !pp_op_is_recv(op->kind))
                continue;
            all++;
            named += op->slot >= 0;
        }
    return named == 0 || named == all || m->head->mode != PP_MODE_TRAIN;
}

bool judge_is_complete(const struct machine *m)
{
    const struct pp_program_head *h = m->head;
    int updates = 0, sums = 0;

    if (!are_cut_well(m) || (judge_is_lowered(m) && !are_slots_named(m)))
        return false;
    for (int s = 0; s < h->stages; s++)
        for (int g = 0; g < h->micro_batches * h->granules; g++)
            for (int q = 0; q < h->splits; q++) {
                const int f = count_units(m, PP_F, s, g, q), b = count_units(m, PP_B, s, g, q);
                const int i = count_units(m, PP_I, s, g, q), w = count_units(m, PP_W, s, g, q);
                const bool is_whole = b == 1 && i == 0 && w == 0;
                const bool is_cut = b == 0 && i == 1 && w == 1;
                if (f != 1 || (h->mode == PP_MODE_TRAIN && !is_whole && !is_cut) ||
                    (h->mode == PP_MODE_INFER && b + i + w > 0))
                    return false;
                if (count_units(m, PP_R, s, g, q) > 1)
                    return false;
            }
    for (int p = 0; p < h->pipelines; p++)
        for (int s = 0; s < h->stages; s++) {
            updates += judge_count_chunk(m, PP_U, p, s);
            sums += judge_count_chunk(m, PP_AR, p, s) + judge_count_chunk(m, PP_RS, p, s);
        }
    for (int p = 0; p < h->pipelines; p++)
        for (int s = 0; s < h->stages; s++)
            if ((updates && judge_count_chunk(m, PP_U, p, s) != 1) ||
                (sums && judge_count_sums(m, p, s) != 1) || is_left_cut(m, p, s))
                return false;
    return true;
}

bool judge_is_pair(const struct machine *m, int rank, int i)
{
    const struct pp_op *op = &m->lists->ops[rank][i];

    return op->kind == PP_F && op->aux == PP_FUSED_FIRST && i + 1 < m->lists->count[rank] &&
           op[1].kind == PP_B && op[1].aux == PP_FUSED_SECOND;
}
