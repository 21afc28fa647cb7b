/* The order of the degrees in device numbers: read, printed, applied. */
#include "core/cluster/map.h"

#include <string.h>
#include <strings.h>

static const char *const axis_names[PP_AXES] = {"tp", "cp", "dp", "pp"};
const struct pp_map_order pp_map_default = {{PP_AXIS_TP, PP_AXIS_CP, PP_AXIS_DP, PP_AXIS_PP}};

static const char separators[] = ",-";

static int find_axis(const char *name, size_t length)
{
    for (int a = 0; a < PP_AXES; a++)
        if (strlen(axis_names[a]) == length && !strncasecmp(name, axis_names[a], length))
            return a;
    return PP_AXES;
}

enum pp_status pp_map_parse(const char *text, struct pp_map_order *order, struct pp_error *err)
{
    bool is_given[PP_AXES] = {0};
    int count = 0;

    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, separators);
        const int axis = find_axis(at, length);
        if (axis == PP_AXES)
            return pp_error_set(err, PP_EINVAL,
                                "--map %.60s: unknown axis '%.*s': expected tp, cp, dp and pp from "
                                "inside out, such as tp,cp,dp,pp",
                                text, (int)(length < 60 ? length : 60), at);
        if (is_given[axis])
            return pp_error_set(err, PP_EINVAL,
                                "--map %.60s: %s is given twice: expected tp, cp, dp and pp from "
                                "inside out, each at most once",
                                text, axis_names[axis]);
        is_given[axis] = true;
        order->axis[count++] = (uint8_t)axis;
        at += length;
        if (!*at)
            break;
    }
    for (int i = 0; i < PP_AXES; i++)
        if (!is_given[pp_map_default.axis[i]])
            order->axis[count++] = pp_map_default.axis[i];
    return PP_OK;
}

const char *pp_map_print(struct pp_map_order order, char text[PP_MAP_TEXT_BYTES])
{
    size_t used = 0;

    for (int i = 0; i < PP_AXES; i++) {
        const char *name = axis_names[order.axis[i]];
        if (i > 0)
            text[used++] = separators[0];
        memcpy(text + used, name, strlen(name) + 1);
        used += strlen(name);
    }
    return text;
}

bool pp_map_is_default(struct pp_map_order order)
{
    return !memcmp(&order, &pp_map_default, sizeof(order));
}

struct pp_map pp_map_make(struct pp_map_order order, const struct pp_layout *layout)
{
    struct pp_map map;
    int stride = 1;

    for (int i = 0; i < PP_AXES; i++) {
        map.stride[order.axis[i]] = stride;
        stride *= pp_layout_degree(layout, order.axis[i]);
    }
    return map;
}
