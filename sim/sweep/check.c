/* Opens names and files of a sweep, each once, and makes the keys of its values. */
#include "sim/sweep/check.h"

#include "core/cluster/slow.h"
#include "core/text/file.h"
#include "schedules/registry.h"
#include "sim/cli/cli.h"
#include "sim/resolve/resolve.h"

#include <stdlib.h>
#include <string.h>

/* Returns a command line with one value of one option, or with none. */
static struct pp_parsed only(struct pp_arena *arena, const struct pp_grid_axis *axis, int value)
{
    struct pp_parsed parsed = {
        .cli = &pp_sim_cli,
        .command = PP_CMD_RUN,
        .values = PP_ARRAY(arena, struct pp_option_value, pp_sim_cli.option_count + 1)};

    if (axis)
        parsed.values[axis->option] = axis->read[value];
    return parsed;
}

/* ---- presets and schedules ------------------------------------------------------------------- */

static enum pp_status open_presets(struct pp_arena *arena, struct pp_grid *grid,
                                   struct pp_error *err)
{
    struct pp_grid_axis *axis = pp_grid_axis(grid, "preset");

    if (!axis)
        return PP_OK;
    grid->presets = PP_ARRAY(arena, struct pp_request, axis->count);
    grid->subjects = PP_ARRAY(arena, struct pp_subject, axis->count);
    grid->is_listed = axis->count > 1;
    for (int i = 0; i < axis->count; i++) {
        const struct pp_parsed flags = only(arena, axis, i);
        PP_TRY(pp_request_open(arena, &flags, &grid->presets[i], err));
        PP_TRY(pp_subject_open(arena, &grid->presets[i],
                               pp_request_text(&grid->presets[i], "schedule", ""),
                               &grid->subjects[i], err));
        grid->subjects[i].is_listed = grid->is_listed;
        grid->presets[i].flags = NULL;
        axis->keys[i] = grid->presets[i].preset_row->name;
    }
    return PP_OK;
}

static enum pp_status open_schedules(struct pp_arena *arena, struct pp_grid *grid,
                                     struct pp_error *err)
{
    struct pp_grid_axis *axis = pp_grid_axis(grid, "schedule");
    struct pp_parsed flags = only(arena, pp_grid_axis(grid, "dialect"), 0);
    const struct pp_request request = {.flags = &flags};

    if (!axis)
        return PP_OK;
    grid->is_listed = axis->count > 1;
    grid->subjects = PP_ARRAY(arena, struct pp_subject, axis->count);
    for (int i = 0; i < axis->count; i++) {
        if (!strcmp(axis->values[i], "-"))
            return pp_error_set(
                err, PP_EINVAL,
                "--schedule -: a sweep that continues has to read its program again; give a file");
        struct pp_subject *subject = &grid->subjects[i];
        PP_TRY(pp_subject_open_typed(arena, &request, axis->values[i], subject, err));
        subject->is_listed = grid->is_listed;
        axis->keys[i] = axis->values[i] = axis->read[i].text = subject->name;
    }
    return pp_subjects_check_dialect(&request, grid->subjects, axis->count, err);
}

/* ---- other names ----------------------------------------------------------------------------- */

/* The range of ranks depends on the point and is not checked. */
static enum pp_status check_slow(const struct pp_option_value *value, struct pp_error *err)
{
    struct pp_slow slow;

    for (int i = 0; i < value->count; i++)
        PP_TRY(pp_slow_read(value->all[i], &slow, err));
    return PP_OK;
}

/* Checks a text by its reader in pp_resolve_fixed(), or by its own. `mode`: NULL = training. */
static enum pp_status check_text(const struct pp_grid_axis *mode, const struct pp_grid_axis *axis,
                                 int value, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *name = pp_sim_cli.options[axis->option].name;
    struct pp_parsed flags = only(arena, axis, value);
    struct pp_wish wish = {.request = {.flags = &flags}};
    const struct pp_subject any = {.schedule = pp_schedules[0], .is_listed = true};
    struct pp_selection selection;
    struct pp_config config = {0};

    if (!strcmp(name, "slow"))
        return check_slow(&axis->read[value], err);
    if (!strcmp(name, "order"))
        return pp_select_shape(&wish.request, &any, &selection, err);
    if (mode)
        flags.values[mode->option] = mode->read[0];
    pp_wish_bind(arena, &wish.request);
    return pp_resolve_fixed(arena, &wish, &config, err);
}

/* A text is right if it is so in training, or in the mode of the sweep. */
static enum pp_status check_texts(const struct pp_grid *grid, const struct pp_grid_axis *axis,
                                  struct pp_error *err)
{
    const struct pp_option *option = &pp_sim_cli.options[axis->option];
    const struct pp_grid_axis *mode = pp_grid_axis(grid, "mode");

    for (int i = 0; i < axis->count; i++) {
        enum pp_status status = check_text(NULL, axis, i, err);
        if (status != PP_OK && mode)
            status = check_text(mode, axis, i, err);
        if (status == PP_OK)
            continue;
        if (strchr(axis->values[i], ','))
            pp_error_append(err, "\n  several values are given by --%s again for each",
                            option->name);
        return status;
    }
    return PP_OK;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Keys of values that are read a second time, for their meaning. */
static const char *key_of_slow(struct pp_arena *arena, const struct pp_option_value *value)
{
    const char *text = "";
    struct pp_slow slow;

    for (int i = 0; i < value->count && pp_slow_read(value->all[i], &slow, NULL) == PP_OK; i++)
        text =
            pp_arena_printf(arena, "%s%ld.%ld=%.17g ", text, slow.rank, slow.replica, slow.factor);
    return text;
}

static const char *key_of_unit(struct pp_arena *arena, const char *text)
{
    struct pp_unit_costs u;

    if (pp_unit_costs_parse(text, &u, NULL) != PP_OK)
        return text;
    return pp_arena_printf(arena, "%.17g %.17g %.17g %.17g %.17g %.17g%s%s", u.f, u.b, u.i, u.w,
                           u.c, u.fb, u.has_r ? pp_arena_printf(arena, " %.17g", u.r) : "",
                           u.has_p ? pp_arena_printf(arena, " P %.17g", u.p) : "");
}

static const char *key_of_model(struct pp_arena *arena, const char *text)
{
    struct pp_model model;

    if (strchr(text, '/') || pp_has_suffix(text, ".json") ||
        pp_model_load(arena, text, &model, NULL) != PP_OK)
        return text;
    return model.name;
}

static const char *key_of(struct pp_arena *arena, const struct pp_grid_axis *axis, int value)
{
    const struct pp_option *option = &pp_sim_cli.options[axis->option];
    const char *text = axis->values[value];

    if (axis->keys[value])
        return axis->keys[value];
    if (option->type == PP_OPTION_COUNT || option->type == PP_OPTION_FRAC)
        return pp_arena_printf(arena, "%.17g", axis->read[value].number);
    if (!strcmp(option->name, "slow"))
        return key_of_slow(arena, &axis->read[value]);
    if (!strcmp(option->name, "unit"))
        return key_of_unit(arena, text);
    return !strcmp(option->name, "model") ? key_of_model(arena, text) : text;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *value_of(const struct pp_grid_axis *axis, const char *key)
{
    int value = axis->count - 1;

    while (value > 0 && strcmp(axis->keys[value], key) != 0)
        value--;
    return axis->values[value];
}

static enum pp_status check_twice(const struct pp_grid_axis *axis, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char **keys = PP_ARRAY(arena, const char *, axis->count);

    memcpy(keys, axis->keys, sizeof(*keys) * (size_t)axis->count);
    qsort(keys, (size_t)axis->count, sizeof(*keys), by_text);
    for (int i = 1; i < axis->count; i++)
        if (!strcmp(keys[i - 1], keys[i]))
            return pp_error_set(err, PP_EINVAL, "--%s: %s is there twice",
                                pp_sim_cli.options[axis->option].name, value_of(axis, keys[i]));
    return PP_OK;
}

enum pp_status pp_sweep_check(struct pp_arena *arena, struct pp_grid *grid, struct pp_error *err)
{
    for (int i = 0; i < grid->axis_count; i++)
        grid->axes[i].keys = PP_ARRAY(arena, const char *, grid->axes[i].count);
    PP_TRY(pp_sweep_inputs_open(arena, grid, err));
    PP_TRY(open_presets(arena, grid, err));
    PP_TRY(open_schedules(arena, grid, err));
    for (int i = 0; i < grid->axis_count; i++) {
        struct pp_grid_axis *axis = &grid->axes[i];
        const struct pp_option *option = &pp_sim_cli.options[axis->option];
        if (option->type == PP_OPTION_STRING && !axis->keys[0])
            PP_TRY(check_texts(grid, axis, err));
        for (int k = 0; k < axis->count; k++) {
            axis->keys[k] = key_of(arena, axis, k);
            PP_TRY(pp_sweep_input_key(arena, grid, i, k, &axis->keys[k], err));
        }
        PP_TRY(check_twice(axis, err));
    }
    return pp_sweep_inputs_check(grid, err);
}
