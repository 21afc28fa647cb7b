/* What waits on another memory tier: every instruction is needed, nothing is used before it is
 * back, and little is under way at once. */
#include "tests/unit/schedules/lower/left_out.h"
#include "tests/unit/support/lower_cases.h"
#include "tests/unit/support/state_specs.h"

struct wanted {
    bool saves, bits, state, host, early;
    double share;
};
static const struct wanted wishes[] = {
    {.saves = true},
    {.bits = true},
    {.saves = true, .bits = true, .state = true},
    {.saves = true, .state = true, .host = true},
    {.saves = true, .state = true, .host = true, .early = true},
    {.state = true, .host = true, .share = 0.5},
};
enum { WISHES = sizeof wishes / sizeof *wishes };

static struct pp_lower_options options_of(const struct pp_program *compute, struct wanted wanted)
{
    struct pp_lower_options options = {
        .recv_slots = 2,
        .has_sync = compute->pipelines > 1 || compute->micro_batches % 2,
        .has_optimizer = true,
        .state = specs_zero(compute->micro_batches % 3 == 0),
        .update_every = compute->versions > 1 ? compute->micro_batches : 0,
    };

    options.state.home[PP_STATE_ACTIVATIONS] = wanted.saves ? PP_TIER_HOST : PP_TIER_DEVICE;
    options.state.home[PP_STATE_OPTIMIZER] = wanted.state ? PP_TIER_NVME : PP_TIER_DEVICE;
    options.state.activation_bits = wanted.bits ? 4 : 0;
    options.state.is_cpu_update = wanted.host;
    options.state.has_early_update = wanted.early;
    options.state.moved_frac[PP_STATE_OPTIMIZER] = wanted.share;
    return options;
}

/* ---- an oracle: sets of what is here, walked once ---------------------------------------------
 */

enum { HERE, LEAVING, AWAY, COMING };

struct residence {
    const struct pp_program *p;
    uint8_t *place;
    int under_way[2], most[2];
    int64_t moved[2];
};

static uint8_t *place_of(const struct residence *r, int i, int granule, int split)
{
    const struct pp_program *p = r->p;

    return &r->place[((int64_t)p->stage[i] * p->micro_batches * p->granules + granule) * p->splits +
                     split];
}

static bool is_use(int kind)
{
    return kind == PP_R || kind == PP_B || kind == PP_I || kind == PP_W;
}

static void change(struct residence *r, int i, int granules_of, int from, int to)
{
    for (int g = r->p->mb[granules_of];
         g < r->p->mb[granules_of] + r->p->granule_count[granules_of]; g++) {
        uint8_t *place = place_of(r, granules_of, g, r->p->split[granules_of]);
        cr_assert_eq(*place, from, "instruction %d: %d, expected %d", i, *place, from);
        *place = (uint8_t)to;
    }
}

static void step(struct residence *r, int rank, int i)
{
    const struct pp_program *p = r->p;
    const int kind = p->kind[i], direction = p->purpose[i] == PP_FOR_UP;

    if (kind == PP_COPY) {
        r->moved[direction] += p->granule_count[i];
        change(r, i, i, direction ? AWAY : HERE, direction ? COMING : LEAVING);
        r->most[direction] = ++r->under_way[direction] > r->most[direction]
                                 ? r->under_way[direction]
                                 : r->most[direction];
    } else if (kind == PP_WAIT && p->aux[i] == PP_COPY) {
        const int target = p->begin[rank] + p->arg[i], is_up = p->purpose[target] == PP_FOR_UP;
        change(r, i, target, is_up ? COMING : LEAVING, is_up ? HERE : AWAY);
        r->under_way[is_up]--;
    } else if (is_use(kind)) {
        change(r, i, i, HERE, HERE);
    }
    if (kind == PP_F || kind == PP_R || kind == PP_B || kind == PP_I)
        for (int split = 0; split < p->split[i]; split++) /* keys and values */
            for (int g = p->mb[i]; g < p->mb[i] + p->granule_count[i]; g++)
                cr_assert_eq(*place_of(r, i, g, split), HERE);
    cr_assert_not(pp_op_is_packing(kind)); /* ops quantise what they save */
}

static void check_residence(struct pp_arena *arena, const struct pp_program *p, int64_t moved[2])
{
    const size_t cells =
        (size_t)p->stages * (size_t)p->micro_batches * (size_t)p->granules * (size_t)p->splits;
    struct residence r = {.p = p, .place = PP_ARRAY(arena, uint8_t, cells)};

    for (int rank = 0; rank < p->ranks; rank++)
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
            step(&r, rank, i);
    cr_assert_eq(r.under_way[0] + r.under_way[1], 0);
    cr_assert_leq(r.most[0], 3); /* two, and the one whose forward ends */
    cr_assert_eq(r.moved[0], r.moved[1]);
    moved[0] += r.moved[0];
    moved[1] += (int64_t)cells;
}

/* ---- the registry -----------------------------------------------------------------------------
 */

static struct pp_program *lower(struct pp_arena *arena, const struct pp_program *compute,
                                struct wanted wanted)
{
    const struct pp_lower_options options = options_of(compute, wanted);
    struct pp_program *program;
    struct pp_error err = {0};

    cr_assert_eq(pp_lower(arena, compute, &options, &program, &err), PP_OK, "%s", err.message);
    return program;
}

static void is_legal(struct pp_arena *arena, const struct pp_program *compute, void *context)
{
    for (int w = 0; w < WISHES; w++) {
        struct pp_error err = {0};
        const struct pp_program *program = lower(arena, compute, wishes[w]);
        cr_assert_eq(pp_verify(program, NULL, &err), PP_OK, "%s, %d: %s", program->name, w,
                     err.message);
        check_residence(arena, program, context);
    }
}

Test(moves, what_moves_is_back_when_it_is_used)
{
    int64_t moved[2] = {0};

    cr_assert_gt(for_each_case(is_legal, moved), 300);
    cr_assert_gt(moved[0], moved[1] / 4); /* a copy is worth its while for many */
}

/* ---- every instruction is needed ---------------------------------------------------------------
 */

struct tally {
    int removed, wrong;
};

static bool is_of_tiers(const struct pp_program *p, int i)
{
    const int kind = p->kind[i] == PP_WAIT ? p->aux[i] : p->kind[i];

    return pp_op_is_move(kind) || pp_op_is_packing(kind);
}

/* One instruction, or a post with its WAIT. */
static void leave_out(struct pp_arena *arena, const struct pp_program *p, struct tally *tally)
{
    for (int rank = 0; rank < p->ranks; rank++)
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            if (!is_of_tiers(p, i))
                continue;
            const int at = i - p->begin[rank];
            const bool is_wait = p->kind[i] == PP_WAIT;
            tally->removed += 1 + is_wait;
            cr_assert(is_noticed(arena, p, rank, at, -1), "%s: rank %d instruction %d", p->name,
                      rank, at);
            if (!is_wait)
                continue;
            if (p->aux[i] == PP_MOVE && p->stages * p->pipelines == 1)
                continue; /* no other stage tells that something moves */
            cr_assert(is_noticed(arena, p, rank, at, p->arg[i]),
                      "%s: rank %d instructions %d and %d", p->name, rank, p->arg[i], at);
        }
}

static void leave_out_of_case(struct pp_arena *arena, const struct pp_program *compute,
                              void *context)
{
    if (compute->micro_batches * compute->stages > 16)
        return;
    for (int w = 0; w < WISHES; w++)
        leave_out(arena, lower(arena, compute, wishes[w]), context);
}

Test(moves, no_instruction_can_be_left_out)
{
    struct tally tally = {0};

    for_each_case(leave_out_of_case, &tally);
    cr_assert_gt(tally.removed, 10000);
}

/* ---- text --------------------------------------------------------------------------------------
 */

Test(moves, cells_read_back)
{
    static const char *const cells[] = {"0COPY.down3",   "(1COPY.up2)WAIT", "0COPY.up0-1s2",
                                        "2MOVE.grads",   "0MOVE.params@1",  "(0MOVE.fetch)WAIT",
                                        "((0;3)AR)WAIT", "1MOVE.store",     "0COPY7"};
    static const char *const wrong[] = {"0COPY.grads3", "0MOVE.down", "0MOVE.grads3", "0COPY.3",
                                        "0COPY.down",   "0F.up3",     "0AR.up"};
    const struct pp_op_style style = {.splits = true, .pipelines = true};

    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        struct pp_op ops[2], again[2];
        struct pp_error err = {0};
        char text[PP_OP_TEXT_BYTES];
        int count;

        cr_assert_eq(pp_op_parse(cells[i], ops, &count, &err), PP_OK, "%s", err.message);
        pp_op_print(&ops[0], style, text);
        cr_assert_eq(pp_op_parse(text, again, &count, &err), PP_OK, "%s: %s", text, err.message);
        cr_assert_eq(memcmp(&ops[0], &again[0], sizeof *ops), 0, "%s: %s", cells[i], text);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pp_op ops[2];
        struct pp_error err = {0};
        int count;
        cr_assert_eq(pp_op_parse(wrong[i], ops, &count, &err), PP_EPROGRAM, "%s", wrong[i]);
    }
}
