/* What --emit prints, read as the framework reads it: the same blocks in every stage, and, given
 * back to pipesim, the same run. */
#include "tests/unit/sim/emit/emitted.h"

#include <jansson.h>

enum { STAGES = 1024 };

/* Runs over layouts, splits of blocks, models, state and recomputation; all fit a framework. */
static const char *const RUNS[] = {
    "--schedule 1f1b --model llama3-8b --gpus 8 --tp 2 --pp 2 --gbs 32",
    "--schedule 1f1b --model llama3-8b --gpus 16 --tp 2 --pp 2 --cp 2 --gbs 32 --zero 1",
    "--schedule 1f1b --model llama3-70b --gpus 64 --tp 4 --pp 4 --gbs 128 --recompute full",
    "--schedule 1f1b --model llama3-70b --gpus 96 --tp 4 --pp 6 --gbs 96 --recompute selective",
    "--schedule 1f1b --model llama3-70b --gpus 64 --tp 4 --pp 4 --gbs 128 --head balanced",
    "--schedule 1f1b --model llama3-70b --gpus 64 --tp 8 --pp 8 --gbs 64 --first-stage-layers 5 "
    "--last-stage-layers 3",
    "--schedule 1f1b --model llama3-405b --gpus 1024 --tp 8 --pp 16 --gbs 256 --zero 1",
    "--schedule 1f1b --model llama3-405b --gpus 1024 --tp 8 --pp 128 --gbs 256 --head counted",
    "--schedule interleaved --vp 2 --model llama3-70b --gpus 64 --tp 4 --pp 4 --gbs 128",
    "--schedule interleaved --vp 5 --model llama3-70b --gpus 64 --tp 4 --pp 4 --gbs 128",
    "--schedule interleaved --vp 3 --model llama3-70b --gpus 64 --tp 4 --pp 4 --gbs 128",
    "--schedule interleaved --vp 2 --group 4 --model gpt3-175b --gpus 64 --tp 8 --pp 4 --gbs 24",
    "--schedule interleaved --vp 4 --model deepseek-v3 --gpus 256 --tp 1 --pp 8 --ep 32 --gbs 512",
    "--schedule 1f1b --model mixtral-8x7b --gpus 32 --tp 2 --pp 2 --ep 8 --gbs 64 --mbs 2",
    "--schedule 1f1b --model qwen3-30b-a3b --gpus 32 --tp 4 --pp 2 --ep 4 --etp 1 --gbs 64",
    "--schedule 1f1b --model gemma2-9b --gpus 16 --tp 2 --pp 4 --gbs 16 --seq 4096",
    "--schedule gpipe --model gpt-7.5b --gpus 16 --tp 1 --pp 4 --gbs 64",
    "--schedule zbv --model llama3-8b --gpus 16 --tp 2 --pp 4 --gbs 64",
    "--schedule dualpipev --model llama3-8b --gpus 16 --tp 2 --pp 4 --gbs 64 --mbs 1",
    "--schedule zb-h1 --model llama3-8b --gpus 16 --tp 2 --pp 4 --gbs 64",
    "--schedule bfs --vp 3 --model llama3-70b --gpus 64 --tp 4 --pp 4 --gbs 128",
    "--schedule interleaved-zb --vp 2 --model llama3-8b --gpus 16 --tp 2 --pp 4 --gbs 64",
    "--schedule chimera --model gpt3-175b --gpus 64 --tp 8 --pp 4 --gbs 64",
    "--schedule 1f1b --model llama3-8b --gpus 8 --tp 1 --pp 1 --gbs 64 --zero 3",
};
enum { RUN_COUNT = sizeof(RUNS) / sizeof(*RUNS) };

static int stages_of(const struct pp_config *c)
{
    return pp_shape_stages(&c->shape);
}

static void expect_blocks(const struct emitted *e, const int *got, const char *line)
{
    const struct pp_config *c = &e->result.config;

    for (int s = 0; s < stages_of(c); s++)
        cr_expect_eq(got[s], c->blocks_per_stage[s], "%s: stage %d of %d: %d, not %d\n%s", line, s,
                     stages_of(c), got[s], c->blocks_per_stage[s], e->text);
}

/* ---- Megatron-LM ----------------------------------------------------------------------------- */

/* parse_str_to_list: commas go, then "(text)*n" is unrolled, then "x*n". */
static int megatron_layout(struct pp_arena *arena, const char *layout, int *blocks)
{
    char *plain = pp_arena_alloc(arena, 1 << 20), *out = plain;
    int stage = 0;

    for (const char *p = layout; *p;) {
        if (*p == '(') {
            const char *end = strchr(p, ')');
            for (int i = atoi(end + 2); i > 0; i--) {
                memcpy(out, p + 1, (size_t)(end - p - 1));
                out += end - p - 1;
            }
            p = end + 2 + strspn(end + 2, "0123456789");
        } else if (*p++ != ',') {
            *out++ = p[-1];
        }
    }
    *out = '\0';
    memset(blocks, 0, STAGES * sizeof *blocks);
    for (const char *p = plain; *p; p++) {
        if (*p == '|')
            stage++;
        else if (*p == 't')
            blocks[stage] += p[1] == '*' ? atoi(p + 2) : 1;
    }
    return stage + 1;
}

/* get_num_layers_to_build of transformer_block.py, for every chunk. */
static void megatron_blocks(struct pp_arena *arena, const struct emitted *e, int *blocks)
{
    const int pp = emitted_int(e, "pipeline-model-parallel-size", 1);
    const int vp = emitted_int(e, "num-virtual-stages-per-pipeline-rank", 1);
    const int first = emitted_int(e, "decoder-first-pipeline-num-layers", 0);
    const int last = emitted_int(e, "decoder-last-pipeline-num-layers", 0);
    const int counted = emitted_get(e, "account-for-embedding-in-pipeline-split") ? 1 : 0;
    const char *layout = emitted_get(e, "pipeline-model-parallel-layout");
    int layers = emitted_int(e, "num-layers", 0);

    if (layout) {
        cr_assert_eq(vp, 1);
        cr_assert_eq(megatron_layout(arena, layout, blocks) % pp, 0);
        return;
    }
    if (first) {
        cr_assert_eq(vp, 1);
        for (int s = 0; s < pp; s++)
            blocks[s] = s == 0 ? first : s == pp - 1 ? last : (layers - first - last) / (pp - 2);
        return;
    }
    layers += 2 * counted;
    cr_assert_eq(layers % (pp * vp), 0, "%s", e->text);
    for (int s = 0; s < pp * vp; s++)
        blocks[s] = layers / (pp * vp) - (s == 0 ? counted : 0) - (s == pp * vp - 1 ? counted : 0);
}

Test(emit, megatron_builds_the_same_stages)
{
    int listed = 0, checked = 0;

    for (int i = 0; i < RUN_COUNT; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct emitted e;
        int blocks[STAGES];
        emitted_make(arena, "megatron", RUNS[i], &e);
        if (strstr(e.text, "does not run in"))
            continue;
        checked++;
        listed += emitted_get(&e, "pipeline-model-parallel-layout") != NULL;
        megatron_blocks(arena, &e, blocks);
        expect_blocks(&e, blocks, RUNS[i]);
    }
    cr_assert_geq(checked, 15);
    cr_assert_geq(listed, 2);
}

/* ---- torchtitan ------------------------------------------------------------------------------ */

/* The list of modules: those of a stage between "[" and "]", all of them so, too. */
static int torch_listed(const char *text, int *blocks)
{
    int stage = -1, depth = 0;

    for (const char *p = strchr(text, '['); *p; p++) {
        if (*p == '[' && ++depth == 2)
            blocks[++stage] = 0;
        else if (*p == ']' && --depth == 0)
            break;
        else if (!strncmp(p, "\"layers.", 8))
            blocks[stage]++;
    }
    return stage + 1;
}

/* pipeline_llm and generate_llm_fqn_per_model_part of pipeline_parallel.py. */
static int torch_blocks(const struct emitted *e, int layers, int *blocks)
{
    static const char *const SINGLE[] = {"1F1B", "GPipe", "PipelineScheduleSingle"};
    const int pp = emitted_int(e, "parallelism.pipeline_parallel_degree", 1);
    const int in = emitted_int(e, "parallelism.pipeline_parallel_first_stage_less_layers", 1);
    const int last = emitted_int(e, "parallelism.pipeline_parallel_last_stage_less_layers", 1);
    const int each = emitted_int(e, "parallelism.pipeline_parallel_layers_per_stage", 0);
    const char *class = emitted_get(e, "parallelism.pipeline_parallel_schedule"),
               *listed = emitted_get(e, "parallelism.module_fqns_per_model_part");
    const int all = layers + in + last;
    bool is_single = false;

    if (listed) {
        cr_assert_eq(each, 0);
        const int count = torch_listed(listed, blocks);
        cr_assert_eq(count, stages_of(&e->result.config), "%s", e->text);
        return count;
    }
    for (size_t i = 0; class && i < sizeof(SINGLE) / sizeof(*SINGLE); i++)
        is_single |= !strcmp(class, SINGLE[i]);
    const int stages = each ? (all + each - 1) / each : pp * (is_single || !class ? 1 : 2);
    cr_assert_eq(stages, stages_of(&e->result.config), "%s", e->text);
    if (stages == 1) {
        blocks[0] = layers;
        return 1;
    }
    cr_assert(in <= all / stages && last <= all / stages);
    for (int s = 0; s < stages; s++)
        blocks[s] =
            all / stages + (s < all % stages) - (s == 0 ? in : 0) - (s == stages - 1 ? last : 0);
    return stages;
}

Test(emit, torchtitan_builds_the_same_stages)
{
    int listed = 0, checked = 0;

    for (int i = 0; i < RUN_COUNT; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct emitted e;
        int blocks[STAGES];
        emitted_make(arena, "torchtitan", RUNS[i], &e);
        if (strstr(e.text, "does not run in"))
            continue;
        checked++;
        listed += emitted_get(&e, "parallelism.module_fqns_per_model_part") != NULL;
        torch_blocks(&e, e.result.config.model.layers, blocks);
        expect_blocks(&e, blocks, RUNS[i]);
    }
    cr_assert_geq(checked, 20);
    cr_assert_geq(listed, 1);
}

/* A split that no weights say: torchtitan gives the first stages more, Megatron-LM none. */
Test(emit, blocks_that_no_weights_say_are_listed)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct emitted e;
    int blocks[STAGES];

    emitted_make(arena, "torchtitan",
                 "--schedule 1f1b --model llama3-8b --gpus 8 --tp 1 --pp 4 --gbs 32 "
                 "--first-stage-layers 2 --last-stage-layers 1",
                 &e);
    cr_assert_not_null(emitted_get(&e, "parallelism.module_fqns_per_model_part"));
    torch_blocks(&e, 32, blocks);
    expect_blocks(&e, blocks, "2 and 1");
}

/* ---- DeepSpeed and nanotron ------------------------------------------------------------------ */

/* DeepSpeed's own checks: _batch_assertion of config.py, and the assertion of pipe/engine.py. */
Test(emit, deepspeed_takes_the_batch_and_the_stage)
{
    for (int i = 0; i < RUN_COUNT; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct emitted e;
        struct pp_error err = {0};
        int all, micro, times, stage;

        const enum pp_status status = emitted_try(arena, "deepspeed", RUNS[i], &e, &err);
        const struct pp_layout *l = &e.result.config.layout;
        cr_assert_eq(status, l->cp > 1 ? PP_EINVAL : PP_OK, "%s: %s", RUNS[i], err.message);
        if (status == PP_OK) {
            json_t *root = json_loads(e.text, JSON_REJECT_DUPLICATES, NULL);
            cr_assert_not_null(root, "%s", e.text);
            cr_assert_eq(json_unpack(root, "{si si si s{si}}", "train_batch_size", &all,
                                     "train_micro_batch_size_per_gpu", &micro,
                                     "gradient_accumulation_steps", &times, "zero_optimization",
                                     "stage", &stage),
                         0, "%s", e.text);
            cr_expect_eq(all, micro * times * l->dp, "%s", e.text);
            cr_expect(l->pp == 1 || stage < 2, "%s", e.text);
            json_decref(root);
        }
    }
}

/* The value of "key: " after "section:\n", at any depth. */
static int yaml_int(const struct emitted *e, const char *section, const char *key, int fallback)
{
    const char *at = strstr(e->text, section);

    at = at ? strstr(at, key) : NULL;
    return at ? atoi(at + strlen(key)) : fallback;
}

Test(emit, nanotron_has_all_devices_and_the_batch)
{
    for (int i = 0; i < RUN_COUNT; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct emitted e;
        struct pp_error err = {0};

        const enum pp_status status = emitted_try(arena, "nanotron", RUNS[i], &e, &err);
        const struct pp_layout *l = &e.result.config.layout;
        cr_assert_eq(status, pp_layout_etp(l) != l->tp && l->ep > 1 ? PP_EINVAL : PP_OK, "%s: %s",
                     RUNS[i], err.message);
        if (status == PP_OK) {
            const int dp = yaml_int(&e, "parallelism:\n", "  dp: ", 0);
            cr_expect_eq(dp * yaml_int(&e, "parallelism:\n", "  pp: ", 0) *
                             yaml_int(&e, "parallelism:\n", "  tp: ", 0) *
                             yaml_int(&e, "parallelism:\n", "  context_parallel_size: ", 1),
                         l->gpus, "%s", e.text);
            cr_expect_eq(dp * yaml_int(&e, "tokens:\n", "  micro_batch_size: ", 0) *
                             yaml_int(&e, "tokens:\n", "  batch_accumulation_per_replica: ", 0),
                         l->gbs, "%s", e.text);
            cr_expect_eq(yaml_int(&e, "  model_config:\n", "    num_hidden_layers: ", 0),
                         e.result.config.model.layers, "%s", e.text);
        }
    }
}

/* ---- back to pipesim ------------------------------------------------------------------------- */

static bool has_name(const struct pp_option *option, const char *name)
{
    if (!strcmp(option->name, name))
        return true;
    for (const char *const *alias = option->aliases; alias && *alias; alias++)
        if (!strcmp(*alias, name))
            return true;
    return false;
}

/* Settings that a run of pipesim takes by the framework's name, as its words. */
static const char *given_back(struct pp_arena *arena, const struct emitted *e, int *count)
{
    const char *line = "";

    *count = 0;
    for (int i = 0; i < e->count; i++)
        for (int k = 0; k < pp_sim_cli.option_count; k++) {
            const struct pp_option *option = &pp_sim_cli.options[k];
            if (!(option->commands & 1u << PP_CMD_RUN) || !*e->settings[i].value ||
                !strcmp(option->name, "recompute") || /* its modules are another setting */
                !has_name(option, e->settings[i].name))
                continue;
            line = pp_arena_printf(arena, "%s --%s %s", line, e->settings[i].name,
                                   e->settings[i].value);
            ++*count;
        }
    return line;
}

/* What no name of pipesim's says: Megatron-LM's schedule follows from its chunks, torchtitan's
 * chunks from the blocks of a stage. */
static const char *concluded(struct pp_arena *arena, const struct emitted *e)
{
    const struct pp_config *c = &e->result.config;
    int blocks[STAGES];

    if (emitted_get(e, "pipeline-model-parallel-size"))
        return emitted_get(e, "num-virtual-stages-per-pipeline-rank") ? "--schedule interleaved"
                                                                      : "--schedule 1f1b";
    if (!emitted_get(e, "parallelism.pipeline_parallel_schedule"))
        return "--schedule 1f1b";
    const int stages = torch_blocks(e, c->model.layers, blocks);
    return c->schedule->chunks
               ? ""
               : pp_arena_printf(arena, "--vp %d",
                                 stages /
                                     emitted_int(e, "parallelism.pipeline_parallel_degree", 1));
}

/* Where the framework runs the schedule by itself, and stages need no list. */
static bool is_given_whole(const struct emitted *e)
{
    return !strstr(e->text, "does not run in") &&
           !emitted_get(e, "pipeline-model-parallel-layout") &&
           !emitted_get(e, "parallelism.pipeline_parallel_schedule_csv");
}

/* How many of the runs came back with the same blocks: then all is the same, to the bit. */
static int round_trip(const char *tool, int least)
{
    int checked = 0;

    for (int i = 0; i < RUN_COUNT; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct emitted e;
        struct pp_result again;
        struct pp_error err = {0};
        char recompute[PP_RECOMPUTE_TEXT_BYTES];
        int count;

        emitted_make(arena, tool, RUNS[i], &e);
        const struct pp_config *c = &e.result.config;
        const char *words = given_back(arena, &e, &count);
        cr_expect_geq(count, least, "%s", words);
        if (!is_given_whole(&e))
            continue;
        const char *line = pp_arena_printf(
            arena, "--engine dag --model %s --gpus %d --zero %d --recompute %s --head %s%s %s",
            c->model.name, c->layout.gpus, pp_state_zero(&c->state),
            pp_recompute_print(c->costs.recompute, c->costs.again, recompute),
            pp_head_names[c->costs.head], words, concluded(arena, &e));
        cr_assert_eq(sim_run_at(arena, line, PP_METRICS, &again, &err), PP_OK, "%s\n%s: %s",
                     RUNS[i], line, err.message);
        struct pp_layout want = c->layout, got = again.config.layout;
        want.etp = pp_layout_etp(&want), got.etp = pp_layout_etp(&got);
        cr_expect_eq(memcmp(&got, &want, sizeof got), 0, "%s\n%s", RUNS[i], line);
        if (!memcmp(again.config.blocks_per_stage, c->blocks_per_stage,
                    (size_t)stages_of(c) * sizeof(int))) {
            checked++;
            cr_expect_eq(again.metrics.iteration_s, e.result.metrics.iteration_s, "%s\n%s", RUNS[i],
                         line);
        }
    }
    return checked;
}

Test(emit, megatron_given_back_is_the_same_run)
{
    cr_assert_geq(round_trip("megatron", 8), 12);
}

Test(emit, torchtitan_given_back_is_the_same_run)
{
    cr_assert_geq(round_trip("torchtitan", 4), 15);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The order that PyTorch reads with the fragment is the simulated order. */
Test(emit, the_order_next_to_a_fragment_is_that_of_the_run)
{
    static const char *const NAMES[] = {"zb-h1", "v-half", "hanayo", "bfs", "eager-1f1b"};

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_emit_tool *tool;
        struct pp_program *read, *made;
        struct pp_result result;
        struct pp_error err = {0};
        char folder[] = "/tmp/emit-XXXXXX", *text[2];
        size_t size[2];

        cr_assert_not_null(mkdtemp(folder));
        const char *toml = pp_arena_printf(arena, "%s/a.toml", folder),
                   *csv = pp_arena_printf(arena, "%s/a.csv", folder);
        cr_assert_eq(pp_emit_find("torchtitan", &tool, &err), PP_OK);
        cr_assert_eq(sim_run_at(arena,
                                pp_arena_printf(arena,
                                                "--engine dag --schedule %s --model llama3-8b "
                                                "--gpus 16 --tp 2 --pp 4 --gbs 64 --mbs 1",
                                                NAMES[i]),
                                PP_FULL, &result, &err),
                     PP_OK, "%s", err.message);
        const struct pp_emit_run run = {&result.config, result.program, true, toml};
        cr_assert_eq(pp_emit(arena, tool, &run, stdout, &err), PP_OK, "%s", err.message);
        cr_assert_eq(pp_program_read(arena, csv, PP_DIALECT_2025, &read, &err), PP_OK, "%s",
                     err.message);
        cr_assert_eq(pp_schedule_program(arena, result.config.schedule, &result.config.shape,
                                         result.costs, &made, &err),
                     PP_OK);
        struct pp_program *const programs[] = {read, made};
        for (int k = 0; k < 2; k++) {
            FILE *out = open_memstream(&text[k], &size[k]);
            pp_program_print(programs[k], out);
            fclose(out);
        }
        cr_expect_str_eq(text[0], text[1], "%s", NAMES[i]);
        remove(toml), remove(csv), remove(folder);
        free(text[0]), free(text[1]);
    }
}

Test(emit, a_framework_without_the_degrees_refuses)
{
    static const struct {
        const char *tool, *line, *says;
    } REFUSED[] = {
        {"megatron",
         "--schedule 1f1b --model llama3-8b --gpus 24 --cp 3 --tp 1 --pp 8 --gbs 8 --seq 8193",
         "nearest: --seq 8190"},
        {"megatron",
         "--schedule 1f1b --model mixtral-8x7b --gpus 32 --tp 2 --pp 2 --ep 8 --gbs 64 --precision "
         "fp16",
         "nearest: --precision bf16"},
        {"torchtitan",
         "--schedule 1f1b --model mixtral-8x7b --gpus 32 --tp 4 --pp 2 --ep 2 --etp 2 --gbs 64",
         "nearest: --etp 1 or --etp 4"},
    };

    for (size_t i = 0; i < sizeof(REFUSED) / sizeof(*REFUSED); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct emitted e;
        struct pp_error err = {0};
        cr_expect_eq(emitted_try(arena, REFUSED[i].tool, REFUSED[i].line, &e, &err), PP_EINVAL,
                     "%s: %s", REFUSED[i].line, e.text);
        cr_expect_not_null(strstr(err.message, REFUSED[i].says), "%s", err.message);
        cr_expect_str_empty(e.text ? e.text : "");
    }
}
