/* Passes over batches: more sequences never take less time, in any preset on any cluster. */
#include "tests/unit/support/generation_inputs.h"

static const int batches[] = {1,  2,  3,  4,  5,  7,  8,   9,   11,  15,  16,  17,  24,  31,
                              32, 33, 48, 64, 65, 96, 127, 128, 129, 192, 256, 257, 511, 513};

/* Is true for prompts whose softmax is no fused kernel, because that one takes rows of samples and
 * heads in fours. They may take longer than a larger batch that it takes. */
static bool is_odd(const struct served *s, int pass)
{
    enum { SOFTMAX_ROWS = 4 };

    return pass == 0 && s->cluster.device.is_attention_unfused &&
           s->generation.batch * (s->model.heads / s->in.layout.tp) % SOFTMAX_ROWS != 0;
}

/* Checks prompts and a later pass of all batches. */
static void grows(const struct pp_model *model, const struct pp_cluster *cluster, int tp)
{
    double before_s[2] = {0};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct served s;

    serve(arena, (struct serving){model->name, cluster->name, tp, 1, 1, 1, 1, 40, 3}, &s);
    for (size_t i = 0; i < PP_COUNT(batches); i++) {
        s.generation.batch = batches[i];
        for (int pass = 0; pass < 2; pass++) {
            const double now_s = pp_generation_pass(&s.in, 0, pass).s;
            cr_expect(now_s >= before_s[pass] * (1 - 1e-12),
                      "%s, %s, tp %d: pass %d of %d sequences %.9g s, of fewer %.9g s", model->name,
                      cluster->name, tp, pass, batches[i], now_s, before_s[pass]);
            if (!is_odd(&s, pass))
                before_s[pass] = now_s;
        }
    }
}

Test(batches, a_pass_of_more_sequences_never_takes_less_time)
{
    static const int tps[] = {1, 2, 8};

    for (const struct pp_model *model = pp_model_presets; model->name != NULL; model++)
        for (const struct pp_cluster *cluster = pp_cluster_presets; cluster->name != NULL;
             cluster++)
            for (size_t i = 0; i < PP_COUNT(tps); i++)
                if (model->is_causal && model->heads % tps[i] == 0 &&
                    tps[i] <= cluster->gpus_per_node)
                    grows(model, cluster, tps[i]);
}
