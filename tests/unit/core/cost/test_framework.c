/* Rows of frameworks. */
#include "core/cost/framework.h"

#include <criterion/criterion.h>
#include <string.h>

Test(framework, rows_are_in_order_and_found_by_name)
{
    const struct pp_framework *found;
    struct pp_error err;

    for (const struct pp_framework *f = pp_frameworks; f->name != NULL; f++) {
        cr_assert_eq(pp_framework_find(f->name, &found, &err), PP_OK);
        cr_assert_eq(found, f);
        cr_assert(f == pp_frameworks || strcmp(f[-1].name, f->name) < 0, "%s", f->name);
        cr_assert(f->title && f->source && f->params_bytes > 0 && f->optimizer_bytes > 0);
        cr_assert(f->fragment_frac >= 0 && f->fragment_frac < 0.5, "%s", f->name);
    }
    cr_assert_str_eq(pp_framework_plain->name, "plain");
    cr_assert_eq(pp_framework_find("Mega-Tron", &found, &err), PP_OK);
    cr_assert_str_eq(found->name, "megatron");
}

Test(framework, unknown_names_are_refused_with_what_there_is)
{
    const struct pp_framework *found;
    struct pp_error err;

    cr_assert_eq(pp_framework_find("megatorn", &found, &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "did you mean 'megatron'?"), "%s", err.message);
    cr_assert_eq(pp_framework_find("xyzzyxyzzy", &found, &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "deepspeed"), "%s", err.message);
}
