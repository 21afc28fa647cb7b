/* The fabric of a run, and --link-bw. */
#include "sim/resolve/resolve.h"

#include "core/units.h"
#include "sim/simgrid/platform_file.h"

#include <string.h>

static const double FACTOR_MIN = 1e-6, FACTOR_MAX = 1e6;

static enum pp_status parse_factor(const char *text, const char **equals, double *factor,
                                   struct pp_error *err)
{
    *equals = strrchr(text, '=');
    if (!*equals || *equals == text ||
        pp_units_parse(*equals + 1, PP_UNIT_FRAC, factor, err) != PP_OK || *factor <= 0)
        return pp_error_set(err, PP_EINVAL,
                            "--link-bw %s: expected node=FACTOR, network=FACTOR or the name of a "
                            "link with a factor above 0, such as network=0.5",
                            text);
    if (*factor < FACTOR_MIN || *factor > FACTOR_MAX)
        return pp_error_set(err, PP_EINVAL, "--link-bw %s: the factor is out of range: %g to %g",
                            text, FACTOR_MIN, FACTOR_MAX);
    return PP_OK;
}

static bool is_name(const char *text, const char *equals, const char *name)
{
    return strlen(name) == (size_t)(equals - text) && !strncmp(text, name, strlen(name));
}

enum pp_status pp_resolve_links(const struct pp_wish *wish, struct pp_config *config,
                                struct pp_error *err)
{
    config->costs.intra_factor = config->costs.inter_factor = 1;
    config->link_bw = wish->given.link_bw.all;
    config->link_bw_count = wish->given.link_bw.count;
    for (int i = 0; i < config->link_bw_count; i++) {
        const char *text = config->link_bw[i], *equals;
        double factor;
        PP_TRY(parse_factor(text, &equals, &factor, err));
        for (int j = 0; j < i; j++)
            if (!strncmp(text, config->link_bw[j], (size_t)(equals - text) + 1))
                return pp_error_set(err, PP_EINVAL, "--link-bw %s: %.*s was given before", text,
                                    (int)(equals - text), text);
        if (is_name(text, equals, "node"))
            config->costs.intra_factor = factor;
        if (is_name(text, equals, "network"))
            config->costs.inter_factor = factor;
    }
    return PP_OK;
}

enum pp_status pp_resolve_fabric(struct pp_arena *arena, struct pp_config *config, int gpus,
                                 struct pp_error *err)
{
    struct pp_fabric *fabric;

    if (config->platform)
        fabric = pp_platform_fabric(arena, config->platform);
    else
        PP_TRY(pp_fabric_make(arena, &config->cluster, gpus, &fabric, err));
    for (int i = 0; i < config->link_bw_count; i++) {
        const char *text = config->link_bw[i], *equals;
        double factor;
        PP_TRY(parse_factor(text, &equals, &factor, err));
        PP_TRY(pp_fabric_scale(fabric, pp_arena_printf(arena, "%.*s", (int)(equals - text), text),
                               factor, err));
    }
    config->costs.fabric = fabric;
    return PP_OK;
}
