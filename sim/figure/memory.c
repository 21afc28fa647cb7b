/* Memory of a run, a bar for each rank, or of several runs, a bar for each. */
#include "sim/figure/figure.h"

static void add_bar(struct pp_plot_memory *memory, const char *label,
                    const struct pp_rank_memory *m)
{
    memory->bars[memory->count++] = (struct pp_plot_bar){
        .label = label,
        .part_bytes = {m->params_bytes, m->grads_bytes, m->optimizer_bytes, m->activations_bytes,
                       m->kv_bytes, m->buffers_bytes, m->other_bytes},
        .activations = m->peak_activations};
}

/* The rank with most bytes; in unit mode, with most chunk activations. */
static const struct pp_rank_memory *fullest(const struct pp_result *r)
{
    const struct pp_rank_memory *most = &r->memory[r->peak_rank];

    for (int i = 0; i < r->program->ranks && r->config.is_unit; i++)
        if (r->memory[i].peak_activations > most->peak_activations)
            most = &r->memory[i];
    return most;
}

struct pp_plot_memory pp_figure_memory(struct pp_arena *arena, const struct pp_result *results,
                                       int count)
{
    const bool is_one = count == 1;
    const int bars = is_one ? results->program->ranks : count;
    const struct pp_config *first = &results->config;
    struct pp_plot_memory memory = {
        .axis = is_one ? "pipeline rank" : "schedule",
        .bars = PP_ARRAY(arena, struct pp_plot_bar, bars),
        .title = pp_plot_memory_title(arena, is_one ? first->schedule_name : NULL, first->is_unit),
        .has_bytes = !first->is_unit,
        .is_of_ranks = !is_one,
        .capacity_bytes = first->is_unit ? 0 : pp_config_capacity_bytes(first)};

    for (int i = 0; i < bars; i++)
        if (is_one)
            add_bar(&memory, pp_arena_printf(arena, "%d", i), &results->memory[i]);
        else
            add_bar(&memory, results[i].config.schedule_name, fullest(&results[i]));
    for (int i = 0; i < bars && !is_one; i++)
        memory.bars[i].activations /= results[i].config.layout.vp;
    return memory;
}
