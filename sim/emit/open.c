/* What the command line asks of --emit. */
#include "sim/cli/cli.h"
#include "sim/emit/emit.h"

#include "core/text/output.h"

#include <string.h>

static bool has(const struct pp_parsed *parsed, const char *name)
{
    return pp_options_get(&pp_sim_cli, parsed, name)->count > 0;
}

/* PP_EINVAL where stdout is another's. */
static enum pp_status check_stdout(const char *other, const char *instead, struct pp_error *err)
{
    return other ? pp_error_set(err, PP_EINVAL, "--%s and --emit both write to stdout; %s", other,
                                instead)
                 : PP_OK;
}

static const char *other_answer(const struct pp_parsed *parsed)
{
    static const char *const ANSWERS[] = {"json", "gantt", "explain"};
    const char *page = pp_options_get(&pp_sim_cli, parsed, "html")->text;

    for (size_t i = 0; i < sizeof(ANSWERS) / sizeof(*ANSWERS); i++)
        if (has(parsed, ANSWERS[i]))
            return ANSWERS[i];
    return page && !strcmp(page, "-") ? "html -" : NULL;
}

enum pp_status pp_emit_open_plan(const struct pp_parsed *parsed, const struct pp_emit_tool **tool,
                                 struct pp_error *err)
{
    const char *table = pp_options_get(&pp_sim_cli, parsed, "output")->text;

    *tool = NULL;
    if (!has(parsed, "emit"))
        return PP_OK;
    PP_TRY(check_stdout(table && !strcmp(table, "-") ? "output -" : other_answer(parsed),
                        "give one of them", err));
    return pp_emit_find(pp_options_get(&pp_sim_cli, parsed, "emit")->text, tool, err);
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
    PP_TRY(target->path ? pp_output_check(arena, target->path, err)
                        : check_stdout(other_answer(parsed), "give -o FILE for --emit", err));
    return pp_emit_find(pp_options_get(&pp_sim_cli, parsed, "emit")->text, &target->tool, err);
}
