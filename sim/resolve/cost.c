/* --cost: durations that were measured, and what a run of them takes for granted. */
#include "sim/resolve/resolve.h"

#include "core/cost/measured/file.h"

enum { OWN_DEFAULTS = 12 };

/* Defaults of a measured run: one device a rank, and a network known by its ends alone. */
static const char *const *defaults_of(struct pp_arena *arena, const struct pp_cost_file *file,
                                      bool has_model)
{
    const char **list = PP_ARRAY(arena, const char *, OWN_DEFAULTS + file->model_count + 1);
    int n = 0;

    list[n++] = "--engine";
    list[n++] = "dag";
    list[n++] = "--tp";
    list[n++] = "1";
    list[n++] = "--precision";
    list[n++] = pp_cost_file_precision(file->value_bytes);
    list[n++] = "--mbs";
    list[n++] = pp_arena_printf(arena, "%d", file->sets[0].shape.rows);
    for (int k = 0; k < file->model_count && !has_model; k++)
        list[n++] = file->model[k];
    return list;
}

/* What changes links of a cluster changes nothing that was measured. */
static enum pp_status check_links(const struct pp_request *request, const char *path,
                                  struct pp_error *err)
{
    static const char *const OF_LINKS[] = {"link-bw", "nic", "collective-algorithm"};
    char typed[PP_REQUEST_TYPED_BYTES];

    for (size_t i = 0; i < sizeof(OF_LINKS) / sizeof(*OF_LINKS); i++)
        if (pp_request_has(request, OF_LINKS[i]))
            return pp_error_set(err, PP_EINVAL,
                                "%s has no effect with --cost: messages and gradient sums take "
                                "what the channels of %s took",
                                pp_request_typed(request, OF_LINKS[i], typed), path);
    return PP_OK;
}

enum pp_status pp_resolve_cost(struct pp_arena *arena, struct pp_request *request,
                               struct pp_config *config, struct pp_error *err)
{
    const char *path = pp_request_text(request, "cost", NULL);
    struct pp_preset *row = PP_NEW(arena, struct pp_preset);

    if (!path)
        return PP_OK;
    if (request->preset_row)
        return pp_error_set(err, PP_EINVAL,
                            "--cost %s brings the model that was measured, --preset %s another; "
                            "give one of them",
                            path, request->preset_row->name);
    if (pp_request_has(request, "unit"))
        return pp_error_set(err, PP_EINVAL,
                            "--cost and --unit both say how long ops take; give "
                            "one of them");
    PP_TRY(check_links(request, path, err));
    PP_TRY(pp_cost_file_read(arena, path, &config->cost, err));
    *row = (struct pp_preset){
        .name = path,
        .summary = "costs that were measured",
        .source = config->cost->machine,
        .arguments = defaults_of(arena, config->cost, pp_request_has(request, "model"))};
    if (pp_request_defaults(arena, request, row, err) != PP_OK)
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
    if (config->cost && config->engine_options.plan.ring_flows)
        return pp_error_set(err, PP_EINVAL,
                            "--collectives flows sends gradient sums over the links of a cluster, "
                            "of which %s says nothing; leave it out",
                            config->cost->path);
    return PP_OK;
}
