/* --cost: measured durations, and the defaults that come with them. */
#include "sim/resolve/resolve.h"

#include "core/cost/measured/file.h"

enum { OWN_DEFAULTS = 18 };

/* Defaults of a measured run: one device a rank, and a network known by its ends alone. */
static const char *const *defaults_of(struct pp_arena *arena, const struct pp_cost_file *file,
                                      bool has_model)
{
    const char **list = PP_ARRAY(arena, const char *, OWN_DEFAULTS + file->model_count + 1);
    const unsigned again = (unsigned)file->sets[0].shape.again;
    char *how = PP_ARRAY(arena, char, PP_RECOMPUTE_TEXT_BYTES);
    int n = 0;

    list[n++] = "--engine";
    list[n++] = "dag";
    list[n++] = "--tp";
    list[n++] = pp_arena_printf(arena, "%d", file->sets[0].shape.tp);
    if (file->sets[0].shape.tp > 1) {
        list[n++] = "--sequence-parallel";
        list[n++] = file->sets[0].shape.is_sequence ? "on" : "off";
    }
    if (file->sets[0].shape.experts > 0) {
        list[n++] = "--ep";
        list[n++] = pp_arena_printf(arena, "%d", file->sets[0].shape.ep);
    }
    list[n++] = "--gather"; /* as pipeexec gathers */
    list[n++] = "chunk";
    list[n++] = "--gather-buffers";
    list[n++] = "2";
    list[n++] = "--precision";
    list[n++] = pp_cost_file_precision(file->value_bytes);
    list[n++] = "--mbs";
    list[n++] = pp_arena_printf(arena, "%d", file->sets[0].shape.rows);
    if (again) {
        list[n++] = "--recompute";
        list[n++] = pp_recompute_print(PP_RECOMPUTE_SELECTIVE, again, how);
    }
    for (int k = 0; k < file->model_count && !has_model; k++)
        list[n++] = file->model[k];
    return list;
}

/* Refuses options that change links of a cluster, or how layers use them: they change no measured
 * duration. */
static enum pp_status check_links(const struct pp_wish *wish, const char *path,
                                  struct pp_error *err)
{
    const struct pp_given *const of_links[] = {&wish->given.link_bw, &wish->given.nic,
                                               &wish->given.collective_algorithm};

    for (size_t i = 0; i < PP_COUNT(of_links); i++)
        if (of_links[i]->count)
            return pp_error_set(err, PP_EINVAL,
                                "%s has no effect with --cost: messages and gradient sums take the "
                                "times of the channels of %s",
                                of_links[i]->typed, path);
    if (wish->given.tp_split.count && wish->tp_split > 1)
        return pp_error_set(err, PP_EINVAL,
                            "%s has no effect with --cost: %s has the times of whole layers with "
                            "their exchanges",
                            wish->given.tp_split.typed, path);
    return PP_OK;
}

enum pp_status pp_resolve_cost(struct pp_arena *arena, struct pp_wish *wish,
                               struct pp_config *config, struct pp_error *err)
{
    const char *path = wish->cost;
    struct pp_preset *row = PP_NEW(arena, struct pp_preset);

    if (!path)
        return PP_OK;
    if (wish->request.preset_row)
        return pp_error_set(err, PP_EINVAL,
                            "--cost %s brings the model that was measured, --preset %s another; "
                            "give one of them",
                            path, wish->request.preset_row->name);
    if (wish->given.unit.count)
        return pp_error_set(err, PP_EINVAL,
                            "--cost and --unit both say how long ops take; give "
                            "one of them");
    if (wish->constants)
        return pp_error_set(err, PP_EINVAL,
                            "--cost and --constants both say what was measured; give one of them");
    PP_TRY(check_links(wish, path, err));
    PP_TRY(pp_cost_file_read(arena, path, &config->cost, err));
    *row =
        (struct pp_preset){.name = path,
                           .summary = "costs that were measured",
                           .source = config->cost->machine,
                           .arguments = defaults_of(arena, config->cost, wish->given.model.count)};
    if (pp_wish_defaults(arena, wish, row, err) != PP_OK)
        return pp_error_prefix(err, "%s: ", path);
    return PP_OK;
}

enum pp_status pp_resolve_cost_check(const struct pp_config *config, struct pp_error *err)
{
    if (config->cost && config->engine->shares_links)
        return pp_error_set(err, PP_EINVAL,
                            "--engine %s shares links among transfers, of which %s says nothing; "
                            "use --engine dag",
                            config->engine->name, config->cost->path);
    if (config->cost && config->engine_options.eval.ring_flows)
        return pp_error_set(err, PP_EINVAL,
                            "--collectives flows sends gradient sums over the links of a cluster, "
                            "of which %s says nothing; leave it out",
                            config->cost->path);
    return PP_OK;
}
