/* Places of the elements of a slice against a map of all of them, for random slices. */
#include "exec/net/net.h"
#include "tests/unit/exec/stage/stage_rig.h"

#include <criterion/criterion.h>

enum { MOST = 4096 };
struct map {
    int64_t whole, count, at[MOST]; /* elements of the whole tensor that the slice has, in order */
};

static int between(uint64_t seed, int number, int low, int high)
{
    const double at = 0.5 + 0.5 * rig_random(seed, (uint64_t)number);

    return low + (int)(at * (high - low + 1)) % (high - low + 1);
}

static void add(struct map *map, bool is_here)
{
    cr_assert_lt(map->count, MOST);
    if (is_here)
        map->at[map->count++] = map->whole;
    map->whole++;
}

static struct pp_slice by_rows(uint64_t seed, int tp, int index, struct map *map)
{
    const int row = between(seed, 2, 1, 5), count = between(seed, 3, 1, PP_SLICE_PIECES);
    int groups[PP_SLICE_PIECES] = {0};

    for (int g = 0; g < count; g++) {
        groups[g] = between(seed, 4 + g, 1, 6);
        for (int i = 0; i < tp * groups[g] * row; i++)
            add(map, i / row / groups[g] == index);
    }
    return pp_slice_by_rows(tp, index, row, groups);
}

static struct pp_slice by_columns(uint64_t seed, int tp, int index, struct map *map)
{
    const int rows = between(seed, 2, 1, 9), columns = between(seed, 3, 1, 6);

    for (int i = 0; i < rows * columns * tp; i++)
        add(map, i % (columns * tp) / columns == index);
    return pp_slice_by_columns(tp, index, rows, columns);
}

static struct pp_slice by_words(uint64_t seed, int tp, int index, struct map *map)
{
    const struct pp_net net = {.vocab = between(seed, 2, tp, 20)};
    const int row = between(seed, 3, 1, 5);
    const struct pp_words words = pp_net_words(&net, tp, index);

    for (int i = 0; i < net.vocab * row; i++)
        add(map, i / row >= words.first && i / row < words.first + words.count);
    return pp_slice_by_words(net.vocab, row, words);
}

static void check(const struct pp_slice *slice, const struct map *map, const char *kind, int tp,
                  int index)
{
    int64_t first = 0, run;

    cr_assert_eq(slice->whole, map->whole, "%s", kind);
    for (int64_t i = 0; i < map->count; i++) {
        cr_assert_eq(pp_slice_at(slice, i, &run), map->at[i], "%s, device %d of %d, element %lld",
                     kind, index, tp, (long long)i);
        cr_assert(run >= 1 && i + run <= map->count && map->at[i + run - 1] == map->at[i] + run - 1,
                  "%s, device %d of %d, run from %lld", kind, index, tp, (long long)i);
    }
    for (int64_t at = 0; at <= map->whole; at++) {
        while (first < map->count && map->at[first] < at)
            first++;
        cr_assert_eq(pp_slice_from(slice, at), first, "%s, device %d of %d, from %lld: %lld", kind,
                     index, tp, (long long)at, (long long)pp_slice_from(slice, at));
    }
}

Test(slice_places, are_those_of_a_map)
{
    static const struct {
        struct pp_slice (*slice)(uint64_t seed, int tp, int index, struct map *map);
        const char *name;
    } kinds[] = {{by_rows, "rows"}, {by_columns, "columns"}, {by_words, "words"}};
    static struct map map;

    for (uint64_t seed = 1; seed <= 500; seed++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            const int tp = between(seed, 0, 1, 8), index = between(seed, 1, 0, tp - 1);
            map.whole = map.count = 0;
            const struct pp_slice slice = kinds[k].slice(seed, tp, index, &map);
            check(&slice, &map, kinds[k].name, tp, index);
        }
}

Test(slice_places, a_whole_tensor_is_one_run)
{
    const struct pp_slice all = {0};
    int64_t run;

    cr_assert_eq(pp_slice_at(&all, 12345, &run), 12345);
    cr_assert_eq(run, INT64_MAX);
    cr_assert_eq(pp_slice_from(&all, 12345), 12345);
}
