/* bench/gpu/kernels.c — every kernel of a training step on a GPU, compared with the device's
 * limits.
 *
 *   kernels about                  the device, as JSON
 *   kernels table [SCALE]          the table, a JSON object a line on stdout and text on stderr
 *   kernels call WIDTH KERNEL [SCALE]   one call of a kernel of the table, for a profiler
 *   kernels tokens FILE N VOCAB    a shard of N 16-bit tokens drawn at random, for pipeexec --data
 *
 * Shapes are those of GPT-2's blocks and head, in bf16. `roofline` is a time over the time taken:
 * the longer of flops at the peak, and bytes at the bandwidth of memory. `measured` uses measured
 * peaks in place of the stated ones. These are a copy of memory, and a multiplication of 8192 x
 * 8192 x 8192 on this device. Caches are overwritten before each call. Bytes count each tensor read
 * or written once. SCALE divides the shapes, for a trial of the table. */
#include "bench/gpu/block.h"
#include "core/random.h"
#include "kernels/cuda/gemm/plans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct shape SHAPES[] = {
    {"gpt2 124M", 768, 16}, {"gpt2-large 774M", 1280, 16}, {"gpt2-xl 1558M", 1600, 16}};

/* ---- commands -------------------------------------------------------------------------------- */

static int table(int scale)
{
    struct gpu_rig rig;

    gpu_rig_open(&rig);
    gpu_peaks_measure(&rig, scale);
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        struct block b = block_of(&rig, &SHAPES[i], scale);
        b.model = SHAPES[i].model;
        fprintf(stderr, "%s: %d rows of %d, sequences of %d, vocabulary %d\n", b.model, b.rows,
                b.width, b.seq, b.vocab);
        report_gemms(&b);
        report_rest(&b);
        gpu_release();
    }
    const struct pp_cuda_plan_report *c = pp_cuda_plans_report(rig.stream.plans);
    const bool has_failed = c->failure != NULL;
    printf("{\"plans\": {\"made\": %d, \"refused\": %d, \"own\": %d, \"finished\": %d}}\n", c->made,
           c->refused, (int)c->multiplied.own, (int)c->multiplied.finished);
    if (has_failed)
        fprintf(stderr, "kernels: cuBLASLt has failed to multiply: %s\n", c->failure);
    gpu_rig_close(&rig);
    return has_failed;
}

/* Exit code 1 if the table has no such row. */
static int call(int width, const char *kernel, int scale)
{
    struct gpu_rig rig;
    bool is_found = false;

    gpu_rig_open(&rig);
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++)
        if (SHAPES[i].width == width) {
            struct block b = block_of(&rig, &SHAPES[i], scale);
            b.only = kernel;
            report_gemms(&b);
            report_rest(&b);
            is_found = b.is_found;
            gpu_release();
        }
    gpu_rig_close(&rig);
    if (!is_found)
        fprintf(stderr, "bench: error: the table has no kernel '%s' at width %d\n", kernel, width);
    return !is_found;
}

static int about(void)
{
    const struct gpu_device d = gpu_device_find();
    int driver = 0, runtime = 0;

    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);

    printf(
        "{\"name\": \"%s\", \"multiprocessors\": %d, \"capability\": %d, \"memory_bytes\": %.0f, "
        "\"bytes_per_s\": %.4g, \"bf16_flops_per_s\": %.4g, \"fp32_flops_per_s\": %.4g, "
        "\"cuda_of_driver\": %d, \"cuda_runtime\": %d, \"cublaslt\": %d}\n",
        d.name, d.multiprocessors, d.capability, d.memory_bytes, d.bytes_per_s, d.bf16_flops_per_s,
        d.fp32_flops_per_s, driver, runtime, (int)cublasLtGetVersion());
    return 0;
}

/* The form of llm.c: 256 numbers of 32 bits, then the tokens; little-endian. */
static int tokens(const char *path, int count, int vocab)
{
    const int32_t head[256] = {20240520, 1, count};
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(head, sizeof head, 1, file) != 1) {
        perror(path);
        return 1;
    }
    for (int i = 0; i < count; i++) {
        const uint16_t token = (uint16_t)(pp_random_bits(4, (uint64_t)i) % (uint64_t)vocab);
        fwrite(&token, sizeof token, 1, file);
    }
    return fclose(file) != 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "about") == 0)
        return about();
    if ((argc == 2 || argc == 3) && strcmp(argv[1], "table") == 0)
        return table(argc == 3 ? atoi(argv[2]) : 1);
    if ((argc == 4 || argc == 5) && strcmp(argv[1], "call") == 0)
        return call(atoi(argv[2]), argv[3], argc == 5 ? atoi(argv[4]) : 1);
    if (argc == 5 && strcmp(argv[1], "tokens") == 0)
        return tokens(argv[2], atoi(argv[3]), atoi(argv[4]));
    fprintf(stderr,
            "usage: %s about | table [SCALE] | call WIDTH KERNEL [SCALE] | tokens FILE N VOCAB\n",
            argv[0]);
    return 2;
}
