/* pipesim sweep: every combination of the values given, one row each. */
#include "core/output.h"
#include "sim/commands.h"
#include "sim/sweep.h"

#include <string.h>

static const struct pp_option_value *own(const struct pp_parsed *parsed, const char *name)
{
    return pp_options_get(&pp_sim_cli, parsed, name);
}

static enum pp_status check_operands(const struct pp_parsed *parsed, struct pp_error *err)
{
    if (own(parsed, "merge")->count || parsed->operand_count == 0)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "\"%s\" is not an option: files are operands of --merge only",
                        parsed->operands[0]);
}

static void run_points(struct pp_arena *arena, const struct pp_grid *grid, FILE *out)
{
    pp_sweep_header(grid, out);
    fputc('\n', out);
    for (int64_t point = 0; point < grid->points; point++) {
        const struct pp_arena_mark mark = pp_arena_mark(arena);
        pp_sweep_run_point(arena, grid, point, out);
        pp_arena_release(arena, mark);
    }
}

enum pp_status pp_command_sweep(struct pp_arena *arena, const struct pp_parsed *parsed, FILE *out,
                                struct pp_error *err)
{
    struct pp_grid grid;

    PP_TRY(check_operands(parsed, err));
    PP_TRY(pp_grid_open(arena, parsed, &grid, err));
    const char *path = own(parsed, "output")->text;
    if (!path) {
        run_points(arena, &grid, out);
        return PP_OK;
    }
    struct pp_output output;
    PP_TRY(pp_output_open(arena, path, &output, err));
    run_points(arena, &grid, output.file);
    return pp_output_commit(&output, err);
}
