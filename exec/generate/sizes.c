/* Batch, groups, pieces of prompts, and tokens: what is given, and what follows from it. */
#include "exec/generate/generate.h"

enum { USUAL_TOKENS = 64, MOST_STAGES = 65535, MOST_PIECES = 255 };

/* Appends the multiples of `unit` next to `value`, at most `most` (0 = any). */
static enum pp_status nearest(struct pp_error *err, const char *option, int value, int unit,
                              int most)
{
    const int below = value / unit * unit, above = below + unit;

    pp_error_append(err, "; nearest: %s %d", option, below ? below : above);
    return below && (most == 0 || above <= most) ? pp_error_append(err, " or %d", above)
                                                 : err->status;
}

/* Returns the largest divisor of `value` that is at most `most`. */
static int divisor(int value, int most)
{
    int d = most < value ? most : value;

    while (value % d)
        d--;
    return d;
}

static enum pp_status take_batch(const struct pp_exec_wish *wish, struct pp_generate *g,
                                 struct pp_error *err)
{
    const int replicas = g->config.replicas, prompts = (g->prompts.count - 1) / replicas + 1;

    g->of.batch = wish->batch ? wish->batch : prompts;
    if (!wish->batch) {
        g->chosen |= PP_GENERATE_CHOSE_BATCH;
        if (wish->groups) /* the next multiple */
            g->of.batch = (prompts - 1) / wish->groups * wish->groups + wish->groups;
    }
    if (g->prompts.count > pp_generate_sequences(g))
        return pp_error_set(
            err, PP_EINVAL,
            "--batch %d: there are %d prompts for %d sequence%s; nearest: --batch %d", g->of.batch,
            g->prompts.count, pp_generate_sequences(g), pp_generate_sequences(g) == 1 ? "" : "s",
            prompts);
    return PP_OK;
}

static enum pp_status take_groups(const struct pp_exec_wish *wish, struct pp_generate *g,
                                  struct pp_error *err)
{
    struct pp_generation *of = &g->of;
    const int ranks = wish->np;

    of->groups = wish->groups ? wish->groups : divisor(of->batch, ranks);
    g->chosen |= wish->groups ? 0 : PP_GENERATE_CHOSE_GROUPS;
    if (of->batch % of->groups) {
        pp_error_set(err, PP_EINVAL, "--batch %d is no multiple of --groups %d", of->batch,
                     of->groups);
        return nearest(err, "--batch", of->batch, of->groups, 0);
    }
    of->prompt_groups = wish->prompt_groups ? wish->prompt_groups : of->groups;
    if (of->prompt_groups % of->groups) {
        pp_error_set(err, PP_EINVAL, "--prompt-groups %d is no multiple of --groups %d",
                     of->prompt_groups, of->groups);
        return nearest(err, "--prompt-groups", of->prompt_groups, of->groups, of->batch);
    }
    if (of->prompt_groups > of->batch || of->batch % of->prompt_groups)
        return pp_error_set(err, PP_EINVAL,
                            "--prompt-groups %d: each piece has whole sequences, and the batch is "
                            "%d; nearest: --prompt-groups %d",
                            of->prompt_groups, of->batch,
                            of->groups *
                                divisor(of->batch / of->groups, of->prompt_groups / of->groups));
    if (pp_generation_pieces(of) > MOST_PIECES)
        return pp_error_set(err, PP_EINVAL,
                            "--prompt-groups %d: a group is cut into at most %d pieces; nearest: "
                            "--prompt-groups %d",
                            of->prompt_groups, MOST_PIECES,
                            of->groups * divisor(of->batch / of->groups, MOST_PIECES));
    return PP_OK;
}

/* Learned positions limit prompt and tokens together; the last token is not read. */
static enum pp_status take_tokens(const struct pp_exec_wish *wish, struct pp_generate *g,
                                  struct pp_error *err)
{
    struct pp_generation *of = &g->of;
    const struct pp_net *net = &g->config.net;
    const int prompt = g->prompts.tokens,
              room = net->has_positions ? net->seq - prompt : INT32_MAX - prompt,
              most = MOST_STAGES / wish->np;

    of->prompt_tokens = prompt;
    if (room < 1)
        return pp_error_set(err, PP_EINVAL,
                            "the prompt has %d tokens, but model '%.80s' has %d positions, for "
                            "prompt and tokens together: a prompt has at most %d",
                            prompt, net->name, net->seq, net->seq - 1);
    of->passes = wish->given.tokens.count ? wish->tokens : USUAL_TOKENS;
    if (!wish->given.tokens.count) {
        g->chosen |= PP_GENERATE_CHOSE_TOKENS;
        of->passes = of->passes < room ? of->passes : room;
    }
    if (of->passes > room)
        return pp_error_set(err, PP_EINVAL,
                            "--tokens %d: the prompt has %d tokens, and model '%.80s' has %d "
                            "positions for both; nearest: --tokens %d",
                            of->passes, prompt, net->name, net->seq, room);
    if (of->passes > most)
        return pp_error_set(err, PP_EINVAL,
                            "--tokens %d: a program has at most %d stages, tokens times ranks; "
                            "nearest: --tokens %d",
                            of->passes, MOST_STAGES, most);
    return PP_OK;
}

enum pp_status pp_generate_sizes(const struct pp_exec_wish *wish, struct pp_generate *g,
                                 struct pp_error *err)
{
    PP_TRY(take_batch(wish, g, err));
    PP_TRY(take_groups(wish, g, err));
    return take_tokens(wish, g, err);
}
