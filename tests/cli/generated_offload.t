# Parameters on another tier: a pass takes as long as their loads, here 60.0 GB at 12.5 GB/s.
$ for t in 4 5; do pipesim --mode infer --model opt-30b --gpus 1 --batch 4 --tokens $t --prompt 64 --offload p=host --cluster v100-dgx2 --json | grep -m 1 '"iteration_s"'; done | awk '{ s = $2 + 0; if (NR > 1) printf "%.2f s a pass\n", s - last; last = s }'
> 4.80 s a pass
# A quarter of them takes a quarter of the time; weights of 8 bits take half.
$ for o in p=host:25% 'p=host --weight-bits 8'; do for t in 4 5; do pipesim --mode infer --model opt-30b --gpus 1 --batch 4 --tokens $t --prompt 64 --offload $o --cluster v100-dgx2 --json | grep -m 1 '"iteration_s"'; done; done | awk '{ s = $2 + 0; if (NR % 2 == 0) printf "%.2f s a pass\n", s - last; last = s }'
> 1.20 s a pass
> 2.40 s a pass
# All passes share weights: a chunk that is loaded as a whole is loaded once.
$ pipesim --mode infer --model opt-30b --gpus 1 --batch 4 --tokens 5 --prompt 64 --offload p=host --gather chunk --cluster v100-dgx2 | grep -E '^  (time|tiers)'
>   time     matrices 10 % | moves 89 %
>   tiers    host 55.8 of 1536.0 GiB a device
# A cache smaller than a chunk saves no load, which a note says; auto takes none then.
$ for c in 12 48 auto; do pipesim --mode infer --model opt-30b --gpus 1 --batch 4 --tokens 5 --prompt 64 --offload p=host --cache $c --cluster a100 --json | grep -E '"(loads|hits|cached_units)"|saves no load' | sed 's/^ *//; s/,$//'; done
> "loads": 240
> "hits": 0
> "cached_units": 12
> "--cache 12 takes memory and saves no load: each pass goes through all 48 units of a rank in turn; with --cache 48 all stay, with --offload p=host:75% about the same memory keeps a share"
> "loads": 48
> "hits": 192
> "cached_units": 48
> "loads": 48
> "hits": 192
> "cached_units": 48
$ pipesim --mode infer --model opt-30b --gpus 1 --batch 64 --tokens 4 --prompt 528 --offload p=host --cache auto --cluster a100 --json | grep -E '"(loads|cached_units)"' | sed 's/^ *//; s/,$//'
> "loads": 192
> "cached_units": 1
$ pipesim --mode infer --model opt-30b --gpus 1 --batch 4 --tokens 5 --prompt 64 --offload p=host --cache 12 --cluster a100 | grep -A2 '^  note'
>   note     --cache 12 takes memory and saves no load: each pass goes through all
>            48 units of a rank in turn; with --cache 48 all stay, with --offload
>            p=host:75% about the same memory keeps a share
$ pipesim --mode infer --model opt-30b --gpus 1 --batch 4 --tokens 5 --prompt 64 --offload p=nvme --cache 12 --cluster a100,nvme:8TB@25GBps --json | grep -o 'with --offload.*'
> with --offload p=nvme:75% about the same memory keeps a share"
# Buffers of copies may be larger than what a share moves: auto then moves none.
$ for o in host host:auto; do pipesim --mode infer --model gpt2 --layers 2 --gpus 1 --batch 29530 --cluster h100 --offload p=$o --json | grep '"fits"' | sed 's/^ *//; s/,$//'; done
> "fits": false
> "fits": true
# Copies of a framework from pages that are not pinned reach a share of the link: here 70 %, so 6.86 s. Its host adds the rest.
$ for t in 4 5; do pipesim --mode infer --model opt-30b --gpus 1 --batch 4 --tokens $t --prompt 64 --offload p=host --cluster v100-dgx2 --framework zero-inference-2023 --json | grep -m 1 '"iteration_s"'; done | awk '{ s = $2 + 0; if (NR > 1) printf "%.2f s a pass\n", s - last; last = s }'
> 6.95 s a pass
# A rate that the user states is the one that copies reach: 60.0 GB take 5.00 s. Its host adds the rest.
$ for t in 4 5; do pipesim --mode infer --model opt-30b --gpus 1 --batch 4 --tokens $t --prompt 64 --offload p=host --cluster a100,h2d:12GBps --framework flexgen --json | grep -m 1 '"iteration_s"'; done | awk '{ s = $2 + 0; if (NR > 1) printf "%.2f s a pass\n", s - last; last = s }'
> 5.04 s a pass
