/* The state of the network at the beginnings of the periods around the gaps of a cut program. */
#include "sim/engine/interpret_parts.h"

void pp_marks_prepare(struct pp_run *r)
{
    const struct pp_program_cut *cut = r->p->cut;
    const int steps = r->times->steps;

    if (!cut || cut->begin[1] == 0 || r->options->is_plain ||
        (steps > 1 && !r->options->eval.is_barrier_free))
        return;
    r->marked = &r->instance[0];
    r->mark_count = steps * cut->begin[1] * PP_MARKS;
    r->mark = PP_ARRAY(r->arena, struct pp_mark, r->mark_count);
    for (int k = 0; k < r->mark_count; k++) {
        const struct pp_cut_place *place = &cut->places[k / PP_MARKS % cut->begin[1]];
        r->mark[k].step = k / PP_MARKS / cut->begin[1];
        r->mark[k].pc = place->at - (PP_MARKS - 1 - k % PP_MARKS) * place->length;
        r->mark[k].state.arena = r->arena;
    }
}

void pp_marks_meet(struct pp_run *r, const struct pp_instance *in)
{
    while (in == r->marked && in->step == r->mark[r->marks].step &&
           in->pc == r->mark[r->marks].pc) {
        pp_express_call(r->express, r->p->ranks * r->replicas + r->marks++, in->clock_ps);
        if (r->marks == r->mark_count)
            r->marked = NULL;
    }
}

void pp_marks_event(struct pp_run *r, int number)
{
    struct pp_mark *mark = &r->mark[number - r->p->ranks * r->replicas];

    pp_express_note(r->express, &mark->state);
    pp_express_stats(r->express, &mark->stats);
    mark->stats.transfers = r->transfers;
    mark->is_met = true;
}

void pp_marks_stats(const struct pp_run *r, struct pp_network_stats *stats)
{
    stats->repeats = r->mark_count > 0;
    stats->period_transfers = stats->period_shared = 0;
    for (int k = 0; k < r->mark_count; k += PP_MARKS) {
        const struct pp_mark *before = &r->mark[k], *after = &before[PP_MARKS - 1];
        stats->repeats &= before->is_met && after->is_met &&
                          pp_network_state_is_same(&before->state, &after->state);
        stats->period_transfers += after->stats.transfers - before->stats.transfers;
        stats->period_shared += after->stats.shared - before->stats.shared;
    }
}
