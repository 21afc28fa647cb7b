/* What can be said about a result file before there is a result. */
#include "core/text/output.h"

#include <errno.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder_of(struct pp_arena *arena, const char *place)
{
    return dirname(pp_arena_strdup(arena, place));
}

static bool may_write(struct pp_arena *arena, const char *place)
{
    struct stat info;

    if (place == NULL)
        return false;
    if (stat(place, &info) != 0)
        return access(folder_of(arena, place), W_OK) == 0;
    if (S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return false;
    }
    return !S_ISREG(info.st_mode) || pp_output_may_replace(place, &info);
}

enum pp_status pp_output_clash(const char *first, const char *second, struct pp_error *err)
{
    return pp_error_set(err, PP_EINVAL, "%s and %s both write to stdout; give one of them", first,
                        second);
}

enum pp_status pp_output_check(struct pp_arena *arena, const char *path, struct pp_error *err)
{
    if (may_write(arena, pp_output_place(arena, path)))
        return PP_OK;
    return pp_error_set(err, PP_EFAIL, "cannot write '%s': %s", path, strerror(errno));
}

static bool is_same_node(const char *a, const char *b)
{
    struct stat left, right;

    return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}

bool pp_output_is_same(struct pp_arena *arena, const char *a, const char *b)
{
    const char *left = pp_output_place(arena, a), *right = pp_output_place(arena, b);

    if (left == NULL || right == NULL)
        return false;
    if (is_same_node(left, right))
        return true;
    const bool is_alike = strcmp(basename(pp_arena_strdup(arena, left)),
                                 basename(pp_arena_strdup(arena, right))) == 0;
    return is_alike && is_same_node(folder_of(arena, left), folder_of(arena, right));
}
