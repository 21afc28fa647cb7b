/* Whatever is read as a program prints, and what is printed reads as the same program. */
#include "schedules/program/program.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static void check_program(struct pp_arena *arena, const struct pp_program *p)
{
    const char *text = pp_program_text(arena, p);
    const struct pp_program_head head = pp_program_head_of(p);
    struct pp_program *read = NULL, *refrozen = NULL;
    struct pp_error err = {0};

    if (pp_program_parse(arena, "g", text, strlen(text), PP_DIALECT_2025, &read, &err) != PP_OK)
        fprintf(stderr, "%s\n%s\n", err.message, text);
    FUZZ_CHECK(read != NULL);
    FUZZ_CHECK(!strcmp(pp_program_text(arena, read), text) &&
               pp_program_hash(read) == pp_program_hash(p));
    FUZZ_CHECK(read->message_count == p->message_count);
    FUZZ_CHECK(read->collective_count == p->collective_count);
    FUZZ_CHECK(pp_program_freeze(arena, &head, pp_program_thaw(arena, p), &refrozen, &err) ==
               PP_OK);
    FUZZ_CHECK(pp_program_hash(refrozen) == pp_program_hash(p));
    FUZZ_CHECK(pp_program_size(refrozen) == pp_program_size(p));
    FUZZ_CHECK(strlen(pp_program_grid(arena, p, p->ranks / 2, 3)) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int dialect = PP_DIALECT_2025; dialect <= PP_DIALECT_2024; dialect++) {
        struct pp_arena *arena = pp_arena_create();
        struct pp_program *p = NULL;
        struct pp_error err = {0};
        const enum pp_status status =
            pp_program_parse(arena, "f", (const char *)data, size, dialect, &p, &err);
        if (status == PP_OK)
            check_program(arena, p);
        else
            FUZZ_CHECK(
                status == PP_EPROGRAM && err.status == status &&
                (!strncmp(err.message, "f:", 2) || !strncmp(err.message, "a program of", 12)));
        pp_arena_destroy(arena);
    }
    return 0;
}
