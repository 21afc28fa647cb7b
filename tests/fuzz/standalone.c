/* Runs a fuzz target over every file of the folders (or files) given, without libFuzzer: the corpus
 * is a normal test. */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    size_t length = 0, got;

    if (!file) {
        perror(path);
        return 1;
    }
    do {
        data = realloc(data, length + (1 << 16));
        if (!data)
            abort();
        got = fread(data + length, 1, 1 << 16, file);
        length += got;
    } while (got > 0);
    fclose(file);
    /* A block of just that size, so that a sanitizer sees a read past the end. */
    uint8_t *exact = malloc(length ? length : 1);
    if (!exact)
        abort();
    memcpy(exact, data, length);
    free(data);
    LLVMFuzzerTestOneInput(exact, length);
    free(exact);
    return 0;
}

static int replay(const char *path, int *count)
{
    struct dirent **entries;
    const int entry_count = scandir(path, &entries, NULL, alphasort);
    int failed = 0;

    if (entry_count < 0) {
        ++*count;
        return replay_file(path);
    }
    for (int i = 0; i < entry_count; i++) {
        char name[4096];

        if (entries[i]->d_name[0] != '.') {
            snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
            failed |= replay(name, count);
        }
        free(entries[i]);
    }
    free(entries);
    return failed;
}

int main(int argc, char **argv)
{
    int count = 0, failed = 0;

    for (int i = 1; i < argc; i++)
        failed |= replay(argv[i], &count);
    printf("%d inputs\n", count);
    return failed || count == 0;
}
