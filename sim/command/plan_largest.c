/* pipesim plan --largest LO:HI[:+K]: the most layers with which the free knobs still fit. Memory
 * never falls with the layers, so sizes are bisected. Sizes that the layout refuses are passed
 * over. */
#include "core/text/json_write.h"
#include "core/units.h"
#include "sim/command/plan_part.h"
#include "sim/report/text.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 80,
    INDENT = 13,
    MOST_LAYERS = 65535,
    REASON_BYTES = 256,
    MOST_REFUSED = 64 /* sizes in a row that a layout may refuse */
};

struct range {
    int least, most, step;
};

/* A size, and what became of it. */
struct size {
    bool fits, is_refused;
    enum pp_tier full;         /* that is too small */
    double excess;             /* bytes that it needs, over those that it has */
    char reason[REASON_BYTES]; /* why it does not fit */
};

struct hunt {
    const struct pp_wish *wish;
    struct range range;
};

/* ---- the range ------------------------------------------------------------------------------- */

static bool take_number(const char **at, int *number)
{
    char *end;
    const long value = strtol(*at, &end, 10);

    if (end == *at || **at < '0' || **at > '9' || value < 1 || value > MOST_LAYERS)
        return false;
    *at = end;
    *number = (int)value;
    return true;
}

static enum pp_status parse_range(const char *text, struct range *range, struct pp_error *err)
{
    const char *at = text;

    range->step = 1;
    const bool is_range =
        take_number(&at, &range->least) && *at++ == ':' && take_number(&at, &range->most) &&
        (*at != ':' || (at[1] == '+' && (at += 2, take_number(&at, &range->step))));
    if (!is_range || *at)
        return pp_error_set(
            err, PP_EINVAL,
            "--largest %.40s: expected layers LO:HI or LO:HI:+K, from 1 to %d, such "
            "as 10:200",
            text, MOST_LAYERS);
    if (range->least > range->most)
        return pp_error_set(err, PP_EINVAL,
                            "--largest %s: LO is at most HI; nearest: --largest %d:%d", text,
                            range->most, range->least);
    return PP_OK;
}

static int layers_at(const struct range *range, int place)
{
    return range->least + place * range->step;
}

static int last_place(const struct range *range)
{
    return (range->most - range->least) / range->step;
}

/* ---- a size ---------------------------------------------------------------------------------- */

static enum pp_status open_size(struct pp_arena *arena, const struct hunt *hunt, int layers,
                                struct pp_state_plan *planner, struct pp_error *err)
{
    struct pp_parsed *command = pp_command_copy(arena, hunt->wish->request.flags);
    struct pp_wish *wish = PP_NEW(arena, struct pp_wish);

    PP_TRY(pp_command_set_int(arena, command, "layers", layers, err));
    PP_TRY(pp_wish_open(arena, command, wish, err));
    return pp_plan_open_one(arena, wish, planner, err);
}

/* Returns the bytes that a tier, or the device, needs and has for a choice. */
static struct pair {
    double needed, room;
} fill_of(const struct pp_state_plan *planner, const struct pp_state_planned *point)
{
    return point->full == PP_TIER_DEVICE
               ? (struct pair){point->outcome.peak_bytes, pp_config_capacity_bytes(&planner->base)}
               : (struct pair){point->away_bytes[point->full], point->room_bytes[point->full]};
}

/* Keeps the reason of the choice that needs least beyond its room. */
static void note_reason(const struct pp_state_plan *planner, const struct pp_state_planned *point,
                        struct size *size)
{
    const struct pair fill = fill_of(planner, point);
    const int digits = fabs(fill.needed - fill.room) < 0.1 * PP_GIB ? 3 : 1;
    const double excess = point->outcome.is_refused ? (double)INFINITY : fill.needed / fill.room;

    if (*size->reason && excess >= size->excess)
        return;
    size->excess = excess;
    size->is_refused = point->outcome.is_refused;
    size->full = point->full;
    if (point->outcome.is_refused)
        snprintf(size->reason, REASON_BYTES, "%s", point->outcome.reason);
    else
        snprintf(size->reason, REASON_BYTES, "%s %.*f of %.*f GiB%s",
                 pp_tier_rows[point->full].name, digits, fill.needed / PP_GIB, digits,
                 fill.room / PP_GIB, point->full == PP_TIER_DEVICE ? "" : " a device");
}

/* Tries the choices of a size, that which frees most first. */
static void try_size(const struct hunt *hunt, int layers, struct size *size)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_state_plan planner;
    struct pp_error err;

    *size = (struct size){.is_refused = true};
    if (open_size(arena, hunt, layers, &planner, &err) != PP_OK ||
        pp_state_plan_points(arena, &planner, &err) != PP_OK) {
        snprintf(size->reason, REASON_BYTES, "%.*s", REASON_BYTES - 1, err.message);
        return;
    }
    for (int i = planner.count - 1; i >= 0 && !size->fits; i--) {
        pp_state_plan_try(arena, &planner, PP_MEMORY, &planner.points[i]);
        size->fits = !planner.points[i].outcome.is_refused && planner.points[i].outcome.fits;
        note_reason(&planner, &planner.points[i], size);
    }
    size->is_refused &= !size->fits;
}

/* ---- the most layers ------------------------------------------------------------------------- */

/* Outcome of the bisection: places of the range, -1 = none. */
struct found {
    int best, next;   /* the last that fits, and the first after it that does not */
    struct size size; /* the next one */
    struct size refused;
};

/* Tries a place, or the last one before it that is not refused, down to `low`. Returns it. */
static int try_before(const struct hunt *hunt, int at, int low, struct found *found,
                      struct size *size)
{
    int tried = at;

    for (;; tried--) {
        try_size(hunt, layers_at(&hunt->range, tried), size);
        if (!size->is_refused)
            return tried;
        found->refused = *size;
        if (tried - 1 <= low || at - tried == MOST_REFUSED)
            return tried;
    }
}

static struct found find(const struct hunt *hunt)
{
    struct found found = {.best = -1, .next = -1};
    int low = -1, high = last_place(&hunt->range) + 1;

    for (int at = high - 1; high - low > 1; at = low + (high - low) / 2) {
        struct size size;
        const int tried = try_before(hunt, at, low, &found, &size);
        if (size.fits)
            found.best = tried;
        if (size.fits || size.is_refused) {
            low = at; /* none between them fits */
        } else {
            high = found.next = tried;
            found.size = size;
        }
    }
    return found;
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* The largest size, planned; or the least one if none fits. */
struct answer {
    const struct hunt *hunt;
    struct found found;
    struct pp_state_plan planner;
};

static int layers_of(const struct answer *answer)
{
    return layers_at(&answer->hunt->range, answer->found.best < 0 ? 0 : answer->found.best);
}

/* Returns "31.0 of 31.7 GiB on the device, 238.1 of 240.0 GiB a device on host" of the best choice.
 */
static const char *fill_text(struct pp_arena *arena, const struct answer *answer)
{
    const struct pp_state_planned *best = &answer->planner.points[0];
    const char *text =
        pp_arena_printf(arena, "device %.1f of %.1f~GiB", best->outcome.peak_bytes / PP_GIB,
                        pp_config_capacity_bytes(&answer->planner.base) / PP_GIB);

    for (int tier = PP_TIER_HOST; tier < PP_TIERS; tier++)
        if (best->away_bytes[tier] > 0)
            text = pp_arena_printf(arena, "%s, %s %.1f of %.1f~GiB a device", text,
                                   pp_tier_rows[tier].name, best->away_bytes[tier] / PP_GIB,
                                   best->room_bytes[tier] / PP_GIB);
    return text;
}

static const char *next_text(struct pp_arena *arena, const struct answer *answer)
{
    const struct found *found = &answer->found;

    return found->next < 0
               ? "none: the range ends"
               : pp_arena_printf(arena, "%d layers: %s",
                                 layers_at(&answer->hunt->range, found->next), found->size.reason);
}

static const char *params_text(struct pp_arena *arena, const struct answer *answer)
{
    char params[PP_UNITS_TEXT_BYTES];

    return pp_arena_strdup(
        arena, pp_units_print(pp_model_params(&answer->planner.base.model), PP_UNIT_COUNT, params));
}

static void print_answer(struct pp_arena *arena, const struct answer *answer, int rows, FILE *out)
{
    const struct range *range = &answer->hunt->range;
    const char *line =
        answer->found.best < 0
            ? pp_arena_printf(arena, "none of %d to %d layers fits", range->least, range->most)
            : pp_arena_printf(arena, "%d layers, %s parameters, of %d to %d layers",
                              layers_of(answer), params_text(arena, answer), range->least,
                              range->most);

    pp_text_paragraph(out, WIDTH, INDENT, "largest", line);
    if (answer->found.best >= 0)
        pp_text_paragraph(out, WIDTH, INDENT, "full", fill_text(arena, answer));
    pp_text_paragraph(out, WIDTH, INDENT, "next", next_text(arena, answer));
    fputc('\n', out);
    pp_state_plan_print(arena, &answer->planner, rows, out);
}

static void put_largest(const struct answer *answer, json_t *o)
{
    const struct found *found = &answer->found;
    const bool fits = found->best >= 0, has_next = found->next >= 0;
    json_t *largest = json_object();

    json_object_set_new(largest, "layers", fits ? json_integer(layers_of(answer)) : json_null());
    pp_json_put(largest, "params",
                fits ? pp_model_params(&answer->planner.base.model) : (double)NAN);
    pp_json_put_text(largest, "full", has_next ? pp_tier_rows[found->size.full].name : NULL);
    json_object_set_new(largest, "next_layers",
                        has_next ? json_integer(layers_at(&answer->hunt->range, found->next))
                                 : json_null());
    pp_json_put_text(largest, "next_reason", has_next ? found->size.reason : NULL);
    json_object_set_new(o, "largest", largest);
}

static enum pp_status write_answer(struct pp_arena *arena, const struct answer *answer,
                                   const struct pp_plan_answer *outputs, FILE *out,
                                   struct pp_error *err)
{
    const struct pp_state_plan *planner = &answer->planner;

    if (outputs->path)
        PP_TRY(pp_plan_write_rows(arena, NULL, planner, outputs->path, err));
    if (outputs->tool)
        return pp_plan_emit(arena, outputs->tool,
                            planner->fitting ? &planner->points[0].config : NULL, NULL, out, err);
    if (outputs->owner == PP_STDOUT_JSON) {
        json_t *o = pp_state_plan_object(arena, planner);
        put_largest(answer, o);
        pp_json_print(o, out);
    } else if (outputs->owner == PP_STDOUT_REPORT) {
        print_answer(arena, answer, answer->hunt->wish->top, out);
    }
    return PP_OK;
}

static enum pp_status check(const struct pp_wish *wish, struct pp_error *err)
{
    if (wish->given.layers.origin == PP_FROM_FLAG)
        return pp_error_set(err, PP_EINVAL,
                            "%s contradicts --largest, which tries numbers of "
                            "layers",
                            wish->given.layers.typed);
    if (wish->given.params.origin == PP_FROM_FLAG)
        return pp_error_set(err, PP_EINVAL,
                            "%s describes a model by its size alone, but --largest needs "
                            "dimensions that stay; nearest: --model NAME, or --hidden H --heads A",
                            wish->given.params.typed);
    if (wish->free && !pp_state_plan_has(wish->free))
        return pp_error_set(err, PP_EINVAL,
                            "--largest is of one layout: --free takes act-bits, cache, gather, "
                            "offload, recompute and shard with it");
    return PP_OK;
}

enum pp_status pp_plan_largest(struct pp_arena *arena, struct pp_wish *wish, FILE *out,
                               struct pp_error *err)
{
    struct hunt hunt = {.wish = wish};
    struct answer answer = {.hunt = &hunt};
    struct pp_plan_answer outputs;

    PP_TRY(parse_range(wish->largest, &hunt.range, err));
    PP_TRY(check(wish, err));
    PP_TRY(pp_plan_open_answer(arena, wish, &outputs, err));
    answer.found = find(&hunt);
    if (answer.found.best < 0 && answer.found.next < 0)
        return pp_error_set(err, PP_EINVAL, "--largest %s: %s", wish->largest,
                            answer.found.refused.reason);
    if (answer.found.best < 0 && answer.found.next > 0)
        hunt.range.least = layers_at(&hunt.range, answer.found.next), answer.found.next = 0;
    PP_TRY(open_size(arena, &hunt, layers_of(&answer), &answer.planner, err));
    PP_TRY(pp_state_plan_run(arena, &answer.planner, err));
    PP_TRY(write_answer(arena, &answer, &outputs, out, err));
    if (answer.found.best < 0 && wish->require_fit)
        return pp_error_set(err, PP_EFIT, "none of %d to %d layers fits: %s", hunt.range.least,
                            hunt.range.most, next_text(arena, &answer));
    return PP_OK;
}
