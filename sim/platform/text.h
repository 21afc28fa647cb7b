/* sim/platform/text.h — places in the text of a platform file.
 *
 * SimGrid lists hosts by name and gives the place of only some errors. These functions find
 * elements by tag and id. They are no XML parser: SimGrid reads the file itself. */
#pragma once

#include "core/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Is true if a --cluster is a file: it ends in .xml or .xml.gz, or has a '/'. */
bool pp_platform_is_file(const char *cluster);
/* Adds a hint to the error if a refused --cluster is the name of a file in this folder. */
enum pp_status pp_platform_hint(const char *cluster, enum pp_status status, struct pp_error *err);

struct pp_element {
    const char *tag, *id; /* in the text, not ended by NUL */
    int tag_length, id_length;
    const char *end; /* end of the tag */
    int line;        /* from 1 */
};

/* A reader of a text, from its start: {.rest = text, .line = 1}. */
struct pp_elements {
    const char *rest;
    int line;
};

/* Finds the next start tag with an id, outside comments; false at the end. */
bool pp_elements_next(struct pp_elements *elements, struct pp_element *element);
/* Hosts of an element: 1, those of a <cluster>'s radical, or 0; at most INT64_MAX / 2. */
int64_t pp_element_hosts(const struct pp_element *element);
/* Line of the `nth` (from 1) element with this tag and id; 0 if there is none. */
int pp_element_line(const char *text, const char *tag, const char *id, int nth);
