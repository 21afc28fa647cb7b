/* Tracks files that points of a sweep read: they are part of the keys, and must not change. */
#include "sim/sweep/check.h"

#include "core/hash.h"
#include "core/text/file.h"
#include "sim/simgrid/platform_file.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static const size_t INPUT_MAX_BYTES = (size_t)1 << 30;
static const char *const OPTIONS[] = {"schedule", "model", "cluster", "cost", "constants"};

static const char *option_of(const struct pp_grid *grid, const struct pp_grid_file *file)
{
    return pp_sim_cli.options[grid->axes[file->axis].option].name;
}

/* ---- files of options ------------------------------------------------------------------------ */

/* Opening reports names that do not exist or are folders. */
static enum pp_status add(struct pp_arena *arena, struct pp_grid *grid, struct pp_grid_file file,
                          struct pp_error *err)
{
    if (stat(file.path, &file.info) != 0 || S_ISDIR(file.info.st_mode))
        return PP_OK;
    if (!S_ISREG(file.info.st_mode))
        return pp_error_set(err, PP_EINVAL,
                            "--%s %s: every point of a sweep reads it, and a pipe or a device can "
                            "be read once; give a file",
                            option_of(grid, &file), file.path);
    *PP_PUSH(arena, grid->files, grid->file_count, grid->file_capacity) = file;
    return PP_OK;
}

enum pp_status pp_sweep_inputs_open(struct pp_arena *arena, struct pp_grid *grid,
                                    struct pp_error *err)
{
    const struct pp_grid_axis *dialects = pp_grid_axis(grid, "dialect");
    const bool is_programs_again = dialects && dialects->count > 1;

    for (size_t i = 0; i < PP_COUNT(OPTIONS); i++) {
        const struct pp_grid_axis *axis = pp_grid_axis(grid, OPTIONS[i]);
        for (int k = 0; axis && k < axis->count; k++) {
            const struct pp_grid_file file = {.axis = (int)(axis - grid->axes),
                                              .value = k,
                                              .path = axis->values[k],
                                              .is_kept = i == 0 && !is_programs_again};
            if (strpbrk(file.path, "./"))
                PP_TRY(add(arena, grid, file, err));
        }
    }
    return PP_OK;
}

/* Returns the next value of an attribute `file` or `*_file`, also in comments; NULL at the end. */
static const char *next_file(const char **rest, int *length)
{
    for (const char *at = *rest; (at = strstr(at, "file")) != NULL;) {
        const char before = at > *rest ? at[-1] : '\0';
        const bool is_name = isspace((unsigned char)before) || before == '_';
        at += strlen("file");
        const char *quote = at + strspn(at, " \t\r\n");
        if (!is_name || *quote != '=')
            continue;
        quote++;
        quote += strspn(quote, " \t\r\n");
        const char *end = *quote == '"' || *quote == '\'' ? strchr(quote + 1, *quote) : NULL;
        if (!end)
            continue;
        *rest = end;
        *length = (int)(end - quote - 1);
        return quote + 1;
    }
    return NULL;
}

static uint64_t hash_file(struct pp_arena *arena, const char *path, uint64_t hash,
                          struct pp_bytes *bytes)
{
    *bytes = (struct pp_bytes){.data = NULL};
    if (pp_file_read_limited(arena, path, INPUT_MAX_BYTES, bytes, NULL) != PP_OK)
        return hash;
    return pp_hash(hash, bytes->data, bytes->length);
}

/* Hashes the files that a platform names, relative to its folder. */
static enum pp_status hash_named(struct pp_arena *arena, struct pp_grid *grid,
                                 const struct pp_grid_file *platform, const char *text,
                                 uint64_t *hash, struct pp_error *err)
{
    const char *slash = strrchr(platform->path, '/');
    const int folder = slash ? (int)(slash + 1 - platform->path) : 0;
    struct pp_grid_file file = *platform;
    const char *name;
    int length;

    while (text && (name = next_file(&text, &length)) != NULL) {
        struct pp_bytes bytes;
        file.path = pp_arena_printf(arena, "%.*s%.*s", *name == '/' ? 0 : folder, platform->path,
                                    length, name);
        PP_TRY(add(arena, grid, file, err));
        PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
        *hash = hash_file(scratch, file.path, *hash, &bytes);
    }
    return PP_OK;
}

enum pp_status pp_sweep_input_key(struct pp_arena *arena, struct pp_grid *grid, int axis, int value,
                                  const char **key, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const int count = grid->file_count;

    for (int i = 0; i < count; i++) {
        const struct pp_grid_file file = grid->files[i];
        struct pp_bytes bytes;
        if (file.axis != axis || file.value != value)
            continue;
        uint64_t hash = hash_file(scratch, file.path, PP_HASH_OF_NOTHING, &bytes);
        if (!strcmp(option_of(grid, &file), "cluster") && pp_platform_is_file(file.path))
            PP_TRY(hash_named(arena, grid, &file, bytes.data, &hash, err));
        *key = pp_arena_printf(arena, "%s %016" PRIx64, *key, hash);
        return PP_OK;
    }
    return PP_OK;
}

/* ---- changes --------------------------------------------------------------------------------- */

static bool is_unchanged(const struct pp_grid_file *file)
{
    const struct stat *then = &file->info;
    struct stat now;

    return stat(file->path, &now) == 0 && now.st_dev == then->st_dev &&
           now.st_ino == then->st_ino && now.st_size == then->st_size &&
           now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == then->st_mtim.tv_nsec;
}

enum pp_status pp_sweep_inputs_check(const struct pp_grid *grid, struct pp_error *err)
{
    for (int i = 0; i < grid->file_count; i++)
        if (!is_unchanged(&grid->files[i]))
            return pp_error_set(err, PP_EFAIL, "%s has changed while it was read",
                                grid->files[i].path);
    return PP_OK;
}

enum pp_status pp_sweep_inputs_check_point(const struct pp_grid *grid, int64_t point,
                                           struct pp_error *err)
{
    for (int i = 0, axis = -1, value = -1; i < grid->file_count; i++) {
        const struct pp_grid_file *file = &grid->files[i];
        if (file->axis != axis)
            value = pp_grid_index(grid, point, axis = file->axis);
        if (!file->is_kept && file->value == value && !is_unchanged(file))
            return pp_error_set(err, PP_EFAIL, "%s has changed since the sweep began", file->path);
    }
    return PP_OK;
}

const char *pp_sweep_inputs_find(const struct pp_grid *grid, const char *path, const char **option)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return NULL;
    for (int i = 0; i < grid->file_count; i++) {
        const struct pp_grid_file *file = &grid->files[i];
        if (file->info.st_dev != info.st_dev || file->info.st_ino != info.st_ino)
            continue;
        *option = option_of(grid, file);
        return file->path;
    }
    return NULL;
}
