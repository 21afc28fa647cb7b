/* Building blocks between those of v-min and zbv (Qi et al., NeurIPS'24, section 3.1, appendix A;
 * sail-sg v_auto_schedule.py). The chain descends at one slope, from some rank on at a lower one.
 * It returns at full speed. */
#include "schedules/search/vmem.h"

enum {
    SLOPES = 5,
    BENDS = 16,
    GAPS = PP_VMEM_PERIOD * PP_VMEM_PERIOD * PP_VMEM_PERIOD,
};

struct slopes {
    int steep, flat, bend; /* ticks from rank to rank before rank `bend`, and from it */
    int gap[3];            /* ticks from one kind to the next where the chain turns */
};

static int64_t descent(const struct slopes *s, int rank)
{
    return rank <= s->bend ? s->steep * rank : s->steep * s->bend + s->flat * (rank - s->bend);
}

/* Returns a set of the ticks of a period that the chain takes on a rank. */
static unsigned taken_by(const int64_t *block, int ranks, int rank)
{
    unsigned taken = 0;

    for (int kind = 0; kind < PP_VMEM_CHAIN; kind++)
        taken |= 1U << block[kind * ranks + rank] % PP_VMEM_PERIOD;
    return taken;
}

/* Writes the starts of the chain; false if two ops of a rank meet. */
static bool lay(const struct slopes *s, int ranks, int64_t *block)
{
    const int64_t down = descent(s, ranks - 1), up = ranks - 1;
    const int64_t turn = down + s->gap[0], top = turn + up + s->gap[1];

    for (int rank = 0; rank < ranks; rank++) {
        block[PP_VMEM_F0 * ranks + rank] = descent(s, rank);
        block[PP_VMEM_F1 * ranks + rank] = turn + up - rank;
        block[PP_VMEM_I1 * ranks + rank] = top + descent(s, rank);
        block[PP_VMEM_I0 * ranks + rank] = top + down + s->gap[2] + up - rank;
        if (__builtin_popcount(taken_by(block, ranks, rank)) < PP_VMEM_CHAIN)
            return false;
    }
    return true;
}

/* Returns the copies of a chunk that a rank holds at tick `now`, which is after its first ones. */
static int copies(int64_t begin, int64_t end, int64_t now)
{
    const int64_t age = (now - begin + PP_VMEM_PERIOD * (end - begin)) % PP_VMEM_PERIOD;

    return end > begin + age ? (int)((end - begin - age - 1) / PP_VMEM_PERIOD) + 1 : 0;
}

/* Returns the most chunk activations of a rank. A W takes the next free tick after its I. */
static int peak_of(const int64_t *block, int ranks)
{
    int most = 0;

    for (int rank = 0; rank < ranks; rank++) {
        const int64_t *begin[] = {block + rank, block + ranks + rank};
        unsigned taken = taken_by(block, ranks, rank);
        int64_t end[2];
        for (int chunk = 1; chunk >= 0; chunk--) {
            end[chunk] = block[(PP_VMEM_I0 - chunk) * ranks + rank] + 1;
            while (taken >> end[chunk] % PP_VMEM_PERIOD & 1)
                end[chunk]++;
            taken |= 1U << end[chunk]++ % PP_VMEM_PERIOD;
        }
        for (int chunk = 0; chunk < 2; chunk++) {
            const int64_t now = *begin[chunk];
            const int held = copies(*begin[0], end[0], now) + copies(*begin[1], end[1], now);
            most = held > most ? held : most;
        }
    }
    return most;
}

/* Finds the slopes of a place in the list of all; false if another place has the same. */
static bool slopes_of(int place, int ranks, struct slopes *s)
{
    const int gap = place % GAPS, pair = place / GAPS / BENDS, bend = place / GAPS % BENDS;
    const int bends = ranks - 2 < BENDS ? ranks - 2 : BENDS; /* at ranks 1 .. ranks - 2 */

    *s =
        (struct slopes){.steep = pair / SLOPES + 1,
                        .flat = pair % SLOPES + 1,
                        .bend = bends > 0 ? 1 + bend * (ranks - 2) / bends : 0,
                        .gap = {gap % PP_VMEM_PERIOD + 1, gap / PP_VMEM_PERIOD % PP_VMEM_PERIOD + 1,
                                gap / PP_VMEM_PERIOD / PP_VMEM_PERIOD + 1}};
    return s->flat == s->steep ? bend == 0 : s->flat < s->steep && bend < bends;
}

bool pp_vmem_next_block(struct pp_vmem *vmem, int peak, int *place)
{
    const int ranks = vmem->shape->ranks;
    struct slopes s;

    while (*place < SLOPES * SLOPES * BENDS * GAPS)
        if (slopes_of((*place)++, ranks, &s) && lay(&s, ranks, vmem->block) &&
            peak_of(vmem->block, ranks) == peak)
            return true;
    return false;
}
