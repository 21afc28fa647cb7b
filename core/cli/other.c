/* Commands and options that only the other program has, pipesim or pipeexec; guessed commands. */
#include "core/cli/table.h"

static const char SIM_COMMANDS[] =
    "schedules|models|clusters|presets|program|verify|compare|calibrate|"
    "sweep|plot|validate|plan|check|export";

/* Names of no command that a user may expect; a command of the program never comes here. */
static const char GENERATION_WORDS[] =
    "infer|inference|generate|generation|serve|serving|decode|decoding";

static const char SIM_OPTIONS[] =
    "allow-different|attention|batch|bucket-size|buckets|by|collective|collective-algorithm|"
    "collectives|compute|constants|cost|dp-overlap|emit|engine|ep-dispatch|ep-overlap|"
    "ep-share|exhaustive|explain|family|first-stage-layers|flops|framework|free|fresh|from|"
    "groups|head|hold-out|html|jitter|jobs|kind|kv|kv-bits|largest|last-stage-layers|"
    "leave-layouts-out|log-x|log-y|map|markdown|max-first-token-s|max-token-s|memory-margin|"
    "merge|mixed-machines|mode|mtp|nccl-tests|nic|no-alternatives|no-fold|nodes|objective|"
    "output|p2p|packed|params|part|peers|points|preset|price|prompt|prompt-groups|ranks|"
    "refit|require-fit|row|sampling|secondary|seeds|size|skip-steps|step|step-barrier|"
    "sync-share|template|time-unit|title|to|tolerance|top|topo|tp-overlap|update-barrier|"
    "usable|weight-bits|where|window|wires|with|worst|x-range|xml|y-range";

/* Options of pipesim --mode infer for what pipeexec generate does not do. */
static const char SIMULATED_OPTIONS[] = "kv|kv-bits|packed|weight-bits";

static const char EXEC_OPTIONS[] =
    "backend|balance-loss|calibrate-ep|calibrate-on|calibrate-tp|check|checkpoint|"
    "checkpoint-every|checkpoint-keep|checkpoint-sync|clip|clock|cores|data|device-memory|"
    "device-mode|exact-grad|host-memory|inject|link|log|lr|lr-warmup|max-shard-size|min-lr|"
    "no-check|nvme|predicted-trace|prompt-file|rendezvous|resume|save|shuffle|temperature|tier|"
    "timeout|tokenizer|"
    "transport|valid-data|valid-every|valid-steps|warmup|weight-decay|weight-grad-stream";

/* True for a name of the list, with dashes or underscores. */
static bool has(const char *list, const char *name)
{
    for (;; list++) {
        const char *at = name;
        while (*at && (*at == *list || (*at == '_' && *list == '-')))
            at++, list++;
        if (!*at && (!*list || *list == '|'))
            return true;
        list += strcspn(list, "|");
        if (!*list)
            return false;
    }
}

static bool is_sim(const struct pp_cli *cli)
{
    return strcmp(cli->program, "pipesim") == 0;
}

bool pp_cli_name_other_option(const struct pp_cli *cli, const char *name, struct pp_error *err)
{
    const char *other = is_sim(cli) ? "pipeexec" : "pipesim";

    if (!has(is_sim(cli) ? EXEC_OPTIONS : SIM_OPTIONS, name))
        return false;
    pp_error_append(err, "; only %s has it: %s help --%s", other, other, name);
    if (!is_sim(cli) && has(SIMULATED_OPTIONS, name))
        pp_error_append(err, "; it is only simulated: pipesim --mode infer --%s", name);
    return true;
}

bool pp_cli_name_other_command(const struct pp_cli *cli, const char *name, struct pp_error *err)
{
    if (has(GENERATION_WORDS, name)) {
        pp_error_append(err, "; pipesim --mode infer predicts a run that generates, pipeexec "
                             "generate executes one");
        return true;
    }
    if (is_sim(cli) || !has(SIM_COMMANDS, name))
        return false;
    pp_error_append(err, "; only pipesim has it: pipesim help %s", name);
    return true;
}
