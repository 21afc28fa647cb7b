/* Messages and gradient sums from measured channels. */
#include "core/cost/measured/channels.h"

#include "core/units.h"

/* What a message between two ranks takes; NULL: nothing says. */
static const struct pp_measured_line *wire_of(const struct pp_cost_file *file)
{
    const struct pp_measured_line *wire = pp_cost_file_line(file, "wire");

    return wire ? wire : pp_cost_file_line(file, "sendrecv");
}

/* An all-reduce that was measured; NULL: none was. */
static const struct pp_measured_line *sum_of(const struct pp_cost_file *file)
{
    const struct pp_measured_line *sum = pp_cost_file_line(file, "all_reduce");

    return sum && sum->ranks > 1 ? sum : NULL;
}

enum pp_status pp_cost_channels_check(const struct pp_cost_file *file,
                                      const struct pp_cost_inputs *in, const struct pp_costs *costs,
                                      struct pp_error *err)
{
    const bool is_summed = costs->op[PP_AR] && in->layout.dp * in->pipelines > 1;
    const char *what = wire_of(file)                ? NULL
                       : in->layout.pp > 1          ? "messages"
                       : is_summed && !sum_of(file) ? "gradient sums"
                                                    : NULL;

    return what ? pp_error_set(
                      err, PP_EINVAL,
                      "%s has no durations of %s: calibrate on traces of pipeexec --pp 2, or "
                      "--nccl-tests LOG with those",
                      file->path, what)
                : PP_OK;
}

double pp_cost_file_all_reduce_s(const struct pp_cost_file *file, int members, double bytes,
                                 double *latency_s)
{
    static const struct pp_measured_line nothing;
    const struct pp_measured_line *whole = sum_of(file), *wire = wire_of(file);
    const double steps = 2.0 * (members - 1);

    if (members < 2) {
        *latency_s = 0;
        return 0;
    }
    if (whole) { /* as many members more or less take as many steps */
        const double measured = 2.0 * (whole->ranks - 1);
        *latency_s = whole->alpha_s * steps / measured;
        return *latency_s +
               bytes * whole->s_per_byte * (steps / members) / (measured / whole->ranks);
    }
    wire = wire ? wire : &nothing;
    *latency_s = steps * wire->alpha_s;
    return *latency_s + steps * bytes / members * wire->s_per_byte;
}

static struct pp_cost all_reduce(const struct pp_cost_file *file, int members, double bytes)
{
    double latency_s;
    const double s = pp_cost_file_all_reduce_s(file, members, bytes, &latency_s);

    return (struct pp_cost){
        .ps = pp_units_ps(s), .latency_ps = pp_units_ps(latency_s), .bytes = bytes};
}

static void put_sums(const struct pp_cost_file *file, const struct pp_cost_inputs *in,
                     struct pp_costs *costs)
{
    const int members = in->layout.dp * in->pipelines;
    const double tied_bytes = (double)in->model->hidden * in->model->vocab * file->gradient_bytes;

    for (int s = 0; costs->op[PP_AR] && s < in->stages; s++) {
        const bool is_end = s == 0 || s == in->stages - 1;
        double bytes = pp_cost_stage_params(in, s) * file->gradient_bytes;

        if (costs->tied && is_end)
            bytes -= tied_bytes;
        costs->op[PP_AR][s] = all_reduce(file, members, bytes);
        if (costs->ring_alpha_ps && members > 1)
            costs->ring_alpha_ps[s] = costs->op[PP_AR][s].ps / (2 * (members - 1));
    }
    if (costs->tied)
        *costs->tied = all_reduce(file, in->stages > 1 ? 2 * members : members, tied_bytes);
}

static void put_wires(struct pp_arena *arena, const struct pp_cost_file *file,
                      const struct pp_cost_inputs *in, struct pp_costs *costs)
{
    static const char *const names[] = {"wire"};
    const struct pp_measured_line *wire = wire_of(file);

    costs->links = 1;
    costs->link = NULL;
    costs->link_names = names;
    costs->alpha_ps = PP_ARRAY(arena, int64_t, 1);
    costs->s_per_byte = PP_ARRAY(arena, double, 1);
    costs->alpha_ps[0] = wire ? pp_units_ps(wire->alpha_s) : 0;
    costs->s_per_byte[0] = wire ? wire->s_per_byte : 0;
    for (int s = 0; costs->memory && s + 1 < in->stages; s++)
        costs->memory[s].boundary_bytes =
            (double)in->layout.mbs * in->layout.seq * in->model->hidden * file->value_bytes;
}

void pp_cost_channels_put(struct pp_arena *arena, const struct pp_cost_file *file,
                          const struct pp_cost_inputs *in, struct pp_costs *costs)
{
    put_sums(file, in, costs);
    put_wires(arena, file, in, costs);
}
