/* plots/page/timeline.h — the timeline of an HTML page: its picture, and the data of its ops. */
#pragma once

#include "plots/timeline/page.h"

/* Is true for an op that runs in the time of a panel. */
bool pp_timeline_is_shown(const struct pp_timeline_panel *panel, const struct pp_timeline_box *box);
/* Returns the number of such ops in the rows of a panel. */
int pp_timeline_shown(const struct pp_timeline_panel *panel);
bool pp_timeline_has_data(const struct pp_timeline_page *page,
                          const struct pp_timeline_panel *panel);
/* Writes the ops of a panel as JSON for the script, in an element of its own; nothing if they are
 * too many. An op is: start minus the previous op's end, duration, look, first micro-batch, stage.
 * Times are whole quanta; each is an index into the list of all times. */
void pp_timeline_write_data(const struct pp_timeline_page *page, int index, FILE *out);

/* Writes the boxes of a panel, or its shares of the time, as one path for each colour. */
void pp_timeline_write_picture(const struct pp_timeline_page *page, int index, FILE *out);
