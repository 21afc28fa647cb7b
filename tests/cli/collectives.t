# How collectives are priced, and what slower links do to them.
$ export COLUMNS=100; pipesim --schedule 1f1b --gpus 256 --model llama3-8b --tp 1 --pp 4 --engine dag --collective-algorithm ring --explain | grep -A4 'gradient sum by' | cut -c1-80
>   gradient sum by ring, g replicas in each of m nodes, n = g m: network if m > 1
>     node     2 (n-1)/n bytes / 414 GB/s
>     network  2 (n-1)/n bytes / 46.0 GB/s
>     latency  2 (n-1) 2.00 us or 2 (n-1) 8.00 us
>   optimizer: (blocks + 1) launches + bytes moved a parameter x parameters / memo
$ export COLUMNS=100; for a in auto ring tree hierarchical; do pipesim --schedule 1f1b --gpus 256 --model llama3-8b --tp 1 --pp 4 --engine dag --collective-algorithm $a --explain | grep -m1 'gradient sum of'; done
>     gradient sum of 4.23 GiB: 25.2 ms = node 24.8 ms + network 0 s + latency 381 us
>     gradient sum of 4.23 GiB: 195 ms = node 0 s + network 194 ms + latency 1.01 ms
>     gradient sum of 4.23 GiB: 24.8 ms = node 0 s + network 24.7 ms + latency 76.0 us
>     gradient sum of 4.23 GiB: 40.9 ms = node 19.2 ms + network 21.6 ms + latency 140 us
# --explain has the formula of what `auto` takes for each sum: rings, trees or both.
$ pipesim --schedule 1f1b --gpus 1024 --model gpt2 --tp 1 --pp 4 --engine dag --explain | grep -A 5 'gradient sum by'
>   gradient sum by trees, g replicas in each of m nodes, at a share e of the
>       bandwidth of rings; the slower counts:
>     node     2 bytes/e / 360 GB/s
>     network  2 bytes/(e g) / 46.0 GB/s
>     latency  2 (g-1) 2.00 us + 2 ceil(log2 m) 8.00 us
>     start    25.0 us if g > 1, + 20.0 us if m > 1: once each, in the latency
$ pipesim --schedule 1f1b --gpus 1024 --model gpt2 --tp 1 --pp 4 --engine dag --explain | grep 'gradient sum of'
>     gradient sum of 116 MiB by trees, e = 0.85: 945 us = node 792 us + network
>     gradient sum of 40.6 MiB by trees, e = 0.776: 457 us = node 304 us + network
>     gradient sum of 114 MiB by trees, e = 0.848: 937 us = node 784 us + network
$ pipesim --schedule 1f1b --gpus 1024 --model gpt2 --tp 1 --pp 4 --engine dag --shard os=8 --explain | grep 'by trees'
>   sum of scattered gradients by trees, g replicas in each of m nodes, at a share
$ pipesim --schedule 1f1b --gpus 512 --model gpt2-xl --tp 1 --pp 4 --engine dag --explain | grep -E 'gradient sum (by|of)'
>   gradient sum by rings, g replicas in each of m nodes, n = g m; the slower
>     gradient sum of 860 MiB: 5.70 ms = node 4.97 ms + network 0 s + latency
>     gradient sum of 704 MiB: 4.80 ms = node 4.06 ms + network 0 s + latency
>     gradient sum of 857 MiB: 5.68 ms = node 4.95 ms + network 0 s + latency
# One slow card slows the ring that passes it; the other formulas see classes of links.
$ export COLUMNS=100; for a in auto ring; do pipesim --schedule 1f1b --gpus 256 --model llama3-8b --tp 1 --pp 4 --engine dag --collective-algorithm $a --link-bw 'node3.nic0.*=0.5' --explain | grep -m1 'gradient sum of'; done
>     gradient sum of 4.23 GiB: 49.0 ms = node 0 s + network 48.6 ms + latency 381 us
>     gradient sum of 4.23 GiB: 390 ms = node 0 s + network 389 ms + latency 1.01 ms
# A ring priced as one is the ring run hop by hop, where all members start together.
$ for c in analytic flows; do pipesim --schedule gpipe --gpus 128 --model gpt2 --tp 1 --pp 1 --micro-batches 2 --engine dag --collective-algorithm ring --collectives $c --json | grep iteration_s | cut -c1-28; done
>   "iteration_s": 0.025970733
>   "iteration_s": 0.025970733
$ pipesim --schedule gpipe --model gpt2 --gpus 4 --tp 1 --pp 4 --collective-algorithm ring
! pipesim: error: --collective-algorithm ring has no effect here: tp is 1 and there is one replica of each stage, so there are no collectives
= 2
$ pipesim --schedule gpipe --model gpt2 --gpus 4 --collective-algorithm rings
! pipesim: error: --collective-algorithm: "rings" is not one of auto, ring, tree and hierarchical; did you mean "ring"?
= 2
$ pipesim --schedule 1f1b --gpus 64 --cluster "h100 fabric:torus torus:2x2x1"
! pipesim: error: --cluster: torus:2x2x1 holds 4 nodes, and 8 are needed: torus:4x2x1
= 2
$ pipesim --schedule 1f1b --gpus 64 --cluster "h100 node:4"
! pipesim: error: --gpus 64 is more than the 32 of --cluster (4 nodes x 8): --gpus 32, or node:8 in --cluster
= 2
# Scatters and gathers are rings, too: with ZeRO-1 the two halves of an all-reduce, in turn.
$ for zero in 0 1; do pipesim --schedule gpipe --model gpt2 --gpus 32 --tp 1 --pp 2 --zero $zero --cluster h100 --engine dag --collectives flows --no-alternatives --json | grep '"dp_sync"'; done
>     "dp_sync": 0.0091279616967550603,
>     "dp_sync": 0.009137396479963901,
# Context-parallel devices hold the same parameters: their gradients are summed without other replicas.
$ pipesim --schedule 1f1b --model llama3-8b --gpus 16 --pp 4 --tp 2 --cp 2 --cluster h100 --engine dag --json | grep '"dp_sync"'
>     "dp_sync": 0.00014981612711595837,
