/* schedules/select/source.h — schedules whose programs come from a command, "!COMMAND", or from one
 * file for each shape. Words in braces in the text are filled with the shape: {pp}, {vp},
 * {micro_batches}, {splits}, {pipelines}, and options of schedules such as {group}. A brace after a
 * $, or around anything else, is left to the shell. */
#pragma once

#include "schedules/order/schedule.h"
#include "schedules/program/program.h"

bool pp_source_is_command(const char *text);
/* Is true if the text has a word to fill. */
bool pp_source_has_words(const char *text);

/* Returns a schedule with the programs of a text with words; its options are those that the text
 * names. A command runs when a shape is first checked, once for each filled text in this
 * process and the workers that it forks later. The programs are proved. PP_EINVAL for unknown
 * words. */
enum pp_status pp_source_open(struct pp_arena *arena, const char *text, enum pp_dialect dialect,
                              const struct pp_schedule **schedule, struct pp_error *err);
/* Runs a command without words and reads the program that it prints. */
enum pp_status pp_source_read(struct pp_arena *arena, const char *text, enum pp_dialect dialect,
                              struct pp_program **program, struct pp_error *err);
