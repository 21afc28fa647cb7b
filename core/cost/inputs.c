/* Names of recomputation and of the places of embedding and head. */
#include "core/cost/inputs.h"

#include <stdio.h>
#include <string.h>

const char *const pp_head_names[] = {"last",     "balanced",       "counted",    "ignored",
                                     "parallel", "parallel-twice", "interlaced", NULL};

bool pp_head_is_shared(enum pp_head head)
{
    return head >= PP_HEAD_PARALLEL;
}

int pp_head_flights(enum pp_head head, int ranks)
{
    const int flights[] = {[PP_HEAD_PARALLEL] = 1,
                           [PP_HEAD_PARALLEL_TWICE] = 2,
                           [PP_HEAD_INTERLACED] = (ranks + 1) / 2};

    return ranks > 1 ? flights[head] : 0;
}

const char *const pp_recompute_names[] = {"none", "selective", "full", "stage-aware", NULL};
const struct pp_again_name pp_again_names[] = {
    {"core_attn", PP_AGAIN_CORE}, {"layernorm", PP_AGAIN_NORM},
    {"act", PP_AGAIN_ACT},        {"mla_up_proj", PP_AGAIN_LATENT},
    {"mlp", PP_AGAIN_MLP},        {"moe", PP_AGAIN_MOE},
    {"moe_act", PP_AGAIN_ACT},    {NULL, 0},
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

void pp_again_print(unsigned again, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (const struct pp_again_name *n = pp_again_names; n->name && used < size; n++)
        if (again & n->module) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "+" : "", n->name);
            again &= ~(unsigned)n->module;
        }
}

const char *pp_recompute_print(enum pp_recompute recompute, unsigned again,
                               char text[PP_RECOMPUTE_TEXT_BYTES])
{
    const bool has_modules = recompute == PP_RECOMPUTE_SELECTIVE && again;
    const int used = snprintf(text, PP_RECOMPUTE_TEXT_BYTES, "%s%s", pp_recompute_names[recompute],
                              has_modules ? "=" : "");

    if (has_modules)
        pp_again_print(again, text + used, (size_t)(PP_RECOMPUTE_TEXT_BYTES - used));
    return text;
}
