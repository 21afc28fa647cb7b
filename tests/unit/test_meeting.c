/* What launchers leave in the environment, and where their processes meet. */
#define _GNU_SOURCE /* clearenv */
#include "exec/meeting.h"

#include <criterion/criterion.h>
#include <stdint.h>
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
    {{"RANK=3"}, 0, 1, "", 0}, /* anybody's name */
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
        const enum pp_status status = pp_meeting_find(&meeting, &err);
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
