/* pipesim help TOPIC: what the words mean, in the time of a coffee. */
#include "sim/cli/cli.h"

#include "core/text/terminal.h"
#include "schedules/order/schedule.h"
#include "schedules/registry.h"

/* A line that begins with a blank is printed as it stands; the others are paragraphs. */
#define LINES(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static void list_schedules(FILE *out, int width)
{
    fputs("\nWhich one, when:\n", out);
    for (int i = 0; pp_schedules[i]; i++)
        pp_text_paragraph(out, width, 19, pp_schedules[i]->name, pp_schedules[i]->when);
}

const struct pp_topic pp_sim_topics[] = {
    {.name = "bubble",
     .title = "how much of the step is waiting",
     .lines = LINES(
         "The bubble is the share of the step in which an average pipeline rank waits for other "
         "stages: what it is to run next has no data yet, or it has nothing left to do before the "
         "step ends. It is in the first lines of every report, and `bubble_frac` in JSON:",
         "  idle time of all ranks / (ranks x step)",
         "Waiting for gradient sums (DP sync) and for collectives inside of layers (TP comm) is "
         "not "
         "in it; a message on the wire that a rank waits for is, and `p2p in flight` says how "
         "much of the bubble that is.",
         "With equal stages, free messages, D ranks, N micro-batches and V chunks a rank:",
         "  gpipe, 1f1b         (D-1) / (N + D-1)", "  interleaved         (D-1) / (N V + D-1)",
         "  zb-h1, F = I = W    (D-1) / (3 N + D-1)",
         "Papers also write (D-1) / N, which is bubble over work instead of over the step: 37.5 % "
         "of 8 micro-batches on 4 ranks are 27.3 % of the step. The `span form`, used by the "
         "zero-bubble papers, counts from the first to the last op of a rank, so that a start and "
         "an end at different times cost nothing: right where steps follow one another without a "
         "barrier, too low where the optimizer needs all gradients.",
         "It gets smaller with more micro-batches (a smaller --mbs, a larger --gbs), fewer ranks "
         "(--pp), more chunks (--vp), and schedules that split the backward (zb-h1, zbv). See it:",
         "  pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --gantt",
         "  pipesim --schedule all --pp 4 --micro-batches 8 --unit F=1,I=1,W=1")},
    {.name = "memory",
     .title = "what a rank must hold, and whether it fits",
     .lines = LINES(
         "Peak memory is that of the fullest pipeline rank, per device, at the worst moment of the "
         "program: parameters, gradients and optimizer state, activations that wait for their "
         "backward, buffers of messages, and what the software takes. It follows the order of the "
         "ops, not their times, so that every engine tells the same, and pipeexec measures it.",
         "In bf16 with Adam a parameter takes 2 + 2 + 12 bytes before anything is cut; --zero 1 "
         "cuts the 12 over the replicas, --zero 2 the gradients too, --zero 3 all. Activations of "
         "1f1b: D - r micro-batches on rank r; of gpipe: all N.",
         "A run that does not fit exits 0 with the tensors that fill the device and flags that "
         "would "
         "help, each really simulated; --require-fit makes it exit 3.",
         "  pipesim --schedule 1f1b --model llama3-70b --gpus 64 --tp 8 --pp 8 \\",
         "      --micro-batches 16",
         "  pipesim --schedule 1f1b --model llama3-70b --gpus 64 --tp 8 --pp 8 \\",
         "      --micro-batches 16 --recompute full")},
    {.name = "mfu",
     .title = "model flops utilisation",
     .lines = LINES(
         "MFU is what the model needs over what the devices could do:",
         "  flops of forward and backward / (step x dense peak x GPUs)",
         "Recomputed forwards are work, but not the model's: they count in HFU alone. The peak is "
         "the dense one of the training precision (989 TFLOP/s in bf16 on an H100, not the 1,979 "
         "of sparse matrices). More than 100 % is refused as an error.",
         "Flops are counted by a rule whose name is next to the figure:",
         "  --flops megatron    every multiplication, attention in full (the default)",
         "  --flops palm        2 per parameter and token, and attention in full",
         "  --flops causal      as megatron, attention of causal models by half",
         "A first guess of your own: 6 x parameters x tokens/s / (GPUs x peak). Two runs compare "
         "only under one rule; tokens/s compare always.",
         "  pipesim --schedule 1f1b --model llama3-8b --gpus 8 --flops palm --json",
         "  pipesim --schedule 1f1b --model llama3-8b --gpus 8 --flops causal --json")},
    {.name = "schedules",
     .title = "in which order ranks run forwards and backwards",
     .lines = LINES(
         "A model is cut into stages, a step into micro-batches. Each micro-batch runs forward (F) "
         "through all stages and backward (B) again; a schedule says which of them each rank runs "
         "next. Some split the backward into the gradient that the stage before waits for (I) and "
         "that of the weights (W), which can wait. A rank may hold several chunks of the model "
         "(--vp), bidirectional schedules hold every stage twice.",
         "A file in PyTorch's pipelining CSV is a schedule, too. What one needs, its bubble by "
         "formula, and its paper:",
         "  pipesim schedules zbv",
         "  pipesim program --schedule zbv --pp 4 --micro-batches 8 --compute"),
     .more = list_schedules},
    {.name = "units",
     .title = "how numbers are written, going in and coming out",
     .lines = LINES(
         "  counts       7.5e9  7.5B  175B  4M  2k           B = billion",
         "  memory       80GB = 80e9 bytes, 80GiB = 80 x 2^30",
         "  bandwidth    450GBps  50GB/s  400Gb  8x200Gbps   B bytes, b bits; per second",
         "  speed        989TF  1.4PF", "  time         11.9us  3ms  2s  1h",
         "  fractions    5%  0.05", "  lists        8,16,32 and ranges 8:64:x2, 8:64:+8 (sweep)",
         "A bandwidth and a time need their unit; a plain number is refused there. Reports print "
         "three digits and the unit, memory in GiB. JSON and CSV have SI units with the unit in "
         "the name: `_s` seconds, `_bytes`, `_flops`, `_frac` of 1.",
         "With --unit F=1,B=2 times are in units of your own: F forward, B backward of a chunk and "
         "micro-batch, I and W its parts, C a message, FB a forward and a backward as one op.",
         "  pipesim --schedule 1f1b --gpus 16 --model llama3-8b --no-alternatives \\",
         "      --cluster 'node:2 gpu:8 device:a100 nvlink:300GBps nic:8x200Gbps'",
         "  pipesim --schedule zb-h1 --pp 4 --micro-batches 8 --unit F=1,I=1,W=0.9,C=0.1")},
    {.name = NULL},
};
