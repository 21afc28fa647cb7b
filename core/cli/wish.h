/* core/cli/wish.h — a row of a table of options declares the field of its value, too.
 *
 * A header of a program has a row for each option: PP_ROW_INT(micro_batches, "N", 1, BIG, ...). A
 * '_' in a field is '-' in the name of the option. The program includes the rows three times.
 * PP_ROW is PP_ROW_FIELD for the values, and PP_ROW_GIVEN for how they were given. It is
 * PP_ROW_ENTRY for the table, where PP_WISH names the struct. PP_ROW_AGAIN is a further row of an
 * option, for other commands. So the struct of a program has
 *
 *     struct pp_request request;    first
 *     wish->micro_batches           the value
 *     wish->given.micro_batches     how it was given
 */
#pragma once

#include "core/cli/request.h"

#include <stddef.h>

struct pp_given {
    const struct pp_option *option;
    enum pp_origin origin;
    int count;           /* times given, 0 = not */
    const char *text;    /* argument as typed; the default of an option that is not given */
    const char **all;    /* all arguments if repeatable, else only the last one */
    const char *spelled; /* "--pp" */
    const char *typed;   /* for messages: "--pp 12", or "--pp" where it is not given */
};

/* Rows: field, argument, bounds or choices, heading, commands; then members of struct pp_option. */
#define PP_ROW_FLAG(field, group, commands, ...)                                                   \
    PP_ROW(FLAG, field, NULL, group, commands, __VA_ARGS__)
#define PP_ROW_TEXT(field, argument, group, commands, ...)                                         \
    PP_ROW(STRING, field, argument, group, commands, __VA_ARGS__)
#define PP_ROW_FRAC(field, argument, group, commands, ...)                                         \
    PP_ROW(FRAC, field, argument, group, commands, __VA_ARGS__)
#define PP_ROW_COUNT(field, argument, group, commands, ...)                                        \
    PP_ROW(COUNT, field, argument, group, commands, __VA_ARGS__)
#define PP_ROW_CHOICE(field, argument, names, group, commands, ...)                                \
    PP_ROW(CHOICE, field, argument, group, commands, .choices = (names), __VA_ARGS__)
#define PP_ROW_INT(field, argument, least, most, group, commands, ...)                             \
    PP_ROW(INT, field, argument, group, commands, .min = (least), .max = (most), __VA_ARGS__)
#define PP_ROW_LONG(field, argument, least, most, group, commands, ...)                            \
    PP_ROW(LONG, field, argument, group, commands, .min = (least), .max = (most), __VA_ARGS__)

#define PP_FIELD_FLAG                  bool
#define PP_FIELD_STRING                const char *
#define PP_FIELD_CHOICE                int /* index */
#define PP_FIELD_INT                   int
#define PP_FIELD_LONG                  int64_t
#define PP_FIELD_COUNT                 double
#define PP_FIELD_FRAC                  double
#define PP_ROW_FIELD(kind, field, ...) PP_FIELD_##kind field;
#define PP_ROW_GIVEN(kind, field, ...) struct pp_given field;
#define PP_ROW_NOTHING(kind, field, ...)
#define PP_ROW_ENTRY(kind_, field_, argument_, group_, commands_, ...)                             \
    {.name = #field_,                                                                              \
     .type = PP_OPTION_##kind_,                                                                    \
     .argument = (argument_),                                                                      \
     .group = (group_),                                                                            \
     .commands = (commands_),                                                                      \
     .value_at = offsetof(PP_WISH, field_),                                                        \
     .given_at = offsetof(PP_WISH, given.field_),                                                  \
     __VA_ARGS__},

/* Completes a table: names with dashes, defaults as values. Both are in the arena. */
void pp_wish_table(struct pp_arena *arena, struct pp_option *options, int count);
/* Fills the struct that begins with this request. An option that is given has the value of the
 * flags, else of the preset. Any other has its default if that is a value (`neutral`, or as --help
 * shows it), else 0, or NULL for a text. */
void pp_wish_bind(struct pp_arena *arena, struct pp_request *request);
/* Gives an option of a bound request its default again. */
void pp_wish_forget(struct pp_request *request, const struct pp_option *option);
