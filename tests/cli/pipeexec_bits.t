# Saved activations in few bits. Losses of the first step are those of full ones. Gradients are those of a loop that
# packs alike, to the bit, in every schedule and with every recomputation.
$ for s in gpipe 1f1b "interleaved --vp 2" chimera "1f1b --recompute full" "1f1b --recompute selective=act+layernorm" "1f1b --recompute full,late,skip" "gpipe --recompute stage-aware=0.5,skip" "1f1b --shifted 1" "gpipe --tp 2" "gpipe --tp 2 --tp-split 2" "1f1b --transport tcp" "1f1b --dp 2 --zero 2" "1f1b --dp 2 --zero 3 --gather layer" "1f1b --offload a=host:40% --recompute full" "gpipe --offload a=host"; do pipeexec --schedule $s --np 2 --layers 4 --hidden 32 --heads 2 --seq 16 --mbs 2 --micro-batches 4 --steps 3 --exact-grad --check --act-bits 8 --json | python3 -c 'import json, sys; r = json.load(sys.stdin); a = r["act_bits"]; print(r["grad_check"]["bit_equal"], r["weight_check"]["bit_equal"], r["grad_check"]["loss_equal"], r["structural_error_s"], a["cosine"] > .999, abs(a["loss"] / a["exact_loss"] - 1) < .01, r["peak_mem_bytes"] == r["predicted_peak_mem_bytes"])'; done | sort | uniq -c
>      16 True True True 0.0 True True True
# One set of weights: with exact gradients the losses are equal to the last digit, in any schedule.
$ for s in gpipe "1f1b --recompute full" "interleaved --vp 2" bfs; do pipeexec --schedule $s --np 2 --layers 4 --hidden 32 --heads 2 --seq 16 --mbs 2 --micro-batches 4 --steps 4 --exact-grad --no-check --act-bits 4 --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["losses"])'; done | sort | uniq -c | awk '{ print $1 }'
> 4
# Errors fall with more bits, and bytes at rest are 33, 17 and 9 of 128 of fp32; 66 of 128 of bf16.
$ for b in 8 4 2; do pipeexec --np 2 --layers 2 --steps 1 --exact-grad --act-bits $b --json | python3 -c 'import json, sys; a = json.load(sys.stdin)["act_bits"]; print(a["at_rest_bytes"] / a["in_full_bytes"] * 128, a["rel_l2"])'; done | awk '{ print $1, (NR == 1 || $2 > 4 * before); before = $2 }'
> 33.0 1
> 17.0 1
> 9.0 1
$ pipeexec --np 2 --layers 2 --hidden 64 --heads 2 --seq 32 --steps 1 --precision bf16 --act-bits 8 --json | python3 -c 'import json, sys; a = json.load(sys.stdin)["act_bits"]; print(a["at_rest_bytes"] / a["in_full_bytes"] * 128)'
> 66.0
# Experts, with rows that have no token.
$ pipeexec --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --micro-batches 4 --experts 4 --top-k 2 --capacity-factor 1 --steps 3 --exact-grad --check --act-bits 8 --json | grep -c '"bit_equal": true'
> 2
$ for w in "--hidden 32 --ffn 24" "--hidden 128 --ffn 256"; do pipeexec --np 2 --dp 2 --ep 2 --layers 2 --heads 2 --seq 16 --mbs 2 --micro-batches 4 --experts 4 $w --steps 3 --exact-grad --check --act-bits 4 --recompute selective=moe --json | grep -c '"bit_equal": true'; done
> 2
> 2
# The report.
$ pipeexec --np 2 --layers 2 --steps 2 --check --exact-grad --act-bits 8 --recompute full | sed -n '/^  act-bits/,/cosine/p'
>   act-bits   saved activations rest in 8 bits: 1.06 MiB of 4.12 MiB a
>              micro-batch (0.2578); 128 KiB rest in full, rounded
>              gradients of the first step against full ones: cosine ...
# Without a check there is no gap.
$ pipeexec --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 2 --no-check --act-bits 2 --json | sed -n '/"act_bits": {/,/}/p' | grep -c null
> 4
# What is refused. A loss that is no number ends the run.
$ pipeexec --schedule zb-h1 --act-bits 8
! pipeexec: error: --act-bits 8: zb-h1 goes backward by I and W apart, and what I leaves for W is in full; nearest: --schedule 1f1b, or no --act-bits
= 2
$ pipeexec --act-bits 3
! pipeexec: error: --act-bits: "3" is not one of 2, 4 and 8
= 2
$ pipeexec --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --act-bits 8 --lr 1e38
! pipeexec: error: step 2: the loss is not a finite number; lower --lr 1e+38
= 1
