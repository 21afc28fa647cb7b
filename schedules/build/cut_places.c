/* Finds the places of a cut in the program that was lowered from it. */
#include "schedules/build/cut.h"

/* Is true if the instructions of the period before a place and of that after it are the same. */
static bool repeats(const struct pp_program *p, int rank, const struct pp_cut_place *place)
{
    const int length = place->length;

    if (place->at - length < p->begin[rank] || place->at + length > p->begin[rank + 1])
        return false;
    for (int i = place->at - length; i < place->at; i++)
        if (!pp_program_is_alike(p, i, i + length))
            return false;
    return true;
}

/* Finds the instructions of the ops at which places begin, and one period before. */
static bool bind_rank(const struct pp_program *p, int rank, struct pp_cut_place *places, int count)
{
    int op = 0, z = 0, before = -1;

    for (int i = p->begin[rank]; i < p->begin[rank + 1] && z < count; i++) {
        if (p->kind[i] > PP_W)
            continue;
        if (op == places[z].at - places[z].length)
            before = i;
        if (op++ != places[z].at)
            continue;
        if (before < 0)
            return false;
        places[z] = (struct pp_cut_place){i, i - before};
        if (!repeats(p, rank, &places[z++]))
            return false;
        before = -1;
    }
    return z == count;
}

/* Counts the messages that the periods before places of a rank send and do not receive, by channel.
 * False unless they wait for all that they post. */
static bool is_rank_balanced(const struct pp_program *p, const struct pp_cut_place *place,
                             const struct pp_cut_place *end, const int *channel_of, int *sent)
{
    int open[PP_OP_KINDS] = {0};

    for (; place < end; place++)
        for (int i = place->at - place->length; i < place->at; i++) {
            const int kind = p->kind[i], stream = pp_op_kinds[kind].stream;
            if (kind == PP_WAIT)
                open[p->aux[i]]--;
            else if (stream != PP_STREAM_COMPUTE && stream != PP_STREAM_CONTROL)
                open[kind]++;
            if (stream == PP_STREAM_CHANNEL)
                sent[channel_of[p->arg[i]]] += pp_op_is_send(kind) ? 1 : -1;
        }
    for (int kind = 0; kind < PP_OP_KINDS; kind++)
        if (open[kind])
            return false;
    return true;
}

/* Is true if the periods that are left out contain all that belongs to them. So no part of the
 * program outside of them depends on their number, as RECVs that are all posted first would. */
static bool is_balanced(const struct pp_program *p, const struct pp_program_cut *cut)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    int *channel_of = PP_ARRAY(scratch, int, p->message_count),
        *sent = PP_ARRAY(scratch, int, p->channel_count);

    for (int c = 0; c < p->channel_count; c++)
        for (int k = 0; k < p->channels[c].count; k++)
            channel_of[p->channels[c].first + k] = c;
    for (int r = 0; r < p->ranks; r++)
        if (!is_rank_balanced(p, &cut->places[cut->begin[r]], &cut->places[cut->begin[r + 1]],
                              channel_of, sent))
            return false;
    for (int c = 0; c < p->channel_count; c++)
        if (sent[c])
            return false;
    return true;
}

bool pp_cut_bind(struct pp_program_cut *cut, struct pp_program *program)
{
    for (int r = 0; r < program->ranks; r++)
        if (!bind_rank(program, r, &cut->places[cut->begin[r]], cut->begin[r + 1] - cut->begin[r]))
            return false;
    if (!is_balanced(program, cut))
        return false;
    program->cut = cut;
    return true;
}
