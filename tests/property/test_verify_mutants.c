/* verify against brute force: every schedule in every tiny shape, as it is and with one mistake
 * made at random, compute only and lowered. The two must agree on all of them. */
#include "brute_force.h"
#include "lists.h"
#include "schedules/lower/lower.h"
#include "schedules/verify.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 1 }; /* of all shapes, each with other mistakes */

struct tally {
    int programs, legal, illegal, deadlocks, refused;
};

struct trial {
    struct pp_arena *arena; /* emptied after each mutant */
    struct pp_program_head head;
    struct tally tally;
    uint64_t random;
    const char *what; /* for messages */
    char shape[128];
};

static int draw(struct trial *t, int below)
{
    return list_draw(&t->random, below);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static struct pp_orders *copy_of(struct pp_arena *arena, const struct pp_orders *orders)
{
    struct pp_orders *copy = pp_orders_create(arena, orders->ranks);

    for (int r = 0; r < orders->ranks; r++)
        for (int i = 0; i < orders->count[r]; i++)
            pp_orders_add(arena, copy, r, orders->ops[r][i]);
    return copy;
}

static void paste(struct pp_arena *arena, struct pp_orders *o, int rank, int at, struct pp_op op)
{
    pp_orders_add(arena, o, rank, op);
    memmove(&o->ops[rank][at + 1], &o->ops[rank][at],
            sizeof(op) * (size_t)(o->count[rank] - at - 1));
    o->ops[rank][at] = op;
}

static void print_lists(const struct pp_orders *o, char *text, size_t bytes)
{
    size_t used = 0;

    for (int r = 0; r < o->ranks; r++) {
        for (int i = 0; i < o->count[r] && used + PP_OP_TEXT_BYTES + 4 < bytes; i++) {
            const struct pp_op_style style = {.splits = true, .pipelines = true, .slots = true};
            used += pp_op_print(&o->ops[r][i], style, text + used);
            text[used++] = o->ops[r][i].aux && pp_op_is_compute(o->ops[r][i].kind) ? '&' : ' ';
        }
        if (used + 2 < bytes)
            text[used++] = '\n';
    }
    text[used] = '\0';
}

/* ---- the comparison -------------------------------------------------------------------------- */

static void compare(struct trial *t, const struct pp_orders *orders, bool must_be_legal)
{
    static char text[1 << 16];
    char why[256];
    struct pp_error err = {0};
    struct pp_program *program = NULL;
    const enum judgement judged = judge(&t->head, orders, why);
    const bool is_frozen = pp_program_freeze(t->arena, &t->head, orders, &program, &err) == PP_OK;
    const enum pp_status status = is_frozen ? pp_verify(program, NULL, &err) : PP_EPROGRAM;
    const bool is_deadlock = is_frozen && strstr(err.message, "DEADLOCK") != NULL;

    t->tally.programs++;
    t->tally.legal += judged == JUDGED_LEGAL;
    t->tally.illegal += judged == JUDGED_ILLEGAL;
    t->tally.deadlocks += is_deadlock;
    t->tally.refused += !is_frozen;
    if ((status == PP_OK) == (judged == JUDGED_LEGAL) &&
        (!is_deadlock || judged == JUDGED_DEADLOCK) && (!must_be_legal || judged == JUDGED_LEGAL))
        return;
    print_lists(orders, text, sizeof(text));
    cr_assert_fail("%s, %s:\n%sjudge: %s (%s)\nverify: %s", t->shape, t->what, text,
                   judgement_names[judged], judged == JUDGED_LEGAL ? "" : why,
                   status == PP_OK ? "legal" : err.message);
}

/* ---- mistakes -------------------------------------------------------------------------------- */

typedef void (*mistake)(struct trial *t, struct pp_orders *o, int rank);

static void drop(struct trial *t, struct pp_orders *o, int rank)
{
    list_cut(o, rank, draw(t, o->count[rank]));
}

static void duplicate(struct trial *t, struct pp_orders *o, int rank)
{
    const struct pp_op op = o->ops[rank][draw(t, o->count[rank])];

    paste(t->arena, o, rank, draw(t, o->count[rank] + 1), op);
}

static void swap_neighbours(struct trial *t, struct pp_orders *o, int rank)
{
    const int at = draw(t, o->count[rank] - 1);

    if (o->count[rank] > 1)
        list_swap(o, rank, at, at + 1);
}

static void swap_any(struct trial *t, struct pp_orders *o, int rank)
{
    list_swap(o, rank, draw(t, o->count[rank]), draw(t, o->count[rank]));
}

static void move_within(struct trial *t, struct pp_orders *o, int rank)
{
    const struct pp_op op = list_cut(o, rank, draw(t, o->count[rank]));

    paste(t->arena, o, rank, draw(t, o->count[rank] + 1), op);
}

static void move_near(struct trial *t, struct pp_orders *o, int rank)
{
    const int from = draw(t, o->count[rank]);
    const struct pp_op op = list_cut(o, rank, from);
    int to = from + draw(t, 7) - 3;

    to = to < 0 ? 0 : to > o->count[rank] ? o->count[rank] : to;
    paste(t->arena, o, rank, to, op);
}

static void move_away(struct trial *t, struct pp_orders *o, int rank)
{
    const int other = draw(t, o->ranks);
    const struct pp_op op = list_cut(o, rank, draw(t, o->count[rank]));

    paste(t->arena, o, other, draw(t, o->count[other] + 1), op);
}

/* Two moves on different ranks: what one of them breaks the other may mend. */
static void move_two(struct trial *t, struct pp_orders *o, int rank)
{
    move_near(t, o, rank);
    rank = draw(t, o->ranks);
    if (o->count[rank])
        move_near(t, o, rank);
}

static void fuse(struct trial *t, struct pp_orders *o, int rank)
{
    for (int i = 0; i + 1 < o->count[rank]; i++) {
        struct pp_op *op = &o->ops[rank][i];
        if (op[0].kind == PP_F && op[1].kind == PP_B && !op[0].aux && !op[1].aux && draw(t, 2)) {
            op[0].aux = PP_FUSED_FIRST;
            op[1].aux = PP_FUSED_SECOND;
        }
    }
}

static bool is_second(const struct pp_op *op)
{
    return pp_op_is_compute(op->kind) && op->aux == PP_FUSED_SECOND;
}

static void cut_backward(struct trial *t, struct pp_orders *o, int rank)
{
    for (int i = 0; i < o->count[rank]; i++)
        if (o->ops[rank][i].kind == PP_B && !o->ops[rank][i].aux && draw(t, 2)) {
            struct pp_op weight = o->ops[rank][i];
            o->ops[rank][i].kind = PP_I;
            weight.kind = PP_W;
            const int behind = o->count[rank] - i;
            int at = i + 1 + draw(t, behind);
            at += at < o->count[rank] && is_second(&o->ops[rank][at]); /* not between a pair */
            paste(t->arena, o, rank, at, weight);
        }
}

static void recompute(struct trial *t, struct pp_orders *o, int rank)
{
    for (int i = 0; i < o->count[rank]; i++)
        if ((o->ops[rank][i].kind == PP_B || o->ops[rank][i].kind == PP_I) &&
            !o->ops[rank][i].aux && draw(t, 2)) {
            struct pp_op op = o->ops[rank][i];
            op.kind = PP_R;
            paste(t->arena, o, rank, i++, op);
        }
}

/* A barrier on every rank, and sometimes one more. */
static void barriers(struct trial *t, struct pp_orders *o, int rank)
{
    const struct pp_op bar = {.kind = PP_BAR, .mb = -1, .arg = -1, .slot = -1};
    const bool is_whole = draw(t, 4) > 0;

    if (t->head.level == PP_LEVEL_COMPUTE)
        return;
    for (int times = 0; times < 2; times++)
        for (int r = 0; r < o->ranks; r++)
            if (is_whole || r != rank)
                paste(t->arena, o, r, draw(t, 3) ? o->count[r] : draw(t, o->count[r] + 1), bar);
}

static bool has_slot(int kind)
{
    return kind == PP_F || kind == PP_R || pp_op_is_send(kind) || pp_op_is_recv(kind);
}

static void renumber_slots(struct trial *t, struct pp_orders *o, int rank)
{
    int next[PP_OP_KINDS] = {0};
    const int slots = 1 + draw(t, 5);

    for (int i = 0; i < o->count[rank]; i++) {
        struct pp_op *op = &o->ops[rank][i];
        if (has_slot(op->kind))
            op->slot = next[op->kind]++ % slots;
    }
}

static void change_slot(struct trial *t, struct pp_orders *o, int rank)
{
    struct pp_op *op = &o->ops[rank][draw(t, o->count[rank])];

    if (has_slot(op->kind))
        op->slot = draw(t, 3);
}

/* Of a collective or its WAIT. */
static void change_bucket(struct trial *t, struct pp_orders *o, int rank)
{
    int at = draw(t, o->count[rank]);

    for (int i = 0; i < o->count[rank]; i++, at = (at + 1) % o->count[rank]) {
        struct pp_op *op = &o->ops[rank][at];
        const bool is_wait = op->kind == PP_WAIT;
        if (!pp_op_has_buckets(is_wait ? op->aux : op->kind) ||
            (is_wait ? op->peer != 0 : op->aux == PP_TIED))
            continue;
        op->granules = (uint8_t)(draw(t, 2) ? op->granules : draw(t, 3) ? 2 : 0);
        op->split = (uint8_t)(op->granules ? draw(t, op->granules) : 0);
        return;
    }
}

/* All collectives or copies with the purpose of one, and their WAITs. */
static void drop_purpose(struct trial *t, struct pp_orders *o, int rank)
{
    const struct pp_op *op = &o->ops[rank][draw(t, o->count[rank])];
    const int kind = op->kind == PP_WAIT ? op->aux : op->kind, purpose = op->version;

    if (!pp_op_has_purpose(kind))
        return;
    for (int r = 0; r < o->ranks; r++)
        for (int i = o->count[r] - 1; i >= 0; i--) {
            op = &o->ops[r][i];
            if ((op->kind == PP_WAIT ? op->aux : op->kind) == kind && op->version == purpose)
                list_cut(o, r, i);
        }
}

/* All collectives of visits and parts become those of a step. */
static void forget_purposes(struct trial *t, struct pp_orders *o, int rank)
{
    const int purpose = 1 + draw(t, PP_PURPOSES - 1);

    (void)rank;
    for (int r = 0; r < o->ranks; r++)
        for (int i = 0; i < o->count[r]; i++) {
            struct pp_op *op = &o->ops[r][i];
            if (op->version == purpose &&
                pp_op_has_buckets(op->kind == PP_WAIT ? op->aux : op->kind))
                op->version = PP_FOR_STEP;
        }
}

static const struct {
    const char *name;
    mistake make;
    int weight;
} mistakes[] = {
    {"drop", drop, 4},
    {"duplicate", duplicate, 3},
    {"swap neighbours", swap_neighbours, 8},
    {"swap any two", swap_any, 3},
    {"move on the rank", move_within, 4},
    {"move a little", move_near, 6},
    {"move two", move_two, 8},
    {"move to another rank", move_away, 2},
    {"fuse", fuse, 3},
    {"backward as I and W", cut_backward, 2},
    {"recompute", recompute, 1},
    {"barriers", barriers, 2},
    {"other slots", renumber_slots, 3},
    {"another slot", change_slot, 3},
    {"another bucket", change_bucket, 3},
    {"a purpose left out", drop_purpose, 2},
    {"a purpose forgotten", forget_purposes, 2},
};

static void try_mistakes(struct trial *t, const struct pp_orders *base, int times)
{
    const struct pp_arena_mark mark = pp_arena_mark(t->arena);

    for (size_t k = 0; k < sizeof(mistakes) / sizeof(mistakes[0]); k++)
        for (int n = 0; n < mistakes[k].weight * times; n++) {
            struct pp_orders *mutant = copy_of(t->arena, base);
            const int rank = draw(t, base->ranks);
            t->what = mistakes[k].name;
            if (mutant->count[rank] > 0)
                mistakes[k].make(t, mutant, rank);
            compare(t, mutant, false);
            pp_arena_release(t->arena, mark);
        }
}

/* ---- all tiny shapes ------------------------------------------------------------------------- */

static void lowered(struct trial *t, const struct pp_orders *base, int times)
{
    const struct pp_program_head head = t->head;
    const double all[] = {1, 1, 1, 1, 1, 1, 1, 1};
    const int cuts[] = {2, 1, 3, 2, 1, 3, 2, 2};
    struct pp_program *compute, *program;
    struct pp_error err = {0};
    struct pp_lower_options options = {
        .post = (enum pp_post)draw(t, 4),
        .recv_slots = draw(t, 4),
        .grad_sync = (enum pp_grad_sync)draw(t, 3),
        .has_sync = draw(t, 2),
        .has_optimizer = draw(t, 2),
        .zero = draw(t, 2),
        .has_tied = draw(t, 2),
        .recompute_frac = draw(t, 3) ? NULL : all,
        .buckets = draw(t, 2) ? NULL : cuts,
        .has_clip = draw(t, 3) == 0,
    };

    if (head.pipelines == 1 && draw(t, 3) == 0) { /* parameters that are cut */
        options.gather_units = draw(t, 4) ? cuts : NULL;
        options.gather_buffers = 1 + draw(t, 4);
        options.has_parts = options.has_sync && draw(t, 2);
        options.has_rest = options.zero && draw(t, 2);
    }
    options.has_moved_saves = draw(t, 5) == 0; /* other memory tiers */
    options.has_fewer_bits = draw(t, 5) == 0;
    options.has_moved_state = options.has_optimizer && draw(t, 4) == 0;
    options.is_host_update = options.has_moved_state && draw(t, 2);
    options.has_moved_params = draw(t, 3) == 0;
    if (options.has_moved_params) {
        const bool is_spread = options.has_sync && options.zero;
        options.has_whole_params = head.pipelines > 1 || !options.gather_units;
        options.gather_units = cuts;
        options.gather_buffers = 1 + draw(t, 4);
        options.keeps_params = options.is_host_update && !is_spread && draw(t, 2);
        options.has_params_home = options.has_optimizer && (!options.is_host_update || is_spread);
    }
    cr_assert_eq(pp_program_freeze(t->arena, &head, base, &compute, &err), PP_OK, "%s",
                 err.message);
    cr_assert_eq(pp_lower(t->arena, compute, &options, &program, &err), PP_OK, "%s: %s", t->shape,
                 err.message);
    const size_t used = strlen(t->shape);
    snprintf(t->shape + used, sizeof(t->shape) - used, ", %s, R %d, %s%s%s%s%s%s%s%s%s%s%s%s%s",
             pp_post_names[options.post], options.recv_slots, pp_grad_sync_names[options.grad_sync],
             options.has_sync ? ", sync" : "", options.has_optimizer ? ", U" : "",
             options.zero ? ", zero" : "", options.has_tied ? ", tied" : "",
             options.recompute_frac ? ", R" : "", options.buckets ? ", buckets" : "",
             options.has_clip ? ", clip" : "", options.gather_units ? ", gathers" : "",
             options.has_moved_params ? ", loads" : "", options.has_moved_saves ? ", copies" : "", options.has_fewer_bits ? ", bits" : "",
             options.is_host_update    ? ", host update"
             : options.has_moved_state ? ", moves"
                                       : "");
    struct pp_orders *lists = pp_program_thaw(t->arena, program);
    t->head = pp_program_head_of(program);
    t->what = "as lowered";
    compare(t, lists, true);
    try_mistakes(t, lists, times);
    t->head = head;
}

/* The forwards alone. */
static void try_infer(struct trial *t, const struct pp_orders *orders)
{
    struct pp_orders *base = copy_of(t->arena, orders);

    for (int r = 0; r < base->ranks; r++)
        for (int i = base->count[r] - 1; i >= 0; i--)
            if (base->ops[r][i].kind != PP_F)
                list_cut(base, r, i);
            else
                base->ops[r][i].aux = 0;
    t->head.mode = PP_MODE_INFER;
    t->what = "forwards alone";
    compare(t, base, true);
    try_mistakes(t, base, 1);
    lowered(t, base, 1);
}

static void try_shape(struct trial *t, const struct pp_schedule *schedule, struct pp_shape shape)
{
    struct pp_arena *arena PP_ARENA_AUTO = pp_arena_create();
    struct pp_error err;
    struct pp_orders *orders;
    struct pp_order_maps maps;

    t->arena = arena;
    if (pp_schedule_check(schedule, &shape, &err) != PP_OK)
        return;
    cr_assert_eq(pp_schedule_orders(arena, schedule, &shape, NULL, &orders, &maps, &err), PP_OK,
                 "%s", err.message);
    t->head = (struct pp_program_head){.name = schedule->name,
                                       .ranks = shape.ranks,
                                       .stages = pp_shape_stages(&shape),
                                       .pipelines = shape.pipelines,
                                       .micro_batches = shape.micro_batches,
                                       .granules = shape.granules,
                                       .splits = shape.splits,
                                       .versions = 1,
                                       .rank_of = maps.rank_of,
                                       .pipe_of = maps.pipe_of};
    snprintf(t->shape, sizeof(t->shape), "%s D%d V%d N%d q%d 2f%d concat %d", schedule->name,
             shape.ranks, shape.chunks, shape.micro_batches, shape.splits, shape.pipelines,
             (int)shape.concat);
    const size_t length = strlen(t->shape);
    t->what = "as generated";
    compare(t, orders, true);
    try_mistakes(t, orders, 1);
    for (int variant = 0; variant < 3; variant++) {
        struct pp_orders *base = copy_of(arena, orders);
        for (int r = 0; variant > 0 && r < base->ranks; r++)
            if (base->count[r] > 0)
                (variant == 1 ? cut_backward : recompute)(t, base, r);
        t->shape[length] = '\0';
        t->what = "variant";
        compare(t, base, true);
        lowered(t, base, 1);
    }
    t->shape[length] = '\0';
    try_infer(t, orders);
}

static void try_options(struct trial *t, const struct pp_schedule *schedule, int ranks, int n)
{
    const bool two_way = schedule->placement == PP_PLACE_TWO_WAY;

    for (int chunks = 1; chunks <= 2; chunks++)
        for (int splits = 1; splits <= 2; splits++)
            for (int pipelines = 0; pipelines <= 4; pipelines += 2)
                for (int concat = PP_CONCAT_DIRECT; concat < PP_CONCAT_AUTO; concat++) {
                    if ((!two_way && (pipelines || concat)) || (two_way && !pipelines))
                        continue;
                    struct pp_shape shape = {.ranks = ranks,
                                             .chunks = two_way ? 0 : chunks,
                                             .micro_batches = n,
                                             .splits = splits,
                                             .pipelines = pipelines};
                    shape.concat = concat;
                    try_shape(t, schedule, shape);
                }
}

/* Up to four ranks and micro-batches, and 2D micro-batches where a schedule refuses fewer. */
static void try_schedule(struct trial *t, const struct pp_schedule *schedule)
{
    enum { MOST = 4 };

    for (int ranks = 1; ranks <= MOST; ranks++) {
        struct pp_shape shape = {.ranks = ranks, .micro_batches = MOST};
        for (int n = 1; n <= MOST; n++)
            try_options(t, schedule, ranks, n);
        if (pp_schedule_check(schedule, &shape, NULL) != PP_OK)
            try_options(t, schedule, ranks, 2 * ranks);
    }
}

Test(verify_mutants, agrees_with_brute_force)
{
    struct trial t = {.random = 0x9e3779b97f4a7c15};
    const char *seed = getenv("PP_SEED"); /* other mistakes, on request */

    t.random ^= seed ? strtoull(seed, NULL, 0) << 1 : 0;

    for (int k = 0; pp_schedules[k]; k++) {
        t.tally = (struct tally){0};
        for (int round = 0; round < ROUNDS || (t.tally.deadlocks <= 100 && round < 20); round++)
            try_schedule(&t, pp_schedules[k]);
        cr_log_info("%s: %d programs, %d legal, %d illegal, %d deadlocks, %d refused by freeze",
                    pp_schedules[k]->name, t.tally.programs, t.tally.legal, t.tally.illegal,
                    t.tally.deadlocks, t.tally.refused);
        cr_assert_gt(t.tally.legal, 100);
        cr_assert_gt(t.tally.deadlocks, 100);
    }
}
