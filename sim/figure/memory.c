#include "sim/figure/figure.h"

#include <string.h>

struct sheet {
    struct pp_arena *arena;
    struct pp_plot_memory *memory;
    const char **labels;
    double (*bytes)[PP_PLOT_MEMORY_PARTS];
    double *activations;
};

static struct sheet sheet_make(struct pp_arena *arena, struct pp_plot_memory *memory, int bars)
{
    return (struct sheet){
        .arena = arena,
        .memory = memory,
        .labels = PP_ARRAY(arena, const char *, bars),
        .bytes = pp_arena_alloc(arena, sizeof(double[PP_PLOT_MEMORY_PARTS]) * (size_t)bars),
        .activations = PP_ARRAY(arena, double, bars)};
}

static void add_bar(struct sheet *s, const char *label, const struct pp_rank_memory *m)
{
    const int bar = s->memory->bars++;
    const double bytes[PP_PLOT_MEMORY_PARTS] = {m->params_bytes,    m->grads_bytes,
                                                m->optimizer_bytes, m->activations_bytes,
                                                m->buffers_bytes,   m->other_bytes};

    s->labels[bar] = label;
    memcpy(s->bytes[bar], bytes, sizeof(bytes));
    s->activations[bar] = m->peak_activations;
}

static void set_data(const struct sheet *s, const struct pp_config *c)
{
    s->memory->labels = s->labels;
    if (c->is_unit) {
        s->memory->activations = s->activations;
        return;
    }
    s->memory->part_bytes = (const double(*)[PP_PLOT_MEMORY_PARTS])s->bytes;
    s->memory->capacity_bytes = c->cluster.device.memory_bytes;
}

static void show_ranks(struct pp_arena *arena, const struct pp_result *r,
                       struct pp_plot_memory *memory)
{
    struct sheet sheet = sheet_make(arena, memory, r->program->ranks);

    memory->axis = "pipeline rank";
    memory->title = pp_plot_memory_title(arena, r->config.schedule_name, r->config.is_unit);
    for (int i = 0; i < r->program->ranks; i++)
        add_bar(&sheet, pp_arena_printf(arena, "%d", i), &r->memory[i]);
    set_data(&sheet, &r->config);
}

/* In unit mode no rank is the fullest in bytes. */
static const struct pp_rank_memory *fullest(const struct pp_result *r)
{
    const struct pp_rank_memory *most = &r->memory[r->peak_rank];

    for (int i = 0; i < r->program->ranks && r->config.is_unit; i++)
        if (r->memory[i].peak_activations > most->peak_activations)
            most = &r->memory[i];
    return most;
}

enum pp_status pp_figure_memory(struct pp_arena *arena, const struct pp_result *results, int count,
                                struct pp_plot_memory *memory, struct pp_error *err)
{
    struct sheet sheet = sheet_make(arena, memory, count);
    const struct pp_config *first = NULL;

    *memory = (struct pp_plot_memory){.axis = ""};
    if (count == 1 && results->status == PP_OK) {
        show_ranks(arena, results, memory);
        return PP_OK;
    }
    for (int i = 0; i < count; i++)
        if (results[i].status == PP_OK) {
            first = first ? first : &results[i].config;
            add_bar(&sheet, results[i].config.schedule_name, fullest(&results[i]));
        }
    if (!first)
        return pp_error_set(err, PP_EINVAL, "no run to draw: all were refused");
    memory->axis = "schedule";
    memory->title =
        first->is_unit ? "activations of the fullest rank" : "peak memory of the fullest rank";
    set_data(&sheet, first);
    return PP_OK;
}
