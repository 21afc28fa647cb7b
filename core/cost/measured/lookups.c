/* Look-ups in measured durations. */
#include "core/cost/measured/file.h"

#include <string.h>

const char *const pp_measured_keys[PP_MEASURED_PARTS] = {"block_s", "embedding_s", "head_s",
                                                         "op_s"};
const int pp_measured_kinds[PP_MEASURED_KINDS] = {PP_F, PP_B, PP_I, PP_W, PP_R};

const struct pp_measured_line *pp_cost_file_line(const struct pp_cost_file *file, const char *name)
{
    for (int k = 0; k < file->line_count; k++)
        if (!strcmp(file->lines[k].name, name))
            return &file->lines[k];
    return NULL;
}

const char *pp_cost_file_precision(int value_bytes)
{
    static const char *const NAMES[] = {[2] = "bf16", [4] = "fp32"};

    return value_bytes < (int)PP_COUNT(NAMES) ? NAMES[value_bytes] : NULL;
}

enum pp_status pp_cost_file_check(const struct pp_cost_file *file, const char *name,
                                  struct pp_error *err)
{
    double sum_s = 0;

    for (int k = 0; k < file->set_count; k++)
        for (int kind = 0; kind < PP_OP_KINDS; kind++)
            for (int part = 0; part < PP_MEASURED_PARTS; part++)
                sum_s += file->sets[k].op[kind].part_s[part];
    return sum_s > 0 || file->set_count == 0
               ? PP_OK
               : pp_error_set(err, PP_EINVAL, "%s: all ops take 0 s: nothing was measured", name);
}
