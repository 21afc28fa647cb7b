/* plots/page/timeline.h — the timeline of an HTML page: its picture, and the data of its ops. */
#pragma once

#include "plots/timeline/page.h"

/* ---- plots/page/timeline_data.c ---- */
/* Ops in the rows of a panel, and whether they are few enough to be there one by one. */
int pp_timeline_shown(const struct pp_timeline_panel *panel);
bool pp_timeline_has_data(const struct pp_timeline_page *page,
                          const struct pp_timeline_panel *panel);
/* The ops of a panel as JSON for the script, in an element of its own; nothing where they are
 * too many. An op is: start minus the end of the op before, duration, look, first micro-batch,
 * stage. Times are whole quanta, and each is an index into the list of all that occur. */
void pp_timeline_write_data(const struct pp_timeline_page *page, int index, FILE *out);

/* ---- plots/page/timeline_paint.c ---- */
/* The boxes of a panel, or its shares of the time, as paths of one colour each. */
void pp_timeline_write_picture(const struct pp_timeline_page *page, int index, FILE *out);
