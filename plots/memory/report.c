/* Reports of --json: read strictly, then drawn as bars of memory and of links. */
#include "plots/memory/report.h"

#include "core/text/json.h"

#include <string.h>

enum { MAX_LIST = 1 << 20 };
static const double MAX_BYTES = 1e18, MAX_S = 1e15;

/* An object within the file; its name has the path to it. */
struct place {
    struct pp_arena *arena;
    struct pp_json json;
};

static struct place inside(const struct place *p, json_t *object, const char *where, int index)
{
    const char *name = index < 0
                           ? pp_arena_printf(p->arena, "%s: %s", p->json.name, where)
                           : pp_arena_printf(p->arena, "%s: %s[%d]", p->json.name, where, index);

    return (struct place){p->arena, {name, object}};
}

static enum pp_status number(const struct place *p, const char *key, double high, double *value,
                             bool *found, struct pp_error *err)
{
    return pp_json_number(&p->json, p->json.root, key, 0, high, value, found, err);
}

static enum pp_status text(const struct place *p, const char *key, const char **value,
                           struct pp_error *err)
{
    PP_TRY(pp_json_string(&p->json, p->json.root, key, value, NULL, err));
    *value = pp_arena_strdup(p->arena, *value);
    return PP_OK;
}

static enum pp_status list_of(const struct place *p, const char *key, size_t least, json_t **list,
                              struct pp_error *err)
{
    *list = json_object_get(p->json.root, key);
    if (!json_is_array(*list))
        return pp_error_set(err, PP_EINVAL, "%s: \"%s\" must be a list", p->json.name, key);
    if (json_array_size(*list) < least || json_array_size(*list) > MAX_LIST)
        return pp_error_set(err, PP_EINVAL, "%s: \"%s\" has %zu entries, expected %zu to %d",
                            p->json.name, key, json_array_size(*list), least, MAX_LIST);
    return PP_OK;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static enum pp_status read_parts(const struct place *p, struct pp_plot_bar *rank,
                                 struct pp_error *err)
{
    json_t *memory = json_object_get(p->json.root, "memory");

    if (!json_is_object(memory))
        return pp_error_set(
            err, PP_EINVAL,
            "%s: \"memory\" is missing, as in reports of old versions; run pipesim --json again",
            p->json.name);
    const struct place parts = inside(p, memory, "memory", -1);
    for (int k = 0; k < PP_PLOT_MEMORY_PARTS; k++) {
        bool found;
        PP_TRY(number(&parts, pp_plot_memory_parts[k].key, MAX_BYTES, &rank->part_bytes[k],
                      pp_plot_memory_parts[k].is_rare ? &found : NULL, err));
    }
    return PP_OK;
}

static double fill_of(const struct pp_report_run *run, int rank)
{
    double sum = 0;

    for (int k = 0; k < PP_PLOT_MEMORY_PARTS; k++)
        sum += run->ranks[rank].part_bytes[k];
    return run->is_unit ? run->ranks[rank].activations : sum;
}

static enum pp_status read_ranks(const struct place *p, struct pp_report_run *run,
                                 struct pp_error *err)
{
    json_t *list;

    PP_TRY(list_of(p, "ranks", 1, &list, err));
    run->rank_count = (int)json_array_size(list);
    run->ranks = PP_ARRAY(p->arena, struct pp_plot_bar, run->rank_count);
    for (int i = 0; i < run->rank_count; i++) {
        const struct place place = inside(p, json_array_get(list, (size_t)i), "ranks", i);
        int64_t rank;
        PP_TRY(pp_json_int(&place.json, place.json.root, "rank", i, i, &rank, NULL, err));
        PP_TRY(
            number(&place, "peak_activations", MAX_BYTES, &run->ranks[i].activations, NULL, err));
        run->ranks[i].label = pp_arena_printf(p->arena, "%d", i);
        if (!run->is_unit)
            PP_TRY(read_parts(&place, &run->ranks[i], err));
        if (fill_of(run, i) > fill_of(run, run->peak_rank))
            run->peak_rank = i;
    }
    return PP_OK;
}

/* ---- links ----------------------------------------------------------------------------------- */

static enum pp_status read_link(const struct place *p, struct pp_plot_link *link,
                                struct pp_error *err)
{
    static const double MAX_USE = 1e9;
    int64_t count;

    PP_TRY(text(p, "name", &link->name, err));
    PP_TRY(pp_json_int(&p->json, p->json.root, "count", 1, INT32_MAX, &count, NULL, err));
    link->count = (int)count;
    PP_TRY(number(p, "mean_frac", MAX_USE, &link->mean_frac, NULL, err));
    return number(p, "utilisation_frac", MAX_USE, &link->max_frac, NULL, err);
}

static enum pp_status read_links(const struct place *p, struct pp_report_run *run,
                                 struct pp_error *err)
{
    json_t *network = json_object_get(p->json.root, "network"), *list;

    if (json_is_null(network))
        return PP_OK;
    if (!json_is_object(network))
        return pp_error_set(err, PP_EINVAL, "%s: \"network\" must be an object or null",
                            p->json.name);
    const struct place place = inside(p, network, "network", -1);
    PP_TRY(list_of(&place, "links", 0, &list, err));
    run->link_count = (int)json_array_size(list);
    run->links = PP_ARRAY(p->arena, struct pp_plot_link, run->link_count + 1);
    for (int i = 0; i < run->link_count; i++) {
        const struct place link = inside(&place, json_array_get(list, (size_t)i), "links", i);
        PP_TRY(read_link(&link, &run->links[i], err));
    }
    return PP_OK;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static enum pp_status read_run(const struct place *p, struct pp_report_run *run,
                               struct pp_error *err)
{
    bool has_device;

    *run = (struct pp_report_run){0};
    PP_TRY(text(p, "schedule", &run->schedule, err));
    PP_TRY(text(p, "engine", &run->engine, err));
    PP_TRY(number(p, "iteration_s", MAX_S, &run->iteration_s, NULL, err));
    PP_TRY(number(p, "device_mem_bytes", MAX_BYTES, &run->device_bytes, &has_device, err));
    run->is_unit = !has_device;
    const json_int_t vp =
        json_integer_value(json_object_get(json_object_get(p->json.root, "layout"), "vp"));
    run->vp = vp > 1 && vp <= INT32_MAX ? (int)vp : 1;
    PP_TRY(read_ranks(p, run, err));
    return read_links(p, run, err);
}

static enum pp_status check_schema(const struct place *p, const char *wanted, struct pp_error *err)
{
    const char *schema;

    PP_TRY(pp_json_string(&p->json, p->json.root, "schema", &schema, NULL, err));
    if (strcmp(schema, wanted) != 0)
        return pp_error_set(err, PP_EINVAL, "%s: \"schema\" is \"%.64s\", expected \"%s\"",
                            p->json.name, schema, wanted);
    return PP_OK;
}

static enum pp_status read_comparison(const struct place *p, struct pp_report *report,
                                      struct pp_error *err)
{
    json_t *list;

    PP_TRY(list_of(p, "runs", 1, &list, err));
    const int count = (int)json_array_size(list);
    report->runs = PP_ARRAY(p->arena, struct pp_report_run, count);
    for (int i = 0; i < count; i++) {
        const struct place run = inside(p, json_array_get(list, (size_t)i), "runs", i);
        PP_TRY(check_schema(&run, "pipesim.report/1", err));
        if (json_object_get(run.json.root, "refused"))
            continue;
        PP_TRY(read_run(&run, &report->runs[report->count++], err));
    }
    if (report->count == 0)
        return pp_error_set(err, PP_EINVAL, "%s: all runs were refused", p->json.name);
    return PP_OK;
}

static enum pp_status read_report(const struct place *p, struct pp_report *report,
                                  struct pp_error *err)
{
    const char *schema;

    PP_TRY(pp_json_string(&p->json, p->json.root, "schema", &schema, NULL, err));
    if (!strcmp(schema, "pipesim.comparison/1"))
        return read_comparison(p, report, err);
    if (strcmp(schema, "pipesim.report/1") != 0)
        return pp_error_set(err, PP_EINVAL,
                            "%s: \"schema\" is \"%.64s\", expected \"pipesim.report/1\" or "
                            "\"pipesim.comparison/1\"",
                            p->json.name, schema);
    report->runs = PP_NEW(p->arena, struct pp_report_run);
    report->count = 1;
    return read_run(p, report->runs, err);
}

enum pp_status pp_report_parse(struct pp_arena *arena, const char *name, const char *text,
                               size_t length, struct pp_report *report, struct pp_error *err)
{
    struct place place = {.arena = arena};

    *report = (struct pp_report){.name = pp_arena_strdup(arena, name)};
    PP_TRY(pp_json_parse(name, text, length, &place.json, err));
    const enum pp_status status = read_report(&place, report, err);
    pp_json_close(&place.json);
    return status;
}

/* ---- bars ------------------------------------------------------------------------------------ */

static enum pp_status check_alike(const struct pp_report *report, struct pp_error *err)
{
    for (int i = 1; i < report->count; i++)
        if (report->runs[i].is_unit != report->runs[0].is_unit)
            return pp_error_set(err, PP_EINVAL, "%s: runs[%d] is in unit mode and runs[%d] is not",
                                report->name, report->runs[0].is_unit ? 0 : i,
                                report->runs[0].is_unit ? i : 0);
    return PP_OK;
}

enum pp_status pp_report_memory(struct pp_arena *arena, const struct pp_report *report,
                                struct pp_plot_memory *memory, struct pp_error *err)
{
    const struct pp_report_run *first = &report->runs[0];
    const bool is_one = report->count == 1;

    PP_TRY(check_alike(report, err));
    *memory = (struct pp_plot_memory){
        .title = pp_plot_memory_title(arena, is_one ? first->schedule : NULL, first->is_unit),
        .axis = is_one ? "pipeline rank" : "schedule",
        .bars = first->ranks,
        .count = is_one ? first->rank_count : report->count,
        .has_bytes = !first->is_unit,
        .is_of_ranks = !is_one,
        .capacity_bytes = first->device_bytes};
    if (is_one)
        return PP_OK;
    memory->bars = PP_ARRAY(arena, struct pp_plot_bar, report->count);
    for (int i = 0; i < report->count; i++) {
        const struct pp_report_run *run = &report->runs[i];
        memory->bars[i] = run->ranks[run->peak_rank];
        memory->bars[i].label = run->schedule;
        memory->bars[i].activations /= run->vp;
    }
    return PP_OK;
}

enum pp_status pp_report_links(struct pp_arena *arena, const struct pp_report *report,
                               struct pp_plot_links *links, struct pp_error *err)
{
    const struct pp_report_run *run = &report->runs[0];

    if (report->count > 1)
        return pp_error_set(err, PP_EINVAL,
                            "%s: the links of one run are drawn, and there are %d runs",
                            report->name, report->count);
    if (run->link_count == 0)
        return pp_error_set(err, PP_EINVAL, "%s: no link carries anything%s", report->name,
                            run->is_unit ? " in unit mode" : "");
    *links = (struct pp_plot_links){
        .title = pp_arena_printf(arena, "%s (%s): use of links", run->schedule, run->engine),
        .links = run->links,
        .count = run->link_count};
    return PP_OK;
}
