/* schedules/order/concat.h — values of the option --concat, as chimera has it. */
#pragma once

enum { PP_CONCAT_AT = 0 }; /* index in chimera's table of options */
enum pp_concat { PP_CONCAT_DIRECT, PP_CONCAT_DOUBLING, PP_CONCAT_HALVING, PP_CONCAT_AUTO };
