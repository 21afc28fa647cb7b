/* Precisions of a device, and the peak of each. */
#include "core/cluster/cluster.h"

#include <string.h>
#include <strings.h>

const char *const pp_precision_names[] = {"fp32", "tf32", "fp16", "bf16", "fp8", "nvfp4", NULL};

bool pp_precision_is_narrow(enum pp_precision precision)
{
    return precision == PP_PRECISION_FP8 || precision == PP_PRECISION_NVFP4;
}

double pp_device_peak(const struct pp_device *device, enum pp_precision precision)
{
    const double half = device->half_flops_per_s, ampere = device->has_bf16 ? half : 0;
    const double peaks[PP_PRECISIONS] = {
        [PP_PRECISION_FP32] = device->fp32_flops_per_s,
        [PP_PRECISION_TF32] = ampere / 2,
        [PP_PRECISION_FP16] = half,
        [PP_PRECISION_BF16] = ampere,
        [PP_PRECISION_FP8] = device->fp8_flops_per_s,
        [PP_PRECISION_NVFP4] = device->fp4_flops_per_s,
    };

    return precision == device->precision ? device->peak_flops_per_s : peaks[precision];
}

enum pp_status pp_device_set_precision(struct pp_device *device, enum pp_precision precision,
                                       struct pp_error *err)
{
    const double peak_flops_per_s = pp_device_peak(device, precision);

    if (peak_flops_per_s <= 0) {
        pp_error_set(err, PP_EINVAL, "--precision %s: %s has no peak for it, it has",
                     pp_precision_names[precision], device->title);
        for (int i = 0; i < PP_PRECISIONS; i++)
            if (pp_device_peak(device, (enum pp_precision)i) > 0)
                pp_error_append(err, " %s", pp_precision_names[i]);
        return PP_EINVAL;
    }
    device->precision = precision;
    device->peak_flops_per_s = peak_flops_per_s;
    return PP_OK;
}

void pp_device_scale_peak(struct pp_device *device, double peak_flops_per_s)
{
    const double factor = peak_flops_per_s / device->peak_flops_per_s;

    device->peak_flops_per_s = peak_flops_per_s;
    device->fp32_flops_per_s *= factor;
    device->half_flops_per_s *= factor;
    device->fp8_flops_per_s *= factor;
    device->fp4_flops_per_s *= factor;
}

/* "RTX 4090" is the device rtx4090. */
static bool is_called(const char *first, size_t length, const char *second, const char *name)
{
    if (strncasecmp(first, name, length) != 0)
        return false;
    if (name[length] == '\0')
        return true;
    const size_t rest = strcspn(second, " -");
    return rest == strlen(name + length) && strncasecmp(second, name + length, rest) == 0;
}

const struct pp_device *pp_device_by_driver(const char *name)
{
    const char *const separators = " -";

    if (strstr(name, "PCIe") || strstr(name, "NVL"))
        return NULL;
    for (const char *word = name; *word;) {
        const size_t length = strcspn(word, separators);
        const char *next = word + length + strspn(word + length, separators);

        for (const struct pp_device *d = pp_device_presets; length > 0 && d->name; d++)
            if (strlen(d->name) >= length && is_called(word, length, next, d->name))
                return d;
        word = next;
    }
    return NULL;
}
