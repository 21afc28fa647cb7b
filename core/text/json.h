/* core/text/json.h — strict reading over jansson: every error names the file and the key. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct pp_json {
    const char *name; /* for messages */
    json_t *root;
};

/* Largest files, inflated: what people write, and what programs write. */
enum { PP_JSON_WRITTEN_BYTES = 4 << 20, PP_JSON_PRINTED_BYTES = 64 << 20 };

/* Loads a file of at most `limit` bytes; syntax errors are PP_EINVAL with name:line:column,
 * duplicate keys refused, nesting is bounded. pp_json_close() frees it; accepts a zeroed struct. */
enum pp_status pp_json_open(struct pp_arena *arena, const char *path, size_t limit,
                            struct pp_json *json, struct pp_error *err);
/* PP_EFAIL also for a text that takes more memory than is free, or many times its length. */
enum pp_status pp_json_parse(const char *name, const char *text, size_t length,
                             struct pp_json *json, struct pp_error *err);
void pp_json_close(struct pp_json *json);

/* Typed access by the first of several alternative keys ("num_hidden_layers|n_layer"). `*found`
 * false and PP_OK when none is there (null counts as absent); a wrong type or a value outside [low,
 * high] is PP_EINVAL. `found` NULL makes the key required. */
enum pp_status pp_json_int(const struct pp_json *json, json_t *object, const char *keys,
                           int64_t low, int64_t high, int64_t *value, bool *found,
                           struct pp_error *err);
enum pp_status pp_json_number(const struct pp_json *json, json_t *object, const char *keys,
                              double low, double high, double *value, bool *found,
                              struct pp_error *err);
enum pp_status pp_json_bool(const struct pp_json *json, json_t *object, const char *keys,
                            bool *value, bool *found, struct pp_error *err);
/* The string lives as long as `json`. */
enum pp_status pp_json_string(const struct pp_json *json, json_t *object, const char *keys,
                              const char **value, bool *found, struct pp_error *err);
