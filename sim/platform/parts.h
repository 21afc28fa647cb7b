/* sim/platform/parts.h — what the files that print platforms share. Private to
 * sim/platform*.c. */
#pragma once

#include "core/cluster/fabric.h"
#include "sim/platform/platform.h"

/* What is printed. */
struct pp_xml_page {
    const struct pp_cluster *cluster; /* with eta_link 1: bandwidths as data sheets have them */
    const struct pp_fabric *fabric;
    struct pp_fabric_size size;
    double eta_link;
    int32_t *links; /* room for a route */
    FILE *out;
};

enum { PP_FORM_LEVELS = 4, PP_FORM_BYTES = 256 };

struct pp_platform_level {
    double bytes_per_s, latency_s;
};

/* What a <cluster> says. */
struct pp_form {
    const char *topology; /* NULL: every device has a link to one switch */
    char parameters[PP_FORM_BYTES];
    int levels;
    struct pp_platform_level
        level[PP_FORM_LEVELS]; /* 0 bytes/s: SimGrid has no link of this level */
    double alpha_s;            /* of every route, in addition to its links */
    const char *note;
};

/* The <cluster> of a fabric; false where SimGrid has no such shape. */
bool pp_platform_form(const struct pp_xml_page *page, struct pp_form *form);
void pp_platform_compact(const struct pp_xml_page *page, const struct pp_form *form);

/* A value with a prefix where that loses nothing: "10.2GBps", else "10200000001Bps". */
void pp_platform_print_value(FILE *out, double value, double scale, const char *scaled,
                             const char *unit);
void pp_platform_print_bandwidth(FILE *out, double bytes_per_s);
void pp_platform_print_latency(FILE *out, double latency_s);
/* A property: open, print its value, close. */
void pp_platform_open_prop(FILE *out, const char *name);
void pp_platform_close_prop(FILE *out);
/* Those of every host. */
void pp_platform_print_props(const struct pp_xml_page *page);
