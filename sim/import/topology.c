/* Reads the matrix that `nvidia-smi topo -m` prints. */
#include "sim/import/topology.h"

#include "core/lines.h"
#include "core/text/file.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINE = 1 << 14, MOST_WORDS = PP_TOPOLOGY_MOST + 16, MOST_NVLINKS = 1000 };

static const char *const path_names[PP_PATHS] = {
    [PP_PATH_SELF] = "X",  [PP_PATH_NVLINK] = "NV", [PP_PATH_PIX] = "PIX", [PP_PATH_PXB] = "PXB",
    [PP_PATH_PHB] = "PHB", [PP_PATH_NODE] = "NODE", [PP_PATH_SYS] = "SYS"};

struct reader {
    struct pp_arena *arena;
    struct pp_topology *t;
    int line;
    bool has_head;
    bool *has_row; /* [columns] */
};

/* ---- words ----------------------------------------------------------------------------------- */

/* Removes escape sequences such as "\x1b[4m", in place. */
static void drop_escapes(char *line)
{
    char *to = line;

    for (const char *p = line; *p;) {
        if (p[0] == '\x1b' && p[1] == '[') {
            p += 2;
            p += strcspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
            p += *p != '\0';
        } else {
            *to++ = *p++;
        }
    }
    *to = '\0';
}

static bool is_gpu(const char *word)
{
    return !strncmp(word, "GPU", 3) && isdigit((unsigned char)word[3]);
}

/* Reads "X", "NV18" or "PIX". */
static bool read_pair(const char *word, struct pp_topology_pair *pair)
{
    for (int k = 0; k < PP_PATHS; k++) {
        *pair = (struct pp_topology_pair){.path = (enum pp_topology_path)k};
        if (k != PP_PATH_NVLINK && !strcmp(word, path_names[k]))
            return true;
    }
    char *end;
    const long count = strncmp(word, "NV", 2) ? 0 : strtol(word + 2, &end, 10);
    *pair = (struct pp_topology_pair){.path = PP_PATH_NVLINK, .nvlinks = (int)count};
    return count > 0 && count <= MOST_NVLINKS && isdigit((unsigned char)word[2]) && *end == '\0';
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Reads the head: GPUs first, then NICs under any name, then "CPU Affinity" and further columns. */
static enum pp_status read_head(struct reader *r, char *const *words, int count,
                                struct pp_error *err)
{
    struct pp_topology *t = r->t;

    t->names = PP_ARRAY(r->arena, const char *, count);
    for (int k = 0; k < count && strcmp(words[k], "CPU") != 0 && strcmp(words[k], "NUMA") != 0;
         k++) {
        if (is_gpu(words[k]) && t->nics > 0)
            return pp_error_set(err, PP_EINVAL, "%s:%d: %s comes after %s: GPUs come first",
                                t->name, r->line, words[k], words[k - 1]);
        t->names[k] = pp_arena_strdup(r->arena, words[k]);
        t->gpus += is_gpu(words[k]);
        t->nics += !is_gpu(words[k]);
    }
    const int columns = t->gpus + t->nics;
    if (columns > PP_TOPOLOGY_MOST)
        return pp_error_set(err, PP_EINVAL, "%s:%d: more than %d GPUs and NICs", t->name, r->line,
                            PP_TOPOLOGY_MOST);
    t->pairs = PP_ARRAY(r->arena, struct pp_topology_pair, columns * columns);
    r->has_row = PP_ARRAY(r->arena, bool, columns);
    r->has_head = true;
    return PP_OK;
}

static int row_of(const struct pp_topology *t, const char *name)
{
    for (int k = 0; k < t->gpus + t->nics; k++)
        if (!strcmp(t->names[k], name))
            return k;
    return -1;
}

static enum pp_status read_row(struct reader *r, int row, char *const *words, int count,
                               struct pp_error *err)
{
    struct pp_topology *t = r->t;
    const int columns = t->gpus + t->nics;

    if (r->has_row[row])
        return pp_error_set(err, PP_EINVAL, "%s:%d: a second row of %s", t->name, r->line,
                            t->names[row]);
    if (count < columns + 1)
        return pp_error_set(err, PP_EINVAL, "%s:%d: the row of %s has %d entries for %d columns",
                            t->name, r->line, t->names[row], count - 1, columns);
    for (int k = 0; k < columns; k++) {
        struct pp_topology_pair *pair = &t->pairs[row * columns + k];
        if (!read_pair(words[k + 1], pair))
            return pp_error_set(err, PP_EINVAL,
                                "%s:%d: '%.20s' of %s to %s, expected X, NV<n>, PIX, PXB, PHB, "
                                "NODE or SYS",
                                t->name, r->line, words[k + 1], t->names[row], t->names[k]);
        if ((pair->path == PP_PATH_SELF) != (k == row))
            return pp_error_set(err, PP_EINVAL, "%s:%d: %s of %s to %s: X is that of itself",
                                t->name, r->line, words[k + 1], t->names[row], t->names[k]);
    }
    r->has_row[row] = true;
    return PP_OK;
}

static enum pp_status read_line(struct reader *r, char *line, struct pp_error *err)
{
    char *words[MOST_WORDS];

    drop_escapes(line);
    const int count = pp_words(line, words, MOST_WORDS);
    if (count == 0)
        return PP_OK;
    if (!r->has_head)
        return is_gpu(words[0]) && !(count > 1 && !strcmp(words[1], "X"))
                   ? read_head(r, words, count, err)
                   : PP_OK;
    const int row = row_of(r->t, words[0]);
    return row >= 0 ? read_row(r, row, words, count, err) : PP_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

static enum pp_status check(const struct reader *r, struct pp_error *err)
{
    const struct pp_topology *t = r->t;
    const int columns = t->gpus + t->nics;

    if (!r->has_head)
        return pp_error_set(err, PP_EINVAL,
                            "%s:%d: ends without a table of 'nvidia-smi topo -m' (a line 'GPU0 "
                            "GPU1 ...')",
                            t->name, r->line);
    for (int a = 0; a < columns; a++)
        if (!r->has_row[a])
            return pp_error_set(err, PP_EINVAL, "%s:%d: ends without the row of %s", t->name,
                                r->line, t->names[a]);
    for (int a = 0; a < columns; a++)
        for (int b = 0; b < a; b++) {
            const struct pp_topology_pair p = pp_topology_pair(t, a, b),
                                          q = pp_topology_pair(t, b, a);
            if (p.path != q.path || p.nvlinks != q.nvlinks)
                return pp_error_set(err, PP_EINVAL, "%s: %s to %s is not as %s to %s", t->name,
                                    t->names[a], t->names[b], t->names[b], t->names[a]);
        }
    return PP_OK;
}

enum pp_status pp_topology_parse(struct pp_arena *arena, const char *name, const char *text,
                                 size_t length, struct pp_topology *topology, struct pp_error *err)
{
    struct reader r = {.arena = arena, .t = topology};
    struct pp_lines lines = {.name = name, .text = text, .length = length};
    char *line = pp_arena_alloc_raw(arena, MOST_LINE);

    *topology = (struct pp_topology){.name = name};
    for (bool found = true; found;) {
        PP_TRY(pp_lines_next(&lines, line, MOST_LINE, &found, err));
        r.line = lines.number;
        if (found)
            PP_TRY(read_line(&r, line, err));
    }
    return check(&r, err);
}

enum pp_status pp_topology_read(struct pp_arena *arena, const char *path,
                                struct pp_topology *topology, struct pp_error *err)
{
    char *text;
    size_t length;

    PP_TRY(pp_file_read(arena, path, &text, &length, err));
    return pp_topology_parse(arena, path, text, length, topology, err);
}
