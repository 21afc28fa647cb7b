/* Passes of a generating program: loops through the same stages, one for each token. */
#include "schedules/program/freeze.h"

static enum pp_status fail(const struct pp_program_head *head, struct pp_error *err)
{
    return head->file ? pp_error_prefix(err, "%s: passes: ", head->file)
                      : pp_error_prefix(err, "passes: ");
}

static enum pp_status check(const struct pp_program_head *head, struct pp_error *err)
{
    const int passes = head->passes, model = head->stages / passes;

    if (head->mode != PP_MODE_INFER)
        return pp_error_set(err, PP_EPROGRAM, "%d, but the program has backwards or mode: train",
                            passes);
    if (head->stages % passes)
        return pp_error_set(err, PP_EPROGRAM,
                            "%d does not divide the %d stages: every pass goes through all stages "
                            "of the model",
                            passes, head->stages);
    for (int pipe = 0; pipe < head->pipelines; pipe++)
        for (int v = model; v < head->stages; v++) {
            const uint16_t *rank_of = head->rank_of + (size_t)pipe * (size_t)head->stages;
            if (rank_of[v] != rank_of[v % model])
                return pp_error_set(err, PP_EPROGRAM,
                                    "stages %d and %d have the same weights, but are on ranks %d "
                                    "and %d",
                                    v % model, v, rank_of[v % model], rank_of[v]);
        }
    return PP_OK;
}

enum pp_status pp_freeze_check_passes(const struct pp_program_head *head, struct pp_error *err)
{
    return head->passes == 0 || check(head, err) == PP_OK ? PP_OK : fail(head, err);
}
