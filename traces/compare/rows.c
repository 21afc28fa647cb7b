/* Durations of matched events by kind: means, percentiles, shares of the error. */
#include "core/quantile.h"
#include "core/units.h"
#include "traces/compare/parts.h"

#include <math.h>

double pp_compare_frac(double predicted, double measured)
{
    if (measured > 0)
        return predicted / measured - 1;
    return predicted > 0 ? (double)NAN : 0;
}

void pp_tally_add(struct pp_tally *tally, const struct pp_trace_event *event, double predicted_s,
                  double measured_s)
{
    struct pp_tally_samples *s = &tally->kinds[event->is_fused ? PP_TALLY_FUSED : event->kind + 1];
    const int64_t predicted_ps = pp_units_ps(predicted_s), measured_ps = pp_units_ps(measured_s);
    const int halves = event->stream == PP_STREAM_CHANNEL ? 1 : 2;

    *PP_PUSH(tally->arena, s->measured_s, s->count, s->capacity) = measured_s;
    s->predicted_ps += predicted_ps;
    s->measured_ps += measured_ps;
    s->half_errors_ps += halves * (predicted_ps > measured_ps ? predicted_ps - measured_ps
                                                              : measured_ps - predicted_ps);
}

static struct pp_compare_row row_of(struct pp_tally_samples *s, int index,
                                    pp_wide all_half_errors_ps)
{
    const int n = s->count;
    const double *sorted = s->measured_s;
    const double p50_s = pp_median(s->measured_s, n);

    return (struct pp_compare_row){
        .kind = index == PP_TALLY_FUSED ? PP_F : (uint8_t)(index - 1),
        .is_fused = index == PP_TALLY_FUSED,
        .count = n,
        .predicted_mean_s = (double)s->predicted_ps * 1e-12 / n,
        .measured_mean_s = (double)s->measured_ps * 1e-12 / n,
        .measured_p50_s = p50_s,
        .measured_p95_s = sorted[(19 * (int64_t)n + 19) / 20 - 1], /* nearest rank */
        .error_frac = pp_compare_frac((double)s->predicted_ps, (double)s->measured_ps),
        .share_frac =
            all_half_errors_ps > 0 ? (double)s->half_errors_ps / (double)all_half_errors_ps : 0,
    };
}

struct pp_compare_row *pp_tally_rows(struct pp_tally *tally, int *count)
{
    struct pp_compare_row *rows = PP_ARRAY(tally->arena, struct pp_compare_row, PP_TALLY_KINDS);
    pp_wide all_half_errors_ps = 0;

    for (int i = 0; i < PP_TALLY_KINDS; i++)
        all_half_errors_ps += tally->kinds[i].half_errors_ps;
    *count = 0;
    for (int i = 0; i < PP_TALLY_KINDS; i++)
        if (tally->kinds[i].count > 0)
            rows[(*count)++] = row_of(&tally->kinds[i], i, all_half_errors_ps);
    return rows;
}
