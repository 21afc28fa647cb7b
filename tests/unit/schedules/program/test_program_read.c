/* Program files: what is read, what is refused and where, and that text survives a round trip. */
#include "schedules/program/program.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

static struct pp_arena *arena;
static struct pp_error err;

static void setup(void)
{
    arena = pp_arena_create();
}
static void teardown(void)
{
    pp_arena_destroy(arena);
}
TestSuite(program_read, .init = setup, .fini = teardown);

static enum pp_status parse(const char *text, enum pp_dialect dialect, struct pp_program **p)
{
    return pp_program_parse(arena, "f.csv", text, strlen(text), dialect, p, &err);
}

static struct pp_program *parsed(const char *text)
{
    struct pp_program *p = NULL;

    cr_assert_eq(parse(text, PP_DIALECT_2025, &p), PP_OK, "%s", err.message);
    return p;
}

/* print -> parse -> print is the identity, and nothing but the text is lost. */
static void check_fixpoint(const struct pp_program *p)
{
    const char *text = pp_program_text(arena, p);
    const struct pp_program *q = parsed(text);

    cr_assert_str_eq(pp_program_text(arena, q), text);
    cr_assert_eq(pp_program_hash(q), pp_program_hash(p));
    cr_assert_eq(q->channel_count, p->channel_count);
    cr_assert_eq(q->collective_count, p->collective_count);
    cr_assert_eq(pp_program_size(q), pp_program_size(p));
}

static void check_text(const char *text, const char *expected)
{
    const struct pp_program *p = parsed(text);

    cr_assert_str_eq(pp_program_text(arena, p), expected);
    check_fixpoint(p);
}

/* ---- files ----------------------------------------------------------------------------------- */

static char *slurp(const char *path)
{
    FILE *in = fopen(path, "rb");
    cr_assert_not_null(in, "%s", path);
    char *text = pp_arena_alloc(arena, 1 << 20);
    text[fread(text, 1, (1 << 20) - 1, in)] = '\0';
    fclose(in);
    return text;
}

static int check_folder(const char *folder)
{
    const char *path = pp_arena_printf(arena, "%s/%s", PP_TESTS_DIR, folder);
    DIR *dir = opendir(path);
    int files = 0;

    cr_assert_not_null(dir, "%s", path);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        const char *file = pp_arena_printf(arena, "%s/%s", path, entry->d_name);
        const bool is_old = strncmp(entry->d_name, "pt2024_", 7) == 0;
        const bool is_table =
            !strcmp(entry->d_name, "index.csv") || !strcmp(entry->d_name, "bounds.csv");
        struct pp_program *p;
        if (!strstr(entry->d_name, ".csv") || is_table)
            continue;
        cr_assert_eq(
            pp_program_read(arena, file, is_old ? PP_DIALECT_2024 : PP_DIALECT_2025, &p, &err),
            PP_OK, "%s", err.message);
        if (p->level == PP_LEVEL_COMPUTE && !is_old)
            cr_assert_str_eq(pp_program_text(arena, p), slurp(file), "%s", file);
        check_fixpoint(p);
        files++;
    }
    closedir(dir);
    return files;
}

Test(program_read, files_of_others_survive_a_round_trip)
{
    cr_assert_geq(check_folder("golden"), 30);
    cr_assert_geq(check_folder("programs"), 11);
}

static struct pp_program *read_program(const char *name, enum pp_dialect dialect)
{
    struct pp_program *p = NULL;

    cr_assert_eq(pp_program_read(arena,
                                 pp_arena_printf(arena, "%s/programs/%s", PP_TESTS_DIR, name),
                                 dialect, &p, &err),
                 PP_OK, "%s", err.message);
    return p;
}

Test(program_read, the_letters_of_2024_are_translated)
{
    const struct pp_program *old =
        read_program("pt2024_zb1p_2rank_2stagep_compute.csv", PP_DIALECT_2024);
    const struct pp_program *new =
        read_program("pt_zb1p_2rank_2stagep_compute.csv", PP_DIALECT_2025);

    cr_assert_str_eq(pp_program_text(arena, old), pp_program_text(arena, new));
}

static int count_kind(const struct pp_program *p, int kind)
{
    int count = 0;

    for (int i = 0; i < pp_program_size(p); i++)
        count += p->kind[i] == kind;
    return count;
}

Test(program_read, posts_without_waits_get_them)
{
    const struct pp_program *p = read_program("zbv_D4_N8.comms.csv", PP_DIALECT_2025);
    /* 8 micro-batches over 7 boundaries, one of them inside rank 3, both ways */
    const int messages = 8 * 6 * 2;

    cr_assert_eq(p->level, PP_LEVEL_LOWERED);
    cr_assert_eq(p->message_count, messages);
    cr_assert_eq(count_kind(p, PP_WAIT), 2 * messages);
    for (int i = 1; i < pp_program_size(p); i++) /* each before its consumer */
        if (p->kind[i] == PP_WAIT && p->aux[i] == PP_RECV_F)
            cr_assert(p->kind[i + 1] == PP_F && p->stage[i + 1] == p->stage[i] &&
                      p->mb[i + 1] == p->mb[i]);
    p = read_program("pt2024_zb1p_2rank_2stagep_comms.csv", PP_DIALECT_2024);
    cr_assert_eq(p->message_count, 8 * 3 * 2);
    cr_assert_eq(count_kind(p, PP_WAIT), 2 * p->message_count);
    cr_assert_eq(count_kind(p, PP_B), 16); /* rank 0 */
    cr_assert_eq(count_kind(p, PP_I), 16); /* rank 1 */
}

Test(program_read, waits_are_placed_by_need)
{
    const struct pp_program *p = parsed("0UNSHARD,0F0,0SEND_F0,0RECV_B0,0B0,0REDUCE_GRAD,0RESHARD\n"
                                        "1RECV_F0,1F0,1B0,1SEND_B0\n");
    const char *text = pp_program_text(arena, p);

    cr_assert(strstr(text, "\n0AG,(0AG)WAIT,0F0,0SEND_F0,0RECV_B0,(0RECV_B0)WAIT,0B0,0AR,0DROP,"
                           "(0SEND_F0)WAIT,(0AR)WAIT\n"
                           "1RECV_F0,(1RECV_F0)WAIT,1F0,1B0,1SEND_B0,(1SEND_B0)WAIT\n"),
              "%s", text);
    check_fixpoint(p);
    /* the waits of an overlapped pair stand before its forward */
    p = parsed("0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,(0F2;0B0)OVERLAP_F_B,0SEND_F2,0RECV_B1,0B1,"
               "0RECV_B2,0B2\n"
               "1RECV_F0,1F0,1B0,1SEND_B0,1RECV_F1,1F1,1B1,1SEND_B1,1RECV_F2,1F2,1B2,1SEND_B2\n");
    cr_assert(strstr(pp_program_text(arena, p), "(0RECV_B0)WAIT,(0F2;0B0)OVERLAP_F_B"));
}

/* Since PyTorch 2.15 a list says where it waits for its sends and sums, not for what it receives.
 */
Test(program_read, waits_of_pytorch_stay_where_they_are)
{
    const struct pp_program *p =
        parsed("0UNSHARD,0F0,0SEND_F0,0RECV_B0,0B0,0WAIT_SEND_F0,0REDUCE_GRAD,0WAIT_REDUCE_GRAD,"
               "0RESHARD\n"
               "1UNSHARD,1RECV_F0,1F0,1B0,1SEND_B0,1REDUCE_GRAD,1WAIT_REDUCE_GRAD,1RESHARD,"
               "1WAIT_SEND_B0\n");
    const char *text = pp_program_text(arena, p);

    cr_assert(strstr(text, "\n0AG,(0AG)WAIT,0F0,0SEND_F0,0RECV_B0,(0RECV_B0)WAIT,0B0,"
                           "(0SEND_F0)WAIT,0AR,(0AR)WAIT,0DROP\n"
                           "1AG,1RECV_F0,(1AG)WAIT,(1RECV_F0)WAIT,1F0,1B0,1SEND_B0,1AR,(1AR)WAIT,"
                           "1DROP,(1SEND_B0)WAIT\n"),
              "%s", text);
    check_fixpoint(p);
}

/* ---- what is read ------------------------------------------------------------------------- */

Test(program_read, spreadsheet_habits_are_tolerated)
{
    check_text("\xef\xbb\xbf\"0F0\", 0F1 ,,\"(0F2;0B0)OVERLAP_F_B\",0B1,,0B2,\r\n"
               ",1F0,1F1,1F2,1B0,1B1,1B2\r\n\r\n  \r\n",
               "0F0,0F1,(0F2;0B0)OVERLAP_F_B,0B1,0B2\n1F0,1F1,1F2,1B0,1B1,1B2\n");
    check_text("# my first schedule\n0F0,0B0\n# second rank\n1F0,1B0", "0F0,0B0\n1F0,1B0\n");
    check_text("# ranks: 77 (no format line: just a comment)\n0F0,0B0", "0F0,0B0\n");
}

Test(program_read, sizes_come_from_the_cells)
{
    const struct pp_program *p = parsed("0F0s0,0F0s1,0B0s1,0B0s0,3F0s0,3F0s1,3B0s1,3B0s0\n"
                                        "1F0s0,1F0s1,2F0s0,2F0s1,2B0s1,2B0s0,1B0s1,1B0s0\n");

    cr_assert(p->ranks == 2 && p->stages == 4 && p->pipelines == 1 && p->micro_batches == 1);
    cr_assert(p->splits == 2 && p->granules == 1 && p->mode == PP_MODE_TRAIN);
    cr_assert(p->rank_of[0] == 0 && p->rank_of[2] == 1 && p->rank_of[3] == 0);
    check_fixpoint(p);
    p = parsed("0F0-1,0F2-3,0B0,0B1,0B2,0B3\n1F0-1,1F2-3,1B0,1B1,1B2,1B3\n");
    cr_assert(p->granules == 2 && p->micro_batches == 2);
    check_fixpoint(p);
    p = parsed("0F0,0F1\n1F0,1F1\n");
    cr_assert_eq(p->mode, PP_MODE_INFER);
    cr_assert_eq(p->line[2], 2);
    cr_assert_eq(p->column[3], 2);
    cr_assert_str_eq(p->file, "f.csv");
}

Test(program_read, pipelines_are_the_ways_through_the_ranks)
{
    const struct pp_program *p = parsed("0F1,1F0,1B0,0B1,1U,0U\n1F1,0F0,0B0,1B1,1U,0U\n");

    cr_assert_eq(p->pipelines, 2);
    cr_assert(p->pipe_of[0] == 0 && p->pipe_of[1] == 1);
    cr_assert(p->rank_of[0] == 1 && p->rank_of[1] == 0); /* micro-batch 0 starts on rank 1 */
    cr_assert(p->rank_of[2] == 0 && p->rank_of[3] == 1);
    cr_assert(p->pipe[4] == 0 && p->pipe[5] == 1); /* 1U and 0U of rank 0 */
    check_fixpoint(p);
    p = read_program("dualpipe_D4_N8.csv", PP_DIALECT_2025);
    cr_assert(p->pipelines == 2 && p->pipe_of[3] == 0 && p->pipe_of[4] == 1);
}

Test(program_read, an_incomplete_micro_batch_joins_where_it_fits)
{
    const struct pp_program *p = parsed("0F0,0F1,0B0,0B1\n1F0,1B0\n");

    cr_assert_eq(p->pipelines, 1);
    p = parsed("0F0,1F1,0B0,1B1\n1F0,1B0,0F2,0F1\n1F3,1B3,0F3\n");
    cr_assert_eq(p->pipelines, 3);
    cr_assert(p->pipe_of[2] == p->pipe_of[1]);
}

Test(program_read, a_lowered_program_keeps_what_its_cells_do_not_tell)
{
    static const uint16_t rank_of[] = {0, 1, 1, 0}, pipe_of[] = {0, 0};
    const struct pp_program *p = parsed("0F0,0F1,0B0,0B1,0U\n1F0,1F1,1B0,1B1,1U\n");
    struct pp_program_head head = pp_program_head_of(p);
    struct pp_program *q = NULL;

    head.name = "a\nname ";
    head.pipelines = 2; /* a second pipeline without micro-batches */
    head.rank_of = rank_of;
    head.pipe_of = pipe_of;
    head.versions = 2;
    cr_assert_eq(pp_program_freeze(arena, &head, pp_program_thaw(arena, p), &q, &err), PP_OK);
    cr_assert_str_eq(pp_program_text(arena, q), "# format: pipesim-program/1\n"
                                                "# schedule: a?name\n"
                                                "# level: lowered\n"
                                                "# mode: train\n"
                                                "# ranks: 2\n"
                                                "# stages: 2\n"
                                                "# pipelines: 2\n"
                                                "# micro_batches: 2\n"
                                                "# granules: 1\n"
                                                "# splits: 1\n"
                                                "# versions: 2\n"
                                                "# placement: 0 1; 1 0\n"
                                                "# pipe_of: 0 0\n"
                                                "0F0,0F1,0B0,0B1,0U@0\n"
                                                "1F0,1F1,1B0,1B1,1U@0\n");
    check_fixpoint(q);
    q = parsed(pp_program_text(arena, q));
    cr_assert(q->pipelines == 2 && q->versions == 2 && q->rank_of[2] == 1);
    cr_assert_str_eq(q->name, "a?name");
}

Test(program_read, printing_to_a_file_gives_the_same_text)
{
    const struct pp_program *p = read_program("zbv_D4_N8.comms.csv", PP_DIALECT_2025);
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    pp_program_print(p, out);
    fclose(out);
    cr_assert_str_eq(text, pp_program_text(arena, p));
    free(text);
}

/* ---- what is refused ---------------------------------------------------------------------- */

#define SIZES_OF_TWO "# ranks: 2\n# stages: 2\n# pipelines: 2\n# micro_batches: 1\n# granules: 1\n"

static const struct {
    const char *text, *message;
} refused[] = {
    {"", "f.csv: no ranks: expected one row of cells like 0F0,0B0 per rank"},
    {"\n\n", "f.csv: no ranks: expected one row of cells like 0F0,0B0 per rank"},
    {"# nothing\n", "f.csv: no ranks: expected one row of cells like 0F0,0B0 per rank"},
    {"0F0,0B0\n\n1F0,1B0\n",
     "f.csv:2: rank 1 has no instructions: every row is a rank and needs at least one"},
    {"0F0,0B0\n,,\n",
     "f.csv:2: rank 1 has no instructions: every row is a rank and needs at least one"},
    {"0F0,,0F1xyz\n",
     "f.csv:1:3: '0F1xyz': nothing may follow the instruction (its first 3 characters)"},
    {"0F0,0F1 0B0\n", "f.csv:1:2: '0F1 0B0': a comma ends an instruction (its first 4 characters)"},
    {"0F0;0B0\n", "f.csv:1:1: '0F0;0B0': a comma ends an instruction (its first 3 characters)"},
    {"0F0,0F1\x1b[2J\n",
     "f.csv:1:2: '0F1?[2J': nothing may follow the instruction (its first 3 characters)"},
    {"0F0\n1F0,1BW0\n",
     "f.csv:2:2: '1BW0': BW is the full backward in files of 2024; today it is B (a whole file of "
     "that time: --dialect 2024)"},
    {"0F0,0B0,0W0\n",
     "f.csv:1:3: 0W0: a weight gradient (W) in a file without input gradients (I): if the file is "
     "of 2024, when B was the input gradient, read it with --dialect 2024"},
    {"0F0,1F0,0B0\n1B0\n", "f.csv:2:1: 1B0: stage 1 of micro-batch 0 is here on rank 1, but on "
                           "rank 0 at line 1 cell 2"},
    {"0F0,0F3\n1F0,1F3\n", "f.csv:1:2: 0F3: micro-batch 3 occurs here, but micro-batch 1 nowhere: "
                           "they are counted from 0 without gaps"},
    {"0F0\n2F0\n", "f.csv:2:1: 2F0: stage 2 occurs here, but stage 1 nowhere: they are counted "
                   "from 0 without gaps"},
    {"0F16777216\n", "f.csv:1:1: 0F16777216: micro-batch ids are below 16777216"},
    {"0U\n", "f.csv: no cell names a micro-batch: expected cells like 0F0"},
    {"0F0-1,0F2\n", "f.csv:1:2: 0F2: granules 0 to 2 are no whole number of micro-batches of 2 "
                    "each"},
    {"0F0-2\n1F0,1F2\n1F1\n",
     "f.csv:1:1: 0F0-2: granules 0 and 1 belong to one micro-batch (of 3 granules) but take "
     "different ways through the ranks"},
    {"0F0,1U\n1F0\n", "f.csv:1:2: 1U: stage 1 is on rank 1, not on rank 0"},
    {"0F0,0U@1\n", "f.csv:1:2: 0U: pipelines are 0 to 0"},
    {"0F0,0SEND_F0\n1F0\n", "f.csv:1:2: 0SEND_F0: rank 0 sends 1 F messages to rank 1, which "
                            "receives 0: no RECV for this one"},
    {"0F0,(0F1;0B0)OVERLAP_F_B,(0AR)WAIT,0B1\n",
     "f.csv:1:3: (0AR)WAIT: nothing of this name is posted before"},
    {"0F0,1F1\n1F0\n", "f.csv:1:2: 1F1: micro-batch 1 never visits stage 0, and no other "
                       "micro-batch that goes the same way tells on which rank that is"},
    {"# format: pipesim-program/2\n0F0\n",
     "f.csv:1: format: 'pipesim-program/2'; expected pipesim-program/1"},
    {"# format: pipesim-program/1\n# ranks: 2\n0F0\n", "f.csv:2: ranks: 2, but there are 1 rows"},
    {"# format: pipesim-program/1\n# stages: 1\n0F0,1F0\n",
     "f.csv:2: stages: 1, but the cells need 2"},
    {"# format: pipesim-program/1\n# stages: 3\n0F0,1F0\n",
     "f.csv:2: stages: 3, but the cells have 2"},
    {"# format: pipesim-program/1\n# micro_batches: 1\n0F0,0F1\n",
     "f.csv:2: micro_batches: 1, but the cells need 2"},
    {"# format: pipesim-program/1\n# splits: many\n0F0\n",
     "f.csv:2: splits: 'many'; expected a whole number from 1 to 255"},
    {"# format: pipesim-program/1\n# splits: 1\n# splits: 2\n0F0s0\n",
     "f.csv:3: splits: '2'; expected it only once"},
    {"# format: pipesim-program/1\n# level: high\n0F0\n",
     "f.csv:2: level: 'high'; expected compute or lowered"},
    {"# format: pipesim-program/1\n# level: compute\n0F0,0U\n",
     "f.csv: level: compute, but there are other cells than F, B, I, W, R"},
    {"# format: pipesim-program/1\n# level: compute\n# splits: 2\n0F0\n",
     "f.csv:3: splits: 2, but the cells have 1"},
    {"0F0-2,0SEND_F0-1,(0SEND_F0-2)WAIT\n1RECV_F0-1,1F0-2\n",
     "f.csv:1:3: (0SEND_F0-2)WAIT: what was posted has other granules"},
    {"0F0,(0;2)AR\n1F0,(0;1)AR\n2F0\n",
     "f.csv:2:2: (0;1)AR: a tied sum joins the first and the last stage, 0 and 2"},
    {"# format: pipesim-program/1\n" SIZES_OF_TWO "# placement: 0 1; 1 0\n0F0\n1F0\n",
     "f.csv:7: a placement of several pipelines also needs '# pipe_of: ...', the pipeline of every "
     "micro-batch"},
    {"# format: pipesim-program/1\n" SIZES_OF_TWO "# pipe_of: 0\n0F0\n1F0\n",
     "f.csv: pipe_of without a placement"},
    {"# format: pipesim-program/1\n# state: p; 1 1\n0F0\n1F0\n",
     "f.csv:2: state also needs '# stages: ...'"},
    {"# format: pipesim-program/1\n# stages: 2\n# state: p; 1\n0F0\n1F0\n",
     "f.csv:3: state: 'p; 1'; expected 'g', 'p; UNITS', 'p g; UNITS' (or m, p m) with 2 numbers "
     "from 1 to "
     "65535, and '; BUFFERS[; CACHED]' or nothing; o or s after any"},
    {"# format: pipesim-program/1\n# stages: 2\n# state: p; 1 0\n0F0\n1F0\n",
     "f.csv:3: state: 'p; 1 0'; expected 'g', 'p; UNITS', 'p g; UNITS' (or m, p m) with 2 numbers "
     "from 1 to "
     "65535, and '; BUFFERS[; CACHED]' or nothing; o or s after any"},
    {"# format: pipesim-program/1\n# stages: 2\n# state: p; 1 1; 0\n0F0\n1F0\n",
     "f.csv:3: state: 'p; 1 1; 0'; expected 'g', 'p; UNITS', 'p g; UNITS' (or m, p m) with 2 "
     "numbers from 1 "
     "to 65535, and '; BUFFERS[; CACHED]' or nothing; o or s after any"},
    {"# format: pipesim-program/1\n# stages: 2\n# state: p p; 1 1\n0F0\n1F0\n",
     "f.csv:3: state: 'p p; 1 1'; expected 'g', 'p; UNITS', 'p g; UNITS' (or m, p m) with 2 "
     "numbers from 1 "
     "to 65535, and '; BUFFERS[; CACHED]' or nothing; o or s after any"},
    {"# format: pipesim-program/1\n# stages: 2\n# state: g p\n0F0\n1F0\n",
     "f.csv:3: state: 'g p'; expected 'g', 'p; UNITS', 'p g; UNITS' (or m, p m) with 2 numbers "
     "from 1 to "
     "65535, and '; BUFFERS[; CACHED]' or nothing; o or s after any"},
    {"# format: pipesim-program/1\n# stages: 2\n# state: o s\n0F0\n1F0\n",
     "f.csv:3: state: 'o s'; expected 'g', 'p; UNITS', 'p g; UNITS' (or m, p m) with 2 numbers "
     "from 1 to "
     "65535, and '; BUFFERS[; CACHED]' or nothing; o or s after any"},
    {"# format: pipesim-program/1\n# state: g\n# stages: 2\n# state: g\n0F0\n1F0\n",
     "f.csv:4: state: 'g'; expected it only once"},
    {"# format: pipesim-program/1\n# level: compute\n# stages: 2\n# state: g\n0F0\n1F0\n",
     "f.csv:4: state: a compute-only program neither gathers nor scatters"},
    {"# format: pipesim-program/1\n" SIZES_OF_TWO "# placement: 0 1, 1 0\n0F0\n1F0\n",
     "f.csv:7: placement: '0 1, 1 0'; expected 2 lists of 2 numbers below 2"},
    {"# format: pipesim-program/1\n" SIZES_OF_TWO "# placement: 0 1; 1 0;\n0F0\n1F0\n",
     "f.csv:7: placement: '0 1; 1 0;'; expected 2 lists of 2 numbers below 2"},
    {"# format: pipesim-program/1\n" SIZES_OF_TWO "# placement: 0 1; 1 0\n# pipe_of: 2\n0F0\n",
     "f.csv:8: pipe_of: '2'; expected 1 lists of 1 numbers below 2"},
    {"# format: pipesim-program/1\n# level: compute\n" SIZES_OF_TWO
     "# placement: 0 1; 1 0\n# pipe_of: 1\n1F0\n0F0\n",
     "f.csv:8: placement: a compute-only program has the one of its cells"},
    {"# format: pipesim-program/1\n# mode: infer\n0F0,0B0\n",
     "f.csv: mode: infer, but there are backward cells"},
    {"# format: pipesim-program/1\n# pipelines: 2\n0F0\n",
     "f.csv:2: pipelines: 2, but the micro-batches take 1 ways through the ranks"},
    {"# format: pipesim-program/1\n# placement: 0 1\n0F0\n1F0\n",
     "f.csv:2: placement also needs '# ranks: ...'"},
    {"# format: pipesim-program/1\n# ranks: 2\n# stages: 2\n# pipelines: 1\n# micro_batches: 1\n"
     "# granules: 1\n# placement: 0 2\n0F0\n1F0\n",
     "f.csv:7: placement: '0 2'; expected 1 lists of 2 numbers below 2"},
    {"# format: pipesim-program/1\n# ranks: 2\n# stages: 2\n# pipelines: 1\n# micro_batches: 1\n"
     "# granules: 1\n# placement: 1 0\n0F0\n1F0\n",
     "f.csv:8:1: 0F0: stage 0 of this micro-batch is on rank 1, not on rank 0"},
};

Test(program_read, refusals_name_the_place)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        struct pp_program *p;
        cr_expect_eq(parse(refused[i].text, PP_DIALECT_2025, &p), PP_EPROGRAM, "%s",
                     refused[i].text);
        cr_expect_eq(err.status, PP_EPROGRAM);
        cr_expect_str_eq(err.message, refused[i].message);
        cr_expect_eq(pp_program_parse(arena, "f.csv", refused[i].text, strlen(refused[i].text),
                                      PP_DIALECT_2025, &p, NULL),
                     PP_EPROGRAM);
    }
}

Test(program_read, a_file_of_today_is_no_file_of_2024)
{
    struct pp_program *p;

    cr_assert_eq(parse("0F0,0I0,0W0\n", PP_DIALECT_2024, &p), PP_EPROGRAM);
    cr_assert_str_eq(err.message,
                     "f.csv:1:2: '0I0': files of 2024 have no I (their B is the input gradient): "
                     "read this one without --dialect 2024");
}

Test(program_read, csv_errors_are_program_errors)
{
    struct pp_program *p;

    cr_assert_eq(parse("0F0,\"0B0\n", PP_DIALECT_2025, &p), PP_EPROGRAM);
    cr_assert_eq(err.status, PP_EPROGRAM);
    cr_assert_eq(strncmp(err.message, "f.csv:1: ", 9), 0);
    cr_assert_eq(pp_program_parse(arena, "f.csv", "0F0\0", 4, PP_DIALECT_2025, &p, &err),
                 PP_EPROGRAM);
    cr_assert_eq(pp_program_read(arena, "/nonexistent/x.csv", PP_DIALECT_2025, &p, &err), PP_EFAIL);
}
