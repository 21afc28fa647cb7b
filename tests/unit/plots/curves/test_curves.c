/* Curves of a table: what is chosen, what is refused, how axes are drawn. Looks into scripts. */
#include "plots/plot.h"

#include "core/text/file.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

static struct pp_arena *arena;
static char folder[64];
static char *notes; /* of the last drawing */

static void setup(void)
{
    arena = pp_arena_create();
    snprintf(folder, sizeof(folder), "/tmp/test_curves.XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
}

static void teardown(void)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf %s", folder);
    cr_assert(system(command) == 0);
    free(notes);
    notes = NULL;
    pp_arena_destroy(arena);
}

TestSuite(curves, .init = setup, .fini = teardown);

static enum pp_status try_draw(const char *csv, struct pp_curves curves, const char **script,
                               struct pp_error *err)
{
    struct pp_plot_target target = {.format = PP_PLOT_SCRIPT,
                                    .path = pp_arena_printf(arena, "%s/a.gp", folder)};
    struct pp_table table;
    size_t length;

    free(notes);
    notes = NULL;
    curves.notes = open_memstream(&notes, &length);
    *script = NULL;
    enum pp_status status = pp_table_parse(arena, "t.csv", csv, strlen(csv), &table, err);
    if (status == PP_OK)
        status = pp_plot_curves(arena, &table, &curves, &target, err);
    fclose(curves.notes);
    if (status == PP_OK) {
        char *text;
        cr_assert(pp_file_read(arena, target.path, &text, &length, err) == PP_OK);
        *script = text;
    }
    return status;
}

static const char *draw(const char *csv, struct pp_curves curves)
{
    struct pp_error err = {0};
    const char *script;

    cr_assert(try_draw(csv, curves, &script, &err) == PP_OK, "%s", err.message);
    return script;
}

static void expect(const char *text, const char *words)
{
    cr_assert(strstr(text, words) != NULL, "no \"%s\" in:\n%s", words, text);
}

static const char *refuse(const char *csv, struct pp_curves curves)
{
    struct pp_error err = {0};
    const char *script;

    cr_assert(try_draw(csv, curves, &script, &err) == PP_EINVAL);
    return pp_arena_strdup(arena, err.message);
}

static const struct pp_curve_kind *kind(const char *name)
{
    const struct pp_curve_kind *k = pp_curve_kinds;

    while (k->name && strcmp(k->name, name) != 0)
        k++;
    cr_assert(k->name != NULL);
    return k;
}

/* Inputs stand in front of iteration_s. */
#define SWEEP "point,schedule,pp,dp,micro_batches,gbs,iteration_s,bubble_frac,status\n"

Test(curves, inputs_that_follow_from_others_make_no_series)
{
    const char *script = draw(SWEEP "0,a,4,2,4,8,1,.4,ok\n1,a,4,2,8,16,2,.3,ok\n"
                                    "2,b,4,2,4,8,1,.2,ok\n3,b,4,2,8,16,2,.1,ok\n",
                              (struct pp_curves){0});

    expect(notes, "note: bubble_frac over micro_batches by schedule (");
    expect(script, "title 'a'");
    expect(script, "title 'b'");
    draw(SWEEP "0,a,4,2,4,8,1,.4,ok\n1,a,4,2,8,16,2,.3,ok\n"
               "2,a,8,1,4,4,1,.2,ok\n3,a,8,1,8,8,2,.1,ok\n",
         (struct pp_curves){.x = "micro_batches"});
    expect(notes, "by pp (");
}

Test(curves, several_rows_at_one_place_are_refused)
{
    static const char CSV[] = SWEEP "0,a,4,2,4,8,1,.4,ok\n1,a,8,2,4,8,2,.3,ok\n";

    expect(refuse(CSV, (struct pp_curves){.x = "gbs", .by = "schedule"}),
           "lines 2 and 3 of t.csv are both at gbs 8, schedule a, but pp varies: 4, 8\n"
           "  try: --by schedule,pp, or --where pp=4, or --kind scatter");
    draw(CSV, (struct pp_curves){.x = "gbs", .by = "schedule", .kind = kind("scatter")});
    draw(CSV, (struct pp_curves){.x = "gbs", .by = "schedule,pp"});
    draw(CSV, (struct pp_curves){
                  .x = "gbs", .by = "", .where = (const char *const[]){"pp=4"}, .where_count = 1});
}

Test(curves, legend_is_in_the_order_of_the_right_ends)
{
    const char *script = draw("name,n,y\nlow,1,9\nlow,2,1\nhigh,1,0\nhigh,2,8\nmid,1,5\nmid,2,5\n",
                              (struct pp_curves){.by = "name"});
    const char *high = strstr(script, "title 'high'"), *mid = strstr(script, "title 'mid'"),
               *low = strstr(script, "title 'low'");

    cr_assert(high && mid && low && high < mid && mid < low);
    expect(script, "linestyle 1 title 'low'"); /* colours in the order of the table */
}

Test(curves, equal_series_are_one_curve)
{
    const char *script = draw("name,n,y\na,1,3\na,2,4\nb,1,3\nb,2,4\nc,1,3\nc,2,4.01\n",
                              (struct pp_curves){.by = "name"});

    expect(script, "# a = b\n");
    expect(script, "title '= b'");
    expect(script, "# c\n");
    cr_assert(strstr(script, "$series3") == NULL);
}

Test(curves, where_takes_several_values_and_numbers_in_any_form)
{
    static const char CSV[] = "n,m,y\n1,2,10\n2,2.0,20\n3,4,30\n";
    static const struct {
        const char *where;
        int rows;
    } CASES[] = {{"m=2", 2}, {"m=4", 1}, {"m=2,4", 3}, {"m=4e0,7", 1}, {"M=4", 1}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        const char *script = draw(
            CSV,
            (struct pp_curves){.y = "y", .x = "n", .where = &CASES[i].where, .where_count = 1});
        int rows = 0;
        for (const char *at = script; (at = strstr(at, "0\n")); at++)
            rows += at[-1] >= '1' && at[-1] <= '3' && at[-2] == ' ';
        cr_assert(eq(int, rows, CASES[i].rows), "%s\n%s", CASES[i].where, script);
    }
    expect(refuse(CSV, (struct pp_curves){.where = (const char *const[]){"m=3"}, .where_count = 1}),
           "--where m=3: no row of t.csv has that; m is 2, 2.0, 4");
}

Test(curves, rows_that_are_not_ok_or_empty_are_left_out_with_a_note)
{
    const char *script = draw(SWEEP "0,a,4,2,4,8,1,.4,ok\n1,a,4,2,8,16,2,.3,refused\n"
                                    "2,a,4,2,16,8,1,,ok\n3,a,4,2,32,8,1,.1,\n",
                              (struct pp_curves){.x = "micro_batches", .by = ""});

    expect(notes, "note: left out 1 of 4 rows: t.csv:3 refused\n");
    expect(notes, "note: left out 1 of 3 rows without bubble_frac\n");
    expect(script, "\n4 0.4\n32 0.1\nEOD\n");
}

Test(curves, units_and_limits_suit_the_values)
{
    static const struct {
        const char *csv, *words[3];
    } CASES[] = {
        {"n,bubble_frac\n1,0.5\n2,0.1\n",
         {"set ylabel 'bubble (% of the step)'", "set yrange [0:*<100]", "using 1:($2*100)"}},
        {"n,bubble_frac\n1,0\n2,0\n", {"set yrange [0:10]"}},
        {"n,mfu\n1,0.999\n2,0.98\n",
         {"set ylabel 'MFU (%)'", "set yrange [*:*<100]"}}, /* never beyond 100 % */
        {"n,mfu\n1,0.51\n2,0.5\n", {"set yrange [*:*<100]"}},
        {"n,t_s\n1,0.002\n2,0.0031\n", {"set ylabel 't (ms)'", "*1000)"}},
        {"n,t_s\n1,3e-6\n2,1e-6\n", {"set ylabel 't (us)'"}},
        {"n,t_s\n1,1e-6\n2,100\n",
         {"set ylabel 't'", "set logscale y 10", "set format y '%.0s %cs'"}},
        {"n,m_bytes\n1,2147483648\n2,0\n", {"set ylabel 'm (GiB)'", "set yrange [0:*]"}},
        {"n,tokens_per_s\n1,250000\n2,1000000\n", {"set ylabel 'thousand tokens/s'"}},
        {"n,y\n1,-3\n2,5\n", {"set ylabel 'y'", "set yrange [*:*]"}},
        {"n,y\n1,-3\n2,-5\n", {"set yrange [*:*]"}},
        {"n,y\n1,-3\n2,0\n", {"set yrange [*:*]"}},
        {"n,y\n7,3\n", {"set xrange [*:*]", "set xtics (7)", "set yrange [0:3.75<*]"}},
        {"n,y\n2,1\n4,1\n8,1\n", {"set logscale x 2", "set xtics (2, 4, 8)"}},
        {"gpus,y\n8,1\n12,1\n16,1\n", {"set xlabel 'GPUs'", "set xtics (8, 12, 16)"}},
        {"s,y\nb,1\na,2\n", {"set xtics scale 0 ('b' 0, 'a' 1)", "set xrange [-0.6:1.6]"}},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        const char *script = draw(CASES[i].csv, (struct pp_curves){0});
        for (int k = 0; k < 3 && CASES[i].words[k]; k++)
            expect(script, CASES[i].words[k]);
    }
}

Test(curves, logarithms_refuse_what_is_not_positive)
{
    expect(refuse("n,y\n0,2\n1,3\n", (struct pp_curves){.has_log_x = true}), "--log-x: n is 0");
    expect(refuse("n,y\n1,-2\n2,3\n", (struct pp_curves){.has_log_y = true}), "--log-y: y is -2");
}

Test(curves, scaling_is_strong_or_weak_by_its_batches)
{
#define SCALING "schedule,gpus,gbs,iteration_s,mfu,tokens_per_s,tokens_per_s_per_gpu\n"
    const struct pp_curves curves = {.kind = kind("scaling")};
    const char *strong = draw(SCALING "a,8,32,1,.5,800,100\na,16,32,1,.4,1400,87\n", curves);
    const char *weak = draw(SCALING "a,8,32,1,.5,800,100\na,16,64,1,.4,1400,87\n", curves);

    expect(strong, "strong scaling, 32 sequences per step");
    expect(strong, "100*x with lines");
    expect(weak, "weak scaling, 4 sequences per GPU");
    expect(weak, "set ylabel 'MFU (%)'");
    draw(SCALING "a,8,32,1,.5,800,100\na,16,40,1,.4,1400,87\n", curves);
    expect(notes, "neither strong nor weak scaling");
    expect(notes, "-x gpus -y mfu --by schedule,gbs_per_gpu\n");
}

Test(curves, columns_that_a_kind_needs_are_named)
{
    expect(refuse("a,b\n1,2\n", (struct pp_curves){.kind = kind("bubble")}),
           "--kind bubble: t.csv has no column \"bubble_frac\"");
    expect(refuse("a,b\n1,x\n", (struct pp_curves){.y = "b"}), "t.csv:2: b is \"x\"");
    expect(refuse("a,b\nx,y\n", (struct pp_curves){0}), "no column of numbers");
    expect(refuse("a\n", (struct pp_curves){0}), "no rows");
}

static int style_of(const char *script, const char *name)
{
    const char *title = strstr(script, pp_arena_printf(arena, " title '%s'", name));

    cr_assert(title != NULL, "no %s in\n%s", name, script);
    while (title > script && strncmp(title, "linestyle ", 10) != 0)
        title--;
    return atoi(title + 10);
}

/* Colour, dash and symbol as the script has them. */
static const char *look_of(const char *script, const char *name)
{
    const char *line =
        strstr(script, pp_arena_printf(arena, "\nset style line %d ", style_of(script, name)));

    cr_assert(line != NULL);
    line = strstr(line, "lc rgb");
    return pp_arena_printf(arena, "%.*s", (int)strcspn(line, "\n"), line);
}

static bool shares(const char *a, const char *b, const char *words)
{
    const char *x = strstr(a, words), *y = strstr(b, words);

    cr_assert(x && y);
    return strcspn(x + strlen(words), " ") == strcspn(y + strlen(words), " ") &&
           !strncmp(x, y, strlen(words) + strcspn(x + strlen(words), " "));
}

#define CROSSED                                                                                    \
    SWEEP                                                                                          \
    "0,a,4,2,4,8,1,.4,ok\n1,a,4,2,8,16,2,.3,ok\n2,a,8,2,4,8,1,.4,ok\n3,a,8,2,8,16,2,.2,ok\n"       \
    "4,b,4,2,4,8,1,.4,ok\n5,b,4,2,8,16,2,.1,ok\n6,b,8,2,4,8,1,.4,ok\n7,b,8,2,8,16,2,.15,ok\n"      \
    "8,c,4,2,4,8,1,.4,ok\n9,c,4,2,8,16,2,.1,ok\n10,c,8,2,4,8,1,.5,ok\n11,c,8,2,8,16,2,.9,ok\n"

Test(curves, a_schedule_looks_the_same_in_every_picture_of_a_file)
{
    static const char *const WHERE[] = {"pp=8", "schedule=c,b"}, *const ONE[] = {"pp=8",
                                                                                 "schedule=c"};
    const char *all = draw(CROSSED, (struct pp_curves){.where = WHERE, .where_count = 1}),
               *two = draw(CROSSED, (struct pp_curves){.where = WHERE, .where_count = 2}),
               *one = draw(CROSSED, (struct pp_curves){.where = ONE, .where_count = 2}),
               *points = draw(CROSSED, (struct pp_curves){.kind = kind("scatter"),
                                                          .x = "iteration_s",
                                                          .where = WHERE + 1,
                                                          .where_count = 1});

    cr_assert(eq(str, (char *)look_of(all, "c"), (char *)look_of(two, "c")));
    cr_assert(eq(str, (char *)look_of(all, "c"), (char *)look_of(points, "c")));
    cr_assert(eq(str, (char *)look_of(all, "b"), (char *)look_of(points, "b")));
    cr_assert(false == shares(look_of(all, "c"), look_of(all, "b"), "rgb "));
    expect(one, "with linespoints linestyle 3\n");
}

/* b at pp 4 has the points of c: c would be gone, were it not for its other number of ranks. */
Test(curves, of_two_inputs_one_is_the_colour_and_one_the_symbol)
{
    const char *script = draw(CROSSED, (struct pp_curves){.x = "micro_batches"});
    const char *a4 = look_of(script, "a, pp 4"), *a8 = look_of(script, "a, pp 8"),
               *b4 = look_of(script, "b, pp 4"), *c8 = look_of(script, "c, pp 8");

    cr_assert(shares(a4, a8, "rgb ") && !shares(a4, b4, "rgb ") && !shares(a4, c8, "rgb "));
    cr_assert(shares(a4, b4, " pt ") && shares(a8, c8, " pt ") && !shares(a4, a8, " pt "));
    cr_assert(shares(a4, b4, " dt ") && shares(a8, c8, " dt ") && !shares(a4, a8, " dt "));
    expect(script, "title '= c, pp 4'");
}

#define UNIT                                                                                       \
    "schedule,gpus,pp,dp,vp,micro_batches,gbs,unit,iteration_s,bubble_frac,status,points,key\n"

Test(curves, what_was_varied_goes_before_what_follows_from_it)
{
    static const char RANKS[] =
        UNIT "a,4,4,1,1,8,8,F=1,33,.4,ok,4,x\na,8,8,1,1,8,8,F=1,45,.3,ok,4,x\n"
             "b,4,4,1,2,8,8,F=1,51,.2,ok,4,x\nb,8,8,1,2,8,8,F=1,60,.1,ok,4,x\n";
    static const char GPUS[] =
        "schedule,gpus,tp,pp,dp,micro_batches,mbs,gbs,iteration_s,mfu,status\n"
        "a,8,1,4,2,16,1,32,1,.4,ok\na,16,1,4,4,8,1,32,1,.4,ok\na,32,1,8,4,8,1,32,1,.4,ok\n"
        "a,8,1,4,2,32,1,64,1,.4,ok\na,16,1,4,4,16,1,64,1,.5,ok\na,32,1,8,4,16,1,64,1,.4,ok\n";
    static const char BOTH[] = "schedule,gpus,tp,pp,dp,micro_batches,mbs,gbs,iteration_s,mfu\n"
                               "a,8,1,4,2,8,1,16,1,.1\na,16,1,4,4,8,1,32,1,.2\n"
                               "a,16,1,8,2,8,1,16,1,.3\na,32,1,8,4,8,1,32,1,.4\n"
                               "a,32,1,16,2,8,1,16,1,.5\na,64,1,16,4,8,1,32,1,.6\n";

    expect(draw(RANKS, (struct pp_curves){0}), "set xlabel 'pipeline ranks'");
    expect(notes, "bubble_frac over pp by schedule (");
    draw(GPUS, (struct pp_curves){.y = "mfu"});
    expect(notes, "mfu over gpus by gbs (");
    expect(notes, "note: pp changes along the curves, too\n");
    draw(BOTH, (struct pp_curves){.y = "mfu"});
    expect(notes, "mfu over pp by dp (");
    expect(refuse(RANKS, (struct pp_curves){.x = "micro_batches", .by = "schedule"}),
           "but pp varies: 4, 8");
}

Test(curves, chunks_of_a_rank_share_its_time)
{
    static const char CSV[] =
        UNIT "a,4,4,1,1,8,8,F=1,33,.4,ok,5,x\na,4,4,1,1,16,8,F=1,45,.3,ok,5,x\n"
             "b,4,4,1,2,8,8,F=1,51,.2,ok,5,x\nb,4,4,1,2,16,8,F=1,60,,ok,5,x\n";
    static const char MESSAGES[] = UNIT "a,4,4,1,1,8,8,\"F=1,C=1\",33,.4,ok,2,x\n"
                                        "b,4,4,1,2,8,8,\"F=1,C=1\",51,.2,ok,2,x\n";
    const char *const where = "schedule=b";
    const char *script = draw(CSV, (struct pp_curves){.y = "iteration_s"});

    expect(script, "set ylabel 'step time / chunks per rank (units)'");
    expect(script, "\n8 25.5\n16 30\nEOD\n");
    expect(notes, "iteration_s is divided by vp\n");
    expect(notes, "note: 4 of 5 points are there\n");
    expect(draw(CSV, (struct pp_curves){.y = "iteration_s", .where = &where, .where_count = 1}),
           "\n8 51\n16 60\nEOD\n");
    draw(MESSAGES, (struct pp_curves){.y = "iteration_s"});
    expect(notes, "iteration_s of several chunks per rank counts smaller chunks\n");
    expect(notes, "note: iteration_s over schedule (");
}

Test(curves, one_place_for_each_schedule_is_an_axis_of_schedules)
{
    const char *script = draw(
        "schedule,vp,micro_batches,unit,iteration_s,bubble_frac,closed_form_bubble_frac,status\n"
        "a,1,8,F=1,3,.3,.3,ok\nb,2,8,F=1,5,.2,.2,ok\nc,2,8,F=1,5,.1,.1,ok\n",
        (struct pp_curves){0});

    expect(script, "set xtics scale 0 ('a' 0, 'b' 1, 'c' 2)");
    expect(script, "with points linestyle 1 title 'bubble'");
    cr_assert(strstr(script, "with linespoints") == NULL);
}

Test(curves, common_words_and_slips_have_answers)
{
    expect(refuse(UNIT "a,4,4,1,1,8,8,F=1,33,,ok,1,x\n", (struct pp_curves){.y = "bubble_frac"}),
           "bubble_frac is empty in all rows of t.csv (a sweep with --unit has no such figures)");
    expect(refuse(CROSSED, (struct pp_curves){.y = "time"}), "did you mean iteration_s?");
    expect(refuse(CROSSED, (struct pp_curves){.y = "stages"}), "did you mean pp?");
    expect(refuse(CROSSED,
                  (struct pp_curves){.where = (const char *const[]){"pp==8"}, .where_count = 1}),
           "--where takes pp=8");
}

Test(curves, points_that_no_curve_has_are_said)
{
    static const char POINTS[] = "micro_batches,bubble_frac,name\n4,.4,a\n8,.2,x\n8,.1,\n";
    struct pp_error err = {0};
    struct pp_table points;

    cr_assert(pp_table_parse(arena, "p.csv", POINTS, strlen(POINTS), &points, &err) == PP_OK);
    draw("name,micro_batches,bubble_frac\na,4,.4\na,8,.2\nb,4,.3\nb,8,.1\n",
         (struct pp_curves){.x = "micro_batches", .by = "name", .points = &points});
    expect(notes, "note: p.csv:3: no curve has name x\n");
}

Test(curves, names_of_series_are_words)
{
    const char *script = draw(SCALING "a,8,8,1,.5,800,100\na,16,16,1,.4,1400,87\n"
                                      "a,8,16,1,.6,800,100\na,16,32,1,.4,1400,87\n"
                                      "a,24,8,1,.5,800,100\na,48,16,1,.4,1400,87\n",
                              (struct pp_curves){.x = "gpus", .y = "mfu", .by = "gbs_per_gpu"});

    expect(script, "title '1 sequence per GPU'");
    expect(script, "title '2 sequences per GPU'");
    expect(script, "title '0.3333 sequences per GPU'");
}
