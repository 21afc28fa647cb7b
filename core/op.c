/* core/op.c — instructions to text and back. */
#include "core/op.h"

#include "core/arena.h"

#include <stdio.h>
#include <string.h>

const struct pp_op_kind_info pp_op_kinds[PP_OP_KINDS] = {
#define PP_OP(name, text, stream, has_mb) [PP_##name] = {text, PP_STREAM_##stream, has_mb},
#include "core/op_kinds.h"
#undef PP_OP
};

#define MOVE(text, kind, what, from, to, when)                                                     \
    {                                                                                              \
        text, kind, PP_STATE_##what, PP_AT_##from, PP_AT_##to, PP_##when                           \
    }
const struct pp_purpose_row pp_purposes[PP_PURPOSES] = {
    [PP_FOR_STEP] = {"step", PP_OP_KINDS},
    [PP_FOR_FORWARD] = {"forward", PP_AG},
    [PP_FOR_BACKWARD] = {"backward", PP_AG},
    [PP_FOR_VISIT] = {"visit", PP_RS},
    [PP_FOR_PART] = {"part", PP_RS},
    [PP_FOR_REST] = {"rest", PP_AR},
    [PP_FOR_DOWN] = MOVE("down", PP_COPY, ACTIVATIONS, DEVICE, HOME, WITH_USE),
    [PP_FOR_UP] = MOVE("up", PP_COPY, ACTIVATIONS, HOME, DEVICE, WITH_USE),
    [PP_FOR_GRADS] = MOVE("grads", PP_MOVE, GRADS, DEVICE, UPDATE, BEFORE_UPDATE),
    [PP_FOR_PARAMS] = MOVE("params", PP_MOVE, PARAMS, UPDATE, DEVICE, AFTER_UPDATE),
    [PP_FOR_FETCH] = MOVE("fetch", PP_MOVE, OPTIMIZER, HOME, DEVICE, BEFORE_UPDATE),
    [PP_FOR_STORE] = MOVE("store", PP_MOVE, OPTIMIZER, DEVICE, HOME, AFTER_UPDATE),
    [PP_FOR_LOAD] = MOVE("load", PP_MOVE, PARAMS, HOME, DEVICE, WITH_USE),
    [PP_FOR_RELOAD] = MOVE("reload", PP_MOVE, PARAMS, HOME, DEVICE, WITH_USE),
    [PP_FOR_HOME] = MOVE("home", PP_MOVE, PARAMS, DEVICE, HOME, AFTER_UPDATE),
    [PP_FOR_GRAD_DOWN] = MOVE("part", PP_MOVE, GRADS, DEVICE, HOME, WITH_USE),
    [PP_FOR_GRAD_UP] = MOVE("sum", PP_MOVE, GRADS, HOME, DEVICE, WITH_USE),
    [PP_FOR_UPDATE] = MOVE("update", PP_MOVE, OPTIMIZER, UPDATE, UPDATE, AS_UPDATE),
    [PP_FOR_KV_UP] = MOVE("kv-up", PP_COPY, CACHE, HOME, DEVICE, WITH_USE),
    [PP_FOR_KV_DOWN] = MOVE("kv-down", PP_COPY, CACHE, DEVICE, HOME, WITH_USE),
};

/* ---- printing -------------------------------------------------------------------------------- */

static char *put_text(char *at, const char *text)
{
    while (*text)
        *at++ = *text++;
    return at;
}

static char *put_int(char *at, int64_t value)
{
    char digits[20];
    int count = 0;

    if (value < 0) {
        *at++ = '-';
        value = -value;
    }
    do
        digits[count++] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

static char *put_tagged_int(char *at, char tag, int64_t value)
{
    *at++ = tag;
    return put_int(at, value);
}

static bool has_version(int kind)
{
    return pp_op_has_cell(kind) && !pp_op_is_packing(kind);
}

/* PyTorch's names of our kinds. */
static const struct {
    const char *text;
    int kind;
    bool is_wait; /* a WAIT for that kind */
} aliases[] = {{"REDUCE_GRAD", PP_AR, false},    {"UNSHARD", PP_AG, false},
               {"RESHARD", PP_DROP, false},      {"WAIT_SEND_F", PP_SEND_F, true},
               {"WAIT_SEND_B", PP_SEND_B, true}, {"WAIT_REDUCE_GRAD", PP_AR, true}};

static const char *name_of(int kind, bool is_pytorch)
{
    for (size_t i = 0; i < PP_COUNT(aliases) && is_pytorch; i++)
        if (aliases[i].kind == kind && !aliases[i].is_wait)
            return aliases[i].text;
    return pp_op_kinds[kind].text;
}

static char *put_single(char *at, int kind, const struct pp_op *op, struct pp_op_style style)
{
    if (kind >= PP_OP_KINDS)
        return put_text(at, "?");
    if (pp_op_is_tied(op)) {
        at = put_tagged_int(at, '(', op->stage);
        at = put_tagged_int(at, ';', op->last_stage);
        return put_text(at, ")AR");
    }
    at = put_int(at, op->stage);
    if (style.pytorch && op->kind == PP_WAIT)
        at = put_text(at, "WAIT_");
    at = put_text(at, name_of(kind, style.pytorch));
    if (pp_op_has_purpose(kind) && op->purpose && op->purpose < PP_PURPOSES) {
        *at++ = '.';
        at = put_text(at, pp_purposes[op->purpose].text);
    }
    if (pp_op_kinds[kind].has_mb) {
        at = put_int(at, op->mb);
        if (op->granules > 1)
            at = put_tagged_int(at, '-', (int64_t)op->mb + op->granules - 1);
        if (style.splits)
            at = put_tagged_int(at, 's', op->split);
    } else if (style.pipelines) {
        at = put_tagged_int(at, '@', op->pipe);
    }
    if (pp_op_has_buckets(kind) && op->buckets > 1) {
        at = put_tagged_int(at, '#', op->bucket);
        at = put_tagged_int(at, '/', op->buckets);
    }
    if (style.versions && op->version && has_version(kind))
        at = put_tagged_int(at, 'v', op->version);
    if (style.slots && op->slot >= 0 && op->kind != PP_WAIT) {
        at = put_tagged_int(at, '[', op->slot);
        *at++ = ']';
    }
    return at;
}

size_t pp_op_print(const struct pp_op *op, struct pp_op_style style, char *text)
{
    char *at = text;

    if (op->kind == PP_WAIT && !style.pytorch) {
        *at++ = '(';
        at = put_text(put_single(at, op->aux, op, style), ")WAIT");
    } else {
        at = put_single(at, op->kind == PP_WAIT ? op->aux : op->kind, op, style);
    }
    *at = '\0';
    return (size_t)(at - text);
}

/* ---- parsing --------------------------------------------------------------------------------- */

struct cursor {
    const char *at;
    const char *text; /* the whole cell, for messages */
    struct pp_error *err;
};

/* Reports a bad cell. Cells come from files, so '?' replaces control characters. */
static enum pp_status fail(const struct cursor *c, const char *what)
{
    char shown[61];
    size_t length = 0;

    for (; c->text[length] && length < sizeof(shown) - 1; length++)
        shown[length] =
            (unsigned char)c->text[length] < ' ' || c->text[length] == 127 ? '?' : c->text[length];
    shown[length] = '\0';
    return pp_error_set(c->err, PP_EPROGRAM, "'%s%s': %s", shown, c->text[length] ? "..." : "",
                        what);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_blanks(struct cursor *c)
{
    c->at += strspn(c->at, " \t\r\n");
}

static bool take(struct cursor *c, char expected)
{
    if (*c->at != expected)
        return false;
    c->at++;
    return true;
}

static bool take_word(struct cursor *c, const char *word)
{
    const size_t length = strlen(word);

    if (strncmp(c->at, word, length) != 0)
        return false;
    c->at += length;
    return true;
}

static enum pp_status parse_int(struct cursor *c, const char *name, int64_t max, int64_t *value)
{
    char what[96];

    if (!is_digit(*c->at)) {
        snprintf(what, sizeof(what), "expected a number (%s)%s", name,
                 strcmp(name, "stage") ? "" : ", as 1 in 1F0");
        return fail(c, what);
    }
    *value = 0;
    for (; is_digit(*c->at); c->at++) {
        *value = *value * 10 + (*c->at - '0');
        if (*value > max) {
            fail(c, name);
            pp_error_append(c->err, " is larger than %lld", (long long)max);
            return PP_EPROGRAM;
        }
    }
    return PP_OK;
}

static int find_kind(const char *word, size_t length, bool *is_wait)
{
    *is_wait = false;
    for (int k = 0; k < PP_OP_KINDS; k++)
        if (strlen(pp_op_kinds[k].text) == length && !memcmp(pp_op_kinds[k].text, word, length))
            return k;
    for (size_t i = 0; i < PP_COUNT(aliases); i++)
        if (strlen(aliases[i].text) == length && !memcmp(aliases[i].text, word, length)) {
            *is_wait = aliases[i].is_wait;
            return aliases[i].kind;
        }
    return PP_OP_KINDS;
}

static enum pp_status unknown_kind(const struct cursor *c, const char *word, int length)
{
    if (length == 0)
        return fail(c, "expected a kind (F, I, W, B, ...) after the stage");
    if (length == 2 && !memcmp(word, "BW", 2))
        return fail(c, "BW is the full backward in files of 2024; today it is B (a whole file of "
                       "that time: --dialect 2024)");
    fail(c, "unknown kind");
    pp_error_append(c->err, " '%.*s'; known are", length > 40 ? 40 : length, word);
    for (int k = 0; k < PP_OP_KINDS; k++)
        pp_error_append(c->err, "%s %s", k ? "," : "", pp_op_kinds[k].text);
    return PP_EPROGRAM;
}

static enum pp_status parse_kind(struct cursor *c, int *kind, bool *is_wait)
{
    const char *word = c->at;

    while ((*c->at >= 'A' && *c->at <= 'Z') || (*c->at >= 'a' && *c->at <= 'z') || *c->at == '_')
        c->at++;
    if (c->at - word == 1 && !strncmp(word, "A2A", 3)) /* the one kind with a digit */
        c->at = word + 3;
    /* The word of "0F3s1" is "F"; that of "0Fx" is "Fx". */
    *kind = find_kind(word, (size_t)(c->at - word), is_wait);
    if (*kind == PP_OP_KINDS)
        return unknown_kind(c, word, (int)(c->at - word));
    if (*kind == PP_WAIT)
        return fail(c, "WAIT takes the instruction waited for, as in (1RECV_F0)WAIT");
    return PP_OK;
}

static enum pp_status parse_micro_batch(struct cursor *c, struct pp_op *op)
{
    int64_t value, last;

    PP_TRY(parse_int(c, "micro-batch", INT32_MAX - 256, &value));
    op->mb = (int32_t)value;
    op->granules = 1;
    if (take(c, '-')) {
        PP_TRY(parse_int(c, "last granule", INT32_MAX - 256, &last));
        if (last <= value || last - value >= UINT8_MAX - 1)
            return fail(c, "a range of granules is first-last, with last above first by at most "
                           "253");
        op->granules = (uint8_t)(last - value + 1);
    }
    if (take(c, 's')) {
        PP_TRY(parse_int(c, "split", UINT8_MAX - 1, &value));
        op->split = (uint8_t)value;
    }
    return PP_OK;
}

/* Parses "1/4" after the '#'. */
static enum pp_status parse_bucket(struct cursor *c, struct pp_op *op)
{
    int64_t bucket, buckets;

    if (!pp_op_has_buckets(op->kind))
        return fail(c, "only collectives of a stage are cut into buckets, as in 0AR#1/4");
    PP_TRY(parse_int(c, "bucket", PP_MAX_BUCKETS, &bucket));
    if (!take(c, '/'))
        return fail(c, "expected '/' and the number of buckets, as in 0AR#1/4");
    PP_TRY(parse_int(c, "buckets", PP_MAX_BUCKETS, &buckets));
    if (buckets < 2 || bucket >= buckets)
        return fail(c, "a bucket is #0/k to #k-1/k, with k at least 2");
    op->bucket = (uint8_t)bucket;
    op->buckets = (uint8_t)buckets;
    return PP_OK;
}

/* Parses "forward" after the '.'. */
static enum pp_status parse_purpose(struct cursor *c, struct pp_op *op)
{
    for (uint8_t purpose = PP_FOR_STEP + 1; purpose < PP_PURPOSES; purpose++) {
        const struct pp_purpose_row *row = &pp_purposes[purpose];
        if (row->kind == op->kind && take_word(c, row->text)) {
            op->purpose = purpose;
            return PP_OK;
        }
    }
    fail(c, "expected");
    for (int purpose = PP_FOR_STEP + 1; purpose < PP_PURPOSES; purpose++)
        pp_error_append(c->err, "%s %s.%s", purpose > PP_FOR_STEP + 1 ? "," : "",
                        pp_op_kinds[pp_purposes[purpose].kind].text, pp_purposes[purpose].text);
    return PP_EPROGRAM;
}

/* Parses suffixes of the micro-batch or the kind: @pipe, #bucket/buckets, vVersion, [slot]. */
static enum pp_status parse_suffixes(struct cursor *c, struct pp_op *op)
{
    int64_t value;

    if (!pp_op_kinds[op->kind].has_mb && take(c, '@')) {
        PP_TRY(parse_int(c, "pipeline", UINT16_MAX - 1, &value));
        op->pipe = (uint16_t)value;
    }
    if (take(c, '#'))
        PP_TRY(parse_bucket(c, op));
    if (has_version(op->kind) && take(c, 'v')) {
        PP_TRY(parse_int(c, "weight version", UINT8_MAX - 1, &value));
        op->version = (uint8_t)value;
    }
    if (take(c, '[')) {
        PP_TRY(parse_int(c, "slot", INT32_MAX - 1, &value));
        op->slot = (int32_t)value;
        if (!take(c, ']'))
            return fail(c, "expected ']' after the slot");
    }
    return PP_OK;
}

static enum pp_status make_wait(const struct cursor *c, struct pp_op *op)
{
    if (!pp_op_is_posted(op->kind))
        return fail(c, "WAIT is for posted instructions (SEND, RECV, collectives, COPY)");
    if (op->slot >= 0)
        return fail(c, "the instruction inside WAIT has no slot");
    *op = pp_op_wait(*op);
    return PP_OK;
}

static enum pp_status parse_single(struct cursor *c, struct pp_op *op)
{
    int64_t stage;
    bool is_wait;
    int kind;

    *op = (struct pp_op){.mb = -1, .arg = -1, .slot = -1};
    PP_TRY(parse_int(c, "stage", UINT16_MAX - 1, &stage));
    PP_TRY(parse_kind(c, &kind, &is_wait));
    op->stage = (uint16_t)stage;
    op->kind = (uint8_t)kind;
    if (take(c, '.'))
        PP_TRY(parse_purpose(c, op));
    if (pp_op_kinds[kind].has_mb)
        PP_TRY(parse_micro_batch(c, op));
    else if (is_digit(*c->at))
        return fail(c, "this kind takes no micro-batch");
    PP_TRY(parse_suffixes(c, op));
    return is_wait ? make_wait(c, op) : PP_OK;
}

/* Parses "(0;7)AR" after its parenthesis, or sets *is_tied_sum to false and reads nothing. */
static enum pp_status parse_tied(struct cursor *c, struct pp_op *op, bool *is_tied_sum)
{
    struct cursor probe = *c;
    int64_t first = 0, last = 0;

    *is_tied_sum = false;
    probe.err = NULL;
    if (parse_int(&probe, "stage", UINT16_MAX - 1, &first) != PP_OK || !take(&probe, ';'))
        return PP_OK;
    if (parse_int(&probe, "stage", UINT16_MAX - 1, &last) != PP_OK || *probe.at != ')')
        return PP_OK;
    *is_tied_sum = true;
    c->at = probe.at + 1;
    if (!take_word(c, "AR"))
        return fail(c, "two stages in parentheses are a tied sum: expected AR, as in (0;7)AR");
    if (first != 0 || last == 0)
        return fail(c, "a tied sum names the first and the last stage, as in (0;7)AR");
    *op = (struct pp_op){.kind = PP_AR,
                         .aux = PP_TIED,
                         .stage = 0,
                         .last_stage = (uint16_t)last,
                         .mb = -1,
                         .arg = -1,
                         .slot = -1};
    return PP_OK;
}

static enum pp_status parse_part(struct cursor *c, struct pp_op *op)
{
    skip_blanks(c);
    if (*c->at == '(')
        return fail(c, "composite cells cannot be nested");
    PP_TRY(parse_single(c, op));
    skip_blanks(c);
    return PP_OK;
}

static enum pp_status make_overlap(const struct cursor *c, struct pp_op ops[2])
{
    if (ops[0].kind != PP_F || ops[1].kind != PP_B)
        return fail(c, "OVERLAP_F_B is a forward and a full backward, as in (0F3;3B5)OVERLAP_F_B");
    ops[0].aux = PP_FUSED_FIRST;
    ops[1].aux = PP_FUSED_SECOND;
    return PP_OK;
}

/* Parses a composite cell after its first parenthesis. */
static enum pp_status parse_composite(struct cursor *c, struct pp_op ops[2], int *count)
{
    bool is_tied_sum;

    PP_TRY(parse_tied(c, &ops[0], &is_tied_sum));
    if (is_tied_sum)
        return PP_OK;
    skip_blanks(c);
    if (take(c, '(')) { /* ((0;7)AR)WAIT */
        PP_TRY(parse_tied(c, &ops[0], &is_tied_sum));
        if (!is_tied_sum)
            return fail(c, "composite cells cannot be nested");
    } else {
        PP_TRY(parse_part(c, &ops[0]));
    }
    if (take(c, ';')) {
        PP_TRY(parse_part(c, &ops[1]));
        *count = 2;
    }
    if (!take(c, ')'))
        return fail(c, *count == 2 ? "expected ')' after the second part"
                                   : "expected ';' or ')' after the first part");
    if (*count == 2 && take_word(c, "OVERLAP_F_B"))
        return make_overlap(c, ops);
    if (*count == 1 && take_word(c, "WAIT"))
        return make_wait(c, &ops[0]);
    return fail(c, *count == 2 ? "expected OVERLAP_F_B after two parts"
                               : "expected WAIT after one part");
}

enum pp_status pp_op_parse(const char *text, struct pp_op ops[2], int *count, struct pp_error *err)
{
    struct cursor c = {.at = text, .text = text, .err = err};

    *count = 1;
    skip_blanks(&c);
    if (take(&c, '('))
        PP_TRY(parse_composite(&c, ops, count));
    else
        PP_TRY(parse_single(&c, &ops[0]));
    skip_blanks(&c);
    if (*c.at != '\0') {
        const bool is_list = *c.at == ';' || c.at[-1] == ' ' || c.at[-1] == '\t';
        char what[64];
        snprintf(what, sizeof(what), "%s (its first %d characters)",
                 is_list ? "a comma ends an instruction" : "nothing may follow the instruction",
                 (int)(c.at - text));
        return fail(&c, what);
    }
    return PP_OK;
}
