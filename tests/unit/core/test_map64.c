/* The hash table of 64-bit keys. */
#include "core/map64.h"
#include "core/random.h"

#include <criterion/criterion.h>

/* Keys spread over all bits, among them those with equal low halves. */
static uint64_t key_of(int i)
{
    return i % 2 ? pp_random_bits(3, (uint64_t)i) : (uint64_t)i << 32;
}

Test(map64, grows_and_keeps_its_values)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_map64 map = pp_map64_create(arena, 0);
    enum { COUNT = 3000 };

    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(*pp_map64_at(&map, key_of(i), i), i);
    cr_assert_eq(map.count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(*pp_map64_at(&map, key_of(i), -1), i);
        cr_assert_eq(*pp_map64_find(&map, key_of(i)), i);
        cr_assert_null(pp_map64_find(&map, key_of(i) + 1));
    }
    cr_assert_eq(map.count, COUNT);
}

Test(map64, has_room_for_the_keys_that_it_was_made_for)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (int count = 0; count < 200; count++) {
        struct pp_map64 map = pp_map64_create(arena, count);
        const uint64_t mask = map.mask;
        for (int i = 0; i < count; i++)
            pp_map64_at(&map, key_of(i), i);
        cr_assert_eq(map.mask, mask);
    }
}

Test(map64, forgets)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_map64 map = pp_map64_create(arena, 100);

    for (int i = 0; i < 100; i++)
        pp_map64_at(&map, key_of(i), i);
    pp_map64_clear(&map, 5);
    for (int i = 0; i < 100; i++)
        cr_assert_null(pp_map64_find(&map, key_of(i)));
    for (int i = 0; i < 100; i++)
        cr_assert_eq(*pp_map64_at(&map, key_of(i), 7), 7);
}
