/* exec/backend/fake.c — a device that records all calls, and runs them in finish. Launches that no
 * event orders run in either order sooner or later, so a missing wait shows as a wrong number. A
 * copy reads its source when it runs, not when it is issued. */
#include "exec/backend/fake.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- the backend ----------------------------------------------------------------------------- */

static void fake_begin(struct pp_backend_device *d)
{
    for (int s = 0; s < d->options.streams; s++) {
        struct fake_stream *stream = &d->streams[s];
        stream->count = stream->head = stream->launches = stream->launches_over = 0;
    }
    for (int e = 0; e < d->options.events; e++)
        d->events[e] = (struct fake_event){.recorder = NO_STREAM, .first_waiting = NO_STREAM};
    d->issued = 0;
    d->ran_s = 0;
    d->twice = NO_STREAM;
    d->last = NO_STREAM;
    d->ready_count = 0;
    atomic_store(&d->is_cancelled, false);
}

static enum pp_status fake_open(struct pp_arena *arena, const struct pp_device_options *options,
                                struct pp_backend_device **device, struct pp_error *err)
{
    struct pp_backend_device *d = PP_NEW(arena, struct pp_backend_device);

    (void)err;
    assert(options->streams > 0 && options->workers <= options->streams);
    d->options = *options;
    d->arena = pp_arena_create();
    d->streams = PP_ARRAY(d->arena, struct fake_stream, options->streams);
    d->events = PP_ARRAY(d->arena, struct fake_event, options->events);
    d->ready = PP_ARRAY(d->arena, pp_stream_id, options->streams);
    fake_begin(d);
    *device = d;
    return PP_OK;
}

static void fake_close(struct pp_backend_device *d)
{
    if (!d)
        return;
    pp_fake_free_all(d);
    pp_arena_destroy(d->arena);
}

static enum pp_status fake_alloc_shared(struct pp_backend_device *d, size_t bytes, void **memory,
                                        struct pp_error *err)
{
    (void)err;
    *memory = pp_arena_alloc(d->arena, bytes > 0 ? bytes : 1);
    return PP_OK;
}

static enum pp_status fake_copy(struct pp_backend_device *d, const void *from, void *to,
                                size_t bytes, struct pp_error *err)
{
    (void)err;
    pp_fake_open_memory(d);
    memcpy(to, from, bytes);
    pp_fake_shut_memory(d);
    return PP_OK;
}

static void append(struct pp_backend_device *d, pp_stream_id s, struct fake_node node)
{
    struct fake_stream *stream = &d->streams[s];

    assert(s >= 0 && s < d->options.streams);
    node.issued = ++d->issued;
    *PP_PUSH(d->arena, stream->nodes, stream->count, stream->capacity) = node;
}

static void fake_launch(struct pp_backend_device *d, pp_stream_id s, pp_backend_work work,
                        void *argument)
{
    struct fake_stream *stream = &d->streams[s];

    append(d, s, (struct fake_node){.kind = NODE_LAUNCH, .work = work, .argument = argument});
    *PP_PUSH(d->arena, stream->spans, stream->launches, stream->span_capacity) =
        (struct pp_span){NAN, NAN};
}

static void fake_record(struct pp_backend_device *d, pp_stream_id s, pp_event_id event)
{
    assert(event >= 0 && event < d->options.events);
    append(d, s, (struct fake_node){.kind = NODE_RECORD, .event = event});
    if (d->events[event].recorder == NO_STREAM) {
        d->events[event].recorder = s;
    } else {
        d->twice = event;
        d->twice_streams[0] = d->events[event].recorder;
        d->twice_streams[1] = s;
    }
}

static bool fake_wait(struct pp_backend_device *d, pp_stream_id s, pp_event_id event)
{
    assert(event >= 0 && event < d->options.events);
    if (atomic_load(&d->is_cancelled))
        return false;
    append(d, s, (struct fake_node){.kind = NODE_WAIT, .event = event});
    return true;
}

static enum pp_status fake_finish(struct pp_backend_device *d, struct pp_error *err)
{
    const enum pp_status status = atomic_load(&d->is_cancelled) ? PP_OK : pp_fake_run(d, err);

    d->step++;
    return atomic_load(&d->is_cancelled) ? pp_error_set(err, PP_EFAIL, "the step was cancelled")
                                         : status;
}

static void fake_cancel(struct pp_backend_device *d)
{
    atomic_store(&d->is_cancelled, true);
}

static struct pp_span fake_span(const struct pp_backend_device *device, pp_stream_id stream, int k)
{
    const struct fake_stream *of = &device->streams[stream];

    return k < of->launches ? of->spans[k] : (struct pp_span){NAN, NAN};
}

const struct pp_backend pp_backend_fake = {
    .name = "fake",
    .open = fake_open,
    .close = fake_close,
    .is_deferred = true,
    .is_apart = true,
    .alloc = pp_fake_alloc,
    .alloc_shared = fake_alloc_shared,
    .read = fake_copy,
    .write = fake_copy,
    .launch = fake_launch,
    .host = fake_launch,
    .record = fake_record,
    .wait = fake_wait,
    .begin = fake_begin,
    .finish = fake_finish,
    .cancel = fake_cancel,
    .span = fake_span,
};
