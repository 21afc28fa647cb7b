/* Lists "a,b,c" and ranges "lo:hi:xK", "lo:hi:+K". */
#include "sim/sweep/check.h"

#include "core/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct list {
    struct pp_arena *arena;
    const struct pp_option *option;
    struct pp_grid_axis *axis;
    struct pp_error *err;
};

static bool is_whole(const struct pp_option *option)
{
    return option->type == PP_OPTION_INT || option->type == PP_OPTION_LONG;
}

static bool is_number(const struct pp_option *option)
{
    return is_whole(option) || option->type == PP_OPTION_COUNT || option->type == PP_OPTION_FRAC;
}

/* ---- values ---------------------------------------------------------------------------------- */

static const char *choice_name(struct pp_arena *arena, const char *choices, int64_t index)
{
    for (; index > 0; index--)
        choices = strchr(choices, '|') + 1;
    return pp_arena_printf(arena, "%.*s", (int)strcspn(choices, "|"), choices);
}

/* Returns a value as the option table spells it, if it does. */
static const char *spell(const struct list *l, const struct pp_option_value *value)
{
    if (is_whole(l->option))
        return pp_arena_printf(l->arena, "%" PRId64, value->integer);
    if (l->option->type == PP_OPTION_CHOICE)
        return choice_name(l->arena, l->option->choices, value->integer);
    return pp_arena_strdup(l->arena, value->text);
}

/* Splits a value of a repeatable option into words. */
static void split_words(const struct list *l, struct pp_option_value *value)
{
    char *words = pp_arena_strdup(l->arena, value->text);
    int capacity = 0;

    value->count = 0;
    for (char *word; (word = strsep(&words, " ")) != NULL;)
        if (*word)
            *PP_PUSH(l->arena, value->all, value->count, capacity) = word;
    if (value->count > 0)
        value->text = value->all[value->count - 1];
}

static enum pp_status add_value(const struct list *l, const char *item)
{
    struct pp_grid_axis *axis = l->axis;
    struct pp_option_value value = {.count = 1};

    if (axis->count == PP_SWEEP_VALUES)
        return pp_error_set(l->err, PP_EINVAL, "more than %d values", PP_SWEEP_VALUES);
    PP_TRY(pp_option_read(l->option, item, &value, l->err));
    const char *text = spell(l, &value);
    value.text = text;
    if (l->option->is_repeatable)
        split_words(l, &value);
    if (value.count == 0)
        return pp_error_set(l->err, PP_EINVAL, "the argument is empty: %s is expected",
                            l->option->argument);
    int room = axis->capacity, count = axis->count;
    *PP_PUSH(l->arena, axis->values, count, room) = text;
    room = axis->capacity, count = axis->count;
    *PP_PUSH(l->arena, axis->read, count, room) = value;
    axis->capacity = room;
    axis->count = count;
    return PP_OK;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

struct range {
    const char *low, *high, *step;   /* without x or + */
    struct pp_option_value from, to; /* low and high, read */
    bool is_product;
};

/* Appends legal spellings of a similar range. */
static enum pp_status append_spellings(const struct list *l, const char *low, const char *high)
{
    const bool is_frac = l->option->type == PP_OPTION_FRAC;
    const char *first = strtod(low, NULL) > 0 ? low : is_frac ? "1%" : "1";

    return pp_error_append(l->err,
                           "; a range is lo:hi:xK (times K above 1) or lo:hi:+K (plus K above 0), "
                           "such as %s:%s:x2 or %s:%s:+%s",
                           first, high, low, high, first);
}

static enum pp_status check_ends(const struct list *l, const struct range *r, bool is_empty,
                                 bool has_positive_low)
{
    if (is_empty)
        return pp_error_set(l->err, PP_EINVAL, "the range is empty: %s is less than %s", r->high,
                            r->low);
    if (!r->is_product || has_positive_low)
        return PP_OK;
    pp_error_set(l->err, PP_EINVAL, "products of %s never grow", r->low);
    return append_spellings(l, r->low, r->high);
}

static enum pp_status too_many(const struct list *l, double count)
{
    char text[PP_UNITS_TEXT_BYTES], most[PP_UNITS_TEXT_BYTES];

    if (count < 9e18)
        pp_units_print_count((int64_t)count, text);
    else
        pp_units_print(count, PP_UNIT_COUNT, text);
    return pp_error_set(l->err, PP_EINVAL, "the range has %s values, a list at most %s", text,
                        pp_units_print_count(PP_SWEEP_VALUES, most));
}

static enum pp_status bad_step(const struct list *l, const struct range *r)
{
    pp_error_prefix(l->err, "step %c%s: ", r->is_product ? 'x' : '+', r->step);
    return append_spellings(l, r->low, r->high);
}

static enum pp_status whole_range(const struct list *l, const struct range *r)
{
    const int64_t low = r->from.integer, high = r->to.integer;
    int64_t step;

    if (pp_units_parse_int(r->step, r->is_product ? 2 : 1, INT64_MAX, &step, l->err) != PP_OK)
        return bad_step(l, r);
    PP_TRY(check_ends(l, r, high < low, low >= 1));
    const uint64_t span = (uint64_t)high - (uint64_t)low;
    if (!r->is_product && span / (uint64_t)step >= PP_SWEEP_VALUES)
        return too_many(l, (double)(span / (uint64_t)step) + 1);
    for (int64_t value = low;;) {
        PP_TRY(add_value(l, pp_arena_printf(l->arena, "%" PRId64, value)));
        if (r->is_product ? value > high / step : high - value < step)
            return PP_OK;
        value = r->is_product ? value * step : value + step;
    }
}

/* Unit of a written number: "%", "B", "". */
struct scale {
    const char *suffix;
    double factor;
};

/* Returns the largest unit of the range that leaves 1 or more; a bare 0 has none. */
static struct scale scale_of(const struct list *l, const struct range *r, double number)
{
    const char *texts[] = {r->low, r->high, r->is_product ? r->high : r->step};
    struct scale best = {NULL, 1};

    for (size_t i = 0; i < PP_COUNT(texts); i++) {
        char *suffix;
        struct pp_option_value one = {0};
        const bool is_zero = strtod(texts[i], &suffix) == 0;
        if ((is_zero && !*suffix) ||
            pp_option_read(l->option, pp_arena_printf(l->arena, "1%s", suffix), &one, NULL) !=
                PP_OK)
            continue;
        const bool is_larger = one.number > best.factor, is_used = number >= one.number,
                   was_used = number >= best.factor;
        if (!best.suffix || (is_larger ? is_used : !was_used))
            best = (struct scale){suffix, one.number};
    }
    return best.suffix ? best : (struct scale){"", 1};
}

/* Adds a number of twelve digits, which hides rounding errors: 30%, not 30.000000000000004%. */
static enum pp_status add_number(const struct list *l, const struct range *r, double number)
{
    const struct scale scale = scale_of(l, r, number);

    return add_value(l, pp_arena_printf(l->arena, "%.12g%s", number / scale.factor, scale.suffix));
}

static enum pp_status real_step(const struct list *l, const struct range *r, double *step)
{
    struct pp_option_value read = {0};
    enum pp_status status;

    if (r->is_product) {
        status = pp_units_parse(r->step, PP_UNIT_COUNT, step, l->err);
    } else {
        status = pp_option_read(l->option, r->step, &read, l->err);
        *step = read.number;
    }
    if (status == PP_OK && !(*step > (r->is_product ? 1 : 0)))
        status = pp_error_set(l->err, PP_EINVAL, "it stays where it is");
    return status == PP_OK ? PP_OK : bad_step(l, r);
}

static enum pp_status real_range(const struct list *l, const struct range *r)
{
    static const double ROUNDING = 1e-9;
    const double low = r->from.number, high = r->to.number;
    const bool is_empty = high < low;
    const bool has_positive_low = low > 0;
    double step;

    PP_TRY(real_step(l, r, &step));
    PP_TRY(check_ends(l, r, is_empty, has_positive_low));
    const double steps = r->is_product ? log(high / low) / log(step) : (high - low) / step;
    const double last = floor(steps + ROUNDING);
    if (!(last < PP_SWEEP_VALUES))
        return too_many(l, last + 1);
    PP_TRY(add_value(l, r->low)); /* both ends stay as typed */
    for (int i = 1; i <= (int)last; i++) {
        if (i > steps - ROUNDING)
            return add_value(l, r->high);
        PP_TRY(add_number(l, r, r->is_product ? low * pow(step, i) : low + i * step));
    }
    return PP_OK;
}

static enum pp_status add_range(const struct list *l, char *item)
{
    struct range r = {.low = item};
    char *high = strchr(item, ':');

    *high++ = '\0';
    char *step = strchr(high, ':');
    if (step)
        *step++ = '\0';
    r.high = high;
    const char *wrong = !*item || !*high       ? "the range lacks an end"
                        : !step || !*step      ? "the range has no step"
                        : strchr(step, ':')    ? "the range has more than three parts"
                        : !strchr("x+", *step) ? "the step does not say whether it is x or +"
                        : !step[1]             ? "the step has no number"
                                               : NULL;
    if (wrong) {
        pp_error_set(l->err, PP_EINVAL, "%s", wrong);
        return append_spellings(l, *item ? item : "8", *high ? high : "64");
    }
    r.is_product = *step == 'x';
    r.step = step + 1;
    PP_TRY(pp_option_read(l->option, r.low, &r.from, l->err));
    PP_TRY(pp_option_read(l->option, r.high, &r.to, l->err));
    return is_whole(l->option) ? whole_range(l, &r) : real_range(l, &r);
}

/* Suggests a range for "4..8" and "4-8". */
static enum pp_status suggest_range(const struct list *l, const char *item)
{
    static const char *const SIGNS[] = {"...", "..", "-"};
    struct pp_option_value end = {0};

    for (size_t i = 0; i < PP_COUNT(SIGNS); i++) {
        const char *sign = strstr(item + (*item != '\0'), SIGNS[i]);
        if (!sign)
            continue;
        const char *low = pp_arena_printf(l->arena, "%.*s", (int)(sign - item), item),
                   *high = sign + strlen(SIGNS[i]);
        if (pp_option_read(l->option, low, &end, NULL) == PP_OK &&
            pp_option_read(l->option, high, &end, NULL) == PP_OK)
            return append_spellings(l, low, high);
    }
    return l->err->status;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static enum pp_status add_item(const struct list *l, char *item)
{
    if (!*item)
        return pp_error_set(l->err, PP_EINVAL, "an item of the list is empty");
    if (is_number(l->option) && strchr(item, ':'))
        return add_range(l, item);
    if (add_value(l, item) == PP_OK)
        return PP_OK;
    return is_number(l->option) ? suggest_range(l, item) : l->err->status;
}

enum pp_status pp_sweep_list(struct pp_arena *arena, const char *typed, const char *text,
                             struct pp_grid_axis *axis, struct pp_error *err)
{
    struct pp_error own;
    const struct pp_option *option = &pp_sim_cli.options[axis->option];
    const struct list l = {arena, option, axis, err ? err : &own};
    const bool is_list = is_number(option) || option->type == PP_OPTION_CHOICE || option->is_word;
    char *items = pp_arena_strdup(arena, text);
    enum pp_status status = PP_OK;

    if (!is_list)
        status = add_value(&l, text);
    for (char *item; is_list && status == PP_OK && (item = strsep(&items, ",")) != NULL;)
        status = add_item(&l, item);
    return status == PP_OK ? PP_OK : pp_error_prefix(l.err, "%s %s: ", typed, text);
}
