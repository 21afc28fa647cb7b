#include "core/random.h"
#include "schedules/registry.h"
#include "tests/unit/sim/sweep/sweep_case.h"

#include <math.h>
#include <stdlib.h>

static const struct pp_option_value *get(const struct pp_parsed *parsed, const char *name)
{
    return pp_options_get(parsed, name);
}

static struct pp_parsed point_of(struct pp_arena *arena, const struct pp_grid *grid, int64_t point)
{
    struct pp_parsed parsed;
    struct pp_error err = {0};

    cr_assert_eq(pp_grid_point(arena, grid, point, &parsed, &err), PP_OK, "%s", err.message);
    return parsed;
}

/* ---- lists and ranges ------------------------------------------------------------------------ */

/* What an option stands for, joined by blanks. */
static const char *expand(struct pp_arena *arena, const char *option, const char *list)
{
    const struct pp_grid grid =
        sc_grid(arena, pp_arena_printf(arena, "--schedule 1f1b --%s %s", option, list));
    const char *text = "";

    for (int64_t i = 0; i < grid.points; i++) {
        const struct pp_parsed parsed = point_of(arena, &grid, i);
        text = pp_arena_printf(arena, "%s%s%s", text, *text ? " " : "", get(&parsed, option)->text);
    }
    return text;
}

Test(sweep_grid, lists_and_ranges_are_what_they_say)
{
    static const struct {
        const char *option, *list, *values;
    } cases[] = {
        {"pp", "8", "8"},
        {"pp", "8,4,16", "8 4 16"},
        {"pp", "08", "8"},
        {"pp", "8 --pp 4 --np 2", "8 4 2"},
        {"pp", "8 --pipeline-model-parallel-size=4,2", "8 4 2"},
        {"micro-batches", "16:512:x2", "16 32 64 128 256 512"},
        {"micro-batches", "16:511:x2", "16 32 64 128 256"},
        {"micro-batches", "16:16:x2", "16"},
        {"micro-batches", "4:16:+4", "4 8 12 16"},
        {"micro-batches", "4:15:+4", "4 8 12"},
        {"micro-batches", "1,4:8:+2,3:81:x3", "1 4 6 8 3 9 27 81"},
        {"seed", "9223372036854775805:9223372036854775807:+1",
         "9223372036854775805 9223372036854775806 9223372036854775807"},
        {"seed", "4611686018427387904:9223372036854775807:x2", "4611686018427387904"},
        {"seed", "0:9223372036854775807:+9223372036854775807", "0 9223372036854775807"},
        {"jitter", "0:10%:+5%", "0 5% 10%"},
        {"jitter", "0:30%:+10%", "0 10% 20% 30%"},
        {"jitter", "0:0.3:+0.1", "0 0.1 0.2 0.3"},
        {"jitter", "10%:0.5:+0.2", "10% 30% 0.5"},
        {"jitter", "1%:10%:x3", "1% 3% 9%"},
        {"jitter", "0:7%:+2.5%", "0 2.5% 5%"},
        {"params", "1M:1B:x10", "1M 10M 100M 1B"},
        {"params", "7B:70B:x10", "7B 70B"},
        {"params", "1e9:4e9:+1.5e9", "1e9 2500000000 4e9"},
        {"params", "1B:3.375B:x1.5", "1B 1.5B 2.25B 3.375B"},
        {"post", "jit,EARLY", "jit early"},
        {"post", "jit --post early", "jit early"},
        {"p2p", "rendezvous --p2p buffered:2", "rendezvous buffered:2"},
        {"unit", "F=1,B=2 --unit F=1,B=3", "F=1,B=2 F=1,B=3"},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        cr_expect_str_eq(expand(arena, cases[i].option, cases[i].list), cases[i].values, "%s",
                         cases[i].list);
}

/* A value of a range is the number that the same text gives by itself. */
Test(sweep_grid, numbers_of_ranges_are_those_of_their_texts)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const uint64_t stream = pp_random_stream(7, 1);

    for (int k = 0; k < 300; k++) {
        const struct pp_arena_mark mark = pp_arena_mark(arena);
        const uint64_t bits = pp_random_bits(stream, (uint64_t)k);
        const int low = (int)(bits % 40), steps = (int)(bits / 40 % 30),
                  step = 1 + (int)(bits / 1200 % 9);
        const double unit = k % 2 ? 10 : 1;
        const struct pp_grid grid =
            sc_grid(arena, pp_arena_printf(arena, "--schedule 1f1b --jitter %g%%:%g%%:+%g%%",
                                           low / unit, (low + steps * step) / unit, step / unit));
        cr_assert_eq(grid.points, steps + 1);
        for (int i = 0; i <= steps; i++) {
            const struct pp_parsed parsed = point_of(arena, &grid, i);
            const struct pp_option_value *value = get(&parsed, "jitter");
            struct pp_option_value again = {0};
            cr_assert_eq(pp_option_read(&pp_sim_cli.options[value - parsed.values], value->text,
                                        &again, NULL),
                         PP_OK);
            cr_assert_eq(value->number, again.number);
            cr_assert_float_eq(value->number, (low + i * step) / unit / 100, 1e-12);
            cr_assert_leq(strlen(value->text), strlen("99.9%"), "%s", value->text);
        }
        pp_arena_release(arena, mark);
    }
}

/* ---- combinations ---------------------------------------------------------------------------- */

enum { AXES = 5, VALUES = 4 };
static const char *const NAMES[AXES] = {"schedule", "micro-batches", "pp", "slow", "post"};
static const char *const LISTS[AXES][VALUES] = {
    {"1f1b", "gpipe", "zbv", "chimera"},
    {"8", "16", "24", "5"},
    {"2", "4", "6", "8"},
    {"0=0.5", "1=0.25", "0=2", "1=3"},
    {"early", "jit", "batched", "sender"},
};

static const char *line_of(struct pp_arena *arena, const int *counts)
{
    const char *line = "";

    for (int a = 0; a < AXES; a++)
        for (int v = 0; v < counts[a]; v++) {
            const bool is_first = v == 0, is_repeated = a == 3;
            line = pp_arena_printf(arena, is_first || is_repeated ? "%s --%s %s" : "%s,%.0s%s",
                                   line, NAMES[a], LISTS[a][v]);
        }
    return line;
}

static int value_of(const struct pp_parsed *parsed, int axis, int count)
{
    const char *text = get(parsed, NAMES[axis])->text;

    for (int v = 0; v < count; v++)
        if (!strcmp(text, LISTS[axis][v]))
            return v;
    cr_assert_fail("%s of --%s", text, NAMES[axis]);
    return -1;
}

Test(sweep_grid, every_combination_is_there_once)
{
    for (int choice = 0; choice < 1 << (2 * AXES); choice += 37) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        int counts[AXES], product = 1;
        for (int a = 0; a < AXES; a++)
            product *= counts[a] = 1 + (choice >> (2 * a) & 3);
        const struct pp_grid grid = sc_grid(arena, line_of(arena, counts));
        bool *seen = PP_ARRAY(arena, bool, product);
        cr_assert_eq(grid.points, product);
        for (int64_t i = 0; i < grid.points; i++) {
            const struct pp_parsed parsed = point_of(arena, &grid, i);
            int place = 0;
            for (int a = 0; a < AXES; a++)
                place = place * counts[a] + value_of(&parsed, a, counts[a]);
            cr_assert(!seen[place]);
            seen[place] = true;
        }
    }
}

Test(sweep_grid, the_last_option_of_the_table_varies_fastest)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_grid grid =
        sc_grid(arena, "--engine dag,simgrid --pp 4,8 --schedule zbv,1f1b --micro-batches 8");
    static const char *const texts[] = {
        "--schedule zbv --micro-batches 8 --pp 4 --engine dag",
        "--schedule zbv --micro-batches 8 --pp 4 --engine simgrid",
        "--schedule zbv --micro-batches 8 --pp 8 --engine dag",
        "--schedule zbv --micro-batches 8 --pp 8 --engine simgrid",
        "--schedule 1f1b --micro-batches 8 --pp 4 --engine dag",
    };

    cr_assert_eq(grid.points, 8);
    for (int i = 0; i < 5; i++)
        cr_expect_str_eq(pp_grid_text(arena, &grid, i), texts[i]);
}

Test(sweep_grid, a_schedule_without_an_option_has_one_point_for_all_its_values)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_grid grid =
        sc_grid(arena, "--schedule zb-auto,1f1b,bfs --vp 2,4 --max-activations 8:16:+4 --pp 4,8");
    static const char *const texts[] = {
        "--schedule zb-auto --max-activations 8 --pp 4",
        "--schedule zb-auto --max-activations 8 --pp 8",
        "--schedule zb-auto --max-activations 12 --pp 4",
        "--schedule zb-auto --max-activations 12 --pp 8",
        "--schedule zb-auto --max-activations 16 --pp 4",
        "--schedule zb-auto --max-activations 16 --pp 8",
        "--schedule 1f1b --pp 4",
        "--schedule 1f1b --pp 8",
        "--schedule bfs --pp 4 --vp 2",
        "--schedule bfs --pp 4 --vp 4",
        "--schedule bfs --pp 8 --vp 2",
        "--schedule bfs --pp 8 --vp 4",
    };
    const int count = sizeof(texts) / sizeof(*texts);

    cr_assert_eq(grid.points, count);
    for (int i = 0; i < count; i++)
        cr_expect_eq(strcmp(pp_grid_text(arena, &grid, i), texts[i]), 0, "%s, not %s",
                     pp_grid_text(arena, &grid, i), texts[i]);
    /* alone it would be refused, and is not left out */
    cr_assert_eq(sc_grid(arena, "--schedule 1f1b --max-activations 8,12 --pp 4").points, 2);
}

Test(sweep_grid, all_is_every_schedule_and_options_of_some_are_dropped_by_the_others)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_grid all = sc_grid(arena, "--schedule all --vp 2"),
                         one = sc_grid(arena, "--schedule 1f1b --vp 2");
    struct pp_wish wish;
    struct pp_subject subject;
    int schedules = 0;

    for (; pp_schedules[schedules]; schedules++) {
        cr_assert_eq(pp_grid_request(arena, &all, schedules, &wish, &subject, NULL), PP_OK);
        cr_assert_eq(subject.schedule, pp_schedules[schedules]);
        cr_assert(subject.is_listed);
    }
    cr_assert_eq(all.points, schedules);
    cr_assert_eq(pp_grid_request(arena, &one, 0, &wish, &subject, NULL), PP_OK);
    cr_assert(!subject.is_listed);
}

Test(sweep_grid, words_of_a_value_give_a_repeatable_option_several_times)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_grid grid =
        sc_grid(arena, "--schedule 1f1b --slow 3=0.8~5=0.5 --slow 1=0.9 --cluster node:2~gpu:4");
    struct pp_parsed parsed = point_of(arena, &grid, 0);

    cr_assert_eq(grid.points, 2);
    cr_assert_eq(get(&parsed, "slow")->count, 2);
    cr_assert_str_eq(get(&parsed, "slow")->all[0], "3=0.8");
    cr_assert_str_eq(get(&parsed, "slow")->all[1], "5=0.5");
    cr_assert_str_eq(pp_grid_text(arena, &grid, 0),
                     "--schedule 1f1b --cluster 'node:2 gpu:4' --slow 3=0.8 --slow 5=0.5");
    parsed = point_of(arena, &grid, 1);
    cr_assert_eq(get(&parsed, "slow")->count, 1);
}

/* The text of a point, typed to `run`, reads as the point. */
Test(sweep_grid, text_of_a_point_is_its_command_line)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_grid grid =
        sc_grid(arena, "--schedule 1f1b,interleaved --np 4,8 --jitter 0:2%:+1% --post jit,sender "
                       "--params 7B,7e10 --slow 1=0.5~2=0.25 --slow 0=2 --no-fold --seed 1:3:+2");

    for (int64_t i = 0; i < grid.points; i++) {
        const struct pp_parsed want = point_of(arena, &grid, i);
        struct pp_parsed got;
        struct pp_error err = {0};
        cr_assert_eq(sc_parse(arena, "run", pp_grid_text(arena, &grid, i), &got, &err), PP_OK, "%s",
                     err.message);
        cr_assert_eq(got.command, want.command);
        for (int k = 0; k < pp_sim_cli.option_count; k++) {
            const struct pp_option_value *a = &want.values[k], *b = &got.values[k];
            cr_assert_eq(a->count, b->count);
            cr_assert_eq(a->integer, b->integer);
            cr_assert_eq(a->number, b->number);
            cr_assert(a->count == 0 || !strcmp(a->text, b->text));
            cr_assert(a->count == 0 || !strcmp(a->typed, b->typed));
            for (int n = 0; n < a->count && a->all && *a->text; n++)
                cr_assert_str_eq(a->all[n], b->all[n]);
        }
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

Test(sweep_grid, what_no_point_can_read_is_refused)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"--pp 8", "--schedule is needed"},
        {"--schedule 1f1b --pp 8:4:x2", "--pp 8:4:x2: the range is empty: 4 is less than 8"},
        {"--schedule 1f1b --np 8,x", "--np 8,x: \"x\" is not a whole number"},
        {"--schedule 1f1b --pp 8,,4", "--pp 8,,4: an item of the list is empty"},
        {"--schedule 1f1b --pp 8,", "--pp 8,: an item of the list is empty"},
        {"--schedule 1f1b --pp 0:8:x2", "--pp 0:8:x2: 0 is out of range: 1 to 65535"},
        {"--schedule 1f1b --pp 4:99999999:x2", "99999999 is out of range"},
        {"--schedule 1f1b --pp 4:8", "the range has no step; a range is lo:hi:xK"},
        {"--schedule 1f1b --pp 4:8:", "the range has no step"},
        {"--schedule 1f1b --pp 4:8:2", "the step does not say whether it is x or +"},
        {"--schedule 1f1b --pp 4:8:x", "the step has no number"},
        {"--schedule 1f1b --pp 4:8:x2:x2", "the range has more than three parts"},
        {"--schedule 1f1b --pp :8:x2", "the range lacks an end"},
        {"--schedule 1f1b --pp 4:8:x1", "such as 4:8:x2 or 4:8:+4"},
        {"--schedule 1f1b --pp 4:8:+0", "such as 4:8:x2 or 4:8:+4"},
        {"--schedule 1f1b --pp 4:8:x1.5", "step x1.5: \"1.5\" is not a whole number"},
        {"--schedule 1f1b --seed 0:8:x2", "products of 0 never grow"},
        {"--schedule 1f1b --jitter 0:10%:x2", "such as 1%:10%:x2 or 0:10%:+1%"},
        {"--schedule 1f1b --jitter 0:10%:+0%", "it stays where it is"},
        {"--schedule 1f1b --jitter 1%:10%:x1", "it stays where it is"},
        {"--schedule 1f1b --jitter 0:1:+1e-9", "the range has 1,000,000,00"},
        {"--schedule 1f1b --seed 1:1000000000:+1", "the range has 1,000,000,000 values"},
        {"--schedule 1f1b --seed 0:9223372036854775807:+1", "the range has "},
        {"--schedule 1f1b --params 1B:1T:x1.0000001", "the range has "},
        {"--schedule 1f1b --seed 1:1048576:+1,0", "more than 1048576 values"},
        {"--schedule 1f1b --seed 1:1000000:+1 --micro-batches 1:1000000:+1",
         "the sweep has more than 2,147,483,648 points: 1,000,000 of --micro-batches * 1,000,000 "
         "of "
         "--seed"},
        {"--schedule 1f1b --pp 8,4,08", "--pp: 8 is there twice"},
        {"--schedule 1f1b --pp 8 --np 8", "--pp: 8 is there twice"},
        {"--schedule 1f1b,zbv,1F1B", "--schedule: 1f1b is there twice"},
        {"--schedule all,zbv", "--schedule: zbv is there twice"},
        {"--schedule 1f1c", "--schedule 1f1c: unknown schedule; did you mean 1f1b?"},
        {"--schedule -", "give a file"},
        {"--schedule 1f1b --dialect 2024", "--dialect"},
        {"--schedule 1f1b --post early,lately", "\"lately\" is not one of"},
        {"--preset chimera-sc2", "did you mean chimera-sc21?"},
        {"--schedule 1f1b --model llama3-8", "did you mean"},
        {"--schedule 1f1b --model llama3-8b,gpt3-175b", "--model again for each"},
        {"--schedule 1f1b --cluster h10", "did you mean 'h100'"},
        {"--schedule 1f1b --map tp,up", "--map tp,up"},
        {"--schedule 1f1b --unit F=x", "--unit F: "},
        {"--schedule 1f1b --order soon", "--order soon: expected strict"},
        {"--schedule 1f1b --p2p soon", "--p2p soon: expected rendezvous"},
        {"--schedule 1f1b --recompute some", "--recompute some: expected none"},
        {"--schedule 1f1b --slow ~", "--slow"},
        {"--schedule 1f1b --slow junk", "--slow junk: expected RANK=FACTOR"},
        {"--schedule 1f1b --slow 1=0.5~2=0", "--slow 2=0: expected RANK=FACTOR"},
        {"--schedule 1f1b --unit F=1,B=2 --unit B=2,F=1", "--unit: B=2,F=1 is there twice"},
        {"--schedule 1f1b --slow 1=0.5 --slow 01=50%", "--slow: 01=50% is there twice"},
        {"--schedule 1f1b --model gpt2-64 --model GPT2-64", "--model: GPT2-64 is there twice"},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct pp_grid grid;
        struct pp_error err = {0};
        cr_expect_eq(sc_open(arena, cases[i].line, &grid, &err), PP_EINVAL, "%s", cases[i].line);
        cr_expect(strstr(err.message, cases[i].message), "%s: %s", cases[i].line, err.message);
    }
}

Test(sweep_grid, files_fail_as_in_a_run)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_grid grid;
    struct pp_error err = {0};

    cr_assert_eq(sc_open(arena, "--schedule nowhere.csv", &grid, &err), PP_EFAIL);
    cr_assert_eq(sc_open(arena, "--schedule 1f1b --model ./nowhere.json", &grid, &err), PP_EFAIL);
    cr_assert(strstr(err.message, "nowhere.json"));
}
