/* Time to read weights of the hub as stages take them, on one core and on all. It is compared with
 * that of reading the file alone, as cat does. All is in the page cache. Medians of runs
 * that take turns. */
#define _GNU_SOURCE /* mkdtemp */
#include "core/clock.h"
#include "core/process/pool.h"
#include "core/quantile.h"
#include "exec/hub/export.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUNS = 9, CAT_BYTES = 128 << 10 };

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

static enum pp_status fetch(void *closure, const struct pp_param *param, struct pp_slice_piece runs,
                            float *values, struct pp_error *err)
{
    (void)closure;
    (void)err;
    for (int64_t i = 0; i < runs.run; i++)
        values[i] = (float)(param->id + (runs.first + i) % 1000);
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

/* On one core, tensor by tensor. */
static void read_alone(const struct pp_stage *whole, const struct pp_weights_source *source,
                       float *weights)
{
    for (int p = 0; p < whole->param_count; p++) {
        const struct pp_param *param = &whole->params[p];
        source->read(source->closure, param, pp_slice_run(0, param->count),
                     weights + param->offset);
    }
}

static void read_on_all(const struct pp_stage *whole, const struct pp_weights_source *source,
                        float *weights)
{
    const struct pp_recipe recipe = {.source = source};
    const struct pp_state state = {.weights = weights, .held = {0, whole->elements}};

    pp_state_fill(whole, pp_kernels_fp32(false), &recipe, &state);
}

static double read_s(struct pp_hub_layout *layout, const struct pp_stage *whole, const char *path,
                     bool is_alone, float *weights, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_safetensors files;
    const double begin_s = pp_clock_s();

    if (pp_safetensors_open(arena, path, &files, err) != PP_OK ||
        pp_hub_match(arena, &files, path, layout, err) != PP_OK)
        return -1;
    const struct pp_weights_source source = pp_hub_source(layout);
    (is_alone ? read_alone : read_on_all)(whole, &source, weights);
    return pp_clock_s() - begin_s;
}

static enum pp_status write_folder(struct pp_arena *arena, const char *folder,
                                   const struct pp_hub_layout *layout, double *took_s,
                                   struct pp_error *err)
{
    struct pp_hub_folder *open = PP_NEW(arena, struct pp_hub_folder);

    PP_TRY(pp_hub_folder_open(arena, folder, pp_hub_export_bytes(layout), open, err));
    const struct pp_hub_export export = {open, "{}\n", layout, PP_HUB_SHARD_BYTES};
    const double begin_s = pp_clock_s();
    PP_TRY(pp_hub_export_write(arena, &export, fetch, NULL, err));
    *took_s = pp_clock_s() - begin_s;
    return PP_OK;
}

static enum pp_status measure(struct pp_arena *arena, const char *parent, int m,
                              struct pp_error *err)
{
    const char *folder = pp_arena_printf(arena, "%s/%d", parent, m),
               *path = pp_arena_printf(arena, "%s/" PP_SAFETENSORS_FILE, folder);
    double cat[RUNS], one[RUNS], all[RUNS], write_s;
    struct pp_hub_layout layout;
    struct pp_model model;
    struct pp_net net;

    PP_TRY(pp_model_from_json(arena, models[m].name, models[m].config, strlen(models[m].config),
                              &model, err));
    PP_TRY(pp_net_from_model(&model, 64, &net, err));
    PP_TRY(pp_hub_layout(arena, &model, &net, &layout, err));
    PP_TRY(write_folder(arena, folder, &layout, &write_s, err));
    const struct pp_stage *whole = pp_stage_whole(arena, &net, 1, 1, pp_kernels_fp32(false));
    float *weights = pp_arena_alloc_raw(arena, sizeof(float) * (size_t)whole->elements);
    memset(weights, 0, sizeof(float) * (size_t)whole->elements);
    for (int run = 0; run < RUNS; run++) {
        cat[run] = cat_s(path);
        one[run] = read_s(&layout, whole, path, true, weights, err);
        all[run] = read_s(&layout, whole, path, false, weights, err);
        if (one[run] < 0 || all[run] < 0)
            return err->status;
    }
    const double gb = (double)pp_hub_export_bytes(&layout) / 1e9, alone_s = pp_median(cat, RUNS);
    printf("%-18s %.2f GB: file alone %.2f GB/s; as ours, times as long: on one core %.2f, on %d "
           "%.2f; written to disk at %.2f GB/s\n",
           models[m].name, gb, gb / alone_s, pp_median(one, RUNS) / alone_s, pp_pool_cores(),
           pp_median(all, RUNS) / alone_s, gb / write_s);
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
