/* exec/resolve/parts.h — parts of pp_exec_resolve() and pp_exec_plan_make(): private to
 * exec/resolve*.c. */
#pragma once

#include "exec/resolve/config.h"

/* device.c: --backend, --device-mode and --clock; PP_EFAIL when a module cannot be loaded,
 * PP_EINVAL for a mode of a backend that has none. And its kernels for
 * --precision, once the recipe is there: PP_EINVAL when it has none. */
enum pp_status pp_exec_device(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                              struct pp_error *err);
/* Each rank has a process of its own: PP_EFAIL when what that needs is not there, PP_EINVAL for a
 * mode in which ranks take turns. */
enum pp_status pp_exec_device_alone(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                                    struct pp_error *err);
/* --weight-grad-stream, once mode and transport are there: PP_EINVAL where a rank has one stream.
 */
enum pp_status pp_exec_weight_stream(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                                     struct pp_error *err);
enum pp_status pp_exec_kernels(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                               struct pp_error *err);

/* Micro-batches into the shape (a file has them already) and samples of one into the batch; ranks
 * must be set. PP_EINVAL when they do not make up --gbs. */
enum pp_status pp_exec_batch(const struct pp_exec_wish *wish, const struct pp_exec_config *config,
                             struct pp_exec_plan *plan, struct pp_error *err);
/* The refusal of a schedule, with the reason for the number of micro-batches where it was not
 * given. */
enum pp_status pp_exec_explain_batch(const struct pp_exec_wish *wish,
                                     const struct pp_exec_config *config, struct pp_error *err);
/* Granules of whole samples, splits of whole tokens, an even number of them where elements have 2
 * bytes (see exec/stage/stage.h), no recomputation of splits. */
enum pp_status pp_exec_check_cut(const struct pp_exec_config *config,
                                 const struct pp_exec_plan *plan, struct pp_error *err);
