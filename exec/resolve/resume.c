/* Resolves --resume and the options of checkpoints. */
#include "exec/resolve/resume.h"

#include "core/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Options that are recorded as they were given. */
static const char *const GIVEN[] = {
    "model",        "layers",      "hidden",       "heads",     "kv-heads",        "ffn",
    "mlp",          "vocab",       "positions",    "embedding", "experts",         "top-k",
    "moe-ffn",      "shared-ffn",  "dense-layers", "moe-every", "capacity-factor", "balance-loss",
    "data",         "tokens",      "tokenizer",    "lr",        "min-lr",          "lr-warmup",
    "weight-decay", "clip",        "seed",         "precision", "exact-grad",      "shuffle",
    "valid-data",   "valid-every", "valid-steps",  NULL,
};
/* Options that are recorded as resolved from layout and defaults. */
static const char *const RESOLVED[] = {"seq", "mbs", "gbs", "steps", NULL};
/* Options that describe a model, not its training. A run that generates takes no others. */
static const char *const OF_MODEL[] = {
    "model",     "layers",     "hidden",       "heads",     "kv-heads",        "ffn",
    "mlp",       "vocab",      "positions",    "embedding", "experts",         "top-k",
    "moe-ffn",   "shared-ffn", "dense-layers", "moe-every", "capacity-factor", "tokenizer",
    "precision", "seq",        NULL,
};
enum { RECORDED = PP_COUNT(GIVEN) + PP_COUNT(RESOLVED) };

/* ---- from a checkpoint ----------------------------------------------------------------------- */

/* --micro-batches overrules the recorded samples of a step. */
static bool is_overruled(const struct pp_exec_wish *wish, const char *name)
{
    if (wish->request.flags->command == PP_EXEC_GENERATE && !pp_is_one_of(name, OF_MODEL))
        return true;
    return strcmp(name, "gbs") == 0 && wish->given.micro_batches.count;
}

/* Refuses a manifest with options other than those of the training, such as files to write. */
static enum pp_status check_names(const struct pp_manifest *m, struct pp_error *err)
{
    for (int i = 0; i < m->option_count; i++) {
        const char *name = m->options[i].name;
        if (pp_is_one_of(name, GIVEN) || pp_is_one_of(name, RESOLVED))
            continue;
        pp_error_set(err, PP_EINVAL, "option '%s' is not one that a checkpoint records:", name);
        for (int k = 0; GIVEN[k]; k++)
            pp_error_append(err, " %s,", GIVEN[k]);
        for (int k = 0; RESOLVED[k]; k++)
            pp_error_append(err, "%s %s", k ? "," : "", RESOLVED[k]);
        return PP_EINVAL;
    }
    return PP_OK;
}

static enum pp_status take_defaults(struct pp_arena *arena, const struct pp_checkpoint *resumed,
                                    struct pp_exec_wish *with, struct pp_error *err)
{
    const struct pp_manifest *m = &resumed->manifest;
    const char **arguments = PP_ARRAY(arena, const char *, 2 * m->option_count + 1);
    struct pp_preset *row = PP_NEW(arena, struct pp_preset);
    int count = 0;

    for (int i = 0; i < m->option_count; i++) {
        const struct pp_manifest_option *o = &m->options[i];
        if (is_overruled(with, o->name))
            continue;
        arguments[count++] = pp_arena_printf(arena, "--%s", o->name);
        if (*o->value)
            arguments[count++] = o->value;
    }
    PP_TRY(check_names(m, err));
    *row = (struct pp_preset){.name = resumed->path, .arguments = arguments};
    PP_TRY(pp_request_defaults(arena, &with->request, row, err));
    pp_wish_bind(arena, &with->request);
    return PP_OK;
}

enum pp_status pp_exec_resume_open(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                   struct pp_exec_wish *with, const struct pp_checkpoint **resumed,
                                   struct pp_error *err)
{
    struct pp_checkpoint *checkpoint = PP_NEW(arena, struct pp_checkpoint);

    *with = *wish;
    *resumed = NULL;
    if (!wish->resume)
        return PP_OK;
    PP_TRY(pp_checkpoint_read(arena, wish->resume, checkpoint, err));
    *resumed = checkpoint;
    return take_defaults(arena, checkpoint, with, err) == PP_OK
               ? PP_OK
               : pp_error_prefix(err, "%s/" PP_CHECKPOINT_MANIFEST ": ", checkpoint->path);
}

enum pp_status pp_exec_resume_explain(const struct pp_given *path,
                                      const struct pp_checkpoint *resumed, struct pp_error *err)
{
    if (!resumed || path->origin == PP_FROM_FLAG || !path->count || err->status != PP_EFAIL)
        return err->status;
    return pp_error_append(err,
                           "; the path is that of the options in %s, from the folder where its "
                           "training began; give %s with the path from here",
                           resumed->path, path->option->dashed);
}

static enum pp_status check_data(const struct pp_exec_wish *with,
                                 const struct pp_exec_config *config, struct pp_error *err)
{
    const struct pp_manifest *m = &config->resumed->manifest;
    const uint32_t crc = pp_text_crc(&config->text);

    if ((int64_t)config->text.count == m->tokens && crc == m->tokens_crc)
        return PP_OK;
    if (with->given.data.origin == PP_FROM_FLAG)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s was trained on %" PRId64 " tokens of checksum %08" PRIx32
                        ", but %s has "
                        "%zu of %08" PRIx32 "; to continue with other data, give --data",
                        config->resumed->path, m->tokens, m->tokens_crc, config->text.name,
                        config->text.count, crc);
}

enum pp_status pp_exec_resume_check(const struct pp_exec_wish *with,
                                    const struct pp_exec_config *config, struct pp_error *err)
{
    const struct pp_identity own = pp_identity_of(&config->net, config->kernels);

    if (!config->resumed)
        return PP_OK;
    PP_TRY(
        pp_identity_check(config->resumed->path, &config->resumed->manifest.identity, &own, err));
    return check_data(with, config, err);
}

/* ---- into checkpoints ------------------------------------------------------------------------ */

static void record(struct pp_manifest *m, const char *name, const char *value)
{
    m->options[m->option_count++] = (struct pp_manifest_option){name, value};
}

static void record_resolved(struct pp_arena *arena, const struct pp_exec_run *run,
                            struct pp_manifest *m)
{
    const int values[] = {run->config.net.seq, run->plan.batch.mbs,
                          pp_batch_samples(&run->plan.batch), run->config.steps};

    for (size_t i = 0; i < PP_COUNT(values); i++)
        record(m, RESOLVED[i], pp_arena_printf(arena, "%d", values[i]));
}

static enum pp_status make_manifest(struct pp_arena *arena, const struct pp_exec_wish *with,
                                    struct pp_exec_run *run, struct pp_error *err)
{
    struct pp_manifest *m = PP_NEW(arena, struct pp_manifest);

    *m = (struct pp_manifest){.identity = pp_identity_of(&run->config.net, run->config.kernels),
                              .tokens = (int64_t)run->config.text.count,
                              .tokens_crc = pp_text_crc(&run->config.text),
                              .options = PP_ARRAY(arena, struct pp_manifest_option, RECORDED)};
    run->training.manifest = m;
    for (int i = 0; GIVEN[i]; i++) {
        const struct pp_option_value *value = pp_request_get(&with->request, GIVEN[i], NULL);
        if (value && value->text && strchr(value->text, '\n'))
            return pp_error_set(err, PP_EINVAL,
                                "--%s: a checkpoint cannot record a line break; rename the file",
                                GIVEN[i]);
        if (value)
            record(m, GIVEN[i], value->text ? value->text : "");
    }
    record_resolved(arena, run, m);
    return PP_OK;
}

static void close_folder(void *folder)
{
    pp_checkpoint_close(folder);
}

static enum pp_status check_alone(const struct pp_exec_wish *with, struct pp_error *err)
{
    const struct pp_given *const need_folder[] = {
        &with->given.checkpoint_every, &with->given.checkpoint_sync, &with->given.checkpoint_keep};

    for (size_t i = 0; i < PP_COUNT(need_folder); i++) {
        if (!need_folder[i]->count)
            continue;
        pp_error_set(err, PP_EINVAL, "%s has no effect without --checkpoint DIR",
                     need_folder[i]->text && *need_folder[i]->text
                         ? need_folder[i]->typed
                         : need_folder[i]->option->dashed);
        return with->save ? pp_error_append(err,
                                            "; --save writes weights once, at the end: "
                                            "give --checkpoint %s, too",
                                            with->save)
                          : PP_EINVAL;
    }
    return PP_OK;
}

/* True for the process that opens the folder for all of them. */
static bool is_first(const struct pp_exec_config *config)
{
    return config->meeting.count <= 1 || config->meeting.index == 0;
}

enum pp_status pp_exec_checkpoints_open(struct pp_arena *arena, const struct pp_exec_wish *with,
                                        struct pp_exec_run *run, struct pp_error *err)
{
    struct pp_checkpoint_folder *folder = PP_NEW(arena, struct pp_checkpoint_folder);

    if (with->checkpoint || run->config.resumed)
        PP_TRY(make_manifest(arena, with, run, err));
    if (!with->checkpoint)
        return check_alone(with, err);
    run->training.checkpoint_sync = with->checkpoint_sync;
    if (!is_first(&run->config))
        return PP_OK;
    PP_TRY(pp_checkpoint_open(arena, with->checkpoint, with->checkpoint_keep,
                              run->config.resumed ? &run->config.resumed->manifest : NULL, folder,
                              err));
    pp_arena_defer(arena, close_folder, folder);
    run->training.folder = folder;
    run->training.checkpoint_every = with->checkpoint_every;
    return PP_OK;
}

enum pp_status pp_exec_log_open(struct pp_arena *arena, const struct pp_exec_wish *with,
                                struct pp_exec_run *run, struct pp_error *err)
{
    if (!with->log || !is_first(&run->config))
        return PP_OK;
    if (pp_log_open(arena, with->log, run->config.first_step, &run->training.log, err) != PP_OK)
        return pp_error_prefix(err, "--log: ");
    return PP_OK;
}

/* ---- both ------------------------------------------------------------------------------------ */

void pp_exec_resume_note(const struct pp_exec_run *run, char *text, size_t bytes)
{
    const struct pp_manifest *own = run->training.manifest;
    size_t used = 0;

    if (!run->config.resumed)
        return;
    for (int i = 0; i < own->option_count && used < bytes; i++) {
        const struct pp_manifest_option *o = &own->options[i];
        const char *before = pp_manifest_value(&run->config.resumed->manifest, o->name);

        if (before && strcmp(before, o->value) == 0)
            continue;
        used += (size_t)snprintf(text + used, bytes - used, "%s--%s%s%s (was~%s)",
                                 used ? ", " : "unlike the checkpoint: ", o->name,
                                 *o->value ? "~" : "", o->value, before ? before : "not~given");
    }
}
