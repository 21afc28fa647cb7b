#include "brute_force.h"

#include <stdlib.h>
#include <string.h>

const char *const judgement_names[] = {"legal", "illegal", "deadlock"};

enum { RANKS = 8, THINGS = 4096, WHY_BYTES = 256, REDUCE_LISTS = 256 };

/* Something that lies on a rank: the activation 'A' a stage put out, its gradient 'G', 'S' the
 * saved activation, 'K' keys and values of a split, 'k' their gradient, 'D' a weight gradient, 'U'
 * updated weights, 'R' recomputed, 'Y' a summed gradient (of a bucket), 'T' a tied one, 'N' new
 * weights gathered.
 */
struct thing {
    char what;
    int rank, stage, granule, split;
};

struct post { /* a SEND, RECV or collective that was issued */
    struct pp_op op;
    int rank;
    bool is_over, is_waited;
};

enum { KEPT = PP_OP_KINDS }; /* class of an F that is recomputed; others by their kind, R like F */
struct buffer {
    int rank, class, slot, users; /* users left before it is free */
    struct pp_op owner;
};

enum { STAGES = 64 };
struct shards { /* a stage on a rank */
    bool is_present, is_dirty;
    int layer;     /* of several units the one that is there; -1: whichever is needed */
    bool is_whole; /* a gradient of a backward or a visit is in no shard that is kept */
};

struct machine {
    const struct pp_program_head *head;
    const struct pp_orders *lists;
    char *why;
    int at[RANKS], bars[RANKS];
    struct thing things[THINGS];
    struct post posts[THINGS];
    struct buffer buffers[THINGS];
    int thing_count, post_count, buffer_count;
    struct shards shards[RANKS][STAGES];
};

/* ---- small questions ------------------------------------------------------------------------- */

static bool is_lowered(const struct machine *m)
{
    return m->head->level == PP_LEVEL_LOWERED;
}

static int pipe_of(const struct machine *m, int granule)
{
    return m->head->pipe_of ? m->head->pipe_of[granule] : 0;
}

static int home(const struct machine *m, int pipe, int stage)
{
    return m->head->rank_of[pipe * m->head->stages + stage];
}

static int complain(struct machine *m, const struct pp_op *op, int rank, const char *what)
{
    char text[PP_OP_TEXT_BYTES];

    pp_op_print(op, (struct pp_op_style){.splits = true, .pipelines = true, .slots = true}, text);
    snprintf(m->why, WHY_BYTES, "rank %d, %s: %s", rank, text, what);
    return -1;
}

/* In a compute-only program things are seen by everybody, else on their rank. */
static bool has(const struct machine *m, char what, int rank, int stage, int granule, int split)
{
    for (int k = 0; k < m->thing_count; k++) {
        const struct thing *t = &m->things[k];
        if (t->what == what && t->stage == stage && t->granule == granule && t->split == split &&
            (!is_lowered(m) || t->rank == rank))
            return true;
    }
    return false;
}

static void put(struct machine *m, char what, int rank, int stage, int granule, int split)
{
    m->things[m->thing_count++] = (struct thing){what, rank, stage, granule, split};
}

static bool is_listed(const struct machine *m, int kind, int stage, int granule, int split)
{
    for (int r = 0; r < m->lists->ranks; r++)
        for (int i = 0; i < m->lists->count[r]; i++) {
            const struct pp_op *op = &m->lists->ops[r][i];
            if (op->kind == kind && op->stage == stage && op->split == split && op->mb <= granule &&
                granule < op->mb + op->granules)
                return true;
        }
    return false;
}

/* ---- completeness ---------------------------------------------------------------------------- */

static int count_units(const struct machine *m, int kind, int stage, int granule, int split)
{
    int count = 0;

    for (int r = 0; r < m->lists->ranks; r++)
        for (int i = 0; i < m->lists->count[r]; i++) {
            const struct pp_op *op = &m->lists->ops[r][i];
            for (int g = 0; g < op->granules; g++)
                count += op->kind == kind && op->stage == stage && op->split == split &&
                         op->mb + g == granule;
        }
    return count;
}

/* What a collective is for, 0: the sum or the gather of a step. */
static int purpose_of(const struct pp_op *op)
{
    return pp_op_has_buckets(op->kind == PP_WAIT ? op->aux : op->kind) ? op->version : 0;
}

static int count_chunk(const struct machine *m, int kind, int pipe, int stage)
{
    int count = 0;

    for (int r = 0; r < m->lists->ranks; r++)
        for (int i = 0; i < m->lists->count[r]; i++) {
            const struct pp_op *op = &m->lists->ops[r][i];
            count += op->kind == kind && op->pipe == pipe && op->stage == stage && op->split == 0 &&
                     !(kind == PP_AR && op->aux == PP_TIED) && purpose_of(op) == 0;
        }
    return count;
}

/* Sums of a stage on the rank that holds it for this pipeline, whatever pipeline they are named by:
 * a rank adds up its copies of a stage. */
static int count_sums(const struct machine *m, int pipe, int stage)
{
    int count = 0;

    for (int p = 0; p < m->head->pipelines; p++)
        if (home(m, p, stage) == home(m, pipe, stage))
            count += count_chunk(m, PP_AR, p, stage) + count_chunk(m, PP_RS, p, stage);
    return count;
}

/* A rank posts a collective whole, or all its buckets one after another, each once. */
static bool is_cut_well(const struct machine *m, int rank, int kind, int purpose, int stage)
{
    int next = 0, buckets = 0;

    for (int i = 0; i < m->lists->count[rank]; i++) {
        const struct pp_op *op = &m->lists->ops[rank][i];
        if (op->kind != kind || op->stage != stage || (kind == PP_AR && op->aux == PP_TIED) ||
            purpose_of(op) != purpose)
            continue;
        if (op->split != next || (next > 0 && op->granules != buckets))
            return false;
        buckets = op->granules;
        next = next + 1 < buckets ? next + 1 : 0;
    }
    return next == 0;
}

static bool are_cut_well(const struct machine *m)
{
    static const int kinds[] = {PP_AR, PP_RS, PP_AG};

    for (int rank = 0; rank < m->lists->ranks; rank++)
        for (int stage = 0; stage < m->head->stages; stage++)
            for (int k = 0; k < 3; k++)
                for (int purpose = 0; purpose < PP_PURPOSES; purpose++)
                    if (!is_cut_well(m, rank, kinds[k], purpose, stage))
                        return false;
    return true;
}

static bool is_complete(const struct machine *m)
{
    const struct pp_program_head *h = m->head;
    int updates = 0, sums = 0;

    if (!are_cut_well(m))
        return false;
    for (int s = 0; s < h->stages; s++)
        for (int g = 0; g < h->micro_batches * h->granules; g++)
            for (int q = 0; q < h->splits; q++) {
                const int f = count_units(m, PP_F, s, g, q), b = count_units(m, PP_B, s, g, q);
                const int i = count_units(m, PP_I, s, g, q), w = count_units(m, PP_W, s, g, q);
                const bool is_whole = b == 1 && i == 0 && w == 0;
                const bool is_cut = b == 0 && i == 1 && w == 1;
                if (f != 1 || (h->mode == PP_MODE_TRAIN && !is_whole && !is_cut) ||
                    (h->mode == PP_MODE_INFER && b + i + w > 0))
                    return false;
                if (count_units(m, PP_R, s, g, q) > 1)
                    return false;
            }
    for (int p = 0; p < h->pipelines; p++)
        for (int s = 0; s < h->stages; s++) {
            updates += count_chunk(m, PP_U, p, s);
            sums += count_chunk(m, PP_AR, p, s) + count_chunk(m, PP_RS, p, s);
        }
    for (int p = 0; p < h->pipelines; p++)
        for (int s = 0; s < h->stages; s++)
            if ((updates && count_chunk(m, PP_U, p, s) != 1) || (sums && count_sums(m, p, s) != 1))
                return false;
    return true;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static int take(struct machine *m, int rank, int class, const struct pp_op *op)
{
    if (op->slot < 0)
        return 0;
    for (int k = 0; k < m->buffer_count; k++) {
        const struct buffer *b = &m->buffers[k];
        if (b->rank == rank && b->class == class && b->slot == op->slot && b->users > 0)
            return complain(m, op, rank, "its buffer is still in use");
    }
    m->buffers[m->buffer_count++] = (struct buffer){rank, class, op->slot, op->granules, *op};
    return 0;
}

/* One granule of the buffer's content is not needed any more. */
static void leave(struct machine *m, int rank, int class, int stage, int granule, int split)
{
    for (int k = 0; k < m->buffer_count; k++) {
        struct buffer *b = &m->buffers[k];
        if (b->rank == rank && b->class == class && b->owner.stage == stage &&
            b->owner.split == split && b->owner.mb <= granule &&
            granule < b->owner.mb + b->owner.granules)
            b->users--;
    }
}

/* ---- compute --------------------------------------------------------------------------------- */

static bool has_inputs(const struct machine *m, int rank, const struct pp_op *op, int g)
{
    const int s = op->stage, q = op->split;

    switch (op->kind) {
    case PP_F:
        return (s == 0 || has(m, 'A', rank, s - 1, g, q)) &&
               (q == 0 || has(m, 'K', rank, s, g, q - 1));
    case PP_R:
        return has(m, 'S', rank, s, g, q);
    case PP_W:
        return has(m, 'G', rank, s, g, q) && has(m, 'S', rank, s, g, q);
    default:
        return has(m, 'S', rank, s, g, q) &&
               (s == m->head->stages - 1 || has(m, 'G', rank, s + 1, g, q)) &&
               (q == m->head->splits - 1 || has(m, 'k', rank, s, g, q + 1)) &&
               (has(m, 'R', rank, s, g, q) || !is_listed(m, PP_R, s, g, q));
    }
}

static void put_outputs(struct machine *m, int rank, const struct pp_op *op, int g)
{
    const int s = op->stage, q = op->split, kind = op->kind;

    if (kind == PP_F) {
        put(m, 'A', rank, s, g, q), put(m, 'S', rank, s, g, q), put(m, 'K', rank, s, g, q);
        leave(m, rank, PP_RECV_F, s, g, q);
    }
    if (kind == PP_R)
        put(m, 'R', rank, s, g, q);
    if (kind == PP_B || kind == PP_I) {
        put(m, 'G', rank, s, g, q), put(m, 'k', rank, s, g, q);
        leave(m, rank, PP_RECV_B, s, g, q);
    }
    if (kind == PP_B || kind == PP_W) {
        put(m, 'D', rank, s, g, q);
        leave(m, rank, PP_F, s, g, q), leave(m, rank, KEPT, s, g, q);
    }
}

/* The SEND of an op's output takes its buffer when the op starts to write into it. */
static int take_output(struct machine *m, int rank, const struct pp_op *op, int granule)
{
    const int kind = op->kind == PP_F ? PP_SEND_F : PP_SEND_B;

    if (op->kind == PP_W || op->kind == PP_R)
        return 0;
    for (int i = 0; i < m->lists->count[rank]; i++) {
        const struct pp_op *send = &m->lists->ops[rank][i];
        bool is_taken = false;
        if (send->kind != kind || send->stage != op->stage || send->split != op->split ||
            granule < send->mb || granule >= send->mb + send->granules)
            continue;
        for (int k = 0; k < m->buffer_count; k++)
            is_taken |= m->buffers[k].rank == rank && m->buffers[k].class == kind &&
                        m->buffers[k].owner.stage == send->stage &&
                        m->buffers[k].owner.mb == send->mb &&
                        m->buffers[k].owner.split == send->split;
        if (!is_taken && take(m, rank, kind, send) < 0)
            return -1;
    }
    return 0;
}

/* What the backward needs of an op: F, where all of it is recomputed, only keeps what R reads. */
static int saved_class(const struct machine *m, const struct pp_op *op)
{
    for (int g = 0; g < op->granules; g++)
        if (op->kind == PP_R || !is_listed(m, PP_R, op->stage, op->mb + g, op->split))
            return PP_F;
    return KEPT;
}

/* 1: ran, 0: must wait, -1: nonsense. Both halves of a pair start before either ends. */
static int compute(struct machine *m, int rank, const struct pp_op *op, int count)
{
    for (int k = 0; k < count; k++)
        for (int g = 0; g < op[k].granules; g++)
            if (!has_inputs(m, rank, &op[k], op[k].mb + g))
                return is_lowered(m) ? complain(m, &op[k], rank, "its input is not there") : 0;
    for (int k = 0; k < count; k++) {
        if ((op[k].kind == PP_F || op[k].kind == PP_R) && is_lowered(m) &&
            m->head->mode == PP_MODE_TRAIN && take(m, rank, saved_class(m, &op[k]), &op[k]) < 0)
            return -1;
        for (int g = 0; g < op[k].granules; g++) {
            if (take_output(m, rank, &op[k], op[k].mb + g) < 0)
                return -1;
            put_outputs(m, rank, &op[k], op[k].mb + g);
        }
    }
    return 1;
}

/* ---- posts ----------------------------------------------------------------------------------- */

static bool is_same_post(const struct pp_op *a, const struct pp_op *b)
{
    return a->stage == b->stage && a->pipe == b->pipe && a->mb == b->mb && a->split == b->split &&
           a->granules == b->granules && purpose_of(a) == purpose_of(b);
}

static int partner_stage(const struct pp_op *op)
{
    return op->kind == PP_SEND_F || op->kind == PP_RECV_B ? op->stage + 1 : op->stage - 1;
}

static int send(struct machine *m, int rank, const struct pp_op *op)
{
    for (int g = 0; g < op->granules; g++)
        if (!has(m, op->kind == PP_SEND_F ? 'A' : 'G', rank, op->stage, op->mb + g, op->split))
            return complain(m, op, rank, "sends what is not there");
    return 1;
}

static bool is_in_channel(const struct machine *m, const struct post *p, int source, int dest,
                          int pipe, int kind)
{
    const int other = partner_stage(&p->op);

    if (p->op.kind != kind || p->op.pipe != pipe)
        return false;
    const int peer = home(m, pipe, other);
    return pp_op_is_send(kind) ? p->rank == source && peer == dest
                               : p->rank == dest && peer == source;
}

static struct post *first_open(struct machine *m, int source, int dest, int pipe, int kind)
{
    for (int k = 0; k < m->post_count; k++)
        if (!m->posts[k].is_over && is_in_channel(m, &m->posts[k], source, dest, pipe, kind))
            return &m->posts[k];
    return NULL;
}

/* Transfer what can be transferred: the oldest SEND with the oldest RECV. */
static int move_messages(struct machine *m)
{
    int moved = 0;

    for (int k = 0; k < m->post_count; k++) {
        const struct pp_op op = m->posts[k].op;
        if (m->posts[k].is_over || !pp_op_is_send(op.kind))
            continue;
        const int dest = home(m, op.pipe, partner_stage(&op)), source = m->posts[k].rank;
        struct post *s = first_open(m, source, dest, op.pipe, op.kind);
        struct post *r =
            first_open(m, source, dest, op.pipe, op.kind == PP_SEND_F ? PP_RECV_F : PP_RECV_B);
        if (!r)
            continue;
        struct pp_op expected = s->op;
        expected.stage = (uint16_t)partner_stage(&s->op);
        if (!is_same_post(&expected, &r->op))
            return complain(m, &r->op, dest, "another message arrives");
        s->is_over = r->is_over = true;
        moved = 1;
    }
    return moved;
}

static bool is_tied(const struct pp_op *op)
{
    return op->kind == PP_AR && op->aux == PP_TIED;
}

static bool is_member(const struct machine *m, int rank, const struct pp_op *op)
{
    for (int p = 0; p < m->head->pipelines; p++)
        if (home(m, p, op->stage) == rank ||
            (is_tied(op) && home(m, p, m->head->stages - 1) == rank))
            return true;
    return false;
}

/* The collective a rank's reduce stream works on: the first posted one that is not over. */
static struct post *reducing(struct machine *m, int rank)
{
    for (int k = 0; k < m->post_count; k++)
        if (m->posts[k].rank == rank && !m->posts[k].is_over &&
            pp_op_is_collective(m->posts[k].op.kind))
            return &m->posts[k];
    return NULL;
}

static int move_collectives(struct machine *m)
{
    int moved = 0;

    for (int rank = 0; rank < m->lists->ranks; rank++) {
        const struct post *mine = reducing(m, rank);
        bool is_met = mine != NULL;
        for (int r = 0; is_met && r < m->lists->ranks; r++) {
            const struct post *theirs = reducing(m, r);
            is_met =
                !is_member(m, r, &mine->op) ||
                (theirs && theirs->op.kind == mine->op.kind && theirs->op.stage == mine->op.stage &&
                 theirs->op.split == mine->op.split && theirs->op.granules == mine->op.granules &&
                 is_tied(&theirs->op) == is_tied(&mine->op) &&
                 purpose_of(&theirs->op) == purpose_of(&mine->op));
        }
        if (!is_met)
            continue;
        const struct pp_op op = mine->op;
        for (int r = 0; r < m->lists->ranks; r++)
            if (is_member(m, r, &op))
                reducing(m, r)->is_over = true;
        moved = 1;
    }
    return moved;
}

/* All gradients of a chunk are there. */
static bool has_gradient(const struct machine *m, int rank, int pipe, int stage)
{
    for (int g = 0; g < m->head->micro_batches * m->head->granules; g++)
        for (int q = 0; q < m->head->splits; q++)
            if (pipe_of(m, g) == pipe && !has(m, 'D', rank, stage, g, q))
                return false;
    return true;
}

static bool has_tied_gradients(const struct machine *m, int rank)
{
    for (int p = 0; p < m->head->pipelines; p++)
        if ((home(m, p, 0) == rank && !has_gradient(m, rank, p, 0)) ||
            (home(m, p, m->head->stages - 1) == rank &&
             !has_gradient(m, rank, p, m->head->stages - 1)))
            return false;
    return true;
}

static bool is_updated(const struct machine *m, int rank, int pipe, int stage)
{
    return count_chunk(m, PP_U, pipe, stage) == 0 || has(m, 'U', rank, stage, pipe, 0);
}

static bool is_pair(const struct machine *m, int rank, int i)
{
    const struct pp_op *op = &m->lists->ops[rank][i];

    return op->kind == PP_F && op->aux == PP_FUSED_FIRST && i + 1 < m->lists->count[rank] &&
           op[1].kind == PP_B && op[1].aux == PP_FUSED_SECOND;
}

/* ---- sharded state --------------------------------------------------------------------------- */

static bool is_gather(const struct pp_op *op)
{
    return purpose_of(op) == PP_FOR_FORWARD || purpose_of(op) == PP_FOR_BACKWARD;
}

static bool is_cut(const struct machine *m)
{
    return m->head->state.units != NULL;
}

/* Posts of a rank for a stage that no WAIT has met: of gathers (purpose < 0) or of a purpose. */
static int unwaited(const struct machine *m, int rank, int stage, int purpose)
{
    int count = 0;

    for (int k = 0; k < m->post_count; k++) {
        const struct post *p = &m->posts[k];
        count += p->rank == rank && p->op.stage == stage && !p->is_waited &&
                 (purpose < 0 ? is_gather(&p->op) : purpose_of(&p->op) == purpose);
    }
    return count;
}

static bool has_posted(const struct machine *m, int rank, int kind, int purpose, int stage)
{
    for (int k = 0; k < m->post_count; k++)
        if (m->posts[k].rank == rank && m->posts[k].op.kind == kind && !is_tied(&m->posts[k].op) &&
            m->posts[k].op.stage == stage && purpose_of(&m->posts[k].op) == purpose)
            return true;
    return false;
}

static bool is_last_bucket(const struct pp_op *op)
{
    return op->granules == 0 || op->split == op->granules - 1;
}

static bool uses_params(const struct pp_op *op)
{
    return op->kind == PP_F || op->kind == PP_B || op->kind == PP_I || op->kind == PP_R;
}

/* Chunks that the next use of parameters needs at once. */
static int next_chunks(const struct machine *m, int rank)
{
    const struct pp_op *ops = m->lists->ops[rank];

    for (int i = m->at[rank]; i < m->lists->count[rank]; i++)
        if (uses_params(&ops[i]))
            return 1 + (is_pair(m, rank, i) && ops[i].stage != ops[i + 1].stage);
    return 1;
}

/* One more gathered chunk has a buffer: one more than stated where two chunks are used at once. */
static bool has_buffer(const struct machine *m, int rank)
{
    int held = 0;

    for (int stage = 0; stage < m->head->stages; stage++)
        held += m->shards[rank][stage].is_present + unwaited(m, rank, stage, -1);
    return m->head->state.buffers == 0 ||
           held + 1 <= m->head->state.buffers + next_chunks(m, rank) - 1;
}

/* A sum before the scatter of its last gradients: only of what a backward has scattered inside. */
static bool is_too_early(const struct machine *m, int rank, const struct pp_op *op)
{
    return m->shards[rank][op->stage].is_dirty &&
           (is_last_bucket(op) || m->head->state.units[op->stage] == 1);
}

/* This bucket or a later one of the sum that a scatter leaves is posted. */
static bool has_rest(const struct machine *m, int rank, const struct pp_op *op)
{
    for (int k = 0; k < m->post_count; k++) {
        const struct pp_op *post = &m->posts[k].op;
        if (m->posts[k].rank == rank && post->kind == PP_AR && post->stage == op->stage &&
            purpose_of(post) == PP_FOR_REST && post->split >= op->split)
            return true;
    }
    return false;
}

/* A collective with a purpose is posted. */
static int post_of_shards(struct machine *m, int rank, const struct pp_op *op)
{
    struct shards *s = &m->shards[rank][op->stage];
    const int purpose = purpose_of(op);

    if ((is_gather(op) || purpose == PP_FOR_VISIT) && !is_cut(m))
        return complain(m, op, rank, "parameters are whole");
    if (is_gather(op))
        return unwaited(m, rank, op->stage, -1) || !has_buffer(m, rank) ||
                       has(m, 'U', rank, op->stage, op->pipe, 0)
                   ? complain(m, op, rank, "gathered twice or too late, or there is no buffer")
                   : 1;
    if (purpose == PP_FOR_REST)
        return is_too_early(m, rank, op) || has_rest(m, rank, op) ||
                       !has_posted(m, rank, PP_RS, PP_FOR_STEP, op->stage)
                   ? complain(m, op, rank, "sums what is not scattered")
                   : 1;
    if (unwaited(m, rank, op->stage, purpose) || (purpose == PP_FOR_VISIT && !s->is_dirty))
        return complain(m, op, rank, "scatters nothing, or again");
    if (purpose == PP_FOR_PART) {
        if (!m->head->state.has_parts || !s->is_whole)
            return complain(m, op, rank, "scatters nothing");
        s->is_whole = false;
        return 1;
    }
    if (m->head->state.has_parts && s->is_whole)
        return complain(m, op, rank, "there is no room for another gradient");
    s->is_dirty = false;
    s->is_whole = true;
    return 1;
}

static int use_shards(struct machine *m, int rank, const struct pp_op *op, int count)
{
    for (int k = 0; k < count; k++) {
        const struct shards *s = &m->shards[rank][op[k].stage];
        if (is_cut(m) && op[k].kind != PP_W && !s->is_present)
            return complain(m, &op[k], rank, "parameters are not gathered");
    }
    for (int k = 0; k < count && is_cut(m); k++) { /* through all its layers, whatever its units */
        struct shards *s = &m->shards[rank][op[k].stage];
        const int units = m->head->state.units[op[k].stage];
        if (op[k].kind == PP_W || units == 1 || (k == 1 && op[0].stage == op[1].stage))
            continue;
        if (s->layer >= 0 && s->layer != (op[k].kind == PP_F ? 0 : units - 1))
            return complain(m, &op[k], rank, "another layer is there");
        if (op[k].kind != PP_R) /* each layer again right before its backward */
            s->layer = op[k].kind == PP_F ? units - 1 : 0;
        else
            s->layer = units - 1;
    }
    for (int k = 0; k < count; k++) {
        struct shards *s = &m->shards[rank][op[k].stage];
        if (op[k].kind != PP_B && op[k].kind != PP_W)
            continue;
        if (m->head->state.has_parts && !is_cut(m) && s->is_whole)
            return complain(m, &op[k], rank, "there is no room for another gradient");
        s->is_dirty |= is_cut(m);
        s->is_whole |= !is_cut(m);
    }
    return 1;
}

static int drop_shards(struct machine *m, int rank, const struct pp_op *op)
{
    struct shards *s = &m->shards[rank][op->stage];

    if (!s->is_present)
        return complain(m, op, rank, "nothing to drop");
    s->is_present = false;
    return 1;
}

static bool are_shards_left(const struct machine *m)
{
    for (int r = 0; r < m->lists->ranks; r++)
        for (int stage = 0; stage < m->head->stages; stage++)
            if (m->shards[r][stage].is_present || m->shards[r][stage].is_dirty ||
                unwaited(m, r, stage, -1))
                return true;
    return false;
}

static int collective(struct machine *m, int rank, const struct pp_op *op)
{
    if (purpose_of(op))
        return post_of_shards(m, rank, op);
    if ((op->kind == PP_AR || op->kind == PP_RS) && !is_tied(op)) {
        struct shards *s = &m->shards[rank][op->stage];
        if (is_too_early(m, rank, op))
            return complain(m, op, rank, "gradients are not scattered");
        s->is_whole &= !is_last_bucket(op);
    }
    if (op->kind == PP_AG && op->split == 0 && is_updated(m, rank, op->pipe, op->stage))
        put(m, 'N', rank, op->stage, op->pipe, 0);
    if (is_tied(op) && !has_tied_gradients(m, rank))
        return complain(m, op, rank, "a gradient is not complete");
    for (int p = 0; p < m->head->pipelines && !is_tied(op); p++)
        if ((op->kind == PP_AR || op->kind == PP_RS) &&
            home(m, p, op->stage) == home(m, op->pipe, op->stage) &&
            !has_gradient(m, rank, p, op->stage))
            return complain(m, op, rank, "the gradient is not complete");
    if (is_tied(op))
        for (int k = 0; k < m->post_count; k++)
            if (m->posts[k].rank == rank && is_tied(&m->posts[k].op))
                return complain(m, op, rank, "twice");
    return 1;
}

static bool posts_tied(const struct machine *m, int rank)
{
    for (int i = 0; i < m->lists->count[rank]; i++)
        if (is_tied(&m->lists->ops[rank][i]))
            return true;
    return false;
}

static bool is_bucket_summed(const struct machine *m, int rank, int stage, int bucket)
{
    for (int p = 0; p < m->head->pipelines; p++)
        if (home(m, p, stage) == rank && has(m, 'Y', rank, stage, p, bucket))
            return true;
    return false;
}

static bool is_summed(const struct machine *m, int rank, const struct pp_op *op)
{
    for (int i = 0; i < m->lists->count[rank]; i++) {
        const struct pp_op *sum = &m->lists->ops[rank][i];
        if ((sum->kind == PP_AR || sum->kind == PP_RS) && !is_tied(sum) &&
            sum->stage == op->stage && purpose_of(sum) == 0 &&
            !is_bucket_summed(m, rank, op->stage, sum->split))
            return false;
    }
    return true;
}

static int update(struct machine *m, int rank, const struct pp_op *op)
{
    const bool is_edge = op->stage == 0 || op->stage == m->head->stages - 1;

    if (!has_gradient(m, rank, op->pipe, op->stage))
        return complain(m, op, rank, "the gradient is not complete");
    if (m->shards[rank][op->stage].is_dirty ||
        (m->head->state.has_parts && m->shards[rank][op->stage].is_whole) ||
        unwaited(m, rank, op->stage, PP_FOR_VISIT) || unwaited(m, rank, op->stage, PP_FOR_PART) ||
        unwaited(m, rank, op->stage, PP_FOR_REST))
        return complain(m, op, rank, "the shard is not complete");
    if (count_sums(m, op->pipe, op->stage) > 0 && !is_summed(m, rank, op))
        return complain(m, op, rank, "the gradient is not summed");
    if (is_edge && posts_tied(m, rank) && !has(m, 'T', rank, 0, 0, 0))
        return complain(m, op, rank, "the tied gradient is not summed");
    put(m, 'U', rank, op->stage, op->pipe, 0);
    return 1;
}

static int wait(struct machine *m, int rank, const struct pp_op *op)
{
    struct post *p = NULL;

    for (int k = 0; k < m->post_count && !p; k++) {
        struct post *q = &m->posts[k];
        if (q->rank == rank && q->op.kind == op->aux && !q->is_waited && is_same_post(&q->op, op) &&
            is_tied(&q->op) == (op->aux == PP_AR && op->peer != 0))
            p = q;
    }
    if (!p)
        return complain(m, op, rank, "nothing to wait for");
    if (!p->is_over)
        return 0;
    p->is_waited = true;
    if (purpose_of(op)) {
        if (is_gather(op) && m->shards[rank][op->stage].is_present)
            return complain(m, op, rank, "the parameters are there");
        m->shards[rank][op->stage].is_present |= is_gather(op);
        if (is_gather(op))
            m->shards[rank][op->stage].layer = -1;
        return 1;
    }
    for (int g = 0; g < op->granules; g++) {
        if (op->aux == PP_RECV_F)
            put(m, 'A', rank, op->stage - 1, op->mb + g, op->split);
        if (op->aux == PP_RECV_B)
            put(m, 'G', rank, op->stage + 1, op->mb + g, op->split);
        if (pp_op_is_send(op->aux))
            leave(m, rank, op->aux, op->stage, op->mb + g, op->split);
    }
    if (op->aux == PP_AR || op->aux == PP_RS)
        put(m, is_tied(&p->op) ? 'T' : 'Y', rank, op->stage, is_tied(&p->op) ? 0 : op->pipe,
            p->op.split);
    return 1;
}

/* ---- the machine ----------------------------------------------------------------------------- */

static int check_place(struct machine *m, int rank, const struct pp_op *op)
{
    const struct pp_program_head *h = m->head;
    const int kind = op->kind == PP_WAIT ? op->aux : op->kind;

    if (op->kind == PP_BAR)
        return 1;
    if (op->stage >= h->stages || op->pipe >= h->pipelines)
        return complain(m, op, rank, "no such stage");
    if (pp_op_kinds[kind].has_mb) {
        if (op->mb < 0 || op->mb + op->granules > h->micro_batches * h->granules ||
            op->split >= h->splits)
            return complain(m, op, rank, "no such micro-batch");
        for (int g = 0; g < op->granules; g++)
            if (pipe_of(m, op->mb + g) != op->pipe)
                return complain(m, op, rank, "another pipeline's micro-batch");
    }
    if (op->kind == PP_WAIT || is_tied(op))
        return is_tied(op) && !is_member(m, rank, op) ? complain(m, op, rank, "no member") : 1;
    if (home(m, op->pipe, op->stage) != rank)
        return complain(m, op, rank, "not on this rank");
    if (pp_op_kinds[kind].stream == PP_STREAM_CHANNEL) {
        const int other = partner_stage(op);
        if (other < 0 || other >= h->stages || home(m, op->pipe, other) == rank)
            return complain(m, op, rank, "no partner");
    }
    return is_lowered(m) || pp_op_is_compute(op->kind) ? 1 : complain(m, op, rank, "no compute op");
}

static int step(struct machine *m, int rank)
{
    const int i = m->at[rank];
    const struct pp_op *op = &m->lists->ops[rank][i];
    int result = 1, count = 1;

    if (op->kind == PP_BAR) {
        for (int r = 0; r < m->lists->ranks; r++) {
            const bool is_here =
                m->at[r] < m->lists->count[r] && m->lists->ops[r][m->at[r]].kind == PP_BAR;
            if (m->bars[r] < m->bars[rank] || (m->bars[r] == m->bars[rank] && !is_here))
                return 0;
        }
        m->bars[rank]++;
    } else if (op->kind == PP_U) {
        result = update(m, rank, op);
    } else if (op->kind == PP_DROP) {
        result = drop_shards(m, rank, op);
    } else if (op->kind == PP_WAIT) {
        result = wait(m, rank, op);
    } else if (pp_op_is_compute(op->kind)) {
        count = is_pair(m, rank, i) ? 2 : 1;
        if (op->aux != 0 && (count == 1 || op->aux != PP_FUSED_FIRST))
            return complain(m, op, rank, "half a pair");
        result = compute(m, rank, op, count);
        if (result > 0)
            result = use_shards(m, rank, op, count);
    } else if (pp_op_is_collective(op->kind)) {
        result = collective(m, rank, op);
    } else if (pp_op_is_send(op->kind)) {
        result = send(m, rank, op);
    } else if (pp_op_is_recv(op->kind)) {
        result = take(m, rank, op->kind, op) < 0 ? -1 : 1;
    }
    const enum pp_stream stream = pp_op_kinds[op->kind].stream;
    if (result == 1 && (stream == PP_STREAM_CHANNEL || stream == PP_STREAM_REDUCE))
        m->posts[m->post_count++] = (struct post){.op = *op, .rank = rank};
    if (result == 1)
        m->at[rank] += count;
    return result;
}

static enum judgement run(struct machine *m)
{
    int total = 0, done = 0;

    for (bool is_moving = true; is_moving;) {
        is_moving = false;
        for (int rank = 0; rank < m->lists->ranks; rank++) {
            int result = m->at[rank] < m->lists->count[rank] ? step(m, rank) : 0;
            const int messages = move_messages(m);
            if (result < 0 || messages < 0)
                return JUDGED_ILLEGAL;
            is_moving |= result > 0 || messages > 0 || move_collectives(m) > 0;
        }
    }
    for (int rank = 0; rank < m->lists->ranks; rank++)
        done += m->at[rank], total += m->lists->count[rank];
    if (done < total) {
        snprintf(m->why, WHY_BYTES, "stuck after %d of %d", done, total);
        return JUDGED_DEADLOCK;
    }
    if (are_shards_left(m)) {
        snprintf(m->why, WHY_BYTES, "shards are left");
        return JUDGED_ILLEGAL;
    }
    for (int p = 0; p < m->head->pipelines; p++)
        for (int s = 0; s < m->head->stages; s++)
            if (count_chunk(m, PP_AG, p, s) && count_chunk(m, PP_U, p, s) &&
                !count_chunk(m, PP_DROP, p, s) && !has(m, 'N', home(m, p, s), s, p, 0)) {
                snprintf(m->why, WHY_BYTES, "stage %d: only old weights are gathered", s);
                return JUDGED_ILLEGAL;
            }
    for (int k = 0; k < m->post_count; k++)
        if (!m->posts[k].is_over) {
            complain(m, &m->posts[k].op, m->posts[k].rank, "never met a partner");
            return JUDGED_ILLEGAL;
        }
    return JUDGED_LEGAL;
}

enum judgement judge(const struct pp_program_head *head, const struct pp_orders *lists, char *why)
{
    struct machine *m = calloc(1, sizeof(*m));
    enum judgement verdict = JUDGED_ILLEGAL;
    bool is_placed = true;

    *m = (struct machine){.head = head, .lists = lists, .why = why};
    snprintf(why, WHY_BYTES, "incomplete");
    for (int rank = 0; rank < lists->ranks && is_placed; rank++)
        for (int i = 0; i < lists->count[rank] && is_placed; i++)
            is_placed = check_place(m, rank, &lists->ops[rank][i]) > 0;
    if (is_placed && is_complete(m))
        verdict = run(m);
    free(m);
    return verdict;
}
