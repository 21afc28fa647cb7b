/* schedules/evaluate/form.h — a compiled program whose durations are filled in for each use.
 * Private to this folder. */
#pragma once

#include "schedules/evaluate/eval.h"

/* A duration, of all steps and meets that costs cannot tell apart. */
struct pp_form_price {
    uint8_t kind;   /* enum pp_node_price */
    bool is_fused;  /* COMPUTE: of an op and the one after it */
    int32_t at;     /* an instruction with this duration */
    int32_t before; /* another one of the same stage, 0 = none */
    int32_t uses;   /* number of steps and meets */
};
struct pp_eval_form {
    struct pp_eval_form *before; /* of the same program */
    struct pp_arena *arena;
    struct pp_eval_options options;
    bool is_unit;
    struct pp_eval *eval;         /* compiled, with the durations of its first use */
    struct pp_form_price *prices; /* 0 is no time */
    int price_count, price_capacity;
    int32_t *last_of;                 /* [stage]: its last price */
    int32_t *step_price, *meet_price; /* [step], [meet] of the plan */
    int step_count, step_capacity, meet_count, meet_capacity;
};

/* Opens a form in the arena of its program; its plan is not compiled yet. */
struct pp_eval_form *pp_form_open(struct pp_arena *arena, const struct pp_program *program,
                                  const struct pp_costs *costs,
                                  const struct pp_eval_options *options);
/* Notes what the duration of the next step or meet depends on. */
void pp_form_add_step(struct pp_eval_form *form, const struct pp_node *node);
void pp_form_add_meet(struct pp_eval_form *form, const struct pp_node *node);
/* Makes a plan with the durations of these costs. False if times may overflow. */
bool pp_form_eval(struct pp_arena *arena, const struct pp_eval_form *form,
                  const struct pp_costs *costs, struct pp_eval **eval);
