/* sim/cli/rows.h — the options of pipesim, one row each: fields in wish.h, the table in cli.c. */
/* clang-format off */
PP_ROW_TEXT(schedule, "NAME|FILE", G_SCHEDULE, SHAPE | UNIT | BY_SEARCH, .is_common = true,
    .aliases = PP_SCHEDULE_ALIASES, .offered = pp_schedule_name, .takes_list = true,
    .help =
        "A schedule, a comma list, all, or a program file. A list gives a ranked table. 'pipesim "
        "schedules' names the schedules. A file ends in .csv or has a / in its name. '!COMMAND' "
        "prints a program; a comma ends it, unless it is quoted. Words such as {pp}, {vp}, "
        "{micro_batches} and {group} in a command or file name are filled.")
PP_ROW_CHOICE(mode, "WHAT", "train|infer", G_SCHEDULE, SHAPE | UNIT,
    .default_text = "train", .neutral = "train",
    .help = "train: forwards and backwards of a training step. infer: prompts are read and tokens "
            "generated, with the schedule generate; see pipesim help infer.")
PP_ROW_TEXT(preset, "NAME", G_SCHEDULE, RUN | UNIT, .offered = preset_name,
    .help = "A set of defaults, see 'pipesim presets'. Flags win over it.")
PP_ROW_TEXT(from, "REPORT", G_SCHEDULE, REPORT | EXPORT,
    .help = "Repeat the run of a report that was saved with --json; other flags override its "
            "values. - reads stdin.")
PP_OPTIONS_MICRO_BATCHES(G_SCHEDULE, SHAPE | UNIT | BY_SEARCH | TRAINS, NULL)
PP_OPTIONS_SHAPE(G_SCHEDULE, SHAPE | UNIT)
PP_ROW_INT(steps, "K", 1, BIG, G_SCHEDULE, STEPS | UNIT | TRAINS,
    .default_text = "1; 4 if the schedule needs no barrier and --unit is not given",
    .help = "Training steps to simulate. With several, figures are those of a steady step: they "
            "cover the time from the end of the first step to the end of the last.")
PP_ROW_CHOICE(step_barrier, "HOW", "on|off", G_SCHEDULE, STEPS | UNIT | TRAINS,
    .default_text = "on; off if the schedule needs no barrier",
    .help = "on: a step starts when all ranks have ended the step before it. off: each rank "
            "starts its next step as soon as it can.")
PP_ROW_CHOICE(update_barrier, "HOW", "off|on", G_SCHEDULE, SHAPE | TRAINS,
    .default_text = "off; on if the run of --cost had it",
    .help = "on: no rank updates its weights before all ranks have all sums of gradients, as "
            "clipping by their norm needs. So do all runs of pipeexec. off: each rank updates as "
            "soon as its own sums are complete.")
PP_OPTIONS_DIALECT(G_SCHEDULE, SHAPE | VERIFY | UNIT)

PP_ROW_INT(gpus, "N", 1, BIG, G_LAYOUT, RUN | 1 << PP_CMD_CLUSTERS | BY_SEARCH, .is_common = true,
    .aliases = PP_NAMES("world-size"), .help = "Total number of devices: tp * cp * pp * dp.")
PP_ROW_INT(nodes, "N", 1, BIG, G_LAYOUT, RUN | BY_SEARCH, .aliases = PP_NAMES("nnodes"),
    .help = "Number of nodes of the cluster, in place of --gpus: all devices of N nodes.")
PP_ROW_INT(tp, "T", 1, BIG, G_LAYOUT, RUN | UNIT_ONE | BY_SEARCH, .is_common = true,
    .aliases = PP_NAMES("tensor-model-parallel-size", "parallelism.tensor_parallel_degree"),
    .help = "Tensor-parallel degree.")
PP_ROW_INT(pp, "D", 1, 65535, G_LAYOUT, SHAPE | UNIT | BY_SEARCH, .is_common = true,
    .aliases = PP_NAMES(
        "np", "pipeline-model-parallel-size", "parallelism.pipeline_parallel_degree"),
    .help = "Pipeline ranks: at most 8192 with a model, 65535 with --unit.")
PP_OPTIONS_DP(G_LAYOUT, SHAPE | UNIT_ONE | BY_SEARCH)
PP_ROW_INT(cp, "C", 1, BIG, G_LAYOUT, RUN | UNIT_ONE | BY_SEARCH | TRAINS,
    .aliases = PP_NAMES("context-parallel-size", "parallelism.context_parallel_degree"),
    .default_text = "1", .help = "Context-parallel degree.")
PP_ROW_INT(ep, "E", 1, BIG, G_LAYOUT, RUN | UNIT_ONE | BY_SEARCH,
    .aliases = PP_NAMES("expert-model-parallel-size", "parallelism.expert_parallel_degree"),
    .default_text = "1",
    .help = "Expert-parallel degree: number of devices that share the experts of a block. It "
            "divides the number of experts and tp / etp * cp * dp. It takes these devices and "
            "needs no others. Dense models have 1.")
PP_ROW_INT(etp, "T", 1, BIG, G_LAYOUT, RUN,
    .aliases = PP_NAMES("expert-tensor-parallel-size", "parallelism.expert_tensor_parallel_degree"),
    .default_text = "tp, or less if --ep needs it",
    .help = "Tensor-parallel degree of experts; divides tp.")
PP_OPTIONS_VP(G_LAYOUT, SHAPE | UNIT | BY_SEARCH | TRAINS)
PP_OPTIONS_MBS(G_LAYOUT, RUN | UNIT_ONE | BY_SEARCH | TRAINS, NULL)
PP_OPTIONS_GBS(G_LAYOUT, RUN | BY_SEARCH | TRAINS)
PP_OPTIONS_SEQ(G_LAYOUT, RUN | TRAINS)
PP_ROW_TEXT(map, "ORDER", G_LAYOUT, RUN | NEEDS_DEGREES, .default_text = "tp,cp,dp,pp",
    .neutral = "tp,cp,dp,pp",
    .help = "Which devices are neighbours: degrees from the innermost to the outermost. The first "
            "one fills a node first.")

#include "sim/cli/rows_generation.h"

PP_ROW_TEXT(model, "NAME|FILE", G_MODEL, RUN, .is_common = true, .offered = pp_model_name,
    .default_text = "gpt3-175b",
    .help = "A preset or a Hugging Face config.json. Its folder (./NAME) works, too, and the hub's "
            "name of a preset: meta-llama/Llama-3.1-70B. See 'pipesim models'.")
PP_ROW_COUNT(params, "X", G_MODEL, RUN,
    .help = "A model known only by its number of parameters: 7.5e9, 70B.")
PP_OPTIONS_DIMENSIONS(G_MODEL, RUN | CALIBRATE)
PP_OPTIONS_EXPERTS(G_MODEL, RUN)
PP_OPTIONS_MTP(G_MODEL, RUN | TRAINS)
PP_ROW_INT(first_stage_layers, "L", 1, 65535, G_MODEL, RUN,
    .aliases = PP_NAMES("decoder-first-pipeline-num-layers"),
    .help = "Blocks of the first stage; default: as even as possible. --head balanced divides "
            "blocks by time; --head counted counts embedding and head as blocks.")
PP_ROW_INT(last_stage_layers, "L", 1, 65535, G_MODEL, RUN,
    .aliases = PP_NAMES("decoder-last-pipeline-num-layers"), .help = "Blocks of the last stage.")
PP_ROW_CHOICE(head, "WHERE", "last|balanced|counted|ignored|parallel|parallel-twice|interlaced", G_MODEL, RUN,
    .default_text = "last",
    .help =
        "Which stages compute embedding and head. last: the first and the last stage, on top of "
        "an even share of blocks. balanced: the same stages, but blocks are divided so that the "
        "slowest stage is as fast as possible. counted: embedding and head count as one block "
        "each when blocks are divided evenly, so that 126 blocks fill 128 stages. ignored: they "
        "cost no compute time, as formulas of bubbles assume; MFU leaves them out. parallel: "
        "every stage holds an equal part of the vocabulary (vocabulary parallelism). "
        "parallel-twice: ranks meet twice for a loss, and one more micro-batch is in flight. "
        "interlaced: all ranks compute their parts at the same time; half as many more "
        "micro-batches as ranks are in flight.")

PP_ROW_TEXT(framework, "NAME", G_CLUSTER, RUN, .name_of = pp_framework_name,
    .default_text = "that of --constants or of --emit, else plain",
    .help = "The training software. It adds host gaps to kernels and memory for contexts and "
            "copies, and brings its own defaults. plain adds nothing.")
PP_ROW_TEXT(cluster, "NAME|FILE", G_CLUSTER, RUN, .is_common = true, .offered = pp_cluster_name,
    .default_text = "h100",
    .help = "A preset, a text or a file. 'pipesim clusters' names the presets. A text is like "
            "\"node:2 gpu:8 device:a100 nvlink:300GBps nic:8x200Gbps\". A file is a SimGrid "
            "platform; its name ends in .xml or has a /.")
PP_ROW_TEXT(price, "X/h", G_CLUSTER, REPORT | SWEEP | PLAN,
    .help = "Price of a device for an hour, such as 2.2/h or $2.20/h. Reports then say what a step "
            "and 1 T tokens cost, and with --mode infer what 1 M generated tokens cost.")
PP_ROW_TEXT(topo, "FILE", G_CLUSTER, CLUSTERS,
    .help = "Output of nvidia-smi topo -m on a node: devices, NVLinks and network cards.")
PP_ROW_TEXT(link_bw, "NAME=FACTOR", G_WHATIF, RUN, .is_repeatable = true,
    .help = "Scale the bandwidth of a link class or of single links: node=0.5, network=2, "
            "node3.nic*=0.1.")
PP_ROW_TEXT(slow, "RANK=FACTOR", G_WHATIF, RUN | UNIT, .is_repeatable = true,
    .help = "Scale the compute speed of a pipeline rank in every replica (3=0.8), or in one "
            "replica (3.0=0.8).")
PP_ROW_FRAC(jitter, "FRAC", G_WHATIF, RUN | UNIT,
    .help = "Vary each compute time uniformly by up to this share, e.g. 5%.")
PP_ROW_LONG(seed, "S", 0, INT64_MAX, G_WHATIF, RUN | UNIT, .default_text = "0",
    .help = "Seed of the jitter.")
PP_ROW_INT(seeds, "K", 1, 100000, G_WHATIF, REPORT | SWEEP | UNIT,
    .help = "Repeat the run with K seeds of the jitter, from --seed on: the mean, least and "
            "greatest step, and how much longer the strict order takes with the same seeds.")

PP_ROW_INT(zero, "STAGE", 0, 3, G_STATE, SHAPE | BY_SEARCH | BY_SHARDING | NEEDS_REPLICAS | TRAINS,
    .default_text = "0 if that fits, else 1", .neutral = "0",
    .help = "ZeRO stage. 1 shards the optimizer state over the replicas of a stage. 2 also shards "
            "gradients. 3 also shards parameters, which are gathered before each use.")
PP_ROW_TEXT(shard, "CLASS=AxB,...", G_STATE, RUN | BY_SHARDING | NEEDS_REPLICAS | TRAINS,
    .help = "Sharding class by class: p (parameters), g (gradients) and os (optimizer state), "
            "each over A devices in each of B nodes, such as p=1,g=1,os=8x4. A class that is left "
            "out is sharded like the class before it; p is then not sharded.")
PP_ROW_TEXT(secondary, "AxB", G_STATE, RUN | NEEDS_SHARDS | TRAINS,
    .help = "Keep a second copy of the parameters, sharded over this smaller mesh, for the "
            "gathers of the backward (ZeRO++).")
PP_ROW_TEXT(gather, "UNIT", G_STATE, RUN | NEEDS_FETCHES, .default_text = "layer",
    .neutral = "layer", .is_word = true, .kind = "layer, chunk, or bytes, such as 64MiB",
    .help = "Parameters that are gathered or loaded at once: a layer, all layers of a chunk, or "
            "units of at most so many bytes in 16 bits.")
PP_ROW_INT(gather_buffers, "K", 1, 1024, G_STATE, SHAPE | NEEDS_FETCHES,
    .default_text = "2, or 1 with a framework that does not prefetch",
    .help = "Buffers for gathered parameters, one --gather unit each. 1: nothing is prefetched. "
            "K: the next K - 1 units are prefetched while one is used. Keys and values of --offload "
            "kv= have K buffers of a block.")
PP_ROW_TEXT(cache, "R", G_STATE, SHAPE | NEEDS_FETCHES, .default_text = "1", .neutral = "1",
    .is_word = true, .kind = "units, bytes such as 4GiB, or auto",
    .help = "--gather units that a device keeps between their uses, the one in use included. A "
            "unit that is there is neither loaded nor gathered. auto: as many as fit.")
PP_ROW_CHOICE(evict, "POLICY", "belady|lru|fifo", G_STATE, SHAPE | NEEDS_FETCHES,
    .default_text = "belady", .neutral = "belady",
    .help = "Unit that leaves a full --cache: that with the farthest next use, the least recently "
            "used one, or the one that came first.")
PP_ROW_TEXT(offload, "CLASS=TIER,...", G_STATE, SHAPE,
    .help = "Keep p (parameters), g (gradients), os (optimizer state), a (saved activations) or, with "
            "--mode infer, kv (keys and values) on another memory tier, host, nvme or peer, such as "
            "p,g,os=host,a=nvme: a class without a tier takes that of the next one. p=host:40% moves a share, a=host:auto the least that "
            "fits. Parameters are prefetched into --gather-buffers, one --gather unit at a time, "
            "and gradients leave through as many. Activations leave the device after their "
            "forward and return before their backward. Optimizer state streams through the "
            "update. Keys and values come up before each later pass, and new ones leave after "
            "it. See pipesim help tiers.")
PP_ROW_INT(peers, "K", 1, BIG, G_STATE, RUN,
    .help = "Idle GPUs of the node, which the run does not use. Their free memory is the tier "
            "peer of --offload, which the GPUs of the run reach over the links of the node.")
PP_ROW_FLAG(cpu_optimizer, G_STATE, SHAPE | TRAINS,
    .help = "The processors of the node update the optimizer state that --offload os= keeps "
            "there. Gradients leave the device, updated parameters return.")
PP_ROW_CHOICE(sum, "WHERE", "host|device", G_STATE, SHAPE | TRAINS, .default_text = "host",
    .neutral = "host",
    .help = "Where gradients add up that --offload g= keeps elsewhere. host: its processors add "
            "what comes down. device: what earlier micro-batches have left comes up again before "
            "each backward.")
PP_ROW_CHOICE(update, "WHEN", "end|jit", G_STATE, SHAPE | TRAINS, .default_text = "end", .neutral = "end",
    .help = "When --cpu-optimizer updates. end: when the step of its rank ends. jit: each stage "
            "once its gradients are on the host, while other stages go backward.")
PP_ROW_TEXT(update_bucket, "PARAMSxK", G_STATE, RUN | TRAINS, .default_text = "16e6x3; 16e6x1 with axonn",
    .help = "Buckets in which state on another tier streams through an update of the device: their "
            "parameters, and how many have room at once. 3: one comes, one is updated, one goes. "
            "2: a bucket comes after another has gone. 1: nothing overlaps.")
PP_ROW_CHOICE(offload_unit, "UNIT", "op|layer", G_STATE, RUN | TRAINS, .default_text = "op",
    .neutral = "op",
    .help = "What --offload a= moves at once. op: what a forward has saved, once it has ended. "
            "layer: what a block has saved, while the next one computes. Two blocks then stay.")
PP_ROW_FLAG(grads_in_params, G_STATE, RUN | TRAINS,
    .help = "Write 16-bit gradients over their parameters once a unit has gone backward. The "
            "update restores these from their fp32 copy: 14 bytes a parameter. Needs one backward "
            "visit of each unit a step.")
PP_ROW_CHOICE(act_bits, "BITS", "2|4|8", G_STATE, SHAPE | TRAINS,
    .help = "Store saved activations in this many bits until their backward, with a scale and a "
            "minimum for each 128 values.")
PP_ROW_TEXT(usable, "TIER=SHARE,...", G_STATE, RUN,
    .default_text = "100 %, or what the framework fills",
    .help = "Share of a memory tier that may be filled: device, host, nvme or peer, such as "
            "host=80%,device=90%. What needs more does not fit.")
PP_ROW_TEXT(recompute, "HOW", G_STATE, SHAPE | UNIT | BY_SEARCH | BY_SHARDING | TRAINS,
    .aliases = PP_NAMES("recompute-granularity", "recompute-modules"),
    .default_text = "the first level that fits",
    .words_name = "recompute-modules", .words_of = "selective",
    .help =
        "none, selective, full, or stage-aware=R, where R is the share that the first stage "
        "recomputes. selective=MODULES: modules of Megatron-Core, with + between them: core_attn, "
        "layernorm, act (of MLPs and experts; moe_act is the same), mla_up_proj, mlp, "
        "moe. --recompute-modules takes them as words. Words may follow a comma: late (it waits for "
        "the gradient of its backward), early (it does not, the default), skip (none where a "
        "backward follows its own forward at once, as on the last rank of 1f1b).")

PP_ROW_FRAC(memory_margin, "FRAC", G_STATE, RUN, .default_text = PP_MEMORY_MARGIN,
    .help = "Share of a device's memory that a layout should leave free, because predicted peaks "
            "are not exact. Choices of the tool prefer layouts that do. A layout that fits but "
            "leaves less is called tight. 0 switches it off.")

PP_ROW_FRAC(ep_overlap, "FRAC", G_COMM, RUN, .default_text = "0",
    .help = "Share of the experts' all-to-all that compute of other tokens hides, e.g. 80%.")
PP_ROW_FRAC(ep_share, "FRAC", G_COMM, RUN, .default_text = "0",
    .help = "Share of the multiprocessors that the experts' all-to-all keeps. Products are slower "
            "by it. DeepSeek-V3 gave 20 of 132, 15%.")
PP_ROW_CHOICE(ep_dispatch, "HOW", "each|once", G_COMM, RUN, .default_text = "each",
    .help = "How tokens reach their experts. each: one copy for each expert. once: one copy for "
            "each node that has some of the token's experts, and one there for each such device "
            "(as DeepEP does).")
PP_ROW_FRAC(capacity_factor, "X", G_COMM, RUN, .aliases = PP_NAMES("moe-expert-capacity-factor"),
    .kind = "a number above 0, at most 16, such as 1.25", .default_text = "1",
    .help = "Tokens that an expert receives and computes, over its share of evenly spread tokens.")
PP_OPTIONS_GRAD_SYNC(G_COMM, SHAPE | NEEDS_REPLICAS | NEEDS_OWN_SUMS | TRAINS)
PP_ROW_CHOICE(dp_overlap, "HOW", "off|on", G_COMM, RUN | NEEDS_REPLICAS | NEEDS_OWN_SUMS | TRAINS,
    .default_text = "that of the framework; plain: off", .neutral = "off",
    .help = "on: gradients are reduced in buckets during each stage's last backward, as by "
            "--grad-sync eager with the framework's --bucket-size. off: they are reduced after "
            "it, in one piece.")
PP_ROW_INT(buckets, "K", 1, PP_MAX_BUCKETS, G_COMM, SHAPE | NEEDS_REPLICAS | NEEDS_OWN_SUMS | TRAINS,
    .default_text = "1", .neutral = "1",
    .help = "Cut each stage's gradient reduction into K equal buckets. If the reduction follows "
            "the stage's last backward, each bucket is launched as soon as its part of that "
            "backward is done.")
PP_ROW_TEXT(bucket_size, "BYTES", G_COMM, RUN | NEEDS_REPLICAS | NEEDS_OWN_SUMS | TRAINS,
    .help = "Size of a bucket, e.g. 25MB, in place of the number of buckets, which is at most 255.")
PP_ROW_FRAC(sync_share, "FRAC", G_COMM, RUN | NEEDS_REPLICAS | TRAINS, .default_text = "0", .neutral = "0",
    .help = "Share of a rank's compute that a running gradient reduction takes, e.g. 10%, in place "
            "of the framework's for --dp-overlap on (engine simgrid).")
PP_ROW_TEXT(p2p, "HOW", G_COMM, RUN | NEEDS_PEERS, .default_text = "rendezvous",
    .neutral = "rendezvous",
    .help = "rendezvous: a transfer starts when both sides have posted it. buffered:K: up to K "
            "messages of a channel may wait at the receiver; buffered:0 has no bound.")
PP_OPTIONS_RECEIVES(G_COMM, SHAPE | NEEDS_PEERS | NEEDS_MESSAGES)
PP_ROW_CHOICE(nic, "MODEL", "free|fifo", G_COMM, RUN | NEEDS_PEERS, .default_text = "free",
    .neutral = "free",
    .help = "free: channels do not slow each other down. fifo: one send at a time per rank (an "
            "approximation).")
PP_ROW_CHOICE(collectives, "HOW", "analytic|flows", G_COMM, RUN | NEEDS_REPLICAS | TRAINS,
    .default_text = "analytic", .neutral = "analytic",
    .help = "analytic: a gradient sum, scatter or gather is one cost. flows: it is simulated ring "
            "step by ring step.")
PP_ROW_CHOICE(collective_algorithm, "NAME", "auto|ring|tree|hierarchical", G_COMM,
    RUN | NEEDS_GROUPS, .default_text = "auto", .neutral = "auto",
    .help = "How collectives are priced. auto: as NCCL runs them, by pipelined rings, or by trees "
            "of nodes if their latency is less, with constants of the cluster. The others are "
            "textbook formulas: one ring over all members, trees, or rings inside nodes and then "
            "across nodes.")

PP_ROW_TEXT(unit, "COSTS", G_ENGINE, SHAPE | UNIT, .is_common = true,
    .help = "Abstract costs per chunk and micro-batch: F=1,B=2 or F=1,I=1,W=1[,C=0.1][,FB=2]. "
            "With --recompute, R is its price, such as R=1. Needs only --pp and --micro-batches, or "
            "a --preset that has them.")
PP_ROW_CHOICE(engine, "NAME", "simgrid|dag|simgrid-lmm", G_ENGINE, RUN | UNIT,
    .default_text = "simgrid; dag with --unit",
    .help = "simgrid: transfers share the links of the cluster, as in SimGrid's model CM02. dag: "
            "exact longest path without contention. simgrid-lmm: the times of simgrid, found by "
            "SimGrid itself; slow, to check them.")
PP_ROW_TEXT(cost, "FILE", G_ENGINE, STEPS | TRAINS,
    .help = "Measured durations from 'pipesim calibrate', in place of the analytic ones. Model, "
            "--mbs, tokens and precision are those of the measurement unless given. For --engine "
            "dag.")
PP_ROW_TEXT(constants, "FILE", G_ENGINE, RUN | VALIDATE,
    .help = "Constants fitted on measured steps by 'pipesim validate TABLE --refit -o FILE.json', "
            "in place of the built-in ones. Their framework is the default of --framework.")
PP_ROW_FLAG(no_fold, G_ENGINE, RUN,
    .help = "Simulate every data-parallel replica instead of one for all identical ones.")
PP_ROW_CHOICE(precision, "TYPE", "fp32|tf32|fp16|bf16|fp8|nvfp4", G_KERNELS, RUN,
    .default_text = "the device's usual one",
    .help =
        "Precision of training. It sets peak FLOP/s and the bytes of values and state. fp8, "
        "nvfp4: only the matrices of blocks, with their casts; everything else stays in 16 bits.")
PP_ROW_CHOICE(attention, "HOW", "fused|flash1|unfused", G_KERNELS, RUN,
    .default_text = "fused if the device has it",
    .help = "fused: scores stay on the chip (FlashAttention 2 and later). flash1: its slower first "
            "version. unfused: scores are stored, and separate kernels apply softmax and dropout.")
PP_ROW_CHOICE(sequence_parallel, "HOW", "on|off", G_KERNELS, RUN | NEEDS_TENSORS | TRAINS,
    .default_text = "on", .neutral = "on",
    .help = "on: the devices of a tensor-parallel group share the tokens of norms, dropout and "
            "residuals; reduce-scatters and all-gathers surround them. off: each device computes "
            "all tokens, after an all-reduce.")
PP_ROW_FRAC(tp_overlap, "FRAC", G_KERNELS, RUN | NEEDS_TENSORS | TRAINS, .default_text = "0", .neutral = "0",
    .help = "Share of tensor-parallel communication that matrix multiplications hide, e.g. 50%; "
            "at most their own time.")
PP_ROW_INT(tp_split, "N", 1, 16, G_KERNELS, RUN | NEEDS_TENSORS | TRAINS, .default_text = "1", .neutral = "1",
    .help = "Cut each block's work on a micro-batch into N parts by rows: the exchange of a part "
            "runs during the products of the next, which are smaller (Merak).")
PP_ROW_CHOICE(cuda_graphs, "HOW", "off|on", G_KERNELS, RUN, .default_text = "off", .neutral = "off",
    .help = "on: a CUDA graph launches the kernels of a layer, so the host's launches take no time.")
PP_ROW_CHOICE(flops, "RULE", "megatron|palm|causal", G_ENGINE, RUN, .default_text = "megatron",
    .help = "Formula of the model flops in MFU and HFU: see 'pipesim help mfu'.")
PP_ROW_FLAG(require_fit, G_ENGINE, REPORT | PLAN | OF_PLANNER,
    .help = "Exit 3 when the peak memory exceeds the device.")

PP_ROW_INT(skip_steps, "K", 0, BIG, G_COMPARE, COMPARE, .default_text = "0; the warm-up of a log",
    .help = "Leave out the first K measured steps, and K predicted ones if both traces have the "
            "same number of steps. Of a training log, leave out K lines.")
PP_ROW_FRAC(tolerance, "FRAC", G_COMPARE, COMPARE,
    .help = "Exit 5 when the error of the step, predicted / measured - 1, is larger in size, e.g. "
            "5%.")
PP_ROW_INT(worst, "N", 0, 1000, G_COMPARE, COMPARE, .default_text = "5",
    .help = "Number of events to print, those whose durations differ most.")
PP_ROW_FLAG(allow_different, G_COMPARE, COMPARE,
    .help = "Compare traces of different programs by the events that both have.")

PP_ROW_FLAG(refit, G_VALIDATE, VALIDATE,
    .help = "Fit the constants of devices and frameworks to the rows. Each family of rows is "
            "predicted with constants that were fitted without it.")
PP_ROW_FLAG(leave_layouts_out, G_VALIDATE, VALIDATE,
    .help = "Of each family, fit constants on 2 to 5 steps of a few layouts, predict the others, and "
            "print the errors before and after: evidence for --refit -o FILE.json.")
PP_ROW_AGAIN(FRAC, tolerance, "FRAC", G_VALIDATE, VALIDATE,
    .help = "Exit 5 when the median error of all rows is larger, e.g. 10%, or that of all rows that generate.")
PP_ROW_AGAIN(INT, worst, "N", G_VALIDATE, VALIDATE, .min = 0, .max = 1 << 20, .default_text = "10",
    .help = "Number of rows to print, those with the largest errors.")
PP_ROW_FLAG(template, G_VALIDATE, VALIDATE, .is_common = true,
    .help = "Print a table of measurements to fill, with comments and two examples.")
PP_ROW_TEXT(family, "NAME", G_VALIDATE, VALIDATE, .help = "Only the rows of one family.")
PP_ROW_TEXT(row, "ID", G_VALIDATE, VALIDATE,
    .help = "One row: its command line, the values that were concluded for it, and its errors. "
            "--explain adds where the errors come from.")

PP_ROW_AGAIN(FRAC, tolerance, "FRAC", G_CHECK, CHECK, .default_text = "0",
    .help = "Exit 5 when a figure has changed by more, e.g. 1%. Seconds of a rank and shares of "
            "the time are compared with the step, bytes with the peak, all other figures with "
            "themselves. Counts must be equal.")
PP_ROW_AGAIN(INT, worst, "N", G_CHECK, CHECK, .min = 0, .max = 1 << 20, .default_text = "20",
    .help = "Number of figures to print, those that have changed most.")
PP_ROW_TEXT(with, "NEW.csv", G_CHECK, CHECK,
    .help = "The new rows of a sweep, which are compared with those of the first file.")
PP_ROW_AGAIN(
    FLAG, update, NULL, G_CHECK, CHECK, .help = "Rewrite the reports if anything has changed, and exit 0.")

PP_ROW_CHOICE(to, "FORMAT", "goal|chakra|pytorch|pytorch-comms|pytorch-waits", G_EXPORT,
    EXPORT | UNIT, .is_common = true,
    .help = "goal: the text of LogGOPSim and others, in nanoseconds. chakra: execution traces of "
            "ASTRA-sim, a folder with a file for each rank. pytorch: the order of ops alone, as "
            "torch.distributed.pipelining loads it. pytorch-comms: ops with sends and receives. "
            "pytorch-waits: also with waits, sums and gathers, all that PyTorch 2.15 runs.")
PP_ROW_CHOICE(wires, "HOW", "network|fixed", G_EXPORT, EXPORT | UNIT, .default_text = "network",
    .help =
        "network: the reading engine computes the durations of messages. Gradient sums are rings, "
        "and all replicas are in the graph. Not for LogGOPSim itself. fixed: messages and collectives are tasks with the "
        "durations of this simulation, so that every engine must find the same step.")

PP_ROW_TEXT(hold_out, "SCHEDULE", G_CALIBRATE, CALIBRATE, .default_text = "the last other schedule",
    .help = "Leave the traces of this schedule out of the fit, and report how wrong the costs are "
            "on them. none: use all traces.")
PP_ROW_TEXT(nccl_tests, "LOG", G_CALIBRATE, CALIBRATE | CLUSTERS, .is_repeatable = true,
    .help = "Output of a program of nccl-tests: latency and bandwidth of all_reduce, all_gather, "
            "reduce_scatter, sendrecv or alltoall.")
PP_ROW_CHOICE(collective, "WHAT", "all_reduce|all_gather|reduce_scatter|sendrecv|alltoall",
    G_CALIBRATE, CALIBRATE | CLUSTERS, .default_text = "that of the log or of its name",
    .help = "The collective in logs of nccl-tests that do not name it.")
PP_ROW_FLAG(
    mixed_machines, G_CALIBRATE, CALIBRATE, .help = "Accept traces of different machines together.")
PP_ROW_AGAIN(STRING, model, "NAME|FILE", G_CALIBRATE, CALIBRATE, .offered = pp_model_name,
    .default_text = "tiny",
    .help = "The model that ran, for traces in CSV and of PyTorch, which do not name it.")
PP_ROW_AGAIN(INT, mbs, "B", G_CALIBRATE, CALIBRATE, .min = 1, .max = BIG,
    .help = "Samples per micro-batch of a PyTorch run.")
PP_ROW_AGAIN(CHOICE, precision, "NAME", G_CALIBRATE, CALIBRATE, .choices = "bf16|fp32",
    .default_text = "bf16", .help = "Precision of a PyTorch run.")
PP_ROW_AGAIN(INT, seq, "TOKENS", G_CALIBRATE, CALIBRATE, .min = 1, .max = 1 << 24,
    .default_text = "the model's", .help = "Tokens per sample, for traces in CSV and of PyTorch.")
PP_ROW_AGAIN(LONG, seed, "S", G_CALIBRATE, CALIBRATE, .min = 0, .max = INT64_MAX,
    .default_text = "0",
    .help = "Seed of the random draws for the error band of a tested prediction.")

PP_ROW_TEXT(free, "LIST", G_PLAN, PLAN | OF_PLANNER, .is_common = true,
    .default_text = "all but modules, shard and those given as options",
    .help = "Options to choose, with commas: cp, ep, mbs, modules (all sets for selective "
            "recomputation), pp, recompute, schedule, tp, vp, zero (0 or 1). shard, alone or with "
            "recompute, tries all legal meshes for parameters, gradients and optimizer state of "
            "one layout. So do offload (homes of state, on the host or nvme, updated there), "
            "act-bits (none or 8), gather (a layer, 32 to 256 MiB) and cache (1 or auto), "
            "of one layout or of all.")
PP_ROW_TEXT(largest, "LO:HI[:+K]", G_PLAN, PLAN | OF_PLANNER,
    .help = "The most layers, of LO to HI in steps of K, with which one layout fits by any choice "
            "of --free, which may be left out. Other dimensions of the model are as given.")
PP_ROW_FLAG(exhaustive, G_PLAN, PLAN | OF_PLANNER,
    .help = "Simulate every layout, even those that bounds rule out.")
PP_ROW_CHOICE(objective, "WHAT", "step|comm|throughput|latency|first-token", G_PLAN, PLAN | OF_PLANNER,
    .default_text = "step; throughput with --mode infer",
    .help = "step: the simulated step. comm: the closed form of communication time without "
            "overlap (AMSP). With --mode infer: most tokens/s of a device, least time a token, or "
            "least time to the first one.")
PP_ROW_INT(top, "N", 1, BIG, G_PLAN, PLAN | OF_PLANNER, .default_text = "10",
    .help = "Number of choices to print.")

PP_ROW_TEXT(part, "I/N", G_SWEEP, SWEEP, .default_text = "that of the launcher, else all",
    .help = "Compute part I of N only, 1/N to N/N: points I, I+N, I+2N ... all: every point, even "
            "under a launcher.")
PP_ROW_INT(jobs, "N", 1, 4096, G_SWEEP, SWEEP | PLAN | OF_PLANNER, .aliases = PP_NAMES("j"),
    .default_text = "one for each core", .help = "Points to compute concurrently.")
PP_ROW_FLAG(
    fresh, G_SWEEP, SWEEP, .help = "Compute all points again, even those that the file has.")
PP_ROW_FLAG(merge, G_SWEEP, SWEEP,
    .help = "Merge the files of parts, given as operands, in the order of points.")

#include "sim/cli/rows_plot.h"

PP_ROW_FLAG(json, G_OUTPUT, REPORT | COMPARE | VALIDATE | PLAN | CHECK | LISTS | UNIT,
    .is_common = true, .help = "One JSON object on stdout.")
PP_ROW_AGAIN(FLAG, json, NULL, G_OUTPUT, SWEEP | UNIT, .is_common = true,
    .help = "A JSON object for each row, one a line, in place of CSV. Members are the columns.")
PP_ROW_FLAG(
    gantt, G_OUTPUT, REPORT | UNIT, .is_common = true, .help = "Draw the step in the terminal.")
PP_ROW_FLAG(explain, G_OUTPUT, REPORT | VALIDATE | UNIT, .is_common = true,
    .help = "Explain where each number comes from.")
PP_ROW_TEXT(trace, "FILE", G_OUTPUT, REPORT | UNIT,
    .help = "Write the events as .csv, .json (Perfetto) or .paje (ViTE, pajeng); .gz compresses.")
PP_ROW_TEXT(plot, "FILE", G_OUTPUT, REPORT | UNIT,
    .help = "Draw the run as a picture (.png, .pdf, .svg, .tex) or as a gnuplot script (.gp). "
            "none draws in the terminal.")
PP_ROW_CHOICE(plot_kind, "KIND", "timeline|memory|memory-time|memory-tiers|links", G_OUTPUT, REPORT | UNIT,
    .default_text = "timeline",
    .help = "What --plot draws. timeline: ops of each rank over time, for up to 6 schedules. "
            "memory: bytes of each rank or schedule by component. memory-time: bytes that each "
            "rank holds over time. memory-tiers: the same of the fullest rank, tier by tier. "
            "links: use of links over time.")
PP_ROW_TEXT(html, "FILE", G_OUTPUT, REPORT | COMPARE | PLAN | UNIT,
    .help = "Write the report as one self-contained page with a zoomable timeline. - writes the "
            "page to stdout in place of the text report.")
PP_ROW_TEXT(emit, "FRAMEWORK", G_OUTPUT, REPORT | PLAN | TRAINS, .is_common = true,
    .name_of = emit_tool_name,
    .help = "Print the run, or the best choice of a plan, as a configuration of a training "
            "framework, in place of the report. A run with -o FILE prints the report, too.")
PP_ROW_FLAG(no_alternatives, G_OUTPUT, REPORT | UNIT,
    .help = "Do not simulate the other schedules for comparison.")
PP_ROW_FLAG(compute, G_OUTPUT, PROGRAM, .help = "Compute ops only, the form that PyTorch loads.")
PP_ROW_TEXT(output, "FILE", G_OUTPUT, PROGRAM | SWEEP | EXPORT | UNIT,
    .help = "Write to a file instead of stdout.")
PP_ROW_AGAIN(STRING, output, "FILE", G_OUTPUT, PLAN | UNIT,
    .help = "Also write every layout or choice with its result as CSV. - writes the CSV to stdout "
            "in place of the report.")
PP_ROW_AGAIN(STRING, output, "FILE", G_OUTPUT, REPORT | UNIT,
    .help = "Write the configuration of --emit to a file; the report goes to stdout.")
PP_ROW_AGAIN(STRING, output, "FILE", G_OUTPUT, PLOT,
    .help = "A picture (.png, .pdf, .svg, .tex) or a gnuplot script (.gp). none draws in the "
            "terminal.")
PP_ROW_FLAG(markdown, G_OUTPUT, 1 << PP_CMD_SCHEDULES,
    .help = "Print the page docs/schedules.md, with pictures.")
PP_ROW_AGAIN(
    STRING, output, "FILE", G_OUTPUT, VALIDATE, .help = "Also write the rows to a CSV file.")
PP_ROW_AGAIN(FLAG, markdown, NULL, G_OUTPUT, VALIDATE, .help = "Print the page docs/accuracy.md.")
PP_ROW_AGAIN(STRING, output, "FILE", G_OUTPUT, CALIBRATE,
    .help = "Write the costs, for --cost of a run. - writes them to stdout in place of the report.")
PP_ROW_AGAIN(STRING, output, "FILE", G_OUTPUT, CLUSTERS,
    .help = "Write the cluster that --topo and --nccl-tests describe: as a SimGrid platform if "
            "the name ends in .xml, else as text.")
PP_ROW_FLAG(xml, G_OUTPUT, 1 << PP_CMD_CLUSTERS,
    .help = "Print the cluster as a SimGrid platform, for --gpus N devices.")
PP_ROW_FLAG(quiet, G_OUTPUT, REPORT | UNIT,
    .help = "Print no report: only files that are asked for, and the exit code.")
PP_ROW_CHOICE(color, "WHEN", "auto|always|never", G_OUTPUT, REPORT | LISTS | UNIT,
    .default_text = "auto", .help = "Colour. NO_COLOR and pipes switch it off.")
/* clang-format on */

#undef PP_ROW
#undef PP_ROW_AGAIN
