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
