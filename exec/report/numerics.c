/* Positions, norms, activation and windows of the model that ran, and its recomputation. */
#include "exec/report/report.h"

#include "core/text/json_write.h"

#include <jansson.h>
#include <math.h>

static const char *const PLACES[] = {
    [PP_NORM_PRE] = "pre", [PP_NORM_POST] = "post", [PP_NORM_PARALLEL] = "parallel"};

/* Returns how many blocks meet near keys only. */
static int windowed(const struct pp_net *net)
{
    int count = 0;

    for (int block = 0; block < net->layers; block++)
        count += pp_net_window(net, block) > 0;
    return count;
}

/* Returns the elements of a head that are rotated. */
static int rotated(const struct pp_net *net)
{
    return net->rotary.dim > 0 ? net->rotary.dim : net->head_dim;
}

/* ---- text ------------------------------------------------------------------------------------ */

static size_t append_rotary(char text[PP_EXEC_TEXT_BYTES], size_t used, const struct pp_net *net,
                            const struct pp_rope *rope)
{
    char theta[PP_UNITS_TEXT_BYTES];

    if (rope->theta == floor(rope->theta))
        pp_units_print_count((int64_t)rope->theta, theta);
    else
        snprintf(theta, sizeof(theta), "%g", rope->theta);
    used = pp_exec_append(text, used, ", rotary positions of base~%s", theta);
    if (rotated(net) < net->head_dim)
        used = pp_exec_append(text, used, " in %d~of %d elements", rotated(net), net->head_dim);
    if (rope->scaling)
        used = pp_exec_append(text, used, " scaled by %s, factor~%g", rope->scaling, rope->factor);
    return used;
}

void pp_exec_report_numerics(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    static const char *const places[] = {[PP_NORM_PRE] = "",
                                         [PP_NORM_POST] = " after each sum",
                                         [PP_NORM_PARALLEL] = " before both halves of a block"};
    const struct pp_net *net = &run->config.net;
    const struct pp_numerics n = pp_model_numerics(&run->config.model);
    char text[PP_EXEC_TEXT_BYTES], keys[PP_UNITS_TEXT_BYTES];
    size_t used =
        pp_exec_append(text, 0, "%s: %s, %s~norm%s (epsilon~%g)%s", run->config.model.family,
                       n.activation, net->is_rms ? "RMS" : "layer", places[n.norm_place],
                       n.norm_epsilon, net->has_qk_norm ? ", also of queries and keys" : "");

    used = net->has_positions ? pp_exec_append(text, used, ", learned positions")
                              : append_rotary(text, used, net, &n.rope);
    if (windowed(net) > 0)
        pp_exec_append(text, used, ", windows of %s~keys in %d~of %d layers",
                       pp_units_print_count(net->window.keys, keys), windowed(net), net->layers);
    pp_exec_paragraph(page, "family", "%s", text);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

json_t *pp_exec_numerics_json(const struct pp_exec_run *run)
{
    const struct pp_net *net = &run->config.net;
    const struct pp_numerics n = pp_model_numerics(&run->config.model);
    const bool is_rotary = !net->has_positions;
    json_t *o = json_object();

    pp_json_put_text(o, "activation", n.activation);
    pp_json_put_text(o, "norm", net->is_rms ? "rms" : "layer");
    pp_json_put(o, "norm_epsilon", n.norm_epsilon);
    pp_json_put_text(o, "norm_place", PLACES[n.norm_place]);
    pp_json_put_bool(o, "qk_norm", net->has_qk_norm);
    pp_json_put_text(o, "positions", is_rotary ? "rotary" : "learned");
    pp_json_put(o, "rope_theta", is_rotary ? n.rope.theta : (double)NAN);
    json_object_set_new(o, "rope_dim", is_rotary ? json_integer(rotated(net)) : json_null());
    pp_json_put_text(o, "rope_scaling", is_rotary ? n.rope.scaling : NULL);
    pp_json_put(o, "rope_factor", is_rotary && n.rope.scaling ? n.rope.factor : (double)NAN);
    json_object_set_new(o, "window_keys",
                        windowed(net) > 0 ? json_integer(net->window.keys) : json_null());
    pp_json_put_int(o, "windowed_layers", windowed(net));
    return o;
}

const char *pp_exec_recompute_value(const struct pp_exec_run *run,
                                    char text[PP_EXEC_RECOMPUTE_BYTES])
{
    const struct pp_recompute_choice *c = &run->config.recompute;
    char how[PP_RECOMPUTE_TEXT_BYTES], ratio[32] = "", words[PP_AGAIN_WORDS_BYTES] = "";
    const bool has_own =
        c->how == PP_RECOMPUTE_NONE && pp_program_has_kind(run->plan.program, PP_R);

    pp_recompute_print(has_own ? PP_RECOMPUTE_FULL : c->how, c->again, how);
    if (c->how == PP_RECOMPUTE_STAGE)
        snprintf(ratio, sizeof(ratio), "=%g", c->first_stage_ratio);
    if (c->how != PP_RECOMPUTE_NONE)
        pp_again_words_print(c->words, ",", words);
    snprintf(text, PP_EXEC_RECOMPUTE_BYTES, "%s%s%s", how, ratio, words);
    return text;
}
