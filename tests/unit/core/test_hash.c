#include "core/hash.h"

#include <criterion/criterion.h>
#include <string.h>

/* Values of the authors' own test vectors (draft-eastlake-fnv, appendix C). */
Test(hash, is_the_published_function)
{
    static const struct {
        const char *text;
        uint64_t hash;
    } cases[] = {{"", UINT64_C(0xcbf29ce484222325)},
                 {"a", UINT64_C(0xaf63dc4c8601ec8c)},
                 {"foobar", UINT64_C(0x85944171f73967e8)}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        cr_assert_eq(pp_hash(PP_HASH_OF_NOTHING, cases[i].text, strlen(cases[i].text)),
                     cases[i].hash, "\"%s\"", cases[i].text);
}

Test(hash, goes_on_where_it_stopped)
{
    const uint64_t foo = pp_hash(PP_HASH_OF_NOTHING, "foo", 3);

    cr_assert_eq(pp_hash(foo, "bar", 3), pp_hash(PP_HASH_OF_NOTHING, "foobar", 6));
}
