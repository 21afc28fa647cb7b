/* tests/exec/checkpoint_rig.h — a small state that is written as a checkpoint and loaded. */
#ifndef PP_TESTS_EXEC_CHECKPOINT_RIG_H
#define PP_TESTS_EXEC_CHECKPOINT_RIG_H

#include "tests/exec/checkpoints.h"

/* A small state, and memory to load it into. It has one part, or those of two devices that share
 * each block, or those of two replicas that share experts. */
enum { MOST_PARTS = 2 };
struct rig {
    struct exec_run run;
    struct pp_net net;
    struct pp_checkpoint_parts parts;
    struct pp_manifest head;
};

static inline struct pp_checkpoint_part part_of(const struct rig *rig, int tp, int ep, int index)
{
    const struct pp_kernels *k = rig->parts.kernels;
    const struct pp_cuts cuts = pp_cuts_none();
    const struct pp_stage_shape shape = {.blocks = rig->net.layers,
                                         .has_embedding = true,
                                         .has_head = true,
                                         .rows = 1,
                                         .tokens = rig->net.seq,
                                         .splits = 1,
                                         .tp = tp,
                                         .tp_index = tp > 1 ? index : 0,
                                         .ep = ep,
                                         .ep_index = ep > 1 ? index : 0};
    const struct pp_stage *stage = pp_stage_create(arena, &rig->net, &shape, k);
    const struct pp_state_bytes bytes = pp_state_bytes(stage, k, false, cuts);
    char *memory = pp_arena_alloc(arena, bytes.weights + bytes.gradients + bytes.optimizer);

    return (struct pp_checkpoint_part){stage, pp_state_at(stage, k, false, 0, cuts, memory)};
}

static inline struct rig *make_rig_of(int tp, int ep)
{
    struct rig *rig = PP_NEW(arena, struct rig);
    struct exec_case small = base;
    struct pp_error err = {0};

    small.layers = small.hidden = small.heads = 2;
    small.vocab = 5;
    cr_assert_eq(exec_run_make(arena, &small, &rig->run, &err), PP_OK, "%s", err.message);
    const struct pp_kernels *k = rig->run.training.machine.kernels;
    rig->net = rig->run.training.net;
    if (ep > 1) {
        rig->net.experts = 4;
        rig->net.top_k = rig->net.every = 1;
        rig->net.expert_ffn = 3;
    }
    rig->parts =
        (struct pp_checkpoint_parts){.whole = pp_stage_whole(arena, &rig->net, 1, 1, k),
                                     .kernels = k,
                                     .part = PP_ARRAY(arena, struct pp_checkpoint_part, MOST_PARTS),
                                     .count = tp * ep};
    for (int i = 0; i < rig->parts.count; i++) {
        rig->parts.part[i] = part_of(rig, tp, ep, i);
        pp_state_init(rig->parts.part[i].stage, k, &(struct pp_recipe){.seed = 7},
                      &rig->parts.part[i].state, pp_cuts_none());
    }
    rig->head = (struct pp_manifest){.identity = pp_identity_of(&rig->net, k)};
    return rig;
}

static inline struct rig *make_rig(void)
{
    return make_rig_of(1, 1);
}

static inline enum pp_status write_at(const struct rig *rig,
                                      const struct pp_checkpoint_folder *opened, int step,
                                      struct pp_error *err)
{
    struct pp_checkpoint_sum *sums =
        PP_ARRAY(arena, struct pp_checkpoint_sum, pp_checkpoint_layers(&rig->parts));
    struct pp_manifest manifest = rig->head;
    struct pp_checkpoint_copy *copy;
    struct pp_checkpoint_draft draft;
    const char *path;

    manifest.step = step;
    PP_TRY(pp_checkpoint_begin(arena, opened, &manifest, &rig->parts, &draft, err));
    enum pp_status status = pp_checkpoint_copy_begin(draft.path, &rig->parts, step % 2, &copy, err);
    if (pp_checkpoint_copy_end(&copy, sums, status == PP_OK ? err : &(struct pp_error){0}) != PP_OK)
        status = err->status;
    if (status == PP_OK)
        return pp_checkpoint_end(&draft, sums, &path, err);
    pp_checkpoint_abandon(&draft);
    return status;
}

static inline enum pp_status load(const struct rig *rig, struct pp_error *err)
{
    struct pp_checkpoint checkpoint;

    PP_TRY(pp_checkpoint_read(arena, folder, &checkpoint, err));
    PP_TRY(pp_identity_check(checkpoint.path, &checkpoint.manifest.identity, &rig->head.identity,
                             err));
    return pp_checkpoint_load(&checkpoint, &rig->parts, err);
}

#endif
