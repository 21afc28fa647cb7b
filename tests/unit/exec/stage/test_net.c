#include "exec/stage/stage.h"
#include "tests/unit/core/model/from_text.h"

#include <criterion/criterion.h>
#include <string.h>

static struct pp_model load(struct pp_arena *arena, const char *name)
{
    struct pp_error err = {0};
    struct pp_model model;

    cr_assert_eq(pp_model_load(arena, name, &model, &err), PP_OK, "%s", err.message);
    return model;
}

static double params_of(struct pp_arena *arena, const struct pp_net *net)
{
    const struct pp_stage_shape shape = {.blocks = net->layers,
                                         .has_embedding = true,
                                         .has_head = true,
                                         .rows = 1,
                                         .tokens = net->seq,
                                         .splits = 1};
    const struct pp_stage *stage = pp_stage_create(arena, net, &shape, &pp_kernels_reference);
    double params = 0;

    for (int p = 0; p < stage->param_count; p++)
        params += (double)stage->params[p].count;
    return params;
}

static bool can_be_trained(const struct pp_model *m)
{
    static const char *const families[] = {"bert",    "gemma",    "gpt",   "gpt-neox",
                                           "gpt2",    "internlm", "llama", "mistral",
                                           "mixtral", "mpt",      "qwen2", "qwen3"};

    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(m->family, families[i]) == 0)
            return m->norms_per_layer == 2 &&
                   (m->experts.count == 0 ||
                    (!m->window.is_chunked && !m->experts.has_shared_gate &&
                     m->experts.groups == 0));
    return false;
}

/* An encoder is trained with the head of hidden words, without a pooler. */
static double params_of_model(const struct pp_model *m)
{
    struct pp_model trained = *m;

    trained.has_pooler = false;
    trained.has_mlm_head = !m->is_causal;
    return pp_model_params(&trained);
}

/* With a sequence as long as the table of positions. */
Test(net, has_the_parameters_of_every_preset_that_can_be_trained)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    int trained = 0;

    for (const struct pp_model *m = pp_model_presets; m->name != NULL; m++) {
        struct pp_error err = {0};
        struct pp_net net;
        const enum pp_status status =
            pp_net_from_model(m, m->positions > 0 ? m->positions : 64, &net, &err);

        cr_assert_eq(status, can_be_trained(m) ? PP_OK : PP_EINVAL, "%s: %s", m->name, err.message);
        if (status != PP_OK)
            continue;
        const double params = params_of(arena, &net);
        cr_assert_eq(params, params_of_model(m), "%s: %.0f, not %.0f", m->name, params,
                     params_of_model(m));
        trained++;
    }
    cr_assert_gt(trained, 40);
}

Test(net, follows_the_family)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_model tiny = load(arena, "tiny"), llama = load(arena, "tiny-llama");
    struct pp_error err = {0};
    struct pp_net net;

    cr_assert_eq(pp_net_from_model(&tiny, 0, &net, &err), PP_OK, "%s", err.message);
    cr_assert_str_eq(net.name, "tiny");
    cr_assert_eq(net.seq, 64);
    cr_assert(net.has_positions && !net.is_tied && net.has_bias_qkv && net.has_bias_norm);
    cr_assert(!net.is_gated && !net.is_rms);
    cr_assert_eq(pp_net_from_model(&llama, 32, &net, &err), PP_OK, "%s", err.message);
    cr_assert_eq(net.seq, 32);
    cr_assert_eq(net.kv_heads, 2);
    cr_assert(net.is_gated && net.is_rms);
    cr_assert(!net.has_positions && !net.is_tied && !net.has_bias_qkv && !net.has_bias_norm);
}

static const struct {
    const char *model;
    int seq;
    const char *message;
} refused[] = {
    {PP_TESTS_DIR "/data/configs/roberta-base.json", 0, "begin after the padding token (RoBERTa)"},
    {"bert-base", 513, "has 512 positions, so at most 512 tokens"},
    {"tiny", 257, "a sequence of 257 tokens: model 'tiny' has 256 positions, so at most 256"},
    {"tiny", -1, "a sequence of -1 tokens: expected at least 1"},
    {"deepseek-v3", 0, "experts of a token are chosen by groups"},
    {"gpt-oss-20b", 0, "its router has a bias"},
    {"bloom-176b", 0, "slopes of the attention scores"},
    {"deit-ti", 0, "it reads images"},
    {PP_TESTS_DIR "/data/configs/opt-125m.json", 2049, "has 2048 positions, so at most 2048"},
};

Test(net, refuses_what_it_cannot_train)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const struct pp_model model = load(arena, refused[i].model);
        struct pp_error err = {0};
        struct pp_net net;

        cr_assert_eq(pp_net_from_model(&model, refused[i].seq, &net, &err), PP_EINVAL);
        cr_assert_not_null(strstr(err.message, refused[i].message), "%s", err.message);
    }
}

Test(net, refuses_a_model_known_by_its_size_and_odd_rotary_heads)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_error err = {0};
    struct pp_net net;

    cr_assert_eq(pp_model_from_params(arena, 1e8, &model, &err), PP_OK);
    cr_assert_eq(pp_net_from_model(&model, 0, &net, &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "only its number of parameters"), "%s", err.message);
    model = load(arena, "tiny-llama");
    model.head_dim = 33;
    cr_assert_eq(pp_net_from_model(&model, 0, &net, &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "size of a head is 33"), "%s", err.message);
}

#define LLAMA                                                                                      \
    "{\"model_type\": \"llama\", \"num_hidden_layers\": 2, \"hidden_size\": 64, "                  \
    "\"num_attention_heads\": 2, \"vocab_size\": 100, \"intermediate_size\": 128"

Test(net, takes_the_numbers_of_a_file)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_model model =
        read_text(arena, LLAMA ", \"rms_norm_eps\": 0.25, \"rope_theta\": 77}");
    struct pp_error err = {0};
    struct pp_net net;

    cr_assert_eq(pp_net_from_model(&model, 0, &net, &err), PP_OK, "%s", err.message);
    cr_assert(net.norm_epsilon == 0.25 && net.rotary.theta == 77);
}

Test(net, takes_what_families_add)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_model opt = load(arena, PP_TESTS_DIR "/data/configs/opt-125m.json"),
                          neox = load(arena, PP_TESTS_DIR "/data/configs/pythia-160m.json"),
                          llama = read_text(arena, LLAMA ", \"rope_scaling\": {\"rope_type\": "
                                                         "\"llama3\", \"factor\": 8, "
                                                         "\"low_freq_factor\": 1, "
                                                         "\"high_freq_factor\": 4, "
                                                         "\"original_max_position_embeddings\": "
                                                         "512}}");
    struct pp_error err = {0};
    struct pp_net net;

    cr_assert_eq(pp_net_from_model(&opt, 2048, &net, &err), PP_OK, "%s", err.message);
    cr_assert(net.activation == PP_RELU && net.position_offset == 2 && !net.is_parallel);
    cr_assert_eq(pp_net_from_model(&neox, 0, &net, &err), PP_OK, "%s", err.message);
    cr_assert(net.activation == PP_GELU_ERF && net.is_parallel);
    cr_assert_eq(net.rotary.dim, 16);
    cr_assert_eq(net.rotary.factor, 0);
    cr_assert_eq(pp_net_from_model(&llama, 0, &net, &err), PP_OK, "%s", err.message);
    cr_assert_eq(net.rotary.dim, 32);
    cr_assert(net.rotary.factor == 8 && net.rotary.low == 1 && net.rotary.high == 4);
    cr_assert_eq(net.rotary.original_seq, 512);
}

Test(net, is_refused_by_kernels_that_lack_a_part)
{
    const struct pp_kernels lacking = {.lacks = PP_LACKS_ACTIVATIONS | PP_LACKS_SCALE};
    struct pp_net net = {.name = "net", .is_gated = true, .activation = PP_SILU};
    struct pp_error err = {0};

    cr_assert_eq(pp_net_check_kernels(&net, &lacking, "cuda", &err), PP_OK);
    net.embedding_scale = 3;
    cr_assert_eq(pp_net_check_kernels(&net, &pp_kernels_reference, "cpu", &err), PP_OK);
    cr_assert_eq(pp_net_check_kernels(&net, &lacking, "cuda", &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "needs a factor on the embedding"), "%s", err.message);
    net.activation = PP_GELU_TANH;
    cr_assert_eq(pp_net_check_kernels(&net, &lacking, "cuda", &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "needs activation functions"), "%s", err.message);
}

/* What would change the numbers that training computes. */
static const struct {
    const char *text, *message;
} others[] = {
    {LLAMA ", \"hidden_act\": \"mish\"}", "its activation function is 'mish'"},
    {LLAMA ", \"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 2}}",
     "its rotary positions are scaled by 'yarn'"},
    {LLAMA ", \"partial_rotary_factor\": 0.4}",
     "of which 13 are rotated: the nearest legal one is 14"},
    {LLAMA ", \"final_logit_softcapping\": 30}", "its file sets 'final_logit_softcapping'"},
    {LLAMA ", \"output_router_logits\": true}", "its file sets 'output_router_logits'"},
    {LLAMA ", \"router_jitter_noise\": 0.01}", "its file sets 'router_jitter_noise'"},
};

Test(net, refuses_a_file_with_other_arithmetic)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t i = 0; i < PP_COUNT(others); i++) {
        const struct pp_model model = read_text(arena, others[i].text);
        struct pp_error err = {0};
        struct pp_net net;

        cr_assert_eq(pp_net_from_model(&model, 0, &net, &err), PP_EINVAL, "%s", others[i].text);
        cr_assert_not_null(strstr(err.message, others[i].message), "%s", err.message);
    }
}

Test(net, has_windows_where_samples_are_longer)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model = load(arena, "tiny-llama");
    struct pp_error err = {0};
    struct pp_net net;

    model.window.keys = 32;
    model.window.full_every = 3;
    cr_assert_eq(pp_net_from_model(&model, 32, &net, &err), PP_OK, "%s", err.message);
    cr_assert_eq(net.window.keys, 0);
    cr_assert_eq(pp_net_from_model(&model, 33, &net, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_net_window(&net, 1), 32);
    cr_assert_eq(pp_net_window(&net, 2), 0);
    cr_assert_eq(pp_net_take_seq(&net, &model, 32, &err), PP_OK, "%s", err.message);
    cr_assert(net.seq == 32 && net.window.keys == 0);
    cr_assert_eq(pp_net_take_seq(&net, &model, 1000, &err), PP_OK, "%s", err.message);
    cr_assert(net.seq == 1000 && net.window.keys == 32);
    model.window.is_chunked = true;
    cr_assert_eq(pp_net_from_model(&model, 33, &net, &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "has chunks of 32 keys, so at most 32 tokens"));
}

Test(net, counts_the_hidden_words_of_a_sample)
{
    const struct pp_net encoder = {.is_encoder = true, .seq = 128},
                        small = {.is_encoder = true, .seq = 3}, decoder = {.seq = 128};

    cr_assert_eq(pp_net_targets(&encoder), 19); /* 15 % are 19.2 */
    cr_assert_eq(pp_net_targets(&small), 1);
    cr_assert_eq(pp_net_targets(&decoder), 128);
}

/* What names the random numbers of a tensor is unique, and the same in every division. */
Test(net, tensors_have_ids_that_no_division_changes)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_model model = load(arena, "tiny");
    struct pp_error err = {0};
    struct pp_net net;
    struct pp_stage_shape shape = {
        .blocks = 8, .has_embedding = true, .has_head = true, .rows = 1, .tokens = 64, .splits = 1};

    cr_assert_eq(pp_net_from_model(&model, 64, &net, &err), PP_OK, "%s", err.message);
    const struct pp_stage *whole = pp_stage_create(arena, &net, &shape, &pp_kernels_reference);
    for (int p = 1; p < whole->param_count; p++) {
        cr_assert_gt(whole->params[p].id, whole->params[p - 1].id);
        cr_assert_eq(whole->params[p].offset % 16, 0);
    }
    shape = (struct pp_stage_shape){
        .first_block = 5, .blocks = 3, .has_head = true, .rows = 1, .tokens = 64, .splits = 1};
    const struct pp_stage *last = pp_stage_create(arena, &net, &shape, &pp_kernels_reference);
    for (int p = 0; p < last->param_count; p++) {
        const struct pp_param *param = &last->params[p];
        const struct pp_param *same = NULL;
        for (int q = 0; q < whole->param_count; q++)
            if (whole->params[q].id == param->id)
                same = &whole->params[q];
        cr_assert_not_null(same);
        cr_assert_str_eq(same->name, param->name);
        cr_assert_eq(same->layer, param->layer);
        cr_assert_eq(same->count, param->count);
        cr_assert_eq(same->deviation, param->deviation);
        cr_assert_eq(same->is_tied, param->is_tied);
    }
}
