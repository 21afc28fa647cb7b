/* sim/emit/megatron_layout.c — Megatron-LM: degrees, batch, and how blocks are shared out. */
#include "sim/emit/megatron.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

enum { STAGE_BYTES = 24, ENDS_BYTES = 64 }; /* "(t*65535|)*65535,", "E|", "mmmmL" */

/* ---- how blocks are shared out --------------------------------------------------------------- */

static bool is_even(const int *blocks, int from, int to)
{
    for (int s = from; s < to; s++)
        if (blocks[s] != blocks[from])
            return false;
    return true;
}

/* The shortest form of a division. EVEN needs nothing. COUNTED counts embedding and head as a block
 * each. ENDS gives other numbers for the first and the last rank. LISTED names every stage. */
enum split { EVEN, COUNTED, ENDS, LISTED };
static enum split split_of(const struct pp_emit_job *job)
{
    const int *b = job->blocks, last = pp_emit_stages(job) - 1;

    if (is_even(b, 0, last + 1))
        return EVEN;
    if (last < 2 || !is_even(b, 1, last))
        return last == 1 ? ENDS : LISTED;
    if (b[0] + 1 == b[1] && b[last] + 1 == b[1])
        return COUNTED;
    return job->shape.chunks == 1 && b[0] > 0 && b[last] > 0 ? ENDS : LISTED;
}

static struct pp_emit_value counted(const struct pp_emit_job *job)
{
    return PP_EMIT_FLAG(split_of(job) == COUNTED);
}

static struct pp_emit_value first_layers(const struct pp_emit_job *job)
{
    return split_of(job) == ENDS ? PP_EMIT_INT(job->blocks[0]) : PP_EMIT_NOTHING;
}

static struct pp_emit_value last_layers(const struct pp_emit_job *job)
{
    return split_of(job) == ENDS ? PP_EMIT_INT(job->blocks[pp_emit_stages(job) - 1])
                                 : PP_EMIT_NOTHING;
}

/* A text that grows within its buffer. */
struct list {
    char *text;
    size_t used, size;
};
__attribute__((format(printf, 2, 3))) static void add(struct list *list, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    list->used += (size_t)vsnprintf(list->text + list->used, list->size - list->used, format, args);
    va_end(args);
    assert(list->used < list->size);
}

static void add_blocks(struct list *list, int count)
{
    if (count == 1)
        add(list, "t");
    else if (count > 1)
        add(list, "t*%d", count);
}

/* "Et*7|(t*8|)*6,t*7L": stages in the order of chunks, runs of equal ones in brackets. */
static struct pp_emit_value layout(const struct pp_emit_job *job)
{
    const int stages = pp_emit_stages(job), *b = job->blocks;
    struct list list = {.size = (size_t)stages * STAGE_BYTES + ENDS_BYTES};

    if (split_of(job) != LISTED)
        return PP_EMIT_NOTHING;
    list.text = PP_ARRAY(job->arena, char, list.size);
    add(&list, "E");
    add_blocks(&list, b[0]);
    add(&list, "|");
    for (int s = 1, run; s < stages - 1; s += run) {
        for (run = 1; s + run < stages - 1 && b[s + run] == b[s];)
            run++;
        add(&list, "%s", run > 1 ? "(" : "");
        add_blocks(&list, b[s]);
        add(&list, "|");
        if (run > 1)
            add(&list, ")*%d,", run);
    }
    add_blocks(&list, b[stages - 1]);
    for (int i = 0; i < job->config->model.mtp; i++)
        add(&list, "m");
    add(&list, "L");
    return PP_EMIT_TEXT(list.text);
}

static struct pp_emit_value chunks(const struct pp_emit_job *job)
{
    if (job->shape.chunks == 1 || split_of(job) == LISTED) /* the layout says it */
        return PP_EMIT_NOTHING;
    return PP_EMIT_INT(job->shape.chunks);
}

static struct pp_emit_value group(const struct pp_emit_job *job)
{
    if (job->shape.chunks == 1 || pp_emit_option(job, "group") == job->layout.pp)
        return PP_EMIT_NOTHING;
    return PP_EMIT_INT(pp_emit_option(job, "group"));
}

/* ---- degrees --------------------------------------------------------------------------------- */

/* Experts with tensor parallelism are refused without it. */
static bool needs_sequence_parallel(const struct pp_emit_job *job)
{
    return job->layout.tp > 1 && job->config->model.experts.count > 0;
}

static struct pp_emit_value sequence_parallel(const struct pp_emit_job *job)
{
    return PP_EMIT_FLAG(pp_emit_is_sequence_parallel(job) || needs_sequence_parallel(job));
}

static struct pp_emit_value tp_overlap(const struct pp_emit_job *job)
{
    return PP_EMIT_FLAG(job->config->costs.tp_overlap_frac > 0 &&
                        pp_emit_is_sequence_parallel(job));
}

static struct pp_emit_value etp(const struct pp_emit_job *job)
{
    const int degree = pp_layout_etp(&job->layout);

    return job->config->model.experts.count > 0 && degree != job->layout.tp ? PP_EMIT_INT(degree)
                                                                            : PP_EMIT_NOTHING;
}

static bool is_pipeline_outside_dp(const struct pp_emit_job *job)
{
    const uint8_t *axis = job->config->map.axis;

    return axis[0] == PP_AXIS_TP && axis[1] == PP_AXIS_CP && axis[2] == PP_AXIS_PP;
}

static struct pp_emit_value tp_pp_dp(const struct pp_emit_job *job)
{
    return PP_EMIT_FLAG(is_pipeline_outside_dp(job));
}

/* ---- the table ------------------------------------------------------------------------------- */

static const char *say_seq(const struct pp_emit_job *job)
{
    const int seq = job->layout.seq, part = 2 * job->layout.cp;

    if (job->layout.cp == 1 || seq % part == 0)
        return NULL;
    return pp_arena_printf(job->arena,
                           "--seq %d is not a multiple of 2 * cp = %d, as Megatron-LM cuts "
                           "sequences; nearest: --seq %d",
                           seq, part, seq > part ? seq / part * part : part);
}

static const char *say_sequence(const struct pp_emit_job *job)
{
    return needs_sequence_parallel(job) && !pp_emit_is_sequence_parallel(job)
               ? "experts with tensor parallelism need sequence parallelism; nearest, and set "
                 "here: --sequence-parallel on"
               : NULL;
}

static const char *say_warmup(const struct pp_emit_job *job)
{
    return pp_emit_option(job, "extra-warmup") && job->layout.ep == 1
               ? "--extra-warmup 1 overlaps exchanges of experts, of which --ep 1 has none; "
                 "nearest, and set here: no further warm-up"
               : NULL;
}

static const char *say_map(const struct pp_emit_job *job)
{
    return is_pipeline_outside_dp(job) ? NULL : pp_emit_say_map(job);
}

#define PARALLEL "parallelism"
#define BATCH    "batch"

/* clang-format off */
static const struct pp_emit_row rows[] = {
    {PARALLEL, "tensor-model-parallel-size", PP_EMIT_LAYOUT(tp)},
    {PARALLEL, "sequence-parallel", .value = sequence_parallel},
    {PARALLEL, "tp-comm-overlap", .value = tp_overlap},
    {PARALLEL, "pipeline-model-parallel-size", PP_EMIT_LAYOUT(pp)},
    {PARALLEL, "num-virtual-stages-per-pipeline-rank", .value = chunks},
    {PARALLEL, "microbatch-group-size-per-virtual-pipeline-stage", .value = group},
    {PARALLEL, "account-for-embedding-in-pipeline-split", .value = counted},
    {PARALLEL, "account-for-loss-in-pipeline-split", .value = counted},
    {PARALLEL, "decoder-first-pipeline-num-layers", .value = first_layers},
    {PARALLEL, "decoder-last-pipeline-num-layers", .value = last_layers},
    {PARALLEL, "pipeline-model-parallel-layout", .value = layout},
    {PARALLEL, "context-parallel-size", PP_EMIT_LAYOUT(cp), .unless = 1},
    {PARALLEL, "expert-model-parallel-size", PP_EMIT_LAYOUT(ep), .unless = 1},
    {PARALLEL, "expert-tensor-parallel-size", .value = etp},
    {PARALLEL, "use-tp-pp-dp-mapping", .value = tp_pp_dp},

    {BATCH, "micro-batch-size", PP_EMIT_LAYOUT(mbs)},
    {BATCH, "global-batch-size", .value = pp_emit_gbs},
    {BATCH, "seq-length", PP_EMIT_LAYOUT(seq)},
};
/* clang-format on */

static const struct pp_emit_gap gaps[] = {
    {PP_EMIT_REFUSED, say_seq},
    {PP_EMIT_DIFFERS, pp_emit_say_schedule},
    {PP_EMIT_DIFFERS, pp_emit_say_barrier},
    {PP_EMIT_DIFFERS, say_sequence},
    {PP_EMIT_DIFFERS, say_warmup},
    {PP_EMIT_DIFFERS, pp_emit_say_head},
    {PP_EMIT_DIFFERS, say_map},
};

const struct pp_emit_table pp_emit_megatron_layout = PP_EMIT_TABLE(rows, gaps);
