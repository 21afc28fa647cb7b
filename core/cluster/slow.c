/* Values of --slow: ranks with a factor on their speed. */
#include "core/cluster/slow.h"

#include "core/units.h"

#include <stdlib.h>

enum pp_status pp_slow_read(const char *text, struct pp_slow *slow, struct pp_error *err)
{
    const char *digits = text;
    char *end;

    *slow = (struct pp_slow){.rank = strtol(text, &end, 10), .replica = -1};
    if (end != text && *end == '.') {
        digits = end + 1;
        slow->replica = strtol(digits, &end, 10);
    }
    if (end != digits && *end == '=' &&
        pp_units_parse(end + 1, PP_UNIT_FRAC, &slow->factor, err) == PP_OK && slow->factor > 0)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "--slow %s: expected RANK=FACTOR or RANK.REPLICA=FACTOR with a factor "
                        "above 0, such as 3=0.8",
                        text);
}

static enum pp_status check(const char *text, const struct pp_slow *one,
                            const struct pp_slow_machine *machine, struct pp_error *err)
{
    if (one->rank < 0 || one->rank >= machine->ranks)
        return pp_error_set(err, PP_EINVAL, "--slow %s: pipeline ranks are 0 to %d", text,
                            machine->ranks - 1);
    if (one->replica < -1 || one->replica >= machine->dp)
        return pp_error_set(err, PP_EINVAL, "--slow %s: replicas are 0 to %d", text,
                            machine->dp - 1);
    return PP_OK;
}

static enum pp_status enter(const char *text, const struct pp_slow *one,
                            const struct pp_slow_machine *machine, double *table,
                            struct pp_error *err)
{
    for (int r = 0; r < machine->replicas; r++) {
        double *factor = &table[one->rank * machine->replicas + r];
        if (one->replica >= 0 && r != one->replica)
            continue;
        if (*factor != 1)
            return pp_error_set(err, PP_EINVAL, "--slow %s: rank %ld was slowed before", text,
                                one->rank);
        *factor = one->factor;
    }
    return PP_OK;
}

enum pp_status pp_slow_table(struct pp_arena *arena, const char *const *texts, int count,
                             const struct pp_slow_machine *machine, double **table,
                             struct pp_error *err)
{
    const int cells = machine->ranks * machine->replicas;

    *table = count > 0 ? PP_ARRAY(arena, double, cells) : NULL;
    for (int k = 0; k < cells && *table; k++)
        (*table)[k] = 1;
    for (int i = 0; i < count; i++) {
        struct pp_slow one;
        PP_TRY(pp_slow_read(texts[i], &one, err));
        PP_TRY(check(texts[i], &one, machine, err));
        PP_TRY(enter(texts[i], &one, machine, *table, err));
    }
    return PP_OK;
}
