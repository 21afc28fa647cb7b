/* core/progress.h — how far a long run has come: on stderr, if that is a terminal, after a second.
 */
#ifndef PP_CORE_PROGRESS_H
#define PP_CORE_PROGRESS_H

#include <stdbool.h>

struct pp_progress {
    double started_s; /* 0: not yet */
    bool is_shown;
};
/* Called every now and then; `frac` of the work is done. */
void pp_progress_show(struct pp_progress *progress, const char *what, double frac);
/* Take the line away. */
void pp_progress_clear(struct pp_progress *progress);

#endif
