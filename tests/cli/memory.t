# What does not fit: which tensors take the memory, and which flags would help, each simulated.
$ pipesim --schedule 1f1b --model gpt3-175b --gpus 64 --tp 8 --pp 4 --mbs 4 --gbs 256 --recompute none --zero 0 --engine dag --no-alternatives | sed -n '/needs/,/note/{s/ *[0-9.]* [a-z]* *[-+][0-9.]* % time//; p}'
>   memory   rank 0 needs 45.4 GiB more than its device has; it holds optimizer of
>            stage 0 61.7 GiB, activations of stage 0 38.3 GiB, params of stage 0
>            10.3 GiB, grads of stage 0 10.3 GiB, context and fragments 4.0 GiB
>
>   less memory with                        GiB   iteration
>     --offload os=host:auto               78.7!, fits
>     --offload os=host                    63.3, fits
>     --pp 8                               84.5
>     --zero 3                             86.3
>     --offload a=host --offload-unit layer
>                                          88.7
>     --recompute full                     89.4
>     --zero 2                             89.9
>     --zero 1                             94.2
>     ! tight: less than 3 % of the memory stays free (--memory-margin)
>     these replace --pp 4 --zero 0 --recompute none of the command
>
>   note     does not fit; with --offload os=host it needs 63.3 GiB (+6.0 % time,
# The first of them, typed.
$ pipesim --schedule v-half --zero 3 --model gpt3-175b --gpus 64 --tp 8 --pp 4 --mbs 4 --gbs 256 --recompute none --engine dag --no-alternatives | grep 'peak memory'
>   peak memory   76.1 GiB +-3 %   of 79.6 GiB on rank 0: fits, 3.5 GiB free
# The same after the message of --require-fit, and for programs.
$ pipesim --schedule 1f1b --model gpt3-175b --gpus 8 --tp 4 --pp 2 --gbs 8 --engine dag --require-fit 2>&1 > /dev/null | sed 's/, [-+].* % time//'
> pipesim: error: 1f1b needs 332.0 GiB on pipeline rank 0, the device has 79.6 GiB
>   optimizer of stage 0: 244.8 GiB
>   params of stage 0: 40.8 GiB
>   grads of stage 0: 40.8 GiB
>   context and fragments: 4.0 GiB
>   activations of stage 0: 1.3 GiB
>   with --offload os=host --gpus 16 --tp 8 (recompute none) in place of --gpus 8 --tp 4: 54.5 GiB, fits
>   with --offload os=host: 87.1 GiB
>   with --gpus 16 --tp 8 in place of --gpus 8 --tp 4: 168.0 GiB
>   with --gpus 16 --pp 4 in place of --gpus 8 --pp 2: 170.0 GiB
>   with --gpus 16 --cp 2 (ZeRO 1) in place of --gpus 8: 208.8 GiB
$ pipesim --schedule 1f1b --model gpt3-175b --gpus 8 --tp 4 --pp 2 --gbs 8 --engine dag --require-fit > /dev/null 2>&1; echo $?
> 3
$ pipesim --schedule 1f1b --model gpt3-175b --gpus 8 --tp 4 --pp 2 --gbs 8 --engine dag --json | sed -n '/"oom": /,/}/p; /"oom_tensors"/,/}/p' | grep -v iteration_s
>   "oom": [
>     {
>       "flags": "--offload os=host --gpus 16 --tp 8",
>       "in_place_of": "--gpus 8 --tp 4",
>       "command": "pipesim --schedule 1f1b --gpus 16 --tp 8 --pp 2 --gbs 8 --model gpt3-175b --offload os=host --engine dag",
>       "peak_mem_bytes": 58512293888,
>       "fits": true,
>     },
>   "oom_tensors": [
>     {
>       "what": "optimizer",
>       "stage": 0,
>       "bytes": 262905200640
>     },
$ pipesim --schedule 1f1b --model gpt2 --gpus 4 --pp 4 --engine dag --json | grep -c oom
> 0
= 1
# Frameworks keep more than tensors.
$ for f in plain megatron deepspeed fsdp internevo torchtitan; do pipesim --schedule 1f1b --model gpt2 --gpus 8 --pp 4 --zero 0 --recompute none --micro-batches 8 --engine dag --no-alternatives --framework $f | grep 'rank 0 '; done
>     rank 0 (stage 0)         0.1    0.1    0.7     0.3     0.0   4.0    5.2
>     rank 0 (stage 0)         0.1    0.2    0.7     0.3     0.0   2.0    3.3
>     rank 0 (stage 0)         0.1    0.1    0.7     0.0     0.3   2.0    3.3
>     rank 0 (stage 0)         0.1    0.1    0.7     0.3     0.0   2.0    3.2 peak
>     rank 0 (stage 0)         0.1    0.1    0.7     0.0     0.8   2.1    3.8 peak
>     rank 0 (stage 0)         0.1    0.1    0.7     0.3     0.0   2.0    3.2
$ pipesim --schedule 1f1b --model gpt2 --gpus 4 --pp 4 --framework megatorn
! pipesim: error: --framework: unknown 'megatorn': did you mean 'megatron'?
= 2

# Modules that are computed again.
$ run="pipesim --schedule 1f1b --model llama3-8b --gpus 8 --tp 1 --pp 4 --mbs 1 --no-alternatives --engine dag"; for how in none selective=layernorm selective=layernorm+act selective=mlp full; do $run --recompute $how | grep 'peak memory'; done
>   peak memory   72.7 GiB +-3 %   of 79.6 GiB on rank 0: fits, 6.9 GiB free
>   peak memory   68.9 GiB +-3 %   of 79.6 GiB on rank 0: fits, 10.7 GiB free
>   peak memory   62.1 GiB +-3 %   of 79.6 GiB on rank 0: fits, 17.5 GiB free
>   peak memory   52.4 GiB +-3 %   of 79.6 GiB on rank 0: fits, 27.2 GiB free
>   peak memory   44.6 GiB +-3 %   of 79.6 GiB on rank 3: fits, 35.0 GiB free
$ pipesim --schedule 1f1b --model llama3-8b --gpus 8 --tp 1 --pp 4 --mbs 1 --no-alternatives --engine dag --recompute selective | grep -A3 '^  note'
>   note     --recompute selective frees nothing and costs time: it recomputes
>            attention, whose fused kernel keeps no scores; --recompute
>            selective=layernorm+act or full free memory
>
> --
>   note     rank 3 computes 18 % longer than the average (embedding and head
>            count): uneven stages, not the schedule, make most of the bubble;
>            --head balanced takes 11.0 % less time here, and as much memory:
>            pipesim --schedule 1f1b --gpus 8 --tp 1 --pp 4 --mbs 1 --gbs 512 \
$ pipesim --schedule 1f1b --gpus 8 --pp 4 --model llama2-7b --cluster a100 --engine dag --no-alternatives --tp 2 --recompute selective=mlp+act | grep -o 'recompute selective[^,]*'; pipesim --schedule 1f1b --gpus 8 --pp 4 --model llama2-7b --cluster a100 --engine dag --no-alternatives --tp 2 --recompute selective=mlp+act --json | grep '"recompute": "sel'
> recompute selective=act+mlp
>     "recompute": "selective=act+mlp",
>     "recompute": "selective=mlp+act",
$ pipesim --schedule 1f1b --gpus 8 --pp 4 --model llama2-7b --cluster a100 --engine dag --no-alternatives --tp 2 --recompute selective=act+mla_up_proj
! pipesim: error: --recompute selective: mla_up_proj has no effect here: llama2-7b has no latent attention
= 2
$ pipesim --schedule 1f1b --gpus 8 --pp 4 --cluster a100 --engine dag --no-alternatives --tp 2 --model mixtral-8x7b --recompute selective=mlp
! pipesim: error: --recompute selective: mlp has no effect here: mixtral-8x7b has experts in every block, and no dense MLP
= 2
$ pipesim --schedule 1f1b --gpus 64 --cluster a100 --tp 2 --pp 4 --secondary 8
! pipesim: error: --secondary=8x1: the replicas of a stage are a mesh of 4x2, and 8 does not divide its 4 devices a node; nearest: 4
= 2
$ pipesim --schedule 1f1b --model llama3-8b --gpus 8 --recompute selective=norm
! pipesim: error: --recompute selective='norm': expected modules with + between them, of core_attn layernorm act mlp moe_act
= 2
# Megatron-LM's words for the same modules.
$ for how in "--recompute-granularity selective --recompute-modules layernorm act" "--recompute selective=layernorm+act"; do pipesim --schedule 1f1b --model llama3-8b --gpus 8 --tp 1 --pp 4 --mbs 1 --no-alternatives --engine dag $how | grep -e '^  state' -e 'peak memory'; done
>   state    ZeRO 0*, recompute selective=layernorm+act, gradient sync end
>   peak memory   62.1 GiB +-3 %   of 79.6 GiB on rank 0: fits, 17.5 GiB free
>   state    ZeRO 0*, recompute selective=layernorm+act, gradient sync end
>   peak memory   62.1 GiB +-3 %   of 79.6 GiB on rank 0: fits, 17.5 GiB free
# What is advised, and the command with it, where the tool chose the layout: bytes and seconds twice each.
$ run="pipesim --schedule 1f1b --model llama3-70b --gbs 64 --engine dag --json"; ($run --gpus 8 | grep -A5 -e '"--gpus 16 --tp 8"'; $run --gpus 16 --tp 8 | grep '^  "') | grep -o '^ *"\(peak_mem_bytes\|iteration_s\)": .*' | tr -d ' ,' | sort | uniq -c | cut -c 1-7
>       2
>       2
# parts add up to the peak, to the byte
$ for gpus in 12 20 24; do for zero in 1 2 3; do pipesim --schedule 1f1b --gpus $gpus --model bert-large --cluster a100 --tp 1 --pp 1 --zero $zero --micro-batches 2 --engine dag --no-alternatives --json | awk -F '[:,]' '/"peak_mem_bytes"/ && !peak { peak = $2 } /^  "memory": [{]/ { inside = 1 } inside && /_bytes"/ { sum += $2 } inside && /}/ { inside = 0 } END { print sum - peak }'; done; done | sort | uniq -c
>       9 0
# The memory margin: what fits, but leaves less, is tight; what the tool chooses leaves it if it can.
$ run="pipesim --schedule v-half --zero 3 --model gpt3-175b --gpus 64 --tp 8 --pp 4 --mbs 4 --gbs 256 --engine dag --no-alternatives"; for m in 0 4% 5% 0.05; do $run --recompute none --memory-margin $m | grep -A1 'peak memory' | grep -v tokens; done
>   peak memory   76.1 GiB +-3 %   of 79.6 GiB on rank 0: fits, 3.5 GiB free
>   peak memory   76.1 GiB +-3 %   of 79.6 GiB on rank 0: fits, 3.5 GiB free
>   peak memory   76.1 GiB +-3 %   of 79.6 GiB on rank 0: fits, tight: 3.5 GiB
>                                  free, less than the margin of 5 %
>   peak memory   76.1 GiB +-3 %   of 79.6 GiB on rank 0: fits, tight: 3.5 GiB
>                                  free, less than the margin of 5 %
$ run="pipesim --schedule v-half --zero 3 --model gpt3-175b --gpus 64 --tp 8 --pp 4 --mbs 4 --gbs 256 --engine dag --no-alternatives"; for m in 0 4% 5%; do $run --memory-margin $m --json | grep -e '"fits"' -e '"tight"' -e '"recompute": "[^"]*",' | tr -d '\n'; echo; done
>     "recompute": "none",  "fits": true,  "tight": false,
>     "recompute": "none",  "fits": true,  "tight": false,
>     "recompute": "selective=act",  "fits": true,  "tight": false,
$ pipesim --schedule 1f1b --model llama3-8b --gpus 8 --tp 1 --pp 4 --engine dag --explain | grep -A1 '^  margin'; pipesim --schedule 1f1b --model llama3-8b --gpus 8 --tp 1 --pp 4 --engine dag --explain --memory-margin 3% | grep '^  margin'
>   margin 3 %, the median error of predicted peaks (docs/accuracy.md;
>       --memory-margin): the tool's choices prefer peaks up to 77.258 GiB
>   margin 3 % (--memory-margin): the tool's choices prefer peaks up to 77.258 GiB
$ pipesim --schedule 1f1b --model llama3-8b --gpus 8 --memory-margin 1
! pipesim: error: --memory-margin 1: a share from 0 to less than 1 (100 %) can stay free; nearest: 99%
= 2
$ pipesim --schedule 1f1b --model llama3-8b --gpus 8 --memory-margin=-1%
! pipesim: error: --memory-margin: "-1%" is not a fraction such as 5% or 0.05 (it must not be negative)
= 2
$ pipesim --schedule 1f1b --pp 4 --micro-batches 8 --unit F=1,B=2 --memory-margin 5%
! pipesim: error: --memory-margin 5% has no effect with --unit, which has no model, devices or memory, but the costs of ops alone
= 2
$ pipesim sweep --schedule 1f1b --model llama3-8b --gpus 8 --tp 1 --pp 4 --engine dag --memory-margin 0 --memory-margin 40% | awk -F, 'NR > 1 { print $1, $2, $26 < $27 * 0.6, $28 }'
> 0 1f1b 0 true
> 1 1f1b 1 true
# Levels of recomputation: the first that leaves the margin free.
$ run="--engine dag --no-alternatives"; for line in "--schedule interleaved --model llama3-70b --gpus 64 --tp 4 --pp 4 --vp 5 --gbs 128" "--schedule interleaved --model llama3-405b --gpus 16384 --cluster h100 --seq 8192 --gbs 2048 --tp 8 --pp 16 --head counted --vp 8" "--schedule 1f1b --model llama3-8b --gpus 64 --tp 1 --pp 1 --gbs 512 --framework megatron --zero 1" "--schedule dualpipe --model deepseek-v3 --gpus 2048 --cluster h800 --seq 4096 --gbs 15360 --tp 1 --pp 16 --ep 64 --precision fp8"; do pipesim $line $run --json | awk '/"recompute": "|^  "(iteration_s|mfu)"/ { print $2 }' | cut -c 1-60; done
> "selective=layernorm",
> 16.420395977222,
> 0.4857105064063118,
> "selective=layernorm",
> 6.2914395312059996,
> 0.43206907842480269,
> "selective=layernorm+mlp",
> 8.5551441918569999,
> 0.44857107094660981,
> "selective=layernorm+act+mla_up_proj",
> 21.311938694022,
> 0.2047830153732203,
$ pipesim --schedule interleaved --model llama3-70b --gpus 64 --tp 4 --pp 4 --vp 5 --gbs 128 --engine dag --no-alternatives | grep -A1 '^  state'
>   state    ZeRO 1*, recompute selective=layernorm* (+0.2 % time; none needs 82.6
>            of 79.6 GiB; full +31.7 %), gradient sync end
$ pipesim --schedule interleaved --model llama3-70b --gpus 64 --tp 4 --pp 4 --vp 5 --gbs 128 --engine dag --explain | grep -A6 'levels of'
>   levels of recomputation; each adds the module that frees most for its time
>       none                                           16.4 s    82.6 GiB  no fit
>     * selective=layernorm                            16.4 s    76.9 GiB
>       selective=layernorm+act                        16.5 s    67.0 GiB
>       selective=layernorm+mlp                        19.9 s    47.1 GiB
>       full                                           21.6 s    38.5 GiB
>
# Words of --recompute. Without R the last rank saves as much as a run without recomputation.
$ for how in none full full,late full,skip full,late,skip; do pipesim --model llama2-7b --cluster a100 --gpus 8 --tp 2 --pp 4 --micro-batches 8 --mbs 1 --schedule 1f1b --engine dag --no-alternatives --recompute $how --json | python3 -c "import json, sys; r = json.load(sys.stdin); print(r['state']['recompute'], '%.3f s, HFU / MFU - 1 %.4f,' % (r['iteration_s'], r['hfu'] / r['mfu'] - 1), *['%.3f' % (k['memory']['activations_bytes'] / 2 ** 30) for k in r['ranks']])"; done
> none 1.332 s, HFU / MFU - 1 0.0000, 8.031 6.023 4.016 2.283
> full 1.639 s, HFU / MFU - 1 0.3276, 0.735 0.610 0.485 0.636
> full,late 1.755 s, HFU / MFU - 1 0.3276, 0.735 0.610 0.485 0.636
> full,skip 1.500 s, HFU / MFU - 1 0.2457, 0.735 0.610 0.485 2.283
> full,late,skip 1.627 s, HFU / MFU - 1 0.2457, 0.735 0.610 0.485 2.283
$ pipesim --model llama2-7b --cluster a100 --gpus 8 --tp 2 --pp 4 --micro-batches 8 --mbs 1 --schedule 1f1b --engine dag --no-alternatives --recompute stage-aware=0.75,late,skip | grep '  state'
>   state    ZeRO 0*, recompute stage-aware=0.75, late, skip, gradient sync end
$ pipesim --model llama2-7b --cluster a100 --gpus 8 --tp 2 --pp 4 --micro-batches 8 --mbs 1 --schedule 1f1b --engine dag --no-alternatives --recompute full,skip --emit megatron | grep -A1 Differs
> # Differs: a backward that follows its own forward at once recomputes like any
> #   other (--recompute with skip); nearest: late without skip.
$ pipesim plan --engine dag --model llama2-7b --cluster a100 --gpus 8 --tp 2 --pp 4 --micro-batches 8 --mbs 1 --schedule 1f1b --recompute full,late,skip | grep -A2 choose
>   choose     pipesim --schedule 1f1b --gpus 8 --tp 2 --pp 4 --mbs 1 --gbs 8 \
>              --model llama2-7b --cluster a100 --recompute full,late,skip \
>              --engine dag --sequence-parallel on
# Shares by stage: five of eight ranks lie within 10 % of one another.
$ pipesim --model gpt3-175b --cluster a100 --gpus 64 --tp 8 --pp 8 --micro-batches 32 --mbs 1 --schedule 1f1b --recompute stage-aware=0.75 --engine dag --no-alternatives --json | python3 -c "import json, sys; r = json.load(sys.stdin); print(*['%.3f' % f for f in r['stages']['recompute_frac']]); print(*['%.2f' % (k['memory']['activations_bytes'] / 2 ** 30) for k in r['ranks']])"
> 0.750 0.708 0.650 0.562 0.417 0.125 0.000 0.000
> 2.93 2.88 2.88 2.91 3.00 3.26 2.39 1.26
