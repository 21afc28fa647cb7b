/* Collectives between processes. The copies of a process are added up in its first one. NCCL knows
 * only that copy; its result is copied to the others.
 *
 *   AR   AllReduce
 *   RS   a Reduce of each share, for the copy that updates it; then a Broadcast of its parts that
 *        others need: where blocks of the norm begin, and of a tied matrix
 *   AG   a Broadcast of each share
 *
 * Shares differ in size, which ReduceScatter and AllGather do not allow. All processes plan the
 * same operations in the same order. */
#include "exec/transport/gpu.h"

/* ---- plan ------------------------------------------------------------------------------------ */

static struct pp_sum copies_here(const struct pp_machine *m, const struct pp_sum *all)
{
    struct pp_sum here = *all;

    here.copies = 0;
    here.next = NULL;
    here.at = PP_ARRAY(m->arena, char *, all->copies);
    here.share = PP_ARRAY(m->arena, struct pp_range, all->copies);
    here.norm = PP_ARRAY(m->arena, struct pp_range, all->copies);
    here.has = all->has ? PP_ARRAY(m->arena, struct pp_range, all->copies) : NULL;
    here.own = all->own ? PP_ARRAY(m->arena, struct pp_own, all->copies) : NULL;
    for (int c = 0; c < all->copies; c++) {
        if (pp_is_elsewhere(m, &m->workers[all->owner[c]]))
            continue;
        here.at[here.copies] = all->at[c];
        if (all->share)
            here.share[here.copies] = all->share[c];
        if (all->norm)
            here.norm[here.copies] = all->norm[c];
        if (all->has)
            here.has[here.copies] = all->has[c];
        if (all->own)
            here.own[here.copies] = all->own[c];
        here.copies++;
    }
    return here;
}

static int member_of(const struct nccl_sum *n, int copy)
{
    int member = 0;

    while (n->members->members[member] != n->all.owner[copy])
        member++;
    return member;
}

static bool is_empty(struct pp_range range)
{
    return range.from >= range.until;
}

/* `unit`: bytes per counted element. */
static void add_piece(const struct nccl_sum *n, struct nccl_pieces *pieces, struct pp_range range,
                      int root, size_t unit)
{
    const size_t element_bytes = n->here.element_bytes;

    if (is_empty(range) || n->here.copies == 0)
        return;
    *PP_PUSH(n->of->machine->arena, pieces->at, pieces->count, pieces->capacity) =
        (struct pp_nccl_piece){.at = pp_sum_at(&n->here, 0, range.from),
                               .count = (size_t)(range.until - range.from) * element_bytes / unit,
                               .root = root};
}

static void plan_all(struct nccl_sum *n)
{
    const struct pp_sum *sum = &n->all;

    for (int piece = 0; piece < sum->pieces; piece++)
        add_piece(n, &n->summed, sum->piece[piece], 0, sum->element_bytes);
}

/* Copies of a group have the same ranges. */
static void plan_between(struct nccl_sum *n)
{
    const struct pp_sum *sum = &n->all;

    for (int piece = 0; piece < sum->pieces && sum->copies > 0; piece++)
        add_piece(n, &n->summed, pp_range_common(sum->piece[piece], sum->norm[0]), 0,
                  sum->element_bytes);
}

/* Adds each share within the collective. */
static void plan_shares(const struct nccl_sum *n, struct nccl_pieces *pieces, size_t unit)
{
    const struct pp_sum *sum = &n->all;

    for (int piece = 0; piece < sum->pieces; piece++)
        for (int c = 0; c < sum->copies; c++)
            add_piece(n, pieces, pp_range_common(sum->piece[piece], sum->share[c]), member_of(n, c),
                      unit);
}

/* Ranges that do not touch each other. */
struct ranges {
    struct pp_range *at;
    int count, capacity;
};

static void join(const struct nccl_sum *n, struct ranges *all, struct pp_range range)
{
    int kept = 0;

    if (is_empty(range))
        return;
    for (int i = 0; i < all->count; i++) {
        const struct pp_range other = all->at[i];

        if (other.until < range.from || other.from > range.until) {
            all->at[kept++] = other;
            continue;
        }
        range.from = other.from < range.from ? other.from : range.from;
        range.until = other.until > range.until ? other.until : range.until;
    }
    all->count = kept;
    *PP_PUSH(n->of->machine->arena, all->at, all->count, all->capacity) = range;
}

/* Adds the parts of `owner`'s share that copies of other processes need. */
static void plan_needed(struct nccl_sum *n, int owner)
{
    const struct pp_sum *sum = &n->all;
    struct pp_range needed[PP_SUM_RANGES];
    struct ranges all = {0};

    for (int c = 0; c < sum->copies; c++) {
        const int count = sum->owner[c] == sum->owner[owner] ? 0 : sum->rule->got(sum, c, needed);
        for (int i = 0; i < count; i++)
            join(n, &all, pp_range_common(needed[i], sum->share[owner]));
    }
    for (int i = 0; i < all.count; i++)
        add_piece(n, &n->given, all.at[i], member_of(n, owner), 1);
}

static void plan_scatter(struct nccl_sum *n)
{
    plan_shares(n, &n->summed, n->all.element_bytes);
    for (int owner = 0; owner < n->all.copies; owner++)
        plan_needed(n, owner);
}

static void plan_gather(struct nccl_sum *n)
{
    plan_shares(n, &n->given, 1);
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Adds the gradients of this process in its first copy; refuses sums that would wrap in NCCL. */
static void merge_here(const struct pp_kernels *k, void *stream, const struct nccl_sum *n)
{
    const struct pp_sum *here = &n->here;
    struct pp_range ranges[PP_SUM_RANGES];
    const int count = here->rule->given(here, 0, ranges);

    for (int r = 0; r < count; r++) {
        for (int c = 1; c < here->copies; c++)
            pp_sum_add(k, stream, here, c, 0, ranges[r]);
        if (here->is_exact)
            k->fixed_fits(stream, ranges[r].until - ranges[r].from,
                          (const int64_t *)(const void *)pp_sum_at(here, 0, ranges[r].from),
                          n->members->count, here->status);
    }
}

static void issue(const struct nccl_sum *n, enum pp_nccl_kind kind,
                  const struct pp_nccl_piece *pieces, int count, void *stream)
{
    struct pp_machine *m = n->of->machine;
    const struct pp_nccl_operation operation = {.kind = kind,
                                                .on = n->group,
                                                .type = kind == PP_NCCL_BROADCAST ? PP_NCCL_BYTES
                                                        : n->here.is_exact        ? PP_NCCL_INT64
                                                                                  : PP_NCCL_FLOAT,
                                                .pieces = pieces,
                                                .count = count};
    struct pp_error err = {0};

    if (count > 0)
        pp_device_fail_if(
            m, m->options.nccl->issue(pp_gpu_of(m)->nccl->nccl, &operation, stream, &err), &err);
}

/* Copies to each other copy what it gets, from the first one. */
static void spread_here(const struct pp_kernels *k, void *stream, const struct pp_sum *here)
{
    struct pp_range ranges[PP_SUM_RANGES];

    for (int c = 1; c < here->copies; c++) {
        const int count = here->rule->got(here, c, ranges);
        for (int i = 0; i < count; i++)
            pp_sum_copy(k, stream, here, 0, c, ranges[i]);
    }
}

static void run_all(const struct pp_kernels *k, void *stream, const struct nccl_sum *n)
{
    merge_here(k, stream, n);
    for (int i = 0; i < n->summed.count; i++)
        issue(n, PP_NCCL_SUM, &n->summed.at[i], 1, stream);
}

static void run_scatter(const struct pp_kernels *k, void *stream, const struct nccl_sum *n)
{
    merge_here(k, stream, n);
    issue(n, PP_NCCL_REDUCE, n->summed.at, n->summed.count, stream);
    issue(n, PP_NCCL_BROADCAST, n->given.at, n->given.count, stream);
}

static void run_gather(const struct pp_kernels *k, void *stream, const struct nccl_sum *n)
{
    const struct pp_sum *here = &n->here;

    for (int c = 1; c < here->copies; c++)
        for (int piece = 0; piece < here->pieces; piece++)
            pp_sum_copy(k, stream, here, c, 0, pp_range_common(here->piece[piece], here->share[c]));
    issue(n, PP_NCCL_BROADCAST, n->given.at, n->given.count, stream);
}

static const struct {
    void (*plan)(struct nccl_sum *n);
    void (*run)(const struct pp_kernels *k, void *stream, const struct nccl_sum *n);
} KINDS[PP_SUM_OF_SHARES + 1] = {
    [PP_AR] = {plan_all, run_all},
    [PP_RS] = {plan_scatter, run_scatter},
    [PP_AG] = {plan_gather, run_gather},
    [PP_SUM_OF_SHARES] = {plan_between, run_all},
};

struct nccl_sum pp_nccl_plan_sum(const struct pp_machine_collective *c, const struct pp_sum *of,
                                 const struct pp_nccl_group *groups, int group)
{
    struct nccl_sum sum = {.of = c,
                           .all = pp_nccl_own_copies(c->machine, of),
                           .members = group >= 0 ? &groups[group] : NULL,
                           .group = group};

    sum.here = copies_here(c->machine, &sum.all);

    if (group >= 0)
        KINDS[of->rule - pp_sum_rules].plan(&sum);
    return sum;
}

static void run_sum(const struct pp_kernels *k, void *stream, struct nccl_sum *n)
{
    if (n->group < 0) {
        pp_sum_run(k, stream, &n->here);
        return;
    }
    for (int copy = 0; copy < n->here.copies; copy++)
        pp_sum_begin(k, stream, &n->here, copy);
    KINDS[n->here.rule - pp_sum_rules].run(k, stream, n);
    spread_here(k, stream, &n->here);
    for (int copy = 0; copy < n->here.copies; copy++)
        pp_sum_end(k, stream, &n->here, copy);
}

void pp_nccl_sum_run(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_machine_collective *c = argument;
    struct nccl_sum *n = &pp_gpu_of(c->machine)->nccl->sums[c - c->machine->collectives];

    for (; n != NULL; n = n->next)
        run_sum(k, stream, n);
}
