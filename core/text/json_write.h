/* core/text/json_write.h — members and values of JSON reports. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A number; null if it is not finite. */
json_t *pp_json_real(double value);
/* A text; null for NULL. Bytes that are not UTF-8, as file names may have them, become "\xe9". */
json_t *pp_json_text(const char *text);
json_t *pp_json_reals(const double *values, int count);

void pp_json_put(json_t *object, const char *key, double value);
void pp_json_put_text(json_t *object, const char *key, const char *text);
void pp_json_put_int(json_t *object, const char *key, int64_t value);
void pp_json_put_bool(json_t *object, const char *key, bool value);
/* Puts whole bytes as an integer; null if they are not finite. */
void pp_json_put_bytes(json_t *object, const char *key, double bytes);

/* Returns "meta" of a report: the version, the host and how long the program ran. */
json_t *pp_json_meta(double wall_s);
/* Prints a report: indented by two blanks, numbers to 17 digits, a newline at the end. Frees it. */
void pp_json_print(json_t *report, FILE *out);
/* Likewise, but with arrays of numbers on one line each. */
void pp_json_print_rows(json_t *report, FILE *out);
