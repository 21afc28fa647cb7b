/* A file of constants is refused with its name, or it is written again as it was read. */
#include "core/cost/fitted.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check(struct pp_arena *arena, const struct pp_fitted *fitted)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    struct pp_fitted *again;
    struct pp_error err = {0};

    FUZZ_CHECK(fitted->count > 0 && out);
    pp_fitted_print(fitted, out);
    fclose(out);
    FUZZ_CHECK(pp_fitted_parse(arena, "f", text, length, &again, &err) == PP_OK);
    FUZZ_CHECK(again->count == fitted->count && again->rows == fitted->rows);
    for (int i = 0; i < again->count; i++)
        FUZZ_CHECK(again->values[i].constant == fitted->values[i].constant &&
                   again->values[i].value == fitted->values[i].value);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();
    struct pp_fitted *fitted;
    struct pp_error err = {0};
    const enum pp_status status =
        pp_fitted_parse(arena, "f", (const char *)data, size, &fitted, &err);

    if (status == PP_OK)
        check(arena, fitted);
    else
        FUZZ_CHECK(status == PP_EINVAL && !strncmp(err.message, "f:", 2));
    pp_arena_destroy(arena);
    return 0;
}
