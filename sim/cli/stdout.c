/* What a command prints to stdout. */
#include "sim/cli/stdout.h"

#include "core/text/output.h"

#include <string.h>

static bool is_dash(const struct pp_parsed *parsed, const char *name)
{
    const char *path = pp_options_get(parsed, name)->text;

    return path && !strcmp(path, "-");
}

enum pp_status pp_stdout_owner(const struct pp_parsed *parsed, enum pp_stdout *owner,
                               struct pp_error *err)
{
    const bool is_plan = parsed->command == PP_CMD_PLAN;
    const bool has_file = pp_options_has(parsed, "output") && !is_dash(parsed, "output");
    const struct {
        const char *text;
        bool is_wanted;
    } claims[PP_STDOUT_REPORT] = {
        [PP_STDOUT_PAGE] = {"--html -", is_dash(parsed, "html")},
        [PP_STDOUT_JSON] = {"--json", pp_options_has(parsed, "json")},
        [PP_STDOUT_GANTT] = {"--gantt", pp_options_has(parsed, "gantt")},
        [PP_STDOUT_EXPLAIN] = {"--explain", pp_options_has(parsed, "explain")},
        [PP_STDOUT_MARKDOWN] = {"--markdown", pp_options_has(parsed, "markdown")},
        [PP_STDOUT_TABLE] = {"-o -", is_plan && is_dash(parsed, "output")},
        [PP_STDOUT_EMIT] = {"--emit", pp_options_has(parsed, "emit") && (is_plan || !has_file)},
    };

    *owner = PP_STDOUT_REPORT;
    for (int i = 0; i < PP_STDOUT_REPORT; i++) {
        if (!claims[i].is_wanted)
            continue;
        if (*owner != PP_STDOUT_REPORT)
            return pp_output_clash(claims[*owner].text, claims[i].text, err);
        *owner = (enum pp_stdout)i;
    }
    return PP_OK;
}
