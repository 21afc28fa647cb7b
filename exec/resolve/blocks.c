#include "exec/resolve/config.h"

#include "core/cost/analytic/roofline.h"

enum pp_status pp_exec_blocks(struct pp_arena *arena, int layers, int stages,
                              int **blocks_per_stage, struct pp_error *err)
{
    if (layers >= stages)
        return pp_partition_blocks(arena, layers, stages, 0, 0, blocks_per_stage, err);
    int *blocks = PP_ARRAY(arena, int, stages);
    const int inner = stages - 2, spread = layers < inner ? layers : inner;

    /* the k-th of the inner stages gets one when the line of slope spread / inner crosses a whole
     * number there */
    for (int k = 0; k < inner; k++)
        blocks[1 + k] = (k + 1) * spread / inner - k * spread / inner;
    if (layers > spread) /* one block beside all inner stages */
        blocks[0] = layers - spread;
    *blocks_per_stage = blocks;
    return PP_OK;
}
