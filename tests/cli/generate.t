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
> numbers count pieces, 2 a group; an op names its first
> F0a is of the pass over the prompts, F0c makes the last token
# A program file has its groups and pieces also with --unit, and the time of its schedule.
$ pipesim --mode infer --schedule ./own.csv --unit F=1,C=0.5 --json | grep -E '"(groups|prompt_groups|vp|iteration_s)"'; pipesim --mode infer --unit F=1,C=0.5 --pp 2 --groups 2 --prompt-groups 4 --tokens 3 --json | grep -E '"(groups|prompt_groups|vp|iteration_s)"'
>     "vp": 1,
>   "iteration_s": 9.0,
>     "groups": 2,
>     "prompt_groups": 4,
>     "vp": 1,
>   "iteration_s": 9.0,
>     "groups": 2,
>     "prompt_groups": 4,
>     "groups": "2",
# The schedule is in each list, and is all that --schedule all names.
$ pipesim schedules | tail -1; pipesim schedules --json | grep '"generate"'; pipesim schedules generate --json | grep '"name"'; pipesim sweep --mode infer --model tiny-llama --pp 2 --schedule all --tokens 3 | cut -d, -f1,2
> With --mode infer there is generate; see pipesim schedules generate.
>       "name": "generate",
>       "name": "generate",
> point,schedule
> 0,generate
# A pass that jitter or a fast device shortens may read memory faster than the device of the data sheet.
$ for o in "--jitter 60% --seed 2" "--slow 0=2"; do pipesim --mode infer --model llama3-70b --gpus 1 --tokens 2 --batch 1 $o --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["inference"]["memory_bandwidth_frac"] > 1)'; done; pipesim --mode infer --model deit-b --cluster p100-daint --prompt 7 --gpus 1 --tokens 1 --batch 4101 --jitter 50% --json | grep -c mfu
> True
> True
> 2
# The page says what its figures are, and has no words of training.
$ pipesim --mode infer --model tiny-llama --pp 2 --batch 4 --tokens 3 --html page.html --quiet; for w in "end of the prompts of a group" "one training step" "training on" "MBS" "ZeRO"; do echo "$w: $(grep -c "$w" page.html)"; done
> end of the prompts of a group: 1
> one training step: 0
> training on: 0
> MBS: 0
> ZeRO: 0
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
$ for u in F=0 F=0,P=1; do pipesim --mode infer --unit $u --pp 2 --groups 2 --tokens 3 --json | grep iteration_s; done
>   "iteration_s": 3.0,
! pipesim: error: --unit: no op would take time; give F a time above 0, such as F=1
$ pipesim --schedule 1f1b --pp 4 --micro-batches 4 --unit F=1,P=3
! pipesim: error: --unit F=1,P=3: P is the prompt of a group, which only --mode infer reads
= 2
$ pipesim --schedule 1f1b --pp 4 --tokens 4
! pipesim: error: --tokens 4 has no effect without --mode infer
= 2
$ for words in "--batch 4" "--unit F=1 --tokens 8" "sweep --batch 1:8:x2"; do pipesim $words; done; pipesim --mode infer --pp 4 --tokens 8 --unit F=1 --quiet
! pipesim: error: --batch 4 has no effect without --mode infer
!   try: pipesim --mode infer --batch 4
! pipesim: error: --tokens 8 has no effect without --mode infer
!   try: pipesim --mode infer --pp 4 --tokens 8 --unit F=1
! pipesim: error: --batch 1:8:x2 has no effect without --mode infer
!   try: pipesim sweep --mode infer --batch 1:8:x2
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
$ for o in "--offload p=host,kv=host:40%" "--kv paged:16" "--kv-bits 8" "--offload p=host --quiet"; do pipesim --mode infer --model bert-large --gpus 1 $o; echo $?; done
> 2
> 2
> 2
> 0
! pipesim: error: --offload p=host,kv=host:40%: bert-large is an encoder, which keeps no keys and values; nearest: --offload p=host
! pipesim: error: --kv paged:16: bert-large is an encoder, which keeps no keys and values; leave it out
! pipesim: error: --kv-bits 8: bert-large is an encoder, which keeps no keys and values; leave it out
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
# The report: no word of training, 80 columns, plain ASCII in a pipe. Figures are left out here.
$ pipesim --mode infer --model llama2-70b --cluster a100 --tp 4 --batch 16 | sed 's/[0-9][0-9.,]*[kM]*/N/g'
> pipesim N  generate on N GPUs            (* = chosen for you, see --explain)
>
>   model    llamaN-Nb  NB parameters, N layers, hidden N bfN
>   cluster  aN  N node x N AN-SXMN NGB, DGX AN: NxN Gb/s HDR InfiniBand,
>            fat tree
>   serve    TP N x PP N* x DP N*, N sequences in N* group: N* tokens in,
>            N* out
>   costs    analytic, fitted on published runs, not on yours; framework plain
>
>   first token         N ms   prompts N tokens/s; compute bound
>   each token         N ms   N tokens/s a sequence; memory bound, N % of
>                                N TB/s; weights are N % of what is read, KV
>                                N %
>   all                 N s   N tokens/s, N tokens/s/GPU
>   peak memory       N GiB   of N: fits; KV N KiB a token, N GiB here
>   room     N sequences of N tokens, or N of N; = (N - N GiB)
>            / N MiB a sequence of N tokens
>
>   error    median and pN of published generations (aN TP > N): latency N and
>            N % (N), tokens/s N and N % (N of aN), time to first N and N %
>            (N of aN), time of each N and N % (N of aN)
>   time     matrices N % | attention N % | other kernels N % | TP comm N %
>   faster   batch N: N tokens/s at N ms a token, but first token N s;
>            TP N: N ms a token, N tokens/s
>   next     --gantt  --json  --explain; pipesim plan --mode infer;
>            pipesim help infer
$ pipesim --mode infer --model llama2-7b --cluster a100 --pp 4 --batch 8 --prompt-groups 8 --kv-bits 8 --kv paged:16 | sed -n 's/[0-9][0-9.,]*[kM]*/N/g; /^  serve/,/^  [cn]/p; /rank, GiB/,$p'
>   serve    TP N* x PP N x DP N*, N sequences in N* groups, prompts in N pieces:
>            N* tokens in, N* out, KV in N bits, pages of N tokens
>   costs    analytic, fitted on published runs, not on yours; framework plain
>   memory by rank, GiB     params      KV  activ. buffers  other   total
>     rank N                  N    N    N    N   N    N
>     rank N                  N    N    N    N   N    N
>     rank N                  N    N    N    N   N    N
>     rank N                  N    N    N    N   N    N peak
>
>   faster   batch N: N tokens/s at N ms a token, but first token N ms;
>            TP N: N ms a token, N tokens/s
>   next     --gantt  --json  --explain; pipesim plan --mode infer;
>            pipesim help infer
$ pipesim --mode infer --model llama2-70b --cluster a100 --tp 4 --batch 16 | awk 'length($0) > 80'; pipesim --mode infer --model llama2-70b --cluster a100 --tp 4 --batch 16 | LC_ALL=C grep -cE '[^ -~]|train|gradient|ZeRO|optimizer|1 T tokens'
> 0
= 1
$ pipesim --mode infer --model gpt2 --gpus 1 --json | sed -n '/"inference"/,/^  }/p' | tr -d ' ",{}' | cut -d: -f1 | xargs
> inference batch groups prompt_groups prompt_tokens new_tokens first_token_s first_token_p90_s token_s token_p90_s latency_s tokens_per_s tokens_per_s_per_gpu prompt_tokens_per_s kv_bytes_per_token kv_bytes max_batch memory_bandwidth_frac bound prompt token tier tier_bytes_per_s
$ pipesim --mode infer --model gpt2 --gpus 1 --batch 4 --json | grep -E '"(mode|zero|recompute|grad_sync|hfu|error|kv_bytes_per_token|kv_bytes|new_tokens)"'
>   "mode": "infer",
>     "zero": null,
>     "recompute": null,
>     "grad_sync": null
>   "hfu": null,
>     "new_tokens": 128,
>     "kv_bytes_per_token": 36864,
>     "kv_bytes": 37601280,
>   "error": {
>     "recompute": 0.0,
>     "kv_bytes": 37601280,
>         "kv_bytes": 37601280,
>     "mode": "infer",
$ pipesim --mode infer --unit F=1,P=4 --pp 4 --groups 8 --prompt-groups 16 --tokens 16
> pipesim 0.1.0  generate, 4 ranks, 8 groups
>
>   units    F 1, prompt P 4, C 0; messages buffered
>   serve    8 groups, prompts in 16 pieces: 16 tokens out
>
>   first token       24 units   median of the groups; 90 % within 35.2 units
>   each token       8.7 units   later tokens, of a group; 90 % within 9.26 units
>   all              158 units   first start to last end
>   bubble               3.8 %   idle, waiting for other stages
>
>   time     forward 96 % | waiting 4 %
>   next     --gantt (see it)  --trace t.json.gz (Perfetto)  --json  --explain
# The largest batch fits, one more does not; the report says it.
$ b=$(pipesim --mode infer --model llama2-7b --cluster a100 --tp 1 --json | grep -o 'max_batch": [0-9]*' | cut -d' ' -f2); for k in $b $((b + 1)); do pipesim --mode infer --model llama2-7b --cluster a100 --tp 1 --batch $k --require-fit --quiet 2>&1 | sed 's/[0-9][0-9.]*/N/g'; echo ${PIPESTATUS[0]}; done
> 0
> pipesim: error: generate needs N GiB on pipeline rank N, the device has N GiB; the largest batch is N
> 3
$ pipesim --mode infer --model llama2-70b --gpus 1 --cluster a100 --require-fit --quiet
! pipesim: error: generate needs 131.6 GiB on pipeline rank 0, the device has 79.3 GiB; not even one sequence fits; nearest: --weight-bits 8, or --tp 2 on 2 GPUs
= 3
# A sweep has the figures of tokens.
$ cd $TMPDIR; pipesim sweep --mode infer --model llama2-7b --gpus 1 --batch 1:4:x2 --tokens 8 -o s.csv 2>/dev/null; head -1 s.csv | tr , '\n' | sed -n '/^first_token_s/,/^status/p' | xargs; cut -d, -f2,17 s.csv; pipesim plot s.csv -x token_s -y tokens_per_s | head -1
> first_token_s first_token_p90_s token_s token_p90_s latency_s prompt_tokens_per_s kv_bytes_per_token memory_bandwidth_frac max_batch status
> schedule,mode
> generate,infer
> generate,infer
> generate,infer
>  tokens/s over time a token
! note: tokens_per_s over token_s (other columns: -x, -y, --by)
# A plan: the best within a limit, or exit 3 with the best found.
$ pipesim plan --mode infer --model llama2-70b --cluster a100 --gpus 8 --max-token-s 1s --objective latency --top 2 | sed 's/[0-9][0-9.,]*[kM]*/N/g; s/  */ /g'
> pipesim N plan to serve llamaN-Nb (NB) on aN
>  N layouts and batches of a replica; objective latency, at most N s a
>  token; N tokens in, N out
>
>  # GPUs TP PP replicas batch groups first token tokens/s a GPU GiB
>  N N N N N N N N ms N ms N N N
>  N N N N N N N N ms N ms N N N
>  error median and pN of published generations (aN TP > N): latency N and
>  N % (N), tokens/s N and N % (N of aN), time to first N and N %
>  (N of aN), time of each N and N % (N of aN)
>  choose pipesim --mode infer --gpus N --tp N --pp N --dp N --batch N \
>  --model llamaN-Nb --cluster aN
$ pipesim plan --mode infer --model llama2-7b --cluster a100 --gpus 2 --batch 4 --max-first-token-s 1s --json | grep -E '^  "(schema|mode|objective|max_[a-z_]*|best)"'
>   "schema": "pipesim.plan/1",
>   "mode": "infer",
>   "objective": "throughput",
>   "max_token_s": null,
>   "max_first_token_s": 1.0,
>   "best": {
$ pipesim plan --mode infer --model llama2-7b --cluster a100 --gpus 1 --batch 4 --max-token-s 1us --json 2>err | grep '"best"'; echo ${PIPESTATUS[0]}; sed 's/[0-9][0-9.]*/N/g' err
>   "best": null,
> 3
> pipesim: error: no layout is within the limits; the fastest, TP N x PP N x DP N with batch N, has N ms to the first token and N ms for each
$ pipesim plan --mode infer --model llama2-7b --gpus 1 --max-token-s 50
! pipesim: error: --max-token-s: "50" has no unit: 50us (or ns, ms, s)?
= 2
$ for words in "--mode infer --objective step" "--objective latency" "--max-token-s 1s" "--mode infer --free tp" "--mode infer --largest 1:4"; do pipesim plan --gpus 1 --model gpt2 $words; done
! pipesim: error: --objective step is of training; with --mode infer: throughput, latency or first-token
! pipesim: error: --objective latency serves; give --mode infer, or --objective step
! pipesim: error: --max-token-s 1s has no effect without --mode infer
! pipesim: error: --free tp has no effect with --mode infer: tp, pp, dp and batch are free where they are not given
! pipesim: error: --largest 1:4 has no effect with --mode infer: tp, pp, dp and batch are free where they are not given
= 2
# The tool takes the fewest devices of a node in which the run fits.
$ for m in gpt2 llama2-70b gpt3-175b; do pipesim --mode infer --model $m --cluster a100 --json | grep -E '^    "gpus"|"fits"' | tr -d '\n '; echo; done
> "gpus":1,"fits":true,
> "gpus":2,"fits":true,
> "gpus":8,"fits":true,
# Other tiers: parameters and the cache can be there.
$ for o in "--offload a=host" "--offload os=host" "--offload os=host,kv=host"; do pipesim --mode infer --model gpt2 --gpus 1 $o 2>&1 | cut -d';' -f1; done
> pipesim: error: --offload a=host is of training: with --mode infer parameters and the cache can be on another tier
> pipesim: error: --offload os=host is of training: with --mode infer parameters and the cache can be on another tier
> pipesim: error: --offload os=host,kv=host is of training: with --mode infer parameters and the cache can be on another tier
# A program file has its groups and pieces in unit mode, too; an option that is given has no star.
$ pipesim --mode infer --schedule ./own.csv --unit F=1 | grep serve; pipesim --mode infer --model gpt2 --gpus 1 --prompt 64 | grep -A1 '^  serve'
>   serve    2 groups, prompts in 4 pieces: 3 tokens out
>   serve    TP 1* x PP 1* x DP 1*, 1* sequence in 1* group: 64 tokens in,
>            128* out
# With a price, a plan says what tokens cost, as the report of its best row does.
$ pipesim plan --mode infer --model llama3-8b --gpus 1 --batch 64 --price '$2/h' | sed -n '/#/,/^   1/p' | awk '{print $(NF-1)}'; pipesim --mode infer --model llama3-8b --gpus 1 --batch 64 --price '$2/h' | grep -A1 '^  all' | tr -d '\n' | tr -s ' ' | grep -o '1M.*'
> cost
> $0.0825
> 1M tokens cost $0.0825
# A run that does not fit says what helps, and that does.
$ run() { pipesim --mode infer --model llama3-70b --pp 8 --prompt 7000 --tokens 1000 "$@"; }; run --gpus 8 --batch 150 | grep -A1 'to fit'; for o in "--gpus 8 --batch 114" "--gpus 8 --batch 150 --prompt-groups 150" "--gpus 8 --batch 150 --kv-bits 8" "--gpus 16 --batch 150 --tp 2"; do run --json $o | grep '"fits"'; done
>   to fit   --batch 114, or --prompt-groups 150, or --kv-bits 8, or --tp 2 on
>            16 GPUs
>   "fits": true,
>   "fits": true,
>   "fits": true,
>   "fits": true,
# Page and --explain have no words of training.
$ pipesim --mode infer --model gpt2 --gpus 1 --batch 4 --html page.html --quiet; grep -o '<dt>[a-z]*' page.html | cut -c5- | xargs; pipesim --mode infer --model gpt2 --gpus 1 --explain | grep -ciE 'gradient|optimizer|  step |micro-batch'
> first each all peak model cluster layout costs folding engine
> 0
= 1
# A plan names the fewest devices within the limits, writes its choices, and counts nodes if one has no room.
$ pipesim plan --mode infer --model llama2-7b --cluster a100 --batch 4 --max-token-s 10ms --top 1 -o plan.csv | grep -A1 fewest; awk -F, 'NR > 1 && $13 { print $1 }' plan.csv | sort -n | head -1; head -1 plan.csv; rm plan.csv
>       1-2: replicas are alike; GPUs and tokens/s are those of the fewest
>   fewest   2 GPUs are within the limits: TP 2 x PP 1 x DP 1 with batch 4, 25.1
>            ms to the first token, 8.54 ms for each, 461 tokens/s
> 2
> gpus,tp,pp,dp,batch,groups,first_token_s,token_s,tokens_per_s,tokens_per_s_per_gpu,peak_mem_bytes,fits,meets,most_replicas
$ pipesim plan --mode infer --model llama2-7b --cluster a100 --batch 4 --max-token-s 10ms --json | python3 -c 'import json,sys; r=json.load(sys.stdin); print(r["fewest"]["layout"]["gpus"], min(p["layout"]["gpus"] for p in r["points"] if p["meets"]), min(p["layout"]["gpus"] for p in r["points"]))'
> 2 2 1
$ pipesim plan --mode infer --model llama2-7b --cluster a100 --batch 4 --gpus 2 --json | grep '"fewest"'
>   "fewest": null,
$ pipesim plan --mode infer --model gpt3-175b --cluster 'v100 gpu:4' --batch 4 --tokens 2 --json | python3 -c 'import json,sys; r=json.load(sys.stdin); print(r["fewest"]["layout"]["gpus"], max(p["layout"]["gpus"] for p in r["points"]))'
> 16 16
$ pipesim plan --mode infer --model llama2-7b --cluster a100 --gpus 2 --batch 4 --tokens 1 --html plan.html -o - | cut -d, -f1-6,8 | head -2; grep -oE '<h[12][^>]*>[^<]*|>(each|first) token \([a-z]*\)' plan.html; rm plan.html
> gpus,tp,pp,dp,batch,groups,token_s
> 2,1,1,2,4,1,
> <h1>Serving llama2-7b on a100
> <h2 id="choices">Choices
> >first token (ms)
> <h2 id="report">Report
# Pictures of a sweep have words of serving; sizes of training follow the batch.
$ pipesim sweep --mode infer --model llama2-7b --cluster a100 --tp 1 --batch 1:4:x2 --pp 1,2 --tokens 8 -o s.csv 2>/dev/null; for k in "--kind throughput-latency" "--kind throughput" "--kind memory" ""; do pipesim plot s.csv $k -o p.gp; grep -oE "set [xy]label '[^']*'|pp [0-9][^']*'" p.gp | sort -u; done 2>&1; rm s.csv p.gp*
> note: tokens_per_s over token_s by pp (other columns: -x, -y, --by)
> pp 1'
> pp 2'
> set xlabel 'time a token (ms)'
> set ylabel 'tokens/s'
> note: tokens_per_s_per_gpu over gbs_per_gpu by pp (other columns: -x, -y, --by)
> pp 1'
> pp 2'
> set xlabel 'sequences per GPU'
> set ylabel 'tokens/s per GPU'
> pp 1, batch 1'
> pp 1, batch 2'
> pp 1, batch 4'
> pp 2, batch 1'
> pp 2, batch 2'
> pp 2, batch 4'
> set ylabel 'memory per device (GiB)'
> note: tokens_per_s_per_gpu over batch by pp (other columns: -x, -y, --by)
> pp 1'
> pp 2'
> set xlabel 'batch (sequences of a replica)'
> set ylabel 'tokens/s per GPU'
# Degrees that no power of two has are planned, too.
$ for o in "--pp 3" "--tp 3" "--dp 16 --tp 1" "--tp 16"; do pipesim plan --mode infer --model gpt2 --batch 3 --top 1 $o 2>&1 | grep -oE 'fewest +[0-9]+ GPUs|error: .*'; done
> fewest   3 GPUs
> fewest   3 GPUs
> fewest   16 GPUs
> error: no layout works; the first one tried, tp 16 x pp 1 x dp 1: --tp 16 does not divide the 12 attention heads of gpt2
# Reports of runs that generate have no words of training, whatever moves or is drawn.
$ for o in "--offload p=host --explain" "--offload kv=host" "--seeds 3 --jitter 5%" "--p2p rendezvous --post batched --explain"; do pipesim --mode infer --model llama2-7b --cluster a100 --pp 2 --batch 4 --tokens 8 $o | grep -wiE 'steps?|micro-batch(es)?|gradients?|training|iteration|optimizer'; done; pipesim --mode infer --model gpt2 --pp 2 --batch 4 --tokens 8 --seeds 3 --jitter 5% | grep -oE 'all takes .* on average'
> all takes 5.04 ms on average
# Labels of passes never touch without colours: a longer chart is an overview and its beginning.
$ COLUMNS=80 pipesim --mode infer --pp 2 --unit F=1,P=4 --groups 2 --tokens 6 --gantt; for t in 2 40; do pipesim --mode infer --pp 2 --unit F=1 --groups 2 --tokens $t --gantt | tail -1; done
> the whole run
> P0 |FFFFFFFFF...FFFFFFFFF.|
> P1 |....FFFFFFFFFFFFFFFFFF|
> one character = 1 unit; F forward, f with idle parts, . more than half idle
>
> the beginning, op by op
> P0 |F0a f0a f0a f0a F1a f1a f1a f1a F0b  .   .   .  F1b F0c F1c F0d F1d F0e ...
> P1 | .   .   .   .  F0a f0a f0a f0a F1a f1a f1a f1a F0b F1b F0c F1c F0d F1d ...
> ... 4 more columns
> one column = 1 unit, 22 columns in all
> F forward, small letter: same op, . idle
> F0a is of the pass over the prompts, F0f makes the last token
> F0 is of the pass over the prompts, F0' makes the second token
> F0a is of the pass over the prompts, F0z makes token 26, F0+ later ones
# The room is of a replica, and says its groups. No two blank lines follow each other.
$ run() { pipesim --mode infer --model llama2-7b --gpus 4 --tp 1 --pp 2 "$@"; }; run --batch 8 --prompt-groups 4 | sed -n '/^  room/,/^$/p'; for o in "" "--offload kv=host"; do run $o | cmp - <(run $o | cat -s) && run $o | grep -A1 'rank 1 ' | grep -c '^$'; done
>   room     1,072 sequences of 256 tokens a replica, or 264 of 1,000, in 2 groups
>            of 536 or 132; = (79.65 - 10.28 GiB) / 66.09 MiB a sequence of 256
>            tokens
>
> 1
> 1
# What a run that does not fit advises does fit, and is typed as it is printed.
$ d() { pipesim --mode infer --model deepseek-v3 "$@"; }; d | sed -n '/room/p;/to fit/p'; for o in "--weight-bits 8" "--weight-bits 4" "--nodes 2" "--nodes 4"; do d --json $o | grep '"fits"'; done; d --require-fit --quiet
>   room     not even one sequence
>   to fit   --weight-bits 4, or --nodes 4
>   "fits": false,
>   "fits": true,
>   "fits": false,
>   "fits": true,
! pipesim: error: generate needs 160.3 GiB on pipeline rank 0, the device has 79.6 GiB; not even one sequence fits; nearest: --weight-bits 4, or --nodes 4
= 3
# The command of a plan has all that was typed, and its report has the figures of the first row.
$ p() { pipesim plan --mode infer --model llama3-8b --cluster a100 --nodes 1 --prompt 512 --tokens 64 --weight-bits 8 --batch 4 "$@"; }; p | sed -n '/choose/,$p'; c=$(p --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["choose"])'); for k in token_s first_token_s; do diff <(p --json | grep -m1 "\"$k\"" | tr -d ' ,') <($c --json | grep -m1 "\"$k\"" | tr -d ' ,') && echo same; done
>   choose   pipesim --mode infer --gpus 8 --tp 1 --pp 1 --dp 8 --batch 4 \
>            --prompt 512 --tokens 64 --weight-bits 8 --model llama3-8b \
>            --cluster a100
> same
> same
# A program fixes the pieces of prompts, and messages name its file.
$ cd $TMPDIR; pipesim program --mode infer --pp 2 --groups 2 --prompt-groups 4 --tokens 3 -o four.csv; for o in "--batch 6" "--batch 8 --tokens 4"; do pipesim --mode infer --schedule ./four.csv --model gpt2 $o 2>&1; done
> pipesim: error: --batch 6: the program cuts prompts into 4 pieces; nearest: --batch 4 or 8
> pipesim: error: --tokens 4 contradicts ./four.csv, which has 3
= 2
# A page of a run that generates has no words of training.
$ pipesim --mode infer --model llama3-8b --pp 2 --gpus 2 --cluster a100 --batch 8 --html r.html >/dev/null; sed 's:"kinds"[^]]*::' r.html | grep -ciE 'gradient|optimizer|chunks held|of the step|a step|published runs like'; grep -c 'Share of the run' r.html
> 0
> 1
