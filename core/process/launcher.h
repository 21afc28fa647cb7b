/* core/process/launcher.h — the rank of this process among those that a launcher started. It is
 * read from the environment alone. Launchers are mpirun (Open MPI, MPICH, PMI), srun, torchrun,
 * others that set PyTorch's "env://", and the job arrays of Slurm, PBS, SGE and LSF. */
#pragma once

#include "core/error.h"

#include <stdbool.h>

struct pp_launched {
    int index, count;       /* 0-based; an array of srun steps counts through both */
    char source[128];       /* "SLURM_PROCID, SLURM_ARRAY_TASK_ID"; "" without a launcher */
    const char *const *run; /* [2] variables that name the run, or NULL; NULL without a launcher */
};
/* Detects the launcher; {0, 1, ""} without one. PP_EINVAL if variables contradict each other or
 * lack the number of processes; the message names them. */
enum pp_status pp_launcher_detect(struct pp_launched *launch, struct pp_error *err);
/* Detects the rank among the processes of one run, without job arrays. */
enum pp_status pp_launcher_detect_ranks(struct pp_launched *launch, struct pp_error *err);
