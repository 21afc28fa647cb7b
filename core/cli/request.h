/* core/cli/request.h — the user's request: flags over a preset, before anything is derived. */
#pragma once

#include "core/cli/options.h"

/* Named defaults of a run. Flags override them wherever they stand. */
struct pp_preset {
    const char *name, *summary, *source;
    const char *published; /* what the source measured, "19.9 s a step"; NULL = not such a run */
    const char *const *arguments; /* as typed: "--model", "gpt2-64", ...; NULL-terminated */
};

enum pp_origin { PP_FROM_NOTHING, PP_FROM_PRESET, PP_FROM_FLAG };

struct pp_platforms;
struct pp_request {
    const struct pp_parsed *flags;
    struct pp_parsed preset; /* values is NULL without a preset */
    const struct pp_preset *preset_row;
    struct pp_platforms *platforms; /* platforms that stay open for other requests; NULL = none */
};

/* Parses the arguments of --preset. PP_EINVAL with a suggestion for an unknown name. */
enum pp_status pp_request_open(struct pp_arena *arena, const struct pp_parsed *flags,
                               struct pp_request *request, struct pp_error *err);
/* Takes the arguments of a row as a command's defaults, for a request without --preset. */
enum pp_status pp_request_defaults(struct pp_arena *arena, struct pp_request *request,
                                   const struct pp_preset *row, struct pp_error *err);
/* Returns the value of an option: of flags, else preset, else NULL. `origin` may be NULL. */
const struct pp_option_value *pp_request_get(const struct pp_request *request, const char *name,
                                             enum pp_origin *origin);
/* Returns the integer of an option (INT, LONG, CHOICE), or `fallback`. */
int pp_request_int(const struct pp_request *request, const char *name, int fallback);
const char *pp_request_text(const struct pp_request *request, const char *name,
                            const char *fallback);
bool pp_request_has(const struct pp_request *request, const char *name);
/* Prints an option as typed, for messages: "--pp 12"; "--pp" if it is not given. */
enum { PP_REQUEST_TYPED_BYTES = 128 };
const char *pp_request_typed(const struct pp_request *request, const char *name,
                             char text[PP_REQUEST_TYPED_BYTES]);
