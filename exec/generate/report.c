/* The report as text. */
#include "exec/report/report.h"
#include "exec/generate/parts.h"

#include <math.h>
#include <stdarg.h>

enum { LABEL = 16 };
static void paragraph(const struct pp_exec_page *page, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void paragraph(const struct pp_exec_page *page, const char *label, const char *format, ...)
{
    char text[PP_EXEC_TEXT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pp_text_paragraph(page->out, page->terminal.width, LABEL, label, text);
}

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

static const char *star(const struct pp_generate *g, unsigned bit)
{
    return g->chosen & bit ? "*" : "";
}

static void print_head(const struct pp_exec_page *page, const struct pp_generate *g)
{
    const struct pp_exec_config *c = &g->config;
    const struct pp_generation *of = &g->of;
    char text[PP_EXEC_TEXT_BYTES];
    size_t used;

    used = pp_exec_append(text, 0, "%s on %d rank%s", g->program->name, g->program->ranks,
                          plural(g->program->ranks));
    if (c->tp > 1)
        used = pp_exec_append(text, used, ", tp %d", c->tp);
    if (c->replicas > 1)
        pp_exec_append(text, used, ", %d replicas", c->replicas);
    fprintf(page->out, "%spipeexec %s  %s%s%s\n\n", page->bold, PP_VERSION, text, page->plain,
            g->chosen ? "  (* = chosen for you)" : "");
    paragraph(page, "model", "%s, %d~layer%s, hidden~%d, vocab~%d; weights %s%s", c->net.name,
              c->net.layers, plural(c->net.layers), c->net.hidden, c->net.vocab,
              g->weights ? "of " : "drawn at random (trained ones: --resume~DIR or --model~DIR)",
              g->weights ? g->weights : "");
    used =
        pp_exec_append(text, 0, "%d~sequence%s%s%s in %d%s~group%s", of->batch, plural(of->batch),
                       star(g, PP_GENERATE_CHOSE_BATCH), c->replicas > 1 ? " a replica" : "",
                       of->groups, star(g, PP_GENERATE_CHOSE_GROUPS), plural(of->groups));
    if (of->prompt_groups > of->groups)
        used = pp_exec_append(text, used, ", prompts in %d~pieces", of->prompt_groups);
    pp_exec_append(text, used, ": %d~token%s in, %d%s out, %s", of->prompt_tokens,
                   plural(of->prompt_tokens), of->passes, star(g, PP_GENERATE_CHOSE_TOKENS),
                   g->sampling);
    paragraph(page, "serve", "%s", text);
    paragraph(page, "machine", "%s, %s, %s~with %s; %s clock", c->backend->name, c->transport->name,
              c->precision, c->kernels->about(), c->clock == PP_CLOCK_VIRTUAL ? "virtual" : "wall");
    fputc('\n', page->out);
}

/* Texts that differ from the one above the report. */
static void print_texts(const struct pp_exec_page *page, const struct pp_generate *g)
{
    const int more = (g->sampler.top_p > 0 ? pp_generate_sequences(g) : g->prompts.count) - 1;

    if (more > 0)
        paragraph(page, "texts", "the first is above; %d~more: --json has all", more);
}

static void print_times(const struct pp_exec_page *page, const struct pp_generate *g)
{
    const struct pp_generate_result *r = &g->result;
    char time[PP_UNITS_TEXT_BYTES], rate[PP_UNITS_TEXT_BYTES], predicted[PP_UNITS_TEXT_BYTES];

    paragraph(page, "first token", "%s", pp_exec_seconds(r->first_token_s, time));
    if (isfinite(r->token_s))
        paragraph(page, "each token", "%s", pp_exec_seconds(r->token_s, time));
    if (isfinite(r->predicted_late_token_s))
        paragraph(page, "second half", "%s each; predicted by the first half: %s, %+.1f~%%",
                  pp_exec_seconds(r->late_token_s, time),
                  pp_exec_seconds(r->predicted_late_token_s, predicted),
                  100 * (r->predicted_late_token_s / r->late_token_s - 1));
    paragraph(page, "all", "%s, %s~tokens/s", pp_exec_seconds(r->total_s, time),
              pp_units_print(r->tokens_per_s, PP_UNIT_COUNT, rate));
    if (isfinite(r->structural_error_s))
        paragraph(page, "replay", "with the durations of this run the simulated one differs by %s",
                  pp_exec_seconds(r->structural_error_s, time));
    if (isfinite(r->machinery_frac))
        paragraph(page, "runtime", "%.1f~%% of the CPU time is spent between ops",
                  100 * r->machinery_frac);
}

static void print_cache(const struct pp_exec_page *page, const struct pp_generate *g)
{
    const struct pp_generate_result *r = &g->result;
    char bytes[PP_UNITS_TEXT_BYTES], predicted[PP_UNITS_TEXT_BYTES];

    if (r->kv_bytes == r->predicted_kv_bytes)
        paragraph(page, "KV cache", "%s (%.0f bytes), as computed",
                  pp_units_print(r->kv_bytes, PP_UNIT_BYTES, bytes), r->kv_bytes);
    else
        paragraph(page, "KV cache", "%s; computed %s",
                  pp_units_print(r->kv_bytes, PP_UNIT_BYTES, bytes),
                  pp_units_print(r->predicted_kv_bytes, PP_UNIT_BYTES, predicted));
}

static void print_check(const struct pp_exec_page *page, const struct pp_generate *g)
{
    const struct pp_generate_difference *alone = &g->result.alone, *again = &g->result.again;
    const struct pp_generate_bound bound = pp_generate_bound(g);
    char text[PP_EXEC_TEXT_BYTES];

    if (!alone->is_done)
        return;
    if (alone->first.sequence < 0)
        paragraph(page, "check",
                  "%lld~tokens and their logits are those of one rank, to "
                  "the bit",
                  (long long)alone->compared);
    else
        paragraph(page, "check", "DIFFERS from one rank: sequence %d, position %d",
                  alone->first.sequence, alone->first.position);
    size_t used = again->first.sequence < 0
                      ? pp_exec_append(text, 0, "without a cache: the same tokens; logits")
                      : pp_exec_append(text, 0,
                                       "without a cache: DIFFERS at sequence %d, position "
                                       "%d; logits",
                                       again->first.sequence, again->first.position);
    used = pp_exec_append(text, used, " differ by at most %.1e, %.1e of the largest",
                          again->any.most, again->frac.most);
    if (isfinite(bound.most))
        pp_exec_append(text, used, " (allowed %.0e%s)", bound.most,
                       bound.is_frac ? " of the largest" : "");
    paragraph(page, "", "%s", text);
}

void pp_generate_report(const struct pp_generate *g, struct pp_terminal terminal, FILE *out)
{
    const struct pp_exec_page page = {out, terminal, terminal.has_color ? "\033[1m" : "",
                                      terminal.has_color ? "\033[0m" : ""};

    fputc('\n', out);
    print_head(&page, g);
    print_texts(&page, g);
    print_times(&page, g);
    print_cache(&page, g);
    print_check(&page, g);
}
