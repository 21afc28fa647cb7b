/* --valid-data, --valid-every, --valid-steps. */
#include "exec/resolve/parts.h"

enum { USUAL_STEPS = 10 };

/* The samples of validation are the first ones of its data, as they lie. */
static enum pp_status take_steps(const struct pp_exec_wish *wish, const struct pp_text *text,
                                 int *steps, struct pp_error *err)
{
    const int64_t samples = pp_order_samples(text->count, text->seq),
                  whole = samples / text->order.step_samples,
                  most = whole < 1               ? 1
                         : whole > PP_OPTION_BIG ? PP_OPTION_BIG
                                                 : whole;

    *steps = wish->given.valid_steps.count ? wish->valid_steps
             : most < USUAL_STEPS          ? (int)most
                                           : USUAL_STEPS;
    if (*steps <= most)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s: %s has %lld samples of %d tokens, and a step takes %lld; nearest: "
                        "--valid-steps %lld",
                        wish->given.valid_steps.typed, text->name, (long long)samples, text->seq,
                        (long long)text->order.step_samples, (long long)most);
}

enum pp_status pp_exec_valid(struct pp_arena *arena, const struct pp_exec_wish *wish,
                             struct pp_exec_run *run, struct pp_error *err)
{
    const struct pp_given *const need_data[] = {&wish->given.valid_every, &wish->given.valid_steps};
    struct pp_text *text = &run->config.valid;
    struct pp_training *training = &run->training;

    for (size_t i = 0; i < PP_COUNT(need_data) && !wish->valid_data; i++)
        if (need_data[i]->count)
            return pp_error_set(err, PP_EINVAL, "%s has no effect without --valid-data FILE",
                                need_data[i]->typed);
    if (!wish->valid_data)
        return PP_OK;
    if (pp_exec_text(arena, wish, &wish->given.valid_data, &run->config, text, err) != PP_OK)
        return pp_error_prefix(err, "--valid-data: ");
    text->order = (struct pp_sample_order){.kind = PP_ORDER_IN_TURN,
                                           .step_samples = pp_batch_samples(&run->plan.batch)};
    training->valid = text;
    training->valid_every = wish->given.valid_every.count ? wish->valid_every : run->config.steps;
    return take_steps(wish, text, &training->valid_steps, err);
}
