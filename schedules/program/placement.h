/* schedules/program/placement.h — which rank holds which stage of which pipeline. */
#pragma once

#include "core/arena.h"

#include <stdint.h>

enum pp_placement_kind {
    PP_PLACE_LOOP,    /* stage s on rank s mod D (linear when V = 1) */
    PP_PLACE_VEE,     /* chunk 0 is stage r, chunk 1 is stage 2D-1-r on rank r */
    PP_PLACE_TWO_WAY, /* 2f pipelines. Down i holds stage s < D on (i*D/f + s) mod D; up i is
                         mirrored, on (i*D/f + D-1-s) mod D; further chunks zig-zag. Pipelines are
                         numbered in blocks of two pairs, d0 d1 u0 u1, d2 d3 u2 u3, ... (f = 1 gives
                         d0 u0) */
    PP_PLACE_WAVE,    /* zig-zag: chunk c of rank r is stage c*D + (c even ? r : D-1-r) */
    PP_PLACE_FILE,    /* given by a program file */
};
extern const char *const pp_placement_names[];

/* Returns rank_of[pipeline * stages + stage], in the arena, for D ranks, V chunks per rank and
 * pipeline, `pipelines` pipelines (1 except for TWO_WAY). The caller has checked the sizes. */
uint16_t *pp_placement_make(struct pp_arena *arena, enum pp_placement_kind kind, int ranks,
                            int chunks, int pipelines);
