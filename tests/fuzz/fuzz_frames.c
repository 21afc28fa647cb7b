/* A frame that comes over a connection is executed or refused with a reason. No byte outside of
 * what the frame may touch is read or written, and a legal frame has the size that the rules give.
 * The first byte of the input is the process that listens, and in bit 7 the machine; each record is
 * a frame from another one. Its fields are near those of the program, and its bytes are as many as
 * the rules ask for, or nearly. */
#include "exec/cli.h"
#include "exec/plan/plan.h"
#include "exec/transport/parts.h"
#include "exec/transport/transports.h"
#include "schedules/registry.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FRAMES = 64, MOST_BYTES = 1 << 16 };

struct record {
    uint8_t kind, process, worker, flags;
    int16_t id;
    int8_t bytes, ps;
    uint8_t fill, header;
};

static int listener; /* process of the process that reads */
static int peers[64];

static enum pp_status start(struct pp_machine *m, struct pp_error *err)
{
    struct pp_tcp *t = pp_tcp_create(m);

    t->process = listener % t->processes;
    m->transport_state = t;
    if (t->process > 0)
        FUZZ_CHECK(pp_worker_take(&m->workers[t->process - 1], err) == PP_OK);
    for (int process = 0; process < t->processes; process++) {
        int pair[2];

        if (process == t->process)
            continue;
        FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
        t->links[process].fd = pair[0];
        peers[process] = pair[1];
    }
    t->wake_fd = peers[t->process == 0];
    return PP_OK;
}

static void stop(struct pp_machine *m)
{
    struct pp_tcp *t = pp_tcp_of(m);

    for (int process = 0; t && process < t->processes; process++) {
        if (process == t->process)
            continue;
        close(t->links[process].fd);
        close(peers[process]);
        free(t->links[process].owned);
        for (struct pp_frame_out *next, *out = t->links[process].first; out; out = next) {
            next = out->next;
            free(out->owned);
            free(out);
        }
    }
}

static struct pp_frame frame_of(const struct pp_tcp *t, const struct record *r)
{
    static const int64_t TIMES[] = {INT64_MIN, INT64_MAX, -((int64_t)1 << 61), (int64_t)1 << 62};
    const struct pp_frame frame = {
        .kind = r->kind % (PP_FRAME_KINDS + 1),
        .worker = r->worker == 255 ? -1 : r->worker % (t->m->worker_count + 1),
        .id = r->id,
        .flags = r->flags,
        .ps = r->ps < -124 ? TIMES[r->ps + 128] : r->ps,
        .header = {.kind = r->header, .step = r->id},
    };
    return frame;
}

/* As many as the rules ask for where they can be asked, and some more or less. */
static uint64_t bytes_of(const struct pp_tcp *t, int process, const struct pp_frame *frame,
                         int8_t more)
{
    const uint64_t wanted = pp_tcp_is_placed(t, process, frame) ? pp_tcp_bytes(t, frame) : 0;

    return wanted + (uint64_t)(int64_t)more;
}

static void feed(struct pp_tcp *t, const struct record *r)
{
    static char payload[MOST_BYTES];
    const int process = r->process % t->processes;
    struct pp_frame frame = frame_of(t, r);

    if (process == t->process || t->links[process].is_closed)
        return;
    frame.bytes = bytes_of(t, process, &frame, r->bytes);
    const size_t sent = frame.bytes < sizeof(payload) ? (size_t)frame.bytes : sizeof(payload);
    memset(payload, r->fill, sent);
    if (write(peers[process], &frame, sizeof(frame)) < 0 ||
        write(peers[process], payload, sent) < 0)
        return;
    const bool is_open = pp_tcp_read(t, process);
    FUZZ_CHECK(is_open == !t->links[process].is_closed);
    FUZZ_CHECK(is_open || (t->m->has_failed && strlen(t->m->error.message) > 0));
}

/* The same machine as a run has, in memory of its own: with replicas, or with groups. */
static void resolve(struct pp_arena *arena, bool has_groups, struct pp_training *training)
{
    const char *argv[] = {"pipeexec", "--np", "2",       "--schedule", "zbv",   "--layers", "4",
                          "--hidden", "2",    "--heads", "1",          "--seq", "2",        "--mbs",
                          "1",        "--dp", "2",       "--steps",    "2",     "--vocab",  "123"};
    const char *grouped[] = {"pipeexec", "--np",     "2",  "--schedule", "zbv", "--layers",
                             "4",        "--hidden", "4",  "--heads",    "2",   "--seq",
                             "2",        "--mbs",    "1",  "--tp",       "2",   "--steps",
                             "2",        "--vocab",  "123"};
    struct pp_parsed *parsed = PP_NEW(arena, struct pp_parsed);
    struct pp_exec_wish *wish = PP_NEW(arena, struct pp_exec_wish);
    struct pp_exec_config *config = PP_NEW(arena, struct pp_exec_config);
    struct pp_exec_plan *plan = PP_NEW(arena, struct pp_exec_plan);
    struct pp_error err = {0};

    FUZZ_CHECK(pp_options_parse(arena, &pp_exec_cli, sizeof(argv) / sizeof(*argv),
                                (char **)(uintptr_t)(has_groups ? grouped : argv), parsed,
                                &err) == PP_OK);
    wish->request = (struct pp_request){.flags = parsed};
    pp_wish_bind(arena, &wish->request);
    FUZZ_CHECK(pp_exec_resolve(arena, wish, NULL, config, &err) == PP_OK);
    const struct pp_subject subject = {.schedule = pp_schedule_find("zbv")};
    FUZZ_CHECK(pp_exec_plan_make(arena, wish, config, subject, plan, &err) == PP_OK);
    *training = pp_exec_training(wish, config, plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pp_training trainings[2]; /* with replicas; with groups */
    static struct pp_arena *kept;           /* what they point to */
    const bool has_groups = size > 0 && data[0] >= 128;
    struct pp_arena *arena = pp_arena_create();
    struct pp_transport transport = pp_transport_tcp;
    struct pp_machine *m;
    struct pp_error err = {0};

    if (!kept) {
        kept = pp_arena_create();
        resolve(kept, false, &trainings[false]);
        resolve(kept, true, &trainings[true]);
    }
    transport.start = start;
    transport.stop = stop;
    transport.check = NULL;
    struct pp_machine_options options = trainings[has_groups].machine;
    options.transport = &transport;
    options.kept_steps = options.cores = 1;
    listener = size > 0 ? data[0] % 128 : 0;
    FUZZ_CHECK(pp_machine_create(arena, &options, &m, &err) == PP_OK);
    for (size_t at = 1, k = 0; at + sizeof(struct record) <= size && k < FRAMES && !m->has_failed;
         at += sizeof(struct record), k++) {
        struct record record;
        memcpy(&record, data + at, sizeof(record));
        feed(pp_tcp_of(m), &record);
    }
    pp_machine_destroy(m);
    pp_arena_destroy(arena);
    return 0;
}
