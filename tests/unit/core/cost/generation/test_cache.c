/* Bytes of the cache of keys and values. */
#include "tests/unit/support/generation_inputs.h"

/* 2 kv_heads head_dim layers values of 16 bits; latent attention (512 + 64) layers. */
Test(cache, a_token_takes_the_bytes_of_its_keys_and_values)
{
    static const struct {
        const char *model;
        double bytes;
    } golden[] = {{"gpt3-175b", 4718592}, {"opt-30b", 1376256},   {"llama2-70b", 327680},
                  {"llama3-8b", 131072},  {"deepseek-v3", 70272}, {"gpt2", 36864},
                  {"bert-large", 0} /* an encoder */};
    static const int bits[] = {16, 8, 4};

    for (size_t i = 0; i < PP_COUNT(golden); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_model model;
        struct pp_error err = {0};
        cr_assert_eq(pp_model_load(arena, golden[i].model, &model, &err), PP_OK);
        for (size_t b = 0; b < PP_COUNT(bits); b++) {
            const struct pp_generation g = {.kv_bits = bits[b]};
            cr_expect_eq(pp_kv_bytes_per_token(&model, &g), golden[i].bytes * bits[b] / 16, "%s",
                         golden[i].model);
        }
    }
}

Test(cache, pages_are_whole_and_a_contiguous_cache_is_there_at_once)
{
    struct pp_generation g = {.passes = 40, .prompt_tokens = 30};

    cr_expect_eq(pp_kv_tokens(&g, 0, 0), 69);
    cr_expect_eq(pp_kv_tokens(&g, 39, 0), 69);
    cr_expect_eq(pp_kv_tokens(&g, 5, 24), 24); /* a window */
    g.kv_page_tokens = 16;
    cr_expect_eq(pp_kv_tokens(&g, 0, 0), 32);
    cr_expect_eq(pp_kv_tokens(&g, 2, 0), 32);
    cr_expect_eq(pp_kv_tokens(&g, 3, 0), 48);
    cr_expect_eq(pp_kv_tokens(&g, 39, 0), 80);
    cr_expect_eq(pp_kv_tokens(&g, 39, 24), 32);
}

/* What all stages add in all passes, on all devices, is the bytes of a token times tokens. */
Test(cache, stages_add_up_to_the_model)
{
    static const int pages[] = {0, 1, 16};

    for (size_t i = 0; i < PP_COUNT(pages); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct served s;
        double bytes = 0;
        serve(arena, (struct serving){"llama2-70b", "a100", 4, 8, 12, 3, 6, 100, 9}, &s);
        s.generation.kv_page_tokens = pages[i];
        const struct pp_costs *costs = served_costs(&s);
        for (int v = 0; v < costs->stages; v++) {
            cr_assert(costs->memory[v].kv_bytes >= 0);
            cr_assert(pages[i] > 0 || v < 8 || costs->memory[v].kv_bytes == 0);
            bytes += costs->memory[v].kv_bytes;
        }
        const int tokens = pages[i] == 16 ? 112 : 108;
        cr_expect_eq(bytes * 4, 4.0 * tokens * pp_kv_bytes_per_token(&s.model, &s.generation));
        cr_expect_eq(pp_kv_replica_bytes(&s.in), 3 * bytes * 4);
    }
}

/* Gemma 2: every second block keeps its last 4,096 keys. */
Test(cache, blocks_with_a_window_keep_near_keys)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct served s;

    serve(arena, (struct serving){"gemma2-9b", "a100", 1, 1, 1, 1, 1, 8000, 1}, &s);
    const double token = pp_kv_bytes_per_token(&s.model, &s.generation);
    cr_expect_eq(served_costs(&s)->memory[0].kv_bytes, token / 2 * (8000 + 4096));
}
