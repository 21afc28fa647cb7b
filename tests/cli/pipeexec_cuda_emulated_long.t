# Combinations of pipeexec_cuda_emulated.t, all of them.
# Experts: the device knows their rows, and the host does not.
$ for o in "" "--schedule zbv --device-mode partition --weight-grad-stream on" "--capacity-factor 1 --splits 2 --schedule seq1f1b --dp 2" "--recompute full --precision bf16" "--recompute full" "--cuda-graphs off --transport ipc" "--capacity-factor 0.5 --top-k 1 --zero 1 --dp 2 --transport nccl"; do pipeexec --backend cuda --np 2 --experts 4 --shared-ffn 24 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 2 $o --exact-grad --check --json | grep -E '"(bit_equal|left_out)":' | tr -d ' \n'; echo; done
> "bit_equal":true,"bit_equal":true,"left_out":0,
> "bit_equal":true,"bit_equal":true,"left_out":0,
> "bit_equal":true,"bit_equal":true,"left_out":0,
> "bit_equal":true,"bit_equal":true,"left_out":0,
> "bit_equal":true,"bit_equal":true,"left_out":0,
> "bit_equal":true,"bit_equal":true,
> "bit_equal":true,"bit_equal":true,"left_out":0,
# Replicas read rows of each other: bits and bytes of the CPU, in one process or several.
$ for o in "" "--schedule zbv --device-mode partition" "--capacity-factor 1 --splits 2 --schedule seq1f1b" "--recompute full --precision bf16" "--device-mode streams --cuda-graphs off" "--transport ipc --tp 2" "--transport nccl --capacity-factor 1"; do for b in cpu cuda; do pipeexec --backend $b --np 2 --dp 2 --ep 2 --experts 4 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 2 $(if [ $b = cuda ]; then echo $o; else echo $o | sed 's/--device-mode [a-z]*//; s/--cuda-graphs off//; s/--transport [a-z]*//'; fi) --exact-grad --check --json | grep -E '"(bit_equal|moved_bytes)":' | tr -d ' \n'; echo; done | uniq; done
> "bit_equal":true,"bit_equal":true,"moved_bytes":31744,
> "bit_equal":true,"bit_equal":true,"moved_bytes":31744,
> "bit_equal":true,"bit_equal":true,"moved_bytes":27648,
> "bit_equal":true,"bit_equal":true,"moved_bytes":23808,
> "bit_equal":true,"bit_equal":true,"moved_bytes":31744,
> "bit_equal":true,"bit_equal":true,"moved_bytes":63488,
> "bit_equal":true,"bit_equal":true,"moved_bytes":27648,
