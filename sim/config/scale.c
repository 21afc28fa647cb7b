/* Unit costs of a chunk as those of a whole rank. */
#include "sim/config/scale.h"

const char *const pp_scale_words[] = {[PP_SCALE_GIVEN] = "a rank",
                                      [PP_SCALE_CHUNK] = "a chunk: more chunks take longer",
                                      [PP_SCALE_RANK] = "a rank, which its VP chunks share"};

enum pp_scale pp_scale_of(const struct pp_result *const *results, int count)
{
    bool has_messages = false, has_chunks = false;

    for (int i = 0; i < count; i++) {
        if (results[i]->status != PP_OK)
            continue;
        if (!results[i]->config.is_unit)
            return PP_SCALE_GIVEN;
        has_messages |= results[i]->config.unit.c > 0;
        has_chunks |= results[i]->config.layout.vp > 1;
    }
    return !has_chunks ? PP_SCALE_GIVEN : has_messages ? PP_SCALE_CHUNK : PP_SCALE_RANK;
}

double pp_scale_divisor(const struct pp_result *r, enum pp_scale scale)
{
    return scale == PP_SCALE_RANK ? r->config.layout.vp : 1;
}

double pp_scale_micro_batches(const struct pp_result *r)
{
    return pp_memory_most_activations(r->memory, r->program->ranks) / r->config.layout.vp;
}
