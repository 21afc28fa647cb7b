# Every mistake gets what is wrong, where, and the nearest legal values; and the right exit code.
$ pipesim
! pipesim: predict time, memory and MFU of pipeline-parallel training and serving
! usage: pipesim [run] --schedule NAME|FILE.csv --gpus N [options]
! commands: run schedules models clusters presets program verify compare calibrate
!           sweep plot validate plan check export help
!
! Examples:
!   # a report with no input file: model, cluster and layout are chosen for you
!   pipesim --schedule chimera --gpus 2048
!   # compare schedules
!   pipesim --schedule gpipe,1f1b,zbv --model llama3-70b --gpus 512 --pp 8 --tp 8
!   # see a schedule
!   pipesim --schedule chimera --pp 4 --micro-batches 4 --unit F=1,B=2 --gantt
!   # serve a model; the best layout for it: pipesim plan --mode infer
!   pipesim --mode infer --model llama3-8b --gpus 1 --batch 16
!
! The most important options:
!   --schedule NAME|FILE    A schedule, a comma list, all, or a program file
!   --micro-batches N       Micro-batches per step of one replica
!   --gpus N                Total number of devices: tp * cp * pp * dp
!   --tp T                  Tensor-parallel degree
!   --pp D                  Pipeline ranks: at most 8192 with a model, 65535 with
!   --model NAME|FILE       A preset or a Hugging Face config.json
!
! Everything: pipesim --help; one command: pipesim COMMAND -h
! pipesim: error: nothing to do; try: pipesim --schedule chimera --gpus 2048
= 2
$ pipesim frobnicate
! pipesim: error: unknown command "frobnicate"; commands are run, schedules, models, clusters, presets, program, verify, compare, calibrate, sweep, plot, validate, plan, check, export, help
= 2
# An unknown command comes before its options.
$ for w in infer serving; do pipesim $w --tokens 0 --frob 2>&1; done; pipesim generate --model gpt2; pipesim shedules --frob
> pipesim: error: unknown command "infer"; pipesim --mode infer predicts a run that generates, pipeexec generate executes one
> pipesim: error: unknown command "serving"; pipesim --mode infer predicts a run that generates, pipeexec generate executes one
! pipesim: error: unknown command "generate"; pipesim --mode infer predicts a run that generates, pipeexec generate executes one
! pipesim: error: unknown command "shedules"; did you mean "pipesim schedules"?
= 2
$ pipesim shedules
! pipesim: error: unknown command "shedules"; did you mean "pipesim schedules"?
= 2
# A word that is a value of an option, or near one.
$ for words in 1F1B "chimra --gpus 8" llama3-8b chimera-sc21; do pipesim $words; done
! pipesim: error: unknown command "1F1B"; did you mean "pipesim --schedule 1f1b"?
! pipesim: error: unknown command "chimra"; did you mean "pipesim --schedule chimera"?
! pipesim: error: unknown command "llama3-8b"; did you mean "pipesim --model llama3-8b"?
! pipesim: error: unknown command "chimera-sc21"; did you mean "pipesim --preset chimera-sc21"?
= 2
$ for words in "gantt --pp 2" "--schedule 1f1b zbv --gpus 8" "--schedule 1f1b --schedule zbv --gpus 8"; do pipesim $words 2>&1 | head -1; done; pipesim --schedule "1f1b, zbv" --pp 2 --micro-batches 4 --unit F=1,B=2 | tail -2
> pipesim: error: unknown command "gantt"; did you mean "pipesim --gantt"?
> pipesim: error: "zbv" is one operand too many for pipesim run; did you mean --schedule 1f1b,zbv?
> pipesim: error: --schedule zbv after --schedule 1f1b: several are one list, --schedule 1f1b,zbv
>    1  zbv                2    12.5 units     4.00 %     0.00 %            2
>    2  1f1b               1      15 units    20.00 %    20.00 %            2
$ pipesim --gpus 8 zbv
! pipesim: error: "zbv" is one operand too many for pipesim run; did you mean --schedule zbv?
! usage: pipesim [run] --schedule NAME|FILE.csv --gpus N [options]
= 2
$ pipesim --schedule chimra --gpus 4
! pipesim: error: --schedule chimra: unknown schedule; did you mean chimera?
!   pipesim schedules describes them; a program file ends in .csv or has a / in its name
= 2
$ pipesim --schedule nope --gpus 4
! pipesim: error: --schedule nope: unknown schedule; known are 1f1b, bfs, ...
!   pipesim schedules describes them; a program file ends in .csv or has a / in its name
= 2
$ pipesim --gpus 4
! pipesim: error: --schedule is needed: 1f1b, bfs, ...
!   try: pipesim --schedule 1f1b --gpus 4
= 2
$ for words in "program --pp 2" "--unit F=1,B=2" "export --to goal -o x"; do pipesim $words 2>&1 | tail -n +2; done
>   try: pipesim program --schedule 1f1b --micro-batches 8 --pp 2
>   try: pipesim --schedule 1f1b --micro-batches 8 --pp 4 --unit F=1,B=2
>   try: pipesim export --schedule 1f1b --gpus 8 --to goal --output x
$ pipesim --schedule chimera
! pipesim: error: --gpus N is needed (or --tp, --pp, --dp; or --unit for abstract costs)
= 2
$ pipesim --schedule chimera --gpus
! pipesim: error: --gpus needs its N
= 2
$ pipesim --schedule chimera --gpus 0
! pipesim: error: --gpus: 0 is out of range: 1 to 1048576
= 2
$ pipesim --schedule chimera --gpus 12x
! pipesim: error: --gpus: "12x" is not a whole number
= 2
$ pipesim --schedule chimera --gpus 99999999999999999999
! pipesim: error: --gpus: 99999999999999999999 is out of range: 1 to 1048576
= 2
$ pipesim --schedule chimera --gpuss 4
! pipesim: error: unknown option --gpuss; did you mean --gpus?
! try: pipesim run --help
= 2
$ pipesim --schedule 1f1b --gpus 8 --engine simgri
! pipesim: error: --engine: "simgri" is not one of simgrid, dag and simgrid-lmm; did you mean "simgrid"?
= 2
$ pipesim --schedule chimera --gpus 7
! pipesim: error: no layout works; the first one tried, tp 1 x pp 7 x dp 1: --pp 7: chimera needs an even number; nearest: 6 or 8
= 2
$ pipesim --schedule 1f1b --gpus 2048 --pp 12
! pipesim: error: 2048 GPUs are not a multiple of tp * cp * pp * dp = 12; nearest: --gpus 2040 or 2052
= 2
$ pipesim --schedule 1f1b --gpus 8 --tp 3
! pipesim: error: 8 GPUs are not a multiple of tp * cp * pp * dp = 3; nearest: --gpus 6 or 9
= 2
$ pipesim --schedule 1f1b --gpus 8 --ep 2
! pipesim: error: --ep 2: gpt3-175b has no experts; a dense model has --ep 1
= 2
$ pipesim --schedule 1f1b --gpus 16 --model mixtral-8x7b --pp 2 --tp 1 --ep 3
! pipesim: error: --ep 3 must divide the 8 experts of mixtral-8x7b and tp / etp * cp * dp = 8; nearest: --ep 2 or 4
= 2
$ pipesim --schedule 1f1b --gpus 16 --model mixtral-8x7b --pp 2 --tp 2 --etp 3
! pipesim: error: --etp 3 does not divide tp 2
= 2
$ pipesim --schedule 1f1b --gpus 16 --pp 2 --capacity-factor 2
! pipesim: error: --capacity-factor 2: gpt3-175b has no experts
= 2
$ pipesim --schedule 1f1b --gpus 16 --model mixtral-8x7b --ep-share 100%
! pipesim: error: --ep-share 100%: expected less than 1 (100 %)
= 2
$ pipesim --schedule 1f1b --gpus 16 --model mixtral-8x7b --ep-overlap 120%
! pipesim: error: --ep-overlap 120%: expected at most 1 (100 %)
= 2
$ pipesim --schedule 1f1b --gpus 16 --model llama3-8b --top-k 2
! pipesim: error: --top-k 2: the model has no experts; give --experts
= 2
$ pipesim --schedule 1f1b --gpus 16 --pp 4 --tp 4 --gbs 7 --mbs 2
! pipesim: error: --gbs 7 is not a multiple of dp * mbs = 1 * 2 = 2; nearest: 6, 8
= 2
$ pipesim --schedule 1f1b --gpus 16 --pp 4 --tp 4 --dp 2
! pipesim: error: 16 GPUs are not tp * cp * pp * dp = 32; nearest: --gpus 32
= 2
$ pipesim --schedule 1f1b --gpus 64 --pp 4 --tp 4 --dp 2
! pipesim: error: 64 GPUs are not tp * cp * pp * dp = 32; nearest: --gpus 32, or --dp 4
= 2
$ pipesim --schedule 1f1b --gpus 64 --pp 3
! pipesim: error: 64 GPUs are not a multiple of tp * cp * pp * dp = 3; nearest: --gpus 63 or 66
= 2
# A cluster that states its nodes has as many GPUs.
$ pipesim --mode infer --model gpt2 --cluster 'node:2 gpu:8' --tp 1 --pp 1 --dp 4
! pipesim: error: 16 GPUs are not tp * cp * pp * dp = 4; nearest: --gpus 4, or --dp 16
= 2
$ pipesim --mode infer --model gpt2 --cluster 'node:2 gpu:8' --tp 1 --pp 1 --dp 32
! pipesim: error: tp * cp * pp * dp = 32 is more than the 16 GPUs of --cluster; nearest: 16
= 2
$ pipesim --schedule 1f1b --cluster 'node:2 gpu:8' --tp 3
! pipesim: error: 16 GPUs are not a multiple of tp * cp * pp * dp = 3; nearest: --gpus 15
= 2
$ pipesim --schedule 1f1b --gpus 8 --pp 8 --micro-batches 8 --gbs 9
! pipesim: error: --gbs 9 is not a multiple of dp * micro-batches = 8; nearest: 8, 16
= 2
$ pipesim --schedule 1f1b --pp 4 --micro-batches 5 --mbs 4 --gbs 32
! pipesim: error: --gbs 32 contradicts dp 1 * mbs 4 * 5 micro-batches = 20; nearest: --gbs 20
= 2
$ pipesim --schedule 1f1b --pp 4 --micro-batches 8 --mbs 4 --gbs 64
! pipesim: error: --gbs 64 contradicts dp 1 * mbs 4 * 8 micro-batches = 32; nearest: --gbs 32, or --mbs 8
= 2
# What is near suits the schedule, too.
$ pipesim --schedule interleaved --pp 4 --mbs 4 --gbs 33
! pipesim: error: --gbs 33 is not a multiple of dp * mbs = 1 * 4 = 4; nearest: 32, 40
= 2
$ pipesim --schedule chimera --pp 4 --micro-batches 3 --gbs 32
! pipesim: error: --micro-batches 3: chimera fills pipelines of 2 each; nearest: 2 or 4
= 2
$ pipesim --schedule 1f1b --gpus 8 --model nosuch
! pipesim: error: unknown model 'nosuch': `pipesim models` lists the presets, such as tiny, gpt2, gpt3-175b or llama3-8b; a file is given by its path, as in ./config.json
= 2
$ pipesim --schedule 1f1b --gpus 8 --model /nonexistent/config.json
! pipesim: error: cannot open /nonexistent/config.json: No such file or directory
= 1
$ pipesim --schedule 1f1b --gpus 8 --cluster h10
! pipesim: error: --cluster: unknown cluster 'h10': did you mean 'h100'? (`pipesim clusters` lists them)
= 2
$ pipesim --schedule 1f1b --gpus 8 --cluster "node:2 gpus:8" --engine dag
> pipesim 0.1.0  1f1b on 8 GPUs                (* = chosen for you, see --explain)
>
>   model    gpt3-175b*  175B parameters, 96 layers, hidden 12288, seq 2048*, bf16
>   cluster  node:2 gpus:8  1 node x 8 H100-SXM 80GB, as given, other values from
>            h100
>   layout   TP 4* x PP 2* x DP 1*, MBS 1*, GBS 2,048* -> 2,048* micro-batches; 48
>            layers a stage, embedding in the first, head in the last
>   state    ZeRO 0*, recompute full*, gradient sync end
>   costs    analytic, fitted on published runs, not on yours; framework plain
>
>   iteration     24.4 min +-2 %   2.86k tokens/s, 358 tokens/s/GPU; p90 10 %
>   MFU             39.0 % +-0.8   385.3 of 989 dense TFLOP/s/GPU (megatron FLOPs)
>   HFU             51.9 % +-1.1   recomputation counted
>   bubble           0.2 %         idle, waiting for other stages
>   peak memory  332.0 GiB +-3 %   of 79.6 GiB on rank 0: DOES NOT FIT
>   1 T tokens  4,042 days +-2 %   776k GPU-hours
>
>   error    median of 42 published runs like this (h100, 16 bits, one node, no
>            experts); p90 10 %, memory's 7 %
>   time     forward 22.2 %, backward 44.5 %, recompute 22.1 %, TP comm 11.0 %,
>            waiting 0.2 %
>   network  exposed 11.0 % of the step; links are not shared (dag)
>
>   memory by rank, GiB     params  grads  optim  activ. buffers other  total
>     rank 0 (stage 0)        40.8   40.8  244.8     1.3     0.2   4.0  332.0 peak
>     rank 1 (stage 1)        40.8   40.8  244.8     0.9     0.2   4.0  331.4
>
>   memory   rank 0 needs 252.4 GiB more than its device has; it holds optimizer
>            of stage 0 244.8 GiB, params of stage 0 40.8 GiB, grads of stage 0
>            40.8 GiB, context and fragments 4.0 GiB, activations of stage 0
>            1.3 GiB
>
>   less memory with                        GiB   iteration
>     --offload os=host --gpus 16 --pp 4 (recompute none)
>                                          64.4       551 s   -62.4 % time, fits
>     --offload os=host                    87.1    24.5 min   +0.3 % time
>     --gpus 16 --tp 8                    168.0    14.5 min   -40.6 % time
>     --gpus 16 --pp 4                    170.0    12.3 min   -49.7 % time
>     --gpus 16 --cp 2 (ZeRO 1)           208.8    13.0 min   -46.8 % time
>     these replace --gpus 8 of the command
>
>   same layout             iteration      MFU    bubble      GiB   tie: < 1 %
>     dualpipe               24.4 min   39.1 %     0.0 %    414.3   out of memory
>     bitpipe VP 2           24.4 min   39.1 %     0.0 %    412.3   out of memory
>     chimera                24.4 min   39.1 %     0.0 %    413.7   out of memory
>     interleaved-zb VP 2    24.4 min   39.0 %     0.2 %    332.3   out of memory
>     1f1b                   24.4 min   39.0 %     0.2 %    332.0   out of memory
>
>   note     does not fit; with --offload os=host --gpus 16 --pp 4 (recompute
>            none) in place of --gpus 8 it needs 64.4 GiB (-62.4 % time, fits):
>            pipesim --schedule 1f1b --gpus 16 --pp 4 --cluster 'node:2 gpus:8' \
>            --offload os=host --engine dag
>   next     --gantt (see it)  --trace t.json.gz (Perfetto)  --json  --explain
$ pipesim --schedule 1f1b --gpus 800 --cluster "node:2 gpu:8"
! pipesim: error: --gpus 800 is more than the 16 of --cluster (2 nodes x 8): --gpus 16, or node:100 in --cluster
= 2
$ pipesim --schedule 1f1b --gpus 8 --preset chimera
! pipesim: error: --preset chimera: unknown preset; did you mean chimera-bert48?
!   pipesim presets describes them
= 2
$ pipesim --schedule 1f1b --gpus 8 --vp 2
! pipesim: error: --vp 2: 1f1b has no such option; schedules that have it: bfs, ...
= 2
$ pipesim --schedule gpipe --gpus 8 --group 4
! pipesim: error: --group 4: gpipe has no such option; schedules that have it: interleaved, interleaved-zb
= 2
$ pipesim --schedule interleaved --pp 4 --micro-batches 9 --unit F=1,B=2
! pipesim: error: --micro-batches 9 does not split into 2 equal groups for --pp 4 without a --group; nearest: 8 or 10
= 2
$ pipesim --schedule chimera --pp 5 --micro-batches 4 --unit F=1,B=2
! pipesim: error: --pp 5: chimera needs an even number; nearest: 4 or 6
= 2
$ pipesim --schedule chimera --pp 4 --micro-batches 4 --pipelines 3 --unit F=1,B=2
! pipesim: error: --pipelines 3 does not divide --pp 4; nearest: 2 or 4
= 2
$ pipesim --schedule 1f1b --pp 4 --micro-batches 4 --unit F=1,X=2
! pipesim: error: --unit: unknown key 'X', known are F, B, I, W, C, FB, R and P (F=1,B=2 or F=1,I=1,W=1,C=0.1)
= 2
$ pipesim --schedule 1f1b --pp 4 --micro-batches 4 --unit F=-1
! pipesim: error: --unit F: "-1" is not a number such as 7.5e9, 175B or 4M (it must not be negative)
= 2
$ pipesim --schedule 1f1b --pp 4 --unit F=1
! pipesim: error: --unit needs --pp and --micro-batches
= 2
$ pipesim --schedule 1f1b --pp 4 --micro-batches 4 --unit F=1 --p2p rendezvous
! pipesim: error: --p2p rendezvous has no effect with --unit, where only compute and C cost time and messages are buffered without bound
= 2
$ pipesim --schedule 1f1b --pp 4 --micro-batches 4 --unit F=1 --gpus 64
! pipesim: error: --gpus 64 has no effect with --unit, which has no model, devices or memory, but the costs of ops alone
= 2
$ pipesim --schedule 1f1b --gpus 8 --seed 3
! pipesim: error: --seed 3 has no effect without --jitter
= 2
$ pipesim --schedule 1f1b --gpus 8 --jitter 100%
! pipesim: error: --jitter 100%: expected less than 1 (100 %)
= 2
$ pipesim --schedule 1f1b --gpus 8 --slow 99=0.5
! pipesim: error: --slow 99=0.5: pipeline ranks are 0 to 1
= 2
$ pipesim --schedule 1f1b --gpus 8 --slow 1
! pipesim: error: --slow 1: expected RANK=FACTOR or RANK.REPLICA=FACTOR with a factor above 0, such as 3=0.8
= 2
$ pipesim --schedule 1f1b --gpus 8 --link-bw nvlink=2
! pipesim: error: --link-bw nvlink: no link has this name; links are named node0.gpu0.up, node0.nic0.up, * stands for any characters; classes are node and network
= 2
$ pipesim --schedule 1f1b --gpus 8 --link-bw network
! pipesim: error: --link-bw network: expected node=FACTOR, network=FACTOR or the name of a link with a factor above 0, such as network=0.5
= 2
$ pipesim --schedule 1f1b --gpus 8 --link-bw network=2 --link-bw network=3
! pipesim: error: --link-bw network=3: network was given before
= 2
$ pipesim --schedule 1f1b --gpus 8 --p2p buffered
! pipesim: error: --p2p buffered: expected rendezvous, or buffered:K with K messages a channel, such as buffered:2
= 2
$ pipesim --schedule 1f1b --gpus 8 --recompute some
! pipesim: error: --recompute some: expected none, selective, selective=MODULES, full or stage-aware=R with R from 0 to 1
= 2
$ pipesim --schedule 1f1b --pp 8 --tp 1 --dp 1 --micro-batches 8 --zero 1
! pipesim: error: --zero 1 has no effect here: there is one replica of each stage, so no gradient is exchanged
= 2
$ pipesim --schedule 1f1b --gpus 8 --json --gantt
! pipesim: error: --json and --gantt both write to stdout; give one of them
= 2
$ pipesim --schedule 1f1b,gpipe --gpus 8 --gantt
! pipesim: error: --gantt shows one schedule, --schedule lists 2; --plot none draws several
= 2
$ pipesim --schedule 1f1b,1f1b --gpus 8
! pipesim: error: --schedule 1f1b,1f1b names 1f1b twice
= 2
$ pipesim --schedule 1f1b --gpus 8 --model gpt2 --params 7e9
! pipesim: error: --model gpt2 contradicts --params, which describes a model by its size alone
= 2
$ pipesim --schedule 1f1b --gpus 8 --dialect 2024
! pipesim: error: --dialect has no effect: no program file is read
= 2
$ pipesim --schedule 1f1b --gpus 8 --compute
! pipesim: error: --compute is not an option of "pipesim run" but of "program"
! try: pipesim run --help
= 2
$ pipesim --schedule /nonexistent/s.csv --gpus 8
! pipesim: error: cannot open /nonexistent/s.csv: No such file or directory
= 1
$ pipesim --schedule 1f1b --pp 4 --micro-batches 4 --unit F=1 --trace /nonexistent/t.csv
! pipesim: error: cannot write '/nonexistent/t.csv': No such file or directory
= 1
$ pipesim --schedule 1f1b --pp 4 --micro-batches 4 --unit F=1 --trace t.txt
! pipesim: error: trace file 't.txt': the name must end in .csv, .csv.gz, .json, .json.gz, .paje, .paje.gz, .trace or .trace.gz
= 2
$ pipesim program --schedule 1f1b --pp 4
! pipesim: error: --micro-batches is needed
= 2
$ pipesim program --schedule 1f1b --pp 4 --micro-batches 4 --compute --post jit
! pipesim: error: --post jit has no effect with --compute
= 2
$ pipesim program --schedule 1f1b --pp 4 --micro-batches 4 -o /nonexistent/x.csv
! pipesim: error: cannot write '/nonexistent/x.csv': No such file or directory
= 1
$ pipesim verify
! pipesim: error: pipesim verify needs 1 operand, not 0
! usage: pipesim verify FILE...
= 2
$ pipesim schedules nosuch
! pipesim: error: unknown schedule nosuch; known are 1f1b, bfs, bitpipe, chimera, dualpipe, dualpipev, eager-1f1b, gems, gpipe, hanayo, interleaved, interleaved-zb, pipedream, pipedream-2bw, seq1f1b, v-1f1b, v-half, v-min, zb-auto, zb-h1, zb-h2, zbv and generate
= 2
$ pipesim models gpt3
> gpt3-175b (gpt family)
>   parameters   174615846912 (175B)
>   layers       96
>   hidden       12288
>   heads        96 of 128, 96 for keys and values
>   feed-forward 49152
>   vocabulary   51200, head tied to the embedding
>   sequence     2048
>   by layer     embedding 654311424, block 1812099072, head 24576 parameters
>   source       Brown et al. 2020, table 2.1; vocabulary padded as in Megatron-LM
$ pipesim presets x
! pipesim: error: unknown preset x; known are axonn-12b, bfs-52b, chimera-bert48, chimera-sc21, colossal-h200-7b, deepseek-v3, elixir-opt30b, gpt3-175b-selective, harmony-bert96, llama2-70b, llama3-405b, llama3-405b-8k, llama3-70b-fp8, megatron-sc21-145b, merak, mesa-deit-b, mesa-deit-s, mesa-deit-ti, mixtral-8x7b, patrickstar-superpod, patrickstar-yard, zero-infinity-dgx2 and zero-offload-10b
= 2
$ pipesim help nosuch
! pipesim: error: help nosuch: no such command, topic or option; known are run, schedules, models, clusters, presets, program, verify, compare, calibrate, sweep, plot, validate, plan, check, export, help, bubble, infer, memory, mfu, tiers, units, bash, zsh, fish and man
= 2
$ pipesim --schedule 1f1b --gpus 8 --tp 1048576 --cp 1048576 --dp 1048576 --pp 16
! pipesim: error: tp * cp * pp * dp is more than 1,048,576 GPUs
= 2
$ pipesim --schedule 1f1b --gpus 64 --pp 4 --slow 3.=0.5
! pipesim: error: --slow 3.=0.5: expected RANK=FACTOR ...
= 2
$ pipesim --schedule 1f1b --gpus 64 --pp 4 --slow 3=0.5 --slow 3=0.9
! pipesim: error: --slow 3=0.9: rank 3 was slowed before
= 2
$ pipesim --schedule pipedream --order eager --unit F=1 --pp 4 --micro-batches 8
! pipesim: error: --order eager: pipedream names a fixed number of weight versions, ...
= 2
$ pipesim --schedule v-half --unit F=100000,I=100000,W=100000,C=1000 --pp 4 --micro-batches 16
! pipesim: error: the step takes ...
= 1
$ pipesim --schedule 1f1b --gpus 8 --link-bw node=1e-300
! pipesim: error: --link-bw node=1e-300: the factor is out of range: 1e-06 to 1e+06
= 2
$ pipesim clusters latency:5
! pipesim: error: --cluster: latency:5: "5" has no unit: 5us (or ns, ms, s)? (as in latency:5us)
= 2
$ pipesim clusters meson.build
! pipesim: error: --cluster: unknown cluster 'meson.build': built in are a100 a100-40 a6000 a800 b200 b300 gb200 gb300 gh200 gtx1080ti h100 h200 h800 l40s mi300x mi325x p100-daint rtx4090 rtx5090 v100-16 v100-dgx1 v100-dgx2; or a text as "node:2 gpu:8 device:a100 nic:8x200Gbps"; for the file of that name: ./meson.build
= 2
# Of a run, pictures are files.
$ pipesim run --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1 -o x.png
! pipesim: error: -o x.png is for --emit; a run is drawn with --plot FILE, its report goes to stdout
= 2
# A trace for viewers is not read again by any command.
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --trace view.paje >log; for c in plot "compare view.paje"; do pipesim $c view.paje; done
! pipesim: error: view.paje: a trace in Paje's format is for viewers; expected one in .csv or .json, which hold all of it
! pipesim: error: view.paje: a trace in Paje's format is for viewers; expected one in .csv or .json, which hold all of it
= 2
$ pipesim --schedule "$(printf '1f\033[31m1b')" 2>&1 | head -1 | cut -c 1-60
> pipesim: error: --schedule 1f\x1b[31m1b: unknown schedule; k
$ printf '{"model_type": "a\\u001b[31mb"}' >c.json; pipesim --schedule 1f1b --model c.json 2>&1 | cut -c 1-60
> pipesim: error: c.json: unknown architecture 'a\x1b[31mb': k
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1,B=2 --json | sed 's/"1f1b"/"1f\\u001b[31m1b"/' >r.json; for how in --from check; do pipesim $how r.json 2>&1 | head -1 | cut -c 1-60; done
> pipesim: error: --schedule 1f\x1b[31m1b: unknown schedule; k
> pipesim: error: r.json: --schedule 1f\x1b[31m1b: unknown sch
$ pipesim program --schedule 1f1b --tp 2
! pipesim: error: --tp is not an option of "pipesim program" but of "run", "sweep", "plan", "export"; a program is the same for every model, cluster, --tp and --dp
! try: pipesim program --help
= 2
# What pipeexec and trainers call by a name that is none here.
$ pipesim --schedule 1f1b --checkpoint-every 2
! pipesim: error: unknown option --checkpoint-every; only pipeexec has it: pipeexec help --checkpoint-every
! try: pipesim run --help
= 2
$ for o in gradient_accumulation_steps bf16 expert-tensor-parallel-sizes optim; do pipesim --schedule 1f1b --$o 2 2>&1 | head -1; done
> pipesim: error: unknown option --gradient_accumulation_steps; its name here is --micro-batches N
> pipesim: error: unknown option --bf16; its name here is --precision bf16
> pipesim: error: unknown option --expert-tensor-parallel-sizes; did you mean --expert-tensor-parallel-size?
> pipesim: error: unknown option --optim; leave it out: the optimizer is AdamW
# --quiet prints no report.
$ pipesim --schedule 1f1b --pp 2 --tp 1 --model gpt3-175b --quiet --require-fit 2>&1 | head -1; pipesim --schedule 1f1b,zbv --pp 2 --model tiny --micro-batches 8 --quiet; cd $TMPDIR; pipesim --schedule 1f1b --pp 2 --model tiny --micro-batches 2 --quiet --trace quiet.csv; head -1 quiet.csv
> pipesim: error: 1f1b needs 1315.7 GiB on pipeline rank 0, the device has 79.6 GiB
> step,rank,replica,stream,cell,posted_s,matched_s,start_s,end_s,duration_s,bytes,program_hash
$ pipesim --schedule 1f1b --pp 2 --quiet --json
! pipesim: error: --json writes to stdout, and --quiet nothing; give one of them
= 2
# A preset and a folder may have the same name.
$ cd $TMPDIR; mkdir tiny; cp $OLDPWD/tests/data/configs/gemma-7b.json tiny/config.json; for m in tiny ./tiny; do pipesim --schedule 1f1b --pp 2 --tp 1 --micro-batches 2 --model $m | sed -n '/^  model/,/^  cluster/p' | grep -o '^  model *[^ ]*\|a preset.*'; done
>   model    tiny
> a preset; --model ./tiny is the model of the folder
>   model    ./tiny/config.json
# Words of --recompute, and the price R.
$ pipesim --schedule 1f1b --pp 4 --gpus 4 --model gpt2 --recompute none,skip
! pipesim: error: --recompute none,skip: a contradiction, as nothing is recomputed; nearest: none, or full,skip
= 2
$ pipesim --schedule 1f1b --pp 4 --gpus 4 --model gpt2 --recompute full,early,late
! pipesim: error: --recompute full,early,late: a contradiction, as R either runs before the gradient arrives or waits for it; give early or late
= 2
$ pipesim --schedule 1f1b --pp 4 --gpus 4 --model gpt2 --recompute full,lazy
! pipesim: error: --recompute full,lazy: unknown word 'lazy'; words after the comma are early, late and skip
= 2
$ pipesim --schedule 1f1b --pp 4 --gpus 4 --model gpt2 --recompute full,skip,skip
! pipesim: error: --recompute full,skip,skip: skip is given twice
= 2
$ pipesim --schedule 1f1b --pp 4 --gpus 4 --model gpt2 --recompute full,
! pipesim: error: --recompute full,: unknown word ''; words after the comma are early, late and skip
= 2
$ pipesim --schedule 1f1b --pp 4 --gpus 4 --model gpt2 --recompute ,late
! pipesim: error: --recompute ,late: expected none, selective, selective=MODULES, full or stage-aware=R with R from 0 to 1
= 2
$ pipesim --schedule 1f1b --pp 4 --gpus 4 --model gpt2 --recompute late
! pipesim: error: --recompute late: expected none, selective, selective=MODULES, full or stage-aware=R with R from 0 to 1
= 2
$ pipesim --schedule 1f1b --pp 4 --micro-batches 4 --unit F=1,B=2,R=1
! pipesim: error: --unit F=1,B=2,R=1: R has no effect without --recompute; give --recompute full, or leave R out
= 2
$ pipesim --schedule 1f1b --pp 4 --micro-batches 4 --unit F=1,B=2,R=1 --recompute none
! pipesim: error: --unit F=1,B=2,R=1: R has no effect without --recompute; give --recompute full, or leave R out
= 2
$ pipesim --schedule 1f1b --pp 4 --micro-batches 4 --unit F=1,B=2 --recompute full
! pipesim: error: --recompute full: --unit F=1,B=2 says what F and B cost, not what R does; nearest: --unit F=1,B=2,R=1
= 2
$ pipesim --schedule 1f1b --pp 4 --micro-batches 4 --unit F=1,B=2,R=1 --recompute selective=mlp
! pipesim: error: --recompute selective=mlp: there is no model here, whose modules could be chosen; nearest: selective
= 2
$ pipesim --schedule 1f1b --pp 4 --micro-batches 4 --unit F=1,B=2,R=-1 --recompute full
! pipesim: error: --unit R: "-1" is not a number such as 7.5e9, 175B or 4M (it must not be negative)
= 2
$ pipesim program --schedule 1f1b --pp 4 --micro-batches 4 --recompute stage-aware=0.5,late
! pipesim: error: --recompute stage-aware=0.5,late: expected none, selective or full (the share by stage needs a model)
= 2
