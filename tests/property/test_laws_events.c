/* A trace without a table is written like the trace with one, byte by byte. */
#include "tests/property/laws.h"
#include "traces/formats/formats.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    void (*print)(const struct pp_trace *trace, FILE *out);
} formats[] = {
    {"CSV", pp_trace_print_csv}, {"JSON", pp_trace_print_chrome}, {"Paje", pp_trace_print_paje}};

static char *printed(const struct pp_trace *trace, size_t format)
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    formats[format].print(trace, out);
    cr_assert_eq(fclose(out), 0);
    return text;
}

static void table_is_not_needed(const struct law_case *c)
{
    struct pp_engine_run run;
    struct pp_error err = {0};

    cr_assert_eq(law_try(c, &pp_engine_dag, &run, &err), PP_OK, "%s: %s", c->text, err.message);
    const struct pp_trace *table = pp_engine_trace(c->arena, &run),
                          *events = pp_engine_events(c->arena, &run);

    cr_assert(table->events && !events->events);
    for (size_t format = 0; format < PP_COUNT(formats); format++) {
        char *with = printed(table, format), *without = printed(events, format);
        cr_assert_str_eq(with, without, "%s: %s", c->text, formats[format].name);
        free(with);
        free(without);
    }
}

Test(laws, files_need_no_table_of_events)
{
    law_for_each(LAW_ANY, 0, 63, 6, table_is_not_needed);
}
