/* exec/backend/fake_run.c — the launches of a step, in an adversarial but legal order.
 *
 * Records and waits only decide which launches may run. They are passed as soon as possible, so the
 * launches at the heads of streams are exactly those that may run now. Any choice among these is
 * legal, and every legal order is some sequence of choices.
 *
 * In every step one stream is held back: it runs only when nothing else can. Each of its launches
 * then runs after everything that no event orders after it. Once every stream has been held back,
 * every missing wait has had an effect. `orders` choose among the rest. */
#include "core/random.h"
#include "exec/backend/fake.h"
#include "exec/host/host.h"

#include <stdio.h>

/* ---- orders ---------------------------------------------------------------------------------- */

static uint64_t draw(struct pp_backend_device *d)
{
    return 1 + (pp_random_bits(d->random, d->drawn++) >> 2);
}

static uint64_t random_order(struct pp_backend_device *d, pp_stream_id s)
{
    (void)s;
    return draw(d);
}

/* Runs one stream as far as possible before any other. */
static uint64_t stream_by_stream(struct pp_backend_device *d, pp_stream_id s)
{
    return s == d->last ? UINT64_MAX : draw(d);
}

static uint64_t issued_last_first(struct pp_backend_device *d, pp_stream_id s)
{
    return d->streams[s].nodes[d->streams[s].head].issued;
}

/* Runs copies only if no compute launch is ready. */
static uint64_t copies_late(struct pp_backend_device *d, pp_stream_id s)
{
    return draw(d) | (uint64_t)is_compute(d, s) << 62;
}

static uint64_t copies_early(struct pp_backend_device *d, pp_stream_id s)
{
    return draw(d) | (uint64_t)!is_compute(d, s) << 62;
}

/* Priorities for a whole step: the first stream runs whenever it can, the last if no other can. */
static uint64_t fixed_priorities(struct pp_backend_device *d, pp_stream_id s)
{
    return 1 + (pp_random_bits(d->random, (uint64_t)s) >> 2);
}

/* The ready launch with the highest score runs; all scores are above 0. */
static uint64_t (*const orders[])(struct pp_backend_device *device, pp_stream_id stream) = {
    random_order, copies_late, stream_by_stream, issued_last_first, copies_early, fixed_priorities,
};
enum { ORDERS = PP_COUNT(orders) };

/* ---- a step ---------------------------------------------------------------------------------- */

/* Passes records and waits up to the next launch. A stream that must wait is entered at its event,
 * one that may run in `ready`. Streams that waited for a record are settled in turn. */
static void settle(struct pp_backend_device *d, pp_stream_id s)
{
    struct fake_stream *stream = &d->streams[s];

    for (; stream->head < stream->count; stream->head++) {
        const struct fake_node *node = &stream->nodes[stream->head];
        if (node->kind == NODE_LAUNCH) {
            d->ready[d->ready_count++] = s;
            return;
        }
        struct fake_event *event = &d->events[node->event];
        if (node->kind == NODE_WAIT && !event->is_over) {
            stream->next_waiting = event->first_waiting;
            event->first_waiting = s;
            return;
        }
        if (node->kind == NODE_WAIT)
            continue;
        event->is_over = true;
        while (event->first_waiting != NO_STREAM) {
            const pp_stream_id waiting = event->first_waiting;
            event->first_waiting = d->streams[waiting].next_waiting;
            settle(d, waiting);
        }
    }
}

/* Takes a ready stream. Every stream is held back in turn, whether steps or seeds are counted up;
 * each round has another order of the rest. */
static pp_stream_id take_ready(struct pp_backend_device *d)
{
    const uint64_t turn = d->options.seed + d->step, streams = (uint64_t)d->options.streams;
    const pp_stream_id held_back = (pp_stream_id)(turn % streams);
    const uint64_t order = (turn + turn / streams) % ORDERS;
    uint64_t highest = 0;
    int at = 0;

    for (int i = 0; i < d->ready_count; i++) {
        const pp_stream_id s = d->ready[i];
        const uint64_t score = s == held_back ? 0 : orders[order](d, s);
        if (i == 0 || score > highest) {
            highest = score;
            at = i;
        }
    }
    const pp_stream_id s = d->ready[at];
    d->ready[at] = d->ready[--d->ready_count];
    return s;
}

static void run_head(struct pp_backend_device *d, pp_stream_id s)
{
    struct fake_stream *stream = &d->streams[s];
    const struct fake_node *node = &stream->nodes[stream->head++];
    const double before_s = pp_host_thread_s(), start_s = d->ran_s;

    node->work(d->options.kernels, NULL, node->argument);
    d->ran_s += pp_host_thread_s() - before_s;
    stream->spans[stream->launches_over++] = (struct pp_span){start_s, d->ran_s};
    d->last = s;
}

/* ---- errors ---------------------------------------------------------------------------------- */

static pp_event_id awaited(const struct pp_backend_device *d, pp_stream_id s)
{
    return d->streams[s].nodes[d->streams[s].head].event;
}

static pp_stream_id waits_for(const struct pp_backend_device *d, pp_stream_id s)
{
    return d->events[awaited(d, s)].recorder;
}

static const char *print_stream(const struct pp_backend_device *d, pp_stream_id s, char text[32])
{
    if (is_compute(d, s) && s >= d->options.workers)
        snprintf(text, 32, "weight stream %d", s - d->options.weights);
    else
        snprintf(text, 32, is_compute(d, s) ? "compute stream %d" : "stream %d", s);
    return text;
}

static enum pp_status unrecorded(const struct pp_backend_device *d, pp_stream_id s,
                                 struct pp_error *err)
{
    char name[32];

    return pp_error_set(err, PP_EFAIL,
                        "%s waits (entry %d of %d of its list) for event %d, which no stream "
                        "records in this step",
                        print_stream(d, s, name), d->streams[s].head + 1, d->streams[s].count,
                        awaited(d, s));
}

/* Waits lead from any stuck stream into the circle. */
static enum pp_status circle(const struct pp_backend_device *d, pp_stream_id s,
                             struct pp_error *err)
{
    char name[32], next_name[32];
    int steps = 0;

    for (int i = 0; i < d->options.streams; i++)
        s = waits_for(d, s);
    pp_stream_id start = s;
    for (pp_stream_id other = waits_for(d, s); other != s; other = waits_for(d, other))
        start = other < start ? other : start;
    s = start;
    pp_error_set(err, PP_EFAIL, "streams wait for each other in a circle:");
    do {
        const pp_stream_id next = waits_for(d, s);
        if (steps++ < 32)
            pp_error_append(err, "\n  %s waits (entry %d of %d of its list) for event %d of %s",
                            print_stream(d, s, name), d->streams[s].head + 1, d->streams[s].count,
                            awaited(d, s), print_stream(d, next, next_name));
        s = next;
    } while (s != start);
    return PP_EFAIL;
}

static enum pp_status check_all_over(const struct pp_backend_device *d, struct pp_error *err)
{
    pp_stream_id stuck = NO_STREAM;

    for (pp_stream_id s = 0; s < d->options.streams; s++) {
        if (d->streams[s].head == d->streams[s].count)
            continue;
        if (waits_for(d, s) == NO_STREAM)
            return unrecorded(d, s, err);
        stuck = s;
    }
    return stuck == NO_STREAM ? PP_OK : circle(d, stuck, err);
}

enum pp_status pp_fake_run(struct pp_backend_device *d, struct pp_error *err)
{
    char first[32], second[32];

    if (d->twice != NO_STREAM)
        return pp_error_set(err, PP_EFAIL, "event %d is recorded twice in a step: by %s and by %s",
                            d->twice, print_stream(d, d->twice_streams[0], first),
                            print_stream(d, d->twice_streams[1], second));
    d->random = pp_random_stream(d->options.seed, d->step);
    d->drawn = 0;
    for (pp_stream_id s = 0; s < d->options.streams; s++)
        settle(d, s);
    pp_fake_open_memory(d);
    while (d->ready_count > 0 && !atomic_load(&d->is_cancelled)) {
        const pp_stream_id s = take_ready(d);
        run_head(d, s);
        settle(d, s);
    }
    pp_fake_shut_memory(d);
    return atomic_load(&d->is_cancelled) ? PP_OK : check_all_over(d, err);
}
