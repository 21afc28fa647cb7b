/* pipesim models and presets: built-in models and presets, with sources. */
#include "sim/command/commands.h"

#include "core/model/model.h"
#include "core/units.h"
#include "sim/command/list_json.h"
#include "sim/report/text.h"

#include <strings.h>

static void print_model(const struct pp_model *m, FILE *out)
{
    char params[PP_UNITS_TEXT_BYTES];

    fprintf(out, "%-16s%10s%9d%9d%8d%9d%8d\n", m->name,
            pp_units_print(pp_model_params(m), PP_UNIT_COUNT, params), m->layers, m->hidden,
            m->heads, m->vocab, m->seq);
}

enum pp_status pp_command_models(struct pp_arena *arena, const struct pp_wish *wish, FILE *out,
                                 struct pp_error *err)
{
    if (!wish->request.flags->operand_count && wish->json) {
        pp_list_models_json(NULL, out);
        return PP_OK;
    }
    if (!wish->request.flags->operand_count) {
        fprintf(out, "%-16s%10s%9s%9s%8s%9s%8s\n", "model", "parameters", "layers", "hidden",
                "heads", "vocab", "seq");
        for (const struct pp_model *m = pp_model_presets; m->name; m++)
            print_model(m, out);
        fputs("\npipesim models NAME prints one with its source\n", out);
        return PP_OK;
    }
    struct pp_model m;
    char number[PP_UNITS_TEXT_BYTES];
    PP_TRY(pp_model_load(arena, wish->request.flags->operands[0], &m, err));
    if (wish->json) {
        pp_list_models_json(&m, out);
        return PP_OK;
    }
    fprintf(out, "%s (%s family)\n  parameters   %.0f (%s)\n  layers       %d\n  hidden       %d\n",
            m.name, m.family, pp_model_params(&m),
            pp_units_print(pp_model_params(&m), PP_UNIT_COUNT, number), m.layers, m.hidden);
    fprintf(out,
            "  heads        %d of %d, %d for keys and values\n  feed-forward %d%s\n  vocabulary   "
            "%d, head %s\n",
            m.heads, m.head_dim, m.kv_heads, m.ffn, m.is_gated ? ", gated (three matrices)" : "",
            m.vocab, m.is_tied ? "tied to the embedding" : "untied");
    fprintf(out,
            "  sequence     %d\n  by layer     embedding %.0f, block %.0f, head %.0f parameters\n  "
            "source       %s\n",
            m.seq, pp_model_layer_params(&m, PP_LAYER_EMBEDDING),
            pp_model_layer_params(&m, PP_LAYER_BLOCK), pp_model_layer_params(&m, PP_LAYER_HEAD),
            m.source);
    if (m.experts.count > 0)
        fprintf(out,
                "  experts      %d, %d of a token, width %d, shared %d; in %d layers of %.0f "
                "parameters\n  active       %.0f parameters of a token (%s)\n",
                m.experts.count, m.experts.top_k, m.experts.ffn, m.experts.shared_ffn,
                pp_model_moe_blocks(&m, 0, m.layers), pp_model_layer_params(&m, PP_LAYER_MOE),
                pp_model_active_params(&m),
                pp_units_print(pp_model_active_params(&m), PP_UNIT_COUNT, number));
    if (m.notes && m.notes[0])
        pp_text_paragraph(out, 80, 15, "notes", m.notes);
    return PP_OK;
}

static void print_preset(struct pp_arena *arena, const struct pp_preset *p, FILE *out)
{
    const char **words = NULL;
    int count = 0, capacity = 0;

    fprintf(out, "%s: %s\n", p->name, p->summary);
    pp_text_paragraph(out, 80, 12, "source", p->source);
    if (p->published)
        pp_text_paragraph(out, 80, 12, "published", p->published);
    *PP_PUSH(arena, words, count, capacity) = "pipesim";
    for (int i = 0; p->arguments[i]; i++) { /* an option and its value stay together */
        const char *value = p->arguments[i + 1];
        const bool has_value = value && strncmp(value, "--", 2) != 0;
        *PP_PUSH(arena, words, count, capacity) =
            has_value
                ? pp_arena_printf(arena, "%s %s", p->arguments[i], pp_command_quoted(arena, value))
                : p->arguments[i];
        i += has_value;
    }
    *PP_PUSH(arena, words, count, capacity) = NULL;
    fprintf(out, "  means     %s\n", pp_command_lines(arena, words, 80, 12));
}

enum pp_status pp_command_presets(struct pp_arena *arena, const struct pp_wish *wish, FILE *out,
                                  struct pp_error *err)
{
    const char *wanted =
        wish->request.flags->operand_count ? wish->request.flags->operands[0] : NULL;
    const char *names[64] = {0};
    int count = 0;

    if (wish->json && !wanted) {
        pp_list_presets_json(NULL, out);
        return PP_OK;
    }
    for (const struct pp_preset *p = pp_presets; p->name; p++) {
        names[count++] = p->name;
        if (wanted && strcasecmp(p->name, wanted) != 0)
            continue;
        if (wish->json) {
            pp_list_presets_json(p, out);
            return PP_OK;
        }
        fputs(count > 1 && !wanted ? "\n" : "", out);
        print_preset(arena, p, out);
        if (wanted)
            return PP_OK;
    }
    if (!wanted)
        return PP_OK;
    pp_error_set(err, PP_EINVAL, "unknown preset %s", wanted);
    return pp_suggest_or_list(err, wanted, names);
}
