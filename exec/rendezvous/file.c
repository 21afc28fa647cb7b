/* Meeting by a file. A process accepts the file if it has the launcher's name of the run and the
 * number of processes, and process 0 answers there. The file of an earlier run fails this test; the
 * process then waits until the new file replaces it. Process 0 draws a number for the file, and
 * every process that uses the file repeats it. */
#define _GNU_SOURCE /* getifaddrs, getrandom */
#include "core/text/file.h"
#include "core/clock.h"
#include "core/hash.h"
#include "core/process/process.h"
#include "core/text/output.h"
#include "exec/rendezvous/meeting.h"
#include "exec/rendezvous/sockets.h"

#include <errno.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOK_US = 50000, MOST_BYTES = 1 << 16, MOST_PLACES = 32, CALL_S = 0 };
static const char FIRST_LINE[] = "pipeexec rendezvous 1";

struct record {
    uint64_t run, drawn; /* number of the launcher; of process 0 */
    int processes, port;
    char places[MOST_PLACES][PP_ADDRESS_BYTES];
    int count;
};

/* ---- process 0 ------------------------------------------------------------------------------- */

/* The last address is loopback, which on other hosts is another machine. */
static void write_places(FILE *file)
{
    struct ifaddrs *all = NULL;
    char name[PP_ADDRESS_BYTES];

    if (getifaddrs(&all) != 0)
        all = NULL;
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || (i->ifa_flags & IFF_LOOPBACK) ||
            !(i->ifa_flags & IFF_UP))
            continue;
        pp_socket_name((const struct sockaddr_storage *)(const void *)i->ifa_addr, name);
        fprintf(file, "at %s\n", name);
    }
    freeifaddrs(all);
    fprintf(file, "at 127.0.0.1\n");
}

/* Takes a file from all but its owner. Returns why it cannot be; NULL: it is. */
static const char *keep_private(int file)
{
    struct stat info;

    if (fstat(file, &info) == 0 && !S_ISREG(info.st_mode))
        return "it is a device or pipe";
    return fchmod(file, S_IRUSR | S_IWUSR) == 0 ? NULL : strerror(errno);
}

static enum pp_status write_file(struct pp_arena *arena, const struct pp_meeting *meeting,
                                 uint64_t drawn, struct pp_error *err)
{
    struct pp_output output;

    PP_TRY(pp_output_open(arena, meeting->path, &output, err));
    const char *why = keep_private(fileno(output.file));
    if (why) { /* who reads it may join */
        pp_output_discard(&output);
        return pp_error_set(err, PP_EFAIL, "cannot be a file that only you read: %s", why);
    }
    fprintf(output.file, "%s\nrun %016" PRIx64 "\nof %d\ndrawn %016" PRIx64 "\nport %d\n",
            FIRST_LINE, meeting->token, meeting->count, drawn, meeting->port);
    write_places(output.file);
    return pp_output_commit(&output, err);
}

/* Blocks signals between the file and its guard, which removes it. */
static enum pp_status write_guarded(struct pp_arena *arena, const struct pp_meeting *meeting,
                                    uint64_t drawn, struct pp_error *err)
{
    sigset_t before;

    pp_process_hold(&before);
    const enum pp_status status = write_file(arena, meeting, drawn, err);
    if (status == PP_OK)
        pp_process_guard(meeting->path);
    pp_process_release(&before);
    return status;
}

static bool read_record(struct pp_arena *scratch, const char *path, struct record *record)
{
    struct pp_bytes bytes;
    struct pp_error ignored;

    if (pp_file_read_limited(scratch, path, MOST_BYTES, &bytes, &ignored) != PP_OK ||
        strncmp(bytes.data, FIRST_LINE, strlen(FIRST_LINE)) != 0)
        return false;
    *record = (struct record){.run = 0};
    char *line = bytes.data + strlen(FIRST_LINE);
    if (sscanf(line, " run %" SCNx64 " of %d drawn %" SCNx64 " port %d", &record->run,
               &record->processes, &record->drawn, &record->port) != 4)
        return false;
    while (record->count < MOST_PLACES && (line = strstr(line, "\nat ")) &&
           sscanf(line, " at %63s", record->places[record->count]) == 1) {
        record->count++;
        line++;
    }
    return record->port > 0 && record->port <= UINT16_MAX && record->count > 0;
}

static uint64_t token_of(uint64_t run, uint64_t drawn)
{
    return pp_hash(run, &drawn, sizeof(drawn));
}

/* Removes the file, unless another run has replaced it. */
static void remove_own(const struct pp_meeting *meeting)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct record record;

    if (read_record(scratch, meeting->path, &record) &&
        token_of(record.run, record.drawn) == meeting->token)
        unlink(meeting->path);
    pp_process_guard(NULL);
}

static void end(void *context)
{
    struct pp_meeting *meeting = context;

    remove_own(meeting);
    close(meeting->listener);
}

static enum pp_status host(struct pp_arena *arena, struct pp_meeting *meeting, struct pp_error *err)
{
    struct sockaddr_storage any;
    uint64_t drawn;

    PP_TRY(pp_socket_find("0.0.0.0", 0, &any, err));
    if (getrandom(&drawn, sizeof(drawn), 0) != sizeof(drawn))
        return pp_error_set(err, PP_EFAIL, "no random number for this run: %s", strerror(errno));
    const int fd = pp_socket_listen(&any, true);
    if (fd < 0)
        return pp_error_set(err, PP_EFAIL, "no free port: %s", strerror(errno));
    meeting->port = pp_socket_port(fd);
    const enum pp_status status = write_guarded(arena, meeting, drawn, err);
    if (status != PP_OK) {
        close(fd);
        if (meeting->path[0] != '/')
            pp_error_append(err, "\n  a path from the root has three slashes: file:///%s",
                            meeting->path);
        return pp_error_prefix(err, "--rendezvous file://%s: ", meeting->path);
    }
    meeting->token = token_of(meeting->token, drawn);
    meeting->listener = fd;
    meeting->is_listening = true;
    struct pp_meeting *kept = PP_NEW(arena, struct pp_meeting);
    *kept = *meeting;
    pp_arena_defer(arena, end, kept);
    return PP_OK;
}

void pp_rendezvous_done(const struct pp_meeting *meeting)
{
    if (meeting->path[0] && meeting->index == 0)
        remove_own(meeting);
}

/* ---- all others ------------------------------------------------------------------------------ */

/* Tests whether a process listens there: connects and closes. */
static bool find_place(const struct record *record, struct pp_meeting *meeting)
{
    struct sockaddr_storage at;
    struct pp_error ignored;

    for (int i = 0; i < record->count; i++) {
        if (pp_socket_find(record->places[i], record->port, &at, &ignored) != PP_OK)
            continue;
        const int fd = pp_socket_call(&at, CALL_S);
        if (fd < 0)
            continue;
        close(fd);
        snprintf(meeting->host, sizeof(meeting->host), "%s", record->places[i]);
        return true;
    }
    return false;
}

/* True if the record leads to process 0; else *why says why not. */
static bool follow(const struct record *record, struct pp_meeting *meeting, struct pp_error *why)
{
    if (record->run != meeting->token)
        pp_error_set(why, PP_EFAIL, "the file is that of another run (the launcher's id differs)");
    else if (record->processes != meeting->count)
        pp_error_set(why, PP_EFAIL, "the file is of a run of %d processes, not %d",
                     record->processes, meeting->count);
    else if (!find_place(record, meeting))
        pp_error_set(why, PP_EFAIL,
                     "the file is that of an earlier run: no process listens at port %d of %s%s",
                     record->port, record->places[0],
                     record->count > 1 ? " and its other addresses" : "");
    else
        return true;
    return false;
}

static enum pp_status await(struct pp_meeting *meeting, struct pp_error *err)
{
    const double until_s = pp_clock_s() + meeting->patience_s;
    struct pp_error why;

    do {
        PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
        struct record record;

        pp_error_set(&why, PP_EFAIL, "there is no such file");
        if (access(meeting->path, F_OK) == 0)
            pp_error_set(&why, PP_EFAIL, "the file is no rendezvous of pipeexec");
        if (read_record(scratch, meeting->path, &record) && follow(&record, meeting, &why)) {
            meeting->port = record.port;
            meeting->token = token_of(record.run, record.drawn);
            return PP_OK;
        }
        usleep(LOOK_US);
    } while (pp_clock_s() < until_s);
    return pp_error_set(
        err, PP_EFAIL, "--rendezvous file://%s: process %d of %d has waited %d s for process 0: %s",
        meeting->path, meeting->index, meeting->count, meeting->patience_s, why.message);
}

enum pp_status pp_rendezvous_open(struct pp_arena *arena, struct pp_meeting *meeting,
                                  struct pp_error *err)
{
    if (!meeting->path[0])
        return PP_OK;
    return meeting->index == 0 ? host(arena, meeting, err) : await(meeting, err);
}
