/* Accepts connections, and keeps those that begin as a process of this run. */
#define _GNU_SOURCE /* accept4 */
#include "exec/tcp/door.h"

#include "core/clock.h"
#include "core/hash.h"
#include "exec/machine/transport.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- settings that all processes share ------------------------------------------------------- */

static uint64_t of_numbers(const double *numbers, size_t count)
{
    return pp_hash(PP_HASH_OF_NOTHING, numbers, sizeof(*numbers) * count);
}
#define OF(...)                                                                                    \
    of_numbers((const double[]){__VA_ARGS__},                                                      \
               sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static uint64_t of_model(const struct pp_machine *m)
{
    const struct pp_net *n = m->options.stages[0]->net;

    return OF(n->layers, n->hidden, n->heads, n->kv_heads, n->ffn, n->vocab, n->seq,
              n->has_positions, n->is_gated, n->is_tied, n->is_rms);
}

static uint64_t of_batch(const struct pp_machine *m)
{
    const struct pp_batch *b = m->options.batch;

    return OF(b->replicas, b->micro_batches, b->mbs, b->granules, b->splits);
}

static uint64_t of_recipe(const struct pp_machine *m)
{
    const struct pp_recipe *r = m->options.recipe;

    return OF((double)r->seed, r->is_exact, r->rate, r->end_rate, r->warmup_steps, r->steps,
              r->beta1, r->beta2, r->epsilon, r->decay, r->clip);
}

static uint64_t of_place(const struct pp_machine *m)
{
    const char *words[] = {m->options.transport->name, m->options.backend->name};
    uint64_t hash = OF((double)m->options.kernels->element_bytes, m->options.may_choose_transport);

    for (size_t i = 0; i < PP_COUNT(words); i++)
        hash = pp_hash(hash, words[i], strlen(words[i]) + 1);
    return hash;
}

/* Hash of wires, speeds and given durations: every process times its own rank. */
static uint64_t of_clock(const struct pp_machine *m)
{
    const struct pp_machine_options *o = &m->options;
    const struct pp_costs *costs = o->costs;
    const size_t stages = (size_t)costs->stages, links = (size_t)costs->links,
                 ranks = (size_t)costs->ranks;
    uint64_t hash = OF(o->clock, o->has_durations);

    hash = pp_hash(hash, costs->alpha_ps, sizeof(*costs->alpha_ps) * links);
    hash = pp_hash(hash, costs->s_per_byte, sizeof(*costs->s_per_byte) * links);
    if (costs->link)
        hash = pp_hash(hash, costs->link, ranks * ranks);
    if (o->slow)
        hash = pp_hash(hash, o->slow, sizeof(*o->slow) * ranks * (size_t)o->batch->replicas);
    for (int kind = 0; kind < PP_OP_KINDS && o->has_durations; kind++)
        for (size_t s = 0; costs->op[kind] && s < stages; s++)
            hash = pp_hash(hash, &costs->op[kind][s].ps, sizeof(costs->op[kind][s].ps));
    return hash;
}

static const struct {
    uint64_t (*of)(const struct pp_machine *m);
    const char *name, *options;
} ALIKE[PP_ALIKES] = {
    {of_model, "model", "--model, --layers, --seq, ..."},
    {of_batch, "batch", "--micro-batches, --mbs, --dp, ..."},
    {of_recipe, "recipe", "--seed, --steps, --lr, --clip, --exact-grad, ..."},
    {of_place, "machine", "--backend, --transport, --precision"},
    {of_clock, "clock", "--clock, --link, --link-bw, --slow, --unit"},
};

/* ---- hello ----------------------------------------------------------------------------------- */

struct pp_hello pp_tcp_hello(const struct pp_tcp *t)
{
    struct pp_hello hello = {.magic = PP_HELLO_MAGIC,
                             .frame_bytes = sizeof(struct pp_frame),
                             .token = t->token,
                             .process = t->process,
                             .processes = t->processes,
                             .program_hash = t->m->program_hash,
                             .pid = getpid()};

    for (int i = 0; i < PP_ALIKES; i++)
        hello.alike[i] = ALIKE[i].of(t->m);
    if (t->process >= t->first_owner)
        hello.drawn = t->m->workers[t->process - t->first_owner].drawn;
    return hello;
}

static enum pp_status check_alike(const struct pp_hello *own, const struct pp_hello *h,
                                  struct pp_error *err)
{
    for (int i = 0; i < PP_ALIKES; i++)
        if (h->alike[i] != own->alike[i])
            return pp_error_set(err, PP_EFAIL,
                                "process %d runs the same program with another %s than process %d: "
                                "give all the same options (%s)",
                                h->process, ALIKE[i].name, own->process, ALIKE[i].options);
    return PP_OK;
}

/* Process 0 draws the first weights of each tensor of the other process again. */
static enum pp_status check_drawn(const struct pp_tcp *t, const struct pp_hello *h,
                                  struct pp_error *err)
{
    const struct pp_worker *w = &t->m->workers[h->process - t->first_owner];

    if (t->process > 0 || t->m->options.is_resumed || h->drawn == pp_states_drawn(w))
        return PP_OK;
    return pp_error_set(err, PP_EFAIL,
                        "process %d has drawn other initial weights for rank %d than process 0 "
                        "would draw: their C libraries or processors compute other numbers; run "
                        "the same system on all hosts, or --resume a checkpoint",
                        h->process, w->rank);
}

enum pp_status pp_tcp_check_hello(const struct pp_tcp *t, const struct pp_hello *own,
                                  const struct pp_hello *h, struct pp_error *err)
{
    if (h->frame_bytes != own->frame_bytes)
        return pp_error_set(err, PP_EFAIL, "a caller is no pipeexec of this version");
    if (h->processes != own->processes)
        return pp_error_set(
            err, PP_EFAIL,
            "process %d says that it is one of %d processes, process %d one of %d (%s)", h->process,
            h->processes, own->process, own->processes, t->m->options.meeting.source);
    if (h->process <= 0 || h->process >= t->processes)
        return pp_error_set(err, PP_EFAIL, "a caller says that it is process %d of %d", h->process,
                            t->processes);
    if (t->links[h->process].fd >= 0)
        return pp_error_set(err, PP_EFAIL, "two processes say that they are process %d of %d (%s)",
                            h->process, t->processes, t->m->options.meeting.source);
    if (h->program_hash != own->program_hash)
        return pp_error_set(
            err, PP_EFAIL,
            "process %d runs program %016llx, process %d runs %016llx: give all the "
            "same schedule and layout",
            h->process, (unsigned long long)h->program_hash, own->process,
            (unsigned long long)own->program_hash);
    PP_TRY(check_alike(own, h, err));
    return check_drawn(t, h, err);
}

enum { HELLO_S = 5, LOOK_MS = 100, SHORT_MS = 10 };
static const double CROWDED_S = 0.25; /* for a hello, while another caller waits for a place */

void pp_door_open(struct pp_door *door, int listener, uint64_t token)
{
    *door = (struct pp_door){.listener = listener, .token = token};
    for (int k = 0; k < PP_DOOR_PLACES; k++)
        door->callers[k].fd = -1;
}

void pp_door_close(struct pp_door *door)
{
    for (int k = 0; k < PP_DOOR_PLACES; k++)
        if (door->callers[k].fd >= 0)
            close(door->callers[k].fd);
    close(door->listener);
}

void pp_door_refuse(int fd, enum pp_status status, const char *text)
{
    struct pp_answer answer = {.magic = PP_HELLO_MAGIC, .status = (int32_t)status};

    snprintf(answer.text, sizeof(answer.text), "%s", text);
    pp_socket_patience(fd, 1);
    pp_socket_write(fd, &answer, sizeof(answer));
    close(fd);
}

/* ---- unknown callers ------------------------------------------------------------------------- */

static void note_unknown(struct pp_door *door, const struct pp_caller *caller)
{
    door->refused++;
    pp_socket_name(&caller->from, door->last);
}

static void leave(struct pp_door *door, struct pp_caller *caller)
{
    note_unknown(door, caller);
    close(caller->fd);
    caller->fd = -1;
}

static void leave_the_silent(struct pp_door *door, double now_s)
{
    for (int k = 0; k < PP_DOOR_PLACES; k++)
        if (door->callers[k].fd >= 0 && now_s >= door->callers[k].since_s + HELLO_S)
            leave(door, &door->callers[k]);
}

static void refuse_other_run(struct pp_door *door, struct pp_caller *caller)
{
    note_unknown(door, caller);
    pp_door_refuse(caller->fd, PP_EFAIL,
                   "another run of pipeexec listens there: give each run its own MASTER_PORT (or "
                   "all processes of a run the same PIPEEXEC_RUN_ID)");
    caller->fd = -1;
}

/* ---- callers --------------------------------------------------------------------------------- */

static struct pp_caller *free_place(struct pp_door *door)
{
    for (int k = 0; k < PP_DOOR_PLACES; k++)
        if (door->callers[k].fd < 0)
            return &door->callers[k];
    return NULL;
}

static void let_in(struct pp_door *door, double now_s)
{
    struct pp_caller *place = free_place(door);
    socklen_t length = sizeof(place->from);

    if (!place)
        return;
    *place = (struct pp_caller){.since_s = now_s};
    place->fd = accept4(door->listener, (struct sockaddr *)&place->from, &length, SOCK_CLOEXEC);
    door->cannot = place->fd < 0 ? errno : 0; /* no descriptors left, or the caller is gone */
    if (place->fd < 0)
        poll(NULL, 0, SHORT_MS);
}

static bool is_out_of_descriptors(const struct pp_door *door)
{
    return door->cannot == EMFILE || door->cannot == ENFILE;
}

/* Puts out the oldest caller for one that waits outside. */
static void make_room(struct pp_door *door, double now_s)
{
    struct pollfd outside = {.fd = door->listener, .events = POLLIN};
    struct pp_caller *oldest = NULL;

    if ((free_place(door) && !is_out_of_descriptors(door)) || poll(&outside, 1, 0) <= 0)
        return;
    for (int k = 0; k < PP_DOOR_PLACES; k++) {
        struct pp_caller *caller = &door->callers[k];
        if (caller->fd >= 0 && (!oldest || caller->since_s < oldest->since_s))
            oldest = caller;
    }
    if (oldest && now_s >= oldest->since_s + CROWDED_S)
        leave(door, oldest);
}

static bool is_full(const struct pp_door *door)
{
    bool has_callers = false;

    for (int k = 0; k < PP_DOOR_PLACES; k++)
        has_callers = has_callers || door->callers[k].fd >= 0;
    return !has_callers && is_out_of_descriptors(door);
}

/* Reads more of a hello. True: it is complete and of this run. */
static bool listen_to(struct pp_door *door, struct pp_caller *caller)
{
    const ssize_t count = recv(caller->fd, (char *)&caller->hello + caller->bytes,
                               sizeof(caller->hello) - caller->bytes, MSG_DONTWAIT);

    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    caller->bytes += count > 0 ? (size_t)count : 0;
    if (count <= 0 && caller->bytes == 0) { /* a test whether a process listens */
        close(caller->fd);
        caller->fd = -1;
        return false;
    }
    if (count <= 0 ||
        (caller->bytes >= sizeof(caller->hello.magic) && caller->hello.magic != PP_HELLO_MAGIC))
        leave(door, caller);
    else if (caller->bytes == sizeof(caller->hello) && caller->hello.token != door->token)
        refuse_other_run(door, caller);
    return caller->fd >= 0 && caller->bytes == sizeof(caller->hello);
}

/* Hears callers once; returns one with a complete hello. Without a free place, new ones wait. */
static struct pp_caller *hear(struct pp_door *door, int wait_ms)
{
    struct pollfd fds[PP_DOOR_PLACES + 1];
    struct pp_caller *callers[PP_DOOR_PLACES], *ready = NULL;
    nfds_t count = 0;

    make_room(door, pp_clock_s());
    for (int k = 0; k < PP_DOOR_PLACES; k++)
        if (door->callers[k].fd >= 0) {
            callers[count] = &door->callers[k];
            fds[count++] = (struct pollfd){.fd = door->callers[k].fd, .events = POLLIN};
        }
    const nfds_t outside = count; /* poll allows no more places than open descriptors */
    if (free_place(door))
        fds[count++] = (struct pollfd){.fd = door->listener, .events = POLLIN};
    if (poll(fds, count, count > outside ? wait_ms : SHORT_MS) <= 0)
        return NULL;
    for (nfds_t k = 0; k < outside && !ready; k++)
        if (fds[k].revents && listen_to(door, callers[k]))
            ready = callers[k];
    if (count > outside && fds[outside].revents)
        let_in(door, pp_clock_s());
    return ready;
}

enum pp_status pp_door_next(struct pp_door *door, double until_s, struct pp_caller *caller,
                            struct pp_error *err)
{
    for (double now_s, left_s; (left_s = until_s - (now_s = pp_clock_s())) > 0;) {
        struct pp_caller *ready = hear(door, left_s > 1e-3 * LOOK_MS ? LOOK_MS : SHORT_MS);

        if (ready) {
            *caller = *ready;
            ready->fd = -1;
            return PP_OK;
        }
        leave_the_silent(door, now_s);
        if (is_full(door))
            return pp_error_set(err, PP_EFAIL,
                                "no connection to another process can be taken: %s (ulimit -n)",
                                strerror(door->cannot));
        if (door->look)
            PP_TRY(door->look(door->closure, err));
    }
    return pp_error_set(err, PP_EFAIL, "no process has connected");
}
