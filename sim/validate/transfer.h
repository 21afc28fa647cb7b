/* sim/validate/transfer.h — how well a few steps of some layouts improve predictions of others.
 *
 * Constants are fitted on two to five steps of each family with five rows or more, and predict its
 * other layouts. The steps are of as few layouts as have them, and at most half of the rows.
 * Several draws begin at layouts spread over the family. Rows of one generation of devices and one
 * framework belong together. Other models take a share of the change (core/cost/fitted.h). */
#pragma once

#include "sim/published/published.h"

#include <stdio.h>

/* Prints the table and a summary for several widths of the prior, as text or Markdown. PP_EINVAL if
 * no family has layouts to leave out. */
enum pp_status pp_transfer_print(struct pp_arena *arena, const struct pp_measurements *list,
                                 bool is_markdown, FILE *out, struct pp_error *err);
