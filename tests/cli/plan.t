# The best of what is left free.
$ pipesim plan --gpus 1024 --model llama-7b --seq 4096 --cluster a800 --recompute none --free shard | sed -n "/choose/,/recompute/p"
>   choose     pipesim --schedule 1f1b --gpus 1024 --tp 1 --pp 1 --cp 1 --seq 4096
>              --model llama-7b --framework amsp --cluster a800
>              --shard p=1x1,g=1x1,os=8x1 --recompute none
$ pipesim plan --gpus 1024 --model llama-13b --seq 4096 --cluster a800 --recompute none --free shard | sed -n "/choose/,/recompute/p"
>   choose     pipesim --schedule 1f1b --gpus 1024 --tp 1 --pp 1 --cp 1 --seq 4096
>              --model llama-13b --framework amsp --cluster a800
>              --shard p=4x1,g=4x1,os=8x1 --recompute none
$ pipesim plan --gpus 1024 --model llama-30b --seq 4096 --cluster a800 --recompute full --free shard | sed -n "/choose/,/recompute/p"
>   choose     pipesim --schedule 1f1b --gpus 1024 --tp 1 --pp 1 --cp 1 --seq 4096
>              --model llama-30b --framework amsp --cluster a800
>              --shard p=4x1,g=4x1,os=8x32 --recompute full
# Of ties those come last that fit only as the allocator gives blocks back.
$ pipesim plan --gpus 1024 --model llama-30b --seq 4096 --cluster a800 --recompute full --json | grep '"strained"' | sed 1d | head -36 | uniq -c
>      32       "strained": false,
>       4       "strained": true,
$ pipesim plan --gpus 1024 --model llama-7b --seq 4096 --cluster a800 --recompute none --objective comm | sed -n "/choose/,/recompute/p"
>   choose     pipesim --schedule 1f1b --gpus 1024 --tp 1 --pp 1 --cp 1 --seq 4096
>              --model llama-7b --framework amsp --cluster a800
>              --shard p=1x1,g=1x1,os=4x1 --recompute none
$ pipesim plan --gpus 1024 --model llama2-7b --cluster a800 --json | grep '"all"'
>     "all": 121,
$ pipesim plan --gpus 12 --model llama2-7b --cluster "a800 gpu:6" --json | grep '"all"'
>     "all": 23,
$ pipesim plan --gpus 16 --model bert-large --cluster a800 --free shard,recompute -o plan.csv --top 1 >/dev/null && head -1 plan.csv && cut -d, -f2-5 plan.csv | sort -u | wc -l && rm plan.csv
> rank,p,g,os,recompute,iteration_s,mfu,exposed_comm_frac,state_bytes,peak_mem_bytes,fits,gathers_s,grads_s,sums_s,spread_s,reason
> 76
$ pipesim plan --gpus 64 --model llama2-7b --free shrd
! pipesim: error: --free: unknown 'shrd'; did you mean shard?
= 2
$ pipesim plan --gpus 64 --model llama2-7b --free shard,
! pipesim: error: --free: unknown ''; what can be free: recompute, shard
= 2
$ pipesim plan --gpus 64 --model llama2-7b --free recompute --recompute full
! pipesim: error: --recompute full contradicts --free recompute
= 2
$ pipesim plan --gpus 64 --model llama2-7b --zero 1
! pipesim: error: --zero 1 contradicts --free shard
= 2
$ pipesim plan --gpus 64 --model llama2-7b --shard os=8
! pipesim: error: --shard os=8 contradicts --free shard
= 2
$ pipesim plan --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1
! pipesim: error: --unit has no memory and no network: a plan needs a model and a cluster
= 2
$ pipesim plan --gpus 64 --model llama2-7b --schedule 1f1b,gpipe
! pipesim: error: plan takes one schedule, not a list
= 2
$ pipesim plan --gpus 64 --model llama2-7b -o /none/plan.csv
! pipesim: error: cannot write '/none/plan.csv': No such file or directory
= 1
$ pipesim plan --model llama2-7b
! pipesim: error: --gpus N is needed: how many devices to plan for
= 2
$ pipesim plan --gpus 1 --model llama2-70b --require-fit --json | grep -c points
> 1
! pipesim: error: none of the 1 choices fits into 85.5 GB
# What is to be chosen is a whole command, which gives the step and the peak of the first row.
$ for words in '--gpus 64 --model llama2-13b --cluster a800' '--gpus 16 --model llama2-7b --micro-batches 4' '--gpus 12 --model llama2-7b --cluster "a800 gpu:6" --seq 2048'; do eval "pipesim plan $words --json" | grep -A14 '"best"' | grep -e iteration_s -e peak_mem | tr -d ' ,'; command=$(eval "pipesim plan $words" | sed -n '/^  choose/,/--recompute/p' | sed 's/choose//' | tr '\n' ' '); eval "$command --no-alternatives --json" | grep -e '^  "iteration_s' -e '^  "peak_mem' | tr -d ' ,'; done | sort | uniq -c | sed 's/"[:].*//'
>       2 "iteration_s
>       2 "iteration_s
>       2 "iteration_s
>       2 "peak_mem_bytes
>       2 "peak_mem_bytes
>       2 "peak_mem_bytes
