/* Laws between two runs: a faster machine is not slower, and what saves memory never adds any. */
#include "core/units.h"
#include "tests/property/option_lines.h"

#include <math.h>
#include <string.h>

/* ---- time -------------------------------------------------------------------------- */

/* --head balanced divides by time. */
static bool has_same_blocks(const struct pp_result *a, const struct pp_result *b)
{
    return !memcmp(a->config.blocks_per_stage, b->config.blocks_per_stage,
                   sizeof(int) * (size_t)a->cost_inputs.stages);
}

static int faster_runs;

/* A backward and its recomputation share gathers that take as long for both together. A faster
 * device may move a little time from one to the other, before a message that only one of them
 * awaits. */
static double shared_out_frac(const struct words *w)
{
    return strcmp(words_of(w, "--recompute"), "none") ? 2e-3 : 1e-9;
}

/* Sums that outlast the backward next to them hide how they slow it. Faster ones may not, and then
 * updates take that time, even where they await something else. */
static double slowed_s(const struct pp_result *before, const struct pp_result *after)
{
    int64_t ps = 0;

    for (int s = 0; s < after->costs->stages; s++) {
        const int64_t more_ps =
            after->costs->op[PP_U][s].gather_ps - before->costs->op[PP_U][s].gather_ps;
        ps += more_ps > 0 ? more_ps : 0;
    }
    return pp_units_s(ps);
}

/* Twice the rate of one thing: no step takes longer. */
static void faster_is_not_slower(const struct words *w, const struct pp_result *r)
{
    const double before_s = words_makespan_s(r);

    for (size_t k = 0; k < sizeof(struct law_rates) / sizeof(double); k++) {
        struct law_rates rates = law_rates;
        struct pp_result faster;
        struct pp_error err = {0};

        ((double *)&rates)[k] *= 2;
        const struct words other = words_with(w, "--cluster", law_cluster(w->arena, &rates));
        if (!words_run(&other, "dag", &faster, &err) || !has_same_blocks(r, &faster) ||
            !words_same_program(r->program, faster.program))
            continue;
        const double s = words_makespan_s(&faster);
        faster_runs++;
        cr_assert(s <= before_s * (1 + shared_out_frac(w)) + slowed_s(r, &faster),
                  "%s\ntakes %.12g s, and with %s %.12g s", words_line(w), before_s,
                  words_of(&other, "--cluster"), s);
    }
}

Test(laws_options, a_faster_machine_is_not_slower)
{
    faster_runs = 0;
    law_for_each_line(60, faster_is_not_slower);
    cr_assert_gt(faster_runs, 250, "%d runs", faster_runs);
}

/* ---- memory ------------------------------------------------------------------------ */

/* Values of an option, from the one that needs most to the one that needs least; "" leaves it out.
 */
struct ladder {
    const char *option;
    const char *const *without; /* what must not be given with it */
    const char *const *values;
    double (*bytes)(const struct pp_rank_memory *m);
    double (*slack_bytes)(const struct pp_result *r);
    int compared;
};

static double none_bytes(const struct pp_result *r)
{
    (void)r;
    return 1;
}

static double state_bytes(const struct pp_rank_memory *m)
{
    return m->params_bytes + m->grads_bytes + m->optimizer_bytes;
}

static double peak_bytes(const struct pp_rank_memory *m)
{
    return m->peak_bytes;
}

static double optimizer_bytes(const struct pp_rank_memory *m)
{
    return m->optimizer_bytes;
}

/* Between two updates of a step the buckets of the first may still be on their way down while those
 * of the second come up. */
static double stored_bytes(const struct pp_result *r)
{
    const struct pp_program *p = r->program;
    double most = 0;
    int updates = 0;

    for (int i = 0; i < pp_program_size(p); i++)
        updates += p->kind[i] == PP_U;
    for (int s = 0; s < p->stages && updates > p->pipelines * p->stages; s++)
        most = fmax(most, (1 + r->costs->fragment_frac) * r->costs->memory[s].fetched_bytes);
    return 1 + most;
}

static struct ladder ladders[] = {
    {"--zero", LIST("--shard"), LIST("0", "1", "2", "3"), state_bytes, none_bytes, 0},
    {"--shard", LIST("--zero"), LIST("os=1", "os=2", "os=4", "os=4x2"), optimizer_bytes, none_bytes,
     0},
    {"--shard", LIST("--zero"), LIST("p=2,g=2,os=2", "p=2,g=2,os=4", "p=4"), state_bytes,
     none_bytes, 0},
    {"--act-bits", LIST(NULL), LIST("", "8", "4", "2"), peak_bytes, none_bytes, 0},
    /* alone: what is gathered, copied or in other bits is there earlier where something is computed
       again */
    {"--recompute",
     LIST("--offload", "--cpu-optimizer", "--act-bits", "--zero", "--shard", "--secondary",
          "--gather", "--gather-buffers"),
     LIST("none", "selective", "full"), peak_bytes, none_bytes, 0},
    {"--recompute",
     LIST("--offload", "--cpu-optimizer", "--act-bits", "--zero", "--shard", "--secondary",
          "--gather", "--gather-buffers"),
     LIST("none", "full,skip", "full,late"), peak_bytes, none_bytes, 0},
    {"--offload", LIST("--cpu-optimizer"), LIST("", "a=host:50%", "a=host"), peak_bytes, none_bytes,
     0},
    {"--offload", LIST("--cpu-optimizer"), LIST("", "os=host"), peak_bytes, stored_bytes, 0},
};

/* With several pipelines, ZeRO 1 cuts state over the copies of all, ZeRO 2 over the replicas of
 * each. */
static bool is_cut_coarser(const struct pp_result *before, const struct pp_result *r)
{
    return r->program->pipelines > 1 &&
           pp_state_cut(&before->program->state.spec, PP_STATE_GRADS) == 1 &&
           pp_state_cut(&r->program->state.spec, PP_STATE_GRADS) > 1 &&
           pp_program_has_kind(before->program, PP_RS);
}

static void climb(struct ladder *ladder, const struct words *w)
{
    struct pp_result *before = NULL;
    const char *last = NULL;

    for (int k = 0; ladder->values[k]; k++) {
        const char *value = ladder->values[k];
        struct words other = words_with(w, ladder->option, value[0] ? value : NULL);
        struct pp_result *r = PP_NEW(w->arena, struct pp_result);
        struct pp_error err = {0};

        for (int i = 0; ladder->without[i]; i++)
            other = words_with(&other, ladder->without[i], NULL);
        if (!words_of(&other, "--zero") && !words_of(&other, "--shard"))
            other = words_with(&other, "--zero", "0"); /* else what fits decides */
        if (!words_run(&other, "dag", r, &err) || (before && !has_same_blocks(before, r)))
            continue;
        if (before && is_cut_coarser(before, r))
            before = NULL;
        for (int rank = 0; before && rank < r->program->ranks; rank++) {
            const double more = ladder->bytes(&before->memory[rank]),
                         less = ladder->bytes(&r->memory[rank]);

            if (before->memory[rank].peak_activations != r->memory[rank].peak_activations)
                continue; /* the order depends on costs */
            cr_assert_leq(less, more * (1 + 1e-12) + ladder->slack_bytes(r),
                          "%s\nrank %d: %s %s has %.0f bytes, %s %.0f", words_line(&other), rank,
                          ladder->option, last, more, value, less);
            ladder->compared++;
        }
        before = r;
        last = value;
    }
}

static void less_is_not_more(const struct words *w, const struct pp_result *r)
{
    (void)r;
    for (size_t k = 0; k < sizeof(ladders) / sizeof(ladders[0]); k++)
        climb(&ladders[k], w);
}

Test(laws_options, what_saves_memory_never_adds_any)
{
    law_for_each_line(30, less_is_not_more);
    for (size_t k = 0; k < sizeof(ladders) / sizeof(ladders[0]); k++)
        cr_assert_gt(ladders[k].compared, 15, "%s: %d ranks", ladders[k].option,
                     ladders[k].compared);
}
