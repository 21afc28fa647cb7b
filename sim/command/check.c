/* pipesim check: compares saved predictions with new ones. */
#include "core/text/json_write.h"
#include "sim/check/baseline.h"
#include "sim/command/commands.h"

#include "core/text/file.h"
#include "core/text/output.h"

#include <stdlib.h>
#include <string.h>

/* Options of the command. */
struct check {
    double tolerance_frac;
    int rows;
    bool updates;
    const char *with; /* path of the new rows of a sweep; NULL = none */
    json_t *files;    /* --json: a result for each file; NULL = text */
};

/* Runs the inputs of `baseline` again; `*text` is the report as `pipesim run --json` prints it. */
static enum pp_status run_again(struct pp_arena *arena, const struct pp_baseline *baseline,
                                char **text, size_t *length, struct pp_error *err)
{
    static const struct pp_option_value JSON = {.count = 1, .integer = 1, .typed = "--json"};
    struct pp_wish wish = {.request = {.flags = &baseline->inputs}};
    enum pp_status status;

    for (int i = 0; i < pp_sim_cli.option_count; i++)
        if (!strcmp(pp_sim_cli.options[i].name, "json"))
            baseline->inputs.values[i] = JSON;
    FILE *out = open_memstream(text, length);
    if (!out)
        return pp_error_set(err, PP_EFAIL, "no memory for a report");
    status = pp_command_run(arena, &wish, out, err);
    if (fclose(out) != 0 && status == PP_OK)
        status = pp_error_set(err, PP_EFAIL, "no memory for a report");
    return status;
}

static enum pp_status rewrite(struct pp_arena *arena, const char *path, const char *text,
                              size_t length, struct pp_error *err)
{
    struct pp_output output;

    PP_TRY(pp_output_open(arena, path, &output, err));
    fwrite(text, 1, length, output.file);
    return pp_output_commit(&output, err);
}

static void print_verdict(const struct check *check, const struct pp_changes *c, const char *name,
                          FILE *out)
{
    static const char *const WHOLES[] = {
        [PP_OF_ITSELF] = "", [PP_OF_STEP] = " of the step", [PP_OF_PEAK] = " of the peak"};

    fprintf(out, "%s: ", name);
    if (c->count > 0)
        fprintf(out, "%d of %d figures moved", c->count, c->figures);
    else
        fprintf(out, "none of %d figures moved", c->figures);
    if (check->tolerance_frac > 0)
        fprintf(out, " by more than %g %%", 100 * check->tolerance_frac);
    fputc('\n', out);
    if (c->count == 0 && c->largest.path)
        fprintf(out, "  largest change: %+.3g %%%s, %s\n", 100 * c->largest.frac,
                WHOLES[c->largest.whole], c->largest.path);
    if (c->words > 0)
        fprintf(out, "  texts that read otherwise: %d\n", c->words);
    if (c->added > 0)
        fprintf(out, "  fields that the old report lacks: %d\n", c->added);
}

static json_t *verdict_json(const char *name, const struct pp_changes *c)
{
    return json_pack("{so* si si si si so}", "file", json_string(name), "figures", c->figures,
                     "moved", c->count, "texts", c->words, "added", c->added, "changes",
                     pp_changes_json(c));
}

/* Prints the changes; rewrites the report under --update. `text`: new report, NULL for a sweep. */
static enum pp_status judge(struct pp_arena *arena, const struct check *check, const char *path,
                            const char *name, const struct pp_changes *changes, const char *text,
                            size_t length, FILE *out, struct pp_error *err)
{
    const bool is_same =
        !changes->count && !changes->largest.path && !changes->words && !changes->added;

    if (check->files) {
        json_array_append_new(check->files, verdict_json(name, changes));
    } else {
        print_verdict(check, changes, name, out);
        pp_changes_print(arena, changes, check->rows, out);
    }
    if (check->updates && !is_same) {
        PP_TRY(rewrite(arena, path, text, length, err));
        if (!check->files)
            fputs("  written anew\n", out);
    } else if (!check->updates && changes->count > 0) {
        return pp_error_set(err, PP_ETOLERANCE, "%s: %d of %d figures moved", name, changes->count,
                            changes->figures);
    }
    return PP_OK;
}

static enum pp_status check_report(struct pp_arena *arena, const struct check *check,
                                   const char *path, FILE *out, struct pp_error *err)
{
    struct pp_baseline baseline;
    struct pp_changes changes;
    struct pp_json now = {0};
    size_t length = 0;
    char *text = NULL;

    PP_TRY(pp_baseline_open(arena, path, &baseline, err));
    const char *name = baseline.json.name;
    enum pp_status status = run_again(arena, &baseline, &text, &length, err);
    if (status != PP_OK)
        pp_error_prefix(err, "%s: ", name);
    else
        status = pp_json_parse("the new report", text, length, &now, err);
    if (status == PP_OK) {
        pp_baseline_diff(arena, baseline.json.root, now.root, check->tolerance_frac, &changes);
        status = judge(arena, check, path, name, &changes, text, length, out, err);
    }
    pp_json_close(&now);
    free(text);
    return status;
}

/* Rows of a sweep do not have all options, so --with names the new rows. */
static enum pp_status check_sweep(struct pp_arena *arena, const struct check *check,
                                  const char *path, FILE *out, struct pp_error *err)
{
    struct pp_table old, new;
    struct pp_changes changes;
    json_t *before, *after;

    if (!check->with)
        return pp_error_set(err, PP_EINVAL,
                            "%s: a sweep does not say all that was asked; run it again with "
                            "another -o, and give that file: --with NEW.csv",
                            path);
    if (check->updates)
        return pp_error_set(err, PP_EINVAL, "--update has no effect on a sweep: copy %s over it",
                            check->with);
    PP_TRY(pp_table_read(arena, path, &old, err));
    PP_TRY(pp_baseline_sweep(arena, &old, &before, err));
    PP_TRY(pp_table_read(arena, check->with, &new, err));
    PP_TRY(pp_baseline_sweep(arena, &new, &after, err));
    pp_baseline_diff(arena, before, after, check->tolerance_frac, &changes);
    return judge(arena, check, path, path, &changes, NULL, 0, out, err);
}

static bool is_table(const char *path)
{
    return pp_has_suffix(path, ".csv") || pp_has_suffix(path, ".csv.gz");
}

static enum pp_status check_one(const struct check *check, const char *path, FILE *out,
                                struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    if (check->updates && !strcmp(path, "-"))
        return pp_error_set(err, PP_EINVAL, "--update: stdin cannot be rewritten; name a file");
    if (is_table(path))
        return check_sweep(arena, check, path, out, err);
    if (check->with)
        return pp_error_set(err, PP_EINVAL, "--with %s is for a sweep; %s is none", check->with,
                            path);
    return check_report(arena, check, path, out, err);
}

/* Checks all files; the worst status is the exit code. */
static enum pp_status check_all(const struct check *check, const struct pp_parsed *flags, FILE *out,
                                struct pp_error *err)
{
    enum pp_status worst = PP_OK;

    for (int i = 0; i < flags->operand_count; i++) {
        struct pp_error one = {0};
        const enum pp_status status = check_one(check, flags->operands[i], out, &one);
        if (status == PP_OK)
            continue;
        if (check->files && status != PP_ETOLERANCE)
            json_array_append_new(check->files,
                                  json_pack("{so* so*}", "file", json_string(flags->operands[i]),
                                            "error", json_string(one.message)));
        if (worst == PP_OK)
            *err = one;
        else
            pp_error_append(err, "\n%s", one.message);
        if (worst == PP_OK || worst == PP_ETOLERANCE)
            worst = status; /* a file that cannot be checked is worse than a changed one */
        err->status = worst;
    }
    return worst;
}

enum pp_status pp_command_check(struct pp_arena *arena, const struct pp_wish *wish, FILE *out,
                                struct pp_error *err)
{
    const struct pp_parsed *flags = wish->request.flags;
    struct check check = {.tolerance_frac = wish->tolerance,
                          .rows = wish->worst,
                          .updates = wish->given.update.count > 0,
                          .with = wish->with};

    (void)arena;
    if (check.with && flags->operand_count != 1)
        return pp_error_set(err, PP_EINVAL,
                            "--with %s is the new form of one sweep, not of %d files", check.with,
                            flags->operand_count);
    if (wish->json)
        check.files = json_array();
    const enum pp_status status = check_all(&check, flags, out, err);
    if (check.files) {
        json_t *o = json_pack("{ss sf so}", "schema", "pipesim.check/1", "tolerance_frac",
                              check.tolerance_frac, "files", check.files);
        pp_json_print(o, out);
    }
    return status;
}
