/* schedules/chimera.h — values of chimera's option --concat. Internal to schedules/. */
#pragma once

enum { PP_CONCAT_AT = 0 }; /* index in chimera's table of options */
enum pp_concat { PP_CONCAT_DIRECT, PP_CONCAT_DOUBLING, PP_CONCAT_HALVING, PP_CONCAT_AUTO };
