/* The cap of a rank on a tier: it holds to the byte, and tiers count apart. */
#include "exec/tiers/budget.h"

#include <criterion/criterion.h>

Test(budget, refuses_the_first_byte_beyond_a_cap)
{
    struct pp_tier_budget budget = {.most_bytes = {[PP_TIER_DEVICE] = 1000, [PP_TIER_HOST] = 64}};
    struct pp_error err = {0};

    cr_expect_eq(pp_tier_take(&budget, PP_TIER_DEVICE, 600, "rank 1", &err), PP_OK);
    cr_expect_eq(pp_tier_take(&budget, PP_TIER_DEVICE, 401, "rank 1", &err), PP_EFIT);
    cr_expect_str_eq(
        err.message,
        "rank 1 takes 401 bytes of the tier device, but only 400 of its 1000 are left");
    cr_expect_eq(pp_tier_take(&budget, PP_TIER_HOST, 64, "rank 1", &err), PP_OK);
    cr_expect_eq(pp_tier_take(&budget, PP_TIER_DEVICE, 400, "rank 1", &err), PP_OK);
    cr_expect_eq(pp_tier_take(&budget, PP_TIER_DEVICE, 1, "rank 1", &err), PP_EFIT);
    cr_expect_eq(pp_tier_take(&budget, PP_TIER_HOST, SIZE_MAX, "rank 1", &err), PP_EFIT);
    cr_expect_eq(budget.taken_bytes[PP_TIER_DEVICE], 1000);
}

Test(budget, without_a_cap_takes_all)
{
    struct pp_tier_budget budget = {{0}};
    struct pp_error err = {0};

    cr_expect_eq(pp_tier_take(&budget, PP_TIER_NVME, (size_t)1 << 50, "rank 0", &err), PP_OK);
}
