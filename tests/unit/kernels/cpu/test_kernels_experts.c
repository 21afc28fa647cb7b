/* Routing and exchange of tokens: order of rows, limits, and all tables against plain double. */
#include "kernels/cpu/routes.h"
#include "kernels/numbers.h"
#include "tests/unit/kernels/cpu/kernel_tables.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { BATCH = 2, TOKENS = 6, EXPERTS = 5, TOP_K = 2, WIDTH = 21, MOST = BATCH * TOKENS * TOP_K };
enum { ALL_TOKENS = BATCH * TOKENS };

struct numbers {
    double logits[ALL_TOKENS * EXPERTS], x[ALL_TOKENS * WIDTH], dgates[MOST];
    double gates[MOST], dlogits[ALL_TOKENS * EXPERTS], rows[MOST * WIDTH], y[ALL_TOKENS * WIDTH],
        drows[MOST * WIDTH], made[MOST], dx[ALL_TOKENS * WIDTH];
};
struct integers {
    int32_t expert[MOST], row[MOST], from[MOST], begin[EXPERTS + 1], so_far[BATCH * EXPERTS];
};

static double number(int a, int b)
{
    return sin(12.9898 * a + 78.233 * b + 1);
}

static void put(const double *from, int count, size_t bytes, void *to)
{
    for (int i = 0; i < count; i++)
        pp_number_put(to, bytes, i, from[i]);
}

static void get(const void *from, int count, size_t bytes, double *to)
{
    for (int i = 0; i < count; i++)
        to[i] = pp_number_get(from, bytes, i);
}

/* Every kernel on the same numbers, one after the other. */
static void run(const struct pp_kernels *k, int capacity, bool is_normalized, struct numbers *n,
                struct integers *i)
{
    const size_t t = k->element_bytes, g = k->gradient_bytes;
    double logits[ALL_TOKENS * EXPERTS], x[ALL_TOKENS * WIDTH], y[ALL_TOKENS * WIDTH],
        rows[MOST * WIDTH], dx[ALL_TOKENS * WIDTH], gates[MOST], dgates[MOST], made[MOST];
    struct pp_routing r = {.batch = BATCH,
                           .tokens = TOKENS,
                           .experts = EXPERTS,
                           .top_k = TOP_K,
                           .rows = MOST,
                           .capacity = capacity,
                           .is_normalized = is_normalized,
                           .logits = logits,
                           .gates = gates,
                           .expert = i->expert,
                           .row = i->row,
                           .from = i->from,
                           .begin = i->begin,
                           .so_far = capacity > 0 ? i->so_far : NULL,
                           .dgates = dgates,
                           .dlogits = logits};
    struct pp_token_exchange e = {.routing = &r, .width = WIDTH, .x = x, .y = rows};

    memset(rows, 0x3f, sizeof rows); /* no row that is not in use stays as it is */
    put(n->logits, ALL_TOKENS * EXPERTS, t, logits);
    put(n->x, ALL_TOKENS * WIDTH, t, x);
    put(n->dgates, MOST, g, dgates);
    k->route_forward(NULL, &r);
    get(gates, MOST, g, n->gates);
    k->dispatch_forward(NULL, &e);
    get(rows, MOST * WIDTH, t, n->rows);
    e = (struct pp_token_exchange){.routing = &r, .width = WIDTH, .x = rows, .base = x, .y = y};
    k->combine_forward(NULL, &e);
    get(y, ALL_TOKENS * WIDTH, t, n->y);
    e.dy = y;
    e.dx = rows;
    e.dgates = made;
    k->combine_backward(NULL, &e);
    get(rows, MOST * WIDTH, t, n->drows);
    get(made, MOST, g, n->made);
    e = (struct pp_token_exchange){.routing = &r, .width = WIDTH, .base = x, .dy = rows, .dx = dx};
    k->dispatch_backward(NULL, &e);
    get(dx, ALL_TOKENS * WIDTH, t, n->dx);
    k->route_backward(NULL, &r);
    get(logits, ALL_TOKENS * EXPERTS, t, n->dlogits);
}

static void fill(struct numbers *n)
{
    for (int i = 0; i < ALL_TOKENS * EXPERTS; i++)
        n->logits[i] = round(64 * number(1, i)) / 64; /* exact in bfloat16 */
    for (int i = 0; i < ALL_TOKENS * WIDTH; i++)
        n->x[i] = round(64 * number(2, i)) / 64;
    for (int i = 0; i < MOST; i++)
        n->dgates[i] = round(64 * number(3, i)) / 64;
}

static void near(const double *a, const double *b, int count, double tolerance, const char *what)
{
    for (int i = 0; i < count; i++)
        cr_assert_float_eq(a[i], b[i], tolerance, "%s [%d]: %g, not %g", what, i, a[i], b[i]);
}

Test(kernels_experts, all_tables_agree)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct tables all = tables_all(arena);

    for (int variant = 0; variant < 4 * (all.count + 1); variant++) {
        const struct pp_kernels *k =
            variant / 4 < all.count ? all.of[variant / 4] : &pp_kernels_bf16;
        const int capacity = variant & 1 ? 2 : 0;
        const double tolerance = k->element_bytes == 2 ? 0.06 : 4e-6;
        struct numbers ours, plain;
        struct integers order = {0}, same = {0};

        fill(&ours);
        fill(&plain);
        run(k, capacity, variant & 2, &ours, &order);
        run(&pp_kernels_reference, capacity, variant & 2, &plain, &same);
        cr_assert_arr_eq(&order, &same, sizeof order);
        near(ours.gates, plain.gates, MOST, 2e-7, "gates");
        near(ours.rows, plain.rows, MOST * WIDTH, 0, "rows");
        near(ours.y, plain.y, ALL_TOKENS * WIDTH, tolerance, "y");
        near(ours.drows, plain.drows, MOST * WIDTH, tolerance, "gradients of rows");
        near(ours.made, plain.made, MOST, 10 * tolerance, "gradients of gates");
        near(ours.dx, plain.dx, ALL_TOKENS * WIDTH, 2 * tolerance, "gradients of tokens");
        near(ours.dlogits, plain.dlogits, ALL_TOKENS * EXPERTS, tolerance, "gradients of logits");
    }
}

/* Rows of an expert are those of its tokens in order; limits hold for each sample. */
Test(kernels_experts, rows_are_in_order_and_within_limits)
{
    for (int capacity = 0; capacity <= 3; capacity++) {
        struct numbers n;
        struct integers i = {0};
        int taken[BATCH][EXPERTS] = {{0}};

        fill(&n);
        run(&pp_kernels_reference, capacity, true, &n, &i);
        for (int e = 0; e < EXPERTS; e++)
            for (int row = i.begin[e]; row < i.begin[e + 1]; row++) {
                cr_assert_eq(i.expert[i.from[row]], e);
                cr_assert_eq(i.row[i.from[row]], row);
                cr_assert(row == i.begin[e] || i.from[row] > i.from[row - 1]);
            }
        for (int c = 0; c < MOST; c++) {
            int *of = &taken[c / (TOKENS * TOP_K)][i.expert[c]];
            cr_assert_eq(i.row[c] >= 0, capacity == 0 || *of < capacity, "choice %d", c);
            ++*of;
        }
        for (int row = i.begin[EXPERTS]; row < MOST; row++)
            cr_assert_eq(i.from[row], -1);
    }
}

/* Rows of two senders for three experts, of which the second has none of the first sender. Rows
 * 2 .. 3 and 7 belong to experts elsewhere. */
Test(kernels_experts, products_of_groups_are_those_of_their_rows)
{
    enum { ROWS = 9, IN = 3, OUT = 2, HERE = 3 };
    static const int32_t begin[] = {0, 2, 2, 4, 5, 8, 3, 4, 6, 7, 9, 9};
    static const int expert_of[] = {0, 0, 2, 2, 0, 1, 1, 2}; /* of rows in use */
    const struct pp_row_groups groups = {2, HERE, 6, ROWS, begin};
    double x[ROWS * IN], w[HERE * OUT * IN], y[ROWS * OUT], dw[HERE * OUT * IN], sums[HERE * OUT];

    for (int i = 0; i < ROWS * IN; i++)
        x[i] = number(1, i);
    for (int i = 0; i < HERE * OUT * IN; i++)
        w[i] = number(2, i);
    pp_kernels_reference.grouped_gemm(&pp_kernels_reference, NULL, &groups,
                                      &(struct pp_gemm){.n = OUT,
                                                        .k = IN,
                                                        .b_transposed = true,
                                                        .a = x,
                                                        .b = w,
                                                        .c = y,
                                                        .lda = IN,
                                                        .ldb = IN,
                                                        .ldc = OUT});
    for (int row = 0; row < ROWS; row++)
        for (int o = 0; o < OUT; o++) {
            double sum = 0;
            for (int i = 0; i < IN && row < ROWS - 1; i++)
                sum += x[row * IN + i] * w[(expert_of[row] * OUT + o) * IN + i];
            cr_assert_float_eq(y[row * OUT + o], sum, 1e-14, "row %d, %d", row, o);
        }
    pp_kernels_reference.grouped_weight_grad(&pp_kernels_reference, NULL, &groups,
                                             (struct pp_group_range){1, 0, HERE},
                                             &(struct pp_gemm){.m = OUT,
                                                               .n = IN,
                                                               .a_transposed = true,
                                                               .is_gradient = true,
                                                               .a = y,
                                                               .b = x,
                                                               .c = dw,
                                                               .lda = OUT,
                                                               .ldb = IN,
                                                               .ldc = IN});
    pp_kernels_reference.grouped_sum_rows(&pp_kernels_reference, NULL, &groups,
                                          (struct pp_group_range){1, 0, HERE}, OUT, y, sums, false);
    for (int e = 0; e < HERE; e++)
        for (int o = 0; o < OUT; o++) {
            double sum = 0, product = 0;
            for (int row = 4; row < ROWS - 1; row++) {
                sum += expert_of[row] == e ? y[row * OUT + o] : 0;
                product += expert_of[row] == e ? y[row * OUT + o] * x[row * IN + 1] : 0;
            }
            cr_assert_float_eq(sums[e * OUT + o], sum, 1e-14);
            cr_assert_float_eq(dw[(e * OUT + o) * IN + 1], product, 1e-14);
        }
}

/* ---- loss of balance ------------------------------------------------------------------------- */

/* Sums of two mixtures with the same choices, at a place that no double has by itself. */
struct balance {
    char room[4 + 2 * EXPERTS * sizeof(double)];
    struct pp_balance of;
};

static double balance_loss(const struct pp_kernels *k, const double *logits, const int32_t *expert,
                           struct balance *b)
{
    double held[ALL_TOKENS * EXPERTS], loss[2] = {1, 2};

    put(logits, ALL_TOKENS * EXPERTS, k->element_bytes, held);
    memset(b->room, 0, sizeof b->room);
    b->of = (struct pp_balance){.tokens = ALL_TOKENS,
                                .experts = EXPERTS,
                                .top_k = TOP_K,
                                .element_bytes = k->element_bytes,
                                .gradient_bytes = k->gradient_bytes,
                                .logits = held,
                                .expert = expert,
                                .sums = b->room + 4,
                                .factor = 0.01};
    for (int mixture = 0; mixture < 2; mixture++)
        k->balance_sums(NULL, &b->of);
    k->balance_loss(NULL, &b->of, 2, loss);
    cr_assert_float_eq(loss[1] - loss[0], 1, 1e-12);
    return loss[0] - 1;
}

/* The loss is that of choices times probabilities, and each mixture has half of the change. */
static void check_balance(const struct pp_kernels *k)
{
    static const double STEP = 1e-4;
    const double tolerance = k->gradient_bytes == 4 ? 1e-6 : 1e-7,
                 rounded = k->element_bytes == 2 ? 0.01 : tolerance;
    struct numbers n;
    struct integers order = {0};
    struct balance b;
    double held[ALL_TOKENS * EXPERTS], grad[ALL_TOKENS * EXPERTS], sum[ALL_TOKENS * EXPERTS],
        ours[ALL_TOKENS * EXPERTS], added[ALL_TOKENS * EXPERTS], logits[ALL_TOKENS * EXPERTS];

    fill(&n);
    memcpy(logits, n.logits, sizeof logits);
    run(&pp_kernels_reference, 0, false, &n, &order);
    balance_loss(k, logits, order.expert, &b);
    put(logits, ALL_TOKENS * EXPERTS, k->element_bytes, held);
    b.of.logits = held;
    k->balance_grad(NULL, &b.of, grad);
    get(grad, ALL_TOKENS * EXPERTS, k->gradient_bytes, ours);
    put(logits, ALL_TOKENS * EXPERTS, k->element_bytes, sum);
    k->balance_add(NULL, &b.of, grad, sum);
    get(sum, ALL_TOKENS * EXPERTS, k->element_bytes, added);
    for (int i = 0; i < ALL_TOKENS * EXPERTS; i++) {
        double up[ALL_TOKENS * EXPERTS], down[ALL_TOKENS * EXPERTS];
        struct balance other;
        memcpy(up, logits, sizeof up);
        memcpy(down, logits, sizeof down);
        up[i] += STEP;
        down[i] -= STEP;
        const double slope = (balance_loss(&pp_kernels_reference, up, order.expert, &other) -
                              balance_loss(&pp_kernels_reference, down, order.expert, &other)) /
                             (2 * STEP) / 2;
        cr_assert_float_eq(ours[i], slope, tolerance * (1 + fabs(slope)), "%d: %g, not %g", i,
                           ours[i], slope);
        cr_assert_float_eq(added[i], logits[i] + ours[i], rounded * (1 + fabs(logits[i])));
    }
}

Test(kernels_experts, the_loss_of_balance_has_the_gradient_of_differences)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct tables all = tables_all(arena);

    check_balance(&pp_kernels_reference);
    check_balance(&pp_kernels_bf16);
    for (int i = 0; i < all.count; i++)
        check_balance(all.of[i]);
}

/* Two experts that share tokens evenly: choices 1/2 each of two, probabilities 1/2. */
Test(kernels_experts, an_even_balance_has_the_least_loss)
{
    const double logits[2][4] = {{3, 0, 0, 3}, {3, 0, 3, 0}};
    const int32_t chosen[2][2] = {{0, 1}, {0, 0}};
    const double p = exp(3) / (exp(3) + 1), expected[2] = {2, 4 * p};

    for (int i = 0; i < 2; i++) {
        double sums[4] = {0}, loss = 0;
        const struct pp_balance b = {.tokens = 2,
                                     .experts = 2,
                                     .top_k = 1,
                                     .element_bytes = sizeof(double),
                                     .gradient_bytes = sizeof(double),
                                     .logits = logits[i],
                                     .expert = chosen[i],
                                     .sums = sums,
                                     .factor = 1};
        pp_kernels_reference.balance_sums(NULL, &b);
        pp_kernels_reference.balance_loss(NULL, &b, 1, &loss);
        cr_assert_float_eq(loss, expected[i], 1e-12);
    }
}

/* Sets of experts part the rows: each has its own in the order of all, and counts them. Room does
 * not depend on who has the expert. */
Test(kernels_experts, sets_of_experts_part_the_rows)
{
    enum { SET = 2 };

    for (int capacity = 0; capacity <= 3; capacity++) {
        struct numbers n;
        struct integers all, of;
        double counts[EXPERTS + 2] = {0}, whole[EXPERTS + 2] = {0};
        struct pp_routing r = {.batch = BATCH,
                               .tokens = TOKENS,
                               .experts = EXPERTS,
                               .top_k = TOP_K,
                               .rows = MOST,
                               .capacity = capacity};

        fill(&n);
        run(&pp_kernels_reference, capacity, true, &n, &all);
        r.begin = all.begin;
        pp_kernels_reference.route_count(NULL, &r, 0, EXPERTS, whole);
        memcpy(of.expert, all.expert, sizeof all.expert);
        r.expert = of.expert;
        r.row = of.row;
        r.from = of.from;
        r.begin = of.begin;
        r.so_far = of.so_far;
        for (int first = 0; first < EXPERTS; first += SET) {
            const int held = first + SET < EXPERTS ? SET : EXPERTS - first;

            r.first_expert = first;
            r.held = held;
            pp_routes_order(&r);
            for (int c = 0; c < MOST; c++) {
                const bool is_here =
                    all.row[c] >= 0 && all.expert[c] >= first && all.expert[c] < first + held;
                cr_assert_eq(of.row[c], is_here ? all.row[c] - all.begin[first] : -1);
                cr_assert(!is_here || of.from[of.row[c]] == c);
            }
            cr_assert_eq(of.begin[EXPERTS], all.begin[first + held] - all.begin[first]);
            cr_assert(capacity == 0 || memcmp(of.so_far, all.so_far, sizeof of.so_far) == 0);
            pp_kernels_reference.route_count(NULL, &r, first, first + held, counts);
        }
        cr_assert_arr_eq(counts, whole, sizeof counts);
    }
}
