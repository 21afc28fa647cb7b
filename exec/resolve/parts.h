/* exec/resolve/parts.h — private parts of pp_exec_resolve(). */
#pragma once

#include "exec/resolve/config.h"

/* device.c: resolves --backend, --device-mode and --clock. PP_EFAIL if a module cannot be loaded,
 * PP_EINVAL for a mode of a backend that has none. */
enum pp_status pp_exec_device(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                              struct pp_error *err);
/* Resolves --transport and --rendezvous, after the device and replicas. PP_EINVAL for a transport
 * that cannot reach the memory of the device, and for other numbers of processes than of workers.
 */
enum pp_status pp_exec_transport(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                                 struct pp_error *err);
/* gpus.c: true if each rank is to be a process with a GPU, without a launcher or --transport. Sets
 * config->gpu_note, if several GPUs are visible. */
bool pp_exec_has_gpu_each(const struct pp_exec_wish *wish, struct pp_exec_config *config);
/* words.c: the options as typed that all processes share, one a line. */
const char *pp_exec_words(struct pp_arena *arena, const struct pp_exec_wish *wish);
/* Resolves the device of ranks that are processes. PP_EFAIL if ipc or NCCL cannot be used,
 * PP_EINVAL for --device-mode partition. */
enum pp_status pp_exec_device_alone(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                                    struct pp_error *err);
/* Resolves --weight-grad-stream, after mode and transport. PP_EINVAL if a rank has one stream. */
enum pp_status pp_exec_weight_stream(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                                     struct pp_error *err);
/* Chooses kernels by --precision and the recipe. PP_EINVAL if the backend has none. */
enum pp_status pp_exec_kernels(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                               struct pp_error *err);

/* Loads the data that are given as --tokens and --tokenizer say; none: the built-in text. Errors:
 * pp_text_load(), pp_tokenizer_open(). */
enum pp_status pp_exec_text(struct pp_arena *arena, const struct pp_exec_wish *wish,
                            const struct pp_given *given, const struct pp_exec_config *config,
                            struct pp_text *text, struct pp_error *err);

/* again.c: resolves --recompute, after the model. Errors: pp_recompute_read(). */
enum pp_status pp_exec_recompute(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                                 struct pp_error *err);
/* ep.c: takes the loss of balance. PP_EINVAL without experts. */
enum pp_status pp_exec_balance(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                               struct pp_error *err);
/* refuse.c: what cannot be combined with an option, one row each. */
struct pp_exec_refusal {
    bool is_given;
    const char *reason; /* and the nearest choice */
};

/* PP_EINVAL with the reason of the first row that is given; `typed` is the option. */
enum pp_status pp_exec_refuse(const char *typed, const struct pp_exec_refusal *rows, size_t count,
                              struct pp_error *err);
/* ep.c: resolves --ep, after model, machine and replicas. PP_EINVAL for a degree that does not
 * divide experts and replicas, with the nearest that does, or for what cannot be combined with it.
 */
enum pp_status pp_exec_ep(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                          struct pp_error *err);
/* degrees.c: resolves the number of replicas from --dp or --gpus. PP_EINVAL for a number of devices
 * that the degrees do not divide or contradict, and for --cp beyond 1. */
enum pp_status pp_exec_degrees(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                               struct pp_error *err);
/* tp.c: resolves --tp, after model and machine. PP_EINVAL for a degree that does not divide the
 * model, with the nearest that do, and for what it cannot be combined with. */
enum pp_status pp_exec_tp(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                          struct pp_error *err);
/* PP_EINVAL if the workers of a group cannot share the tokens of a forward evenly. */
enum pp_status pp_exec_check_token_shares(const struct pp_exec_config *config,
                                          const struct pp_exec_plan *plan, struct pp_error *err);
/* tiers.c: resolves caps, folder and rates of memory tiers, after the machine. PP_EINVAL with the
 * expected form. */
enum pp_status pp_exec_tiers(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                             struct pp_error *err);
/* weights.c: opens the weights of --model DIR, after model and net. PP_EINVAL for files that are
 * not those of config.json, and for options that change its dimensions. */
enum pp_status pp_exec_weights(struct pp_arena *arena, const struct pp_exec_wish *wish,
                               struct pp_exec_config *config, struct pp_error *err);
