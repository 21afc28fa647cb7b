/* The tables of the command line of pipesim: commands, options, examples. */
#include "sim/cli/cli.h"

#include "core/cluster/cluster.h"
#include "core/cost/framework.h"
#include "core/model/model.h"
#include "core/model/options.h"
#include "core/op.h"
#include "schedules/order/schedule.h"
#include "schedules/registry.h"
#include "schedules/select/options.h"
#include "sim/cli/emit_tools.h"
#include "sim/cli/plot_kinds.h"

enum {
    REPORT = 1 << PP_CMD_RUN, /* one run that prints its report */
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
    OF_PLANNER = PP_SIM_OF_PLANNER,
    BY_SEARCH = PP_SIM_BY_SEARCH,
    BY_SHARDING = PP_SIM_BY_SHARDING,
    NEEDS_REPLICAS = PP_SIM_NEEDS_REPLICAS,
    NEEDS_SHARDS = PP_SIM_NEEDS_SHARDS,
    NEEDS_FETCHES = PP_SIM_NEEDS_FETCHES,
    NEEDS_OWN_SUMS = PP_SIM_NEEDS_OWN_SUMS,
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
                    "predict step time, bubble, memory and MFU", 0, 0},
    [PP_CMD_SCHEDULES] = {"schedules", "pipesim schedules [NAME]",
                          "what schedules are built in: source, limits, closed forms", 0, 1,
                          .offered = pp_schedule_name},
    [PP_CMD_MODELS] = {"models", "pipesim models [NAME|config.json]", "model presets, with sources",
                       0, 1, .offered = pp_model_name},
    [PP_CMD_CLUSTERS] = {"clusters", "pipesim clusters [NAME|TEXT|FILE] [--topo FILE] [--xml]",
                         "cluster presets, with sources; a cluster from its topology", 0, 1,
                         .offered = pp_cluster_name},
    [PP_CMD_PRESETS] = {"presets", "pipesim presets [NAME]",
                        "sets of defaults that reproduce a published run", 0, 1,
                        .offered = preset_name},
    [PP_CMD_PROGRAM] =
        {"program", "pipesim program --schedule S --pp D --micro-batches N [--compute] [-o FILE]",
         "print a schedule as a program (CSV)", 0, 0},
    [PP_CMD_VERIFY] = {"verify", "pipesim verify FILE...",
                       "prove programs legal and free of deadlock, or say why not", 1, -1},
    [PP_CMD_COMPARE] = {"compare", "pipesim compare PREDICTED MEASURED... [options]",
                        "hold a predicted trace against a measured one: where does the error come "
                        "from?",
                        2, -1},
    [PP_CMD_CALIBRATE] = {"calibrate", "pipesim calibrate TRACE... [options] [-o cost.json]",
                          "costs of layers from traces of real runs, for runs with --cost", 1, -1},
    [PP_CMD_SWEEP] = {.name = "sweep",
                      .usage = "pipesim sweep --schedule NAME,... [options with lists a,b,c and "
                               "ranges lo:hi:xK, lo:hi:+K] [-o FILE]",
                      .summary =
                          "run every combination of lists and ranges of options: one row each",
                      .max_operands = -1,
                      .takes_lists = true},
    [PP_CMD_PLOT] = {"plot", "pipesim plot FILE... [--kind KIND] [options] [-o FILE]",
                     "draw a sweep, traces or a report, to a file or in the terminal", 1, -1},
    [PP_CMD_VALIDATE] = {"validate", "pipesim validate FILE.csv... [options]",
                         "predict published runs, and print how wrong the predictions are", 1, -1},
    [PP_CMD_PLAN] =
        {"plan", "pipesim plan --gpus N --model M [--cluster C] [--free LIST] [options]",
         "find the best layout, or the best of what is left free: bounded, simulated, ranked", 0,
         0},
    [PP_CMD_CHECK] = {"check",
                      "pipesim check REPORT.json...|SWEEP.csv --with NEW.csv [--tolerance FRAC]",
                      "run saved reports of --json again: has a prediction moved?", 1, -1},
    [PP_CMD_EXPORT] = {"export",
                       "pipesim export --to FORMAT --schedule S [options of a run] -o FILE",
                       "one step of a run as a graph of tasks, for other simulators", 0, 0},
    [PP_CMD_HELP] = {"help", "pipesim help [COMMAND|TOPIC|man|bash|zsh|fish]",
                     "help on one command, or on a topic: bubble, memory, mfu, schedules, units", 0,
                     1},
};

#define G_SCHEDULE  "Schedule"
#define G_LAYOUT    "Layout and batch"
#define G_MODEL     "Model"
#define G_CLUSTER   "Cluster"
#define G_STATE     "State"
#define G_COMM      "Communication"
#define G_WHATIF    "What if"
#define G_KERNELS   "Kernels"
#define G_ENGINE    "Engine and costs"
#define G_COMPARE   "Comparison"
#define G_CALIBRATE "Calibration"
#define G_CHECK     "Check"
#define G_EXPORT    "Export"
#define G_PLAN      "Plan"
#define G_SWEEP     "Sweep"
#define G_PLOT      "Plot"
#define G_VALIDATE  "Validation"
#define G_OUTPUT    PP_GROUP_OUTPUT

#define CHOICE(name, summary, sources, function)  "|" name
#define SUMMARY(name, summary, sources, function) " " name ": " summary "."
static const struct pp_option rows[] = {
    {PP_ROW_TEXT("schedule", "NAME|FILE", G_SCHEDULE, SHAPE | UNIT | BY_SEARCH), .is_common = true,
     .aliases = PP_SCHEDULE_ALIASES, .offered = pp_schedule_name,
     .help = "A schedule, a comma list, all, or a program file. A list gives a ranked table; "
             "'pipesim schedules' names them; a file ends in .csv or has a / in its name."},
    {PP_ROW_TEXT("preset", "NAME", G_SCHEDULE, RUN | UNIT), .offered = preset_name,
     .help = "A set of defaults, see 'pipesim presets'. Flags win over it."},
    {PP_ROW_TEXT("from", "REPORT", G_SCHEDULE, REPORT | EXPORT),
     .help = "The run of a report that was saved with --json, as far as no other flag says "
             "otherwise; -: from stdin."},
    PP_OPTIONS_MICRO_BATCHES(G_SCHEDULE, SHAPE | UNIT | BY_SEARCH, NULL),
    PP_OPTIONS_SHAPE(G_SCHEDULE, SHAPE | UNIT),
    {PP_ROW_INT("steps", "K", 1, BIG, G_SCHEDULE, STEPS | UNIT),
     .default_text = "1; 4 where the schedule needs no barrier and --unit is not given",
     .help = "Training steps to simulate. With several, figures are those of a steady step: from "
             "the end of the first to the end of the last."},
    {PP_ROW_CHOICE("step-barrier", "HOW", "on|off", G_SCHEDULE, STEPS | UNIT),
     .default_text = "on; off where the schedule needs none",
     .help = "on: a step starts when the one before has ended everywhere; off: each rank goes on "
             "by itself."},
    PP_OPTIONS_DIALECT(G_SCHEDULE, SHAPE | VERIFY | UNIT),

    {PP_ROW_INT("gpus", "N", 1, BIG, G_LAYOUT, RUN | 1 << PP_CMD_CLUSTERS | BY_SEARCH),
     .is_common = true, .aliases = PP_NAMES("world-size"),
     .help = "Devices in all: tp * cp * pp * dp."},
    {PP_ROW_INT("tp", "T", 1, BIG, G_LAYOUT, RUN | UNIT_ONE | BY_SEARCH), .is_common = true,
     .aliases = PP_NAMES("tensor-model-parallel-size", "parallelism.tensor_parallel_degree"),
     .help = "Tensor-parallel degree."},
    {PP_ROW_INT("pp", "D", 1, 65535, G_LAYOUT, SHAPE | UNIT | BY_SEARCH), .is_common = true,
     .aliases =
         PP_NAMES("np", "pipeline-model-parallel-size", "parallelism.pipeline_parallel_degree"),
     .help = "Pipeline ranks."},
    PP_OPTIONS_DP(G_LAYOUT, SHAPE | UNIT_ONE | BY_SEARCH),
    {PP_ROW_INT("cp", "C", 1, BIG, G_LAYOUT, RUN | UNIT_ONE | BY_SEARCH),
     .aliases = PP_NAMES("context-parallel-size", "parallelism.context_parallel_degree"),
     .default_text = "1", .help = "Context-parallel degree."},
    {PP_ROW_INT("ep", "E", 1, BIG, G_LAYOUT, RUN | UNIT_ONE | BY_SEARCH),
     .aliases = PP_NAMES("expert-model-parallel-size", "parallelism.expert_parallel_degree"),
     .default_text = "1",
     .help = "Expert-parallel degree: devices that share the experts out; divides their number and "
             "tp / etp * cp * dp. It does not multiply GPUs. Dense models have 1."},
    {PP_ROW_INT("etp", "T", 1, BIG, G_LAYOUT, RUN),
     .aliases =
         PP_NAMES("expert-tensor-parallel-size", "parallelism.expert_tensor_parallel_degree"),
     .default_text = "tp, or less where --ep needs it",
     .help = "Tensor-parallel degree of experts; divides tp."},
    PP_OPTIONS_VP(G_LAYOUT, SHAPE | UNIT | BY_SEARCH),
    PP_OPTIONS_MBS(G_LAYOUT, RUN | UNIT_ONE | BY_SEARCH, NULL),
    PP_OPTIONS_GBS(G_LAYOUT, RUN | BY_SEARCH),
    PP_OPTIONS_SEQ(G_LAYOUT, RUN),
    {PP_ROW_TEXT("map", "ORDER", G_LAYOUT, RUN | NEEDS_DEGREES), .default_text = "tp,cp,dp,pp",
     .neutral = "tp,cp,dp,pp",
     .help =
         "Which devices are neighbours. Degrees from inside out: the first fills a node first."},

    {PP_ROW_TEXT("model", "NAME|FILE", G_MODEL, RUN), .is_common = true, .offered = pp_model_name,
     .default_text = "gpt3-175b",
     .help = "A preset or a Hugging Face config.json. See 'pipesim models'."},
    {PP_ROW_COUNT("params", "X", G_MODEL, RUN),
     .help = "A model known only by its number of parameters: 7.5e9, 70B."},
    PP_OPTIONS_DIMENSIONS(G_MODEL, RUN | CALIBRATE),
    PP_OPTIONS_EXPERTS(G_MODEL, RUN),
    {PP_ROW_INT("first-stage-layers", "L", 1, 65535, G_MODEL, RUN),
     .aliases = PP_NAMES("decoder-first-pipeline-num-layers"),
     .help = "Blocks of the first stage; default: as even as possible. --head balanced divides "
             "them by time, --head counted counts embedding and head."},
    {PP_ROW_INT("last-stage-layers", "L", 1, 65535, G_MODEL, RUN),
     .aliases = PP_NAMES("decoder-last-pipeline-num-layers"), .help = "Blocks of the last stage."},
    {PP_ROW_CHOICE("head", "WHERE", "last|balanced|counted|ignored|parallel", G_MODEL, RUN),
     .default_text = "last",
     .help =
         "Embedding and head in the times of stages. last: in the first and the last stage, on top "
         "of an even share of blocks. balanced: the blocks are shared out so that the slowest "
         "stage, "
         "embedding and head included, is as fast as possible. counted: embedding and head count "
         "as a block each where blocks are shared out evenly, so that 126 fill 128 stages. "
         "ignored: they cost no compute time, as formulas of bubbles assume; MFU leaves them out. "
         "parallel: every stage holds an equal part of the vocabulary (vocabulary parallelism)."},

    {PP_ROW_TEXT("framework", "NAME", G_CLUSTER, RUN), .name_of = pp_framework_name,
     .default_text = "plain",
     .help = "What the software adds to kernels and tensors: host gaps, memory of contexts and "
             "copies, habits; plain: nothing."},
    {PP_ROW_TEXT("cluster", "NAME|FILE", G_CLUSTER, RUN), .is_common = true,
     .offered = pp_cluster_name, .default_text = "h100",
     .help = "A preset, a text or a file. See 'pipesim clusters'; a text is like \"node:2 gpu:8 "
             "device:a100 nvlink:300GBps nic:8x200Gbps\"; a file is a SimGrid platform: its name "
             "ends in .xml or has a /."},
    {PP_ROW_TEXT("topo", "FILE", G_CLUSTER, CLUSTERS),
     .help = "What nvidia-smi topo -m has printed on a node: devices, NVLinks and network cards."},
    {PP_ROW_TEXT("link-bw", "NAME=FACTOR", G_WHATIF, RUN), .is_repeatable = true,
     .help = "Scale the bandwidth of a link class or of single links: node=0.5, network=2, "
             "node3.nic*=0.1."},
    {PP_ROW_TEXT("slow", "RANK=FACTOR", G_WHATIF, RUN | UNIT), .is_repeatable = true,
     .help = "Scale the compute speed of a pipeline rank in every replica (3=0.8), or in one "
             "replica (3.0=0.8)."},
    {PP_ROW_FRAC("jitter", "FRAC", G_WHATIF, RUN | UNIT),
     .help = "Vary each compute time uniformly by up to this share, e.g. 5%."},
    {PP_ROW_LONG("seed", "S", 0, INT64_MAX, G_WHATIF, RUN | UNIT), .default_text = "0",
     .help = "Seed of the jitter."},

    {PP_ROW_INT("zero", "STAGE", 0, 3, G_STATE, SHAPE | BY_SEARCH | BY_SHARDING | NEEDS_REPLICAS),
     .default_text = "0", .neutral = "0",
     .help = "ZeRO stage: 1 shards the optimizer state over the replicas of a stage, 2 gradients "
             "too, 3 parameters too, which are then gathered before each use."},
    {PP_ROW_TEXT("shard", "CLASS=AxB,...", G_STATE, RUN | BY_SHARDING | NEEDS_REPLICAS),
     .help = "The same class by class: p (parameters), g (gradients), os (optimizer state) cut "
             "over A devices in each of B nodes, such as p=1,g=1,os=8x4. A class left out is cut "
             "like the one before it, p not at all."},
    {PP_ROW_TEXT("secondary", "AxB", G_STATE, RUN | NEEDS_SHARDS),
     .help = "Keep a second copy of the parameters, cut over this smaller mesh, for the gathers of "
             "the backward (ZeRO++)."},
    {PP_ROW_CHOICE("gather", "UNIT", "layer|chunk", G_STATE, RUN | NEEDS_FETCHES),
     .default_text = "layer", .neutral = "layer",
     .help =
         "What is gathered at once where parameters are cut: a layer, or all layers of a chunk."},
    {PP_ROW_INT("gather-buffers", "K", 1, 1024, G_STATE, SHAPE | NEEDS_FETCHES),
     .default_text = "2, or 1 with a framework that does not fetch ahead",
     .help =
         "Gathered units that have room at once. 1: nothing is fetched ahead; K: the next K - 1 "
         "while one is used."},
    {PP_ROW_TEXT("offload", "CLASS=TIER,...", G_STATE, SHAPE),
     .help = "Keep p (parameters), os (optimizer state) or a (saved activations) on another memory "
             "tier: host or nvme, such as os=host,a=nvme; p=host:40% or a=host:40% moves a share "
             "of them. Parameters are loaded ahead of their uses, a --gather unit at a time into "
             "--gather-buffers; activations go down after their forward and come up before "
             "their backward; state streams through the update."},
    {PP_ROW_FLAG("cpu-optimizer", G_STATE, SHAPE),
     .help = "The processors of the node update the state that --offload os= keeps there: "
             "gradients go down, parameters come up."},
    {PP_ROW_CHOICE("act-bits", "BITS", "2|4|8", G_STATE, SHAPE),
     .help = "Keep saved activations in so many bits until their backward, with a scale and a "
             "minimum for each 128 values."},
    {PP_ROW_TEXT("recompute", "HOW", G_STATE, SHAPE | BY_SEARCH | BY_SHARDING),
     .aliases = PP_NAMES("recompute-granularity"), .default_text = "none",
     .help = "none, selective, full, or stage-aware=R (R: share recomputed by the first stage). "
             "selective=MODULES: what Megatron-Core calls core_attn, layernorm, act (of MLPs and "
             "experts; moe_act is the same), mla_up_proj, mlp, with + between them."},

    {PP_ROW_FRAC("ep-overlap", "FRAC", G_COMM, RUN), .default_text = "0",
     .help = "Share of the exchanges of experts that is hidden by compute of other tokens, "
             "e.g. 80%."},
    {PP_ROW_CHOICE("ep-dispatch", "HOW", "each|once", G_COMM, RUN), .default_text = "each",
     .help = "How tokens reach their experts. each: a copy goes to every expert by itself. once: "
             "one copy goes to each node, and there to each device, that has some of the token's "
             "experts (as DeepEP does)."},
    {PP_ROW_FRAC("capacity-factor", "X", G_COMM, RUN),
     .aliases = PP_NAMES("moe-expert-capacity-factor"), .default_text = "1",
     .help = "Tokens that an expert is sent and works on, over those it has on average. Tokens are "
             "spread evenly otherwise."},
    PP_OPTIONS_GRAD_SYNC(G_COMM, SHAPE | NEEDS_REPLICAS),
    {PP_ROW_CHOICE("dp-overlap", "HOW", "off|on", G_COMM, RUN | NEEDS_REPLICAS | NEEDS_OWN_SUMS),
     .default_text = "the framework's habit; plain: off", .neutral = "off",
     .help = "on: gradients are reduced in buckets during each stage's last backward, as "
             "--grad-sync eager with the framework's --bucket-size; off: after it, in one piece."},
    {PP_ROW_INT("buckets", "K", 1, PP_MAX_BUCKETS, G_COMM, SHAPE | NEEDS_REPLICAS | NEEDS_OWN_SUMS),
     .default_text = "1", .neutral = "1",
     .help =
         "Cut each stage's gradient reduction into K equal buckets. Where it follows the stage's "
         "last backward, each is launched as soon as its part of that backward has passed."},
    {PP_ROW_TEXT("bucket-size", "BYTES", G_COMM, RUN | NEEDS_REPLICAS | NEEDS_OWN_SUMS),
     .help =
         "The same by size: as many buckets as gradients of BYTES need, e.g. 25MB; at most 255."},
    {PP_ROW_FRAC("sync-share", "FRAC", G_COMM, RUN | NEEDS_REPLICAS), .default_text = "0",
     .neutral = "0",
     .help = "Share of a rank's compute that a running gradient reduction takes, e.g. 10% (engine "
             "simgrid)."},
    {PP_ROW_TEXT("p2p", "HOW", G_COMM, RUN | NEEDS_PEERS), .default_text = "rendezvous",
     .neutral = "rendezvous",
     .help = "rendezvous (a transfer starts when both sides have posted), or buffered:K (K "
             "messages of a channel may wait at the receiver; buffered:0 is without bound)."},
    PP_OPTIONS_RECEIVES(G_COMM, SHAPE | NEEDS_PEERS),
    {PP_ROW_CHOICE("nic", "MODEL", "free|fifo", G_COMM, RUN | NEEDS_PEERS), .default_text = "free",
     .neutral = "free",
     .help = "free: channels do not disturb each other; fifo: one send at a time per rank (an "
             "approximation)."},
    {PP_ROW_CHOICE("collectives", "HOW", "analytic|flows", G_COMM, RUN | NEEDS_REPLICAS),
     .default_text = "analytic", .neutral = "analytic",
     .help = "Gradient sums, scatters and gathers as one cost, or ring step by ring step."},
    {PP_ROW_CHOICE("collective-algorithm", "NAME", "auto|ring|tree|hierarchical", G_COMM,
                   RUN | NEEDS_GROUPS),
     .default_text = "auto", .neutral = "auto",
     .help = "How collectives are priced. auto: as NCCL does, pipelined rings through nodes and "
             "network, trees of nodes where their latency is less, with constants of the cluster. "
             "The others are textbook formulas: one ring over all members, trees, or rings inside "
             "nodes and then across."},

    {PP_ROW_TEXT("unit", "COSTS", G_ENGINE, SHAPE | UNIT), .is_common = true,
     .help = "Abstract costs per chunk and micro-batch. F=1,B=2 or F=1,I=1,W=1[,C=0.1][,FB=2]. "
             "Needs only --pp, --micro-batches, which a --preset may give."},
    {PP_ROW_CHOICE("engine", "NAME", "simgrid|dag", G_ENGINE, RUN | UNIT),
     .default_text = "simgrid where this build has it; dag with --unit",
     .help = "simgrid: transfers share the links of the cluster. dag: exact longest path without "
             "contention."},
    {PP_ROW_TEXT("cost", "FILE", G_ENGINE, REPORT | SWEEP),
     .help = "Durations that were measured, as 'pipesim calibrate' writes them, in place of the "
             "analytic ones; model, --mbs, tokens and precision are those measured unless given. "
             "For --engine dag."},
    {PP_ROW_FLAG("no-fold", G_ENGINE, RUN),
     .help = "Simulate every data-parallel replica instead of one for identical ones."},
    {PP_ROW_CHOICE("precision", "TYPE", "fp32|tf32|fp16|bf16|fp8|nvfp4", G_KERNELS, RUN),
     .default_text = "the device's usual one",
     .help = "Precision of training: peaks, bytes of values and state. fp8, nvfp4: the matrices of "
             "blocks, with their casts; everything else stays in 16 bits."},
    {PP_ROW_CHOICE("attention", "HOW", "fused|flash1|unfused", G_KERNELS, RUN),
     .default_text = "fused where the device has it",
     .help = "fused: scores stay on the chip (FlashAttention 2 and later). flash1: the same by its "
             "slower first version. unfused: they are stored, normalized and dropped out by "
             "kernels of their own."},
    {PP_ROW_CHOICE("sequence-parallel", "HOW", "on|off", G_KERNELS, RUN | NEEDS_TENSORS),
     .default_text = "on", .neutral = "on",
     .help = "off: norms, dropout and residuals work on all tokens on every device of a "
             "tensor-parallel group, which sums their inputs instead of scattering and gathering "
             "them."},
    {PP_ROW_FRAC("tp-overlap", "FRAC", G_KERNELS, RUN | NEEDS_TENSORS), .default_text = "0",
     .neutral = "0",
     .help = "Share of tensor-parallel communication hidden by the matrices, e.g. 50%; at most "
             "as long as those last."},
    {PP_ROW_CHOICE("flops", "RULE", "megatron|palm|causal", G_ENGINE, RUN),
     .default_text = "megatron", .help = "Formula of the model flops in MFU and HFU."},
    {PP_ROW_FLAG("require-fit", G_ENGINE, REPORT | PLAN | OF_PLANNER),
     .help = "Exit 3 when the peak memory exceeds the device."},

    {PP_ROW_INT("skip-steps", "K", 0, BIG, G_COMPARE, COMPARE),
     .default_text = "0; of a log, its warm-up",
     .help = "Leave out the first K measured steps, and as many predicted ones where there are "
             "equally many; of the log of a training run, K lines."},
    {PP_ROW_FRAC("tolerance", "FRAC", G_COMPARE, COMPARE),
     .help = "Exit 5 when predicted / measured - 1 of the step is larger in size, e.g. 5%."},
    {PP_ROW_INT("worst", "N", 0, 1000, G_COMPARE, COMPARE), .default_text = "5",
     .help = "How many of the events whose durations differ most to print."},
    {PP_ROW_FLAG("allow-different", G_COMPARE, COMPARE),
     .help = "Compare traces of different programs, as far as they have the same events."},

    {PP_ROW_FLAG("refit", G_VALIDATE, VALIDATE),
     .help = "Fit the constants of devices and frameworks on the rows, and judge each family of "
             "rows by constants fitted without it."},
    {PP_ROW_FRAC("tolerance", "FRAC", G_VALIDATE, VALIDATE),
     .help = "Exit 5 when the median error of all rows is larger, e.g. 10%."},
    {PP_ROW_INT("worst", "N", 0, 1 << 20, G_VALIDATE, VALIDATE), .default_text = "10",
     .help = "How many of the rows with the largest errors to print."},
    {PP_ROW_TEXT("family", "NAME", G_VALIDATE, VALIDATE), .help = "Only the rows of one family."},
    {PP_ROW_TEXT("row", "ID", G_VALIDATE, VALIDATE),
     .help = "One row: the command line that it stands for, what was concluded to get there, and "
             "its errors; with --explain where they come from."},

    {PP_ROW_FRAC("tolerance", "FRAC", G_CHECK, CHECK), .default_text = "0",
     .help = "Exit 5 when a figure has moved by more, e.g. 1%: seconds of a rank and shares of the "
             "time as parts of the step, bytes as parts of the peak, all others as parts of "
             "themselves; counts must be equal."},
    {PP_ROW_INT("worst", "N", 0, 1 << 20, G_CHECK, CHECK), .default_text = "20",
     .help = "How many of the figures that have moved most to print."},
    {PP_ROW_TEXT("with", "NEW.csv", G_CHECK, CHECK),
     .help = "What a sweep gives now: its rows are held against those of the file."},
    {PP_ROW_FLAG("update", G_CHECK, CHECK),
     .help = "Write the reports anew where anything has changed, and exit 0."},

    {PP_ROW_CHOICE("to", "FORMAT", "goal|chakra|pytorch|pytorch-comms|pytorch-waits", G_EXPORT,
                   EXPORT | UNIT),
     .is_common = true,
     .help = "goal: the text of LogGOPSim and others, in nanoseconds. chakra: execution traces of "
             "ASTRA-sim, a folder with a file for each rank. pytorch: the order of ops alone, as "
             "torch.distributed.pipelining loads it; pytorch-comms: with its sends and receives; "
             "pytorch-waits: with waits for its sends, too, as PyTorch 2.15 wants them."},
    {PP_ROW_CHOICE("wires", "HOW", "network|fixed", G_EXPORT, EXPORT | UNIT),
     .default_text = "network",
     .help = "network: the engine that reads it decides what messages take; sums become rings, all "
             "replicas are there. fixed: messages and collectives take what they took here, as "
             "tasks, so that any engine has to come to the same step."},

    {PP_ROW_TEXT("hold-out", "SCHEDULE", G_CALIBRATE, CALIBRATE),
     .default_text = "the last other schedule",
     .help = "Keep the traces of this schedule out of the costs, and say how wrong these are on "
             "them. none: take all."},
    {PP_ROW_TEXT("nccl-tests", "LOG", G_CALIBRATE, CALIBRATE | CLUSTERS), .is_repeatable = true,
     .help = "What a program of nccl-tests has printed: latency and bandwidth of all_reduce, "
             "all_gather, reduce_scatter, sendrecv or alltoall."},
    {PP_ROW_CHOICE("collective", "WHAT", "all_reduce|all_gather|reduce_scatter|sendrecv|alltoall",
                   G_CALIBRATE, CALIBRATE | CLUSTERS),
     .default_text = "what the log or its name says",
     .help = "What ran in logs of nccl-tests that do not say so."},
    {PP_ROW_FLAG("mixed-machines", G_CALIBRATE, CALIBRATE),
     .help = "Take traces of different machines together."},
    {PP_ROW_TEXT("model", "NAME|FILE", G_CALIBRATE, CALIBRATE), .offered = pp_model_name,
     .default_text = "tiny",
     .help = "The model that ran, for traces in CSV and of PyTorch, which do not say so."},
    {PP_ROW_INT("mbs", "B", 1, BIG, G_CALIBRATE, CALIBRATE),
     .help = "Samples of a micro-batch of a run of PyTorch."},
    {PP_ROW_CHOICE("precision", "NAME", "bf16|fp32", G_CALIBRATE, CALIBRATE),
     .default_text = "bf16", .help = "Of the values of a run of PyTorch."},
    {PP_ROW_INT("seq", "TOKENS", 1, 1 << 24, G_CALIBRATE, CALIBRATE), .default_text = "the model's",
     .help = "Tokens of a sample, for traces in CSV and of PyTorch."},
    {PP_ROW_LONG("seed", "S", 0, INT64_MAX, G_CALIBRATE, CALIBRATE), .default_text = "0",
     .help = "Seed of the draws for the band of a tested prediction."},

    {PP_ROW_TEXT("free", "LIST", G_PLAN, PLAN | OF_PLANNER), .is_common = true,
     .default_text = "all but modules and shard, without what an option fixes",
     .help = "What to choose, with commas: cp, ep, mbs, modules (of selective recomputation, every "
             "set), pp, recompute, schedule, tp, vp, zero (0 or 1). shard, alone or with "
             "recompute: of one layout over how many devices parameters, gradients and optimizer "
             "state are cut, all legal meshes."},
    {PP_ROW_FLAG("exhaustive", G_PLAN, PLAN | OF_PLANNER),
     .help = "Simulate every layout, also those that bounds rule out."},
    {PP_ROW_CHOICE("objective", "WHAT", "step|comm", G_PLAN, PLAN | OF_PLANNER),
     .default_text = "step",
     .help = "step: the simulated step. comm: the closed form of communication time, nothing of it "
             "hidden (AMSP)."},
    {PP_ROW_INT("top", "N", 1, BIG, G_PLAN, PLAN | OF_PLANNER), .default_text = "10",
     .help = "How many choices to print."},

    {PP_ROW_TEXT("part", "I/N", G_SWEEP, SWEEP), .default_text = "what the launcher says, else all",
     .help = "Compute part I of N only, 1/N to N/N: points I, I+N, I+2N ... all: every point, "
             "whatever started the program."},
    {PP_ROW_INT("jobs", "N", 1, 4096, G_SWEEP, SWEEP | PLAN | OF_PLANNER), .aliases = PP_NAMES("j"),
     .default_text = "one for each core", .help = "Points to compute at the same time."},
    {PP_ROW_FLAG("fresh", G_SWEEP, SWEEP),
     .help = "Compute all points anew, where the file has some of them."},
    {PP_ROW_FLAG("merge", G_SWEEP, SWEEP),
     .help = "Put the files of parts, given as operands, together in the order of points."},

    {PP_ROW_CHOICE("kind", "KIND", &(PP_PLOT_KINDS(CHOICE))[1], G_PLOT, PLOT),
     .default_text = "by the files", .help = "What to draw." PP_PLOT_KINDS(SUMMARY)},
    {PP_ROW_TEXT("x", "COLUMN", G_PLOT, PLOT),
     .help = "Along the x axis; default: the input with most values. Any column of the sweep, or "
             "gbs_per_gpu."},
    {PP_ROW_TEXT("y", "COLUMN", G_PLOT, PLOT), .help = "Up the y axis; default: bubble_frac."},
    {PP_ROW_TEXT("by", "COLUMN,...", G_PLOT, PLOT),
     .help = "Columns that tell the curves apart, or none; default: the schedule and what else "
             "varies."},
    {PP_ROW_TEXT("where", "COLUMN=VALUE", G_PLOT, PLOT), .is_repeatable = true,
     .help = "Only rows with that value, or one of several: pp=4,8."},
    {PP_ROW_TEXT("points", "FILE", G_PLOT, PLOT),
     .help = "Published or measured values next to the curves: a CSV file with the columns of both "
             "axes, those of --by where a point belongs to a curve, and label for a name."},
    {PP_ROW_FLAG("log-x", G_PLOT, PLOT),
     .help = "A logarithmic x axis; by itself where values double."},
    {PP_ROW_FLAG("log-y", G_PLOT, PLOT),
     .help = "A logarithmic y axis; by itself where values span three decades."},
    {PP_ROW_TEXT("x-range", "LO:HI", G_PLOT, PLOT),
     .help = "Ends of the x axis, in the numbers of the column: 8:64, 8: or :64."},
    {PP_ROW_TEXT("y-range", "LO:HI", G_PLOT, PLOT),
     .help = "Ends of the y axis, in the numbers of the column: 0:0.5, or 0:50%."},
    {PP_ROW_TEXT("ranks", "LO:HI", G_PLOT, PLOT),
     .help = "Of a timeline, only these ranks: 0:7, 4: or 3."},
    {PP_ROW_TEXT("window", "FROM:TO", G_PLOT, PLOT),
     .help = "Of a timeline, only that time: 10ms:20ms, 1.5s: or :200us; of --step or of two "
             "traces since the begin of the step."},
    {PP_ROW_TEXT("step", "K", G_PLOT, PLOT), .default_text = "the median step",
     .help = "Of a trace of several steps, only step K, the first is 1; all: a timeline of all of "
             "them."},
    {PP_ROW_CHOICE("time-unit", "UNIT", "seconds|units", G_PLOT, PLOT), .default_text = "seconds",
     .help = "What the times of a trace are: of a run with --unit, units."},
    {PP_ROW_TEXT("title", "TEXT", G_PLOT, PLOT | REPORT | UNIT),
     .help = "Over the picture; default: what is drawn; none in a paper."},
    {PP_ROW_FLAG("paper", G_PLOT, PLOT | REPORT | UNIT),
     .help = "For a column of a paper: 3.3 inches wide, 8 pt, dashes with colours."},
    {PP_ROW_TEXT("size", "WxH", G_PLOT, PLOT | REPORT | UNIT),
     .help = "Of the picture in inches, 6x4, or 15x10cm."},

    {PP_ROW_FLAG("json", G_OUTPUT, REPORT | COMPARE | VALIDATE | PLAN | CHECK | UNIT),
     .is_common = true, .help = "One JSON object on stdout."},
    {PP_ROW_FLAG("gantt", G_OUTPUT, REPORT | UNIT), .is_common = true,
     .help = "Draw the step in the terminal."},
    {PP_ROW_FLAG("explain", G_OUTPUT, REPORT | VALIDATE | UNIT), .is_common = true,
     .help = "Say where each number comes from."},
    {PP_ROW_TEXT("trace", "FILE", G_OUTPUT, REPORT | UNIT),
     .help = "Write the events: .csv, .json for Perfetto, or .paje for ViTE and pajeng; .gz "
             "compresses."},
    {PP_ROW_TEXT("plot", "FILE", G_OUTPUT, REPORT | UNIT),
     .help = "Draw the run: a picture .png, .pdf, .svg or .tex, or a script .gp for gnuplot; none: "
             "in the terminal."},
    {PP_ROW_CHOICE("plot-kind", "KIND", "timeline|memory|memory-time|links", G_OUTPUT,
                   REPORT | UNIT),
     .default_text = "timeline",
     .help = "What --plot draws: timeline, who computes what when, of up to 6 schedules above each "
             "other; memory, bytes of each rank or schedule by component; memory-time, what ranks "
             "hold over time; links, how busy they are over time."},
    {PP_ROW_TEXT("html", "FILE", G_OUTPUT, REPORT | COMPARE | PLAN | UNIT),
     .help = "Write the report as a page that needs no other file, with a timeline to zoom "
             "into; - is stdout, without the report in text."},
    {PP_ROW_TEXT("emit", "FRAMEWORK", G_OUTPUT, REPORT | PLAN), .is_common = true,
     .name_of = emit_tool_name,
     .help = "The run, or the best of a plan, as a configuration of a training framework, in place "
             "of the report; with -o FILE of a run in addition."},
    {PP_ROW_FLAG("no-alternatives", G_OUTPUT, REPORT | UNIT),
     .help = "Leave out the other schedules."},
    {PP_ROW_FLAG("compute", G_OUTPUT, PROGRAM),
     .help = "Compute ops only: the form that PyTorch loads."},
    {PP_ROW_TEXT("output", "FILE", G_OUTPUT, PROGRAM | SWEEP | EXPORT | UNIT),
     .help = "Write to a file instead of stdout (also -o)."},
    {PP_ROW_TEXT("output", "FILE", G_OUTPUT, PLAN | UNIT),
     .help = "Every layout or choice, and what became of it, as CSV, in addition to the report "
             "(also -o); - "
             "is stdout, without the report."},
    {PP_ROW_TEXT("output", "FILE", G_OUTPUT, REPORT | UNIT),
     .help = "Write what --emit says to a file (also -o); the report goes to stdout."},
    {PP_ROW_TEXT("output", "FILE", G_OUTPUT, PLOT),
     .help = "A picture .png, .pdf, .svg or .tex, or a script .gp for gnuplot (also -o); none: in "
             "the terminal."},
    {PP_ROW_FLAG("markdown", G_OUTPUT, 1 << PP_CMD_SCHEDULES),
     .help = "The page docs/schedules.md, with pictures."},
    {PP_ROW_TEXT("output", "FILE", G_OUTPUT, VALIDATE),
     .help = "Write the rows to a CSV file, too (also -o)."},
    {PP_ROW_FLAG("markdown", G_OUTPUT, VALIDATE), .help = "The page docs/accuracy.md."},
    {PP_ROW_TEXT("output", "FILE", G_OUTPUT, CALIBRATE),
     .help = "Write the costs, as --cost of a run reads them (also -o); - is stdout, without the "
             "report."},
    {PP_ROW_TEXT("output", "FILE", G_OUTPUT, CLUSTERS),
     .help = "Write the cluster that --topo and --nccl-tests tell: as a SimGrid platform where the "
             "name ends in .xml, else its text (also -o)."},
    {PP_ROW_FLAG("xml", G_OUTPUT, 1 << PP_CMD_CLUSTERS),
     .help = "The cluster as a SimGrid platform, for --gpus N devices."},
    {PP_ROW_CHOICE("color", "WHEN", "auto|always|never", G_OUTPUT, REPORT | LISTS | UNIT),
     .default_text = "auto", .help = "Colour. NO_COLOR and pipes switch it off."},
};

static const struct pp_example examples[] = {
    {"pipesim --schedule chimera --gpus 2048",
     "a report with no input file: model, cluster and layout are chosen for you"},
    {"pipesim --schedule gpipe,1f1b,zbv --model llama3-70b --gpus 512 --pp 8 --tp 8",
     "compare schedules"},
    {"pipesim --schedule chimera --pp 4 --micro-batches 4 --unit F=1,B=2 --gantt",
     "see a schedule"},
    {"pipesim sweep --schedule all --pp 4,8 --micro-batches 8:64:x2 --unit F=1,B=2",
     "every combination of lists and ranges, a row each"},
    {"pipesim plan --gpus 16 --model llama2-7b --gbs 64",
     "the best layout: degrees, schedule, micro-batch, recomputation, ZeRO stage"},
    {"pipesim plan --gpus 64 --model llama2-13b --cluster a800 --free shard",
     "over how many devices to cut parameters, gradients and optimizer state"},
    {"pipesim program --schedule 1f1b --pp 4 --micro-batches 8 --compute",
     "print it as PyTorch's CSV, edit it, then verify and run the file"},
    {"pipesim sweep --preset megatron-sc21-145b --gbs 768:6144:x2 --recompute none --recompute "
     "full --engine dag",
     "a published run at other batch sizes, with and without recomputation"},
    {"pipesim sweep --schedule all --pp 4:16:x2 --micro-batches 16,32 --unit F=1,B=2 --part 2/4 -o "
     "part-2.csv",
     "one of four parts; under srun, mpirun or torchrun each process takes its own"},
    {"pipesim sweep --merge part-*.csv -o sweep.csv", "put the parts together"},
    {"pipesim plot sweep.csv", "draw a sweep in the terminal; -o fig.pdf --paper for a paper"},
    {"pipesim validate tests/published/measurements.csv --family seqpar-t5",
     "how wrong are predictions of published runs?"},
    {"pipesim calibrate small.json other.json -o cost.json",
     "costs from traces of pipeexec, for pipesim --cost cost.json --schedule zbv"},
    {"pipesim check baseline.json --tolerance 1%",
     "has a prediction moved since pipesim --json wrote it? For CI: exit 5"},
    {"pipesim compare predicted.csv measured.json.gz --tolerance 5%",
     "how wrong is a prediction, and where? Two files of --trace"},
    {"pipesim compare predicted.csv profile/",
     "the same of a run of PyTorch, by the traces of its profiler"},
};

static const struct pp_exit exits[] = {
    {PP_OK, "Success."},
    {PP_EFAIL, "Something outside failed: a file that cannot be opened, a device, an overflow."},
    {PP_EINVAL, "The command line, a layout or size, or the content of an input file was refused."},
    {PP_EFIT, "The configuration does not fit into memory (where that was required)."},
    {PP_EPROGRAM, "A program cannot be parsed, is illegal or deadlocks."},
    {PP_ETOLERANCE, "A comparison is out of tolerance."},
    {PP_EINTR, "Interrupted."},
    {0, NULL},
};

enum { ROWS = sizeof(rows) / sizeof(*rows), CAPACITY = ROWS + PP_SELECT_OPTIONS_MAX };
static struct pp_option options[CAPACITY];

struct pp_cli pp_sim_cli = {
    .program = "pipesim",
    .topics = pp_sim_topics,
    .presets = pp_presets,
    .exits = exits,
    .date = "2026-11-22",
    .summary = "predict step time, bubble, memory and MFU of pipeline-parallel training",
    .commands = commands,
    .command_count = sizeof(commands) / sizeof(*commands),
    .options = options,
    .examples = examples,
    .example_count = sizeof(examples) / sizeof(*examples),
};

/* Before main(): the rows, and the options that schedules declare in their own files. */
__attribute__((constructor)) static void complete(void)
{
    pp_sim_cli.option_count = pp_select_options(rows, ROWS, options, CAPACITY);
}
