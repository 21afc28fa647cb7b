# Generation: closed forms in unit mode, programs, and what is refused.
$ for n in 3 8; do pipesim --mode infer --unit F=1 --pp 4 --groups $n --tokens 16 --json | grep iteration_s; done
>   "iteration_s": 66.0,
>   "iteration_s": 131.0,
$ pipesim --mode infer --unit F=1,P=4 --pp 4 --groups 8 --prompt-groups 16 --tokens 16 --json | grep iteration_s
>   "iteration_s": 158.0,
$ pipesim program --mode infer --pp 2 --groups 2 --prompt-groups 4 --tokens 3 --compute | tee own.csv
> # passes: 3
> 0F0,0F1,0F2,0F3,2F0-1,2F2-3,4F0-1,4F2-3
> 1F0,1F1,1F2,1F3,3F0-1,3F2-3,5F0-1,5F2-3
$ pipesim --mode infer --schedule ./own.csv --unit F=1 --gantt
> P0 |F0a F1a F2a F3a F0b f0b F2b f2b F0c f0c F2c f2c  .   . |
> P1 | .  F0a F1a F2a F3a  .  F0b f0b F2b f2b F0c f0c F2c f2c|
> one column = 0.5 units, 14 columns in all
> F forward, small letter: same op, . idle
> numbers count 1/2 micro-batches; an op names its first
> F3a is in a rank's first chunk, F3c in its last
$ pipesim --mode infer --schedule 1f1b --pp 4 --unit F=1
! pipesim: error: --schedule 1f1b trains; --mode infer has the schedule generate
= 2
$ pipesim --schedule generate --pp 4 --micro-batches 8 --unit F=1
! pipesim: error: --schedule generate generates tokens and does not train; give --mode infer
= 2
$ pipesim --schedule ./own.csv --unit F=1
! pipesim: error: ./own.csv has 3 passes, which generate tokens; give --mode infer
= 2
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 2 --compute > train.csv; pipesim --mode infer --schedule ./train.csv --unit F=1
! pipesim: error: ./train.csv states no passes, so it does not generate with --mode infer; its head needs a line such as '# passes: 4'
= 2
$ pipesim --mode infer --schedule ./own.csv --tokens 4 --unit F=1
! pipesim: error: --tokens 4 contradicts ./own.csv, which has 3
= 2
$ pipesim --mode infer --unit F=1 --tokens 4
! pipesim: error: --unit needs --pp, and --groups and --tokens
= 2
$ pipesim --schedule 1f1b --pp 4 --micro-batches 4 --unit F=1,P=3
! pipesim: error: --unit F=1,P=3: P is the prompt of a group, which only --mode infer reads
= 2
$ pipesim --schedule 1f1b --pp 4 --tokens 4
! pipesim: error: --tokens 4 has no effect without --mode infer
= 2
$ for words in "--micro-batches 8" "--recompute full" "--steps 2" "--zero 1" "--mbs 4" "--gbs 8" "--seq 99" "--vp 2" "--cp 2" "--grad-sync eager" "--cost c.json" "--emit megatron" "--act-bits 8"; do pipesim --mode infer --model gpt2 --gpus 1 $words; done
! pipesim: error: --micro-batches 8 is of training, not of --mode infer; nearest: --groups
! pipesim: error: --recompute full is of training, not of --mode infer; forwards alone save nothing
! pipesim: error: --steps 2 is of training, not of --mode infer; nearest: --tokens
! pipesim: error: --zero 1 is of training, not of --mode infer; there is no optimizer state; nearest: --tp, --pp or --offload p=host
! pipesim: error: --mbs 4 is of training, not of --mode infer; --batch counts the sequences of a replica, which --groups divides
! pipesim: error: --gbs 8 is of training, not of --mode infer; nearest: --batch, the sequences of a replica
! pipesim: error: --seq 99 is of training, not of --mode infer; nearest: --prompt and --tokens
! pipesim: error: --vp 2 is of training, not of --mode infer; each rank holds one stage, and --tokens counts the passes through it
! pipesim: error: --cp 2 is of training, not of --mode infer; a cache of keys and values is not cut by tokens; nearest: --tp
! pipesim: error: --grad-sync eager is of training, not of --mode infer; there is no backward and no update; leave it out
! pipesim: error: --cost c.json is of training, not of --mode infer; durations of training do not tell those of passes with a cache
! pipesim: error: --emit megatron is of training, not of --mode infer; frameworks of training do not generate
! pipesim: error: --act-bits 8 is of training, not of --mode infer; there is no backward and no update; leave it out
= 2
$ pipesim --mode infer --pp 4 --tokens 20000 --unit F=1
! pipesim: error: --pp 4 times --tokens 20000 is more than 65535 stages; at most --tokens 16383
= 2
$ pipesim --mode infer --unit F=1 --pp 2 --groups 4 --prompt-groups 6
! pipesim: error: --prompt-groups 6 is not a multiple of the 4 groups; nearest: 4 or 8
= 2
$ pipesim --mode infer --unit F=1 --pp 2 --batch 4
! pipesim: error: --batch 4 has no effect with --unit, which has no model, devices or memory, but the costs of ops alone
= 2
$ pipesim --mode infer --model gpt2 --gpus 1 --batch 10 --groups 4
! pipesim: error: --groups 4 does not divide the batch of 10; nearest: 2 or 5
= 2
$ pipesim --mode infer --model gpt2 --gpus 1 --batch 8 --groups 2 --prompt-groups 16
! pipesim: error: --prompt-groups 16: a piece has at least one of the 8 sequences; nearest: 8
= 2
$ pipesim --mode infer --model gpt2 --gpus 1 --batch 8 --groups 2 --prompt-groups 6
! pipesim: error: --prompt-groups 6 does not divide the batch of 8; nearest: 4 or 8
= 2
$ pipesim --mode infer --model gpt2 --gpus 1 --prompt 1000 --tokens 200
! pipesim: error: --prompt 1000 and --tokens 200: gpt2 has a table of 1024 positions; nearest: --tokens 24
= 2
$ pipesim --mode infer --model gpt2 --gpus 1 --prompt 2000 --tokens 24
! pipesim: error: --prompt 2000 and --tokens 24: gpt2 has a table of 1024 positions; nearest: --prompt 1000
= 2
$ pipesim --mode infer --model bert-large --gpus 1 --tokens 3
! pipesim: error: --tokens 3: bert-large is an encoder, which reads a prompt once and generates nothing; nearest: --tokens 1
= 2
$ for words in "--kv-bits 3" "--weight-bits 6" "--kv paged:0" "--kv some" "--packed 120%" "--packed 0" "--sampling beam" "--mode serve"; do pipesim --mode infer --model gpt2 --gpus 1 $words; done
! pipesim: error: --kv-bits: "3" is not one of 16, 8 and 4
! pipesim: error: --weight-bits: "6" is not one of 16, 8 and 4
! pipesim: error: --kv paged:0: expected contiguous, or paged:TOKENS with the tokens of a page, such as paged:16
! pipesim: error: --kv some: expected contiguous, or paged:TOKENS with the tokens of a page, such as paged:16
! pipesim: error: --packed 120%: a share above 0 and at most 100 % of the tokens is real; nearest: --packed 100%
! pipesim: error: --packed 0: a share above 0 and at most 100 % of the tokens is real; nearest: --packed 1%
! pipesim: error: --sampling: "beam" is not one of greedy and top-p
! pipesim: error: --mode: "serve" is not one of train and infer
= 2
