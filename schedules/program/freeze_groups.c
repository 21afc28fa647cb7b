/* schedules/program/freeze_groups.c — joins the posts of a collective while freezing: makes groups
 * of ranks. The k-th post of a kind and stage on every member is one collective. Linear. */
#include "schedules/program/freeze.h"

#include <stdlib.h>

/* Families of a stage's collectives: those of the end of a step, those of other purposes, the tied
 * sum. A2A belongs to a micro-batch and stays inside a program rank. */
static const uint8_t family_kind[] = {PP_AG, PP_RS, PP_AR, PP_BC};
enum {
    STEP_FAMILIES = 4,
    TIED_FAMILY = STEP_FAMILIES + PP_PURPOSES - 1,
    FAMILIES = TIED_FAMILY + 1
};

static int family_of(const struct pp_program *p, int i)
{
    if (p->kind[i] == PP_AR && p->aux[i] == PP_TIED)
        return TIED_FAMILY;
    for (int k = 0; k < STEP_FAMILIES; k++)
        if (family_kind[k] == p->kind[i])
            return p->purpose[i] ? STEP_FAMILIES + p->purpose[i] - 1 : k;
    return -1;
}

/* Is true for collectives that go with uses of a stage. Pipelines use it at different times, so
 * only the copies in one pipeline meet: replicas of a rank. */
static bool is_of_pipe(const struct pp_program *p, int i)
{
    const int purpose = p->purpose[i];

    return p->pipelines > 1 && pp_op_has_buckets(p->kind[i]) &&
           (pp_purpose_is_gather(purpose) || purpose == PP_FOR_VISIT || purpose == PP_FOR_PART);
}

/* Returns the collective of post i; its bucket is set later. */
static struct pp_collective collective_of(const struct pp_program *p, int i, int group)
{
    return (struct pp_collective){.kind = p->kind[i],
                                  .tied = family_of(p, i) == TIED_FAMILY,
                                  .purpose = p->purpose[i],
                                  .stage = p->stage[i],
                                  .pipe = is_of_pipe(p, i) ? (int16_t)p->pipe[i] : -1,
                                  .group = group};
}

struct tally {               /* one (pipeline, stage, family) */
    int32_t count;           /* posts of one member, 0 = never seen */
    int32_t base;            /* first collective id */
    int32_t members;         /* ranks that post */
    int32_t running;         /* posts on the current rank so far */
    uint8_t bucket, buckets; /* next bucket of the current rank; 0 of 0 = any first one */
    uint16_t first_rank;
    int32_t first; /* post of that rank */
};

static bool is_member(const struct pp_program *p, int rank, int i, bool tied)
{
    const int stage = p->stage[i];

    if (pp_program_rank_of(p, p->pipe[i], stage) == rank) /* nearly always; keeps this linear */
        return true;
    for (int pipe = 0; pipe < p->pipelines; pipe++)
        if (pp_program_rank_of(p, pipe, stage) == rank ||
            (tied && pp_program_rank_of(p, pipe, p->stages - 1) == rank))
            return true;
    return false;
}

static int compare_ranks(const void *a, const void *b)
{
    return *(const uint16_t *)a - *(const uint16_t *)b;
}

/* `pipe`: -1 for those of all pipelines. */
static int make_group(const struct pp_freeze *f, int pipe, int stage, bool tied, int *member_count)
{
    struct pp_program *p = f->p;
    struct pp_group *group = &p->groups[p->group_count];
    uint16_t *members = p->members + *member_count;
    int count = 0, unique = 0;

    for (int k = 0; k < p->pipelines; k++) {
        if (pipe >= 0 && k != pipe)
            continue;
        members[count++] = (uint16_t)pp_program_rank_of(p, k, stage);
        if (tied)
            members[count++] = (uint16_t)pp_program_rank_of(p, k, p->stages - 1);
    }
    qsort(members, (size_t)count, sizeof(*members), compare_ranks);
    for (int k = 0; k < count; k++)
        if (k == 0 || members[k] != members[unique - 1])
            members[unique++] = members[k];
    *group = (struct pp_group){.kind = tied ? PP_GROUP_TIED : PP_GROUP_STAGE,
                               .stage = stage,
                               .first = *member_count,
                               .count = unique};
    *member_count += unique;
    return p->group_count++;
}

static struct tally *tally_at(const struct pp_program *p, struct tally *tallies, int i)
{
    const int family = family_of(p, i), pipe = is_of_pipe(p, i) ? p->pipe[i] : 0;

    return family < 0 ? NULL
                      : &tallies[((int64_t)pipe * p->stages + p->stage[i]) * FAMILIES + family];
}

/* Checks that all buckets of a collective are posted, in order, before it is posted again. */
static enum pp_status count_bucket(const struct pp_freeze *f, struct tally *t, int i)
{
    const struct pp_program *p = f->p;

    if (t->bucket > 0 && (p->bucket[i] != t->bucket || p->buckets[i] != t->buckets))
        return pp_freeze_error(f, i, "expected bucket %d of %d: buckets are posted in order",
                               t->bucket, t->buckets);
    if (t->bucket == 0 && p->bucket[i] > 0)
        return pp_freeze_error(f, i, "expected bucket 0 before it: buckets are posted in order");
    t->buckets = p->buckets[i];
    t->bucket++;
    if (t->bucket >= t->buckets) /* last or only one */
        t->bucket = t->buckets = 0;
    return PP_OK;
}

/* Counts the posts of one rank; every member must post the same number. */
static enum pp_status count_posts(const struct pp_freeze *f, struct tally *tallies, int rank)
{
    struct pp_program *p = f->p;

    for (int k = f->collectives.begin[rank]; k < f->collectives.begin[rank + 1]; k++) {
        const int i = f->collectives.at[k];
        struct tally *t = tally_at(p, tallies, i);
        if (!t)
            continue;
        if (p->kind[i] == PP_AR && p->aux[i] == PP_TIED)
            p->last_stage[i] = (uint16_t)(p->stages - 1);
        if (t->running == 0 && !is_member(p, rank, i, t - tallies == TIED_FAMILY))
            return pp_freeze_error(f, i, "this rank does not hold stage %d", p->stage[i]);
        PP_TRY(count_bucket(f, t, i));
        p->arg[i] = t->running++;
    }
    for (int k = f->collectives.begin[rank]; k < f->collectives.begin[rank + 1]; k++) {
        const int i = f->collectives.at[k];
        struct tally *t = tally_at(p, tallies, i);
        if (!t || t->running == 0)
            continue;
        if (t->bucket > 0)
            return pp_freeze_error(f, i, "rank %d posts only the first %d of %d buckets", rank,
                                   t->bucket, t->buckets);
        if (t->count != 0 && t->count != t->running)
            return pp_freeze_error(f, i, "rank %d posts %d of these, rank %d posts %d", rank,
                                   t->running, t->first_rank, t->count);
        if (t->members++ == 0) {
            t->first_rank = (uint16_t)rank;
            t->first = i;
        }
        t->count = t->running;
        t->running = 0;
    }
    return PP_OK;
}

/* Error for a group of which some member posts nothing: names it and a member that posts. */
static enum pp_status missing_member(const struct pp_freeze *f, const struct tally *t,
                                     const struct tally *tallies, const struct pp_group *group)
{
    const struct pp_program *p = f->p;

    for (int k = 0; k < group->count; k++) {
        const int rank = p->members[group->first + k];
        bool is_posting = false;
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
            is_posting |= tally_at(p, (struct tally *)tallies, i) == t;
        if (is_posting)
            continue;
        return pp_freeze_error(f, t->first, "rank %d belongs to this collective but never posts it",
                               rank);
    }
    return pp_error_set(f->err, PP_EPROGRAM, "a member of a collective never posts it");
}

/* Makes groups and collectives of one stage in a pipeline, in the order of families. The first one
 * has those of all pipelines, too. */
static enum pp_status make_collectives(const struct pp_freeze *f, struct tally *tallies, int place,
                                       int *member_count)
{
    struct pp_program *p = f->p;
    int groups[2] = {-1, -1}; /* of all pipelines, of this one */

    for (int family = 0; family < FAMILIES; family++) {
        struct tally *t = &tallies[(int64_t)place * FAMILIES + family];
        const bool tied = family == TIED_FAMILY;
        if (t->count == 0)
            continue;
        const bool is_alone = is_of_pipe(p, t->first);
        int *group = &groups[is_alone];
        if (tied || *group < 0)
            *group = make_group(f, is_alone ? place / p->stages : -1, place % p->stages, tied,
                                member_count);
        if (t->members != p->groups[*group].count)
            return missing_member(f, t, tallies, &p->groups[*group]);
        t->base = p->collective_count;
        for (int k = 0; k < t->count; k++)
            p->collectives[p->collective_count++] = collective_of(p, t->first, *group);
    }
    return PP_OK;
}

static enum pp_status check_tied(const struct pp_freeze *f, int rank, int i)
{
    const struct pp_op *op = &f->lists->ops[rank][i - f->p->begin[rank]];
    const int last = f->p->stages - 1;

    if (last == 0)
        return pp_freeze_error(f, i, "a tied sum needs two stages, there is one");
    if (op->stage != 0 || (op->last_stage != 0 && op->last_stage != last))
        return pp_freeze_error(f, i, "a tied sum joins the first and the last stage, 0 and %d",
                               last);
    return PP_OK;
}

/* Sets the collective of a post; every member must use the same buckets. */
static enum pp_status join_collective(const struct pp_freeze *f, int rank, int i,
                                      const struct tally *t)
{
    struct pp_program *p = f->p;
    struct pp_collective *c = &p->collectives[p->arg[i] += t->base];

    if (rank == t->first_rank)
        c->bucket = p->bucket[i], c->buckets = p->buckets[i];
    if (c->bucket != p->bucket[i] || c->buckets != p->buckets[i])
        return pp_freeze_error(f, i, "rank %d cuts this collective into other buckets",
                               t->first_rank);
    return PP_OK;
}

enum pp_status pp_freeze_collectives(const struct pp_freeze *f)
{
    struct pp_program *p = f->p;
    int64_t total = 0, groups = 0;
    int member_count = 0;

    for (int r = 0; r < p->ranks; r++)
        for (int k = f->collectives.begin[r]; k < f->collectives.begin[r + 1]; k++) {
            const int i = f->collectives.at[k];
            total += family_of(p, i) >= 0;
            if (family_of(p, i) == TIED_FAMILY)
                PP_TRY(check_tied(f, r, i));
        }
    if (total == 0)
        return PP_OK;
    const int places = p->pipelines * p->stages;
    struct tally *tallies = PP_ARRAY(f->scratch, struct tally, (int64_t)places * FAMILIES);
    for (int r = 0; r < p->ranks; r++)
        PP_TRY(count_posts(f, tallies, r));
    for (int64_t k = 0; k < (int64_t)places * FAMILIES; k++)
        groups += tallies[k].count != 0;
    p->groups = PP_ARRAY(f->arena, struct pp_group, groups);
    p->members = PP_ARRAY(f->arena, uint16_t, (groups + 1) * p->pipelines + p->pipelines);
    p->collectives = PP_ARRAY(f->arena, struct pp_collective, total);
    for (int place = 0; place < places; place++)
        PP_TRY(make_collectives(f, tallies, place, &member_count));
    for (int r = 0; r < p->ranks; r++)
        for (int k = f->collectives.begin[r]; k < f->collectives.begin[r + 1]; k++) {
            const struct tally *t = tally_at(p, tallies, f->collectives.at[k]);
            if (t)
                PP_TRY(join_collective(f, r, f->collectives.at[k], t));
        }
    return PP_OK;
}
