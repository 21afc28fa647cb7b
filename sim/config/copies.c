/* Bytes that move between memory tiers, by class, and updates by the processors of the host. */
#include "sim/config/copies.h"

#include "core/units.h"
#include "schedules/evaluate/op_cost.h"
#include "schedules/program/whole.h"

#include <math.h>
#include <string.h>

/* Adds the parameters of inner units, which F, B and I load. */
static void add_loads(const struct pp_result *r, int kind, int stage, struct pp_copied *by_class)
{
    const struct pp_stage_gathers *g = r->costs->gathers;

    if (g && (kind == PP_F || kind == PP_B || kind == PP_I))
        by_class[PP_STATE_PARAMS].up_bytes +=
            kind == PP_F ? g[stage].load_bytes : g[stage].reload_bytes;
}

/* Adds the saved activations that move inside of F, and of R, B or I. */
static void add_saved(const struct pp_result *r, int i, struct pp_copied *by_class)
{
    const struct pp_program *p = r->program;
    const struct pp_cost *inner = r->costs->inner[p->kind[i]];
    struct pp_copied *copied = &by_class[PP_STATE_ACTIVATIONS];

    if (inner)
        *(p->kind[i] == PP_F ? &copied->down_bytes : &copied->up_bytes) +=
            inner[p->stage[i] * r->costs->splits + p->split[i]].bytes * p->granule_count[i] /
            r->costs->granules;
}

/* Adds the inner buckets of an update, each way. */
static void add_buckets(const struct pp_result *r, int stage, struct pp_copied *by_class)
{
    const struct pp_stage_memory *memory = &r->costs->memory[stage];

    by_class[PP_STATE_OPTIMIZER].down_bytes += memory->down_bytes;
    by_class[PP_STATE_OPTIMIZER].up_bytes += memory->up_bytes;
}

/* Adds the gradients of inner units, which B and W move down, and up before that. */
static void add_parts(const struct pp_result *r, int i, struct pp_copied *by_class)
{
    const struct pp_program *p = r->program;
    const struct pp_stage_gathers *g = r->costs->gathers;

    if (!g || (p->kind[i] != PP_B && p->kind[i] != PP_W))
        return;
    by_class[PP_STATE_GRADS].down_bytes += g[p->stage[i]].part_bytes;
    if (g[p->stage[i]].sum_bytes > 0 && pp_program_brings_sum(p, i))
        by_class[PP_STATE_GRADS].up_bytes += g[p->stage[i]].sum_bytes;
}

static void add_move(const struct pp_result *r, int i, struct pp_copied *by_class)
{
    const struct pp_op op = pp_program_op(r->program, i);
    const int cause = pp_move_cause(op.kind, op.purpose);

    if (cause == PP_MOVES_HOST)
        return;
    const double bytes = pp_costs_op(r->costs, &op, NULL).bytes;
    *(pp_move_is_up(op.purpose) ? &by_class[cause].up_bytes : &by_class[cause].down_bytes) += bytes;
}

void pp_copies_of_rank(const struct pp_result *r, int rank, struct pp_copied *by_class)
{
    const struct pp_program *p = r->program;

    memset(by_class, 0, sizeof(*by_class) * PP_STATE_CLASSES);
    for (struct pp_whole_walk walk = pp_whole_walk(p, rank); walk.at < p->begin[rank + 1];
         pp_whole_next(p, &walk)) {
        const int i = walk.at, kind = p->kind[i];
        if (pp_op_is_move(kind))
            add_move(r, i, by_class);
        else if (kind == PP_U)
            add_buckets(r, p->stage[i], by_class);
        else
            add_loads(r, kind, p->stage[i], by_class);
        add_parts(r, i, by_class);
        add_saved(r, i, by_class);
    }
}

static double all_bytes(const struct pp_result *r, int rank)
{
    struct pp_copied by_class[PP_STATE_CLASSES];
    double bytes = 0;

    pp_copies_of_rank(r, rank, by_class);
    for (int c = 0; c < PP_STATE_CLASSES; c++)
        bytes += by_class[c].down_bytes + by_class[c].up_bytes;
    return bytes;
}

int pp_copies_most(const struct pp_result *r)
{
    double most_bytes = 0;
    int most = 0;

    for (int rank = 0; rank < r->program->ranks; rank++) {
        const double bytes = all_bytes(r, rank);
        if (bytes > most_bytes) {
            most_bytes = bytes;
            most = rank;
        }
    }
    return most;
}

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

    pp_copies_of_rank(r, pp_copies_most(r), by_class);
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
