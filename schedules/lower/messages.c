/* Messages that a compute order needs: one producer, a range of consumers each. */
#include "schedules/lower/messages.h"

#include "core/map64.h"

#include <string.h>

enum { TEXT_BYTES = 48 };

static const char *cell(const struct pp_op *op, char text[TEXT_BYTES])
{
    snprintf(text, TEXT_BYTES, "%d%s%d", op->stage, pp_op_kinds[op->kind].text, op->mb);
    return text;
}

/* Returns 0 if the output is an activation, 1 for a gradient, -1 for none. */
static int direction_of(int kind)
{
    return kind == PP_F ? 0 : kind == PP_B || kind == PP_I ? 1 : -1;
}

static size_t row_of(const struct pp_messages *m, int stage, int granule, int split)
{
    return (size_t)stage * m->cells + (size_t)granule * (size_t)m->head->splits + (size_t)split;
}

static int32_t *channel_from(const struct pp_messages *m, int direction, int pipe, int stage)
{
    return &m->channel_of[(direction * m->head->pipelines + pipe) * m->head->stages + stage];
}

static int32_t output_channel(const struct pp_messages *m, const struct pp_op *op)
{
    const int direction = direction_of(op->kind);

    return direction < 0 ? -1 : *channel_from(m, direction, op->pipe, op->stage);
}

int32_t pp_message_input(const struct pp_messages *m, const struct pp_op *op, int granule)
{
    const int direction = direction_of(op->kind);
    const int source = op->stage + (direction == 0 ? -1 : 1);

    if (direction < 0 || source < 0 || source >= m->head->stages ||
        *channel_from(m, direction, op->pipe, source) < 0)
        return -1;
    return m->of[direction][row_of(m, source, granule, op->split)];
}

int32_t pp_message_output(const struct pp_messages *m, const struct pp_op *op)
{
    if (output_channel(m, op) < 0)
        return -1;
    return m->of[direction_of(op->kind)][row_of(m, op->stage, op->mb, op->split)];
}

static bool is_unit(const struct pp_op *op)
{
    const int kind = op->kind == PP_WAIT ? op->aux : op->kind;

    return !pp_op_is_send(kind) && !pp_op_is_recv(kind);
}

static void find_units(struct pp_arena *arena, struct pp_messages *m)
{
    const struct pp_orders *lists = m->lists;

    m->units = PP_ARRAY(arena, struct pp_unit_list, m->head->ranks);
    for (int rank = 0; rank < m->head->ranks; rank++) {
        struct pp_unit_list *units = &m->units[rank];
        const struct pp_op *ops = lists->ops[rank];

        units->first =
            pp_arena_alloc_raw(arena, sizeof(int32_t) * (size_t)(lists->count[rank] + 1));
        for (int i = 0; i < lists->count[rank]; i++) {
            if (!is_unit(&ops[i]))
                continue;
            units->first[units->count++] = i;
            if (pp_unit_length(&ops[i]) == 2 && i + 1 < lists->count[rank])
                i++;
        }
    }
}

/* Checks one op against the dimensions of the head. */
static enum pp_status check_op(const struct pp_messages *m, int rank, const struct pp_op *op,
                               struct pp_error *err)
{
    const struct pp_program_head *head = m->head;
    char text[TEXT_BYTES];

    if (op->stage >= head->stages || op->pipe >= head->pipelines || op->split >= head->splits ||
        op->granules < 1 || op->mb < 0 ||
        (int64_t)op->mb + op->granules > (int64_t)head->micro_batches * head->granules)
        return pp_error_set(err, PP_EPROGRAM,
                            "rank %d: %s lies outside the program: %d stages, %d pipelines, %d "
                            "splits, ids 0 to %d",
                            rank, cell(op, text), head->stages, head->pipelines, head->splits,
                            head->micro_batches * head->granules - 1);
    if (head->rank_of[op->pipe * head->stages + op->stage] != rank)
        return pp_error_set(
            err, PP_EPROGRAM, "rank %d: %s belongs to rank %d, which holds stage %d of pipeline %d",
            rank, cell(op, text), head->rank_of[op->pipe * head->stages + op->stage], op->stage,
            op->pipe);
    return PP_OK;
}

/* ---- channels -------------------------------------------------------------------------------- */

static uint64_t channel_key(const struct pp_channel *c)
{
    return (uint64_t)c->source << 48 | (uint64_t)c->dest << 32 | (uint64_t)c->pipe << 16 | c->kind;
}

static int32_t intern_channel(struct pp_messages *m, struct pp_map64 *index,
                              struct pp_channel wanted)
{
    const int32_t at = *pp_map64_at(index, channel_key(&wanted), m->channel_count);

    if (at == m->channel_count)
        m->channels[m->channel_count++] = wanted;
    return at;
}

static void find_channels(struct pp_arena *arena, struct pp_messages *m)
{
    const struct pp_program_head *head = m->head;
    const size_t places = (size_t)head->pipelines * (size_t)head->stages;
    struct pp_map64 index = pp_map64_create(arena, 2 * (int64_t)places);

    m->channels = PP_ARRAY(arena, struct pp_channel, 2 * places);
    m->channel_of = pp_arena_alloc_raw(arena, 2 * places * sizeof(int32_t));
    for (int direction = 0; direction < 2; direction++)
        for (int pipe = 0; pipe < head->pipelines; pipe++)
            for (int stage = 0; stage < head->stages; stage++) {
                const int next = stage + (direction ? -1 : 1);
                const uint16_t *rank_of = head->rank_of + pipe * head->stages;
                int32_t *channel = channel_from(m, direction, pipe, stage);

                *channel = -1;
                if (next < 0 || next >= head->stages || rank_of[next] == rank_of[stage])
                    continue;
                *channel =
                    intern_channel(m, &index,
                                   (struct pp_channel){.source = rank_of[stage],
                                                       .dest = rank_of[next],
                                                       .pipe = (uint16_t)pipe,
                                                       .kind = direction ? PP_SEND_B : PP_SEND_F});
            }
}

/* ---- producers ------------------------------------------------------------------------------- */

static enum pp_status count_messages(struct pp_messages *m, struct pp_error *err)
{
    for (int rank = 0; rank < m->head->ranks; rank++)
        for (int i = 0; i < m->lists->count[rank]; i++) {
            const struct pp_op *op = &m->lists->ops[rank][i];

            if (!pp_op_has_cell(op->kind))
                continue;
            PP_TRY(check_op(m, rank, op, err));
            const int32_t channel = output_channel(m, op);
            if (channel >= 0)
                m->channels[channel].count++;
        }
    for (int c = 0; c < m->channel_count; c++) {
        m->channels[c].first = m->message_count;
        m->message_count += m->channels[c].count;
        m->channels[c].count = 0;
    }
    return PP_OK;
}

static enum pp_status add_output(struct pp_messages *m, int rank, int unit, const struct pp_op *op,
                                 struct pp_error *err)
{
    const int32_t channel = output_channel(m, op);
    char text[TEXT_BYTES];

    if (channel < 0)
        return PP_OK;
    const int32_t id = m->channels[channel].first + m->channels[channel].count++;
    m->messages[id] = (struct pp_message){.mb = op->mb,
                                          .channel = channel,
                                          .produced = unit,
                                          .consumed = -1,
                                          .last = -1,
                                          .post = -1,
                                          .wait = -1,
                                          .done = -1,
                                          .stage = op->stage,
                                          .split = op->split,
                                          .granules = op->granules};
    for (int g = op->mb; g < op->mb + op->granules; g++) {
        int32_t *of = &m->of[direction_of(op->kind)][row_of(m, op->stage, g, op->split)];

        if (*of >= 0)
            return pp_error_set(err, PP_EPROGRAM, "rank %d: %s computes granule %d a second time",
                                rank, cell(op, text), g);
        *of = id;
    }
    return PP_OK;
}

/* ---- consumers ------------------------------------------------------------------------------- */

static enum pp_status add_inputs(struct pp_messages *m, int rank, int unit, const struct pp_op *op,
                                 struct pp_error *err)
{
    const int direction = direction_of(op->kind);
    const int source = op->stage + (direction == 0 ? -1 : 1);
    char text[TEXT_BYTES];

    if (direction < 0 || source < 0 || source >= m->head->stages ||
        *channel_from(m, direction, op->pipe, source) < 0)
        return PP_OK;
    for (int g = op->mb; g < op->mb + op->granules; g++) {
        const int32_t id = m->of[direction][row_of(m, source, g, op->split)];

        if (id < 0)
            return pp_error_set(err, PP_EPROGRAM,
                                "rank %d: %s needs granule %d from stage %d, where no %s computes "
                                "it",
                                rank, cell(op, text), g, source, direction ? "B or I" : "F");
        struct pp_message *message = &m->messages[id];
        if (message->consumed < 0) {
            message->consumed = unit;
            m->in[m->in_begin[rank + 1]++] = id;
        }
        message->last = unit;
    }
    return PP_OK;
}

static enum pp_status visit_units(struct pp_messages *m,
                                  enum pp_status (*visit)(struct pp_messages *, int, int,
                                                          const struct pp_op *, struct pp_error *),
                                  struct pp_error *err)
{
    for (int rank = 0; rank < m->head->ranks; rank++)
        for (int u = 0; u < m->units[rank].count; u++) {
            const struct pp_op *op;

            for (int i = 0; (op = pp_unit_op(m, rank, u, i)); i++)
                if (pp_op_has_cell(op->kind))
                    PP_TRY(visit(m, rank, u, op, err));
        }
    return PP_OK;
}

/* in_begin[rank + 1] starts as the begin of the rank and advances while its inputs are added. */
static void place_inputs(struct pp_arena *arena, struct pp_messages *m)
{
    int32_t *count = PP_ARRAY(arena, int32_t, m->head->ranks);
    int32_t begin = 0;

    m->in_begin = PP_ARRAY(arena, int32_t, m->head->ranks + 1);
    m->in = pp_arena_alloc_raw(arena, sizeof(int32_t) * (size_t)m->message_count);
    m->posts = pp_arena_alloc_raw(arena, sizeof(int32_t) * (size_t)m->message_count);
    for (int c = 0; c < m->channel_count; c++)
        count[m->channels[c].dest] += m->channels[c].count;
    for (int rank = 0; rank < m->head->ranks; rank++) {
        m->in_begin[rank + 1] = begin;
        begin += count[rank];
    }
}

static enum pp_status check_consumed(const struct pp_messages *m, struct pp_error *err)
{
    for (int32_t i = 0; i < m->message_count; i++)
        if (m->messages[i].consumed < 0) {
            const struct pp_message *message = &m->messages[i];
            const struct pp_channel *channel = &m->channels[message->channel];

            return pp_error_set(err, PP_EPROGRAM,
                                "rank %d: the output of %d%s%d is read by no instruction of rank "
                                "%d, which holds stage %d",
                                channel->source, message->stage,
                                channel->kind == PP_SEND_F ? "F" : "B", message->mb, channel->dest,
                                message->stage + (channel->kind == PP_SEND_F ? 1 : -1));
        }
    return PP_OK;
}

/* ---- build ----------------------------------------------------------------------------------- */

/* Refuses a program with far more cells than instructions, or with too many instructions for 32
 * bits after lowering (each gives at most 5). */
static enum pp_status check_size(const struct pp_messages *m, struct pp_error *err)
{
    const struct pp_program_head *head = m->head;
    const double cells = (double)head->stages * head->micro_batches * head->granules * head->splits;
    int64_t ops = 0;

    for (int rank = 0; rank < head->ranks; rank++)
        ops += m->lists->count[rank];
    if (ops > INT32_MAX / 8)
        return pp_error_set(err, PP_EINVAL, "a program of %lld instructions is too long (limit %d)",
                            (long long)ops, INT32_MAX / 8);
    if (cells > 256.0 * (double)ops + 65536)
        return pp_error_set(err, PP_EPROGRAM,
                            "%d stages x %d micro-batches x %d splits named by only %lld "
                            "instructions",
                            head->stages, head->micro_batches, head->splits, (long long)ops);
    return PP_OK;
}

enum pp_status pp_messages_build(struct pp_arena *arena, const struct pp_program_head *head,
                                 const struct pp_orders *lists, struct pp_messages **messages,
                                 struct pp_error *err)
{
    struct pp_messages *m = PP_NEW(arena, struct pp_messages);

    m->head = head;
    m->lists = lists;
    PP_TRY(check_size(m, err));
    m->cells = (size_t)head->micro_batches * (size_t)head->granules * (size_t)head->splits;
    for (int direction = 0; direction < 2; direction++) {
        const size_t bytes = sizeof(int32_t) * m->cells * (size_t)head->stages;

        m->of[direction] = pp_arena_alloc_raw(arena, bytes);
        memset(m->of[direction], 0xff, bytes);
    }
    find_units(arena, m);
    find_channels(arena, m);
    PP_TRY(count_messages(m, err));
    m->messages = pp_arena_alloc_raw(arena, sizeof(*m->messages) * (size_t)m->message_count);
    PP_TRY(visit_units(m, add_output, err));
    place_inputs(arena, m);
    PP_TRY(visit_units(m, add_inputs, err));
    PP_TRY(check_consumed(m, err));
    *messages = m;
    return PP_OK;
}
