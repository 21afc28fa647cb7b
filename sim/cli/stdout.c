/* The owner of a command's stdout. */
#include "sim/cli/stdout.h"

#include "core/text/output.h"

#include <string.h>

static bool is_dash(const char *path)
{
    return path && !strcmp(path, "-");
}

enum pp_status pp_stdout_owner(const struct pp_wish *wish, enum pp_stdout *owner,
                               struct pp_error *err)
{
    const bool is_plan = wish->request.flags->command == PP_CMD_PLAN;
    const bool has_file = wish->output && !is_dash(wish->output);
    const struct {
        const char *text;
        bool is_wanted;
    } claims[PP_STDOUT_REPORT] = {
        [PP_STDOUT_PAGE] = {"--html -", is_dash(wish->html)},
        [PP_STDOUT_JSON] = {"--json", wish->json},
        [PP_STDOUT_GANTT] = {"--gantt", wish->gantt},
        [PP_STDOUT_EXPLAIN] = {"--explain", wish->explain},
        [PP_STDOUT_MARKDOWN] = {"--markdown", wish->markdown},
        [PP_STDOUT_TABLE] = {"-o -", is_plan && is_dash(wish->output)},
        [PP_STDOUT_EMIT] = {"--emit", wish->emit && (is_plan || !has_file)},
        [PP_STDOUT_NOTHING] = {"--quiet", wish->quiet},
    };

    *owner = PP_STDOUT_REPORT;
    for (int i = 0; i < PP_STDOUT_REPORT; i++) {
        if (!claims[i].is_wanted)
            continue;
        if (*owner != PP_STDOUT_REPORT && i == PP_STDOUT_NOTHING)
            return pp_error_set(err, PP_EINVAL,
                                "%s writes to stdout, and --quiet nothing; give one of them",
                                claims[*owner].text);
        if (*owner != PP_STDOUT_REPORT)
            return pp_output_clash(claims[*owner].text, claims[i].text, err);
        *owner = (enum pp_stdout)i;
    }
    return PP_OK;
}
