/* Durations of ops from the table of costs, and tables of unit costs. */
#include "core/cost/cost.h"

#include "core/units.h"

#include <math.h>
#include <string.h>

enum { UNIT_KEYS = 8 };
static const double UNIT_MAX = 1e6;

/* ---- look-up --------------------------------------------------------------------------------- */

/* Divides first, so that no product of a duration and a count overflows. */
int64_t pp_costs_share_ps(int64_t ps, int part, int whole)
{
    if (part == whole)
        return ps;
    return ps / whole * part + (ps % whole * part + whole / 2) / whole;
}

static struct pp_cost share(struct pp_cost cost, int part, int whole)
{
    if (part == whole) { /* the usual case */
        cost.latency_ps = 0;
        return cost;
    }
    const double frac = (double)part / whole;

    return (struct pp_cost){.ps = pp_costs_share_ps(cost.ps, part, whole),
                            .tp_ps = pp_costs_share_ps(cost.tp_ps, part, whole),
                            .cp_ps = pp_costs_share_ps(cost.cp_ps, part, whole),
                            .ep_ps = pp_costs_share_ps(cost.ep_ps, part, whole),
                            .gather_ps = pp_costs_share_ps(cost.gather_ps, part, whole),
                            .copy_ps = pp_costs_share_ps(cost.copy_ps, part, whole),
                            .bits_ps = pp_costs_share_ps(cost.bits_ps, part, whole),
                            .flops = cost.flops * frac,
                            .bytes = cost.bytes * frac};
}

struct pp_cost pp_cost_sum(struct pp_cost a, struct pp_cost b)
{
    return (struct pp_cost){.ps = a.ps + b.ps,
                            .tp_ps = a.tp_ps + b.tp_ps,
                            .cp_ps = a.cp_ps + b.cp_ps,
                            .ep_ps = a.ep_ps + b.ep_ps,
                            .gather_ps = a.gather_ps + b.gather_ps,
                            .copy_ps = a.copy_ps + b.copy_ps,
                            .bits_ps = a.bits_ps + b.bits_ps,
                            .latency_ps = a.latency_ps + b.latency_ps,
                            .flops = a.flops + b.flops,
                            .bytes = a.bytes + b.bytes};
}

/* Returns the cost of a concurrent forward and backward. The exchanges of experts of one overlap
 * with the compute of the other (DeepSeek-AI 2024, DeepSeek-V3, section 3.2.1, DualPipe). */
static struct pp_cost overlapped(struct pp_cost f, struct pp_cost b)
{
    struct pp_cost both = pp_cost_sum(f, b);
    const int64_t compute_ps = both.ps - both.ep_ps,
                  hidden_ps = both.ep_ps < compute_ps ? both.ep_ps : compute_ps;

    both.ps -= hidden_ps;
    both.ep_ps -= hidden_ps;
    return both;
}

/* Returns the time of one of `buckets` equal buckets; 0 or 1 = not cut. */
static int64_t bucket_ps(int64_t ps, int64_t latency_ps, int buckets)
{
    if (buckets < 2)
        return ps;
    return latency_ps + pp_costs_share_ps(ps - latency_ps, 1, buckets);
}

int64_t pp_ring_hop_ps(const struct pp_ring *ring, int kind, int position, int buckets)
{
    const int64_t *hop_ps = kind == PP_AG && ring->gather_ps ? ring->gather_ps : ring->hop_ps;

    return bucket_ps(hop_ps[position], ring->alpha_ps ? ring->alpha_ps[position] : 0, buckets);
}

int pp_ring_turns(int kind)
{
    return kind == PP_AR ? 2 : kind == PP_RS || kind == PP_AG ? 1 : 0;
}

int64_t pp_ring_together_ps(const struct pp_ring *ring, int kind, int buckets)
{
    const int64_t steps = (int64_t)pp_ring_turns(kind) * (ring->positions - 1);
    int64_t slowest_ps = 0;

    for (int i = 0; i < ring->positions; i++) {
        const int64_t hop_ps = pp_ring_hop_ps(ring, kind, i, buckets);
        slowest_ps = hop_ps > slowest_ps ? hop_ps : slowest_ps;
    }
    return steps == 0 || slowest_ps < INT64_MAX / 4 / steps ? slowest_ps * steps : INT64_MAX / 4;
}

static struct pp_cost bucket_of(struct pp_cost cost, int buckets)
{
    cost.ps = bucket_ps(cost.ps, cost.latency_ps, buckets);
    cost.bytes /= buckets > 1 ? buckets : 1;
    return cost;
}

static struct pp_cost single(const struct pp_costs *costs, const struct pp_op *op)
{
    const struct pp_cost *table = costs->op[op->kind];
    const bool has_purpose =
        pp_op_has_purpose(op->kind) && op->purpose > 0 && op->purpose < PP_PURPOSES;

    if (op->kind == PP_AR && op->aux == PP_TIED)
        return costs->tied ? *costs->tied : (struct pp_cost){0};
    if (has_purpose && (!pp_op_kinds[op->kind].has_mb || pp_move_is_cache(op->purpose)))
        table = costs->purpose[op->purpose];
    if (!table || op->stage >= costs->stages)
        return (struct pp_cost){0};
    if (pp_op_has_buckets(op->kind))
        return bucket_of(table[op->stage], op->granules);
    if (!pp_op_kinds[op->kind].has_mb)
        return table[op->stage];
    if (op->split >= costs->splits)
        return (struct pp_cost){0};
    return share(table[op->stage * costs->splits + op->split], op->granules, costs->granules);
}

struct pp_cost pp_costs_op(const struct pp_costs *costs, const struct pp_op *op,
                           const struct pp_op *fused)
{
    if (!fused)
        return single(costs, op);
    const struct pp_cost *pair = costs->overlap_all;
    if (costs->overlap && op->stage < costs->stages && fused->stage < costs->stages)
        pair = &costs->overlap[(size_t)op->stage * (size_t)costs->stages + fused->stage];
    if (!pair)
        return overlapped(single(costs, op), single(costs, fused));
    /* The entry is for one micro-batch each way. Takes the mean share, and 1/q for a sequence
     * split. */
    return share(*pair, op->granules + fused->granules, 2 * costs->granules * costs->splits);
}

int64_t pp_costs_op_ps(const struct pp_costs *costs, const struct pp_op *op,
                       const struct pp_op *fused)
{
    const struct pp_cost *table = costs->op[op->kind];

    if (fused || !table || !pp_op_kinds[op->kind].has_mb || op->stage >= costs->stages ||
        op->split >= costs->splits)
        return pp_costs_op(costs, op, fused).ps;
    return pp_costs_share_ps(table[op->stage * costs->splits + op->split].ps, op->granules,
                             costs->granules);
}

double pp_costs_message_bytes(const struct pp_costs *costs, const struct pp_op *op)
{
    /* The boundary below stage s belongs to s: F leaves s and enters s+1, B leaves s+1 for s. */
    const bool is_from_below = op->kind == PP_SEND_B || op->kind == PP_RECV_F;
    const int boundary = op->stage - is_from_below;

    if (!costs->memory || boundary < 0 || boundary >= costs->stages)
        return 0;
    return costs->memory[boundary].boundary_bytes * op->granules /
           ((double)costs->granules * costs->splits);
}

struct pp_cost pp_costs_p2p(const struct pp_costs *costs, const struct pp_op *send, int source)
{
    const int link =
        costs->link ? costs->link[(size_t)source * (size_t)costs->ranks + send->peer] : 0;
    const double bytes = pp_costs_message_bytes(costs, send);

    return (struct pp_cost){
        .ps = costs->alpha_ps[link] + pp_units_ps(bytes * costs->s_per_byte[link]), .bytes = bytes};
}

/* ---- unit mode ------------------------------------------------------------------------------- */

static const char *const unit_keys[UNIT_KEYS] = {"F", "B", "I", "W", "C", "FB", "R", "P"};
enum { KEY_F, KEY_B, KEY_I, KEY_W, KEY_C, KEY_FB, KEY_R, KEY_P };

static enum pp_status parse_value(const char *text, size_t length, double *value,
                                  struct pp_error *err)
{
    char number[64];

    if (length == 0 || length >= sizeof(number))
        return pp_error_set(err, PP_EINVAL, "expected a number, got '%.*s'",
                            (int)(length < 80 ? length : 80), text);
    memcpy(number, text, length);
    number[length] = '\0';
    PP_TRY(pp_units_parse(number, PP_UNIT_COUNT, value, err));
    if (*value > UNIT_MAX)
        return pp_error_set(err, PP_EINVAL, "%s is too much, at most %g units", number, UNIT_MAX);
    return PP_OK;
}

const struct pp_unit_costs pp_unit_costs_usual = {.f = 1, .b = 2, .i = 1, .w = 1, .fb = 3};

/* Parses one "KEY=number" of `length` bytes. */
static enum pp_status parse_key(const char *text, size_t length, double value[UNIT_KEYS],
                                struct pp_error *err)
{
    const char *equals = memchr(text, '=', length);
    const size_t name = equals ? (size_t)(equals - text) : length;

    for (int k = 0; k < UNIT_KEYS; k++) {
        if (strlen(unit_keys[k]) != name || memcmp(unit_keys[k], text, name) != 0)
            continue;
        if (!equals)
            return pp_error_set(err, PP_EINVAL, "--unit: %s without a value, expected %s=1",
                                unit_keys[k], unit_keys[k]);
        if (!isnan(value[k]))
            return pp_error_set(err, PP_EINVAL, "--unit: %s is given twice", unit_keys[k]);
        if (parse_value(equals + 1, length - name - 1, &value[k], err) != PP_OK)
            return pp_error_prefix(err, "--unit %s: ", unit_keys[k]);
        return PP_OK;
    }
    return pp_error_set(
        err, PP_EINVAL,
        "--unit: unknown key '%.*s', known are F, B, I, W, C, FB, R and P (F=1,B=2 or "
        "F=1,I=1,W=1,C=0.1)",
        (int)(name < 80 ? name : 80), text);
}

/* Fills B, I and W from those given so that B = I + W. */
static enum pp_status complete_backward(double v[UNIT_KEYS], struct pp_error *err)
{
    const bool has_b = !isnan(v[KEY_B]), has_i = !isnan(v[KEY_I]), has_w = !isnan(v[KEY_W]);

    if (has_i != has_w && !has_b)
        return pp_error_set(err, PP_EINVAL, "--unit: %s without %s; give both or B",
                            has_i ? "I" : "W", has_i ? "W" : "I");
    if (!has_i && !has_w) {
        if (!has_b)
            v[KEY_B] = 2 * v[KEY_F];
        v[KEY_I] = v[KEY_W] = v[KEY_B] / 2;
        return PP_OK;
    }
    if (!has_i)
        v[KEY_I] = v[KEY_B] - v[KEY_W];
    if (!has_w)
        v[KEY_W] = v[KEY_B] - v[KEY_I];
    if (!has_b)
        v[KEY_B] = v[KEY_I] + v[KEY_W];
    if (v[KEY_I] < 0 || v[KEY_W] < 0 || fabs(v[KEY_B] - v[KEY_I] - v[KEY_W]) > 1e-9 * v[KEY_B])
        return pp_error_set(err, PP_EINVAL,
                            "--unit: B must be I + W, but B=%g and %s%g; leave out B", v[KEY_B],
                            has_i && has_w ? "I + W = " : "its part is ",
                            has_i && has_w ? v[KEY_I] + v[KEY_W] : (has_i ? v[KEY_I] : v[KEY_W]));
    return PP_OK;
}

enum pp_status pp_unit_costs_parse(const char *text, struct pp_unit_costs *unit,
                                   struct pp_error *err)
{
    double v[UNIT_KEYS] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};

    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        PP_TRY(parse_key(at, length, v, err));
        at += length;
        if (!*at)
            break;
    }
    if (isnan(v[KEY_F]))
        v[KEY_F] = 1;
    if (isnan(v[KEY_C]))
        v[KEY_C] = 0;
    const bool has_backward =
        !isnan(v[KEY_B]) || !isnan(v[KEY_I]) || !isnan(v[KEY_W]) || !isnan(v[KEY_FB]);
    PP_TRY(complete_backward(v, err));
    if (isnan(v[KEY_FB]))
        v[KEY_FB] = v[KEY_F] + v[KEY_B];
    if (v[KEY_F] + v[KEY_B] <= 0 && !(v[KEY_P] > 0))
        return pp_error_set(err, PP_EINVAL,
                            "--unit: no op would take time; give F a time above 0, such as F=1");
    memset(unit, 0, sizeof(*unit)); /* padding, too: costs are compared as bytes */
    unit->f = v[KEY_F], unit->b = v[KEY_B], unit->i = v[KEY_I], unit->w = v[KEY_W];
    unit->c = v[KEY_C], unit->fb = v[KEY_FB];
    unit->has_r = !isnan(v[KEY_R]);
    unit->r = unit->has_r ? v[KEY_R] : 0;
    unit->has_backward = has_backward;
    unit->has_p = !isnan(v[KEY_P]);
    unit->p = unit->has_p ? v[KEY_P] : 0;
    return PP_OK;
}

static struct pp_cost *constant(struct pp_arena *arena, size_t count, int64_t ps)
{
    struct pp_cost *table = PP_ARRAY(arena, struct pp_cost, count);

    for (size_t i = 0; i < count; i++)
        table[i].ps = ps;
    return table;
}

struct pp_costs *pp_costs_unit(struct pp_arena *arena, const struct pp_unit_costs *unit, int ranks,
                               int stages, int splits, int granules)
{
    static const char *const link_names[] = {"C"};
    const struct {
        int kind;
        double units;
    } rows[] = {{PP_F, unit->f}, {PP_B, unit->b}, {PP_I, unit->i}, {PP_W, unit->w}};
    struct pp_costs *costs = PP_NEW(arena, struct pp_costs);

    *costs = (struct pp_costs){.stages = stages,
                               .splits = splits,
                               .granules = granules,
                               .ranks = ranks,
                               .is_unit = true,
                               .links = 1,
                               .link_names = link_names,
                               .sync_ranks = 1,
                               .origin = "unit",
                               .source = "--unit"};
    for (size_t k = 0; k < PP_COUNT(rows); k++)
        costs->op[rows[k].kind] =
            constant(arena, (size_t)stages * (size_t)splits, pp_units_ps(rows[k].units / splits));
    if (unit->has_r)
        costs->op[PP_R] =
            constant(arena, (size_t)stages * (size_t)splits, pp_units_ps(unit->r / splits));
    if (unit->fb != unit->f + unit->b)
        costs->overlap_all = constant(arena, 1, pp_units_ps(unit->fb));
    costs->alpha_ps = PP_ARRAY(arena, int64_t, 1);
    costs->alpha_ps[0] = pp_units_ps(unit->c);
    costs->s_per_byte = PP_ARRAY(arena, double, 1);
    costs->ring_alpha_ps = PP_ARRAY(arena, int64_t, stages);
    return costs;
}

void pp_costs_unit_prompts(const struct pp_unit_costs *unit, int stages, struct pp_costs *costs)
{
    for (int i = 0; unit->has_p && i < stages * costs->splits; i++)
        costs->op[PP_F][i].ps = pp_units_ps(unit->p / costs->splits);
}

void pp_costs_unit_share(const double *recompute_frac, struct pp_costs *costs)
{
    for (int i = 0; costs->op[PP_R] && i < costs->stages * costs->splits; i++)
        costs->op[PP_R][i].ps =
            (int64_t)llrint(recompute_frac[i / costs->splits] * (double)costs->op[PP_R][i].ps);
}
