/* core/text/json_write.h — members and values of the JSON that reports are made of. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A number; null where it is not finite. */
json_t *pp_json_real(double value);
/* A text; null of NULL. Bytes that are not UTF-8, as file names may have them, become "\xe9". */
json_t *pp_json_text(const char *text);
json_t *pp_json_reals(const double *values, int count);

/* The same as a member of an object. */
void pp_json_put(json_t *object, const char *key, double value);
void pp_json_put_text(json_t *object, const char *key, const char *text);
void pp_json_put_int(json_t *object, const char *key, int64_t value);
void pp_json_put_bool(json_t *object, const char *key, bool value);
/* Whole bytes as an integer; null where they are not finite. */
void pp_json_put_bytes(json_t *object, const char *key, double bytes);

/* "meta" of a report: the version, the host and how long the program ran. */
json_t *pp_json_meta(double wall_s);
/* Print a report: indented by two blanks, numbers to 17 digits, a newline at the end. Frees it. */
void pp_json_print(json_t *report, FILE *out);
