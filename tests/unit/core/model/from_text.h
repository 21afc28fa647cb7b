/* A model from the text of a config.json, for tests. */
#pragma once

#include "core/model/model.h"

#include <criterion/criterion.h>
#include <string.h>

static inline struct pp_model read_text(struct pp_arena *arena, const char *text)
{
    struct pp_error err = {0};
    struct pp_model model;

    cr_assert_eq(pp_model_from_json(arena, "c.json", text, strlen(text), &model, &err), PP_OK, "%s",
                 err.message);
    return model;
}
