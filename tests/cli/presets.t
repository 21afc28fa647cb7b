# Presets in unit mode: their layout gives ranks and micro-batches, their model and cluster say nothing.
$ pipesim --preset chimera-sc21 --unit F=1,B=1
> pipesim 0.1.0  chimera, 32 ranks, 32 micro-batches
>
>   units    F 1, B 1 (I 0.5 + W 0.5), C 0, F+B overlapped 2; messages buffered
>   note     with --unit, --preset chimera-sc21 gives the schedule, pipeline ranks
>            and micro-batches; its model, cluster and replicas have no effect
>
>   step              94 units   first start to last end
>   bubble              31.9 %   idle, waiting for other stages
>   span idle           31.9 %   of the time from a rank's first op to its last
>
>   time     forward 34.0 %, backward 34.0 %, waiting 31.9 %
>   memory   peak chunk activations by rank: 17 18 19 20 21 22 23 24 25 26 27 28
>            29 30 31 32 32 31 30 29 28 27 26 25 24 23 22 21 20 19 18 17
>
>   next     --gantt (see it)  --trace t.json.gz (Perfetto)  --json  --explain
$ pipesim --preset chimera-sc21 --schedule gpipe --pp 8 --unit F=1,B=1
> pipesim 0.1.0  gpipe, 8 ranks, 8 micro-batches
>
>   units    F 1, B 1 (I 0.5 + W 0.5), C 0, F+B overlapped 2; messages buffered
>   note     with --unit, --preset chimera-sc21 gives the schedule, pipeline ranks
>            and micro-batches; its model, cluster and replicas have no effect
>
>   step              30 units   first start to last end
>   bubble              46.7 %   idle, waiting for other stages
>   span idle           46.7 %   of the time from a rank's first op to its last
>
>   time     forward 26.7 %, backward 26.7 %, waiting 46.7 %
>   memory   peak chunk activations by rank: 8 8 8 8 8 8 8 8
>
>   next     --gantt (see it)  --trace t.json.gz (Perfetto)  --json  --explain
$ pipesim --preset chimera-sc21 --schedule 1f1b --pp 16 --unit F=1,B=1
> pipesim 0.1.0  1f1b, 16 ranks, 16 micro-batches
>
>   units    F 1, B 1 (I 0.5 + W 0.5), C 0, F+B overlapped 2; messages buffered
>   note     with --unit, --preset chimera-sc21 gives the schedule, pipeline ranks
>            and micro-batches; its model, cluster and replicas have no effect
>
>   step              62 units   first start to last end
>   bubble              48.4 %   idle, waiting for other stages
>   span idle           48.4 %   of the time from a rank's first op to its last
>
>   time     forward 25.8 %, backward 25.8 %, waiting 48.4 %
>   memory   peak chunk activations by rank: 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2
>            1
>
>   next     --gantt (see it)  --trace t.json.gz (Perfetto)  --json  --explain
$ pipesim --preset chimera-sc21 --schedule gems --pp 8 --unit F=1,B=1
> pipesim 0.1.0  gems, 8 ranks, 8 micro-batches
>
>   units    F 1, B 1 (I 0.5 + W 0.5), C 0, F+B overlapped 2; messages buffered
>   note     with --unit, --preset chimera-sc21 gives the schedule, pipeline ranks
>            and micro-batches; its model, cluster and replicas have no effect
>
>   step              79 units   first start to last end
>   bubble              79.7 %   idle, waiting for other stages
>   span idle           77.8 %   of the time from a rank's first op to its last
>
>   time     forward 10.1 %, backward 10.1 %, waiting 79.7 %
>   memory   peak chunk activations by rank: 1 1 1 1 1 1 1 1
>
>   next     --gantt (see it)  --trace t.json.gz (Perfetto)  --json  --explain
$ pipesim --preset chimera-sc21 --schedule gems --pp 8 --micro-batches 4 --unit F=1,B=1
> pipesim 0.1.0  gems, 8 ranks, 4 micro-batches
>
>   units    F 1, B 1 (I 0.5 + W 0.5), C 0, F+B overlapped 2; messages buffered
>   note     with --unit, --preset chimera-sc21 gives the schedule, pipeline ranks
>            and micro-batches; its model, cluster and replicas have no effect
>
>   step              43 units   first start to last end
>   bubble              81.4 %   idle, waiting for other stages
>   span idle           77.8 %   of the time from a rank's first op to its last
>
>   time     forward 9.3 %, backward 9.3 %, waiting 81.4 %
>   memory   peak chunk activations by rank: 1 1 1 1 1 1 1 1
>
>   next     --gantt (see it)  --trace t.json.gz (Perfetto)  --json  --explain
$ pipesim --preset bfs-52b --schedule bfs,interleaved --unit F=1,B=2
> pipesim 0.1.0  2 schedules, 8 ranks, 16 micro-batches
>   units: F 1 B 2 C 0 for a micro-batch on a rank, which its VP chunks share
>   peak activations: in micro-batches of a rank
>   note     with --unit, --preset bfs-52b gives the schedule, pipeline ranks and
>            micro-batches; its model, cluster and replicas have no effect
>
>    #  schedule          VP          step     bubble  span idle  peak activ.
>    1  bfs                8  50.625 units     5.19 %     5.19 %           16
>    1  interleaved        8  50.625 units     5.19 %     5.19 %        8.875
# Options of the preset that the schedule does not have are dropped; flags are not.
$ pipesim --preset bfs-52b --schedule gpipe --unit F=1,B=2
> pipesim 0.1.0  gpipe, 8 ranks, 16 micro-batches
>
>   units    F 1, B 2 (I 1 + W 1), C 0, F+B overlapped 3; messages buffered
>   note     with --unit, --preset bfs-52b gives the schedule, pipeline ranks and
>            micro-batches; its model, cluster and replicas have no effect
>
>   step              69 units   first start to last end
>   bubble              30.4 %   idle, waiting for other stages
>   span idle           30.4 %   of the time from a rank's first op to its last
>
>   time     forward 23.2 %, backward 46.4 %, waiting 30.4 %
>   memory   peak chunk activations by rank: 16 16 16 16 16 16 16 16
>
>   next     --gantt (see it)  --trace t.json.gz (Perfetto)  --json  --explain
$ pipesim --preset bfs-52b --schedule gpipe --vp 8 --unit F=1,B=2
! pipesim: error: --vp 8: gpipe has no such option; schedules that have it: bfs, hanayo, interleaved, interleaved-zb
= 2
# No whole number of replicas; nothing to derive micro-batches from.
$ pipesim --preset chimera-sc21 --schedule gpipe --pp 3 --unit F=1,B=1
! pipesim: error: --pp 3: the 2048 GPUs of --preset chimera-sc21 are not a multiple of tp * cp * pp = 3; give --micro-batches, or a --pp that divides 2048
= 2
$ pipesim --preset chimera-sc21 --gpus 1024 --unit F=1,B=1
! pipesim: error: --gpus 1024 has no effect with --unit, which has no model, devices or memory, but the costs of ops alone
= 2
$ pipesim --schedule gpipe --pp 8 --unit F=1,B=1
! pipesim: error: --unit needs --pp and --micro-batches
= 2
# Embedding and head in the stages' times.
$ pipesim --preset chimera-sc21 --no-alternatives --head last | grep -A2 layout
>   layout   TP 1 x PP 32 x DP 64*, MBS 1, GBS 2,048 -> 32* micro-batches; 2
>            layers a stage, embedding in the first, head in the last
>   state    ZeRO 0, recompute none, gradient sync eager-opt
$ pipesim --preset chimera-sc21 --no-alternatives --head balanced | grep -A2 layout
>   layout   TP 1 x PP 32 x DP 64*, MBS 1, GBS 2,048 -> 32* micro-batches; layers
>            by stage 2, 3 x 2, 2 x 28, 0, balanced with embedding and head
>   state    ZeRO 0, recompute none, gradient sync eager-opt
$ pipesim --preset chimera-sc21 --no-alternatives --head ignored | grep -A2 layout
>   layout   TP 1 x PP 32 x DP 64*, MBS 1, GBS 2,048 -> 32* micro-batches; 2
>            layers a stage, embedding in the first, head in the last, both
>            without compute time
$ export COLUMNS=100; pipesim --preset chimera-sc21 --head balanced --explain | grep -A1 -e --head
>   --head balanced: forward and backward of embedding and head are 0.238 and 2.58 blocks
>   message over the network: 10.0 us + bytes / 8.16 GB/s
$ pipesim --preset chimera-sc21 --head ignored --json | grep -w '^  "head"'
>   "head": "ignored",
$ pipesim --preset chimera-sc21 --head balanced --last-stage-layers 1
! pipesim: error: --last-stage-layers 1 contradicts --head balanced, which chooses the layers of every stage
= 2
$ pipesim --schedule interleaved --vp 3 --pp 8 --gpus 8 --model gpt2 --layers 22 --gbs 24 --cluster a100 --head counted --no-alternatives | grep -A2 layout
>   layout   TP 1* x PP 8 x DP 1*, VP 3, MBS 1*, GBS 24 -> 24* micro-batches;
>            layers by stage 0, 1 x 22, 0, embedding and head count as a block
>            each
$ pipesim --schedule interleaved --vp 3 --pp 8 --gpus 8 --model gpt2 --layers 22 --gbs 24 --cluster a100
! pipesim: error: 22 layers cannot fill 24 stages with at least one each: use at most 22 stages (lower --pp or --vp), or --head counted: embedding and head fill a stage each
= 2
$ pipesim --preset chimera-sc21 --head counted --first-stage-layers 1
! pipesim: error: --first-stage-layers 1 contradicts --head counted, which chooses the layers of every stage
= 2
$ pipesim --preset chimera-sc21 --head middle
! pipesim: error: --head: "middle" is not one of last, balanced, counted, ignored, parallel, parallel-twice and interlaced
= 2
$ pipesim --preset chimera-sc21 --head balanced --unit F=1
! pipesim: error: --head balanced has no effect with --unit, which has no model, devices or memory, but the costs of ops alone
= 2
# Presets of published runs: predicted time or MFU over the published one. Nothing is fitted to one row.
$ while read -r name key published most; do pipesim --preset $name --engine dag --no-alternatives --json | sed -n "s/^  \"$key\": \([0-9.]*\).*/\1/p" | awk -v name=$name -v published=$published -v most=$most '{ e = $1 / published - 1; print name, (e * e <= most * most ? "within " : "not within ") 100 * most " %" }'; done <<< $'deepseek-v3 iteration_s 19.91 0.1\ngpt3-175b-selective iteration_s 13.75 0.05\nllama2-70b iteration_s 17.15 0.1\nllama3-405b mfu 0.41 0.1\nllama3-405b-8k mfu 0.43 0.15\nllama3-70b-fp8 iteration_s 10.69 0.1\nmixtral-8x7b iteration_s 3.102 0.05'
> deepseek-v3 within 10 %
> gpt3-175b-selective within 5 %
> llama2-70b within 10 %
> llama3-405b within 10 %
> llama3-405b-8k within 15 %
> llama3-70b-fp8 within 10 %
> mixtral-8x7b within 5 %
$ for name in deepseek-v3 gpt3-175b-selective llama2-70b llama3-405b llama3-70b-fp8 mixtral-8x7b; do pipesim --preset $name --engine dag --no-alternatives --json | grep -c '"fits": true'; done
> 1
> 1
> 1
> 1
> 1
> 1
$ pipesim presets llama3-405b | head -4
> llama3-405b: interleaved 1F1B, Llama 3 405B on 16,384 H100
>   source    Llama team, The Llama 3 Herd of Models, arXiv 2407.21783, table 4
>             and section 3.3.2: no recomputation at 8,192 tokens
>   published 400 TFLOP/s/GPU, 41 % MFU
# What a preset means can be pasted: a cluster text is quoted.
$ { pipesim presets llama2-70b | sed -n '/^  means/,$p' | sed 's/^  means *//'; } >means; { cat means; echo; } | head -2; for run in "$(cat means)" "pipesim --preset llama2-70b"; do eval "$run --engine dag --no-alternatives --json" | grep '"iteration_s"'; done | uniq | wc -l
> pipesim --schedule interleaved --model llama2-70b \
>             --cluster 'h800 gpu:8 nic:8x12.5GBps' --gpus 128 --pp 8 --tp 2 \
> 1
# options of a preset may have no value; every preset tells what it means
$ for p in $(pipesim presets | grep -o "^[a-z][a-z0-9.-]*:" | tr -d :); do pipesim presets $p | grep -q " means     pipesim " || echo $p; done
$ pipesim presets zero-offload-10b | tail -4
>   means     pipesim --schedule 1f1b --layers 50 --hidden 4096 --heads 32 \
>             --vocab 50304 --cluster v100-dgx2 --gpus 1 --pp 1 --tp 1 --mbs 10 \
>             --micro-batches 1 --seq 1024 --recompute full \
>             --offload g=host,os=host --cpu-optimizer --framework deepspeed
