/* Values and properties as SimGrid XML. */
#include "sim/platform/parts.h"

#include <stdlib.h>

enum { TEXT_BYTES = 64 };

void pp_platform_print_value(FILE *out, double value, double scale, const char *scaled,
                             const char *unit)
{
    char text[TEXT_BYTES];

    snprintf(text, sizeof text, "%.15g", value / scale);
    if (strtod(text, NULL) * scale == value)
        fprintf(out, "%s%s", text, scaled);
    else
        fprintf(out, "%.17g%s", value, unit);
}

void pp_platform_print_bandwidth(FILE *out, double bytes_per_s)
{
    pp_platform_print_value(out, bytes_per_s, 1e9, "GBps", "Bps");
}

void pp_platform_print_latency(FILE *out, double latency_s)
{
    pp_platform_print_value(out, latency_s, 1e-6, "us", "s");
}

static void print_escaped(FILE *out, const char *text)
{
    static const char *const names[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;"};

    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c < PP_COUNT(names) && names[c])
            fputs(names[c], out);
        else
            fputc(c < ' ' || c > '~' ? ' ' : c, out);
    }
}

void pp_platform_open_prop(FILE *out, const char *name)
{
    fprintf(out, "      <prop id=\"%s\" value=\"", name);
}

void pp_platform_close_prop(FILE *out)
{
    fputs("\"/>\n", out);
}

void pp_platform_print_props(const struct pp_xml_page *p)
{
    const struct pp_cluster *c = p->cluster;
    FILE *out = p->out;

    pp_platform_open_prop(out, PP_PROP_CLUSTER);
    print_escaped(out, c->name);
    pp_platform_close_prop(out);
    pp_platform_open_prop(out, PP_PROP_DEVICE);
    print_escaped(out, c->device.name);
    pp_platform_close_prop(out);
    pp_platform_open_prop(out, PP_PROP_MEMORY);
    fprintf(out, "%.17gB", c->device.memory_bytes);
    pp_platform_close_prop(out);
    pp_platform_open_prop(out, PP_PROP_HBM);
    pp_platform_print_bandwidth(out, c->device.memory_bytes_per_s);
    pp_platform_close_prop(out);
    pp_platform_open_prop(out, PP_PROP_PEAK);
    pp_platform_print_value(out, c->device.peak_flops_per_s, 1e12, "TF", "F");
    pp_platform_close_prop(out);
    pp_platform_open_prop(out, PP_PROP_GPUS);
    fprintf(out, "%d", c->gpus_per_node);
    pp_platform_close_prop(out);
    pp_platform_open_prop(out, PP_PROP_ETA_LINK);
    fprintf(out, "%.15g", p->eta_link);
    pp_platform_close_prop(out);
}
