/* The pipeline rank of each process, from the stages that it computes. */
#include "traces/kineto/parts.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STAGES = UINT16_MAX + 1 };

/* The stages of a process. */
struct owner {
    struct pp_kineto_file *file;
    unsigned char *has; /* [MOST_STAGES / 8] bits */
};

static bool has(const struct owner *o, int stage)
{
    return o->has[stage / 8] >> stage % 8 & 1;
}

static void find_stages(struct pp_arena *arena, struct owner *o)
{
    o->has = PP_ARRAY(arena, unsigned char, MOST_STAGES / 8);
    o->file->first_stage = MOST_STAGES;
    for (int k = 0; k < o->file->count; k++) {
        const int stage = o->file->ranges[k].op.stage;
        if (o->file->ranges[k].what != PP_KINETO_COMPUTE)
            continue;
        o->has[stage / 8] |= (unsigned char)(1 << stage % 8);
        if (stage < o->file->first_stage)
            o->file->first_stage = stage;
    }
}

static bool has_same_stages(const struct owner *a, const struct owner *b)
{
    return !memcmp(a->has, b->has, MOST_STAGES / 8);
}

/* By first stage, then by rank of the process. */
static int by_place(const void *left, const void *right)
{
    const struct pp_kineto_file *a = ((const struct owner *)left)->file,
                                *b = ((const struct owner *)right)->file;

    if (a->first_stage != b->first_stage)
        return a->first_stage < b->first_stage ? -1 : 1;
    return a->rank != b->rank ? (a->rank < b->rank ? -1 : 1) : (a > b) - (a < b);
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Checks that every stage is in one process, apart from replicas. */
static enum pp_status check_stages(const struct owner *owners, int count, struct pp_error *err)
{
    int last = 0;

    for (int k = 0; k < count; k++)
        for (int stage = last + 1; stage < MOST_STAGES; stage++)
            last = has(&owners[k], stage) ? stage : last;
    for (int stage = 0; stage <= last; stage++) {
        const struct owner *first = NULL;
        for (int k = 0; k < count; k++) {
            if (!has(&owners[k], stage))
                continue;
            if (first && !has_same_stages(first, &owners[k]))
                return pp_error_set(err, PP_EINVAL,
                                    "stage %d is in %s and in %s, which have other stages, too: "
                                    "are they of one run?",
                                    stage, first->file->name, owners[k].file->name);
            first = &owners[k];
        }
        if (!first)
            return pp_error_set(err, PP_EINVAL,
                                "stage %d of 0 .. %d is in none of the %d files: give the trace of "
                                "each pipeline rank (of one replica is enough)",
                                stage, last, count);
    }
    return PP_OK;
}

static enum pp_status check_ranks(const struct owner *owners, int count, struct pp_error *err)
{
    for (int k = 0; k + 1 < count; k++)
        for (int j = k + 1; j < count && owners[j].file->first_stage == owners[k].file->first_stage;
             j++)
            if (owners[k].file->has_rank && owners[j].file->has_rank &&
                owners[k].file->rank == owners[j].file->rank)
                return pp_error_set(err, PP_EINVAL, "rank %d is in %s and in %s",
                                    owners[k].file->rank, owners[k].file->name,
                                    owners[j].file->name);
    return PP_OK;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Numbers ranks and replicas; returns the number of whole replicas. */
static int number(struct owner *owners, int count)
{
    int rank = -1, whole = count;

    for (int from = 0, to; from < count; from = to) {
        rank++;
        for (to = from; to < count && has_same_stages(&owners[from], &owners[to]); to++) {
            owners[to].file->pipeline_rank = rank;
            owners[to].file->replica = to - from;
        }
        whole = to - from < whole ? to - from : whole;
    }
    return whole;
}

static int by_list(const void *left, const void *right)
{
    const struct pp_kineto_file *a = left, *b = right;

    if (a->replica != b->replica)
        return a->replica < b->replica ? -1 : 1;
    return a->pipeline_rank - b->pipeline_rank;
}

/* Notes ranks of processes that come from names of files, or are unknown. */
static void note_ranks(struct pp_arena *arena, struct pp_kineto *run,
                       const struct pp_kineto_file *files, int count)
{
    int from_names = 0, unknown = 0;

    for (int k = 0; k < count; k++) {
        from_names += files[k].is_rank_of_name;
        unknown += !files[k].has_rank;
    }
    if (from_names > 0)
        pp_kineto_note(
            arena, run,
            pp_arena_printf(arena,
                            "%d of %d files have no distributedInfo.rank: their ranks are those "
                            "of their names",
                            from_names, count));
    if (unknown > 0 && unknown < count)
        pp_kineto_note(
            arena, run,
            pp_arena_printf(arena, "the ranks of %d of %d files are unknown", unknown, count));
}

enum pp_status pp_kineto_find_ranks(struct pp_arena *arena, struct pp_kineto *run,
                                    struct pp_kineto_file *files, int *count, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct owner *owners = PP_ARRAY(scratch, struct owner, *count);
    int kept = 0;

    for (int k = 0; k < *count; k++) {
        if (!files[k].has_rank)
            files[k].rank = k;
        owners[k].file = &files[k];
        find_stages(scratch, &owners[k]);
    }
    qsort(owners, (size_t)*count, sizeof(*owners), by_place);
    PP_TRY(check_stages(owners, *count, err));
    PP_TRY(check_ranks(owners, *count, err));
    const int replicas = number(owners, *count);
    note_ranks(arena, run, files, *count);
    qsort(files, (size_t)*count, sizeof(*files), by_list);
    while (kept < *count && files[kept].replica < replicas)
        kept++;
    if (kept < *count)
        pp_kineto_note(
            arena, run,
            pp_arena_printf(arena,
                            "%d files are of replicas of which other pipeline ranks are missing: "
                            "left out",
                            *count - kept));
    *count = kept;
    return PP_OK;
}
