/* sim/platform/parts.h — shared by the files that print platforms; private to this folder. */
#pragma once

#include "core/cluster/fabric.h"
#include "sim/platform/platform.h"

/* Platform to print. */
struct pp_xml_page {
    const struct pp_cluster *cluster; /* with eta_link 1: bandwidths of data sheets */
    const struct pp_fabric *fabric;
    struct pp_fabric_size size;
    double eta_link;
    int32_t *links; /* room for one route */
    FILE *out;
};

enum { PP_FORM_LEVELS = 4, PP_FORM_BYTES = 256 };

struct pp_platform_level {
    double bytes_per_s, latency_s;
};

/* Attributes and properties of a <cluster>. */
struct pp_form {
    const char *topology; /* NULL: every device has a link to one switch */
    char parameters[PP_FORM_BYTES];
    int levels;
    struct pp_platform_level
        level[PP_FORM_LEVELS]; /* 0 bytes/s: SimGrid has no link of this level */
    double alpha_s;            /* of every route, in addition to its links */
    const char *note;
};

/* Finds the <cluster> of a fabric; false if SimGrid has no such shape. */
bool pp_platform_form(const struct pp_xml_page *page, struct pp_form *form);
void pp_platform_compact(const struct pp_xml_page *page, const struct pp_form *form);

/* Prints a value into `text`, with a prefix if that is exact: "10.2GBps", else "10200000001Bps". */
enum { PP_VALUE_BYTES = 64 };
const char *pp_platform_value(double value, double scale, const char *scaled, const char *unit,
                              char text[PP_VALUE_BYTES]);
const char *pp_platform_bandwidth(double bytes_per_s, char text[PP_VALUE_BYTES]);
const char *pp_platform_latency(double latency_s, char text[PP_VALUE_BYTES]);
void pp_platform_prop(FILE *out, const char *name, const char *value);
/* Prints the properties of every host. */
void pp_platform_props(const struct pp_xml_page *page);
