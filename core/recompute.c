/* What is computed again: its words, and what selective recomputation means to a framework. */
#include "core/roofline_parts.h"

#include <string.h>

const char *const pp_recompute_names[] = {"none", "selective", "full", "stage-aware", NULL};
const struct pp_again_name pp_again_names[] = {
    {"core_attn", PP_AGAIN_CORE},     {"layernorm", PP_AGAIN_NORM}, {"act", PP_AGAIN_ACT},
    {"mla_up_proj", PP_AGAIN_LATENT}, {"mlp", PP_AGAIN_MLP},        {NULL, 0},
};

static unsigned module_of(const char *text, size_t length)
{
    for (const struct pp_again_name *n = pp_again_names; n->name; n++)
        if (strlen(n->name) == length && !strncmp(text, n->name, length))
            return n->module;
    return 0;
}

enum pp_status pp_again_read(const char *text, unsigned *again, struct pp_error *err)
{
    *again = 0;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, "+");
        const unsigned module = module_of(at, length);
        if (module == 0)
            break;
        *again |= module;
        at += length;
        if (!*at)
            return PP_OK;
    }
    pp_error_set(err, PP_EINVAL, "'%.60s': expected modules with + between them, of", text);
    for (const struct pp_again_name *n = pp_again_names; n->name; n++)
        pp_error_append(err, " %s", n->name);
    return PP_EINVAL;
}

const char *pp_again_print(struct pp_arena *arena, unsigned again)
{
    const char *text = "";

    for (const struct pp_again_name *n = pp_again_names; n->name; n++)
        if (again & n->module)
            text = pp_arena_printf(arena, "%s%s%s", text, *text ? "+" : "", n->name);
    return text;
}

bool pp_roofline_is_per_op(const struct pp_cost_inputs *in)
{
    return in->again == 0 && pp_roofline_framework(in)->is_selective_per_op;
}

unsigned pp_roofline_again(const struct pp_cost_inputs *in)
{
    return in->again ? in->again : PP_AGAIN_CORE;
}
