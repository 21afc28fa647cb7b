/* Figures of a run: times of tokens, a prediction of the second half by the first, bytes. */
#include "exec/generate/parts.h"

#include "core/quantile.h"
#include "core/units.h"
#include "exec/predict/passes.h"

#include <math.h>

/* When the tokens of a run are there. */
struct timing {
    struct pp_arena *arena;
    const struct pp_generate *g;
    int stages, replicas; /* of the model */
    int64_t begin_ps;
    const int64_t *end_ps; /* [instruction * replicas + replica] */
    int64_t *made_ps;      /* [group of all replicas][pass]: when the tokens are there */
};

static int64_t *made_at(const struct timing *t, int group, int replica, int pass)
{
    return &t->made_ps[((int64_t)replica * t->g->of.groups + group) * t->g->of.passes + pass];
}

/* Finds when the last stage has ended each pass of each group. */
static void find_made(const struct timing *t)
{
    const struct pp_program *p = t->g->program;

    for (int i = 0; i < pp_program_size(p); i++) {
        const struct pp_op op = pp_program_op(p, i);
        if (op.kind != PP_F || op.stage % t->stages != t->stages - 1)
            continue;
        for (int r = 0; r < t->replicas; r++) {
            int64_t *at = made_at(t, op.mb / p->granules, r, op.stage / t->stages);
            const int64_t end_ps = t->end_ps[(size_t)i * (size_t)t->replicas + (size_t)r];
            *at = *at > end_ps ? *at : end_ps;
        }
    }
}

static struct timing timing_of(struct pp_arena *arena, const struct pp_generate *g,
                               int64_t begin_ps, const int64_t *end_ps)
{
    const int replicas = g->config.replicas;
    struct timing t = {arena,
                       g,
                       pp_program_model_stages(g->program),
                       replicas,
                       begin_ps,
                       end_ps,
                       PP_ARRAY(arena, int64_t, (int64_t)replicas * g->of.groups * g->of.passes)};

    find_made(&t);
    return t;
}

/* Returns the time of a token after pass `from`, until pass `until`: the median over groups. From
 * -1 it is the first token, since the begin. */
static double token_s(const struct timing *t, int from, int until)
{
    const int groups = t->replicas * t->g->of.groups;
    double *each = PP_ARRAY(t->arena, double, groups);

    if (until <= from)
        return (double)NAN;
    for (int k = 0; k < groups; k++) {
        const int64_t *made = &t->made_ps[(int64_t)k * t->g->of.passes];
        each[k] = pp_units_s(made[until] - (from < 0 ? t->begin_ps : made[from])) /
                  (from < 0 ? 1 : until - from);
    }
    return pp_median(each, groups);
}

/* ---- prediction ------------------------------------------------------------------------------ */

enum { FEWEST = 16 }; /* tokens with a second half */

static enum pp_status predict(struct pp_arena *arena, struct pp_generate *g,
                              const struct pp_step_times *times,
                              const struct pp_machine_options *options, struct pp_error *err)
{
    struct pp_passes_prediction prediction;

    g->result.late_token_s = g->result.predicted_late_token_s = (double)NAN;
    if (g->of.passes < FEWEST)
        return PP_OK;
    PP_TRY(pp_predict_passes(arena, g->program, options->costs, times,
                             (struct pp_replicas){.count = g->config.replicas}, &prediction, err));
    g->result.late_token_s = prediction.token_s;
    g->result.predicted_late_token_s = prediction.predicted_token_s;
    return PP_OK;
}

static enum pp_status replay(struct pp_arena *arena, const struct pp_generate *g,
                             const struct pp_machine *machine,
                             const struct pp_machine_options *options, const int64_t *duration_ps,
                             struct pp_generate_result *r, struct pp_error *err)
{
    struct pp_replay again;

    r->structural_error_s = (double)NAN;
    if (options->clock != PP_CLOCK_VIRTUAL)
        return PP_OK;
    PP_TRY(pp_replay(arena, g->program, options->costs, pp_machine_times(machine), 0, duration_ps,
                     &again, err));
    r->structural_error_s = fmax(fabs(again.step_error_s), again.event_error_s);
    return PP_OK;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Caches hold the keys and values of all tokens but the last one, which no pass reads. A block with
 * a window has no more than it meets. */
static double computed_bytes(const struct pp_generate *g)
{
    const struct pp_net *net = &g->config.net;
    const int tp = g->config.tp, heads = net->kv_heads > tp ? net->kv_heads : tp,
              all = g->of.prompt_tokens + g->of.passes - 1;
    const double token = 2.0 * heads * net->head_dim * (double)g->config.kernels->element_bytes;
    double tokens = 0;

    for (int b = 0; b < net->layers; b++) {
        const int window = pp_net_window(net, b);
        tokens += window > 0 && window < all ? window : all;
    }
    return token * tokens * pp_generate_sequences(g);
}

static enum pp_status count_bytes(struct pp_machine *machine, struct pp_generate *g,
                                  struct pp_error *err)
{
    g->result.predicted_kv_bytes = computed_bytes(g);
    PP_TRY(pp_machine_fetch_touched(machine, err));
    for (int rank = 0; rank < g->program->ranks; rank++)
        for (int replica = 0; replica < g->config.replicas; replica++)
            g->result.kv_bytes +=
                g->config.tp * (double)pp_machine_cache_bytes(machine, rank, replica).touched;
    return PP_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

enum pp_status pp_generate_figures(struct pp_arena *arena, struct pp_generate *g,
                                   struct pp_machine *machine,
                                   const struct pp_machine_options *options, struct pp_error *err)
{
    const struct pp_step_times step = pp_machine_step_times(machine, 0);
    struct pp_generate_result *r = &g->result;
    const struct timing t = timing_of(arena, g, step.begin_ps, step.end_ps);

    r->first_token_s = token_s(&t, -1, 0);
    r->token_s = token_s(&t, 0, g->of.passes - 1);
    r->tokens_per_s = (double)pp_generate_sequences(g) * g->of.passes / r->total_s;
    r->trace =
        pp_exec_trace(arena, g->program, options->costs, pp_machine_times(machine), "measured");
    PP_TRY(predict(arena, g, &step, options, err));
    PP_TRY(replay(arena, g, machine, options, step.duration_ps, r, err));
    return count_bytes(machine, g, err);
}
