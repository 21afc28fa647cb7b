/* One argument read by the type of its option. */
#include "core/cli/table.h"
#include "core/units.h"

#include <assert.h>
#include <strings.h>

int pp_choices_split(const char *choices, char text[PP_CHOICES_BYTES],
                     const char *names[PP_CHOICES_MAX + 1])
{
    int count = 0;

    assert(choices && strlen(choices) < PP_CHOICES_BYTES);
    memcpy(text, choices, strlen(choices) + 1);
    for (char *place = text; place; count++) {
        assert(count < PP_CHOICES_MAX);
        names[count] = strsep(&place, "|");
    }
    names[count] = NULL;
    return count;
}

static enum pp_status read_choice(const struct pp_option *option, const char *text,
                                  struct pp_option_value *value, struct pp_error *err)
{
    char copy[PP_CHOICES_BYTES];
    const char *names[PP_CHOICES_MAX + 1];
    const int count = pp_choices_split(option->choices, copy, names);

    for (int i = 0; i < count; i++)
        if (!strcasecmp(names[i], text)) {
            value->integer = i;
            return PP_OK;
        }
    pp_error_set(err, PP_EINVAL, "\"%s\" is not one of %s", text, names[0]);
    for (int i = 1; i < count; i++)
        pp_error_append(err, "%s%s", i + 1 < count ? ", " : " and ", names[i]);
    const char *near = NULL;
    for (const char *const *pair = option->meant; pair && *pair && !near; pair += 2)
        near = strcasecmp(pair[0], text) == 0 ? pair[1] : NULL;
    near = near ? near : pp_suggest(text, names);
    if (near)
        pp_error_append(err, "; did you mean \"%s\"?", near);
    return PP_EINVAL;
}

static enum pp_status read_integer(const struct pp_option *option, const char *text,
                                   struct pp_option_value *value, struct pp_error *err)
{
    const bool is_int = option->type == PP_OPTION_INT;
    int64_t low = is_int ? INT32_MIN : INT64_MIN, high = is_int ? INT32_MAX : INT64_MAX;

    if (option->min != 0 || option->max != 0) {
        low = option->min > low ? option->min : low;
        high = option->max < high ? option->max : high;
    }
    return pp_units_parse_whole(text, low, high, &value->integer, err);
}

static enum pp_status read_number(const struct pp_option *option, const char *text,
                                  enum pp_unit unit, double *value, struct pp_error *err)
{
    const enum pp_status status = pp_units_parse(text, unit, value, err);

    return status == PP_OK || !option->kind
               ? status
               : pp_error_set(err, PP_EINVAL, "\"%s\" is not %s", text, option->kind);
}

enum pp_status pp_option_read(const struct pp_option *option, const char *text,
                              struct pp_option_value *value, struct pp_error *err)
{
    value->text = text;
    if (pp_option_has_argument(option) && !*text)
        return pp_error_set(err, PP_EINVAL, "the argument is empty: %s is expected",
                            option->argument ? option->argument : "a value");
    switch (option->type) {
    case PP_OPTION_FLAG:
        value->integer = 1;
        return PP_OK;
    case PP_OPTION_STRING:
        return PP_OK;
    case PP_OPTION_CHOICE:
        return read_choice(option, text, value, err);
    case PP_OPTION_INT:
    case PP_OPTION_LONG:
        return read_integer(option, text, value, err);
    case PP_OPTION_COUNT:
        return read_number(option, text, PP_UNIT_COUNT, &value->number, err);
    case PP_OPTION_FRAC:
        return read_number(option, text, PP_UNIT_FRAC, &value->number, err);
    }
    return PP_OK;
}
