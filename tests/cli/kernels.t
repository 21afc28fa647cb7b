# What kernels are made of: precision, attention, tensor parallelism, and their list in --explain.
$ pipesim --schedule 1f1b --gpus 8 --pp 2 --tp 4 --model gpt-22b --cluster a100 --precision fp8
! pipesim: error: --precision fp8: A100-SXM4 80GB has no peak for it, it has fp32 tf32 fp16 bf16
= 2
$ pipesim --schedule 1f1b --gpus 8 --pp 2 --tp 4 --model gpt-22b --cluster v100 --precision bf16
! pipesim: error: --precision bf16: V100-SXM2 32GB has no peak for it, it has fp32 fp16
= 2
$ pipesim --schedule 1f1b --gpus 8 --pp 2 --tp 4 --model gpt-22b --cluster a100 --precision int8
! pipesim: error: --precision: "int8" is not one of fp32, tf32, fp16, bf16, fp8 and nvfp4
= 2
$ pipesim --schedule 1f1b --gpus 8 --pp 2 --tp 4 --model gpt-22b --cluster a100 --attention flash
! pipesim: error: --attention: "flash" is not one of fused, flash1 and unfused; did you mean "flash1"?
= 2
$ pipesim --schedule 1f1b --gpus 8 --pp 2 --tp 4 --model gpt-22b --cluster a100 --tp-overlap 2
! pipesim: error: --tp-overlap 2: a share lies between 0 and 1
= 2
$ pipesim --schedule 1f1b --gpus 8 --pp 4 --model llama2-7b --cluster a100 --engine dag --no-alternatives --tp 1 --tp-overlap 50%
! pipesim: error: --tp-overlap 50% has no effect here: tp is 1, so no layer is cut and nothing is exchanged inside one
= 2
$ pipesim --schedule 1f1b --gpus 8 --pp 4 --model llama2-7b --cluster a100 --engine dag --no-alternatives --tp 1 --sequence-parallel off
! pipesim: error: --sequence-parallel off has no effect here: tp is 1, so no layer is cut and nothing is exchanged inside one
= 2
$ pipesim --schedule 1f1b --gpus 8 --pp 4 --model llama2-7b --cluster a100 --engine dag --no-alternatives --tp 1 --sequence-parallel on --tp-overlap 0% | grep -c has.no.effect
> 0
= 1
$ pipesim --schedule 1f1b --gpus 8 --model gpt2 --engine dag --no-alternatives --tp-overlap 50% | grep -A1 'tp-overlap'
>   note     --tp-overlap 50% has no effect in the layout chosen: tp is 1, so no
>            layer is cut and nothing is exchanged inside one
# Blocks in parts by rows: each exchange runs during the products of the next part.
$ for n in 1 2 4 8 16; do pipesim --schedule 1f1b --gpus 8 --pp 1 --tp 8 --model gpt-22b --cluster a100 --mbs 4 --micro-batches 4 --recompute full --zero 0 --engine dag --no-alternatives --tp-split $n --json | python3 -c "import json, sys; r = json.load(sys.stdin); print('%.3f s, %.1f %% TP' % (r['iteration_s'], 100 * r['time_frac']['tp_comm']))"; done
> 4.708 s, 23.2 % TP
> 4.350 s, 14.1 % TP
> 4.221 s, 8.8 % TP
> 4.420 s, 5.7 % TP
> 4.924 s, 3.9 % TP
$ pipesim --schedule 1f1b --gpus 8 --pp 1 --tp 8 --model gpt-22b --cluster a100 --mbs 4 --micro-batches 4 --recompute full --zero 0 --engine dag --no-alternatives --tp-split 4 --explain | grep -A1 'block forward'
>   block forward: 1.22 ms compute + 633 us tensor-parallel, in each of 4 parts by
>       rows; together c + (n - 1) max(c, a) + a = 5.53 ms
$ pipesim --schedule 1f1b --gpus 8 --pp 1 --tp 8 --model gpt-22b --cluster a100 --mbs 4 --micro-batches 4 --tp-split 3
! pipesim: error: --tp-split 3 does not divide the rows of a block, 8192 (--mbs 4 x 2048 tokens); nearest: 2 or 4
= 2
$ pipesim --schedule 1f1b --gpus 8 --pp 1 --tp 8 --model gpt-22b --cluster a100 --mbs 4 --micro-batches 4 --tp-split 17
! pipesim: error: --tp-split: 17 is out of range: 1 to 16
= 2
$ pipesim --schedule 1f1b --gpus 8 --pp 1 --tp 8 --model gpt-22b --cluster a100 --mbs 1 --seq 1 --micro-batches 4 --tp-split 2
! pipesim: error: --tp-split 2 does not divide the rows of a block, 1 (--mbs 1 x 1 tokens); nearest: 1
= 2
$ pipesim --schedule 1f1b --gpus 8 --pp 1 --tp 8 --model gpt-22b --cluster a100 --mbs 4 --micro-batches 4 --tp-split 2 --tp-overlap 50%
! pipesim: error: --tp-split 2 and --tp-overlap 50% both say how exchanges overlap with products; give one of the two
= 2
$ pipesim --schedule 1f1b --gpus 8 --pp 4 --model llama2-7b --cluster a100 --engine dag --no-alternatives --tp 1 --tp-split 2
! pipesim: error: --tp-split 2 has no effect here: tp is 1, so no layer is cut and nothing is exchanged inside one
= 2
$ pipesim --schedule 1f1b --pp 4 --micro-batches 4 --unit F=1,B=2 --tp-split 2
! pipesim: error: --tp-split 2 has no effect with --unit, which has no model, devices or memory, but the costs of ops alone
= 2
$ pipesim --schedule 1f1b --gpus 8 --pp 1 --tp 8 --model gpt-22b --cluster a100 --mbs 4 --micro-batches 4 --recompute full --tp-split 2 --emit megatron | grep -A2 '^# Differs'
> # Differs: blocks are not cut by rows, so that exchanges run during products
> #   (--tp-split); nearest: --tp-overlap 50%.
> ARGS=(
$ pipesim --schedule 1f1b --pp 4 --micro-batches 4 --unit F=1,B=2 --precision bf16
! pipesim: error: --precision bf16 has no effect with --unit, which has no model, devices or memory, but the costs of ops alone
= 2
$ pipesim --schedule 1f1b --gpus 8 --pp 2 --tp 4 --model gpt-22b --cluster a100 --engine dag --explain | sed -n '/block forward/,/block input/p' | cut -c1-50 | sed 's/ *$//'
>   block forward: 2.37 ms compute + 541 us tensor-p
>     norm                   12.0 MiB
>     qkv                    2048 x 4608 x 6144
>     heads apart            36.0 MiB
>     attention              24.0 MiB
>     heads together         12.0 MiB
>     projection             2048 x 6144 x 1536
>     dropout, residual      21.0 MiB
>     norm                   12.0 MiB
>     mlp up                 2048 x 6144 x 6144
>     gelu                   48.0 MiB
>     mlp down               2048 x 6144 x 6144
>     dropout, residual      21.0 MiB
>   block input gradient: 2.56 ms compute + 541 us t
$ pipesim --schedule 1f1b --gpus 8 --pp 2 --tp 4 --model gpt-22b --cluster h100 --engine dag --precision fp8 --explain | sed -n '/block weight/,/head forward/p' | cut -c1-50 | sed 's/ *$//'
>   block weight gradient: 455 us compute + 0 s tens
>     qkv                    4608 x 6144 x 2048
>     bias gradient          18.0 MiB
>     projection             6144 x 1536 x 2048
>     bias gradient          24.0 MiB
>     mlp up                 6144 x 6144 x 2048
>     bias gradient          24.0 MiB
>     mlp down               6144 x 6144 x 2048
>     bias gradient          24.0 MiB
>   block saves 84.0 MiB a micro-batch: inputs of no
>       inputs of matrices 18.0 MiB in 8 bits, queri
>       16 bits, output of attention 6.00 MiB in 16
>       functions 24.0 MiB in 16 bits, masks of drop
>   head forward: 796 us compute + 195 us tensor-par
$ pipesim --schedule 1f1b --gpus 8 --pp 2 --tp 4 --model gpt-22b --cluster h100 --framework nemo --engine dag --no-alternatives --mbs 1 --explain --cuda-graphs on | grep -E 'graphs|host at least'
>   CUDA graphs launch the kernels of layers: the host takes no time for them
$ pipesim --schedule 1f1b --gpus 8 --pp 2 --tp 4 --model gpt-22b --cluster h100 --framework nemo --engine dag --no-alternatives --mbs 1 --explain | grep -c 'host at least'
> 8
$ pipesim --schedule 1f1b --gpus 8 --model gpt2 --cuda-graphs yes
! pipesim: error: --cuda-graphs: "yes" is not one of off and on
= 2
