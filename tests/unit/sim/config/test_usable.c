/* --usable: what fits is exactly what needs no more than the share of its tier. */
#include "sim/config/tiers.h"
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>

#define RUN                                                                                        \
    "--model llama3-8b --gpus 8 --pp 4 --tp 2 --micro-batches 8 --recompute none --engine dag "    \
    "--schedule 1f1b "

static struct pp_result run(struct pp_arena *arena, const char *flags)
{
    struct pp_result result;
    struct pp_error err = {0};

    cr_assert_eq(sim_run(arena, pp_arena_printf(arena, RUN "%s", flags), &result, &err), PP_OK,
                 "%s: %s", flags, err.message);
    return result;
}

Test(usable, a_share_of_a_tier_is_its_room)
{
    static const char *const offloads[] = {"os=host", "p=host,os=host", "os=nvme",
                                           "a=nvme,os=host"};

    for (size_t i = 0; i < PP_COUNT(offloads); i++)
        for (int tier = PP_TIER_HOST; tier < PP_TIERS; tier++)
            for (int percent = 1; percent <= 100; percent += 9) {
                PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                const struct pp_result
                    whole = run(arena, pp_arena_printf(arena,
                                                       "--cluster a100~ram:200GB~nvme:200GB@9GBps "
                                                       "--offload %s",
                                                       offloads[i])),
                    part = run(arena, pp_arena_printf(
                                          arena,
                                          "--cluster a100~ram:200GB~nvme:200GB@9GBps --offload %s "
                                          "--usable %s=%d%%",
                                          offloads[i], pp_tier_rows[tier].name, percent));
                const double bytes = pp_tiers_bytes(&whole, (enum pp_tier)tier),
                             room = pp_tiers_room_bytes(&whole, (enum pp_tier)tier);
                cr_assert(whole.fits);
                cr_assert_eq(part.metrics.iteration_s, whole.metrics.iteration_s);
                cr_assert_eq(pp_tiers_bytes(&part, (enum pp_tier)tier), bytes);
                cr_assert_float_eq(pp_tiers_room_bytes(&part, (enum pp_tier)tier),
                                   room * percent / 100, 1);
                cr_assert_eq(part.fits, bytes <= room * percent / 100, "%s %s %d", offloads[i],
                             pp_tier_rows[tier].name, percent);
            }
}

Test(usable, a_share_of_the_device_is_its_capacity)
{
    for (int percent = 20; percent <= 100; percent += 4) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_result whole = run(arena, "--cluster a100"),
                               part = run(arena, pp_arena_printf(arena,
                                                                 "--cluster a100 --usable "
                                                                 "device=%d%%",
                                                                 percent));
        const double bytes = whole.memory[whole.peak_rank].peak_bytes;

        cr_assert_eq(part.fits, part.memory[part.peak_rank].peak_bytes <=
                                    whole.config.cluster.device.memory_bytes * percent / 100);
        cr_assert_leq(part.memory[part.peak_rank].peak_bytes, bytes); /* blocks are given back */
    }
}
