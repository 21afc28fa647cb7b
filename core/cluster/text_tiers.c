/* Keys of a cluster text for memory beside that of the devices. */
#include "core/cluster/text.h"

#include "core/units.h"

#include <stdio.h>
#include <string.h>

enum { NUMBER_BYTES = 48 };

/* "1TB@200GBps"; without a rate it stays as it was. */
static enum pp_status parse_size_at_rate(const char *value, double *bytes, double *bytes_per_s,
                                         struct pp_error *err)
{
    const char *at = strchr(value, '@');
    const size_t length = at ? (size_t)(at - value) : strlen(value);
    char size[NUMBER_BYTES];

    if (length >= sizeof size)
        return pp_error_set(err, PP_EINVAL, "expected bytes, or bytes@rate");
    snprintf(size, sizeof size, "%.*s", (int)length, value);
    PP_TRY(pp_cluster_quantity(size, PP_UNIT_BYTES, bytes, err));
    return at ? pp_cluster_quantity(at + 1, PP_UNIT_BYTES_PER_S, bytes_per_s, err) : PP_OK;
}

enum pp_status pp_cluster_set_ram(struct pp_cluster_text *text, const char *value,
                                  struct pp_error *err)
{
    struct pp_tiers *tiers = &text->cluster.tiers;

    return parse_size_at_rate(value, &tiers->host_bytes, &tiers->host_bytes_per_s, err);
}

enum pp_status pp_cluster_set_h2d(struct pp_cluster_text *text, const char *value,
                                  struct pp_error *err)
{
    return pp_cluster_quantity(value, PP_UNIT_BYTES_PER_S, &text->cluster.tiers.device_bytes_per_s,
                               err);
}

enum pp_status pp_cluster_set_nvme(struct pp_cluster_text *text, const char *value,
                                   struct pp_error *err)
{
    struct pp_tiers *tiers = &text->cluster.tiers;

    PP_TRY(parse_size_at_rate(value, &tiers->nvme_bytes, &tiers->nvme_bytes_per_s, err));
    return tiers->nvme_bytes_per_s > 0
               ? PP_OK
               : pp_error_set(err, PP_EINVAL,
                              "this cluster has no drives: give their rate too, as in 8TB@25GBps");
}

enum pp_status pp_cluster_set_cpu(struct pp_cluster_text *text, const char *value,
                                  struct pp_error *err)
{
    return pp_cluster_quantity(value, PP_UNIT_COUNT, &text->cluster.tiers.update_params_per_s, err);
}
