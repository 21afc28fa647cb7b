/* Buffer slots: never shared by two tensors alive at once, and as few as can be. */
#include "schedules/lower/lower.h"
#include "schedules/memory/memory.h"
#include "schedules/registry.h"
#include "schedules/verify/verify.h"
#include "tests/unit/support/lower_cases.h"
#include "tests/unit/support/lower_tensors.h"

static void check_class(const struct pp_program *p, int rank, const struct tensor *tensors, int n,
                        enum tensor_class class)
{
    int most = 0, used = 0;

    for (int a = 0; a < n; a++) {
        if (tensors[a].class != class)
            continue;
        const int slot = p->slot[p->begin[rank] + tensors[a].carrier];
        int open = 0; /* alive where this one begins */

        cr_assert_geq(slot, 0);
        used = slot >= used ? slot + 1 : used;
        for (int b = 0; b < n; b++) {
            if (tensors[b].class != class)
                continue;
            open += tensors[b].from <= tensors[a].from && tensors[a].from <= tensors[b].until;
            cr_assert(b == a || slot != p->slot[p->begin[rank] + tensors[b].carrier] ||
                          tensors[a].until < tensors[b].from || tensors[b].until < tensors[a].from,
                      "%s rank %d class %d: slot %d", p->name, rank, class, slot);
        }
        most = open > most ? open : most;
    }
    cr_assert_eq(used, most, "%s rank %d class %d: %d slots for %d tensors", p->name, rank, class,
                 used, most);
}

static bool is_copy(const struct pp_op *op, int kind, enum pp_purpose purpose)
{
    return op->kind == kind && op->purpose == purpose && (kind != PP_WAIT || op->aux == PP_COPY);
}

/* Where the first WAIT for a COPY.down of a cell stands after `at`, else its last B or W. */
static int left_at(const struct pp_program *p, int rank, int at, const int cell[3])
{
    for (int i = p->begin[rank] + at + 1; i < p->begin[rank + 1]; i++) {
        const struct pp_op op = pp_program_op(p, i);
        if (is_copy(&op, PP_WAIT, PP_FOR_DOWN) && op.stage == cell[0] && op.mb <= cell[1] &&
            cell[1] < op.mb + op.granules && op.split == cell[2])
            return i - p->begin[rank];
    }
    return tensor_find(p, rank, 0, (int[2]){PP_B, PP_W}, cell);
}

/* What F keeps and saves, COPY.up brings back and R saves, in place of the saved granules of
 * tensors_of(). A slot is free with the last of its granules. */
static int with_saved(const struct pp_program *p, int rank, struct tensor *tensors, int count)
{
    int n = 0;

    for (int i = 0; i < count; i++)
        if (tensors[i].class > KEPT)
            tensors[n++] = tensors[i];
    for (int at = 0; at < p->begin[rank + 1] - p->begin[rank]; at++) {
        const struct pp_op op = pp_program_op(p, p->begin[rank] + at);
        struct tensor tensor = {KEPT, at, -1, at, -1, -1, op.stage, op.granules};
        if ((op.kind != PP_F && op.kind != PP_R && !is_copy(&op, PP_COPY, PP_FOR_UP)) ||
            p->mode == PP_MODE_INFER)
            continue;
        for (int g = op.mb; g < op.mb + op.granules; g++) {
            const int cell[3] = {op.stage, g, op.split},
                      left = op.kind == PP_R ? tensor_find(p, rank, 0, (int[2]){PP_B, PP_W}, cell)
                                             : left_at(p, rank, at, cell);
            tensor.until = left > tensor.until ? left : tensor.until;
            if (op.kind == PP_R || tensor_find(p, rank, 0, (int[2]){PP_R, PP_R}, cell) < 0)
                tensor.class = SAVED;
        }
        tensors[n++] = tensor;
    }
    return n;
}

static bool carries_slot(const struct pp_op *op)
{
    return op->kind == PP_F || op->kind == PP_R || is_copy(op, PP_COPY, PP_FOR_UP) ||
           pp_op_kinds[op->kind].stream == PP_STREAM_CHANNEL;
}

static int slots_of(const struct pp_program *p, int rank, const int8_t *classes, int class)
{
    int slots = 0;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        if (classes[i] == class && p->slot[i] >= slots)
            slots = p->slot[i] + 1;
    return slots;
}

/* With tensors of one byte, of one class alone, the peak of the memory is its number of slots. */
static void check_peaks(struct pp_arena *arena, const struct pp_program *p,
                        enum pp_slot_class class)
{
    const double cells = (double)p->granules * p->splits;
    const bool is_kept = class == PP_SLOT_KEPT;
    const int8_t *classes = pp_slot_classes(arena, p);
    struct pp_costs costs = {.stages = p->stages,
                             .memory = PP_ARRAY(arena, struct pp_stage_memory, p->stages)};

    for (int stage = 0; stage < p->stages; stage++)
        costs.memory[stage] = (struct pp_stage_memory){.saved_bytes = cells,
                                                       .checkpoint_bytes = is_kept ? cells : 0,
                                                       .whole_bytes = is_kept ? 0.1 : cells,
                                                       .weight_grad_frac = 1};
    const struct pp_rank_memory *peaks = pp_memory_peaks(arena, p, &costs);
    for (int rank = 0; rank < p->ranks; rank++)
        cr_assert_eq(peaks[rank].activations_bytes, slots_of(p, rank, classes, (int)class),
                     "%s rank %d class %d: %.17g bytes, %d slots", p->name, rank, (int)class,
                     peaks[rank].activations_bytes, slots_of(p, rank, classes, (int)class));
}

static bool has_kind(const struct pp_program *p, int kind)
{
    for (int i = 0; i < pp_program_size(p); i++)
        if (p->kind[i] == kind)
            return true;
    return false;
}

struct tally {
    int cases, ups, peaks;
};

static void check_program(struct pp_arena *arena, const struct pp_program *p, struct tally *tally)
{
    for (int rank = 0; rank < p->ranks; rank++) {
        const int count = p->begin[rank + 1] - p->begin[rank];
        struct tensor *tensors = malloc(sizeof(*tensors) * (size_t)(8 * count + 4));
        const int n = with_saved(p, rank, tensors, tensors_of(p, rank, tensors));

        for (enum tensor_class class = SAVED; class < LOCAL; class ++)
            check_class(p, rank, tensors, n, class);
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
            const struct pp_op op = pp_program_op(p, i);
            cr_assert_eq(op.slot >= 0, carries_slot(&op));
            tally->ups += is_copy(&op, PP_COPY, PP_FOR_UP);
        }
        free(tensors);
    }
    if (p->granules > 1) /* a slot may hold several */
        return;
    check_peaks(arena, p, PP_SLOT_SAVED);
    if (!has_kind(p, PP_I)) /* W's gradients of outputs are no slot */
        check_peaks(arena, p, PP_SLOT_KEPT);
    tally->peaks++;
}

static void lower_and_check(struct pp_arena *arena, const struct pp_program *compute, void *context)
{
    struct tally *tally = context;
    const int at = tally->cases++;
    const double frac[] = {1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 0, 1};
    struct pp_lower_options options = {.post = at % 4,
                                       .recv_slots = at % 5,
                                       .has_sync = true,
                                       .has_optimizer = true,
                                       .recompute_frac = at % 3 ? NULL : frac};
    struct pp_program *p, *again;
    struct pp_error err;

    if (compute->micro_batches > 8 || compute->stages > 12)
        return;
    for (int is_away = 0; is_away <= 1; is_away++) {
        options.state.home[PP_STATE_ACTIVATIONS] = is_away ? PP_TIER_HOST : PP_TIER_DEVICE;
        cr_assert_eq(pp_lower(arena, compute, &options, &p, &err), PP_OK, "%s", err.message);
        check_program(arena, p, tally);
        cr_assert_eq(pp_verify(p, NULL, &err), PP_OK, "%s", err.message);
        cr_assert_eq(pp_lower(arena, p, &options, &again, &err), PP_OK, "%s", err.message);
        cr_assert_str_eq(pp_program_text(arena, again), pp_program_text(arena, p));
    }
}

Test(slots, no_two_live_tensors_share_one_and_none_is_wasted)
{
    struct tally tally = {0};

    for_each_case(lower_and_check, &tally);
    cr_assert_gt(tally.cases, 300);
    cr_assert_gt(tally.ups, 5000);
    cr_assert_gt(tally.peaks, 300);
}

/* Of GPipe with activations elsewhere: two on their way down, one in use, one coming up. */
Test(slots, of_gpipe_with_activations_elsewhere)
{
    for (int n = 4; n <= 64; n += 5)
        for (int again = 0; again <= 1; again++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            const struct pp_shape shape = {.ranks = 2, .micro_batches = n, .chunks = 1};
            const double all[] = {1, 1};
            struct pp_lower_options options = {.recv_slots = 2,
                                               .recompute_frac = again ? all : NULL};
            struct pp_program *p;

            options.state.home[PP_STATE_ACTIVATIONS] = PP_TIER_HOST;
            cr_assert_eq(
                pp_schedule_program(arena, pp_schedule_find("gpipe"), &shape, NULL, &p, NULL),
                PP_OK);
            cr_assert_eq(pp_lower(arena, p, &options, &p, NULL), PP_OK);
            const int8_t *classes = pp_slot_classes(arena, p);
            cr_assert_eq(slots_of(p, 0, classes, again ? PP_SLOT_KEPT : PP_SLOT_SAVED), 4);
            cr_assert_eq(slots_of(p, 0, classes, again ? PP_SLOT_SAVED : PP_SLOT_KEPT), again);
        }
}

/* R slots per channel are enough for receives, min(D - r, N) for what 1F1B saves. */
Test(slots, of_1f1b)
{
    for (int n = 1; n <= 12; n++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_shape shape = {.ranks = 4, .micro_batches = n, .chunks = 1};
        const struct pp_lower_options options = {.recv_slots = 3};
        struct pp_program *p;

        cr_assert_eq(pp_schedule_program(arena, pp_schedule_find("1f1b"), &shape, NULL, &p, NULL),
                     PP_OK);
        cr_assert_eq(pp_lower(arena, p, &options, &p, NULL), PP_OK);
        for (int rank = 0; rank < 4; rank++) {
            int most[PP_OP_KINDS] = {0};
            for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
                if (p->slot[i] >= most[p->kind[i]])
                    most[p->kind[i]] = p->slot[i] + 1;
            cr_assert_eq(most[PP_F], 4 - rank < n ? 4 - rank : n);
            cr_assert_eq(most[PP_RECV_F], rank == 0 ? 0 : n < 3 ? n : 3);
            cr_assert_eq(most[PP_RECV_B], rank == 3 ? 0 : n < 3 ? n : 3);
        }
    }
}
