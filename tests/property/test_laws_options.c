/* Laws of whole runs over the options of state, memory, experts and kernels. Any command line is
 * refused with a reason, or obeys all of them. */
#include "tests/property/option_lines.h"

#include "sim/report/report.h"
#include "sim/simgrid/engines.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one run --------------------------------------------------------------------------------- */

static double state_bytes(const struct pp_rank_memory *m)
{
    return m->params_bytes + m->grads_bytes + m->optimizer_bytes;
}

static void expect_sums(const struct words *w, const struct pp_result *r)
{
    const struct pp_metrics *m = &r->metrics;
    double frac = 0;

    for (int part = 0; part < PP_TIME_PARTS; part++) {
        cr_assert(m->time_frac[part] >= -1e-12, "%s: %s %g", words_line(w),
                  pp_time_part_names[part], m->time_frac[part]);
        frac += m->time_frac[part];
    }
    cr_assert_float_eq(frac, 1, 1e-9, "%s: parts of time sum to %.12g", words_line(w), frac);
    cr_assert(m->iteration_s > 0 && r->mfu > 0 && r->mfu <= r->hfu * (1 + 1e-12) && r->hfu < 1,
              "%s: %g s, MFU %g, HFU %g", words_line(w), m->iteration_s, r->mfu, r->hfu);
    for (int rank = 0; rank < r->program->ranks; rank++) {
        const struct pp_rank_times *t = &m->ranks[rank];
        const struct pp_rank_memory *mem = &r->memory[rank];
        const double sum =
            state_bytes(mem) + mem->activations_bytes + mem->buffers_bytes + mem->other_bytes;

        cr_assert_float_eq(t->busy_s + t->idle_s, m->iteration_s, 1e-9 * m->iteration_s,
                           "%s: rank %d", words_line(w), rank);
        cr_assert(fabs(sum - mem->peak_bytes) <= 1 && state_bytes(mem) > 0 &&
                      mem->activations_bytes >= 0 && mem->buffers_bytes >= 0,
                  "%s: rank %d: %g of %g bytes", words_line(w), rank, sum, mem->peak_bytes);
        cr_assert_leq(mem->peak_bytes, r->memory[r->peak_rank].peak_bytes, "%s", words_line(w));
    }
}

/* Nothing is left of what instructions take. */
static void expect_given_back(const struct words *w, const struct pp_result *r)
{
    const struct pp_memory_changes c = pp_memory_changes(w->arena, r->program, r->costs);

    for (int rank = 0; rank < r->program->ranks; rank++) {
        double left = 0;

        for (int i = r->program->begin[rank]; i < r->program->begin[rank + 1]; i++)
            left += c.taken_bytes[i] - c.given_bytes[i];
        cr_assert_eq(left, 0, "%s: rank %d keeps %g bytes", words_line(w), rank, left);
    }
}

static void keeps_sums(const struct words *w, const struct pp_result *r)
{
    expect_sums(w, r);
    expect_given_back(w, r);
}

Test(laws_options, parts_sum_to_the_whole)
{
    law_for_each_line(150, keeps_sums);
}

static char *json_of(const struct pp_result *r, size_t *bytes)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, bytes);

    pp_report_json(r, out);
    fclose(out);
    return text;
}

static void expect_numbers(const struct words *w, const json_t *o, const char *const *keys)
{
    for (int k = 0; keys[k]; k++)
        cr_assert(json_is_number(json_object_get(o, keys[k])), "%s: \"%s\"", words_line(w),
                  keys[k]);
}

static void expect_schema(const struct words *w, const struct pp_result *r, const json_t *o)
{
    static const char
        *const report[] = {"iteration_s",  "bubble_frac",       "span_bubble_frac", "mfu", "hfu",
                           "tokens_per_s", "exposed_comm_frac", "peak_mem_bytes",   NULL},
               *const rank_keys[] = {"rank",           "busy_s",           "idle_s", "span_s",
                                     "peak_mem_bytes", "peak_activations", NULL};
    const json_t *ranks = json_object_get(o, "ranks"), *time = json_object_get(o, "time_frac");
    const char *schema = json_string_value(json_object_get(o, "schema"));

    cr_assert_str_eq(schema ? schema : "", "pipesim.report/1");
    expect_numbers(w, o, report);
    cr_assert_eq((int)json_array_size(ranks), r->program->ranks);
    cr_assert_eq((int)json_object_size(time), PP_TIME_PARTS);
    for (int rank = 0; rank < r->program->ranks; rank++)
        expect_numbers(w, json_array_get(ranks, (size_t)rank), rank_keys);
    cr_assert_eq(json_number_value(json_object_get(o, "iteration_s")), r->metrics.iteration_s);
}

/* The report is JSON of its schema, and a second run prints the same but for "meta". */
static void reports_twice_the_same(const struct words *w, const struct pp_result *r)
{
    const struct pp_result *results[] = {r, PP_NEW(w->arena, struct pp_result)};
    json_t *reports[2];
    struct pp_error err = {0};

    cr_assert(words_run(w, "dag", (struct pp_result *)results[1], &err), "%s", err.message);
    for (int k = 0; k < 2; k++) {
        json_error_t mistake;
        size_t bytes;
        char *text = json_of(results[k], &bytes);

        reports[k] = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &mistake);
        cr_assert_not_null(reports[k], "%s: %s\n%s", words_line(w), mistake.text, text);
        free(text);
        expect_schema(w, r, reports[k]);
        json_object_del(reports[k], "meta");
    }
    cr_assert(json_equal(reports[0], reports[1]), "%s: another report", words_line(w));
    json_decref(reports[0]);
    json_decref(reports[1]);
}

Test(laws_options, reports_are_json_and_repeatable)
{
    law_for_each_line(80, reports_twice_the_same);
}

/* ---- two engines ----------------------------------------------------------------------------- */

static int shared_runs;

/* Four devices that share one slow card. */
static void shares_no_faster_than_alone(const struct words *with, const struct pp_result *first)
{
    const struct words narrow =
                           words_with(with, "--cluster", "gpu:4 device:a100 nic:1x100Gbps ram:1TB"),
                       *w = &narrow;
    struct pp_result alone, shared, *dag = &alone;
    struct pp_error err = {0};

    (void)first;
    if (!words_run(w, "dag", dag, &err))
        return;
    const double dag_s = words_makespan_s(dag);
    cr_assert(words_run(w, "simgrid", &shared, &err), "%s: %s", words_line(w), err.message);
    cr_assert(words_same_program(dag->program, shared.program), "%s", words_line(w));
    cr_assert_geq(words_makespan_s(&shared), dag_s * (1 - 1e-9), "%s", words_line(w));
    shared_runs += words_makespan_s(&shared) > dag_s * (1 + 1e-9);
    for (int rank = 0; rank < dag->program->ranks; rank++)
        cr_assert_eq(shared.memory[rank].peak_bytes, dag->memory[rank].peak_bytes, "%s",
                     words_line(w));
    expect_sums(w, &shared);
}

/* Devices of their own on links of their own: both engines see the same. */
static void alone_is_alike(const struct words *w, const struct pp_result *dag)
{
    struct words other = words_with(w, "--cluster", "gpu:1 fabric:ideal");
    struct pp_result a, b;
    struct pp_error err = {0};

    (void)dag;
    other = words_with(&other, "--tp", "1");
    other = words_with(&other, "--no-fold", "");
    if (!words_run(&other, "dag", &a, &err))
        return;
    cr_assert(words_run(&other, "simgrid", &b, &err), "%s: %s", words_line(&other), err.message);
    shared_runs++;
    cr_assert_eq(a.trace->count, b.trace->count);
    for (int i = 0; i < a.trace->count; i++) {
        const struct pp_trace_event *x = &a.trace->events[i], *y = &b.trace->events[i];
        cr_assert(fabs(x->start_s - y->start_s) <= 1e-9 && fabs(x->end_s - y->end_s) <= 1e-9,
                  "%s: %s of rank %d.%d from %.15g to %.15g, simgrid %.15g to %.15g",
                  words_line(&other), x->cell, x->rank, x->replica, x->start_s, x->end_s,
                  y->start_s, y->end_s);
    }
}

static void need_simgrid(void)
{
    const struct pp_engine *engine;

    if (pp_engine_find("simgrid", &engine, NULL) != PP_OK)
        cr_skip_test("this build has no SimGrid");
    shared_runs = 0;
}

Test(laws_options, sharing_links_is_not_faster)
{
    need_simgrid();
    law_for_each_line(40, shares_no_faster_than_alone);
    cr_assert_gt(shared_runs, 2, "%d runs in which transfers met", shared_runs);
}

Test(laws_options, engines_agree_on_ideal_links)
{
    need_simgrid();
    law_for_each_line(40, alone_is_alike);
    cr_assert_gt(shared_runs, 10, "%d runs", shared_runs);
}
