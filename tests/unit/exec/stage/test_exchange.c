/* Exchanges of a group against plain loops: sums, maxima and shares of tensors, and rows of experts
 * that replicas share. */
#include "exec/stage/stage.h"
#include "tests/unit/exec/stage/stage_rig.h"

#include <criterion/criterion.h>
#include <string.h>

enum { MOST = 4, SHARE = 7, GUARD = 99 };

/* ---- rules ----------------------------------------------------------------------------------- */

/* Small whole numbers: every type has them and their sums. */
static double number_at(int device, int64_t i)
{
    return floor(32 * rig_random((uint64_t)device + 1, (uint64_t)i));
}

/* Two bytes are a bf16: the first half of a float. */
static void put(size_t bytes, void *to, int64_t i, double value)
{
    const float single = (float)value;
    uint32_t bits;

    memcpy(&bits, &single, sizeof bits);
    if (bytes == 8)
        memcpy((char *)to + 8 * i, &value, 8);
    else if (bytes == 4)
        memcpy((char *)to + 4 * i, &bits, 4);
    else
        memcpy((char *)to + 2 * i, &(uint16_t){(uint16_t)(bits >> 16)}, 2);
}

static double get(size_t bytes, const void *from, int64_t i)
{
    double value;
    uint32_t bits = 0;
    uint16_t half;
    float single;

    if (bytes == 8) {
        memcpy(&value, (const char *)from + 8 * i, 8);
        return value;
    }
    if (bytes == 4) {
        memcpy(&bits, (const char *)from + 4 * i, 4);
    } else {
        memcpy(&half, (const char *)from + 2 * i, 2);
        bits = (uint32_t)half << 16;
    }
    memcpy(&single, &bits, 4);
    return (double)single;
}

/* What a rule makes of element i, on device `index` of `tp`. */
static double expected_of(enum pp_exchange_rule rule, int tp, int index, bool has_base, int64_t i)
{
    const int64_t at = rule == PP_RULE_SCATTER ? index * SHARE + i : i;
    double sum = 0, most = -INFINITY;

    if (rule == PP_RULE_GATHER)
        return number_at((int)(i / SHARE), i % SHARE);
    for (int t = 0; t < tp; t++) {
        sum += number_at(t, at);
        most = fmax(most, number_at(t, at));
    }
    return rule == PP_RULE_MAX_OF_G ? most : sum + (has_base ? number_at(MOST, i) : 0);
}

static void check_rule(const struct pp_kernels *k, enum pp_exchange_rule rule, int tp, int index,
                       bool has_base)
{
    static _Alignas(64) char parts[MOST + 1][8 * MOST * SHARE], to[8 * (MOST * SHARE + 1)];
    const bool is_of_g = rule == PP_RULE_SUM_OF_G || rule == PP_RULE_MAX_OF_G;
    const size_t bytes = is_of_g ? k->gradient_bytes : k->element_bytes;
    const void *from[MOST];
    struct pp_group_exchange e = {.count = rule == PP_RULE_SCATTER ? SHARE : tp * SHARE,
                                  .from = parts[index],
                                  .to = to,
                                  .rule = rule,
                                  .index = index,
                                  .base = has_base ? parts[MOST] : NULL};

    for (int t = 0; t <= MOST; t++)
        for (int64_t i = 0; i < MOST * SHARE; i++)
            put(bytes, parts[t], i, number_at(t, i));
    for (int t = 0; t < tp; t++)
        from[t] = parts[t];
    put(bytes, to, e.count, GUARD);
    pp_group_exchange_run(k, NULL, &e, tp, from);
    for (int64_t i = 0; i < e.count; i++)
        cr_assert(get(bytes, to, i) == expected_of(rule, tp, index, has_base, i),
                  "%s, rule %d, device %d of %d, element %d: %g", k->name, (int)rule, index, tp,
                  (int)i, get(bytes, to, i));
    cr_assert(get(bytes, to, e.count) == GUARD, "%s, rule %d: too much", k->name, (int)rule);
    cr_assert_eq(pp_rule_element_bytes(k, rule), bytes);
    cr_assert(pp_group_exchange_bytes(k, tp, &e) == (double)((size_t)(tp * SHARE) * bytes));
}

Test(exchange, rules_do_what_plain_loops_do)
{
    const struct pp_kernels *const tables[] = {&pp_kernels_reference, &pp_kernels_bf16,
                                               pp_kernels_fp32(true), pp_kernels_fp32(false)};

    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
        for (int rule = 0; rule < PP_RULES; rule++)
            for (int tp = 1; tp <= MOST; tp++)
                for (int index = 0; index < tp; index++)
                    for (int base = 0; base <= (rule == PP_RULE_SCATTER); base++)
                        check_rule(tables[k], (enum pp_exchange_rule)rule, tp, index, base > 0);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

enum { LARGE = 1 << 16 };

static void check_rounds(const struct pp_kernels *k, int tp, int64_t count, int wanted)
{
    static _Alignas(64) char parts[MOST][4 * LARGE], to[MOST][4 * LARGE], whole[4 * LARGE];
    struct pp_group_exchange e = {.count = count, .to = whole, .rule = PP_RULE_SUM},
                             rounds[MOST][PP_ROUNDS];
    const void *from[MOST];

    for (int t = 0; t < tp; t++) {
        for (int64_t i = 0; i < count; i++)
            put(k->element_bytes, parts[t], i, rig_random((uint64_t)t + 1, (uint64_t)i));
        e.to = to[t];
        e.from = from[t] = parts[t];
        cr_assert_eq(pp_group_exchange_rounds(k, &e, tp, t, rounds[t]), wanted);
    }
    for (int round = 0; round < wanted; round++) {
        for (int t = 0; t < tp; t++)
            from[t] = rounds[t][round].from;
        for (int t = 0; t < tp; t++)
            pp_group_exchange_run(k, NULL, &rounds[t][round], tp, from);
    }
    for (int t = 0; t < tp; t++)
        from[t] = parts[t];
    e.to = whole;
    pp_group_exchange_run(k, NULL, &e, tp, from);
    for (int t = 0; t < tp; t++)
        cr_assert_eq(memcmp(to[t], whole, (size_t)count * k->element_bytes), 0,
                     "%s, device %d of %d", k->name, t, tp);
    cr_assert_eq(pp_group_exchange_most_bytes(k, &e, tp),
                 (size_t)(count / (wanted == 1 ? 1 : tp)) * k->element_bytes);
}

/* Two rounds save 32 KiB or more, and shares are equal. */
Test(exchange, rounds_have_the_bits_of_one)
{
    const struct pp_kernels *const tables[] = {&pp_kernels_bf16, pp_kernels_fp32(true),
                                               pp_kernels_fp32(false)};

    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
        const int64_t element_bytes = (int64_t)tables[k]->element_bytes;

        check_rounds(tables[k], 2, LARGE, 1);
        check_rounds(tables[k], 3, 48 * 1024 / element_bytes, PP_ROUNDS);
        check_rounds(tables[k], 3, 48 * 1024 / element_bytes - 6, 1);
        check_rounds(tables[k], 4, LARGE, PP_ROUNDS);
        check_rounds(tables[k], 4, LARGE - 2, 1);
    }
}

/* ---- rows of experts ------------------------------------------------------------------------- */

enum { EXPERTS = 3, SETS = 3, MOST_ROWS = 5, WIDTH = 3, ROOM = MOST * MOST * EXPERTS * MOST_ROWS };
struct rows {
    int devices, experts, count[MOST][MOST * EXPERTS]; /* of each sender and expert of the set */
    int set, stride;                                   /* of SETS; other sets have no rows here */
    int32_t begins[MOST * (SETS * MOST * EXPERTS + 1)];
    int32_t sent[MOST][ROOM][WIDTH], came[MOST][ROOM][WIDTH];
    double moved_bytes[PP_ROWS_BACK + 1][MOST]; /* of the last exchange of each device */
};

static int32_t tag(int sender, int expert, int row, int column)
{
    return ((sender * 1000 + expert) * 1000 + row) * 10 + column + 1;
}

/* First rows of a sender, from the first expert of the set on. */
static int32_t *begin_of(struct rows *r, int sender)
{
    return &r->begins[sender * r->stride + r->set * r->devices * r->experts];
}

static void draw(struct rows *r, int devices, int experts, uint64_t seed)
{
    const int all = devices * experts, set = (int)(seed / 7 % SETS);

    *r =
        (struct rows){.devices = devices, .experts = experts, .set = set, .stride = SETS * all + 1};
    for (int s = 0; s < devices; s++) {
        int32_t *begin = begin_of(r, s);
        for (int e = 0; e < all; e++) {
            r->count[s][e] = (int)(rig_random(seed, (uint64_t)(s * all + e)) * (MOST_ROWS + 2)) - 1;
            r->count[s][e] = r->count[s][e] > 0 ? r->count[s][e] : 0; /* many have none */
            begin[e + 1] = begin[e] + r->count[s][e];
            for (int row = 0; row < r->count[s][e]; row++)
                for (int column = 0; column < WIDTH; column++)
                    r->sent[s][begin[e] + row][column] = tag(s, e, row, column);
        }
        for (int e = all + 1; e < (SETS - set) * all + 1; e++)
            begin[e] = begin[all];
    }
}

static struct pp_rows_exchange exchange_of(struct rows *r, enum pp_rows_way way, int index,
                                           int rows, void *to)
{
    r->moved_bytes[way][index] = 0;
    return (struct pp_rows_exchange){.way = way,
                                     .devices = r->devices,
                                     .index = index,
                                     .experts = r->experts,
                                     .begins = begin_of(r, 0),
                                     .stride = r->stride,
                                     .row_bytes = sizeof r->sent[0][0],
                                     .room_bytes = (size_t)rows * sizeof r->sent[0][0],
                                     .moved_bytes = &r->moved_bytes[way][index],
                                     .to = to};
}

static void run(struct rows *r, enum pp_rows_way way, int index, int rows, int32_t (*to)[WIDTH],
                int32_t (*from)[ROOM][WIDTH])
{
    const struct pp_group_exchange e = {.rows = exchange_of(r, way, index, rows, to)};
    const void *parts[MOST];

    for (int d = 0; d < r->devices; d++)
        parts[d] = from[d];
    pp_group_exchange_run(&pp_kernels_reference, NULL, &e, r->devices, parts);
}

/* Bytes of rows of others that came with the exchanges of a device; counts are no rows. */
static void check_bytes(struct rows *r, int index)
{
    int32_t counts[MOST][WIDTH];
    int came = 0, returned = 0;

    run(r, PP_ROWS_COUNT, index, r->devices, counts, r->sent);
    for (int s = 0; s < r->devices; s++)
        for (int e = 0; e < r->devices * r->experts; e++) {
            const bool is_here = e / r->experts == index;
            came += s != index && is_here ? r->count[s][e] : 0;
            returned += s == index && !is_here ? r->count[s][e] : 0;
        }
    cr_assert(r->moved_bytes[PP_ROWS_OUT][index] == came * (double)sizeof r->sent[0][0]);
    cr_assert(r->moved_bytes[PP_ROWS_BACK][index] == returned * (double)sizeof r->sent[0][0]);
    cr_assert(r->moved_bytes[PP_ROWS_COUNT][index] == 0);
}

/* Sender by sender, the rows of the experts of device `index`. */
static int check_out(struct rows *r, int index, int spare)
{
    int used = 0, rows = spare;

    for (int s = 0; s < r->devices; s++)
        for (int e = index * r->experts; e < (index + 1) * r->experts; e++)
            rows += r->count[s][e];
    memset(r->came[index], GUARD, sizeof r->came[index]);
    run(r, PP_ROWS_OUT, index, rows, r->came[index], r->sent);
    for (int s = 0; s < r->devices; s++)
        for (int e = index * r->experts; e < (index + 1) * r->experts; e++)
            for (int row = 0; row < r->count[s][e]; row++, used++)
                for (int column = 0; column < WIDTH; column++)
                    cr_assert_eq(r->came[index][used][column], tag(s, e, row, column),
                                 "device %d of %d, row %d", index, r->devices, used);
    for (int row = used; row < rows; row++)
        for (int column = 0; column < WIDTH; column++)
            cr_assert_eq(r->came[index][row][column], 0, "the rest is 0");
    cr_assert_eq(((char *)r->came[index][rows])[0], GUARD, "no more than the room");
    return used;
}

/* All that a device had sent, in its order. */
static void check_back(struct rows *r, int index, int spare)
{
    static int32_t back[ROOM][WIDTH];
    const int rows = begin_of(r, index)[r->devices * r->experts];

    memset(back, GUARD, sizeof back);
    run(r, PP_ROWS_BACK, index, rows + spare, back, r->came);
    cr_assert_eq(memcmp(back, r->sent[index], (size_t)rows * sizeof *back), 0,
                 "device %d of %d with %d rows", index, r->devices, rows);
    for (int i = 0; i < spare * WIDTH; i++)
        cr_assert_eq(back[rows + i / WIDTH][i % WIDTH], 0, "the rest is 0");
    cr_assert_eq(((char *)back[rows + spare])[0], GUARD, "no more than the room");
}

Test(exchange, rows_go_to_their_experts_and_back)
{
    static struct rows r;
    int sent = 0;

    for (uint64_t seed = 1; seed <= 200; seed++) {
        const int spare = (int)(seed % 3);
        draw(&r, 1 + (int)(seed % MOST), 1 + (int)(seed % EXPERTS), seed);
        for (int d = 0; d < r.devices; d++)
            sent += check_out(&r, d, spare);
        for (int d = 0; d < r.devices; d++)
            check_back(&r, d, spare);
        for (int d = 0; d < r.devices; d++)
            check_bytes(&r, d);
    }
    cr_assert_geq(sent, 1000);
}

Test(exchange, first_rows_of_all_replicas_come_in_order)
{
    static struct rows r;
    int32_t to[MOST * (SETS * MOST * EXPERTS + 1) + 1];
    const void *from[MOST];

    draw(&r, MOST, EXPERTS, 7);
    for (int d = 0; d < MOST; d++)
        from[d] = &r.begins[d * r.stride];
    to[MOST * r.stride] = GUARD;
    pp_rows_exchange_run(&pp_kernels_reference, NULL,
                         &(struct pp_rows_exchange){.way = PP_ROWS_COUNT,
                                                    .devices = MOST,
                                                    .row_bytes = sizeof(int32_t) * (size_t)r.stride,
                                                    .to = to},
                         from);
    cr_assert_eq(memcmp(to, r.begins, sizeof r.begins), 0);
    cr_assert_eq(to[MOST * r.stride], GUARD);
}
