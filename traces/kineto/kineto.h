/* traces/kineto/kineto.h — a run of PyTorch's pipeline runtime, as recorded by its profiler
 * (Kineto). Each process has one Chrome trace, perhaps of gigabytes. Only ranges named "PP:<cell>",
 * "ProfilerStep#N" and "Optimizer.step#..." count.
 *
 * A range is on the host, where its kernels are launched. Its time on the device is that from the
 * first to the last kernel whose launch, by any thread, began within the range. It is read from the
 * stream with most of the work; for a message or a sum, from the stream on which it took longest.
 * The profiler's own "gpu_user_annotation" covers only launches by the thread of the range, without
 * autograd's part of a backward (pytorch/kineto#1022, #1132). It counts if a trace has no launches.
 * Without a device only compute ranges of the host count: a message is merely posted there.
 *
 * Processes with the same stages are replicas of one pipeline rank, in the order of their ranks; so
 * are peers of tensor and context parallelism. Pipeline ranks are ordered by their first stage. A
 * message starts when both sides have posted it. Data are in the arena. */
#pragma once

#include "core/text/file.h"
#include "traces/trace.h"

struct pp_kineto {
    struct pp_trace *trace; /* engine "kineto", `is_partial`, with notes */
    const char *device;     /* "NVIDIA H100 80GB HBM3"; NULL: not known */
    bool is_of_host;        /* times are those of host ranges */
    const char **notes;     /* [note_count] also those of the trace */
    int note_count, note_capacity;
};

/* Is true if the file looks like a Kineto trace; false if it cannot be opened, or read twice. */
bool pp_kineto_is_one(const char *path);
/* Reads all files of one run. `bytes` is the content of each; NULL: names are paths, which are read
 * several times. PP_EINVAL with file and element for other traces, and for stages that are in no
 * file. Also if no step is complete in all files. PP_EFAIL for files that cannot be read. */
enum pp_status pp_kineto_read(struct pp_arena *arena, const char *const *names,
                              const struct pp_bytes *bytes, int count, struct pp_kineto *run,
                              struct pp_error *err);
