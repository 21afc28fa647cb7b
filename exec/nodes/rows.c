/* Experts that replicas share: rows of tokens go to the replica that has their expert, and back.
 *
 * COUNT gathers the first rows of all experts from all replicas. SEND brings the rows of the
 * experts that are here, replica by replica, each in the order of experts. RETURN brings rows back
 * to where their tokens are. Their gradients go the other way. */
#include "exec/nodes/call.h"

/* ---- nodes ----------------------------------------------------------------------------------- */

/* The exchange after the node does all. */
static void nothing(struct pp_call *c, const struct pp_stage_node *n)
{
    (void)c;
    (void)n;
}

/* The exchange fills all but what is left to the next double. */
static void count_forward(struct pp_call *c, const struct pp_stage_node *n)
{
    const size_t filled =
        sizeof(int32_t) * (size_t)c->stage->shape.ep * (size_t)(c->net->experts + 1);

    if (filled < n->y->bytes)
        c->k->zero(c->stream, n->y->bytes - filled, (char *)pp_call_at(c, n->y) + filled);
}

static bool count_exchange(const struct pp_call *c, const struct pp_stage_node *n, bool is_forward,
                           struct pp_rows_exchange *e)
{
    const struct pp_stage_shape *shape = &c->stage->shape;
    const size_t bytes = sizeof(int32_t) * (size_t)(c->net->experts + 1);

    *e = (struct pp_rows_exchange){.way = PP_ROWS_COUNT,
                                   .devices = shape->ep,
                                   .row_bytes = bytes,
                                   .step_bytes = (double)bytes,
                                   .from = pp_call_routing(c, n->routes).begin,
                                   .to = pp_call_at(c, n->y)};
    return is_forward;
}

/* Rows of `from` become rows of `to`. At balance, each replica gets as many as another. */
static bool rows_exchange(const struct pp_call *c, const struct pp_stage_node *n,
                          enum pp_rows_way way, const struct pp_tensor *from,
                          const struct pp_tensor *to, struct pp_rows_exchange *e)
{
    const struct pp_stage_shape *shape = &c->stage->shape;
    const struct pp_expert_share share = pp_share_experts(shape, c->net->experts);
    const size_t row_bytes = (size_t)n->x->width * c->g->element_bytes;
    double *counts = pp_call_counts(c, n->routes);

    *e = (struct pp_rows_exchange){
        .way = way,
        .devices = shape->ep,
        .index = shape->ep_index,
        .experts = share.here,
        .slot_rows = pp_routes_slot_rows(c->net, shape),
        .begins = (const int32_t *)pp_call_at(c, n->routes->order) + share.first_of_set,
        .stride = c->net->experts + 1,
        .row_bytes = row_bytes,
        .room_bytes = to->bytes,
        .step_bytes = (double)row_bytes * n->routes->balanced / shape->ep,
        .moved_bytes = counts ? counts + c->net->experts + PP_EXPERT_BYTES : NULL,
        .from = pp_call_at(c, from),
        .to = pp_call_at(c, to)};
    return true;
}

static bool send_exchange(const struct pp_call *c, const struct pp_stage_node *n, bool is_forward,
                          struct pp_rows_exchange *e)
{
    return is_forward ? rows_exchange(c, n, PP_ROWS_OUT, n->x, n->y, e)
                      : rows_exchange(c, n, PP_ROWS_BACK, n->dy, n->dx, e);
}

static bool return_exchange(const struct pp_call *c, const struct pp_stage_node *n, bool is_forward,
                            struct pp_rows_exchange *e)
{
    return is_forward ? rows_exchange(c, n, PP_ROWS_BACK, n->x, n->y, e)
                      : rows_exchange(c, n, PP_ROWS_OUT, n->dy, n->dx, e);
}

const struct pp_node_kind pp_node_count = {.forward = count_forward, .exchange = count_exchange};
const struct pp_node_kind pp_node_send = {
    .forward = nothing, .input_grad = nothing, .exchange = send_exchange};
const struct pp_node_kind pp_node_return = {
    .forward = nothing, .input_grad = nothing, .exchange = return_exchange};

/* ---- exchanges ------------------------------------------------------------------------------- */

/* First row of a device's experts, among those of a sender. */
static size_t first_of(const struct pp_rows_exchange *e, int sender, int device)
{
    return (size_t)e->begins[sender * e->stride + device * e->experts];
}

static size_t rows_of(const struct pp_rows_exchange *e, int sender, int device)
{
    return first_of(e, sender, device + 1) - first_of(e, sender, device);
}

/* Rows that a device has of senders before this one. */
static size_t rows_before(const struct pp_rows_exchange *e, int device, int sender)
{
    size_t rows = 0;

    for (int s = 0; s < sender; s++)
        rows += rows_of(e, s, device);
    return rows;
}

struct pp_piece pp_rows_exchange_piece(const struct pp_rows_exchange *e, int from, int to)
{
    const bool is_out = e->way == PP_ROWS_OUT;
    const size_t first = e->way == PP_ROWS_COUNT ? 0
                         : is_out                ? first_of(e, from, to)
                                                 : rows_before(e, from, to),
                 count = e->way == PP_ROWS_COUNT ? 1
                         : is_out                ? rows_of(e, from, to)
                                                 : rows_of(e, to, from);

    return (struct pp_piece){first * e->row_bytes, count * e->row_bytes};
}

/* ---- on a device that has the numbers of rows ------------------------------------------------ */

static struct pp_row_exchange later(const struct pp_rows_exchange *e)
{
    return (struct pp_row_exchange){.is_back = e->way == PP_ROWS_BACK,
                                    .devices = e->devices,
                                    .index = e->index,
                                    .experts = e->experts,
                                    .begins = e->begins,
                                    .stride = e->stride,
                                    .row_bytes = e->row_bytes,
                                    .rows = (int)(e->room_bytes / e->row_bytes),
                                    .slot_rows = e->slot_rows,
                                    .to = e->to,
                                    .moved_bytes = e->moved_bytes};
}

static void exchange_later(const struct pp_kernels *k, void *stream,
                           const struct pp_rows_exchange *e, const void *const *from,
                           bool is_packed)
{
    struct pp_row_exchange x = later(e);

    x.from = from;
    x.is_packed = is_packed;
    k->exchange_rows(stream, &x);
}

size_t pp_rows_slot_bytes(const struct pp_rows_exchange *e)
{
    return (size_t)e->slot_rows * e->row_bytes;
}

void pp_rows_exchange_pack(const struct pp_kernels *k, void *stream,
                           const struct pp_rows_exchange *e, void *slots)
{
    struct pp_row_exchange x = later(e);

    x.from = &e->from;
    x.to = slots;
    k->pack_rows(stream, &x);
}

/* One row at most, to its own result. */
void pp_rows_exchange_try(const struct pp_kernels *k, void *stream,
                          const struct pp_rows_exchange *e)
{
    struct pp_row_exchange x = later(e);

    x.from = &e->from;
    x.devices = x.slot_rows = 1;
    if (e->way != PP_ROWS_COUNT)
        k->pack_rows(stream, &x);
}

void pp_rows_exchange_unpack(const struct pp_kernels *k, void *stream,
                             const struct pp_rows_exchange *e, const void *const *from)
{
    exchange_later(k, stream, e, from, true);
}

/* ---- anywhere -------------------------------------------------------------------------------- */

void pp_rows_exchange_run(const struct pp_kernels *k, void *stream,
                          const struct pp_rows_exchange *e, const void *const *from)
{
    size_t used_bytes = 0;

    if (k->exchange_rows != NULL && e->way != PP_ROWS_COUNT) {
        exchange_later(k, stream, e, from, false);
        return;
    }
    for (int d = 0; d < e->devices; d++) {
        const struct pp_piece piece = pp_rows_exchange_piece(e, d, e->index);

        k->copy(stream, piece.bytes, (const char *)from[d] + piece.offset,
                (char *)e->to + used_bytes);
        used_bytes += piece.bytes;
        if (e->moved_bytes != NULL && e->way != PP_ROWS_COUNT && d != e->index)
            *e->moved_bytes += (double)piece.bytes;
    }
    if (used_bytes < e->room_bytes)
        k->zero(stream, e->room_bytes - used_bytes, (char *)e->to + used_bytes);
}
