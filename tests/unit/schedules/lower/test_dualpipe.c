/* The messages of DualPipe and DualPipeV against those of the authors' program.
 * tests/data/dualpipe*.instr.csv is deepseek-ai/DualPipe@3da1bbea5360 with every call recorded
 * instead of executed. {...} is one batch_isend_irecv group with a single wait. */
#include "schedules/lower/lower.h"
#include "schedules/registry.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *slurp(struct pp_arena *arena, const char *name)
{
    char *path = pp_arena_printf(arena, "%s/data/%s", PP_TESTS_DIR, name);
    char *text = pp_arena_alloc(arena, 1 << 16);
    FILE *in = fopen(path, "rb");

    cr_assert_not_null(in, "%s", path);
    text[fread(text, 1, (1 << 16) - 1, in)] = '\0';
    fclose(in);
    return text;
}

/* The micro-batches of all `kind` of one stage in a row, in order: "0 1 2 ". */
static const char *recorded(struct pp_arena *arena, const char *row, int stage, const char *kind)
{
    char *text = "";
    const char *name = pp_arena_printf(arena, "%d%s", stage, kind);

    for (const char *at = strstr(row, name); at; at = strstr(at + 1, name))
        if (at > row && (at[-1] == '{' || at[-1] == ' '))
            text = pp_arena_printf(arena, "%s%d ", text, atoi(at + strlen(name)));
    return text;
}

static const char *lowered(struct pp_arena *arena, const struct pp_program *p, int rank, int stage,
                           int kind)
{
    char *text = "";

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        if (p->kind[i] == kind && p->stage[i] == stage)
            text = pp_arena_printf(arena, "%s%d ", text, p->mb[i]);
    return text;
}

static void compare(const char *schedule, const char *file, enum pp_post post, int slots)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_shape shape = {.ranks = 4, .micro_batches = 8};
    const struct pp_lower_options options = {.post = post, .recv_slots = slots};
    static const int kinds[] = {PP_SEND_F, PP_SEND_B, PP_RECV_F, PP_RECV_B};
    struct pp_program *compute, *p;
    struct pp_error err;
    char *rows = slurp(arena, file);
    int messages = 0;

    cr_assert_eq(
        pp_schedule_program(arena, pp_schedule_find(schedule), &shape, NULL, &compute, &err),
        PP_OK);
    cr_assert_eq(pp_lower(arena, compute, &options, &p, &err), PP_OK, "%s", err.message);
    for (int rank = 0; rank < 4; rank++) {
        const char *row = strsep(&rows, "\n");
        for (int k = 0; k < 4; k++)
            for (int stage = 0; stage < p->stages; stage++) {
                const char *want = recorded(arena, row, stage, pp_op_kinds[kinds[k]].text);
                cr_expect_str_eq(lowered(arena, p, rank, stage, kinds[k]), want,
                                 "%s, %s: rank %d, stage %d, %s", schedule, pp_post_names[post],
                                 rank, stage, pp_op_kinds[kinds[k]].text);
                messages += (int)strlen(want) / 2;
            }
    }
    cr_expect_eq(messages, 2 * p->message_count);
    cr_expect_eq(p->message_count, strcmp(schedule, "dualpipe") ? 96 : 48);
}

Test(dualpipe, messages_are_those_of_the_authors)
{
    for (int post = PP_POST_EARLY; post <= PP_POST_SENDER; post++)
        for (int slots = 0; slots <= 2; slots++) {
            compare("dualpipe", "dualpipe_D4_N8.instr.csv", (enum pp_post)post, slots);
            compare("dualpipev", "dualpipev_D4_N8.instr.csv", (enum pp_post)post, slots);
        }
}
