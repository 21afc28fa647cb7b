/* Tokens and operations per second, and their share of the devices' peak. */
#include "exec/report/report.h"

#include <math.h>

/* Devices that compute concurrently; 0: unknown. On the virtual clock each rank has its own. */
static int devices(const struct pp_exec_run *run)
{
    const struct pp_exec_config *c = &run->config;

    if (c->clock == PP_CLOCK_VIRTUAL)
        return run->plan.program->ranks * c->replicas * c->tp;
    return c->transport->remote ? run->result.way.gpus : 1;
}

struct pp_exec_speed pp_exec_speed(const struct pp_exec_run *run)
{
    const struct pp_exec_config *c = &run->config;
    const struct pp_training_result *r = &run->result;
    const struct pp_device *device = c->cuda ? pp_device_by_driver(c->backend->about()) : NULL;
    const int seq = c->net.seq, count = devices(run);
    const bool is_elapsed = c->clock == PP_CLOCK_WALL && run->training.check != PP_CHECK_ALL;
    const double step_s = is_elapsed ? r->elapsed_median_s : r->step_median_s,
                 samples = (double)pp_batch_samples(&run->plan.batch);
    const bool is_bf16 = c->kernels->gradient_bytes > c->kernels->element_bytes;
    struct pp_exec_speed speed = {NAN, NAN, NAN, NAN, NULL};

    if (run->plan.unit || !(step_s > 0))
        return speed;
    speed.tokens_per_s = samples * seq / step_s;
    speed.model_flops_per_s =
        samples * pp_model_flops_per_sample(&c->model, seq, PP_FLOPS_MEGATRON) / step_s;
    if (!device || count == 0)
        return speed;
    speed.peak_flops_per_s =
        count * pp_device_peak(device, is_bf16 ? PP_PRECISION_BF16 : PP_PRECISION_FP32);
    speed.mfu = speed.model_flops_per_s / speed.peak_flops_per_s;
    speed.device = device->title;
    return speed;
}

void pp_exec_report_speed(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    const struct pp_exec_speed speed = pp_exec_speed(run);
    char tokens[PP_UNITS_TEXT_BYTES], flops[PP_UNITS_TEXT_BYTES], peak[PP_UNITS_TEXT_BYTES],
        mfu[PP_EXEC_TEXT_BYTES] = "";

    if (!isfinite(speed.tokens_per_s))
        return;
    if (isfinite(speed.mfu))
        pp_exec_append(mfu, 0, ", MFU~%.1f~%% of %s (%s)", 100 * speed.mfu,
                       pp_units_print(speed.peak_flops_per_s, PP_UNIT_FLOPS_PER_S, peak),
                       speed.device);
    pp_exec_paragraph(page, "speed", "%s~tokens/s; model flops at %s%s",
                      pp_units_print(speed.tokens_per_s, PP_UNIT_COUNT, tokens),
                      pp_units_print(speed.model_flops_per_s, PP_UNIT_FLOPS_PER_S, flops), mfu);
}
