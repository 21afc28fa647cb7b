/* Printing and parsing single instructions, both ways. */
#include "core/op.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct pp_op_style everything = {
    .splits = false, .pipelines = false, .slots = true, .versions = true};

/* Cells that print exactly as they were written. */
static const char *const canonical[] = {
    "0F0",
    "12B345",
    "3I7",
    "3W7",
    "0R2",
    "1Q0",
    "1DQ0",
    "0A2A3",
    "0U",
    "0AR",
    "5RS",
    "5AG",
    "5BC",
    "0BAR",
    "7DROP",
    "2SEND_F0",
    "2RECV_F0",
    "2SEND_B0",
    "2RECV_B7",
    "1COPY3",
    "0F0-1",
    "0SEND_F4-7",
    "0F3v1",
    "0F3v1[2]",
    "1RECV_F0[2]",
    "(1RECV_F0)WAIT",
    "(1SEND_B0-1)WAIT",
    "(0AR)WAIT",
    "0AR#0/2",
    "5RS#254/255",
    "5AG#1/4",
    "5BC#1/4",
    "(0AR#1/4)WAIT",
    "(0;7)AR",
    "((0;7)AR)WAIT",
    "65534F2147483391",
    "0F2147483137-2147483390",
};

Test(op, canonical_cells_survive_a_round_trip)
{
    for (size_t i = 0; i < sizeof(canonical) / sizeof(*canonical); i++) {
        struct pp_op ops[2];
        struct pp_error err = {0};
        char text[PP_OP_TEXT_BYTES];
        int count = 0;
        cr_assert_eq(pp_op_parse(canonical[i], ops, &count, &err), PP_OK, "%s: %s", canonical[i],
                     err.message);
        cr_assert_eq(count, 1);
        cr_assert_eq(pp_op_print(&ops[0], everything, text), strlen(canonical[i]));
        cr_assert_str_eq(text, canonical[i]);
    }
}

Test(op, fields_are_filled)
{
    struct pp_op ops[2];
    struct pp_error err;
    int count;

    cr_assert_eq(pp_op_parse(" 4F0-1s3 ", ops, &count, &err), PP_OK);
    cr_assert(ops[0].kind == PP_F && ops[0].stage == 4 && ops[0].mb == 0);
    cr_assert(ops[0].granules == 2 && ops[0].split == 3);
    cr_assert(ops[0].arg == -1 && ops[0].slot == -1 && ops[0].aux == 0);
    cr_assert_eq(pp_op_parse("2AR@1", ops, &count, &err), PP_OK);
    cr_assert(ops[0].kind == PP_AR && ops[0].pipe == 1 && ops[0].mb == -1);
    cr_assert_eq(ops[0].granules, 0);
    cr_assert_eq(pp_op_parse("(2AR@1)WAIT", ops, &count, &err), PP_OK);
    cr_assert(ops[0].kind == PP_WAIT && ops[0].aux == PP_AR && ops[0].pipe == 1);
    cr_assert_eq(pp_op_parse("(2RS@1#3/5)WAIT", ops, &count, &err), PP_OK);
    cr_assert(ops[0].aux == PP_RS && ops[0].pipe == 1);
    cr_assert(ops[0].split == 3 && ops[0].granules == 5);
    cr_assert_eq(pp_op_parse("((0;7)AR)WAIT", ops, &count, &err), PP_OK);
    cr_assert(ops[0].kind == PP_WAIT && ops[0].aux == PP_AR && ops[0].peer == 7);
    cr_assert_eq(pp_op_parse("(0;7)AR", ops, &count, &err), PP_OK);
    cr_assert(ops[0].kind == PP_AR && ops[0].aux == PP_TIED && ops[0].stage == 0);
}

Test(op, overlapped_pair_gives_two_instructions)
{
    struct pp_op ops[2];
    struct pp_error err;
    char text[PP_OP_TEXT_BYTES];
    int count;

    cr_assert_eq(pp_op_parse("( 0F3 ; 3B5 )OVERLAP_F_B", ops, &count, &err), PP_OK);
    cr_assert_eq(count, 2);
    cr_assert(ops[0].kind == PP_F && ops[0].aux == PP_FUSED_FIRST);
    cr_assert(ops[1].kind == PP_B && ops[1].aux == PP_FUSED_SECOND && ops[1].mb == 5);
    pp_op_print(&ops[0], everything, text);
    cr_assert_str_eq(text, "0F3");
}

Test(op, pytorch_names_are_understood)
{
    struct pp_op ops[2];
    struct pp_error err;
    int count;

    cr_assert_eq(pp_op_parse("0REDUCE_GRAD", ops, &count, &err), PP_OK);
    cr_assert_eq(ops[0].kind, PP_AR);
    cr_assert_eq(pp_op_parse("0UNSHARD", ops, &count, &err), PP_OK);
    cr_assert_eq(ops[0].kind, PP_AG);
    cr_assert_eq(pp_op_parse("0RESHARD", ops, &count, &err), PP_OK);
    cr_assert_eq(ops[0].kind, PP_DROP);
}

Test(op, waits_of_pytorch_are_waits)
{
    static const char *const pairs[][2] = {{"3WAIT_SEND_F2", "(3SEND_F2)WAIT"},
                                           {"0WAIT_SEND_B17", "(0SEND_B17)WAIT"},
                                           {"1WAIT_REDUCE_GRAD", "(1AR)WAIT"}};

    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        struct pp_op ops[2];
        struct pp_error err;
        char text[PP_OP_TEXT_BYTES];
        int count;
        cr_assert_eq(pp_op_parse(pairs[i][0], ops, &count, &err), PP_OK, "%s", err.message);
        cr_assert_eq(count, 1);
        pp_op_print(&ops[0], (struct pp_op_style){0}, text);
        cr_assert_str_eq(text, pairs[i][1]);
    }
}

Test(op, style_adds_splits_and_pipelines)
{
    const struct pp_op f = {.kind = PP_F, .granules = 1, .slot = 3, .version = 1};
    const struct pp_op u = {.kind = PP_U, .mb = -1, .slot = -1};
    char text[PP_OP_TEXT_BYTES];

    pp_op_print(&f, (struct pp_op_style){.splits = true}, text);
    cr_assert_str_eq(text, "0F0s0");
    pp_op_print(&u, (struct pp_op_style){.pipelines = true}, text);
    cr_assert_str_eq(text, "0U@0");
}

static const struct {
    const char *text, *part; /* of the message */
} refused[] = {
    {"", "number (stage)"},
    {"  ", "number (stage)"},
    {"F0", "number (stage)"},
    {"-1F0", "number (stage)"},
    {"0", "expected a kind"},
    {"0F", "number (micro-batch)"},
    {"0F-1", "number (micro-batch)"},
    {"0F1xyz", "nothing may follow"},
    {"0F1 2", "a comma ends an instruction"},
    {"0F1,", "nothing may follow"},
    {"0Fx", "unknown kind 'Fx'"},
    {"0f1", "unknown kind 'f'; known are F, B, I"},
    {"0BW3", "--dialect 2024"},
    {"0A3", "unknown kind 'A'"},
    {"0U3", "takes no micro-batch"},
    {"0REDUCE_GRAD1", "takes no micro-batch"},
    {"65535F0", "stage is larger than 65534"},
    {"99999999999999999999F0", "stage is larger"},
    {"0F99999999999999999999", "micro-batch is larger"},
    {"0F0s255", "split is larger than 254"},
    {"0F1-1", "range of granules"},
    {"0F3-1", "range of granules"},
    {"0F0-254", "range of granules"},
    {"0F0@1", "nothing may follow"},
    {"0U@65535", "pipeline is larger"},
    {"0F0[", "number (slot)"},
    {"0F0[1", "expected ']'"},
    {"0WAIT", "(1RECV_F0)WAIT"},
    {"0WAIT3", "(1RECV_F0)WAIT"},
    {"(0F0)WAIT", "posted instructions"},
    {"(0BAR)WAIT", "posted instructions"},
    {"(0SEND_F0[1])WAIT", "no slot"},
    {"0WAIT_SEND_F", "number (micro-batch)"},
    {"0WAIT_SEND_F0[1]", "no slot"},
    {"0WAIT_RECV_F0", "unknown kind"},
    {"0WAIT_REDUCE_GRAD1", "takes no micro-batch"},
    {"(0WAIT_SEND_F0)WAIT", "posted instructions"},
    {"(0F0;0WAIT_SEND_F0)OVERLAP_F_B", "a forward and a full backward"},
    {"(0SEND_F0WAIT", "expected ';' or ')'"},
    {"(0SEND_F0)", "expected WAIT"},
    {"(0F0;0B0)", "expected OVERLAP_F_B"},
    {"(0F0;0B0)WAIT", "expected OVERLAP_F_B"},
    {"(0F0;0B0;0B1)OVERLAP_F_B", "expected ')'"},
    {"(0B0;0F0)OVERLAP_F_B", "a forward and a full backward"},
    {"(0F0;0I0)OVERLAP_F_B", "a forward and a full backward"},
    {"((0F0;0B0)OVERLAP_F_B;0B1)OVERLAP_F_B", "nested"},
    {"(0F0;(0B0))OVERLAP_F_B", "nested"},
    {"(0F0;0B0)OVERLAP_F_Bx", "nothing may follow"},
    {"(0;7)RS", "expected AR"},
    {"0AR#", "number (bucket)"},
    {"0AR#1", "expected '/'"},
    {"0AR#1/", "number (buckets)"},
    {"0AR#/4", "number (bucket)"},
    {"0AR#4/4", "#0/k to #k-1/k"},
    {"0AR#0/1", "k at least 2"},
    {"0AR#0/0", "k at least 2"},
    {"0AR#0/256", "buckets is larger than 255"},
    {"0AR#1/4@1", "nothing may follow"},
    {"0AR#1/4/4", "nothing may follow"},
    {"0F3#0/2", "only collectives"},
    {"0U#0/2", "only collectives"},
    {"1SEND_F0#0/2", "only collectives"},
    {"0A2A3#0/2", "only collectives"},
    {"(0;7)AR#0/2", "nothing may follow"},
    {"(1;7)AR", "first and the last stage"},
    {"(", "number (stage)"},
    {"0F\xc2\xb2", "number (micro-batch)"},
};

Test(op, refusals_name_text_and_expectation)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        struct pp_op ops[2];
        struct pp_error err = {0};
        int count;
        cr_assert_eq(pp_op_parse(refused[i].text, ops, &count, &err), PP_EPROGRAM, "%s",
                     refused[i].text);
        cr_assert(strstr(err.message, refused[i].part), "%s gave: %s", refused[i].text,
                  err.message);
        cr_assert_eq(pp_op_parse(refused[i].text, ops, &count, NULL), PP_EPROGRAM);
    }
}

Test(op, a_tied_sum_and_its_wait_are_marked_by_the_last_stage)
{
    const struct pp_op sum = {.kind = PP_AR, .aux = PP_TIED, .last_stage = 7};
    const struct pp_op wait = {.kind = PP_WAIT, .aux = PP_AR, .last_stage = 7};
    const struct pp_op other[] = {{.kind = PP_AR},
                                  {.kind = PP_WAIT, .aux = PP_AR},
                                  {.kind = PP_WAIT, .aux = PP_SEND_F, .peer = 7},
                                  {.kind = PP_SEND_F, .peer = 7},
                                  {.kind = PP_F, .aux = PP_FUSED_FIRST}};

    cr_assert(pp_op_is_tied(&sum) && pp_op_is_tied(&wait));
    for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
        cr_assert(!pp_op_is_tied(&other[i]), "%zu", i);
}

Test(op, a_collective_has_buckets_and_a_purpose_in_the_place_of_splits_and_versions)
{
    struct pp_op ops[2];
    int count;

    cr_assert_eq(pp_op_parse("0AG.forward#1/4", ops, &count, NULL), PP_OK);
    cr_assert(ops[0].bucket == 1 && ops[0].buckets == 4 && ops[0].purpose == PP_FOR_FORWARD);
    cr_assert_eq(pp_op_parse("2F3s1v5", ops, &count, NULL), PP_OK);
    cr_assert(ops[0].split == 1 && ops[0].granules == 1 && ops[0].version == 5);
    cr_assert_eq(pp_op_parse("((0;7)AR)WAIT", ops, &count, NULL), PP_OK);
    cr_assert(pp_op_is_tied(&ops[0]) && ops[0].stage == 0 && ops[0].last_stage == 7);
}
