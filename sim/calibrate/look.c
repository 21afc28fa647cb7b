/* What a trace shows of its run, and the options that name the rest. */
#include "sim/calibrate/calibrate.h"

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

const char *const pp_calibrate_model_options[] = {"model",     "layers",    "hidden", "heads",
                                                  "kv-heads",  "ffn",       "mlp",    "vocab",
                                                  "positions", "embedding", "seq",    NULL};
