/* Channels and sums by NCCL, with its stub. Four processes relay messages in both directions of two
 * pipelines, while groups of them sum. Each process draws its own order. */
#define _GNU_SOURCE /* usleep */
#include "core/random.h"
#include "tests/exec/nccl_rig.h"

enum {
    PROCESSES = 4,
    PIPES = 2,
    MESSAGES = 150, /* of a channel */
    MOST_BYTES = 3000,
    SUMS = 40, /* of a group */
    SUM_COUNT = 100,
};

/* Pipeline 0 goes from process 0 to 3 and back, pipeline 1 from 3 to 0 and back. */
#define HOP(kind, pipe, source, dest)                                                              \
    {                                                                                              \
#source ">" #dest " " #kind #pipe, (const int[]){source, dest }, 2                         \
    }
enum { CHANNELS = 12, GROUPS = 3, HOPS = CHANNELS / PIPES };
static const struct pp_nccl_group channels[CHANNELS + GROUPS] = {
    HOP(F, 0, 0, 1),
    HOP(F, 0, 1, 2),
    HOP(F, 0, 2, 3),
    HOP(B, 0, 3, 2),
    HOP(B, 0, 2, 1),
    HOP(B, 0, 1, 0),
    HOP(F, 1, 3, 2),
    HOP(F, 1, 2, 1),
    HOP(F, 1, 1, 0),
    HOP(B, 1, 0, 1),
    HOP(B, 1, 1, 2),
    HOP(B, 1, 2, 3),
    {"stage 0", (const int[]){0, 3}, 2},
    {"all", (const int[]){0, 1, 2, 3}, 4},
    {"stage 1", (const int[]){1, 2}, 2},
};
static const struct pp_nccl_group *const groups = channels + CHANNELS;
static const struct pp_nccl_plan PLAN = {
    .processes = PROCESSES,
    .groups = channels,
    .channel_count = CHANNELS,
    .group_count = GROUPS,
    .timeout_s = 60,
};

/* ---- messages -------------------------------------------------------------------------------- */

static size_t bytes_of(int pipe, int message)
{
    return pp_random_bits((uint64_t)pipe, (uint64_t)message) % MOST_BYTES;
}

static unsigned char byte_of(int pipe, int message, size_t i)
{
    return (unsigned char)pp_random_bits((uint64_t)(100 + pipe * MESSAGES + message), i);
}

/* Of a channel in this process: what it has issued, and where it stands. */
struct side {
    cudaStream_t stream;
    int issued;
    char *memory;        /* of the device: MESSAGES times MOST_BYTES */
    cudaEvent_t *events; /* [message]: has come */
};
struct play {
    struct rig *rig;
    uint64_t random;
    struct side sides[CHANNELS], sums[GROUPS];
};

static void fill(char *memory, int pipe)
{
    static unsigned char bytes[MESSAGES * MOST_BYTES];

    for (int m = 0; m < MESSAGES; m++)
        for (size_t i = 0; i < bytes_of(pipe, m); i++)
            bytes[m * MOST_BYTES + (int)i] = byte_of(pipe, m, i);
    rig_put(memory, bytes, sizeof bytes);
}

static void check(const char *memory, int channel)
{
    static unsigned char bytes[MESSAGES * MOST_BYTES];
    const int pipe = channel / HOPS;

    rig_cuda(cudaMemcpy(bytes, memory, sizeof bytes, cudaMemcpyDeviceToHost));
    for (int m = 0; m < MESSAGES; m++)
        for (size_t i = 0; i < bytes_of(pipe, m); i++)
            rig_must(bytes[m * MOST_BYTES + (int)i] == byte_of(pipe, m, i),
                     "channel %d, message %d, byte %zu", channel, m, i);
}

static bool is_sender(const struct play *p, int channel)
{
    return channels[channel].members[0] == p->rig->plan.process;
}

static bool is_here(const struct play *p, int channel)
{
    return is_sender(p, channel) || channels[channel].members[1] == p->rig->plan.process;
}

static void prepare_side(struct play *p, int channel)
{
    struct side *s = &p->sides[channel];

    s->stream = rig_stream();
    if (is_sender(p, channel) && channel % HOPS > 0) {
        s->memory = p->sides[channel - 1].memory; /* what came, goes on */
        return;
    }
    s->memory = rig_memory(MESSAGES * MOST_BYTES);
    if (is_sender(p, channel)) {
        fill(s->memory, channel / HOPS);
        return;
    }
    s->events = pp_arena_alloc(p->rig->arena, MESSAGES * sizeof *s->events);
    for (int m = 0; m < MESSAGES; m++)
        rig_cuda(cudaEventCreateWithFlags(&s->events[m], cudaEventDisableTiming));
}

static void send_one(struct play *p, int channel, int m)
{
    struct rig *r = p->rig;
    struct side *s = &p->sides[channel];

    if (channel % HOPS > 0)
        rig_cuda(cudaStreamWaitEvent(s->stream, p->sides[channel - 1].events[m], 0));
    rig_ok(r, rig_pass(r, PP_NCCL_SEND, channel, s->memory + m * MOST_BYTES,
                       bytes_of(channel / HOPS, m), s->stream));
}

static void recv_one(struct play *p, int channel, int m)
{
    struct rig *r = p->rig;
    struct side *s = &p->sides[channel];

    rig_ok(r, rig_pass(r, PP_NCCL_RECV, channel, s->memory + m * MOST_BYTES,
                       bytes_of(channel / HOPS, m), s->stream));
    rig_cuda(cudaEventRecord(s->events[m], s->stream));
}

/* The next message of a channel; false: it may not be issued yet, or there is none. */
static bool play_channel(struct play *p, int channel)
{
    struct side *s = &p->sides[channel];

    if (!is_here(p, channel) || s->issued == MESSAGES)
        return false;
    if (is_sender(p, channel) && channel % HOPS > 0 && p->sides[channel - 1].issued <= s->issued)
        return false;
    (is_sender(p, channel) ? send_one : recv_one)(p, channel, s->issued);
    s->issued++;
    return true;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static int64_t value_of(int group, int sum, int member, int i)
{
    const uint64_t bits =
        pp_random_bits((uint64_t)(1000 + group * SUMS + sum), (uint64_t)(member * SUM_COUNT + i));
    return sum % 2 ? (int64_t)(bits % 1000) : (int64_t)(bits >> 4); /* floats: exact */
}

static bool is_member(int group, int process)
{
    for (int i = 0; i < groups[group].count; i++)
        if (groups[group].members[i] == process)
            return true;
    return false;
}

/* Odd ones are of floats: written into the place of as many int64. */
static void put(void *place, int sum, int i, int64_t value)
{
    if (sum % 2)
        ((float *)place)[i] = (float)value;
    else
        ((int64_t *)place)[i] = value;
}

static void prepare_sums(struct play *p, int group)
{
    int64_t *values = calloc(SUMS * SUM_COUNT, sizeof *values);

    for (int sum = 0; sum < SUMS; sum++)
        for (int i = 0; i < SUM_COUNT; i++)
            put(&values[sum * SUM_COUNT], sum, i, value_of(group, sum, p->rig->plan.process, i));
    p->sums[group].stream = rig_stream();
    p->sums[group].memory = rig_memory(SUMS * SUM_COUNT * sizeof *values);
    rig_put(p->sums[group].memory, values, SUMS * SUM_COUNT * sizeof *values);
    free(values);
}

static bool play_sum(struct play *p, int group)
{
    struct rig *r = p->rig;
    struct side *s = &p->sums[group];
    const int sum = s->issued;

    if (!is_member(group, r->plan.process) || sum == SUMS)
        return false;
    const struct pp_nccl_operation operation = {
        .kind = PP_NCCL_SUM,
        .on = group,
        .type = sum % 2 ? PP_NCCL_FLOAT : PP_NCCL_INT64,
        .pieces = &(struct pp_nccl_piece){.at = s->memory + sum * SUM_COUNT * (int)sizeof(int64_t),
                                          .count = SUM_COUNT},
        .count = 1};
    rig_ok(r, pp_nccl_issue(r->nccl, &operation, s->stream, &r->err));
    s->issued++;
    return true;
}

static void check_sums(struct play *p, int group)
{
    int64_t is[SUM_COUNT], due[SUM_COUNT];

    for (int sum = 0; sum < SUMS; sum++) {
        memset(due, 0, sizeof due);
        for (int i = 0; i < SUM_COUNT; i++) {
            int64_t total = 0;
            for (int k = 0; k < groups[group].count; k++)
                total += value_of(group, sum, groups[group].members[k], i);
            put(due, sum, i, total);
        }
        rig_cuda(cudaMemcpy(is, p->sums[group].memory + sum * (int)sizeof is, sizeof is,
                            cudaMemcpyDeviceToHost));
        rig_must(memcmp(is, due, SUM_COUNT * (sum % 2 ? sizeof(float) : sizeof(int64_t))) == 0,
                 "group %d, sum %d", group, sum);
    }
}

/* ---- a play ---------------------------------------------------------------------------------- */

/* Any that may be issued now; false: all have been. */
static bool play_any(struct play *p)
{
    const int first = (int)(pp_random_bits(p->random, 0) % (CHANNELS + GROUPS));

    p->random = pp_random_bits(p->random, 1);
    for (int i = 0; i < CHANNELS + GROUPS; i++) {
        const int k = (first + i) % (CHANNELS + GROUPS);
        if (k < CHANNELS ? play_channel(p, k) : play_sum(p, k - CHANNELS))
            return true;
    }
    return false;
}

static void prepare(struct play *p)
{
    for (int c = 0; c < CHANNELS; c++)
        if (is_here(p, c))
            prepare_side(p, c);
    for (int g = 0; g < GROUPS; g++)
        if (is_member(g, p->rig->plan.process))
            prepare_sums(p, g);
}

static void finish(struct play *p)
{
    struct rig *r = p->rig;

    for (int c = CHANNELS - 1; c >= 0; c--)
        if (is_here(p, c))
            rig_ok(r, pp_nccl_finish(r->nccl, p->sides[c].stream, &r->err));
    for (int g = 0; g < GROUPS; g++)
        if (is_member(g, r->plan.process))
            rig_ok(r, pp_nccl_finish(r->nccl, p->sums[g].stream, &r->err));
    for (int c = 0; c < CHANNELS; c++)
        if (is_here(p, c))
            check(p->sides[c].memory, c);
    for (int g = 0; g < GROUPS; g++)
        if (is_member(g, r->plan.process))
            check_sums(p, g);
}

static void relay(struct rig *r)
{
    const char *seed = getenv("PP_EMULATED_SEED");
    struct play p = {.rig = r,
                     .random = strtoull(seed, NULL, 10) * 100 + (uint64_t)r->plan.process};

    pp_nccl_share_device(r->plan.process, true);
    rig_ok(r, rig_open(r));
    prepare(&p);
    while (play_any(&p))
        continue;
    finish(&p);
    rig_ok(r, pp_nccl_close(r->nccl, &r->err));
}

Test(nccl, thousands_of_messages_and_sums_arrive_in_any_order)
{
    static const char *const seeds[] = {"0", "1", "2"};

    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        setenv("PP_EMULATED_SEED", seeds[i], 1);
        rig_run(&PLAN, relay, -1);
    }
}
