/* sim/platform/props.h — the properties of a platform file that pipesim reads. */
#pragma once

#include "core/error.h"

enum { PP_PROP_NAMES = 3, PP_PROPS = 8, PP_PROP_LEVELS = 16 };

/* A property of the device or of routes; those of levels are in sim/platform/platform.h. */
struct pp_prop {
    const char *names[PP_PROP_NAMES]; /* synonyms; NULL after the last */
    const char *word;                 /* key in a cluster text; NULL = none */
};
extern const struct pp_prop pp_props[PP_PROPS];

/* Line of the property of a key in the text of a file, and its name there; 0 if there is none. */
int pp_prop_line(const char *text, const char *word, const char **name);
/* PP_EINVAL for an unknown pipesim.* property in the text, with a suggestion and its line. */
enum pp_status pp_props_check(const char *text, int *line, struct pp_error *err);
