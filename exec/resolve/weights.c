/* Resolves --model DIR: initial weights from a folder of the hub. */
#include "core/text/file.h"
#include "core/units.h"
#include "exec/resolve/parts.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The weights have their own dimensions. */
static enum pp_status check_alone(const struct pp_exec_wish *wish, const char *folder,
                                  struct pp_error *err)
{
    const struct pp_given *const given[] = {
        &wish->given.layers,   &wish->given.hidden,    &wish->given.heads,
        &wish->given.kv_heads, &wish->given.ffn,       &wish->given.mlp,
        &wish->given.vocab,    &wish->given.positions, &wish->given.embedding};

    for (size_t i = 0; i < PP_COUNT(given); i++)
        if (given[i]->count)
            return pp_error_set(err, PP_EINVAL,
                                "%s: the weights of %s have their own dimensions; leave it out, or "
                                "give --model %s/config.json to draw weights",
                                given[i]->typed, folder, folder);
    return PP_OK;
}

/* Returns the folder of the model without a slash at its end; NULL if it is no folder. */
static const char *folder_of(struct pp_arena *arena, const char *model)
{
    size_t length = model ? strlen(model) : 0;
    struct stat info;

    if (!model || !strchr(model, '/') || stat(model, &info) != 0 || !S_ISDIR(info.st_mode))
        return NULL;
    while (length > 1 && model[length - 1] == '/')
        length--;
    return pp_arena_printf(arena, "%.*s", (int)length, model);
}

enum pp_status pp_exec_weights(struct pp_arena *arena, const struct pp_exec_wish *wish,
                               struct pp_exec_config *config, struct pp_error *err)
{
    const char *folder = folder_of(arena, wish->given.model.count ? wish->model : NULL), *path;
    struct pp_safetensors files;

    if (!folder)
        return PP_OK;
    PP_TRY(pp_safetensors_look(arena, folder, &path, err));
    if (!path)
        return PP_OK;
    PP_TRY(check_alone(wish, folder, err));
    PP_TRY(pp_hub_layout(arena, &config->model, &config->net, &config->layout, err));
    PP_TRY(pp_safetensors_open(arena, path, &files, err));
    PP_TRY(pp_hub_match(arena, &files, path, &config->layout, err));
    config->weights = folder;
    config->source = pp_hub_source(&config->layout);
    config->recipe.source = &config->source;
    return PP_OK;
}

/* ---- --save ---------------------------------------------------------------------------------- */

/* Drawn weights have a table of positions for the sample only. */
static enum pp_status lay_out_drawn(struct pp_arena *arena, const struct pp_exec_config *config,
                                    struct pp_hub_layout *layout, struct pp_error *err)
{
    struct pp_model *model = PP_NEW(arena, struct pp_model);

    *model = config->model;
    if (config->net.has_positions) {
        model->seq = config->net.seq;
        model->positions = config->net.seq + model->numerics.position_offset;
    }
    return pp_hub_layout(arena, model, &config->net, layout, err);
}

/* The folder of checkpoints is there already, empty perhaps, and is not to be replaced. */
static enum pp_status check_folders(const struct pp_exec_wish *wish, struct pp_error *err)
{
    struct stat save, checkpoint;

    if (!wish->checkpoint || stat(wish->save, &save) != 0 ||
        stat(wish->checkpoint, &checkpoint) != 0 || save.st_dev != checkpoint.st_dev ||
        save.st_ino != checkpoint.st_ino)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "--save: %s is the folder of --checkpoint; give the name of a new folder",
                        wish->save);
}

static enum pp_status read_shard_size(const struct pp_exec_wish *wish, int64_t *bytes,
                                      struct pp_error *err)
{
    const struct pp_given *given = &wish->given.max_shard_size;
    double size = (double)PP_HUB_SHARD_BYTES;

    if (given->count && !wish->save)
        return pp_error_set(err, PP_EINVAL, "%s: nothing is saved; give --save DIR, too",
                            given->typed);
    if (given->count && pp_units_parse(wish->max_shard_size, PP_UNIT_BYTES, &size, err) != PP_OK)
        return pp_error_prefix(err, "--max-shard-size: ");
    if (!(size >= 1 && size <= 1e18))
        return pp_error_set(err, PP_EINVAL, "%s: expected 1 byte to 1e18 bytes, such as 5GB",
                            given->typed);
    *bytes = (int64_t)size;
    return PP_OK;
}

enum pp_status pp_exec_save_open(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                 struct pp_exec_run *run, struct pp_error *err)
{
    const struct pp_exec_config *config = &run->config;
    const char *source = config->model.source;
    const bool is_changed = pp_has_suffix(config->model.name, "-like") ||
                            wish->given.balance_loss.count > 0 ||
                            (!config->weights && config->net.has_positions);
    struct pp_hub_export *export = PP_NEW(arena, struct pp_hub_export);
    struct pp_hub_folder *folder = PP_NEW(arena, struct pp_hub_folder);
    int64_t shard_bytes = 0;

    PP_TRY(read_shard_size(wish, &shard_bytes, err));
    if (!wish->save)
        return PP_OK;
    if (config->weights)
        run->saved = config->layout;
    else if (lay_out_drawn(arena, config, &run->saved, err) != PP_OK)
        return pp_error_prefix(err, "--save: ");
    *export = (struct pp_hub_export){.layout = &run->saved, .shard_bytes = shard_bytes};
    run->training.export = export;
    if (config->meeting.count > 1 && config->meeting.index > 0)
        return PP_OK;
    export->folder = folder;
    PP_TRY(check_folders(wish, err));
    if (pp_hub_folder_open(arena, wish->save, pp_hub_export_bytes(&run->saved), folder, err) !=
        PP_OK)
        return pp_error_prefix(err, "--save: ");
    return pp_hub_config(arena, &run->saved, access(source, R_OK) == 0 ? source : NULL, !is_changed,
                         &export->config, err);
}
