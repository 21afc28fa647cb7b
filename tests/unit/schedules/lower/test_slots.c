/* Buffer slots: never shared by two tensors alive at once, and as few as can be. */
#include "schedules/registry.h"
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

/* The granules of one F or R are freed one by one, their slot with the last of them. */
static int merge_granules(struct tensor *tensors, int n)
{
    int kept = 0;

    for (int i = 0; i < n; i++) {
        struct tensor *last = kept ? &tensors[kept - 1] : NULL;
        if (!last || last->class > KEPT || tensors[i].class != last->class ||
            last->carrier != tensors[i].carrier)
            tensors[kept++] = tensors[i];
        else if (tensors[i].until > last->until)
            last->until = tensors[i].until;
    }
    return kept;
}

/* What is recomputed, and here that is whole stages: F keeps, R saves. */
static int take_apart(struct tensor *tensors, int n)
{
    const int count = n;

    for (int i = 0; i < count; i++) {
        if (tensors[i].class != SAVED || tensors[i].recompute < 0)
            continue;
        tensors[n] = tensors[i];
        tensors[n].from = tensors[n].carrier = tensors[i].recompute;
        tensors[i].class = KEPT;
        n++;
    }
    return n;
}

static bool carries_slot(int kind)
{
    return kind == PP_F || kind == PP_R || pp_op_kinds[kind].stream == PP_STREAM_CHANNEL;
}

static void lower_and_check(struct pp_arena *arena, const struct pp_program *compute, void *context)
{
    const int at = (*(int *)context)++;
    const double frac[] = {1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 0, 1};
    const struct pp_lower_options options = {.post = at % 4,
                                             .recv_slots = at % 5,
                                             .has_sync = true,
                                             .has_optimizer = true,
                                             .recompute_frac = at % 3 ? NULL : frac};
    struct pp_program *p, *again;
    struct pp_error err;

    if (compute->micro_batches > 8 || compute->stages > 12)
        return;
    cr_assert_eq(pp_lower(arena, compute, &options, &p, &err), PP_OK, "%s", err.message);
    for (int rank = 0; rank < p->ranks; rank++) {
        const int count = p->begin[rank + 1] - p->begin[rank];
        struct tensor *tensors = malloc(sizeof(*tensors) * (size_t)(8 * count + 4));
        const int n = merge_granules(tensors, take_apart(tensors, tensors_of(p, rank, tensors)));

        for (enum tensor_class class = SAVED; class < LOCAL; class ++)
            check_class(p, rank, tensors, n, class);
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
            cr_assert_eq(p->slot[i] >= 0, carries_slot(p->kind[i]));
        free(tensors);
    }
    cr_assert_eq(pp_lower(arena, p, &options, &again, &err), PP_OK, "%s", err.message);
    cr_assert_str_eq(pp_program_text(arena, again), pp_program_text(arena, p));
}

Test(slots, no_two_live_tensors_share_one_and_none_is_wasted)
{
    int count = 0;

    for_each_case(lower_and_check, &count);
    cr_assert_gt(count, 300);
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
