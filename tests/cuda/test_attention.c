/* Attention of the CUDA kernels, both types, against the reference: all sizes of heads, tails of
 * tiles, grouped heads, splits, large scores. The bits are the same in whatever order threads and
 * blocks run. */
#include "kernels/cuda/attention/cudnn.h"
#include "tests/cuda/attention_case.h"

#include <stdio.h>

Test(cuda_attention, tokens)
{
    static const int tokens[] = {1, 7, 64, 65, 128, 130, 200};
    static const int dims[] = {16, 64, 128};

    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        for (size_t j = 0; j < sizeof dims / sizeof *dims; j++) {
            const struct problem p[] = {{dims[j], 1, 1, tokens[i], 1, 1, 1}};
            TRY(p);
        }
}

Test(cuda_attention, heads)
{
    static const struct problem p[] = {
        {32, 3, 3, 40, 1, 2, 1},  {80, 2, 1, 37, 1, 1, 1},   {64, 4, 2, 70, 1, 2, 1},
        {128, 4, 1, 65, 1, 1, 1}, {128, 2, 2, 129, 1, 2, 1}, {64, 6, 3, 33, 1, 1, 1},
    };
    TRY(p);
}

Test(cuda_attention, head_dims)
{
    static const struct problem p[] = {
        {1, 2, 1, 19, 1, 1, 1},  {7, 2, 2, 33, 1, 2, 1},   {20, 1, 1, 50, 1, 1, 1},
        {8, 2, 1, 70, 2, 1, 1},  {120, 2, 1, 70, 2, 1, 1}, {72, 1, 1, 33, 1, 1, 1},
        {96, 2, 1, 33, 1, 1, 1}, {160, 1, 1, 35, 1, 1, 1}, {256, 1, 1, 33, 2, 1, 1},
    };
    TRY(p);
}

/* Devices whose blocks have the least shared memory; a real one is what it is. */
Test(cuda_attention, little_shared_memory)
{
    static const struct problem p[] = {
        {256, 1, 1, 33, 2, 1, 1}, {64, 2, 1, 70, 1, 1, 1}, {128, 2, 1, 70, 1, 1, 1}};

    setenv("PP_EMULATED_CAPABILITY", "89", 1);
    TRY(p);
}

Test(cuda_attention, splits)
{
    static const struct problem p[] = {
        {16, 2, 1, 7, 2, 2, 1},   {32, 2, 2, 33, 3, 1, 1},   {80, 2, 1, 20, 3, 1, 1},
        {64, 2, 1, 64, 2, 1, 1},  {64, 1, 1, 63, 2, 1, 1},   {128, 1, 1, 63, 2, 1, 1},
        {64, 4, 2, 65, 3, 2, 1},  {64, 1, 1, 1, 3, 1, 1},    {64, 2, 2, 130, 2, 1, 1},
        {128, 2, 1, 65, 3, 1, 1}, {128, 1, 1, 130, 2, 2, 1}, {128, 2, 2, 7, 3, 2, 1},
    };
    TRY(p);
}

/* Scores of hundreds, of either sign, or below 0: keys that are not there would weigh most. */
Test(cuda_attention, large_scores)
{
    static const struct problem p[] = {
        {16, 2, 2, 65, 1, 1, 16, 0, 20},        {64, 2, 1, 130, 2, 1, 16, 0, 20},
        {128, 1, 1, 130, 2, 1, 16, 0, 20},      {16, 1, 1, 33, 2, 1, 16, 0, 100, true},
        {64, 2, 1, 70, 2, 1, 16, 0, 100, true}, {128, 2, 2, 70, 2, 1, 16, 0, 100, true},
    };
    TRY(p);
}

/* Windows of a key, of parts of tiles, of several, and beyond the sequence; over splits. Every
 * problem has two of the windows, and each window is tried with several; a long run has all. */
Test(cuda_attention, windows)
{
    static const int windows[] = {1, 17, 64, 100, 150, 4096};
    static const struct problem of[] = {
        {48, 2, 1, 70, 1, 2, 1},
        {7, 2, 2, 33, 3, 1, 1},
        {64, 2, 1, 300, 1, 1, 1},
        {64, 4, 2, 65, 3, 2, 1},
        {64, 2, 1, 130, 2, 1, 16, 0, 20},
        {128, 2, 1, 300, 1, 1, 1},
        {128, 1, 1, 63, 3, 1, 1},
        {128, 2, 1, 130, 2, 1, 16, 0, 20},
        {72, 2, 2, 40, 3, 1, 1},
        {16, 1, 1, 33, 2, 1, 16, 0, 100, true},
        {64, 2, 1, 70, 2, 1, 16, 0, 100, true},
    };

    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (size_t j = 0; j < sizeof windows / sizeof *windows; j++) {
            struct problem p[] = {of[i]};
            if ((i + j) % 3 != 0 && !getenv("PIPESIM_LONG"))
                continue;
            p->window = windows[j];
            if (p->window == 1) /* gradients of queries are 0, and errors grow with the scale */
                p->scale = 1;
            TRY(p);
        }
}

/* Of encoders: every query meets every key. */
Test(cuda_attention, full)
{
    static const struct problem of[] = {
        {48, 2, 1, 70, 1, 2, 1},  {7, 2, 2, 33, 1, 1, 1},    {64, 2, 2, 1, 1, 1, 1},
        {64, 4, 2, 65, 1, 2, 1},  {64, 2, 2, 300, 1, 1, 1},  {64, 2, 1, 130, 1, 1, 16, 0, 20},
        {128, 2, 1, 65, 1, 1, 1}, {128, 1, 1, 200, 1, 2, 1}, {72, 2, 2, 40, 1, 1, 1},
    };

    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct problem p[] = {of[i]};
        p->is_full = true;
        TRY(p);
    }
}

/* Tensors that tensor cores could not load. */
Test(cuda_attention, unaligned)
{
    static const struct problem p[] = {{64, 2, 1, 66, 2, 1, 1, 3}, {128, 1, 1, 40, 1, 1, 1, 2}};
    TRY(p);
}

/* All of them, and their number. */
static double *results_of(const struct scene *s, size_t *count)
{
    const struct drawn_tensor *all[] = {s->out, s->dqkv, s->lse};
    double *x = calloc((size_t)s->p.splits * 3 * s->dqkv[0].count, sizeof *x);

    *count = 0;
    for (size_t i = 0; i < 3; i++)
        for (int j = 0; j < s->p.splits; j++) {
            device_read(all[i][j].device, x + *count, all[i][j].count, all[i][j].is_bf16);
            *count += all[i][j].count;
        }
    return x;
}

/* Runs the work by a CUDA graph. */
static void run_captured(const struct scene *s)
{
    const cudaStream_t stream = device_stream()->stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    device_must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch_device(s);
    device_must(cudaStreamEndCapture(stream, &graph));
    device_must(cudaGraphInstantiate(&exec, graph, 0));
    device_must(cudaGraphLaunch(exec, stream));
    device_finish();
    device_must(cudaGraphExecDestroy(exec));
    device_must(cudaGraphDestroy(graph));
}

/* The last time may be by a graph. */
static void try_again(const struct problem *p, bool is_bf16, bool is_captured)
{
    const int times = is_captured || getenv("PIPESIM_LONG") ? 4 : 3;
    struct scene s = scene_of(p, is_bf16);
    double *first = NULL;

    for (int time = 0; time < times; time++) {
        size_t count;
        for (int j = 0; j < p->splits; j++)
            device_write(s.dqkv[j].device, s.dqkv[j].host, s.dqkv[j].count, is_bf16);
        if (is_captured && time == times - 1)
            run_captured(&s);
        else
            run_device(&s);
        double *x = results_of(&s, &count);
        for (size_t i = 0; first && i < count; i++)
            cr_assert(x[i] == first[i], "%s, head_dim %d: element %zu of %zu: %a, then %a",
                      is_bf16 ? "bf16" : "fp32", p->head_dim, i, count, first[i], x[i]);
        if (first)
            free(x);
        else
            first = x;
    }
    free(first);
    scene_free(&s);
}

/* Each launch draws its own order of blocks and threads where the device is emulated. */
Test(cuda_attention, same_bits)
{
    static const struct problem p[] = {
        {48, 2, 1, 70, 2, 2, 1},
        {64, 2, 1, 130, 2, 2, 1},
        {128, 2, 1, 130, 2, 1, 1},
        {64, 2, 1, 130, 2, 2, 1, .window = 90},
    };

    for (size_t i = 0; i < sizeof p / sizeof *p; i++) {
        try_again(&p[i], false, false);
        try_again(&p[i], true, false);
    }
}

/* ---- cuDNN ----------------------------------------------------------------------------------- */

/* Gives the stream cuDNN. False, and says so, where the build has none or it cannot be loaded. */
static bool use_cudnn(void)
{
    static const struct problem small = {64, 1, 1, 128, 1, 1, 1};

    device_stream()->cudnn = pp_cudnn_create();
    try_problem(&small, true);
    const char *about = pp_cudnn_about();
    cr_assert(strncmp(about, "own (cuDNN", 10) != 0, "%s", about);
    const bool is_used = strncmp(about, "cuDNN", 5) == 0;
    printf("# %s: attention: %s\n", is_used ? "tried" : "skipped", about);
    return is_used;
}

static void leave_cudnn(void)
{
    pp_cudnn_destroy(device_stream()->cudnn);
    device_stream()->cudnn = NULL;
}

/* Shapes of models, tails of all tiles, grouped heads; nothing is refused. */
Test(cuda_attention, cudnn)
{
    static const struct problem p[] = {
        {64, 12, 12, 1024, 1, 1, 1}, {64, 2, 2, 130, 1, 2, 1},   {64, 4, 2, 1000, 1, 1, 1},
        {128, 4, 1, 256, 1, 2, 1},   {128, 2, 2, 33, 1, 3, 1},   {128, 2, 1, 1000, 1, 1, 1},
        {64, 2, 1, 130, 1, 1, 16},   {128, 1, 1, 200, 1, 1, 16},
    };

    for (size_t i = 0; i < sizeof p / sizeof *p && (i > 0 || use_cudnn()); i++)
        try_problem(&p[i], true);
    if (device_stream()->cudnn)
        cr_assert(!strstr(pp_cudnn_about(), "own"), "%s", pp_cudnn_about());
    leave_cudnn();
}

/* Bits of the first run of a plan, of a second, and of a graph that has captured the third. */
Test(cuda_attention, cudnn_same_bits)
{
    static const struct problem p[] = {{64, 12, 12, 1024, 1, 2, 1}, {128, 4, 2, 330, 1, 2, 1}};

    for (size_t i = 0; i < sizeof p / sizeof *p && (i > 0 || use_cudnn()); i++)
        try_again(&p[i], true, true);
    leave_cudnn();
}
