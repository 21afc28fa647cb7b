/* Parses a meeting as a URL, as torch.distributed writes it. */
#define _GNU_SOURCE /* strsep */
#include "exec/rendezvous/meeting.h"

#include "core/units.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { MOST_PROCESSES = 1 << 20, MOST_S = 1 << 20, MOST_DIGITS = 15 };

static enum pp_status refuse(const char *text, const char *why, struct pp_error *err)
{
    return pp_error_set(err, PP_EINVAL,
                        "%.200s: %s; expected file://PATH or tcp://HOST:PORT, with "
                        "?rank=R&world_size=N&timeout=S after it if needed",
                        text, why);
}

/* ---- numbers --------------------------------------------------------------------------------- */

struct number {
    const char *name;
    int64_t least, most;
};

static enum pp_status read_number(const char *text, const struct number *what, const char *digits,
                                  int64_t *value, struct pp_error *err)
{
    if (strlen(digits) > MOST_DIGITS)
        return pp_error_set(err, PP_EINVAL, "%.200s: %s: a number of %zu digits", text, what->name,
                            strlen(digits));
    if (pp_units_parse_int(digits, what->least, what->most, value, err) == PP_OK)
        return PP_OK;
    return pp_error_prefix(err, "%.200s: %s: ", text, what->name);
}

/* ---- ?rank=R&world_size=N&timeout=S ---------------------------------------------------------- */

struct query {
    int64_t rank, size, patience_s; /* -1: not given */
};
static const struct key {
    struct number number;
    size_t at;
} KEYS[] = {
    {{"rank", 0, MOST_PROCESSES}, offsetof(struct query, rank)},
    {{"world_size", 1, MOST_PROCESSES}, offsetof(struct query, size)},
    {{"timeout", 1, MOST_S}, offsetof(struct query, patience_s)},
};

static enum pp_status read_key(const char *text, const char *name, const char *value,
                               struct query *query, struct pp_error *err)
{
    for (size_t i = 0; value && i < PP_COUNT(KEYS); i++)
        if (strcmp(KEYS[i].number.name, name) == 0)
            return read_number(text, &KEYS[i].number, value,
                               (int64_t *)(void *)((char *)query + KEYS[i].at), err);
    return refuse(text, "after '?' come rank, world_size and timeout", err);
}

/* `at` is NULL without a query. */
static enum pp_status read_query(const char *text, char *at, struct pp_meeting *meeting,
                                 struct pp_error *err)
{
    struct query query = {-1, -1, -1};

    while (at && *at) {
        char *value = strsep(&at, "&"), *name = strsep(&value, "=");
        PP_TRY(read_key(text, name, value, &query, err));
    }
    if ((query.rank < 0) != (query.size < 0))
        return refuse(text, "rank and world_size stand together", err);
    if (query.rank >= 0 && query.rank >= query.size)
        return pp_error_set(err, PP_EINVAL,
                            "%.200s: of %d processes ranks are 0 to %d, so none is %d", text,
                            (int)query.size, (int)query.size - 1, (int)query.rank);
    if (query.rank >= 0) {
        meeting->index = (int)query.rank;
        meeting->count = (int)query.size;
    }
    meeting->patience_s = query.patience_s > 0 ? (int)query.patience_s : PP_RENDEZVOUS_S;
    return PP_OK;
}

/* ---- places ---------------------------------------------------------------------------------- */

static enum pp_status read_host(const char *text, const char *at, struct pp_meeting *meeting,
                                struct pp_error *err)
{
    static const struct number PORT = {"port", 1, 65535};
    const char *colon = strrchr(at, ':');
    int64_t port;

    if (!colon || colon == at || (size_t)(colon - at) >= sizeof(meeting->host))
        return refuse(text, "it names no host and port", err);
    PP_TRY(read_number(text, &PORT, colon + 1, &port, err));
    const bool is_bracketed = at[0] == '[' && colon[-1] == ']';
    snprintf(meeting->host, sizeof(meeting->host), "%.*s", (int)(colon - at) - 2 * is_bracketed,
             at + is_bracketed);
    meeting->port = (int)port;
    return PP_OK;
}

static enum pp_status read_path(const char *text, const char *at, struct pp_meeting *meeting,
                                struct pp_error *err)
{
    if (!*at || strlen(at) >= sizeof(meeting->path))
        return refuse(text, "it names no file, or one with a very long name", err);
    strcpy(meeting->path, at);
    return PP_OK;
}

static const struct {
    const char *scheme;
    enum pp_status (*read)(const char *text, const char *at, struct pp_meeting *meeting,
                           struct pp_error *err);
} SCHEMES[] = {{"tcp://", read_host}, {"file://", read_path}};

enum pp_status pp_rendezvous_parse(const char *text, struct pp_meeting *meeting,
                                   struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    char *query = pp_arena_strdup(scratch, text);
    const char *place = strsep(&query, "?");

    for (size_t i = 0; i < PP_COUNT(SCHEMES); i++) {
        const size_t length = strlen(SCHEMES[i].scheme);

        if (strncmp(place, SCHEMES[i].scheme, length) != 0)
            continue;
        PP_TRY(SCHEMES[i].read(text, place + length, meeting, err));
        return read_query(text, query, meeting, err);
    }
    return refuse(text, "it is of no kind that is known", err);
}
