/* Costs of messages, gradient sums and other collectives from measured channels. */
#include "core/cost/measured/parts.h"
#include "core/units.h"

/* ---- channels -------------------------------------------------------------------------------- */

/* Returns the measured time of a message between two ranks; NULL if none was measured. */
static const struct pp_measured_line *wire_of(const struct pp_cost_file *file)
{
    const struct pp_measured_line *wire = pp_cost_file_line(file, "wire");

    return wire ? wire : pp_cost_file_line(file, "sendrecv");
}

static const struct pp_measured_line *collective_of(const struct pp_cost_file *file,
                                                    const char *name)
{
    const struct pp_measured_line *line = pp_cost_file_line(file, name);

    return line && line->ranks > 1 ? line : NULL;
}

/* Returns the measured time of a collective of that kind, or else of an all-reduce; NULL without
 * both. `*turns`: its passes around a ring. */
static const struct pp_measured_line *sum_of(const struct pp_cost_file *file, int kind, int *turns)
{
    static const char *const names[PP_OP_KINDS] = {
        [PP_AR] = "all_reduce", [PP_RS] = "reduce_scatter", [PP_AG] = "all_gather"};
    const struct pp_measured_line *own = collective_of(file, names[kind]);

    *turns = pp_ring_turns(own ? kind : PP_AR);
    return own ? own : collective_of(file, names[PP_AR]);
}

enum pp_status pp_measured_check_channels(const struct pp_cost_file *file,
                                          const struct pp_cost_inputs *in,
                                          const struct pp_costs *costs, struct pp_error *err)
{
    const bool is_summed = costs->op[PP_AR] && in->layout.dp * in->pipelines > 1;
    const char *what = wire_of(file)                                     ? NULL
                       : in->layout.pp > 1                               ? "messages"
                       : is_summed && !collective_of(file, "all_reduce") ? "gradient sums"
                                                                         : NULL;

    return what ? pp_error_set(
                      err, PP_EINVAL,
                      "%s has no durations of %s: calibrate on traces of pipeexec --pp 2, or "
                      "--nccl-tests LOG with those",
                      file->path, what)
                : PP_OK;
}

double pp_cost_file_sum_s(const struct pp_cost_file *file, int kind, int members, double bytes,
                          double *latency_s)
{
    static const struct pp_measured_line nothing;
    const struct pp_measured_line *wire = wire_of(file);
    const double steps = pp_ring_turns(kind) * (members - 1.0);
    int turns;
    const struct pp_measured_line *whole = sum_of(file, kind, &turns);

    if (members < 2) {
        *latency_s = 0;
        return 0;
    }
    if (whole) { /* scales by the number of steps */
        const double measured = turns * (whole->ranks - 1.0);
        *latency_s = whole->alpha_s * steps / measured;
        return *latency_s +
               bytes * whole->s_per_byte * (steps / members) / (measured / whole->ranks);
    }
    wire = wire ? wire : &nothing;
    *latency_s = steps * wire->alpha_s;
    return *latency_s + steps * bytes / members * wire->s_per_byte;
}

/* ---- collectives ----------------------------------------------------------------------------- */

static struct pp_cost sum(const struct pp_cost_file *file, int kind, int members, double bytes)
{
    double latency_s;
    const double s = pp_cost_file_sum_s(file, kind, members, bytes, &latency_s);

    return (struct pp_cost){
        .ps = pp_units_ps(s), .latency_ps = pp_units_ps(latency_s), .bytes = bytes};
}

/* If groups of sharers hold the state of a stage, its scatters and gathers are within a group. Sums
 * are between groups, of a share. */
static struct pp_cost of_stage(const struct pp_cost_file *file, const struct pp_cost_inputs *in,
                               int kind, double bytes)
{
    const int all = in->layout.dp * in->pipelines,
              sharers = pp_state_cut(&in->state, PP_STATE_OPTIMIZER);

    if (sharers == 1 || sharers == all)
        return sum(file, kind, all, bytes);
    return kind == PP_AR ? sum(file, kind, all / sharers, bytes / sharers)
                         : sum(file, kind, sharers, bytes);
}

static void put_step(const struct pp_cost_file *file, const struct pp_cost_inputs *in, int s,
                     double tied_bytes, struct pp_costs *costs)
{
    const int members = in->layout.dp * in->pipelines;
    const bool is_end = s == 0 || s == in->stages - 1;
    const double params = pp_cost_stage_params(in, s),
                 bytes = params * file->gradient_bytes - (costs->tied && is_end ? tied_bytes : 0);

    if (costs->op[PP_AR])
        costs->op[PP_AR][s] = of_stage(file, in, PP_AR, bytes);
    if (costs->op[PP_RS])
        costs->op[PP_RS][s] = of_stage(file, in, PP_RS, bytes);
    if (costs->op[PP_AG])
        costs->op[PP_AG][s] = of_stage(file, in, PP_AG, params * file->value_bytes);
    if (costs->ring_alpha_ps && costs->op[PP_AR] && members > 1)
        costs->ring_alpha_ps[s] = costs->op[PP_AR][s].ps / (2 * (members - 1));
}

/* Collectives with a purpose of their own have all elements of a stage. */
static void put_purposes(const struct pp_cost_file *file, const struct pp_cost_inputs *in,
                         struct pp_costs *costs)
{
    for (int purpose = PP_FOR_STEP + 1; purpose < PP_PURPOSES; purpose++) {
        const int kind = pp_purposes[purpose].kind;

        for (int s = 0; pp_op_is_collective(kind) && costs->purpose[purpose] && s < in->stages; s++)
            costs->purpose[purpose][s] =
                of_stage(file, in, kind,
                         pp_cost_stage_params(in, s) *
                             (kind == PP_AG ? file->value_bytes : file->gradient_bytes));
    }
}

void pp_measured_put_sums(const struct pp_cost_file *file, const struct pp_cost_inputs *in,
                          struct pp_costs *costs)
{
    const int members = in->layout.dp * in->pipelines;
    const double tied_bytes =
        (double)in->model->hidden * in->model->vocab / in->layout.tp * file->gradient_bytes;

    for (int s = 0; s < in->stages; s++)
        put_step(file, in, s, tied_bytes, costs);
    put_purposes(file, in, costs);
    if (costs->tied)
        *costs->tied = sum(file, PP_AR, in->stages > 1 ? 2 * members : members, tied_bytes);
}

/* ---- messages -------------------------------------------------------------------------------- */

void pp_measured_put_wires(struct pp_arena *arena, const struct pp_cost_file *file,
                           const struct pp_cost_inputs *in, struct pp_costs *costs)
{
    static const char *const names[] = {"wire"};
    const struct pp_measured_line *wire = wire_of(file);
    const int share = pp_measured_shape_of(in).is_sequence ? in->layout.tp : 1;

    costs->links = 1;
    costs->link = NULL;
    costs->link_names = names;
    costs->alpha_ps = PP_ARRAY(arena, int64_t, 1);
    costs->s_per_byte = PP_ARRAY(arena, double, 1);
    costs->alpha_ps[0] = wire ? pp_units_ps(wire->alpha_s) : 0;
    costs->s_per_byte[0] = wire ? wire->s_per_byte : 0;
    for (int s = 0; costs->memory && s + 1 < in->stages; s++)
        costs->memory[s].boundary_bytes =
            (double)in->layout.mbs * in->layout.seq * in->model->hidden * file->value_bytes / share;
}
