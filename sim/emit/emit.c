/* Writes the fragment of a framework, with remarks, to stdout or to files. */
#include "sim/emit/settings.h"

#include "core/cli/options.h"
#include "core/cost/fitted.h"
#include "core/printable.h"
#include "core/text/output.h"
#include "core/units.h"
#include "sim/cli/emit_tools.h"
#include "sim/export/export.h"

#include <string.h>

/* Frameworks, alphabetical. */
#define ADDRESS(tool) &pp_emit_##tool,
static const struct pp_emit_tool *const all_tools[] = {PP_EMIT_TOOLS(ADDRESS) NULL};

enum { TOOLS = PP_COUNT(all_tools) };

enum pp_status pp_emit_find(const char *name, const struct pp_emit_tool **tool,
                            struct pp_error *err)
{
    const char *names[TOOLS];

    for (int i = 0; i < TOOLS; i++) {
        names[i] = all_tools[i] ? all_tools[i]->name : NULL;
        if (names[i] && pp_same_name(name, names[i])) {
            *tool = all_tools[i];
            return PP_OK;
        }
    }
    pp_error_set(err, PP_EINVAL, "--emit %s: unknown framework", name);
    return pp_suggest_or_list(err, name, names);
}

const struct pp_tool *pp_emit_software(const struct pp_emit_tool *tool)
{
    return tool->software;
}

/* ---- options --------------------------------------------------------------------------------- */

enum pp_status pp_emit_open_plan(const struct pp_wish *wish, const struct pp_emit_tool **tool,
                                 struct pp_error *err)
{
    *tool = NULL;
    return wish->emit ? pp_emit_find(wish->emit, tool, err) : PP_OK;
}

enum pp_status pp_emit_open(struct pp_arena *arena, const struct pp_wish *wish,
                            struct pp_emit_target *target, struct pp_error *err)
{
    const char *path = wish->output;

    *target = (struct pp_emit_target){.path = path && strcmp(path, "-") != 0 ? path : NULL};
    if (!wish->given.emit.count)
        return path ? pp_error_set(err, PP_EINVAL,
                                   "-o %s is for --emit; a run is drawn with --plot FILE, its "
                                   "report goes to stdout",
                                   path)
                    : PP_OK;
    if (wish->given.unit.count)
        return pp_error_set(err, PP_EINVAL,
                            "--unit has no model and no devices: --emit needs a run with both");
    if (target->path)
        PP_TRY(pp_output_check(arena, target->path, err));
    return pp_emit_open_plan(wish, &target->tool, err);
}

/* ---- remarks --------------------------------------------------------------------------------- */

/* Returns "llama3-70b (70.6B) on 64 h100: 1f1b, TP 8 x CP 1 x PP 8 x DP 1, ..." */
static const char *what_is(const struct pp_emit_job *job)
{
    const struct pp_config *c = job->config;
    const struct pp_layout *l = &c->layout;
    char params[PP_UNITS_TEXT_BYTES];

    return pp_arena_printf(job->arena,
                           "%s: %s (%s) on %d GPUs of %s; %s, TP %d x CP %d x PP %d x DP %d%s, %d "
                           "micro-batches of %d.",
                           job->tool->title, c->model.name,
                           pp_units_print(pp_model_params(&c->model), PP_UNIT_COUNT, params),
                           l->gpus, c->cluster.name, c->schedule_name, l->tp, l->cp, l->pp, l->dp,
                           l->ep > 1 ? pp_arena_printf(job->arena, ", EP %d", l->ep) : "",
                           l->micro_batches, l->mbs);
}

static const char *refusal_of(const struct pp_emit_job *job)
{
    const char *text = NULL;

    for (const struct pp_emit_part *const *part = job->tool->parts; *part && !text; part++)
        text = (*part)->refuses ? (*part)->refuses(job) : NULL;
    return text;
}

/* Returns FILE.csv for FILE.toml. */
static const char *path_of_list(const struct pp_emit_job *job)
{
    static const char TOML[] = ".toml";
    const char *path = job->path ? job->path : "schedule";
    const int length = (int)strlen(path), rest = length - (int)sizeof(TOML) + 1;

    return pp_arena_printf(job->arena, "%.*s.csv",
                           rest > 0 && !strcmp(path + rest, TOML) ? rest : length, path);
}

static enum pp_status write_list(const struct pp_emit_job *job, const struct pp_program *program,
                                 struct pp_output *output, struct pp_error *err)
{
    const char *none; /* ignored: only readable orders come here */

    PP_TRY(pp_output_open(job->arena, job->list_path, output, err));
    if (pp_export_pytorch(job->arena, program, PP_PYTORCH_COMPUTE, output->file, &none, err) ==
        PP_OK)
        return PP_OK;
    pp_output_discard(output);
    return err->status;
}

static enum pp_status write_files(const struct pp_emit_job *job, const struct pp_emission *emission,
                                  const struct pp_program *program, struct pp_error *err)
{
    struct pp_output outputs[2];

    PP_TRY(pp_output_open(job->arena, job->path, &outputs[0], err));
    job->tool->print(emission, outputs[0].file);
    if (job->list_path && write_list(job, program, &outputs[1], err) != PP_OK) {
        pp_output_discard(&outputs[0]);
        return err->status;
    }
    return pp_output_commit_all(outputs, job->list_path ? 2 : 1, err);
}

bool pp_emit_runs(struct pp_arena *arena, const struct pp_emit_tool *tool,
                  const struct pp_config *config)
{
    struct pp_emit_job job = {.arena = arena, .tool = tool, .config = config};
    struct pp_error ignored = {0};

    return pp_emit_choose(&job, &ignored) == PP_OK && !pp_emit_is_other(&job) && !refusal_of(&job);
}

enum pp_status pp_emit(struct pp_arena *arena, const struct pp_emit_tool *tool,
                       const struct pp_emit_run *run, FILE *out, struct pp_error *err)
{
    struct pp_emit_job job = {
        .arena = arena,
        .tool = tool,
        .config = run->config,
        .path = run->path && strcmp(run->path, "-") != 0 ? run->path : NULL,
    };
    struct pp_emission emission = {.arena = arena};

    PP_TRY(pp_emit_choose(&job, err));
    if (!job.call && job.layout.pp > 1)
        job.list_path = path_of_list(&job);
    if (job.list_path && pp_printable(arena, job.list_path) != job.list_path)
        return pp_error_set(err, PP_EINVAL,
                            "-o %s: the fragment names a file next to it, and TOML holds no such "
                            "letters; nearest: a name in UTF-8",
                            pp_printable(arena, job.path));
    const char *refusal = refusal_of(&job);
    if (refusal)
        return pp_error_set(err, PP_EINVAL, "--emit %s: %s", tool->name, refusal);
    pp_emit_remark(&emission, what_is(&job));
    if (run->config->fitted)
        pp_emit_remark(&emission, pp_arena_printf(arena, "Predicted with constants of %s.",
                                                  pp_fitted_text(arena, run->config->fitted,
                                                                 &run->config->model)));
    if (!run->fits)
        pp_emit_remark(&emission, "This run does not fit into its devices' memory.");
    pp_emit_remark(&emission, run->remark);
    tool->launch(&job, &emission);
    for (int i = 0; tool->parts[i]; i++) {
        tool->parts[i]->differs(&job, &emission);
        tool->parts[i]->put(&job, &emission);
    }
    if (job.path)
        return write_files(&job, &emission, run->program, err);
    tool->print(&emission, out);
    return PP_OK;
}
