/* Rows of measurements for tests: a line read under one header, and a word of the command it stands
 * for. Texts live in the arena. */
#ifndef PP_TESTS_UNIT_MEASUREMENT_H
#define PP_TESTS_UNIT_MEASUREMENT_H

#include "sim/published/published.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#define HEADER                                                                                     \
    "id,family,year,model_name,params_b,layers,hidden,heads,ffn,vocab,seq_len,gpu,gpus,"           \
    "gpus_per_node,precision,tp,pp,dp,cp,schedule,vpp_or_chunks,microbatch,global_batch,"          \
    "zero_stage_or_fsdp,recompute,seq_parallel,metric_step_time_s,"                                \
    "metric_tokens_per_s_per_gpu,metric_mem_gib,note\n"

static inline struct pp_measurement *read_row(struct pp_arena *arena, const char *line)
{
    struct pp_measurements list = {0};
    struct pp_error err = {0};
    const char *text = pp_arena_printf(arena, HEADER "%s\n", line);

    cr_assert(pp_measurements_parse(arena, "f", text, strlen(text), &list, &err) == PP_OK, "%s",
              err.message);
    cr_assert(eq(int, list.count, 1));
    return list.rows;
}

/* Is "--option value" among the words? NULL: the option is not there at all. */
static inline void check_word(struct pp_arena *arena, const char *line, const char *option,
                              const char *value)
{
    struct pp_measure_command command;
    struct pp_error err = {0};
    const char *found = NULL;

    cr_assert(pp_measure_command(arena, read_row(arena, line), &command, &err) == PP_OK, "%s: %s",
              line, err.message);
    for (int i = 0; i + 1 < command.argc; i++)
        if (!strcmp(command.argv[i], option))
            found = command.argv[i + 1];
    cr_assert(value ? found && !strcmp(found, value) : !found, "%s: %s is %s, not %s", line, option,
              found ? found : "absent", value ? value : "absent");
}

#endif
