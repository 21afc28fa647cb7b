/* bench/tier_file.c — rates of a tier's file: `bench_tier_file [DIRECTORY [MiB]]`. The checksum is
 * compared with a copy of the same bytes. Writes and reads take memory at multiples of 4096, and
 * memory that is not, which costs one more copy. Medians of runs that take turns. */
#include "bench/bench.h"
#include "core/quantile.h"
#include "exec/tiers/checksum.h"
#include "exec/tiers/file.h"

#include <string.h>

enum { RUNS = 5, SMALL = PP_TIER_BLOCK };

/* CPU time, so that other programs do not count: bytes of a block that is in the cache. */
static void measure_checksum(void)
{
    static unsigned char from[SMALL], to[SMALL];
    const int times = 8192;
    uint64_t sum = 0;

    memset(from, 3, sizeof from);
    const double begin_s = cpu_s();
    for (int i = 0; i < times; i++) {
        from[0] = (unsigned char)i;
        sum += pp_tier_checksum(from, sizeof from);
    }
    const double summed_s = cpu_s();
    for (int i = 0; i < times; i++) {
        from[0] = (unsigned char)sum;
        memcpy(to, from, sizeof to);
        sum += to[i % SMALL];
    }
    const double bytes = (double)times * SMALL;
    printf("checksum of a block in the cache %.1f GB/s, copy %.1f GB/s (%d)\n",
           1e-9 * bytes / (summed_s - begin_s), 1e-9 * bytes / (cpu_s() - summed_s),
           (int)(sum & 1));
}

struct rates {
    double write_s[RUNS], read_s[RUNS], write_cpu_s[RUNS], read_cpu_s[RUNS];
};

static void turn(struct pp_tier_file *file, char *memory, size_t bytes, struct rates *r, int run)
{
    struct pp_error err = {0};
    double begin_s = now_s(), begin_cpu_s = cpu_s();

    must(pp_tier_file_write(file, 0, bytes, memory, &err), &err);
    r->write_s[run] = now_s() - begin_s;
    r->write_cpu_s[run] = cpu_s() - begin_cpu_s;
    begin_s = now_s();
    begin_cpu_s = cpu_s();
    must(pp_tier_file_read(file, 0, bytes, memory, &err), &err);
    r->read_s[run] = now_s() - begin_s;
    r->read_cpu_s[run] = cpu_s() - begin_cpu_s;
}

static double rate(double *s, size_t bytes)
{
    return 1e-9 * (double)bytes / pp_quantile(s, RUNS, 0.5);
}

int main(int argc, char **argv)
{
    static struct rates rates[2];
    const size_t bytes = (size_t)(argc > 2 ? atoi(argv[2]) : 256) << 20;
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    char *memory = aligned_alloc(4096, bytes + 4096);
    struct pp_tier_file *file;
    struct pp_error err = {0};

    measure_checksum();
    memset(memory, 1, bytes + 4096);
    must(pp_tier_file_open(arena, argc > 1 ? argv[1] : ".", bytes, "bench", &file, &err), &err);
    for (int run = 0; run < 2 * RUNS; run++)
        turn(file, memory + run % 2 * 64, bytes, &rates[run % 2], run / 2);
    for (int k = 0; k < 2; k++)
        printf("%-9s %s: write %5.2f GB/s (CPU %5.2f), read %5.2f GB/s (CPU %5.2f)\n",
               k ? "unaligned" : "aligned",
               pp_tier_file_is_direct(file) ? "direct I/O" : "page cache",
               rate(rates[k].write_s, bytes), rate(rates[k].write_cpu_s, bytes),
               rate(rates[k].read_s, bytes), rate(rates[k].read_cpu_s, bytes));
    free(memory);
    return 0;
}
