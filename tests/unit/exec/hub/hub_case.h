/* tests/unit/exec/hub/hub_case.h — small models, and folders of their weights. */
#ifndef PP_TESTS_HUB_CASE_H
#define PP_TESTS_HUB_CASE_H

#include "exec/hub/export.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct pp_arena *arena;
static struct pp_error err;
static char parent[] = "/tmp/pp-test-hub-XXXXXX";
static struct pp_model model;
static struct pp_net net;
static struct pp_hub_layout layout;

static inline void set_up(void)
{
    arena = pp_arena_create();
    cr_assert(mkdtemp(parent));
}

static inline void tear_down(void)
{
    cr_assert_eq(system(pp_arena_printf(arena, "rm -r %s", parent)), 0);
    pp_arena_destroy(arena);
}

#define GPT2                                                                                       \
    "{\"model_type\": \"gpt2\", \"n_layer\": 2, \"n_embd\": 8, \"n_head\": 2, \"vocab_size\": "    \
    "11, "                                                                                         \
    "\"n_positions\": 6"
#define LLAMA                                                                                      \
    "{\"model_type\": \"llama\", \"num_hidden_layers\": 2, \"hidden_size\": 8, "                   \
    "\"num_attention_heads\": 4, \"num_key_value_heads\": 2, \"vocab_size\": 11, "                 \
    "\"intermediate_size\": 12, \"tie_word_embeddings\": true"
#define BERT                                                                                       \
    "{\"model_type\": \"bert\", \"num_hidden_layers\": 1, \"hidden_size\": 8, "                    \
    "\"num_attention_heads\": 2, \"vocab_size\": 11, \"intermediate_size\": 12, "                  \
    "\"max_position_embeddings\": 6, \"type_vocab_size\": 2}"
#define QWEN2                                                                                      \
    "{\"model_type\": \"qwen2\", \"num_hidden_layers\": 1, \"hidden_size\": 8, "                   \
    "\"num_attention_heads\": 4, \"num_key_value_heads\": 1, \"vocab_size\": 11, "                 \
    "\"intermediate_size\": 12"

static inline void take_model(const char *text, int seq)
{
    cr_assert_eq(pp_model_from_json(arena, "c.json", text, strlen(text), &model, &err), PP_OK, "%s",
                 err.message);
    cr_assert_eq(pp_net_from_model(&model, seq, &net, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_hub_layout(arena, &model, &net, &layout, &err), PP_OK, "%s", err.message);
}

/* Numbers that bfloat16 has, too. */
static inline float number_of(const struct pp_param *param, int64_t element)
{
    return (float)((param->id * 37 + element) % 251);
}

static inline enum pp_status fetch(void *closure, const struct pp_param *param,
                                   struct pp_slice_piece runs, float *values,
                                   struct pp_error *error)
{
    (void)error;
    for (int64_t i = 0; i < runs.run * runs.runs; i++)
        values[i] = number_of(param, runs.first + i / runs.run * runs.stride + i % runs.run) *
                    *(const float *)closure;
    return PP_OK;
}

static inline const char *folder_of(const char *name)
{
    return pp_arena_printf(arena, "%s/%s", parent, name);
}

static inline int count_files(const char *name)
{
    struct dirent **entries;
    const int count = scandir(folder_of(name), &entries, NULL, NULL);

    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return count - 2;
}

static inline void command(const char *text)
{
    cr_assert_eq(system(pp_arena_printf(arena, "cd %s && %s", parent, text)), 0, "%s", text);
}

#endif
