/* tests/cuda/emulate.cc — the blocks of a launch, and which of their threads runs next.
 *
 * A thread runs on a fiber. When it returns, a thread that has not begun goes on with the same
 * fiber; so threads that never wait cost no switch. Only a thread that waits keeps its fiber. */
#include "core/random.h"
#include "tests/cuda/emulate_parts.h"

#include <stdlib.h>

#include <utility>

enum {
    SHARED_BYTES = 227 << 10,
    CANARY_BYTES = 256,
    LINE_BYTES = 64, /* of a cache */
    POISON = 0xff,
    FOLDED = 7 /* of 8 launches, if any */
};

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
int pp_emulated_lane;
bool pp_emulated_folds;
struct block pp_emulated_block;
static struct block &b = pp_emulated_block;
static std::vector<struct pp_fiber *> idle;

alignas(1024) static char shared_memory[SHARED_BYTES + CANARY_BYTES];
char *const pp_emulated_shared = shared_memory;

uint64_t pp_emulated_draw(void)
{
    return pp_random_bits(b.random, b.drawn++);
}

/* ---- who runs next --------------------------------------------------------------------------- */

/* Of a set that is not empty: the first one in an order, which is one of 64. */
static int first_of(uint32_t set, unsigned order)
{
    const unsigned turn = order & 31;
    const uint32_t turned = set >> turn | set << (-turn & 31);
    const int at = order & 32 ? __builtin_ctz(turned) : 31 - __builtin_clz(turned);

    return (int)(((unsigned)at + turn) & 31);
}

/* Stacks of a block are more than a cache holds, and each is on a page of its own. */
static void ask_for(const struct pp_fiber *fiber, const char *stack)
{
    __builtin_prefetch(fiber);
    for (int line = -2; line < 4; line++)
        __builtin_prefetch(stack + line * LINE_BYTES);
}

/* One warp runs for as long as it can. NULL: no thread can go on. */
static struct thread *pick(void)
{
    if (!b.warps[b.warp].ready) {
        if (!b.ready_warps)
            return NULL;
        b.warp = first_of(b.ready_warps, b.order);
    }
    struct warp *w = &b.warps[b.warp];
    const int lane = first_of(w->ready, w->order);
    w->ready &= ~(1u << lane);
    if (w->ready) {
        const int next = first_of(w->ready, w->order);
        if (w->fiber[next])
            ask_for(w->fiber[next], w->stack[next]);
    } else
        b.ready_warps &= ~(1u << b.warp);
    return &b.thread[b.warp * LANES + lane];
}

static void set_now(struct thread *t)
{
    b.now = t;
    threadIdx = t->index;
    pp_emulated_lane = t->lane;
}

static void run_threads(void);

static struct pp_fiber *fresh_fiber(void)
{
    if (idle.empty())
        return pp_fiber_create(run_threads);
    struct pp_fiber *fiber = idle.back();
    idle.pop_back();
    if (!idle.empty())
        ask_for(idle.back(), (const char *)idle.back() - 4 * LINE_BYTES);
    return fiber;
}

/* On which it waits; NULL: it has not begun. */
static struct pp_fiber *take_fiber(const struct thread *t)
{
    return std::exchange(b.warps[t->warp].fiber[t->lane], nullptr);
}

static void switch_to(struct pp_fiber *to)
{
    pp_fiber_switch(std::exchange(b.fiber, to), to);
}

void pp_emulated_yield(void)
{
    const struct thread *self = b.now;
    struct thread *next = pick();

    if (!next)
        pp_emulated_fail_stuck();
    b.warps[self->warp].fiber[self->lane] = b.fiber;
    b.warps[self->warp].stack[self->lane] = (const char *)__builtin_frame_address(0);
    set_now(next);
    struct pp_fiber *to = take_fiber(next);
    switch_to(to ? to : fresh_fiber());
}

/* ---- waiting for the block ------------------------------------------------------------------- */

static void set_ready(int warp, uint32_t lanes)
{
    b.warps[warp].order = (unsigned)pp_emulated_draw();
    b.warps[warp].ready = lanes;
    if (lanes)
        b.ready_warps |= 1u << warp;
}

void pp_emulated_release(struct warp *w, const struct thread *but)
{
    const uint32_t lanes = w->waiting;

    w->waiting = 0;
    set_ready((int)(w - b.warps), but ? lanes & ~(1u << but->lane) : lanes);
}

static void release_block(const struct thread *but)
{
    b.at_block = 0;
    b.order = (unsigned)pp_emulated_draw();
    for (int w = 0; w * LANES < b.threads; w++) {
        b.warps[w].at_block = 0;
        set_ready(w, w == but->warp ? b.warps[w].exists & ~(1u << but->lane) : b.warps[w].exists);
    }
}

void __syncthreads(void)
{
    struct thread *self = b.now;

    if (b.over > 0)
        pp_emulated_fail(self, "reached __syncthreads, but %d threads of the block have returned",
                         b.over);
    b.warps[self->warp].at_block |= 1u << self->lane;
    if (++b.at_block == b.threads)
        release_block(self);
    else
        pp_emulated_yield();
}

static void end_thread(struct thread *self)
{
    struct warp *w = &b.warps[self->warp];

    if (b.at_block > 0)
        pp_emulated_fail(self, "returned, but %d threads of the block wait in __syncthreads",
                         b.at_block);
    b.over++;
    w->alive &= ~(1u << self->lane);
    if (w->alive && w->waiting == w->alive)
        pp_emulated_complete(w, NULL);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void check_canary(void)
{
    for (size_t i = 0; i < CANARY_BYTES; i++)
        if ((unsigned char)shared_memory[b.launch->shared_bytes + i] != POISON)
            pp_emulated_fail(&b.thread[0], "wrote beyond its %zu bytes of dynamic shared memory",
                             b.launch->shared_bytes);
}

static void set_block_index(uint64_t number)
{
    blockIdx.x = (unsigned)(number % gridDim.x);
    blockIdx.y = (unsigned)(number / gridDim.x % gridDim.y);
    blockIdx.z = (unsigned)(number / gridDim.x / gridDim.y);
}

/* False when none is left. */
static bool begin_block(void)
{
    if (b.begun == b.blocks)
        return false;
    set_block_index((b.first + b.begun++ * b.stride) % b.blocks);
    memset(shared_memory, POISON, b.launch->shared_bytes + CANARY_BYTES);
    b.over = 0;
    b.order = (unsigned)pp_emulated_draw();
    for (int w = 0; w * LANES < b.threads; w++) {
        b.warps[w].alive = b.warps[w].exists;
        set_ready(w, b.warps[w].exists);
    }
    return true;
}

static void end_block(void)
{
    if (b.over < b.threads)
        pp_emulated_fail_stuck();
    check_canary();
    for (int i = 0; b.has_copies && i < b.threads; i++) {
        b.copies[i].in_flight.clear();
        b.copies[i].groups = 0;
    }
    b.has_copies = false;
}

/* The next thread after one has returned; NULL: the launch is over. */
static struct thread *pick_or_begin(void)
{
    struct thread *next = pick();

    if (next)
        return next;
    end_block();
    return begin_block() ? pick() : NULL;
}

/* The life of a fiber: a thread that begins, then another one. */
static void run_threads(void)
{
    for (;;) {
        b.launch->thread();
        end_thread(b.now);
        struct thread *next = pick_or_begin();
        struct pp_fiber *to = next ? take_fiber(next) : &b.host;
        if (next)
            set_now(next);
        if (!to)
            continue;
        idle.push_back(b.fiber);
        switch_to(to);
    }
}

/* ---- launches -------------------------------------------------------------------------------- */

static void lay_out_threads(dim3 block)
{
    static dim3 last(0, 0, 0);

    if (block.x == last.x && block.y == last.y && block.z == last.z)
        return;
    last = block;
    b.threads = (int)(block.x * block.y * block.z);
    for (int i = 0; i < b.threads; i++) {
        struct thread *t = &b.thread[i];
        t->index = {(unsigned)i % block.x, (unsigned)i / block.x % block.y,
                    (unsigned)i / block.x / block.y};
        t->warp = (short)(i / LANES);
        t->lane = (short)(i % LANES);
        b.warps[t->warp].exists = t->lane == LANES - 1 ? ~0u : (2u << t->lane) - 1;
    }
}

static uint64_t gcd(uint64_t x, uint64_t y)
{
    return y ? gcd(y, x % y) : x;
}

static void draw_block_order(dim3 grid)
{
    b.blocks = (uint64_t)grid.x * grid.y * grid.z;
    b.begun = 0;
    b.first = pp_emulated_draw() % b.blocks;
    b.stride = 1 + (uint32_t)pp_emulated_draw() % b.blocks;
    while (gcd(b.stride, b.blocks) != 1)
        b.stride++;
}

void pp_emulated_run(const struct pp_emulated_launch *launch, uint64_t seed)
{
    static const bool may_fold = getenv("PP_EMULATED_FOLDS") != NULL;

    b.launch = launch;
    b.random = seed;
    b.drawn = 0;
    blockDim = launch->block;
    gridDim = launch->grid;
    pp_emulated_folds = pp_emulated_draw() % 8 < FOLDED && may_fold;
    lay_out_threads(launch->block);
    draw_block_order(launch->grid);
    begin_block();
    set_now(pick());
    b.fiber = &b.host;
    switch_to(fresh_fiber());
}
