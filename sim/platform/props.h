/* sim/platform/props.h — the properties of a platform file that pipesim knows. */
#pragma once

#include "core/error.h"

enum { PP_PROP_NAMES = 3, PP_PROPS = 8, PP_PROP_LEVELS = 16 };

/* Properties of the device and of the routes; those of levels are in sim/platform/platform.h. */
struct pp_prop {
    const char *names[PP_PROP_NAMES]; /* any of them; NULL after the last */
    const char *word;                 /* its key in a cluster text; NULL: it has none */
};
extern const struct pp_prop pp_props[PP_PROPS];

/* Where the text of a file gives the property with a key: its line, and the name used there. 0
 * where it does not. */
int pp_prop_line(const char *text, const char *word, const char **name);
/* Is every pipesim.* in the text known? Else PP_EINVAL with a suggestion, and the line. */
enum pp_status pp_props_check(const char *text, int *line, struct pp_error *err);
