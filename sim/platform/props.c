/* Properties of a platform file: their names, and a reader. */
#include "sim/platform/props.h"

#include "core/cli/options.h"
#include "sim/platform/platform.h"
#include "sim/platform/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 64, NAMES_MAX = PP_PROPS * PP_PROP_NAMES + 4 };

const struct pp_prop pp_props[PP_PROPS] = {
    {{PP_PROP_GPUS, "gpus_per_node", "pipesim.gpus_per_node"}, "gpu"},
    {{PP_PROP_DEVICE, "device"}, "device"},
    {{PP_PROP_MEMORY, "memory"}, "memory"},
    {{PP_PROP_HBM, "hbm"}, "hbm"},
    {{PP_PROP_PEAK, "peak"}, "peak"},
    {{"pipesim.attention", "attention"}, "attention"},
    {{PP_PROP_ALPHA}, NULL},
    {{PP_PROP_ETA_LINK}, NULL},
};

int pp_prop_line(const char *text, const char *word, const char **name)
{
    for (int i = 0; i < PP_PROPS; i++)
        for (int k = 0; k < PP_PROP_NAMES && pp_props[i].names[k]; k++) {
            const int line = pp_props[i].word && !strcmp(pp_props[i].word, word)
                                 ? pp_element_line(text, "prop", pp_props[i].names[k], 1)
                                 : 0;
            if (line) {
                *name = pp_props[i].names[k];
                return line;
            }
        }
    return 0;
}

static bool is_level(const char *name)
{
    char text[2][NAME_BYTES];

    for (int level = 1; level <= PP_PROP_LEVELS; level++) {
        snprintf(text[0], NAME_BYTES, PP_PROP_LEVEL_BANDWIDTH, level);
        snprintf(text[1], NAME_BYTES, PP_PROP_LEVEL_LATENCY, level);
        if (!strcmp(name, text[0]) || !strcmp(name, text[1]))
            return true;
    }
    return false;
}

static enum pp_status check_name(const char *name, struct pp_error *err)
{
    const char *names[NAMES_MAX] = {PP_PROP_CLUSTER, "pipesim.level1.bandwidth",
                                    "pipesim.level1.latency"};
    int count = 3;

    for (int i = 0; i < PP_PROPS; i++)
        for (int k = 0; k < PP_PROP_NAMES && pp_props[i].names[k]; k++)
            if (!strncmp(pp_props[i].names[k], "pipesim.", 8))
                names[count++] = pp_props[i].names[k];
    for (int i = 0; i < count; i++)
        if (!strcmp(name, names[i]))
            return PP_OK;
    if (is_level(name))
        return PP_OK;
    const char *near = pp_suggest(name, names);
    pp_error_set(err, PP_EINVAL, "unknown property %s: ", name);
    if (near)
        pp_error_append(err, "did you mean %s? ", near);
    pp_error_append(err, "(known are");
    for (int i = 0; i < count; i++)
        pp_error_append(err, " %s", names[i]);
    return pp_error_append(err, ")");
}

enum pp_status pp_props_check(const char *text, int *line, struct pp_error *err)
{
    struct pp_elements elements = {.rest = text, .line = 1};
    struct pp_element e;
    char name[NAME_BYTES];

    while (pp_elements_next(&elements, &e)) {
        if (e.tag_length != 4 || strncmp(e.tag, "prop", 4) != 0 || e.id_length < 8 ||
            strncmp(e.id, "pipesim.", 8) != 0)
            continue;
        snprintf(name, sizeof(name), "%.*s", e.id_length < NAME_BYTES ? e.id_length : 40, e.id);
        *line = e.line;
        PP_TRY(check_name(name, err));
    }
    return PP_OK;
}
