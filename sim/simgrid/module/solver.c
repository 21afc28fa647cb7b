/* The conductor, an actor, interprets the program and starts flows. Each current flow has a
 * carrier, an actor that sends it through the network and reports its end. Idle carriers wait for
 * the next flow. SimGrid's clock matters only during flows; before the first one the conductor
 * sleeps up to its time. */
#include "sim/simgrid/module/solver.h"

#include "core/units.h"
#include "sim/simgrid/module/platform.h"
#include "sim/simgrid/module/version.h"

#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <stdio.h>
#include <xbt/config.h>

enum { CONDUCTOR_STACK_KIB = 1024, FIRST_CARRIERS = 64 };

struct carrier {
    sg_actor_t actor;
    int wire;
    double bytes;
};

struct conductor {
    struct pp_arena *arena;
    struct pp_simgrid_job *job;
    sg_host_t *host;
    sg_sem_t ended; /* its count is that of carriers in `over` */
    struct carrier **idle, **over;
    int idle_count, idle_capacity, over_count, over_capacity, over_taken;
    int flows;
    bool is_over; /* carriers may end */
};

static struct conductor conductor; /* a process has one SimGrid, too */

static void carry(int argc, char *argv[])
{
    struct conductor *c = &conductor;
    struct carrier *me = sg_actor_get_data(sg_actor_self());

    (void)argc, (void)argv;
    while (!c->is_over) {
        sg_host_sendto(c->host[c->job->source[me->wire]], c->host[c->job->dest[me->wire]],
                       round(me->bytes * PP_SIMGRID_SCALE));
        *PP_PUSH(c->arena, c->over, c->over_count, c->over_capacity) = me;
        sg_sem_release(c->ended);
        if (!c->is_over)
            sg_actor_suspend(me->actor);
    }
}

static void begin(void *context, int wire, double bytes, int64_t now_ps)
{
    struct conductor *c = context;
    const double ahead_s = pp_units_s(now_ps) - simgrid_get_clock();

    if (c->flows++ == 0 && ahead_s > 0)
        sg_actor_sleep_for(ahead_s);
    if (c->idle_count > 0) {
        struct carrier *carrier = c->idle[--c->idle_count];
        carrier->wire = wire;
        carrier->bytes = bytes;
        sg_actor_resume(carrier->actor);
        return;
    }
    struct carrier *carrier = PP_NEW(c->arena, struct carrier);
    *carrier = (struct carrier){
        .actor = sg_actor_init("carrier", c->host[0]), .wire = wire, .bytes = bytes};
    sg_actor_set_data(carrier->actor, carrier);
    sg_actor_start_(carrier->actor, carry, 0, NULL);
}

/* Times since the beginning may exceed the largest duration of pp_units_ps(). */
static int64_t clock_ps(void)
{
    const double ps = round(simgrid_get_clock() * 1e12);

    return ps < (double)INT64_MAX ? (int64_t)ps : INT64_MAX;
}

static int advance(void *context, int64_t until_ps, int64_t *end_ps)
{
    struct conductor *c = context;

    if (c->over_taken == c->over_count) {
        c->over_taken = c->over_count = 0;
        const double ahead_s = pp_units_s(until_ps) - simgrid_get_clock();
        if (until_ps == INT64_MAX)
            sg_sem_acquire(c->ended);
        else if (ahead_s <= 0 || sg_sem_acquire_timeout(c->ended, ahead_s))
            return -1;
    } else {
        sg_sem_acquire(c->ended); /* its count is that of `over` */
    }
    struct carrier *carrier = c->over[c->over_taken++];
    *PP_PUSH(c->arena, c->idle, c->idle_count, c->idle_capacity) = carrier;
    c->flows--;
    *end_ps = clock_ps();
    return carrier->wire;
}

static void conduct(int argc, char *argv[])
{
    const struct pp_solver solver = {.context = &conductor, .begin = begin, .advance = advance};

    (void)argc, (void)argv;
    conductor.job->act(conductor.job->context, &solver);
    conductor.is_over = true;
    for (int k = 0; k < conductor.idle_count; k++)
        sg_actor_resume(conductor.idle[k]->actor);
    for (int k = conductor.over_taken; k < conductor.over_count; k++)
        sg_actor_resume(conductor.over[k]->actor);
}

enum pp_status pp_simgrid_run(struct pp_simgrid_job *job, struct pp_error *err)
{
    struct conductor *c = &conductor;

    pp_simgrid_start();
    sg_cfg_set_int("contexts/guard-size", 0); /* so many stacks would have too many guard pages */
    sg_cfg_set_double(PP_SG_TIME_PRECISION, 1e-13);
    simgrid_load_platform(job->platform);
    *c = (struct conductor){.arena = pp_arena_create(), .job = job, .ended = sg_sem_init(0)};
    c->host = PP_ARRAY(c->arena, sg_host_t, job->hosts);
    for (int k = 0; k < job->hosts; k++) {
        char name[16];
        snprintf(name, sizeof(name), "h%d", k);
        c->host[k] = sg_host_by_name(name);
        if (!c->host[k])
            return pp_error_set(err, PP_EFAIL, "SimGrid lost host %s of the platform", name);
    }
    sg_actor_t actor = sg_actor_init("conductor", c->host[0]);
    sg_actor_set_stacksize(actor, CONDUCTOR_STACK_KIB);
    sg_actor_start_(actor, conduct, 0, NULL);
    simgrid_run();
    pp_arena_destroy(c->arena);
    return PP_OK;
}
