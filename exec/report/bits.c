/* Saved activations in few bits: their bytes at rest, and the gap to training with full ones. */
#include "exec/report/report.h"

#include "core/text/json_write.h"

#include <math.h>

/* Bytes of a micro-batch on one device of each stage. */
struct rest {
    double at_rest_bytes, in_full_bytes, rounded_bytes;
};

static struct rest rest_of(const struct pp_exec_run *run)
{
    const struct pp_exec_plan *plan = &run->plan;
    const double cells = (double)plan->batch.granules * plan->batch.splits;
    struct rest rest = {0};

    for (int s = 0; s < plan->program->stages; s++) {
        rest.at_rest_bytes += cells * (double)plan->stages[s]->packed_bytes;
        rest.in_full_bytes += cells * (double)plan->stages[s]->unpacked_bytes;
        rest.rounded_bytes += cells * (double)plan->stages[s]->rounded_bytes;
    }
    return rest;
}

/* The last step whose loss is known with full activations, too; 0 = the first of the run. */
static int last_known(const struct pp_exec_run *run)
{
    return run->training.check == PP_CHECK_ALL ? run->result.steps_done - 1 : 0;
}

void pp_exec_report_bits(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    const struct pp_training_result *r = &run->result;
    const struct rest rest = rest_of(run);
    const int k = last_known(run);
    char bytes[3][PP_UNITS_TEXT_BYTES], rounded[64] = "";

    if (run->config.act_bits == 0)
        return;
    if (rest.rounded_bytes > 0)
        snprintf(rounded, sizeof(rounded), "; %s rest in full, rounded",
                 pp_units_print(rest.rounded_bytes, PP_UNIT_BYTES, bytes[2]));
    pp_exec_paragraph(
        page, "act-bits", "saved activations rest in %d~bits: %s of %s a micro-batch (%.4f)%s",
        run->config.act_bits, pp_units_print(rest.at_rest_bytes, PP_UNIT_BYTES, bytes[0]),
        pp_units_print(rest.in_full_bytes, PP_UNIT_BYTES, bytes[1]),
        rest.in_full_bytes > 0 ? rest.at_rest_bytes / rest.in_full_bytes : 0, rounded);
    if (!r->is_checked)
        return;
    pp_exec_paragraph(page, "",
                      "gradients of the first step against full ones: cosine~%.8f, rel~L2~%.1e; "
                      "loss of step~%d: %.4f, with full ones %.4f (%+.3f~%%)",
                      pp_difference_cosine(&r->gap), pp_difference_rel_l2(&r->gap),
                      run->config.first_step + k + 1, r->losses[k], r->plain_losses[k],
                      100 * (r->losses[k] / r->plain_losses[k] - 1));
}

json_t *pp_exec_bits_json(const struct pp_exec_run *run)
{
    const struct pp_training_result *r = &run->result;
    const struct rest rest = rest_of(run);
    const int k = last_known(run);

    if (run->config.act_bits == 0)
        return json_null();
    json_t *o = json_pack("{si}", "bits", run->config.act_bits);
    pp_json_put_bytes(o, "at_rest_bytes", rest.at_rest_bytes);
    pp_json_put_bytes(o, "in_full_bytes", rest.in_full_bytes);
    pp_json_put_bytes(o, "rounded_bytes", rest.rounded_bytes);
    pp_json_put(o, "cosine", r->is_checked ? pp_difference_cosine(&r->gap) : (double)NAN);
    pp_json_put(o, "rel_l2", r->is_checked ? pp_difference_rel_l2(&r->gap) : (double)NAN);
    pp_json_put(o, "loss", r->losses[k]);
    pp_json_put(o, "exact_loss", r->is_checked ? r->plain_losses[k] : (double)NAN);
    json_object_set_new(o, "exact_losses",
                        r->is_checked ? pp_json_reals(r->plain_losses, k + 1) : json_null());
    return o;
}
