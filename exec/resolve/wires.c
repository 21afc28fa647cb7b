/* The wires between ranks: latency and bandwidth, from the options. */
#include "exec/resolve/wires.h"

#include "core/units.h"

#include <stddef.h>
#include <string.h>

static const struct key {
    const char *name, *example, *range; /* range: least and most in words */
    enum pp_unit unit;
    size_t offset;
    double usual, least, most;
} KEYS[] = {
    {"latency", "10us", "0s to 10s", PP_UNIT_SECONDS, offsetof(struct pp_exec_wires, alpha_s),
     10e-6, 0, 10},
    {"bandwidth", "10GBps", "1Bps to 1e6TBps", PP_UNIT_BYTES_PER_S,
     offsetof(struct pp_exec_wires, bytes_per_s), 10e9, 1, 1e18},
};
enum { KEY_COUNT = PP_COUNT(KEYS), WORD_BYTES = 64 };

static double *field(struct pp_exec_wires *wires, const struct key *key)
{
    return (double *)(void *)((char *)wires + key->offset);
}

static enum pp_status take_word(const char *word, struct pp_exec_wires *wires, unsigned *seen,
                                struct pp_error *err)
{
    const char *colon = strchr(word, ':');

    for (int i = 0; colon && i < KEY_COUNT; i++) {
        const struct key *key = &KEYS[i];
        double *value = field(wires, key);
        if (strlen(key->name) != (size_t)(colon - word) ||
            strncmp(word, key->name, (size_t)(colon - word)) != 0)
            continue;
        if (*seen & 1U << i)
            return pp_error_set(err, PP_EINVAL, "%s is given twice", key->name);
        *seen |= 1U << i;
        PP_TRY(pp_units_parse(colon + 1, key->unit, value, err));
        if (*value < key->least || *value > key->most)
            return pp_error_set(err, PP_EINVAL, "%s is out of range: %s", word, key->range);
        return PP_OK;
    }
    return pp_error_set(err, PP_EINVAL, "\"%s\" is neither latency: nor bandwidth:", word);
}

enum pp_status pp_wires_parse(const char *text, struct pp_exec_wires *wires, struct pp_error *err)
{
    unsigned seen = 0;

    for (int i = 0; i < KEY_COUNT; i++)
        *field(wires, &KEYS[i]) = KEYS[i].usual;
    for (const char *at = text ? text : ""; *at;) {
        char word[WORD_BYTES];
        at += strspn(at, " ,");
        const size_t length = strcspn(at, " ,");
        if (length >= sizeof(word))
            return pp_error_set(err, PP_EINVAL, "\"%.20s...\" is too long", at);
        memcpy(word, at, length);
        word[length] = '\0';
        if (length > 0 && take_word(word, wires, &seen, err) != PP_OK)
            return pp_error_append(err, "; expected words like %s:%s %s:%s", KEYS[0].name,
                                   KEYS[0].example, KEYS[1].name, KEYS[1].example);
        at += length;
    }
    return PP_OK;
}
