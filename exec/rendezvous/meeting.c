/* Finds the meeting of a run by the variables of its launcher. */
#define _GNU_SOURCE /* setenv */
#include "exec/rendezvous/meeting.h"

#include "core/hash.h"
#include "core/process/launcher.h"
#include "core/units.h"
#include "exec/rendezvous/sockets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_PORT = 29500, SPREAD = 1000 };

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

/* ---- where process 0 is ---------------------------------------------------------------------- */

static void copy(char *host, const char *text, size_t length)
{
    snprintf(host, sizeof(((struct pp_meeting *)0)->host), "%.*s", (int)length, text);
}

static void take_name(const char *value, int count, char *host)
{
    (void)count;
    copy(host, value, strlen(value));
}

/* First host of "n[01-03,7],m1": n01. */
static void take_first_host(const char *value, int count, char *host)
{
    const size_t stem = strcspn(value, "[,");

    (void)count;
    copy(host, value, stem);
    if (value[stem] != '[')
        return;
    const char *first = value + stem + 1;
    const size_t digits = strcspn(first, "-,]");
    snprintf(host + strlen(host), sizeof(((struct pp_meeting *)0)->host) - strlen(host), "%.*s",
             (int)digits, first);
}

/* Takes this host if all processes are on it. */
static void take_if_all_here(const char *value, int count, char *host)
{
    if (atoi(value) == count)
        copy(host, "127.0.0.1", strlen("127.0.0.1"));
}

/* Variables for the host of process 0; the first one with a host counts. */
static const struct {
    const char *name;
    void (*take)(const char *value, int count, char *host);
} HOSTS[] = {
    {"MASTER_ADDR", take_name},
    {"SLURM_STEP_NODELIST", take_first_host},
    {"SLURM_NODELIST", take_first_host},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", take_if_all_here},
    {"MV2_COMM_WORLD_LOCAL_SIZE", take_if_all_here},
    {"MPI_LOCALNRANKS", take_if_all_here},
    {"PMI_LOCAL_SIZE", take_if_all_here},
};
/* Variables that tell runs of one host apart. */
static const char *const JOBS[] = {"SLURM_JOB_ID", "OMPI_MCA_ess_base_jobid", "PMI_JOBID"};

static enum pp_status find_host(struct pp_meeting *meeting, struct pp_error *err)
{
    for (size_t i = 0; i < PP_COUNT(HOSTS) && !meeting->host[0]; i++)
        if (variable(HOSTS[i].name))
            HOSTS[i].take(variable(HOSTS[i].name), meeting->count, meeting->host);
    if (meeting->host[0])
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s says that this is process %d of %d, but nothing says where process 0 "
                        "is: set MASTER_ADDR (and MASTER_PORT)",
                        meeting->source, meeting->index, meeting->count);
}

/* torchrun listens at MASTER_PORT itself, with a store for PyTorch, and says so. */
static bool is_port_taken(void)
{
    const char *says = variable("TORCHELASTIC_USE_AGENT_STORE");

    return says && !strcmp(says, "True");
}

static enum pp_status find_port(struct pp_meeting *meeting, struct pp_error *err)
{
    const char *given = variable("MASTER_PORT");
    int64_t port = USUAL_PORT;

    for (size_t i = 0; i < PP_COUNT(JOBS); i++)
        if (port == USUAL_PORT && variable(JOBS[i]))
            port += (int64_t)(strtoull(variable(JOBS[i]), NULL, 10) % SPREAD);
    if (given && pp_units_parse_int(given, 1, 65535, &port, err) != PP_OK)
        return pp_error_prefix(err, "MASTER_PORT: ");
    if (given && is_port_taken()) /* another port, the same for all processes */
        port += port < 65535 ? 1 : -1;
    meeting->port = (int)port;
    return PP_OK;
}

static const char RUN_ID[] = "PIPEEXEC_RUN_ID"; /* overrides the launcher */

static uint64_t mix(uint64_t token, const char *name)
{
    const char *value = name ? variable(name) : NULL;

    return value ? pp_hash(token, value, strlen(value)) : token;
}

static uint64_t find_token(const struct pp_launched *launch)
{
    uint64_t token = mix(0, RUN_ID);

    for (int k = 0; k < 2 && launch->run && !variable(RUN_ID); k++)
        token = mix(token, launch->run[k]);
    return token;
}

static void find_place(struct pp_meeting *meeting)
{
    static const char *const INDICES[] = {"LOCAL_RANK",
                                          "OMPI_COMM_WORLD_LOCAL_RANK",
                                          "MV2_COMM_WORLD_LOCAL_RANK",
                                          "MPI_LOCALRANKID",
                                          "PMI_LOCAL_RANK",
                                          "SLURM_LOCALID"};

    meeting->local_index = -1;
    for (size_t i = 0; i < PP_COUNT(INDICES) && meeting->local_index < 0; i++)
        if (variable(INDICES[i]))
            meeting->local_index = atoi(variable(INDICES[i]));
    if (meeting->local_index < 0)
        meeting->local_index = meeting->index;
}

/* With a rendezvous, RANK and WORLD_SIZE mean this run: the place of the meeting is given. */
static enum pp_status find_ranks(const char *rendezvous, bool is_option, struct pp_meeting *meeting,
                                 struct pp_error *err)
{
    struct pp_launched launch = {0};

    if (rendezvous) {
        setenv("MASTER_ADDR", rendezvous, 1);
        if (pp_rendezvous_parse(rendezvous, meeting, err) != PP_OK)
            return pp_error_prefix(err, "%s ", is_option ? "--rendezvous" : "MASTER_ADDR");
    }
    if (meeting->count > 1) {
        snprintf(meeting->source, sizeof(meeting->source), "rank and world_size");
    } else {
        PP_TRY(pp_launcher_detect_ranks(&launch, err));
        meeting->index = launch.index;
        meeting->count = launch.count;
        snprintf(meeting->source, sizeof(meeting->source), "%s", launch.source);
    }
    meeting->token = meeting->count > 1 ? find_token(&launch) : 0;
    return PP_OK;
}

/* Tasks of a job array are separate runs. */
enum pp_status pp_meeting_find(const char *rendezvous, struct pp_meeting *meeting,
                               struct pp_error *err)
{
    const char *address = variable("MASTER_ADDR");
    const char *told = rendezvous ? rendezvous : address && strstr(address, "://") ? address : NULL;

    *meeting = (struct pp_meeting){.count = 1};
    PP_TRY(find_ranks(told, rendezvous != NULL, meeting, err));
    if (rendezvous && meeting->count < 2)
        return pp_error_set(err, PP_EINVAL,
                            "--rendezvous %.200s: nothing says which of how many processes this "
                            "is: set RANK and WORLD_SIZE (at least 2), or append "
                            "?rank=0&world_size=2",
                            rendezvous);
    if (meeting->count < 2)
        return PP_OK;
    find_place(meeting);
    if (told)
        return PP_OK;
    PP_TRY(find_host(meeting, err));
    return find_port(meeting, err);
}

/* RANK and WORLD_SIZE may belong to another program: alone they do not make a process wait. */
void pp_meeting_doubt(const char *choice, char *text, size_t bytes)
{
    const char *rank = variable("RANK"), *size = variable("WORLD_SIZE");
    struct pp_launched launch;
    struct pp_error ignored;
    int64_t index, count;

    text[0] = '\0';
    if (pp_launcher_detect_ranks(&launch, &ignored) == PP_OK && launch.count > 1 && choice)
        snprintf(text, bytes,
                 "process %d of %d (%s) runs all ranks itself, as each of the others does: %s "
                 "takes no part in theirs",
                 launch.index, launch.count, launch.source, choice);
    else if (rank && size && launch.count <= 1 &&
             pp_units_parse_int(size, 2, INT32_MAX, &count, &ignored) == PP_OK &&
             pp_units_parse_int(rank, 0, count - 1, &index, &ignored) == PP_OK)
        snprintf(text, bytes,
                 "RANK=%s and WORLD_SIZE=%s do not say where process 0 is: this process runs all "
                 "ranks itself; set MASTER_ADDR, or give --rendezvous, to run them together",
                 rank, size);
}

void pp_meeting_danger(const struct pp_meeting *meeting, char *text, size_t bytes)
{
    struct sockaddr_storage at;
    struct pp_error ignored;

    text[0] = '\0';
    if (meeting->index == 0 && meeting->token == 0 && !meeting->path[0] &&
        pp_socket_find(meeting->host, meeting->port, &at, &ignored) == PP_OK &&
        !(pp_socket_is_exact(meeting->host) && pp_socket_is_loopback(&at)))
        snprintf(text, bytes,
                 "this run has no id, so any process that calls at port %d of %.80s may end it: "
                 "give all its processes the same PIPEEXEC_RUN_ID",
                 meeting->port, meeting->host);
}

struct pp_meeting pp_meeting_here(int count, int listener)
{
    struct pp_meeting meeting = {.count = count,
                                 .port = pp_socket_port(listener),
                                 .is_listening = true,
                                 .listener = listener,
                                 .token = mix(0, RUN_ID),
                                 .source = "started by pipeexec"};

    copy(meeting.host, "127.0.0.1", strlen("127.0.0.1"));
    return meeting;
}
