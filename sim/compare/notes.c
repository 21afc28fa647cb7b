/* Notes on the comparison of two traces. */
#include "sim/compare/compare.h"

const char *pp_compare_kind_name(const struct pp_compare_row *row)
{
    return row->is_fused ? "F+B" : pp_op_kinds[row->kind].text;
}

static const char *odd_note(struct pp_arena *arena, const struct pp_compare_list *list,
                            const char *only)
{
    const char *text = pp_arena_printf(arena, "%lld event%s only %s:", (long long)list->count,
                                       list->count == 1 ? "" : "s", only);

    for (int i = 0; i < list->count && i < PP_COMPARE_FEW; i++)
        text = pp_arena_printf(arena, "%s%s %s (rank~%d, step~%d)", text, i ? "," : "",
                               list->first[i].cell, list->first[i].rank, list->first[i].step);
    return list->count > PP_COMPARE_FEW ? pp_arena_printf(arena, "%s, ...", text) : text;
}

static const char *step_note(struct pp_arena *arena, const struct pp_comparison *c)
{
    const int predicted = c->steps[0].predicted;

    return c->step_count == 1
               ? pp_arena_printf(arena, "the measured step is compared with predicted step %d",
                                 predicted)
               : pp_arena_printf(arena,
                                 "each of the %d measured steps is compared with predicted step %d",
                                 c->step_count, predicted);
}

static const char *barrier_note(struct pp_arena *arena, const struct pp_comparison *c)
{
    const bool is_measured = c->measured_has_barrier;

    return pp_arena_printf(arena,
                           "the %s program alone has a barrier before its updates, else both are "
                           "the same; pipesim --update-barrier %s predicts %s one",
                           is_measured ? "measured" : "predicted", is_measured ? "on" : "off",
                           is_measured ? "that" : "the measured");
}

struct notes {
    struct pp_arena *arena;
    const char **list;
    int count, capacity;
};

static void add(struct notes *n, const char *note)
{
    *PP_PUSH(n->arena, n->list, n->count, n->capacity) = note;
}

/* Appends the notes of the trace's reader. */
static void add_notes(struct notes *n, const struct pp_trace *trace)
{
    for (const char *const *note = trace->notes; note && *note; note++)
        add(n, *note);
}

const char *const *pp_compare_notes(struct pp_arena *arena, const struct pp_comparison *c)
{
    const struct pp_trace *predicted = c->predicted.trace, *measured = c->measured.trace;
    struct notes notes = {.arena = arena};

    add_notes(&notes, predicted);
    add_notes(&notes, measured);
    if (c->time_unit)
        add(&notes, "times are in units of --unit, as a trace says");
    if (c->is_partial)
        add(&notes, "one of the two names no program: only common events are compared");
    else if (c->differs_by_barrier)
        add(&notes, barrier_note(arena, c));
    else if (!c->is_same_program)
        add(&notes, "the programs differ: only common events are compared");
    if (c->is_folded)
        add(&notes, pp_arena_printf(arena, "the predicted replica stands for all %d measured ones",
                                    measured->replicas));
    if (!c->is_pairwise)
        add(&notes, step_note(arena, c));
    if (c->predicted.is_overlapping != c->measured.is_overlapping)
        add(&notes,
            pp_arena_printf(arena, "steps overlap in %s alone",
                            c->predicted.is_overlapping ? predicted->program : measured->program));
    if (c->missing.count > 0)
        add(&notes, odd_note(arena, &c->missing, "predicted"));
    if (c->extra.count > 0)
        add(&notes, odd_note(arena, &c->extra, "measured"));
    add(&notes, NULL);
    return notes.list;
}
