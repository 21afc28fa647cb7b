/* Initial weights: given, or drawn by counter. They are equal, up to rounding, for any division
 * into stages and any type. */
#include "exec/state/state.h"

#include "core/hash.h"
#include "core/process/pool.h"
#include "core/random.h"
#include "kernels/numbers.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

/* Least work of a thread, which draws a billion weights in half a minute. */
enum { MAX_PIECES = 64, DRAWN_ELEMENTS = 1 << 20, ZEROED_BYTES = 8 << 20, READ_ELEMENTS = 1024 };

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
    const struct pp_range share = state->share, held = state->held;

    if (element >= held.from && element < held.until)
        pp_number_put(state->weights, k->element_bytes, element - held.from, value);
    if (state->master != NULL && element >= share.from && element < share.until)
        pp_number_put(state->master, k->gradient_bytes, element - share.from, value);
}

/* ---- on all cores ---------------------------------------------------------------------------- */

/* Work that can be divided at any even place. */
struct work {
    void (*run)(const struct work *work, int64_t from, int64_t until);
    int64_t count, worth; /* count that is worth a thread */
    const void *closure;
};
struct piece {
    const struct work *work;
    int64_t from, until;
};

static void *thread_main(void *piece)
{
    const struct piece *p = piece;

    p->work->run(p->work, p->from, p->until);
    return NULL;
}

/* Runs the work in pieces: the first one, and those whose thread cannot be made, on this thread. */
static void run_on_all_cores(const struct work *work)
{
    const int64_t worth = work->count / work->worth, cores = pp_pool_cores();
    const int64_t wanted = worth < cores ? worth : cores;
    const int64_t pieces = wanted < 1 ? 1 : wanted < MAX_PIECES ? wanted : MAX_PIECES;
    struct piece piece[MAX_PIECES];
    pthread_t thread[MAX_PIECES];
    bool is_running[MAX_PIECES] = {false};

    for (int64_t i = 0; i < pieces; i++) {
        piece[i] =
            (struct piece){work, work->count / 2 * i / pieces * 2,
                           i + 1 < pieces ? work->count / 2 * (i + 1) / pieces * 2 : work->count};
        is_running[i] = i > 0 && pthread_create(&thread[i], NULL, thread_main, &piece[i]) == 0;
    }
    for (int64_t i = 0; i < pieces; i++)
        if (is_running[i])
            pthread_join(thread[i], NULL);
        else
            thread_main(&piece[i]);
}

/* ---- numbers --------------------------------------------------------------------------------- */

struct drawn {
    const struct pp_param *param;
    const struct pp_kernels *k;
    const struct pp_state *state;
    const struct pp_recipe *recipe;
    int64_t first; /* element of the tensor with which the work begins, even */
};

/* Draws elements from .. until - 1 of a tensor, that are `at` and the next ones of the whole one.
 */
static void draw_run(const struct drawn *d, uint64_t stream, int64_t from, int64_t until,
                     int64_t at)
{
    const struct pp_param *param = d->param;

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

/* Sets `*at` to the place of element i in the whole tensor. Returns the end, at most `until`, of
 * the elements that follow one another there, too. */
static int64_t run_end(const struct pp_param *param, int64_t i, int64_t until, int64_t *at)
{
    int64_t run;

    *at = pp_slice_at(&param->slice, i, &run);
    return run < until - i ? i + run : until;
}

/* The numbers do not depend on the pieces, since they are drawn by place, in pairs. */
static void draw(const struct work *work, int64_t from, int64_t until)
{
    const struct drawn *d = work->closure;
    const uint64_t stream = pp_random_stream(d->recipe->seed, (uint64_t)d->param->id);
    int64_t at;

    from += d->first;
    until += d->first;
    for (int64_t i = from, end; i < until; i = end) {
        end = run_end(d->param, i, until, &at);
        draw_run(d, stream, i, end, at);
    }
}

/* Floats go where they belong at once, others through a buffer. */
static void take_run(const struct drawn *d, int64_t from, int64_t until, int64_t at)
{
    const struct pp_weights_source *source = d->recipe->source;
    const int64_t offset = d->param->offset;
    float values[READ_ELEMENTS];

    if (d->k->element_bytes == sizeof(float)) {
        source->read(source->closure, d->param, (struct pp_range){at, at + until - from},
                     pp_state_weight(d->state, d->k, offset + from));
        return;
    }
    for (int64_t i = from; i < until; i += READ_ELEMENTS) {
        const int64_t end = until - i < READ_ELEMENTS ? until : i + READ_ELEMENTS,
                      first = at + i - from;
        source->read(source->closure, d->param, (struct pp_range){first, first + end - i}, values);
        for (int64_t e = i; e < end; e++)
            put(d->k, d->state, offset + e, (double)values[e - i]);
    }
}

static void take(const struct work *work, int64_t from, int64_t until)
{
    const struct drawn *d = work->closure;
    int64_t at;

    from += d->first;
    until += d->first;
    for (int64_t i = from, end; i < until; i = end) {
        end = run_end(d->param, i, until, &at);
        take_run(d, i, end, at);
    }
}

/* Fills what a state that is zero holds of the first `count` elements of a tensor. */
static void fill(struct drawn drawn, int64_t count)
{
    const int64_t offset = drawn.param->offset;
    const struct pp_range here =
        pp_range_common(drawn.state->held, (struct pp_range){offset, offset + count});

    drawn.first = here.from - offset;
    if (here.from < here.until && (drawn.recipe->source || drawn.param->init != PP_INIT_ZERO))
        run_on_all_cores(&(struct work){drawn.recipe->source ? take : draw, here.until - here.from,
                                        DRAWN_ELEMENTS, &drawn});
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
    for (int p = 0; p < stage->param_count; p++)
        fill((struct drawn){&stage->params[p], k, state, recipe, 0}, stage->params[p].count);
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
    const struct pp_range first = {param->offset, param->offset + hashed_of(param)},
                          here = pp_range_common(first, state->held),
                          own = pp_range_common(first, state->share);
    const char *master = state->master;

    if (here.from < here.until)
        hash = pp_hash(hash, pp_state_weight(state, k, here.from),
                       (size_t)(here.until - here.from) * k->element_bytes);
    if (master == NULL || own.from >= own.until)
        return hash;
    return pp_hash(hash, master + (size_t)(own.from - state->share.from) * k->gradient_bytes,
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
        const struct pp_range hashed = {first.offset, first.offset + hashed_of(&first)},
                              here = pp_range_common(there->held, hashed),
                              own = pp_range_common(there->share, hashed);
        const struct pp_state state = {
            .weights = weights,
            .master = k->element_bytes != k->gradient_bytes ? master : NULL,
            .share = {own.from - first.offset, own.until - first.offset},
            .held = {here.from - first.offset, here.until - first.offset}};

        first.offset = 0;
        memset(weights, 0, sizeof weights);
        memset(master, 0, sizeof master);
        fill((struct drawn){&first, k, &state, recipe, 0}, hashed_of(&first));
        hash = hash_param(&first, k, &state, hash);
    }
    return hash;
}
