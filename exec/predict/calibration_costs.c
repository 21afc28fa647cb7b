/* Turns samples into costs: means for a prediction, draws for its spread. It fills new tables,
 * because those of the given costs belong to a machine that reads them. */
#include "exec/predict/calibration.h"

#include "core/random.h"
#include "schedules/evaluate/perturb.h"

#include <math.h>

/* Chooses a value from samples: their mean, or one at random. */
struct chooser {
    double (*choose)(struct chooser *chooser, const struct pp_samples *samples);
    uint64_t stream, drawn;
};

static double choose_mean(struct chooser *chooser, const struct pp_samples *samples)
{
    (void)chooser;
    return pp_samples_mean(samples);
}

static double choose_any(struct chooser *chooser, const struct pp_samples *samples)
{
    return samples
        ->ps[pp_random_bits(chooser->stream, chooser->drawn++) % (uint64_t)samples->count];
}

static int64_t terms_ps(const struct pp_terms *terms, struct chooser *chooser)
{
    double ps = 0;

    for (int k = 0; k < terms->count; k++)
        ps += terms->term[k].factor * chooser->choose(chooser, terms->term[k].samples);
    return ps > 0 ? llround(ps) : 0;
}

/* Adds the exchanges of the op's own group to what was measured without any. */
static int64_t op_ps(const struct pp_op_terms *table, int kind, int at, struct chooser *chooser,
                     const struct pp_costs *costs)
{
    const struct pp_cost *own = &costs->op[kind][at];

    return terms_ps(&table->op[kind][at], chooser) +
           (table->omits_exchanges ? own->tp_ps + own->ep_ps : 0);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Exchanges of groups last as before. The machine runs the ops of a pair one after the other. So
 * exchanges of one hide nothing of the other, and pairs have entries of their own. */
static void own_tables(struct pp_arena *arena, const struct pp_op_terms *table,
                       struct pp_costs *costs)
{
    const int stages = table->stages;
    bool has_pairs = table->pair != NULL;

    for (int kind = 0; kind < PP_OP_KINDS; kind++) {
        const struct pp_cost *before = costs->op[kind];

        if (!table->op[kind])
            continue;
        costs->op[kind] = PP_ARRAY(arena, struct pp_cost, stages * table->splits);
        for (int at = 0; before && at < stages * table->splits; at++) {
            costs->op[kind][at].tp_ps = before[at].tp_ps;
            costs->op[kind][at].ep_ps = before[at].ep_ps;
            has_pairs |= before[at].ep_ps > 0;
        }
    }
    costs->overlap = has_pairs ? PP_ARRAY(arena, struct pp_cost, stages * stages) : NULL;
}

static int64_t sum_of_splits_ps(const struct pp_costs *costs, int kind, int stage)
{
    int64_t sum_ps = 0;

    for (int q = 0; q < costs->splits; q++)
        sum_ps += costs->op[kind][stage * costs->splits + q].ps;
    return sum_ps;
}

/* A pair that was never measured takes the sum of its ops. */
static void fill_pair(const struct pp_op_terms *table, int pair, struct chooser *chooser,
                      struct pp_costs *costs)
{
    costs->overlap[pair].ps = table->pair && table->pair[pair].count > 0
                                  ? terms_ps(&table->pair[pair], chooser)
                                  : sum_of_splits_ps(costs, PP_F, pair / table->stages) +
                                        sum_of_splits_ps(costs, PP_B, pair % table->stages);
}

static void fill_pairs(const struct pp_op_terms *table, struct chooser *chooser,
                       struct pp_costs *costs)
{
    for (int k = 0; costs->overlap && k < table->stages * table->stages; k++)
        fill_pair(table, k, chooser, costs);
}

/* A duration that was measured by the watch may be shorter than its exchanges by their formula. */
static void bound_exchanges(struct pp_cost *cost)
{
    if (cost->tp_ps > cost->ps)
        cost->tp_ps = cost->ps;
    if (cost->ep_ps > cost->ps - cost->tp_ps)
        cost->ep_ps = cost->ps - cost->tp_ps;
}

static void fill(struct pp_arena *arena, const struct pp_op_terms *table, struct pp_costs *costs)
{
    struct chooser mean = {.choose = choose_mean};

    own_tables(arena, table, costs);
    for (int kind = 0; kind < PP_OP_KINDS; kind++)
        for (int at = 0; table->op[kind] && at < table->stages * table->splits; at++) {
            costs->op[kind][at].ps = op_ps(table, kind, at, &mean, costs);
            bound_exchanges(&costs->op[kind][at]);
        }
    fill_pairs(table, &mean, costs);
    costs->is_calibrated = true;
    costs->source = "durations measured on this machine";
}

enum pp_status pp_calibration_costs(const struct pp_calibration *calibration,
                                    const struct pp_program *program,
                                    const struct pp_stage *const *stages, struct pp_costs *costs,
                                    struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_op_terms table;

    PP_TRY(pp_terms_find(scratch, calibration, program, stages, costs->sync_ranks, &table, err));
    fill(calibration->arena, &table, costs);
    pp_calibration_fill_wires(calibration->arena, calibration, costs);
    pp_calibration_fill_copies(calibration->arena, calibration, costs);
    return PP_OK;
}

/* ---- draws ----------------------------------------------------------------------------------- */

/* Draws the duration of the op or pair at i; `costs` scale it to its share of a micro-batch. */
static int64_t draw_ps(const struct pp_program *p, int i, const struct pp_op_terms *table,
                       struct chooser *any, struct pp_costs *costs)
{
    const bool is_fused = p->aux[i] == PP_FUSED_FIRST;
    struct pp_op ops[2] = {pp_program_op(p, i)};

    if (is_fused)
        ops[1] = pp_program_op(p, i + 1);
    const int pair = ops[0].stage * table->stages + ops[1].stage;
    const bool is_measured = is_fused && table->pair && table->pair[pair].count > 0;
    for (int k = 0; k <= is_fused && !is_measured; k++) {
        const int at =
            ops[k].kind == PP_U ? ops[k].stage : ops[k].stage * table->splits + ops[k].split;
        costs->op[ops[k].kind][at].ps = op_ps(table, ops[k].kind, at, any, costs);
    }
    if (is_fused && costs->overlap)
        fill_pair(table, pair, any, costs);
    return pp_costs_op(costs, &ops[0], is_fused ? &ops[1] : NULL).ps;
}

struct draws {
    const struct pp_program *program;
    struct pp_op_terms table;
    struct pp_replicas replicas;
    struct chooser any;
    struct pp_costs costs; /* with tables of its own */
};

static void draw_all(void *closure, int64_t *compute_ps)
{
    struct draws *d = closure;
    const struct pp_program *p = d->program;
    const struct pp_replicas replicas = d->replicas;

    for (int rank = 0; rank < p->ranks; rank++) {
        const double *slow = replicas.slow ? replicas.slow + rank * replicas.count : NULL;

        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
            for (int r = 0; r < replicas.count; r++)
                if (pp_op_is_compute(p->kind[i]) && p->aux[i] != PP_FUSED_SECOND)
                    compute_ps[(size_t)i * (size_t)replicas.count + (size_t)r] = pp_slowed_ps(
                        draw_ps(p, i, &d->table, &d->any, &d->costs), slow ? slow[r] : 1);
    }
    pp_pauses_add(p, replicas.pauses, replicas.count, compute_ps);
}

enum pp_status pp_predict_band(const struct pp_calibration *calibration,
                               const struct pp_program *program,
                               const struct pp_stage *const *stages, const struct pp_costs *costs,
                               struct pp_replicas replicas, uint64_t seed, struct pp_band *band,
                               struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct draws d = {.program = program,
                      .replicas = replicas,
                      .any = {.choose = choose_any, .stream = seed},
                      .costs = *costs};
    const struct pp_draws draws = {replicas.count, draw_all, &d};

    PP_TRY(pp_terms_find(scratch, calibration, program, stages, costs->sync_ranks, &d.table, err));
    fill(scratch, &d.table, &d.costs);
    return pp_band_find(program, &d.costs, &draws, band, err);
}
