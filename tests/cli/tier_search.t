# Shares of tiers that may be filled.
$ pipesim --schedule 1f1b --model llama3-8b --gpus 8 --pp 8 --micro-batches 8 --cluster "a100 ram:160GiB" --offload os=host --no-alternatives --usable host=80%,device=90% | grep -e 'peak memory' -e tiers
>   peak memory   43.1 GiB +-2 %   of 71.4 GiB on rank 0: fits, 28.3 GiB free
>   tiers    host 15.6 of 16.0 GiB a device (80 % of its share)
$ pipesim --schedule 1f1b --model llama3-8b --gpus 8 --pp 8 --micro-batches 8 --cluster "a100 ram:160GiB" --offload os=host --usable host=75% --require-fit 2>&1 > /dev/null
> pipesim: error: 1f1b does not fit in host memory: 15.6 GiB a device, its share of the node's is 15.0 GiB
= 3
$ export COLUMNS=200; pipesim --schedule 1f1b --model llama3-8b --gpus 8 --pp 8 --micro-batches 8 --cluster a100 --usable device=50% --explain | grep -o "[^ ]* GiB of.*"
> 34.516 GiB of 39.673 (50 % of its memory)
$ for share in host=0 host=120% host=maybe host= disk=3% host host=80%,host=2%; do pipesim --schedule 1f1b --model llama3-8b --gpus 8 --usable $share; echo $?; done 2>&1
> pipesim: error: --usable host=0: a share lies above 0 and up to 1; expected TIER=SHARE with device, host, nvme or peer, such as host=80%,device=90%
> 2
> pipesim: error: --usable host=120%: a share lies above 0 and up to 1; expected TIER=SHARE with device, host, nvme or peer, such as host=80%,device=90%
> 2
> pipesim: error: --usable host=maybe: a share lies above 0 and up to 1; expected TIER=SHARE with device, host, nvme or peer, such as host=80%,device=90%
> 2
> pipesim: error: --usable host=: a share lies above 0 and up to 1; expected TIER=SHARE with device, host, nvme or peer, such as host=80%,device=90%
> 2
> pipesim: error: --usable disk=3%: unknown tier; expected TIER=SHARE with device, host, nvme or peer, such as host=80%,device=90%
> 2
> pipesim: error: --usable host: unknown tier; expected TIER=SHARE with device, host, nvme or peer, such as host=80%,device=90%
> 2
> pipesim: error: --usable host=80%,host=2%: a tier is given twice; expected TIER=SHARE with device, host, nvme or peer, such as host=80%,device=90%
> 2
$ pipesim --unit F=1,B=2 --schedule 1f1b --pp 4 --micro-batches 8 --usable host=80%
! pipesim: error: --usable host=80% has no effect with --unit, which has no model, devices or memory, but the costs of ops alone
= 2
$ pipeexec --usable host=80%
! pipeexec: error: unknown option --usable; only pipesim has it: pipesim help --usable
! try: pipeexec run --help
= 2
# Shares that a run finds itself: the least that fits.
$ pipesim --schedule interleaved --vp 2 --model llama3-8b --gpus 8 --pp 4 --tp 2 --micro-batches 16 --cluster "a100 memory:40GB" --recompute none --offload a=host:auto --engine dag --no-alternatives --explain | grep -A1 -e 'tiers    ' -e 'auto:'
>   auto: 50 % of a: 45 % needs 0.0462 GiB more
>   copied a step by a device, down | up, GiB, rank by rank: 34.000 | 34.000,
$ pipesim --schedule interleaved --vp 2 --model llama3-8b --gpus 8 --pp 4 --tp 2 --micro-batches 16 --cluster "a100 memory:40GB" --recompute none --offload a=host:auto --engine dag --no-alternatives | grep -e 'tiers    ' -e 'peak mem'
>   peak memory   36.6 GiB +-2 %   of 37.3 GiB on rank 0: fits, tight: 0.7 GiB
>   tiers    host 11.7 of 256.0 GiB a device; a 50 %*
$ for memory in 33GB 40GB 60GB; do pipesim --schedule interleaved --vp 2 --model llama3-8b --gpus 8 --pp 4 --tp 2 --micro-batches 16 --cluster "a100 memory:$memory" --recompute none --offload a=host:auto --engine dag --json | sed -n -e '/auto_share/,/}/p' -e '/"fits"/p' | tr -d '\n'; echo; done
>   "fits": false,      "fits": true,      "fits": true,      "fits": true,      "fits": true,      "fits": true,      "fits": true,      "fits": true,      "fits": true,    "auto_share": {      "a": 1.0    }
>   "fits": true,    "auto_share": {      "a": 0.5    }
>   "fits": true,    "auto_share": {      "a": 0.0    }
$ pipesim --schedule 1f1b --model llama2-7b --gpus 2 --pp 2 --micro-batches 4 --cluster "a100 memory:15GB ram:20GB" --recompute full --offload p=host:auto,os=host --cpu-optimizer --no-alternatives | grep -e 'tiers   ' -e FIT
>   peak memory   14.0 GiB +-2 %   of 14.0 GiB on rank 0; host: DOES NOT FIT
>   tiers    host 48.0 of 9.3 GiB a device; p 65 %*: DOES NOT FIT
$ for share in maybe 0% 140% auto,a=host:auto; do pipesim --schedule 1f1b --model llama3-8b --gpus 8 --offload a=host:$share; echo $?; done 2>&1 | sed "s/; expected.*//"
> pipesim: error: --offload a=host:maybe: a share lies above 0 and up to 1, or is auto
> 2
> pipesim: error: --offload a=host:0%: a share lies above 0 and up to 1, or is auto
> 2
> pipesim: error: --offload a=host:140%: a share lies above 0 and up to 1, or is auto
> 2
> pipesim: error: --offload a=host:auto,a=host:auto: a class is given twice
> 2
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 2 --offload a=host:auto
! pipesim: error: --offload a=host:auto: auto finds a share by the memory of a run, which a program alone does not have; give a share, such as 40%
= 2
# The ladder: what may leave the device of one layout, each at the least share of optimizer state.
$ pipesim plan --model llama2-7b --gpus 1 --cluster v100-dgx2 --free offload,act-bits --seq 1024 --gbs 16 | sed -n '/#  /,$p'
>    #  offload              act-bits recompute      step   exposed     MFU   state     GiB
>    1  os=host:95%          none     full         15.2 s=   25.2 %  35.5 %    28.9    31.1!
>    2  os=host:95%          8        selective=core_attn+layernorm+mlp
>                                                  14.8 s=   26.0 %  36.7 %    28.9    31.4!
>    3  g=host,os=host:85%   8        selective=core_attn+layernorm+act
>                                                  19.9 s    53.0 %  27.2 %    25.7    30.1
>    4  g=host,os=host:85%   none     selective=core_attn+layernorm+mlp
>                                                  21.3 s    50.5 %  25.4 %    25.7    30.3
>    5  p,g=host,os=host:70% none     full         37.5 s    69.4 %  14.4 %    26.4    30.5
>    6  p,g=host,os=host:70% 8        full         37.7 s    68.4 %  14.4 %    26.4    30.3
>
>   ! tight    less than 3 % of the memory stays free (--memory-margin)
>   too large  2 do not fit in 31.7 GiB or on other tiers: the smallest of them,
>              p=1x1,g=1x1,os=1x1 offload none act-bits 8 recompute full, needs
>              102.4 GiB
>   choose     pipesim --schedule 1f1b --gpus 1 --tp 1 --pp 1 --cp 1 --gbs 16 \
>              --seq 1024 --model llama2-7b --cluster v100-dgx2 \
>              --offload os=host:95% --cpu-optimizer --recompute full
>   = ties     2 steps are within 6 % of the fastest, too close for the costs to
>              rank. Ties are ranked by room for the margin and the allocator's
>              cache, then gradients sharded like parameters, least communication,
>              least state
$ pipesim plan --model llama2-7b --gpus 1 --cluster v100-dgx2 --free offload,recompute --seq 1024 --gbs 16 --json | grep -e offload -e recompute -e '"fits"' | head -4
>     "offload",
>     "recompute"
>     "recompute": "selective=core_attn+layernorm+act",
>     "offload": "os=host",
# The command of the best gives the figures of its row.
$ for free in offload act-bits,offload offload,recompute; do command=$(pipesim plan --model llama2-7b --gpus 2 --pp 2 --cluster "v100-dgx2 memory:20GB" --free $free --seq 1024 --gbs 16 | sed -n '/choose/,/ = /p' | grep -v ' = ' | sed 's/ *choose *//' | tr -d '\\\n'); for how in plan run; do [ $how = plan ] && words="pipesim plan --model llama2-7b --gpus 2 --pp 2 --cluster v100-dgx2~memory:20GB --free $free --seq 1024 --gbs 16" || words=$command; eval "$(echo "$words" | sed "s/v100-dgx2~memory:20GB/'v100-dgx2 memory:20GB'/") --engine dag --json" | grep -e iteration_s -e peak_mem | head -2 | tr -d '\n'; echo; done; done
>     "iteration_s": 8.7018157698379994,    "peak_mem_bytes": 19807359795,
>   "iteration_s": 8.7018157698379994,  "peak_mem_bytes": 19807359795,
>     "iteration_s": 8.7018157698379994,    "peak_mem_bytes": 19807359795,
>   "iteration_s": 8.7018157698379994,  "peak_mem_bytes": 19807359795,
>     "iteration_s": 7.7492606806539994,    "peak_mem_bytes": 18440265728,
>   "iteration_s": 7.7492606806539994,  "peak_mem_bytes": 18440265728,
# Drives are tried where the host is too small.
$ for ram in 1TB 30GB; do pipesim plan --model llama2-7b --gpus 1 --cluster "a100 ram:$ram nvme:8TB@25GBps" --free offload --seq 1024 --gbs 16 --json | grep -o -e '"offload": .*' -e '"fits": .*' | paste - - | tail -n +3; done
> "offload": "os=host:35%",	"fits": true,
> "offload": "g=host,os=host:30%",	"fits": true,
> "offload": "p,g=host,os=host:20%",	"fits": true,
> "offload": null,	"fits": false,
> "offload": "g=host,os=host:30%",	"fits": true,
> "offload": "os=nvme:35%",	"fits": true,
> "offload": "p,g=nvme,os=nvme:20%",	"fits": true,
> "offload": "p,g=host,os=host:20%",	"fits": false,
> "offload": "os=host:35%",	"fits": false,
> "offload": null,	"fits": false,
$ pipesim plan --model llama2-7b --gpus 8 --free offload --offload os=host
! pipesim: error: --offload os=host contradicts --free offload
= 2
$ pipesim plan --model llama2-7b --gpus 8 --free act-bits,offload --act-bits 8
! pipesim: error: --act-bits 8 contradicts --free act-bits
= 2
$ pipesim plan --model llama2-7b --gpus 8 --free ofload
! pipesim: error: --free: unknown 'ofload'; did you mean offload?
= 2
# Layouts and tiers together; the command of the best gives its figures. More is free, so the best is no worse.
$ pipesim plan --model llama2-70b --gpus 16 --cluster a100 --free tp,pp,mbs,recompute,zero,offload --seq 4096 --gbs 64 --engine dag --top 2 | sed -n -e '/free:/,/^  batch/p' -e '/#  TP/,/^$/p' -e '/choose/,/parallel/p'
> pipesim 0.1.0  llama2-70b (69.0B) on 16 GPUs of a100, free: mbs, pp, recompute,
>   tp, zero, offload
>   batch      gbs 64, seq 4096, framework plain; cluster a100
>   #  TP  PP CP   DP  EP VP MBS schedule       rec. Z    step MFU %   GiB vs #1 %  memory tiers
>   1=  4   4  1    1   -  -   1 1f1b           none 0  38.3 s  61.0  79.2!      -  offload os=host:20%
>   2=  4   2  1    2   -  -   1 1f1b           none 1  40.0 s  58.4  78.0!   +4.6  offload os=host:55%
>
>   choose     pipesim --schedule 1f1b --gpus 16 --tp 4 --pp 4 --mbs 1 --gbs 64 \
>              --seq 4096 --model llama2-70b --cluster a100 \
>              --offload os=host:20% --cpu-optimizer --recompute none \
>              --engine dag --sequence-parallel on
$ pipesim --schedule 1f1b --gpus 16 --tp 4 --pp 4 --mbs 1 --gbs 64 --seq 4096 --model llama2-70b --cluster a100 --offload os=host:20% --cpu-optimizer --recompute none --engine dag --sequence-parallel on --no-alternatives | grep -e iteration -e 'peak mem'
>   iteration       38.3 s +-4 %   6.85k tokens/s, 428 tokens/s/GPU; p90 17 %
>   peak memory   79.2 GiB +-4 %   of 79.3 GiB on rank 0: fits, tight: 0.1 GiB
$ for free in tp,pp,mbs,recompute,zero tp,pp,mbs,recompute,zero,offload,act-bits; do for how in "" --exhaustive; do pipesim plan --model llama2-13b --gpus 4 --cluster "a100 memory:40GB" --free $free --seq 4096 --gbs 64 --engine dag --json $how | grep -A45 '"best"' | grep -e iteration -e peak -e '"offload"' | head -3 | tr -d '\n'; echo; done; done
>     "peak_mem_bytes": 56151871488,        "peak_mem_bytes": 38580454656,        "iteration_s": 40.066016725503999
>     "peak_mem_bytes": 56151871488,        "peak_mem_bytes": 38580454656,        "iteration_s": 40.066016725503999
>     "offload": "os=host:75%",    "iteration_s": 29.140815351227001,    "peak_mem_bytes": 38164590592,
>     "offload": "os=host:75%",    "iteration_s": 29.140815351227001,    "peak_mem_bytes": 38164590592,
# Units of parameters, and how many of them stay, where parameters are fetched.
$ pipesim plan --model llama2-13b --gpus 8 --zero 3 --cluster v100-dgx2 --free cache,gather --seq 1024 --gbs 16 --recompute full | sed -n '/#  /,/^$/p'
>    #  gather  cache recompute      step   exposed     MFU   state     GiB
>    1  none    none  full         2.55 s=    0.5 %  51.2 %    24.2    30.3
>    2  32MiB   none  full         2.53 s=    0.0 %  51.5 %    24.2    26.9
>    3  32MiB   127   full         2.53 s=    0.0 %  51.5 %    24.2    30.8
>    4  64MiB   none  full         2.53 s=    0.0 %  51.5 %    24.2    27.0
>    5  64MiB   61    full         2.53 s=    0.0 %  51.5 %    24.2    30.8
>    6  128MiB  none  full         2.53 s=    0.1 %  51.5 %    24.2    27.3
>    7  128MiB  28    full         2.53 s=    0.1 %  51.5 %    24.2    30.7
>    8  256MiB  none  full         2.54 s=    0.2 %  51.4 %    24.2    27.9
>    9  256MiB  12    full         2.54 s=    0.2 %  51.4 %    24.2    30.7
>
$ pipesim plan --model llama2-13b --gpus 8 --zero 1 --cluster v100-dgx2 --free cache,gather --seq 1024 --gbs 16 -o - | wc -l
> 2
# The most layers with which the free knobs still fit, and why the next size does not.
$ pipesim plan --model gpt2 --hidden 4096 --heads 32 --vocab 50304 --seq 1024 --mbs 1 --gbs 1 --gpus 1 --cluster "v100-dgx2 ram:300GB nvme:1TB@25GBps" --largest 4:2000 --free offload | grep -e '^  [lfn][aue]' -e '#  ' -e '^   1'
>   largest    309 layers, 62.4B parameters, of 4 to 2000 layers
>   full       device 30.5 of 31.7 GiB, nvme 930.4 of 931.3 GiB a device
>   next       310 layers: nvme 933.4 of 931.3 GiB a device
>   layout     1f1b, TP 1 x CP 1 x PP 1 x DP 1*, MBS 1, 1* micro-batches,
>    #  offload              recompute      step   exposed     MFU   state     GiB
>    1  p,g,os=nvme          selective=core_attn+layernorm+act
$ pipesim plan --model gpt2 --hidden 4096 --heads 32 --vocab 50304 --seq 1024 --mbs 1 --gbs 1 --gpus 1 --cluster v100-dgx2 --largest 4:400 --recompute full --json | sed -n '/"largest"/,$p'
>   "largest": {
>     "layers": 8,
>     "params": 1821286400.0,
>     "full": "device",
>     "next_layers": 9,
>     "next_reason": "device 32.4 of 31.7 GiB"
>   }
> }
$ for range in 4:400 4:24 3:24:+7 8:8 9:9; do echo $range $(pipesim plan --model gpt2 --hidden 4096 --heads 32 --vocab 50304 --seq 1024 --mbs 1 --gbs 1 --gpus 1 --cluster v100-dgx2 --largest $range --free recompute | grep -e '^  [ln][ae]'); done
> 4:400 largest 8 layers, 1.82B parameters, of 4 to 400 layers next 9 layers: device 32.4 of 31.7 GiB layout 1f1b, TP 1 x CP 1 x PP 1 x DP 1*, MBS 1, 1* micro-batches,
> 4:24 largest 8 layers, 1.82B parameters, of 4 to 24 layers next 9 layers: device 32.4 of 31.7 GiB layout 1f1b, TP 1 x CP 1 x PP 1 x DP 1*, MBS 1, 1* micro-batches,
> 3:24:+7 largest 3 layers, 814M parameters, of 3 to 24 layers next 10 layers: device 35.4 of 31.7 GiB layout 1f1b, TP 1 x CP 1 x PP 1 x DP 1*, MBS 1, 1* micro-batches,
> 8:8 largest 8 layers, 1.82B parameters, of 8 to 8 layers next none: the range ends layout 1f1b, TP 1 x CP 1 x PP 1 x DP 1*, MBS 1, 1* micro-batches,
> 9:9 largest none of 9 to 9 layers fits next 9 layers: device 32.4 of 31.7 GiB layout 1f1b, TP 1 x CP 1 x PP 1 x DP 1*, MBS 1, 1* micro-batches,
# each size within two of the answer, by itself
$ for layers in 6 7 8 9 10; do echo $layers $(pipesim plan --model gpt2 --hidden 4096 --heads 32 --vocab 50304 --seq 1024 --mbs 1 --gbs 1 --gpus 1 --cluster v100-dgx2 --layers $layers --free recompute --require-fit >/dev/null 2>&1; echo $?); done
> 6 0
> 7 0
> 8 0
> 9 3
> 10 3
# a host that is too small; sizes that a layout refuses are passed over
$ pipesim plan --model gpt2 --hidden 4096 --heads 32 --vocab 50304 --seq 1024 --mbs 1 --gbs 1 --gpus 1 --cluster "v100-dgx2 ram:100GB nvme:1GB@25GBps" --largest 4:2000 --free offload --usable host=80% | grep -e '^  [lfn][aue]'
>   largest    32 layers, 6.65B parameters, of 4 to 2000 layers
>   full       device 29.9 of 31.7 GiB, host 73.7 of 74.5 GiB a device
>   next       33 layers: host 75.3 of 74.5 GiB a device
>   layout     1f1b, TP 1 x CP 1 x PP 1 x DP 1*, MBS 1, 1* micro-batches,
$ pipesim plan --model gpt2 --hidden 4096 --heads 32 --vocab 50304 --seq 1024 --mbs 1 --gpus 4 --pp 4 --micro-batches 4 --schedule interleaved --vp 2 --cluster v100-dgx2 --largest 1:90 --recompute full | grep -e '^  [lfn][aue]'
>   largest    34 layers, 7.06B parameters, of 1 to 90 layers
>   full       device 29.5 of 31.7 GiB
>   next       35 layers: device 32.5 of 31.7 GiB
>   layout     interleaved, TP 1 x CP 1 x PP 4 x DP 1*, MBS 1, 4 micro-batches,
$ pipesim plan --model gpt2 --hidden 4096 --heads 32 --gpus 1 --cluster v100-dgx2 --largest 300:400 | head -2
>   largest    none of 300 to 400 layers fits
>   next       300 layers: device 907.9 of 31.7 GiB
$ pipesim plan --model gpt2 --hidden 4096 --heads 32 --gpus 1 --cluster v100-dgx2 --largest 300:400 --require-fit > /dev/null
! pipesim: error: none of 300 to 400 layers fits: 300 layers: device 907.9 of 31.7 GiB
= 3
$ for range in 10:5 0:5 5 5: 1:5:2 1:5:+0 1:70000 x:5 1:5:+2x; do pipesim plan --model gpt2 --gpus 1 --largest $range; echo $?; done 2>&1
> pipesim: error: --largest 10:5: LO is at most HI; nearest: --largest 5:10
> 2
> pipesim: error: --largest 0:5: expected layers LO:HI or LO:HI:+K, from 1 to 65535, such as 10:200
> 2
> pipesim: error: --largest 5: expected layers LO:HI or LO:HI:+K, from 1 to 65535, such as 10:200
> 2
> pipesim: error: --largest 5:: expected layers LO:HI or LO:HI:+K, from 1 to 65535, such as 10:200
> 2
> pipesim: error: --largest 1:5:2: expected layers LO:HI or LO:HI:+K, from 1 to 65535, such as 10:200
> 2
> pipesim: error: --largest 1:5:+0: expected layers LO:HI or LO:HI:+K, from 1 to 65535, such as 10:200
> 2
> pipesim: error: --largest 1:70000: expected layers LO:HI or LO:HI:+K, from 1 to 65535, such as 10:200
> 2
> pipesim: error: --largest x:5: expected layers LO:HI or LO:HI:+K, from 1 to 65535, such as 10:200
> 2
> pipesim: error: --largest 1:5:+2x: expected layers LO:HI or LO:HI:+K, from 1 to 65535, such as 10:200
> 2
$ pipesim plan --model gpt2 --gpus 1 --largest 1:5 --layers 3
! pipesim: error: --layers 3 contradicts --largest, which tries numbers of layers
= 2
$ pipesim plan --model gpt2 --gpus 1 --largest 1:5 --free tp
! pipesim: error: --largest is of one layout: --free takes act-bits, cache, gather, offload, recompute and shard with it
= 2
$ pipesim plan --model gpt2 --gpus 3 --tp 7 --largest 1:5
! pipesim: error: --largest 1:5: 3 GPUs are not a multiple of tp * cp * pp * dp = 7; nearest: --gpus 7
= 2
# One DGX-2: data parallel, ZeRO-Offload, ZeRO-3, ZeRO-Infinity on the host and on drives. Published are 1.4, 13, 20,
# 70 and 1,000 B. Each fits, as the slide rounds it, and 1.6 times as many parameters do not.
$ largest() { published=$1; shift; pipesim plan --model gpt2 --vocab 50304 --seq 1024 --mbs 1 --gpus 16 --gbs 16 --cluster v100-dgx2 --framework deepspeed --recompute full "$@" --json | awk -v published=$published -F'[:,]' '/"largest"/ { inside = 1 } inside && /"layers"/ { layers = $2 + 0 } inside && /"params"/ { billions = $2 / 1e9 } inside && /"full"/ { full = $2 } END { printf "%g B: %d layers, %.4g B, full:%s, %s\n", published, layers, billions, full, (billions > 0.97 * published && billions < 1.6 * published ? "met" : "missed") }'; }; largest 1.4 --hidden 2048 --heads 16 --zero 0 --largest 4:400; largest 13 --hidden 4096 --heads 32 --zero 2 --offload g,os=host --cpu-optimizer --largest 4:1000; largest 20 --hidden 8192 --heads 64 --zero 3 --largest 4:400; largest 70 --hidden 8192 --heads 64 --zero 3 --offload p,g,os=host --cpu-optimizer --largest 4:2000; largest 1000 --hidden 12288 --heads 96 --zero 3 --offload p,g,os=nvme --cpu-optimizer --largest 4:4000
> 1.4 B: 25 layers, 1.364 B, full: "device", met
> 13 B: 67 layers, 13.7 B, full: "device", met
> 20 B: 30 layers, 24.58 B, full: "device", met
> 70 B: 101 layers, 81.77 B, full: "host", met
> 1000 B: 847 layers, 1535 B, full: "nvme", met
# PatrickStar's sizes of 10 to 18 B on 1, 2, 4 and 8 V100 with 240 GB: the largest that fits. Published are 12, 12, 12, 18.
$ for gpus in 1 2 4 8; do largest=none; for size in 10:50 12:60 15:78 18:90; do [ $gpus = 1 ] && zero= || zero="--zero 3"; pipesim --schedule 1f1b --pp 1 --tp 1 --gpus $gpus $zero --model gpt2 --layers ${size#*:} --hidden 4096 --heads 16 --vocab 50304 --seq 1024 --mbs 8 --gbs $((8 * gpus)) --cluster "v100-dgx1 ram:240GB" --recompute full --offload p,g=host,os=host:auto --cpu-optimizer --grads-in-params --gather 64MiB --cache auto --framework patrickstar --engine dag --no-alternatives --require-fit >/dev/null 2>&1 && largest=${size%:*}; done; echo $gpus $largest; done
> 1 12
> 2 12
> 4 15
> 8 18
# What was not free is named if nothing fits. Room that is short by little has more digits.
$ pipesim plan --largest 10:100 --gpus 8 --cluster a100-40 | grep -e choice -e 'too large' -A4 -e largest
>   largest    none of 10 to 100 layers fits
>   next       10 layers: device 101.3 of 39.6 GiB
>
> pipesim 0.1.0  gpt3-175b-like (18.8B) on 8 GPUs of a100-40: 1 choice, nothing
>   free
>   layout     1f1b, TP 1 x CP 1 x PP 1 x DP 8*, MBS 1*, 256* micro-batches,
>              seq 2048*; framework plain*; state can be sharded over 8 devices in
>              a node x 1 node
> --
>   too large  1 does not fit in 39.6 GiB: the smallest of them,
>              p=1x1,g=1x1,os=8x1 recompute full, needs 101.3 GiB
>   not tried  parameters, gradients and optimizer state cut over all 8 replicas:
>              --zero 3, or shard in --free; state on the host or on drives:
>              offload in --free
$ pipesim plan --model llama3-70b --gpus 8 --cluster a100-40 --free offload | grep -A2 'not tried'
>   not tried  parameters, gradients and optimizer state cut over all 8 replicas:
>              --zero 3, or shard in --free
$ pipesim plan --model llama3-70b --gpus 8 --cluster a100-40 --zero 3 --free offload,recompute --largest 10:400 | head -3
>   largest    128 layers, 112B parameters, of 10 to 400 layers
>   full       device 39.5 of 39.6 GiB, nvme 207.9 of 1788.1 GiB a device
>   next       129 layers: device 39.620 of 39.586 GiB
# Long steps leave their column whole.
$ pipesim plan --model llama3-70b --gpus 8 --cluster a100-40 --free tp,pp,recompute,offload --top 3 | grep -A3 '^  #'
>   #  TP  PP CP   DP  EP VP MBS schedule       rec. Z    step MFU %   GiB vs #1 %  memory tiers
>   1=  8   1  1    1   -  -   1 1f1b           sel  0 21.9min  61.6  35.2       -  offload g,os=host
>   2=  8   1  1    1   -  -   1 1f1b           sel  0 21.8min  61.8  39.6!   -0.4  offload g,os=host
>   3   8   1  1    1   -  -   1 1f1b           none 0 23.4min  57.5  37.7    +7.0  offload p,g=host,os=host:90%
$ pipesim plan --params 13B --gpus 1 --cluster v100 --largest 10:100 --free offload
! pipesim: error: --params 13B describes a model by its size alone, but --largest needs dimensions that stay; nearest: --model NAME, or --hidden H --heads A
= 2
