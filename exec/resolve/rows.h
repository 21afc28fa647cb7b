/* exec/resolve/rows.h — the options of pipeexec, one row each, for wish.h and exec/cli.c. */
/* clang-format off */
PP_ROW_TEXT(schedule, "NAME|FILE", G_SCHEDULE, RUN, .is_common = true,
    .aliases = PP_SCHEDULE_ALIASES, .offered = pp_schedule_name, .default_text = "1f1b",
    .help = "A schedule or a program file. 'pipesim schedules' names the schedules. A file ends "
            "in .csv or has a / in its name. '!COMMAND' prints a program. Words such as {pp}, {vp} "
            "and {micro_batches} in a command or file name are filled.")
PP_ROW_AGAIN(STRING, schedule, "FILE", G_SCHEDULE, GENERATE,
    .aliases = PP_SCHEDULE_ALIASES, .default_text = "generate",
    .help = "A program whose head states its passes, as 'pipesim program --mode infer' prints it. "
            "It has its own ranks, groups and tokens.")
PP_OPTIONS_MICRO_BATCHES(G_SCHEDULE, RUN, "8, or the next above that the schedule accepts")
PP_OPTIONS_SHAPE(G_SCHEDULE, RUN)
PP_OPTIONS_DIALECT(G_SCHEDULE, BOTH)
PP_ROW_TEXT(recompute, "HOW", G_SCHEDULE, RUN,
    .aliases = PP_NAMES("recompute-granularity", "recompute-modules"), .default_text = "none",
    .words_name = "recompute-modules", .words_of = "selective",
    .help = "What is computed again before each backward, instead of saved. full: stages, from "
            "their input. selective, or selective=MODULES with + between them: core_attn (the "
            "default), layernorm, act, mlp of each block. --recompute-modules takes them as words. stage-aware=R: the share R of the first "
            "stage's blocks, and less of later ones. Words may follow a comma: late (it waits for "
            "the gradient of its backward), early (it does not, the default), skip (none where a "
            "backward follows its own forward at once, as on the last rank of 1f1b).")
PP_OPTIONS_GRAD_SYNC(G_SCHEDULE, RUN)
PP_ROW_INT(zero, "STAGE", 0, 3, G_SCHEDULE, RUN, .default_text = "0",
    .help = "ZeRO stage. 1: the replicas of a stage shard its optimizer state. Gradients are "
            "reduce-scattered, each replica updates its share of the weights, and the weights are "
            "all-gathered. 2: they also shard the gradients, which are scattered after every "
            "backward. 3: they also shard the parameters, which are gathered before each use.")
PP_ROW_TEXT(shard, "CLASS=A,...", G_SCHEDULE, RUN,
    .help = "Shard p (parameters), g (gradients) and os (optimizer state) over A copies of a stage "
            "each, instead of all, such as p=2,g=2,os=2. Groups of A copies sum their shares at the "
            "end of a step. A class that is left out is sharded like the class before it; p is "
            "then not sharded.")
PP_ROW_CHOICE(gather, "UNIT", "layer|chunk", G_SCHEDULE, RUN, .default_text = "chunk",
    .help = "Parameters that are gathered, or loaded from another tier, at once: all layers of a "
            "chunk, or one layer.")
PP_ROW_INT(gather_buffers, "K", 1, 1024, G_SCHEDULE, RUN, .default_text = "2",
    .help = "Buffers for gathered or loaded parameters, one chunk or layer each. 1: nothing is "
            "prefetched. "
            "K: the next K - 1 are prefetched while one is used. Scattered gradients, too.")
PP_OPTIONS_RECEIVES(G_SCHEDULE, BOTH)

PP_ROW_TEXT(offload, "CLASS=TIER,...", G_TIERS, RUN,
    .help = "Keep p (parameters), g (gradients), os (optimizer state) or a (saved activations) on "
            "another memory tier, host or nvme, such as p,g,os=nvme,a=host: a class without a tier "
            "takes that of the next one. a=host:40% moves a share. Parameters come to the device chunk by chunk, gradients "
            "leave it, activations leave it after their forward and return before their backward.")
PP_ROW_AGAIN(STRING, offload, "CLASS=TIER,...", G_TIERS, GENERATE,
    .help = "Only simulated: p (parameters) or kv (keys and values) on another memory tier, as in "
            "pipesim --mode infer --offload p=host,kv=host.")
PP_ROW_FLAG(cpu_optimizer, G_TIERS, RUN,
    .help = "The processors of the host update the optimizer state that --offload os= keeps there. "
            "Gradients leave the device, updated parameters return.")
PP_ROW_CHOICE(offload_unit, "UNIT", "op|layer", G_TIERS, RUN, .default_text = "op",
    .help = "op: what a forward saves leaves once it has ended, with --offload a=. layer is only "
            "simulated")
PP_ROW_CHOICE(sum, "WHERE", "device|host", G_TIERS, RUN, .default_text = "device",
    .help = "Where gradients add up that --offload g= keeps elsewhere. device: what earlier "
            "micro-batches have left comes up again before each backward, so no bit changes. host: "
            "its processors add what comes down, which rounds once more.")
PP_ROW_CHOICE(update, "WHEN", "end|jit", G_TIERS, RUN, .default_text = "end",
    .help = "When --cpu-optimizer updates. end: when the step of its rank ends. jit: each stage "
            "once its gradients are on the host, while other stages go backward.")
PP_ROW_TEXT(update_bucket, "PARAMSxK", G_TIERS, RUN, .default_text = "16e6x3",
    .help = "Buckets in which state on another tier streams through an update: their parameters, "
            "and how many have room at once.")
PP_ROW_INT(cache, "R", 1, 65536, G_TIERS, RUN, .default_text = "1",
    .help = "Chunks, or layers with --gather layer, whose parameters a device keeps between their "
            "uses, the one in use included. What is there is neither loaded nor gathered.")
PP_ROW_CHOICE(evict, "POLICY", "belady|lru|fifo", G_TIERS, RUN, .default_text = "belady",
    .help = "What leaves a full --cache: that with the farthest next use, the least recently used, "
            "or what came first.")
PP_ROW_FLAG(grads_in_params, G_TIERS, RUN,
    .help = "Only simulated: 16-bit gradients are written over their parameters once a chunk has "
            "gone backward. Gradients of pipeexec are summed in fp32.")
PP_ROW_CHOICE(act_bits, "BITS", "2|4|8", G_TIERS, RUN,
    .help = "Store saved activations in this many bits until their backward, with a scale and a "
            "minimum for each 128 values.")
PP_ROW_TEXT(nvme, "DIR", G_TIERS, RUN,
    .help = "Folder of the tier nvme. Each rank has a file there, which no other process sees and "
            "which is gone when the run ends.")
PP_ROW_TEXT(device_memory, "BYTES", G_TIERS, RUN, .default_text = "what there is",
    .help = "Cap on the memory of each rank's device, such as 53MB. A run that needs more ends "
            "before it begins, and says what would help.")
PP_ROW_TEXT(host_memory, "BYTES", G_TIERS, RUN, .default_text = "what there is",
    .help = "Cap on the host memory of each rank, likewise.")
PP_ROW_TEXT(tier, "TEXT", G_TIERS, RUN, .default_text = "host:10GBps nvme:2GBps",
    .help = "Rates of the memory tiers on the virtual clock, each way.")

PP_ROW_INT(gpus, "N", 1, BIG, G_LAYOUT, BOTH, .aliases = PP_NAMES("world-size"),
    .help = "Total number of workers, tp * pp * dp, in place of --dp. On CPUs they are no GPUs.")
PP_ROW_INT(np, "P", 1, 1024, G_LAYOUT, RUN, .is_common = true,
    .aliases = PP_NAMES(
        "n", "pp", "pipeline-model-parallel-size", "parallelism.pipeline_parallel_degree"),
    .default_text = "4", .help = "Pipeline ranks. P * D workers run concurrently.")
PP_ROW_AGAIN(INT, np, "P", G_LAYOUT, GENERATE, .min = 1, .max = 1024,
    .aliases = PP_NAMES(
        "n", "pp", "pipeline-model-parallel-size", "parallelism.pipeline_parallel_degree"),
    .default_text = "1", .help = "Pipeline ranks.")
PP_ROW_INT(tp, "T", 1, 64, G_LAYOUT, BOTH,
    .aliases = PP_NAMES("tensor-model-parallel-size", "parallelism.tensor_parallel_degree"),
    .default_text = "1",
    .help = "Tensor-parallel degree: T workers share the heads and the feed-forward layer of each "
            "block, and add up their parts. P * T * D workers run concurrently.")
PP_ROW_CHOICE(sequence_parallel, "HOW", "on|off", G_LAYOUT, RUN, .default_text = "off",
    .help = "on: the workers of a tensor-parallel group share the tokens of norms and residuals. "
            "They scatter and gather them around each matrix. off: each computes all tokens.")
PP_ROW_INT(tp_split, "N", 1, 16, G_LAYOUT, RUN, .default_text = "1",
    .help = "Cut the multiplications whose results a tensor-parallel group adds up into N parts by "
            "rows: a part is added up while the next is computed, on the virtual clock.")
PP_ROW_INT(cp, "C", 1, BIG, G_LAYOUT, RUN,
    .aliases = PP_NAMES("context-parallel-size", "parallelism.context_parallel_degree"),
    .default_text = "1", .help = "Context-parallel degree. Only 1 can be executed.")
PP_OPTIONS_VP(G_LAYOUT, RUN)
PP_OPTIONS_DP(G_LAYOUT, BOTH)
PP_OPTIONS_MBS(G_LAYOUT, RUN, "4")
PP_OPTIONS_GBS(G_LAYOUT, RUN)
PP_OPTIONS_SEQ(G_LAYOUT, RUN)
PP_ROW_INT(ep, "E", 1, 65536, G_LAYOUT, RUN,
    .aliases = PP_NAMES("expert-model-parallel-size", "parallelism.expert_parallel_degree"),
    .default_text = "1",
    .help = "Expert-parallel degree: number of workers that share the experts of a block. Each has "
            "1 / E of them, and rows of tokens go to the replica that has their expert. Divides "
            "experts and tp / etp * dp.")
PP_ROW_INT(etp, "T", 1, 64, G_LAYOUT, RUN,
    .aliases = PP_NAMES("expert-tensor-parallel-size", "parallelism.expert_tensor_parallel_degree"),
    .default_text = "tp, or less if --ep needs it",
    .help = "Tensor-parallel degree of experts; divides tp.")

PP_ROW_TEXT(model, "NAME|FILE|DIR", G_MODEL, RUN, .is_common = true, .offered = pp_model_name,
    .default_text = "tiny",
    .help = "A preset, a Hugging Face config.json, or its folder. Families gpt2, llama, mistral, "
            "mixtral, qwen2, qwen3, qwen3_moe, gemma, gpt_neox, opt and bert can be trained. "
            "'pipesim models' names the presets. Training starts from the weights of a folder with "
            "model.safetensors, or with its shards and their index.")
PP_ROW_AGAIN(STRING, model, "NAME|FILE|DIR", G_MODEL, GENERATE, .offered = pp_model_name,
    .default_text = "tiny",
    .help = "A preset, a Hugging Face config.json, or its folder, whose weights are taken. Families "
            "gpt2, llama, mistral, mixtral, qwen2, qwen3, qwen3_moe, gemma, gpt_neox and opt "
            "generate. Without --resume and a folder, weights are drawn.")
PP_OPTIONS_DIMENSIONS(G_MODEL, BOTH)
PP_OPTIONS_EXPERTS(G_MODEL, BOTH)
PP_ROW_FRAC(capacity_factor, "X", G_MODEL, BOTH, .aliases = PP_NAMES("moe-expert-capacity-factor"),
    .default_text = "no limit", .kind = "a number above 0, at most 16, such as 1.25",
    .help = "Tokens of a sample that an expert takes at most, over its share of evenly spread "
            "tokens. Later ones pass it by: only the shared expert and the residual have them.")
PP_ROW_FRAC(balance_loss, "X", G_MODEL, RUN,
    .aliases = PP_NAMES("moe-aux-loss-coeff", "router-aux-loss-coef"),
    .default_text = "that of config.json, or 0", .kind = "a number from 0, such as 0.01",
    .help = "Factor of the loss of balance, which evenly used experts make least. It is added to that "
            "of the words, as transformers does with output_router_logits.")
PP_ROW_TEXT(data, "FILE", G_MODEL, RUN, .aliases = PP_NAMES("data-path"), .is_common = true,
    .default_text = "a built-in text",
    .help = "The text or tokens to train on. Shards may be a folder, a pattern such as "
            "'DIR/train_*.bin', or a list with commas. --tokens names the formats.")
PP_ROW_CHOICE(tokens, "FORMAT", "auto|bytes|u16|megatron", G_MODEL, RUN, .default_text = "auto",
    .help = "Format of --data. bytes: each byte is a token. u16: shards of 16-bit tokens (.bin), "
            "as llm.c writes them. megatron: an indexed dataset, PREFIX.bin and PREFIX.idx. auto: "
            "what the files say by name or first bytes.")
PP_ROW_TEXT(valid_data, "FILE", G_MODEL, RUN,
    .help = "Compute the loss of this text or these tokens, too, without training on them. "
            "--tokens and --tokenizer read them as --data.")
PP_ROW_INT(valid_every, "K", 1, BIG, G_MODEL, RUN, .aliases = PP_NAMES("eval-interval"),
    .default_text = "only after the last step",
    .help = "Steps from one loss of --valid-data to the next.")
PP_ROW_INT(valid_steps, "M", 1, BIG, G_MODEL, RUN, .aliases = PP_NAMES("eval-iters"),
    .default_text = "10, or as many as the data have samples for",
    .help = "Compute it on the first samples of M steps, as they lie.")
PP_ROW_CHOICE(shuffle, "on|off|draw", "draw|on|off", G_MODEL, RUN,
    .default_text = "on for indexed data, else draw",
    .help = "Order of samples. on: each sample of the data once an epoch, in a random order that "
            "--seed and the epoch give. off: once an epoch, as they lie. draw: each at a random "
            "position, whatever was read before.")
PP_ROW_TEXT(tokenizer, "DIR|FILE", G_MODEL, RUN, .aliases = PP_NAMES("tokenizer-model"),
    .help = "Read --data as text and encode it with a byte-pair tokenizer like GPT-2's: a folder, "
            "tokenizer.json or VOCAB:MERGES.")
PP_ROW_AGAIN(STRING, tokenizer, "DIR|FILE", G_MODEL, GENERATE,
    .aliases = PP_NAMES("tokenizer-model"),
    .default_text = "that of the checkpoint or the folder of --model; else bytes are tokens",
    .help = "Encode prompts and decode text with a byte-pair tokenizer like GPT-2's: a folder, "
            "tokenizer.json or VOCAB:MERGES.")

PP_ROW_TEXT(prompt, "TEXT", G_GENERATE, GENERATE,
    .default_text = "'The '", .is_repeatable = true,
    .help = "The text to continue. All sequences have it; given several times, sequences have them "
            "in turn. All have equally many tokens. - reads standard input. The first text is "
            "printed; --json has all.")
PP_ROW_TEXT(prompt_file, "FILE", G_GENERATE, GENERATE,
    .help = "A prompt a line, for the sequences in turn. - reads standard input. The first text is "
            "printed; --json has all.")
PP_ROW_INT(batch, "B", 1, BIG, G_GENERATE, GENERATE,
    .default_text = "as many as prompts, or as --groups",
    .help = "Sequences of each replica.")
PP_ROW_INT(groups, "N", 1, BIG, G_GENERATE, GENERATE,
    .default_text = "ranks, if they divide the batch; else the next lower divisor",
    .help = "Groups of sequences, which follow one another through the pipeline. Divides the "
            "batch.")
PP_ROW_INT(prompt_groups, "NP", 1, BIG, G_GENERATE, GENERATE, .default_text = "as --groups",
    .help = "Pieces in which the first pass reads the prompts: a multiple of the groups that "
            "divides the batch.")
PP_ROW_AGAIN(INT, tokens, "T", G_GENERATE, GENERATE, .min = 1, .max = BIG,
    .default_text = "64, or as many as there are positions for",
    .help = "Tokens to generate for each sequence.")
PP_ROW_TEXT(sampling, "HOW", G_GENERATE, GENERATE, .default_text = "greedy",
    .help = "greedy: the most probable token, of equals the lowest. top-p=P: a random one of the "
            "most probable tokens that have the share P together (0 < P <= 1). What is drawn "
            "depends on --seed, sequence and position alone.")
PP_ROW_COUNT(temperature, "X", G_GENERATE, GENERATE, .kind = "a number above 0, such as 0.8",
    .default_text = "1", .help = "Divide the logits by this before top-p draws.")
PP_ROW_AGAIN(LONG, seed, "S", G_GENERATE, GENERATE, .min = 0, .max = INT64_MAX,
    .default_text = "0", .help = "Seed of what is drawn, and of weights that no file has.")

PP_ROW_INT(steps, "K", 1, BIG, G_RECIPE, RUN, .is_common = true,
    .aliases = PP_NAMES("iters", "train-iters", "training.steps"), .default_text = "20",
    .help = "Training steps.")
PP_ROW_COUNT(lr, "X", G_RECIPE, RUN, .kind = "a number from 0, such as 1e-3", .default_text = "1e-3",
    .help = "Learning rate of AdamW.")
PP_ROW_COUNT(min_lr, "X", G_RECIPE, RUN, .kind = "a number from 0, such as 1e-4",
    .default_text = "a tenth of --lr",
    .help = "Learning rate of the last step, at the end of a cosine.")
PP_ROW_INT(lr_warmup, "K", 0, BIG, G_RECIPE, RUN, .aliases = PP_NAMES("lr-warmup-iters"),
    .default_text = "0",
    .help = "Steps during which the learning rate rises from 0.")
PP_ROW_COUNT(weight_decay, "X", G_RECIPE, RUN, .kind = "a number from 0, such as 0.1",
    .default_text = "0.1", .help = "Decoupled weight decay, of matrices only.")
PP_ROW_COUNT(clip, "NORM", G_RECIPE, RUN, .aliases = PP_NAMES("clip-grad", "training.max_norm"),
    .kind = "a number from 0, such as 1.0", .default_text = "0: no clipping",
    .help = "Clip the gradients to this global norm; all ranks synchronize before the update.")
PP_ROW_LONG(seed, "S", 0, INT64_MAX, G_RECIPE, RUN, .default_text = "0",
    .help = "Seed of the weights, of the samples, and of the orders that backend fake draws.")
PP_ROW_CHOICE(precision, "TYPE", "fp32|double|bf16", G_RECIPE, RUN, .default_text = "fp32",
    .help = "double: plain reference kernels, about a hundred times slower. bf16: activations and "
            "weights in bfloat16; gradients, optimizer state and master weights in fp32.")
PP_ROW_AGAIN(CHOICE, precision, "TYPE", G_GENERATE, GENERATE, .choices = "fp32|double|bf16",
    .default_text = "fp32",
    .help = "Type of weights, activations, keys and values. double: plain reference kernels, about "
            "a hundred times slower.")

PP_ROW_CHOICE(backend, "NAME", "cpu|cuda|fake", G_MACHINE, BOTH, .aliases = PP_NAMES("device"),
    .meant = PP_NAMES("gpu", "cuda"),
    .default_text = "cpu",
    .help = "Where work runs. cuda: each rank on a GPU of its own if as many are visible, else all "
            "on the first. With --transport ipc+nccl, ipc or nccl each rank is a process, and the "
            "processes take the GPUs of their host in turn. "
            "fake: on the CPU, in the worst order that the events of the program allow.")
PP_ROW_CHOICE(device_mode, "MODE", "serial|streams|partition", G_MACHINE, BOTH,
    .default_text = "serial; streams if ranks are processes",
    .help = "How ranks share a GPU. serial: one op at a time, so that each op takes as long as it "
            "would alone. streams: each rank, channel and sum has its own CUDA stream, and ops "
            "overlap as the program allows. partition: as streams, and each rank has its own "
            "multiprocessors (CUDA 12.5).")
PP_ROW_CHOICE(weight_grad_stream, "on|off", "off|on", G_MACHINE, RUN, .default_text = "off",
    .help = "on: each rank computes its W on a separate stream, which takes the part of the GPU "
            "that F, I and B leave (--device-mode streams or partition; --backend fake).")
PP_ROW_CHOICE(cuda_graphs, "on|off", "on|off", G_MACHINE, RUN, .default_text = "on",
    .help = "With --backend cuda: launch each op that is the same in every step as one CUDA graph "
            "instead of kernel by kernel, after the first step.")
PP_ROW_CHOICE(transport, "NAME", "local|shm|tcp|nccl|ipc|ipc+nccl", G_MACHINE, BOTH,
    .meant = PP_NAMES("nccl+ipc", "ipc+nccl", "cuda", "nccl", "gloo", "tcp", "mpi", "tcp"),
    .default_text = "local; under a launcher tcp, or with --backend cuda the first of ipc+nccl, ipc "
                    "and nccl that all processes can use, as without a launcher if each rank can "
                    "have a GPU and --device-mode is not given",
    .help =
        "Where ranks run and how they communicate. local: threads of one process. shm: processes "
        "of this machine with shared memory. tcp: processes on any hosts, which torchrun, srun, "
        "mpirun or pipeexec itself starts. nccl: such processes with --backend cuda, each with "
        "its own GPU or sharing GPUs; NCCL carries messages and gradient sums. ipc: processes of "
        "one host that map each other's GPU memory and copy directly. ipc+nccl: messages by ipc, "
        "gradient sums by nccl.")
PP_ROW_TEXT(rendezvous, "WHERE", G_MACHINE, BOTH, .default_text = "that of the launcher",
    .help = "Where processes meet that a launcher or you (with RANK and WORLD_SIZE) have started. "
            "file://PATH: a file that all processes see; the first process writes its address "
            "there. tcp://HOST:PORT: the address of the first process. Append "
            "?rank=R&world_size=N without these variables, and ?timeout=S to replace 60 s.")
PP_ROW_CHOICE(clock, "CLOCK", "virtual|wall", G_MACHINE, BOTH, .is_common = true,
    .default_text =
        "virtual; wall with --device-mode streams or partition, and on GPUs if ranks are processes",
    .help = "How time is measured. virtual: each rank's clock advances by the time of its ops on "
            "a core or the GPU and by waiting for other ranks, as if each rank had its own device "
            "and links. wall: elapsed time.")
PP_ROW_INT(cores, "K", 1, 4096, G_MACHINE, BOTH, .default_text = "those of the machine",
    .help = "Compute ops that run concurrently, on the virtual clock of CPUs.")
PP_ROW_INT(timeout, "S", 0, BIG, G_MACHINE, BOTH, .default_text = "600",
    .help = "Seconds without progress of any rank after which the run ends and prints which rank "
            "waits for what. Processes also end if they hear nothing of the first one for as long. "
            "0: never.")
PP_ROW_TEXT(inject, "TEXT", G_MACHINE, RUN, .is_repeatable = true,
    .help = "Inject a fault before an op of a rank's list: 'kill rank:1 op:5 step:2', or hang, "
            "freeze, stop, drop or jump instead of kill. With --nvme also flip, short, eio or "
            "full. 'slow:1=0.5' and 'link-bw:0-1=0.1' are "
            "--slow and --link-bw.")
PP_ROW_AGAIN(STRING, inject, "TEXT", G_MACHINE, GENERATE, .is_repeatable = true,
    .help = "Inject a fault before an op of a rank's list: 'kill rank:1 op:5', or hang, freeze, "
            "stop, drop or jump instead of kill. spoil changes the sign of a number in the rank's "
            "cache, which --check finds.")
PP_ROW_TEXT(cluster, "NAME", G_MACHINE, BOTH,
    .help = "The cluster of a command of pipesim. It changes nothing: a run measures the machine "
            "that it is on.")
PP_ROW_TEXT(link, "TEXT", G_MACHINE, BOTH, .default_text = "latency:10us bandwidth:10GBps",
    .help = "The links of the virtual clock, for messages and gradient sums.")
PP_ROW_TEXT(slow, "RANK=FACTOR", G_WHATIF, RUN, .is_repeatable = true,
    .help = "Scale the compute speed of a pipeline rank in every replica (3=0.8), or in one "
            "replica (3.0=0.8). On the virtual clock its ops take longer; on the wall clock it "
            "sleeps after them.")
PP_ROW_TEXT(link_bw, "A-B=FACTOR", G_WHATIF, RUN, .is_repeatable = true,
    .help = "Scale the bandwidth of the link from rank A to rank B on the virtual clock: 0-1=0.1, "
            "*-3=0.5. * stands for any characters.")
PP_ROW_TEXT(unit, "COSTS", G_WHATIF, RUN,
    .help = "Seconds of ops and messages on the virtual clock, in place of measured ones: F=1,B=2 "
            "or F=1,I=1,W=1[,C=0.1][,FB=2.5][,R=1], as in pipesim; without R, --recompute takes F. The computation does not change.")

PP_ROW_FLAG(check, G_CHECK, RUN, .is_common = true,
    .help = "Compare the gradients of every step, and the weights at the end, with training on "
            "one rank. Without it, only the gradients of the first step are compared.")
PP_ROW_AGAIN(FLAG, check, NULL, G_CHECK, GENERATE,
    .help = "Compare tokens and logits with those of one rank, to the bit, and with those of a "
            "model that reads all tokens again for each.")
PP_ROW_FLAG(no_check, G_CHECK, RUN, .help = "Compare nothing, and do not measure memory.")
PP_ROW_FLAG(exact_grad, G_CHECK, RUN, .is_common = true,
    .help = "Add gradients in fixed point, so that the order of additions does not change any bit.")
PP_ROW_INT(warmup, "K", 1, BIG, G_CHECK, RUN, .default_text = "2",
    .help = "Steps after the first whose durations make the prediction. The figures cover the "
            "steps after these.")
PP_ROW_TEXT(calibrate_on, "SCHEDULE", G_CHECK, RUN,
    .help =
        "Predict from durations that are measured under another schedule, whose steps run first.")
PP_ROW_INT(calibrate_tp, "T", 1, 64, G_CHECK, RUN, .default_text = "that of --tp",
    .help = "Tensor-parallel degree of the calibrating steps. Profiles of micro-batches say how layers "
            "of both layouts differ.")
PP_ROW_INT(calibrate_ep, "E", 1, 65536, G_CHECK, RUN, .default_text = "that of --ep",
    .help = "Expert-parallel degree of the calibrating steps, likewise.")

PP_ROW_TEXT(save, "DIR", G_STATE, RUN,
    .help = "Write the trained model into this new folder at the end: config.json and weights in "
            "safetensors, as Hugging Face's transformers loads them. Numbers have the types of "
            "the weights of --model, or fp32. If the gradient check fails, the folder is DIR.differs.")
PP_ROW_TEXT(max_shard_size, "SIZE", G_STATE, RUN, .default_text = "5GB",
    .help = "Cut the weights of --save into files of at most so many bytes, with an index. A larger "
            "tensor has a file of its own.")
PP_ROW_TEXT(checkpoint, "DIR", G_STATE, RUN,
    .help = "Write the state of the training into this folder at the end, and at every "
            "--checkpoint-every steps. The folder and its parents are made if they are missing.")
PP_ROW_INT(checkpoint_every, "K", 1, BIG, G_STATE, RUN, .aliases = PP_NAMES("save-interval"),
    .help = "Steps from one checkpoint to the next.")
PP_ROW_FLAG(checkpoint_sync, G_STATE, RUN,
    .help = "Wait until a checkpoint is on the disk. Otherwise it is written while the next step "
            "runs, from a copy of the state in host memory. A run that fails in that step may lose "
            "this checkpoint.")
PP_ROW_INT(checkpoint_keep, "K", 1, BIG, G_STATE, RUN, .default_text = "2",
    .help = "Number of checkpoints to keep, the newest ones.")
PP_ROW_TEXT(resume, "DIR", G_STATE, RUN, .aliases = PP_NAMES("load"),
    .help = "Continue from the newest checkpoint in this folder, or from a given checkpoint, with "
            "any schedule, ranks and replicas. Model, data, recipe, samples per step and --steps "
            "are those of the checkpoint unless given.")
PP_ROW_AGAIN(STRING, resume, "DIR", G_STATE, GENERATE, .aliases = PP_NAMES("load"),
    .help = "Take model and weights of the newest checkpoint in this folder, or of a given "
            "checkpoint, whatever ranks and replicas wrote it.")

PP_ROW_FLAG(json, G_OUTPUT, BOTH, .is_common = true, .help = "One JSON object on stdout.")
PP_ROW_TEXT(log, "FILE", G_OUTPUT, RUN, .is_common = true,
    .help = "Write a row of CSV after each step: loss, norm, learning rate, tokens/s, time. "
            "'pipesim plot FILE' draws it. --resume continues the file.")
PP_ROW_TEXT(trace, "FILE", G_OUTPUT, BOTH, .is_common = true,
    .help = "Write the measured events as .csv, .json (Perfetto) or .paje (ViTE, pajeng); .gz "
            "compresses.")
PP_ROW_TEXT(predicted_trace, "FILE", G_OUTPUT, RUN,
    .help = "Write the predicted events, in the same forms.")
PP_ROW_FLAG(gantt, G_OUTPUT, RUN, .is_common = true,
    .help = "Draw the median measured step in the terminal, instead of the report.")
PP_ROW_AGAIN(FLAG, gantt, NULL, G_OUTPUT, GENERATE,
    .help = "Draw the run in the terminal, instead of text and report.")
PP_ROW_TEXT(plot, "FILE", G_OUTPUT, RUN, .is_common = true,
    .help = "Draw the predicted step over the measured one, as a picture (.png, .pdf, .svg, .tex) "
            "or as a gnuplot script (.gp). none draws in the terminal.")
PP_ROW_AGAIN(STRING, plot, "FILE", G_OUTPUT, GENERATE,
    .help = "Draw the run as a picture (.png, .pdf, .svg, .tex) or as a gnuplot script (.gp). none "
            "draws in the terminal.")
PP_ROW_CHOICE(plot_kind, "KIND", "timeline|memory-tiers", G_OUTPUT, RUN,
    .default_text = "timeline",
    .help = "What --plot draws. timeline: ops of each rank over time. memory-tiers: bytes of the "
            "fullest rank over time, tier by tier, as measured and as predicted.")
PP_ROW_FLAG(
    paper, G_OUTPUT, BOTH, .help = "Format of a column of a paper: 3.3 inches wide, 8 pt, no title.")
PP_ROW_FLAG(
    quiet, G_OUTPUT, BOTH, .help = "Print no report and no progress; only the exit code.")
PP_ROW_CHOICE(color, "WHEN", "auto|always|never", G_OUTPUT, BOTH, .default_text = "auto",
    .help = "Colour. NO_COLOR and pipes switch it off.")
/* clang-format on */

#undef PP_ROW
#undef PP_ROW_AGAIN
