/* Programs by everything that they depend on. */
#include "schedules/build/known.h"

#include <string.h>

/* Kept for the next configuration, and of one configuration. */
enum { KEPT_INSTRUCTIONS = 1 << 20, MOST_INSTRUCTIONS = 1 << 22 };

struct stage {
    int is_recomputed, buckets, units;
};
/* Equal bytes give equal programs. Where only padding differs, a program is built again. */
struct pp_known_program {
    struct pp_known_program *next;
    struct pp_build build; /* pointers to costs and to arrays of stages are NULL */
    struct stage *stages;
    struct pp_program *program;
};

void pp_known_programs_drop(struct pp_known_programs *known)
{
    pp_arena_destroy(known->arena);
    *known = (struct pp_known_programs){0};
}

void pp_known_programs_trim(struct pp_known_programs *known)
{
    if (known->instructions > KEPT_INSTRUCTIONS)
        pp_known_programs_drop(known);
}

static bool is_shared(const struct pp_build *b)
{
    return b->schedule && !b->schedule->generate && !b->schedule->programs && !b->given &&
           !b->is_eager && b->costs;
}

static struct stage *stages_of(struct pp_arena *arena, const struct pp_build *b)
{
    struct stage *list = PP_ARRAY(arena, struct stage, b->costs->stages);

    for (int s = 0; s < b->costs->stages; s++)
        list[s] = (struct stage){
            .is_recomputed = b->recompute_frac && b->recompute_frac[s] > 0,
            .buckets = b->buckets ? b->buckets[s] : 1,
            .units = b->costs->gathers && pp_state_is_fetched(&b->state)
                         ? b->costs->gathers[s].units
                         : 0,
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

static struct pp_known_program *wanted(struct pp_arena *arena, const struct pp_build *b)
{
    struct pp_known_program *wanted = PP_NEW(arena, struct pp_known_program);

    memcpy(&wanted->build, b, sizeof(*b));
    wanted->build.costs = NULL;
    wanted->build.recompute_frac = NULL;
    wanted->build.buckets = NULL;
    simplify(&wanted->build.state);
    wanted->stages = stages_of(arena, b);
    return wanted;
}

static bool is_same(const struct pp_known_program *a, const struct pp_known_program *b)
{
    const size_t stages = (size_t)pp_shape_stages(&a->build.shape);

    return !memcmp(&a->build, &b->build, sizeof(a->build)) &&
           !memcmp(a->stages, b->stages, sizeof(*a->stages) * stages);
}

enum pp_status pp_build_known(struct pp_arena *arena, struct pp_known_programs *known,
                              const struct pp_build *build, struct pp_program **program,
                              struct pp_error *err)
{
    if (!known || !is_shared(build))
        return pp_build(arena, build, program, err);
    struct pp_build whole = *build; /* costs make no program too large here */
    whole.most_bytes = 0;
    const struct pp_known_program *like = wanted(arena, &whole);
    for (const struct pp_known_program *k = known->first; k; k = k->next)
        if (is_same(k, like)) {
            *program = k->program;
            return PP_OK;
        }
    if (known->instructions > MOST_INSTRUCTIONS)
        return pp_build(arena, &whole, program, err);
    if (!known->arena)
        known->arena = pp_arena_create();
    PP_TRY(pp_build(known->arena, &whole, program, err));
    struct pp_known_program *added = wanted(known->arena, &whole);
    added->program = *program;
    (*program)->forms = PP_NEW(known->arena, struct pp_program_forms);
    (*program)->forms->arena = known->arena;
    added->next = known->first;
    known->first = added;
    known->instructions += pp_program_size(*program);
    return PP_OK;
}
