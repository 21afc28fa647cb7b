/* Nothing fits: the layout that needs least memory, and changes with which it fits, each tried. */
#include "core/units.h"
#include "sim/fit/change.h"
#include "sim/fit/fit.h"
#include "sim/plan/search.h"
#include "sim/report/text.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST_TRIALS = 512, /* layouts whose memory is computed */
    MOST_FACTOR = 256, /* of devices */
    BISECTIONS = 6
};

/* ---- the layout ------------------------------------------------------------------------------ */

struct candidate {
    float bound_bytes;
    int64_t point;
};

static int by_bound(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->bound_bytes != y->bound_bytes)
        return x->bound_bytes < y->bound_bytes ? -1 : 1;
    return x->point < y->point ? -1 : x->point > y->point;
}

/* Finds the layout that needs least: none with a lower bound is left. */
static void find_layout(struct pp_search *search, struct pp_search_nearest *nearest)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_search_board *board = &search->board;
    struct candidate *list = NULL;
    int count = 0, capacity = 0;

    nearest->point = -1;
    nearest->outcome.peak_bytes = INFINITY;
    for (int64_t k = 0; k < search->space.points; k++)
        pp_search_refine(board, k);
    for (int64_t k = 0; k < search->space.points; k++)
        if (board->status[k] == PP_SEARCH_NO_ROOM || board->status[k] == PP_SEARCH_TOO_LARGE)
            *PP_PUSH(arena, list, count, capacity) = (struct candidate){board->bound_bytes[k], k};
    if (count)
        qsort(list, (size_t)count, sizeof(*list), by_bound);
    for (int i = 0;
         i < count && i < MOST_TRIALS && (double)list[i].bound_bytes < nearest->outcome.peak_bytes;
         i++) {
        PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
        struct pp_outcome outcome;
        struct pp_error ignored;
        if (pp_search_try(scratch, &search->space, list[i].point, PP_MEMORY, &outcome, &ignored) !=
                PP_OK ||
            outcome.peak_bytes >= nearest->outcome.peak_bytes)
            continue;
        nearest->point = list[i].point;
        nearest->outcome = outcome;
    }
}

/* ---- what would fit -------------------------------------------------------------------------- */

static void add(struct pp_arena *arena, struct pp_search_nearest *nearest,
                const struct pp_relief *relief)
{
    *PP_PUSH(arena, nearest->reliefs, nearest->count, nearest->capacity) = *relief;
}

/* Adds the flags of a run that make the layout fit on as many devices. */
static void add_flags(struct pp_arena *arena, const struct pp_search *search,
                      struct pp_search_nearest *nearest)
{
    struct pp_result *result = PP_NEW(arena, struct pp_result);
    struct pp_config *config = PP_NEW(arena, struct pp_config);
    struct pp_error ignored;

    if (pp_change_resolve(arena, nearest->command, config, NULL, &ignored) != PP_OK ||
        pp_simulate(arena, config, PP_METRICS, NULL, result, &ignored) != PP_OK)
        return;
    const struct pp_oom *oom = pp_oom_find(arena, result);
    for (int i = 0; oom && i < oom->relief_count; i++)
        if (oom->reliefs[i].fits && oom->reliefs[i].gpus == search->space.gpus)
            add(arena, nearest, &oom->reliefs[i]);
}

/* Returns the flags that turn the command of the nearest layout into this run. */
static const char *flags_of(struct pp_arena *arena, const struct pp_config *config,
                            struct pp_search_again nearest)
{
    const struct pp_search_again again = {config->costs.recompute, config->costs.again};
    char recompute[PP_RECOMPUTE_TEXT_BYTES];
    const struct pp_layout *l = &config->layout;
    const char *text = pp_arena_printf(arena, "--gpus %d --tp %d --pp %d", l->gpus, l->tp, l->pp);

    if (pp_state_zero(&config->state) > 0)
        text = pp_arena_printf(arena, "%s --zero %d", text, pp_state_zero(&config->state));
    pp_recompute_print(again.recompute, again.modules, recompute);
    if (pp_search_again_value(again) != pp_search_again_value(nearest))
        text = pp_arena_printf(arena, "%s --recompute %s", text,
                               pp_recompute_add_words(config->lower.again, recompute));
    return text;
}

/* Resolves the layout's schedule on `gpus` devices, with the layout of the quick planner. */
static bool fits_on(struct pp_arena *arena, const struct pp_search *search, int64_t point, int gpus,
                    struct pp_relief *relief)
{
    const struct pp_search_order *order = pp_search_point(&search->space, point).order;
    const struct pp_subject subject = {.schedule = order->base.schedule,
                                       .name = order->base.schedule_name};
    struct pp_wish *wish = PP_NEW(arena, struct pp_wish);
    struct pp_config *config = PP_NEW(arena, struct pp_config);
    struct pp_result result;
    struct pp_error ignored;

    *wish = *search->space.wish;
    wish->gpus = gpus;
    wish->gbs = (int)search->space.gbs;
    if (pp_resolve(arena, wish, &subject, config, NULL, &ignored) != PP_OK ||
        pp_simulate(arena, config, PP_QUICK, NULL, &result, &ignored) != PP_OK)
        return false;
    *relief = (struct pp_relief){
        .flags = flags_of(arena, config, pp_search_point(&search->space, point).again),
        .instead_of = "",
        .peak_bytes = result.memory[result.peak_rank].peak_bytes,
        .iteration_s = result.metrics.iteration_s,
        .gpus = gpus,
        .fits = result.fits};
    return result.fits;
}

/* Adds the fewest devices on which the schedule was found to fit: twice as many until it does, then
 * bisected in steps of a node. */
static void add_devices(struct pp_arena *arena, const struct pp_search *search,
                        struct pp_search_nearest *nearest)
{
    const int gpus = search->space.gpus, node = search->space.fixed.cluster.gpus_per_node,
              step = gpus < node ? gpus : node;
    struct pp_relief best = {.fits = false}, relief;
    int too_few = gpus;

    for (int64_t n = 2 * (int64_t)gpus; n <= (int64_t)gpus * MOST_FACTOR && n <= 1 << 20; n *= 2) {
        if (fits_on(arena, search, nearest->point, (int)n, &best))
            break;
        too_few = (int)n;
    }
    for (int i = 0; i < BISECTIONS && best.fits && best.gpus - too_few > step; i++) {
        const int n = too_few + (best.gpus - too_few) / step / 2 * step;
        if (n <= too_few)
            break;
        if (fits_on(arena, search, nearest->point, n, &relief))
            best = relief;
        else
            too_few = n;
    }
    if (best.fits)
        add(arena, nearest, &best);
}

void pp_search_find_nearest(struct pp_arena *arena, struct pp_search *search)
{
    struct pp_search_nearest *nearest = &search->nearest;

    find_layout(search, nearest);
    if (nearest->point < 0)
        return;
    nearest->command = pp_search_command(arena, &search->space, nearest->point);
    add_flags(arena, search, nearest);
    add_devices(arena, search, nearest);
}

/* ---- text -------------------------------------------------------------------------------------
 */

/* Prints the layout that needs least memory, and what would fit. */
void pp_search_print_nearest(struct pp_arena *arena, const struct pp_search *search, FILE *out)
{
    const struct pp_search_nearest *nearest = &search->nearest;
    const double capacity = pp_config_capacity_bytes(&search->space.fixed);
    char step[PP_UNITS_TEXT_BYTES];

    if (nearest->point < 0)
        return;
    pp_text_paragraph(out, PP_SEARCH_WIDTH, PP_SEARCH_INDENT, "nearest",
                      pp_arena_printf(arena, "needs %.1f of %.1f~GiB:",
                                      nearest->outcome.peak_bytes / PP_GIB, capacity / PP_GIB));
    pp_text_command(out, PP_SEARCH_WIDTH, PP_SEARCH_INDENT, "", nearest->command);
    for (int i = 0; i < nearest->count; i++) {
        const struct pp_relief *relief = &nearest->reliefs[i];
        fprintf(out, "  %-*s%-43s%7.1f%c GiB%10s\n", PP_SEARCH_INDENT - 2, i ? "" : "fits with",
                relief->flags, relief->peak_bytes / PP_GIB,
                relief->peak_bytes > pp_config_room_bytes(&search->space.fixed) ? '!' : ' ',
                pp_units_print(relief->iteration_s, PP_UNIT_SECONDS, step));
    }
    if (!nearest->count)
        pp_text_paragraph(out, PP_SEARCH_WIDTH, PP_SEARCH_INDENT, "fits with",
                          "nothing that was tried: less in flight, more recomputation or sharding, "
                          "offloading, more devices");
}
