/* schedules/program/meta.c — the metadata of a lowered program: facts that its cells do not tell.
 *
 *   # format: pipesim-program/1     without this line all comments are just comments
 *   # schedule: chimera
 *   # level: lowered
 *   # mode: train
 *   # ranks: 4      (stages, pipelines, micro_batches, granules, splits, versions alike)
 *   # passes: 3                     loops through the model of a generating program; this line
 *                                   counts without the first, too
 *   # placement: 0 1 2 3; 3 2 1 0   rank of every stage, one list per pipeline
 *   # pipe_of: 0 0 1 1              pipeline of every granule, with a placement of several
 *   # state: p g; 2 1; 2; 3         sharded state. p: parameters, then their gather units of every
 *                                   stage, room for 2 units at once, and a cache of 3 units, the
 *                                   one in use included (both may be left out). g: gradients, in
 *                                   more shards. m: parameters on another memory tier, sharded
 *                                   or, without p, whole. o: gradients on another tier, whose
 *                                   host adds up what comes; s: the device adds. Without this
 *                                   line all are whole */
#include "core/text/csv.h"
#include "schedules/program/freeze.h"

#include <string.h>

enum { KEYS = PP_META_SIZES + 7 };
static const char format_name[] = "pipesim-program/1";
static const char *const level_names[] = {"compute", "lowered"};
static const char *const mode_names[] = {"train", "infer"};
const char *const pp_meta_size_names[PP_META_SIZES] = {
    "ranks", "stages", "pipelines", "micro_batches", "granules", "splits", "versions", "passes"};
static const int size_limits[PP_META_SIZES] = {PP_MAX_RANKS,    PP_MAX_STAGES, PP_MAX_PIPELINES,
                                               PP_MAX_GRANULES, UINT8_MAX - 1, UINT8_MAX,
                                               UINT8_MAX,       PP_MAX_STAGES};

/* ---- printing -------------------------------------------------------------------------------- */

/* Is true if the cells tell placement and pipelines, which then are not printed. */
static bool is_inferable(const struct pp_program *p)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const int ids = p->micro_batches * p->granules;

    if (p->pipelines > 1)
        return false;
    bool *has_stage = PP_ARRAY(scratch, bool, p->stages), *has_id = PP_ARRAY(scratch, bool, ids);
    int stages = 0, found = 0;
    for (int r = 0; r < p->ranks; r++)
        for (int i = p->begin[r]; i < p->begin[r + 1]; i++) {
            if (p->mb[i] < 0)
                continue;
            if (p->rank_of[p->stage[i]] != r)
                return false;
            stages += !has_stage[p->stage[i]];
            has_stage[p->stage[i]] = true;
            for (int id = p->mb[i]; id < p->mb[i] + p->granule_count[i]; id++) {
                found += !has_id[id];
                has_id[id] = true;
            }
        }
    return stages == p->stages && found == ids;
}

static void print_numbers(const uint16_t *numbers, int64_t count, int64_t per_list, FILE *out)
{
    for (int64_t k = 0; k < count; k++)
        fprintf(out, "%s %d", k > 0 && k % per_list == 0 ? ";" : "", numbers[k]);
}

/* Returns a name on one line; it may come from a file or a flag. */
static const char *clean_name(struct pp_arena *arena, const char *name)
{
    char *clean = pp_arena_strdup(arena, name);
    size_t length = strlen(clean);

    for (char *c = clean; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    while (length > 0 && clean[length - 1] == ' ')
        clean[--length] = '\0';
    return clean + strspn(clean, " ");
}

static void print_state(const struct pp_program *p, FILE *out)
{
    const struct pp_state_spec *spec = &p->state.spec;
    const uint16_t *units = p->state.units;

    const bool has_moved_grads = pp_state_is_away(spec, PP_STATE_GRADS);

    if (!units && !pp_state_has_parts(spec) && !has_moved_grads)
        return;
    fprintf(out, "# state:%s%s%s%s%s", pp_state_is_gathered(spec) ? " p" : "",
            pp_state_is_away(spec, PP_STATE_PARAMS) ? " m" : "",
            pp_state_has_parts(spec) ? " g" : "",
            !has_moved_grads            ? ""
            : spec->is_summed_on_device ? " s"
                                        : " o",
            units ? ";" : "");
    if (units)
        print_numbers(units, p->stages, p->stages, out);
    if (units && spec->buffers)
        fprintf(out, "; %d", spec->buffers);
    if (units && spec->buffers && spec->cached > 1)
        fprintf(out, "; %d", spec->cached);
    fputc('\n', out);
}

void pp_program_meta_print(const struct pp_program *p, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const int sizes[PP_META_SIZES] = {p->ranks,    p->stages, p->pipelines, p->micro_batches,
                                      p->granules, p->splits, p->versions,  p->passes};
    const int64_t ids = p->micro_batches * p->granules;

    fprintf(out, "# format: %s\n# schedule: %s\n# level: %s\n# mode: %s\n", format_name,
            clean_name(scratch, p->name), level_names[p->level], mode_names[p->mode]);
    for (int k = 0; k < PP_META_SIZES; k++)
        if (sizes[k] > 0)
            fprintf(out, "# %s: %d\n", pp_meta_size_names[k], sizes[k]);
    if (!is_inferable(p)) {
        fputs("# placement:", out);
        print_numbers(p->rank_of, (int64_t)p->pipelines * p->stages, p->stages, out);
        fputc('\n', out);
    }
    if (p->pipelines > 1) { /* never inferable */
        fputs("# pipe_of:", out);
        print_numbers(p->pipe_of, ids, ids, out);
        fputc('\n', out);
    }
    print_state(p, out);
}

/* ---- parsing --------------------------------------------------------------------------------- */

struct line {
    const char *file;
    int number;
    const char *key, *value; /* trimmed */
    struct pp_error *err;
};

static enum pp_status fail(const struct line *line, const char *expected)
{
    return pp_error_set(line->err, PP_EPROGRAM, "%s:%d: %s: '%.60s'; expected %s", line->file,
                        line->number, line->key, line->value, expected);
}

/* Splits "# key: value" into key and value; false for other comments. */
static bool split_comment(struct pp_arena *arena, const char *comment, struct line *line)
{
    char *text = pp_arena_strdup(arena, comment + strspn(comment, "# \t"));
    char *colon = strchr(text, ':');
    size_t length = strlen(text);

    if (!colon)
        return false;
    while (length > 0 && strchr(" \t\r\n", text[length - 1]))
        text[--length] = '\0';
    *colon = '\0';
    line->key = text;
    line->value = colon + 1 + strspn(colon + 1, " \t");
    return true;
}

static enum pp_status parse_choice(const struct line *line, const char *const names[2], int *choice)
{
    for (*choice = 0; *choice < 2; ++*choice)
        if (!strcmp(line->value, names[*choice]))
            return PP_OK;
    char expected[64];
    snprintf(expected, sizeof(expected), "%s or %s", names[0], names[1]);
    return fail(line, expected);
}

static bool parse_number(const char **at, int max, int *value)
{
    const char *start = *at;

    *value = 0;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        *value = *value * 10 + (**at - '0');
        if (*value > max)
            return false;
    }
    return *at > start;
}

static enum pp_status parse_size(const struct line *line, int which, struct pp_meta *meta)
{
    const char *at = line->value;
    char expected[64];
    int value;

    if (!parse_number(&at, size_limits[which], &value) || *at != '\0' || value < 1) {
        snprintf(expected, sizeof(expected), "a whole number from 1 to %d", size_limits[which]);
        return fail(line, expected);
    }
    meta->sizes[which] = value;
    meta->lines[which] = line->number;
    return PP_OK;
}

/* Reads shape[0] numbers below shape[2], in lists of shape[1] with ';' between them. */
static enum pp_status parse_numbers(struct pp_arena *arena, const struct line *line,
                                    const int64_t shape[3], const uint16_t **numbers)
{
    const int64_t count = shape[0], per_list = shape[1], limit = shape[2];
    const char *at = line->value;
    uint16_t *out = NULL;
    int64_t have = 0, capacity = 0;
    char expected[96];
    int value;

    snprintf(expected, sizeof(expected), "%lld lists of %lld numbers below %lld",
             (long long)(count / per_list), (long long)per_list, (long long)limit);
    while (have < count) {
        at += strspn(at, " \t");
        if (have > 0 && have % per_list == 0) {
            if (*at++ != ';')
                return fail(line, expected);
            at += strspn(at, " \t");
        }
        if (!parse_number(&at, (int)limit - 1, &value))
            return fail(line, expected);
        *PP_PUSH(arena, out, have, capacity) = (uint16_t)value;
    }
    if (*at != '\0')
        return fail(line, expected);
    *numbers = out;
    return PP_OK;
}

static enum pp_status parse_line(const struct line *line, struct pp_meta *meta)
{
    if (!strcmp(line->key, "schedule"))
        meta->schedule = line->value;
    else if (!strcmp(line->key, "level"))
        return parse_choice(line, level_names, &meta->level);
    else if (!strcmp(line->key, "mode"))
        return parse_choice(line, mode_names, &meta->mode);
    for (int k = 0; k < PP_META_SIZES; k++)
        if (!strcmp(line->key, pp_meta_size_names[k]))
            return parse_size(line, k, meta);
    return PP_OK;
}

/* Reads "placement" or "pipe_of". Both need the sizes, which may be on later lines. */
static enum pp_status parse_placement(struct pp_arena *arena, const struct line *line,
                                      struct pp_meta *meta)
{
    const int *sizes = meta->sizes;
    const int64_t stages = sizes[PP_META_STAGES], pipelines = sizes[PP_META_PIPELINES],
                  ids = (int64_t)sizes[PP_META_MICRO_BATCHES] * sizes[PP_META_GRANULES];

    if (strcmp(line->key, "placement") != 0 && strcmp(line->key, "pipe_of") != 0)
        return PP_OK;
    for (int k = 0; k <= PP_META_GRANULES; k++)
        if (sizes[k] == 0)
            return pp_error_set(line->err, PP_EPROGRAM, "%s:%d: %s also needs '# %s: ...'",
                                line->file, line->number, line->key, pp_meta_size_names[k]);
    if (stages * pipelines > PP_MAX_PATHS || ids > PP_MAX_GRANULES)
        return fail(line, "smaller sizes (pipelines * stages or micro_batches * granules)");
    if (!strcmp(line->key, "pipe_of"))
        return parse_numbers(arena, line, (const int64_t[]){ids, ids, pipelines}, &meta->pipe_of);
    meta->placement_line = line->number;
    return parse_numbers(arena, line,
                         (const int64_t[]){pipelines * stages, stages, sizes[PP_META_RANKS]},
                         &meta->rank_of);
}

/* Reads words of "state" up to a ';' or the end: a set of bits; 0 for wrong or repeated words. */
enum {
    STATE_PARAMS = 1,
    STATE_MOVED = 2,
    STATE_GRADS = 4,
    STATE_LEFT = 8,
    STATE_SUMMED = 16,
};
static const char *const state_words[] = {"p", "m", "g", "o", "s"};

static int parse_state_words(const char *at)
{
    int set = 0;

    for (at += strspn(at, " \t"); *at && *at != ';'; at += strspn(at, " \t")) {
        const size_t length = strcspn(at, " \t;");
        size_t k = 0;
        while (k < PP_COUNT(state_words) &&
               (strlen(state_words[k]) != length || memcmp(state_words[k], at, length) != 0))
            k++;
        if (k == PP_COUNT(state_words) || set & 1 << k)
            return 0;
        set |= 1 << k;
        at += length;
    }
    return set & STATE_LEFT && set & STATE_SUMMED ? 0 : set;
}

static void take_state_words(int words, struct pp_state_spec *spec)
{
    const int params = words & STATE_PARAMS ? 2 : 1,
              grads = words & STATE_GRADS ? 2 * params : params;

    spec->replicas = (struct pp_mesh){grads, 1};
    spec->shard[PP_STATE_PARAMS] = (struct pp_mesh){params, 1};
    spec->shard[PP_STATE_GRADS] = spec->shard[PP_STATE_OPTIMIZER] = spec->replicas;
    spec->home[PP_STATE_PARAMS] = words & STATE_MOVED ? PP_TIER_HOST : PP_TIER_DEVICE;
    spec->home[PP_STATE_GRADS] =
        words & (STATE_LEFT | STATE_SUMMED) ? PP_TIER_HOST : PP_TIER_DEVICE;
    spec->is_summed_on_device = words & STATE_SUMMED;
}

/* Cuts a text at its last ';'. Reads the number after it. */
static bool take_last_number(char *text, int *value)
{
    char *at = strrchr(text, ';');
    const char *number = at + 1 + strspn(at + 1, " \t");

    if (!parse_number(&number, UINT16_MAX, value) || *number != '\0' || *value == 0)
        return false;
    while (at > text && strchr(" \t", at[-1]))
        at--;
    *at = '\0';
    return true;
}

/* Reads the units of every stage after the words and, after more ';', buffers and cached units. */
static bool parse_units(struct pp_arena *arena, const struct line *line, int stages,
                        struct pp_program_state *state)
{
    struct line units = *line;
    char *text = pp_arena_strdup(arena, strchr(line->value, ';') + 1), *more = strchr(text, ';');
    const bool has_cache = more && strchr(more + 1, ';');

    if ((has_cache && !take_last_number(text, &state->spec.cached)) ||
        (more && !take_last_number(text, &state->spec.buffers)))
        return false;
    units.value = text;
    if (parse_numbers(arena, &units, (const int64_t[]){stages, stages, UINT16_MAX + 1},
                      &state->units) != PP_OK)
        return false;
    for (int s = 0; s < stages; s++)
        if (state->units[s] == 0)
            return false;
    return true;
}

static enum pp_status parse_state(struct pp_arena *arena, const struct line *line,
                                  struct pp_meta *meta)
{
    const int stages = meta->sizes[PP_META_STAGES];
    char expected[144];

    if (strcmp(line->key, "state") != 0)
        return PP_OK;
    if (stages == 0)
        return pp_error_set(line->err, PP_EPROGRAM, "%s:%d: state also needs '# stages: ...'",
                            line->file, line->number);
    meta->state_line = line->number;
    const int words = parse_state_words(line->value);
    const bool has_units = words & (STATE_PARAMS | STATE_MOVED);
    snprintf(expected, sizeof(expected),
             "'g', 'p; UNITS', 'p g; UNITS' (or m, p m) with %d numbers from 1 to %d, and '; "
             "BUFFERS[; CACHED]' or nothing; o or s after any",
             stages, UINT16_MAX);
    if (words == 0 || has_units != (strchr(line->value, ';') != NULL) ||
        (has_units && !parse_units(arena, line, stages, &meta->state)))
        return fail(line, expected);
    take_state_words(words, &meta->state.spec);
    return PP_OK;
}

/* Returns the number of a known key, or -1. */
static int key_number(const char *key)
{
    static const char *const others[] = {"format",    "schedule", "level", "mode",
                                         "placement", "pipe_of",  "state"};

    for (int k = 0; k < PP_META_SIZES; k++)
        if (!strcmp(key, pp_meta_size_names[k]))
            return k;
    for (int k = 0; k < KEYS - PP_META_SIZES; k++)
        if (!strcmp(key, others[k]))
            return PP_META_SIZES + k;
    return -1;
}

static enum pp_status check_once(const struct line *lines, int count)
{
    bool is_seen[KEYS] = {false};

    for (int i = 0; i < count; i++) {
        const int key = key_number(lines[i].key);
        if (key >= 0 && is_seen[key])
            return fail(&lines[i], "it only once");
        if (key >= 0)
            is_seen[key] = true;
    }
    return PP_OK;
}

static enum pp_status check_complete(const char *file, const struct pp_meta *meta,
                                     struct pp_error *err)
{
    if (meta->rank_of && meta->sizes[PP_META_PIPELINES] > 1 && !meta->pipe_of)
        return pp_error_set(err, PP_EPROGRAM,
                            "%s:%d: a placement of several pipelines also needs '# pipe_of: ...', "
                            "the pipeline of every micro-batch",
                            file, meta->placement_line);
    if (meta->pipe_of && !meta->rank_of)
        return pp_error_set(err, PP_EPROGRAM, "%s: pipe_of without a placement", file);
    return PP_OK;
}

enum pp_status pp_program_meta_parse(struct pp_arena *arena, const char *file,
                                     const struct pp_csv *comments, struct pp_meta *meta,
                                     struct pp_error *err)
{
    struct line *lines = PP_ARRAY(arena, struct line, comments->count);
    int count = 0;

    *meta = (struct pp_meta){.level = -1, .mode = -1};
    for (int i = 0; i < comments->count; i++) {
        struct line *line = &lines[count];
        *line = (struct line){.file = file, .number = comments->rows[i].line, .err = err};
        count += split_comment(arena, comments->rows[i].fields[0], line);
    }
    for (int i = 0; i < count; i++)
        if (!strcmp(lines[i].key, "format")) {
            if (strcmp(lines[i].value, format_name) != 0)
                return fail(&lines[i], format_name);
            meta->is_given = true;
        }
    PP_TRY(check_once(lines, meta->is_given ? count : 0));
    for (int i = 0; i < count && !meta->is_given; i++)
        if (!strcmp(lines[i].key, pp_meta_size_names[PP_META_PASSES]))
            PP_TRY(parse_size(&lines[i], PP_META_PASSES, meta));
    if (!meta->is_given)
        return PP_OK;
    for (int i = 0; i < count; i++)
        PP_TRY(parse_line(&lines[i], meta));
    for (int i = 0; i < count; i++)
        PP_TRY(parse_placement(arena, &lines[i], meta));
    for (int i = 0; i < count; i++)
        PP_TRY(parse_state(arena, &lines[i], meta));
    return check_complete(file, meta, err);
}
