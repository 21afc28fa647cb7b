/* sim/validate/own.h — constants of a user's own steps: fitted, printed, written. */
#pragma once

#include "sim/validate/refit.h"

struct pp_fitted;
/* Fits constants on the rows of a table, starting from the built-in ones. PP_EINVAL without a row
 * that teaches, and for rows of several generations of devices or frameworks. */
enum pp_status pp_refit_own(struct pp_arena *arena, const struct pp_measurements *list,
                            struct pp_refit *refit, struct pp_fitted *fitted, struct pp_error *err);
/* Writes them to a file, whole or not at all. */
enum pp_status pp_fitted_write(struct pp_arena *arena, const struct pp_fitted *fitted,
                               const char *path, struct pp_error *err);
/* Prints them next to the built-in ones, with the errors of both. `path` as written. */
void pp_refit_own_print(struct pp_arena *arena, const struct pp_refit *refit,
                        const struct pp_fitted *fitted, const char *path, FILE *out);
