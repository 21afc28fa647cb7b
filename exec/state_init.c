/* Weights are drawn by counter: element e of tensor `id` is the same number in every division of
 * the model into stages, and the same in all element types up to rounding. */
#include "exec/state.h"

#include "core/random.h"
#include "exec/host.h"
#include "kernels/numbers.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

enum { MAX_PIECES = 64, PIECE = 1 << 20 }; /* elements at least that are worth a thread */

/* In (0, 1], 53 bits. */
static double uniform(uint64_t stream, int64_t counter)
{
    return (double)((pp_random_bits(stream, (uint64_t)counter) >> 11) + 1) * 0x1p-53;
}

/* Normal numbers come in pairs (Box and Muller 1958). */
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
    const struct pp_range share = state->share;

    pp_number_put(state->weights, k->element_bytes, element, value);
    if (state->master != NULL && element >= share.from && element < share.until)
        pp_number_put(state->master, k->gradient_bytes, element - share.from, value);
}

/* A run of elements of a tensor. Any cut gives the same numbers, since they are drawn by place. */
struct piece {
    const struct pp_param *param;
    const struct pp_kernels *k;
    const struct pp_state *state;
    uint64_t seed;
    int64_t from, until; /* from is even: normal numbers come in pairs */
};

static void fill(const struct piece *p)
{
    const struct pp_param *param = p->param;
    const uint64_t stream = pp_random_stream(p->seed, (uint64_t)param->id);

    for (int64_t i = p->from; i < p->until; i += 2) {
        double pair[2] = {1, 1};

        if (param->init == PP_INIT_NORMAL)
            draw_pair(stream, i / 2, param->deviation, pair);
        put(p->k, p->state, param->offset + i, pair[0]);
        if (i + 1 < p->until)
            put(p->k, p->state, param->offset + i + 1, pair[1]);
    }
}

static void *thread_main(void *piece)
{
    fill(piece);
    return NULL;
}

/* A model of a billion weights takes half a minute to draw on one core. The calling thread takes
 * the first piece, and those for which there is no thread. */
static void fill_on_all_cores(const struct piece *all)
{
    const int64_t worth = all->until / PIECE, cores = pp_host_cores();
    const int64_t wanted = worth < cores ? worth : cores;
    const int64_t pieces = wanted < MAX_PIECES ? wanted : MAX_PIECES;
    struct piece piece[MAX_PIECES];
    pthread_t thread[MAX_PIECES];
    bool is_running[MAX_PIECES] = {false};

    for (int64_t i = 1; i < pieces; i++) {
        piece[i] = *all;
        piece[i].from = all->until / 2 * i / pieces * 2;
        piece[i].until = i + 1 < pieces ? all->until / 2 * (i + 1) / pieces * 2 : all->until;
        is_running[i] = pthread_create(&thread[i], NULL, thread_main, &piece[i]) == 0;
    }
    piece[0] = *all;
    if (pieces > 1)
        piece[0].until = all->until / 2 / pieces * 2;
    fill(&piece[0]);
    for (int64_t i = 1; i < pieces; i++)
        if (is_running[i])
            pthread_join(thread[i], NULL);
        else
            fill(&piece[i]);
}

void pp_state_init(const struct pp_stage *stage, const struct pp_kernels *k, uint64_t seed,
                   const struct pp_state *state, int copies)
{
    const struct pp_state_bytes bytes = pp_state_bytes(stage, k, state->fixed != NULL, copies);

    memset(state->weights, 0, bytes.weights);
    memset(state->fixed ? (void *)state->fixed : state->sum, 0, bytes.gradients);
    memset(state->m, 0, bytes.moment);
    memset(state->v, 0, bytes.moment);
    if (state->master != NULL)
        memset(state->master, 0, bytes.moment);
    for (int p = 0; p < stage->param_count; p++) {
        const struct pp_param *param = &stage->params[p];

        if (param->init != PP_INIT_ZERO)
            fill_on_all_cores(&(struct piece){param, k, state, seed, 0, param->count});
    }
}
