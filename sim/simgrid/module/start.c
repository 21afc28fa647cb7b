/* Starts SimGrid with the settings of pipesim. */
#include "sim/simgrid/module/platform.h"

#include <signal.h>
#include <simgrid/engine.h>
#include <xbt/config.h>

/* SimGrid 3.32 crashes if an integer is set as a string, or a boolean as "0". */
void pp_simgrid_start(void)
{
    char name[] = "pipesim", *argv[] = {name, NULL};
    int argc = 1;

    simgrid_init(&argc, argv);
    signal(SIGINT, SIG_DFL); /* SimGrid's handler prints its state and continues */
    sg_cfg_set_int("contexts/stack-size", 64);
    sg_cfg_set_string("network/model", "CM02");
    sg_cfg_set_boolean("network/crosstraffic", "no");
    sg_cfg_set_double("network/TCP-gamma", 0);
    sg_cfg_set_double("network/bandwidth-factor", 1);
    sg_cfg_set_double("network/latency-factor", 1);
    sg_cfg_set_double("network/weight-S", 0);
}
