/* Multiplications on a device, real or emulated, against loops in double over the same rounded
 * inputs; and that a form is planned once. */
#include "tests/cuda/gemm_problem.h"

#include <stdio.h>

/* Those that layers use, and those that kernels.h allows in addition. */
static const int COMBINATIONS[] = {0,
                                   BASE,
                                   IN_PLACE,
                                   BIAS,
                                   BIAS | BASE,
                                   BIAS | IN_PLACE,
                                   BIAS | ACTIVATED,
                                   SLOPE_OF,
                                   GRADIENT,
                                   GRADIENT | BASE,
                                   GRADIENT | IN_PLACE,
                                   ACTIVATED,
                                   BIAS | BASE | ACTIVATED};

static const struct shape SHAPES[] = {
    {1, 1, 1, 0, 0, 0},    {3, 5, 7, 0, 0, 0},    {16, 24, 8, 0, 0, 0},  {16, 24, 8, 8, 16, 24},
    {33, 17, 65, 0, 0, 0}, {33, 17, 65, 1, 2, 3}, {64, 48, 32, 0, 0, 0}, {64, 48, 32, 5, 3, 1},
    {2, 130, 40, 0, 0, 6}, {130, 2, 19, 0, 4, 0}, {40, 1, 33, 0, 0, 0},  {1, 64, 64, 0, 0, 0},
};

static void multiply(const struct problem *p)
{
    (p->is_bf16 ? pp_cuda_gemm_bf16 : pp_cuda_gemm_fp32)(device_stream(), &p->g);
}

static void multiply_own(const struct problem *p)
{
    pp_cuda_gemm_own(device_stream(), p->is_bf16, &p->g);
}

static void try(const struct shape *s, int transposes, int flags, bool is_bf16,
                void (*way)(const struct problem *p))
{
    struct problem p = problem_of(s, transposes & 1, transposes & 2, flags, is_bf16);
    char what[160];

    snprintf(what, sizeof what, "%s m %d n %d k %d ld %d %d %d transposes %d flags %d",
             is_bf16 ? "bf16" : "fp32", s->m, s->n, s->k, p.g.lda, p.g.ldb, p.g.ldc, transposes,
             flags);
    way(&p);
    device_finish();
    compare(&p, what);
    end(&p);
}

static void try_all(bool is_bf16, void (*way)(const struct problem *p))
{
    for (size_t s = 0; s < sizeof SHAPES / sizeof *SHAPES; s++)
        for (size_t f = 0; f < sizeof COMBINATIONS / sizeof *COMBINATIONS; f++)
            for (int transposes = 0; transposes < 4; transposes++)
                try(&SHAPES[s], transposes, COMBINATIONS[f], is_bf16, way);
}

Test(cuda_gemm, fp32)
{
    try_all(false, multiply);
}

Test(cuda_gemm, bf16)
{
    try_all(true, multiply);
}

Test(cuda_gemm, own_fp32)
{
    try_all(false, multiply_own);
}

Test(cuda_gemm, own_bf16)
{
    try_all(true, multiply_own);
}

/* Each activation function and its slope; cuBLASLt has but one of them. */
static void try_activations(void (*way)(const struct problem *p))
{
    static const struct shape shapes[] = {
        {16, 24, 8, 0, 0, 0}, {33, 17, 65, 1, 2, 3}, {64, 48, 32, 0, 0, 0}};
    static const int flags[] = {BIAS | ACTIVATED, ACTIVATED, SLOPE_OF};

    for (int f = 0; f < PP_ACTIVATIONS; f++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
                for (int is_bf16 = 0; is_bf16 < 2; is_bf16++)
                    try(&shapes[s], 2, flags[i] | f * ACTIVATION, is_bf16, way);
}

Test(cuda_gemm, activations)
{
    try_activations(multiply);
    try_activations(multiply_own);
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* The stream has plans of its own from `begin_plans` to `end_plans`, with a variable of the
 * emulation. */
static struct pp_cuda_plans *usual_plans;

static struct pp_cuda_plan_report *begin_plans(const char *variable, const char *value)
{
    usual_plans = device_stream()->plans;
    device_stream()->plans = pp_cuda_plans_create();
    setenv(variable, value, 1);
    return pp_cuda_plans_report(device_stream()->plans);
}

static void end_plans(const char *variable)
{
    pp_cuda_plans_destroy(device_stream()->plans);
    device_stream()->plans = usual_plans;
    unsetenv(variable);
}

Test(cuda_gemm, a_form_is_planned_once)
{
    static const struct shape s = {56, 40, 24, 0, 0, 0};
    const struct pp_cuda_plan_report *counts = pp_cuda_plans_report(device_stream()->plans);

    for (int is_bf16 = 0; is_bf16 < 2; is_bf16++) {
        const struct pp_cuda_plan_report before = *counts;
        try(&s, 2, BIAS, is_bf16, multiply);
        struct pp_cuda_plan_report first = *counts;
        cr_assert(first.made == before.made + 1, "%d plans", first.made - before.made);
        cr_assert(first.multiplied.own == before.multiplied.own &&
                  first.multiplied.finished == before.multiplied.finished);
        for (int i = 0; i < 3; i++)
            try(&s, 2, BIAS, is_bf16, multiply);
        first.multiplied.all += 3;
        cr_assert(memcmp(&first, counts, sizeof first) == 0, "planned again");
    }
}

/* c of an odd width has no GELU of cuBLASLt: a plain plan, and a kernel after it. */
Test(cuda_gemm, what_the_library_refuses_is_finished_here)
{
    static const struct shape even = {64, 48, 32, 0, 0, 0}, odd = {64, 48, 32, 0, 0, 1};
    const struct pp_cuda_plan_report *counts = pp_cuda_plans_report(device_stream()->plans);
    struct pp_cuda_plan_report before = *counts;

    try(&even, 2, BIAS | ACTIVATED, true, multiply);
    cr_assert(counts->multiplied.finished == before.multiplied.finished &&
              counts->multiplied.own == before.multiplied.own);
    before = *counts;
    try(&odd, 2, BIAS | ACTIVATED, true, multiply);
    cr_assert(counts->multiplied.finished + counts->multiplied.own ==
              before.multiplied.finished + before.multiplied.own + 1);
}

/* Any of the epilogues may be refused for a shape. Then the plan is a plain one with a kernel after
 * it, which writes the same fields. A device has them all or not; the emulated one has those of the
 * variable. */
Test(cuda_gemm, each_epilogue_may_be_refused)
{
    static const struct shape s = {64, 48, 32, 0, 0, 0};
    static const int flags[] = {BIAS, BIAS | BASE, BIAS | ACTIVATED, SLOPE_OF};
    static const struct {
        const char *epilogues;
        int finished; /* of these four */
    } cases[] = {{"0", 4}, {"4", 2}, {"164", 3}, {"192", 3}, {"4,192", 1}, {"4,164,192", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct pp_cuda_plan_report *counts =
            begin_plans("PP_EMULATED_EPILOGUES", cases[i].epilogues);
        for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
            for (int again = 0; again < 2; again++)
                try(&s, 0, flags[f], true, multiply);
        cr_assert(counts->multiplied.own == 0, "own kernels with epilogues %s", cases[i].epilogues);
#ifdef PP_CUDA_EMULATED
        cr_assert(counts->multiplied.finished == 2 * cases[i].finished, "%d with epilogues %s",
                  (int)counts->multiplied.finished, cases[i].epilogues);
#endif
        end_plans("PP_EMULATED_EPILOGUES");
    }
}

#ifdef PP_CUDA_EMULATED
/* A refusal is for good, computed by own kernels and said once. */
Test(cuda_gemm, a_refused_form_is_counted_and_named)
{
    static const struct shape s = {64, 48, 32, 0, 0, 0};
    const struct pp_cuda_plan_report *counts = begin_plans("PP_EMULATED_WIDTHS", "48");

    for (int again = 0; again < 3; again++)
        try(&s, 2, 0, true, multiply);
    cr_assert(counts->refused == 1 && counts->made == 0);
    cr_assert(counts->multiplied.own == 3 && counts->multiplied.all == 3);
    cr_assert_str_eq(counts->refusal,
                     "bf16, m 64, n 48, k 32, b transposed: CUBLAS_STATUS_NOT_SUPPORTED");
    cr_assert_null(counts->failure);
    end_plans("PP_EMULATED_WIDTHS");
}

/* A failure is no refusal: own kernels compute nothing, and the next call may succeed. */
Test(cuda_gemm, a_failure_is_kept_and_not_for_good)
{
    static const struct shape s = {64, 48, 32, 0, 0, 0};
    struct problem p = problem_of(&s, false, false, 0, true);
    struct pp_cuda_plan_report *counts = begin_plans("PP_EMULATED_BLAS_FAULT", "1:3");

    multiply(&p);
    cr_assert(counts->multiplied.all == 1 && counts->multiplied.own == 0 && counts->refused == 0);
    cr_assert_str_eq(counts->failure, "bf16, m 64, n 48, k 32: CUBLAS_STATUS_ALLOC_FAILED");
    cr_assert_null(counts->refusal);
    end(&p);
    counts->failure = NULL;
    try(&s, 0, 0, true, multiply);
    cr_assert_null(counts->failure);
    cr_assert(counts->multiplied.all == 2 && counts->multiplied.own == 0 && counts->refused == 0);
    end_plans("PP_EMULATED_BLAS_FAULT");
}
#endif

/* Pointers that are multiples of one element alone. */
Test(cuda_gemm, tensors_may_begin_anywhere)
{
    static const struct shape s = {24, 16, 40, 0, 0, 0, 1};

    for (int flags = 0; flags <= ACTIVATED; flags += BIAS)
        try(&s, 2, BIAS | flags, true, multiply);
}

/* The same bits whatever was multiplied before and wherever tensors lie, on a stream of its own. */
Test(cuda_gemm, bits_do_not_depend_on_the_stream)
{
    static const struct shape s = {96, 64, 512, 0, 0, 0};
    struct pp_cuda_stream other = *device_stream();
    struct problem p = problem_of(&s, true, false, GRADIENT, true);
    const size_t bytes = p.c.count * sizeof(float);
    char *first = malloc(bytes), *second = malloc(bytes);

    device_must(cudaStreamCreateWithFlags(&other.stream, cudaStreamNonBlocking));
    device_must(cudaMalloc(&other.workspace, other.workspace_bytes));
    other.plans = pp_cuda_plans_create();
    multiply(&p);
    device_finish();
    device_must(cudaMemcpy(first, p.c.device, bytes, cudaMemcpyDeviceToHost));
    device_must(cudaMemsetAsync(p.c.device, 0, bytes, other.stream));
    pp_cuda_gemm_bf16(&other, &p.g);
    device_must(cudaStreamSynchronize(other.stream));
    device_must(cudaMemcpy(second, p.c.device, bytes, cudaMemcpyDeviceToHost));
    cr_assert(memcmp(first, second, bytes) == 0, "other bits");
    pp_cuda_plans_destroy(other.plans);
    end(&p);
    free(first);
    free(second);
}
