/* Leaves most periods of lists out. */
#include "schedules/build/cut_zones.h"

/* Is true if each micro-batch that remains has a forward and a backward, whole or split. */
static bool is_complete(const uint8_t *done, int count)
{
    for (int i = 0; i < count; i++)
        if (done[i] != (1 << PP_F | 1 << PP_B) && done[i] != (1 << PP_F | 1 << PP_I | 1 << PP_W))
            return false;
    return true;
}

/* Lets the keys of a zone go back by the micro-batches that it leaves out. */
static void set_back(const struct pp_cut_search *s, const struct pp_cut_rank *rank,
                     const struct pp_cut_zone *zone, int *back)
{
    const int left_out = (zone->step + 1) * s->left_out;

    for (int k = 0; k < rank->chunks * PP_CUT_TYPES && rank->zones == s->steps; k++)
        back[k] = left_out;
    for (int i = zone->first; i < zone->first + zone->length; i++)
        back[rank->key[i]] = left_out;
}

/* Copies the ops of a rank that remain, with new micro-batches. */
static bool cut_rank(const struct pp_cut_search *s, const struct pp_cut_rank *rank,
                     const int *id_of, struct pp_orders *out, int r)
{
    const int each = s->each - s->steps * s->left_out;
    uint8_t *done = PP_ARRAY(s->arena, uint8_t, (size_t)rank->chunks * (size_t)each);
    int *back = PP_ARRAY(s->arena, int, (size_t)rank->chunks *PP_CUT_TYPES); /* left out so far */
    int z = 0;

    pp_orders_reserve(s->arena, out, r, rank->count);
    for (int i = 0; i < rank->count; i++) {
        if (z < rank->zones && i == rank->zone[z].at) {
            set_back(s, rank, &rank->zone[z], back);
            i += s->periods * rank->zone[z++].length;
        }
        struct pp_op op = rank->ops[i];
        const int index = rank->index[i] - back[rank->key[i]];
        if (index < 0 || index >= each)
            return false;
        uint8_t *kinds = &done[rank->key[i] / PP_CUT_TYPES * each + index];
        if (*kinds & 1 << op.kind)
            return false;
        *kinds |= (uint8_t)(1 << op.kind);
        op.mb = id_of[op.pipe * each + index];
        out->ops[r][out->count[r]++] = op;
    }
    return is_complete(done, rank->chunks * each);
}

/* Leaves micro-batches in the middle of each pipeline out of the head. */
static int *cut_head(const struct pp_cut_search *s, struct pp_arena *arena,
                     struct pp_program_head *head)
{
    const int left_out = s->steps * s->left_out, each = s->each - left_out, from = each / 2,
              whole = head->micro_batches;
    int *id_of = PP_ARRAY(s->arena, int, (size_t)head->pipelines *(size_t)each),
        *next = PP_ARRAY(s->arena, int, head->pipelines);
    uint16_t *pipe_of = PP_ARRAY(arena, uint16_t, (size_t)head->pipelines * (size_t)each);
    int count = 0;

    for (int mb = 0; mb < whole; mb++) {
        const int pipe = head->pipe_of ? head->pipe_of[mb] : 0;
        if (s->index_of[mb] >= from && s->index_of[mb] < from + left_out)
            continue;
        id_of[pipe * each + next[pipe]++] = count;
        pipe_of[count++] = (uint16_t)pipe;
    }
    head->micro_batches = count;
    head->pipe_of = pipe_of;
    return id_of;
}

static struct pp_program_cut *note(struct pp_arena *arena, const struct pp_cut_search *s)
{
    struct pp_program_cut *cut = PP_NEW(arena, struct pp_program_cut);
    int count = 0, capacity = 0;

    cut->periods = s->periods + s->more / (s->head->pipelines * s->steps * s->period);
    cut->begin = PP_ARRAY(arena, int32_t, s->head->ranks + 1);
    for (int r = 0; r < s->head->ranks; r++) {
        int before = 0; /* ops left out in earlier zones */
        for (int z = 0; z < s->ranks[r].zones; z++) {
            const struct pp_cut_zone *zone = &s->ranks[r].zone[z];
            *PP_PUSH(arena, cut->places, count, capacity) =
                (struct pp_cut_place){zone->at - before, zone->length};
            before += s->periods * zone->length;
        }
        cut->begin[r + 1] = count;
    }
    return cut;
}

struct pp_program_cut *pp_cut_lists(struct pp_arena *arena, int steps, int more,
                                    struct pp_orders **lists, struct pp_program_head *head)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_cut_search s = {.arena = scratch, .head = head, .steps = steps, .more = more};
    struct pp_program_head shorter = *head;

    if (!pp_cut_find(&s, *lists))
        return NULL;
    const int *id_of = cut_head(&s, arena, &shorter);
    struct pp_orders *cut = pp_orders_create(scratch, head->ranks);
    for (int r = 0; r < head->ranks; r++)
        if (!cut_rank(&s, &s.ranks[r], id_of, cut, r))
            return NULL;
    struct pp_program_cut *noted = note(arena, &s);
    *lists = pp_orders_copy(arena, cut);
    *head = shorter;
    return noted;
}
