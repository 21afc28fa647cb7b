/* Runs a fuzz target without libFuzzer over every file of the folders (or files) given: the corpus
 * is a normal test.
 *
 *   replay_NAME [--mutants SEED,COUNT] PATH...
 *
 * With --mutants it runs over mutants of these files. The one that breaks a law, or takes too long
 * or too much memory, stays in the file PROGRAM.mutant. */
#define _GNU_SOURCE /* getrusage */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_S = 60, MOST_CPU_S = 5, MOST_MIB = 1500 };

static int add_file(struct corpus *corpus, const char *path)
{
    FILE *file = fopen(path, "rb");
    struct blob blob = {0};
    size_t got;

    if (!file) {
        perror(path);
        return 1;
    }
    do {
        blob.bytes = realloc(blob.bytes, blob.length + (1 << 16));
        if (!blob.bytes)
            abort();
        got = fread(blob.bytes + blob.length, 1, 1 << 16, file);
        blob.length += got;
    } while (got > 0);
    fclose(file);
    corpus->inputs = realloc(corpus->inputs, (corpus->count + 1) * sizeof(blob));
    if (!corpus->inputs)
        abort();
    corpus->inputs[corpus->count++] = blob;
    return 0;
}

static int add(struct corpus *corpus, const char *path)
{
    struct dirent **entries;
    const int entry_count = scandir(path, &entries, NULL, alphasort);
    int failed = 0;

    if (entry_count < 0)
        return add_file(corpus, path);
    for (int i = 0; i < entry_count; i++) {
        char name[4096];

        if (entries[i]->d_name[0] != '.') {
            snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
            failed |= add(corpus, name);
        }
        free(entries[i]);
    }
    free(entries);
    return failed;
}

/* In a block of just that size, so that a sanitizer sees a read past the end. */
static void try(const struct blob *blob)
{
    uint8_t *exact = malloc(blob->length ? blob->length : 1);

    if (!exact)
        abort();
    memcpy(exact, blob->bytes, blob->length);
    LLVMFuzzerTestOneInput(exact, blob->length);
    free(exact);
}

static double cpu_s(const struct rusage *used)
{
    return (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) +
           1e-6 * (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec);
}

static void try_mutant(const struct blob *mutant, uint64_t trial)
{
    struct rusage before, after;

    getrusage(RUSAGE_SELF, &before);
    alarm(MOST_S);
    try(mutant);
    alarm(0);
    getrusage(RUSAGE_SELF, &after);
    const double s = cpu_s(&after) - cpu_s(&before);
    const long mib = (after.ru_maxrss - before.ru_maxrss) / 1024;
    if (s > MOST_CPU_S || mib > MOST_MIB) {
        fprintf(stderr, "mutant %llu took %.1f s and %ld MiB\n", (unsigned long long)trial, s, mib);
        abort();
    }
}

static int try_mutants(const struct corpus *corpus, const char *program, uint64_t seed,
                       uint64_t count)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s.mutant", program);
    FILE *kept = fopen(path, "wb");
    if (!kept) {
        perror(path);
        return 1;
    }
    for (uint64_t trial = 0; trial < count; trial++) {
        const struct blob mutant = mutant_of(corpus, seed, trial);

        rewind(kept);
        if (fwrite(mutant.bytes, 1, mutant.length, kept) != mutant.length || fflush(kept) != 0 ||
            ftruncate(fileno(kept), (off_t)mutant.length) != 0)
            perror(path);
        try_mutant(&mutant, trial);
        free(mutant.bytes);
    }
    fclose(kept);
    remove(path);
    printf("%llu mutants\n", (unsigned long long)count);
    return 0;
}

int main(int argc, char **argv)
{
    struct corpus corpus = {0};
    unsigned long long seed, count = 0;
    int first = 1, failed = 0;

    if (argc > 2 && strcmp(argv[1], "--mutants") == 0) {
        if (sscanf(argv[2], "%llu,%llu", &seed, &count) != 2)
            return 2;
        first = 3;
    }
    for (int i = first; i < argc; i++)
        failed |= add(&corpus, argv[i]);
    if (count > 0 && corpus.count > 0)
        failed |= try_mutants(&corpus, argv[0], seed, count);
    for (size_t i = 0; i < corpus.count && count == 0; i++)
        try(&corpus.inputs[i]);
    printf("%zu inputs\n", corpus.count);
    return failed || corpus.count == 0;
}
