/* sim/emit/torchtitan_split.c — torchtitan: division of blocks. Sources: sim/emit/torchtitan.c. */
#include "sim/emit/settings.h"

#include <stdarg.h>
#include <stdio.h>

enum { WEIGHTS = 9, WIDTH = 80, NAME_BYTES = 32, MARKS = 5 };

/* Weights of generate_llm_fqn_per_model_part: layers before the first block and after the last
 * count as this many blocks. All are divided evenly; the first stages take one more. */
struct weights {
    int first, last;
};
static bool is_split(const struct pp_emit_job *job, struct weights w)
{
    const int stages = pp_emit_stages(job), all = job->config->model.layers + w.first + w.last;
    const int share = all / stages, extra = all % stages;

    if (w.first > share || w.last > share)
        return false;
    for (int s = 0; s < stages; s++)
        if (job->blocks[s] !=
            share + (s < extra) - (s == 0 ? w.first : 0) - (s == stages - 1 ? w.last : 0))
            return false;
    return true;
}

/* A class name stands for one stage of a rank, or for two. */
static int stages_taken(const struct pp_emit_job *job)
{
    const bool is_single = job->call ? job->schedule->chunks == 1 : job->shape.chunks == 1;

    return is_single ? 1 : 2;
}

static int layers_of_stage(const struct pp_emit_job *job, struct weights w)
{
    const int stages = pp_emit_stages(job), all = job->config->model.layers + w.first + w.last;

    return (all + stages - 1) / stages;
}

static bool is_counted(const struct pp_emit_job *job, struct weights w)
{
    const int all = job->config->model.layers + w.first + w.last, n = layers_of_stage(job, w);

    return is_split(job, w) &&
           (job->shape.chunks == stages_taken(job) || (all + n - 1) / n == pp_emit_stages(job));
}

/* Finds weights that give the run's division, first the usual ones, 1 and 1. */
static bool find_weights(const struct pp_emit_job *job, struct weights *found)
{
    static const struct weights usual = {1, 1};

    *found = usual;
    if (pp_emit_stages(job) == 1 || is_counted(job, usual))
        return true;
    for (int i = 0; i < WEIGHTS * WEIGHTS; i++) {
        *found = (struct weights){i / WEIGHTS, i % WEIGHTS};
        if (is_counted(job, *found))
            return true;
    }
    return false;
}

bool pp_emit_torchtitan_is_listed(const struct pp_emit_job *job)
{
    struct weights ignored;

    return job->layout.pp > 1 && !find_weights(job, &ignored);
}

/* List of names over several lines. */
struct list {
    FILE *out;
    int column;
    bool is_begun;
};
__attribute__((format(printf, 2, 3))) static void add(struct list *list, const char *format, ...)
{
    char name[NAME_BYTES];
    va_list args;

    va_start(args, format);
    const int length = vsnprintf(name, sizeof(name), format, args);
    va_end(args);
    if (list->is_begun)
        list->column += fprintf(list->out, ",");
    if (list->is_begun && list->column + length + MARKS > WIDTH)
        list->column = fprintf(list->out, "\n     ") - 1;
    else if (list->is_begun)
        list->column += fprintf(list->out, " ");
    list->column += fprintf(list->out, "\"%s\"", name);
    list->is_begun = true;
}

/* Returns the modules of every stage by name. */
static const char *modules(const struct pp_emit_job *job)
{
    const int stages = pp_emit_stages(job);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    fputs("[\n", out);
    for (int s = 0, block = 0; s < stages; s++) {
        struct list list = {.out = out, .column = fprintf(out, "    [")};
        if (s == 0)
            add(&list, "tok_embeddings");
        for (int i = 0; i < job->blocks[s]; i++)
            add(&list, "layers.%d", block++);
        if (s == stages - 1) {
            add(&list, "norm");
            add(&list, "output");
        }
        fputs("],\n", out);
    }
    fputs("]", out);
    return pp_emit_keep(job, out, &text);
}

void pp_emit_torchtitan_split(const struct pp_emit_job *job, struct pp_emission *e)
{
    struct weights w;

    if (job->layout.pp == 1)
        return;
    if (!find_weights(job, &w)) {
        pp_emit_list(e, "module_fqns_per_model_part", modules(job));
        return;
    }
    if (job->shape.chunks != stages_taken(job))
        pp_emit_int(e, "pipeline_parallel_layers_per_stage", layers_of_stage(job, w));
    pp_emit_int(e, "pipeline_parallel_first_stage_less_layers", w.first);
    pp_emit_int(e, "pipeline_parallel_last_stage_less_layers", w.last);
}
