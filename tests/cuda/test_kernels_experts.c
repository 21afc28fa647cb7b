/* Experts by the CUDA tables: the choice of experts, rows of tokens, and products of their rows.
 * Bounds of rows are made and read on the device. */
#include "tests/cuda/table_case.h"

/* ---- routing, and tokens to rows and back ---------------------------------------------------- */

/* Integers of the reference in [0], of the device in [1]. */
struct routing {
    int batch, tokens, experts, top_k, capacity, width;
    bool is_normalized, has_before;
    int first, held; /* experts whose choices have rows; held 0: all */
    int rows;
    struct {
        int32_t *expert, *row, *from, *begin, *so_far;
    } of[2];
    int32_t *before;
};

static size_t choices_of(const struct routing *r)
{
    return (size_t)(r->batch * r->tokens * r->top_k);
}

/* Memory that both sides see, because the reference computes on the host. */
static int32_t *integers(size_t count)
{
    return shared_bytes(sizeof(int32_t) * (count + 1));
}

static struct routing routing_of(const struct routing *from)
{
    struct routing r = *from;
    const size_t choices = choices_of(&r), pairs = (size_t)(r.batch * r.experts);

    r.rows = (int)choices + 3;
    for (int i = 0; i < 2; i++) {
        r.of[i].expert = integers(choices);
        r.of[i].row = integers(choices);
        r.of[i].from = integers((size_t)r.rows);
        r.of[i].begin = integers((size_t)r.experts + 1);
        r.of[i].so_far = integers(pairs);
    }
    r.before = integers(pairs);
    for (size_t i = 0; i < pairs; i++)
        r.before[i] = drawn_below(r.capacity + 2);
    return r;
}

static void call_experts(const struct pp_kernels *k, void *stream, void *const *x, const void *what)
{
    const struct routing *of = what;
    const int i = stream != NULL;
    struct pp_routing r = {.batch = of->batch,
                           .tokens = of->tokens,
                           .experts = of->experts,
                           .top_k = of->top_k,
                           .rows = of->rows,
                           .capacity = of->capacity,
                           .first_expert = of->first,
                           .held = of->held,
                           .is_normalized = of->is_normalized,
                           .logits = x[0],
                           .gates = x[2],
                           .expert = of->of[i].expert,
                           .row = of->of[i].row,
                           .from = of->of[i].from,
                           .begin = of->of[i].begin,
                           .before = of->has_before ? of->before : NULL,
                           .so_far = of->capacity > 0 ? of->of[i].so_far : NULL,
                           .dgates = x[10],
                           .dlogits = x[7]};
    struct pp_token_exchange e = {.routing = &r, .width = of->width, .x = x[1], .y = x[3]};

    k->route_forward(stream, &r);
    k->route_count(stream, &r, of->experts / 3, of->experts / 3 + 1, x[11]);
    k->dispatch_forward(stream, &e);
    e = (struct pp_token_exchange){&r, of->width, .base = x[1], .dy = x[3], .dx = x[6]};
    k->dispatch_backward(stream, &e);
    e = (struct pp_token_exchange){&r, of->width, .x = x[3], .base = x[1], .y = x[4]};
    k->combine_forward(stream, &e);
    e = (struct pp_token_exchange){&r,         of->width,  .x = x[3],
                                   .dy = x[9], .dx = x[8], .dgates = x[5]};
    k->combine_backward(stream, &e);
    e.dx = x[3];
    k->combine_backward(stream, &e);
    k->route_backward(stream, &r);
    r.dlogits = x[0];
    k->route_backward(stream, &r);
}

/* Logits of every second token have few values, so that many are equal. */
static void tie(double *const *x, const void *what)
{
    const struct routing *r = what;

    for (int t = 0; t < r->batch * r->tokens; t += 2)
        for (int e = 0; e < r->experts; e++) {
            double *logit = &x[0][(size_t)t * (size_t)r->experts + (size_t)e];
            *logit = rint(*logit);
        }
}

static void same_integers(const int32_t *x, const int32_t *y, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++)
        cr_assert(x[i] == y[i], "%s [%zu]: %d is not %d", what, i, (int)y[i], (int)x[i]);
}

static void try_routing(const struct routing *from)
{
    const struct routing r = routing_of(from);
    const size_t tokens = (size_t)(r.batch * r.tokens), width = (size_t)r.width,
                 choices = choices_of(&r), logits = tokens * (size_t)r.experts,
                 rows = (size_t)r.rows * width;
    const struct kernel_case c = {"experts",
                                  call_experts,
                                  &r,
                                  tie,
                                  .tolerance = 1e-5,
                                  .floor = 1e-5,
                                  .tensors = 12,
                                  .tensor = {{logits, OF_T, 3},
                                             {tokens * width, OF_T, 1},
                                             {choices, OF_G, 1},
                                             {rows, OF_T, 1},
                                             {tokens * width, OF_T, 1},
                                             {choices, OF_G, 1},
                                             {tokens * width, OF_T, 1},
                                             {logits, OF_T, 1},
                                             {rows, OF_T, 1},
                                             {tokens * width, OF_T, 1},
                                             {choices, OF_G, 1},
                                             {(size_t)r.experts + 2, SHARED_DOUBLE, 9}}};

    for (int is_bf16 = 0; is_bf16 < 2; is_bf16++) {
        kernel_try(is_bf16 ? &pp_kernels_cuda_bf16 : &pp_kernels_cuda_fp32, &c);
        same_integers(r.of[0].expert, r.of[1].expert, choices, "expert");
        same_integers(r.of[0].row, r.of[1].row, choices, "row");
        same_integers(r.of[0].from, r.of[1].from, (size_t)r.rows, "from");
        same_integers(r.of[0].begin, r.of[1].begin, (size_t)r.experts + 1, "begin");
        same_integers(r.of[0].so_far, r.of[1].so_far, (size_t)(r.batch * r.experts), "so far");
    }
}

Test(cuda_kernels, routing_and_rows)
{
    static const struct routing ROUTINGS[] = {
        {1, 1, 1, 1, 0, 1},
        {2, 6, 5, 2, 2, 21, true},
        {1, 33, 40, 3, 0, 24, true},
        {3, 50, 8, 2, 9, 64, false},
        {2, 70, 128, 8, 5, 8, true},
        {1, 300, 2, 1, 40, 16, false, true},
        {2, 40, 300, 1, 1, 7},
        {4, 9, 6, 6, 3, 40, true, true},
        {2, 33, 12, 3, 0, 8, true, false, 0, 4},
        {2, 40, 70, 4, 9, 7, true, true, 30, 35},
    };

    for (size_t i = 0; i < sizeof ROUTINGS / sizeof *ROUTINGS; i++)
        try_routing(&ROUTINGS[i]);
}

/* ---- products -------------------------------------------------------------------------------- */

/* Rows of `here` of `experts` experts, of each sender. */
struct products {
    int senders, experts, first, here, most, in, out; /* most rows of an expert */
    bool is_activated;
    enum pp_activation activation;
    struct pp_row_groups groups;
};

static struct products products_of(const struct products *from)
{
    struct products p = *from;
    int32_t *begin = integers((size_t)(p.senders * (p.experts + 1)));

    for (int s = 0, i = 0; s < p.senders; s++, i++)
        for (int e = 0; e < p.experts; e++, i++)
            begin[i + 1] = begin[i] + (drawn_below(4) == 0 ? 0 : drawn_below(p.most + 1));
    p.groups = (struct pp_row_groups){p.senders, p.here, p.experts + 1, 0, begin + p.first};
    p.groups.rows = pp_row_groups_rows(&p.groups) + drawn_below(200);
    return p;
}

static void call_products(const struct pp_kernels *k, void *stream, void *const *x,
                          const void *what)
{
    const struct products *p = what;
    const struct pp_row_groups *groups = &p->groups;
    const struct pp_group_range all = {p->senders - 1, 0, p->here},
                                one = {0, p->here / 2, p->here / 2 + 1};
    struct pp_gemm g = {.n = p->out,
                        .k = p->in,
                        .b_transposed = true,
                        .a = x[0],
                        .b = x[1],
                        .c = x[3],
                        .lda = p->in,
                        .ldb = p->in,
                        .ldc = p->out,
                        .bias = x[2],
                        .activation = p->activation,
                        .activated = p->is_activated ? x[4] : NULL};

    k->grouped_gemm(k, stream, groups, &g);
    g = (struct pp_gemm){.n = p->in,
                         .k = p->out,
                         .a = x[5],
                         .b = x[1],
                         .c = x[6],
                         .lda = p->out,
                         .ldb = p->in,
                         .ldc = p->in,
                         .activation = p->activation,
                         .slope_of = p->is_activated ? x[7] : NULL};
    k->grouped_gemm(k, stream, groups, &g);
    g = (struct pp_gemm){.m = p->out,
                         .n = p->in,
                         .a_transposed = true,
                         .is_gradient = true,
                         .a = x[5],
                         .b = x[0],
                         .c = x[8],
                         .lda = p->out,
                         .ldb = p->in,
                         .ldc = p->in,
                         .base = x[8]};
    k->grouped_weight_grad(k, stream, groups, all, &g);
    k->grouped_sum_rows(k, stream, groups, all, p->out, x[5], x[9], true);
    g.base = NULL;
    g.c = x[10];
    k->grouped_weight_grad(k, stream, groups, one, &g);
    k->grouped_sum_rows(k, stream, groups, one, p->out, x[5], x[11], false);
}

/* With an activation, bf16 is rounded before it. */
static void try_products(const struct products *from)
{
    const struct products p = products_of(from);
    const size_t in = (size_t)p.in, out = (size_t)p.out, rows = (size_t)p.groups.rows,
                 here = (size_t)p.here;
    struct kernel_case c = {"products of groups",
                            call_products,
                            &p,
                            .tolerance = 1e-5,
                            .floor = 2e-5,
                            .tensors = 12,
                            .tensor = {{rows * in, OF_T, 1},
                                       {here * out * in, OF_T, 1 / sqrt(p.in)},
                                       {here * out, OF_T, 1},
                                       {rows * out, OF_T, 1},
                                       {rows * out, OF_T, 1},
                                       {rows * out, OF_T, 1},
                                       {rows * in, OF_T, 1},
                                       {rows * in, OF_T, 1},
                                       {here * out * in, OF_G, 1},
                                       {here * out, OF_G, 1},
                                       {out * in, OF_G, 1},
                                       {out, OF_G, 1}}};

    kernel_try(&pp_kernels_cuda_fp32, &c);
    c.floor = p.is_activated ? 0.01 : c.floor;
    kernel_try(&pp_kernels_cuda_bf16, &c);
}

/* Widths that tensor cores take, and others. */
Test(cuda_kernels, products_of_groups)
{
    static const struct products PRODUCTS[] = {
        {1, 1, 0, 1, 5, 3, 2},
        {1, 4, 0, 4, 90, 24, 40},
        {1, 4, 0, 4, 90, 21, 34, true, PP_SILU},
        {1, 3, 0, 3, 300, 136, 72, true, PP_GELU_TANH},
        {1, 70, 0, 70, 6, 16, 8},
        {3, 6, 2, 3, 140, 32, 24},
        {2, 8, 4, 4, 20, 9, 70, true, PP_GELU_ERF},
        {1, 2, 0, 2, 40, 264, 16, true, PP_RELU},
    };

    for (size_t i = 0; i < sizeof PRODUCTS / sizeof *PRODUCTS; i++)
        try_products(&PRODUCTS[i]);
}

/* ---- loss of balance ------------------------------------------------------------------------- */

struct balance {
    int tokens, experts, top_k;
    int32_t *expert;
};

static void call_balance(const struct pp_kernels *k, void *stream, void *const *x, const void *what)
{
    const struct balance *of = what;
    const struct pp_balance b = {.tokens = of->tokens,
                                 .experts = of->experts,
                                 .top_k = of->top_k,
                                 .element_bytes = k->element_bytes,
                                 .gradient_bytes = k->gradient_bytes,
                                 .logits = x[0],
                                 .expert = of->expert,
                                 .sums = x[1],
                                 .factor = 0.25};

    k->balance_sums(stream, &b);
    k->balance_grad(stream, &b, x[2]);
    k->balance_add(stream, &b, x[2], x[3]);
    k->balance_loss(stream, &b, of->tokens, x[4]);
}

Test(cuda_kernels, loss_of_balance)
{
    static const struct balance BALANCES[] = {{1, 1, 1}, {7, 5, 2}, {300, 40, 3}, {33, 130, 8}};

    for (size_t i = 0; i < sizeof BALANCES / sizeof *BALANCES; i++) {
        struct balance b = BALANCES[i];
        const size_t choices = (size_t)(b.tokens * b.top_k),
                     logits = (size_t)(b.tokens * b.experts);
        const struct kernel_case c = {"loss of balance",
                                      call_balance,
                                      &b,
                                      .tolerance = 1e-6,
                                      .floor = 1e-5,
                                      .tensors = 5,
                                      .tensor = {{logits, OF_T, 3},
                                                 {(size_t)(2 * b.experts), SHARED_DOUBLE, 4},
                                                 {logits, OF_G, 1},
                                                 {logits, OF_T, 1},
                                                 {(size_t)b.tokens, SHARED_DOUBLE, 1}}};

        b.expert = integers(choices);
        for (size_t j = 0; j < choices; j++)
            b.expert[j] = drawn_below(b.experts);
        kernel_try_both(&c);
    }
}

/* ---- rows from all devices ------------------------------------------------------------------- */

/* Rows of two bytes each, or of 16, with their numbers in them. */
struct exchange {
    int devices, experts, row_bytes;
    int32_t *begins;
    int rows;
};

static int rows_between(const struct exchange *x, int sender, int device)
{
    const int32_t *begin = &x->begins[sender * (x->devices * x->experts + 1) + device * x->experts];

    return begin[x->experts] - begin[0];
}

/* Byte `at` of row `row` of a device. */
static unsigned char byte_of(int device, int row, int at)
{
    return (unsigned char)(7 * device + 31 * row + at + 1);
}

static unsigned char *memory_of(const struct exchange *x, int device, int rows)
{
    const size_t bytes = (size_t)(rows * x->row_bytes);
    unsigned char *host = malloc(bytes + 1), *to = device_bytes(bytes);

    for (int row = 0; row < rows; row++)
        for (int i = 0; i < x->row_bytes; i++)
            host[row * x->row_bytes + i] = byte_of(device, row, i);
    device_put(to, host, bytes);
    free(host);
    return to;
}

/* Row by row: those of each device, in the order of devices. */
static void check_rows(const struct exchange *x, int index, bool is_back, const unsigned char *seen,
                       double moved)
{
    int at = 0, others = 0;

    for (int d = 0; d < x->devices; d++) {
        const int count = is_back ? rows_between(x, index, d) : rows_between(x, d, index);
        int first = 0;
        for (int other = 0; other < (is_back ? index : 0); other++)
            first += rows_between(x, other, d);
        for (int other = 0; other < (is_back ? 0 : index); other++)
            first += rows_between(x, d, other);
        for (int row = 0; row < count; row++, at++)
            for (int i = 0; i < x->row_bytes; i++)
                cr_assert(seen[at * x->row_bytes + i] == byte_of(d, first + row, i),
                          "row %d, of device %d of %d", at, d, x->devices);
        others += d == index ? 0 : count;
    }
    for (int i = at * x->row_bytes; i < x->rows * x->row_bytes; i++)
        cr_assert(seen[i] == 0, "byte %d after the last row", i);
    cr_assert(moved == 1 + (double)others * x->row_bytes, "%g bytes from others", moved);
}

/* Of the tokens of a device, or for its experts. */
static int most_rows(const struct exchange *x)
{
    int most = 0;

    for (int d = 0; d < x->devices; d++) {
        int sent = 0, got = 0;
        for (int other = 0; other < x->devices; other++) {
            sent += rows_between(x, d, other);
            got += rows_between(x, other, d);
        }
        most = sent > most ? sent : most;
        most = got > most ? got : most;
    }
    return most;
}

static struct pp_row_exchange exchange_of(const struct exchange *x, int index, bool is_back)
{
    return (struct pp_row_exchange){.is_back = is_back,
                                    .devices = x->devices,
                                    .index = index,
                                    .experts = x->experts,
                                    .begins = x->begins,
                                    .stride = x->devices * x->experts + 1,
                                    .row_bytes = (size_t)x->row_bytes,
                                    .rows = x->rows};
}

/* Packs the memory of each device. Then `from` are the slots of all for this one. */
static void pack_all(const struct exchange *x, int index, bool is_back, const void **from)
{
    int most = 1;

    for (int pair = 0; pair < x->devices * x->devices; pair++) {
        const int rows = rows_between(x, pair / x->devices, pair % x->devices);
        most = rows >= most ? rows + 1 : most;
    }
    for (int d = 0; d < x->devices; d++) {
        struct pp_row_exchange e = exchange_of(x, d, is_back);
        unsigned char *slots = memory_of(x, 0, x->devices * most);

        e.slot_rows = most;
        e.from = &from[d];
        e.to = slots;
        pp_kernels_cuda_fp32.pack_rows(device_stream(), &e);
        from[d] = slots + (size_t)(index * most * x->row_bytes);
    }
}

static void try_exchange(struct exchange x, int index, bool is_back, bool is_packed)
{
    const int of_one = x.devices * x.experts + 1;
    const void **from = calloc((size_t)x.devices, sizeof(*from));
    double *moved = shared_bytes(sizeof(double));

    x.begins = integers((size_t)(x.devices * of_one));
    for (int i = 0; i < x.devices * of_one; i++)
        x.begins[i] = i % of_one == 0 ? 0 : x.begins[i - 1] + drawn_below(5) / 2;
    x.rows = most_rows(&x) + 3;
    for (int d = 0; d < x.devices; d++)
        from[d] = memory_of(&x, d, x.rows);
    if (is_packed)
        pack_all(&x, index, is_back, from);
    unsigned char *to = memory_of(&x, 0, x.rows), *seen = malloc((size_t)(x.rows * x.row_bytes));
    struct pp_row_exchange e = exchange_of(&x, index, is_back);
    *moved = 1;
    e.is_packed = is_packed;
    e.from = from;
    e.to = to;
    e.moved_bytes = moved;
    pp_kernels_cuda_fp32.exchange_rows(device_stream(), &e);
    device_finish();
    device_must(cudaMemcpy(seen, to, (size_t)(x.rows * x.row_bytes), cudaMemcpyDeviceToHost));
    check_rows(&x, index, is_back, seen, *moved);
    free(seen);
    free(from);
}

Test(cuda_kernels, rows_of_all_devices)
{
    static const struct exchange EXCHANGES[] = {
        {1, 3, 16}, {2, 4, 2}, {4, 2, 80}, {40, 1, 6}, {300, 1, 2}};

    for (size_t i = 0; i < sizeof EXCHANGES / sizeof *EXCHANGES; i++)
        for (int way = 0; way < 4; way++)
            for (int index = 0; index < EXCHANGES[i].devices; index += 1 + EXCHANGES[i].devices / 3)
                if (way < 2 || EXCHANGES[i].devices <= 4 || index == 14)
                    try_exchange(EXCHANGES[i], index, way % 2, way / 2);
}
