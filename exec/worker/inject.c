/* Injected faults: their kinds, parser and check. */
#include "exec/worker/inject.h"

#include "core/units.h"
#include "exec/backend/staging.h"
#include "exec/worker/worker.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static const int64_t JUMP_PS = 1000000000000;

static bool kill_self(struct pp_worker *w)
{
    (void)w;
    raise(SIGKILL);
    return false;
}

static bool stop_self(struct pp_worker *w)
{
    (void)w;
    raise(SIGSTOP);
    return true;
}

static bool hang(struct pp_worker *w)
{
    while (!w->machine->has_failed)
        usleep(1000);
    return false;
}

static bool freeze(struct pp_worker *w)
{
    (void)w;
    for (;;)
        pause();
    return false;
}

static bool jump(struct pp_worker *w)
{
    atomic_fetch_add(&w->machine->clock_shift_ps, JUMP_PS);
    return true;
}

static bool drop(struct pp_worker *w)
{
    if (w->machine->remote)
        w->machine->remote->drop(w->machine);
    return true;
}

/* The file meets the fault at its next transfer. */
static bool break_file(struct pp_worker *w, enum pp_tier_fault fault)
{
    if (w->file)
        pp_tier_file_break(w->file, fault);
    return true;
}

static bool fail_read(struct pp_worker *w)
{
    return break_file(w, PP_TIER_EIO);
}

static bool flip_bit(struct pp_worker *w)
{
    return break_file(w, PP_TIER_FLIP);
}

static bool fill_drive(struct pp_worker *w)
{
    return break_file(w, PP_TIER_FULL);
}

static bool cut_read(struct pp_worker *w)
{
    return break_file(w, PP_TIER_SHORT);
}

/* Turns the sign of the first number of a key of its first sequence, which later tokens of the
 * sequence meet. */
static bool spoil(struct pp_worker *w)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_machine *m = w->machine;
    struct pp_error err;

    for (int s = 0; s < m->stages; s++) {
        const size_t offset = m->layout[w->rank].generating.cache_offset[s];
        const struct pp_staging keys = pp_staging_make(
            scratch, m->backend, m->device, w->block + (offset == SIZE_MAX ? 0 : offset), 8);

        if (offset == SIZE_MAX || pp_staging_fetch(&keys, &err) != PP_OK)
            continue;
        keys.on_host[m->options.kernels->element_bytes - 1] ^= (char)0x80; /* little-endian */
        pp_staging_push(&keys, &err);
    }
    return true;
}

static const struct pp_inject_kind KINDS[] = {
    {"drop", "its connections to other ranks are closed", drop, .needs_remote = true},
    {"eio", "the next read of its tier nvme fails", fail_read, .needs_file = true},
    {"flip", "a bit flips in what it next reads from its tier nvme", flip_bit, .needs_file = true},
    {"freeze", "its thread never returns from an op", freeze},
    {"full", "its next write to its tier nvme finds no room", fill_drive, .needs_file = true},
    {"hang", "the rank goes no further", hang},
    {"jump", "the clock of its process jumps ahead by 1 s", jump, .needs_remote = true,
     .needs_wall = true},
    {"kill", "its process is killed", kill_self},
    {"short", "its next read from its tier nvme is short", cut_read, .needs_file = true},
    {"spoil", "a number in its cache changes its sign", spoil, .needs_cache = true},
    {"stop", "its process is stopped", stop_self},
};
static const struct key {
    const char *name;
    size_t offset;
    int least;
} KEYS[] = {
    {"rank", offsetof(struct pp_inject, rank), 0},
    {"replica", offsetof(struct pp_inject, replica), 0},
    {"tp", offsetof(struct pp_inject, tp_index), 0},
    {"op", offsetof(struct pp_inject, op), 0},
    {"step", offsetof(struct pp_inject, step), 1},
};
enum { MOST = 1000000000 };

static enum pp_status take_kind(const char *word, struct pp_inject *inject, struct pp_error *err)
{
    for (size_t i = 0; i < PP_COUNT(KINDS); i++)
        if (strcmp(word, KINDS[i].name) == 0) {
            inject->kind = &KINDS[i];
            return PP_OK;
        }
    pp_error_set(err, PP_EINVAL, "\"%s\" is none of", word);
    for (size_t i = 0; i < PP_COUNT(KINDS); i++)
        pp_error_append(err, "%s %s (%s)", i ? "," : "", KINDS[i].name, KINDS[i].summary);
    return PP_EINVAL;
}

static enum pp_status take_key(const char *word, struct pp_inject *inject, struct pp_error *err)
{
    for (size_t i = 0; i < PP_COUNT(KEYS); i++) {
        const size_t length = strlen(KEYS[i].name);
        int64_t value;

        if (strncmp(word, KEYS[i].name, length) != 0 || word[length] != ':')
            continue;
        PP_TRY(pp_units_parse_int(word + length + 1, KEYS[i].least, MOST, &value, err));
        *(int *)(void *)((char *)inject + KEYS[i].offset) = (int)value;
        return PP_OK;
    }
    pp_error_set(err, PP_EINVAL, "\"%s\": expected", word);
    for (size_t i = 0; i < PP_COUNT(KEYS); i++)
        pp_error_append(err, "%s %s:K", i ? "," : "", KEYS[i].name);
    return PP_EINVAL;
}

enum pp_status pp_inject_parse(const char *text, int first_step, struct pp_inject *inject,
                               struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    char *rest = pp_arena_strdup(scratch, text ? text : "");

    *inject = (struct pp_inject){.step = first_step + 1};
    for (char *word; (word = strtok_r(rest, " ,", &rest));)
        PP_TRY(inject->kind ? take_key(word, inject, err) : take_kind(word, inject, err));
    return PP_OK;
}

/* True if copies of the rank go to NVMe. */
static bool uses_file(const struct pp_program *p, int rank)
{
    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        if (pp_op_is_move(p->kind[i]) &&
            p->state.spec.home[p->kind[i] == PP_COPY ? PP_STATE_ACTIVATIONS
                                                     : pp_purposes[p->purpose[i]].what] ==
                PP_TIER_NVME)
            return true;
    return false;
}

enum pp_status pp_inject_check(const struct pp_inject *inject, const struct pp_program *p,
                               int replicas, int tp, int first_step, int steps,
                               struct pp_error *err)
{
    if (!inject->kind)
        return PP_OK;
    const int ops =
        inject->rank < p->ranks ? p->begin[inject->rank + 1] - p->begin[inject->rank] : 0;
    const struct {
        const char *name;
        int value, least, most;
    } limits[] = {
        {"rank", inject->rank, 0, p->ranks - 1},
        {"replica", inject->replica, 0, replicas - 1},
        {"tp", inject->tp_index, 0, tp - 1},
        {"op", inject->op, 0, ops - 1},
        {"step", inject->step, first_step + 1, steps},
    };

    for (size_t i = 0; i < PP_COUNT(limits); i++)
        if (limits[i].value < limits[i].least || limits[i].value > limits[i].most)
            return pp_error_set(err, PP_EINVAL, "%s:%d: this run has %d to %d", limits[i].name,
                                limits[i].value, limits[i].least, limits[i].most);
    if (inject->kind->needs_cache && p->passes == 0)
        return pp_error_set(err, PP_EINVAL,
                            "%s: training has no cache of keys and values; nearest: pipeexec "
                            "generate, or --inject hang",
                            inject->kind->name);
    if (inject->kind->needs_file && !uses_file(p, inject->rank))
        return pp_error_set(err, PP_EINVAL,
                            "%s: rank %d copies nothing to the tier nvme; give another rank, or "
                            "--offload a=nvme --nvme DIR",
                            inject->kind->name, inject->rank);
    return PP_OK;
}
