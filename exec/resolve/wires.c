/* The wires between ranks: latency and bandwidth, from the options. */
#include "exec/resolve/config.h"

#include "core/units.h"

#include <string.h>

enum { KEYS = 2 };
static const struct key {
    const char *name, *example, *range; /* range: least and most in words */
    enum pp_unit unit;
    double least, most;
} LATENCY_AND_BANDWIDTH[KEYS] = {
    {"latency", "10us", "0s to 10s", PP_UNIT_SECONDS, 0, 10},
    {"bandwidth", "10GBps", "1Bps to 1e6TBps", PP_UNIT_BYTES_PER_S, 1, 1e18},
};

static enum pp_status take_word(const char *word, double values[KEYS], bool is_seen[KEYS],
                                struct pp_error *err)
{
    const char *colon = strchr(word, ':');

    for (int i = 0; colon && i < KEYS; i++) {
        const struct key *key = &LATENCY_AND_BANDWIDTH[i];
        if (strlen(key->name) != (size_t)(colon - word) ||
            strncmp(word, key->name, (size_t)(colon - word)) != 0)
            continue;
        if (is_seen[i])
            return pp_error_set(err, PP_EINVAL, "%s is given twice", key->name);
        is_seen[i] = true;
        PP_TRY(pp_units_parse(colon + 1, key->unit, &values[i], err));
        if (values[i] < key->least || values[i] > key->most)
            return pp_error_set(err, PP_EINVAL, "%s is out of range: %s", word, key->range);
        return PP_OK;
    }
    return pp_error_set(err, PP_EINVAL, "\"%s\" is neither latency: nor bandwidth:", word);
}

enum pp_status pp_wires_parse(const char *text, struct pp_exec_wires *wires, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct key *keys = LATENCY_AND_BANDWIDTH;
    char *rest = pp_arena_strdup(scratch, text ? text : "");
    double values[KEYS] = {10e-6, 10e9};
    bool is_seen[KEYS] = {false};

    for (char *word; (word = strtok_r(rest, " ,", &rest));)
        if (take_word(word, values, is_seen, err) != PP_OK)
            return pp_error_append(err, "; expected words like %s:%s %s:%s", keys[0].name,
                                   keys[0].example, keys[1].name, keys[1].example);
    *wires = (struct pp_exec_wires){.alpha_s = values[0], .bytes_per_s = values[1]};
    return PP_OK;
}
