/* The options --emit and -o. */
#include "sim/cli/cli.h"
#include "sim/emit/emit.h"

#include "core/text/output.h"

#include <string.h>

enum pp_status pp_emit_open_plan(const struct pp_parsed *parsed, const struct pp_emit_tool **tool,
                                 struct pp_error *err)
{
    const char *name = pp_options_get(parsed, "emit")->text;

    *tool = NULL;
    return name ? pp_emit_find(name, tool, err) : PP_OK;
}

enum pp_status pp_emit_open(struct pp_arena *arena, const struct pp_parsed *parsed,
                            struct pp_emit_target *target, struct pp_error *err)
{
    const char *path = pp_options_get(parsed, "output")->text;

    *target = (struct pp_emit_target){.path = path && strcmp(path, "-") != 0 ? path : NULL};
    if (!pp_options_has(parsed, "emit"))
        return path ? pp_error_set(err, PP_EINVAL,
                                   "-o %s is for --emit; a run is drawn with --plot FILE, its "
                                   "report goes to stdout",
                                   path)
                    : PP_OK;
    if (pp_options_has(parsed, "unit"))
        return pp_error_set(err, PP_EINVAL,
                            "--unit has no model and no devices: --emit needs a run with both");
    if (target->path)
        PP_TRY(pp_output_check(arena, target->path, err));
    return pp_emit_open_plan(parsed, &target->tool, err);
}
