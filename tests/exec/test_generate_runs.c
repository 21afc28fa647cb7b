/* Generating programs that are not as usual: other orders, missing waits, faults; tokens as they
 * come, times and their prediction. */
#include "core/units.h"
#include "exec/predict/passes.h"
#include "tests/exec/generate_rig.h"

static void start(struct pp_arena *arena, const struct generate_case *c, struct generate_run *run,
                  struct pp_machine **machine)
{
    struct pp_error err = {0};

    generate_make(arena, c, run);
    cr_assert_eq(pp_machine_create(arena, &run->options, machine, &err), PP_OK, "%s", err.message);
}

static void generate(struct pp_machine *machine, const struct generate_run *run,
                     struct pp_generated *made)
{
    struct pp_error err = {0};

    cr_assert_eq(pp_machine_generate(machine, run->prompts, made, &err), PP_OK, "%s", err.message);
}

/* Tokens and logits of all sequences differ from the oracle's. */
static int differing(const struct generate_run *run, const struct pp_generated *made,
                     const int32_t *tokens, const uint64_t *hashes)
{
    int count = 0;

    for (int i = 0; i < run->sequences * run->of.passes; i++)
        count += made->tokens[i] != tokens[i] || made->logits[i] != hashes[i];
    return count;
}

/* ---- programs --------------------------------------------------------------------------------*/

static const char OTHER_ORDER[] = "# pipesim-program/1\n"
                                  "# passes: 3\n"
                                  "0F1,0F0,2F1,4F1,2F0,4F0\n"
                                  "1F1,1F0,3F1,5F1,3F0,5F0\n";
static const char TWO_STAGES_A_RANK[] = "# pipesim-program/1\n"
                                        "# passes: 2\n"
                                        "# placement: 0 1 1 0 0 1 1 0\n"
                                        "0F0,0F1,3F0,4F0,3F1,4F1,7F0,7F1\n"
                                        "1F0,2F0,1F1,2F1,5F0,6F0,5F1,6F1\n";

static void check_text(const char *text, int passes)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct generate_case c = {
        .ranks = 2, .groups = 2, .rows = 2, .prompt = 3, .passes = passes, .seed = 3};
    struct pp_program *compute;
    struct generate_run run;
    struct pp_machine *machine;
    struct pp_generated made;
    struct pp_error err = {0};
    int32_t *tokens;
    uint64_t *hashes;

    const enum pp_status status =
        pp_program_parse(arena, "text", text, strlen(text), PP_DIALECT_2025, &compute, &err);
    cr_assert_eq(status, PP_OK, "%s", err.message);
    c.compute = compute;
    start(arena, &c, &run, &machine);
    generate_oracle(arena, &c, &run, &tokens, &hashes);
    generate(machine, &run, &made);
    cr_expect_eq(differing(&run, &made, tokens, hashes), 0);
    pp_machine_destroy(machine);
}

Test(generate_runs, any_legal_order_makes_the_same_tokens)
{
    check_text(OTHER_ORDER, 3);
    check_text(TWO_STAGES_A_RANK, 2);
}

/* Lets the k-th WAIT for a RECV of rank 1 wait for what the one before has waited for. */
static void drop_wait(struct pp_program *p, int k)
{
    int before = -1;

    for (int i = p->begin[1]; i < p->begin[2]; i++) {
        if (p->kind[i] != PP_WAIT || p->kind[p->begin[1] + p->arg[i]] != PP_RECV_F)
            continue;
        if (before >= 0 && k-- == 0) {
            p->arg[i] = p->arg[before];
            return;
        }
        before = i;
    }
    cr_assert_fail("rank 1 has too few WAITs");
}

/* The fake device runs work as early as events allow. */
Test(generate_runs, a_missing_wait_shows)
{
    enum { RUNS = 16, WAITS = 4 };

    for (int k = 0; k < WAITS; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct generate_case c = {
            .ranks = 2, .groups = 2, .prompt = 3, .passes = 3, .backend = &pp_backend_fake};
        struct generate_run run;
        struct pp_machine *machine;
        struct pp_generated made;
        struct pp_error err = {0};
        int32_t *tokens;
        uint64_t *hashes;
        int wrong = 0;

        generate_make(arena, &c, &run);
        generate_oracle(arena, &c, &run, &tokens, &hashes);
        drop_wait(run.program, k);
        cr_assert_eq(pp_machine_create(arena, &run.options, &machine, &err), PP_OK);
        for (int n = 0; n < RUNS; n++) {
            generate(machine, &run, &made);
            wrong += differing(&run, &made, tokens, hashes) > 0;
        }
        cr_expect_gt(wrong, 0, "without WAIT %d no run was wrong", k);
        pp_machine_destroy(machine);
    }
}

Test(generate_runs, other_programs_are_refused)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct generate_case c = {.ranks = 2, .groups = 2, .pieces = 2, .prompt = 3, .passes = 3};
    struct generate_run run;
    struct pp_machine *machine;
    struct pp_error err = {0};

    generate_make(arena, &c, &run);
    for (int i = 0; i < pp_program_size(run.program); i++)
        if (run.program->kind[i] == PP_F && run.program->stage[i] == 3)
            run.program->granule_count[i] = 1;
    cr_assert_eq(pp_machine_create(arena, &run.options, &machine, &err), PP_EPROGRAM);
    cr_expect(strstr(err.message, "a part of a group"), "%s", err.message);
}

/* ---- tokens as they come ---------------------------------------------------------------------*/

struct stream {
    int groups, rows, passes, calls, wrong;
    const int32_t *tokens;
};

static void take(void *closure, int group, int pass, const int32_t *ids)
{
    struct stream *s = closure;

    s->wrong += s->calls != pass * s->groups + group;
    s->calls++;
    for (int row = 0; row < s->rows && s->tokens; row++)
        s->wrong += ids[row] != s->tokens[(group * s->rows + row) * s->passes + pass];
}

Test(generate_runs, tokens_come_in_order)
{
    static const struct pp_transport *const TRANSPORTS[] = {&pp_transport_local, &pp_transport_shm,
                                                            &pp_transport_tcp, &pp_transport_local};

    for (size_t t = 0; t < sizeof(TRANSPORTS) / sizeof(*TRANSPORTS); t++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct stream stream = {.groups = 4, .rows = 4, .passes = 5};
        const struct generate_case c = {.ranks = 2,
                                        .groups = 2,
                                        .pieces = 2,
                                        .rows = 2,
                                        .prompt = 3,
                                        .passes = 5,
                                        .replicas = 2,
                                        .transport = TRANSPORTS[t],
                                        .backend = t == 3 ? &pp_backend_fake : NULL,
                                        .on_tokens = take,
                                        .closure = &stream};
        struct generate_run run;
        struct pp_machine *machine;
        struct pp_generated made;
        int32_t *tokens;
        uint64_t *hashes;

        start(arena, &c, &run, &machine);
        generate_oracle(arena, &c, &run, &tokens, &hashes);
        stream.tokens = tokens;
        generate(machine, &run, &made);
        cr_expect_eq(stream.calls, 4 * 5, "%s: %d calls", TRANSPORTS[t]->name, stream.calls);
        cr_expect_eq(stream.wrong, 0, "%s", TRANSPORTS[t]->name);
        pp_machine_destroy(machine);
    }
}

/* ---- times -----------------------------------------------------------------------------------*/

/* Replays measured durations: no event is anywhere else. */
static void check_replay(const struct generate_case *c)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct generate_run run;
    struct pp_machine *machine;
    struct pp_generated made;
    struct pp_replay replay;
    struct pp_error err = {0};

    start(arena, c, &run, &machine);
    for (int k = 0; k < 2; k++) {
        generate(machine, &run, &made);
        cr_expect_gt(made.step.step_s, 0);
        cr_expect(made.machinery_frac < 1 &&
                  (made.machinery_frac > 0 || !run.options.backend->is_immediate));
        cr_expect_geq(made.machinery_frac, 0);
    }
    for (int k = 0; k < 2; k++) {
        cr_assert_eq(pp_replay(arena, run.program, run.options.costs, pp_machine_times(machine), k,
                               pp_machine_step_times(machine, k).duration_ps, &replay, &err),
                     PP_OK, "%s", err.message);
        cr_expect(replay.step_error_s == 0 && replay.event_error_s == 0, "step %d: %g, %g", k,
                  replay.step_error_s, replay.event_error_s);
    }
    pp_machine_destroy(machine);
}

Test(generate_runs, the_virtual_clock_is_the_evaluator)
{
    static const struct pp_transport *const TRANSPORTS[] = {&pp_transport_local, &pp_transport_shm,
                                                            &pp_transport_tcp};

    for (int t = 0; t < 3; t++)
        check_replay(&(struct generate_case){.ranks = 3,
                                             .groups = 4,
                                             .pieces = 2,
                                             .prompt = 4,
                                             .passes = 5,
                                             .replicas = 2,
                                             .transport = TRANSPORTS[t]});
    check_replay(&(struct generate_case){
        .ranks = 2, .groups = 2, .pieces = 2, .prompt = 4, .passes = 5, .tp = 2});
    check_replay(&(struct generate_case){
        .ranks = 2, .groups = 2, .prompt = 4, .passes = 5, .backend = &pp_backend_fake});
}

/* If passes are linear in the tokens that they meet, the first half predicts the second. */
Test(generate_runs, the_first_half_predicts_the_second)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct generate_case c = {
        .ranks = 2, .groups = 3, .pieces = 2, .prompt = 4, .passes = 9, .replicas = 2};
    const double slow[] = {1, 2, 1.5, 1};
    const struct pp_replicas replicas = {.count = 2, .slow = slow};
    struct pp_passes_prediction prediction;
    struct generate_run run;
    struct pp_machine *machine;
    struct pp_generated made;
    struct pp_error err = {0};

    generate_make(arena, &c, &run);
    struct pp_costs costs = *run.options.costs;
    costs.op[PP_F] = PP_ARRAY(arena, struct pp_cost, run.program->stages);
    for (int v = 0; v < run.program->stages; v++)
        costs.op[PP_F][v].ps = v < 2 ? 9000000 : 1000000 + 40000 * (v / 2) + 200000 * (v % 2);
    run.options.costs = &costs;
    run.options.has_durations = true;
    run.options.slow = slow;
    cr_assert_eq(pp_machine_create(arena, &run.options, &machine, &err), PP_OK);
    generate(machine, &run, &made);
    const struct pp_step_times times = pp_machine_step_times(machine, 0);
    cr_assert_eq(pp_predict_passes(arena, run.program, &costs, &times, replicas, &prediction, &err),
                 PP_OK, "%s", err.message);
    cr_expect_eq(prediction.fitted, 4);
    cr_expect_float_eq(prediction.error_frac, 0, 1e-6, "%g", prediction.error_frac);
    for (int t = 0; t < c.passes; t++)
        cr_expect_float_eq(prediction.predicted_s[t], prediction.measured_s[t], 1e-11);
    cr_expect_float_eq(prediction.predicted_first_token_s, prediction.first_token_s, 1e-11);
    pp_machine_destroy(machine);
}

/* ---- faults ----------------------------------------------------------------------------------*/

/* Op 14 of rank 1 is of pass 2. What a dead rank has said of itself may be a moment old. */
static void check_fault(const char *text, const struct pp_transport *transport, const char *reason)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct generate_case c = {.ranks = 2,
                              .groups = 2,
                              .prompt = 3,
                              .passes = 4,
                              .transport = transport,
                              .timeout_s = 0.5};
    struct generate_run run;
    struct pp_machine *machine;
    struct pp_generated made;
    struct pp_error err = {0};

    cr_assert_eq(pp_inject_parse(text, 0, &c.inject, &err), PP_OK, "%s", err.message);
    start(arena, &c, &run, &machine);
    cr_assert_eq(pp_machine_generate(machine, run.prompts, &made, &err), PP_EFAIL);
    const bool may_be_old = transport->remote && strncmp(text, "kill", 4) == 0;
    cr_expect(strstr(err.message, "rank 1 at op ") &&
                  strstr(err.message, may_be_old ? "of pass " : "of pass 2"),
              "%s", err.message);
    cr_expect(strstr(err.message, reason), "%s", err.message);
    pp_machine_destroy(machine);
}

Test(generate_runs, faults_name_the_pass)
{
    check_fault("kill rank:1 op:14", &pp_transport_shm, "step 1");
    check_fault("kill rank:1 op:14", &pp_transport_tcp, "step 1");
    check_fault("hang rank:1 op:14", &pp_transport_shm, "no rank has made progress");
    check_fault("hang rank:1 op:14", &pp_transport_tcp, "no rank has made progress");
    check_fault("hang rank:1 op:14", &pp_transport_local, "no rank has made progress");
}

/* The last word, but in pass 2 one more. */
static int32_t choose_too_far(void *closure, int sequence, int position, const double *logits,
                              int words)
{
    (void)closure, (void)sequence, (void)logits;
    return position < 3 + 2 ? words - 1 : words;
}

Test(generate_runs, a_choice_beyond_the_words_ends_the_run)
{
    static const struct pp_transport *const TRANSPORTS[] = {&pp_transport_local, &pp_transport_shm,
                                                            &pp_transport_tcp};

    for (int t = 0; t < 3; t++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct generate_case c = {
            .ranks = 2, .groups = 2, .prompt = 3, .passes = 4, .transport = TRANSPORTS[t]};
        struct generate_run run;
        struct pp_machine *machine;
        struct pp_generated made;
        struct pp_error err = {0};

        generate_make(arena, &c, &run);
        run.generation.choose = choose_too_far;
        cr_assert_eq(pp_machine_create(arena, &run.options, &machine, &err), PP_OK);
        cr_assert_eq(pp_machine_generate(machine, run.prompts, &made, &err), PP_EFAIL);
        cr_expect(
            strstr(err.message, "rank 1, pass 2: token 48 was chosen, the model has 48 words"),
            "%s: %s", TRANSPORTS[t]->name, err.message);
        pp_machine_destroy(machine);
    }
}
