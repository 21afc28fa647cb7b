/* sim/check/baseline.h — a report that was saved as JSON: the run that it is of, and what has moved
 * since.
 */
#pragma once

#include "core/cli/options.h"
#include "core/text/json.h"
#include "plots/table.h"

#include <stdio.h>

/* ---- sim/check/baseline.c ---- */
struct pp_baseline {
    struct pp_json json; /* "pipesim.report/1" or "pipesim.comparison/1"; closed with the arena */
    struct pp_parsed inputs; /* its command line, as if typed to `pipesim run` */
};
/* PP_EINVAL with the name of the file for another schema, and for options that this program
 * does not know. Paths of models, clusters and programs stay as they were typed. `json` stays
 * open until the arena ends. */
enum pp_status pp_baseline_open(struct pp_arena *arena, const char *path,
                                struct pp_baseline *baseline, struct pp_error *err);
/* The same from memory; `name` stands in messages. */
enum pp_status pp_baseline_parse(struct pp_arena *arena, const char *name, const char *text,
                                 size_t length, struct pp_baseline *baseline, struct pp_error *err);
/* Of the options of `pipesim run`, those of the report that `flags` lacks are added: what is typed
 * wins. */
struct pp_parsed pp_baseline_under(struct pp_arena *arena, const struct pp_baseline *baseline,
                                   const struct pp_parsed *flags);

/* The same for a command with --from: what was typed over the run of that report. Nothing happens
 * without it. */
enum pp_status pp_baseline_apply(struct pp_arena *arena, const struct pp_parsed **parsed,
                                 struct pp_error *err);

/* ---- sim/check/sweep.c ---- */
/* The rows of a sweep as the runs of a comparison: {"runs": [{"name": "3 zbv 8", ...}, ...]}.
 * A name is the point and the inputs that vary. PP_EINVAL for a table that is no sweep.
 * Closed with the arena. */
enum pp_status pp_baseline_sweep(struct pp_arena *arena, const struct pp_table *table,
                                 json_t **rows, struct pp_error *err);

/* ---- sim/check/diff.c ---- */
/* What a change is measured against. */
enum pp_whole {
    PP_OF_ITSELF, /* the old value */
    PP_OF_STEP,   /* iteration_s; of a share of it, 1 */
    PP_OF_PEAK,   /* peak_mem_bytes */
    PP_EXACT,     /* counts, answers, figures that are there or not */
};
struct pp_change {
    const char *path;             /* "ranks[3].busy_s" */
    const json_t *before, *after; /* of the two reports; NULL = not there */
    enum pp_whole whole;
    double frac; /* change / whole; INFINITY when that is 0, or with PP_EXACT */
};
struct pp_changes {
    struct pp_change *list; /* whose size is above the tolerance, in the order of the report */
    int count, capacity;
    int figures;              /* that were compared */
    struct pp_change largest; /* of all that are not exact; path NULL: nothing has changed */
    int words;                /* texts that read otherwise: no prediction */
    int added;                /* figures that the old report lacks */
};
/* All figures of a report, or of each run of a comparison, but "meta" and "inputs". */
void pp_baseline_diff(struct pp_arena *arena, const json_t *before, const json_t *after,
                      double tolerance_frac, struct pp_changes *changes);
/* At most `rows` of them: those that are exact, then figures of the whole run, then the others, the
 * largest first. */
void pp_changes_print(struct pp_arena *arena, const struct pp_changes *changes, int rows,
                      FILE *out);
/* All of them: [{"figure", "before", "after", "of", "change_frac"}], null for what has no number.
 */
json_t *pp_changes_json(const struct pp_changes *changes);
