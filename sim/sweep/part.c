/* sim/sweep/part.c — finds the part of a sweep that this process computes, and its file. */
#include "core/process/launcher.h"
#include "core/units.h"
#include "sim/sweep/sweep.h"

#include <limits.h>
#include <string.h>

/* Reads a number of digits alone, at most 15. */
static bool read_number(const char *text, int *value)
{
    const size_t length = strlen(text);
    int64_t wide;

    if (length == 0 || length >= 16 || strspn(text, "0123456789") < length ||
        pp_units_parse_int(text, 0, INT_MAX, &wide, NULL) != PP_OK)
        return false;
    *value = (int)wide;
    return true;
}

static enum pp_status read_option(struct pp_arena *arena, const char *option,
                                  struct pp_sweep_part *part, struct pp_error *err)
{
    char *index = pp_arena_strdup(arena, option), *count = strchr(index, '/');

    *part = (struct pp_sweep_part){.index = 1, .count = 1};
    if (strcmp(option, "all") == 0)
        return PP_OK;
    if (count)
        *count++ = '\0';
    if (!count || !read_number(index, &part->index) || !read_number(count, &part->count))
        return pp_error_set(
            err, PP_EINVAL,
            "--part %.100s: expected i/n such as 2/4 (the second of four parts), or all", option);
    if (part->count < 1)
        return pp_error_set(err, PP_EINVAL, "--part %s: there is at least one part", option);
    if (part->index < 1 || part->index > part->count)
        return pp_error_set(err, PP_EINVAL, "--part %s: parts are 1/%d to %d/%d", option,
                            part->count, part->count, part->count);
    return PP_OK;
}

enum pp_status pp_sweep_part(struct pp_arena *arena, const char *option, struct pp_sweep_part *part,
                             struct pp_error *err)
{
    struct pp_launched launch;

    if (option)
        return read_option(arena, option, part, err);
    if (pp_launcher_detect(&launch, err) != PP_OK)
        return pp_error_append(err, "; say which part this is with --part i/n, or --part all");
    *part = (struct pp_sweep_part){.index = launch.index + 1, .count = launch.count};
    if (launch.count > 1)
        part->source = pp_arena_strdup(arena, launch.source);
    return PP_OK;
}

/* Returns the index of the suffix of the file's name; of the end if it has none. */
static size_t find_suffix(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');

    return dot && dot > name ? (size_t)(dot - path) : strlen(path);
}

const char *pp_sweep_part_path(struct pp_arena *arena, const char *path, struct pp_sweep_part part)
{
    const size_t suffix = find_suffix(path);

    return pp_arena_printf(arena, "%.*s.part-%d-of-%d%s", (int)suffix, path, part.index, part.count,
                           path + suffix);
}
