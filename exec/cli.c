/* The tables of the command line of pipeexec: commands, options, examples. */
#include "exec/cli.h"

#include "core/model/model.h"
#include "exec/resolve/wish.h"
#include "schedules/order/schedule.h"
#include "schedules/registry.h"
#include "schedules/select/options.h"

enum {
    RUN = 1 << PP_EXEC_RUN,
    GENERATE = 1 << PP_EXEC_GENERATE,
    BOTH = RUN | GENERATE,
    BIG = PP_OPTION_BIG,
};

static const struct pp_command commands[] = {
    [PP_EXEC_RUN] = {"run", "pipeexec [run] [--schedule NAME|FILE.csv] [--np P] [options]",
                     "train a transformer for real, by any schedule", 0, 0},
    [PP_EXEC_GENERATE] = {"generate",
                          "pipeexec generate [--resume DIR|--model DIR] [--prompt TEXT] "
                          "[--tokens T] [options]",
                          "let a trained transformer continue a text, token by token", 0, 0,
                          .lacks = "generating trains nothing"},
    [PP_EXEC_HELP] =
        {"help", "pipeexec help [COMMAND|OPTION|TOPIC|man|bash|zsh|fish]",
         "help on a command, an option, or a topic: bubble, memory, mfu, schedules, tiers, units",
         0, 1},
};

#define G_SCHEDULE "Schedule"
#define G_TIERS    "Memory tiers"
#define G_LAYOUT   "Layout and batch"
#define G_MODEL    "Model and data"
#define G_GENERATE "Generation"
#define G_RECIPE   "Training"
#define G_MACHINE  "Machine"
#define G_WHATIF   "What if"
#define G_CHECK    "Checks and prediction"
#define G_STATE    "Checkpoints"
#define G_OUTPUT   "Output"

#define PP_WISH      struct pp_exec_wish
#define PP_ROW       PP_ROW_ENTRY
#define PP_ROW_AGAIN PP_ROW_ENTRY
static const struct pp_option rows[] = {
#include "exec/resolve/rows.h"
};

static const struct pp_example examples[] = {
    {"pipeexec", "train a tiny transformer on 4 ranks with 1f1b; no GPU, no MPI, no input"},
    {"pipeexec --schedule zbv -np 8 --micro-batches 16 --exact-grad",
     "another schedule; gradients equal those of one rank to the bit"},
    {"pipeexec --schedule chimera --calibrate-on 1f1b",
     "predict chimera from durations of 1f1b, then run it"},
    {"pipeexec generate --np 2 --batch 4 --check",
     "let a model speak, here an untrained one; others: --resume DIR, --model DIR"},
    {"pipeexec --schedule mine.csv --trace real.csv --predicted-trace predicted.csv",
     "your own program, and both traces for pipesim compare"},
    {"pipeexec --schedule gpipe --micro-batches 16 --offload a=host",
     "saved activations wait on the host; more: pipeexec help tiers"},
};

static const struct pp_exit exits[] = {
    {PP_OK,
     "Success: the run has trained, and gradients equal those of training on one rank; or it "
     "has generated."},
    {PP_EFAIL,
     "A failure at run time: a file, a trace, a device, memory, or a loss that is not a number."},
    {PP_EINVAL, "The command line, a layout, a model or data that do not fit together."},
    {PP_EFIT, "A rank needs more than --device-memory or --host-memory allows."},
    {PP_EPROGRAM, "A program file cannot be parsed, is illegal or deadlocks."},
    {PP_ETOLERANCE, "Gradients or weights differ from those of training on one rank; or tokens or "
                    "logits from those of generating there, or without a cache."},
    {PP_EINTR, "Interrupted."},
    {0, NULL},
};

struct pp_cli pp_exec_cli = {
    .program = "pipeexec",
    .exits = exits,
    .date = "2026-11-22",
    .summary = "train and generate for real, by any schedule; compare with predictions",
    .topics = pp_topics,
    .commands = commands,
    .command_count = PP_COUNT(commands),
    .examples = examples,
    .example_count = PP_COUNT(examples),
};

__attribute__((constructor)) static void complete(void)
{
    pp_select_complete(&pp_exec_cli, rows, PP_COUNT(rows));
}
