/* Recomputation: its names, and its share of each stage. */
#include "core/cost/recompute.h"

#include "core/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const pp_recompute_names[] = {"none", "selective", "full", "stage-aware", NULL};
const struct pp_again_name pp_again_names[] = {
    {"core_attn", PP_AGAIN_CORE}, {"layernorm", PP_AGAIN_NORM},
    {"act", PP_AGAIN_ACT},        {"mla_up_proj", PP_AGAIN_LATENT},
    {"mlp", PP_AGAIN_MLP},        {"moe", PP_AGAIN_MOE},
    {"moe_act", PP_AGAIN_ACT},    {NULL, 0},
};

/* Returns why no block of the model has the module, so that its recomputation changes nothing; NULL
 * if one has it. */
static const char *why_missing(const struct pp_model *model, unsigned module)
{
    if (module == PP_AGAIN_LATENT && model->latent.kv_rank == 0)
        return "has no latent attention";
    if (module == PP_AGAIN_MLP && model->layers > 0 &&
        pp_model_moe_blocks(model, 0, model->layers) == model->layers)
        return "has experts in every block, and no dense MLP";
    return module == PP_AGAIN_MOE && model->experts.count == 0 ? "has no experts" : NULL;
}

static unsigned module_of(const char *text, size_t length)
{
    for (const struct pp_again_name *n = pp_again_names; n->name; n++)
        if (strlen(n->name) == length && !strncmp(text, n->name, length))
            return n->module;
    return 0;
}

enum pp_status pp_again_read(const char *text, const struct pp_model *model, unsigned *again,
                             struct pp_error *err)
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
        if (!model || !why_missing(model, n->module))
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

const char *pp_again_words_print(struct pp_again_words words, const char *separator,
                                 char text[PP_AGAIN_WORDS_BYTES])
{
    const struct {
        const char *word;
        bool is_given;
    } all[] = {{"early", words.is_early}, {"late", words.is_late}, {"skip", words.is_skipped}};
    int used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < PP_COUNT(all); i++)
        if (all[i].is_given)
            used += snprintf(text + used, (size_t)(PP_AGAIN_WORDS_BYTES - used), "%s%s", separator,
                             all[i].word);
    return text;
}

const char *pp_recompute_add_words(struct pp_again_words words, char text[PP_RECOMPUTE_TEXT_BYTES])
{
    const size_t used = strlen(text);
    char added[PP_AGAIN_WORDS_BYTES];

    if (strcmp(text, pp_recompute_names[PP_RECOMPUTE_NONE]) != 0)
        snprintf(text + used, PP_RECOMPUTE_TEXT_BYTES - used, "%s",
                 pp_again_words_print(words, ",", added));
    return text;
}

/* ---- option ---------------------------------------------------------------------------------- */

static enum pp_status check_modules(const struct pp_model *model, unsigned again,
                                    struct pp_error *err)
{
    for (const struct pp_again_name *n = pp_again_names; n->name; n++)
        if ((again & n->module) && why_missing(model, n->module))
            return pp_error_set(err, PP_EINVAL,
                                "--recompute selective: %s has no effect here: %s %s", n->name,
                                model->name, why_missing(model, n->module));
    return PP_OK;
}

static enum pp_status read_modules(const char *text, const struct pp_model *model,
                                   struct pp_recompute_choice *choice, struct pp_error *err)
{
    choice->how = PP_RECOMPUTE_SELECTIVE;
    if (!model)
        return pp_error_set(err, PP_EINVAL,
                            "--recompute selective=%s: there is no model here, whose modules could "
                            "be chosen; nearest: selective",
                            text);
    if (pp_again_read(text, model, &choice->again, err) != PP_OK)
        return pp_error_prefix(err, "--recompute selective=");
    return check_modules(model, choice->again, err);
}

static enum pp_status read_ratio(const char *text, const char *ratio,
                                 struct pp_recompute_choice *choice, struct pp_error *err)
{
    choice->how = PP_RECOMPUTE_STAGE;
    if (pp_units_parse(ratio, PP_UNIT_FRAC, &choice->first_stage_ratio, err) != PP_OK)
        return pp_error_prefix(err, "--recompute %s: ", text);
    if (choice->first_stage_ratio > 1)
        return pp_error_set(err, PP_EINVAL, "--recompute %s: the ratio lies between 0 and 1", text);
    return PP_OK;
}

/* Reads what is computed again: the part before the words. */
static enum pp_status read_how(const char *text, const struct pp_model *model,
                               struct pp_recompute_choice *choice, struct pp_error *err)
{
    static const char STAGE[] = "stage-aware=", SELECTIVE[] = "selective=";

    if (!strncmp(text, STAGE, sizeof(STAGE) - 1))
        return read_ratio(text, text + sizeof(STAGE) - 1, choice, err);
    if (!strncmp(text, SELECTIVE, sizeof(SELECTIVE) - 1))
        return read_modules(text + sizeof(SELECTIVE) - 1, model, choice, err);
    for (int i = 0; i < PP_RECOMPUTE_STAGE; i++)
        if (!strcmp(text, pp_recompute_names[i])) {
            choice->how = (enum pp_recompute)i;
            return PP_OK;
        }
    return pp_error_set(
        err, PP_EINVAL,
        "--recompute %s: expected none, selective, selective=MODULES, full or stage-aware=R with R "
        "from 0 to 1",
        text);
}

static enum pp_status read_word(const char *text, const char *word, size_t length,
                                struct pp_again_words *words, struct pp_error *err)
{
    const struct {
        const char *name;
        bool *is_given;
    } known[] = {
        {"early", &words->is_early}, {"late", &words->is_late}, {"skip", &words->is_skipped}};

    for (size_t i = 0; i < PP_COUNT(known); i++) {
        if (strlen(known[i].name) != length || strncmp(word, known[i].name, length) != 0)
            continue;
        if (*known[i].is_given)
            return pp_error_set(err, PP_EINVAL, "--recompute %s: %s is given twice", text,
                                known[i].name);
        *known[i].is_given = true;
        return PP_OK;
    }
    return pp_error_set(err, PP_EINVAL,
                        "--recompute %s: unknown word '%.*s'; words after the comma are early, "
                        "late and skip",
                        text, (int)(length < 60 ? length : 60), word);
}

static enum pp_status read_words(const char *text, const char *words,
                                 struct pp_recompute_choice *choice, struct pp_error *err)
{
    for (const char *at = words; at; at = strchr(at, ',')) {
        at++; /* the comma */
        PP_TRY(read_word(text, at, strcspn(at, ","), &choice->words, err));
    }
    if (choice->how == PP_RECOMPUTE_NONE)
        return pp_error_set(err, PP_EINVAL,
                            "--recompute %s: a contradiction, as nothing is recomputed; nearest: "
                            "none, or full%s",
                            text, words);
    if (choice->words.is_early && choice->words.is_late)
        return pp_error_set(err, PP_EINVAL,
                            "--recompute %s: a contradiction, as R either runs before the gradient "
                            "arrives or waits for it; give early or late",
                            text);
    return PP_OK;
}

enum pp_status pp_recompute_read(const char *text, const struct pp_model *model,
                                 struct pp_recompute_choice *choice, struct pp_error *err)
{
    const char *words = strchr(text, ',');
    char how[PP_RECOMPUTE_TEXT_BYTES];

    *choice = (struct pp_recompute_choice){.how = PP_RECOMPUTE_NONE};
    if (!words || words == text || (size_t)(words - text) >= sizeof(how)) /* no value is so long */
        return read_how(text, model, choice, err);
    snprintf(how, sizeof(how), "%.*s", (int)(words - text), text);
    PP_TRY(read_how(how, model, choice, err));
    return read_words(text, words, choice, err);
}

/* ---- share of a stage ------------------------------------------------------------------------ */

double pp_recompute_frac(enum pp_recompute how, double first_stage_ratio, int stages, int stage)
{
    const double later = stages - 1 - stage;

    if (how == PP_RECOMPUTE_FULL || how == PP_RECOMPUTE_SELECTIVE)
        return 1;
    if (how == PP_RECOMPUTE_NONE || later <= 0)
        return 0;
    /* Merak: stage s of P (from 1) keeps the blocks that fit while P - s later micro-batches are in
     * flight. rho_s = 1 - (1 - rho_1) (P - 1) / (P - s), and nothing is recomputed on the last. */
    const double frac = 1 - (1 - first_stage_ratio) * (stages - 1) / later;
    return fmin(1, fmax(0, frac));
}

double *pp_recompute_shares(struct pp_arena *arena, enum pp_recompute how, double first_stage_ratio,
                            int stages)
{
    double *shares = PP_ARRAY(arena, double, stages);

    for (int s = 0; s < stages; s++)
        shares[s] = pp_recompute_frac(how, first_stage_ratio, stages, s);
    return shares;
}

int pp_recompute_blocks(const struct pp_recompute_choice *choice, int stages, int stage, int blocks)
{
    static const double ROUNDING = 1e-9; /* of products such as 0.3 * 10 */
    const double frac = pp_recompute_frac(choice->how, choice->first_stage_ratio, stages, stage);

    return (int)ceil(frac * blocks - ROUNDING);
}
