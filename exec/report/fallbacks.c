/* Says which work slower kernels did, because a library refused it. */
#include "exec/report/report.h"

#include <inttypes.h>

void pp_exec_fallbacks_text(const struct pp_exec_run *run, char text[PP_EXEC_TEXT_BYTES])
{
    const struct pp_fallbacks *f = &run->result.fallbacks;
    size_t used = 0;

    text[0] = '\0';
    if (f->own > 0)
        used = pp_exec_append(text, used,
                              "%" PRId64 " of %" PRId64 " multiplications of a step by own "
                              "kernels, about a hundredth as fast; ",
                              f->own, f->gemms);
    if (f->refused > 0)
        used = pp_exec_append(text, used, "cuBLASLt refuses %" PRId64 " form%s, first %s",
                              f->refused, f->refused == 1 ? "" : "s", f->first);
    if (f->refused > 0 && f->finished > 0)
        used =
            pp_exec_append(text, used, "; own kernels complete %" PRId64 " products", f->finished);
    if (f->attention[0])
        pp_exec_append(text, used, "%sattention of %s", used ? "; " : "", f->attention);
}

void pp_exec_report_fallbacks(const struct pp_exec_page *page, const struct pp_exec_run *run)
{
    char text[PP_EXEC_TEXT_BYTES];

    pp_exec_fallbacks_text(run, text);
    if (text[0])
        pp_exec_paragraph(page, run->result.fallbacks.own > 0 ? "SLOW" : "fall-back", "%s", text);
}
