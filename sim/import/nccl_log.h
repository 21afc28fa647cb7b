/* sim/import/nccl_log.h — the table that nccl-tests print (github.com/NVIDIA/nccl-tests): times of
 * a collective, or of a message, by size.
 *
 *     #       size   count  type  redop  root   time  algbw  busbw #wrong   time  algbw  busbw ...
 *     #        (B)  (elements)                  (us) (GB/s) (GB/s)          (us) (GB/s) (GB/s)
 *          1048576  262144 float    sum    -1  45.21  23.19  40.59      0  44.90  23.35  40.87   0
 */
#pragma once

#include "sim/calibrate/calibrate.h"

struct pp_nccl_log {
    const char
        *operation;     /* "all_reduce", "all_gather", "reduce_scatter", "sendrecv", "alltoall" */
    int ranks, nodes;   /* that took part; 0: unknown */
    const char *device; /* "NVIDIA H100 80GB HBM3", NULL: unknown */
    struct pp_calibrate_message *sizes; /* out of place; `bytes` as the program counts them */
    int count;
};

/* Log to read. `operation` ("all_reduce") is for one without a name; NULL: as its file is named. */
struct pp_nccl_log_source {
    const char *name; /* of the file */
    const char *operation;
};

/* Reads tables of 2019 (no root) and of today. The operation is the name of the program in the log
 * ("all_reduce_perf"), or else that of the source. Labels of launchers ("[1,0]<stdout>:", "0: ")
 * and lines of NCCL_DEBUG are skipped everywhere; other lines only before and after the table.
 * PP_EINVAL with file:line for a row that contradicts itself (time, size and bandwidth), no rows,
 * and a second table. PP_EINVAL as well for an unknown operation and a run of one rank. PP_EFAIL
 * for an unreadable file. */
enum pp_status pp_nccl_log_read(struct pp_arena *arena, const struct pp_nccl_log_source *source,
                                struct pp_nccl_log *log, struct pp_error *err);
enum pp_status pp_nccl_log_parse(struct pp_arena *arena, const struct pp_nccl_log_source *source,
                                 const char *text, size_t length, struct pp_nccl_log *log,
                                 struct pp_error *err);
