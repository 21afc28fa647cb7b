/* What libraries refused is summed over processes, and where attention differs is said. */
#include "exec/machine/serve.h"

#include <criterion/criterion.h>

enum { RANKS = 4 };

static struct pp_fallbacks sum_of(const struct pp_fallbacks *each)
{
    struct pp_worker workers[RANKS] = {{0}};
    struct pp_machine machine = {.workers = workers, .worker_count = RANKS};
    struct pp_fallbacks sum;

    for (int k = 0; k < RANKS; k++) {
        workers[k].rank = k;
        workers[k].fallbacks = each[k];
    }
    pp_machine_fallbacks(&machine, &sum);
    return sum;
}

Test(fallbacks, are_summed)
{
    const struct pp_fallbacks each[RANKS] = {
        {.gemms = 10, .attention = "cuDNN 9"},
        {.gemms = 20, .own = 3, .refused = 1, .first = "one", .attention = "cuDNN 9"},
        {.gemms = 30, .own = 4, .finished = 5, .refused = 2, .first = "two", .attention = "own"},
        {.gemms = 40, .attention = "own (no library)"}};
    const struct pp_fallbacks sum = sum_of(each);

    cr_assert(sum.gemms == 100 && sum.own == 7 && sum.finished == 5 && sum.refused == 3);
    cr_assert_str_eq(sum.first, "one");
    cr_assert_str_eq(sum.attention, "rank 2: own");
}

/* One process computes for all ranks: the others have nothing to say. */
Test(fallbacks, of_one_process)
{
    const struct pp_fallbacks each[RANKS] = {{.gemms = 10, .attention = "own"}};
    const struct pp_fallbacks sum = sum_of(each);

    cr_assert(sum.gemms == 10 && sum.own == 0 && !sum.first[0] && !sum.attention[0]);
}
