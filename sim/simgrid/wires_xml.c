/* The wires of a run written as a SimGrid platform. */
#include "sim/simgrid/wires_xml.h"

struct pp_endpoints pp_endpoints_make(struct pp_arena *arena, const struct pp_wires *wires,
                                      bool is_plain)
{
    struct pp_endpoints e = {.hosts = 2,
                             .source = PP_ARRAY(arena, int32_t, wires->count),
                             .dest = PP_ARRAY(arena, int32_t, wires->count)};
    int64_t used = 0;

    for (int w = 0; w < wires->count; w++)
        used += is_plain || wires->wire[w].count > 0;
    while ((int64_t)e.hosts * (e.hosts - 1) < used)
        e.hosts++;
    used = 0;
    for (int w = 0; w < wires->count; w++) {
        e.source[w] = e.dest[w] = -1;
        if (!is_plain && wires->wire[w].count == 0)
            continue;
        const int source = (int)(used / (e.hosts - 1)), dest = (int)(used % (e.hosts - 1));
        e.source[w] = source;
        e.dest[w] = dest + (dest >= source);
        used++;
    }
    return e;
}

static void print_link(const char *prefix, int number, double bytes_per_s, FILE *out)
{
    fprintf(out, "<link id=\"%s%d\" bandwidth=\"%.17gBps\" latency=\"0\"/>\n", prefix, number,
            bytes_per_s);
}

/* What a wire can take by links of its own, where no shared link says less. */
static double cap_of(const struct pp_wire *wire)
{
    return wire->count > 0 ? wire->cap_bytes_per_s : wire->bytes_per_s;
}

void pp_endpoints_print(const struct pp_wires *wires, const struct pp_endpoints *endpoints,
                        double scale, FILE *out)
{
    fputs("<?xml version=\"1.0\"?>\n"
          "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
          "<platform version=\"4.1\">\n<zone id=\"wires\" routing=\"Full\">\n",
          out);
    for (int k = 0; k < endpoints->hosts; k++)
        fprintf(out, "<host id=\"h%d\" speed=\"1Gf\"/>\n", k);
    for (int l = 0; l < wires->shared_count; l++)
        print_link("l", l, scale * wires->shared[l].bytes_per_s, out);
    for (int w = 0; w < wires->count; w++)
        if (endpoints->source[w] >= 0 && cap_of(&wires->wire[w]) > 0)
            print_link("w", w, scale * cap_of(&wires->wire[w]), out);
    for (int w = 0; w < wires->count; w++) {
        const struct pp_wire *wire = &wires->wire[w];
        if (endpoints->source[w] < 0)
            continue;
        fprintf(out, "<route src=\"h%d\" dst=\"h%d\" symmetrical=\"NO\">", endpoints->source[w],
                endpoints->dest[w]);
        for (int k = wire->first; k < wire->first + wire->count; k++)
            fprintf(out, "<link_ctn id=\"l%d\"/>", wires->used[k]);
        if (cap_of(wire) > 0)
            fprintf(out, "<link_ctn id=\"w%d\"/>", w);
        fputs("</route>\n", out);
    }
    fputs("</zone>\n</platform>\n", out);
}
