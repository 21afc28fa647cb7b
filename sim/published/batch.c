/* Adds the degrees of a row, and its batch; completes both from what is stated. */
#include "sim/published/parts.h"

#include <inttypes.h>
#include <stdint.h>

enum pp_status pp_measure_read_degrees(struct pp_measure_writer *w, struct pp_error *err)
{
    const struct pp_measurement *row = w->row;

    PP_TRY(pp_measure_int(row, PP_COL_TP, PP_MEASURE_DEVICES, 1, &w->tp, err));
    PP_TRY(pp_measure_int(row, PP_COL_PP, UINT16_MAX, 1, &w->pp, err));
    PP_TRY(pp_measure_int(row, PP_COL_CP, PP_MEASURE_DEVICES, 1, &w->cp, err));
    PP_TRY(pp_measure_int(row, PP_COL_EP, PP_MEASURE_DEVICES, 1, &w->ep, err));
    PP_TRY(pp_measure_int(row, PP_COL_GPUS_PER_NODE, PP_MEASURE_DEVICES, 0, &w->per_node, err));
    PP_TRY(pp_measure_int(row, PP_COL_DP, PP_MEASURE_DEVICES, 0, &w->dp, err));
    PP_TRY(pp_measure_int(row, PP_COL_GPUS, PP_MEASURE_DEVICES, 0, &w->gpus, err));
    const double model = (double)w->tp * (double)w->pp * (double)w->cp;
    if (w->dp == 0 && model <= PP_MEASURE_DEVICES && w->gpus % (w->tp * w->pp * w->cp) == 0) {
        w->dp = w->gpus / (w->tp * w->pp * w->cp);
        pp_measure_note(w, "dp not stated: gpus / (tp * pp * cp)");
    }
    if (w->gpus == 0 && model * (double)w->dp <= PP_MEASURE_DEVICES)
        w->gpus = w->tp * w->pp * w->cp * w->dp;
    if (model * (double)w->dp == (double)w->gpus)
        return PP_OK;
    if (w->dp == 0)
        return pp_error_set(err, PP_EINVAL,
                            "contradiction: gpus %" PRId64 " is not a multiple of tp %" PRId64
                            " * pp %" PRId64 " * cp %" PRId64 " = %.0f",
                            w->gpus, w->tp, w->pp, w->cp, model);
    return pp_error_set(err, PP_EINVAL,
                        "contradiction: gpus %" PRId64 " is not tp %" PRId64 " * pp %" PRId64
                        " * dp %" PRId64 " * cp %" PRId64 " = %.0f",
                        w->gpus, w->tp, w->pp, w->dp, w->cp, model * (double)w->dp);
}

/* Completes the batch by the number of micro-batches of a replica, if it is stated. */
static enum pp_status count_batch(struct pp_measure_writer *w, int64_t *mbs, int64_t *gbs,
                                  struct pp_error *err)
{
    int64_t count;

    PP_TRY(pp_measure_int(w->row, PP_COL_MICRO_BATCHES, PP_OPTION_BIG, 0, &count, err));
    if (count == 0)
        return PP_OK;
    if (*gbs == 0)
        *gbs = *mbs * count * w->dp;
    if (*mbs == 0)
        *mbs = *gbs / (count * w->dp);
    if (*mbs * count * w->dp == *gbs)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "contradiction: %s %" PRId64 " is not micro_batches %" PRId64
                        " * dp %" PRId64 " * a whole micro-batch size%s%s",
                        pp_measure_name(w->row, PP_COL_GBS), *gbs, count, w->dp,
                        *w->row->cell[PP_COL_MBS] ? ", here " : "", w->row->cell[PP_COL_MBS]);
}

/* Takes micro-batches of one sample, if no cell states them. */
static enum pp_status infer_mbs(struct pp_measure_writer *w, int64_t *mbs, int64_t gbs,
                                struct pp_error *err)
{
    if (*mbs > 0)
        return PP_OK;
    if (gbs % w->dp)
        return pp_error_set(err, PP_EINVAL, "missing: %s", pp_measure_name(w->row, PP_COL_MBS));
    *mbs = 1;
    pp_measure_infer(w, "mbs", *mbs, "not stated");
    return PP_OK;
}

enum pp_status pp_measure_put_batch(struct pp_measure_writer *w, struct pp_error *err)
{
    int64_t mbs, gbs, seq;

    PP_TRY(pp_measure_int(w->row, PP_COL_SEQ, 1 << 24, 0, &seq, err));
    PP_TRY(pp_measure_int(w->row, PP_COL_MBS, PP_OPTION_BIG, 0, &mbs, err));
    PP_TRY(pp_measure_int(w->row, PP_COL_GBS, INT64_C(1) << 40, 0, &gbs, err));
    PP_TRY(count_batch(w, &mbs, &gbs, err));
    PP_TRY(infer_mbs(w, &mbs, gbs, err));
    if (gbs % (mbs * w->dp))
        return pp_error_set(err, PP_EINVAL,
                            "contradiction: %s %" PRId64 " is not a multiple of %s %" PRId64
                            " * dp %" PRId64 " = %" PRId64,
                            pp_measure_name(w->row, PP_COL_GBS), gbs,
                            pp_measure_name(w->row, PP_COL_MBS), mbs, w->dp, mbs * w->dp);
    pp_measure_put_int(w, "seq", seq);
    pp_measure_put_int(w, "mbs", mbs);
    pp_measure_put_int(w, "gbs", gbs);
    return PP_OK;
}

void pp_measure_put_degrees(struct pp_measure_writer *w)
{
    pp_measure_put_int(w, "gpus", w->gpus);
    pp_measure_put_int(w, "tp", w->tp);
    pp_measure_put_int(w, "pp", w->pp);
    pp_measure_put_int(w, "dp", w->dp);
    if (w->cp > 1)
        pp_measure_put_int(w, "cp", w->cp);
    if (w->ep > 1)
        pp_measure_put_int(w, "ep", w->ep);
}
