/* How often a rank uses units of parameters. */
#include "schedules/program/uses.h"
#include "schedules/program/whole.h"

int pp_program_most_chunks(const struct pp_program *p)
{
    int most = 0;

    for (int rank = 0; rank < p->ranks; rank++) {
        int chunks = 0;
        for (int k = 0; k < p->pipelines * p->stages; k++)
            chunks += p->rank_of[k] == rank;
        most = chunks > most ? chunks : most;
    }
    return most;
}

enum end { FIRST, LAST };

/* Units at which the last op, or pair of ops, has ended. */
struct place {
    int stage;
    enum end end;
};
struct places {
    struct place at[2];
    int count;
};

static bool is_at(const struct places *places, struct place place)
{
    for (int k = 0; k < places->count; k++)
        if (places->at[k].stage == place.stage && places->at[k].end == place.end)
            return true;
    return false;
}

/* Returns the uses that an op adds. A forward runs from the first unit to the last, a backward in
 * reverse. Recomputation goes along with its backward, unit by unit. */
static int add_op(const struct pp_program *p, int i, const struct places *before,
                  struct places *after)
{
    const int units = p->state.units[p->stage[i]], kind = p->kind[i];
    const enum end far = units > 1 ? LAST : FIRST, from = kind == PP_F ? FIRST : far,
                   to = kind == PP_B || kind == PP_I ? FIRST : far;
    const bool is_paired = after->count == 1 && after->at[0].stage == p->stage[i];
    const int begun = !is_paired && !is_at(before, (struct place){p->stage[i], from});

    after->at[is_paired ? 0 : after->count++] = (struct place){p->stage[i], to};
    return begun + (kind == PP_R || is_paired ? 0 : units - 1);
}

int64_t pp_program_uses(const struct pp_program *p, int rank)
{
    struct places before = {.count = 0};
    int64_t uses = 0;

    for (struct pp_whole_walk walk = pp_whole_walk(p, rank);
         walk.at < p->begin[rank + 1] && p->state.units; pp_whole_next(p, &walk)) {
        const int i = walk.at, kind = p->kind[i];
        struct places after = {.count = 0};
        if (kind != PP_F && kind != PP_B && kind != PP_I && kind != PP_R)
            continue;
        uses += add_op(p, i, &before, &after);
        if (kind == PP_F && p->aux[i] == PP_FUSED_FIRST) {
            pp_whole_next(p, &walk);
            uses += add_op(p, walk.at, &before, &after);
        }
        before = after;
    }
    return uses;
}
