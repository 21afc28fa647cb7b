#include "tests/fuzz/mutate.h"

#include "core/random.h"
#include "tests/fuzz/words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct mutation {
    const struct corpus *corpus;
    struct blob it;
    uint64_t stream, drawn;
};

static size_t below(struct mutation *m, size_t limit)
{
    const uint64_t bits = pp_random_bits(m->stream, m->drawn++);

    return limit > 0 ? bits % limit : 0;
}

/* `bytes` may be a part of the mutant only if it is copied before. */
static void insert(struct mutation *m, size_t at, const void *bytes, size_t length)
{
    struct blob *b = &m->it;

    if (length == 0 || b->length + length > MUTANT_MOST_BYTES)
        return;
    b->bytes = realloc(b->bytes, b->length + length);
    if (!b->bytes)
        abort();
    memmove(b->bytes + at + length, b->bytes + at, b->length - at);
    memcpy(b->bytes + at, bytes, length);
    b->length += length;
}

static void cut(struct mutation *m, size_t from, size_t to)
{
    memmove(m->it.bytes + from, m->it.bytes + to, m->it.length - to);
    m->it.length -= to - from;
}

static uint8_t *copy(const void *bytes, size_t length)
{
    uint8_t *made = malloc(length + 1);

    if (!made)
        abort();
    return memcpy(made, bytes, length);
}

struct span {
    size_t from, to;
};

static bool is_number(uint8_t c)
{
    return isdigit(c) || c == '.';
}

static bool is_word(uint8_t c)
{
    return isalpha(c) || c == '_';
}

static bool is_field(uint8_t c)
{
    return c != ',' && c != '\n';
}

static bool is_line(uint8_t c)
{
    return c != '\n';
}

/* The bytes of that kind around `at`. */
static struct span span_at(const struct mutation *m, size_t at, bool (*is)(uint8_t))
{
    struct span s = {at, at};

    while (s.from > 0 && is(m->it.bytes[s.from - 1]))
        s.from--;
    while (s.to < m->it.length && is(m->it.bytes[s.to]))
        s.to++;
    return s;
}

static void flip(struct mutation *m)
{
    if (m->it.length > 0)
        m->it.bytes[below(m, m->it.length)] ^= (uint8_t)(1u << below(m, 8));
}

static void set(struct mutation *m)
{
    static const char marks[] = ",;:=[]{}()\"'-+.e0 \n";
    const uint8_t drawn = (uint8_t)below(m, 256), mark = (uint8_t)marks[below(m, COUNT(marks))];

    if (m->it.length > 0)
        m->it.bytes[below(m, m->it.length)] = below(m, 2) ? drawn : mark;
}

static void end_early(struct mutation *m)
{
    m->it.length = below(m, m->it.length + 1);
}

static void drop(struct mutation *m)
{
    const size_t from = below(m, m->it.length + 1), rest = m->it.length - from,
                 most = below(m, 4) && rest > 64 ? 64 : rest;

    cut(m, from, from + below(m, most + 1));
}

static void put_word(struct mutation *m)
{
    const char *word = words[below(m, COUNT(words))];

    insert(m, below(m, m->it.length + 1), word, strlen(word));
}

static void splice(struct mutation *m)
{
    const struct blob *other = &m->corpus->inputs[below(m, m->corpus->count)];
    const size_t from = below(m, other->length), length = below(m, other->length - from) + 1;

    if (other->length > 0)
        insert(m, below(m, m->it.length + 1), other->bytes + from, length);
}

static void cross(struct mutation *m)
{
    const struct blob *other = &m->corpus->inputs[below(m, m->corpus->count)];
    const size_t from = below(m, other->length);

    end_early(m);
    if (other->length > 0)
        insert(m, m->it.length, other->bytes + from, other->length - from);
}

static void repeat(struct mutation *m)
{
    const size_t from = below(m, m->it.length), rest = m->it.length - from,
                 length = below(m, rest < 256 ? rest : 256);
    uint8_t *part = copy(m->it.bytes + from, length);

    for (size_t left = 1 + below(m, below(m, 10) ? 6 : 4000); left > 0; left--)
        insert(m, from, part, length);
    free(part);
}

static void fill(struct mutation *m)
{
    static const char marks[] = "0[{ (\"9a,\n\t<x";
    uint8_t bytes[20000];
    const size_t length = 1 + below(m, below(m, 8) ? 100 : sizeof(bytes));

    memset(bytes, marks[below(m, COUNT(marks))], length);
    insert(m, below(m, m->it.length + 1), bytes, length);
}

static void renumber(struct mutation *m)
{
    enum { LOOKS = 50 };
    size_t at = m->it.length;
    char drawn[32];

    for (int look = 0; look < LOOKS && (at >= m->it.length || !is_number(m->it.bytes[at])); look++)
        at = below(m, m->it.length);
    if (at >= m->it.length || !is_number(m->it.bytes[at]))
        return;
    const struct span s = span_at(m, at, is_number);
    const uint64_t bits = pp_random_bits(m->stream, m->drawn++) >> below(m, 64);
    snprintf(drawn, sizeof(drawn), "%lld", (long long)(below(m, 3) ? bits % 300 : bits));
    const char *number = below(m, 2) ? numbers[below(m, COUNT(numbers))] : drawn;
    cut(m, s.from, s.to);
    insert(m, s.from, number, strlen(number));
}

static void reword(struct mutation *m)
{
    const struct span s = span_at(m, below(m, m->it.length), is_word);
    const char *word = words[below(m, COUNT(words))];

    cut(m, s.from, s.to);
    insert(m, s.from, word, strlen(word));
}

static void move_line(struct mutation *m)
{
    const struct span s = span_at(m, below(m, m->it.length), is_line);
    const size_t to = s.to < m->it.length ? s.to + 1 : s.to;
    uint8_t *line = copy(m->it.bytes + s.from, to - s.from);

    if (below(m, 2))
        cut(m, s.from, to);
    insert(m, span_at(m, below(m, m->it.length), is_line).from, line, to - s.from);
    free(line);
}

static void drop_field(struct mutation *m)
{
    const struct span s = span_at(m, below(m, m->it.length), is_field);

    cut(m, s.from, s.to < m->it.length ? s.to + 1 : s.to);
}

/* Of formats with bytes. */
static void set_integer(struct mutation *m)
{
    static const uint64_t values[] = {
        0,          1,         UINT64_MAX,        UINT64_C(1) << 63, INT64_MAX,
        UINT32_MAX, INT32_MAX, UINT64_C(1) << 31, UINT64_C(1) << 32, 1 << 16};
    const size_t width = below(m, 2) ? 4 : 8;

    if (m->it.length > width)
        memcpy(m->it.bytes + below(m, m->it.length - width), &values[below(m, COUNT(values))],
               width);
}

struct blob mutant_of(const struct corpus *corpus, uint64_t seed, uint64_t trial)
{
    static void (*const ways[])(struct mutation *) = {
        flip,      set,       set,        end_early,   drop,       put_word, splice,
        cross,     repeat,    fill,       renumber,    renumber,   renumber, reword,
        move_line, move_line, drop_field, set_integer, set_integer};
    struct mutation m = {.corpus = corpus, .stream = pp_random_stream(seed, trial)};
    const struct blob *origin = &corpus->inputs[below(&m, corpus->count)];

    m.it.length = origin->length < MUTANT_MOST_BYTES ? origin->length : MUTANT_MOST_BYTES;
    m.it.bytes = copy(origin->bytes, m.it.length);
    for (size_t left = 1 + below(&m, below(&m, 3) ? 3 : 12); left > 0; left--)
        ways[below(&m, COUNT(ways))](&m);
    return m.it;
}
