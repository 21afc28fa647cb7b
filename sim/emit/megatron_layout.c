/* sim/emit/megatron_layout.c — Megatron-LM: degrees, batch, and the division of blocks. */
#include "sim/emit/settings.h"

#include <stdio.h>

/* ---- division of blocks ---------------------------------------------------------------------- */

/* Shortest form of a division. EVEN needs no setting. COUNTED counts embedding and head as a block
 * each. ENDS gives own numbers to the first and the last rank. LISTED names every stage. */
enum split { EVEN, COUNTED, ENDS, LISTED };
static enum split split_of(const struct pp_emit_job *job)
{
    const int *b = job->blocks, last = pp_emit_stages(job) - 1;

    if (pp_emit_is_even(job, 0, last + 1))
        return EVEN;
    if (last < 2 || !pp_emit_is_even(job, 1, last))
        return last == 1 ? ENDS : LISTED;
    if (b[0] + 1 == b[1] && b[last] + 1 == b[1])
        return COUNTED;
    return job->shape.chunks == 1 && b[0] > 0 && b[last] > 0 ? ENDS : LISTED;
}

static void add_blocks(FILE *out, int count)
{
    if (count == 1)
        fprintf(out, "t");
    else if (count > 1)
        fprintf(out, "t*%d", count);
}

/* Returns "Et*7|(t*8|)*6,t*7L": stages in the order of chunks, runs of equal ones in brackets. */
static const char *layout(const struct pp_emit_job *job)
{
    const int stages = pp_emit_stages(job), *b = job->blocks;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    fputs("E", out);
    add_blocks(out, b[0]);
    fputs("|", out);
    for (int s = 1, run; s < stages - 1; s += run) {
        for (run = 1; s + run < stages - 1 && b[s + run] == b[s];)
            run++;
        fputs(run > 1 ? "(" : "", out);
        add_blocks(out, b[s]);
        fputs("|", out);
        if (run > 1)
            fprintf(out, ")*%d,", run);
    }
    add_blocks(out, b[stages - 1]);
    for (int i = 0; i < job->config->model.mtp; i++)
        fputs("m", out);
    fputs("L", out);
    return pp_emit_keep(job, out, &text);
}

static void put_split(const struct pp_emit_job *job, struct pp_emission *e)
{
    const int chunks = job->shape.chunks, group = pp_emit_option(job, "group");
    const enum split split = split_of(job);

    if (split != LISTED) /* else the layout sets it */
        pp_emit_degree(e, "num-virtual-stages-per-pipeline-rank", chunks);
    if (chunks > 1 && group != job->layout.pp)
        pp_emit_int(e, "microbatch-group-size-per-virtual-pipeline-stage", group);
    pp_emit_flag(e, "account-for-embedding-in-pipeline-split", split == COUNTED);
    pp_emit_flag(e, "account-for-loss-in-pipeline-split", split == COUNTED);
    if (split == ENDS) {
        pp_emit_int(e, "decoder-first-pipeline-num-layers", job->blocks[0]);
        pp_emit_int(e, "decoder-last-pipeline-num-layers", job->blocks[pp_emit_stages(job) - 1]);
    }
    if (split == LISTED)
        pp_emit_text(e, "pipeline-model-parallel-layout", layout(job));
}

/* ---- degrees --------------------------------------------------------------------------------- */

/* Megatron-LM refuses experts with tensor parallelism unless sequence parallelism is on. */
static bool needs_sequence_parallel(const struct pp_emit_job *job)
{
    return job->layout.tp > 1 && job->config->model.experts.count > 0;
}

static bool is_pipeline_outside_dp(const struct pp_emit_job *job)
{
    const uint8_t *axis = job->config->map.axis;

    return axis[0] == PP_AXIS_TP && axis[1] == PP_AXIS_CP && axis[2] == PP_AXIS_PP;
}

static void put(const struct pp_emit_job *job, struct pp_emission *e)
{
    const struct pp_layout *l = &job->layout;
    const bool is_sequence = pp_emit_is_sequence_parallel(job);
    const int etp = pp_layout_etp(l);

    pp_emit_section(e, "parallelism");
    pp_emit_int(e, "tensor-model-parallel-size", l->tp);
    pp_emit_flag(e, "sequence-parallel", is_sequence || needs_sequence_parallel(job));
    pp_emit_flag(e, "tp-comm-overlap", job->config->costs.tp_overlap_frac > 0 && is_sequence);
    pp_emit_flag(e, "enable-cuda-graph", job->config->costs.is_graph);
    pp_emit_int(e, "pipeline-model-parallel-size", l->pp);
    put_split(job, e);
    pp_emit_degree(e, "context-parallel-size", l->cp);
    pp_emit_degree(e, "expert-model-parallel-size", l->ep);
    if (job->config->model.experts.count > 0 && etp != l->tp)
        pp_emit_int(e, "expert-tensor-parallel-size", etp);
    pp_emit_flag(e, "use-tp-pp-dp-mapping", is_pipeline_outside_dp(job));
    pp_emit_section(e, "batch");
    pp_emit_int(e, "micro-batch-size", l->mbs);
    pp_emit_int(e, "global-batch-size", l->gbs);
    pp_emit_int(e, "seq-length", l->seq);
}

/* ---- what it cannot do ----------------------------------------------------------------------- */

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

static void differs(const struct pp_emit_job *job, struct pp_emission *e)
{
    pp_emit_differs(e, pp_emit_say_schedule(job));
    pp_emit_differs(e, pp_emit_say_barrier(job));
    if (needs_sequence_parallel(job) && !pp_emit_is_sequence_parallel(job))
        pp_emit_differs(e, "experts with tensor parallelism need sequence parallelism; nearest, "
                           "and set here: --sequence-parallel on");
    if (pp_emit_option(job, "extra-warmup") && job->layout.ep == 1)
        pp_emit_differs(e, "--extra-warmup 1 overlaps exchanges of experts, of which --ep 1 has "
                           "none; nearest, and set here: no further warm-up");
    pp_emit_differs(e, pp_emit_say_head(job));
    if (!is_pipeline_outside_dp(job))
        pp_emit_differs(e, pp_emit_say_map(job));
}

const struct pp_emit_part pp_emit_megatron_layout = {put, differs, say_seq};
