/* sim/cli/wish.h — the values of the options of pipesim, a field for each option. */
#pragma once

#include "core/model/options.h"
#include "schedules/select/options.h"

/* Values of the options; filled by pp_wish_open() and pp_wish_defaults(). */
struct pp_wish {
    struct pp_request request;
#define PP_ROW       PP_ROW_FIELD
#define PP_ROW_AGAIN PP_ROW_NOTHING
#include "sim/cli/rows.h"
    struct {
#define PP_ROW       PP_ROW_GIVEN
#define PP_ROW_AGAIN PP_ROW_NOTHING
#include "sim/cli/rows.h"
    } given;
};

/* Is true with --mode infer. */
static inline bool pp_wish_generates(const struct pp_wish *wish)
{
    return wish->mode == 1;
}

/* Call pp_request_open() or pp_request_defaults(), and fill the fields of `wish`. */
enum pp_status pp_wish_open(struct pp_arena *arena, const struct pp_parsed *flags,
                            struct pp_wish *wish, struct pp_error *err);
enum pp_status pp_wish_defaults(struct pp_arena *arena, struct pp_wish *wish,
                                const struct pp_preset *row, struct pp_error *err);
