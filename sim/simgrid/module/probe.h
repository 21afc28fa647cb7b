/* sim/simgrid/module/probe.h — a platform file read by SimGrid: the messages between the child and
 * its parent. The child, inside the module, first sends
 *
 *     struct pp_probe_header, struct pp_fabric_link [links], char text [text_bytes]
 *
 * The text holds strings that end with NUL. First come the properties as words of a cluster text
 * ("gpu:8 device:a100"). Then come the names of the hosts in the order of the file, and those of
 * the links. Then the child answers requests, one at a time, until the channel is closed. */
#pragma once

#include "core/cluster/fabric.h"
#include "core/error.h"

#include <stdint.h>

struct pp_probe_header {
    int32_t hosts, links;
    int64_t text_bytes;
    double alpha_s;       /* latency of every route in addition to its links */
    double eta_link_frac; /* reached share of the bandwidths */
};
struct pp_probe_request {
    int32_t source, dest; /* hosts */
};
struct pp_probe_answer {
    int32_t count;    /* of the link ids (int32_t) that follow; at most PP_PROBE_ROUTE_MAX */
    double latency_s; /* of the route, by SimGrid */
};
enum { PP_PROBE_ROUTE_MAX = 1024 };
#define PP_PROBE_NAME "/proc/self/fd/" /* the file's name in SimGrid, before a number */

struct pp_platform_source {
    const char *path; /* SimGrid searches relative names of the file in its folder */
    const char *text;
    size_t length;
};

/* Send and receive whole messages; false if the other process has ended. */
bool pp_probe_send(int channel, const void *data, size_t bytes);
bool pp_probe_receive(int channel, void *data, size_t bytes);

/* Loads the platform, sends the listing, answers requests. */
enum pp_status pp_simgrid_serve_platform(const struct pp_platform_source *source, int channel,
                                         struct pp_error *err);
