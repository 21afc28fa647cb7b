/* sim/platform/platform.h — a cluster as a SimGrid platform (XML, DTD 4.1), and the properties by
 * which pipesim recognises its own files.
 *
 * Properties are those of the hosts; SimGrid gives the <prop>s of a <cluster> to each of its hosts.
 * Values are written with units, as in a cluster text. Hosts are named gpu0, gpu1, ... after the
 * device's number. Files from other sources need none of them.
 *
 * SimGrid's <cluster> has one bandwidth and one latency for all its links. If a fabric has several,
 * the compact form gives those of every level as properties. The reader of the file sets the
 * links of the level to them:
 *   FAT_TREE   level1 joins hosts to their switches, level2 those to theirs, and so on
 *              ("link_from_<low>_<high>_<uid>_UP|DOWN", uids in the order of the levels)
 *   DRAGONFLY  level1 local_link_*, level2 green_link_*, level3 black_link_*, level4 blue_link_*
 *   TORUS      level1: all. Latency does not grow with hops: PP_PROP_ALPHA is added to each route
 */
#pragma once

#include "core/arena.h"
#include "core/cluster/cluster.h"
#include "core/error.h"

#include <stdio.h>

#define PP_PROP_CLUSTER  "pipesim.cluster"  /* text of the cluster; for people */
#define PP_PROP_DEVICE   "pipesim.device"   /* "h100": a device preset */
#define PP_PROP_MEMORY   "pipesim.memory"   /* "85520809984B" */
#define PP_PROP_HBM      "pipesim.hbm"      /* "3350GBps" */
#define PP_PROP_PEAK     "pipesim.peak"     /* "989TF" */
#define PP_PROP_GPUS     "pipesim.gpu"      /* devices of a node: "8" */
#define PP_PROP_ETA_LINK "pipesim.eta_link" /* reached share of the bandwidths: "0.8" */
#define PP_PROP_ALPHA    "pipesim.alpha"    /* "8us": latency added to every route */
/* With the number of the level, from 1. Values such as "50GBps", "4us". */
#define PP_PROP_LEVEL_BANDWIDTH "pipesim.level%d.bandwidth"
#define PP_PROP_LEVEL_LATENCY   "pipesim.level%d.latency"

/* Prints the platform for `devices` devices; 0 = the size of the cluster's text, else two nodes,
 * two groups of a dragonfly, or a small torus. Hosts may be more: a compact form has whole leaves
 * and groups. PP_EINVAL if every route must be listed and there are too many. */
enum pp_status pp_platform_print(struct pp_arena *arena, const struct pp_cluster *cluster,
                                 int devices, FILE *out, struct pp_error *err);
