/* Which schedules and program files can be executed; the others are only simulated. Where the state
 * of a file lives. */
#include "exec/plan/parts.h"
#include "schedules/registry.h"

#include <stdio.h>
#include <string.h>

/* Returns the command that simulates the run: its options have the same names there. */
static const char *simulation(struct pp_arena *arena, const struct pp_exec_wish *wish,
                              const struct pp_exec_config *config, const struct pp_subject *subject)
{
    static const char *const SAME[] = {"vp", "dp", "micro-batches", "mbs", "gbs", "seq", "splits"};
    const char *words[PP_COUNT(SAME) + 5] = {"pipesim"};
    int count = 1;

    words[count++] =
        pp_arena_printf(arena, "--schedule %s", pp_command_quoted(arena, subject->name));
    if (!subject->file)
        words[count++] =
            pp_arena_printf(arena, "--pp %d", config->ranks ? config->ranks : PP_EXEC_USUAL_RANKS);
    for (size_t i = 0; i < PP_COUNT(SAME); i++) {
        const char *text = pp_request_text(&wish->request, SAME[i], NULL);
        if (text)
            words[count++] = pp_arena_printf(arena, "--%s %s", SAME[i], text);
    }
    words[count++] = pp_arena_printf(arena, "--model %s",
                                     pp_command_quoted(arena, wish->model ? wish->model : "tiny"));
    return pp_command_lines(arena, words, 80, 7);
}

static enum pp_status simulated_only(const struct pp_exec_wish *wish,
                                     const struct pp_exec_config *config,
                                     const struct pp_subject *subject, const char *reason,
                                     struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *separator = "";

    pp_error_set(err, PP_EINVAL, "--schedule %s is only simulated: %s; pipeexec runs ",
                 subject->name, reason);
    for (int i = 0; pp_schedules[i]; i++)
        if (!pp_schedules[i]->is_simulated_only) {
            pp_error_append(err, "%s%s", separator, pp_schedules[i]->name);
            separator = ", ";
        }
    return pp_error_append(err, "\n  try: %s", simulation(arena, wish, config, subject));
}

static enum pp_status check_model(const struct pp_subject *subject,
                                  const struct pp_exec_config *config, struct pp_error *err)
{
    const struct pp_program *file = subject->file;

    if (file && !config->net.is_tied && pp_program_has_tied(file))
        return pp_error_set(err, PP_EINVAL,
                            "--schedule %s: (0;%d)AR sums a matrix that embedding and head share, "
                            "but the head of %s has its own; remove it and its WAITs, or choose a "
                            "model that shares it, such as --model mini",
                            subject->name, file->stages - 1, config->net.name);
    return PP_OK;
}

enum pp_status pp_exec_check_subject(const struct pp_exec_wish *wish,
                                     const struct pp_exec_config *config,
                                     const struct pp_subject *subject, struct pp_error *err)
{
    static const char VERSIONS[] = "its micro-batches need several versions of the weights";

    if (subject->file ? subject->file->passes > 0 : subject->schedule->is_forward_only)
        return pp_error_set(err, PP_EINVAL,
                            "--schedule %s makes tokens and trains nothing; use pipeexec generate",
                            subject->name);
    if (subject->file ? subject->file->versions > 1 : subject->schedule->is_simulated_only)
        return simulated_only(wish, config, subject, VERSIONS, err);
    if (subject->file && subject->file->mode != PP_MODE_TRAIN)
        return simulated_only(wish, config, subject, "it has no backward, so it trains nothing",
                              err);
    return check_model(subject, config, err);
}

/* Is true for moves of parameters or gradients around their uses. Those of shares are priced. */
static bool has_visits(int purpose)
{
    return pp_purposes[purpose].kind == PP_MOVE && pp_purposes[purpose].when == PP_WITH_USE;
}

/* Is false for instructions of a file that engines can only price. Sums of shards are between
 * groups, which no file states. */
static bool is_executed(const struct pp_program *p, int i, bool has_groups)
{
    static const bool IS_EXECUTED[PP_OP_KINDS] = {
        [PP_F] = true,      [PP_B] = true,      [PP_I] = true,      [PP_W] = true,
        [PP_R] = true,      [PP_U] = true,      [PP_AR] = true,     [PP_SEND_F] = true,
        [PP_RECV_F] = true, [PP_SEND_B] = true, [PP_RECV_B] = true, [PP_WAIT] = true,
        [PP_BAR] = true,    [PP_RS] = true,     [PP_AG] = true,     [PP_DROP] = true,
    };
    static const bool IS_MOVED[PP_PURPOSES] = {
        [PP_FOR_DOWN] = true,    [PP_FOR_UP] = true,    [PP_FOR_LOAD] = true,
        [PP_FOR_RELOAD] = true,  [PP_FOR_HOME] = true,  [PP_FOR_GRAD_DOWN] = true,
        [PP_FOR_GRAD_UP] = true, [PP_FOR_GRADS] = true, [PP_FOR_PARAMS] = true,
        [PP_FOR_FETCH] = true,   [PP_FOR_STORE] = true, [PP_FOR_UPDATE] = true,
    };
    const bool is_gathered = pp_state_is_gathered(&p->state.spec),
               is_fetched = pp_state_is_fetched(&p->state.spec);

    if (pp_op_is_move(p->kind[i]))
        return IS_MOVED[p->purpose[i]] &&
               (pp_state_cut(&p->state.spec, PP_STATE_GRADS) == 1 || !has_visits(p->purpose[i]));
    return IS_EXECUTED[p->kind[i]] && (p->kind[i] != PP_DROP || is_fetched) &&
           (p->kind[i] != PP_AR || has_groups || p->aux[i] == PP_TIED ||
            (p->purpose[i] == PP_FOR_STEP && !is_gathered));
}

enum pp_status pp_exec_check_kinds(const struct pp_exec_wish *wish,
                                   const struct pp_exec_config *config,
                                   const struct pp_exec_plan *plan, struct pp_error *err)
{
    const struct pp_program *p = plan->program;
    const bool has_groups = pp_exec_has_groups(config, plan);

    for (int i = 0; i < pp_program_size(p); i++)
        if (!is_executed(p, i, has_groups)) {
            char reason[64];
            snprintf(reason, sizeof(reason), "nothing here executes its %s%s%s",
                     pp_op_kinds[p->kind[i]].text, p->purpose[i] ? "." : "",
                     p->purpose[i] ? pp_purposes[p->purpose[i]].text : "");
            return simulated_only(wish, config, &plan->subject, reason, err);
        }
    return PP_OK;
}

/* ---- state on other tiers -------------------------------------------------------------------- */

static bool has_backward(const struct pp_program *p, int pipe, int stage)
{
    for (int i = 0; i < pp_program_size(p); i++)
        if ((p->kind[i] == PP_B || p->kind[i] == PP_W) && p->pipe[i] == pipe &&
            p->stage[i] == stage)
            return true;
    return false;
}

/* A copy of a stage that never goes backward gets the sum of the others, but no program moves it.
 */
static enum pp_status check_gradients(const struct pp_exec_wish *wish,
                                      const struct pp_exec_plan *plan, struct pp_error *err)
{
    const struct pp_program *p = plan->program;

    for (int k = 0; k < p->pipelines * p->stages; k++)
        if (pp_state_is_away(&p->state.spec, PP_STATE_GRADS) &&
            !has_backward(p, k / p->stages, k % p->stages))
            return pp_error_set(err, PP_EINVAL,
                                "--offload %s: no micro-batch runs stage %d of pipeline %d, so its "
                                "gradients never leave the device; nearest: --micro-batches %d",
                                wish->offload, k % p->stages, k / p->stages, p->micro_batches + 1);
    return PP_OK;
}

/* Gives a class the host as its home, if no option has given it one. */
static void find_home(struct pp_state_spec *state, enum pp_state_class class)
{
    if (state->home[class] == PP_TIER_DEVICE)
        state->home[class] = PP_TIER_HOST;
}

/* A file does not name the tiers between which it moves. */
static void find_homes(const struct pp_program *p, struct pp_state_spec *state)
{
    for (int i = 0; i < pp_program_size(p); i++) {
        const struct pp_purpose_row *row = &pp_purposes[p->purpose[i]];

        if (!pp_op_is_move(p->kind[i]))
            continue;
        if (row->from == PP_AT_HOME || row->to == PP_AT_HOME)
            find_home(state, (enum pp_state_class)row->what);
        if (row->from != PP_AT_UPDATE && row->to != PP_AT_UPDATE)
            continue;
        find_home(state, PP_STATE_OPTIMIZER);
        state->is_cpu_update = true;
    }
}

/* Is true if the host updates before the last BAR, where the norm is known. */
static bool has_early_update(const struct pp_program *p)
{
    for (int rank = 0; rank < p->ranks; rank++)
        for (int i = p->begin[rank], update = -1; i < p->begin[rank + 1]; i++) {
            if (p->kind[i] == PP_BAR && update >= 0)
                return true;
            update = p->kind[i] == PP_MOVE && p->purpose[i] == PP_FOR_UPDATE ? i : update;
        }
    return false;
}

void pp_exec_note_homes(const struct pp_state_spec *wanted, struct pp_program *p)
{
    struct pp_state_spec *state = &p->state.spec, noted = *wanted;

    find_homes(p, &noted);
    noted.has_early_update |= has_early_update(p);
    memcpy(noted.shard, state->shard, sizeof(noted.shard));
    noted.replicas = state->replicas;
    noted.secondary = state->secondary;
    noted.gather = state->gather;
    noted.buffers = state->buffers;
    *state = noted;
}

static bool has_move(const struct pp_program *p, enum pp_purpose purpose)
{
    for (int i = 0; i < pp_program_size(p); i++)
        if (pp_op_is_move(p->kind[i]) && p->purpose[i] == purpose)
            return true;
    return false;
}

/* The moves of a file and those of the options are the same. Parameters have a check of their own,
 * and the order of visits decides how sums of gradients move. */
static enum pp_status check_same(const struct pp_exec_plan *plan, struct pp_error *err)
{
    static const bool IS_NEEDED[PP_PURPOSES] = {
        [PP_FOR_GRADS] = true,  [PP_FOR_FETCH] = true,     [PP_FOR_STORE] = true,
        [PP_FOR_PARAMS] = true, [PP_FOR_GRAD_DOWN] = true, [PP_FOR_UPDATE] = true};
    const struct pp_state_spec *spec = &plan->program->state.spec;
    bool is_same =
        !pp_state_is_away(spec, PP_STATE_GRADS) || pp_state_is_away(spec, PP_STATE_OPTIMIZER);

    for (int purpose = 0; purpose < PP_PURPOSES; purpose++) {
        const bool has = has_move(plan->program, (enum pp_purpose)purpose),
                   moves = pp_state_moves(spec, (enum pp_purpose)purpose);
        is_same &= !(has && !moves) && !(IS_NEEDED[purpose] && moves && !has);
    }
    if (is_same || !plan->subject.file)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s: its moves are not those of an update by these options; nearest: the "
                        "--offload, --cpu-optimizer and --update with which it was made, or "
                        "'pipesim program --compute'",
                        plan->subject.name);
}

enum pp_status pp_exec_check_moves(const struct pp_exec_wish *wish,
                                   const struct pp_exec_config *config,
                                   const struct pp_exec_plan *plan, struct pp_error *err)
{
    PP_TRY(check_same(plan, err));
    PP_TRY(check_gradients(wish, plan, err));
    if (!plan->program->state.spec.has_early_update || config->recipe.clip <= 0)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s: all ranks meet before their first update (clipping), as the norm of "
                        "all gradients is known at the end only; nearest: --update end, or no "
                        "--clip",
                        wish->given.update.count ? "--update jit" : plan->subject.name);
}
