/* Rows against the JSON of the same run, which goes another way: parsed anew, simulated with a
 * trace, printed by jansson. */
#include "schedules/registry.h"
#include "sim/report/report.h"
#include "sim/resolve/resolve.h"
#include "tests/unit/sim/sweep/sweep_case.h"

#include "core/text/csv.h"

#include <jansson.h>
#include <stdlib.h>

struct table {
    struct pp_csv csv; /* row 0: the header */
};

static struct table table_of(struct pp_arena *arena, const struct pp_grid *grid)
{
    char *text;
    size_t length;
    struct table table;
    FILE *out = open_memstream(&text, &length);
    struct pp_error err = {0};

    pp_sweep_header(grid, out);
    fputc('\n', out);
    for (int64_t i = 0; i < grid->points; i++)
        pp_sweep_run_point(arena, grid, i, out);
    fclose(out);
    cr_assert_eq(pp_csv_parse(arena, "sweep", text, length, &table.csv, NULL, &err), PP_OK, "%s",
                 err.message);
    free(text);
    cr_assert_eq(table.csv.count, grid->points + 1);
    for (int i = 0; i < table.csv.count; i++)
        cr_assert_eq(table.csv.rows[i].count, table.csv.rows[0].count, "row %d", i);
    return table;
}

static const char *field(const struct table *table, int row, const char *column)
{
    for (int i = 0; i < table->csv.rows[0].count; i++)
        if (!strcmp(table->csv.rows[0].fields[i], column))
            return table->csv.rows[row + 1].fields[i];
    cr_assert_fail("no column %s", column);
    return "";
}

/* What `pipesim run --json` says of a command line; NULL when it refuses it. */
static json_t *json_of(struct pp_arena *arena, const char *line, bool is_listed,
                       struct pp_error *err)
{
    struct pp_parsed parsed;
    struct pp_wish wish;
    struct pp_subject subject;
    struct pp_config config;
    struct pp_result result;
    char *text;
    size_t length;

    cr_assert_eq(sc_parse(arena, "run", line, &parsed, err), PP_OK, "%s", err->message);
    if (pp_wish_open(arena, &parsed, &wish, err) != PP_OK ||
        pp_subject_open(arena, &wish.request, wish.schedule, &subject, err) != PP_OK)
        cr_assert_fail("%s", err->message);
    subject.is_listed = is_listed;
    if (pp_resolve(arena, &wish, &subject, &config, NULL, err) != PP_OK ||
        pp_simulate(arena, &config, PP_FULL, NULL, &result, err) != PP_OK)
        return NULL;
    FILE *out = open_memstream(&text, &length);
    pp_report_json(&result, out);
    fclose(out);
    json_t *json = json_loads(text, 0, NULL);
    cr_assert_not_null(json);
    free(text);
    return json;
}

static double most_activations(const json_t *json)
{
    const json_t *ranks = json_object_get(json, "ranks");
    double most = 0;

    for (size_t i = 0; i < json_array_size(ranks); i++) {
        const double here =
            json_number_value(json_object_get(json_array_get(ranks, i), "peak_activations"));
        most = here > most ? here : most;
    }
    return most;
}

/* The last name of a JSON field, wherever it is. */
static const json_t *find(const json_t *json, const char *name)
{
    static const char *const PARTS[] = {"layout", "time_frac", "memory"};

    for (size_t i = 0; i < sizeof(PARTS) / sizeof(*PARTS); i++) {
        const json_t *value = json_object_get(json_object_get(json, PARTS[i]), name);
        if (value)
            return value;
    }
    return json_object_get(json, name);
}

static void expect_same(const char *where, const char *name, const char *text, const json_t *value)
{
    char *end;

    if (!value || json_is_null(value)) {
        cr_expect_str_empty(text, "%s: %s is %s", where, name, text);
    } else if (json_is_string(value)) {
        cr_expect_str_eq(text, json_string_value(value), "%s: %s", where, name);
    } else if (json_is_boolean(value)) {
        cr_expect_str_eq(text, json_is_true(value) ? "true" : "false", "%s: %s", where, name);
    } else {
        const double number = strtod(text, &end);
        cr_expect(end != text && !*end && number == json_number_value(value), "%s: %s is %s", where,
                  name, text);
    }
}

static const char *const FIGURES[] = {
    "schedule",
    "engine",
    "model",
    "cluster",
    "gpus",
    "tp",
    "pp",
    "dp",
    "cp",
    "ep",
    "vp",
    "micro_batches",
    "mbs",
    "gbs",
    "seq",
    "iteration_s",
    "bubble_frac",
    "mfu",
    "span_bubble_frac",
    "hfu",
    "tokens_per_s",
    "fits",
    "forward",
    "peak_mem_bytes",
    "exposed_comm_frac",
    "device_mem_bytes",
    "backward",
    "recompute",
    "tp_comm",
    "cp_comm",
    "ep_comm",
    "p2p",
    "dp_sync",
    "optimizer",
    "moves",
    "bubble",
    "params_bytes",
    "grads_bytes",
    "kv_bytes",
    "buffers_bytes",
    "optimizer_bytes",
    "activations_bytes",
    "other_bytes",
    "tokens_per_s_per_gpu",
    "model_flops_per_s_per_gpu",
};
enum { FIGURE_COUNT = sizeof(FIGURES) / sizeof(*FIGURES) };

static void compare_row(struct pp_arena *arena, const struct pp_grid *grid,
                        const struct table *table, int row, const json_t *json)
{
    const char *where = pp_grid_text(arena, grid, row);

    for (int i = 0; i < FIGURE_COUNT; i++)
        expect_same(where, FIGURES[i], field(table, row, FIGURES[i]), find(json, FIGURES[i]));
    cr_expect_eq(strtod(field(table, row, "peak_activations"), NULL), most_activations(json), "%s",
                 where);
    cr_expect_str_eq(field(table, row, "status"), "ok");
    cr_expect_str_empty(field(table, row, "reason"));
}

static const char *const STATUS[] = {
    [PP_EFAIL] = "failed", [PP_EINVAL] = "refused", [PP_EPROGRAM] = "illegal"};

/* From the quotes of a shell to the words of sc_parse(). */
static const char *unquote(char *text)
{
    char *to = text;
    bool is_quoted = false;

    for (const char *from = text; *from; from++) {
        if (*from == '\'')
            is_quoted = !is_quoted;
        else
            *to++ = *from == ' ' && is_quoted ? '~' : *from;
    }
    *to = '\0';
    return text;
}

/* How many rows have figures. */
static int compare(const char *line)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_grid grid = sc_grid(arena, line);
    const struct table table = table_of(arena, &grid);
    int count = 0;

    for (int row = 0; row < grid.points; row++) {
        struct pp_error err = {0};
        const char *text = unquote(pp_arena_strdup(arena, pp_grid_text(arena, &grid, row)));
        char want[32], key[PP_SWEEP_KEY_BYTES];
        json_t *json = json_of(arena, text, grid.is_listed, &err);
        snprintf(want, sizeof(want), "%d", row);
        cr_expect_str_eq(field(&table, row, "point"), want);
        snprintf(want, sizeof(want), "%d", (int)grid.points);
        cr_expect_str_eq(field(&table, row, "points"), want);
        cr_expect_str_eq(field(&table, row, "key"), pp_grid_key(&grid, row, key));
        if (json) {
            compare_row(arena, &grid, &table, row, json);
            json_decref(json);
            count++;
            continue;
        }
        cr_expect_str_eq(field(&table, row, "status"), STATUS[err.status], "%s", text);
        cr_expect_eq(strncmp(field(&table, row, "reason"), err.message, strcspn(err.message, "\n")),
                     0, "%s: %s", text, err.message);
        cr_expect_str_empty(field(&table, row, "iteration_s"));
        cr_expect_str_empty(field(&table, row, "peak_activations"));
    }
    return count;
}

Test(sweep_row, is_the_json_of_the_run_for_every_schedule_in_units)
{
    cr_assert_gt(compare("--schedule all --pp 4,5 --micro-batches 8,10 --unit F=1,B=2 "
                         "--unit F=1,I=1,W=0.5,C=0.1"),
                 100);
}

Test(sweep_row, is_the_json_of_the_run_for_every_schedule_on_a_cluster)
{
    cr_assert_gt(compare("--schedule all --engine dag --model gpt2-64 --cluster a100 --gpus 16 "
                         "--pp 4 --tp 2 --micro-batches 8,9 --recompute none --recompute full "
                         "--grad-sync end,eager"),
                 100);
}

Test(sweep_row, is_the_json_of_the_run_with_what_the_tool_chooses)
{
    cr_assert_eq(compare("--preset bfs-52b --preset chimera-bert48 --engine dag "
                         "--jitter 0:5%:+5% --slow 1=0.8~2=0.9 --slow 0.1=0.5"),
                 6); /* one preset has a single replica */
    cr_assert_gt(compare("--schedule chimera,1f1b --concat auto,direct --gpus 32 --engine dag "
                         "--model llama3-8b"),
                 2);
    cr_assert_gt(compare("--schedule 1f1b,zbv --cluster node:2~gpu:4~device:a100~nvlink:300GBps"
                         "~nic:1x200Gbps --gpus 8 --params 1B,7B"),
                 1);
}

Test(sweep_row, is_the_json_of_the_run_of_a_file)
{
    cr_assert_eq(compare("--schedule " PP_TESTS_DIR
                         "/programs/zbv_D4_N8.comms.csv,1f1b --unit F=1,I=1,W=1 --pp 4 "
                         "--micro-batches 8"),
                 2);
}

Test(sweep_row, one_that_does_not_fit_has_its_figures)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_grid grid =
        sc_grid(arena, "--schedule gpipe --model gpt3-175b --gpus 8 --pp 8 --tp 1 --micro-batches "
                       "8 --engine dag --zero 0 --recompute none");
    const struct table table = table_of(arena, &grid);

    cr_assert_str_eq(field(&table, 0, "status"), "ok");
    cr_assert_str_eq(field(&table, 0, "fits"), "false");
    cr_assert_gt(strtod(field(&table, 0, "iteration_s"), NULL), 0);
}

Test(sweep_row, a_refused_point_says_what_was_asked_and_why)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_grid grid = sc_grid(
        arena, "--schedule 1f1b --gpus 7 --pp 4 --engine dag --jitter 5% --recompute full --p2p "
               "rendezvous --no-fold");
    const struct table table = table_of(arena, &grid);

    cr_assert_str_eq(field(&table, 0, "status"), "refused");
    cr_assert_str_eq(field(&table, 0, "schedule"), "1f1b");
    cr_assert_str_eq(field(&table, 0, "gpus"), "7");
    cr_assert_str_eq(field(&table, 0, "pp"), "4");
    cr_assert_str_empty(field(&table, 0, "tp"));
    cr_assert_str_eq(field(&table, 0, "jitter"), "0.050000000000000003");
    cr_assert_str_eq(field(&table, 0, "recompute_option"), "full");
    cr_assert_str_eq(field(&table, 0, "p2p_option"), "rendezvous");
    cr_assert_str_eq(field(&table, 0, "no_fold"), "true");
    cr_assert(strstr(field(&table, 0, "reason"), "7"));
}

/* The closed form is there only where it is the truth. */
Test(sweep_row, closed_form_stands_next_to_the_bubble_of_unit_mode)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_grid grid =
        sc_grid(arena, "--schedule all --pp 2,4 --micro-batches 4,8 --unit F=1,B=2");
    const struct table table = table_of(arena, &grid);
    int exact = 0;

    for (int row = 0; row < grid.points; row++) {
        const char *text = field(&table, row, "closed_form_bubble_frac");
        const struct pp_schedule *schedule = pp_schedule_find(field(&table, row, "schedule"));
        if (!*text)
            continue;
        cr_expect(schedule->bubble_frac.is_exact, "%s", schedule->name);
        cr_expect_float_eq(strtod(text, NULL), strtod(field(&table, row, "bubble_frac"), NULL),
                           1e-12, "%s", pp_grid_text(arena, &grid, row));
        exact++;
    }
    cr_assert_gt(exact, 30);
    const char *const without[] = {"--unit F=1,B=2,C=0.5", "--unit F=1,B=2 --jitter 5%",
                                   "--unit F=1,B=2 --slow 0=0.5", "--unit F=1,B=2 --order eager",
                                   "--unit F=1,B=2 --steps 4 --step-barrier off"};
    for (size_t i = 0; i < sizeof(without) / sizeof(*without); i++) {
        const struct pp_grid none =
            sc_grid(arena, pp_arena_printf(arena, "--schedule 1f1b --pp 4 --micro-batches 8 %s",
                                           without[i]));
        const struct table one = table_of(arena, &none);
        cr_expect_str_eq(field(&one, 0, "status"), "ok");
        cr_expect_str_empty(field(&one, 0, "closed_form_bubble_frac"), "%s", without[i]);
    }
}

Test(sweep_row, columns_are_those_of_the_documentation)
{
    static const char wanted[] =
        "point,schedule,engine,model,cluster,gpus,tp,pp,dp,cp,ep,vp,micro_batches,mbs,gbs,seq,"
        "recompute_option,p2p_option,iteration_s,bubble_frac,span_bubble_frac,mfu,hfu,"
        "model_flops_per_s_per_gpu,tokens_per_s,tokens_per_s_per_gpu,peak_mem_bytes,device_mem_"
        "bytes,"
        "fits,"
        "exposed_comm_frac,forward,backward,recompute,tp_comm,cp_comm,ep_comm,p2p,dp_sync,"
        "optimizer,moves,bubble,params_bytes,grads_bytes,optimizer_bytes,activations_bytes,"
        "kv_bytes,buffers_bytes,other_bytes,peak_activations,closed_form_bubble_frac,tight,status,"
        "reason,"
        "points,"
        "key";
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_grid grid =
        sc_grid(arena, "--p2p rendezvous --schedule 1f1b --recompute none --gpus 8");
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    pp_sweep_header(&grid, out);
    fclose(out);
    cr_assert_str_eq(text, wanted);
    free(text);
}
