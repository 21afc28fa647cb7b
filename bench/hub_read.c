/* Time to read weights of the hub as stages take them, against that of reading the file alone, as
 * cat does. Both are in the page cache, on one thread. */
#define _GNU_SOURCE /* mkdtemp */
#include "core/clock.h"
#include "exec/hub/export.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUNS = 5, ELEMENTS = 1 << 18, CAT_BYTES = 128 << 10 };

static const struct {
    const char *name, *config;
} models[] = {
    {"llama, rows", "{\"model_type\": \"llama\", \"num_hidden_layers\": 18, \"hidden_size\": 1024, "
                    "\"num_attention_heads\": 16, \"vocab_size\": 16000, \"intermediate_size\": "
                    "2816}"},
    {"gpt2, transposed",
     "{\"model_type\": \"gpt2\", \"n_layer\": 19, \"n_embd\": 1024, \"n_head\": "
     "16, \"vocab_size\": 16000, \"n_positions\": 64}"},
};

static enum pp_status fetch(void *closure, const struct pp_param *param, struct pp_range range,
                            float *values, struct pp_error *err)
{
    (void)closure;
    (void)err;
    for (int64_t i = range.from; i < range.until; i++)
        values[i - range.from] = (float)(param->id + i % 1000);
    return PP_OK;
}

static double cat_s(const char *path)
{
    static char buffer[CAT_BYTES];
    const int fd = open(path, O_RDONLY);
    const double begin_s = pp_clock_s();

    while (read(fd, buffer, sizeof(buffer)) > 0)
        ;
    close(fd);
    return pp_clock_s() - begin_s;
}

static double read_s(struct pp_hub_layout *layout, const char *path, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    float *values = PP_ARRAY(arena, float, ELEMENTS);
    struct pp_safetensors files;
    const double begin_s = pp_clock_s();

    if (pp_safetensors_open(arena, path, &files, err) != PP_OK ||
        pp_hub_match(arena, &files, path, layout, err) != PP_OK)
        return -1;
    const struct pp_weights_source source = pp_hub_source(layout);
    for (int i = 0; i < layout->count; i++) {
        const struct pp_hub_piece *piece = &layout->pieces[i];
        const int64_t end = piece->from + piece->rows * piece->columns;
        for (int64_t from = piece->from; from < end; from += ELEMENTS) {
            const int64_t until = end - from < ELEMENTS ? end : from + ELEMENTS;
            source.read(source.closure, piece->param, (struct pp_range){from, until}, values);
        }
    }
    return pp_clock_s() - begin_s;
}

static enum pp_status measure(struct pp_arena *arena, const char *parent, int m,
                              struct pp_error *err)
{
    const char *folder = pp_arena_printf(arena, "%s/%d", parent, m),
               *path = pp_arena_printf(arena, "%s/" PP_SAFETENSORS_FILE, folder);
    double best_s[2] = {1e9, 1e9}, bytes = 0;
    struct pp_hub_layout layout;
    struct pp_model model;
    struct pp_net net;

    PP_TRY(pp_model_from_json(arena, models[m].name, models[m].config, strlen(models[m].config),
                              &model, err));
    PP_TRY(pp_net_from_model(&model, 64, &net, err));
    PP_TRY(pp_hub_layout(arena, &model, &net, &layout, err));
    struct pp_hub_folder *open = PP_NEW(arena, struct pp_hub_folder);
    PP_TRY(pp_hub_folder_open(arena, folder, pp_hub_export_bytes(&layout), open, err));
    const struct pp_hub_export export = {open, "{}\n", &layout, PP_HUB_SHARD_BYTES};
    const double begin_s = pp_clock_s();
    PP_TRY(pp_hub_export_write(arena, &export, fetch, NULL, err));
    const double write_s = pp_clock_s() - begin_s;
    for (int i = 0; i < layout.count; i++)
        bytes += 4.0 * (double)(layout.pieces[i].stored_rows * layout.pieces[i].columns);
    for (int run = 0; run < RUNS; run++) {
        const double took_s[] = {cat_s(path), read_s(&layout, path, err)};
        if (took_s[1] < 0)
            return err->status;
        for (int k = 0; k < 2; k++)
            best_s[k] = took_s[k] < best_s[k] ? took_s[k] : best_s[k];
    }
    printf("%-18s %.2f GB: file alone %.2f GB/s, as ours %.2f GB/s, %.2f times its time; written "
           "to disk at %.2f GB/s\n",
           models[m].name, bytes / 1e9, bytes / best_s[0] / 1e9, bytes / best_s[1] / 1e9,
           best_s[1] / best_s[0], bytes / write_s / 1e9);
    return PP_OK;
}

int main(void)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    char parent[] = "/tmp/pp-bench-hub-XXXXXX";
    struct pp_error err = {0};

    if (!mkdtemp(parent))
        return PP_EFAIL;
    for (size_t m = 0; m < PP_COUNT(models) && err.status == PP_OK; m++)
        measure(arena, parent, (int)m, &err);
    if (err.status != PP_OK)
        fprintf(stderr, "%s\n", err.message);
    if (system(pp_arena_printf(arena, "rm -r %s", parent)) != 0)
        return PP_EFAIL;
    return (int)err.status;
}
