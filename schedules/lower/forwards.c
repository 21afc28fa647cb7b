/* The end of SENDs in programs of forwards alone.
 *
 * Nothing comes back, but a later stage of a granule on the sender's rank proves that SENDs before
 * it are over. Some ranks need not wait for that: at most `window` SENDs of a channel are open, and
 * the next F waits for the oldest. No circle of waits can come from this if activations only move
 * to higher ranks. If they go around, that is so for all ranks but the last one, if all ranks run
 * their stages in the same order. */
#include "schedules/lower/messages.h"

/* Is true if a rank runs what rank 0 does, on the stages that follow. */
static bool is_like_first(const struct pp_messages *m, int rank)
{
    bool is_like = m->units[rank].count == m->units[0].count;

    for (int32_t u = 0; is_like && u < m->units[0].count; u++) {
        const struct pp_op *first = pp_unit_op(m, 0, u, 0), *op = pp_unit_op(m, rank, u, 0);

        is_like = op->kind == first->kind && op->stage == first->stage + rank &&
                  op->mb == first->mb && op->granules == first->granules &&
                  op->split == first->split;
    }
    return is_like;
}

/* Returns the first rank whose SENDs wait for proof. */
static int ranks_with_window(const struct pp_messages *m, int window)
{
    const struct pp_program_head *head = m->head;
    bool is_linear = true, is_loop = true;

    if (head->pipelines > 1 || window <= 0)
        return 0;
    for (int stage = 0; stage < head->stages; stage++) {
        is_linear = is_linear && (stage == 0 || head->rank_of[stage - 1] <= head->rank_of[stage]);
        is_loop = is_loop && head->rank_of[stage] == stage % head->ranks;
    }
    for (int rank = 1; is_loop && rank < head->ranks; rank++)
        is_loop = is_like_first(m, rank);
    return is_linear ? head->ranks : is_loop ? head->ranks - 1 : 0;
}

/* Notes for each message the first unit of its source on a later stage of the same granule. */
static void find_proofs(struct pp_arena *arena, struct pp_messages *m)
{
    int32_t *next = pp_arena_alloc_raw(arena, sizeof(int32_t) * m->cells);

    for (int rank = 0; rank < m->head->ranks; rank++) {
        for (size_t cell = 0; cell < m->cells; cell++)
            next[cell] = m->units[rank].count;
        for (int32_t u = m->units[rank].count - 1; u >= 0; u--) {
            const struct pp_op *op = pp_unit_op(m, rank, u, 0);
            const int32_t id = op->kind == PP_F ? pp_message_output(m, op) : -1;

            for (int g = op->mb; op->kind == PP_F && g < op->mb + op->granules; g++) {
                int32_t *of = &next[(size_t)g * (size_t)m->head->splits + op->split];
                if (id >= 0 && *of > m->messages[id].done)
                    m->messages[id].done = *of;
                *of = u;
            }
        }
    }
}

void pp_messages_settle_forwards(struct pp_arena *arena, struct pp_messages *m, int window)
{
    const int limited = ranks_with_window(m, window);

    find_proofs(arena, m);
    for (int32_t c = 0; c < m->channel_count; c++)
        for (int32_t k = 0; m->channels[c].source < limited && k + window < m->channels[c].count;
             k++) {
            struct pp_message *message = &m->messages[m->channels[c].first + k];

            if (message[window].produced < message->done)
                message->done = message[window].produced;
        }
}
