# Combinations of pipeexec_experts.t, all of them.
# Groups of replicas that share experts train to the bits of one rank.
$ for o in "--transport shm" "--backend fake" "--clock wall" "--clock wall --transport shm --schedule zbv" "--precision double" "--precision bf16" "--recompute full" "--recompute-modules moe" "--recompute stage-aware=1 --transport shm" "--recompute-modules act core_attn --backend fake" "--schedule seq1f1b" "--schedule seq1f1b --recompute-modules moe layernorm" "--top-k 1 --ffn 45" "--grad-sync eager" "--slow 1.0=0.5"; do for e in "2" "3 --exact-grad" "6 --exact-grad"; do pipeexec --layers 4 --hidden 32 --heads 4 --experts 6 --seq 8 --mbs 2 --steps 2 --np 2 --dp 6 --micro-batches 2 --check --quiet $o --ep $e || echo "$o, $e"; done; done
# With devices of --tp, transports and clocks change no bit.
$ for o in "--np 1 --dp 2 --ep 2 --tp 2" "--np 1 --dp 4 --ep 2 --tp 2 --zero 3 --clip 0.5" "--np 2 --dp 2 --ep 2 --tp 4 --precision bf16 --schedule zbv"; do for t in local tcp; do for c in virtual wall; do pipeexec --experts 4 --layers 4 --hidden 32 --heads 4 --seq 16 --mbs 2 --steps 2 --exact-grad $o --check --transport $t --clock $c --json | sed -n '/"losses"/,/\]/p; /"grad_norms"/,/\]/p; /"bit_equal"/p; /"tokens": \[/,/^    \]/p' | md5sum; done; done | uniq | wc -l; done
> 1
> 1
> 1
