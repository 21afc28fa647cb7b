/* Which process of how many: what launchers and job arrays really set, and what looks like it. */
#include "core/process/launcher.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whatever launcher runs the tests. */
static void forget(void)
{
    static const char *const NAMES[] = {"RANK",
                                        "WORLD_SIZE",
                                        "LOCAL_RANK",
                                        "MASTER_ADDR",
                                        "OMPI_COMM_WORLD_RANK",
                                        "OMPI_COMM_WORLD_SIZE",
                                        "MV2_COMM_WORLD_RANK",
                                        "MV2_COMM_WORLD_SIZE",
                                        "PMI_RANK",
                                        "PMI_SIZE",
                                        "PMIX_RANK",
                                        "SLURM_PROCID",
                                        "SLURM_STEP_NUM_TASKS",
                                        "SLURM_STEP_ID",
                                        "SLURM_NTASKS",
                                        "SLURM_ARRAY_TASK_ID",
                                        "SLURM_ARRAY_TASK_MIN",
                                        "SLURM_ARRAY_TASK_MAX",
                                        "SLURM_ARRAY_TASK_STEP",
                                        "SLURM_ARRAY_TASK_COUNT",
                                        "SGE_TASK_ID",
                                        "SGE_TASK_FIRST",
                                        "SGE_TASK_LAST",
                                        "SGE_TASK_STEPSIZE",
                                        "LSB_JOBINDEX",
                                        "LSB_JOBINDEX_END",
                                        "LSB_JOBINDEX_STEP",
                                        "PBS_ARRAY_INDEX",
                                        "PBS_ARRAYID"};

    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        unsetenv(NAMES[i]);
}

/* "A=1 B=2" */
static void set(const char *text)
{
    char copy[512], *rest = NULL;

    forget();
    strcpy(copy, text);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        setenv(word, equals + 1, 1);
    }
}

#define BATCH "SLURM_PROCID=0 SLURM_NTASKS=4 " /* what every batch script of four tasks sees */
#define SLURM_ARRAY(id, min, max, step, count)                                                     \
    "SLURM_ARRAY_TASK_ID=" #id " SLURM_ARRAY_TASK_MIN=" #min " SLURM_ARRAY_TASK_MAX=" #max         \
    " SLURM_ARRAY_TASK_STEP=" #step " SLURM_ARRAY_TASK_COUNT=" #count " "
#define SGE_ARRAY(id, first, last, step)                                                           \
    "SGE_TASK_ID=" #id " SGE_TASK_FIRST=" #first " SGE_TASK_LAST=" #last                           \
    " SGE_TASK_STEPSIZE=" #step " "

struct good {
    const char *environment;
    int index, count;
    const char *source;
};
static const struct good GOOD[] = {
    {"", 0, 1, ""},
    {"OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4", 2, 4, "OMPI_COMM_WORLD_RANK"},
    {"PMI_RANK=0 PMI_SIZE=3", 0, 3, "PMI_RANK"},
    {"MV2_COMM_WORLD_RANK=7 MV2_COMM_WORLD_SIZE=8", 7, 8, "MV2_COMM_WORLD_RANK"},
    {"OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1", 0, 1, "OMPI_COMM_WORLD_RANK"},
    /* srun, and what is not srun */
    {BATCH, 0, 1, ""},
    {BATCH "SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_ID=0", 3, 4, "SLURM_PROCID"},
    {BATCH "SLURM_STEP_NUM_TASKS=4 SLURM_STEP_ID=4294967290", 0, 1, ""},
    {BATCH "SLURM_STEP_NUM_TASKS=4 SLURM_STEP_ID=4294967290 PMIX_RANK=0", 0, 1, ""},
    {BATCH "SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=4 PMIX_RANK=3", 3, 4, "SLURM_PROCID"},
    /* the innermost counts: mpirun and torchrun on nodes that srun has started */
    {"SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=8 "
     "PMIX_RANK=5",
     5, 8, "OMPI_COMM_WORLD_RANK"},
    {"SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 RANK=9 WORLD_SIZE=16 LOCAL_RANK=1", 9, 16, "RANK"},
    /* torchrun, and a RANK from elsewhere */
    {"RANK=3 WORLD_SIZE=4 LOCAL_RANK=3", 3, 4, "RANK"},
    {"RANK=3 WORLD_SIZE=4 MASTER_ADDR=node0", 3, 4, "RANK"},
    {"RANK=0 WORLD_SIZE=8 MASTER_ADDR=node0 SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=4", 3, 4,
     "SLURM_PROCID"},
    {"RANK=3 MASTER_ADDR=node0", 0, 1, ""},
    {"RANK=3", 0, 1, ""},
    {"RANK=general WORLD_SIZE=huge", 0, 1, ""},
    {"PMI_RANK=1 PMI_SIZE=2 RANK=0 WORLD_SIZE=9", 1, 2, "PMI_RANK"},
    {"OMPI_COMM_WORLD_SIZE=4 SLURM_STEP_NUM_TASKS=4", 0, 1, ""},
    /* arrays */
    {BATCH SLURM_ARRAY(1, 1, 4, 1, 4), 0, 4, "SLURM_ARRAY_TASK_ID"},
    {SLURM_ARRAY(0, 0, 3, 1, 4), 0, 4, "SLURM_ARRAY_TASK_ID"},
    {SLURM_ARRAY(5, 1, 7, 2, 4), 2, 4, "SLURM_ARRAY_TASK_ID"},
    {SLURM_ARRAY(3, 3, 3, 1, 1), 0, 1, "SLURM_ARRAY_TASK_ID"},
    {"SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MAX=4", 1, 4, "SLURM_ARRAY_TASK_ID"},
    {SGE_ARRAY(undefined, undefined, undefined, undefined), 0, 1, ""},
    {SGE_ARRAY(4, 1, 4, 1), 3, 4, "SGE_TASK_ID"},
    {SGE_ARRAY(9, 1, 10, 4), 2, 3, "SGE_TASK_ID"},
    {"LSB_JOBINDEX=0 LSB_JOBINDEX_END=0 LSB_JOBINDEX_STEP=0", 0, 1, ""},
    {"LSB_JOBINDEX=3 LSB_JOBINDEX_END=5 LSB_JOBINDEX_STEP=1", 2, 5, "LSB_JOBINDEX"},
    {"LSB_JOBINDEX=7 LSB_JOBINDEX_END=10 LSB_JOBINDEX_STEP=3", 2, 4, "LSB_JOBINDEX"},
    {"PBS_ARRAY_INDEX= PBS_ARRAYID=", 0, 1, ""},
    /* srun within the tasks of an array */
    {SLURM_ARRAY(2, 1, 3, 1, 3) "SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=4", 5, 12,
     "SLURM_PROCID, SLURM_ARRAY_TASK_ID"},
    {SGE_ARRAY(2, 1, 2, 1) "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", 3, 4,
     "OMPI_COMM_WORLD_RANK, SGE_TASK_ID"},
};

Test(launcher, places)
{
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        struct pp_launched launch = {.index = -1};
        struct pp_error err = {0};

        set(GOOD[i].environment);
        cr_assert_eq(pp_launcher_detect(&launch, &err), PP_OK, "%s: %s", GOOD[i].environment,
                     err.message);
        cr_expect_eq(launch.index, GOOD[i].index, "%s: index %d", GOOD[i].environment,
                     launch.index);
        cr_expect_eq(launch.count, GOOD[i].count, "%s: count %d", GOOD[i].environment,
                     launch.count);
        cr_expect_str_eq(launch.source, GOOD[i].source, "%s: %s", GOOD[i].environment,
                         launch.source);
    }
}

struct bad {
    const char *environment, *message; /* that it contains */
};
static const struct bad BAD[] = {
    {"OMPI_COMM_WORLD_RANK=4 OMPI_COMM_WORLD_SIZE=4",
     "OMPI_COMM_WORLD_RANK=4 and OMPI_COMM_WORLD_SIZE=4 contradict each other: ranks are 0 to 3"},
    {"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_RANK=1 does not say of how many processes "
                               "(OMPI_COMM_WORLD_SIZE is not set)"},
    {"PMI_RANK=-1 PMI_SIZE=4", "PMI_RANK=-1: expected an integer of at least 0"},
    {"PMI_RANK=1 PMI_SIZE=0", "PMI_SIZE=0: expected an integer of at least 1"},
    {"PMI_RANK=1x PMI_SIZE=4", "PMI_RANK=1x"},
    {"PMI_RANK=1 PMI_SIZE=4.0", "PMI_SIZE=4.0"},
    {"PMI_RANK=1 PMI_SIZE=99999999999", "PMI_SIZE=99999999999"},
    {"PMIX_RANK=1", "PMIX_RANK=1 does not say of how many processes"},
    {"RANK=a WORLD_SIZE=4 LOCAL_RANK=0", "RANK=a"},
    {BATCH "SLURM_PROCID=9 SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=9 and SLURM_STEP_NUM_TASKS=4"},
    /* --array=1,2,9 and --array=1-4,9: not a range */
    {SLURM_ARRAY(2, 1, 9, 1, 3), "SLURM_ARRAY_TASK_ID=2: the array is not a range with one step"},
    {SLURM_ARRAY(9, 1, 9, 4, 4), "(1 to 9, step 4, 4 tasks)"},
    {SLURM_ARRAY(2, 1, 7, 2, 4), "SLURM_ARRAY_TASK_ID=2"},
    {SLURM_ARRAY(10, 1, 4, 1, 4), "SLURM_ARRAY_TASK_ID=10 is not within 1 to "},
    {SLURM_ARRAY(1, 1, 4, 0, 4), "SLURM_ARRAY_TASK_STEP=0"},
    {SLURM_ARRAY(x, 1, 4, 1, 4), "SLURM_ARRAY_TASK_ID=x"},
    {"SLURM_ARRAY_TASK_ID=2", "SLURM_ARRAY_TASK_ID=2 does not say of how many tasks "
                              "(SLURM_ARRAY_TASK_MAX is not set)"},
    {SGE_ARRAY(5, 1, undefined, 1), "SGE_TASK_LAST=undefined"},
    {"LSB_JOBINDEX=11 LSB_JOBINDEX_END=10", "LSB_JOBINDEX=11 is not within 1 to "},
    {"PBS_ARRAY_INDEX=3", "PBS_ARRAY_INDEX=3 does not say of how many tasks"},
    {"PBS_ARRAYID=3", "PBS_ARRAYID=3 does not say of how many tasks"},
    {SLURM_ARRAY(1, 1, 2147483647, 1, 2147483647) "PMI_RANK=0 PMI_SIZE=2", "too many"},
    {SLURM_ARRAY(0, 0, 2147483647, 1, 2147483647), "SLURM_ARRAY_TASK_ID=0"},
};

Test(launcher, refusals)
{
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct pp_launched launch;
        struct pp_error err = {0};

        set(BAD[i].environment);
        cr_assert_eq(pp_launcher_detect(&launch, &err), PP_EINVAL, "%s", BAD[i].environment);
        cr_expect_not_null(strstr(err.message, BAD[i].message), "%s: %s", BAD[i].environment,
                           err.message);
    }
}

/* Every process of srun in every task of an array, once. */
Test(launcher, all_places_once)
{
    enum { TASKS = 3, RANKS = 4 };
    int seen[TASKS * RANKS] = {0};

    for (int task = 0; task < TASKS; task++)
        for (int rank = 0; rank < RANKS; rank++) {
            struct pp_launched launch;
            struct pp_error err = {0};
            char text[256];

            snprintf(text, sizeof text,
                     "SLURM_ARRAY_TASK_ID=%d SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_MAX=20 "
                     "SLURM_ARRAY_TASK_STEP=5 SLURM_ARRAY_TASK_COUNT=%d SLURM_PROCID=%d "
                     "SLURM_STEP_NUM_TASKS=%d",
                     10 + 5 * task, TASKS, rank, RANKS);
            set(text);
            cr_assert_eq(pp_launcher_detect(&launch, &err), PP_OK, "%s", err.message);
            cr_assert(launch.count == TASKS * RANKS && launch.index >= 0 &&
                      launch.index < launch.count);
            seen[launch.index]++;
        }
    for (int i = 0; i < TASKS * RANKS; i++)
        cr_expect_eq(seen[i], 1, "place %d taken %d times", i, seen[i]);
}
