/* What a reader must know about how two traces were compared. */
#include "sim/report/compare.h"

enum { MAX_NOTES = 8 }; /* of the comparison itself */

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

static int note_count(const struct pp_trace *trace)
{
    int count = 0;

    while (trace->notes && trace->notes[count])
        count++;
    return count;
}

/* What its reader had to say; returns how many. */
static int add_notes(const struct pp_trace *trace, const char **notes)
{
    const int count = note_count(trace);

    for (int i = 0; i < count; i++)
        notes[i] = trace->notes[i];
    return count;
}

const char *const *pp_compare_notes(struct pp_arena *arena, const struct pp_comparison *c)
{
    const struct pp_trace *predicted = c->predicted.trace, *measured = c->measured.trace;
    const char **notes =
        PP_ARRAY(arena, const char *, MAX_NOTES + note_count(predicted) + note_count(measured) + 1);
    int count = add_notes(predicted, notes);

    count += add_notes(measured, &notes[count]);

    if (c->is_partial)
        notes[count++] = "one of the two names no program: only common events are compared";
    else if (!c->is_same_program)
        notes[count++] = "the programs differ: only common events are compared";
    if (c->is_folded)
        notes[count++] =
            pp_arena_printf(arena, "the predicted replica stands for all %d measured ones",
                            c->measured.trace->replicas);
    if (!c->is_pairwise)
        notes[count++] = step_note(arena, c);
    if (c->predicted.is_overlapping != c->measured.is_overlapping)
        notes[count++] = pp_arena_printf(arena, "steps overlap in %s alone",
                                         c->predicted.is_overlapping ? c->predicted.trace->program
                                                                     : c->measured.trace->program);
    if (c->missing.count > 0)
        notes[count++] = odd_note(arena, &c->missing, "predicted");
    if (c->extra.count > 0)
        notes[count++] = odd_note(arena, &c->extra, "measured");
    return notes;
}
