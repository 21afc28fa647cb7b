/* The state of the network at the beginnings of two periods of a cut program. */
#include "sim/engine/interpret_parts.h"

void pp_marks_prepare(struct pp_run *r)
{
    const struct pp_program_cut *cut = r->p->cut;

    if (!cut || cut->begin[1] == 0 || r->times->steps > 1 || r->options->is_plain)
        return;
    r->marked = &r->instance[0];
    for (int k = 0; k < PP_MARKS; k++) {
        r->mark[k].pc = cut->places[0].at - (PP_MARKS - 1 - k) * cut->places[0].length;
        r->mark[k].state.arena = r->arena;
    }
}

void pp_marks_meet(struct pp_run *r, const struct pp_instance *in)
{
    pp_express_call(r->express, r->p->ranks * r->replicas + r->marks++, in->clock_ps);
    if (r->marks == PP_MARKS)
        r->marked = NULL;
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
    const struct pp_mark *before = &r->mark[0], *after = &r->mark[PP_MARKS - 1];

    stats->repeats =
        before->is_met && after->is_met && pp_network_state_is_same(&before->state, &after->state);
    stats->period_transfers = after->stats.transfers - before->stats.transfers;
    stats->period_shared = after->stats.shared - before->stats.shared;
}
