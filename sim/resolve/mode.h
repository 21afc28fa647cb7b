/* sim/resolve/mode.h — modes of a run, training and generation (--mode). */
#pragma once

#include "schedules/select/select.h"
#include "sim/cli/wish.h"
#include "sim/config/config.h"

/* Refuses options of the other mode. */
enum pp_status pp_resolve_mode_check(const struct pp_wish *wish, struct pp_error *err);
/* The same; those of training from a preset lose their effect. */
enum pp_status pp_resolve_mode(struct pp_wish *wish, struct pp_error *err);
/* Reads --unit; refuses costs of ops that the mode does not have. */
enum pp_status pp_resolve_unit_costs(const struct pp_wish *wish, struct pp_unit_costs *unit,
                                     struct pp_error *err);
/* Refuses schedules and program files of the other mode. */
enum pp_status pp_resolve_subject_mode(const struct pp_wish *wish, const struct pp_subject *subject,
                                       struct pp_error *err);

/* ---- generation.c: what the passes of a run read and write ----------------------------------- */

/* Fills config->generation, but for groups; after the model. Leaves it without passes in training.
 */
enum pp_status pp_resolve_generation(const struct pp_wish *wish, struct pp_config *config,
                                     struct pp_error *err);
/* Takes the passes, or those of a program file, into config->shape. */
enum pp_status pp_resolve_passes(const struct pp_wish *wish, struct pp_config *config,
                                 struct pp_error *err);
/* Divides the batch into groups and pieces, once the ranks are known. */
enum pp_status pp_resolve_groups(const struct pp_wish *wish, struct pp_config *config,
                                 struct pp_error *err);
/* A program file fixes the pieces of prompts, so the batch has to follow. */
enum pp_status pp_resolve_file_batch(const struct pp_wish *wish, const struct pp_generation *g,
                                     struct pp_error *err);
