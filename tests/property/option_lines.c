#include "tests/property/option_lines.h"
#include "schedules/registry.h"

#include <stdlib.h>
#include <string.h>

const struct law_rates law_rates = {300, 25, 400, 25, 25, 2039, 312};

const char *law_cluster(struct pp_arena *arena, const struct law_rates *r)
{
    return pp_arena_printf(arena,
                           "gpu:4 device:a100 nvlink:%gGBps nic:4x%gGBps ram:1TB@%gGBps "
                           "h2d:%gGBps nvme:8TB@%gGBps hbm:%gGBps peak:%gTF",
                           r->nvlink, r->nic, r->ram, r->h2d, r->nvme, r->hbm, r->peak);
}

/* Where parameters, gradients and optimizer state are, and how they come back. */
static void say_state(struct words *w, struct rng *rng)
{
    const bool is_cut = rng_chance(rng, 40);

    if (rng_chance(rng, 60))
        words_say(w, "--zero", "%d", is_cut ? 3 : rng_int(rng, 0, 2));
    else
        words_say(w, "--shard", "%s",
                  is_cut ? words_one_of(rng, LIST("p=2,g=2,os=4", "p=4", "p=2x2", "p=2,os=2x2"))
                         : words_one_of(rng, LIST("os=2", "os=4", "os=2x2", "os=4x2", "g=2,os=4")));
    if (is_cut && rng_chance(rng, 50))
        words_say(w, "--gather", "%s", words_one_of(rng, LIST("layer", "chunk", "64MiB")));
    if (is_cut && rng_chance(rng, 50))
        words_say(w, "--gather-buffers", "%d", rng_int(rng, 1, 2));
    if (is_cut && rng_chance(rng, 40)) {
        words_say(w, "--cache", "%s", words_one_of(rng, LIST("2", "3", "auto", "1GB")));
        words_say(w, "--evict", "%s", words_one_of(rng, LIST("belady", "lru", "fifo")));
    }
    if (is_cut && rng_chance(rng, 30))
        words_say(w, "--secondary", "%s", words_one_of(rng, LIST("2", "1", "4")));
}

static void say_memory(struct words *w, struct rng *rng)
{
    words_say(
        w, "--recompute", "%s",
        words_one_of(rng, LIST("none", "selective", "full", "stage-aware=50%", "full,late",
                               "selective,late,skip", "full,early,skip", "stage-aware=50%,late")));
    if (rng_chance(rng, 50)) {
        const char *where = words_one_of(rng, LIST("os=host", "os=host:40%", "a=host",
                                                   "os=nvme,a=host", "a=host:50%", "a=nvme"));
        words_say(w, "--offload", "%s", where);
        if (strstr(where, "os=") && rng_chance(rng, 50)) {
            words_say(w, "--cpu-optimizer", "%s", "");
            words_say(w, "--update", "%s", words_one_of(rng, LIST("end", "jit")));
        }
    }
    if (rng_chance(rng, 30))
        words_say(w, "--act-bits", "%s", words_one_of(rng, LIST("2", "4", "8")));
}

static void say_experts(struct words *w, struct rng *rng, int tp, int dp)
{
    words_say(w, "--experts", "8");
    words_say(w, "--top-k", "%d", rng_int(rng, 1, 3));
    words_say(w, "--ep", "%d", rng_int(rng, 1, dp > 1 ? 2 : 1));
    if (tp > 1 && rng_chance(rng, 50))
        words_say(w, "--etp", "%d", rng_int(rng, 1, 2));
    if (rng_chance(rng, 40)) {
        words_say(w, "--ep-overlap", "50%%");
        if (rng_chance(rng, 40))
            words_say(w, "--ep-share", "15%%");
    }
    if (rng_chance(rng, 40))
        words_say(w, "--ep-dispatch", "once");
    if (rng_chance(rng, 40))
        words_say(w, "--capacity-factor", "1.25");
}

static void say_kernels(struct words *w, struct rng *rng, int tp)
{
    words_say(w, "--precision", "%s", words_one_of(rng, LIST("bf16", "fp16", "tf32", "fp32")));
    words_say(w, "--attention", "%s", words_one_of(rng, LIST("fused", "flash1", "unfused")));
    words_say(w, "--head", "%s",
              words_one_of(rng, LIST("last", "balanced", "counted", "ignored", "parallel",
                                     "parallel-twice", "interlaced")));
    if (tp > 1 && rng_chance(rng, 40))
        words_say(w, "--sequence-parallel", "off");
    if (tp > 1 && rng_chance(rng, 40))
        words_say(w, "--tp-overlap", "50%%");
    else if (tp > 1 && rng_chance(rng, 30))
        words_say(w, "--tp-split", "%d", 1 << rng_int(rng, 1, 4));
    if (rng_chance(rng, 40))
        words_say(w, "--framework", "%s",
                  words_one_of(rng, LIST("megatron", "deepspeed", "fsdp", "torchtitan", "amsp",
                                         "internevo")));
}

static void say_sums(struct words *w, struct rng *rng)
{
    if (rng_chance(rng, 30))
        words_say(w, "--dp-overlap", "%s", words_one_of(rng, LIST("on", "off")));
    else
        words_say(w, "--grad-sync", "%s", words_one_of(rng, LIST("end", "eager", "eager-opt")));
    if (rng_chance(rng, 30))
        words_say(w, "--bucket-size", "%dMB", rng_int(rng, 10, 100));
    if (rng_chance(rng, 15))
        words_say(w, "--collectives", "flows");
}

static struct words draw(struct pp_arena *arena, uint64_t seed)
{
    struct rng rng = {.state = seed * 0x9e3779b97f4a7c15u + 88172645463325252u};
    int schedules = 0;

    for (int k = 0; k < 3; k++)
        rng_next(&rng);
    while (pp_schedules[schedules])
        schedules++;
    const int tp = rng_int(&rng, 1, 2), pp = 2 << rng_int(&rng, 0, 1),
              dp = 1 << rng_int(&rng, 0, 3);
    struct words w = words_begin(arena, pp_schedules[seed % (uint64_t)schedules]->name,
                                 law_cluster(arena, &law_rates));
    words_say(&w, "--model", "%s", words_one_of(&rng, LIST("gpt2-64", "llama3-8b")));
    words_say(&w, "--layers", "%d", 4 * pp);
    words_say(&w, "--seq", "512");
    words_say(&w, "--tp", "%d", tp);
    words_say(&w, "--pp", "%d", pp);
    words_say(&w, "--dp", "%d", dp);
    words_say(&w, "--cp", "%d", rng_chance(&rng, 15) ? 2 : 1);
    words_say(&w, "--mbs", "2");
    words_say(&w, "--micro-batches", "%d", pp * rng_int(&rng, 1, 3));
    words_say(&w, "--steps", "1");
    say_state(&w, &rng);
    say_memory(&w, &rng);
    say_kernels(&w, &rng, tp);
    say_sums(&w, &rng);
    if (rng_chance(&rng, 30))
        say_experts(&w, &rng, tp, dp);
    return w;
}

static uint64_t first_seed(void)
{
    const char *text = getenv("PIPESIM_SEED");

    return 1 + 1000003 * (text ? strtoull(text, NULL, 10) : 0);
}

void law_for_each_line(int count, void (*check)(const struct words *w, const struct pp_result *r))
{
    enum { TRIES = 12 };
    uint64_t seed = first_seed();
    int ran = 0, tried = 0;

    count *= getenv("PIPESIM_LONG") ? 20 : 1;
    for (; ran < count && tried < TRIES * count; tried++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct words w = draw(arena, seed++);
        struct pp_result r;
        struct pp_error err = {0};

        if (!words_run(&w, "dag", &r, &err))
            continue;
        ran++;
        check(&w, &r);
    }
    cr_assert_eq(ran, count, "%d of %d lines were accepted", ran, tried);
}
