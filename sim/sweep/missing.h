/* sim/sweep/missing.h — which points of a sweep are not there, in words. */
#ifndef PP_SIM_SWEEP_MISSING_H
#define PP_SIM_SWEEP_MISSING_H

#include <stdint.h>
#include <stdio.h>

struct pp_sweep_points {
    const int64_t *numbers; /* those that are there, ascending, each once */
    int64_t count;
    int64_t total; /* how many the sweep has */
    int64_t parts; /* into which it was divided; 0 or 1: not known to be */
};
/* "12 of 540 points are missing: 7, 11, 15-17, .. (part 4/4)", with the parts that have to be run
 * again if they are few. Nothing when all are there. */
void pp_sweep_note_missing(const struct pp_sweep_points *points, FILE *notes);
/* "21 points in p.csv, 6 of 27 points are missing: ..". */
void pp_sweep_note_merged(const char *path, const struct pp_sweep_points *points, FILE *notes);
/* Into how many parts a sweep was divided, seen from two points of one file: folded over all pairs,
 * beginning with 0. Too many when few points are there. */
int64_t pp_sweep_parts(int64_t parts, int64_t point_a, int64_t point_b);

#endif
