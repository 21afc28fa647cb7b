/* sim/config/offload.h — the text of --offload. */
#pragma once

#include "core/cost/state.h"

/* Parses "p,os=host,a=nvme:40%" into home and moved_frac of `state`. A class without a tier takes
 * that of the next one, with its share. The share
 * `auto` is below 0. PP_EINVAL names the text and the legal values. */
enum pp_status pp_offload_parse(const char *text, struct pp_state_spec *state,
                                struct pp_error *err);
