#define _GNU_SOURCE /* mkdtemp */
#include "tests/unit/exec/hub/hub_case.h"

TestSuite(weights, .init = set_up, .fini = tear_down);

static void write_folder(const char *name, float factor, int64_t shard_bytes)
{
    PP_ARENA_AUTO struct pp_arena *run = pp_arena_create();
    struct pp_hub_folder folder;
    const struct pp_hub_export export = {&folder, "{}\n", &layout, shard_bytes};

    cr_assert_eq(
        pp_hub_folder_open(run, folder_of(name), pp_hub_export_bytes(&layout), &folder, &err),
        PP_OK, "%s", err.message);
    cr_assert_eq(pp_hub_export_write(run, &export, fetch, &factor, &err), PP_OK, "%s", err.message);
}

static struct pp_safetensors open_folder(const char *name)
{
    struct pp_safetensors files;
    const char *path;

    cr_assert_eq(pp_safetensors_look(arena, folder_of(name), &path, &err), PP_OK);
    cr_assert_eq(pp_safetensors_open(arena, path, &files, &err), PP_OK, "%s", err.message);
    return files;
}

static enum pp_status match(const struct pp_safetensors *files)
{
    return pp_hub_match(arena, files, "F", &layout, &err);
}

/* Each range of each tensor, in any division, is what was written. */
static void check_all(float factor)
{
    const struct pp_stage *whole = pp_stage_whole(arena, &net, 1, 1, &pp_kernels_reference);
    const struct pp_weights_source source = pp_hub_source(&layout);

    for (int p = 0; p < whole->param_count; p++) {
        const struct pp_param *param = &whole->params[p];
        float *values = PP_ARRAY(arena, float, param->count);

        for (int64_t step = 1; step <= param->count; step = 3 * step + 1)
            for (int64_t from = 0; from < param->count; from += step) {
                const int64_t until = from + step < param->count ? from + step : param->count;
                source.read(source.closure, param, pp_slice_run(from, until), values);
                for (int64_t i = from; i < until; i++)
                    cr_assert_eq(values[i - from], number_of(param, i) * factor, "%s", param->name);
            }
    }
}

/* So are runs at any distance, as devices of a group have them. */
static void check_runs(float factor)
{
    const struct pp_stage *whole = pp_stage_whole(arena, &net, 1, 1, &pp_kernels_reference);
    const struct pp_weights_source source = pp_hub_source(&layout);

    for (int p = 0; p < whole->param_count; p++) {
        const struct pp_param *param = &whole->params[p];
        float *values = PP_ARRAY(arena, float, param->count);

        for (int64_t stride = 1; stride < 40 && stride <= param->count; stride++)
            for (int64_t run = 1; run <= stride; run += 3) {
                const int64_t first = run % 5 < param->count - run ? run % 5 : 0;
                const struct pp_slice_piece runs = {first, run, stride,
                                                    (param->count - first - run) / stride + 1};
                source.read(source.closure, param, runs, values);
                for (int64_t i = 0; i < run * runs.runs; i++)
                    cr_assert_eq(values[i],
                                 number_of(param, first + i / run * stride + i % run) * factor,
                                 "%s: %d of %d", param->name, (int)run, (int)stride);
            }
    }
}

Test(weights, what_is_written_is_read)
{
    const char *const texts[] = {GPT2 "}", GPT2 ", \"tie_word_embeddings\": false}", LLAMA "}",
                                 LLAMA ", \"attention_bias\": true, \"mlp_bias\": true}",
                                 QWEN2 "}"};
    const int64_t shards[] = {PP_HUB_SHARD_BYTES, 1000, 1};

    for (size_t t = 0; t < PP_COUNT(texts); t++)
        for (size_t s = 0; s < PP_COUNT(shards); s++) {
            const char *name = pp_arena_printf(arena, "m%zu-%zu", t, s);
            take_model(texts[t], 6);
            write_folder(name, 1, shards[s]);
            const struct pp_safetensors files = open_folder(name);
            cr_assert_eq(match(&files), PP_OK, "%s", err.message);
            cr_assert_eq(files.count, layout.count);
            check_all(1);
            check_runs(1);
            const int count = count_files(name);
            cr_assert(s == 0 ? count == 2 : s == 1 ? count > 3 : count == layout.count + 2);
        }
}

/* Convolutions of GPT-2 are [in][out]; queries, keys and values of LLaMA are one matrix here. */
Test(weights, matrices_have_the_order_of_the_family)
{
    const struct pp_safetensor *tensor;
    float value;

    take_model(GPT2 "}", 6);
    write_folder("a", 1, PP_HUB_SHARD_BYTES);
    struct pp_safetensors files = open_folder("a");
    cr_assert_eq(match(&files), PP_OK);
    tensor = pp_safetensors_find(&files, "transformer.h.1.attn.c_attn.weight");
    cr_assert(tensor->shape[0] == 8 && tensor->shape[1] == 24);
    const struct pp_hub_piece *piece = layout.pieces;
    while (piece->tensor != tensor)
        piece++;
    for (int in = 0; in < 8; in++)
        for (int out = 0; out < 24; out++) {
            tensor->type->read(tensor->data + 4 * (24 * in + out), 1, &value);
            cr_assert_eq(value, number_of(piece->param, 8 * out + in));
        }
    take_model(LLAMA "}", 6);
    write_folder("b", 1, PP_HUB_SHARD_BYTES);
    files = open_folder("b");
    cr_assert_eq(match(&files), PP_OK);
    tensor = pp_safetensors_find(&files, "model.layers.0.self_attn.v_proj.weight");
    cr_assert(tensor->shape[0] == 4 && tensor->shape[1] == 8);
    for (piece = layout.pieces; piece->tensor != tensor;)
        piece++;
    tensor->type->read(tensor->data, 1, &value);
    cr_assert_eq(value, number_of(piece->param, (8 + 4) * 8));
}

static void take_family(const char *text, const char *family, bool has_norm_offset)
{
    cr_assert_eq(pp_model_from_json(arena, "c.json", text, strlen(text), &model, &err), PP_OK, "%s",
                 err.message);
    if (strcmp(family, "gpt-neox") == 0)
        model.positions = 0; /* rotary */
    cr_assert_eq(pp_net_from_model(&model, 6, &net, &err), PP_OK, "%s", err.message);
    model.family = family;
    model.numerics.has_norm_offset = has_norm_offset;
    cr_assert_eq(pp_hub_layout(arena, &model, &net, &layout, &err), PP_OK, "%s", err.message);
}

static float stored(const struct pp_safetensors *files, const char *name, int64_t element)
{
    const struct pp_safetensor *tensor = pp_safetensors_find(files, name);
    float value;

    cr_assert(tensor && element < tensor->count, "%s", name);
    tensor->type->read(tensor->data + element * tensor->type->bytes, 1, &value);
    return value;
}

static const struct pp_param *param_of(const char *name)
{
    const struct pp_hub_piece *piece = layout.pieces;

    while (strcmp(piece->param->name, name) != 0)
        piece++;
    return piece->param;
}

/* Heads of GPT-NeoX have their query, key and value in turn. */
Test(weights, rows_are_sorted_by_head_where_the_family_does)
{
    take_family(GPT2 ", \"tie_word_embeddings\": false}", "gpt-neox", false);
    write_folder("a", 1, PP_HUB_SHARD_BYTES);
    struct pp_safetensors files = open_folder("a");
    cr_assert_eq(match(&files), PP_OK, "%s", err.message);
    check_all(1);
    check_runs(1);
    for (int head = 0; head < 2; head++)
        for (int part = 0; part < 3; part++)
            for (int e = 0; e < 4; e++) {
                const int ours = 8 * part + 4 * head + e, theirs = 4 * (3 * head + part) + e;
                cr_assert_eq(
                    stored(&files, "gpt_neox.layers.0.attention.query_key_value.bias", theirs),
                    number_of(param_of("qkv.bias"), ours));
                cr_assert_eq(stored(&files, "gpt_neox.layers.0.attention.query_key_value.weight",
                                    8 * theirs + 5),
                             number_of(param_of("qkv.weight"), 8 * ours + 5));
            }
}

/* Writes every `count`-th run of `run` elements of a piece, one after the other. */
static void put_runs(struct pp_hub_writer *writer, int i, int64_t run, int index, int count)
{
    const struct pp_hub_piece *piece = &layout.pieces[i];
    const int64_t end = piece->from + piece->rows * piece->columns;
    float factor = 1;

    for (int64_t from = piece->from + run * index; from < end; from += run * count)
        cr_assert_eq(pp_hub_writer_put(writer, i,
                                       pp_slice_run(from, from + run < end ? from + run : end),
                                       fetch, &factor, &err),
                     PP_OK);
}

/* Writes every `count`-th group of `width` columns of all rows of a piece, rows at once. */
static void put_columns(struct pp_hub_writer *writer, int i, int64_t width, int index, int count)
{
    const struct pp_hub_piece *piece = &layout.pieces[i];
    float factor = 1;

    for (int64_t c = width * index; c < piece->columns; c += width * count) {
        const int64_t left = piece->columns - c;
        const struct pp_slice_piece runs = {piece->from + c, left < width ? left : width,
                                            piece->columns, piece->rows};
        cr_assert_eq(pp_hub_writer_put(writer, i, runs, fetch, &factor, &err), PP_OK);
    }
}

/* As one of `count` processes. */
static int64_t write_part(const struct pp_hub_draft *draft, int64_t run, bool by_columns, int index,
                          int count)
{
    PP_ARENA_AUTO struct pp_arena *own = pp_arena_create();
    struct pp_hub_writer *writer = pp_hub_writer_open(own, draft);
    int64_t bytes;

    for (int i = 0; i < layout.count; i++)
        (by_columns ? put_columns : put_runs)(writer, i, run, index, count);
    cr_assert_eq(pp_hub_writer_close(writer, PP_OK, &bytes, &err), PP_OK, "%s", err.message);
    return bytes;
}

/* Whatever parts of matrices each process has: rows, pieces of them, or columns. */
Test(weights, parts_of_several_processes_are_the_files_of_one)
{
    static const char *const families[] = {"gpt2", "gpt-neox", "llama"};
    static const int64_t runs[] = {1, 5, 8, 17, 40, 1000};

    for (size_t f = 0; f < PP_COUNT(families); f++)
        for (size_t r = 0; r < 2 * PP_COUNT(runs); r++) {
            PP_ARENA_AUTO struct pp_arena *run = pp_arena_create();
            struct pp_hub_folder folder;
            const struct pp_hub_export export = {&folder, "{}\n", &layout, 1200};
            int64_t bytes = 0;

            if (f < 2)
                take_family(GPT2 ", \"tie_word_embeddings\": false}", families[f], false);
            else
                take_model(LLAMA "}", 6);
            write_folder("one", 1, 1200);
            cr_assert_eq(pp_hub_folder_open(run, folder_of("many"), 1, &folder, &err), PP_OK);
            const struct pp_hub_draft draft = pp_hub_draft_of(run, &export, folder.partial);
            cr_assert_eq(pp_hub_draft_begin(&draft, &err), PP_OK, "%s", err.message);
            for (int part = 0; part < 3; part++)
                bytes += write_part(&draft, runs[r / 2], r % 2, part, 3);
            cr_expect_eq(bytes, pp_hub_trained_bytes(&layout));
            cr_assert_eq(pp_hub_draft_end(&draft, &err), PP_OK, "%s", err.message);
            cr_assert_eq(pp_hub_folder_publish(&folder, folder.path, &err), PP_OK, "%s",
                         err.message);
            cr_expect_gt(count_files("many"), 3);
            command("diff -r one many && rm -r one many");
        }
}

Test(weights, opt_has_a_matrix_for_each_part)
{
    take_family(GPT2 "}", "opt", false);
    write_folder("a", 1, PP_HUB_SHARD_BYTES);
    struct pp_safetensors files = open_folder("a");
    cr_assert_eq(match(&files), PP_OK, "%s", err.message);
    check_all(1);
    cr_assert_eq(stored(&files, "model.decoder.layers.0.self_attn.k_proj.bias", 3),
                 number_of(param_of("qkv.bias"), 8 + 3));
}

/* Gemma multiplies by 1 + weight. */
Test(weights, gains_of_norms_are_stored_less_one)
{
    take_family(LLAMA "}", "gemma", true);
    write_folder("a", 1, PP_HUB_SHARD_BYTES);
    struct pp_safetensors files = open_folder("a");
    cr_assert_eq(match(&files), PP_OK, "%s", err.message);
    check_all(1);
    cr_assert_eq(stored(&files, "model.norm.weight", 3), number_of(param_of("norm.weight"), 3) - 1);
    cr_assert_eq(stored(&files, "model.embed_tokens.weight", 3),
                 number_of(param_of("embedding.weight"), 3));
}

/* Names without the prefix are those of a model without its head. */
Test(weights, a_prefix_may_be_left_out)
{
    take_model(GPT2 "}", 6);
    write_folder("a", 1, PP_HUB_SHARD_BYTES);
    struct pp_safetensors files = open_folder("a");
    for (int i = 0; i < files.count; i++)
        files.tensors[i].name += strlen("transformer.");
    cr_assert_eq(match(&files), PP_OK, "%s", err.message);
    check_all(1);
}

Test(weights, positions_beyond_the_sample_are_kept)
{
    take_model(GPT2 "}", 6);
    write_folder("a", 1, PP_HUB_SHARD_BYTES);
    const struct pp_safetensors files = open_folder("a");
    take_model(GPT2 "}", 4);
    cr_assert_eq(match(&files), PP_OK, "%s", err.message);
    check_all(1);
    write_folder("b", -1, PP_HUB_SHARD_BYTES);
    const struct pp_safetensors again = open_folder("b");
    const struct pp_safetensor *before = pp_safetensors_find(&files, "transformer.wpe.weight"),
                               *after = pp_safetensors_find(&again, "transformer.wpe.weight");
    const size_t trained = 4 * 8 * sizeof(float), rest = 2 * 8 * sizeof(float);
    cr_assert_neq(memcmp(after->data, before->data, trained), 0);
    cr_assert_eq(memcmp(after->data + trained, before->data + trained, rest), 0);
    cr_assert_eq(match(&again), PP_OK);
    check_all(-1);
}

Test(weights, types_of_the_files_are_kept)
{
    take_model(LLAMA "}", 6);
    write_folder("a", 1, PP_HUB_SHARD_BYTES);
    struct pp_safetensors files = open_folder("a");
    cr_assert_eq(match(&files), PP_OK);
    for (int i = 0; i < files.count; i++)
        files.tensors[i].type = pp_number_type(i % 3 == 0 ? "F32" : i % 3 == 1 ? "BF16" : "F16");
    write_folder("b", 1, PP_HUB_SHARD_BYTES);
    const struct pp_safetensors again = open_folder("b");
    cr_assert_eq(match(&again), PP_OK, "%s", err.message);
    for (int i = 0; i < files.count; i++)
        cr_assert_eq(again.tensors[i].type, files.tensors[i].type);
    check_all(1);
}

/* A change of one tensor, and the message. */
static const struct {
    const char *text, *tensor, *name;
    int dimensions, rows;
    const char *type, *message;
} lies[] = {
    {LLAMA "}", "model.norm.weight", "model.norm.wight", 0, 0, NULL,
     "F: tensor 'model.norm.weight' is missing: by config.json it has the shape [8]"},
    {LLAMA "}", "model.norm.weight", NULL, 2, 0, NULL,
     "tensor 'model.norm.weight' has the shape [8, 0], by config.json [8]"},
    {LLAMA "}", "model.layers.1.mlp.up_proj.weight", NULL, 0, 13, NULL,
     "tensor 'model.layers.1.mlp.up_proj.weight' has the shape [13, 8], by config.json [12, 8]"},
    {LLAMA "}", "model.embed_tokens.weight", NULL, 0, 0, "I64",
     "tensor 'model.embed_tokens.weight' has numbers of type I64: F32, BF16 and F16 can be read"},
};

Test(weights, files_of_another_model_are_refused_by_tensor)
{
    for (size_t i = 0; i < PP_COUNT(lies); i++) {
        const char *name = pp_arena_printf(arena, "m%zu", i);
        take_model(lies[i].text, 6);
        write_folder(name, 1, PP_HUB_SHARD_BYTES);
        struct pp_safetensors files = open_folder(name);
        struct pp_safetensor *tensor = files.tensors;
        while (strcmp(tensor->name, lies[i].tensor) != 0)
            tensor++;
        tensor->name = lies[i].name ? lies[i].name : tensor->name;
        tensor->dimensions = lies[i].dimensions ? lies[i].dimensions : tensor->dimensions;
        tensor->shape[0] = lies[i].rows ? lies[i].rows : tensor->shape[0];
        tensor->type = lies[i].type ? pp_number_type(lies[i].type) : tensor->type;
        cr_expect_eq(match(&files), PP_EINVAL);
        cr_expect_not_null(strstr(err.message, lies[i].message), "%s", err.message);
    }
}

Test(weights, other_tensors_are_refused_unless_they_are_constants)
{
    static const struct {
        const char *name;
        enum pp_status status;
    } rows[] = {
        {"model.layers.0.self_attn.rotary_emb.inv_freq", PP_OK},
        {"lm_head.weight", PP_OK}, /* of a tied model */
        {"model.layers.2.mlp.up_proj.weight", PP_EINVAL},
        {"model.layers.0.self_attn.q_proj.bias", PP_EINVAL},
    };

    take_model(LLAMA "}", 6);
    write_folder("a", 1, PP_HUB_SHARD_BYTES);
    for (size_t i = 0; i < PP_COUNT(rows); i++) {
        struct pp_safetensors files = open_folder("a"), more = {.count = files.count + 1};
        more.tensors = PP_ARRAY(arena, struct pp_safetensor, more.count);
        memcpy(more.tensors, files.tensors, sizeof(*files.tensors) * (size_t)files.count);
        more.tensors[files.count] = files.tensors[0];
        more.tensors[files.count].name = rows[i].name;
        pp_safetensors_sort(&more);
        cr_expect_eq(match(&more), rows[i].status, "%s", rows[i].name);
        if (rows[i].status != PP_OK)
            cr_expect_not_null(strstr(err.message, rows[i].name), "%s", err.message);
    }
}

/* The head of a tied model may be stored again, in any type, but with no number of its own. */
Test(weights, a_tied_head_that_is_stored_is_the_embedding)
{
    take_model(LLAMA "}", 6);
    write_folder("a", 1, PP_HUB_SHARD_BYTES);
    struct pp_safetensors files = open_folder("a"), more = {.count = files.count + 1};
    const struct pp_safetensor *embedding =
        pp_safetensors_find(&files, "model.embed_tokens.weight");
    struct pp_safetensor head = *embedding;
    float *values = PP_ARRAY(arena, float, head.count);
    unsigned short *halves = PP_ARRAY(arena, unsigned short, head.count);

    head.name = "lm_head.weight";
    embedding->type->read(embedding->data, head.count, values);
    pp_number_type("BF16")->write(values, head.count, halves);
    for (int i = 0; i < 4; i++) { /* F32, BF16, its last number changed, another shape */
        head.type = i == 0 ? embedding->type : pp_number_type("BF16");
        head.data = i == 0 ? embedding->data : (const unsigned char *)halves;
        halves[head.count - 1] ^= i == 2 ? 1 : 0;
        head.shape[0] -= i == 3 ? 1 : 0;
        more.tensors = PP_ARRAY(arena, struct pp_safetensor, more.count);
        memcpy(more.tensors, files.tensors, sizeof(*files.tensors) * (size_t)files.count);
        more.tensors[files.count] = head;
        pp_safetensors_sort(&more);
        cr_expect_eq(match(&more), i < 2 ? PP_OK : PP_EINVAL, "%d", i);
        if (i >= 2)
            cr_expect_not_null(strstr(err.message, "'lm_head.weight' differs from "
                                                   "'model.embed_tokens.weight'"),
                               "%s", err.message);
    }
    cr_expect_not_null(strstr(err.message, "set tie_word_embeddings to false"), "%s", err.message);
}

/* So are the decoder of BERT and its bias, which its files store twice. */
Test(weights, copies_of_a_family_are_equal_to_their_originals)
{
    static const char *const rows[][2] = {
        {"bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"},
        {"cls.predictions.bias", "cls.predictions.decoder.bias"}};

    take_model(BERT, 6);
    write_folder("a", 1, PP_HUB_SHARD_BYTES);
    struct pp_safetensors files = open_folder("a"), more = {.count = files.count + 1};
    for (int i = 0; i < 4; i++) { /* each the same, then with another number */
        const struct pp_safetensor *original = pp_safetensors_find(&files, rows[i / 2][0]);
        struct pp_safetensor copy = *original;
        float *values = PP_ARRAY(arena, float, copy.count);
        original->type->read(original->data, copy.count, values);
        values[copy.count - 1] += (float)(i % 2);
        copy.name = rows[i / 2][1];
        copy.data = (const unsigned char *)values;
        more.tensors = PP_ARRAY(arena, struct pp_safetensor, more.count);
        memcpy(more.tensors, files.tensors, sizeof(*files.tensors) * (size_t)files.count);
        more.tensors[files.count] = copy;
        pp_safetensors_sort(&more);
        cr_expect_eq(match(&more), i % 2 ? PP_EINVAL : PP_OK, "%d", i);
        if (i % 2)
            cr_expect_not_null(strstr(err.message, pp_arena_printf(arena, "'%s' differs from '%s'",
                                                                   rows[i / 2][1], rows[i / 2][0])),
                               "%s", err.message);
    }
    cr_expect_not_null(strstr(err.message, "family bert of the hub has one tensor for both"), "%s",
                       err.message);
}

Test(weights, a_family_without_names_is_refused)
{
    const char *text = "{\"model_type\": \"internlm\", \"num_hidden_layers\": 2, \"hidden_size\": "
                       "8, \"num_attention_heads\": 2, \"vocab_size\": 11, "
                       "\"intermediate_size\": 12}";

    cr_assert_eq(pp_model_from_json(arena, "c.json", text, strlen(text), &model, &err), PP_OK);
    cr_assert_eq(pp_net_from_model(&model, 6, &net, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_hub_layout(arena, &model, &net, &layout, &err), PP_EINVAL);
    cr_assert_str_eq(err.message,
                     "model 'c.json': the names of the tensors of family internlm are not known; "
                     "known are bert, gemma, gpt, gpt2, gpt-neox, llama, mistral, mixtral, "
                     "opt, qwen2, qwen3, qwen3_moe");
}
