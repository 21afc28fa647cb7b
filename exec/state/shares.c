/* Layout of a state: which elements each copy of a stage has of each vector, and where. */
#include "exec/state/state.h"

/* ---- ranges ---------------------------------------------------------------------------------- */

/* Returns the elements of a part of the flat vectors. */
static struct pp_range part_of(const struct pp_stage *stage, enum pp_state_part part)
{
    const int64_t experts = stage->experts_from > 0 ? stage->experts_from : stage->elements;

    return part == PP_OF_ALL ? (struct pp_range){0, experts}
                             : (struct pp_range){experts, stage->elements};
}

/* Elements of the longest share. */
static int64_t longest(struct pp_range part, int copies)
{
    return pp_flat_unit_from((part.until - part.from + copies - 1) / copies);
}

/* Returns the run of shares that a copy has of a class, which is cut over `cut` copies. */
static struct pp_range run_of(struct pp_range part, int copy, int cut, struct pp_cuts cuts)
{
    const int shares = cuts.optimizer / cut;
    const int64_t each = longest(part, cuts.optimizer) * shares,
                  from = part.from + copy / shares * each;

    return pp_range_common(part, (struct pp_range){from, from + each});
}

/* Elements of the longest run. */
static int64_t run_elements(struct pp_range part, int cut, struct pp_cuts cuts)
{
    const int64_t run = longest(part, cuts.optimizer) * (cuts.optimizer / cut),
                  all = part.until - part.from;

    return run < all ? run : all;
}

int64_t pp_share_elements(const struct pp_stage *stage, int copies)
{
    return longest(part_of(stage, PP_OF_ALL), copies);
}

struct pp_range pp_share_of(const struct pp_stage *stage, int copy, int copies)
{
    return run_of(part_of(stage, PP_OF_ALL), copy, copies, (struct pp_cuts){.optimizer = copies});
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static int cut_of(int cut, int ep)
{
    return ep > 1 ? (cut > ep ? cut / ep : 1) : cut;
}

struct pp_cuts pp_cuts_of(struct pp_cuts cuts, enum pp_state_part part)
{
    const int ep = part == PP_OF_EXPERTS ? cuts.ep : 1;

    return (struct pp_cuts){.params = cut_of(cuts.params, ep),
                            .grads = cut_of(cuts.grads, ep),
                            .optimizer = cut_of(cuts.optimizer, ep),
                            .most_grads[PP_OF_ALL] = cuts.most_grads[part]};
}

/* Returns the gradients that a copy keeps: all that its blocks of squares have. */
static struct pp_range summed_of(const struct pp_stage *stage, enum pp_state_part part, int copy,
                                 struct pp_cuts cuts)
{
    const struct pp_range run = run_of(part_of(stage, part), copy, cuts.grads, cuts);

    return cuts.grads > 1 ? (struct pp_range){run.from, pp_squares_end(stage, run)} : run;
}

int64_t pp_most_grads(const struct pp_stage *stage, enum pp_state_part part, struct pp_cuts cuts)
{
    const struct pp_cuts of = pp_cuts_of(cuts, part);
    int64_t most = run_elements(part_of(stage, part), of.grads, of);

    for (int copy = 0; of.grads > 1 && copy < of.optimizer; copy += of.optimizer / of.grads) {
        const struct pp_range summed = summed_of(stage, part, copy, of);
        const int64_t count = pp_flat_unit_from(summed.until) - summed.from;
        most = count > most ? count : most;
    }
    return most;
}

/* Elements of a part in each vector, as many as the copy with the most has. */
struct room {
    int64_t weights, gradients, moment;
};

static struct room room_of(const struct pp_stage *stage, enum pp_state_part part,
                           struct pp_cuts cuts)
{
    const struct pp_cuts of = pp_cuts_of(cuts, part);
    const struct pp_range all = part_of(stage, part);
    const int64_t most_grads = of.most_grads[PP_OF_ALL];

    if (all.from >= all.until)
        return (struct room){0};
    return (struct room){.weights = run_elements(all, of.params, of),
                         .gradients =
                             most_grads > 0 ? most_grads : pp_most_grads(stage, part, cuts),
                         .moment = longest(all, of.optimizer)};
}

static bool has_master(const struct pp_kernels *k)
{
    return k->element_bytes != k->gradient_bytes;
}

struct pp_state_bytes pp_state_bytes(const struct pp_stage *stage, const struct pp_kernels *k,
                                     bool is_exact, struct pp_cuts cuts)
{
    const struct room all = room_of(stage, PP_OF_ALL, cuts),
                      experts = room_of(stage, PP_OF_EXPERTS, cuts);
    const size_t moment = (size_t)(all.moment + experts.moment) * k->gradient_bytes,
                 weights = (size_t)(all.weights + experts.weights) * k->element_bytes;

    if (cuts.has_weights_alone)
        return (struct pp_state_bytes){.weights = weights};
    return (struct pp_state_bytes){
        .weights = weights,
        .gradients = (size_t)(all.gradients + experts.gradients) *
                     (is_exact ? sizeof(int64_t) : k->gradient_bytes),
        .optimizer = (has_master(k) ? 3 : 2) * moment,
        .moment = moment,
    };
}

/* ---- vectors --------------------------------------------------------------------------------- */

static struct pp_state_experts experts_of(const struct pp_stage *stage, int copy,
                                          struct pp_cuts cuts)
{
    const struct pp_cuts of = pp_cuts_of(cuts, PP_OF_EXPERTS);
    const struct pp_range all = part_of(stage, PP_OF_EXPERTS);
    const struct room before = room_of(stage, PP_OF_ALL, cuts);

    return (struct pp_state_experts){
        .from = stage->experts_from,
        .share = {run_of(all, copy, of.optimizer, of), before.moment},
        .held = {run_of(all, copy, of.params, of), before.weights},
        .summed = {summed_of(stage, PP_OF_EXPERTS, copy, of), before.gradients}};
}

struct pp_state pp_state_of_copy(const struct pp_stage *stage, const struct pp_kernels *k,
                                 bool is_exact, const int copy[static PP_STATE_PARTS],
                                 struct pp_cuts cuts, char *at)
{
    const struct pp_state_bytes bytes = pp_state_bytes(stage, k, is_exact, cuts);
    const struct pp_range all = part_of(stage, PP_OF_ALL);
    char *gradients = cuts.has_weights_alone ? NULL : at + bytes.weights,
         *m = gradients ? gradients + bytes.gradients : NULL, *v = m ? m + bytes.moment : NULL;

    return (struct pp_state){.weights = at,
                             .sum = is_exact ? NULL : gradients,
                             .fixed = is_exact ? (int64_t *)(void *)gradients : NULL,
                             .m = m,
                             .v = v,
                             .master = v && has_master(k) ? v + bytes.moment : NULL,
                             .share = run_of(all, copy[PP_OF_ALL], cuts.optimizer, cuts),
                             .held = run_of(all, copy[PP_OF_ALL], cuts.params, cuts),
                             .summed = summed_of(stage, PP_OF_ALL, copy[PP_OF_ALL], cuts),
                             .experts = experts_of(stage, copy[PP_OF_EXPERTS], cuts)};
}

struct pp_state pp_state_at(const struct pp_stage *stage, const struct pp_kernels *k, bool is_exact,
                            int copy, struct pp_cuts cuts, char *at)
{
    return pp_state_of_copy(stage, k, is_exact, (const int[PP_STATE_PARTS]){copy}, cuts, at);
}

struct pp_range pp_state_share(const struct pp_state *state, enum pp_state_part part)
{
    return part == PP_OF_ALL ? state->share : state->experts.share.range;
}

struct pp_range pp_state_held(const struct pp_state *state, enum pp_state_part part)
{
    return part == PP_OF_ALL ? state->held : state->experts.held.range;
}

struct pp_range pp_state_summed(const struct pp_state *state, enum pp_state_part part)
{
    return part == PP_OF_ALL ? state->summed : state->experts.summed.range;
}

enum pp_state_part pp_state_part_of(const struct pp_state *state, int64_t element)
{
    return state->experts.from > 0 && element >= state->experts.from ? PP_OF_EXPERTS : PP_OF_ALL;
}

/* Returns the place of an element in a vector. */
static size_t place_of(const struct pp_state *state, struct pp_range of_all,
                       const struct pp_portion *of_experts, int64_t element)
{
    return (size_t)(pp_state_part_of(state, element) == PP_OF_ALL
                        ? element - of_all.from
                        : of_experts->at + element - of_experts->range.from);
}

void *pp_state_weight(const struct pp_state *state, const struct pp_kernels *k, int64_t element)
{
    return (char *)state->weights +
           place_of(state, state->held, &state->experts.held, element) * k->element_bytes;
}

void *pp_state_gradient(const struct pp_state *state, const struct pp_kernels *k, int64_t element)
{
    const size_t at = place_of(state, state->summed, &state->experts.summed, element);

    return state->fixed ? (void *)(state->fixed + at) : (char *)state->sum + at * k->gradient_bytes;
}

void *pp_state_in_share(const struct pp_state *state, const struct pp_kernels *k, void *vector,
                        int64_t element)
{
    const size_t at = place_of(state, state->share, &state->experts.share, element);

    return vector ? (char *)vector + at * k->gradient_bytes : NULL;
}

struct pp_state pp_state_with(const struct pp_state *state, void *gradients)
{
    struct pp_state with = *state;

    with.sum = state->fixed ? NULL : gradients;
    with.fixed = state->fixed ? gradients : NULL;
    return with;
}

struct pp_state pp_state_window(const struct pp_state *state, struct pp_range window)
{
    const struct pp_range share = state->share;
    const struct pp_portion experts = state->experts.share;
    const int64_t before = experts.at - window.from, first = before > 0 ? 0 : -before;
    struct pp_state part = *state;

    part.share = pp_range_common(
        share, (struct pp_range){share.from + window.from, share.from + window.until});
    if (state->experts.from > 0)
        part.experts.share = (struct pp_portion){
            pp_range_common(experts.range,
                            (struct pp_range){experts.range.from + first,
                                              experts.range.from + window.until - experts.at}),
            before > 0 ? before : 0};
    return part;
}

void pp_state_own_weights(struct pp_state *part, void *weights)
{
    part->weights = weights;
    part->held = part->share;
    part->experts.held = part->experts.share;
}

void pp_state_own_gradients(struct pp_state *part, void *gradients)
{
    part->sum = part->fixed ? NULL : gradients;
    part->fixed = part->fixed ? gradients : NULL;
    part->summed = part->share;
    part->experts.summed = part->experts.share;
}

static void *moved(const void *vector, const char *there, char *here)
{
    return vector ? here + ((const char *)vector - there) : NULL;
}

struct pp_state pp_state_shifted(const struct pp_state *state, const char *there, char *here)
{
    struct pp_state shifted = *state;

    shifted.weights = moved(state->weights, there, here);
    shifted.master = moved(state->master, there, here);
    shifted.m = moved(state->m, there, here);
    shifted.v = moved(state->v, there, here);
    shifted.sum = moved(state->sum, there, here);
    shifted.fixed = moved(state->fixed, there, here);
    return shifted;
}
