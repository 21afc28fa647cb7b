/* sim/platform/text.h — where things stand in the text of a platform file.
 *
 * SimGrid lists hosts by name and names the place of some errors only. This finds elements by tag
 * and id; it is no XML parser: SimGrid has read the file before, or refused it. */
#pragma once

#include "core/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Is a --cluster a file: does it end in .xml or .xml.gz, or have a '/'? */
bool pp_platform_is_file(const char *cluster);
/* Where a --cluster was refused with `status`, and is a file here: say how to name that. */
enum pp_status pp_platform_hint(const char *cluster, enum pp_status status, struct pp_error *err);

struct pp_element {
    const char *tag, *id; /* in the text, not ended by NUL */
    int tag_length, id_length;
    const char *end; /* of the tag */
    int line;        /* from 1 */
};

/* A reader at the start of a text: {.rest = text, .line = 1}. */
struct pp_elements {
    const char *rest;
    int line;
};

/* The next start tag that has an id, outside comments; false at the end. */
bool pp_elements_next(struct pp_elements *elements, struct pp_element *element);
/* Hosts that an element makes: 1, or those of the radical of a <cluster>; 0 for others. At most
 * INT64_MAX / 2. */
int64_t pp_element_hosts(const struct pp_element *element);
/* Line of the `nth` (from 1) element with that tag and id, 0 when there is none. */
int pp_element_line(const char *text, const char *tag, const char *id, int nth);
