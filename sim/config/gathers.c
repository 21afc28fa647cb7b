/* Numbers and bytes of gathers, sums and scatters in a step. */
#include "sim/config/gathers.h"

#include "core/cost/residence.h"
#include "core/units.h"
#include "schedules/program/uses.h"
#include "schedules/program/whole.h"
#include "sim/config/auto_share.h"

bool pp_gathers_are_used(const struct pp_result *r)
{
    return r->costs && r->costs->gathers && r->costs->gathers[0].units > 0;
}

/* Is true if instruction `i` brings parameters into a buffer. */
static bool is_fetch(const struct pp_result *r, int i)
{
    const struct pp_program *p = r->program;

    return r->costs->gathers[p->stage[i]].is_cut
               ? p->kind[i] == PP_AG && pp_purpose_is_gather(p->purpose[i])
               : p->kind[i] == PP_MOVE && pp_move_is_load(p->purpose[i]);
}

int64_t pp_gathers_visits(const struct pp_result *r, int rank)
{
    const struct pp_program *p = r->program;
    int64_t visits = 0;

    for (struct pp_whole_walk walk = pp_whole_walk(p, rank);
         walk.at < p->begin[rank + 1] && pp_gathers_are_used(r); pp_whole_next(p, &walk)) {
        const int i = walk.at;
        const struct pp_stage_gathers *gathers = &r->costs->gathers[p->stage[i]];
        if (is_fetch(r, i))
            visits += gathers->units - pp_gathers_inside(gathers);
        if (p->kind[i] == PP_F || p->kind[i] == PP_B || p->kind[i] == PP_I)
            visits += pp_gathers_inside(gathers);
    }
    return visits;
}

int64_t pp_cache_uses(const struct pp_result *r, int rank)
{
    return pp_gathers_are_used(r) ? pp_program_uses(r->program, rank) : 0;
}

struct pp_cache_counts pp_cache_count(const struct pp_result *r)
{
    const int cached = r->config.state.cached;
    struct pp_cache_counts most = {.cached = cached > 1 ? cached : 1};

    for (int rank = 0; rank < r->program->ranks; rank++) {
        const int64_t loads = pp_gathers_visits(r, rank);
        if (loads > most.loads) {
            most.loads = loads;
            most.hits = pp_cache_uses(r, rank) - loads;
        }
    }
    return most;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Elements that one instruction moves. */
static double elements_of(const struct pp_result *r, int i, struct pp_value_bytes size)
{
    const int kind = r->program->kind[i];

    if (!pp_op_has_buckets(kind) && !(pp_op_is_compute(kind) && pp_gathers_are_used(r)))
        return 0;
    const struct pp_op op = pp_program_op(r->program, i);
    const bool is_gather = op.kind == PP_AG || op.kind == PP_BC;

    if (pp_op_has_buckets(op.kind) && op.aux != PP_TIED)
        return (op.kind == PP_AR ? 2 : 1) * pp_costs_op(r->costs, &op, NULL).bytes /
               (is_gather ? size.params : size.grads);
    if (!pp_op_is_compute(op.kind) || !pp_gathers_are_used(r))
        return 0;
    const struct pp_stage_gathers *g = &r->costs->gathers[op.stage];
    const double gathered = op.kind == PP_F                      ? g->forward_bytes
                            : op.kind == PP_B || op.kind == PP_I ? g->backward_bytes
                                                                 : 0,
                 scattered = op.kind == PP_B || op.kind == PP_W ? g->scatter_bytes : 0;
    return gathered / size.params + scattered / size.grads;
}

double pp_gathers_elements(const struct pp_result *r)
{
    const struct pp_program *p = r->program;
    const struct pp_value_bytes size = pp_cost_value_bytes(&r->cost_inputs);
    double elements = 0, params = 0;

    for (struct pp_whole_walk walk = pp_whole_walk(p, 0); walk.at < pp_program_size(p);
         pp_whole_next(p, &walk))
        elements += elements_of(r, walk.at, size);
    for (int s = 0; s < p->stages; s++)
        params += p->pipelines * pp_cost_stage_params(&r->cost_inputs, s);
    return elements / params;
}

static void explain_visits(const struct pp_result *r, FILE *out)
{
    const int ranks = r->program->ranks;

    fprintf(out, "  %s of parameters a step (visits):",
            r->costs->gathers[0].is_cut ? "gathers" : "loads");
    for (int rank = 0, last; rank < ranks; rank = last + 1) {
        const int64_t visits = pp_gathers_visits(r, rank);
        for (last = rank; last + 1 < ranks && pp_gathers_visits(r, last + 1) == visits; last++)
            ;
        fprintf(out, "%s rank %d", rank > 0 ? "," : "", rank);
        if (last > rank)
            fprintf(out, "-%d", last);
        fprintf(out, " %lld", (long long)visits);
        if (rank >= 4 && last + 1 < ranks) { /* enough to see the pattern */
            fprintf(out, ", ...");
            break;
        }
    }
    const struct pp_state_spec *state = &r->config.state;
    const int kept = state->cached > 1 ? state->cached - 1 : 0;
    fprintf(out, " of a %s at a time, %d in memory at once",
            pp_state_unit(state, (char[PP_STATE_TEXT_BYTES]){0}), state->buffers + kept);
    if (kept > 0)
        fprintf(out, ", %d in the cache (%s, %lld hits)", state->cached,
                pp_evict_names[state->evict], (long long)pp_cache_count(r).hits);
    fputc('\n', out);
}

int64_t pp_cache_line_loads(const struct pp_cache_line *line, int64_t cached)
{
    return 2 * line->passes * (line->units - cached) + cached;
}

bool pp_cache_line(const struct pp_result *r, struct pp_cache_line *line)
{
    const struct pp_program *p = r->program;
    const int64_t m = r->config.shape.micro_batches;

    *line = (struct pp_cache_line){.cached = r->config.state.cached};
    if (!pp_gathers_are_used(r) || p->pipelines > 1)
        return false;
    line->loads = pp_gathers_visits(r, 0);
    for (int s = 0; s < p->stages; s++)
        line->units += p->rank_of[s] == 0 ? r->costs->gathers[s].units : 0;
    for (int is_grouped = 0; is_grouped < 2; is_grouped++) {
        line->passes = is_grouped ? 1 : m;
        line->form = is_grouped ? "2 V - R" : "2 m (V - R) + R";
        if (line->loads == pp_cache_line_loads(line, line->cached))
            return true;
    }
    return false;
}

/* Prints the closed form of the loads of rank 0, if it has one, and what twice the cache gives. */
static void explain_line(const struct pp_result *r, FILE *out)
{
    struct pp_cache_line line;

    if (!pp_cache_line(r, &line))
        return;
    const int64_t cached = line.cached, more = 2 * cached < line.units ? 2 * cached : line.units;
    fprintf(out, "  rank 0 loads %s = %lld", line.form, (long long)line.loads);
    fprintf(out, " times: V = %lld units, R = %lld of them stay, m = %d micro-batches",
            (long long)line.units, (long long)cached, r->config.shape.micro_batches);
    if (more > cached)
        fprintf(out, "; --cache %lld would load %lld (+%.2g GiB)", (long long)more,
                (long long)pp_cache_line_loads(&line, more),
                (double)(more - cached) * r->costs->gathers[0].unit_bytes / PP_GIB);
    fputc('\n', out);
}

static int devices_of_node(const struct pp_config *config)
{
    const int per_node = config->cluster.gpus_per_node;

    return config->layout.gpus < per_node ? (int)config->layout.gpus : per_node;
}

void pp_gathers_explain(const struct pp_result *r, FILE *out)
{
    char shards[PP_STATE_TEXT_BYTES];

    if (r->config.is_unit || (pp_config_copies(&r->config) == 1 && !pp_gathers_are_used(r)))
        return;
    fprintf(out, "\nstate\n  %s", pp_state_print(&r->config.state, shards));
    fprintf(out, " over a mesh of %dx%d replicas\n", r->config.state.replicas.in_node,
            r->config.state.replicas.nodes);
    fprintf(
        out,
        "  collectives move %.4g elements per parameter in a step (an all-reduce counts twice)\n",
        pp_gathers_elements(r));
    if (pp_gathers_are_used(r))
        explain_visits(r, out);
    if (pp_gathers_are_used(r) && r->config.state.cached > 1)
        explain_line(r, out);
    if (r->config.wanted.cached < 0 && pp_auto_share_last(&r->config.wanted) > 0)
        pp_residence_explain(&r->cost_inputs, devices_of_node(&r->config), out);
}
