/* The order of samples. */
#include "exec/data/order.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

Test(order, a_permutation_has_each_number_once)
{
    enum { MOST = 300 };

    for (uint64_t size = 1; size <= MOST; size++)
        for (uint64_t key = 0; key < 5; key++) {
            bool has[MOST] = {false};
            for (uint64_t x = 0; x < size; x++) {
                const uint64_t y = pp_order_permute(key, size, x);
                cr_assert_lt(y, size);
                cr_assert_not(has[y], "size %d, key %d", (int)size, (int)key);
                has[y] = true;
            }
        }
}

Test(order, large_permutations_stay_in_range_and_come_back_to_no_number)
{
    static const uint64_t sizes[] = {1000003, UINT64_C(1) << 33, UINT64_C(0x123456789abcdef),
                                     UINT64_MAX};

    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++)
        for (uint64_t x = 1; x < 1000; x++) {
            const uint64_t y = pp_order_permute(7, sizes[s], x);
            cr_assert_lt(y, sizes[s]);
            cr_assert_neq(y, pp_order_permute(7, sizes[s], x - 1));
        }
}

/* Over many keys, each number comes to each place as often as chance says. */
Test(order, places_are_uniform_over_keys)
{
    enum { SIZE = 11, KEYS = 22000 };
    int count[SIZE][SIZE] = {{0}};
    double chi = 0;

    for (uint64_t key = 0; key < KEYS; key++)
        for (uint64_t x = 0; x < SIZE; x++)
            count[x][pp_order_permute(key, SIZE, x)]++;
    for (int x = 0; x < SIZE; x++)
        for (int y = 0; y < SIZE; y++)
            chi += (count[x][y] - KEYS / SIZE) * (count[x][y] - KEYS / SIZE) / (KEYS / SIZE + 0.0);
    cr_assert(chi > 50 && chi < 160, "chi-square %g of 100 degrees of freedom", chi);
}

enum { SEQ = 8, TOKENS = 8 * 30 + 3 };

static size_t first(enum pp_sample_order_kind kind, int64_t samples, int64_t step, int64_t index)
{
    const struct pp_sample_order order = {kind, 5, samples};

    return pp_order_first(&order, TOKENS, SEQ, step, index);
}

Test(order, an_epoch_has_each_sample_once_and_the_next_one_another_order)
{
    size_t last[30] = {0};

    cr_assert_eq(pp_order_samples(TOKENS, SEQ), 30);
    cr_assert_eq(pp_order_samples(SEQ + 1, SEQ), 1);
    cr_assert_eq(pp_order_samples(2 * SEQ, SEQ), 1);
    for (int epoch = 0; epoch < 4; epoch++) {
        bool has[30] = {false};
        int moved = 0;
        for (int i = 0; i < 30; i++) {
            const size_t at = first(PP_ORDER_SHUFFLED, 1, epoch * 30 + i, 0);
            cr_assert(at % SEQ == 0 && at + SEQ < TOKENS && !has[at / SEQ]);
            has[at / SEQ] = true;
            moved += at != last[i];
            last[i] = at;
            cr_assert_eq(first(PP_ORDER_IN_TURN, 1, epoch * 30 + i, 0), (size_t)(i * SEQ));
        }
        cr_assert_gt(moved, 20);
    }
}

Test(order, a_sample_is_known_by_its_number_alone)
{
    for (int number = 0; number < 100; number++)
        for (int samples = 2; samples < 9; samples++)
            for (int kind = PP_ORDER_SHUFFLED; kind <= PP_ORDER_IN_TURN; kind++)
                cr_assert_eq(first((enum pp_sample_order_kind)kind, 1, number, 0),
                             first((enum pp_sample_order_kind)kind, samples, number / samples,
                                   number % samples));
}
