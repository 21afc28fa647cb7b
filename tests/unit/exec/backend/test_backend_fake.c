/* The fake device: small graphs with known results, and what it says about broken ones. */
#include "exec/backend/backend.h"
#include "exec/backend/poison.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <string.h>

static const struct pp_backend *const fake = &pp_backend_fake;

static struct pp_backend_device *open_device(struct pp_arena *arena, int workers, int streams,
                                             int events, uint64_t seed)
{
    const struct pp_device_options options = {
        .workers = workers, .streams = streams, .events = events, .seed = seed};
    struct pp_backend_device *device = NULL;
    struct pp_error err = {0};

    cr_assert_eq(fake->open(arena, &options, &device, &err), PP_OK, "%s", err.message);
    return device;
}

static void nothing(const struct pp_kernels *kernels, void *stream, void *argument)
{
    (void)kernels;
    (void)stream;
    (void)argument;
}

static void count_one(const struct pp_kernels *kernels, void *stream, void *argument)
{
    (void)kernels;
    (void)stream;
    ++*(int *)argument;
}

/* ---- a tiny pipeline, with one wait left out ------------------------------------------------- */

/* Two workers and two messages through one send buffer and one receive buffer, then a sum of what
 * both workers have. Every wait of it is necessary. */
enum { MESSAGES = 2 };
struct tiny {
    uint64_t made[MESSAGES], send, receive, used[MESSAGES], sums[2];
};
struct tiny_step {
    struct tiny *t;
    int m;
};

#define TINY_WORK(name, expression)                                                                \
    static void name(const struct pp_kernels *kernels, void *stream, void *argument)               \
    {                                                                                              \
        const struct tiny_step *s = argument;                                                      \
        struct tiny *t = s->t;                                                                     \
        (void)kernels;                                                                             \
        (void)stream;                                                                              \
        expression;                                                                                \
    }
TINY_WORK(produce, t->send = t->made[s->m] = 7 + (uint64_t)s->m)
TINY_WORK(transfer, t->receive = t->send)
TINY_WORK(consume, t->used[s->m] = 10 * t->receive)
TINY_WORK(sum_up, t->sums[0] = t->sums[1] = t->made[1] + t->used[1])
TINY_WORK(update, t->made[1] = t->sums[0])
TINY_WORK(update_other, t->used[1] = t->sums[1])

enum tiny_wait { /* who waits for whom */
                 COPY_FOR_PRODUCER,
                 PRODUCER_FOR_COPY, /* the send buffer is used again */
                 COPY_FOR_CONSUMER, /* the receive buffer is used again */
                 CONSUMER_FOR_COPY,
                 SUM_FOR_PRODUCER,
                 SUM_FOR_CONSUMER,
                 UPDATE_FOR_SUM,
                 OTHER_UPDATE_FOR_SUM,
                 TINY_WAITS
};
enum { PRODUCER, CONSUMER, CHANNEL, REDUCE, TINY_STREAMS };
enum { PRODUCED, COPIED = 2, CONSUMED = 4, SUMMED = 6, TINY_EVENTS };

static void wait_unless(bool is_left_out, struct pp_backend_device *d, pp_stream_id s,
                        pp_event_id event)
{
    if (!is_left_out)
        cr_assert(fake->wait(d, s, event));
}

static struct tiny run_tiny(struct pp_backend_device *d, int left_out)
{
    struct tiny t = {0};
    struct tiny_step steps[MESSAGES] = {{&t, 0}, {&t, 1}};
    struct pp_error err = {0};

    fake->begin(d);
    for (int m = 0; m < MESSAGES; m++) {
        if (m > 0)
            wait_unless(left_out == PRODUCER_FOR_COPY, d, PRODUCER, COPIED + m - 1);
        fake->launch(d, PRODUCER, produce, &steps[m]);
        fake->record(d, PRODUCER, PRODUCED + m);
        wait_unless(left_out == COPY_FOR_PRODUCER, d, CHANNEL, PRODUCED + m);
        if (m > 0)
            wait_unless(left_out == COPY_FOR_CONSUMER, d, CHANNEL, CONSUMED + m - 1);
        fake->launch(d, CHANNEL, transfer, &steps[m]);
        fake->record(d, CHANNEL, COPIED + m);
        wait_unless(left_out == CONSUMER_FOR_COPY, d, CONSUMER, COPIED + m);
        fake->launch(d, CONSUMER, consume, &steps[m]);
        fake->record(d, CONSUMER, CONSUMED + m);
    }
    wait_unless(left_out == SUM_FOR_PRODUCER, d, REDUCE, PRODUCED + 1);
    wait_unless(left_out == SUM_FOR_CONSUMER, d, REDUCE, CONSUMED + 1);
    fake->launch(d, REDUCE, sum_up, &steps[1]);
    fake->record(d, REDUCE, SUMMED);
    wait_unless(left_out == UPDATE_FOR_SUM, d, PRODUCER, SUMMED);
    fake->launch(d, PRODUCER, update, &steps[1]);
    wait_unless(left_out == OTHER_UPDATE_FOR_SUM, d, CONSUMER, SUMMED);
    fake->launch(d, CONSUMER, update_other, &steps[1]);
    cr_assert_eq(fake->finish(d, &err), PP_OK, "%s", err.message);
    return t;
}

static bool is_right(const struct tiny *t)
{
    const struct tiny right = {{7, 88}, 8, 8, {70, 88}, {88, 88}};

    return memcmp(t, &right, sizeof(right)) == 0;
}

Test(backend_fake, complete_graph_is_right_in_every_order)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_backend_device *d = open_device(arena, 2, TINY_STREAMS, TINY_EVENTS, 1);

    for (int step = 0; step < 200; step++) {
        const struct tiny t = run_tiny(d, -1);
        cr_assert(is_right(&t), "step %d", step);
    }
    fake->close(d);
}

/* A wait that does not stand in the list is noticed within one step per stream, whether steps or
 * seeds are counted up. SUM_FOR_PRODUCER is the exception: message 1 was copied and consumed first,
 * so the wait says nothing new, and leaving it out must change nothing. */
Test(backend_fake, every_missing_wait_shows)
{
    for (int w = 0; w < TINY_WAITS; w++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct pp_backend_device *d = open_device(arena, 2, TINY_STREAMS, TINY_EVENTS, seed);
            int wrong = 0, wrong_first_steps = 0;
            for (int step = 0; step < TINY_STREAMS; step++) {
                struct pp_backend_device *other =
                    open_device(arena, 2, TINY_STREAMS, TINY_EVENTS, seed + (uint64_t)step);
                const struct tiny t = run_tiny(d, w), first = run_tiny(other, w);
                wrong += !is_right(&t);
                wrong_first_steps += !is_right(&first);
                fake->close(other);
            }
            cr_assert_eq(wrong > 0, w != SUM_FOR_PRODUCER, "wait %d, seed %d", w, (int)seed);
            cr_assert_eq(wrong_first_steps > 0, w != SUM_FOR_PRODUCER, "wait %d, seed %d", w,
                         (int)seed);
            fake->close(d);
        }
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

static void expect_failure(struct pp_backend_device *d, const char *message)
{
    struct pp_error err = {0};

    cr_assert_eq(fake->finish(d, &err), PP_EFAIL);
    cr_assert_str_eq(err.message, message);
}

Test(backend_fake, circle_is_named)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_backend_device *d = open_device(arena, 1, 4, 4, 3);
    int ran = 0;

    fake->begin(d);
    fake->launch(d, 0, count_one, &ran);
    fake->wait(d, 0, 2);
    fake->record(d, 0, 0);
    fake->wait(d, 1, 0);
    fake->record(d, 1, 1);
    fake->wait(d, 2, 1);
    fake->record(d, 2, 2);
    fake->wait(d, 3, 2);
    fake->launch(d, 3, count_one, &ran);
    expect_failure(d,
                   "streams wait for each other in a circle:\n"
                   "  compute stream 0 waits (entry 2 of 3 of its list) for event 2 of stream 2\n"
                   "  stream 2 waits (entry 1 of 2 of its list) for event 1 of stream 1\n"
                   "  stream 1 waits (entry 1 of 2 of its list) for event 0 of compute stream 0");
    cr_assert_eq(ran, 1);
    fake->close(d);
}

Test(backend_fake, stream_waits_for_what_it_records_later)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_backend_device *d = open_device(arena, 0, 1, 1, 3);

    fake->begin(d);
    fake->wait(d, 0, 0);
    fake->record(d, 0, 0);
    expect_failure(d, "streams wait for each other in a circle:\n"
                      "  stream 0 waits (entry 1 of 2 of its list) for event 0 of stream 0");
    fake->close(d);
}

/* Found even if no work is left to run after the wait, and named before a circle. */
Test(backend_fake, missing_record_is_named)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_backend_device *d = open_device(arena, 1, 3, 3, 3);

    fake->begin(d);
    fake->wait(d, 0, 1);
    fake->record(d, 0, 0);
    fake->wait(d, 1, 0);
    fake->record(d, 1, 1);
    fake->wait(d, 2, 2);
    expect_failure(d, "stream 2 waits (entry 1 of 1 of its list) for event 2, which no stream "
                      "records in this step");
    fake->close(d);
}

Test(backend_fake, events_are_unrecorded_again_in_the_next_step)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_backend_device *d = open_device(arena, 1, 2, 1, 3);
    int ran = 0;

    fake->begin(d);
    fake->wait(d, 1, 0); /* before its record, in host time */
    fake->launch(d, 1, count_one, &ran);
    fake->record(d, 0, 0);
    cr_assert_eq(fake->finish(d, NULL), PP_OK);
    cr_assert_eq(ran, 1);
    fake->begin(d);
    fake->wait(d, 1, 0);
    fake->launch(d, 1, count_one, &ran);
    expect_failure(d, "stream 1 waits (entry 1 of 2 of its list) for event 0, which no stream "
                      "records in this step");
    cr_assert_eq(ran, 1);
    fake->close(d);
}

Test(backend_fake, second_record_is_named)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_backend_device *d = open_device(arena, 1, 2, 1, 3);

    fake->begin(d);
    fake->record(d, 1, 0);
    fake->record(d, 0, 0);
    expect_failure(d, "event 0 is recorded twice in a step: by stream 1 and by compute stream 0");
    fake->close(d);
}

static struct pp_backend_device *cancelled_device;
static void cancel_inside(const struct pp_kernels *kernels, void *stream, void *argument)
{
    (void)kernels;
    (void)stream;
    (void)argument;
    fake->cancel(cancelled_device);
}

Test(backend_fake, nothing_runs_after_a_cancel)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_backend_device *d = cancelled_device = open_device(arena, 1, 1, 1, 3);
    int ran = 0;

    fake->begin(d);
    fake->launch(d, 0, count_one, &ran);
    fake->cancel(d);
    cr_assert_not(fake->wait(d, 0, 0));
    expect_failure(d, "the step was cancelled");
    fake->begin(d);
    fake->launch(d, 0, cancel_inside, NULL);
    fake->launch(d, 0, count_one, &ran);
    expect_failure(d, "the step was cancelled");
    cr_assert_eq(ran, 0);
    fake->begin(d);
    fake->launch(d, 0, count_one, &ran);
    cr_assert_eq(fake->finish(d, NULL), PP_OK);
    cr_assert_eq(ran, 1);
    fake->close(d);
}

/* ---- the rest -------------------------------------------------------------------------------- */

Test(backend_fake, spans_follow_one_another)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_backend_device *d = open_device(arena, 2, 3, 1, 3);

    fake->begin(d);
    for (int k = 0; k < 5; k++) {
        fake->launch(d, 1, nothing, NULL);
        fake->launch(d, 2, nothing, NULL);
    }
    cr_assert(isnan(fake->span(d, 1, 0).start_s), "nothing runs before finish");
    cr_assert_eq(fake->finish(d, NULL), PP_OK);
    for (int s = 1; s < 3; s++)
        for (int k = 0; k < 5; k++) {
            const struct pp_span span = fake->span(d, s, k);
            cr_assert(span.start_s >= 0 && span.end_s >= span.start_s);
            cr_assert(k == 0 || span.start_s >= fake->span(d, s, k - 1).end_s);
        }
    cr_assert(isnan(fake->span(d, 1, 5).start_s));
    cr_assert(isnan(fake->span(d, 0, 0).start_s));
    fake->close(d);
}

Test(backend_fake, steps_do_not_allocate)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_backend_device *d = open_device(arena, 2, TINY_STREAMS, TINY_EVENTS, 1);

    run_tiny(d, -1);
    const size_t before = mallinfo2().uordblks;
    for (int step = 0; step < 20; step++) {
        run_tiny(d, -1);
        cr_assert_eq(mallinfo2().uordblks, before);
    }
    fake->close(d);
}

Test(backend_fake, memory)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_backend_device *d = open_device(arena, 1, 1, 1, 3);
    struct pp_error err = {0};
    void *memory[3];

    for (size_t i = 0; i < 3; i++) {
        char copy[126], back[126];

        cr_assert_eq(fake->alloc(d, 63 * i, &memory[i], &err), PP_OK);
        cr_assert_eq((uintptr_t)memory[i] % 64, 0);
        cr_assert_eq(fake->read(d, memory[i], copy, 63 * i, &err), PP_OK);
        cr_assert_eq(pp_memory_touched(copy, 60 * i), 0);
        memset(copy, 1 + (int)i, sizeof(copy));
        cr_assert_eq(fake->write(d, copy, memory[i], 63 * i, &err), PP_OK);
        cr_assert_eq(fake->read(d, memory[i], back, 63 * i, &err), PP_OK);
        cr_assert_eq(memcmp(copy, back, 63 * i), 0);
    }
    void *shared;
    cr_assert_eq(fake->alloc_shared(d, 8, &shared, &err), PP_OK);
    cr_assert_eq(*(int64_t *)shared, 0);
    cr_assert_eq(fake->alloc(d, SIZE_MAX / 4, &memory[0], &err), PP_EFAIL);
    cr_assert_eq(fake->alloc(d, SIZE_MAX, &memory[0], &err), PP_EFAIL);
    fake->close(d);
    fake->close(NULL);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which catch it, too */
/* Between finish and launch the host cannot access memory of the device. */
Test(backend_fake, memory_is_shut, .signal = SIGSEGV)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_backend_device *d = open_device(arena, 1, 1, 1, 3);
    struct pp_error err = {0};
    void *memory;

    cr_assert_eq(fake->alloc(d, 64, &memory, &err), PP_OK);
    *(volatile int *)memory = 1;
}
#endif
