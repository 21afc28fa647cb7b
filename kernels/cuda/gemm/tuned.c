/* The file of tuned multiplications: one for the process, shared by all of its streams. */
#include "kernels/cuda/gemm/tuned.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 512, FIELDS = 13 };
static const char HEADER[] = "device,cublaslt,multiprocessors,m,n,k,lda,ldb,ldc,a_transposed,"
                             "b_transposed,bf16,gradient,alignment_bytes,epilogue,proposal,"
                             "first_us,chosen_us\n";

struct choice {
    struct pp_cuda_form form;
    int sm_count, proposal;
};

static struct {
    pthread_mutex_t lock;
    struct pp_arena *arena; /* of this struct, for ever */
    FILE *file;             /* NULL: none was given */
    bool may_time;
    char device[256]; /* without commas */
    size_t version;
    struct choice *choices;
    int count, capacity;
} tuned = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads a line; false: it is none. A choice of another device or library is kept for it. */
static bool take(const char *line)
{
    char device[256];
    size_t version;
    struct choice c = {.proposal = -1};
    struct pp_cuda_form *f = &c.form;
    int read = 0;

    if (sscanf(line, "%255[^,],%zu,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%n", device, &version,
               &c.sm_count, &f->m, &f->n, &f->k, &f->lda, &f->ldb, &f->ldc, &f->a_transposed,
               &f->b_transposed, &f->is_bf16, &f->is_gradient, &f->alignment_bytes, &f->epilogue,
               &c.proposal, &read) < FIELDS + 3 ||
        read == 0 || c.proposal < 0)
        return false;
    if (version == tuned.version && strcmp(device, tuned.device) == 0)
        *PP_PUSH(tuned.arena, tuned.choices, tuned.count, tuned.capacity) = c;
    return true;
}

static enum pp_status read_all(const char *path, struct pp_error *err)
{
    char line[LINE_BYTES];

    for (int number = 1; fgets(line, sizeof line, tuned.file); number++)
        if (number == 1 ? strcmp(line, HEADER) != 0 : !take(line))
            return pp_error_set(err, PP_EINVAL,
                                "%s:%d: no line of a file that --tune has written%s", path, number,
                                number == 1 ? "; name a new file" : "");
    return ferror(tuned.file)
               ? pp_error_set(err, PP_EFAIL, "cannot read %s: %s", path, strerror(errno))
               : PP_OK;
}

static void name_device(void)
{
    struct cudaDeviceProp properties;

    if (cudaGetDeviceProperties(&properties, 0) == cudaSuccess)
        snprintf(tuned.device, sizeof tuned.device, "%s", properties.name);
    for (char *c = tuned.device; *c; c++)
        *c = *c == ',' ? ' ' : *c;
    tuned.version = cublasLtGetVersion();
}

enum pp_status pp_cuda_tuned_open(const char *path, bool may_time, struct pp_error *err)
{
    tuned.arena = pp_arena_create();
    tuned.may_time = may_time;
    tuned.file = fopen(path, may_time ? "a+" : "r");
    if (!tuned.file)
        return pp_error_set(err, PP_EFAIL, "cannot open %s: %s%s", path, strerror(errno),
                            may_time ? "" : "; a run of one process makes it");
    name_device();
    rewind(tuned.file);
    const enum pp_status status = read_all(path, err);
    if (status == PP_OK && may_time && fseek(tuned.file, 0, SEEK_END) == 0 &&
        ftell(tuned.file) == 0)
        fputs(HEADER, tuned.file);
    return status;
}

/* ---- timing ---------------------------------------------------------------------------------- */

/* Seconds of a call: the better of a few means. INFINITY: it is refused. */
static double time_s(const struct pp_cuda_trial *t, int proposal, void *elsewhere,
                     cudaEvent_t start, cudaEvent_t end)
{
    enum { MEANS = 3, CALLS = 4 };
    double best_s = (double)INFINITY;

    if (!t->run(t->context, proposal, elsewhere))
        return best_s;
    for (int mean = 0; mean < MEANS; mean++) {
        float ms;
        cudaEventRecord(start, t->stream->stream);
        for (int call = 0; call < CALLS; call++)
            t->run(t->context, proposal, elsewhere);
        cudaEventRecord(end, t->stream->stream);
        if (cudaEventSynchronize(end) != cudaSuccess ||
            cudaEventElapsedTime(&ms, start, end) != cudaSuccess)
            return (double)INFINITY;
        best_s = fmin(best_s, 1e-3 * (double)ms / CALLS);
    }
    return best_s;
}

/* The first proposal stays unless another one is faster by more than what times differ. */
static const double LEAST_GAIN = 0.01;

static bool is_capturing(const struct pp_cuda_stream *stream)
{
    enum cudaStreamCaptureStatus status;

    return cudaStreamIsCapturing(stream->stream, &status) != cudaSuccess ||
           status != cudaStreamCaptureStatusNone;
}

/* Times all proposals; false: not now. */
static bool choose(const struct pp_cuda_trial *t, struct choice *c, double *first_s,
                   double *chosen_s)
{
    cudaEvent_t start = NULL, end = NULL;
    void *elsewhere = NULL;
    const bool is_ready =
        !is_capturing(t->stream) && cudaEventCreate(&start) == cudaSuccess &&
        cudaEventCreate(&end) == cudaSuccess &&
        (t->elsewhere_bytes == 0 || cudaMalloc(&elsewhere, t->elsewhere_bytes) == cudaSuccess);

    for (int k = 0; is_ready && k < t->proposals; k++) {
        const double s = time_s(t, k, elsewhere, start, end);
        *first_s = k == 0 ? s : *first_s;
        if (k == 0 || s < fmin(*chosen_s, *first_s * (1 - LEAST_GAIN)))
            c->proposal = k, *chosen_s = s;
    }
    if (start)
        cudaEventDestroy(start);
    if (end)
        cudaEventDestroy(end);
    cudaFree(elsewhere);
    cudaGetLastError(); /* what was not ready is no failure of the device */
    return is_ready;
}

/* ---- choices --------------------------------------------------------------------------------- */

static const struct choice *find(const struct pp_cuda_form *form, int sm_count)
{
    for (int i = 0; i < tuned.count; i++)
        if (tuned.choices[i].sm_count == sm_count &&
            memcmp(&tuned.choices[i].form, form, sizeof *form) == 0)
            return &tuned.choices[i];
    return NULL;
}

static void write_choice(const struct choice *c, double first_s, double chosen_s)
{
    const struct pp_cuda_form *f = &c->form;

    fprintf(tuned.file, "%s,%zu,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%.2f,%.2f\n",
            tuned.device, tuned.version, c->sm_count, f->m, f->n, f->k, f->lda, f->ldb, f->ldc,
            f->a_transposed, f->b_transposed, f->is_bf16, f->is_gradient, f->alignment_bytes,
            f->epilogue, c->proposal, 1e6 * first_s, 1e6 * chosen_s);
    fflush(tuned.file);
}

/* The lock is held while a form is timed, so that all streams get one answer. */
int pp_cuda_tuned_choose(const struct pp_cuda_form *form, const struct pp_cuda_trial *trial)
{
    struct choice made = {*form, trial->stream->sm_count, 0};
    double first_s = 0, chosen_s = 0;
    int proposal = 0;

    if (!tuned.file)
        return 0;
    pthread_mutex_lock(&tuned.lock);
    const struct choice *known = find(form, trial->stream->sm_count);
    if (known) {
        proposal = known->proposal < trial->proposals ? known->proposal : 0;
    } else if (tuned.may_time && choose(trial, &made, &first_s, &chosen_s)) {
        *PP_PUSH(tuned.arena, tuned.choices, tuned.count, tuned.capacity) = made;
        write_choice(&made, first_s, chosen_s);
        proposal = made.proposal;
    }
    pthread_mutex_unlock(&tuned.lock);
    return proposal;
}
