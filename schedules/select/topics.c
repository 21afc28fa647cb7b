/* Texts of "help TOPIC" of both programs. */
#include "schedules/select/options.h"

#include "core/text/terminal.h"
#include "schedules/order/schedule.h"
#include "schedules/registry.h"

static void list_schedules(FILE *out, int width)
{
    fputs("\nWhich schedule for what (D ranks, N micro-batches, V chunks a rank):\n", out);
    for (int i = 0; pp_schedules[i]; i++)
        pp_text_paragraph(out, width, 19, pp_schedules[i]->name, pp_schedules[i]->when);
}

/* Lines that begin with a blank are printed as they are; the others are paragraphs. */
const struct pp_topic pp_topics[] = {
    {.name = "bubble",
     .title = "how much of the step is waiting",
     .lines = PP_NAMES(
         "The bubble is the share of the step in which an average pipeline rank waits for other "
         "stages: its next op has no data yet, or it has nothing left to do before the step ends. "
         "It is in the first lines of every report, and `bubble_frac` in JSON:",
         "  idle time of all ranks / (ranks x step)",
         "It leaves out the time of gradient sums (DP sync) and of collectives inside layers (TP "
         "comm). It includes the wait for a message that is on the wire; `p2p in flight` is that "
         "part of the bubble.",
         "With equal stages, free messages, D ranks, N micro-batches and V chunks a rank:",
         "  gpipe, 1f1b         (D-1) / (N + D-1)", "  interleaved         (D-1) / (N V + D-1)",
         "  zb-h1, F = I = W    (D-1) / (3 N + D-1)",
         "Papers also write (D-1) / N, which is bubble over work instead of over the step. With "
         "8 micro-batches on 4 ranks this is 37.5 % of the work, but 27.3 % of the step. The "
         "zero-bubble papers count only the time from a rank's first op to its last: `span idle` "
         "in tables. It is right if each rank "
         "starts the next step without waiting for others. It is too low if a barrier ends the "
         "step, as for the optimizer.",
         "The bubble gets smaller with more micro-batches (a smaller --mbs, a larger --gbs), fewer "
         "ranks (--pp), more chunks (--vp), and schedules that split the backward (zb-h1, zbv). "
         "See it:",
         "  pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --gantt",
         "  pipesim --schedule all --pp 4 --micro-batches 8 --unit F=1,I=1,W=1",
         "With pictures, from the start: docs/tutorials/0-what-is-a-bubble.md")},
    {.name = "infer",
     .title = "prompts and tokens: how fast a model is served",
     .lines = PP_NAMES(
         "With --mode infer pipesim predicts a model that generates. A pass over the prompt makes "
         "the first token of each sequence. Each later pass reads one token of every sequence and "
         "makes the next. Keys and values of earlier tokens stay in a cache.",
         "  --batch B --prompt S --tokens T      B sequences, S tokens in and T out",
         "  --groups N                           B in N groups, which fill N ranks (--pp)",
         "  --prompt-groups M                    prompts in M pieces, for ranks and memory",
         "  --kv-bits 8  --weight-bits 4         fewer bytes to read and to hold",
         "  --kv paged:16                        a cache that grows by pages of 16 tokens",
         "  --offload p=host:25%                 a quarter of the weights on the host",
         "  --offload p=peer:25% --peers 1       or in the memory of an idle GPU",
         "The report has the time to the first token and the time of each token, and says what "
         "bounds them. `room` is the number of sequences for which the devices have memory. A "
         "prompt is mostly bound by compute. A token reads all weights, whatever the batch. So a "
         "larger batch gives more tokens/s at almost the same time a token, until the cache or "
         "compute takes over.",
         "The second command finds layout and batch for a limit, and exits 3 if there is none. The "
         "third has the curve of tokens/s over the time of a token:",
         "  pipesim --mode infer --model llama3-8b --gpus 1 --batch 16",
         "  pipesim plan --mode infer --model llama3-8b --max-token-s 20ms",
         "  pipesim sweep --mode infer --model llama3-8b --gpus 1 --batch 1:256:x2 \\",
         "      -o serve.csv", "  pipesim plot serve.csv --kind throughput-latency",
         "With --unit F=1,P=4 a pass of a group takes 1, its prompt 4. `pipeexec generate` runs "
         "the "
         "same program on this computer (docs/generate.md).",
         "Step by step: docs/tutorials/11-serve-a-model.md. Formulas: docs/generation.md")},
    {.name = "memory",
     .title = "what a rank must hold, and whether it fits",
     .lines = PP_NAMES(
         "Peak memory is the memory of a device of the fullest pipeline rank, at the "
         "worst moment of the program. It consists of parameters, gradients, optimizer "
         "state, activations that wait for their backward, buffers of messages, and the "
         "contexts and caches of the software. It depends on the order of the ops, not "
         "on their times, so every engine gives the same number. pipeexec measures it.",
         "In bf16 with Adam a parameter takes 2 + 2 + 12 bytes: weight, gradient, "
         "optimizer state. --zero 1 shards the optimizer state over the replicas, "
         "--zero 2 also the gradients, --zero 3 also the weights. 1f1b keeps the "
         "activations of D - r micro-batches on rank r, gpipe those of all N.",
         "For a run that does not fit, the report lists the tensors that fill the "
         "device, and options that would help. Each of these options was simulated. The "
         "exit code is 0; with --require-fit it is 3. `pipesim help tiers` is about models that "
         "are larger than the devices.",
         "  pipesim --schedule 1f1b --model llama3-70b --gpus 64 --tp 8 --pp 8 \\",
         "      --micro-batches 16",
         "  pipesim --schedule 1f1b --model llama3-70b --gpus 64 --tp 8 --pp 8 \\",
         "      --micro-batches 16 --recompute full")},
    {.name = "mfu",
     .title = "model flops utilisation",
     .lines = PP_NAMES(
         "MFU is the work that the model needs over the work that the devices could do:",
         "  flops of forward and backward / (step x dense peak x GPUs)",
         "Recomputed forwards are work, but not the model's: they count in HFU alone. The peak is "
         "the dense one of the training precision (989 TFLOP/s in bf16 on an H100, not the 1,979 "
         "of sparse matrices). More than 100 % is refused as an error.",
         "Flops are counted by a rule whose name is next to the figure:",
         "  --flops megatron    every multiplication, attention in full (the default)",
         "  --flops palm        2 per parameter and token, and attention in full",
         "  --flops causal      as megatron, but half of the attention of causal models",
         "A first estimate by hand is 6 x parameters x tokens/s / (GPUs x peak). Figures of two "
         "runs can be compared only under one rule; tokens/s can always be compared.",
         "  pipesim --schedule 1f1b --model llama3-8b --gpus 8 --flops palm --json",
         "  pipesim --schedule 1f1b --model llama3-8b --gpus 8 --flops causal --json")},
    {.name = "schedules",
     .title = "the order in which ranks run forwards and backwards",
     .lines = PP_NAMES(
         "A model is cut into stages, and the batch of a step into micro-batches. Each "
         "micro-batch runs forward (F) through all stages and backward (B) through them "
         "again. A schedule says which op each rank runs next. Some schedules split the "
         "backward into the gradient of the input (I), for which the stage before waits, and "
         "the gradient of the weights (W), which can run later. A rank may hold several "
         "chunks of the model (--vp); bidirectional schedules hold every stage twice.",
         "A file in PyTorch's pipelining CSV is a schedule, too. The first command shows "
         "what a schedule needs, the formula of its bubble, and its paper:",
         "  pipesim schedules zbv",
         "  pipesim program --schedule zbv --pp 4 --micro-batches 8 --compute"),
     .more = list_schedules},
    {.name = "tiers",
     .title = "training a model that is larger than the devices",
     .lines = PP_NAMES(
         "A device need not hold all of a training. --offload keeps classes of its bytes in the "
         "memory of the host, on its drives (nvme) or, with --peers K, in the memory of K idle "
         "GPUs of the node (peer). It copies them when they are needed. In "
         "bf16 with Adam a parameter has 2 bytes itself (p), 2 of its gradient (g) and 12 of "
         "optimizer state (os). Saved activations are class a. From what costs least to what "
         "frees most:",
         "  --offload os=host:auto                 the least share that fits (pipesim)",
         "  --offload os=host --cpu-optimizer      4 bytes stay; the host updates",
         "  --offload g,os=host --cpu-optimizer    2 bytes stay",
         "  --offload p,g,os=host --cpu-optimizer  0 stay, two layers at a time",
         "  --offload a=host                       saved activations",
         "  --act-bits 8                           saved activations in 8 bits",
         "With replicas, --zero 3 cuts all three classes first, so each device copies its share. "
         "Recomputation (--recompute full) often frees activations at less cost than copies.",
         "In a report the line `tiers` has what the host holds and what is copied a step. "
         "`exposed` is what offloading costs: the time that ranks wait for copies. `host "
         "updates` is the time of the processors. A device has its share of the node's memory: "
         "`pipesim clusters NAME` prints it, and --cluster 'a100-40 ram:2TB' is a node with more.",
         "The first command is one choice. The second tries all, and the third finds the most "
         "layers with which a model of these dimensions fits. `pipesim presets` has published "
         "runs, such as zero-offload-10b:",
         "  pipesim --schedule 1f1b --model llama3-70b --gpus 8 --cluster a100-40 \\",
         "      --offload os=host --cpu-optimizer",
         "  pipesim plan --model llama3-70b --gpus 8 --cluster a100-40 \\",
         "      --free tp,pp,recompute,offload",
         "  pipesim plan --model llama3-70b --gpus 8 --cluster a100-40 --zero 3 \\",
         "      --free offload --largest 10:400",
         "A run that generates has parameters (p), and keys and values (kv). Both go up in each "
         "pass, and what a pass has made goes down. With several groups that happens next to the "
         "passes of others:",
         "  pipesim --mode infer --model opt-30b --gpus 1 --cluster a100 --batch 64 \\",
         "      --groups 4 --offload kv=host",
         "pipeexec moves the same bytes in real memory, and into files of a drive (--nvme DIR). "
         "--device-memory plays a small device, and says what would fit:",
         "  pipeexec --schedule gpipe --np 2 --layers 8 --micro-batches 16 \\",
         "      --device-memory 80MB --offload a=host",
         "Step by step: docs/tutorials/10-twice-your-memory.md. Rules and formulas: "
         "docs/tiers.md, docs/tiers-executed.md")},
    {.name = "units",
     .title = "how numbers are written, in options and in reports",
     .lines = PP_NAMES(
         "  counts       7.5e9  7.5B  175B  4M  2k           B = billion",
         "  memory       80GB = 80e9 bytes, 80GiB = 80 x 2^30",
         "  bandwidth    450GBps  50GB/s  400Gb  8x200Gbps   B bytes, b bits; per second",
         "  speed        989TF  1.4PF", "  time         11.9us  3ms  2s  1h",
         "  fractions    5%  0.05", "  lists        8,16,32 and ranges 8:64:x2, 8:64:+8 (sweep)",
         "A bandwidth and a time need their unit; a plain number is refused. Reports print three "
         "digits and the unit, and memory in GiB. JSON and CSV have SI units, and the unit is in "
         "the name: `_s` for seconds, `_bytes`, `_flops`, and `_frac` for a fraction of 1.",
         "With --unit F=1,B=2 times are in your own units. F is the forward and B the backward of "
         "a chunk and micro-batch, I and W are the parts of B, C is a message, and FB a forward "
         "and a backward as one op. With VP chunks a rank has VP times the work. Tables divide "
         "steps and activations by VP: costs of a rank. `iteration_s` and `peak_activations` of "
         "JSON and sweep are those of chunks, `iteration_rank_s` and `peak_micro_batches` of "
         "JSON those of tables.",
         "  pipesim --schedule 1f1b --gpus 16 --model llama3-8b --no-alternatives \\",
         "      --cluster 'node:2 gpu:8 device:a100 nvlink:300GBps nic:8x200Gbps'",
         "  pipesim --schedule zb-h1 --pp 4 --micro-batches 8 --unit F=1,I=1,W=0.9,C=0.1")},
    {.name = NULL},
};
