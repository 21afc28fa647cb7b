/* Building blocks for given durations: modulo scheduling. One micro-batch is placed along its chain
 * so that a copy of it every `period` meets no other on any rank. Some choices are random. The
 * result is the shortest period whose copies stay within the memory. */
#include "schedules/search/vmem.h"

#include <string.h>

enum { STRETCHES = 32, FINENESS = 64 };    /* periods up to 1 + 31/64 of the busiest rank's work */
static const int PLACES_MAX = 20000;       /* ops placed in all trials together */
static const int64_t TIME_MAX = 1LL << 56; /* no search beyond: sums might overflow */

struct trial {
    const struct pp_vmem *vmem;
    int ranks, kinds;
    int64_t period;
    int64_t *start; /* [kind * ranks + rank], -1 = not placed */
    uint64_t luck;
    bool is_greedy;
};

static uint64_t draw(struct trial *t)
{
    t->luck ^= t->luck << 13;
    t->luck ^= t->luck >> 7;
    return t->luck ^= t->luck << 17;
}

static int64_t length_of(const struct trial *t, int kind, int rank)
{
    return t->vmem->costs.op[kind * t->ranks + rank];
}

static int64_t modulo(int64_t a, int64_t period)
{
    const int64_t m = a % period;
    return m < 0 ? m + period : m;
}

static bool is_free(const struct trial *t, int rank, int64_t start, int64_t length)
{
    for (int kind = 0; kind < t->kinds; kind++) {
        const int64_t other = t->start[kind * t->ranks + rank];
        if (other < 0)
            continue;
        const int64_t before = modulo(start - other, t->period);
        if (before < length_of(t, kind, rank) || t->period - before < length)
            return before == 0 && (length == 0 || length_of(t, kind, rank) == 0);
    }
    return length <= t->period;
}

/* Is true if each op not yet placed fits in one of the gaps. First fit, longest first. */
static bool rest_fits(const struct trial *t, int rank)
{
    int64_t gap[PP_VMEM_KINDS], rest[PP_VMEM_KINDS];
    int gaps = 0, rests = 0;

    for (int kind = 0; kind < t->kinds; kind++) {
        const int64_t begin = t->start[kind * t->ranks + rank], length = length_of(t, kind, rank);
        int at = rests;
        if (begin >= 0) {
            gap[gaps] = t->period - length;
            for (int other = 0; other < t->kinds; other++) {
                const int64_t next = t->start[other * t->ranks + rank];
                if (next < 0 || other == kind)
                    continue;
                const int64_t free = modulo(next - begin - length, t->period);
                gap[gaps] = free < gap[gaps] ? free : gap[gaps];
            }
            gaps++;
            continue;
        }
        for (rests++; at > 0 && rest[at - 1] < length; at--)
            rest[at] = rest[at - 1];
        rest[at] = length;
    }
    for (int i = 0, g; i < rests; i++) {
        for (g = 0; g < gaps && gap[g] < rest[i];)
            g++;
        if (g == gaps)
            return false;
        gap[g] -= rest[i];
    }
    return true;
}

/* Offers start `at` if it is free and leaves room for the rest; keeps the two earliest. */
static void offer(struct trial *t, int rank, int kind, int64_t at, int64_t best[2])
{
    int64_t *start = &t->start[kind * t->ranks + rank];

    if (at == best[0] || at >= best[1] || !is_free(t, rank, at, length_of(t, kind, rank)))
        return;
    *start = at;
    if (rest_fits(t, rank)) {
        best[1] = at < best[0] ? best[0] : at;
        best[0] = at < best[0] ? at : best[0];
    }
    *start = -1;
}

/* Places an op at `ready` or later, next to a placed one or a gap for another; false if it
 * cannot. */
static bool place(struct trial *t, int rank, int kind, int64_t ready)
{
    const int64_t length = length_of(t, kind, rank);
    int64_t best[2] = {INT64_MAX, INT64_MAX};

    offer(t, rank, kind, ready, best);
    for (int other = 0; other < t->kinds; other++) {
        const int64_t begin = t->start[other * t->ranks + rank];
        for (int between = -1; begin >= 0 && between < t->kinds; between++) {
            const int64_t room = between < 0 ? 0 : length_of(t, between, rank);
            const int64_t after = begin + length_of(t, other, rank) + room;
            offer(t, rank, kind, ready + modulo(after - ready, t->period), best);
            const int64_t before = begin - length - room;
            offer(t, rank, kind, ready + modulo(before - ready, t->period), best);
        }
    }
    const bool takes_second = !t->is_greedy && best[1] < INT64_MAX && draw(t) % 16 == 0;
    t->start[kind * t->ranks + rank] = best[takes_second];
    return best[0] < INT64_MAX;
}

static bool place_all(struct trial *t)
{
    int64_t ready = 0;

    memset(t->start, 0xff, sizeof(int64_t) * (size_t)(PP_VMEM_KINDS * t->ranks));
    for (int kind = 0; kind < PP_VMEM_CHAIN; kind++) {
        for (int i = 0; i < t->ranks; i++) {
            const int rank = pp_vmem_is_up(kind) ? i : t->ranks - 1 - i,
                      at = kind * t->ranks + rank;
            if (!place(t, rank, kind, ready))
                return false;
            ready = t->start[at] + t->vmem->costs.op[at];
            ready += i + 1 < t->ranks ? t->vmem->costs.wire[at] : 0;
        }
    }
    for (int kind = PP_VMEM_W1; kind < t->kinds; kind++) {
        for (int rank = 0; rank < t->ranks; rank++) {
            const int input = (kind - PP_VMEM_W1 + PP_VMEM_I1) * t->ranks + rank;
            if (!place(t, rank, kind, t->start[input] + t->vmem->costs.op[input]))
                return false;
        }
    }
    return true;
}

/* Chunk activations of a rank with all copies running; the peak is at the start of an F. */
static int peak_of(const struct trial *t, int rank)
{
    const int frees = t->kinds == PP_VMEM_KINDS ? PP_VMEM_W1 : PP_VMEM_I1;
    int peak = 0;

    for (int f = PP_VMEM_F0; f <= PP_VMEM_F1; f++) {
        const int64_t now = t->start[f * t->ranks + rank];
        int64_t held = 0;
        for (int chunk = 0; chunk < 2; chunk++) {
            const int last = frees + 1 - chunk;
            const int64_t begin = t->start[chunk * t->ranks + rank];
            const int64_t end = t->start[last * t->ranks + rank] + length_of(t, last, rank);
            const int64_t age = modulo(now - begin, t->period); /* of the youngest copy */
            held += end - begin > age ? (end - begin - age - 1) / t->period + 1 : 0;
        }
        peak = held > peak ? (int)held : peak;
    }
    return peak;
}

static bool fits(const struct trial *t, int cap)
{
    for (int rank = 0; rank < t->ranks; rank++)
        if (peak_of(t, rank) > cap)
            return false;
    return true;
}

int64_t pp_vmem_modulo(struct pp_arena *arena, const struct pp_vmem *vmem, int cap, int64_t *start)
{
    const int ranks = vmem->shape->ranks;
    struct trial t = {.vmem = vmem,
                      .ranks = ranks,
                      .kinds = vmem->rule->is_split ? (int)PP_VMEM_KINDS : (int)PP_VMEM_CHAIN,
                      .start = PP_ARRAY(arena, int64_t, PP_VMEM_KINDS * ranks),
                      .luck = 88172645463325252};
    const int trials = PLACES_MAX / (STRETCHES * t.kinds * ranks) + 1;
    int64_t busiest = 1, all = 0, shortest = INT64_MAX;

    for (int rank = 0; rank < ranks; rank++) {
        int64_t work = 0;
        for (int kind = 0; kind < t.kinds; kind++)
            work += length_of(&t, kind, rank);
        busiest = work > busiest ? work : busiest;
        all += work;
    }
    if (all > TIME_MAX / (vmem->shape->micro_batches + 8 * ranks))
        return 0;
    for (int stretch = 0; stretch < STRETCHES; stretch++) {
        t.period = busiest + busiest / FINENESS * stretch;
        for (int i = 0; i < trials; i++) {
            t.is_greedy = i == 0;
            if (!place_all(&t) || !fits(&t, cap))
                continue;
            const int64_t end = t.start[PP_VMEM_I0 * ranks];
            if (end < shortest) {
                shortest = end;
                memcpy(start, t.start, sizeof(int64_t) * (size_t)(PP_VMEM_KINDS * ranks));
            }
        }
        if (shortest < INT64_MAX)
            return t.period;
    }
    return 0;
}
