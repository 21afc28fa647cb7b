/* Whether each rank gets a GPU of its own. Without a launcher and without --transport it does, if
 * as many are visible and a way between them is there. Else a note says why not, and what to type.
 */
#include "exec/cuda/module.h"
#include "exec/resolve/parts.h"
#include "exec/resolve/what_if.h"
#include "exec/transport/transports.h"
#include "schedules/registry.h"

#include <stdio.h>
#include <string.h>

/* First option as typed that has a meaning only if one process runs all ranks; NULL: none. */
static const char *needs_one_process(const struct pp_exec_wish *wish)
{
    const struct pp_given *const inputs[] = {&wish->given.schedule, &wish->given.calibrate_on,
                                             &wish->given.data};
    const struct pp_given *const of_virtual[] = {&wish->given.link, &wish->given.link_bw,
                                                 &wish->given.slow, &wish->given.unit};
    const bool is_wall = !wish->given.clock.count || wish->clock != PP_CLOCK_VIRTUAL;

    if (wish->given.device_mode.count)
        return wish->given.device_mode.typed;
    for (size_t i = 0; i < PP_COUNT(inputs); i++)
        if (inputs[i]->count && strcmp(inputs[i]->text, "-") == 0)
            return inputs[i]->typed;
    for (size_t i = 0; i < PP_COUNT(of_virtual) && is_wall; i++)
        if (of_virtual[i]->count)
            return of_virtual[i]->typed;
    for (int i = 0; i < wish->given.inject.count && is_wall; i++)
        if (pp_exec_is_what_if(wish->given.inject.all[i]))
            return wish->given.inject.typed;
    return NULL;
}

static bool is_way_there(const struct pp_exec_config *config, int ranks, struct pp_error *why)
{
    struct pp_error ignored;

    return (config->ipc->check(&ignored) == PP_OK && config->ipc->do_reach(ranks)) ||
           config->nccl->check(why) == PP_OK;
}

/* A rank takes `each` GPUs, in all replicas. */
static void note_few(int gpus, int ranks, int each, bool has_groups, char *note, size_t bytes)
{
    const int most = gpus / each, used = most * each;
    const int length = snprintf(note, bytes,
                                "%d~GPUs are visible for %d~ranks, which share one. With "
                                "--transport~ipc ranks take them in turn; ",
                                gpus, ranks);

    if (most == 0 && has_groups)
        snprintf(note + length, bytes - (size_t)length, "--np~1 takes %d", each);
    else if (most == 0)
        snprintf(note + length, bytes - (size_t)length, "--np~1 --dp~%d uses all", gpus);
    else if (used == gpus)
        snprintf(note + length, bytes - (size_t)length, "--np~%d uses all", most);
    else
        snprintf(note + length, bytes - (size_t)length, "--np~%d uses %d", most, used);
}

bool pp_exec_has_gpu_each(const struct pp_exec_wish *wish, struct pp_exec_config *config)
{
    const bool is_file = wish->schedule && !pp_schedule_find(wish->schedule);
    const int each = config->replicas * wish->tp,
              ranks = (config->ranks ? config->ranks : PP_EXEC_USUAL_RANKS) * each,
              gpus = config->cuda->gpus();
    const char *typed = needs_one_process(wish);
    struct pp_error why = {0};
    char *note = config->gpu_note;
    const size_t bytes = sizeof(config->gpu_note);

    if (gpus <= 1 || ranks <= 1)
        return false;
    if (typed)
        snprintf(
            note, bytes,
            "%d~GPUs are visible, and with %.80s all ranks share one. Without it each rank is a "
            "process with its own",
            gpus, typed);
    else if (is_file && !config->ranks)
        snprintf(note, bytes,
                 "%d~GPUs are visible, and all ranks share one. With --np and the file's number of "
                 "ranks each is a process with its own",
                 gpus);
    else if (gpus < ranks)
        note_few(gpus, ranks, each, wish->tp > 1, note, bytes);
    else if (!is_way_there(config, ranks, &why))
        snprintf(note, bytes,
                 "%d~GPUs are visible, and all ranks share one: they do not reach each other's "
                 "memory, and there is no NCCL. Name its file in PIPEEXEC_NCCL_LIBRARY",
                 gpus);
    else {
        snprintf(note, bytes,
                 "%d~GPUs are visible, so each rank is a process with its own. With "
                 "--transport~local all share one",
                 gpus);
        return true;
    }
    return false;
}

void pp_exec_device_note(const struct pp_exec_run *run, char *text, size_t bytes)
{
    const struct pp_exec_config *c = &run->config;
    const bool share = c->cuda && c->transport == &pp_transport_local &&
                       run->plan.program->ranks * c->replicas * c->tp > 1;
    const int gpus = share ? c->cuda->gpus() : 0;

    if (c->gpu_note[0])
        snprintf(text, bytes, "%s", c->gpu_note);
    else if (gpus > 1)
        snprintf(text, bytes,
                 "%d~GPUs are visible, and all ranks share one. With --transport~ipc or "
                 "--transport~nccl ranks take them in turn",
                 gpus);
}
