/* sim/sweep/axis.c — axes of a grid by name, and the value of a point on an axis. */
#include "sim/sweep/check.h"

#include <string.h>

struct pp_grid_axis *pp_grid_axis(const struct pp_grid *grid, const char *name)
{
    for (int i = 0; i < grid->axis_count; i++)
        if (!strcmp(pp_sim_cli.options[grid->axes[i].option].name, name))
            return &grid->axes[i];
    return NULL;
}

const struct pp_grid_axis *pp_grid_subject_axis(const struct pp_grid *grid)
{
    const struct pp_grid_axis *axis = pp_grid_axis(grid, "schedule");

    return axis ? axis : pp_grid_axis(grid, "preset");
}

static int schedule_of(const struct pp_grid *grid, int64_t point)
{
    int schedule = 0;

    while (point >= grid->first[schedule + 1])
        schedule++;
    return schedule;
}

int pp_grid_index(const struct pp_grid *grid, int64_t point, int axis)
{
    const bool *drops = NULL;

    if (grid->first) {
        const int schedule = schedule_of(grid, point);
        if (axis == 0)
            return schedule;
        point -= grid->first[schedule];
        drops = &grid->drops[schedule * grid->axis_count];
        if (drops[axis])
            return -1;
    }
    for (int i = grid->axis_count - 1; i > axis; i--)
        point /= drops && drops[i] ? 1 : grid->axes[i].count;
    return (int)(point % grid->axes[axis].count);
}
