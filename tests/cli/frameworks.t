# A plan for a framework ranks what the framework runs: its best, emitted, differs in nothing.
$ for f in deepspeed megatron torchtitan; do echo $f; pipesim plan --gpus 16 --model llama3-8b --gbs 64 --engine dag --framework $f --emit $f | grep -e Differs -e choice; done
> deepspeed
> megatron
> torchtitan
= 1
$ for f in deepspeed megatron nanotron torchtitan; do echo $f; pipesim plan --gpus 32 --model llama3-70b --gbs 64 --cluster a100 --engine dag --emit $f | grep -e Differs -e choice; done
> deepspeed
> megatron
> nanotron
> torchtitan
= 1
# Its schedules and ZeRO stages are the framework's. FSDP keeps parameters (1 in a pipeline, else 2) or gathers them for each pass (3).
$ for f in deepspeed megatron torchtitan; do echo $f $(pipesim plan --gpus 16 --model llama3-8b --gbs 64 --engine dag --framework $f --json | sed -n '/"points"/,$p' | sed -n 's/^      "\(schedule\|zero\)": //p' | sort -u | tr -d '",' | tr '\n' ' '); done
> deepspeed 1f1b 1
> megatron 1f1b interleaved 1
> torchtitan 1f1b interleaved-zb v-1f1b v-half v-min zb-h2 zbv 1 2 3
# All schedules are there for who asks.
$ pipesim plan --gpus 16 --model llama3-8b --gbs 64 --tp 1 --pp 4 --schedule all --engine dag --framework megatron --top 1 | grep -A1 '#  TP'
>   #  TP  PP CP   DP  EP VP MBS schedule       rec. Z    step MFU %   GiB vs #1 %
>   1=  1   4  2    2   -  -   1 dualpipe       none 1  4.10 s  46.8  62.1       -
# A run of another schedule says so, and is compared with the framework's.
$ pipesim --schedule zbv --gpus 16 --model llama3-8b --gbs 64 --tp 1 --pp 4 --engine dag --framework megatron | grep -e 'not run' -e ' VP 2 ' -e '    1f1b'
>   note     Megatron-LM does not run zbv; its schedules: 1f1b, interleaved
>     zbv VP 2                 4.44 s   43.2 %    18.5 %     71.5   this run
>     interleaved VP 2         4.69 s   40.9 %    22.8 %     70.7   +5.6 % time
>     1f1b                     5.02 s   38.2 %    27.4 %     76.8   +13.0 % time
# A framework ends each step on all ranks.
$ for f in plain torchtitan; do pipesim --schedule zbv --gpus 16 --model llama3-8b --gbs 64 --tp 1 --pp 4 --engine dag --framework $f --no-alternatives --json | grep -c '"barrier": false'; done
> 1
> 0
= 1
# Its state is FSDP's.
$ for pp in 1 2; do pipesim --schedule 1f1b --gpus 16 --model llama3-8b --gbs 64 --tp 2 --pp $pp --engine dag --framework torchtitan --emit torchtitan | grep -e Differs -e reshard -e shard_degree; done
> data_parallel_shard_degree = 8
> fsdp_reshard_after_forward = "never"
> data_parallel_shard_degree = 4
> fsdp_reshard_after_forward = "never"
# A plan of schedules that the framework does not have, as asked for, says so.
$ pipesim plan --gpus 16 --model llama3-8b --gbs 64 --tp 1 --pp 4 --schedule 1f1b,zbv --recompute none --zero 1 --mbs 1 --engine dag --framework megatron | grep -e '^  [ 0-9]*=' -e note -A1
>   1=  1   4  1    4   -  -   1 zbv            none 1  4.44 s  43.2  71.5       -
>   2=  1   4  2    2   -  -   1 zbv            none 1  4.57 s  42.0  48.9    +2.9
>   3   1   4  4    1   -  -   1 zbv            none 1  4.85 s  39.6  37.2    +9.0
> --
>   note       Megatron-LM does not run the schedules of #1, #2, #3; its
>              schedules: 1f1b, interleaved
> --
>   = ties     2 steps are within 6 % of the fastest, too close for the costs to
>              rank
