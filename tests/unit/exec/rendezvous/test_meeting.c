/* What launchers leave in the environment, and where their processes meet. */
#define _GNU_SOURCE /* clearenv */
#include "exec/rendezvous/meeting.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct {
    const char *variables[6]; /* name, value */
    int index, count;         /* count 0: refused */
    const char *host;         /* or the message */
    int port;
} CASES[] = {
    {{NULL}, 0, 1, "", 0},
    {{"RANK=3", "WORLD_SIZE=8", "LOCAL_RANK=1", "MASTER_ADDR=n7", "MASTER_PORT=1234"}, 3, 8, "n7", 1234},
    {{"RANK=3", "WORLD_SIZE=8", "LOCAL_RANK=1", "MASTER_ADDR=fe80::1"}, 3, 8, "fe80::1", 29500},
    {{"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=n7", "MASTER_PORT=1234"}, 1, 2, "n7", 1234}, /* by hand */
    /* torchrun listens at its port itself */
    {{"RANK=3", "WORLD_SIZE=8", "MASTER_ADDR=a", "MASTER_PORT=1234", "TORCHELASTIC_USE_AGENT_STORE=True"}, 3, 8, "a", 1235},
    {{"RANK=3", "WORLD_SIZE=8", "MASTER_ADDR=a", "MASTER_PORT=65535", "TORCHELASTIC_USE_AGENT_STORE=True"}, 3, 8, "a", 65534},
    {{"RANK=3", "WORLD_SIZE=8", "MASTER_ADDR=a", "MASTER_PORT=1234", "TORCHELASTIC_USE_AGENT_STORE=False"}, 3, 8, "a", 1234},
    {{"RANK=3"}, 0, 1, "", 0}, /* a name that any job can have */
    {{"SLURM_PROCID=2", "SLURM_STEP_NUM_TASKS=4", "SLURM_STEP_ID=0", "SLURM_STEP_NODELIST=n[07-09,12],m1", "SLURM_JOB_ID=1002"}, 2, 4, "n07", 29502},
    {{"SLURM_PROCID=2", "SLURM_STEP_NUM_TASKS=4", "SLURM_STEP_ID=0", "SLURM_NODELIST=alpha,beta"}, 2, 4, "alpha", 29500},
    {{"SLURM_PROCID=0"}, 0, 1, "", 0}, /* every batch script */
    {{"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_LOCAL_SIZE=2"}, 1, 2, "127.0.0.1", 29500},
    {{"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_SIZE=2"}, 0, 0, "OMPI_COMM_WORLD_RANK says that this is process 1 of 4, but nothing says where", 0},
    {{"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=4", "MASTER_ADDR=a"}, 1, 4, "a", 29500},
    {{"PMI_RANK=5", "PMI_SIZE=6", "MPI_LOCALNRANKS=6"}, 5, 6, "127.0.0.1", 29500},
    {{"PMI_RANK=5", "PMI_SIZE=6", "MASTER_ADDR=a", "MASTER_PORT=70000"}, 0, 0, "MASTER_PORT: ", 0},
    {{"PMI_RANK=6", "PMI_SIZE=6"}, 0, 0, "contradict", 0},
    {{"SLURM_ARRAY_TASK_ID=1", "SLURM_ARRAY_TASK_MIN=0", "SLURM_ARRAY_TASK_MAX=3"}, 0, 1, "", 0}, /* runs of their own */
};
/* clang-format on */

Test(meeting, follows_from_the_environment)
{
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        struct pp_meeting meeting;
        struct pp_error err = {0};

        clearenv();
        for (int k = 0; k < 6 && CASES[i].variables[k]; k++)
            putenv((char *)(uintptr_t)CASES[i].variables[k]);
        const enum pp_status status = pp_meeting_find(NULL, &meeting, &err);
        cr_assert_eq(status, CASES[i].count ? PP_OK : PP_EINVAL, "case %zu: %s", i, err.message);
        if (status != PP_OK) {
            cr_assert(strstr(err.message, CASES[i].host), "case %zu: %s", i, err.message);
            continue;
        }
        cr_assert_eq(meeting.index, CASES[i].index, "case %zu", i);
        cr_assert_eq(meeting.count, CASES[i].count, "case %zu", i);
        cr_assert_str_eq(meeting.host, CASES[i].host, "case %zu", i);
        cr_assert_eq(meeting.port, CASES[i].port, "case %zu: %d", i, meeting.port);
    }
}

/* What looks like a launcher's, where a process runs alone. */
Test(meeting, doubts)
{
    static const struct {
        const char *variables[3], *choice, *doubt; /* NULL: none */
    } DOUBTS[] = {
        {{NULL}, NULL, NULL},
        {{NULL}, "--transport shm", NULL},
        {{"RANK=1", "WORLD_SIZE=2"}, NULL, "RANK=1 and WORLD_SIZE=2 do not say where process 0 is"},
        {{"RANK=0", "WORLD_SIZE=1"}, NULL, NULL},
        {{"RANK=2", "WORLD_SIZE=2"}, NULL, NULL}, /* those of another launcher */
        {{"RANK=general", "WORLD_SIZE=huge"}, NULL, NULL},
        {{"RANK=1"}, NULL, NULL},
        {{"PMI_RANK=1", "PMI_SIZE=3"},
         "--transport local",
         "process 1 of 3 (PMI_RANK) runs all ranks itself"},
        {{"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=a"},
         "--transport shm",
         "--transport shm takes no part"},
        {{"PMI_RANK=0", "PMI_SIZE=1"}, "--transport local", NULL},
    };

    for (size_t i = 0; i < sizeof(DOUBTS) / sizeof(*DOUBTS); i++) {
        char text[256] = "?";

        clearenv();
        for (int k = 0; k < 3 && DOUBTS[i].variables[k]; k++)
            putenv((char *)(uintptr_t)DOUBTS[i].variables[k]);
        pp_meeting_doubt(DOUBTS[i].choice, text, sizeof(text));
        cr_assert(DOUBTS[i].doubt ? strstr(text, DOUBTS[i].doubt) != NULL : !*text, "case %zu: %s",
                  i, text);
    }
    clearenv();
}

/* As text: MASTER_ADDR, or an option, which counts before it. */
Test(meeting, follows_from_a_rendezvous)
{
    static const struct {
        const char *text, *variables[3];
        int index, count; /* count 0: refused */
        const char *host, *path;
        int port, patience_s;
    } TEXTS[] = {
        {"tcp://n7:12", {"RANK=1", "WORLD_SIZE=2"}, 1, 2, "n7", "", 12, 60},
        {"tcp://[fe80::1]:12", {"RANK=1", "WORLD_SIZE=2"}, 1, 2, "fe80::1", "", 12, 60},
        {"file:///a b", {"PMI_RANK=1", "PMI_SIZE=3"}, 1, 3, "", "/a b", 0, 60},
        {"file://a?rank=3&world_size=4&timeout=5", {"RANK=1", "WORLD_SIZE=2"}, 3, 4, "", "a", 0, 5},
        {NULL, {"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=file://a?timeout=7"}, 1, 2, "", "a", 0, 7},
        {"file://a", {"RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=b"}, 1, 2, "", "a", 0, 60},
        {"file://a", {NULL}, 0, 0, NULL, NULL, 0, 0},
        {"file://a?rank=0", {"RANK=1", "WORLD_SIZE=2"}, 0, 0, NULL, NULL, 0, 0},
        {"file://a?rank=2&world_size=2", {NULL}, 0, 0, NULL, NULL, 0, 0},
        {"file://a?rank=0&world_size=2&", {NULL}, 0, 2, "", "a", 0, 60},
        {"file://a?rank=00000000000000000000000000000000000000&world_size=2",
         {NULL},
         0,
         0,
         NULL,
         NULL,
         0,
         0},
        {"tcp://:12?rank=0&world_size=2", {NULL}, 0, 0, NULL, NULL, 0, 0},
        {"tcp://n7:00000000000000000000012?rank=0&world_size=2", {NULL}, 0, 0, NULL, NULL, 0, 0},
    };

    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(*TEXTS); i++) {
        struct pp_meeting m;
        struct pp_error err = {0};

        clearenv();
        for (int k = 0; k < 3 && TEXTS[i].variables[k]; k++)
            putenv((char *)(uintptr_t)TEXTS[i].variables[k]);
        const enum pp_status status = pp_meeting_find(TEXTS[i].text, &m, &err);
        cr_assert_eq(status, TEXTS[i].count ? PP_OK : PP_EINVAL, "case %zu: %s", i, err.message);
        if (status != PP_OK)
            continue;
        cr_assert(m.index == TEXTS[i].index && m.count == TEXTS[i].count &&
                      m.port == TEXTS[i].port && m.patience_s == TEXTS[i].patience_s,
                  "case %zu", i);
        cr_assert_str_eq(m.host, TEXTS[i].host, "case %zu", i);
        cr_assert_str_eq(m.path, TEXTS[i].path, "case %zu", i);
    }
    clearenv();
}

/* Which GPU is taken: none has a number below 0. */
Test(meeting, has_a_place_on_its_host)
{
    static const struct {
        const char *variable;
        int place;
    } PLACES[] = {{"LOCAL_RANK=1", 1}, {"SLURM_LOCALID=2", 2}, {"LOCAL_RANK=-1", 3}, {"NONE=1", 3}};

    for (size_t i = 0; i < sizeof(PLACES) / sizeof(*PLACES); i++) {
        struct pp_meeting m;
        struct pp_error err = {0};

        clearenv();
        putenv((char *)(uintptr_t) "RANK=3");
        putenv((char *)(uintptr_t) "WORLD_SIZE=4");
        putenv((char *)(uintptr_t)PLACES[i].variable);
        cr_assert_eq(pp_meeting_find("tcp://n7:12", &m, &err), PP_OK, "%s", err.message);
        cr_assert_eq(m.local_index, PLACES[i].place, "%s: %d", PLACES[i].variable, m.local_index);
    }
    clearenv();
}

static uint64_t token_of(const char *const *variables, int count)
{
    struct pp_meeting meeting;
    struct pp_error err = {0};

    clearenv();
    for (int k = 0; k < count; k++)
        putenv((char *)(uintptr_t)variables[k]);
    cr_assert_eq(pp_meeting_find(NULL, &meeting, &err), PP_OK, "%s", err.message);
    return meeting.token;
}

/* All of one run have the same, whichever they are; others another one. */
Test(meeting, runs_are_told_apart)
{
    static const struct {
        const char *run[5], *other; /* other: the last of another run */
        int count;
    } RUNS[] = {
        {{"RANK=0", "WORLD_SIZE=4", "LOCAL_RANK=0", "MASTER_ADDR=a", "TORCHELASTIC_RUN_ID=x7"},
         "TORCHELASTIC_RUN_ID=x8",
         5},
        {{"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=4", "MASTER_ADDR=a",
          "OMPI_MCA_ess_base_jobid=12"},
         "OMPI_MCA_ess_base_jobid=13",
         4},
        {{"SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=4", "SLURM_NODELIST=a", "SLURM_JOB_ID=9",
          "SLURM_STEP_ID=1"},
         "SLURM_STEP_ID=2",
         5},
        {{"PMI_RANK=0", "PMI_SIZE=4", "MASTER_ADDR=a", "PMI_JOBID=5"}, "PMI_JOBID=6", 4},
        {{"PMI_RANK=0", "PMI_SIZE=4", "MASTER_ADDR=a", "PIPEEXEC_RUN_ID=mine"},
         "PIPEEXEC_RUN_ID=yours",
         4},
    };

    for (size_t i = 0; i < sizeof(RUNS) / sizeof(*RUNS); i++) {
        const int count = RUNS[i].count;
        const char *variables[5], *zero;
        char first[64];

        memcpy(variables, RUNS[i].run, sizeof(variables));
        const uint64_t token = token_of(variables, count);
        cr_assert_neq(token, 0);
        snprintf(first, sizeof(first), "%s", variables[0]);
        zero = strchr(first, '0');
        first[zero - first] = '3';
        variables[0] = first;
        cr_assert_eq(token_of(variables, count), token, "run %zu: rank 3 has another one", i);
        variables[count - 1] = RUNS[i].other;
        cr_assert_neq(token_of(variables, count), token, "run %zu", i);
    }
    clearenv();
}
