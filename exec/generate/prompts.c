/* Prompts: where they come from, and their tokens. */
#include "core/text/file.h"
#include "exec/generate/generate.h"

#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 26 };

/* ---- tokenizer ------------------------------------------------------------------------------- */

/* Is true if the folder of the model has a tokenizer. */
static bool has_tokenizer(struct pp_arena *arena, const char *folder)
{
    static const char *const FILES[] = {"tokenizer.json", "vocab.json", "encoder.json"};

    for (size_t i = 0; i < PP_COUNT(FILES); i++)
        if (access(pp_arena_printf(arena, "%s/%s", folder, FILES[i]), R_OK) == 0)
            return true;
    return false;
}

/* PP_EINVAL if tokens are words of an unknown tokenizer. */
static enum pp_status check_bytes(const struct pp_generate *g, struct pp_error *err)
{
    enum { BYTES = 256 };
    const struct pp_checkpoint *resumed = g->config.resumed;
    const char *data = resumed ? pp_manifest_value(&resumed->manifest, "data") : NULL,
               *format = resumed ? pp_manifest_value(&resumed->manifest, "tokens") : NULL;
    const bool has_shards =
        data && (format ? strcmp(format, "bytes") != 0 : pp_has_suffix(data, ".bin"));

    if (has_shards)
        return pp_error_set(
            err, PP_EINVAL,
            "%s was trained on the tokens of %s, whose texts it does not know; give "
            "their --tokenizer DIR|FILE",
            resumed->path, data);
    if (g->config.weights && g->config.net.vocab > BYTES)
        return pp_error_set(err, PP_EINVAL,
                            "%s has %d tokens and no tokenizer.json; give --tokenizer DIR|FILE",
                            g->config.weights, g->config.net.vocab);
    return PP_OK;
}

static enum pp_status open_texts(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                 struct pp_generate *g, struct pp_error *err)
{
    const char *weights = g->config.weights, *where = wish->tokenizer ? wish->tokenizer
                                                      : weights && has_tokenizer(arena, weights)
                                                          ? weights
                                                          : NULL;
    struct pp_tokenizer *tokenizer = NULL;

    if (where && pp_tokenizer_open(arena, where, &tokenizer, err) != PP_OK) {
        pp_error_prefix(err, "--tokenizer: ");
        return pp_exec_resume_explain(&wish->given.tokenizer, g->config.resumed, err);
    }
    if (!where)
        PP_TRY(check_bytes(g, err));
    pp_token_texts_make(arena, tokenizer, g->config.net.vocab, &g->texts);
    return PP_OK;
}

/* ---- prompts --------------------------------------------------------------------------------- */

struct texts {
    struct pp_arena *arena;
    struct pp_named_bytes *list;
    int count, capacity;
    bool is_file; /* of lines */
};

static void add(struct texts *t, const char *name, const char *bytes, size_t length)
{
    *PP_PUSH(t->arena, t->list, t->count, t->capacity) =
        (struct pp_named_bytes){name, bytes, length};
}

/* Adds a prompt for each line. */
static enum pp_status add_lines(struct texts *t, const char *path, struct pp_error *err)
{
    const char *at, *end;
    struct pp_bytes file;
    int number = 0;

    if (pp_file_read_limited(t->arena, path, MOST_BYTES, &file, err) != PP_OK)
        return pp_error_prefix(err, "--prompt-file: ");
    for (at = file.data; at < file.data + file.length; at = end + 1) {
        const size_t left = (size_t)(file.data + file.length - at);
        end = memchr(at, '\n', left) ? memchr(at, '\n', left) : at + left;
        const size_t length = (size_t)(end - at) - (end > at && end[-1] == '\r');
        const char *name = pp_arena_printf(t->arena, "line %d of %s", ++number, path);
        if (length == 0)
            return pp_error_set(err, PP_EINVAL, "--prompt-file: %s is empty; each line is a prompt",
                                name);
        add(t, name, at, length);
    }
    return t->count ? PP_OK
                    : pp_error_set(err, PP_EINVAL,
                                   "--prompt-file %s is empty; each line is a "
                                   "prompt",
                                   path);
}

static enum pp_status add_typed(struct texts *t, const char *typed, struct pp_error *err)
{
    static const char *const NAMES[] = {"--prompt", "the second --prompt", "the third --prompt"};
    const char *name = t->count < (int)PP_COUNT(NAMES)
                           ? NAMES[t->count]
                           : pp_arena_printf(t->arena, "number %d of --prompt", t->count + 1);
    struct pp_bytes bytes = {(char *)(uintptr_t)typed, strlen(typed)};

    if (strcmp(typed, "-") == 0) {
        if (pp_file_read_limited(t->arena, "-", MOST_BYTES, &bytes, err) != PP_OK)
            return pp_error_prefix(err, "--prompt -: ");
        bytes.length -= bytes.length > 0 && bytes.data[bytes.length - 1] == '\n';
        name = "standard input";
    }
    if (bytes.length == 0)
        return pp_error_set(err, PP_EINVAL, "%s: the prompt is empty; give at least one token",
                            name);
    add(t, name, bytes.data, bytes.length);
    return PP_OK;
}

static enum pp_status gather(const struct pp_exec_wish *wish, struct texts *t,
                             struct pp_generate *g, struct pp_error *err)
{
    const struct pp_given *typed = &wish->given.prompt;

    if (typed->count && wish->prompt_file)
        return pp_error_set(err, PP_EINVAL,
                            "--prompt and --prompt-file both are the prompts; give one of them");
    t->is_file = wish->prompt_file != NULL;
    if (t->is_file)
        return add_lines(t, wish->prompt_file, err);
    for (int i = 0; i < typed->count; i++)
        PP_TRY(add_typed(t, typed->all[i], err));
    if (typed->count == 0) {
        add(t, "--prompt", "The ", 4);
        g->chosen |= PP_GENERATE_CHOSE_PROMPT;
    }
    return PP_OK;
}

/* Encodes prompts, which have equally many tokens. */
static enum pp_status encode(struct pp_arena *arena, const struct texts *t, struct pp_generate *g,
                             struct pp_error *err)
{
    struct pp_prompts *p = &g->prompts;
    struct pp_token_list *lists = PP_ARRAY(arena, struct pp_token_list, t->count);

    for (int i = 0; i < t->count; i++) {
        PP_TRY(pp_token_texts_encode(arena, &g->texts, t->list[i], &lists[i], err));
        if (lists[i].count != lists[0].count)
            return pp_error_set(err, PP_EINVAL,
                                "%s has %zu tokens, but the first%s has %zu: prompts of a run have "
                                "equally many; give it a run of its own, or make it as long",
                                t->list[i].name, lists[i].count, t->is_file ? " line" : "",
                                lists[0].count);
    }
    const size_t each = lists[0].count;
    int32_t *ids = PP_ARRAY(arena, int32_t, (size_t)t->count * each);
    const char **text = PP_ARRAY(arena, const char *, t->count);
    size_t *bytes = PP_ARRAY(arena, size_t, t->count);
    for (int i = 0; i < t->count; i++) {
        memcpy(ids + (size_t)i * each, lists[i].ids, each * sizeof *ids);
        text[i] = t->list[i].bytes;
        bytes[i] = t->list[i].length;
    }
    *p = (struct pp_prompts){t->count, text, bytes, ids, (int)each};
    return PP_OK;
}

enum pp_status pp_generate_prompts(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                   struct pp_generate *g, struct pp_error *err)
{
    struct texts texts = {.arena = arena};

    PP_TRY(open_texts(arena, wish, g, err));
    PP_TRY(gather(wish, &texts, g, err));
    return encode(arena, &texts, g, err);
}
