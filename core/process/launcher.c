/* Launchers of many processes, recognised by their environment variables. */
#include "core/process/launcher.h"

#include "core/arena.h"
#include "core/units.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ranks {
    const char *rank;
    const char *count;     /* NULL: gives only the rank; another row has the number */
    const char *needed[2]; /* all must be set, too, else the row is of another launcher */
    const char *run[2];    /* variables that name the run */
    bool is_of_step;       /* meaningless in a batch script or in the shell of salloc */
};
/* Innermost first: torchrun and mpirun are started by srun, not the other way round. Within a row
 * all variables come from one launcher, so those of an outer one cannot get mixed in. SLURM_PROCID
 * is 0 in every batch script; only a step has SLURM_STEP_NUM_TASKS. RANK is a common name. With
 * LOCAL_RANK it is torchrun's. With MASTER_ADDR it is that of PyTorch's "env://", on a cluster or
 * by hand, and counts only without a launcher. */
static const struct ranks ranks_table[] = {
    {.rank = "RANK",
     .count = "WORLD_SIZE",
     .needed = {"WORLD_SIZE", "LOCAL_RANK"},
     .run = {"TORCHELASTIC_RUN_ID"}},
    {.rank = "OMPI_COMM_WORLD_RANK",
     .count = "OMPI_COMM_WORLD_SIZE",
     .run = {"OMPI_MCA_ess_base_jobid", "PMIX_NAMESPACE"}},
    {.rank = "MV2_COMM_WORLD_RANK", .count = "MV2_COMM_WORLD_SIZE", .run = {"PMI_JOBID"}},
    {.rank = "PMI_RANK", .count = "PMI_SIZE", .run = {"PMI_JOBID"}},
    {.rank = "SLURM_PROCID",
     .count = "SLURM_STEP_NUM_TASKS",
     .needed = {"SLURM_STEP_NUM_TASKS"},
     .run = {"SLURM_JOB_ID", "SLURM_STEP_ID"},
     .is_of_step = true},
    {.rank = "PMIX_RANK", .run = {"PMIX_NAMESPACE"}, .is_of_step = true},
    {.rank = "RANK",
     .count = "WORLD_SIZE",
     .needed = {"WORLD_SIZE", "MASTER_ADDR"},
     .run = {"TORCHELASTIC_RUN_ID"}},
};

/* Tasks of a job array. Without a `last` the number of tasks is unknown. */
struct array {
    const char *id, *first, *last, *step, *count; /* NULL: unknown; first is 1, step is 1 */
    const char *none;                             /* value of `id` outside of an array */
};
static const struct array arrays_table[] = {
    {.id = "SLURM_ARRAY_TASK_ID",
     .first = "SLURM_ARRAY_TASK_MIN",
     .last = "SLURM_ARRAY_TASK_MAX",
     .step = "SLURM_ARRAY_TASK_STEP",
     .count = "SLURM_ARRAY_TASK_COUNT"},
    {.id = "SGE_TASK_ID",
     .first = "SGE_TASK_FIRST",
     .last = "SGE_TASK_LAST",
     .step = "SGE_TASK_STEPSIZE",
     .none = "undefined"},
    {.id = "LSB_JOBINDEX", .last = "LSB_JOBINDEX_END", .step = "LSB_JOBINDEX_STEP", .none = "0"},
    {.id = "PBS_ARRAY_INDEX"},
    {.id = "PBS_ARRAYID"},
};

struct place {
    const char *source; /* NULL = none */
    int index, count;
    const char *const *run;
};

/* Returns the value of a variable that is set and not empty, else NULL. */
static const char *variable(const char *name)
{
    const char *value = name ? getenv(name) : NULL;

    return value && *value ? value : NULL;
}

static enum pp_status read_int(const char *name, int low, int *value, struct pp_error *err)
{
    int64_t wide;

    if (pp_units_parse_int(variable(name), low, INT_MAX, &wide, NULL) != PP_OK)
        return pp_error_set(err, PP_EINVAL, "%s=%.100s: expected an integer of at least %d", name,
                            variable(name), low);
    *value = (int)wide;
    return PP_OK;
}

/* Is true in the shell of salloc: it has srun's variables for tasks, but is one process. Slurm
 * gives such steps the last numbers of 32 bits. */
static bool is_outside_of_tasks(void)
{
    const char *step = variable("SLURM_STEP_ID");

    return step != NULL && strtoull(step, NULL, 10) > UINT32_MAX - 16;
}

static bool is_set(const struct ranks *row)
{
    const size_t needed = PP_COUNT(row->needed);

    for (size_t i = 0; i < needed; i++)
        if (row->needed[i] && !variable(row->needed[i]))
            return false;
    return variable(row->rank) && !(row->is_of_step && is_outside_of_tasks());
}

/* Reports an unknown number; `count` is the variable for it, or NULL. */
static enum pp_status lacks_count(const char *name, int index, const char *what, const char *count,
                                  struct pp_error *err)
{
    pp_error_set(err, PP_EINVAL, "%s=%d does not say of how many %s", name, index, what);
    return count ? pp_error_append(err, " (%s is not set)", count) : PP_EINVAL;
}

static enum pp_status read_ranks(const struct ranks *row, struct place *place, struct pp_error *err)
{
    place->source = row->rank;
    place->run = row->run;
    PP_TRY(read_int(row->rank, 0, &place->index, err));
    if (!variable(row->count))
        return lacks_count(row->rank, place->index, "processes", row->count, err);
    PP_TRY(read_int(row->count, 1, &place->count, err));
    if (place->index >= place->count)
        return pp_error_set(err, PP_EINVAL,
                            "%s=%d and %s=%d contradict each other: ranks are 0 to %d", row->rank,
                            place->index, row->count, place->count, place->count - 1);
    return PP_OK;
}

static enum pp_status find_ranks(struct place *place, struct pp_error *err)
{
    for (size_t i = 0; i < PP_COUNT(ranks_table); i++)
        if (is_set(&ranks_table[i]))
            return read_ranks(&ranks_table[i], place, err);
    return PP_OK;
}

/* Reads a bound; 1 if the manager does not set it. */
static enum pp_status read_bound(const char *name, int low, int *value, struct pp_error *err)
{
    *value = 1;
    return variable(name) ? read_int(name, low, value, err) : PP_OK;
}

static enum pp_status read_array(const struct array *row, struct place *place, struct pp_error *err)
{
    int id, first, last, step;

    PP_TRY(read_int(row->id, 0, &id, err));
    if (!variable(row->last))
        return lacks_count(row->id, id, "tasks", row->last, err);
    PP_TRY(read_bound(row->first, 0, &first, err));
    PP_TRY(read_int(row->last, 0, &last, err));
    PP_TRY(read_bound(row->step, 1, &step, err));
    if (id < first || id > last)
        return pp_error_set(err, PP_EINVAL, "%s=%d is not within %d to %s=%d", row->id, id, first,
                            row->last, last);
    const int64_t count = ((int64_t)last - first) / step + 1;
    int told = (int)(count < INT_MAX ? count : INT_MAX);
    if (variable(row->count))
        PP_TRY(read_int(row->count, 1, &told, err));
    if ((id - first) % step != 0 || told != count)
        return pp_error_set(err, PP_EINVAL,
                            "%s=%d: the array is not a range with one step (%d to %d, step %d, %d "
                            "tasks)",
                            row->id, id, first, last, step, told);
    *place = (struct place){.source = row->id, .index = (id - first) / step, .count = told};
    return PP_OK;
}

static enum pp_status find_array(struct place *place, struct pp_error *err)
{
    for (size_t i = 0; i < PP_COUNT(arrays_table); i++) {
        const struct array *row = &arrays_table[i];
        const char *id = variable(row->id);

        if (id && !(row->none && strcmp(id, row->none) == 0))
            return read_array(row, place, err);
    }
    return PP_OK;
}

static enum pp_status detect(struct pp_launched *launch, bool has_arrays, struct pp_error *err)
{
    struct place rank = {.count = 1}, task = {.count = 1};

    *launch = (struct pp_launched){.count = 1};
    PP_TRY(find_ranks(&rank, err));
    if (has_arrays)
        PP_TRY(find_array(&task, err));
    if ((int64_t)rank.count * task.count > INT_MAX)
        return pp_error_set(err, PP_EINVAL, "%d processes in each of %d array tasks are too many",
                            rank.count, task.count);
    launch->index = task.index * rank.count + rank.index;
    launch->count = task.count * rank.count;
    launch->run = rank.run;
    snprintf(launch->source, sizeof launch->source, "%s%s%s", rank.source ? rank.source : "",
             rank.source && task.source ? ", " : "", task.source ? task.source : "");
    return PP_OK;
}

enum pp_status pp_launcher_detect(struct pp_launched *launch, struct pp_error *err)
{
    return detect(launch, true, err);
}

enum pp_status pp_launcher_detect_ranks(struct pp_launched *launch, struct pp_error *err)
{
    return detect(launch, false, err);
}
