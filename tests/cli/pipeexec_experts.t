# pipeexec: mixtures of experts under every schedule, and what is refused.
# Bits of one rank, whatever the schedule, its replicas, splits, granules and recomputation.
$ for s in gpipe 1f1b eager-1f1b interleaved bfs chimera gems zb-h1 zb-h2 zb-auto interleaved-zb zbv v-half v-min dualpipe dualpipev seq1f1b hanayo; do pipeexec --model tiny-llama --layers 8 --hidden 32 --heads 4 --ffn 48 --experts 6 --capacity-factor 0.75 --moe-every 2 --shared-ffn 16 --schedule $s --np 4 --seq 16 --mbs 2 --steps 2 --exact-grad --check --quiet || echo $s; done
$ for o in "--dp 2 --zero 1" "--recompute full" "--recompute-modules moe" "--recompute stage-aware=1" "--recompute-modules act core_attn --schedule zbv" "--schedule chimera --concat halving" "--precision double --top-k 1" "--precision bf16" "--transport tcp" "--backend fake" "--transport shm --dp 2"; do pipeexec --layers 4 --hidden 32 --heads 4 --ffn 48 --experts 6 --seq 16 --mbs 2 --steps 2 --exact-grad --check --quiet $o || echo $o; done
# Memory as predicted, rows that are not in use included.
$ pipeexec --model tiny-llama --hidden 64 --experts 6 --capacity-factor 0.5 --seq 32 --steps 2 --json | grep -oE '^  "(predicted_)?peak_mem_bytes": [0-9]*' | cut -d: -f2 | uniq | wc -l
> 1
$ pipeexec --np 1 --dp 3 --ep 3 --experts 6 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 2 --micro-batches 2 --steps 2 --json | grep -oE '^  "(predicted_)?peak_mem_bytes": [0-9]*' | cut -d: -f2 | uniq | wc -l
> 1
# Tokens of experts are the same under every schedule, transport and recomputation. Validation does not count.
$ for o in "" "--schedule zbv" "--dp 2" "--schedule seq1f1b" "--transport tcp" "--transport shm" "--backend fake" "--recompute full" "--recompute-modules moe layernorm" "--recompute stage-aware=1" "--schedule seq1f1b --recompute-modules moe act" "--valid-data valid --valid-every 1"; do head -c 4000 /dev/zero | tr '\0' a >valid; pipeexec --model tiny-llama --layers 8 --hidden 32 --heads 4 --experts 4 --moe-every 3 --capacity-factor 0.75 --np 4 --seq 16 --mbs 2 --gbs 16 --steps 3 --exact-grad --no-check $o --json | sed -n '/^  "experts"/,/^  }/p' | tr -d ' \n'; echo; done | uniq
> "experts":{"count":4,"top_k":2,"capacity":6,"load":1.0933589990375361,"dropped_frac":0.3046875,"moved_frac":0.0,"moved_bytes":0,"mixtures":[{"block":3,"load":1.0391978122151322,"dropped":439,"tokens":[285,265,267,280]},{"block":6,"load":1.0933589990375361,"dropped":497,"tokens":[216,280,259,284]}]},
# What is computed again is not saved: less memory with each module, and the bytes that were predicted.
$ for r in none act moe moe,layernorm moe,layernorm,core_attn; do case $r in none) o= ;; *) o="--recompute-modules $r" ;; esac; pipeexec --layers 4 --hidden 32 --heads 4 --experts 8 --np 1 --schedule gpipe --seq 32 --mbs 2 --micro-batches 8 --steps 2 --no-check $o --json | grep -oE '^  "(predicted_)?peak_mem_bytes": [0-9]*|"activations_bytes": [0-9]*' | cut -d: -f2 | uniq | tr -d '\n'; echo; done
>   13184480 8197376
>   11349472 6362368
>   8555104 3552512
>   8067680 3065088
>   7809632 2807040
# A loss of balance: the bits of one rank, whatever the schedule, transport and recomputation. None changes nothing.
$ for o in "" "--schedule zbv" "--schedule interleaved --vp 2" "--schedule chimera --concat direct" "--schedule zb-h1 --dp 2 --ep 2" "--dp 2 --zero 1" "--dp 2 --zero 3" "--recompute full" "--recompute-modules moe act" "--recompute stage-aware=1 --transport shm" "--transport tcp --schedule dualpipev" "--backend fake" "--np 6 --layers 8" "--np 1 --layers 8"; do case $o in *np*) n= ;; *) n="--np 2 --layers 8" ;; esac; pipeexec --model tiny-llama $n --hidden 32 --heads 4 --experts 4 --moe-every 3 --capacity-factor 0.75 --balance-loss 0.5 --seq 16 --mbs 2 --gbs 16 --steps 3 --exact-grad --check $o --json >one; sed -n '/^  "losses"/,/]/p; /^  "grad_norms"/,/]/p; /bit_equal/p; /loss_equal/p; /structural/p' one | md5sum; grep -E '^  "(predicted_)?peak_mem' one | cut -d: -f2 | uniq | wc -l; done | sort | uniq -c | awk '{ print $1 }' | sort -n
> 14
> 14
$ for b in "" "--balance-loss 0" "--moe-aux-loss-coeff 0.25" "--balance-loss 50%"; do pipeexec --layers 4 --hidden 32 --heads 4 --experts 4 --np 2 --seq 16 --mbs 2 --steps 2 --exact-grad --no-check $b --json | grep -A2 '"losses"' | md5sum; done | uniq | wc -l
> 3
# Even use of 4 experts, of which each token meets 2, makes twice the factor.
$ pipeexec --layers 4 --hidden 32 --heads 4 --experts 4 --np 2 --seq 16 --mbs 2 --steps 2 --lr 1e-3 --exact-grad --no-check --balance-loss 1 --json | awk '/"losses"/ { getline; print ($1 > 7.5 && $1 < 7.7) }'
> 1
$ pipeexec --balance-loss 0.1
! pipeexec: error: --balance-loss 0.1: tiny has no experts; give --experts
= 2
$ pipeexec --experts 4 --balance-loss -1
! pipeexec: error: --balance-loss: "-1" is not a number from 0, such as 0.01
= 2
$ for o in "--schedule seq1f1b" "--schedule chimera --concat halving"; do pipeexec --experts 4 --balance-loss 0.1 $o; done
! pipeexec: error: --balance-loss 0.1: a loss of balance is that of a whole micro-batch, and the schedule cuts it into 2 sequence splits; nearest: --balance-loss 0, or a schedule that does not
! pipeexec: error: --balance-loss 0.1: a loss of balance is that of a whole micro-batch, and the schedule cuts it into 2 halves; nearest: --balance-loss 0, or a schedule that does not
= 2
# It is written to config.json, and read from it.
$ o="--seq 16 --mbs 2 --steps 2 --np 2 --exact-grad"; pipeexec --model mixtral-8x7b --hidden 64 --heads 4 --kv-heads 2 --vocab 256 --layers 2 --experts 4 --moe-ffn 24 $o --balance-loss 0.3 --no-check --quiet --save b && grep -E 'router' b/config.json; pipeexec --model ./b $o --no-check --json | grep -A2 '"losses"' >own; pipeexec --model ./b $o --balance-loss 0.3 --no-check --json | grep -A2 '"losses"' | cmp - own; pipeexec --model ./b $o --balance-loss 0 --no-check --quiet --save c; grep router c/config.json; rm -rf b c
>   "output_router_logits": true,
>   "router_aux_loss_coef": 0.3,
>   "output_router_logits": false,
>   "router_aux_loss_coef": 0.3,
# A checkpoint goes on with it, and is that of no other.
$ pipeexec --layers 4 --hidden 32 --heads 2 --experts 4 --balance-loss 0.2 --seq 16 --mbs 2 --steps 2 --checkpoint e --quiet; pipeexec --resume e --steps 4 --check --exact-grad --quiet && echo goes on; pipeexec --resume e --steps 4 --balance-loss 0.1
> goes on
! pipeexec: error: e/step-000000002 is of another model: balance_loss is 0.2 there and 0.1 here (--balance-loss)
= 2
# All choices are counted: 3 steps of 16 samples, 16 tokens, top 2. Without a limit, none is dropped.
$ pipeexec --layers 4 --hidden 32 --heads 2 --experts 4 --np 2 --seq 16 --mbs 2 --gbs 16 --steps 3 --no-check --json | sed -n '/^  "experts"/,/^  }/p' | awk '/"capacity"/ { print } /"dropped/ { print } /"tokens"/ { n = 0; t = 1 } t && /^ *[0-9]/ { n += $1 } /\]/ { if (t) print n; t = 0 }'
>     "capacity": null,
>     "dropped_frac": 0.0,
>         "dropped": 0,
> 1536
>         "dropped": 0,
> 1536
>         "dropped": 0,
> 1536
>         "dropped": 0,
> 1536
$ pipeexec --model tiny-llama --layers 4 --hidden 32 --heads 4 --experts 4 --moe-every 3 --capacity-factor 0.75 --np 2 --seq 16 --mbs 2 --steps 3 --exact-grad --no-check | grep -A2 "^  experts"
>   experts    4, of which each token meets 2; an expert takes 6 of a sample's
>              tokens, and 32.8 % of choices found no room; the fullest, in block
>              3, has 1.11 of the mean
$ pipeexec --layers 4 --experts 4 --moe-every 5
! pipeexec: error: none of 4 layers holds the 4 experts: they are in layers 5, 10 and so on, after 0 dense ones; nearest: --moe-every 4
= 2
$ pipeexec --layers 4 --experts 4 --dense-layers 2 --moe-every 5
! pipeexec: error: none of 4 layers holds the 4 experts: they are in layers 5, 10 and so on, after 2 dense ones; nearest: --moe-every 4
= 2
$ pipeexec --layers 4 --experts 4 --dense-layers 4
! pipeexec: error: none of 4 layers holds the 4 experts: the first 4 are dense; nearest: --dense-layers 3
= 2
$ pipeexec --layers 4 --experts 4 --ffn 64 --moe-ffn 32
! pipeexec: error: --ffn 64: every block of the model has experts; nearest: --moe-ffn 64
= 2
# Experts that replicas share: losses, norms, tokens and weights have the bits of one rank. Memory is as predicted.
$ n=0; for s in gpipe 1f1b interleaved chimera zb-h1 interleaved-zb zbv dualpipev hanayo bfs; do set -- 1 2 4; shift $((n++ % 3)); pipeexec --model tiny-llama --layers 8 --hidden 32 --heads 4 --ffn 48 --experts 4 --moe-every 2 --shared-ffn 16 --schedule $s --np 2 --dp 4 --ep $1 --capacity-factor 0.75 --seq 8 --mbs 2 --gbs 64 --steps 2 --clip 0.5 --exact-grad --check --json >one; sed -n '/moved_/d; /^  "losses"/,/]/p; /^  "grad_norms"/,/]/p; /^  "experts"/,/^  }/p; /bit_equal/p; /structural/p' one | md5sum; grep -E '^  "(predicted_)?peak_mem' one | cut -d: -f2 | uniq | wc -l; done | sort | uniq -c | awk '{ print $1 }'
> 10
> 10
$ n=0; for o in "--transport shm" "--backend fake" "--clock wall" "--clock wall --transport shm --schedule zbv" "--precision double" "--precision bf16" "--recompute full" "--recompute-modules moe" "--recompute stage-aware=1 --transport shm" "--recompute-modules act core_attn --backend fake" "--schedule seq1f1b" "--schedule seq1f1b --recompute-modules moe layernorm" "--top-k 1 --ffn 45" "--grad-sync eager" "--slow 1.0=0.5"; do set -- "2" "3 --exact-grad" "6 --exact-grad"; shift $((n++ % 3)); pipeexec --layers 4 --hidden 32 --heads 4 --experts 6 --seq 8 --mbs 2 --steps 2 --np 2 --dp 6 --micro-batches 2 --check --quiet $o --ep $1 || echo "$o, $1"; done
# Each replica has its share of the experts. Exchanges have a share of the time.
$ for e in 1 4; do pipeexec --layers 4 --hidden 32 --heads 4 --experts 8 --seq 16 --mbs 2 --steps 3 --np 1 --dp 4 --ep $e --no-check --json >one; sed -n '/^  "memory"/,/params/p; s/"ep": /&/p' one | tr -d ' \n'; sed -n 's/.*"ep_comm": \([^,]*\).*/\1/p' one | awk '{ print ($1 > 0) }'; done
> "ep":1,"memory":{"params_bytes":1210624,0
> "ep":4,"memory":{"params_bytes":408832,1
$ pipeexec --layers 4 --hidden 32 --heads 4 --experts 4 --np 2 --dp 2 --ep 2 --seq 16 --mbs 2 --steps 3 --exact-grad --no-check | sed -n '1s/ *(.*//p; /^  experts/,/mean/p'
> pipeexec 0.1.0  1f1b on 2 ranks, 2 replicas, ep 2
>   experts    4, of which each token meets 2; 50.3 % of rows go to another
>              replica (50.0 % at balance), 3.02 MiB in all exchanges; the
>              fullest, in block 2, has 1.49 of the mean
# A row that moves goes there and back in F, and its gradients in the backward: 4 times hidden elements. With R of experts it is 6 times.
$ for o in "" "--precision bf16" "--precision double" "--transport shm" "--transport tcp" "--transport tcp --clock wall" "--backend fake" "--recompute full" "--recompute-modules moe" "--recompute-modules act core_attn layernorm" "--schedule zbv" "--dp 4 --ep 4" "--dp 4 --ep 2" "--clock wall" "--capacity-factor 0.5" "--dp 2 --ep 1" "--valid-data valid --valid-every 1"; do head -c 4000 /dev/zero | tr '\0' a >valid; case $o in *--dp*) d= ;; *) d="--dp 2 --ep 2" ;; esac; pipeexec --model tiny-llama --layers 4 --hidden 32 --heads 4 --experts 4 --np 2 $d --seq 8 --mbs 2 --steps 2 --exact-grad --no-check $o --json | awk -v o="$o" '/"moved_frac"/ { frac = $2 + 0 } /"moved_bytes"/ { bytes = $2 + 0 } /"tokens"/ { t = 1 } t && /^ *[0-9]/ { rows += $1 } /\]/ { t = 0 } END { element = o ~ /bf16/ ? 2 : o ~ /double/ ? 8 : 4; passes = o ~ /full|moe/ ? 6 : 4; printf "%d", int(frac * rows + 0.5) * passes * 32 * element - bytes; print (bytes > 0) == (o !~ /ep 1/) ? "" : " no bytes", o }'; done
> 0
> 0 --precision bf16
> 0 --precision double
> 0 --transport shm
> 0 --transport tcp
> 0 --transport tcp --clock wall
> 0 --backend fake
> 0 --recompute full
> 0 --recompute-modules moe
> 0 --recompute-modules act core_attn layernorm
> 0 --schedule zbv
> 0 --dp 4 --ep 4
> 0 --dp 4 --ep 2
> 0 --clock wall
> 0 --capacity-factor 0.5
> 0 --dp 2 --ep 1
> 0 --valid-data valid --valid-every 1
$ pipeexec --timeout 1 --layers 4 --hidden 32 --heads 4 --experts 4 --np 1 --dp 2 --ep 2 --seq 16 --mbs 2 --micro-batches 2 --steps 2 --inject "hang rank:0 replica:1 op:2 step:2"
! pipeexec: error: step 2: no rank has made progress for 1.0 s (--timeout)
!   stuck: rank 0 of replica 1 at op 2 of 8, 0F1[0], after 0B0
!   rank 0 of replica 0 at op 2 of 8, 0F1[0], after 0B0: waits for the replicas that share its experts; rank 0 of replica 1 at op 2 of 8, 0F1[0], after 0B0
= 1
$ pipeexec --timeout 1 --layers 4 --hidden 32 --heads 4 --experts 4 --np 1 --tp 2 --dp 2 --ep 2 --seq 16 --mbs 2 --micro-batches 2 --steps 2 --inject "hang rank:0 replica:1 op:2 step:2"
! pipeexec: error: step 2: no rank has made progress for 1.0 s (--timeout)
!   stuck: rank 0 of replica 1, device 0 of its tensor-parallel group at op 2 of 8, 0F1[0], after 0B0
!   rank 0 of replica 0, device 0 of its tensor-parallel group at op 2 of 8, 0F1[0], after 0B0: waits for its tensor-parallel group and the replicas that share its experts; rank 0 of replica 1, device 0 of its tensor-parallel group at op 2 of 8, 0F1[0], after 0B0
!   rank 0 of replica 0, device 1 of its tensor-parallel group at op 2 of 8, 0F1[0], after 0B0: waits for its tensor-parallel group and the replicas that share its experts; rank 0 of replica 1, device 0 of its tensor-parallel group at op 2 of 8, 0F1[0], after 0B0
!   rank 0 of replica 1, device 1 of its tensor-parallel group at op 2 of 8, 0F1[0], after 0B0: waits for its tensor-parallel group and the replicas that share its experts; rank 0 of replica 1, device 0 of its tensor-parallel group at op 2 of 8, 0F1[0], after 0B0
= 1
$ pipeexec --layers 4 --hidden 32 --heads 4 --experts 4 --np 1 --dp 2 --ep 2 --seq 16 --mbs 2 --micro-batches 2 --steps 2 --transport shm --inject "kill rank:0 replica:1 op:2 step:2" 2>&1 | sed 's/process [0-9]*/process .../'
> pipeexec: error: step 2: rank 0 of replica 1 at op 2 of 8, 0F1[0], after 0B0: its process ... was ended by signal 9 (Killed)
>   rank 0 of replica 0 at op 2 of 8, 0F1[0], after 0B0: waits for the replicas that share its experts; rank 0 of replica 1 at op 2 of 8, 0F1[0], after 0B0
$ pipeexec --experts 4 --ep 2
! pipeexec: error: --ep 2 must divide the 4 experts of tiny-like and tp / etp * dp = 1; nearest: --ep 1, or --dp 2
= 2
$ pipeexec --experts 6 --dp 4 --ep 4
! pipeexec: error: --ep 4 must divide the 6 experts of tiny-like and tp / etp * dp = 4; nearest: --ep 2
= 2
$ pipeexec --experts 8 --tp 4 --etp 3
! pipeexec: error: --etp 3 does not divide tp 4; nearest: --etp 4
= 2
$ pipeexec --etp 2
! pipeexec: error: --etp 2: tiny has no experts; give --experts
= 2
$ pipeexec --dp 4 --ep 4
! pipeexec: error: --ep 4: tiny has no experts; give --experts
= 2
$ pipeexec --experts 4 --dp 6 --ep 2 --shard os=3
! pipeexec: error: --shard os=3: state is cut over groups of 3 copies, and 2 replicas share experts: the latter must divide the former; nearest: --ep 1, or groups of 2
= 2
# Over tcp the experts have the bits of threads, also with processes that a launcher has started.
$ o="--experts 4 --dp 2 --ep 2 --np 2 --layers 4 --hidden 32 --heads 4 --seq 16 --mbs 2 --steps 3 --exact-grad"; for t in local tcp; do for c in virtual wall; do pipeexec $o --check --transport $t --clock $c --json | sed -n '/"losses"/,/\]/p; /"grad_norms"/,/\]/p; /"bit_equal"/p; /"tokens": \[/,/^    \]/p' | md5sum; done; done | uniq | wc -l; for r in 0 1 2 3; do RANK=$r WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=29714 pipeexec $o --check --quiet & p[r]=$!; done; for r in 0 1 2 3; do wait ${p[r]} && echo ended; done
> 1
> ended
> ended
> ended
> ended
# Squares of experts are added one by one, also over tcp, where a sum of the second replica's would round otherwise.
$ for s in 3 7 9; do for t in local tcp; do pipeexec --np 1 --dp 4 --ep 4 --layers 1 --hidden 32 --heads 4 --experts 8 --moe-ffn 256 --seq 8 --mbs 1 --micro-batches 1 --steps 12 --exact-grad --no-check --json --seed $s --transport $t | sed -n '/"grad_norms"/,/\]/p' | md5sum; done | uniq | wc -l; done
> 1
> 1
> 1
$ for o in "--np 1 --dp 2 --ep 2 --tp 2" "--np 1 --dp 4 --ep 2 --tp 2 --zero 3 --clip 0.5" "--np 2 --dp 2 --ep 2 --tp 4 --precision bf16 --schedule zbv"; do for t in "local --clock virtual" "tcp --clock wall"; do pipeexec --experts 4 --layers 4 --hidden 32 --heads 4 --seq 8 --mbs 1 --micro-batches 4 --steps 2 --exact-grad $o --check --transport $t --json | sed -n '/"losses"/,/\]/p; /"grad_norms"/,/\]/p; /"bit_equal"/p; /"tokens": \[/,/^    \]/p' | md5sum; done | uniq | wc -l; done
> 1
> 1
> 1
$ pipeexec --layers 4 --hidden 32 --heads 4 --experts 4 --np 1 --tp 2 --dp 2 --ep 2 --seq 16 --mbs 2 --micro-batches 2 --steps 2 --transport tcp --inject "kill rank:0 replica:1 tp:1 op:2 step:2" 2>&1 | sed 's/group .*: its process [0-9]*/group: its process .../; 2,$d'
> pipeexec: error: step 2: rank 0 of replica 1, device 1 of its tensor-parallel group: its process ... was ended by signal 9 (Killed)
# A checkpoint has each expert once. A training goes on under another E, with the same bytes at its end.
$ o="--layers 4 --hidden 32 --heads 4 --experts 6 --top-k 3 --moe-ffn 45 --seq 8 --mbs 1 --gbs 24 --exact-grad --lr 1e-3 --min-lr 1e-3 --lr-warmup 0 --quiet"; for p in fp32 bf16; do pipeexec $o --precision $p --np 2 --dp 6 --steps 6 --checkpoint e1; pipeexec $o --precision $p --np 2 --dp 6 --ep 6 --steps 2 --checkpoint e6; t=shm; [ $p = fp32 ] || t=tcp; r="--precision $p --exact-grad --gbs 24 --check --quiet"; pipeexec $r --resume e6 --np 4 --dp 2 --ep 2 --steps 4 --schedule zbv --checkpoint e2; pipeexec $r --resume e2 --np 2 --dp 3 --ep 3 --transport $t --steps 6 --checkpoint e3; cat e1/step*6/layer* | cmp - <(cat e3/step*6/layer*) && echo same; rm -r e?; done
> same
> same
# So do weights of --save.
$ for m in mixtral-8x7b qwen3-30b-a3b; do for e in 1 4; do pipeexec --model $m --hidden 64 --heads 4 --kv-heads 2 --vocab 256 --layers 4 --experts 4 --top-k 2 --moe-ffn 24 --seq 8 --mbs 1 --gbs 16 --exact-grad --steps 2 --np 2 --dp 4 --ep $e --save m$e --quiet; done; cmp m1/model.safetensors m4/model.safetensors && pipeexec --model ./m4 --seq 8 --mbs 1 --gbs 16 --steps 2 --np 2 --dp 2 --ep 2 --exact-grad --check --quiet && echo same; rm -r m1 m4; done
> same
> same
# A trace says how pipesim simulates the same run.
$ pipeexec --model tiny-llama --layers 4 --hidden 64 --heads 4 --experts 8 --top-k 1 --moe-every 2 --capacity-factor 1.25 --shared-ffn 32 --seq 16 --mbs 2 --micro-batches 4 --np 2 --dp 2 --ep 2 --steps 2 --no-check --quiet --trace own.json; o=$(grep -o '"options":\[[^]]*' own.json | head -1 | cut -d[ -f2 | tr -d '"' | tr , ' '); echo "$o"; pipesim $o --engine dag --no-alternatives | grep -oE "704k|EP [0-9]|EP comm"
> --schedule 1f1b --pp 2 --dp 2 --ep 2 --update-barrier on --micro-batches 4 --mbs 2 --model tiny-llama --seq 16 --layers 4 --hidden 64 --heads 4 --experts 8 --top-k 1 --shared-ffn 32 --moe-every 2 --capacity-factor 1.25
> 704k
> EP 2
> EP comm
# Dense blocks at the start are in config.json, read and written.
$ pipeexec --model qwen3-30b-a3b --hidden 64 --heads 4 --kv-heads 2 --vocab 256 --layers 4 --experts 4 --top-k 2 --moe-ffn 24 --dense-layers 2 --ffn 40 --seq 16 --mbs 2 --steps 2 --np 2 --quiet --save q && pipeexec --model ./q --seq 16 --mbs 2 --steps 2 --np 2 --exact-grad --check --quiet --save q2 && cmp q/config.json q2/config.json && for l in "1 0,1" "1 1,0" "1 " "2 1" "2 0,1,2" "1 1" "2 3"; do tr -d '\n' <q/config.json | sed "s/\(sparse_step\": \)[0-9]*/\1${l% *}/; s/\(only_layers\": \[\)[^]]*/\1${l#* }/" >c.json; echo "$l:" $(pipeexec --model ./c.json --seq 16 --mbs 2 --steps 2 --np 1 --no-check --json 2>&1 | sed -n 's/"block"://p; /: error/p' | tr -d ,); done
> 1 0,1: 3 4
> 1 1,0: 3 4
> 1 : 1 2 3 4
> 2 1: 4
> 2 0,1,2: 4
> 1 1: 1 3 4
> 2 3: 2
# And so are others, in any place. A checkpoint knows them.
$ tr -d '\n' <q/config.json | sed 's/\(only_layers": \[\)[^]]*/\12/' >c.json; for o in "--np 1" "--np 4 --schedule zb-h1" "--np 2 --schedule zbv" "--np 2 --dp 2 --ep 2 --recompute-modules moe mlp" "--np 2 --recompute stage-aware=1"; do pipeexec --model ./c.json --seq 16 --mbs 2 --gbs 16 --steps 2 --exact-grad --check $o --json | grep -A3 '"losses"' | md5sum; done | uniq | wc -l; pipeexec --model ./c.json --seq 16 --mbs 2 --steps 2 --np 2 --quiet --save r --checkpoint k && tr -d ' \n' <r/config.json | grep -o '"mlp_only_layers":[^]]*]'; pipeexec --model ./r --seq 16 --mbs 2 --steps 2 --np 2 --exact-grad --check --quiet && pipeexec --resume k --steps 3 --exact-grad --check --quiet && echo goes on; pipeexec --resume k --model ./q/config.json --steps 3 2>&1 | sed 's/ [0-9]\{4,\} / N /'; for o in "" "--dense-layers 1"; do pipesim --model ./c.json $o --gpus 2 --pp 2 --tp 1 --schedule 1f1b --engine dag --no-alternatives --emit megatron | grep -A1 moe-layer-freq; done; rm -r r k
> 1
> "mlp_only_layers":[2]
> goes on
> pipeexec: error: k/step-000000002 is of another model: dense_first is 0 there and 2 here (--dense-layers), dense_blocks is N there and 0 here
>     --moe-layer-freq '([1]*2+[0]*1+[1]*1)'
>     --moe-token-dispatcher-type alltoall
>     --moe-layer-freq '([0]*1+[1]*3)'
>     --moe-token-dispatcher-type alltoall
$ pipeexec --capacity-factor 1
! pipeexec: error: --capacity-factor 1: tiny has no experts; give --experts
= 2
$ pipeexec --experts 4 --capacity-factor 0
! pipeexec: error: --capacity-factor 0: expected more than 0, at most 16
= 2
$ pipeexec --experts 4 --top-k 5
! pipeexec: error: experts of a token (--top-k) is 5: expected 1 to 4
= 2
$ pipeexec --top-k 2
! pipeexec: error: --top-k 2: the model has no experts; give --experts
= 2
$ pipeexec --model deepseek-v3 --layers 4
! pipeexec: error: model 'deepseek-v3-like' cannot be executed here: experts of a token are chosen by groups; models of the families gpt2, llama, mistral, mixtral, qwen2, qwen3, qwen3_moe, gemma, gpt_neox and opt can be, as tiny, mini, tiny-llama, gpt2; bert can be trained
= 2
# A checkpoint of another mixture is another model.
$ pipeexec --layers 4 --hidden 32 --heads 2 --experts 4 --seq 16 --mbs 2 --steps 2 --checkpoint c --quiet; pipeexec --layers 4 --hidden 32 --heads 2 --experts 4 --top-k 1 --capacity-factor 1 --seq 16 --mbs 2 --steps 4 --resume c
! pipeexec: error: c/step-000000002 is of another model: top_k is 2 there and 1 here (--top-k), capacity is 0 there and 4 here (--capacity-factor), has_plain_gates is 0 there and 1 here
= 2
# A mixture goes on as it was, without its options.
$ pipeexec --layers 4 --hidden 32 --heads 2 --experts 4 --top-k 1 --shared-ffn 16 --moe-every 2 --capacity-factor 1 --seq 16 --mbs 2 --steps 2 --checkpoint d --quiet; pipeexec --resume d --steps 4 --check --exact-grad --quiet && echo goes on
> goes on
$ pipeexec --model bert-base --layers 2 --hidden 32 --heads 2 --ffn 64 --experts 4
! pipeexec: error: model 'bert-base-like' cannot be executed here: blocks of an encoder have no experts here; ...
= 2
# Numbers of tokens and of their choices have 32 bits.
$ pipeexec --model tiny-llama --np 1 --micro-batches 1 --mbs 65536 --seq 65536
! pipeexec: error: --mbs 65536: a forward has 4294967296 tokens, and at most 2147483647 can be; nearest: --mbs 32767
= 2
$ pipeexec --model tiny-llama --np 1 --micro-batches 1 --mbs 2048 --seq 1024 --experts 1024 --top-k 1024 --moe-ffn 1
! pipeexec: error: --mbs 2048: a forward has 2147483648 tokens, times the experts of a token, and at most 2147483647 can be; nearest: --mbs 2047
= 2

# State of shared experts is cut over the replicas that have the same experts. The bits are those of a whole state.
$ o="--model tiny-llama --experts 8 --shared-ffn 32 --layers 2 --hidden 32 --heads 4 --seq 8 --mbs 1 --dp 4 --micro-batches 2 --steps 2 --exact-grad"; for l in "--ep 1" "--ep 2 --zero 1" "--ep 4 --zero 2 --np 2" "--ep 2 --zero 3 --np 2 --transport shm" "--ep 4 --shard p=2,g=2,os=2 --np 1"; do pipeexec $o $l --check --json | grep -A3 -E '"(losses|grad_norms)"' | md5sum; done | uniq | wc -l
> 1
$ for z in 0 1 2 3; do pipeexec --model tiny-llama --experts 8 --layers 2 --hidden 32 --heads 4 --seq 8 --np 1 --dp 4 --ep 2 --zero $z --mbs 1 --steps 1 --no-check --json | grep -E '^    "(params|grads|optimizer)_bytes"' | tr -d ' \n'; echo; done
> "params_bytes":363136,"grads_bytes":363136,"optimizer_bytes":726272,
> "params_bytes":363136,"grads_bytes":363136,"optimizer_bytes":316800,
> "params_bytes":363136,"grads_bytes":167936,"optimizer_bytes":316800,
> "params_bytes":158400,"grads_bytes":167936,"optimizer_bytes":316800,
$ for z in 1 2 3; do pipesim program --schedule 1f1b --pp 2 --dp 4 --micro-batches 2 --zero $z >z.csv; pipeexec --schedule z.csv --experts 4 --hidden 32 --heads 4 --seq 8 --dp 4 --ep 2 --mbs 1 --steps 2 --exact-grad --check --quiet && echo equal; done
> equal
> equal
> equal
$ o="--model mixtral-8x7b --experts 8 --layers 2 --hidden 32 --heads 4 --kv-heads 2 --vocab 256 --moe-ffn 64 --seq 8 --mbs 1"; pipeexec $o --dp 4 --ep 2 --zero 3 --np 2 --micro-batches 2 --steps 2 --exact-grad --quiet --checkpoint cut; for l in "--dp 4 --ep 4 --zero 1 --np 1 --micro-batches 2" "--dp 2 --zero 2 --np 2 --micro-batches 4" "--np 1 --micro-batches 8"; do pipeexec --resume cut $l --steps 3 --check --quiet --save s; cksum <s/model.safetensors; rm -r s; done | uniq | wc -l
> 1

# A tensor-parallel group cuts experts, too. In double, the norms of gradients are those of one worker to 12 digits.
$ o="--model tiny-llama --experts 8 --shared-ffn 32 --moe-every 2 --layers 2 --hidden 32 --heads 4 --kv-heads 4 --seq 8 --mbs 2 --micro-batches 2 --steps 2 --exact-grad --check"; for t in 1 2 4; do pipeexec $o --np 1 --precision double --tp $t --json | grep -A3 '"grad_norms"' | sed 's/\([.][0-9]\{11\}\)[0-9]*/\1/' | md5sum; done | uniq | wc -l
> 1
$ o="--model tiny-llama --experts 8 --shared-ffn 32 --moe-every 2 --layers 2 --hidden 32 --heads 4 --kv-heads 4 --seq 8 --mbs 2 --micro-batches 2 --steps 2 --exact-grad --check"; for l in "--np 2 --tp 2 --schedule zb-h1 --dp 2 --zero 3" "--np 2 --tp 4 --recompute selective=moe --transport shm" "--np 2 --tp 2 --capacity-factor 1 --backend fake --precision bf16"; do pipeexec $o $l --quiet && echo equal; done
> equal
> equal
> equal
$ o="--model tiny-llama --experts 8 --shared-ffn 32 --layers 2 --hidden 32 --heads 4 --kv-heads 4 --seq 8 --mbs 1 --dp 2 --tp 2 --micro-batches 2 --steps 2 --exact-grad --check"; for l in "--np 1" "--np 1 --ep 2" "--np 2 --ep 2 --zero 3 --transport shm" "--np 1 --ep 2 --backend fake"; do pipeexec $o $l --json | grep -A3 -E '"(losses|grad_norms)"' | md5sum; done | uniq | wc -l
> 1
$ o="--experts 4 --layers 2 --hidden 32 --heads 4 --seq 8 --mbs 2"; pipeexec $o --tp 2 --dp 2 --ep 2 --zero 3 --np 1 --micro-batches 2 --steps 2 --exact-grad --quiet --checkpoint both; for l in "--tp 2 --np 2 --micro-batches 4" "--tp 4 --np 1 --micro-batches 4" "--np 1 --dp 4 --ep 4 --micro-batches 1"; do pipeexec --resume both $l --steps 3 --check --quiet && echo equal; done
> equal
> equal
> equal
# On the wall clock each exchange counts once: for devices of --tp, or for replicas that share experts. An op never exchanges longer than it takes.
$ for i in 1 2 3 4 5 6; do pipeexec --experts 4 --tp 4 --dp 4 --ep 4 --np 1 --layers 2 --hidden 16 --heads 4 --seq 4 --mbs 1 --micro-batches 2 --steps 3 --clock wall --no-check --schedule 1f1b --json | awk '/"time_frac"/ { in_it = 1; next } in_it && /}/ { in_it = 0 } in_it { sum += $2 } /"(tp|ep)_comm"/ { positive += $2 > 0 } END { print positive, (sum > 0.999999 && sum < 1.000001) }'; done | uniq
> 2 1
