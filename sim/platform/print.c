/* Values and properties as SimGrid XML. */
#include "sim/platform/parts.h"

#include <stdlib.h>

const char *pp_platform_value(double value, double scale, const char *scaled, const char *unit,
                              char text[PP_VALUE_BYTES])
{
    snprintf(text, PP_VALUE_BYTES, "%.15g%s", value / scale, scaled);
    if (strtod(text, NULL) * scale != value)
        snprintf(text, PP_VALUE_BYTES, "%.17g%s", value, unit);
    return text;
}

const char *pp_platform_bandwidth(double bytes_per_s, char text[PP_VALUE_BYTES])
{
    return pp_platform_value(bytes_per_s, 1e9, "GBps", "Bps", text);
}

const char *pp_platform_latency(double latency_s, char text[PP_VALUE_BYTES])
{
    return pp_platform_value(latency_s, 1e-6, "us", "s", text);
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

void pp_platform_prop(FILE *out, const char *name, const char *value)
{
    fprintf(out, "      <prop id=\"%s\" value=\"", name);
    print_escaped(out, value);
    fputs("\"/>\n", out);
}

void pp_platform_props(const struct pp_xml_page *p)
{
    const struct pp_cluster *c = p->cluster;
    char text[PP_VALUE_BYTES];

    pp_platform_prop(p->out, PP_PROP_CLUSTER, c->name);
    pp_platform_prop(p->out, PP_PROP_DEVICE, c->device.name);
    snprintf(text, sizeof text, "%.17gB", c->device.memory_bytes);
    pp_platform_prop(p->out, PP_PROP_MEMORY, text);
    pp_platform_prop(p->out, PP_PROP_HBM,
                     pp_platform_bandwidth(c->device.memory_bytes_per_s, text));
    pp_platform_prop(p->out, PP_PROP_PEAK,
                     pp_platform_value(c->device.peak_flops_per_s, 1e12, "TF", "F", text));
    snprintf(text, sizeof text, "%d", c->gpus_per_node);
    pp_platform_prop(p->out, PP_PROP_GPUS, text);
    snprintf(text, sizeof text, "%.15g", p->eta_link);
    pp_platform_prop(p->out, PP_PROP_ETA_LINK, text);
}
