/* The options that schedules declare, as rows of a program's table of options. */
#include "schedules/select/options.h"

#include "schedules/registry.h"

#include <assert.h>
#include <string.h>

struct table {
    struct pp_option *rows;
    int count, capacity;
    const struct pp_schedule_option **declared; /* by schedules */
    int declared_count;
};

static void add(struct table *table, const struct pp_option *row)
{
    assert(table->count < table->capacity);
    table->rows[table->count++] = *row;
}

static bool is_after(const struct pp_schedule_option *option, const char *name)
{
    return !strcmp(option->after ? option->after : "splits", name);
}

/* Returns the row of an option, with the group and commands of the row before it. */
static struct pp_option row_of(const struct pp_schedule_option *option,
                               const struct pp_option *before)
{
    return (struct pp_option){
        .name = option->name,
        .aliases = option->aliases,
        .type = option->choices ? PP_OPTION_CHOICE : PP_OPTION_INT,
        .argument = option->argument,
        .choices = option->choices,
        .min = option->choices ? 0 : option->min,
        .max = option->choices               ? 0
               : option->max < PP_OPTION_BIG ? option->max
                                             : PP_OPTION_BIG,
        .default_text = option->default_text,
        .group = before->group,
        .help = option->help,
        .commands = before->commands,
    };
}

static void add_after(struct table *table, const struct pp_option *before)
{
    for (int i = 0; i < table->declared_count; i++)
        if (is_after(table->declared[i], before->name)) {
            const struct pp_option row = row_of(table->declared[i], before);
            add(table, &row);
            add_after(table, &row);
        }
}

void pp_select_complete(struct pp_cli *cli, const struct pp_option *rows, int count)
{
    static struct pp_arena *arena; /* until the process ends */
    struct table table = {0};

    if (!arena)
        arena = pp_arena_create();
    while (pp_schedule_option(table.declared_count))
        table.declared_count++;
    table.declared = PP_ARRAY(arena, const struct pp_schedule_option *, table.declared_count);
    for (int i = 0; i < table.declared_count; i++)
        table.declared[i] = pp_schedule_option(i);
    table.capacity = count + table.declared_count;
    table.rows = PP_ARRAY(arena, struct pp_option, table.capacity);
    for (int i = 0; i < count; i++) {
        add(&table, &rows[i]);
        add_after(&table, &rows[i]);
    }
    pp_wish_table(arena, table.rows, table.count);
    cli->options = table.rows;
    cli->option_count = table.count;
}
