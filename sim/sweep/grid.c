/* Makes points of lists of values, and command lines of points. */
#include "core/hash.h"
#include "core/units.h"
#include "schedules/registry.h"
#include "sim/cli/cli.h"
#include "sim/resolve/resolve.h"
#include "sim/simgrid/engines.h"
#include "sim/simgrid/platform_file.h"
#include "sim/sweep/check.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static const int64_t POINTS_MAX = (int64_t)1 << 31;

/* ---- axes ------------------------------------------------------------------------------------ */

/* Options of a point are those of both run and sweep. */
static bool is_of_point(const struct pp_option *option)
{
    return (option->commands >> PP_CMD_RUN & 1u) && (option->commands >> PP_CMD_SWEEP & 1u);
}

static bool generates(const struct pp_parsed *parsed)
{
    const struct pp_option_value *mode = pp_options_get(parsed, "mode");

    return mode->count && !strcmp(mode->text, "infer");
}

static enum pp_status add_schedules(struct pp_arena *arena, const struct pp_parsed *parsed,
                                    const char *typed, const char *text, struct pp_grid_axis *axis,
                                    struct pp_error *err)
{
    const struct pp_schedule *const *all = generates(parsed) ? pp_generators : pp_schedules;
    char *names = pp_arena_strdup(arena, text);

    for (char *name; (name = pp_subject_next(&names)) != NULL;) {
        if (!*name)
            return pp_error_set(err, PP_EINVAL, "%s %s: an item of the list is empty", typed, text);
        if (strcmp(name, "all") != 0)
            PP_TRY(pp_sweep_list(arena, typed, name, axis, err));
        for (int i = 0; !strcmp(name, "all") && all[i]; i++)
            PP_TRY(pp_sweep_list(arena, typed, all[i]->name, axis, err));
    }
    return PP_OK;
}

static enum pp_status open_axis(struct pp_arena *arena, const struct pp_parsed *parsed,
                                const struct pp_option_value *value, struct pp_grid_axis *axis,
                                struct pp_error *err)
{
    const struct pp_option *option = &pp_sim_cli.options[axis->option];
    const char *typed = pp_arena_printf(arena, "--%s", option->name);

    if (option->type == PP_OPTION_FLAG) {
        static const char *none[] = {""};
        axis->values = none;
        axis->read = PP_NEW(arena, struct pp_option_value);
        axis->read[0] = *value;
        axis->count = axis->capacity = 1;
    }
    for (int i = 0; option->type != PP_OPTION_FLAG && i < value->count; i++) {
        if (!strcmp(option->name, "schedule"))
            PP_TRY(add_schedules(arena, parsed, value->typed, value->all[i], axis, err));
        else
            PP_TRY(pp_sweep_list(arena, value->typed, value->all[i], axis, err));
    }
    for (int i = 0; i < axis->count; i++) {
        axis->read[i].typed = typed;
        if (!axis->read[i].all)
            axis->read[i].all = &axis->values[i];
    }
    return PP_OK;
}

static enum pp_status too_many_points(const struct pp_grid *grid, struct pp_error *err)
{
    const char *separator = ": ";
    char text[PP_UNITS_TEXT_BYTES];

    pp_error_set(err, PP_EINVAL, "the sweep has more than 2,147,483,648 points");
    for (int i = 0; i < grid->axis_count; i++)
        if (grid->axes[i].count > 1) {
            pp_error_append(err, "%s%s of --%s", separator,
                            pp_units_print_count(grid->axes[i].count, text),
                            pp_sim_cli.options[grid->axes[i].option].name);
            separator = " * ";
        }
    return PP_EINVAL;
}

static enum pp_status count_points(struct pp_grid *grid, struct pp_error *err)
{
    grid->points = 1;
    for (int i = 0; i < grid->axis_count; i++) {
        if (grid->points > POINTS_MAX / grid->axes[i].count)
            return too_many_points(grid, err);
        grid->points *= grid->axes[i].count;
    }
    return PP_OK;
}

/* Leaves out points that differ in an option which their schedule lacks. --schedule leads the
 * option table, so points of a schedule are adjacent. */
static void leave_out_repetitions(struct pp_arena *arena, struct pp_grid *grid)
{
    const struct pp_grid_axis *schedules = pp_grid_axis(grid, "schedule");

    if (!schedules || schedules->count == 1)
        return;
    assert(schedules == grid->axes);
    grid->drops = PP_ARRAY(arena, bool, (size_t)schedules->count *(size_t)grid->axis_count);
    grid->first = PP_ARRAY(arena, int64_t, schedules->count + 1);
    for (int s = 0; s < schedules->count; s++) {
        int64_t points = 1;
        for (int i = 1; i < grid->axis_count; i++) {
            bool *drops = &grid->drops[s * grid->axis_count + i];
            *drops =
                pp_select_drops(&grid->subjects[s], pp_sim_cli.options[grid->axes[i].option].name);
            points *= *drops ? 1 : grid->axes[i].count;
        }
        grid->first[s + 1] = grid->first[s] + points;
    }
    grid->points = grid->first[schedules->count];
}

/* Fails with the message of a run that names no schedule. */
static enum pp_status check_has_schedule(struct pp_arena *arena, const struct pp_parsed *parsed,
                                         const struct pp_grid *grid, struct pp_error *err)
{
    struct pp_wish wish = {.request = {.flags = parsed}};
    struct pp_subject *subjects;
    int count;

    if (pp_grid_axis(grid, "schedule") || pp_grid_axis(grid, "preset"))
        return PP_OK;
    pp_wish_bind(arena, &wish.request);
    return pp_subjects_open(arena, &wish, &subjects, &count, err);
}

/* Returns an option as typed. Generation has a schedule of its own by default. */
static struct pp_option_value typed_value(struct pp_arena *arena, const struct pp_parsed *parsed,
                                          int i)
{
    if (parsed->values[i].count || !generates(parsed) ||
        strcmp(pp_sim_cli.options[i].name, "schedule") != 0)
        return parsed->values[i];
    const char **all = PP_ARRAY(arena, const char *, 1);
    all[0] = pp_generators[0]->name;
    return (struct pp_option_value){.count = 1, .text = all[0], .all = all, .typed = "--schedule"};
}

enum pp_status pp_grid_open(struct pp_arena *arena, const struct pp_parsed *parsed,
                            struct pp_grid *grid, struct pp_error *err)
{
    int capacity = 0;

    *grid = (struct pp_grid){.platforms = PP_NEW(arena, struct pp_platforms),
                             .programs = PP_NEW(arena, struct pp_known_programs)};
    grid->platforms->arena = arena;
    for (int i = 0; i < pp_sim_cli.option_count; i++) {
        const struct pp_option_value value = typed_value(arena, parsed, i);
        if (value.count == 0 || !is_of_point(&pp_sim_cli.options[i]))
            continue;
        struct pp_grid_axis *axis = PP_PUSH(arena, grid->axes, grid->axis_count, capacity);
        *axis = (struct pp_grid_axis){.option = i};
        PP_TRY(open_axis(arena, parsed, &value, axis, err));
    }
    PP_TRY(check_has_schedule(arena, parsed, grid, err));
    PP_TRY(count_points(grid, err));
    PP_TRY(pp_sweep_check(arena, grid, err));
    leave_out_repetitions(arena, grid);
    return PP_OK;
}

/* ---- points ---------------------------------------------------------------------------------- */

enum pp_status pp_grid_point(struct pp_arena *arena, const struct pp_grid *grid, int64_t point,
                             struct pp_parsed *parsed, struct pp_error *err)
{
    if (point < 0 || point >= grid->points)
        return pp_error_set(err, PP_EINVAL, "there is no point %" PRId64 ", but 0 to %" PRId64,
                            point, grid->points - 1);
    *parsed = (struct pp_parsed){
        .cli = &pp_sim_cli,
        .command = PP_CMD_RUN,
        .has_command = true,
        .values = PP_ARRAY(arena, struct pp_option_value, pp_sim_cli.option_count + 1),
        .operands = PP_ARRAY(arena, const char *, 1)};
    for (int i = 0; i < grid->axis_count; i++) {
        const int value = pp_grid_index(grid, point, i);
        if (value >= 0)
            parsed->values[grid->axes[i].option] = grid->axes[i].read[value];
    }
    return PP_OK;
}

static const struct pp_subject *opened_subject(const struct pp_grid *grid, int64_t point)
{
    const struct pp_grid_axis *axis = pp_grid_subject_axis(grid);

    return &grid->subjects[pp_grid_index(grid, point, (int)(axis - grid->axes))];
}

/* Reads a program again only if several dialects are listed for it. */
static enum pp_status subject_of(struct pp_arena *arena, const struct pp_grid *grid, int64_t point,
                                 const struct pp_wish *wish, struct pp_subject *subject,
                                 struct pp_error *err)
{
    const struct pp_grid_axis *dialects = pp_grid_axis(grid, "dialect");

    *subject = *opened_subject(grid, point);
    if ((subject->schedule && !subject->schedule->programs) || !dialects || dialects->count == 1)
        return PP_OK;
    PP_TRY(pp_subject_open_typed(arena, &wish->request, subject->name, subject, err));
    subject->is_listed = grid->is_listed;
    return PP_OK;
}

enum pp_status pp_grid_request(struct pp_arena *arena, const struct pp_grid *grid, int64_t point,
                               struct pp_wish *wish, struct pp_subject *subject,
                               struct pp_error *err)
{
    const struct pp_grid_axis *presets = pp_grid_axis(grid, "preset");
    struct pp_parsed *flags = PP_NEW(arena, struct pp_parsed);

    PP_TRY(pp_grid_point(arena, grid, point, flags, err));
    wish->request = presets ? grid->presets[pp_grid_index(grid, point, (int)(presets - grid->axes))]
                            : (struct pp_request){0};
    wish->request.flags = flags;
    wish->request.platforms = grid->platforms;
    pp_wish_bind(arena, &wish->request);
    return subject_of(arena, grid, point, wish, subject, err);
}

/* ---- text and key ---------------------------------------------------------------------------- */

/* Puts a text in quotes if a shell would split it. */
static const char *quoted(struct pp_arena *arena, const char *text)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_=+,./:%@";

    if (*text && !text[strspn(text, PLAIN)])
        return text;
    const char *result = "'";
    for (; *text; text++)
        result = *text == '\'' ? pp_arena_printf(arena, "%s'\\''", result)
                               : pp_arena_printf(arena, "%s%c", result, *text);
    return pp_arena_printf(arena, "%s'", result);
}

const char *pp_grid_text(struct pp_arena *arena, const struct pp_grid *grid, int64_t point)
{
    const char *text = "";

    for (int i = 0; i < grid->axis_count; i++) {
        const struct pp_grid_axis *axis = &grid->axes[i];
        const struct pp_option *option = &pp_sim_cli.options[axis->option];
        const int index = pp_grid_index(grid, point, i);
        const struct pp_option_value *value = &axis->read[index < 0 ? 0 : index];
        for (int k = 0; index >= 0 && k < value->count; k++) {
            text = pp_arena_printf(arena, "%s%s--%s", text, *text ? " " : "", option->name);
            if (option->type == PP_OPTION_FLAG)
                break;
            const char *separator = *value->all[k] == '-' ? "=" : " "; /* else an option */
            text = pp_arena_printf(arena, "%s%s%s", text, separator, quoted(arena, value->all[k]));
        }
    }
    return text;
}

static uint64_t add_text(uint64_t hash, const char *text)
{
    return pp_hash(hash, text, strlen(text) + 1);
}

const char *pp_grid_key(const struct pp_grid *grid, int64_t point, char key[PP_SWEEP_KEY_BYTES])
{
    const struct pp_subject *subject = opened_subject(grid, point);
    uint64_t hash = add_text(PP_HASH_OF_NOTHING, PP_VERSION);
    bool is_dropped = false;

    if (!pp_grid_axis(grid, "engine")) /* the default depends on the build */
        hash = add_text(hash, pp_engine_default(pp_grid_axis(grid, "unit") != NULL)->name);
    for (int i = 0; i < grid->axis_count; i++) {
        const struct pp_grid_axis *axis = &grid->axes[i];
        const char *name = pp_sim_cli.options[axis->option].name;
        const int value = pp_grid_index(grid, point, i);
        if (value < 0)
            continue;
        is_dropped = is_dropped || pp_select_drops(subject, name);
        hash = add_text(add_text(hash, name), axis->keys[value]);
    }
    if (is_dropped) /* by one of several presets; alone it would be refused */
        hash = add_text(hash, "listed");
    snprintf(key, PP_SWEEP_KEY_BYTES, "%016" PRIx64, hash);
    return key;
}
