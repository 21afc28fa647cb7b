/* schedules/bfs.c — breadth-first (looped): all micro-batches through one chunk, then the next. */
#include "schedules/order/closed_form.h"

#include <limits.h>

enum { DEPTH_FIRST, BACKWARD };
static const struct pp_schedule_option depth_first = {
    .name = "depth-first",
    .min = 1,
    .max = INT_MAX,
    .neutral = 1,
    .argument = "DF",
    .default_text = "1",
    .help = "Parts of the batch that pass all stages one after another: the outer, depth-first "
            "loop of bfs.",
};
static const struct pp_schedule_option bfs_backward = {
    .name = "bfs-backward",
    .choices = "ascending|descending",
    .max = 1,
    .argument = "ORDER",
    .default_text = "ascending",
    .help = "Order of the micro-batches in the backward of bfs.",
    .after = "depth-first",
};

/* Sweep df of DF takes micro-batches df, df + DF, ...: all forwards, then all backwards. */
static struct pp_schedule_work next(const struct pp_shape *shape, int direction, int k)
{
    const int per_chunk = shape->micro_batches / shape->option[DEPTH_FIRST] * shape->splits;
    const int per_sweep = per_chunk * shape->chunks;
    const int chunk = k % per_sweep / per_chunk;
    int i = k % per_chunk;

    if (direction == PP_DIR_B) /* splits always in reverse; micro-batches with the option */
        i = shape->option[BACKWARD] ? per_chunk - 1 - i
                                    : i - i % shape->splits + shape->splits - 1 - i % shape->splits;
    return (struct pp_schedule_work){
        .chunk = direction == PP_DIR_F ? chunk : shape->chunks - 1 - chunk,
        .mb = i / shape->splits * shape->option[DEPTH_FIRST] + k / per_sweep,
        .split = i % shape->splits};
}

static void phases(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    const int per_sweep =
        shape->micro_batches / shape->option[DEPTH_FIRST] * shape->splits * shape->chunks;

    (void)rank;
    for (int sweep = 0; sweep < shape->option[DEPTH_FIRST]; sweep++) {
        pp_phase(out, per_sweep, "F");
        pp_phase(out, per_sweep, "B");
    }
}

static bool is_legal_depth(const struct pp_shape *shape, int depth)
{
    return shape->micro_batches % depth == 0;
}

static enum pp_status accepts(const struct pp_shape *shape, struct pp_error *err)
{
    const int depth = shape->option[DEPTH_FIRST], n = shape->micro_batches;

    return pp_want_legal(err, shape, (struct pp_wanted){depth, 1, n, is_legal_depth},
                         "--depth-first %d does not divide --micro-batches %d", depth, n);
}

/* Sweeps do not overlap: rank 0 ends a sweep and starts the next. */
static double bubble(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    struct pp_shape sweep = *shape;

    sweep.micro_batches /= shape->option[DEPTH_FIRST];
    return pp_bubble_flush(&sweep, unit, rank);
}

static double peak(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank)
{
    (void)unit, (void)rank;
    return (double)(shape->micro_batches / shape->option[DEPTH_FIRST]) * shape->chunks;
}

/* PyTorch's class runs backwards from the last micro-batch to the first. */
static bool is_torch(const struct pp_shape *shape)
{
    return shape->chunks > 1 && shape->option[BACKWARD] && shape->option[DEPTH_FIRST] == 1 &&
           shape->splits == 1;
}

static const struct pp_schedule_namesake namesakes[] = {
    {"LoopedBFS", BACKWARD, 1}, {"ScheduleLoopedBFS", BACKWARD, 1}, {NULL, 0, 0}};

const struct pp_schedule pp_schedule_bfs = {
    .name = "bfs",
    .summary = "breadth-first: all micro-batches through one chunk, then the next",
    .rule = "chunks ascending: F of all micro-batches; then chunks descending: B of all; "
            "--depth-first DF repeats that for every DF-th micro-batch; LoopedBFS: B descending",
    .when = "sharded weights and few micro-batches: each chunk is gathered once per direction",
    .source = "Lamy-Poirier, MLSys'23, section 4; Fast-LLM schedule.py",
    .aliases = PP_NAMES("breadth-first", "LoopedBFS", "ScheduleLoopedBFS"),
    .namesakes = namesakes,
    .calls = PP_CALLS({"torchtitan", "LoopedBFS", is_torch}),
    .placement = PP_PLACE_LOOP,
    .sizes = PP_SIZE_CHUNKS | PP_SIZE_SPLITS,
    .options = {[DEPTH_FIRST] = &depth_first, [BACKWARD] = &bfs_backward},
    .limits = "N a multiple of --depth-first",
    .accepts = accepts,
    .next = next,
    .phases = phases,
    .bubble_frac = {"w/(nqV+w), w = D-1 + (V-1)max(0,D-nq), n = N/DF", true, bubble},
    .peak = {"NV/DF", true, peak},
};
