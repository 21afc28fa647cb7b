/* Initial weights: given, or drawn by counter. They are equal, up to rounding, for any division
 * into stages and any type. */
#include "exec/state/state.h"

#include "core/hash.h"
#include "core/process/pool.h"
#include "core/random.h"
#include "kernels/numbers.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* Least work of a thread, which draws a billion weights in half a minute. Runs to read are columns
 * of many rows where they can, as files may have these in turn. */
enum { DRAWN_ELEMENTS = 1 << 20, ZEROED_BYTES = 8 << 20, READ_ELEMENTS = 1 << 18 };

/* Returns a uniform number in (0, 1], of 53 bits. */
static double uniform(uint64_t stream, int64_t counter)
{
    return (double)((pp_random_bits(stream, (uint64_t)counter) >> 11) + 1) * 0x1p-53;
}

/* Draws two normal numbers (Box and Muller 1958). */
static void draw_pair(uint64_t stream, int64_t pair, double deviation, double drawn[2])
{
    const double radius = deviation * sqrt(-2 * log(uniform(stream, 2 * pair)));
    const double angle = 2 * M_PI * uniform(stream, 2 * pair + 1);

    drawn[0] = radius * cos(angle);
    drawn[1] = radius * sin(angle);
}

static void put(const struct pp_kernels *k, const struct pp_state *state, int64_t element,
                double value)
{
    const enum pp_state_part part = pp_state_part_of(state, element);
    const struct pp_range share = pp_state_share(state, part), held = pp_state_held(state, part);

    if (element >= held.from && element < held.until)
        pp_number_put(pp_state_weight(state, k, element), k->element_bytes, 0, value);
    if (state->master != NULL && element >= share.from && element < share.until)
        pp_number_put(pp_state_in_share(state, k, state->master, element), k->gradient_bytes, 0,
                      value);
}

/* ---- on all cores ---------------------------------------------------------------------------- */

/* Work that can be divided at any even place. Threads take shares of it until none is left. */
enum { MAX_THREADS = 64, SHARES = 8 /* of a thread */ };
struct work {
    void (*run)(const struct work *work, int64_t from, int64_t until);
    int64_t count, worth; /* count that is worth a thread */
    const void *closure;
    int64_t share;
    _Atomic int64_t taken;
};

static void *thread_main(void *closure)
{
    struct work *work = closure;
    int64_t from;

    while ((from = atomic_fetch_add(&work->taken, work->share)) < work->count)
        work->run(work, from, work->count - from < work->share ? work->count : from + work->share);
    return NULL;
}

/* Runs the work on this thread, and on others if they can be made. */
static void run_on_all_cores(struct work *work)
{
    const int64_t worth = work->count / work->worth, cores = pp_pool_cores();
    const int64_t wanted = worth < cores ? worth : cores;
    const int64_t threads = wanted < 1 ? 1 : wanted < MAX_THREADS ? wanted : MAX_THREADS;
    const int64_t share = work->count / (threads * SHARES);
    pthread_t thread[MAX_THREADS];
    int made = 0;

    work->share = share > work->worth ? share / 2 * 2 : work->worth;
    while (made < threads - 1 && pthread_create(&thread[made], NULL, thread_main, work) == 0)
        made++;
    thread_main(work);
    for (int i = 0; i < made; i++)
        pthread_join(thread[i], NULL);
}

/* ---- numbers --------------------------------------------------------------------------------- */

struct drawn {
    const struct pp_param *params; /* [count] */
    int count;
    const struct pp_kernels *k;
    const struct pp_state *state;
    const struct pp_recipe *recipe;
    int64_t first; /* element of the flat vectors with which the work begins */
};

/* Draws elements from .. until - 1 of a tensor, that are `at` and the next ones of the whole one.
 */
static void draw_run(const struct drawn *d, const struct pp_param *param, int64_t from,
                     int64_t until, int64_t at)
{
    const uint64_t stream = pp_random_stream(d->recipe->seed, (uint64_t)param->id);

    for (int64_t i = from; i < until; i++, at++) {
        double pair[2] = {1, 1};

        if (param->init == PP_INIT_NORMAL)
            draw_pair(stream, at / 2, param->deviation, pair);
        put(d->k, d->state, param->offset + i, pair[at % 2]);
        if (at % 2 == 0 && i + 1 < until) {
            put(d->k, d->state, param->offset + i + 1, pair[1]);
            i++, at++;
        }
    }
}

/* The numbers do not depend on the pieces, since they are drawn by place, in pairs. */
static void draw(const struct drawn *d, const struct pp_param *param, int64_t from, int64_t until)
{
    for (int64_t i = from, run; i < until; i += run) {
        const int64_t at = pp_slice_at(&param->slice, i, &run);
        run = run < until - i ? run : until - i;
        draw_run(d, param, i, i + run, at);
    }
}

/* Floats go where they belong at once, others through a buffer. */
static void take(const struct drawn *d, const struct pp_param *param, int64_t from, int64_t until)
{
    const struct pp_weights_source *source = d->recipe->source;
    const bool is_direct = d->k->element_bytes == sizeof(float);
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    float *buffer = is_direct ? NULL : pp_arena_alloc_raw(scratch, sizeof(float) * READ_ELEMENTS);

    for (int64_t i = from, end; i < until; i = end) {
        const int64_t left = until - i,
                      most = is_direct || left < READ_ELEMENTS ? left : READ_ELEMENTS;
        const struct pp_slice_piece runs = pp_slice_runs(&param->slice, i, most);
        float *values = is_direct ? pp_state_weight(d->state, d->k, param->offset + i) : buffer;

        end = i + runs.run * runs.runs;
        source->read(source->closure, param, runs, values);
        for (int64_t e = i; e < end && !is_direct; e++)
            put(d->k, d->state, param->offset + e, (double)values[e - i]);
    }
}

static void fill_share(const struct work *work, int64_t from, int64_t until)
{
    const struct drawn *d = work->closure;
    const struct pp_range share = {d->first + from, d->first + until};

    for (int p = 0; p < d->count; p++) {
        const struct pp_param *param = &d->params[p];
        const struct pp_range here = pp_range_common(share, pp_range_of(param));

        if (here.from < here.until && d->recipe->source)
            take(d, param, here.from - param->offset, here.until - param->offset);
        else if (here.from < here.until && param->init != PP_INIT_ZERO)
            draw(d, param, here.from - param->offset, here.until - param->offset);
    }
}

/* Fills what a state that is zero holds of a range of tensors. */
static void fill(const struct pp_param *params, int count, struct pp_range range,
                 const struct pp_kernels *k, const struct pp_recipe *recipe,
                 const struct pp_state *state)
{
    for (int part = 0; part < PP_STATE_PARTS; part++) {
        const struct pp_range here =
            pp_range_common(pp_state_held(state, (enum pp_state_part)part), range);
        const struct drawn drawn = {params, count, k, state, recipe, here.from};

        if (here.from < here.until)
            run_on_all_cores(
                &(struct work){fill_share, here.until - here.from, DRAWN_ELEMENTS, &drawn});
    }
}

void pp_state_fill(const struct pp_stage *stage, const struct pp_kernels *k,
                   const struct pp_recipe *recipe, const struct pp_state *state)
{
    fill(stage->params, stage->param_count, (struct pp_range){0, stage->elements}, k, recipe,
         state);
}

static void zero(const struct work *work, int64_t from, int64_t until)
{
    char *vector = *(char *const *)work->closure;

    memset(vector + from, 0, (size_t)(until - from));
}

/* Creating pages on first access, 28 GB for 1.5 billion weights, takes longer than filling them. */
static void zero_on_all_cores(void *vector, size_t bytes)
{
    run_on_all_cores(&(struct work){zero, (int64_t)bytes, ZEROED_BYTES, &vector});
}

void pp_state_clear(const struct pp_stage *stage, const struct pp_kernels *k,
                    const struct pp_state *state, struct pp_cuts cuts)
{
    const struct pp_state_bytes bytes = pp_state_bytes(stage, k, state->fixed != NULL, cuts);

    zero_on_all_cores(state->weights, bytes.weights);
    zero_on_all_cores(state->fixed ? (void *)state->fixed : state->sum, bytes.gradients);
    zero_on_all_cores(state->m, bytes.moment);
    zero_on_all_cores(state->v, bytes.moment);
    if (state->master != NULL)
        zero_on_all_cores(state->master, bytes.moment);
}

void pp_state_init(const struct pp_stage *stage, const struct pp_kernels *k,
                   const struct pp_recipe *recipe, const struct pp_state *state,
                   struct pp_cuts cuts)
{
    pp_state_clear(stage, k, state, cuts);
    pp_state_fill(stage, k, recipe, state);
}

/* ---- hash ------------------------------------------------------------------------------------ */

enum { HASHED_ELEMENTS = 512 }; /* of a tensor, even */

static int64_t hashed_of(const struct pp_param *param)
{
    return param->count < HASHED_ELEMENTS ? param->count : HASHED_ELEMENTS;
}

static uint64_t hash_param(const struct pp_param *param, const struct pp_kernels *k,
                           const struct pp_state *state, uint64_t hash)
{
    const enum pp_state_part part = pp_state_part_of(state, param->offset);
    const struct pp_range first = {param->offset, param->offset + hashed_of(param)},
                          here = pp_range_common(first, pp_state_held(state, part)),
                          own = pp_range_common(first, pp_state_share(state, part));

    if (here.from < here.until)
        hash = pp_hash(hash, pp_state_weight(state, k, here.from),
                       (size_t)(here.until - here.from) * k->element_bytes);
    if (state->master == NULL || own.from >= own.until)
        return hash;
    return pp_hash(hash, pp_state_in_share(state, k, state->master, own.from),
                   (size_t)(own.until - own.from) * k->gradient_bytes);
}

uint64_t pp_state_hash(const struct pp_stage *stage, const struct pp_kernels *k,
                       const struct pp_state *state, uint64_t hash)
{
    for (int p = 0; p < stage->param_count; p++)
        hash = hash_param(&stage->params[p], k, state, hash);
    return hash;
}

uint64_t pp_state_drawn_hash(const struct pp_stage *stage, const struct pp_kernels *k,
                             const struct pp_recipe *recipe, const struct pp_state *there,
                             uint64_t hash)
{
    double weights[HASHED_ELEMENTS], master[HASHED_ELEMENTS];

    for (int p = 0; p < stage->param_count; p++) {
        struct pp_param first = stage->params[p];
        const enum pp_state_part part = pp_state_part_of(there, first.offset);
        const struct pp_range hashed = {first.offset, first.offset + hashed_of(&first)},
                              here = pp_range_common(pp_state_held(there, part), hashed),
                              own = pp_range_common(pp_state_share(there, part), hashed);
        const struct pp_state state = {
            .weights = weights,
            .master = there->master != NULL ? master : NULL,
            .share = {own.from - first.offset, own.until - first.offset},
            .held = {here.from - first.offset, here.until - first.offset}};

        first.offset = 0;
        memset(weights, 0, sizeof weights);
        memset(master, 0, sizeof master);
        first.count = hashed_of(&first);
        fill(&first, 1, (struct pp_range){0, first.count}, k, recipe, &state);
        hash = hash_param(&first, k, &state, hash);
    }
    return hash;
}
