# What a figure was computed from, and pages that fit.
$ pipesim --schedule 1f1b --model gpt2 --gpus 8 --pp 2 --tp 2 --engine dag --no-alternatives --jitter 5% --seed 3 --slow 0=0.9 --slow 1.1=80% --link-bw network=0.5 --p2p buffered:2 --post jit --recv-slots 3 --map dp,tp --head balanced --no-fold --collectives flows --collective-algorithm ring --nic fifo --buckets 2 | grep -A 5 what-if
>   what-if  --link-bw network=0.5 --slow 0=0.9 --slow 1.1=80% --jitter 5%
>            --seed 3 --head balanced --map dp,tp --buckets 2 --p2p buffered:2
>            --post jit --recv-slots 3 --nic fifo --collectives flows
>            --collective-algorithm ring --no-fold
>
>   iteration ...
$ pipesim --schedule 1f1b --model gpt2 --gpus 8 --pp 2 --tp 2 --engine dag --no-alternatives --slow 0=1 --jitter 0 --p2p rendezvous --post early --recv-slots 2 --map TP --head last --collectives analytic --collective-algorithm auto --nic free --buckets 1 | grep what-if
>   what-if  --slow 0=1
$ pipesim --schedule 1f1b --pp 2 --micro-batches 2 --unit F=1 --jitter 5% | grep what-if
>   what-if  --jitter 5% (seed 0)
$ pipesim --schedule 1f1b,gpipe --pp 2 --micro-batches 2 --unit F=1 --slow 1=0.5 | grep what-if
>   what-if  --slow 1=0.5
$ pipesim --preset chimera-sc21 --gbs 1024 --slow 1=0.9 --link-bw node=2 --link-bw network=2 --no-fold --engine dag --json | sed -n '/"inputs"/,/^  }/p'
>   "inputs": {
>     "schedule": "chimera",
>     "preset": "chimera-sc21",
>     "gpus": "2048",
>     "tp": "1",
>     "pp": "32",
>     "mbs": "1",
>     "gbs": "1024",
>     "seq": "632",
>     "model": "gpt2-64",
>     "head": "last",
>     "cluster": "p100-daint",
>     "link-bw": [
>       "node=2",
>       "network=2"
>     ],
>     "slow": [
>       "1=0.9"
>     ],
>     "zero": "0",
>     "recompute": "none",
>     "grad-sync": "eager-opt",
>     "engine": "dag",
>     "no-fold": true
>   },
$ for run in '--gpus 256' '--model llama3-70b --gpus 96 --pp 3' '--pp 3 --micro-batches 4 --unit F=1' '--gpus 64 --gbs 128 --slow 0=0.9 --p2p buffered:2'; do pipesim --schedule all $run --engine dag | awk -v run="$run" 'length > 80 { print run ": " $0 }'; done
$ pipesim --schedule 1f1b,gpipe --model gpt2 --gpus 32 --engine dag --cluster "node:4 gpu:8 device:a100 nvlink:300GBps nic:4x200Gbps leaf:2 oversub:4" | awk 'length > 80'
$ for schedule in chimera zbv seq1f1b zb-auto hanayo pipedream; do pipesim --schedule $schedule --gpus 64 --model llama3-8b --engine dag --grad-sync eager --bucket-size 25MB --explain; pipesim --schedule $schedule --pp 4 --micro-batches 8 --unit F=1,B=2 --explain; done | awk 'length > 100'
$ pipesim --schedule chimera --gpus 2048 --engine dag --no-alternatives | grep -A 1 '^  note'
>   note     32 micro-batches for 16 ranks leave a start-up bubble of at
>            most 29.4 %; twice the batch takes 7.2 % less time a sample, and as
$ for how in flows analytic; do pipesim --schedule 1f1b --model gpt2-64 --pp 4 --dp 4 --tp 1 --micro-batches 8 --zero 1 --cluster "gpu:1 fabric:ideal" --engine dag --collective-algorithm ring --collectives $how --json | grep iteration_s; done | sort -u | wc -l
> 1
$ for run in "schedules" "models" "clusters" "presets" "schedules hanayo" "--schedule interleaved --gpus 1024 --cluster a100 --vp 4" "--preset bfs-52b" "--preset chimera-sc21 --concat auto" "--schedule chimera --pp 40 --micro-batches 80 --unit F=1 --concat auto"; do pipesim $run | awk -v run="$run" 'length > 80 { print run ": " $0 }'; done
> presets: axonn-12b: 1F1B, 12 B GPT on 48 V100, optimizer state on the host, one bucket back
> presets: harmony-bert96: breadth-first, BERT of 96 layers on 2 GTX 1080 Ti, all on the host
> presets: merak: 1F1B with the order, recomputation and split products of Merak, 2.5 B on 64 GPUs
$ pipesim --schedule chimera --gpus 2048 --engine dag | awk 'length > 80 || /[^ -~]/ { print } END { print NR <= 45 }'
> 1
$ pipesim --preset bfs-52b --engine dag --no-alternatives | grep 'rank 7'
>   peak memory ...
>     rank 7 (7,15..63)     ...
# The note names the cause of a rank that computes longest: --slow of it or of the others, its layers.
$ for why in "--slow 1=0.5" "--slow 0=3" "--first-stage-layers 22" ""; do pipesim --schedule 1f1b --model llama3-8b --gpus 8 --tp 4 --pp 2 --gbs 64 --engine dag --no-alternatives $why | sed -n '/^  note/,/^  next/p' | head -2; done
>   note     rank 1 computes 38 % longer than the average: --slow 1=0.5, not the
>            schedule, makes most of the bubble
>   note     rank 1 computes 54 % longer than the average: --slow 0=3, not the
>            schedule, makes most of the bubble
>   note     rank 0 computes 30 % longer than the average (it has more layers):
>            uneven stages, not the schedule, make most of the bubble;
>   note     64 micro-batches for 2 ranks make the start-up bubble small: 1.5 %
>   next     --gantt (see it)  --trace t.json.gz (Perfetto)  --json  --explain
# Few micro-batches, not the longer last stage, leave most of this bubble.
$ pipesim --schedule 1f1b --model llama3-8b --gpus 64 --tp 8 --pp 8 --gbs 7 --engine dag --no-alternatives | sed -n '/^  note/,/^  next/p'
>   note     7 micro-batches for 8 ranks leave a start-up bubble of 50.0 %; twice
>            the batch takes 21.4 % less time a sample, and 0.5 GiB more memory:
>            pipesim --schedule 1f1b --gpus 64 --tp 8 --pp 8 --gbs 14 \
>            --model llama3-8b --engine dag
>   next     --gantt (see it)  --trace t.json.gz (Perfetto)  --json  --explain
# A faster schedule is advised before stages that no flag evens out.
$ pipesim --schedule 1f1b --model llama3-8b --gpus 8 --tp 2 --pp 4 --micro-batches 32 --engine dag --first-stage-layers 12 | sed -n '/^  note/,/^  next/p' | head -1
>   note     dualpipe takes 18.2 % less time here, and 20.0 GiB more memory:
# A file with more stages on some ranks than on others has no costs of a model; in unit mode it has.
$ printf '0F0,0F1,2F0,2F1,2B0,2B1,0B0,0B1\n1F0,1F1,1B0,1B1\n' >"$TMPDIR/odd.csv"; cd "$TMPDIR"; pipesim --schedule ./odd.csv --unit F=1,B=2 | grep '^  step'; pipesim --schedule ./odd.csv --model llama3-8b --gpus 2
>   step              12 units   with costs of a chunk; 6 with those of a rank
! pipesim: error: ./odd.csv: 3 stages on 2 ranks: for the costs of a model, each rank must hold as many stages as any other; nearest: 2 or 4 stages, or --unit
= 2
