/* Fits constants on a few steps of a family, and predicts its other layouts. */
#include "sim/validate/transfer.h"

#include "core/cost/fitted.h"
#include "core/quantile.h"
#include "sim/validate/refit.h"

#include <math.h>
#include <string.h>

enum { LEAST_ROWS = 5, TEACHERS_LEAST = 2, TEACHERS_MOST = 5, DRAWS = 4, TESTS = 16, NAME = 25 };
/* Widths of the prior; the second is that of --refit. */
enum { WIDTHS = 3 };
static const double WIDTH_FACTORS[WIDTHS] = {0.5, 1, 2};
enum { USED = 1 };

/* Part of a row in a draw, as its family in the fit. */
enum role { TEACHES, SAME_MODEL, OTHER_MODEL, UNUSED, ROLES };

struct errors {
    double *before, *after[WIDTHS];
    int n, capacity;
};
struct family {
    const char *name;
    int rows;
    struct errors of[ROLES];
};

static void add(struct pp_arena *arena, struct errors *e, double before, const double *after)
{
    if (e->n == e->capacity) {
        const size_t old = sizeof(double) * (size_t)e->n, size = 2 * old + 64 * sizeof(double);
        e->before = pp_arena_grow(arena, e->before, old, size);
        for (int w = 0; w < WIDTHS; w++)
            e->after[w] = pp_arena_grow(arena, e->after[w], old, size);
        e->capacity = (int)(size / sizeof(double));
    }
    e->before[e->n] = before;
    for (int w = 0; w < WIDTHS; w++)
        e->after[w][e->n] = after[w];
    e->n++;
}

/* ---- one draw -------------------------------------------------------------------------------- */

struct group {
    struct pp_arena *arena, *results;
    struct pp_refit fit; /* of all rows of the group; roles are its families */
    int *layout;         /* [row] first row of its layout */
    double *built_in;    /* [row] residuals of the built-in constants */
};

static bool is_measured(const struct group *g, int row)
{
    const struct pp_model *model = &g->fit.rows[row].row->config.model;

    for (int i = 0; i < g->fit.row_count; i++) {
        const struct pp_model *other = &g->fit.rows[i].row->config.model;
        if (g->fit.rows[i].family == TEACHES && other->hidden == model->hidden &&
            other->ffn == model->ffn)
            return true;
    }
    return false;
}

static int count_of(const struct group *g, enum role role)
{
    int count = 0;

    for (int i = 0; i < g->fit.row_count; i++)
        count += g->fit.rows[i].family == (int)role;
    return count;
}

/* Lets up to `room` rows of a layout teach, spread evenly; its other rows are unused. */
static int teach_layout(struct group *g, int layout, int room)
{
    int rows = 0, seen = 0, taught = 0;

    for (int i = 0; i < g->fit.row_count; i++)
        rows += g->layout[i] == layout;
    const int wanted = rows < room ? rows : room;
    for (int i = 0; i < g->fit.row_count; i++) {
        if (g->layout[i] != layout)
            continue;
        const bool is_taught = taught < wanted && seen++ * wanted / rows >= taught;
        g->fit.rows[i].family = is_taught ? TEACHES : UNUSED;
        taught += is_taught;
    }
    return taught;
}

/* Gives every row its role; layouts teach in their order, from `first` on. */
static void draw(struct group *g, const int *layouts, int count, int first)
{
    const int half = g->fit.row_count / 2;
    const int most = half < TEACHERS_LEAST  ? TEACHERS_LEAST
                     : half < TEACHERS_MOST ? half
                                            : TEACHERS_MOST;
    int taught = 0, tests, seen = 0;

    for (int i = 0; i < g->fit.row_count; i++)
        g->fit.rows[i].family = OTHER_MODEL;
    for (int k = 0; k < count - 1 && taught < most; k++)
        taught += teach_layout(g, layouts[(first + k) % count], most - taught);
    tests = count_of(g, OTHER_MODEL);
    const int stride = (tests + TESTS - 1) / TESTS;
    for (int i = 0; i < g->fit.row_count; i++) {
        struct pp_refit_row *row = &g->fit.rows[i];
        row->weight = 0;
        if (row->family == OTHER_MODEL && seen++ % stride)
            row->family = UNUSED;
        else if (row->family == OTHER_MODEL && is_measured(g, i))
            row->family = SAME_MODEL;
    }
    for (int i = 0; i < g->fit.row_count; i++) {
        int alike = 0;
        for (int j = 0; j < g->fit.row_count; j++)
            alike += g->fit.rows[j].family == TEACHES && g->layout[j] == g->layout[i];
        if (g->fit.rows[i].family == TEACHES)
            g->fit.rows[i].weight = 1 / sqrt(alike);
    }
}

/* Fits with a prior of another width, and predicts the rows that were left out. */
static enum pp_status judge(struct group *g, double width, double *residuals, struct pp_error *err)
{
    double *change = PP_ARRAY(g->arena, double, g->fit.value_count + 1);
    double *values = PP_ARRAY(g->arena, double, g->fit.value_count + 1);

    for (int i = 0; i < g->fit.value_count; i++) {
        g->fit.values[i].spread *= width;
        g->fit.values[i].common *= width;
    }
    pp_refit_step(&g->fit, -1, change);
    for (int i = 0; i < g->fit.value_count; i++) {
        g->fit.values[i].spread /= width;
        g->fit.values[i].common /= width;
    }
    for (int role = SAME_MODEL; role <= OTHER_MODEL; role++) {
        const double share = role == SAME_MODEL ? 1 : pp_fitted_other_share;
        for (int i = 0; i < g->fit.value_count; i++)
            values[i] = g->fit.values[i].log_value + share * change[i];
        if (count_of(g, (enum role)role) > 0)
            PP_TRY(pp_refit_judge(&g->fit, role, values, residuals, err));
    }
    return PP_OK;
}

static enum pp_status learn(struct group *g, struct family *family, struct pp_error *err)
{
    double *after[WIDTHS];

    PP_TRY(pp_refit_evaluate(&g->fit, err));
    for (int w = 0; w < WIDTHS; w++) {
        after[w] = PP_ARRAY(g->arena, double, g->fit.row_count + 1);
        PP_TRY(judge(g, WIDTH_FACTORS[w], after[w], err));
    }
    for (int i = 0; i < g->fit.row_count; i++) {
        const int role = g->fit.rows[i].family;
        double errors[WIDTHS];
        for (int w = 0; w < WIDTHS; w++)
            errors[w] = fabs(expm1(after[w][i]));
        if ((role == SAME_MODEL || role == OTHER_MODEL) && isfinite(errors[USED]))
            add(g->results, &family->of[role], fabs(expm1(g->built_in[i])), errors);
    }
    return PP_OK;
}

/* ---- a family -------------------------------------------------------------------------------- */

/* Draws from rows of one generation of devices and one framework. */
static enum pp_status draw_all(struct pp_arena *arena, struct pp_arena *results,
                               const struct pp_measure_case *cases, int count,
                               struct family *family, struct pp_error *err)
{
    struct group g = {.arena = arena, .results = results};
    int layouts = 0;

    pp_refit_open(arena, cases, count, PP_REFIT_OWN, &g.fit);
    const int rows = g.fit.row_count;
    int *firsts = PP_ARRAY(arena, int, rows + 1);
    g.layout = PP_ARRAY(arena, int, rows + 1);
    g.built_in = PP_ARRAY(arena, double, rows + 1);
    for (int i = 0; i < rows; i++) {
        g.layout[i] = g.fit.rows[i].family;
        if (g.layout[i] == i)
            firsts[layouts++] = i;
        g.fit.rows[i].family = 0;
    }
    if (rows < LEAST_ROWS || layouts < 2)
        return PP_OK;
    PP_TRY(pp_refit_judge(&g.fit, 0, NULL, g.built_in, err));
    const int draws = layouts < DRAWS ? layouts : DRAWS;
    for (int k = 0; k < draws; k++) {
        draw(&g, firsts, layouts, k * layouts / draws);
        PP_TRY(learn(&g, family, err));
    }
    family->rows += rows;
    return PP_OK;
}

static bool is_alike(const struct pp_measure_case *a, const struct pp_measure_case *b)
{
    return !strcmp(a->config.cluster.device.generation, b->config.cluster.device.generation) &&
           a->config.costs.framework == b->config.costs.framework;
}

/* Takes the rows of a family, group by group. Errors live in `arena`, cases are freed: workers are
 * forks, which are slow to make from a large process. */
static enum pp_status measure(struct pp_arena *arena, const struct pp_measurements *list,
                              struct family *family, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_measure_case *cases = PP_ARRAY(scratch, struct pp_measure_case, list->count + 1);
    struct pp_measure_case *group = PP_ARRAY(scratch, struct pp_measure_case, list->count + 1);
    int count = 0;

    for (int i = 0; i < list->count; i++) {
        struct pp_measure_case *c = &cases[count];
        if (strcmp(list->rows[i].family, family->name) != 0)
            continue;
        pp_measure_case_open(scratch, &list->rows[i], c);
        count += !c->skipped && c->step_s > 0;
    }
    while (count > 0) {
        int n = 0, left = 0;
        for (int i = 0; i < count; i++) {
            if (n == 0 || is_alike(&group[0], &cases[i]))
                group[n++] = cases[i];
            else
                cases[left++] = cases[i];
        }
        count = left;
        if (n >= LEAST_ROWS)
            PP_TRY(draw_all(scratch, arena, group, n, family, err));
    }
    return PP_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

static double median_of(struct pp_arena *arena, const double *values, int n)
{
    double *copy = PP_ARRAY(arena, double, n + 1);

    memcpy(copy, values, sizeof(*copy) * (size_t)n);
    return pp_median(copy, n);
}

static void print_errors(struct pp_arena *arena, const struct errors *e, bool is_markdown,
                         FILE *out)
{
    const char *format = is_markdown ? " %d | %.1f %% | %.1f %% |" : "  %5d %6.1f %% %6.1f %%";

    if (e->n > 0)
        fprintf(out, format, e->n, 100 * median_of(arena, e->before, e->n),
                100 * median_of(arena, e->after[USED], e->n));
    else
        fputs(is_markdown ? " | | |" : "      -        -        -", out);
}

static void print_family(struct pp_arena *arena, const struct family *f, bool is_markdown,
                         FILE *out)
{
    fprintf(out, is_markdown ? "| %s | %d |" : "%-25.25s %5d", f->name, f->rows);
    print_errors(arena, &f->of[SAME_MODEL], is_markdown, out);
    print_errors(arena, &f->of[OTHER_MODEL], is_markdown, out);
    fputc('\n', out);
}

static const char *const ROLE_NAMES[ROLES] = {
    [SAME_MODEL] = "the measured models", [OTHER_MODEL] = "other models"};

/* Prints medians over families, and how many got better, for each width. */
static void print_summary(struct pp_arena *arena, const struct family *families, int count,
                          enum role role, bool is_markdown, FILE *out)
{
    double *before = PP_ARRAY(arena, double, count + 1),
           *after = PP_ARRAY(arena, double, count + 1);

    for (int w = 0; w < WIDTHS; w++) {
        int n = 0, better = 0;
        double mean_before = 0, mean_after = 0;
        for (int i = 0; i < count; i++) {
            const struct errors *e = &families[i].of[role];
            if (e->n == 0)
                continue;
            before[n] = median_of(arena, e->before, e->n);
            after[n] = median_of(arena, e->after[w], e->n);
            mean_before += before[n];
            mean_after += after[n];
            better += after[n] < before[n];
            n++;
        }
        if (n == 0)
            return;
        fprintf(out,
                is_markdown ? "| %s | %.2f | %d | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %d |\n"
                            : "%-24s %5.2f %8d %6.1f %% %6.1f %% %6.1f %% %6.1f %% %7d\n",
                ROLE_NAMES[role], WIDTH_FACTORS[w] * pp_refit_own_width, n,
                100 * pp_median(before, n), 100 * pp_median(after, n), 100 * mean_before / n,
                100 * mean_after / n, better);
    }
}

static void print(struct pp_arena *arena, const struct family *families, int count,
                  bool is_markdown, FILE *out)
{
    fputs(is_markdown ? "| family | rows | same model | before | after | other models | before | "
                        "after |\n|---|---|---|---|---|---|---|---|\n"
                      : "family                     rows   same   before    after  other   before"
                        "    after\n",
          out);
    for (int i = 0; i < count; i++)
        if (families[i].rows > 0)
            print_family(arena, &families[i], is_markdown, out);
    fputs(is_markdown
              ? "\n| predicted are | width | families | median before | after | mean before "
                "| after | better |\n|---|---|---|---|---|---|---|---|\n"
              : "\npredicted are            width families   median    after     mean    "
                "after  better\n",
          out);
    for (int role = SAME_MODEL; role <= OTHER_MODEL; role++)
        print_summary(arena, families, count, (enum role)role, is_markdown, out);
}

enum pp_status pp_transfer_print(struct pp_arena *arena, const struct pp_measurements *list,
                                 bool is_markdown, FILE *out, struct pp_error *err)
{
    struct family *families = PP_ARRAY(arena, struct family, list->count + 1);
    int count = 0, rows = 0;

    for (int i = 0; i < list->count; i++) {
        int k = 0;
        while (k < count && strcmp(families[k].name, list->rows[i].family) != 0)
            k++;
        if (k == count)
            families[count++].name = list->rows[i].family;
    }
    for (int k = 0; k < count; k++) {
        PP_TRY(measure(arena, list, &families[k], err));
        rows += families[k].rows;
    }
    if (rows == 0)
        return pp_error_set(err, PP_EINVAL,
                            "--leave-layouts-out: no family has %d steps of two layouts, of one "
                            "generation of devices and one framework",
                            LEAST_ROWS);
    print(arena, families, count, is_markdown, out);
    return PP_OK;
}
