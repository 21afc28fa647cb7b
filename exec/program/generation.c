/* Memory of a generating program, and what a machine can execute of one. */
#include "exec/program/generation.h"

#include "exec/program/parts.h"

static bool is_pass_end(const struct pp_program *p, int v)
{
    return (v + 1) % pp_program_model_stages(p) == 0;
}

size_t pp_output_pitch(const struct pp_program *p, const struct pp_stage *const *stages, int v)
{
    if (is_pass_end(p, v))
        return sizeof(int32_t) * (size_t)stages[0]->shape.rows;
    return v < pp_program_model_stages(p) ? stages[v]->boundary_bytes
                                          : stages[v]->boundary_bytes / (size_t)p->granules;
}

size_t pp_message_pitch(const struct pp_program *p, const struct pp_stage *const *stages, int i)
{
    const int stage = p->stage[i];

    return p->passes > 0 ? pp_output_pitch(p, stages, stage - pp_op_is_recv(p->kind[i]))
                         : stages[stage]->boundary_bytes;
}

/* ---- layout ---------------------------------------------------------------------------------- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void place_cache(const struct pp_placing *l, int stage, struct pp_rank_layout *rank)
{
    const int sequences = l->p->micro_batches * l->p->granules * l->stages[0]->shape.rows;
    const size_t bytes = pp_stage_cache_bytes(l->stages[stage], sequences);

    rank->generating.cache_offset[stage] = pp_layout_take(rank, bytes);
    rank->generating.cache_bytes += bytes;
}

/* One place for all passes: a pass ends before the next one of the same group. */
static void place_output(const struct pp_placing *l, int stage, struct pp_rank_layout *rank)
{
    const struct pp_program *p = l->p;
    const int model = pp_program_model_stages(p), last = p->stages - model + stage;
    const size_t pitch = larger(pp_output_pitch(p, l->stages, stage),
                                pp_output_pitch(p, l->stages, last)),
                 bytes = (size_t)p->micro_batches * p->granules * pitch;
    const bool has_next = stage + 1 < p->stages;

    if (!has_next || p->rank_of[stage + 1] != p->rank_of[stage])
        return;
    rank->generating.output_offset[stage] = pp_layout_take(rank, bytes);
    rank->buffers_bytes += bytes;
}

/* Places of logits and ids, as large as those of a whole group. */
static void place_ends(const struct pp_placing *l, int stage, struct pp_rank_layout *rank)
{
    const struct pp_program *p = l->p;
    struct pp_generating_layout *g = &rank->generating;
    const int model = pp_program_model_stages(p), last = p->stages - model + stage;
    const size_t ids_bytes = sizeof(int32_t) * (size_t)(p->granules * l->stages[0]->shape.rows),
                 logits_bytes = larger(pp_stage_logits_bytes(l->stages[stage]),
                                       pp_stage_logits_bytes(l->stages[last]));
    const bool is_fed =
        stage == 0 && p->granules > 1 && p->passes > 1 && p->rank_of[model - 1] != p->rank_of[0];
    /* of the last pass; with one pass, of a piece */
    const size_t chosen_bytes = p->passes > 1 ? ids_bytes : ids_bytes / (size_t)p->granules;

    if (logits_bytes > 0) {
        g->logits_offset = pp_layout_take(rank, logits_bytes);
        g->chosen_offset = pp_layout_take(rank, chosen_bytes);
        g->own_bytes += logits_bytes + chosen_bytes;
    }
    if (is_fed) {
        g->fed_offset = pp_layout_take(rank, ids_bytes);
        g->own_bytes += ids_bytes;
    }
}

void pp_layout_generation(const struct pp_placing *l, int r, struct pp_rank_layout *rank)
{
    const struct pp_program *p = l->p;
    const int model = pp_program_model_stages(p);

    if (p->passes == 0)
        return;
    rank->generating.cache_offset = PP_ARRAY(l->arena, size_t, model);
    rank->generating.output_offset = PP_ARRAY(l->arena, size_t, model);
    for (int s = 0; s < model; s++) {
        rank->generating.cache_offset[s] = rank->generating.output_offset[s] = SIZE_MAX;
        if (p->rank_of[s] != r)
            continue;
        place_cache(l, s, rank);
        place_output(l, s, rank);
        place_ends(l, s, rank);
    }
    rank->other_bytes += rank->generating.own_bytes;
}

/* ---- what can be executed -------------------------------------------------------------------- */

static bool is_known(const struct pp_program *p, int i)
{
    const int kind = p->kind[i];

    return kind == PP_F || kind == PP_SEND_F || kind == PP_RECV_F || kind == PP_WAIT;
}

static enum pp_status refuse(const struct pp_program *p, int rank, int i, const char *why,
                             struct pp_error *err)
{
    char text[PP_OP_TEXT_BYTES];

    pp_program_print_op(p, i, text);
    return pp_error_set(err, PP_EPROGRAM, "rank %d op %d: %s %s", rank, i - p->begin[rank], text,
                        why);
}

static enum pp_status check_op(const struct pp_program *p, int rank, int i, struct pp_error *err)
{
    const bool is_later = p->stage[i] >= pp_program_model_stages(p);

    if (!is_known(p, i))
        return refuse(p, rank, i, "is not of a program that generates: F, SEND, RECV and WAIT are",
                      err);
    if (p->kind[i] == PP_F && is_later &&
        (p->granule_count[i] != p->granules || p->mb[i] % p->granules != 0))
        return refuse(p, rank, i,
                      "has a part of a group: only prompts are cut, in pass 0; let it have the "
                      "whole group",
                      err);
    return PP_OK;
}

enum pp_status pp_check_generating(const struct pp_program *p, struct pp_error *err)
{
    if (p->passes == 0)
        return pp_error_set(err, PP_EPROGRAM,
                            "the program does not say how many tokens it makes: give it a line "
                            "\"# passes: T\"");
    if (p->pipelines > 1 || p->splits > 1)
        return pp_error_set(err, PP_EPROGRAM,
                            "%d pipelines and %d sequence splits: a program that generates has "
                            "one of each",
                            p->pipelines, p->splits);
    for (int rank = 0; rank < p->ranks; rank++)
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
            PP_TRY(check_op(p, rank, i, err));
    return PP_OK;
}
