/* core/cluster/map.h — maps coordinates (tp, cp, dp, pp) to device numbers. A value.
 *
 * Devices are numbered node by node; the map says which degree varies fastest. In the default order
 * tp, cp, dp, pp (from inside out) the devices of a tensor-parallel group are neighbors.
 * Consecutive pipeline ranks are dp * cp * tp devices apart. */
#pragma once

#include "core/cluster/layout.h"
#include "core/error.h"

enum pp_axis { PP_AXIS_TP, PP_AXIS_CP, PP_AXIS_DP, PP_AXIS_PP, PP_AXES };

struct pp_map_order {
    uint8_t axis[PP_AXES]; /* enum pp_axis, from inside out; each once */
};
extern const struct pp_map_order pp_map_default;

struct pp_map {
    int stride[PP_AXES]; /* devices between neighbours along an axis */
};

/* Parses "tp,cp,dp,pp", from inside out; '-' separates too, case does not matter. Axes left out
 * follow in the default order. Unknown or repeated axes are PP_EINVAL with the known ones. */
enum pp_status pp_map_parse(const char *text, struct pp_map_order *order, struct pp_error *err);
/* Prints "tp,cp,dp,pp". */
enum { PP_MAP_TEXT_BYTES = 16 };
const char *pp_map_print(struct pp_map_order order, char text[PP_MAP_TEXT_BYTES]);
bool pp_map_is_default(struct pp_map_order order);
struct pp_map pp_map_make(struct pp_map_order order, const struct pp_layout *layout);

static inline int pp_layout_degree(const struct pp_layout *layout, int axis)
{
    const int degrees[PP_AXES] = {layout->tp, layout->cp, layout->dp, layout->pp};

    return degrees[axis];
}
static inline int pp_map_device(const struct pp_map *map, int tp, int cp, int dp, int pp)
{
    return tp * map->stride[PP_AXIS_TP] + cp * map->stride[PP_AXIS_CP] +
           dp * map->stride[PP_AXIS_DP] + pp * map->stride[PP_AXIS_PP];
}
