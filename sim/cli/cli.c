/* Tables of the command line of pipesim: commands, options, examples. */
#include "sim/cli/cli.h"

#include "core/cluster/cluster.h"
#include "core/cost/framework.h"
#include "core/model/model.h"
#include "core/op.h"
#include "schedules/order/schedule.h"
#include "schedules/registry.h"
#include "sim/cli/emit_tools.h"
#include "sim/cli/plot_kinds.h"
#include "sim/cli/wish.h"

enum {
    REPORT = 1 << PP_CMD_RUN, /* one run with a report */
    SWEEP = 1 << PP_CMD_SWEEP,
    PLAN = 1 << PP_CMD_PLAN,
    EXPORT = 1 << PP_CMD_EXPORT, /* one step of a run */
    STEPS = REPORT | SWEEP | PLAN,
    RUN = STEPS | EXPORT,
    PROGRAM = 1 << PP_CMD_PROGRAM,
    VERIFY = 1 << PP_CMD_VERIFY,
    COMPARE = 1 << PP_CMD_COMPARE,
    PLOT = 1 << PP_CMD_PLOT,
    VALIDATE = 1 << PP_CMD_VALIDATE,
    CALIBRATE = 1 << PP_CMD_CALIBRATE,
    CLUSTERS = 1 << PP_CMD_CLUSTERS,
    CHECK = 1 << PP_CMD_CHECK,
    SHAPE = RUN | PROGRAM,
    LISTS = 1 << PP_CMD_SCHEDULES | 1 << PP_CMD_MODELS | 1 << PP_CMD_CLUSTERS | 1 << PP_CMD_PRESETS,
    BIG = PP_OPTION_BIG,
    /* bits beyond the commands */
    UNIT = PP_SIM_UNIT,
    UNIT_ONE = PP_SIM_UNIT_ONE,
    TRAINS = PP_SIM_TRAINS,
    OF_PLANNER = PP_SIM_OF_PLANNER,
    BY_SEARCH = PP_SIM_BY_SEARCH,
    BY_SHARDING = PP_SIM_BY_SHARDING,
    NEEDS_REPLICAS = PP_SIM_NEEDS_REPLICAS,
    NEEDS_SHARDS = PP_SIM_NEEDS_SHARDS,
    NEEDS_FETCHES = PP_SIM_NEEDS_FETCHES,
    NEEDS_OWN_SUMS = PP_SIM_NEEDS_OWN_SUMS,
    NEEDS_MESSAGES = PP_SIM_NEEDS_MESSAGES,
    NEEDS_PEERS = PP_SIM_NEEDS_PEERS,
    NEEDS_DEGREES = PP_SIM_NEEDS_DEGREES,
    NEEDS_GROUPS = PP_SIM_NEEDS_GROUPS,
    NEEDS_TENSORS = PP_SIM_NEEDS_TENSORS,
};

static const char *emit_tool_name(int i)
{
#define NAME(tool) #tool,
    static const char *const names[] = {PP_EMIT_TOOLS(NAME) NULL};
#undef NAME

    return names[i];
}

static const char *preset_name(int i)
{
    return pp_presets[i].name;
}

static const struct pp_command commands[] = {
    [PP_CMD_RUN] = {"run", "pipesim [run] --schedule NAME|FILE.csv --gpus N [options]",
                    "predict step time, bubble, memory and MFU; with --mode infer tokens/s", 0, 0},
    [PP_CMD_SCHEDULES] = {"schedules", "pipesim schedules [NAME]",
                          "list the built-in schedules: source, limits, closed forms", 0, 1,
                          .offered = pp_schedule_name},
    [PP_CMD_MODELS] = {"models", "pipesim models [NAME|config.json]",
                       "list model presets and their sources", 0, 1, .offered = pp_model_name},
    [PP_CMD_CLUSTERS] =
        {"clusters", "pipesim clusters [NAME|TEXT|FILE] [--topo FILE] [--xml]",
         "list cluster presets and their sources; describe a cluster from its topology", 0, 1,
         .offered = pp_cluster_name},
    [PP_CMD_PRESETS] = {"presets", "pipesim presets [NAME]",
                        "list sets of defaults that reproduce published runs", 0, 1,
                        .offered = preset_name},
    [PP_CMD_PROGRAM] =
        {"program", "pipesim program --schedule S --pp D --micro-batches N [--compute] [-o FILE]",
         "print a schedule as a program (CSV)", 0, 0,
         .lacks = "a program is the same for every model, cluster, --tp and --dp"},
    [PP_CMD_VERIFY] = {"verify", "pipesim verify FILE...",
                       "prove that programs are legal and free of deadlock, or say why not", 1, -1},
    [PP_CMD_COMPARE] =
        {"compare", "pipesim compare PREDICTED MEASURED... [options]",
         "compare a predicted trace with measured ones: where does the error come from?", 2, -1},
    [PP_CMD_CALIBRATE] = {"calibrate", "pipesim calibrate TRACE... [options] [-o cost.json]",
                          "fit the costs of layers to traces of real runs, for runs with --cost", 1,
                          -1},
    [PP_CMD_SWEEP] = {.name = "sweep",
                      .usage = "pipesim sweep --schedule NAME,... [options with lists a,b,c and "
                               "ranges lo:hi:xK, lo:hi:+K] [-o FILE]",
                      .summary =
                          "run every combination of lists and ranges of options, one row each",
                      .max_operands = -1,
                      .takes_lists = true},
    [PP_CMD_PLOT] = {"plot", "pipesim plot FILE... [--kind KIND] [options] [-o FILE]",
                     "draw a sweep, traces or a report, to a file or in the terminal", 1, -1},
    [PP_CMD_VALIDATE] =
        {"validate", "pipesim validate FILE.csv... [options]",
         "predict published or measured runs, and print how wrong the predictions are", 0, -1},
    [PP_CMD_PLAN] = {"plan",
                     "pipesim plan --gpus N --model M [--cluster C] [--free LIST] [options]",
                     "find the best layout, or the best values of the options that are free", 0, 0},
    [PP_CMD_CHECK] = {"check",
                      "pipesim check REPORT.json...|SWEEP.csv --with NEW.csv [--tolerance FRAC]",
                      "run saved reports of --json again: has a prediction changed?", 1, -1},
    [PP_CMD_EXPORT] = {"export",
                       "pipesim export --to FORMAT --schedule S [options of a run] -o FILE",
                       "write one step of a run as a graph of tasks for other simulators", 0, 0},
    [PP_CMD_HELP] = {"help", "pipesim help [COMMAND|TOPIC|OPTION|man|bash|zsh|fish]",
                     "help on a command, an option, or a topic: bubble, infer, memory, mfu, "
                     "schedules, tiers, units",
                     0, 1},
};

#define G_SCHEDULE   "Schedule"
#define G_LAYOUT     "Layout and batch"
#define G_GENERATION PP_GROUP_GENERATION
#define G_MODEL      "Model"
#define G_CLUSTER    "Cluster"
#define G_STATE      "State"
#define G_COMM       PP_GROUP_COMM
#define G_WHATIF     "What if"
#define G_KERNELS    "Kernels"
#define G_ENGINE     "Engine and costs"
#define G_COMPARE    "Comparison"
#define G_CALIBRATE  "Calibration"
#define G_CHECK      "Check"
#define G_EXPORT     "Export"
#define G_PLAN       "Plan"
#define G_SWEEP      "Sweep"
#define G_PLOT       "Plot"
#define G_VALIDATE   "Validation"
#define G_OUTPUT     PP_GROUP_OUTPUT

#define CHOICE(name, summary, sources, function)  "|" name
#define SUMMARY(name, summary, sources, function) " " name ": " summary "."
#define PP_WISH                                   struct pp_wish
#define PP_ROW                                    PP_ROW_ENTRY
#define PP_ROW_AGAIN                              PP_ROW_ENTRY
static const struct pp_option rows[] = {
#include "sim/cli/rows.h"
};

static const struct pp_example examples[] = {
    {"pipesim --schedule chimera --gpus 2048",
     "a report with no input file: model, cluster and layout are chosen for you"},
    {"pipesim --schedule gpipe,1f1b,zbv --model llama3-70b --gpus 512 --pp 8 --tp 8",
     "compare schedules"},
    {"pipesim --schedule chimera --pp 4 --micro-batches 4 --unit F=1,B=2 --gantt",
     "see a schedule"},
    {"pipesim --mode infer --model llama3-8b --gpus 1 --batch 16",
     "serve a model; the best layout for it: pipesim plan --mode infer"},
    {"pipesim sweep --schedule all --pp 4,8 --micro-batches 8:64:x2 --unit F=1,B=2",
     "every combination of lists and ranges, a row each"},
    {"pipesim plan --gpus 16 --model llama2-7b --gbs 64",
     "the best layout: degrees, schedule, micro-batch, recomputation, ZeRO stage"},
    {"pipesim plan --gpus 64 --model llama2-13b --cluster a800 --free shard",
     "the best sharding of parameters, gradients and optimizer state"},
    {"pipesim plan --mode infer --model llama3-8b --max-token-s 20ms",
     "the layout and the batch that serve most tokens/s of a GPU within a limit"},
    {"pipesim program --schedule 1f1b --pp 4 --micro-batches 8 --compute",
     "print a schedule as PyTorch's CSV; the file can be edited, verified and run"},
    {"pipesim sweep --preset megatron-sc21-145b --gbs 768:6144:x2 --recompute none --recompute "
     "full --engine dag",
     "a published run at other batch sizes, with and without recomputation"},
    {"pipesim sweep --schedule all --pp 4:16:x2 --micro-batches 16,32 --unit F=1,B=2 --part 2/4 -o "
     "part-2.csv",
     "one of four parts; under srun, mpirun or torchrun each process takes its own"},
    {"pipesim sweep --merge part-*.csv -o sweep.csv", "merge the parts"},
    {"pipesim plot sweep.csv", "draw a sweep in the terminal; -o fig.pdf --paper for a paper"},
    {"pipesim validate tests/published/measurements.csv --family seqpar-t5",
     "how wrong are predictions of published runs?"},
    {"pipesim calibrate small.json other.json -o cost.json",
     "costs from traces of pipeexec, for pipesim --cost cost.json --schedule zbv"},
    {"pipesim check baseline.json --tolerance 1%",
     "has a prediction changed since pipesim --json wrote it? For CI: exit 5"},
    {"pipesim compare predicted.csv measured.json.gz --tolerance 5%",
     "how wrong is a prediction, and where? Two files of --trace"},
    {"pipesim compare predicted.csv profile/",
     "the same for a PyTorch run, from the traces of its profiler"},
};

static const struct pp_exit exits[] = {
    {PP_OK, "Success."},
    {PP_EFAIL, "Something outside failed: a file that cannot be opened, a device, an overflow."},
    {PP_EINVAL, "The command line, a layout or size, or the content of an input file was refused."},
    {PP_EFIT, "The configuration does not fit into memory, and --require-fit was given."},
    {PP_EPROGRAM, "A program cannot be parsed, is illegal or deadlocks."},
    {PP_ETOLERANCE, "A comparison is out of tolerance."},
    {PP_EINTR, "Interrupted."},
    {0, NULL},
};

struct pp_cli pp_sim_cli = {
    .program = "pipesim",
    .topics = pp_topics,
    .presets = pp_presets,
    .exits = exits,
    .date = "2026-11-22",
    .summary = "predict time, memory and MFU of pipeline-parallel training and serving",
    .commands = commands,
    .command_count = PP_COUNT(commands),
    .examples = examples,
    .example_count = PP_COUNT(examples),
};

__attribute__((constructor)) static void complete(void)
{
    pp_select_complete(&pp_sim_cli, rows, PP_COUNT(rows));
}

enum pp_status pp_wish_open(struct pp_arena *arena, const struct pp_parsed *flags,
                            struct pp_wish *wish, struct pp_error *err)
{
    PP_TRY(pp_request_open(arena, flags, &wish->request, err));
    pp_wish_bind(arena, &wish->request);
    return PP_OK;
}

enum pp_status pp_wish_defaults(struct pp_arena *arena, struct pp_wish *wish,
                                const struct pp_preset *row, struct pp_error *err)
{
    PP_TRY(pp_request_defaults(arena, &wish->request, row, err));
    pp_wish_bind(arena, &wish->request);
    return PP_OK;
}
