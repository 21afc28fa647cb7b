/* Bytes that move between memory tiers, in words, and updates by the processors of the host. */
#include "sim/config/copies.h"

#include "core/units.h"
#include "schedules/program/whole.h"

#include <math.h>

/* ---- words ----------------------------------------------------------------------------------- */

/* Prints GiB: "0", "16.4", "15,700". */
static const char *print_gib(double bytes, char text[PP_UNITS_TEXT_BYTES])
{
    const double gib = bytes / PP_GIB;

    if (gib >= 999.5)
        return pp_units_print_count(llround(gib), text);
    snprintf(text, PP_UNITS_TEXT_BYTES, "%.3g", gib);
    return text;
}

const char *pp_copies_text(struct pp_arena *arena, const struct pp_result *r)
{
    struct pp_copied by_class[PP_STATE_CLASSES];
    char down[PP_UNITS_TEXT_BYTES], up[PP_UNITS_TEXT_BYTES];
    const char *text = "";

    pp_copied_of_rank(r->program, r->costs, pp_copied_most(r->program, r->costs), by_class);
    for (int c = 0; c < PP_STATE_CLASSES; c++)
        if (by_class[c].down_bytes + by_class[c].up_bytes > 0)
            text = pp_arena_printf(arena, "%s%s%s %s | %s", text, *text ? ", " : "",
                                   pp_state_class_names[c], print_gib(by_class[c].down_bytes, down),
                                   print_gib(by_class[c].up_bytes, up));
    return text;
}

/* Returns the seconds that the host updates for a rank in a step. Each U has its part there. */
static double updates_s(const struct pp_result *r, int rank)
{
    const struct pp_program *p = r->program;
    const struct pp_cost *update = r->costs->purpose[PP_FOR_UPDATE];
    double s = 0;

    for (struct pp_whole_walk walk = pp_whole_walk(p, rank); walk.at < p->begin[rank + 1];
         pp_whole_next(p, &walk))
        if (p->kind[walk.at] == PP_U)
            s += pp_units_s(update[p->stage[walk.at]].ps);
    return s;
}

struct pp_host_updates pp_host_updates(const struct pp_result *r)
{
    const struct pp_state_spec *state = &r->config.state;
    struct pp_host_updates most = {0};

    if (!r->costs || !state->is_cpu_update || !r->costs->purpose[PP_FOR_UPDATE])
        return most;
    for (int rank = 0; rank < r->program->ranks; rank++) {
        const double s = updates_s(r, rank);
        if (s <= most.s)
            continue;
        most.s = s;
        most.exposed_s = pp_state_has_host_stream(state)
                             ? fmin(s, r->metrics.ranks[rank].moves_s[PP_MOVES_HOST])
                             : s;
    }
    return most;
}
