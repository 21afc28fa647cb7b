/* Work for each copied byte, by closed form and as counted. */
#include "sim/config/intensity.h"

#include "core/units.h"
#include "sim/config/copies.h"
#include "sim/config/tiers.h"

double pp_intensity_form(enum pp_state_class class, double tokens, double hidden, double blocks)
{
    switch (class) {
    case PP_STATE_OPTIMIZER:
        return tokens / 4;
    case PP_STATE_ACTIVATIONS:
        return 24 * hidden * blocks;
    default:
        return tokens;
    }
}

double pp_intensity_efficiency(double flops_per_byte, double bytes_per_s, double flops_per_s)
{
    const double fed = flops_per_byte * bytes_per_s;

    return fed / (fed + flops_per_s);
}

/* ---- --explain ------------------------------------------------------------------------------- */

/* Work of the rank whose device copies most. */
struct work {
    double flops, compute_s;
    double tokens, step_tokens; /* of a device: between two passes, in a step */
};

static struct work work_of(const struct pp_result *r, int rank)
{
    const struct pp_layout *l = &r->config.layout;
    const double *part_s = r->metrics.ranks[rank].part_s;
    const double tokens = (double)l->mbs * (double)l->seq / l->cp;

    return (struct work){.flops = r->hardware_flops_per_step / l->gpus,
                         .compute_s = part_s[PP_TIME_FORWARD] + part_s[PP_TIME_BACKWARD] +
                                      part_s[PP_TIME_RECOMPUTE],
                         .tokens = tokens,
                         .step_tokens = tokens * l->micro_batches};
}

static void explain_class(const struct pp_result *r, enum pp_state_class class,
                          const struct pp_copied *copied, const struct work *work, FILE *out)
{
    const double bytes = copied->down_bytes + copied->up_bytes,
                 busiest =
                     copied->down_bytes > copied->up_bytes ? copied->down_bytes : copied->up_bytes,
                 tokens = class == PP_STATE_OPTIMIZER ? work->step_tokens : work->tokens,
                 form = pp_intensity_form(class, tokens, r->config.model.hidden, 1);
    char need[PP_UNITS_TEXT_BYTES], by_form[PP_UNITS_TEXT_BYTES];

    if (bytes == 0 || !(work->compute_s > 0))
        return;
    fprintf(out, "    %-3s %9.4g flops a byte, hidden from %s on; by the form %.4g, from %s on\n",
            pp_state_class_names[class], work->flops / bytes,
            pp_units_print(busiest / work->compute_s, PP_UNIT_BYTES_PER_S, need), form,
            pp_units_print(work->flops / work->compute_s / form, PP_UNIT_BYTES_PER_S, by_form));
}

void pp_intensity_explain(const struct pp_result *r, FILE *out)
{
    struct pp_copied by_class[PP_STATE_CLASSES];

    if (!pp_tiers_are_used(r))
        return;
    const int rank = pp_copied_most(r->program, r->costs);
    const struct work work = work_of(r, rank);
    pp_copied_of_rank(r->program, r->costs, rank, by_class);
    fprintf(out,
            "  work for each byte that rank %d copies, and the rate of its link at which compute "
            "hides the copies\n  (form: ZeRO-Infinity, section 4.2; full recomputation, rates of "
            "both ways together):\n",
            rank);
    for (int c = 0; c < PP_STATE_CLASSES; c++)
        explain_class(r, (enum pp_state_class)c, &by_class[c], &work, out);
}
