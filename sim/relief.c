#include "sim/relief_parts.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TOGETHER = 4 };

struct trials {
    struct pp_arena *arena;
    const struct pp_config *config;
    struct pp_relief_setting base;
    double peak_bytes; /* of the run itself */
};

/* PP_EINVAL for what this run cannot have. */
static enum pp_status try_setting(const struct trials *t, const struct pp_relief_setting *setting,
                                  struct pp_relief *relief)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_result result;
    struct pp_error err;

    PP_TRY(pp_relief_run(scratch, t->config, setting, &result, &err));
    *relief = (struct pp_relief){.flags = pp_relief_flags(t->arena, &t->base, setting),
                                 .peak_bytes = result.memory[result.peak_rank].peak_bytes,
                                 .iteration_s = result.metrics.iteration_s,
                                 .gpus = setting->gpus,
                                 .fits = result.fits};
    return PP_OK;
}

/* Beyond what rounding and other constants of a layout can do. */
static bool is_less(double bytes, double than_bytes)
{
    return bytes < 0.995 * than_bytes;
}

/* The kinds that help by themselves, on top of `on`. */
static int try_all(const struct trials *t, const struct pp_relief_setting *on, double peak_bytes,
                   struct pp_relief found[PP_RELIEF_KINDS_MAX],
                   struct pp_relief_setting settings[PP_RELIEF_KINDS_MAX])
{
    int count = 0;

    for (int i = 0; pp_relief_kinds[i]; i++) {
        struct pp_relief_setting setting = *on;
        struct pp_relief relief;
        if (!pp_relief_kinds[i](&setting, t->config) ||
            try_setting(t, &setting, &relief) != PP_OK || !is_less(relief.peak_bytes, peak_bytes))
            continue;
        settings[count] = setting;
        found[count++] = relief;
    }
    return count;
}

/* Fitting before not fitting; few devices; fast ones, or else small ones. */
static int by_use(const void *a, const void *b)
{
    const struct pp_relief *x = a, *y = b;
    const double left = x->fits ? x->iteration_s : x->peak_bytes,
                 right = y->fits ? y->iteration_s : y->peak_bytes;

    if (x->fits != y->fits)
        return x->fits ? -1 : 1;
    if (x->gpus != y->gpus)
        return x->gpus < y->gpus ? -1 : 1;
    return left < right ? -1 : left > right;
}

static int best_of(const struct pp_relief *list, int count)
{
    int best = 0;

    for (int i = 1; i < count; i++)
        if (by_use(&list[i], &list[best]) < 0)
            best = i;
    return best;
}

/* What helps most, then what helps most beside it, until the run fits. */
static bool combine(const struct trials *t, struct pp_relief *all)
{
    struct pp_relief_setting on = t->base;

    *all = (struct pp_relief){.peak_bytes = t->peak_bytes};
    for (int depth = 0; depth < MOST_TOGETHER && !all->fits; depth++) {
        struct pp_relief found[PP_RELIEF_KINDS_MAX];
        struct pp_relief_setting settings[PP_RELIEF_KINDS_MAX];
        const int count = try_all(t, &on, all->peak_bytes, found, settings);
        if (count == 0)
            return false;
        const int best = best_of(found, count);
        on = settings[best];
        *all = found[best];
    }
    return all->fits;
}

static void find_reliefs(const struct trials *t, struct pp_oom *oom)
{
    struct pp_relief found[PP_RELIEF_KINDS_MAX + 1], *const singles = found + 1;
    struct pp_relief_setting settings[PP_RELIEF_KINDS_MAX];
    int count = try_all(t, &t->base, t->peak_bytes, singles, settings);

    qsort(singles, (size_t)count, sizeof *singles, by_use);
    const bool is_combined = count > 0 && !singles[0].fits && combine(t, &found[0]);
    oom->relief_count = count + is_combined;
    oom->reliefs = PP_ARRAY(t->arena, struct pp_relief, oom->relief_count + 1);
    memcpy(oom->reliefs, is_combined ? found : singles, sizeof *found * (size_t)oom->relief_count);
}

const struct pp_oom *pp_oom_find(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_rank_memory *m = &r->memory[r->peak_rank];

    if (r->config.is_unit || r->fits || m->peak_at < 0 ||
        m->peak_bytes <= r->config.cluster.device.memory_bytes) /* another tier is full */
        return NULL;
    struct pp_oom *oom = PP_NEW(arena, struct pp_oom);
    const struct trials trials = {.arena = arena,
                                  .config = &r->config,
                                  .base = pp_relief_setting_of(arena, &r->config),
                                  .peak_bytes = m->peak_bytes};
    struct pp_relief self;

    oom->needed_bytes = m->peak_bytes - r->config.cluster.device.memory_bytes;
    oom->iteration_s = try_setting(&trials, &trials.base, &self) == PP_OK ? self.iteration_s
                                                                          : r->metrics.iteration_s;
    pp_relief_holders(arena, r, oom);
    find_reliefs(&trials, oom);
    return oom;
}
