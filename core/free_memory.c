/* Free memory of the system, and of the control groups of this process. */
#include "core/free_memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 1024 };

/* Where a version of control groups keeps its numbers. */
struct version {
    const char *folder, *limit, *use, *files; /* `files`: key of memory.stat */
};
static const struct version versions[] = {
    {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"},
    {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file"},
};

/* Reads the number after `key` in the first line that begins with it. */
static bool read_number(const char *path, const char *key, size_t *value)
{
    const size_t length = strlen(key);
    FILE *file = fopen(path, "re");
    bool is_found = false;
    char line[256];

    while (file && !is_found && fgets(line, sizeof(line), file))
        is_found = !strncmp(line, key, length) && sscanf(line + length, " %zu", value) == 1;
    if (file)
        fclose(file);
    return is_found;
}

static bool read_of_group(const char *group, const char *name, const char *key, size_t *value)
{
    char path[2 * PATH_BYTES];

    return (size_t)snprintf(path, sizeof(path), "%s/%s", group, name) < sizeof(path) &&
           read_number(path, key, value);
}

/* Returns the room of one group; SIZE_MAX without a limit. */
static size_t room_of(const struct version *v, const char *group)
{
    size_t limit, use, files = 0;

    if (!read_of_group(group, v->limit, "", &limit) || !read_of_group(group, v->use, "", &use))
        return SIZE_MAX;
    read_of_group(group, "memory.stat", v->files, &files);
    use -= files < use ? files : use;
    return limit > use ? limit - use : 0;
}

/* Returns the least room of a group and those around it. In a container the group itself may be
 * out of sight; the outermost is then its own. */
static size_t least_room(const char *root, const struct version *v, const char *group)
{
    char path[PATH_BYTES];
    size_t least = SIZE_MAX;
    const size_t outermost = (size_t)snprintf(path, sizeof(path), "%s%s", root, v->folder);

    if ((size_t)snprintf(path, sizeof(path), "%s%s%s", root, v->folder, group) >= sizeof(path))
        return least;
    for (;;) {
        const size_t room = room_of(v, path);
        char *slash = strrchr(path, '/');
        least = room < least ? room : least;
        if (strlen(path) <= outermost || !slash)
            return least;
        *slash = '\0';
    }
}

/* Returns the version of a line of /proc/self/cgroup, and the path of its group. */
static const struct version *version_of(char *line, const char **group)
{
    char *controllers = strchr(line, ':'),
         *path = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!path)
        return NULL;
    *path = '\0';
    path[1 + strcspn(path + 1, "\n")] = '\0';
    *group = !strcmp(path + 1, "/") ? "" : path + 1;
    if (controllers[1] == '\0')
        return &versions[0];
    return !strcmp(controllers + 1, "memory") ? &versions[1] : NULL;
}

size_t pp_free_memory_below(const char *root)
{
    char path[PATH_BYTES], line[PATH_BYTES];
    size_t least = SIZE_MAX, kib;

    if (read_of_group(root, "proc/meminfo", "MemAvailable:", &kib))
        least = kib * 1024;
    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file)) {
        const char *group;
        const struct version *v = version_of(line, &group);
        const size_t room = v ? least_room(root, v, group) : SIZE_MAX;
        least = room < least ? room : least;
    }
    if (file)
        fclose(file);
    return least;
}

size_t pp_free_memory_bytes(void)
{
    return pp_free_memory_below("");
}
