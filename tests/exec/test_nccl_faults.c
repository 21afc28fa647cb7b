/* Faults of NCCL, with its stub. Each remaining process reports the fault and its place, by the
 * names of channel and processes, and ends. */
#define _GNU_SOURCE /* usleep */
#include "tests/exec/nccl_rig.h"

enum { MESSAGE_BYTES = 1 << 20, NEVER_S = 3600 }; /* longer than the test may take */

static const struct pp_nccl_group groups[] = {{"0>1 F0", (const int[]){0, 1}, 2},
                                              {"1>0 B0", (const int[]){1, 0}, 2},
                                              {"stage 0", (const int[]){0, 1}, 2}};
static const struct pp_nccl_plan PLAN = {
    .processes = 2,
    .groups = groups,
    .channel_count = 2,
    .group_count = 1,
    .timeout_s = 20,
};

static struct pp_nccl_plan plan_of(double timeout_s)
{
    struct pp_nccl_plan plan = PLAN;

    plan.timeout_s = timeout_s;
    return plan;
}

static void open_or_fail(struct rig *r)
{
    pp_nccl_share_device(r->plan.process, true);
    rig_ok(r, rig_open(r));
    rig_cuda(cudaGetLastError()); /* the next caller has made no mistake */
}

/* One message of channel 0. */
static enum pp_status pass_message(struct rig *r, cudaStream_t stream)
{
    void *buffer = rig_memory(MESSAGE_BYTES);

    PP_TRY(rig_pass(r, r->plan.process == 0 ? PP_NCCL_SEND : PP_NCCL_RECV, 0, buffer, MESSAGE_BYTES,
                    stream));
    return pp_nccl_finish(r->nccl, stream, &r->err);
}

/* Streams go on, and nothing can be issued any more. */
static void abort_and_check(struct rig *r, cudaStream_t stream)
{
    pp_nccl_abort(r->nccl);
    rig_cuda(cudaStreamSynchronize(stream));
    rig_must(pass_message(r, stream) == PP_EFAIL, "issued after an abort");
    rig_says(r, "aborted");
    rig_must(pp_nccl_check(r->nccl, &r->err) == PP_EFAIL, "checked after an abort");
    pp_nccl_abort(r->nccl);
}

/* ---- the other process ----------------------------------------------------------------------- */

static void lose_peer(struct rig *r)
{
    open_or_fail(r);
    cudaStream_t stream = rig_stream();
    rig_meet(r, 1);
    if (r->plan.process == 1)
        raise(SIGKILL);
    rig_must(pass_message(r, stream) == PP_EFAIL, "a message to a dead process");
    rig_says(r, "channel 0>1 F0 (process 0 to process 1): remote process exited");
    abort_and_check(r, stream);
}

Test(nccl_faults, a_process_that_is_killed_is_named)
{
    const struct pp_nccl_plan plan = plan_of(NEVER_S);

    rig_run(&plan, lose_peer, 1);
}

static void miss_peer(struct rig *r)
{
    pp_nccl_share_device(r->plan.process, true);
    if (r->plan.process == 1) {
        r->board->written++;
        raise(SIGKILL);
    }
    rig_must(rig_open(r) == PP_EFAIL, "opened without the other process");
    rig_says(r, "channel 0>1 F0 (process 0 to process 1): nothing for 0.4 s: its other processes "
                "have not come to it");
}

Test(nccl_faults, a_process_that_never_comes_is_missed)
{
    struct pp_nccl_plan plan = plan_of(0.4);

    plan.channel_count = 1; /* whose id is made here */
    plan.group_count = 0;
    rig_run(&plan, miss_peer, 1);
}

/* ---- hangs ----------------------------------------------------------------------------------- */

/* The first operation of a line is that of the start. */
static void hang(struct rig *r)
{
    open_or_fail(r);
    cudaStream_t stream = rig_stream();
    rig_ok(r, pass_message(r, stream));
    r->plan.timeout_s = 0.4;
    rig_must(pass_message(r, stream) == PP_EFAIL, "a hang has ended");
    rig_says(r, "nothing for 0.4 s on the stream of\n"
                "  channel 0>1 F0 (process 0 to process 1), last operation 3");
    abort_and_check(r, stream);
}

Test(nccl_faults, a_channel_that_hangs_is_named)
{
    setenv("PP_STUB_NCCL_HANG", "0>1 F0:3", 1);
    rig_run(&PLAN, hang, -1);
}

static void hang_at_start(struct rig *r)
{
    pp_nccl_share_device(r->plan.process, true);
    rig_must(rig_open(r) == PP_EFAIL, "a hang has ended");
    rig_says(r, "sum of stage 0 (processes 0, 1), last operation 1");
    rig_cuda(cudaStreamSynchronize(r->stream));
}

Test(nccl_faults, a_sum_that_hangs_at_the_start_is_named)
{
    const struct pp_nccl_plan plan = plan_of(1.5);

    setenv("PP_STUB_NCCL_HANG", "stage 0:1", 1);
    rig_run(&plan, hang_at_start, -1);
}

static void *abort_soon(void *nccl)
{
    usleep(100000);
    pp_nccl_abort(nccl);
    return NULL;
}

static void abort_while_waiting(struct rig *r)
{
    pthread_t thread;

    open_or_fail(r);
    cudaStream_t stream = rig_stream();
    pthread_create(&thread, NULL, abort_soon, r->nccl);
    rig_must(pass_message(r, stream) == PP_EFAIL, "a hang has ended");
    rig_says(r, "aborted");
    pthread_join(thread, NULL);
    abort_and_check(r, stream);
}

Test(nccl_faults, another_thread_may_abort)
{
    setenv("PP_STUB_NCCL_HANG", "0>1 F0:2", 1);
    rig_run(&PLAN, abort_while_waiting, -1);
}

/* A call that waits within NCCL, as here for a late connection. */
static void abort_a_call(struct rig *r)
{
    const struct pp_nccl_operation sum = {
        .kind = PP_NCCL_SUM,
        .type = PP_NCCL_FLOAT,
        .pieces = &(struct pp_nccl_piece){.at = rig_memory(MESSAGE_BYTES),
                                          .count = MESSAGE_BYTES / sizeof(float)},
        .count = 1};
    pthread_t thread;

    open_or_fail(r);
    cudaStream_t stream = rig_stream();
    if (r->plan.process == 0) {
        pthread_create(&thread, NULL, abort_soon, r->nccl);
        rig_must(pp_nccl_issue(r->nccl, &sum, stream, &r->err) == PP_EFAIL,
                 "a call has not waited");
        rig_says(r, "aborted");
        pthread_join(thread, NULL);
    }
    rig_meet(r, 1);
    abort_and_check(r, stream);
}

Test(nccl_faults, an_abort_ends_a_call)
{
    const struct pp_nccl_plan plan = plan_of(NEVER_S);

    setenv("NCCL_RUNTIME_CONNECT", "1", 1);
    rig_run(&plan, abort_a_call, -1);
}

/* An operation that connects two processes holds up its caller: others must not be. */
static void check_concurrent(struct rig *r)
{
    open_or_fail(r);
    pthread_mutex_lock(&r->nccl->mutex);
    rig_must(pp_nccl_check(r->nccl, &r->err) == PP_OK, "%s", r->err.message);
    r->nccl->is_aborted = true;
    rig_must(pp_nccl_check(r->nccl, &r->err) == PP_EFAIL, "checked after an abort");
    pthread_mutex_unlock(&r->nccl->mutex);
    pp_nccl_abort(r->nccl);
}

Test(nccl_faults, a_rank_that_checks_waits_for_none)
{
    rig_run(&PLAN, check_concurrent, -1);
}

/* ---- calls that fail ------------------------------------------------------------------------- */

static bool is_faulty(const struct rig *r)
{
    return r->plan.process == 0;
}

/* The faulty process fails. The other one fails as well, or has all its data. */
static void fail_somewhere(struct rig *r)
{
    enum pp_status status;
    cudaStream_t stream;

    pp_nccl_share_device(r->plan.process, true);
    if (!is_faulty(r)) {
        unsetenv("PP_STUB_NCCL_FAIL");
        r->plan.timeout_s = 1.5; /* where it is alone */
    }
    status = rig_open(r);
    stream = rig_stream();
    if (status == PP_OK)
        status = pass_message(r, stream);
    if (status == PP_OK)
        status = pp_nccl_close(r->nccl, &r->err);
    rig_must(status == PP_EFAIL || !is_faulty(r), "a fault without consequence");
    if (is_faulty(r))
        rig_says(r, "unhandled system error (run with NCCL_DEBUG=INFO for details)\n"
                    "  a fault that was asked for");
    if (status != PP_OK)
        pp_nccl_abort(r->nccl);
    rig_cuda(cudaStreamSynchronize(stream));
}

/* Of process 0: two ids; a group of three communicators; a group of their first uses; a message;
 * three ends in two calls each. */
enum { CALLS = 2 + 5 + 5 + 1 + 6 };

Test(nccl_faults, no_call_fails_unseen)
{
    char number[16];

    for (int call = 1; call <= CALLS; call++) {
        snprintf(number, sizeof number, "%d", call);
        setenv("PP_STUB_NCCL_FAIL", number, 1);
        rig_run(&PLAN, fail_somewhere, -1);
    }
}

/* ---- who may take part ----------------------------------------------------------------------- */

static void share_without_saying(struct rig *r)
{
    rig_must(rig_open(r) == PP_EFAIL, "two processes of one host on one device");
    rig_meet(r, 1); /* a process that ends takes the places of its ids along */
    rig_says(r, "invalid usage");
    rig_says(r, "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 0000:01:00.0");
}

/* Of one communicator: the first that is refused ends the others, and a peer may hear of their end
 * only. */
Test(nccl_faults, one_host_and_one_device_are_refused)
{
    struct pp_nccl_plan group = PLAN, channel = PLAN;

    group.channel_count = 0;
    rig_run(&group, share_without_saying, -1);
    channel.channel_count = 1;
    channel.group_count = 0;
    rig_run(&channel, share_without_saying, -1);
}

Test(nccl_faults, what_is_set_for_nccl_stays_but_for_its_host)
{
    setenv("NCCL_HOSTID", "ours", 1);
    setenv("NCCL_NET", "IB", 1);
    unsetenv("NCCL_SOCKET_IFNAME");
    pp_nccl_share_device(3, false);
    cr_assert_str_eq(getenv("NCCL_HOSTID"), "pipeexec-3");
    cr_assert_str_eq(getenv("NCCL_NET"), "IB");
    cr_assert_null(getenv("NCCL_SOCKET_IFNAME"));
    pp_nccl_share_device(3, true);
    cr_assert_str_eq(getenv("NCCL_SOCKET_IFNAME"), "lo");
}

/* ---- the library ----------------------------------------------------------------------------- */

static void refuses(const char *text)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_nccl_library *library;
    struct pp_error err = {0};

    cr_assert_eq(pp_nccl_load(arena, &library, &err), PP_EFAIL);
    cr_assert(strstr(err.message, text), "%s", err.message);
}

Test(nccl_faults, a_library_that_is_missing_says_where_to_name_it)
{
    setenv("PIPEEXEC_NCCL_LIBRARY", "/nowhere/libnccl.so.2", 1);
    refuses("cannot load NCCL: /nowhere/libnccl.so.2: cannot open");
    refuses("name its folder in LD_LIBRARY_PATH, or the file in PIPEEXEC_NCCL_LIBRARY");
}

Test(nccl_faults, a_library_that_is_another_one_is_refused)
{
    setenv("PIPEEXEC_NCCL_LIBRARY", "libm.so.6", 1);
    refuses("libm.so.6 is no NCCL: it has no ncclGetVersion");
}

Test(nccl_faults, a_library_that_is_too_old_is_refused)
{
    setenv("PP_STUB_NCCL_VERSION", "21706", 1);
    refuses("NCCL 2.17 of ");
    refuses("is too old: 2.18 or newer is needed");
    setenv("PP_STUB_NCCL_VERSION", "2804", 1);
    refuses("NCCL 2.8 of ");
}

/* That of a toolkit, where there is one: it has all that is used, and says its version as expected.
 */
Test(nccl_faults, the_library_of_a_toolkit_is_taken)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *file = getenv("PP_NCCL_OF_TOOLKIT");
    const struct pp_nccl_library *library;
    struct pp_error err = {0};

    if (!file)
        cr_skip_test("no CUDA toolkit with NCCL here");
    setenv("PIPEEXEC_NCCL_LIBRARY", file, 1);
    cr_assert_eq(pp_nccl_load(arena, &library, &err), PP_OK, "%s", err.message);
    cr_assert(library->version >= NCCL_VERSION(2, 18, 0) && library->version < 30000, "%d",
              library->version);
    cr_assert(strstr(library->GetErrorString(ncclRemoteError), "remote process"));
}
