/* Keys and values on another tier. A pass reads what all earlier passes have made, and what it
 * makes goes down before the next pass brings it up. */
#include "tests/property/judge_parts.h"

static int model_stages(const struct machine *m)
{
    return m->head->passes > 0 ? m->head->stages / m->head->passes : m->head->stages;
}

static bool is_copy(const struct pp_op *op, enum pp_purpose purpose)
{
    return op->kind == PP_COPY && op->purpose == purpose;
}

/* The last post of a purpose for a granule of a stage of the model, in any pass, and their number.
 */
static const struct post *last_of(const struct machine *m, int rank, enum pp_purpose purpose,
                                  int stage, int g, int *count)
{
    const struct post *last = NULL;

    *count = 0;
    for (int k = 0; k < m->post_count; k++) {
        const struct pp_op *op = &m->posts[k].op;
        if (m->posts[k].rank == rank && is_copy(op, purpose) &&
            op->stage % model_stages(m) == stage % model_stages(m) && op->mb <= g &&
            g < op->mb + op->granules) {
            last = &m->posts[k];
            ++*count;
        }
    }
    return last;
}

static bool has_run(const struct machine *m, int rank, int stage, int g)
{
    for (int i = 0; i < m->at[rank]; i++) {
        const struct pp_op *op = &m->lists->ops[rank][i];
        if (op->kind == PP_F && op->stage == stage && op->mb <= g && g < op->mb + op->granules)
            return true;
    }
    return false;
}

int judge_post_cache(struct machine *m, int rank, const struct pp_op *op)
{
    const int pass = op->stage / model_stages(m);

    if (m->head->passes == 0)
        return judge_complain(m, op, rank, "nothing is generated");
    for (int g = op->mb; g < op->mb + op->granules; g++) {
        int downs, ups;
        const struct post *down = last_of(m, rank, PP_FOR_KV_DOWN, op->stage, g, &downs),
                          *up = last_of(m, rank, PP_FOR_KV_UP, op->stage, g, &ups);
        if (is_copy(op, PP_FOR_KV_UP) && up && up->op.stage == op->stage)
            return judge_complain(m, op, rank, "comes up again");
        if (is_copy(op, PP_FOR_KV_UP) && (pass == 0 || downs < pass))
            return judge_complain(m, op, rank, "not all of it has gone down");
        if (is_copy(op, PP_FOR_KV_DOWN) && !has_run(m, rank, op->stage, g))
            return judge_complain(m, op, rank, "nothing is made yet");
        if (is_copy(op, PP_FOR_KV_DOWN) && (downs != pass || (down && !down->is_waited)))
            return judge_complain(m, op, rank, "goes down out of turn");
    }
    return 1;
}

static bool is_program_of_cache(const struct machine *m)
{
    for (int r = 0; r < m->lists->ranks; r++)
        for (int i = 0; i < m->lists->count[r]; i++)
            if (is_copy(&m->lists->ops[r][i], PP_FOR_KV_UP) ||
                is_copy(&m->lists->ops[r][i], PP_FOR_KV_DOWN))
                return true;
    return false;
}

int judge_use_cache(struct machine *m, int rank, const struct pp_op *op)
{
    const bool reads = op->kind == PP_F && op->stage >= model_stages(m) && is_program_of_cache(m);

    for (int g = op->mb; reads && g < op->mb + op->granules; g++) {
        int ups;
        const struct post *up = last_of(m, rank, PP_FOR_KV_UP, op->stage, g, &ups);
        if (!up || up->op.stage != op->stage || !up->is_waited)
            return judge_complain(m, op, rank, "its keys are on another tier");
    }
    return 1;
}

bool judge_is_cache_left(const struct machine *m)
{
    for (int s = 0; is_program_of_cache(m) && s < model_stages(m); s++)
        for (int g = 0; g < m->head->micro_batches * m->head->granules; g++) {
            int downs;
            const struct post *down = last_of(m, judge_home(m, 0, s), PP_FOR_KV_DOWN, s, g, &downs);
            if (downs != m->head->passes || !down->is_waited)
                return true;
        }
    return false;
}
