/* core/process/launcher.h — the rank of this process among those that a launcher started. It is
 * read from the environment alone. Launchers are mpirun (Open MPI, MPICH, PMI), srun, torchrun,
 * others that set PyTorch's "env://", and the job arrays of Slurm, PBS, SGE and LSF. */
#pragma once

#include "core/error.h"

#include <stdbool.h>

struct pp_launched {
    int index, count; /* 0-based; an array of srun steps counts through both */
    char source[128]; /* "SLURM_PROCID, SLURM_ARRAY_TASK_ID"; "" when there is no launcher */
};
/* {0, 1, ""} without a launcher. PP_EINVAL when variables contradict each other or do not say how
 * many there are; the message names them. */
enum pp_status pp_launcher_detect(struct pp_launched *launch, struct pp_error *err);
/* The same without the job arrays: processes of one run. */
enum pp_status pp_launcher_detect_ranks(struct pp_launched *launch, struct pp_error *err);
