/* Memory of a run, a bar for each rank, or of several runs, a bar for each. */
#include "sim/figure/figure.h"

static void add_bar(struct pp_plot_memory *memory, const char *label,
                    const struct pp_rank_memory *m)
{
    memory->bars[memory->count++] =
        (struct pp_plot_bar){.label = label,
                             .part_bytes = {m->params_bytes, m->grads_bytes, m->optimizer_bytes,
                                            m->activations_bytes, m->buffers_bytes, m->other_bytes},
                             .activations = m->peak_activations};
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
    const bool is_one = count == 1 && results->status == PP_OK;
    const int bars = is_one ? results->program->ranks : count;
    const struct pp_config *first = NULL;

    *memory = (struct pp_plot_memory){.axis = is_one ? "pipeline rank" : "schedule",
                                      .bars = PP_ARRAY(arena, struct pp_plot_bar, bars)};
    for (int i = 0; i < count; i++) {
        if (results[i].status != PP_OK)
            continue;
        first = first ? first : &results[i].config;
        if (!is_one)
            add_bar(memory, results[i].config.schedule_name, fullest(&results[i]));
    }
    if (!first)
        return pp_error_set(err, PP_EINVAL, "no run to draw: all were refused");
    for (int rank = 0; is_one && rank < bars; rank++)
        add_bar(memory, pp_arena_printf(arena, "%d", rank), &results->memory[rank]);
    memory->title =
        pp_plot_memory_title(arena, is_one ? first->schedule_name : NULL, first->is_unit);
    memory->has_bytes = !first->is_unit;
    memory->capacity_bytes = first->is_unit ? 0 : first->cluster.device.memory_bytes;
    return PP_OK;
}
