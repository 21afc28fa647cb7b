/* The layout in which parts were measured. Without profiles, a part of another one is refused: its
 * layers are wider or narrower, or it recomputes other modules. */
#include "exec/predict/profile_parts.h"

#include "core/cost/recompute.h"

/* Without a group, 0 and 1 devices are the same. */
static int at_least_one(int devices)
{
    return devices > 1 ? devices : 1;
}

static struct pp_measured_layout layout_of(const struct pp_stage_shape *shape)
{
    return (struct pp_measured_layout){.tp = at_least_one(shape->tp),
                                       .etp = shape->etp > 0 ? shape->etp : at_least_one(shape->tp),
                                       .ep = at_least_one(shape->ep),
                                       .is_sequence_parallel = shape->is_sequence_parallel};
}

void pp_layout_note(struct pp_calibration *c, const struct pp_stage *stage, int kind)
{
    if (c->layout.tp == 0)
        c->layout = layout_of(&stage->shape);
    if (kind == PP_R && !c->layout.has_again) {
        c->layout.has_again = true;
        c->layout.again = stage->shape.again.modules;
    }
}

static void append(const struct pp_measured_layout *layout, struct pp_error *err)
{
    pp_error_append(err, "--tp %d", layout->tp);
    if (layout->tp > 1)
        pp_error_append(err, " --sequence-parallel %s",
                        layout->is_sequence_parallel ? "on" : "off");
    if (layout->etp < layout->tp)
        pp_error_append(err, " --etp %d", layout->etp);
    if (layout->ep > 1 || layout->etp < layout->tp)
        pp_error_append(err, " --ep %d", layout->tp / layout->etp * layout->ep);
}

static bool is_same(const struct pp_measured_layout *a, const struct pp_measured_layout *b)
{
    return a->tp == b->tp && a->etp == b->etp && a->ep == b->ep &&
           a->is_sequence_parallel == b->is_sequence_parallel;
}

static enum pp_status check_group(const struct pp_measured_layout *measured,
                                  const struct pp_measured_layout *wanted, struct pp_error *err)
{
    if (is_same(measured, wanted))
        return PP_OK;
    pp_error_set(err, PP_EINVAL, "durations were measured with ");
    append(measured, err);
    pp_error_append(err, ", this program has ");
    append(wanted, err);
    return pp_error_append(err, ": calibrate with the same");
}

static const char *again_text(unsigned modules, char text[PP_RECOMPUTE_TEXT_BYTES])
{
    return modules ? pp_recompute_print(PP_RECOMPUTE_SELECTIVE, modules, text)
                   : "full or stage-aware=R";
}

/* R of whole blocks is that of no module, and R of other modules is another one. */
static enum pp_status check_again(const struct pp_measured_layout *measured, unsigned modules,
                                  struct pp_error *err)
{
    char text[2][PP_RECOMPUTE_TEXT_BYTES];

    if (!measured->has_again || measured->again == modules)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "R was measured with --recompute %s, this program has --recompute %s: "
                        "calibrate with the same",
                        again_text(measured->again, text[0]), again_text(modules, text[1]));
}

struct pp_calibration *pp_calibration_of_layout(struct pp_arena *arena,
                                                const struct pp_calibration *calibration,
                                                const struct pp_profile *from,
                                                const struct pp_profile *to)
{
    struct pp_calibration *c = PP_NEW(arena, struct pp_calibration);

    *c = *calibration;
    c->from = from;
    c->to = to;
    c->layout = layout_of(&to->options->stages[0]->shape);
    c->is_same_group = is_same(&c->layout, &calibration->layout);
    return c;
}

enum pp_status pp_layout_check(const struct pp_calibration *c, const struct pp_stage *stage,
                               bool has_r, struct pp_error *err)
{
    const struct pp_measured_layout wanted = layout_of(&stage->shape);

    if (c->layout.tp > 0)
        PP_TRY(check_group(&c->layout, &wanted, err));
    return has_r ? check_again(&c->layout, stage->shape.again.modules, err) : PP_OK;
}
