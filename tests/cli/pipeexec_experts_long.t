# Combinations of pipeexec_experts.t and pipeexec_expert_sets.t, all of them.
# Under each schedule and each E: the bits of one rank. Memory is as predicted.
$ for s in gpipe 1f1b interleaved chimera zb-h1 interleaved-zb zbv dualpipev hanayo bfs; do for e in 1 2 4; do pipeexec --model tiny-llama --layers 8 --hidden 32 --heads 4 --ffn 48 --experts 4 --moe-every 2 --shared-ffn 16 --schedule $s --np 2 --dp 4 --ep $e --capacity-factor 0.75 --seq 8 --mbs 2 --gbs 64 --steps 2 --clip 0.5 --exact-grad --check --json >one; sed -n '/moved_/d; /^  "losses"/,/]/p; /^  "grad_norms"/,/]/p; /^  "experts"/,/^  }/p; /bit_equal/p; /structural/p' one | md5sum; grep -E '^  "(predicted_)?peak_mem' one | cut -d: -f2 | uniq | wc -l; done; done | sort | uniq -c | awk '{ print $1 }'
> 30
> 30
# Groups of replicas that share experts train to the bits of one rank.
$ for o in "--transport shm" "--backend fake" "--clock wall" "--clock wall --transport shm --schedule zbv" "--precision double" "--precision bf16" "--recompute full" "--recompute-modules moe" "--recompute stage-aware=1 --transport shm" "--recompute-modules act core_attn --backend fake" "--schedule seq1f1b" "--schedule seq1f1b --recompute-modules moe layernorm" "--top-k 1 --ffn 45" "--grad-sync eager" "--slow 1.0=0.5"; do for e in "2" "3 --exact-grad" "6 --exact-grad"; do pipeexec --layers 4 --hidden 32 --heads 4 --experts 6 --seq 8 --mbs 2 --steps 2 --np 2 --dp 6 --micro-batches 2 --check --quiet $o --ep $e || echo "$o, $e"; done; done
# With devices of --tp, transports and clocks change no bit.
$ for o in "--np 1 --dp 2 --ep 2 --tp 2" "--np 1 --dp 4 --ep 2 --tp 2 --zero 3 --clip 0.5" "--np 2 --dp 2 --ep 2 --tp 4 --precision bf16 --schedule zbv"; do for t in local tcp; do for c in virtual wall; do pipeexec --experts 4 --layers 4 --hidden 32 --heads 4 --seq 16 --mbs 2 --steps 2 --exact-grad $o --check --transport $t --clock $c --json | sed -n '/"losses"/,/\]/p; /"grad_norms"/,/\]/p; /"bit_equal"/p; /"tokens": \[/,/^    \]/p' | md5sum; done; done | uniq | wc -l; done
> 1
> 1
> 1
# State of experts that workers share is what pipesim predicts, but for norms, biases and positions.
$ for l in "--tp 4 --dp 2 --ep 8" "--tp 4 --dp 2 --ep 4" "--tp 2 --dp 4 --ep 4 --etp 1"; do for z in 0 1 3; do m="--schedule 1f1b --model tiny --experts 8 --layers 2 --hidden 256 --heads 4 --seq 128 --mbs 1 --micro-batches 2 --pp 1 $l --zero $z"; pipesim $m --sequence-parallel off --precision fp32 --cluster h100 --engine dag --no-alternatives --json >a; pipeexec $m --steps 1 --no-check --json >b; for k in params grads optimizer; do echo $(sed -n "s/^    \"${k}_bytes\": \([0-9]*\).*/\1/p" a | head -1) $(sed -n "s/^    \"${k}_bytes\": \([0-9]*\).*/\1/p" b | head -1); done; done; done | awk '{ n++; worst = $2 / $1 > worst ? $2 / $1 : worst; least = NR == 1 || $2 / $1 < least ? $2 / $1 : least } END { print n, (least >= 1), (worst < 1.02) }'
> 27 1 1
