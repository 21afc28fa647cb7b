/* Which way messages and sums go from GPU to GPU. A run that may choose does so when all have met,
 * since all must choose the same. */
#define _GNU_SOURCE /* gethostname */
#include "exec/transport/gpu.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void take_way(struct pp_machine *m, enum pp_gpu_way way)
{
    struct pp_gpu_run *run = pp_gpu_of(m);

    m->transport = run->ways[way];
    run->messages = way == PP_WAY_NCCL ? &pp_carrier_nccl : &pp_carrier_ipc;
    run->sums = way == PP_WAY_IPC ? &pp_carrier_ipc : &pp_carrier_nccl;
}

static enum pp_gpu_way way_of(const struct pp_machine *m)
{
    int way = 0;

    while (pp_gpu_of(m)->ways[way] != m->transport)
        way++;
    return (enum pp_gpu_way)way;
}

/* ---- what there is --------------------------------------------------------------------------- */

/* A process, as the others must know it. */
struct sight {
    char host[64];
    struct pp_nccl_place place; /* empty without NCCL */
    bool can_map;
};
static const char HOST[] = "PIPEEXEC_HOST_ID", BOOT_ID[] = "/proc/sys/kernel/random/boot_id";

/* Names the host by its kernel, which its containers share. */
static void name_host(char *host, size_t bytes)
{
    const char *given = getenv(HOST);
    const int file = given ? -1 : open(BOOT_ID, O_RDONLY | O_CLOEXEC);

    memset(host, 0, bytes);
    if (given)
        strncpy(host, given, bytes - 1);
    else if (file < 0 || read(file, host, bytes - 1) <= 0)
        gethostname(host, bytes - 1);
    if (file >= 0)
        close(file);
    host[strcspn(host, "\n")] = '\0';
}

/* Gathers the sights of all processes, and gives their places to NCCL. */
static enum pp_status look_around(struct pp_machine *m, struct sight **all, struct pp_error *err)
{
    struct sight own = {.can_map = true};
    struct pp_error ignored;

    *all = PP_ARRAY(m->arena, struct sight, m->worker_count);
    name_host(own.host, sizeof(own.host));
    if (m->options.may_choose_transport)
        own.can_map = m->options.ipc->check(&ignored) == PP_OK;
    if (m->options.nccl->place)
        PP_TRY(m->options.nccl->place(m->device, &own.place, err));
    PP_TRY(pp_tcp_gather(pp_tcp_of(m), &own, sizeof(own), (char *)*all, err));
    pp_gpu_of(m)->places = PP_ARRAY(m->arena, struct pp_nccl_place, m->worker_count);
    for (int k = 0; k < m->worker_count; k++)
        pp_gpu_of(m)->places[k] = (*all)[k].place;
    return PP_OK;
}

static enum pp_status agree(const struct pp_machine *m, bool is_fine, bool *are_fine,
                            struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    bool *all = PP_ARRAY(scratch, bool, m->worker_count);

    PP_TRY(pp_tcp_gather(pp_tcp_of(m), &is_fine, sizeof(is_fine), (char *)all, err));
    *are_fine = true;
    for (int k = 0; k < m->worker_count; k++)
        *are_fine &= all[k];
    return PP_OK;
}

/* *why is empty if NCCL is missing in another process only. */
static enum pp_status find_nccl(const struct pp_machine *m, bool *is_there, struct pp_error *why,
                                struct pp_error *err)
{
    return agree(m, m->options.nccl->check(why) == PP_OK, is_there, err);
}

static bool can_map_all(const struct pp_machine *m, const struct sight *all)
{
    for (int k = 0; k < m->worker_count; k++)
        if (!all[k].can_map || strcmp(all[k].host, all[0].host) != 0)
            return false;
    return true;
}

/* GPUs of all processes, each once; 0: places are unknown. */
static int count_gpus(const struct pp_machine *m, const struct sight *all)
{
    int count = 0;

    for (int a = 0; a < m->worker_count; a++) {
        int first = 0;

        if (!all[a].place.gpu[0])
            return 0;
        while (memcmp(&all[a].place, &all[first].place, sizeof(all[a].place)) != 0)
            first++;
        count += first == a;
    }
    return count;
}

static bool has_sums(const struct pp_machine *m)
{
    for (int c = 0; c < m->collective_count; c++)
        if (m->collectives[c].row_count > 1)
            return true;
    return m->tp > 1; /* exchanges of groups */
}

/* ---- the way --------------------------------------------------------------------------------- */

/* With the beginning of a reason, which is one sentence. */
static void note(struct pp_machine *m, const char *what, const struct pp_error *why)
{
    m->transport_note = pp_arena_printf(m->arena, "%s%s%.*s", what, why->message[0] ? ": " : "",
                                        (int)strcspn(why->message, ";\n"), why->message);
}

static enum pp_status check_hosts(const struct pp_machine *m, const struct sight *all,
                                  struct pp_error *err)
{
    const int own = m->options.meeting.index;

    for (int k = 0; k < m->worker_count; k++)
        if (strcmp(all[own].host, all[k].host) != 0)
            return pp_error_set(err, PP_EFAIL,
                                "--transport %s: process %d at %s is on another host than process "
                                "%d (%s and %s): memory is mapped within one; use --transport nccl",
                                m->transport->name, k, pp_tcp_of(m)->names[k], own, all[k].host,
                                all[own].host);
    return PP_OK;
}

/* On one host copy engines carry messages, and NCCL the sums. It needs a GPU for each process, and
 * is not loaded without sums. Between hosts it carries all. */
static enum pp_status choose(struct pp_machine *m, const struct sight *all, struct pp_error *err)
{
    const bool can_map = can_map_all(m, all), shared = m->gpus > 0 && m->gpus < m->worker_count,
               sums = has_sums(m);
    const bool wants_nccl = !can_map || (sums && !shared);
    struct pp_error why = {0};
    bool has_nccl = false;

    if (wants_nccl)
        PP_TRY(find_nccl(m, &has_nccl, &why, err));
    if (!can_map && !has_nccl)
        return pp_error_set(err, PP_EFAIL, "%s", why.message[0] ? why.message : "no NCCL");
    take_way(m, !can_map ? PP_WAY_NCCL : has_nccl ? PP_WAY_IPC_NCCL : PP_WAY_IPC);
    if (wants_nccl && !has_nccl)
        note(m, "gradient sums go by CUDA IPC, for there is no NCCL", &why);
    else if (can_map && sums && shared)
        note(m, "gradient sums go by CUDA IPC, for NCCL needs a GPU for each rank", &why);
    return PP_OK;
}

enum pp_status pp_gpu_find_way(struct pp_machine *m, struct pp_error *err)
{
    struct pp_gpu_run *run = pp_gpu_of(m);
    struct sight *all;

    PP_TRY(look_around(m, &all, err));
    m->gpus = count_gpus(m, all);
    if (m->options.may_choose_transport)
        return choose(m, all, err);
    take_way(m, way_of(m));
    if (run->messages == &pp_carrier_ipc)
        PP_TRY(check_hosts(m, all, err));
    if (run->messages == &pp_carrier_ipc && !has_sums(m)) /* NCCL is not loaded */
        run->sums = &pp_carrier_ipc;
    return run->sums == &pp_carrier_nccl ? m->options.nccl->check(err) : PP_OK;
}

enum pp_status pp_gpu_open_ipc(struct pp_machine *m, struct pp_error *err)
{
    struct pp_gpu_run *run = pp_gpu_of(m);
    struct pp_error why = {0}, missing = {0};
    bool are_open, has_nccl;

    if (!m->options.may_choose_transport)
        return pp_carrier_ipc.open(m, err);
    PP_TRY(agree(m, pp_carrier_ipc.open(m, &why) == PP_OK, &are_open, err));
    if (are_open)
        return PP_OK;
    if (run->ipc)
        PP_TRY(pp_ipc_leave(m, err));
    run->ipc = NULL;
    PP_TRY(find_nccl(m, &has_nccl, &missing, err));
    if (!has_nccl)
        return pp_error_set(err, PP_EFAIL, "%s\n  %s\n  %s",
                            why.message[0] ? why.message : "another process cannot map memory",
                            missing.message[0] ? missing.message : "and it has no NCCL",
                            "or let all ranks share one GPU: --transport local");
    take_way(m, PP_WAY_NCCL);
    note(m, "messages go by NCCL, for GPUs do not reach each other", &why);
    return PP_OK;
}
