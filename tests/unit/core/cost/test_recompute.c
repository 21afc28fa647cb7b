/* --recompute as text: what is printed is read back, and any other text is refused or read as what
 * it prints. */
#include "core/cost/recompute.h"
#include "core/random.h"

#include <criterion/criterion.h>
#include <string.h>

/* The value as --recompute takes it; a share of the first stage is not printed with it. */
static const char *text_of(const struct pp_recompute_choice *choice,
                           char text[PP_RECOMPUTE_TEXT_BYTES])
{
    pp_recompute_print(choice->how, choice->again, text);
    return pp_recompute_add_words(choice->words, text);
}

static struct pp_model model_of(struct pp_arena *arena)
{
    struct pp_model model;
    struct pp_error err = {0};

    cr_assert_eq(pp_model_load(arena, "deepseek-v2-lite", &model, &err), PP_OK, "%s", err.message);
    return model;
}

Test(recompute, values_with_words_are_read_as_they_are_printed)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_model model = model_of(arena);
    int read = 0;

    for (int how = PP_RECOMPUTE_SELECTIVE; how <= PP_RECOMPUTE_FULL; how++)
        for (unsigned again = 0; again <= PP_AGAIN_ALL; again++)
            for (int words = 0; words < 8; words++) {
                struct pp_recompute_choice choice = {
                    .how = (enum pp_recompute)how,
                    .again = how == PP_RECOMPUTE_SELECTIVE ? again : 0,
                    .words = {
                        .is_early = words & 1, .is_late = words & 2, .is_skipped = words & 4}};
                struct pp_recompute_choice back;
                char text[PP_RECOMPUTE_TEXT_BYTES], again_text[PP_RECOMPUTE_TEXT_BYTES];
                text_of(&choice, text);
                const enum pp_status status =
                    pp_recompute_read(text, &model, &back, &(struct pp_error){0});
                cr_expect_eq(status != PP_OK, choice.words.is_early && choice.words.is_late, "%s",
                             text);
                if (status != PP_OK)
                    continue;
                cr_expect_str_eq(text_of(&back, again_text), text);
                read++;
            }
    cr_expect_eq(read, (64 + 64) * 6);
}

/* Texts of pieces in any order, some of them cut. No text ends in a value that prints as another
 * one, and none reads beyond its end. */
Test(recompute, any_text_is_refused_or_read)
{
    static const char *const pieces[] = {
        "none", "full", "selective",    "selective=", "act",   "+", ",",  "early", "late", "skip",
        "=",    "mlp",  "stage-aware=", "0.5",        ",late", " ", "%s", ",skip", "lat",  "1e9"};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_model model = model_of(arena);
    int read = 0, refused = 0;

    for (uint64_t seed = 0; seed < 40000; seed++) {
        char *text = pp_arena_strdup(arena, ""), printed[PP_RECOMPUTE_TEXT_BYTES];
        struct pp_recompute_choice choice, back;
        struct pp_error err = {0};
        const int count = 1 + (int)(pp_random_stream(seed, 0) % (seed % 50 == 0 ? 40 : 4));
        for (int i = 1; i <= count; i++)
            text = pp_arena_printf(arena, "%s%s", text,
                                   pieces[pp_random_stream(seed, (uint64_t)i) % PP_COUNT(pieces)]);
        if (pp_recompute_read(text, seed % 3 ? &model : NULL, &choice, &err) != PP_OK) {
            cr_expect(strlen(err.message) > 0, "%s", text);
            refused++;
            continue;
        }
        read++;
        text_of(&choice, printed);
        if (choice.how == PP_RECOMPUTE_STAGE)
            continue;
        cr_expect_eq(pp_recompute_read(printed, &model, &back, &err), PP_OK, "%s: %s", text,
                     printed);
        cr_expect(back.how == choice.how && back.again == choice.again &&
                      !memcmp(&back.words, &choice.words, sizeof(back.words)),
                  "%s: %s", text, printed);
    }
    cr_expect_gt(read, 1000, "%d", read);
    cr_expect_gt(refused, 1000, "%d", refused);
}
