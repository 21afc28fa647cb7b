/* Parameters that are cut are gathered before they are used. A chunk's layers are gather units (or
 * the whole chunk is one): a forward runs through them from the first to the last, a backward back.
 * A visit is a maximal run of uses of one unit on a rank. The program gathers for visits that begin
 * with an op; the units inside of an op are part of its price (core/roofline_state.c).
 *
 *   before a visit   AG.forward or AG.backward, one visit ahead where there are two buffers, and
 *                    its WAIT before the first use; R opens the visit of the backward it serves
 *   behind it        DROP
 *   gradients        RS.visit behind the last B or W of a visit: a run of ops of one chunk, or a
 *                    single B or W where the chunk has several units. With two buffers it is waited
 *                    for before the next one is posted, with one at once
 *   s_G > s_P        RS.part behind every backward of a micro-batch (or visit, where parameters are
 *                    cut) but the last of its chunk, which the sum at the end of the step covers
 *
 * A weight gradient needs no parameters. The two ops of an overlapped pair are used at once. Reads
 * F, B, I, W, R only; runs before messages are added. Source: Lamy-Poirier 2023, breadth-first
 * pipeline parallelism, section 4; Chen et al. 2024, AMSP, section 4. */
#include "schedules/lower/lists.h"
#include "schedules/lower/lower.h"

enum { FIRST_UNIT, LAST_UNIT };

/* What one rank does at once: an op, or the two of a pair. */
struct moment {
    int32_t at, end; /* in the list, end exclusive */
    int count;       /* ops */
    const struct pp_op *op[2];
};

/* A run of uses of a unit, from moment to moment, inclusive. */
struct visit {
    int stage, from, until;
    bool is_backward;
};
struct visits {
    struct visit *list;
    int count, capacity;
};

/* A unit with which a moment ended, and the visit it belongs to. */
struct open {
    int stage, unit, visit;
};

struct gathers {
    struct pp_arena *arena;
    const struct pp_lower_options *options;
    struct moment *moments;
    int moment_count;
    struct visits gathered, scattered, parts;
    struct pp_inserts inserts;
};

static bool has_cell(const struct pp_op *op)
{
    return pp_op_is_compute(op->kind) && pp_op_kinds[op->kind].has_mb;
}

static bool has_grads(int kind)
{
    return kind == PP_B || kind == PP_W;
}

static bool is_layered(const struct gathers *g, int stage)
{
    return g->options->gather_units && g->options->gather_units[stage] > 1;
}

static void find_moments(struct gathers *g, const struct pp_orders *lists, int rank)
{
    const int count = lists->count[rank];

    g->moment_count = 0;
    for (int i = 0; i < count; i++) {
        const struct pp_op *op = &lists->ops[rank][i];
        struct moment *m = &g->moments[g->moment_count];
        if (!has_cell(op))
            continue;
        const bool is_pair = op->aux == PP_FUSED_FIRST && op->kind == PP_F && i + 1 < count;
        *m = (struct moment){.at = i, .end = i + 1 + is_pair, .count = 1 + is_pair};
        m->op[0] = op;
        m->op[1] = op + is_pair;
        g->moment_count++;
        i += is_pair;
    }
}

/* ---- visits ---------------------------------------------------------------------------------- */

static int add_visit(struct gathers *g, struct visits *visits, int stage, int moment,
                     bool is_backward)
{
    *PP_PUSH(g->arena, visits->list, visits->count, visits->capacity) =
        (struct visit){stage, moment, moment, is_backward};
    return visits->count - 1;
}

/* The open visit that begins with this unit, or -1. */
static int find_open(const struct open *open, int count, int stage, int unit)
{
    for (int i = 0; i < count; i++)
        if (open[i].stage == stage && open[i].unit == unit)
            return open[i].visit;
    return -1;
}

/* Visits whose units need parameters. */
static void find_gathers(struct gathers *g)
{
    struct open open[2];
    int open_count = 0;

    for (int m = 0; m < g->moment_count; m++) {
        const struct moment *moment = &g->moments[m];
        struct open next[2];
        int next_count = 0;
        for (int i = 0; i < moment->count; i++) {
            const struct pp_op *op = moment->op[i];
            const bool is_layered_op = is_layered(g, op->stage), is_forward = op->kind == PP_F;
            if (op->kind == PP_W)
                continue;
            if (next_count > 0 && next[0].stage == op->stage) /* both of a pair: one visit */
                continue;
            const int first = is_forward || !is_layered_op ? FIRST_UNIT : LAST_UNIT,
                      last = is_layered_op && (is_forward || op->kind == PP_R) ? LAST_UNIT
                                                                               : FIRST_UNIT;
            int visit = find_open(open, open_count, op->stage, first);
            if (visit < 0)
                visit = add_visit(g, &g->gathered, op->stage, m, !is_forward);
            g->gathered.list[visit].until = m;
            next[next_count++] = (struct open){op->stage, last, visit};
        }
        if (next_count == 0)
            continue; /* weight gradients leave parameters where they are */
        for (int i = 0; i < next_count; i++)
            open[i] = next[i];
        open_count = next_count;
    }
}

/* Visits whose units have new gradients at the end: from their first B or W to the last. */
static void find_scatters(struct gathers *g)
{
    struct open open[2];
    int open_count = 0;

    for (int m = 0; m < g->moment_count; m++) {
        const struct moment *moment = &g->moments[m];
        struct open next[2];
        int next_count = 0;
        for (int i = 0; i < moment->count; i++) {
            const struct pp_op *op = moment->op[i];
            int visit = is_layered(g, op->stage) ? -1 : find_open(open, open_count, op->stage, 0);
            if (next_count > 0 && next[0].stage == op->stage)
                visit = next[--next_count].visit;
            if (has_grads(op->kind) && visit < 0)
                visit = add_visit(g, &g->scattered, op->stage, m, true);
            if (has_grads(op->kind))
                g->scattered.list[visit].until = m;
            next[next_count++] = (struct open){op->stage, 0, visit};
        }
        for (int i = 0; i < next_count; i++)
            open[i] = next[i];
        open_count = next_count;
    }
}

/* All but the last of each chunk: of `from`, or of every backward. */
static void find_parts(struct gathers *g, const struct visits *from, int stages)
{
    int *last = PP_ARRAY(g->arena, int, stages);

    for (int m = 0; !from && m < g->moment_count; m++)
        for (int i = 0; i < g->moments[m].count; i++)
            if (has_grads(g->moments[m].op[i]->kind))
                add_visit(g, &g->parts, g->moments[m].op[i]->stage, m, true);
    for (int i = 0; from && i < from->count; i++)
        add_visit(g, &g->parts, from->list[i].stage, from->list[i].until, true);
    for (int i = 0; i < g->parts.count; i++)
        last[g->parts.list[i].stage] = i + 1;
    int kept = 0;
    for (int i = 0; i < g->parts.count; i++)
        if (last[g->parts.list[i].stage] != i + 1)
            g->parts.list[kept++] = g->parts.list[i];
    g->parts.count = kept;
}

/* ---- instructions ---------------------------------------------------------------------------- */

static struct pp_op post_of(int purpose, int stage)
{
    return (struct pp_op){.kind = pp_purpose_kinds[purpose],
                          .version = (uint8_t)purpose,
                          .stage = (uint16_t)stage,
                          .mb = -1,
                          .arg = -1,
                          .slot = -1};
}

static void add(struct gathers *g, int before, struct pp_op op)
{
    pp_inserts_add(g->arena, &g->inserts, before, op);
}

static void add_wait(struct gathers *g, int before, struct pp_op post)
{
    post.aux = post.kind;
    post.kind = PP_WAIT;
    add(g, before, post);
}

static struct pp_op gather_of(const struct visit *v)
{
    return post_of(v->is_backward ? PP_FOR_BACKWARD : PP_FOR_FORWARD, v->stage);
}

/* Behind every moment, in this order: DROPs, scatters of its gradients, WAITs for the gathers of
 * the next one, the gather after that. */
static void place_gathers(struct gathers *g)
{
    const struct visits *visits = &g->gathered;
    const bool is_ahead = g->options->gather_buffers > 1;

    for (int k = 0; k < visits->count; k++) {
        const struct visit *v = &visits->list[k];
        const int before = g->moments[v->from].at;
        if (!is_ahead || k == 0)
            add(g, before, gather_of(v));
        add_wait(g, before, gather_of(v));
        if (is_ahead && k + 1 < visits->count)
            add(g, before, gather_of(&visits->list[k + 1]));
    }
}

static void place_drops(struct gathers *g)
{
    for (int k = 0; k < g->gathered.count; k++) {
        const struct visit *v = &g->gathered.list[k];
        const struct pp_op drop = {
            .kind = PP_DROP, .stage = (uint16_t)v->stage, .mb = -1, .arg = -1, .slot = -1};
        add(g, g->moments[v->until].end, drop);
    }
}

/* Visits that overlap in pairs may end in another order than they begin. */
static void sort_by_end(struct visits *visits)
{
    for (int k = 1; k < visits->count; k++) {
        const struct visit v = visits->list[k];
        int at = k;
        for (; at > 0 && visits->list[at - 1].until > v.until; at--)
            visits->list[at] = visits->list[at - 1];
        visits->list[at] = v;
    }
}

/* Posts behind the visits, each waited for before the next one. */
static void place_sums(struct gathers *g, const struct visits *visits, int purpose)
{
    const bool is_beside = g->options->gather_buffers > 1;

    for (int k = 0; k < visits->count; k++) {
        const struct visit *v = &visits->list[k];
        const struct pp_op post = post_of(purpose, v->stage);
        if (is_beside && k > 0)
            add_wait(g, g->moments[v->until].end, post_of(purpose, visits->list[k - 1].stage));
        add(g, g->moments[v->until].end, post);
        if (!is_beside)
            add_wait(g, g->moments[v->until].end, post);
    }
}

/* The last one is waited for at the end of the list. */
static void place_last_wait(struct gathers *g, const struct visits *visits, int purpose, int end)
{
    if (g->options->gather_buffers > 1 && visits->count > 0)
        add_wait(g, end, post_of(purpose, visits->list[visits->count - 1].stage));
}

/* ---- the pass -------------------------------------------------------------------------------- */

static bool has_purpose(const struct pp_orders *lists)
{
    for (int rank = 0; rank < lists->ranks; rank++)
        for (int i = 0; i < lists->count[rank]; i++) {
            const struct pp_op *op = &lists->ops[rank][i];
            if (op->kind == PP_AG || op->kind == PP_DROP ||
                (op->kind == PP_RS && op->version != PP_FOR_STEP))
                return true;
        }
    return false;
}

struct pp_program_state pp_lower_state(struct pp_arena *arena, const struct pp_program_head *head,
                                       const struct pp_lower_options *options,
                                       const struct pp_orders *lists)
{
    struct pp_program_state state = {.has_parts =
                                         options->has_parts && head->mode != PP_MODE_INFER};

    if ((!options->gather_units && !options->has_parts) || has_purpose(lists))
        return head->state;
    if (!options->gather_units)
        return state;
    uint16_t *units = PP_ARRAY(arena, uint16_t, head->stages);
    for (int s = 0; s < head->stages; s++) {
        const int count = options->gather_units[s];
        units[s] = (uint16_t)(count < 1 ? 1 : count > UINT16_MAX ? UINT16_MAX : count);
    }
    state.units = units;
    return state;
}

enum pp_status pp_lower_gathers(struct pp_arena *arena, const struct pp_program_head *head,
                                const struct pp_lower_options *options, struct pp_orders *lists,
                                struct pp_error *err)
{
    const bool is_training = head->mode != PP_MODE_INFER, is_cut = options->gather_units != NULL;
    int longest = 0;

    (void)err;
    if ((!is_cut && !options->has_parts) || has_purpose(lists))
        return PP_OK;
    for (int rank = 0; rank < head->ranks; rank++)
        longest = lists->count[rank] > longest ? lists->count[rank] : longest;
    struct gathers g = {.arena = arena, .options = options};
    g.moments = PP_ARRAY(arena, struct moment, longest + 1);
    for (int rank = 0; rank < head->ranks; rank++) {
        const int end = lists->count[rank];
        g.gathered.count = g.scattered.count = g.parts.count = 0;
        g.inserts = (struct pp_inserts){0};
        find_moments(&g, lists, rank);
        if (is_cut) {
            find_gathers(&g);
            place_drops(&g);
        }
        if (is_cut && is_training) {
            find_scatters(&g);
            sort_by_end(&g.scattered);
            place_sums(&g, &g.scattered, PP_FOR_VISIT);
        }
        if (options->has_parts && is_training) {
            find_parts(&g, is_cut ? &g.scattered : NULL, head->stages);
            place_sums(&g, &g.parts, PP_FOR_PART);
        }
        if (is_cut)
            place_gathers(&g);
        place_last_wait(&g, &g.scattered, PP_FOR_VISIT, end);
        place_last_wait(&g, &g.parts, PP_FOR_PART, end);
        pp_inserts_apply(arena, lists, rank, &g.inserts);
    }
    return PP_OK;
}
