/* schedules/chimera.h — how chimera strings basic units together: the values of its option.
 * Internal to schedules/. */
#pragma once

enum { PP_CONCAT_AT = 0 }; /* in the table of its options */
enum pp_concat { PP_CONCAT_DIRECT, PP_CONCAT_DOUBLING, PP_CONCAT_HALVING, PP_CONCAT_AUTO };
