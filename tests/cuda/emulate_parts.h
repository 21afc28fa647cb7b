/* tests/cuda/emulate_parts.h — the block that runs, as emulate.cc (who runs next) and
 * emulate_warp.cc (what lanes do together) see it. Private to them. */
#ifndef PP_TESTS_CUDA_EMULATE_PARTS_H
#define PP_TESTS_CUDA_EMULATE_PARTS_H

#include "tests/cuda/emulate.h"
#include "tests/cuda/emulate_fiber.h"

#include <vector>

enum { LANES = 32, WARPS = 32 };

struct copy {
    void *shared;
    const void *global; /* NULL: zeros */
    unsigned group;
};

/* Of the asynchronous copies of a thread. */
struct copies {
    std::vector<copy> in_flight;
    unsigned groups; /* committed */
};

struct thread {
    uint3 index;
    short warp, lane;
};

/* What a lane gives to a multiplication or a load of matrices, and gets back. */
struct fragment {
    uint32_t a[4], b[2];
    float d[4];
    const void *row;
};

/* Sets of lanes are masks. Meetings alternate between two places of `given` and `votes`. A lane
 * writes to a place again only after all lanes have read its previous values. */
struct warp {
    uint32_t exists, alive, ready, waiting;
    uint32_t at_block;             /* those who wait in __syncthreads */
    enum pp_emulated_meeting kind; /* of those who wait */
    unsigned order;                /* of lanes, drawn at each release */
    int turn;
    uint64_t given[2][LANES + 2]; /* see pp_emulated_fold() */
    uint32_t votes[2];
    struct fragment fragments[LANES];
    struct pp_fiber *fiber[LANES]; /* on which it waits; NULL: has not begun, runs, or is over */
    const char *stack[LANES];      /* where that fiber waits */
};

struct block {
    const struct pp_emulated_launch *launch;
    uint64_t random, drawn; /* orders: elements of a stream of random bits */
    uint64_t blocks, begun, first,
        stride; /* block number first + k stride (mod blocks) is the k-th */
    int threads, at_block, over;
    uint32_t ready_warps;
    unsigned order; /* of warps */
    int warp;       /* that ran last */
    struct thread *now;
    struct pp_fiber *fiber; /* that runs */
    struct pp_fiber host;
    struct thread thread[WARPS * LANES];
    struct copies copies[WARPS * LANES];
    bool has_copies; /* any thread of the block, since it began */
    struct warp warps[WARPS];
};
extern struct block pp_emulated_block;

/* Another thread runs; returns when this one may go on. */
void pp_emulated_yield(void);
/* Releases all threads that wait in the warp. `but` (may be NULL) is released at once. */
void pp_emulated_release(struct warp *w, const struct thread *but);
/* A meeting to which all lanes that are left have come; `but` as above. */
void pp_emulated_complete(struct warp *w, const struct thread *but);
uint64_t pp_emulated_draw(void);
/* Reports an error in which kernel file and hardware would disagree. The message begins with "...
 * kernel, block, thread: ". */
[[noreturn]] void pp_emulated_fail(const struct thread *thread, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* No thread can continue: names a thread that waits in its warp, and a lane of the warp that does
 * not arrive. */
[[noreturn]] void pp_emulated_fail_stuck(void);

#endif
