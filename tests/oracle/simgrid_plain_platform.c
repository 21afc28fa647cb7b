#define _GNU_SOURCE /* memfd_create */
#include "tests/oracle/simgrid_plain_platform.h"

#include <simgrid/engine.h>
#include <stdio.h>
#include <sys/mman.h>

static void print_routes(FILE *out, const struct pp_fabric *fabric, int devices)
{
    int32_t links[64];

    for (int a = 0; a < devices; a++)
        for (int b = 0; b < devices; b++) {
            const struct pp_route route = pp_fabric_route(fabric, a, b, links);
            if (a == b)
                continue;
            fprintf(out, "<route src=\"g%d\" dst=\"g%d\" symmetrical=\"NO\">", a, b);
            for (int k = 0; k < route.count; k++)
                fprintf(out, "<link_ctn id=\"l%d\"/>", links[k]);
            fprintf(out, "</route>\n");
        }
}

void simgrid_plain_platform(const struct pp_network *n)
{
    const struct pp_layout *l = &n->layout;
    const int devices = l->tp * l->cp * l->dp * l->pp, count = pp_fabric_links(n->fabric);
    const int fd = memfd_create("platform", 0);
    FILE *out = fdopen(fd, "w");
    char path[64];

    fprintf(out, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
                 "\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n"
                 "<zone id=\"z\" routing=\"Full\">\n");
    for (int d = 0; d < devices; d++)
        fprintf(out, "<host id=\"g%d\" speed=\"1Gf\"/>\n", d);
    for (int k = 0; k < count; k++) {
        const struct pp_fabric_link link = pp_fabric_link(n->fabric, k);
        fprintf(out,
                "<link id=\"l%d\" bandwidth=\"%.17gBps\" latency=\"0s\" sharing_policy=\"%s\"/>\n",
                k, link.bytes_per_s, link.is_fatpipe ? "FATPIPE" : "SHARED");
    }
    print_routes(out, n->fabric, devices);
    fprintf(out, "</zone>\n</platform>\n");
    fflush(out);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    simgrid_load_platform(path);
    fclose(out);
}
