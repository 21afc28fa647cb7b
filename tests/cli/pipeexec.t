# pipeexec: usage, what it refuses and why. Nothing here trains for long.
$ pipeexec --version
> pipeexec 0.1.0
$ pipeexec -h
> pipeexec: train and generate for real, by any schedule; compare with predictions
> usage: pipeexec [run] [--schedule NAME|FILE.csv] [--np P] [options]
> commands: run generate help
>
> Examples:
>   # train a tiny transformer on 4 ranks with 1f1b; no GPU, no MPI, no input
>   pipeexec
>   # another schedule; gradients equal those of one rank to the bit
>   pipeexec --schedule zbv -np 8 --micro-batches 16 --exact-grad
>   # predict chimera from durations of 1f1b, then run it
>   pipeexec --schedule chimera --calibrate-on 1f1b
>   # let a model speak, here an untrained one; others: --resume DIR, --model DIR
>   pipeexec generate --np 2 --batch 4 --check
>
> The most important options:
>   --schedule NAME|FILE    A schedule or a program file
>   --micro-batches N       Micro-batches per step of one replica
>   -n, --np P              Pipeline ranks
>   --model NAME|FILE|DIR   A preset, a Hugging Face config.json, or its folder
>   --data FILE             The text or tokens to train on
>   --steps K               Training steps
>   --clock CLOCK           How time is measured
>
> Everything: pipeexec --help; one command: pipeexec COMMAND -h
$ pipeexec --help | sed -n '/^Machine:/,/^$/p'
> Machine:
>   --backend NAME          Where work runs. cuda: each rank on a GPU of its own
>                           if as many are visible, else all on the first. With
>                           --transport ipc+nccl, ipc or nccl each rank is a
>                           process, and the processes take the GPUs of their host
>                           in turn. fake: on the CPU, in the worst order that the
>                           events of the program allow. (cpu, cuda or fake;
>                           default cpu)
>   --device-mode MODE      How ranks share a GPU. serial: one op at a time, so
>                           that each op takes as long as it would alone. streams:
>                           each rank, channel and sum has its own CUDA stream,
>                           and ops overlap as the program allows. partition: as
>                           streams, and each rank has its own multiprocessors
>                           (CUDA 12.5). (serial, streams or partition; default
>                           serial; streams if ranks are processes)
>   --weight-grad-stream on|off
>                           on: each rank computes its W on a separate stream,
>                           which takes the part of the GPU that F, I and B leave
>                           (--device-mode streams or partition; --backend fake).
>                           (off or on; default off)
>   --cuda-graphs on|off    With --backend cuda: launch each op that is the same
>                           in every step as one CUDA graph instead of kernel by
>                           kernel, after the first step. (on or off; default on)
>   --transport NAME        Where ranks run and how they communicate. local:
>                           threads of one process. shm: processes of this machine
>                           with shared memory. tcp: processes on any hosts, which
>                           torchrun, srun, mpirun or pipeexec itself starts.
>                           nccl: such processes with --backend cuda, each with
>                           its own GPU or sharing GPUs; NCCL carries messages and
>                           gradient sums. ipc: processes of one host that map
>                           each other's GPU memory and copy directly. ipc+nccl:
>                           messages by ipc, gradient sums by nccl. (local, shm,
>                           tcp, nccl, ipc or ipc+nccl; default local; under a
>                           launcher tcp, or with --backend cuda the first of
>                           ipc+nccl, ipc and nccl that all processes can use, as
>                           without a launcher if each rank can have a GPU and
>                           --device-mode is not given)
>   --rendezvous WHERE      Where processes meet that a launcher or you (with RANK
>                           and WORLD_SIZE) have started. file://PATH: a file that
>                           all processes see; the first process writes its
>                           address there. tcp://HOST:PORT: the address of the
>                           first process. Append ?rank=R&world_size=N without
>                           these variables, and ?timeout=S to replace 60 s.
>                           (default that of the launcher)
>   --clock CLOCK           How time is measured. virtual: each rank's clock
>                           advances by the time of its ops on a core or the GPU
>                           and by waiting for other ranks, as if each rank had
>                           its own device and links. wall: elapsed time. (virtual
>                           or wall; default virtual; wall with --device-mode
>                           streams or partition, and on GPUs if ranks are
>                           processes)
>   --cores K               Compute ops that run concurrently, on the virtual
>                           clock of CPUs. (1 to 4096; default those of the
>                           machine)
>   --timeout S             Seconds without progress of any rank after which the
>                           run ends and prints which rank waits for what.
>                           Processes also end if they hear nothing of the first
>                           one for as long. 0: never. (0 to 1048576; default 600)
>   --inject TEXT           Inject a fault before an op of a rank's list: 'kill
>                           rank:1 op:5 step:2', or hang, freeze, stop, drop or
>                           jump instead of kill. With --nvme also flip, short,
>                           eio or full. 'slow:1=0.5' and 'link-bw:0-1=0.1' are
>                           --slow and --link-bw. (may be repeated)
>   --inject TEXT           Inject a fault before an op of a rank's list: 'kill
>                           rank:1 op:5', or hang, freeze, stop, drop or jump
>                           instead of kill. spoil changes the sign of a number in
>                           the rank's cache, which --check finds. (may be
>                           repeated) [only generate]
>   --cluster NAME          The cluster of a command of pipesim. It changes
>                           nothing: a run measures the machine that it is on.
>   --link TEXT             The links of the virtual clock, for messages and
>                           gradient sums. (default latency:10us bandwidth:10GBps)
>
$ pipeexec help man | head -4
> .TH PIPEEXEC 1 "2026-11-22" "pipeexec 0.1.0"
> .SH NAME
> pipeexec \- train and generate for real, by any schedule; compare with predictions
> .SH SYNOPSIS
$ pipeexec help man | sed -n '/^.fBrun/,/^.TP/p; /EXIT STATUS/,/^2/p'
> \fBrun\fR
> train a transformer for real, by any schedule; the default command
> .TP
> .SH EXIT STATUS
> .TP
> 0
> Success: the run has trained, and gradients equal those of training on
> one rank; or it has generated.
> .TP
> 1
> A failure at run time: a file, a trace, a device, memory, or a loss that
> is not a number.
> .TP
> 2
$ pipeexec --help | sed -n '/^  --micro-batches/,/^  --pipe/p; /^  --lr /,/^  --min/p'
>   --micro-batches N       Micro-batches per step of one replica. Its pipelines
>                           share them. (1 to 1048576; default 8, or the next
>                           above that the schedule accepts)
>   --pipelines 2f          Number of pipelines of a bidirectional schedule
>   --lr X                  Learning rate of AdamW. (a number from 0, such as
>                           1e-3; default 1e-3)
>   --min-lr X              Learning rate of the last step, at the end of a
$ pipeexec help bash | grep -c calibrate-on
> 2
$ pipeexec help zsh | grep -c calibrate-on
> 1
$ pipeexec help fish | grep -c calibrate-on
> 1
$ pipeexec help nothing
! pipeexec: error: help nothing: no such command, topic or option; known are run, generate, help, bubble, infer, memory, mfu, schedules, tiers, units, bash, zsh, fish and man
= 2
$ pipeexec --help | awk 'length > 80'
$ pipeexec --schedul 1f1b
! pipeexec: error: unknown option --schedul; did you mean --schedule?
! try: pipeexec run --help
= 2
$ pipeexec mine.csv
! pipeexec: error: "mine.csv" is one operand too many for pipeexec run
! usage: pipeexec [run] [--schedule NAME|FILE.csv] [--np P] [options]
= 2
$ printf '0F0,0B0\n1F0,1B0\n' >mine.csv; pipeexec --schedule mine.csv --np 8
! pipeexec: error: --np 8 contradicts mine.csv, which has 2
= 2
$ pipesim program --schedule pipedream --pp 3 --micro-batches 4 2>/dev/null >late.csv; pipeexec --schedule late.csv 2>&1 | sed 's/runs 1f1b.*/runs .../'
> pipeexec: error: --schedule late.csv is only simulated: its micro-batches need several versions of the weights; pipeexec runs ...
>   try: pipesim --schedule late.csv --model tiny
$ pipeexec --schedule zbvv
! pipeexec: error: --schedule zbvv: unknown schedule; did you mean zbv?
!   pipesim schedules describes them; a program file ends in .csv or has a / in its name
= 2
$ pipeexec --schedule 1f1b,gpipe
! pipeexec: error: --schedule 1f1b,gpipe: pipeexec runs one schedule; pipesim compares several
= 2
$ pipeexec --schedule pipedream
! pipeexec: error: --schedule pipedream is only simulated: its micro-batches need several versions of the weights; pipeexec runs 1f1b, bfs, bitpipe, chimera, dualpipe, dualpipev, eager-1f1b, gems, gpipe, hanayo, interleaved, interleaved-zb, seq1f1b, v-1f1b, v-half, v-min, zb-auto, zb-h1, zb-h2, zbv
!   try: pipesim --schedule pipedream --pp 4 --model tiny
= 2
$ pipeexec --backend gpu
! pipeexec: error: --backend: "gpu" is not one of cpu, cuda and fake; did you mean "cuda"?
= 2
$ for t in nccl+ipc cuda gloo ncl; do pipeexec --transport $t 2>&1 | grep -o 'did you mean.*'; done
> did you mean "ipc+nccl"?
> did you mean "nccl"?
> did you mean "tcp"?
> did you mean "nccl"?
$ pipeexec --transport nccl
! pipeexec: error: --transport nccl: it moves data between GPUs; give --backend cuda, or --transport tcp
= 2
$ pipeexec --transport ipc
! pipeexec: error: --transport ipc: it moves data between GPUs; give --backend cuda, or --transport tcp
= 2
$ pipeexec --transport tcp --backend fake
! pipeexec: error: --transport tcp: backend fake runs all ranks in one process; use --transport local
= 2
$ pipeexec --transport shm --backend fake
! pipeexec: error: --transport shm: backend fake runs all ranks in one process; use --transport local
= 2
$ pipeexec --inject "burn rank:1"
! pipeexec: error: --inject "burn rank:1": "burn" is none of drop (its connections to other ranks are closed), eio (the next read of its tier nvme fails), flip (a bit flips in what it next reads from its tier nvme), freeze (its thread never returns from an op), full (its next write to its tier nvme finds no room), hang (the rank goes no further), jump (the clock of its process jumps ahead by 1 s), kill (its process is killed), short (its next read from its tier nvme is short), spoil (a number in its cache changes its sign), stop (its process is stopped)
= 2
$ pipeexec --inject "kill rank:1 op"
! pipeexec: error: --inject "kill rank:1 op": "op": expected rank:K, replica:K, tp:K, op:K, step:K
= 2
$ pipeexec --inject "kill rank:4"
! pipeexec: error: --inject: rank:4: this run has 0 to 3
= 2
$ pipeexec --inject "kill dp:4"
! pipeexec: error: --inject "kill dp:4": "dp:4": expected rank:K, replica:K, tp:K, op:K, step:K
= 2
$ pipeexec --schedule chimera -np 3
! pipeexec: error: -np 3: chimera needs an even number; nearest: 2 or 4
= 2
$ pipeexec --schedule zbv --vp 3
! pipeexec: error: --vp 3: zbv fixes it at 2; schedules that have it: bfs, hanayo, interleaved, interleaved-zb
= 2
$ pipeexec --schedule 1f1b --group 2
! pipeexec: error: --group 2: 1f1b has no such option; schedules that have it: interleaved, interleaved-zb
= 2
$ pipeexec --schedule chimera --concat auto
! pipeexec: error: --concat auto: pipeexec runs one order; 'pipesim --schedule chimera' with the same option compares them
= 2
$ pipeexec --schedule chimera --concat halving --mbs 3
! pipeexec: error: --mbs 3: backwards of 1/2 micro-batch need a multiple of 2; nearest: 2 or 4
= 2
$ pipeexec --schedule seq1f1b --splits 3
! pipeexec: error: --splits 3 does not divide the 64 tokens of a sample; nearest: --splits 2 or 4, or --seq 63 or 66
= 2
$ pipeexec --schedule seq1f1b --recompute full
! pipeexec: error: --recompute full: the forward of one of 2 sequence splits cannot be recomputed alone; give --splits 1, or --recompute selective or none
= 2
$ pipeexec --gbs 30
! pipeexec: error: --gbs 30 is not a multiple of dp * mbs = 4; nearest: 28, 32
= 2
$ pipeexec --gbs 30 --micro-batches 8
! pipeexec: error: --gbs 30 is not a multiple of dp * micro-batches = 8; nearest: 24, 32
= 2
$ pipeexec --gbs 7 --mbs 1 --schedule chimera
! pipeexec: error: --gbs 7 with dp 1 and mbs 1 makes --micro-batches 7: chimera fills pipelines of 2 each; nearest: 6 or 8
= 2
$ pipeexec --gbs 64 --micro-batches 8 --mbs 4
! pipeexec: error: --gbs 64 contradicts dp 1 * mbs 4 * 8 micro-batches = 32; nearest: --gbs 32, or --mbs 8
= 2
$ pipeexec --gbs 32 --micro-batches 5 --mbs 4
! pipeexec: error: --gbs 32 contradicts dp 1 * mbs 4 * 5 micro-batches = 20; nearest: --gbs 20
= 2
# What is near suits the schedule, too.
$ pipeexec --schedule interleaved --mbs 4 --gbs 33
! pipeexec: error: --gbs 33 is not a multiple of dp * mbs = 4; nearest: 32, 40
= 2
$ pipeexec --schedule chimera --micro-batches 3 --gbs 32
! pipeexec: error: --micro-batches 3: chimera fills pipelines of 2 each; nearest: 2 or 4
= 2
$ pipeexec --schedule zb-h2 --max-activations 1
! pipeexec: error: --max-activations 1: zb-h2 on 4 ranks with 8 micro-batches needs at least 4; zb-auto takes less
= 2
$ pipeexec --steps 5 --warmup 4
! pipeexec: error: --warmup 4 leaves none of 5 steps to be judged; nearest: --warmup 3
= 2
$ pipeexec --lr 1e-3 --min-lr 1
! pipeexec: error: --min-lr 1 is more than the learning rate, 0.001
= 2
$ pipeexec --steps 5 --lr-warmup 6
! pipeexec: error: --lr-warmup 6: training ends after 5 steps; nearest: 5
= 2
$ pipeexec --check --no-check
! pipeexec: error: --check and --no-check say opposite things; give one of them
= 2
$ pipeexec --grad-sync eager
! pipeexec: error: --grad-sync eager has no effect with one replica of each stage; give --dp 2
= 2
$ pipeexec --zero 1
! pipeexec: error: --zero 1 has no effect with one replica of each stage; give --dp 2
= 2
$ pipeexec --zero 0 --hidden 32 --seq 16 --steps 1 --quiet
$ pipeexec --dp 2 --zero 4
! pipeexec: error: --zero: 4 is out of range: 0 to 3
= 2
# Layers one by one. With N micro-batches, L layers on a rank make 2 N (L - 1) + 1 visits: the last one stays
# between a forward and its backward. The first one stays until the next forward.
$ pipeexec --np 1 --dp 2 --zero 3 --gather layer --layers 5 --micro-batches 3 --hidden 32 --heads 2 --seq 16 --steps 4 --no-check --quiet --trace layers.csv; for kind in AG DROP RS; do awk -F, -v kind=$kind '$1 == 0 && $2 == 0 && $3 == 0 && $5 ~ "^[0-4]" kind' layers.csv | wc -l; done
> 25
> 25
> 15
$ pipeexec --np 2 --dp 2 --zero 3 --gather layer --layers 6 --hidden 32 --heads 2 --seq 16 --steps 2 --exact-grad --check --json | grep -E '"(vp|zero|gather)"|bit_equal'
>     "vp": 1,
>     "zero": 3,
>     "gather": "layer",
>     "bit_equal": true,
>     "bit_equal": true,
$ pipeexec --np 2 --dp 2 --zero 3 --gather layer --unit F=1
! pipeexec: error: --gather layer has no effect with --unit, whose durations are those of whole chunks
= 2
$ pipesim program --schedule gpipe --pp 2 --dp 2 --micro-batches 1 --zero 3 | sed 's/^# state: p; 1 1;/# state: p; 2 2;/' >layers.csv; pipeexec --schedule layers.csv --dp 2 --layers 4
! pipeexec: error: --schedule layers.csv: layers.csv gathers stage 0 in 2 units, and its ops are whole stages; nearest: 1, or --gather layer and the file of 'pipesim program --compute'
= 2
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 2 --compute >compute.csv; pipeexec --schedule compute.csv --dp 2 --zero 3 --gather layer --layers 4 --hidden 32 --heads 2 --seq 16 --steps 2 --exact-grad --check --quiet && echo equal
> equal
$ pipeexec --dp 2 --zero 2 --gather chunk
! pipeexec: error: --gather chunk has no effect without sharded parameters; give --zero 3, or --offload p=host
= 2
$ pipeexec --dp 2 --zero 1 --gather-buffers 2
! pipeexec: error: --gather-buffers 2 has no effect without sharded gradients or parameters; give --zero 2 or 3
= 2
$ for k in 1 2; do pipeexec --schedule zbv --np 2 --dp 2 --zero 3 --gather-buffers $k --layers 4 --hidden 32 --heads 2 --seq 16 --micro-batches 4 --steps 4 --no-check --quiet --trace gathers.csv; awk -F, '$2 == 0 && $3 == 0 { if ($4 == "compute") { start[++ops] = $8; end[ops] = $9 } if ($5 ~ /^[03]AG/) { from[++gathers] = $8; to[gathers] = $9 } } END { for (g = 1; g <= gathers; g++) for (o = 1; o <= ops; o++) hidden += start[o] < to[g] && from[g] < end[o]; print (gathers > 0), (hidden > 0) }' gathers.csv; done
> 1 0
> 1 1
$ pipesim program --schedule interleaved --pp 2 --dp 2 --micro-batches 2 --zero 3 --gather-buffers 3 >cut.csv; pipeexec --schedule cut.csv --dp 2 --layers 4 --hidden 32 --heads 2 --seq 16 --steps 2 --exact-grad --check --json | grep -E '"zero"|bit_equal'
>     "zero": 3,
>     "bit_equal": true,
>     "bit_equal": true,
$ pipeexec --dp 4 --shard p=3
! pipeexec: error: --shard p=3 does not divide the 4 copies of a stage; nearest: 2, 4
= 2
$ pipeexec --shard p=1x2
! pipeexec: error: --shard p=1x2 has no effect with one replica of each stage; give --dp 2
= 2
$ pipeexec --sequence-parallel --layers 4
! pipeexec: error: --sequence-parallel needs its HOW but --layers follows; expected on or off
= 2
$ pipeexec --dp 4 --shard p=2,g=4
! pipeexec: error: --shard p=2,g=4: p over 2 and g over 4 copies is only simulated; nearest: g over 2
= 2
$ pipeexec --dp 4 --shard os=2 --zero 1
! pipeexec: error: --zero 1 and --shard os=2 exclude each other: both say how state is cut
= 2
$ pipeexec --dp 8 --shard p=2,os=4 --transport tcp --gather layer --layers 4 --hidden 32 --heads 2 --seq 16 --steps 2 --exact-grad --check --json | grep -E '"zero"|(shar|gather)ers"|bit_equal'
>     "zero": 3,
>     "sharers": 4,
>     "gatherers": 2,
>     "bit_equal": true,
>     "bit_equal": true,
$ pipeexec --dp 4 --shard p=2,os=4 --np 2 --layers 2 --steps 1 --no-check | head -1
> pipeexec 0.1.0  1f1b on 2 ranks, 4 replicas, ZeRO 3 over 2 of groups of 4
$ pipeexec --dp 4 --shard p=2 --layers 4 --hidden 32 --heads 2 --seq 16 --steps 2 --exact-grad --check --json | grep -E '"zero"|"sharers"|bit_equal'
>     "zero": 3,
>     "sharers": 2,
>     "bit_equal": true,
>     "bit_equal": true,
$ pipeexec --zero 3 --schedule chimera
! pipeexec: error: --zero 3: gradients and parameters are cut over replicas of one pipeline, in groups of 2, but it has 1; nearest: --dp 2, or --zero 1
= 2
$ pipeexec --dp 3 --shard g=2 --schedule dualpipe
! pipeexec: error: --shard g=2: gradients and parameters are cut over replicas of one pipeline, in groups of 2, but it has 3; nearest: --dp 2, or --zero 1
= 2
$ pipeexec --np 3 --dp 2 --zero 3 --schedule gems
! pipeexec: error: --zero 3: gems holds stage 1 twice on rank 1: only its optimizer state can be cut; nearest: --zero 1, or an even number of ranks
= 2
$ for how in "--schedule zbv --dp 2 --zero 2" "--schedule chimera --dp 2 --zero 3" "--schedule zbv --dp 4 --shard os=2"; do pipeexec --np 2 $how --model mini --vocab 128 --layers 8 --hidden 32 --heads 2 --seq 16 --mbs 1 --steps 2 --exact-grad --check --quiet && echo equal; done
> equal
> equal
> equal
$ pipesim program --schedule zbv --pp 2 --dp 2 --micro-batches 2 --zero 2 >cut.csv; pipeexec --schedule cut.csv --dp 2 --model mini
! pipeexec: error: --schedule cut.csv: cut.csv holds embedding and head of mini on one rank, which share a matrix: (0;3)AR is missing, which sums its gradients; nearest: add it, or give a program without sums, as 'pipesim program --compute' prints it
= 2
$ pipesim program --schedule chimera --pp 4 --dp 2 --micro-batches 4 --zero 3 -o twice.csv && pipesim verify twice.csv && pipeexec --schedule twice.csv --dp 2 --layers 4 --hidden 32 --heads 2 --seq 16 --steps 2 --exact-grad --check --json | grep -E '"zero"|bit_equal'
> twice.csv: legal: 4 ranks, 4 stages, 4 micro-batches, 236 instructions
>     "zero": 3,
>     "bit_equal": true,
>     "bit_equal": true,
$ pipesim program --schedule chimera --pp 4 --micro-batches 4 --zero 3
! pipesim: error: --zero 3: chimera uses a stage at different times in its pipelines, so gradients are cut over replicas of one pipeline; give --dp 2, or --zero 1
= 2
$ pipeexec --dp 2 --zero 3 --schedule zb-h1 --backend fake --weight-grad-stream on --layers 4 --hidden 32 --heads 2 --seq 16 --steps 3 --exact-grad --check --quiet
$ pipesim program --schedule 1f1b --pp 2 --dp 2 --micro-batches 2 --zero 2 >cut.csv; pipeexec --schedule cut.csv --dp 2 --layers 2 --hidden 32 --heads 2 --seq 16 --steps 2 --exact-grad --check --json | grep -E '"zero"|bit_equal'
>     "zero": 2,
>     "bit_equal": true,
>     "bit_equal": true,
$ pipesim program --schedule 1f1b --pp 2 --dp 2 --micro-batches 2 --zero 1 >cut.csv; pipeexec --schedule cut.csv --dp 2 --layers 2 --hidden 32 --heads 2 --seq 16 --steps 1 --json | grep '"zero"'; pipeexec --schedule cut.csv --dp 2 --zero 1
>     "zero": 1,
! pipeexec: error: --zero 1: cut.csv is a lowered program, which has its own; 'pipesim program --compute' prints programs without
= 2
$ pipesim program --schedule 1f1b --pp 2 --dp 2 --micro-batches 2 --zero 1 >cut.csv; pipeexec --schedule cut.csv --dp 2 --zero 0
! pipeexec: error: --zero 0: cut.csv is a lowered program, which has its own; 'pipesim program --compute' prints programs without
= 2
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 2 >low.csv; for option in '--grad-sync end' '--recompute none' '--post early'; do pipeexec --schedule low.csv $option 2>&1 | grep -o '^.* is a lowered program'; done
> pipeexec: error: --grad-sync end: low.csv is a lowered program
> pipeexec: error: --recompute none: low.csv is a lowered program
> pipeexec: error: --post early: low.csv is a lowered program
$ pipesim program --schedule 1f1b --pp 2 --dp 2 --micro-batches 2 --zero 1 | sed 's/,[01]AG,.*//' >cut.csv; pipeexec --schedule cut.csv --dp 2
! pipeexec: error: cut.csv:12:15: rank 0: 0U updates the share of the weights that 0RS leaves, and no AG gathers them
! rank 0 | ... (0RECV_B0)WAIT (0SEND_F0)WAIT 0B0 (0RECV_B1)WAIT (0SEND_F1)WAIT 0B1            0RS            (0RS)WAIT [0U]
! rank 1 | ... (1RECV_F1)WAIT 1F1            1B1 1SEND_B1       1RS            (1SEND_B0)WAIT (1SEND_B1)WAIT (1RS)WAIT 1U
= 4
$ pipesim program --schedule 1f1b --pp 2 --dp 2 --micro-batches 2 --zero 1 | sed 's/,(0AG)WAIT//' >cut.csv; for verdict in 'pipesim verify cut.csv' 'pipeexec --schedule cut.csv --dp 2'; do $verdict 2>&1 | head -1; done
> pipesim: error: cut.csv:12:16: rank 0: nothing waits for 0AG: (0AG)WAIT is missing
> pipeexec: error: cut.csv:12:16: rank 0: nothing waits for 0AG: (0AG)WAIT is missing
$ pipeexec --dp 2 --zero 1 --layers 2 --hidden 32 --heads 2 --seq 16 --steps 1 --no-check --trace cut.csv | head -1; grep -c ',0AG,' cut.csv
> pipeexec 0.1.0  1f1b on 4* ranks, 2 replicas, ZeRO 1        (* = chosen for you)
> 2
$ pipeexec --dialect 2024
! pipeexec: error: --dialect has no effect: no program file is read
= 2
$ pipeexec --link latency:1us,latency:2us
! pipeexec: error: --link "latency:1us,latency:2us": latency is given twice; expected words like latency:10us bandwidth:10GBps
= 2
$ pipeexec --link fast
! pipeexec: error: --link "fast": "fast" is neither latency: nor bandwidth:; expected words like latency:10us bandwidth:10GBps
= 2
$ pipeexec --link bandwidth:0.5Bps
! pipeexec: error: --link "bandwidth:0.5Bps": bandwidth:0.5Bps is out of range: 1Bps to 1e6TBps; expected words like latency:10us bandwidth:10GBps
= 2
$ pipeexec --clock wall --link bandwidth:1GBps
! pipeexec: error: --link bandwidth:1GBps has no effect with --clock wall: messages take real time
= 2
$ pipeexec --calibrate-on seq1f1b
! pipeexec: error: --calibrate-on seq1f1b: its ops are of 4 samples and 32 tokens, those of 1f1b of 4 and 64; durations of one size do not predict another: give both schedules the same --mbs, --splits and --concat
= 2
$ pipeexec --tp 2 --calibrate-tp 1
! pipeexec: error: --calibrate-tp 1: it is the layout of another schedule; give --calibrate-on, too
= 2
$ pipeexec --tp 2 --calibrate-on gpipe --calibrate-tp 3
! pipeexec: error: --calibrate-tp 3: --tp 3 does not divide 4 attention heads, 4 of keys, and 512 elements of the feed-forward layer of tiny; nearest: 2 or 4
= 2
$ pipeexec --calibrate-on gpipe --calibrate-ep 2
! pipeexec: error: --calibrate-ep 2: tiny has no experts; give --experts
= 2
$ pipeexec --model tiny-llama --experts 8 --calibrate-on gpipe --calibrate-ep 1 --tp 2 --dp 2 --ep 4 --etp 1
! pipeexec: error: --calibrate-ep 1: --etp 1: a rank has 2 sets of 1 worker, and --ep 1 does not give each set other experts; nearest: --calibrate-ep 2, or leave out --etp
= 2
$ pipeexec --tp 2 --calibrate-on gpipe --calibrate-tp 1 --clock wall
! pipeexec: error: --calibrate-tp 1: layers are profiled by CPU time; use --clock virtual
= 2
$ pipeexec --calibrate-on pipedream 2>&1 | cut -c 1-120
> pipeexec: error: --calibrate-on pipedream: --schedule pipedream is only simulated: its micro-batches need several versio
>   try: pipesim --schedule pipedream --pp 4 --model tiny
$ pipeexec --model bloom-176b
! pipeexec: error: model 'bloom-176b' cannot be executed here: its positions are slopes of the attention scores; models of the families gpt2, llama, mistral, mixtral, qwen2, qwen3, qwen3_moe, gemma, gpt_neox and opt can be, as tiny, mini, tiny-llama, gpt2; bert can be trained
= 2
$ pipeexec --model bert-base --layers 4 --hidden 32 --heads 4 --vocab 256 --ffn 64 --seq 16 --schedule seq1f1b
! pipeexec: error: --schedule seq1f1b: it cuts samples into 2 splits, and each token of model 'bert-base-like' meets all tokens of its sample; nearest: --splits 1, or a schedule without splits
= 2
# More token types than words: exact gradients have room for the largest table.
$ echo '{"model_type": "bert", "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32, "vocab_size": 256, "max_position_embeddings": 16, "type_vocab_size": 4000, "hidden_act": "gelu"}' > types.json; pipeexec --model ./types.json --np 1 --seq 16 --mbs 1 --steps 2 --exact-grad --check --quiet && echo equal
> equal
$ pipeexec --model tini
! pipeexec: error: unknown model 'tini': did you mean 'mini'? (`pipesim models` lists them; a file is given by its path, as in ./config.json)
= 2
$ pipeexec --seq 5000
! pipeexec: error: a sequence of 5000 tokens: model 'tiny' has 256 positions, so at most 256 tokens
= 2
$ pipeexec --heads 5
! pipeexec: error: --heads 5: hidden size 128 is not a multiple of 5 heads
= 2
$ pipeexec --vocab 40
! pipeexec: error: built-in text has byte 80 at offset 0, but the model has a vocabulary of 40; the smallest that would do is 123
= 2
$ pipeexec --data /nowhere/text
! pipeexec: error: cannot open /nowhere/text: No such file or directory
= 1
$ pipeexec --data /dev/null
! pipeexec: error: /dev/null is empty: a sample of 64 tokens and its target takes 65 bytes
= 2
# Illegal and unsuitable programs.
$ pipeexec --schedule <(printf '0F0,0B0\n1B0,1F0\n') 2>&1 | sed 's/^\(pipeexec: error: \)[^ ]*/\1FILE/'
> pipeexec: error: FILE DEADLOCK after 1 of 4 instructions
>   rank 1 line 2 col 1: 1B0 waits for 1F0 on itself: 1B0 is listed before 1F0
>   also stuck: rank 0
>   fix: move 1F0 before 1B0 on rank 1
> rank 0 | 0F0   0B0
> rank 1 | [1B0] 1F0
$ pipeexec --schedule <(printf '0F0\n1F0\n') 2>&1 | sed 's/ \/[^ :]*/ FILE/'
> pipeexec: error: --schedule FILE is only simulated: it has no backward, so it trains nothing; pipeexec runs 1f1b, bfs, bitpipe, chimera, dualpipe, dualpipev, eager-1f1b, gems, gpipe, hanayo, interleaved, interleaved-zb, seq1f1b, v-1f1b, v-half, v-min, zb-auto, zb-h1, zb-h2, zbv
>   try: pipesim --schedule FILE --model tiny
$ pipeexec --schedule <(printf '0F0,0B0\n1F0,1B0\n') -np 3 2>&1 | sed 's/ \/[^ :,]*/ FILE/'
> pipeexec: error: -np 3 contradicts FILE, which has 2
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 2 --zero 3 --dp 2 --offload p=host >low.csv; pipeexec --schedule low.csv --dp 2 2>&1 | cut -c 1-84
> pipeexec: error: --schedule low.csv is only simulated: nothing here executes its MOV
>   try: pipesim --schedule low.csv --dp 2 --model tiny
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 2 >low.csv; pipeexec --schedule low.csv --recompute full
! pipeexec: error: --recompute full: low.csv is a lowered program, which has its own; 'pipesim program --compute' prints programs without
= 2
$ printf '0F0,0B0,(0;1)AR\n1F0,1B0,(0;1)AR\n' >tied.csv; pipeexec --schedule tied.csv
! pipeexec: error: --schedule tied.csv: (0;1)AR sums a matrix that embedding and head share, but the head of tiny has its own; remove it and its WAITs, or choose a model that shares it, such as --model mini
= 2
$ printf '0F0s0,0F0s1,0R0s1,0B0s1,0B0s0\n' >split.csv; pipeexec --schedule split.csv
! pipeexec: error: --schedule split.csv: R recomputes one of 2 sequence splits alone, which is not possible for whole stages; give --recompute selective, or remove every R
= 2
$ printf '0F0,0R0,0B0\n' >again.csv; pipeexec --schedule again.csv --recompute stage-aware=1
! pipeexec: error: --recompute stage-aware: R of again.csv says which stages recompute; give full, selective or selective=MODULES, or remove every R
= 2
$ for r in some selective=norm selective=act+moe selective=mla_up_proj stage-aware=2; do pipeexec --recompute $r; done
! pipeexec: error: --recompute some: expected none, selective, selective=MODULES, full or stage-aware=R with R from 0 to 1
! pipeexec: error: --recompute selective='norm': expected modules with + between them, of core_attn layernorm act mlp moe_act
! pipeexec: error: --recompute selective: moe has no effect here: tiny has no experts
! pipeexec: error: --recompute selective: mla_up_proj has no effect here: tiny has no latent attention
! pipeexec: error: --recompute stage-aware=2: the ratio lies between 0 and 1
= 2
# Megatron-LM's words for the same modules, and its two options together.
$ run="pipeexec --model tiny-llama --schedule zb-h1 --np 2 --layers 4 --hidden 32 --heads 2 --seq 16 --steps 3 --exact-grad --json"; for r in "--recompute selective=core_attn+act" "--recompute-granularity selective --recompute-modules core_attn act" "--recompute-modules=act,core_attn --recompute selective"; do $run $r | grep -A4 -E '"(losses|grad_norms|activations_bytes)"' | md5sum; done | uniq | wc -l
> 1
$ for r in "act norm" "act moe" "mla_up_proj" "--json" "act --recompute full"; do pipeexec --recompute-modules $r; done
! pipeexec: error: --recompute selective='act+norm': expected modules with + between them, of core_attn layernorm act mlp moe_act
! pipeexec: error: --recompute selective: moe has no effect here: tiny has no experts
! pipeexec: error: --recompute selective: mla_up_proj has no effect here: tiny has no latent attention
! pipeexec: error: --recompute-modules needs its HOW but --json follows; write --recompute-modules=--json if that is meant
! pipeexec: error: --recompute full contradicts --recompute-modules selective=act before it: give --recompute one value
= 2
# A failure prints nothing on stdout.
$ pipeexec --layers 2 --hidden 32 --heads 2 --steps 5 --lr 1e30 --json
! pipeexec: error: step 2: the loss is not a finite number; lower --lr 1e+30
= 1
$ pipeexec --model gpt3-175b --json 2>/dev/null
= 1
$ pipeexec --weight-grad-stream on
! pipeexec: error: --weight-grad-stream on: with --backend cpu a rank computes on one thread; use --backend cuda with --device-mode streams or partition
= 2
$ for s in 1f1b zb-h1; do pipeexec --backend fake --weight-grad-stream on --schedule $s --np 2 --layers 4 --hidden 32 --heads 2 --seq 16 --mbs 1 --micro-batches 4 --steps 3 --exact-grad | grep -E 'equal|has no W'; done
>   check      gradients of the first step equal those of training on one rank to
>   note       --weight-grad-stream on does nothing: 1f1b has no W
>   check      gradients of the first step equal those of training on one rank to
$ mkdir c; printf 'pipesim checkpoint \033]0;x\007\033[31m\n' >c/manifest; pipeexec --resume c
! pipeexec: error: c/manifest is of format '\x1b]0;x\x07\x1b[31m', but this pipeexec reads format 1
= 2
$ RANK=0 WORLD_SIZE=2 MASTER_PORT=29711 pipeexec --rendezvous 'tcp://0.0.0.0:29711?timeout=1' 2>&1 | head -2
> pipeexec: warning: this run has no id, so any process that calls at port 29711 of 0.0.0.0 may end it: give all its processes the same PIPEEXEC_RUN_ID
> pipeexec: error: after 1 s these of 2 processes have not called: 1

# What a tensor group cannot do yet is refused by name.
$ for o in "--weight-grad-stream on --schedule zb-h1 --np 2" "--tp 0"; do pipeexec --tp 2 $o 2>&1 | sed 's/[;,].*//'; done
> pipeexec: error: --weight-grad-stream on: with --backend cpu a rank computes on one thread
> pipeexec: error: --tp: 0 is out of range: 1 to 64
$ pipeexec --tp 2 --precision bf16 --sequence-parallel on --mbs 1 --seq 6
! pipeexec: error: --sequence-parallel on: a forward takes 6 tokens, and 2 workers share them in even numbers; nearest: --mbs 2, or change --seq 6
= 2
$ pipeexec --np 2 --dp 65536 --steps 1 --micro-batches 4096 --no-check
! pipeexec: error: 65536 replicas of 57354 instructions, messages and channels are too many; nearest: --dp 9360, or fewer --micro-batches
= 2

# Words of 'pipesim plan' for the devices of a layout.
$ for o in "--gpus 8" "--gpus 6 --pp 4" "--gpus 8 --pp 2 --dp 2" "--cp 2" "--tp 2 --kv-heads 1"; do pipeexec $o 2>&1 | cat; done
> pipeexec: error: --gpus 8: it is tp * pp * dp, so give --pp, too; nearest: --pp 4
> pipeexec: error: --gpus 6 is not a multiple of tp 1 * pp 4 = 4; nearest: 4 or 8
> pipeexec: error: --gpus 8 contradicts tp 1 * pp 2 * dp 2 = 4; nearest: --gpus 4, or --dp 4
> pipeexec: error: --cp 2 is only simulated: here no sample is divided among devices; nearest: --cp 1
> pipeexec: error: --tp 2 does not divide 4 attention heads, 1 of keys, and 512 elements of the feed-forward layer of tiny-like; nearest: 1
$ pipeexec --gpus 8 --tp 2 --pp 2 --cp 1 --zero 1 --cluster h200 --hidden 32 --seq 16 --steps 3 --warmup 1 --no-check | grep -E "ranks, |cluster"
> pipeexec 0.1.0  1f1b on 2 ranks, tp 2, 2 replicas, ZeRO 1   (* = chosen for you)
>   note       --cluster h200 is for pipesim; this run was on the machine above
$ pipeexec help --cp
>   --cp C                  Context-parallel degree. Only 1 can be executed. (1 to
>                           1048576; default 1)

# Encoders are cut, too. In double, the norms of gradients are those of one worker to 12 digits.
$ o="--model bert-base --layers 2 --hidden 32 --heads 4 --ffn 64 --vocab 257 --seq 8 --mbs 2 --micro-batches 2 --steps 2 --exact-grad --check"; for t in 1 2 4; do pipeexec $o --np 1 --precision double --tp $t --json | grep -A4 '"grad_norms"' | sed 's/\([.][0-9]\{11\}\)[0-9]*/\1/' | md5sum; done | uniq | wc -l
> 1
$ o="--model bert-base --layers 2 --hidden 32 --heads 4 --ffn 64 --vocab 257 --seq 8 --mbs 2 --micro-batches 2 --steps 2 --exact-grad --check"; for l in "--np 2 --tp 2 --schedule 1f1b --dp 2 --zero 3" "--np 2 --tp 4 --recompute selective=mlp+core_attn --transport shm" "--np 2 --tp 2 --schedule zb-h1 --backend fake --precision bf16"; do pipeexec $o $l --quiet && echo equal; done
> equal
> equal
> equal

# The check of a tensor-parallel run says what it compares with.
$ pipeexec --tp 2 --np 1 --layers 1 --seq 16 --steps 2 --exact-grad | sed -n '/^  check/,/^$/p' | sed 's/ (.*//' | head -3
>   check      gradients of the first step equal those of training on one rank to
>              the bit
>              that rank runs the 2 parts of --tp in turn
$ for w in plan "help plan" "help framework" "--attention fused" "--learning_rate 1e-3" "--moe-router-load-balancing-type aux_loss" "--optim adamw"; do pipeexec $w 2>&1 | head -1; done
> pipeexec: error: unknown command "plan"; only pipesim has it: pipesim help plan
> pipeexec: error: help plan: no such command, topic or option; only pipesim has it: pipesim help plan
> pipeexec: error: help framework: no such command, topic or option; only pipesim has it: pipesim help --framework
> pipeexec: error: unknown option --attention; only pipesim has it: pipesim help --attention
> pipeexec: error: unknown option --learning_rate; its name here is --lr X
> pipeexec: error: unknown option --moe-router-load-balancing-type; its name here is --balance-loss X (aux_loss with this factor; 0: none)
> pipeexec: error: unknown option --optim; leave it out: the optimizer is AdamW
$ mkdir tiny; echo '{}' >tiny/config.json; pipeexec --model tiny --hidden 32 --seq 16 --steps 3 --no-check | grep 'a preset'
>              a preset; --model ./tiny is the model of the folder
