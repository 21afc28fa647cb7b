# How collectives are priced, and what slower links do to them.
$ pipesim --schedule 1f1b --gpus 256 --model llama3-8b --tp 1 --pp 4 --engine dag --collective-algorithm ring --explain | grep -A4 'gradient sum by' | cut -c1-80
>   gradient sum by ring, g replicas in each of m nodes, n = g m: network if m > 1
>     node     2 (n-1)/n bytes / 360 GB/s
>     network  2 (n-1)/n bytes / 40.0 GB/s
>     latency  2 (n-1) 2.00 us or 2 (n-1) 8.00 us
>   optimizer: (blocks + 1) launches + bytes moved a parameter x parameters / memo
$ for a in auto ring tree hierarchical; do pipesim --schedule 1f1b --gpus 256 --model llama3-8b --tp 1 --pp 4 --engine dag --collective-algorithm $a --explain | grep -m1 'gradient sum of'; done
>     gradient sum of 4.23 GiB: 25.0 ms = node 24.8 ms + network 0 s + latency 121 us
>     gradient sum of 4.23 GiB: 224 ms = node 0 s + network 223 ms + latency 1.01 ms
>     gradient sum of 4.23 GiB: 28.5 ms = node 0 s + network 28.4 ms + latency 76.0 us
>     gradient sum of 4.23 GiB: 47.0 ms = node 22.1 ms + network 24.8 ms + latency 140 us
# One slow card slows the ring that passes it; the other formulas see classes of links.
$ for a in auto ring; do pipesim --schedule 1f1b --gpus 256 --model llama3-8b --tp 1 --pp 4 --engine dag --collective-algorithm $a --link-bw 'node3.nic0.*=0.5' --explain | grep -m1 'gradient sum of'; done
>     gradient sum of 4.23 GiB: 48.7 ms = node 0 s + network 48.6 ms + latency 121 us
>     gradient sum of 4.23 GiB: 448 ms = node 0 s + network 447 ms + latency 1.01 ms
# A ring priced as one is the ring run hop by hop, where all members start together.
$ for c in analytic flows; do pipesim --schedule gpipe --gpus 128 --model gpt2 --tp 1 --pp 1 --micro-batches 2 --engine dag --collective-algorithm ring --collectives $c --json | grep iteration_s | cut -c1-28; done
>   "iteration_s": 0.025527847
>   "iteration_s": 0.025527847
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
>     "dp_sync": 0.010598910325635249,
>     "dp_sync": 0.010607761219482944,
# Context-parallel devices hold the same parameters: their gradients are summed without other replicas.
$ pipesim --schedule 1f1b --model llama3-8b --gpus 16 --pp 4 --tp 2 --cp 2 --cluster h100 --engine dag --json | grep '"dp_sync"'
>     "dp_sync": 0.00015021125264089172,
