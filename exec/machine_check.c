/* What execution asks of a program beyond what verify asks: at the last BAR of a list the gradients
 * are complete, because their norm is taken there and every update behind it reads it. */
#include "exec/machine_parts.h"

static int last_barrier(const struct pp_program *p, int rank)
{
    int at = -1;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        at = p->kind[i] == PP_BAR ? i : at;
    return at;
}

/* Makes or completes gradients. */
static bool is_gradient(const struct pp_program *p, int i)
{
    const int kind = p->kind[i] == PP_WAIT ? p->aux[i] : p->kind[i];

    return kind == PP_B || kind == PP_W || kind == PP_AR || kind == PP_RS;
}

enum pp_status pp_check_updates(const struct pp_program *p, struct pp_error *err)
{
    for (int r = 0; r < p->ranks; r++) {
        const int barrier = last_barrier(p, r);

        for (int i = p->begin[r]; i < p->begin[r + 1]; i++) {
            const bool is_early = i < barrier && p->kind[i] == PP_U,
                       is_late = i > barrier && is_gradient(p, i);
            const struct pp_op op = pp_program_op(p, i);
            char text[PP_OP_TEXT_BYTES];

            if (!is_early && !is_late)
                continue;
            pp_op_print(&op, pp_program_style(p), text);
            return pp_error_set(err, PP_EPROGRAM,
                                "rank %d op %d: %s stands %s the last BAR of its list, where the "
                                "norm of all gradients is taken; move it %s",
                                r, i - p->begin[r], text, is_early ? "before" : "behind",
                                is_early ? "behind" : "in front");
        }
    }
    return PP_OK;
}
