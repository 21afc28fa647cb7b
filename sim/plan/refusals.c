/* The line of a plan that counts illegal layouts by schedule, and the points that workers lost. */
#include "core/units.h"
#include "sim/plan/search.h"
#include "sim/report/text.h"
#include "sim/run/prepare.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, INDENT = PP_SEARCH_INDENT };

const char *pp_search_count_text(struct pp_arena *arena, int64_t count)
{
    char text[PP_UNITS_TEXT_BYTES];

    return pp_arena_strdup(arena, pp_units_print_count(count, text));
}

struct refusals { /* layouts that one schedule refuses, with any chunks */
    const char *schedule;
    int64_t count;
};

static int by_refusals(const void *a, const void *b)
{
    const struct refusals *x = a, *y = b;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->schedule, y->schedule);
}

/* Returns the schedules that refuse most: "hanayo 2,272, dualpipe 900, 3 others 40". */
static const char *who_refuses(struct pp_arena *arena, const struct pp_search *search)
{
    enum { NAMED = 4 };
    const struct pp_search_space *s = &search->space;
    struct refusals *list = PP_ARRAY(arena, struct refusals, s->order_count);
    int *at = PP_ARRAY(arena, int, s->order_count), kinds = 0, refusing = 0;
    const char *text = "";
    int64_t rest = 0;

    for (int o = 0; o < s->order_count; o++) { /* orders of one schedule are adjacent */
        const char *name = s->orders[o].base.schedule_name;
        kinds += o == 0 || strcmp(name, list[kinds - 1].schedule) != 0;
        list[at[o] = kinds - 1].schedule = name;
    }
    for (int64_t k = 0; k < s->points; k++)
        list[at[k % s->order_count]].count += search->board.status[k] == PP_SEARCH_SHAPE;
    qsort(list, (size_t)kinds, sizeof(*list), by_refusals);
    while (refusing < kinds && list[refusing].count > 0)
        refusing++;
    for (int i = 0; i < refusing; i++) {
        if (i < NAMED || refusing == NAMED + 1)
            text = pp_arena_printf(arena, "%s%s%s~%s", text, i ? ", " : "", list[i].schedule,
                                   pp_search_count_text(arena, list[i].count));
        else
            rest += list[i].count;
    }
    return rest ? pp_arena_printf(arena, "%s, %d~others~%s", text, refusing - NAMED,
                                  pp_search_count_text(arena, rest))
                : text;
}

/* Returns why a point cannot be simulated: its configuration, or its costs if they are measured. */
static enum pp_status refusal_of(struct pp_arena *arena, const struct pp_search *search,
                                 int64_t point, struct pp_error *err)
{
    struct pp_cost_inputs inputs;
    struct pp_config config;
    struct pp_costs *costs;

    PP_TRY(pp_search_config(arena, &search->space, point, &config, err));
    if (!config.cost)
        return PP_OK;
    return pp_simulate_costs(arena, &config, pp_config_ranks(arena, &config), &inputs, &costs, err);
}

/* Prints the number of points with a status, and the reason of the first. */
static void print_reason(struct pp_arena *arena, const struct pp_search *search,
                         enum pp_search_status status, const char *why, FILE *out)
{
    const int64_t example = search->examples[status];
    struct pp_error err = {0};

    if (!search->counts[status] || refusal_of(arena, search, example, &err) == PP_OK)
        return;
    const struct pp_search_point p = pp_search_point(&search->space, example);
    pp_text_paragraph(out, WIDTH, INDENT, "illegal",
                      pp_arena_printf(arena, "%s %s, such as %s on TP~%d x PP~%d x DP~%d: %.*s",
                                      pp_search_count_text(arena, search->counts[status]), why,
                                      p.order->base.schedule_name, p.frame->tp, p.frame->pp,
                                      p.frame->dp, (int)strcspn(err.message, "\n"), err.message));
}

void pp_search_print_illegal(struct pp_arena *arena, const struct pp_search *search, FILE *out)
{
    print_reason(arena, search, PP_SEARCH_BATCH, "by their batch", out);
    if (search->counts[PP_SEARCH_SHAPE])
        print_reason(arena, search, PP_SEARCH_SHAPE,
                     pp_arena_printf(arena, "by their schedules (%s)", who_refuses(arena, search)),
                     out);
    print_reason(arena, search, PP_SEARCH_REFUSED,
                 search->space.fixed.cost ? "not measured" : "for other reasons", out);
}

void pp_search_lose(struct pp_arena *arena, struct pp_search *search, int64_t point,
                    const char *death)
{
    for (int i = 0; i < search->loss_count; i++)
        if (search->losses[i].point == point)
            return;
    *PP_PUSH(arena, search->losses, search->loss_count, search->loss_capacity) =
        (struct pp_search_loss){point, pp_arena_printf(arena, "two workers %s", death)};
}
