/* Finds facts of a run in its trace, and writes them as words of a command line. */
#include "sim/calibrate/calibrate.h"

#include "core/lines.h"

#include <string.h>

enum pp_status pp_calibrate_look(const struct pp_trace *trace, struct pp_calibrate_seen *seen,
                                 struct pp_error *err)
{
    for (int i = 0; i < trace->count; i++) {
        const struct pp_trace_event *e = &trace->events[i];
        struct pp_op ops[2];
        int count;

        if (e->stream != PP_STREAM_COMPUTE && !pp_op_is_send(e->kind))
            continue;
        PP_TRY(pp_op_parse(e->cell, ops, &count, err));
        seen->stages = ops[0].stage >= seen->stages ? ops[0].stage + 1 : seen->stages;
        if (e->kind != PP_F && !pp_op_is_send(e->kind))
            continue;
        seen->micro_batches = ops[0].mb + ops[0].granules > seen->micro_batches
                                  ? ops[0].mb + ops[0].granules
                                  : seen->micro_batches;
        seen->splits = ops[0].split >= seen->splits ? ops[0].split + 1 : seen->splits;
        if (pp_op_is_send(e->kind))
            seen->bytes = e->bytes / ops[0].granules;
    }
    return PP_OK;
}

static const char *const MODEL[] = {
    "model",     "layers",    "hidden", "heads",   "kv-heads", "ffn",     "mlp",        "vocab",
    "positions", "embedding", "seq",    "experts", "top-k",    "moe-ffn", "shared-ffn", NULL};

void pp_calibrate_add(struct pp_calibrate_words *w, const char *word)
{
    *PP_PUSH(w->arena, w->list, w->count, w->capacity) = pp_arena_strdup(w->arena, word);
}

void pp_calibrate_add_int(struct pp_calibrate_words *w, const char *option, int value)
{
    pp_calibrate_add(w, option);
    pp_calibrate_add(w, pp_arena_printf(w->arena, "%d", value));
}

void pp_calibrate_add_seen(struct pp_calibrate_words *w, const struct pp_calibrate_seen *seen)
{
    pp_calibrate_add(w, "--schedule");
    pp_calibrate_add(w, seen->splits > 1 ? "seq1f1b" : "1f1b");
    pp_calibrate_add_int(w, "--pp", seen->stages);
    pp_calibrate_add_int(w, "--dp", 1);
    pp_calibrate_add_int(w, "--micro-batches", seen->micro_batches);
    if (seen->splits > 1)
        pp_calibrate_add_int(w, "--splits", seen->splits);
}

void pp_calibrate_add_model(struct pp_calibrate_words *w, const struct pp_wish *wish)
{
    for (const char *const *name = MODEL; *name; name++) {
        const struct pp_option_value *value = pp_options_get(wish->request.flags, *name);
        if (value->count == 0 && name > MODEL)
            continue;
        pp_calibrate_add(w, pp_arena_printf(w->arena, "--%s", *name));
        pp_calibrate_add(w, value->count ? value->text : "tiny");
    }
}

bool pp_calibrate_is_of_model(const char *option)
{
    return !strncmp(option, "--", 2) && pp_is_one_of(option + 2, MODEL);
}
