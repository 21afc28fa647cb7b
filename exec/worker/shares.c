/* Collectives as work on a stream. AR: all copies get the sum. If the optimizer state of a stage is
 * sharded, RS leaves the sum with the copy that updates the weights. AG then gives the weights to
 * all copies. RS adds in the order of AR, so sums have the same bits. */
#include "exec/worker/worker.h"

char *pp_sum_at(const struct pp_sum *sum, int copy, int64_t element)
{
    const int64_t first = sum->has ? sum->has[copy].from : 0;

    return sum->at[copy] + (size_t)(element - first) * sum->element_bytes;
}

static bool is_together(const struct pp_sum *sum, int a, int b)
{
    return !sum->group || sum->group[a] == sum->group[b];
}

static int leader_of(const struct pp_sum *sum, int copy)
{
    int leader = 0;

    while (!is_together(sum, leader, copy))
        leader++;
    return leader;
}

static void add(const struct pp_kernels *k, void *stream, const struct pp_sum *sum, int64_t count,
                char *x, char *y)
{
    if (sum->is_exact)
        k->fixed_merge(stream, count, (int64_t *)(void *)x, (int64_t *)(void *)y, sum->status);
    else
        k->add(stream, count, x, y);
}

void pp_sum_add(const struct pp_kernels *k, void *stream, const struct pp_sum *sum, int from,
                int to, struct pp_range range)
{
    add(k, stream, sum, range.until - range.from, pp_sum_at(sum, from, range.from),
        pp_sum_at(sum, to, range.from));
}

void pp_sum_copy(const struct pp_kernels *k, void *stream, const struct pp_sum *sum, int from,
                 int to, struct pp_range range)
{
    if (range.from < range.until)
        k->copy(stream, (size_t)(range.until - range.from) * sum->element_bytes,
                pp_sum_at(sum, from, range.from), pp_sum_at(sum, to, range.from));
}

/* Adds all copies to the first, then copies the sum back. */
static void sum_up(const struct pp_kernels *k, void *stream, const struct pp_sum *sum)
{
    for (int piece = 0; piece < sum->pieces; piece++) {
        for (int c = 1; c < sum->copies; c++)
            pp_sum_add(k, stream, sum, c, 0, sum->piece[piece]);
        for (int c = 1; c < sum->copies; c++)
            pp_sum_copy(k, stream, sum, 0, c, sum->piece[piece]);
    }
}

/* Adds what copies of each group have to the first of them, then copies the sums back. */
static void sum_shares(const struct pp_kernels *k, void *stream, const struct pp_sum *sum)
{
    for (int is_back = 0; is_back <= 1; is_back++)
        for (int c = 0; c < sum->copies; c++)
            for (int piece = 0; piece < sum->pieces && leader_of(sum, c) < c; piece++) {
                const int leader = leader_of(sum, c);
                const struct pp_range range = pp_range_common(sum->piece[piece], sum->norm[c]);

                if (is_back)
                    pp_sum_copy(k, stream, sum, leader, c, range);
                else if (range.from < range.until)
                    pp_sum_add(k, stream, sum, c, leader, range);
            }
}

/* Computes (c0 + c1 + ...) + owner + ... of a group. Copies before the owner are summed in the
 * first one, which no longer needs its own gradients of this share. */
static void add_up(const struct pp_kernels *k, void *stream, const struct pp_sum *sum, int owner,
                   struct pp_range range)
{
    const int leader = leader_of(sum, owner);

    for (int c = leader + 1; c < owner; c++)
        if (is_together(sum, c, owner))
            pp_sum_add(k, stream, sum, c, leader, range);
    if (owner > leader)
        pp_sum_add(k, stream, sum, leader, owner, range);
    for (int c = owner + 1; c < sum->copies; c++)
        if (is_together(sum, c, owner))
            pp_sum_add(k, stream, sum, c, owner, range);
}

/* Copies a range from all owners, whose sums are complete. */
static void fetch(const struct pp_kernels *k, void *stream, const struct pp_sum *sum, int copy,
                  struct pp_range range)
{
    for (int owner = 0; owner < sum->copies; owner++)
        if (owner != copy && is_together(sum, owner, copy))
            pp_sum_copy(k, stream, sum, owner, copy, pp_range_common(range, sum->share[owner]));
}

static void scatter(const struct pp_kernels *k, void *stream, const struct pp_sum *sum)
{
    struct pp_range ranges[PP_SUM_RANGES];

    for (int piece = 0; piece < sum->pieces; piece++)
        for (int owner = 0; owner < sum->copies; owner++) {
            const struct pp_range range = pp_range_common(sum->piece[piece], sum->share[owner]);
            if (range.from < range.until)
                add_up(k, stream, sum, owner, range);
        }
    for (int c = 0; c < sum->copies; c++) {
        const int count = sum->rule->got(sum, c, ranges);
        for (int r = 0; r < count; r++)
            fetch(k, stream, sum, c, ranges[r]);
    }
}

static void gather(const struct pp_kernels *k, void *stream, const struct pp_sum *sum)
{
    struct pp_range ranges[PP_SUM_RANGES];

    for (int c = 0; c < sum->copies; c++) {
        const int count = sum->rule->got(sum, c, ranges);
        for (int r = 0; r < count; r++)
            fetch(k, stream, sum, c, ranges[r]);
    }
}

/* ---- shares that are apart from the buffer --------------------------------------------------- */

static char *own_at(const struct pp_sum *sum, int copy, int64_t element)
{
    const struct pp_own *own = &sum->own[copy];

    return own->at + (size_t)(element - own->has.from) * sum->element_bytes;
}

/* RS and AR */
static void clear_blank(const struct pp_kernels *k, void *stream, const struct pp_sum *sum,
                        int copy)
{
    for (int piece = 0; piece < sum->pieces && sum->own[copy].is_blank; piece++) {
        const struct pp_range range = sum->piece[piece];

        k->zero(stream, (size_t)(range.until - range.from) * sum->element_bytes,
                pp_sum_at(sum, copy, range.from));
    }
}

/* RS: what blocks of the norm need after the share is there twice, in two copies. */
static void add_to_own(const struct pp_kernels *k, void *stream, const struct pp_sum *sum, int copy)
{
    for (int piece = 0; piece < sum->pieces; piece++) {
        const struct pp_range range = pp_range_common(sum->piece[piece], sum->own[copy].has);
        if (range.from < range.until)
            add(k, stream, sum, range.until - range.from, pp_sum_at(sum, copy, range.from),
                own_at(sum, copy, range.from));
    }
}

/* AR: adds the share to the buffer of one copy alone, and forgets it. */
static void own_to_sum(const struct pp_kernels *k, void *stream, const struct pp_sum *sum, int copy)
{
    const struct pp_range all = sum->piece[0], share = pp_range_common(all, sum->share[copy]),
                          has = pp_range_common(all, sum->own[copy].has);

    clear_blank(k, stream, sum, copy);
    if (share.from < share.until)
        add(k, stream, sum, share.until - share.from, own_at(sum, copy, share.from),
            pp_sum_at(sum, copy, share.from));
    if (has.from < has.until)
        k->zero(stream, (size_t)(has.until - has.from) * sum->element_bytes,
                own_at(sum, copy, has.from));
}

static void sum_to_own(const struct pp_kernels *k, void *stream, const struct pp_sum *sum, int copy)
{
    const struct pp_range has = pp_range_common(sum->piece[0], sum->own[copy].has);

    if (has.from < has.until)
        k->copy(stream, (size_t)(has.until - has.from) * sum->element_bytes,
                pp_sum_at(sum, copy, has.from), own_at(sum, copy, has.from));
}

/* AG */
static void own_to_buffer(const struct pp_kernels *k, void *stream, const struct pp_sum *sum,
                          int copy)
{
    const struct pp_range share = sum->share[copy];

    if (share.from < share.until)
        k->copy(stream, (size_t)(share.until - share.from) * sum->element_bytes,
                own_at(sum, copy, share.from), pp_sum_at(sum, copy, share.from));
}

/* ---- ranges that a copy gives and gets ------------------------------------------------------- */

static int put(struct pp_range *ranges, int count, struct pp_range a, struct pp_range b)
{
    ranges[count] = pp_range_common(a, b);
    return count + (ranges[count].from < ranges[count].until);
}

static int all_of(const struct pp_sum *sum, int copy, struct pp_range *ranges)
{
    int count = 0;

    for (int piece = 0; piece < sum->pieces; piece++)
        count =
            put(ranges, count, sum->piece[piece], sum->has ? sum->has[copy] : sum->piece[piece]);
    return count;
}

static int share_of(const struct pp_sum *sum, int copy, struct pp_range *ranges)
{
    int count = 0;

    for (int piece = 0; piece < sum->pieces; piece++)
        count = put(ranges, count, sum->piece[piece], sum->share[copy]);
    return count;
}

/* All but the share, which the copy has. */
static int rest_of(const struct pp_sum *sum, int copy, struct pp_range *ranges)
{
    const struct pp_range share = sum->share[copy];
    struct pp_range all[PP_SUM_RANGES];
    int count = 0;

    for (int i = 0, pieces = all_of(sum, copy, all); i < pieces; i++) {
        count = put(ranges, count, all[i], (struct pp_range){all[i].from, share.from});
        count = put(ranges, count, all[i], (struct pp_range){share.until, all[i].until});
    }
    return count;
}

static int needed_of(const struct pp_sum *sum, int copy, struct pp_range *ranges)
{
    int count = 0;

    for (int piece = 0; piece < sum->pieces; piece++) {
        count = put(ranges, count, sum->piece[piece], sum->norm[copy]);
        count = put(ranges, count, sum->piece[piece], sum->tied);
    }
    return count;
}

const struct pp_sum_rule pp_sum_rules[PP_SUM_OF_SHARES + 1] = {
    [PP_AR] = {sum_up, own_to_sum, sum_to_own, all_of, all_of},
    [PP_RS] = {scatter, clear_blank, add_to_own, all_of, needed_of},
    [PP_AG] = {gather, own_to_buffer, NULL, share_of, rest_of},
    [PP_SUM_OF_SHARES] = {sum_shares, NULL, NULL, needed_of, needed_of},
};

void pp_sum_begin(const struct pp_kernels *k, void *stream, const struct pp_sum *sum, int copy)
{
    if (sum->own && sum->rule->begin)
        sum->rule->begin(k, stream, sum, copy);
}

void pp_sum_end(const struct pp_kernels *k, void *stream, const struct pp_sum *sum, int copy)
{
    if (sum->own && sum->rule->end)
        sum->rule->end(k, stream, sum, copy);
}

void pp_sum_run(const struct pp_kernels *k, void *stream, void *argument)
{
    for (const struct pp_sum *sum = argument; sum != NULL; sum = sum->next) {
        for (int copy = 0; copy < sum->copies; copy++)
            pp_sum_begin(k, stream, sum, copy);
        sum->rule->exchange(k, stream, sum);
        for (int copy = 0; copy < sum->copies; copy++)
            pp_sum_end(k, stream, sum, copy);
    }
}
