/* Programs by everything that they depend on. */
#include "schedules/build/known.h"

#include <string.h>

/* Kept for the next configuration, and of one configuration. */
enum { KEPT_INSTRUCTIONS = 1 << 20, MOST_INSTRUCTIONS = 1 << 22, MOST_OPS = 1 << 22 };

struct stage {
    int is_recomputed, buckets, units;
};
/* Equal bytes give equal programs. Where only padding differs, a program is built again. */
struct pp_known_program {
    struct pp_known_program *next;
    struct pp_build build; /* pointers to costs and to arrays of stages are NULL; `list` is set only
                            * for an order that depends on costs */
    struct stage *stages;
    struct pp_program *program;
};

static bool is_shared(const struct pp_build *b)
{
    return b->schedule && !b->schedule->programs && !b->given && b->order.rule == PP_ORDER_STRICT &&
           b->costs;
}

void pp_known_programs_drop(struct pp_known_programs *known)
{
    if (known->list_arena != known->arena)
        pp_arena_destroy(known->list_arena);
    pp_arena_destroy(known->arena);
    *known = (struct pp_known_programs){.is_bounded = known->is_bounded};
}

void pp_known_programs_trim(struct pp_known_programs *known)
{
    if (known->instructions + known->ops <= KEPT_INSTRUCTIONS)
        return;
    if (known->ops > MOST_OPS || known->list_arena == known->arena) {
        pp_known_programs_drop(known);
        return;
    }
    pp_arena_destroy(known->arena);
    known->arena = NULL;
    known->first = NULL;
    known->instructions = 0;
}

/* The order of a schedule and a shape. */
struct pp_known_list {
    struct pp_known_list *next;
    const struct pp_schedule *schedule;
    struct pp_shape shape;
    bool is_cut;
    int64_t *costs; /* [cost_count] that a searched order depends on */
    int cost_count;
    struct pp_build_list list;
};

static struct stage *stages_of(struct pp_arena *arena, const struct pp_build *b)
{
    struct stage *list = PP_ARRAY(arena, struct stage, b->costs->stages);

    for (int s = 0; s < b->costs->stages; s++)
        list[s] = (struct stage){
            .is_recomputed = b->recompute_frac && b->recompute_frac[s] > 0,
            .buckets = b->buckets ? b->buckets[s] : 1,
            .units = pp_build_has_units(b) ? pp_build_units(b, s) : 0,
        };
    return list;
}

/* Replaces the meshes of a state by the least ones with the same order of sizes: passes compare
 * nothing else. */
static void simplify(struct pp_state_spec *state)
{
    struct pp_mesh *mesh[] = {&state->replicas, &state->shard[PP_STATE_PARAMS],
                              &state->shard[PP_STATE_GRADS], &state->shard[PP_STATE_OPTIMIZER]};
    int size[PP_COUNT(mesh)], place;

    if (pp_mesh_size(state->secondary) > 1)
        return;
    for (size_t i = 0; i < PP_COUNT(mesh); i++)
        size[i] = pp_mesh_size(*mesh[i]);
    for (size_t i = 0; i < PP_COUNT(mesh); i++) {
        place = 1; /* 1 for 1, then one more for each other size below */
        for (size_t k = 0; k < PP_COUNT(mesh); k++) {
            bool is_first = true;
            for (size_t j = 0; j < k; j++)
                is_first &= size[j] != size[k];
            place += is_first && size[k] > 1 && size[k] <= size[i];
        }
        *mesh[i] = (struct pp_mesh){place, 1};
    }
}

/* Replaces shares that live elsewhere by others in the same order: passes compare them with one
 * another, and with all. */
static void simplify_shares(struct pp_state_spec *state)
{
    double frac[PP_STATE_CLASSES];

    for (int c = 0; c < PP_STATE_CLASSES; c++)
        frac[c] = pp_state_is_away(state, (enum pp_state_class)c) && state->moved_frac[c] > 0
                      ? state->moved_frac[c]
                      : 1;
    for (int c = 0; c < PP_STATE_CLASSES; c++) {
        int place = 1;
        for (int k = 0; k < PP_STATE_CLASSES; k++)
            place += frac[k] < frac[c];
        state->moved_frac[c] = frac[c] < 1 ? place / (1.0 + PP_STATE_CLASSES) : 0; /* 0 = all */
    }
}

static struct pp_known_program *wanted(struct pp_arena *arena, const struct pp_build *b)
{
    struct pp_known_program *wanted = PP_NEW(arena, struct pp_known_program);

    memcpy(&wanted->build, b, sizeof(*b));
    wanted->build.costs = NULL;
    wanted->build.recompute_frac = NULL;
    wanted->build.buckets = NULL;
    wanted->build.most_bytes = 0;
    wanted->build.list = b->schedule->generate ? b->list : NULL;
    simplify(&wanted->build.state);
    simplify_shares(&wanted->build.state);
    wanted->stages = stages_of(arena, b);
    return wanted;
}

static bool is_same(const struct pp_known_program *a, const struct pp_known_program *b)
{
    const size_t stages = (size_t)pp_shape_stages(&a->build.shape);

    return !memcmp(&a->build, &b->build, sizeof(a->build)) &&
           !memcmp(a->stages, b->stages, sizeof(*a->stages) * stages);
}

/* ---- orders ---------------------------------------------------------------------------------- */

/* Adds the costs that a search may read: times of F, B, I and W, and of messages. */
static void add_order_costs(struct pp_arena *arena, const struct pp_costs *costs,
                            struct pp_known_list *list)
{
    static const enum pp_op_kind kinds[] = {PP_F, PP_B, PP_I, PP_W};
    const int cells = costs->stages * costs->splits,
              pairs = costs->link ? costs->ranks * costs->ranks : 0;
    int64_t *out = PP_ARRAY(arena, int64_t,
                            6 + (size_t)cells * PP_COUNT(kinds) + (size_t)costs->stages +
                                2 * (size_t)costs->links + (size_t)pairs);
    int n = 0;

    out[n++] = costs->is_unit;
    out[n++] = costs->granules;
    for (size_t k = 0; k < PP_COUNT(kinds); k++) {
        const struct pp_cost *op = costs->op[kinds[k]];
        out[n++] = op != NULL;
        for (int i = 0; op && i < cells; i++)
            out[n++] = op[i].ps;
    }
    for (int s = 0; costs->memory && s < costs->stages; s++)
        memcpy(&out[n++], &costs->memory[s].boundary_bytes, sizeof(*out));
    for (int l = 0; l < costs->links; l++) {
        out[n++] = costs->alpha_ps[l];
        memcpy(&out[n++], &costs->s_per_byte[l], sizeof(*out));
    }
    for (int i = 0; i < pairs; i++)
        out[n++] = costs->link[i];
    list->costs = out;
    list->cost_count = n;
}

static bool is_like(const struct pp_known_list *a, const struct pp_known_list *b)
{
    return a->schedule == b->schedule && a->is_cut == b->is_cut &&
           !memcmp(&a->shape, &b->shape, sizeof(a->shape)) && a->cost_count == b->cost_count &&
           (a->cost_count == 0 ||
            !memcmp(a->costs, b->costs, sizeof(*a->costs) * (size_t)a->cost_count));
}

static struct pp_known_list *list_wanted(struct pp_arena *arena, const struct pp_build *b)
{
    struct pp_known_list *wanted = PP_NEW(arena, struct pp_known_list);

    wanted->schedule = b->schedule;
    wanted->is_cut = b->may_cut;
    memcpy(&wanted->shape, &b->shape, sizeof(wanted->shape));
    if (b->schedule->generate)
        add_order_costs(arena, b->costs, wanted);
    return wanted;
}

/* Finds the order of a build, or makes it: in `arena` if others take too much memory. */
static enum pp_status find_list(struct pp_arena *arena, struct pp_known_programs *known,
                                const struct pp_build *b, const struct pp_build_list **list,
                                struct pp_error *err)
{
    const struct pp_known_list *like = list_wanted(arena, b);

    for (const struct pp_known_list *k = known->lists; k; k = k->next)
        if (is_like(k, like)) {
            *list = &k->list;
            return PP_OK;
        }
    const bool is_kept = known->ops <= MOST_OPS;
    struct pp_arena *home = is_kept ? known->list_arena : arena;
    struct pp_known_list *added = list_wanted(home, b);
    PP_TRY(pp_build_list(home, b, &added->list, err));
    *list = &added->list;
    if (!is_kept)
        return PP_OK;
    for (int r = 0; r < added->list.orders->ranks; r++)
        known->ops += added->list.orders->count[r];
    added->next = known->lists;
    known->lists = added;
    return PP_OK;
}

/* ---- programs -------------------------------------------------------------------------------- */

static struct pp_program *find_program(struct pp_arena *arena,
                                       const struct pp_known_programs *known,
                                       const struct pp_build *build)
{
    const struct pp_known_program *like = wanted(arena, build);

    for (const struct pp_known_program *k = known->first; k; k = k->next)
        if (is_same(k, like))
            return k->program;
    return NULL;
}

static void keep(struct pp_known_programs *known, const struct pp_build *build,
                 struct pp_program *program)
{
    struct pp_known_program *added = wanted(known->arena, build);

    added->program = program;
    program->forms = PP_NEW(known->arena, struct pp_program_forms);
    program->forms->arena = known->arena;
    added->next = known->first;
    known->first = added;
    known->instructions += pp_program_size(program);
}

static void open_arenas(struct pp_known_programs *known)
{
    if (!known->arena)
        known->arena = pp_arena_create();
    if (!known->list_arena)
        known->list_arena = pp_arena_create();
}

enum pp_status pp_build_known_least(struct pp_arena *arena, struct pp_known_programs *known,
                                    const struct pp_build *build, struct pp_least *least,
                                    struct pp_error *err)
{
    const struct pp_build_list *list;

    *least = (struct pp_least){0};
    if (!known || !known->is_bounded || !is_shared(build))
        return PP_OK;
    open_arenas(known);
    PP_TRY(find_list(arena, known, build, &list, err));
    *least = pp_build_least(build, list);
    return PP_OK;
}

enum pp_status pp_build_known(struct pp_arena *arena, struct pp_known_programs *known,
                              const struct pp_build *build, struct pp_program **program,
                              struct pp_error *err)
{
    struct pp_build b = *build;

    if (!known || !is_shared(build))
        return pp_build(arena, build, program, err);
    open_arenas(known);
    const bool is_kept = known->instructions <= MOST_INSTRUCTIONS && known->ops <= MOST_OPS;
    if (b.schedule->generate || known->is_bounded)
        PP_TRY(find_list(arena, known, &b, &b.list, err));
    *program = find_program(arena, known, &b);
    if (*program)
        return PP_OK;
    b.most_bytes = 0; /* costs make no program too large here */
    PP_TRY(pp_build(is_kept ? known->arena : arena, &b, program, err));
    if (is_kept)
        keep(known, &b, *program);
    return PP_OK;
}
