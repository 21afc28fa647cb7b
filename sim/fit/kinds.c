/* Ways to need less memory. */
#include "sim/fit/parts.h"

#include <string.h>

/* Twice as many devices share what one has held: replicas become fewer, or devices more. */
static bool give_devices(struct pp_relief_setting *s)
{
    if (s->dp % 2 == 0)
        s->dp /= 2;
    else if (s->gpus <= INT32_MAX / 2)
        s->gpus *= 2;
    else
        return false;
    return true;
}

static bool recompute_selective(struct pp_relief_setting *s, const struct pp_config *c)
{
    if (strcmp(s->recompute, "none") != 0 ||
        !(c->cluster.device.is_attention_unfused || c->costs.framework->is_selective_per_op))
        return false;
    s->recompute = "selective";
    return true;
}

static bool recompute_full(struct pp_relief_setting *s, const struct pp_config *c)
{
    (void)c;
    if (!strcmp(s->recompute, "full"))
        return false;
    s->recompute = "full";
    return true;
}

static bool share_sequence(struct pp_relief_setting *s, const struct pp_config *c)
{
    (void)c;
    if (!s->is_tp_only || s->tp == 1)
        return false;
    s->is_tp_only = false;
    return true;
}

static bool zero_to(struct pp_relief_setting *s, const struct pp_config *c, int zero)
{
    const int64_t copies = (int64_t)s->dp * s->cp * c->shape.pipelines;

    if (copies < 2 || s->zero < 0 || s->zero >= zero)
        return false;
    s->zero = zero;
    return true;
}
static bool zero_1(struct pp_relief_setting *s, const struct pp_config *c)
{
    return zero_to(s, c, 1);
}
static bool zero_2(struct pp_relief_setting *s, const struct pp_config *c)
{
    return zero_to(s, c, 2);
}
static bool zero_3(struct pp_relief_setting *s, const struct pp_config *c)
{
    return zero_to(s, c, 3);
}

static bool halve_mbs(struct pp_relief_setting *s, const struct pp_config *c)
{
    (void)c;
    if (s->mbs < 2 || s->mbs % 2)
        return false;
    s->mbs /= 2;
    return true;
}

static bool double_tp(struct pp_relief_setting *s, const struct pp_config *c)
{
    if (2 * s->tp > c->cluster.gpus_per_node)
        return false;
    s->tp *= 2;
    return give_devices(s);
}

static bool double_pp(struct pp_relief_setting *s, const struct pp_config *c)
{
    if (c->file_program || 2 * s->pp > c->model.layers)
        return false;
    s->pp *= 2;
    return give_devices(s);
}

static bool double_cp(struct pp_relief_setting *s, const struct pp_config *c)
{
    (void)c;
    s->cp *= 2;
    return give_devices(s);
}

static bool change_schedule(struct pp_relief_setting *s, const struct pp_config *c,
                            const char *name)
{
    if (c->file_program || s->pp == 1 || !strcmp(s->schedule, name))
        return false;
    s->schedule = name;
    return true;
}
static bool to_1f1b(struct pp_relief_setting *s, const struct pp_config *c)
{
    return change_schedule(s, c, "1f1b");
}
static bool to_v_half(struct pp_relief_setting *s, const struct pp_config *c)
{
    return change_schedule(s, c, "v-half");
}

static bool offload(struct pp_relief_setting *s, const char *what)
{
    if (s->offload)
        return false;
    s->offload = what;
    return true;
}
static bool offload_optimizer(struct pp_relief_setting *s, const struct pp_config *c)
{
    (void)c;
    return offload(s, "os=host");
}
static bool offload_activations(struct pp_relief_setting *s, const struct pp_config *c)
{
    (void)c;
    return offload(s, "a=host");
}

bool (*const pp_relief_kinds[])(struct pp_relief_setting *, const struct pp_config *) = {
    recompute_selective,
    share_sequence,
    zero_1,
    zero_2,
    zero_3,
    recompute_full,
    halve_mbs,
    to_1f1b,
    to_v_half,
    double_tp,
    double_pp,
    double_cp,
    offload_optimizer,
    offload_activations,
    NULL,
};
