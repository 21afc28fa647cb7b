/* schedules/verify/kv.c — keys and values on another tier: what a pass of a generating program
 * reads has come up, and had gone down before. Programs without such copies have them on the
 * device. */
#include "schedules/verify/parts.h"

/* Keys and values of a granule in a stage of the model. */
struct cached {
    int32_t downs;     /* passes whose part has left */
    int32_t down, up;  /* last COPY.kv-down without a WAIT, last COPY.kv-up; -1 = none */
    bool is_up_waited; /* there is a WAIT for it */
};

struct kv {
    struct pp_verify *v;
    struct cached *cached; /* [model stage][granule] */
    int model_stages, rank;
};

typedef enum pp_status granule_visit(struct kv *, int i, int granule, struct cached *);

/* Visits the granules that instruction `named` names; `i` is the one to blame. */
static enum pp_status visit(struct kv *kv, int i, int named, granule_visit *rule)
{
    const struct pp_program *p = kv->v->p;
    const int row = p->stage[named] % kv->model_stages * kv->v->granules;

    for (int g = p->mb[named]; g < p->mb[named] + p->granule_count[named]; g++)
        PP_TRY(rule(kv, i, g, &kv->cached[row + g]));
    return PP_OK;
}

static int pass_of(const struct kv *kv, int i)
{
    return kv->v->p->stage[i] / kv->model_stages;
}

/* COPY.kv-down: after its forward, pass by pass. */
static enum pp_status go_down(struct kv *kv, int i, int granule, struct cached *c)
{
    const struct pp_program *p = kv->v->p;
    const int made = kv->v->at[AT_F][pp_verify_unit(kv->v, p->stage[i], granule, p->split[i])];

    if (made < p->begin[kv->rank] || made >= p->begin[kv->rank + 1])
        return pp_verify_fail_elsewhere(kv->v, i);
    if (made > i)
        return pp_verify_refuse(kv->v, i, "comes before %s, which makes it",
                                pp_verify_text(kv->v, made));
    if (c->downs != pass_of(kv, i))
        return pp_verify_refuse(kv->v, i,
                                "is of pass %d, but what passes before %d have made has "
                                "left: a COPY.kv-down follows each pass",
                                pass_of(kv, i), c->downs);
    if (c->down >= 0)
        return pp_verify_fail_unwaited(kv->v, i, "follows", c->down, "moves away");
    c->downs++;
    c->down = i;
    return PP_OK;
}

/* COPY.kv-up: once all earlier passes have gone down. */
static enum pp_status come_up(struct kv *kv, int i, int granule, struct cached *c)
{
    (void)granule;
    if (pass_of(kv, i) == 0)
        return pp_verify_refuse(kv->v, i, "is of pass 0, before which nothing is cached");
    if (c->downs < pass_of(kv, i))
        return pp_verify_refuse(kv->v, i,
                                "brings back what no COPY.kv-down of pass %d has moved "
                                "away",
                                c->downs);
    if (c->up >= 0 && kv->v->p->stage[c->up] == kv->v->p->stage[i])
        return pp_verify_refuse(kv->v, i, "copies what %s has copied before",
                                pp_verify_text(kv->v, c->up));
    c->up = i;
    c->is_up_waited = false;
    return PP_OK;
}

static enum pp_status arrive(struct kv *kv, int i, int granule, struct cached *c)
{
    const int copy = kv->v->p->begin[kv->rank] + kv->v->p->arg[i];

    (void)granule;
    c->is_up_waited |= c->up == copy;
    c->down = c->down == copy ? -1 : c->down;
    return PP_OK;
}

static enum pp_status use(struct kv *kv, int i, int granule, struct cached *c)
{
    (void)granule;
    if (pass_of(kv, i) == 0)
        return PP_OK;
    if (c->up < 0 || kv->v->p->stage[c->up] != kv->v->p->stage[i])
        return pp_verify_refuse(kv->v, i,
                                "reads keys and values of earlier passes, and no "
                                "COPY.kv-up brings them");
    return c->is_up_waited ? PP_OK
                           : pp_verify_fail_unwaited(kv->v, i, "uses", c->up, "brings back");
}

static enum pp_status check(struct kv *kv, int i)
{
    const struct pp_program *p = kv->v->p;
    const bool is_copy = p->kind[i] == PP_COPY && pp_move_is_cache(p->purpose[i]);

    if (is_copy && p->passes == 0)
        return pp_verify_refuse(kv->v, i,
                                "moves keys and values, but this program generates "
                                "nothing: its head has no '# passes: T'");
    if (is_copy)
        return visit(kv, i, i, pp_move_is_up(p->purpose[i]) ? come_up : go_down);
    if (p->kind[i] == PP_WAIT && p->aux[i] == PP_COPY && pp_move_is_cache(p->purpose[i]))
        return visit(kv, i, p->begin[kv->rank] + p->arg[i], arrive);
    return p->kind[i] == PP_F ? visit(kv, i, i, use) : PP_OK;
}

/* At the end all keys and values are on the other tier, and buffers are free. */
static enum pp_status check_end(struct kv *kv)
{
    const struct pp_program *p = kv->v->p;

    for (int i = 0; i < pp_program_size(p); i++) {
        if (p->kind[i] != PP_F || pass_of(kv, i) + 1 < p->passes)
            continue;
        const int row = p->stage[i] % kv->model_stages * kv->v->granules;
        for (int g = p->mb[i]; g < p->mb[i] + p->granule_count[i]; g++) {
            const struct cached *c = &kv->cached[row + g];
            if (c->downs < p->passes)
                return pp_verify_refuse(kv->v, i,
                                        "makes keys and values of pass %d, and no "
                                        "COPY.kv-down moves them away",
                                        c->downs);
            if (c->down >= 0)
                return pp_verify_refuse(kv->v, c->down, "has no WAIT: its buffer is never free");
        }
    }
    return PP_OK;
}

static bool has_work(const struct pp_program *p)
{
    for (int i = 0; i < pp_program_size(p); i++)
        if (p->kind[i] == PP_COPY && pp_move_is_cache(p->purpose[i]))
            return true;
    return false;
}

enum pp_status pp_verify_kv(struct pp_verify *v)
{
    const struct pp_program *p = v->p;
    struct kv kv = {.v = v, .model_stages = pp_program_model_stages(p)};

    if (!has_work(p))
        return PP_OK;
    const size_t count = (size_t)kv.model_stages * (size_t)v->granules;
    kv.cached = PP_ARRAY(v->arena, struct cached, count);
    for (size_t k = 0; k < count; k++)
        kv.cached[k].down = kv.cached[k].up = -1;
    for (kv.rank = 0; kv.rank < p->ranks; kv.rank++)
        for (int i = p->begin[kv.rank]; i < p->begin[kv.rank + 1]; i++)
            PP_TRY(check(&kv, i));
    return check_end(&kv);
}
