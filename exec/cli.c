/* The options of pipeexec, one row each. */
#include "exec/cli.h"

#include "core/model/model.h"
#include "core/model/options.h"
#include "schedules/order/schedule.h"
#include "schedules/registry.h"
#include "schedules/select/options.h"

enum { RUN = 1 << PP_EXEC_RUN, BIG = PP_OPTION_BIG };

static const struct pp_command commands[] = {
    [PP_EXEC_RUN] = {"run", "pipeexec [run] [--schedule NAME|FILE.csv] [--np P] [options]",
                     "train a transformer for real, as the schedule says", 0, 0},
    [PP_EXEC_HELP] = {"help", "pipeexec help [COMMAND|man|bash|zsh|fish]", "help on one command", 0,
                      1},
};

#define G_SCHEDULE "Schedule"
#define G_LAYOUT   "Layout and batch"
#define G_MODEL    "Model and data"
#define G_RECIPE   "Training"
#define G_MACHINE  "Machine"
#define G_WHATIF   "What if"
#define G_CHECK    "Checks and prediction"
#define G_STATE    "Checkpoints"
#define G_OUTPUT   "Output"

static const struct pp_option rows[] = {
    {PP_ROW_TEXT("schedule", "NAME|FILE", G_SCHEDULE, RUN), .is_common = true,
     .aliases = PP_SCHEDULE_ALIASES, .offered = pp_schedule_name, .default_text = "1f1b",
     .help = "A schedule or a program file. 'pipesim schedules' names them; a file ends in .csv or "
             "has a / in its name."},
    PP_OPTIONS_MICRO_BATCHES(G_SCHEDULE, RUN, "8, or the next above that the schedule accepts"),
    PP_OPTIONS_SHAPE(G_SCHEDULE, RUN),
    PP_OPTIONS_DIALECT(G_SCHEDULE, RUN),
    {PP_ROW_CHOICE("recompute", "HOW", "none|full", G_SCHEDULE, RUN),
     .aliases = PP_NAMES("recompute-granularity"), .default_text = "none",
     .help = "full: keep only the input of a stage, and compute its forward again before its "
             "backward."},
    PP_OPTIONS_GRAD_SYNC(G_SCHEDULE, RUN),
    {PP_ROW_INT("zero", "STAGE", 0, 1, G_SCHEDULE, RUN), .default_text = "0",
     .help = "ZeRO stage. 1: the replicas of a stage share its optimizer state out; gradients are "
             "scattered among them, and each updates a share of the weights, which all gather."},
    PP_OPTIONS_RECEIVES(G_SCHEDULE, RUN),

    {PP_ROW_INT("np", "P", 1, 1024, G_LAYOUT, RUN), .is_common = true,
     .aliases = PP_NAMES("n", "pp", "pipeline-model-parallel-size",
                         "parallelism.pipeline_parallel_degree"),
     .default_text = "4", .help = "Pipeline ranks. P * D workers run concurrently."},
    PP_OPTIONS_VP(G_LAYOUT, RUN),
    PP_OPTIONS_DP(G_LAYOUT, RUN),
    PP_OPTIONS_MBS(G_LAYOUT, RUN, "4"),
    PP_OPTIONS_GBS(G_LAYOUT, RUN),
    PP_OPTIONS_SEQ(G_LAYOUT, RUN),

    {PP_ROW_TEXT("model", "NAME|FILE", G_MODEL, RUN), .is_common = true, .offered = pp_model_name,
     .default_text = "tiny",
     .help = "A preset or a Hugging Face config.json. Decoders like GPT-2 and LLaMA; 'pipesim "
             "models' names the presets."},
    PP_OPTIONS_DIMENSIONS(G_MODEL, RUN),
    {PP_ROW_TEXT("data", "FILE", G_MODEL, RUN), .is_common = true,
     .default_text = "a text that is built in", .help = "The text that is learned, byte by byte."},
    {PP_ROW_CHOICE("tokens", "KIND", "bytes|u16", G_MODEL, RUN), .default_text = "bytes",
     .help = "What --data holds. bytes: each is a token. u16: a shard of 16-bit tokens as llm.c "
             "writes them (.bin)."},
    {PP_ROW_TEXT("tokenizer", "DIR|FILE", G_MODEL, RUN),
     .help = "Read --data as text, by the byte-pair encoding of GPT-2's kind in this folder, "
             "tokenizer.json or VOCAB:MERGES."},

    {PP_ROW_INT("steps", "K", 1, BIG, G_RECIPE, RUN), .is_common = true,
     .aliases = PP_NAMES("iters", "train-iters", "training.steps"), .default_text = "20",
     .help = "Training steps."},
    {PP_ROW_COUNT("lr", "X", G_RECIPE, RUN), .kind = "a number such as 1e-3",
     .default_text = "1e-3", .help = "Learning rate of AdamW."},
    {PP_ROW_COUNT("min-lr", "X", G_RECIPE, RUN), .kind = "a number such as 1e-4",
     .default_text = "a tenth of --lr",
     .help = "Learning rate of the last step: a cosine leads there."},
    {PP_ROW_INT("lr-warmup", "K", 0, BIG, G_RECIPE, RUN), .default_text = "0",
     .help = "Steps in which the learning rate rises from 0."},
    {PP_ROW_COUNT("weight-decay", "X", G_RECIPE, RUN), .kind = "a number such as 0.1",
     .default_text = "0.1", .help = "Decoupled decay of matrices."},
    {PP_ROW_COUNT("clip", "NORM", G_RECIPE, RUN),
     .aliases = PP_NAMES("clip-grad", "training.max_norm"), .kind = "a number such as 1.0",
     .default_text = "0: no clipping",
     .help = "Greatest norm of all gradients; the ranks meet before the update."},
    {PP_ROW_LONG("seed", "S", 0, INT64_MAX, G_RECIPE, RUN), .default_text = "0",
     .help = "Seed of the weights, of the samples, and of the orders that backend fake draws."},
    {PP_ROW_CHOICE("precision", "TYPE", "fp32|double|bf16", G_RECIPE, RUN), .default_text = "fp32",
     .help = "double: plain reference kernels, about a hundred times slower. bf16: activations and "
             "weights in bfloat16; gradients, optimizer state and master weights in fp32."},

    {PP_ROW_CHOICE("backend", "NAME", "cpu|cuda|fake", G_MACHINE, RUN),
     .aliases = PP_NAMES("device"), .default_text = "cpu",
     .help =
         "Where work runs. cuda: all ranks on one GPU, the first that CUDA_VISIBLE_DEVICES leaves, "
         "or with --transport nccl or ipc a process for each, which take the GPUs of their host in "
         "turn. fake: on the CPU, but in the worst order that the events of the program allow."},
    {PP_ROW_CHOICE("device-mode", "MODE", "serial|streams|partition", G_MACHINE, RUN),
     .default_text = "serial; streams with --transport nccl or ipc",
     .help = "How ranks share a GPU. serial: one op at a time, so that it takes what it would take "
             "alone. streams: each rank, channel and sum has a CUDA stream of its own, and what "
             "the program lets overlap does. partition: so, and each rank has multiprocessors of "
             "its own (CUDA 12.4)."},
    {PP_ROW_CHOICE("weight-grad-stream", "on|off", "off|on", G_MACHINE, RUN), .default_text = "off",
     .help = "on: each rank computes its W on a stream of its own, which takes what F, I and B "
             "leave of the GPU (--device-mode streams or partition; --backend fake)."},
    {PP_ROW_CHOICE("cuda-graphs", "on|off", "on|off", G_MACHINE, RUN), .default_text = "on",
     .help = "With --backend cuda: after the first step, launch an op as one graph of its kernels, "
             "where it is the same in every step, instead of kernel by kernel."},
    {PP_ROW_CHOICE("transport", "NAME", "local|shm|tcp|nccl|ipc", G_MACHINE, RUN),
     .default_text =
         "local; with processes that a launcher has started tcp, or nccl with --backend cuda",
     .help =
         "Where ranks run and how they talk. local: threads of one process. shm: processes of this "
         "machine, on memory that they share. tcp: processes of any hosts; those that torchrun, "
         "srun or mpirun has started, else as many as are needed. nccl: the same with a GPU each "
         "(--backend cuda), or sharing GPUs; messages and gradient sums go by NCCL. ipc: the same "
         "on one host, where processes map each other's memory of GPUs and copy by themselves."},
    {PP_ROW_TEXT("rendezvous", "WHERE", G_MACHINE, RUN), .default_text = "what the launcher says",
     .help = "Where processes meet that a launcher has started, or you have with RANK and "
             "WORLD_SIZE: file://PATH, a file that all see, in which the first one writes where it "
             "listens, or tcp://HOST:PORT. Append ?rank=R&world_size=N without these variables, "
             "and ?timeout=S for another time than 60 s."},
    {PP_ROW_CHOICE("clock", "CLOCK", "virtual|wall", G_MACHINE, RUN), .is_common = true,
     .default_text =
         "virtual; wall with --device-mode streams or partition, and with --transport nccl or ipc",
     .help = "Whose time is told. virtual: a rank's clock advances by the time that its ops take a "
             "core or the GPU and by waiting for others, as if each rank had a device and wires of "
             "its own. wall: what a watch shows."},
    {PP_ROW_INT("cores", "K", 1, 4096, G_MACHINE, RUN), .default_text = "those of the machine",
     .help = "Compute ops that run at a time, on the virtual clock of CPUs."},
    {PP_ROW_INT("timeout", "S", 0, BIG, G_MACHINE, RUN), .default_text = "600",
     .help = "Seconds after which a run in which no rank makes progress ends, saying who waits for "
             "what. 0: never."},
    {PP_ROW_TEXT("inject", "TEXT", G_MACHINE, RUN), .is_repeatable = true,
     .help = "Try a fault: 'kill rank:1 op:5 step:2', or hang, freeze, stop, drop or jump instead "
             "of kill, before that op of the rank's list. 'slow:1=0.5' and 'link-bw:0-1=0.1' are "
             "--slow and --link-bw."},
    {PP_ROW_TEXT("link", "TEXT", G_MACHINE, RUN), .default_text = "latency:10us bandwidth:10GBps",
     .help = "The wires of the virtual clock, for messages and gradient sums."},
    {PP_ROW_TEXT("slow", "RANK=FACTOR", G_WHATIF, RUN), .is_repeatable = true,
     .help = "Scale the compute speed of a pipeline rank in every replica (3=0.8), or in one "
             "replica (3.0=0.8): on the virtual clock its ops take longer, on the wall clock it "
             "sleeps after them."},
    {PP_ROW_TEXT("link-bw", "A-B=FACTOR", G_WHATIF, RUN), .is_repeatable = true,
     .help = "Scale the bandwidth of the wire from rank A to rank B, on the virtual clock; * "
             "stands for any characters: 0-1=0.1, *-3=0.5."},
    {PP_ROW_TEXT("unit", "COSTS", G_WHATIF, RUN),
     .help = "Ops and messages take so many seconds on the virtual clock, whatever the CPU takes: "
             "F=1,B=2 or F=1,I=1,W=1[,C=0.1][,FB=2.5], as in pipesim. Everything is computed all "
             "the same."},

    {PP_ROW_FLAG("check", G_CHECK, RUN), .is_common = true,
     .help = "Compare the gradients of every step, and the weights at the end, with training on "
             "one rank. Without it, those of the first step."},
    {PP_ROW_FLAG("no-check", G_CHECK, RUN), .help = "Compare nothing, and do not measure memory."},
    {PP_ROW_FLAG("exact-grad", G_CHECK, RUN), .is_common = true,
     .help = "Add gradients in fixed point, so that no order of additions changes a bit of them."},
    {PP_ROW_INT("warmup", "K", 1, BIG, G_CHECK, RUN), .default_text = "2",
     .help = "Steps after the first whose durations make the prediction. Figures are those of the "
             "steps after them."},
    {PP_ROW_TEXT("calibrate-on", "SCHEDULE", G_CHECK, RUN),
     .help = "Predict from durations measured while another schedule ran: its steps come first."},

    {PP_ROW_TEXT("checkpoint", "DIR", G_STATE, RUN), .aliases = PP_NAMES("save"),
     .help = "Write the state of the training into this folder at the end, and before that as "
             "often as --checkpoint-every says."},
    {PP_ROW_INT("checkpoint-every", "K", 1, BIG, G_STATE, RUN),
     .aliases = PP_NAMES("save-interval"), .help = "Steps from one checkpoint to the next."},
    {PP_ROW_INT("checkpoint-keep", "K", 1, BIG, G_STATE, RUN), .default_text = "2",
     .help = "Checkpoints that stay: the newest ones."},
    {PP_ROW_TEXT("resume", "DIR", G_STATE, RUN), .aliases = PP_NAMES("load"),
     .help = "Go on from the newest checkpoint in this folder, or from one of them, with any "
             "schedule, ranks and replicas. Model, data, recipe, samples of a step and --steps are "
             "those of the checkpoint unless given."},

    {PP_ROW_FLAG("json", G_OUTPUT, RUN), .is_common = true, .help = "One JSON object on stdout."},
    {PP_ROW_TEXT("trace", "FILE", G_OUTPUT, RUN), .is_common = true,
     .default_text = "a new folder in $TMPDIR",
     .help = "Write what happened: .csv, .json for Perfetto, or .paje for ViTE and pajeng; .gz "
             "compresses."},
    {PP_ROW_TEXT("predicted-trace", "FILE", G_OUTPUT, RUN),
     .help = "Write what was predicted, in the same form."},
    {PP_ROW_FLAG("gantt", G_OUTPUT, RUN), .is_common = true,
     .help = "Draw the median measured step in the terminal, instead of the report."},
    {PP_ROW_TEXT("plot", "FILE", G_OUTPUT, RUN), .is_common = true,
     .help = "Draw the predicted step over the measured one: a picture .png, .pdf, .svg or .tex, "
             "or a script .gp for gnuplot; none: in the terminal."},
    {PP_ROW_FLAG("paper", G_OUTPUT, RUN),
     .help = "For a column of a paper: 3.3 inches wide, 8 pt, no title."},
    {PP_ROW_FLAG("quiet", G_OUTPUT, RUN),
     .help = "No report and no progress: the exit code tells."},
    {PP_ROW_CHOICE("color", "WHEN", "auto|always|never", G_OUTPUT, RUN), .default_text = "auto",
     .help = "Colour. NO_COLOR and pipes switch it off."},
};

static const struct pp_example examples[] = {
    {"pipeexec", "train a tiny transformer on 4 ranks with 1f1b; no GPU, no MPI, no input"},
    {"pipeexec --schedule zbv -np 8 --micro-batches 16 --exact-grad",
     "another schedule; gradients equal those of one rank to the bit"},
    {"pipeexec --schedule chimera --calibrate-on 1f1b",
     "predict chimera from what 1f1b took, then run it"},
    {"pipeexec --schedule mine.csv --trace real.csv --predicted-trace predicted.csv",
     "a program of your own, and both traces for pipesim compare"},
};

static const struct pp_exit exits[] = {
    {PP_OK, "Success: trained, and gradients are those of training on one rank."},
    {PP_EFAIL,
     "A failure at run time: a file, a trace, a device, memory, or a loss that is not a number."},
    {PP_EINVAL, "The command line, a layout, a model or data that do not go together."},
    {PP_EPROGRAM, "A program file cannot be parsed, is illegal or deadlocks."},
    {PP_ETOLERANCE, "Gradients or weights are not those of training on one rank."},
    {PP_EINTR, "Interrupted."},
    {0, NULL},
};

enum { ROWS = sizeof(rows) / sizeof(*rows), CAPACITY = ROWS + PP_SELECT_OPTIONS_MAX };
static struct pp_option options[CAPACITY];

struct pp_cli pp_exec_cli = {
    .program = "pipeexec",
    .exits = exits,
    .date = "2026-11-22",
    .summary = "train with any pipeline schedule for real; compare with the prediction",
    .commands = commands,
    .command_count = sizeof(commands) / sizeof(*commands),
    .options = options,
    .examples = examples,
    .example_count = sizeof(examples) / sizeof(*examples),
};

/* Before main(): the rows, and the options that schedules declare in their own files. */
__attribute__((constructor)) static void complete(void)
{
    pp_exec_cli.option_count = pp_select_options(rows, ROWS, options, CAPACITY);
}
