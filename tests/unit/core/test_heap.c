/* Heaps: items come out in order, ties in an order that the algorithm fixes. */
#include "core/heap.h"
#include "core/random.h"

#include <criterion/criterion.h>

struct item {
    int64_t key;
    int made;
};

static inline bool is_before(struct item a, struct item b)
{
    return a.key < b.key;
}

PP_HEAP(pair_heap, struct item, 2, is_before)
PP_HEAP(wide_heap, struct item, 4, is_before)

Test(heap, pops_in_order)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pair_heap pairs = {0};
    struct wide_heap wide = {0};
    enum { COUNT = 1000 };

    for (int i = 0; i < COUNT; i++) {
        const struct item item = {(int64_t)(pp_random_bits(7, (uint64_t)i) % 300), i};
        pair_heap_push(arena, &pairs, item);
        wide_heap_push(arena, &wide, item);
    }
    int64_t last = -1, sum = 0;
    for (int i = 0; i < COUNT; i++) {
        const struct item a = pair_heap_pop(&pairs), b = wide_heap_pop(&wide);
        cr_assert_leq(last, a.key);
        cr_assert_eq(a.key, b.key);
        last = a.key;
        sum += a.made;
    }
    cr_assert_eq(sum, COUNT * (COUNT - 1) / 2);
    cr_assert_eq(pairs.count, 0);
    cr_assert_eq(wide.count, 0);
}

Test(heap, pushes_between_pops)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pair_heap heap = {0};
    int64_t now = 0;

    pair_heap_push(arena, &heap, (struct item){0, 0});
    for (int made = 1; heap.count > 0;) {
        const struct item item = pair_heap_pop(&heap);
        cr_assert_geq(item.key, now);
        now = item.key;
        for (int k = 0; k < 2 && made < 500; k++, made++)
            pair_heap_push(
                arena, &heap,
                (struct item){now + (int64_t)(pp_random_bits(9, (uint64_t)made) % 10), made});
    }
    cr_assert_gt(now, 0);
}

/* Searched orders depend on it. */
Test(heap, ties_leave_in_a_fixed_order)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const int order[] = {0, 5, 4, 3, 2, 1};
    struct pair_heap heap = {0};

    for (int i = 0; i < 6; i++)
        pair_heap_push(arena, &heap, (struct item){1, i});
    for (int i = 0; i < 6; i++)
        cr_assert_eq(pair_heap_pop(&heap).made, order[i]);
}
