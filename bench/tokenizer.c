/* bench/tokenizer.c — text a second through a tokenizer, by CPU time. One text is the built-in one,
 * many times over, where almost all words are known. The other is its letters as one word, where
 * all work is merges. */
#include "exec/data/tokenizer.h"
#include "bench/bench.h"
#include "core/text/file.h"
#include "exec/data/text_builtin.h"

enum { COPIES = 50, TRIALS = 5 };

static bool is_letter(unsigned char byte)
{
    return (byte | 32) >= 'a' && (byte | 32) <= 'z';
}

/* The built-in text, all of it or its letters alone. */
static struct pp_named_bytes text_of(struct pp_arena *arena, const char *name, bool letters_alone)
{
    char *bytes = pp_arena_alloc(arena, COPIES * pp_text_builtin_count);
    size_t length = 0;

    for (size_t i = 0; i < COPIES * pp_text_builtin_count; i++) {
        const unsigned char byte = pp_text_builtin_bytes[i % pp_text_builtin_count];
        if (!letters_alone || is_letter(byte))
            bytes[length++] = (char)byte;
    }
    return (struct pp_named_bytes){name, bytes, length};
}

static void measure(const struct pp_tokenizer *tokenizer, struct pp_named_bytes text)
{
    struct pp_error err = {0};
    struct pp_token_list tokens;
    double best_s = 1e9;

    for (int trial = 0; trial < TRIALS; trial++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const double start_s = cpu_s();
        must(pp_tokenizer_encode(arena, tokenizer, text, &tokens, &err), &err);
        const double took_s = cpu_s() - start_s;
        best_s = took_s < best_s ? took_s : best_s;
    }
    printf("  %-22s %6.1f MB/s   %5.2f bytes a token\n", text.name,
           1e-6 * (double)text.length / best_s, (double)text.length / (double)tokens.count);
}

int main(int argc, char **argv)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_tokenizer *tokenizer;
    struct pp_error err = {0};

    must(pp_tokenizer_open(arena, argc > 1 ? argv[1] : "tests/data/bpe", &tokenizer, &err), &err);
    printf("tokenizer of %d tokens, 5 MB of text, one core\n", tokenizer->vocab);
    measure(tokenizer, text_of(arena, "words", false));
    measure(tokenizer, text_of(arena, "a word of 3.9 million", true));
    return 0;
}
