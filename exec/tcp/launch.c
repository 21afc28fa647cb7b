/* Starts and ends the other processes of a run, as a launcher does. */
#define _GNU_SOURCE /* setenv, getrandom */
#include "exec/tcp/launch.h"

#include "core/process/process.h"
#include "exec/rendezvous/sockets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { GRACE_MS = 2000, ARGUMENTS_BYTES = 1 << 17, TOLD_BYTES = 1024 };
static const char HERE[] = "127.0.0.1", PREFIX[] = "pipeexec: error: ";

struct pp_tcp_launched {
    pid_t *processes;
    int count;
    int listener;
    int log; /* file of their messages */
};

/* ---- beginning ------------------------------------------------------------------------------- */

/* Command line of this process, as an array of arguments. */
static char **own_arguments(struct pp_arena *arena)
{
    char *text = pp_arena_alloc(arena, ARGUMENTS_BYTES), **arguments = NULL;
    FILE *file = fopen("/proc/self/cmdline", "re");
    const size_t bytes = file ? fread(text, 1, ARGUMENTS_BYTES - 1, file) : 0;
    int count = 0, capacity = 0;

    if (file)
        fclose(file);
    for (size_t at = 0; at < bytes; at += strlen(text + at) + 1)
        *PP_PUSH(arena, arguments, count, capacity) = text + at;
    *PP_PUSH(arena, arguments, count, capacity) = NULL;
    return arguments;
}

/* Listens at a free port, which stays this run's. */
static enum pp_status listen_here(int *listener, struct pp_error *err)
{
    struct sockaddr_storage at;

    PP_TRY(pp_socket_find(HERE, 0, &at, err));
    *listener = pp_socket_listen(&at, false);
    if (*listener < 0)
        return pp_error_set(err, PP_EFAIL, "no free port at %s: %s", HERE, strerror(errno));
    return PP_OK;
}

static void set_number(const char *name, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    setenv(name, text, 1);
}

/* Sets the variables of all processes, as torchrun does. */
static enum pp_status set_variables(int count, int port, struct pp_error *err)
{
    uint64_t id;

    if (getrandom(&id, sizeof(id), 0) != sizeof(id))
        return pp_error_set(err, PP_EFAIL, "no random number for this run: %s", strerror(errno));
    set_number("PIPEEXEC_RUN_ID", id);
    set_number("WORLD_SIZE", (uint64_t)count);
    set_number("LOCAL_WORLD_SIZE", (uint64_t)count);
    setenv("MASTER_ADDR", HERE, 1);
    set_number("MASTER_PORT", (uint64_t)port);
    return PP_OK;
}

static void become(char **arguments, pid_t parent, int log)
{
    signal(SIGINT, SIG_IGN); /* process 0 handles it */
    if (dup2(log, STDERR_FILENO) >= 0 && pp_process_follow(parent))
        execv("/proc/self/exe", arguments);
    _exit(PP_EFAIL);
}

static enum pp_status start_all(struct pp_arena *arena, struct pp_tcp_launched *l, int count,
                                struct pp_error *err)
{
    char **arguments = own_arguments(arena);
    const pid_t parent = getpid();

    for (; l->count < count - 1; l->count++) {
        set_number("RANK", (uint64_t)l->count + 1);
        set_number("LOCAL_RANK", (uint64_t)l->count + 1);
        const pid_t child = fork();
        if (child == 0)
            become(arguments, parent, l->log);
        if (child < 0)
            return pp_error_set(err, PP_EFAIL, "cannot start process %d of %d: %s (ulimit -u)",
                                l->count + 2, count, strerror(errno));
        l->processes[l->count] = child;
    }
    return PP_OK;
}

static int look(void *closure, siginfo_t *info)
{
    const struct pp_tcp_launched *l = closure;

    return 1 + pp_process_find_ended(l->processes, l->count, info);
}

/* ---- all ------------------------------------------------------------------------------------- */

enum pp_status pp_tcp_launch(struct pp_arena *arena, int count, struct pp_meeting *meeting,
                             struct pp_tcp_launched **launched, struct pp_error *err)
{
    struct pp_tcp_launched *l = PP_NEW(arena, struct pp_tcp_launched);

    l->processes = PP_ARRAY(arena, pid_t, count);
    l->log = pp_process_log();
    if (l->log < 0)
        return pp_error_set(err, PP_EFAIL, "no memory for the output of processes: %s",
                            strerror(errno));
    PP_TRY(listen_here(&l->listener, err));
    PP_TRY(set_variables(count, pp_socket_port(l->listener), err));
    const enum pp_status status = start_all(arena, l, count, err);
    if (status != PP_OK) {
        pp_launched_end(l, NULL);
        return status;
    }
    *meeting = pp_meeting_here(count, l->listener);
    meeting->look = look;
    meeting->closure = l;
    *launched = l;
    return PP_OK;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Appends their first message, unless *err has it. */
static void add_told(const struct pp_tcp_launched *l, struct pp_error *err)
{
    char text[TOLD_BYTES];
    const ssize_t bytes = pread(l->log, text, sizeof(text) - 1, 0);

    text[bytes > 0 ? bytes : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    const char *told = text + (strncmp(text, PREFIX, strlen(PREFIX)) == 0 ? strlen(PREFIX) : 0);
    if (*told && !strstr(err->message, told))
        pp_error_append(err, "\n  another process says: %s", told);
}

void pp_launched_end(struct pp_tcp_launched *l, struct pp_error *err)
{
    if (!l)
        return;
    pp_process_reap(l->processes, l->count, GRACE_MS);
    if (err)
        add_told(l, err);
    close(l->listener);
    close(l->log);
}
