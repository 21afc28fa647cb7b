/* What the command line asks of --emit. */
#include "sim/cli.h"
#include "sim/emit.h"

#include "core/output.h"

#include <string.h>

static bool has(const struct pp_parsed *parsed, const char *name)
{
    return pp_options_get(&pp_sim_cli, parsed, name)->count > 0;
}

/* PP_EINVAL where stdout is another's. */
static enum pp_status check_stdout(const struct pp_parsed *parsed, struct pp_error *err)
{
    static const char *const ANSWERS[] = {"json", "gantt", "explain"};
    const char *page = pp_options_get(&pp_sim_cli, parsed, "html")->text;
    const char *other = page && !strcmp(page, "-") ? "html -" : NULL;

    for (size_t i = 0; i < sizeof(ANSWERS) / sizeof(*ANSWERS); i++)
        if (has(parsed, ANSWERS[i]))
            other = ANSWERS[i];
    return other ? pp_error_set(err, PP_EINVAL,
                                "--%s and --emit both write to stdout; give -o FILE for --emit",
                                other)
                 : PP_OK;
}

enum pp_status pp_emit_open(struct pp_arena *arena, const struct pp_parsed *parsed,
                            struct pp_emit_target *target, struct pp_error *err)
{
    const char *path = pp_options_get(&pp_sim_cli, parsed, "output")->text;

    *target = (struct pp_emit_target){.path = path && strcmp(path, "-") != 0 ? path : NULL};
    if (!has(parsed, "emit"))
        return path ? pp_error_set(err, PP_EINVAL,
                                   "-o %s is for --emit; a run is drawn with --plot FILE, its "
                                   "report goes to stdout",
                                   path)
                    : PP_OK;
    if (has(parsed, "unit"))
        return pp_error_set(err, PP_EINVAL,
                            "--unit has no model and no devices: --emit needs a run with both");
    PP_TRY(target->path ? pp_output_check(arena, target->path, err) : check_stdout(parsed, err));
    return pp_emit_find(pp_options_get(&pp_sim_cli, parsed, "emit")->text, &target->tool, err);
}
