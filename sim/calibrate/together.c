/* Which traces go together, and which of them are left out. */
#include "sim/calibrate/calibrate.h"

#include "sim/cli/cli.h"

#include <string.h>

enum pp_status pp_calibrate_check_machines(const struct pp_calibrate *c, bool may_be_mixed,
                                           struct pp_error *err)
{
    const struct pp_calibrate_run *known = NULL;

    for (int k = 0; k < c->run_count; k++) {
        const struct pp_calibrate_run *run = &c->runs[k];
        if (!run->about)
            continue;
        if (known && known->about->value_bytes != run->about->value_bytes)
            return pp_error_set(
                err, PP_EINVAL, "%s has values of %d bytes, %s of %d: costs are of one precision",
                known->path, known->about->value_bytes, run->path, run->about->value_bytes);
        if (known && !may_be_mixed && !pp_trace_about_is_same_machine(known->about, run->about))
            return pp_error_set(err, PP_EINVAL,
                                "%s and %s were measured on different machines:\n  %s, %s\n  "
                                "%s, %s\n  "
                                "--mixed-machines takes them together all the same",
                                known->path, run->path,
                                pp_trace_about_machine(c->arena, known->about),
                                pp_trace_about_wires(c->arena, known->about),
                                pp_trace_about_machine(c->arena, run->about),
                                pp_trace_about_wires(c->arena, run->about));
        known = run;
    }
    return PP_OK;
}

static bool is_schedule(const struct pp_calibrate_run *run, const char *name)
{
    return run->schedule && pp_same_name(run->schedule, name);
}

/* The last schedule that is not the first one's. */
static const char *choose_left_out(const struct pp_calibrate *c)
{
    for (int k = c->run_count - 1; k > 0; k--)
        if (c->runs[k].schedule && c->runs[0].schedule &&
            strcmp(c->runs[k].schedule, c->runs[0].schedule) != 0)
            return c->runs[k].schedule;
    return NULL;
}

enum pp_status pp_calibrate_leave_out(struct pp_calibrate *c, const struct pp_parsed *parsed,
                                      struct pp_error *err)
{
    const struct pp_option_value *given = pp_options_get(parsed, "hold-out");
    int left = 0;

    c->is_left_out_chosen = given->count == 0;
    if (given->count && !strcmp(given->text, "none"))
        return PP_OK;
    c->left_out = given->count ? given->text : choose_left_out(c);
    for (int k = 0; k < c->run_count && c->left_out; k++) {
        c->runs[k].is_left_out = is_schedule(&c->runs[k], c->left_out);
        left += c->runs[k].is_left_out;
    }
    if (c->left_out && (left == 0 || left == c->run_count)) {
        pp_error_set(err, PP_EINVAL, "--hold-out %s: %s; the traces are of ", c->left_out,
                     left ? "nothing would be left to calibrate from" : "no trace is of it");
        for (int k = 0; k < c->run_count; k++)
            pp_error_append(err, "%s%s", k ? ", " : "",
                            c->runs[k].schedule ? c->runs[k].schedule : "an unknown one (CSV)");
        return PP_EINVAL;
    }
    return PP_OK;
}
