/* A grid without a simulator: point k has the value base + stride * k, and its text, key and row
 * follow from the value. fake_grid.c takes the place of the grid's functions in a program that
 * links it. */
#ifndef PP_TESTS_UNIT_FAKE_GRID_H
#define PP_TESTS_UNIT_FAKE_GRID_H

#include "sim/sweep/sweep.h"

#define FAKE_HEADER "point,value,text,fits,status,reason,points,key"

extern int64_t fake_base, fake_stride;

int64_t fake_value(int64_t point);

#endif
