/* Positions of samples by their number. */
#include "exec/data/order.h"

#include "core/random.h"

__extension__ typedef unsigned __int128 product;

/* Draws uniformly among positions with room for a sample and its last target. It is the high half
 * of 64 random bits times the number of positions (Lemire, Fast random integer generation in an
 * interval, 2019). The bias is below 2^-30 for any file that is read. */
static size_t drawn(const struct pp_sample_order *order, size_t tokens, int seq, int64_t step,
                    int64_t index)
{
    const uint64_t bits =
        pp_random_bits(pp_random_stream(~order->seed, (uint64_t)step), (uint64_t)index);

    return (size_t)(((product)bits * (tokens - (size_t)seq)) >> 64);
}

/* A Feistel network over the next even power of two, walked until it is back below `size` (Black,
 * Rogaway: Ciphers with arbitrary finite domains, CT-RSA 2002). Less than four walks on average. */
uint64_t pp_order_permute(uint64_t key, uint64_t size, uint64_t x)
{
    enum { ROUNDS = 12 }; /* fewer show in domains of a few samples */
    int half = 1;

    while (half < 32 && size > UINT64_C(1) << 2 * half)
        half++;
    const uint64_t mask = (UINT64_C(1) << half) - 1;
    do {
        for (uint64_t round = 0; round < ROUNDS; round++) {
            const uint64_t left = x >> half, right = x & mask;
            const uint64_t bits = pp_random_bits(pp_random_stream(key, round), right);
            x = right << half | (left ^ (bits & mask));
        }
    } while (x >= size);
    return x;
}

int64_t pp_order_samples(size_t tokens, int seq)
{
    return (int64_t)((tokens - 1) / (size_t)seq);
}

size_t pp_order_first(const struct pp_sample_order *order, size_t tokens, int seq, int64_t step,
                      int64_t index)
{
    if (order->kind == PP_ORDER_DRAWN)
        return drawn(order, tokens, seq, step, index);
    const uint64_t samples = (uint64_t)pp_order_samples(tokens, seq),
                   number = (uint64_t)step * (uint64_t)order->step_samples + (uint64_t)index;
    const uint64_t epoch = number / samples, place = number % samples;

    return (size_t)seq *
           (order->kind == PP_ORDER_IN_TURN
                ? place
                : pp_order_permute(pp_random_stream(~order->seed, epoch), samples, place));
}
