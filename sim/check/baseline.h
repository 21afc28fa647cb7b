/* sim/check/baseline.h — a report saved as JSON: its run, and the changes since. */
#pragma once

#include "core/cli/options.h"
#include "core/text/json.h"
#include "plots/table.h"

#include <stdio.h>

struct pp_baseline {
    struct pp_json json; /* "pipesim.report/1" or "pipesim.comparison/1"; closed with the arena */
    struct pp_parsed inputs; /* its command line, as typed to `pipesim run` */
};
/* Opens a report. PP_EINVAL, with the name of the file, for another schema and for unknown options.
 * Paths of models, clusters and programs stay as typed. `json` stays open until the arena ends. */
enum pp_status pp_baseline_open(struct pp_arena *arena, const char *path,
                                struct pp_baseline *baseline, struct pp_error *err);
/* Opens a report in memory; `name` is for messages. */
enum pp_status pp_baseline_parse(struct pp_arena *arena, const char *name, const char *text,
                                 size_t length, struct pp_baseline *baseline, struct pp_error *err);
/* Returns `flags`, with those options of `pipesim run` that only the report has. */
struct pp_parsed pp_baseline_under(struct pp_arena *arena, const struct pp_baseline *baseline,
                                   const struct pp_parsed *flags);

/* Puts the options of a command over those of its --from report; does nothing without --from. */
enum pp_status pp_baseline_apply(struct pp_arena *arena, const struct pp_parsed **parsed,
                                 struct pp_error *err);

/* Makes runs of a comparison of rows: {"runs": [{"name": "3 zbv 8", ...}, ...]}. A name is the
 * point and the varying inputs. PP_EINVAL for a table that is no sweep. Closed with the arena. */
enum pp_status pp_baseline_sweep(struct pp_arena *arena, const struct pp_table *table,
                                 json_t **rows, struct pp_error *err);

/* Value that a change is divided by. */
enum pp_whole {
    PP_OF_ITSELF, /* the old value */
    PP_OF_STEP,   /* iteration_s; for a share of it, 1 */
    PP_OF_PEAK,   /* peak_mem_bytes */
    PP_EXACT,     /* none: counts, answers, missing figures */
};
struct pp_change {
    const char *path;             /* "ranks[3].busy_s" */
    const json_t *before, *after; /* in the two reports; NULL = missing */
    enum pp_whole whole;
    double frac; /* change / whole; INFINITY if that is 0, or with PP_EXACT */
};
struct pp_changes {
    struct pp_change *list; /* those above the tolerance, in the order of the report */
    int count, capacity;
    int figures;              /* number of compared figures */
    struct pp_change largest; /* of all that are not exact; path NULL: no change */
    int words;                /* texts that differ, which predict nothing */
    int added;                /* figures that the old report lacks */
};
/* Compares figures of a report, or of each run, without "meta", "inputs" and "notes". */
void pp_baseline_diff(struct pp_arena *arena, const json_t *before, const json_t *after,
                      double tolerance_frac, struct pp_changes *changes);
/* Prints at most `rows` changes: exact ones, then by depth, from the whole run down, and size. */
void pp_changes_print(struct pp_arena *arena, const struct pp_changes *changes, int rows,
                      FILE *out);
/* Returns [{"figure", "before", "after", "of", "change_frac"}], null if a value is no figure. */
json_t *pp_changes_json(const struct pp_changes *changes);
