/* Files of safetensors, mapped: only pages that are read take memory. */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "exec/hub/safetensors.h"

#include "core/process/mapped.h"
#include "core/text/file.h"
#include "core/text/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one file -------------------------------------------------------------------------------- */

static void unmap(void *mapped)
{
    pp_unmap_file(mapped);
}

static enum pp_status map(const char *path, int fd, struct pp_mapped_file *mapped,
                          struct pp_error *err)
{
    struct stat info;

    if (fd < 0 || fstat(fd, &info) != 0)
        return pp_error_set(err, PP_EFAIL, "cannot open %s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode) || info.st_size == 0)
        return pp_error_set(err, PP_EINVAL, "%s is %s, not a safetensors file", path,
                            S_ISREG(info.st_mode) ? "empty" : "no regular file");
    return pp_map_file(mapped, path, fd, (size_t)info.st_size)
               ? PP_OK
               : pp_error_set(err, PP_EFAIL, "cannot map %s: %s", path, strerror(errno));
}

static enum pp_status open_file(struct pp_arena *arena, const char *path,
                                struct pp_safetensors *tensors, struct pp_error *err)
{
    struct pp_mapped_file *mapped = PP_NEW(arena, struct pp_mapped_file);
    const char *name = pp_arena_strdup(arena, path);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const enum pp_status status = map(name, fd, mapped, err);

    if (fd >= 0)
        close(fd);
    PP_TRY(status);
    pp_arena_defer(arena, unmap, mapped);
    return pp_safetensors_parse(arena, name, mapped->bytes, mapped->length, tensors, err);
}

/* ---- shards ---------------------------------------------------------------------------------- */

/* An index, and the tensors of the shards that it names. */
struct index {
    struct pp_arena *arena;
    const struct pp_json *json;
    json_t *files; /* "weight_map" */
    struct pp_safetensors all;
    int capacity;
};

static const char *file_of(const struct index *index, const char *tensor)
{
    return json_string_value(json_object_get(index->files, tensor));
}

static enum pp_status check_names(const struct index *index, struct pp_error *err)
{
    const char *tensor;
    json_t *value;

    json_object_foreach(index->files, tensor, value)
    {
        const char *file = json_string_value(value);
        if (!file || !*file || *file == '.' || strchr(file, '/'))
            return pp_error_set(err, PP_EINVAL,
                                "%s: \"weight_map\": '%.200s' must be the name of a file of the "
                                "same folder",
                                index->json->name, tensor);
    }
    return PP_OK;
}

/* Each tensor of a shard is in the index, which gives it to that shard. */
static enum pp_status add_tensor(struct index *index, const char *file,
                                 const struct pp_safetensor *tensor, struct pp_error *err)
{
    const char *named = file_of(index, tensor->name);

    if (!named || strcmp(named, file) != 0)
        return pp_error_set(err, PP_EINVAL,
                            "%s: tensor '%.200s' is here, but %s has %s%.200s%s for it",
                            tensor->file, tensor->name, index->json->name, named ? "the file " : "",
                            named ? named : "none", named ? "" : " of the files");
    *PP_PUSH(index->arena, index->all.tensors, index->all.count, index->capacity) = *tensor;
    return PP_OK;
}

static enum pp_status add_shard(struct index *index, const char *folder, const char *file,
                                struct pp_error *err)
{
    struct pp_safetensors shard;

    if (open_file(index->arena, pp_arena_printf(index->arena, "%s%s", folder, file), &shard, err) !=
        PP_OK)
        return pp_error_append(err, " (a shard of %s)", index->json->name);
    for (int i = 0; i < shard.count; i++)
        PP_TRY(add_tensor(index, file, &shard.tensors[i], err));
    return PP_OK;
}

/* Each tensor of the index is in its shard. */
static enum pp_status check_complete(const struct index *index, struct pp_error *err)
{
    const char *tensor;
    json_t *value;

    json_object_foreach(index->files, tensor, value)
    {
        if (!pp_safetensors_find(&index->all, tensor))
            return pp_error_set(err, PP_EINVAL, "%s: tensor '%.200s' is not in its file, %.200s",
                                index->json->name, tensor, json_string_value(value));
    }
    return PP_OK;
}

static enum pp_status add_shards(struct index *index, const char *folder, struct pp_error *err)
{
    json_t *opened = json_object();
    enum pp_status status = PP_OK;
    const char *tensor;
    json_t *value;

    json_object_foreach(index->files, tensor, value)
    {
        const char *file = json_string_value(value);
        if (status != PP_OK || json_object_get(opened, file))
            continue;
        json_object_set_new(opened, file, json_true());
        status = add_shard(index, folder, file, err);
    }
    json_decref(opened);
    return status;
}

static enum pp_status open_shards(struct index *index, const char *path, struct pp_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *folder =
        pp_arena_printf(index->arena, "%.*s", slash ? (int)(slash + 1 - path) : 0, path);

    index->files = json_object_get(index->json->root, "weight_map");
    if (!json_is_object(index->files))
        return pp_error_set(err, PP_EINVAL, "%s: \"weight_map\" is missing, or no object", path);
    PP_TRY(check_names(index, err));
    PP_TRY(add_shards(index, folder, err));
    pp_safetensors_sort(&index->all);
    return check_complete(index, err);
}

/* ---- either ---------------------------------------------------------------------------------- */

enum pp_status pp_safetensors_open(struct pp_arena *arena, const char *path,
                                   struct pp_safetensors *tensors, struct pp_error *err)
{
    struct pp_json json;

    if (!pp_has_suffix(path, ".json"))
        return open_file(arena, path, tensors, err);
    PP_TRY(pp_json_open(arena, path, PP_JSON_PRINTED_BYTES, &json, err));
    struct index index = {.arena = arena, .json = &json};
    const enum pp_status status = open_shards(&index, path, err);
    *tensors = index.all;
    pp_json_close(&json);
    return status;
}

/* True for weights in a form that is not read, or shards without their index. */
static bool is_other_weights(const char *name)
{
    static const char *const suffixes[] = {".safetensors", ".bin", ".bin.index.json", ".h5",
                                           ".pt",          ".pth", ".msgpack",        ".gguf"};

    for (size_t i = 0; i < PP_COUNT(suffixes); i++)
        if (pp_has_suffix(name, suffixes[i]))
            return true;
    return false;
}

static enum pp_status refuse_others(const char *folder, struct pp_error *err)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    enum pp_status status = PP_OK;

    if (!entries)
        return pp_error_set(err, PP_EFAIL, "cannot read %s: %s", folder, strerror(errno));
    while (status == PP_OK && (entry = readdir(entries)))
        if (is_other_weights(entry->d_name))
            status = pp_error_set(err, PP_EINVAL,
                                  "%s/%.200s: weights are read from " PP_SAFETENSORS_FILE
                                  " or from " PP_SAFETENSORS_INDEX
                                  " and its shards, and neither is here; convert them, or give "
                                  "--model %s/config.json to draw weights",
                                  folder, entry->d_name, folder);
    closedir(entries);
    return status;
}

enum pp_status pp_safetensors_look(struct pp_arena *arena, const char *folder, const char **path,
                                   struct pp_error *err)
{
    static const char *const files[] = {PP_SAFETENSORS_FILE, PP_SAFETENSORS_INDEX};

    for (size_t i = 0; i < PP_COUNT(files); i++) {
        *path = pp_arena_printf(arena, "%s/%s", folder, files[i]);
        if (access(*path, F_OK) == 0)
            return PP_OK;
    }
    *path = NULL;
    return refuse_others(folder, err);
}
