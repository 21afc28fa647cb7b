#include "sim/slow.h"

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
