# pipeexec trains: what does not depend on the machine or the day.
$ pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 5 --exact-grad
> pipeexec 0.1.0  1f1b on 4* ranks                            (* = chosen for you)
>
>   model      tiny-like*  42.4k parameters (position table of seq rows),
>              2 layers, hidden 32, vocab 256, seq 16; layers by stage 0, 1 x 2, 0
>              (2 stages hold none and pass activations on)
>   family     gpt2: gelu_new, layer norm (epsilon 1e-05), learned positions
>   data       8* micro-batches of 2 samples, 256 tokens a step; built-in text,
>              99,910 bytes
>   machine    cpu, 4 threads; fp32 with ...
> ...
>   clock      virtual: one core per rank, links of 10.0 us and 10.0 GB/s
>
>   loss ...
>   check      gradients of the first step equal those of training on one rank to
>              the bit (42,368 elements)
>
>                  measured   predicted     error
>   step ...
> ...
>   bubble ...
>   memory ...
>
>   speed ...
>   time       forward ...
> ...
>   predicted  from durations of 2* earlier steps; --calibrate-on SCHEDULE takes
>              those of another schedule
>   expected ...
> ...
>   replay     with the durations of the measured steps themselves, the simulated
>              step is exact; so the error comes from the durations alone
>   runtime ...
>
>   rank       busy      idle   memory MiB   touched    state    activ.  chunks
>      0 ...
>      1 ...
>      2 ...
>      3 ...
>
>   next       --trace measured.csv --predicted-trace predicted.csv, then: pipesim
>              compare predicted.csv measured.csv
>   note       2 layers cannot fill 4 stages: --layers 4 gives each a block
> ...
$ pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 5 | awk 'length > 80'
$ for s in 1f1b gpipe interleaved zbv chimera "1f1b --dp 2 --micro-batches 4" "1f1b --recompute full" "1f1b --clip 0" "1f1b --backend fake"; do pipeexec --schedule $s --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --exact-grad --check --json | sed -n '/"losses"/,/\]/p; /"bit_equal"/p; /structural/p' | md5sum; done | sort -u | wc -l
> 1
$ for s in "chimera --concat halving" seq1f1b dualpipev "1f1b -np 16" hanayo; do pipeexec --schedule $s --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --exact-grad --check --json | grep -E '"bit_equal"|structural'; done | sort | uniq -c
>      10     "bit_equal": true,
>       5   "structural_error_s": 0.0,
$ pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --precision double --clock wall --json | grep -E '"(schema|schedule|backend|transport|clock|precision|calibrated_on)"'
>   "schema": "pipeexec.report/1",
>   "schedule": "1f1b",
>   "backend": "cpu",
>   "transport": "local",
>   "precision": "double",
>   "clock": "wall",
>   "calibrated_on": "1f1b",
$ pipeexec --schedule zb-h1 --np 2 --dp 2 --experts 4 --moe-ffn 16 --ep 2 --zero 3 --calibrate-on 1f1b --calibrate-ep 1 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --micro-batches 4 --steps 4 --no-check | grep 'which ran'
>   predicted  from durations of 1f1b with --tp 1 --ep 1, which ran first
$ pipeexec --schedule gpipe --np 2 --tp 2 --recompute selective --calibrate-on 1f1b --calibrate-tp 1 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --micro-batches 4 --steps 4 --no-check --json | grep structural
>   "structural_error_s": 0.0,
$ pipeexec --schedule zbv --calibrate-on 1f1b --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --json | grep -E '"(schedule|calibrated_on|trace)"'
>   "schedule": "zbv",
>   "calibrated_on": "1f1b",
>   "trace": null,
$ pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --no-check --json | grep -E '"(grad_check|weight_check|peak_mem_bytes)"' | sort | uniq -c
>       4       "peak_mem_bytes": null,
>       1   "grad_check": null,
>       1   "peak_mem_bytes": null,
>       1   "weight_check": null,
$ pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --quiet
# Recomputation of modules or blocks: bits of a run without, less memory, steps replayed exactly.
$ for r in none selective selective=layernorm+act selective=core_attn+mlp stage-aware=0.5; do pipeexec --np 2 --schedule zb-h1 --recompute $r --layers 6 --hidden 32 --heads 2 --seq 16 --mbs 2 --micro-batches 4 --steps 3 --exact-grad --check --json | sed -n '/"losses"/,/\]/p; /"bit_equal"/p; /structural/p' | md5sum; done | sort -u | wc -l
> 1
$ for r in none selective selective=layernorm selective=act selective=mlp stage-aware=0.7 full; do pipeexec --np 2 --vp 3 --schedule interleaved --recompute $r --layers 6 --hidden 32 --heads 2 --seq 16 --mbs 2 --micro-batches 8 --steps 1 --no-check --json | grep -m1 activations_bytes; done
>     "activations_bytes": 500480,
>     "activations_bytes": 483072,
>     "activations_bytes": 465664,
>     "activations_bytes": 434944,
>     "activations_bytes": 369408,
>     "activations_bytes": 235776,
>     "activations_bytes": 123904,
$ printf '0F0,0R0,0B0\n' >again.csv; for o in seq1f1b 'seq1f1b --precision bf16' again.csv; do pipeexec --schedule $o --recompute selective=core_attn+layernorm+act+mlp --layers 4 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --exact-grad --check --json | grep -E '"bit_equal"|structural'; done | sort | uniq -c
>       6     "bit_equal": true,
>       3   "structural_error_s": 0.0,
# Mixed precision: bits of no schedule and of no order either.
$ for s in 1f1b zbv "chimera --recompute full" "1f1b --backend fake" "1f1b --dp 2 --micro-batches 4 --zero 1"; do pipeexec --schedule $s --precision bf16 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --exact-grad --check --json | sed -n '/"precision"/p; /"losses"/,/\]/p; /"bit_equal"/p; /structural/p' | md5sum; done | sort -u | wc -l
> 1
$ pipeexec --precision bf16 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 | grep '^  machine '
>   machine    cpu, 4 threads; bf16 with plain loops on bfloat16, rounded from
$ pipeexec --precision bf16 --seq 6 --mbs 1 --schedule seq1f1b --splits 2
! pipeexec: error: --precision bf16: a forward takes 3 tokens, and this needs an even number; change --seq 6, or --mbs 1
= 2
# Ranks that are processes train to the same bits. A process that dies or hangs is named.
$ for o in "--tp 2" "--tp 2 --sequence-parallel on --clock wall" "--tp 2 --dp 2 --zero 3" "--model bert-base --vocab 250 --ffn 64 --tp 2 --sequence-parallel on --schedule zbv --recompute selective=act+layernorm" "--model tiny-llama --experts 4 --shared-ffn 32 --dp 2 --ep 2 --micro-batches 2 --tp 2 --sequence-parallel on --recompute selective=moe"; do for t in local tcp; do pipeexec --transport $t $o --np 2 --layers 4 --hidden 32 --heads 4 --seq 8 --mbs 1 --steps 2 --exact-grad --check --json | sed -n '/"losses"/,/\]/p; /"grad_norms"/,/\]/p; /"bit_equal"/p; /structural/p' | md5sum; done; done | uniq -c | awk '{ print $1 }'
> 2
> 2
> 2
> 2
> 2
# More than two devices exchange large tensors in two rounds: each adds up a share, and all gather the shares.
$ for o in "--tp 4 --heads 4 --hidden 192" "--tp 4 --heads 4 --hidden 384 --precision bf16 --clock wall" "--tp 8 --heads 8 --hidden 64 --recompute full --precision double" "--tp 4 --heads 4 --hidden 192 --experts 4 --dp 2 --ep 2 --zero 2"; do for t in local tcp; do pipeexec --transport $t $o --np 1 --layers 1 --seq 16 --mbs 2 --micro-batches 2 --steps 2 --exact-grad --check --json | sed -n '/"losses"/,/\]/p; /"grad_norms"/,/\]/p; /"bit_equal"/p' | md5sum; done; done | uniq -c | awk '{ print $1 }'
> 2
> 2
> 2
> 2
$ for r in 0 1 2 3; do RANK=$r WORLD_SIZE=4 MASTER_ADDR=127.0.0.1 MASTER_PORT=29713 pipeexec --tp 2 --np 2 --layers 4 --hidden 32 --heads 4 --seq 16 --mbs 2 --steps 3 --exact-grad --check --quiet & p[r]=$!; done; for r in 0 1 2 3; do wait ${p[r]} && echo ended; done
> ended
> ended
> ended
> ended
$ for t in local shm tcp; do pipeexec --transport $t --schedule chimera --layers 4 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --exact-grad --check --json | grep -vE '"transport"' | sed -n '/"losses"/,/\]/p; /"bit_equal"/p; /structural/p' | md5sum; done | sort -u | wc -l
> 1
$ pipeexec --transport shm --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 | grep -o '^  machine .*;'
>   machine    cpu, 4 processes;
$ pipeexec --transport shm --np 1 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --inject "kill op:3 step:2" 2>&1 | sed 's/process [0-9]*/process .../'
> pipeexec: error: step 2: rank 0 at op 3 of 18, 0B1, after 0F1[0]: its process ... was ended by signal 9 (Killed)
$ pipeexec --timeout 1 --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --micro-batches 2 --inject "hang rank:1 op:3 step:2"
! pipeexec: error: step 2: no rank has made progress for 1.0 s (--timeout)
!   stuck: rank 1 at op 3 of 14, 1F0[0], after (1RECV_F0)WAIT
!   rank 0 at op 6 of 14, (0RECV_B0)WAIT, after 0SEND_F1[1]: waits for message 0 of channel rank 1 -> rank 0 (backward); rank 1 at op 3 of 14, 1F0[0], after (1RECV_F0)WAIT
= 1
# What the model computes, in the report and in the JSON.
$ o="--layers 4 --hidden 32 --heads 4 --ffn 64 --vocab 256 --seq 16 --mbs 2 --steps 2 --no-check"; for m in "llama3.2-1b --kv-heads 2" "gpt-neox-20b --kv-heads 4 --recompute stage-aware=0.5" "bert-base --positions 16 --recompute selective=act" "qwen3-0.6b --kv-heads 2 --recompute full" "mistral-7b --kv-heads 2"; do pipeexec --model $m $o --save w --json | grep -E '"(family|activation|norm|norm_epsilon|norm_place|qk_norm|rope_.*|positions|window.*)"|"recompute": "' | tr -d '\n "'; echo; sed -i 's/"sliding_window": 4096/"sliding_window": 7/' w/config.json; pipeexec --model ./w --seq 16 --mbs 2 --steps 2 --no-check | sed -n '/^  family/,/^  [wd]/p' | grep -v '^  [wd]'; pipeexec --model ./w --seq 16 --mbs 2 --steps 2 --no-check --json | grep -c '"window_keys": 7'; rm -r w; done
> family:llama,activation:silu,norm:rms,norm_epsilon:1.0000000000000001e-5,norm_place:pre,qk_norm:false,positions:rotary,rope_theta:500000.0,rope_dim:8,rope_scaling:llama3,rope_factor:32.0,window_keys:null,windowed_layers:0recompute:none,
>   family     llama: silu, RMS norm (epsilon 1e-05), rotary positions of
>              base 500,000 scaled by llama3, factor 32
> 0
> family:gpt-neox,activation:gelu_fast,norm:layer,norm_epsilon:1.0000000000000001e-5,norm_place:parallel,qk_norm:false,positions:rotary,rope_theta:10000.0,rope_dim:2,rope_scaling:null,rope_factor:null,window_keys:null,windowed_layers:0recompute:stage-aware=0.5,
>   family     gpt-neox: gelu_fast, layer norm before both halves of a block
>              (epsilon 1e-05), rotary positions of base 10,000 in 2 of 8 elements
> 0
> family:bert,activation:gelu,norm:layer,norm_epsilon:9.9999999999999998e-13,norm_place:post,qk_norm:false,positions:learned,rope_theta:null,rope_dim:null,rope_scaling:null,rope_factor:null,window_keys:null,windowed_layers:0recompute:selective=act,
>   family     bert: gelu, layer norm after each sum (epsilon 1e-12), learned
>              positions
> 0
> family:qwen3,activation:silu,norm:rms,norm_epsilon:9.9999999999999995e-7,norm_place:pre,qk_norm:true,positions:rotary,rope_theta:1000000.0,rope_dim:128,rope_scaling:null,rope_factor:null,window_keys:null,windowed_layers:0recompute:full,
>   family     qwen3: silu, RMS norm (epsilon 1e-06), also of queries and keys,
>              rotary positions of base 1,000,000
> 0
> family:mistral,activation:silu,norm:rms,norm_epsilon:1.0000000000000001e-5,norm_place:pre,qk_norm:false,positions:rotary,rope_theta:10000.0,rope_dim:8,rope_scaling:null,rope_factor:null,window_keys:null,windowed_layers:0recompute:none,
>   family     mistral: silu, RMS norm (epsilon 1e-05), rotary positions of
>              base 10,000, windows of 7 keys in 4 of 4 layers
> 1
# The keys that scripts rely on, in their order.
$ pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --json | grep -oE '^  "[a-z_]+"' | tr -d '" ' | xargs -n 6
> schema schedule backend transport model family
> numerics weights data epoch_samples precision kernels
> attention device gpus device_mode clock exact_grad
> steps first_step warmup recompute layout losses
> valid_losses grad_norms grad_check weight_check act_bits step_s
> step_low_s step_high_s predicted_step_s predicted_step_low_s predicted_step_mid_s predicted_step_high_s
> structural_error_s unattributed_s message_latency_s message_bytes_per_s gap_s start_gap_s
> barrier_gap_s model_error_frac null_step_s null_error_frac bubble_frac span_bubble_frac
> predicted_bubble_frac calibrated_on steps_s time_frac tokens_per_s model_flops_per_s
> mfu peak_mem_bytes predicted_peak_mem_bytes peak_rank memory tiers
> ranks clock_error_s clock_jump machinery experts fallbacks
> what_if slowdown predicted_slowdown slowdown_error_frac resumed_from checkpoint
> checkpoint_copy_bytes saved trace predicted_trace shared_device weight_grad_stream
> meta
# The page on the executor names each of them, and each member of their objects.
$ for o in "--clock wall --check" "--experts 4" "--offload a=host" "--act-bits 8" "--transport tcp --clock wall --inject jump,rank:1,op:3,step:2"; do pipeexec --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --micro-batches 2 --steps 3 $o --json; done | grep -oE '^ *"[^"]+":' | tr -d '": ' | sort -u >keys; grep -cE '^(by_s|loss_equal|optimizer_bytes|moves)$' keys; for k in $(cat keys); do grep -qE "[\`.]$k\`" docs/executor-report.md || echo "$k is in no row"; done
> 4
# Tokens of a step over its time, by the clock of the run, and flops as pipesim counts them.
$ for c in virtual wall; do pipeexec --clock $c --schedule 1f1b --np 2 --dp 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --micro-batches 4 --steps 5 --no-check --json | awk -v c=$c -F'[:,]' '/"(step_s|elapsed_step_s|tokens_per_s|model_flops_per_s)"/ { gsub(/[ "]/, "", $1); v[$1] = $2 } END { s = c == "wall" ? v["elapsed_step_s"] : v["step_s"]; printf "%.6f tokens, %.6f flops a step\n", v["tokens_per_s"] * s, v["model_flops_per_s"] * s }'; done
> 256.000000 tokens, 53477376.000000 flops a step
> 256.000000 tokens, 53477376.000000 flops a step
$ pipesim --schedule 1f1b --pp 2 --dp 2 --model tiny --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --micro-batches 4 --json | awk -F'[:,]' '/"(iteration_s|model_flops_per_s_per_gpu)"/ { gsub(/[ "]/, "", $1); v[$1] = $2 } END { printf "%.6f flops a step\n", 4 * v["model_flops_per_s_per_gpu"] * v["iteration_s"] }'
> 53477376.000000 flops a step
$ pipeexec --unit F=1,B=2 --np 2 --layers 2 --steps 3 --no-check --json | grep -E '"(tokens_per_s|model_flops_per_s|mfu)"'
>   "tokens_per_s": null,
>   "model_flops_per_s": null,
>   "mfu": null,
# Time between steps, as of checks and checkpoints, belongs to no step: the step of the shares is at most the longest step.
$ for o in --no-check --check "--check --transport tcp" "--no-check --checkpoint between --checkpoint-every 1"; do pipeexec --clock wall --schedule 1f1b --np 2 --layers 4 --hidden 64 --heads 2 --seq 32 --mbs 2 --micro-batches 4 --steps 10 $o --json | python3 -c 'import json, sys; j = json.load(sys.stdin); f = j["time_frac"]; r = j["ranks"]; step = r[0]["busy_s"] + r[0]["idle_s"]; busy = sum(x["busy_s"] for x in r) / len(r) / step; print(step <= max(j["steps_s"]) + 1e-9, abs(busy - f["forward"] - f["backward"] - f["recompute"] - f["optimizer"]) < 1e-9)'; done
> True True
> True True
> True True
> True True
# By the watch, from the end of a step to that of the next, and the step within.
$ pipeexec --clock wall --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 5 --no-check --json | sed -n 's/^ *"\(elapsed_\)*step_s": \([^,]*\),*$/\2/p' | paste -sd' ' | awk '{ print NF, ($1 > 0), ($1 <= $2) }'
> 2 1 1
$ for clock in virtual wall; do pipeexec --clock $clock --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --json | grep -oE '"(structural_error|unattributed)_s": (0.0|null)' | sort | head -1; done
> "structural_error_s": 0.0
> "structural_error_s": null
$ pipeexec --clock wall --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --json | grep -cE '"unattributed_s": [0-9]'
> 1
# A command that does not fit goes on after a backslash, so that a shell takes all of it.
$ mkdir a-folder-for-traces; pipeexec --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --trace a-folder-for-traces/real.csv --predicted-trace a-folder-for-traces/forecast.csv | sed -n 's/^  next//; /compare/,/real/p' >next; cat next; bash next >held; echo $?
>        pipesim compare a-folder-for-traces/forecast.csv \
>               a-folder-for-traces/real.csv
> 0
# What the tool chose has a mark; the usual number of micro-batches grows to the next that is legal.
$ pipeexec --schedule bfs --depth-first 3 --np 2 --layers 4 --hidden 32 --heads 2 --seq 16 --steps 2 --no-check | sed -n '1p; /^  data/p'
> pipeexec 0.1.0  bfs on 2 ranks, 2* chunks each              (* = chosen for you)
>   data       9* micro-batches of 4* samples, 576 tokens a step; built-in text,
$ pipeexec --schedule interleaved --group 6 --vp 2 --np 4 --model tiny --mbs 1 --layers 8 --hidden 32 --heads 2 --seq 16 --steps 2 --no-check | sed -n '1p; /^  data/p'
> pipeexec 0.1.0  interleaved on 4 ranks, 2 chunks each       (* = chosen for you)
>   data       10* micro-batches of 1 sample in groups of 6, 160 tokens a step;
$ pipeexec --model tiny --np 2 --micro-batches 4 --mbs 1 --seq 16 --steps 3 --warmup 1 --no-check | sed -n '1p; /^  data/p; /^  predicted/p'
> pipeexec 0.1.0  1f1b on 2 ranks
>   data       4 micro-batches of 1 sample, 64 tokens a step; built-in text,
>   predicted  from durations of 1 earlier step; --calibrate-on SCHEDULE takes
$ pipeexec --layers 4 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 3 --no-check | grep -A1 'note *3 steps'
>   note       3 steps leave 1 for --warmup; --steps 4 leaves the usual 2
# The width of the terminal holds for all but paths.
$ COLUMNS=60 pipeexec --schedule interleaved --np 8 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 5 | grep -vE '^  (trace|next|  *[/])' | awk 'length > 60'
$ COLUMNS=60 pipeexec --layers 4 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 5 | grep '^  rank'
>   rank       busy      idle   memory MiB   touched  chunks
# A long title is wrapped like the other lines.
$ for c in 60 80; do COLUMNS=$c pipeexec --dp 4 --np 2 --tp 2 --heads 4 --sequence-parallel=on --shard p=2 --recompute selective=core_attn+layernorm+act+mlp --layers 4 --hidden 32 --seq 16 --steps 2 --no-check | tee wide | sed '/^$/,$d'; LC_ALL=C awk -v c=$c 'length > c' wide; done
> pipeexec 0.1.0  1f1b,
>   recomputing core_attn+layernorm+act+mlp on 2 ranks,
>   tp 2 with shared tokens, 4 replicas,
>   ZeRO 3 in groups of 2                 (* = chosen for you)
> pipeexec 0.1.0  1f1b, recomputing core_attn+layernorm+act+mlp on 2 ranks,
>   tp 2 with shared tokens, 4 replicas, ZeRO 3 in groups of 2
>                                                             (* = chosen for you)
$ pipeexec --schedule 1f1b --shifted 1 --np 4 --layers 4 --hidden 32 --heads 2 --seq 16 --micro-batches 6 --steps 2 --exact-grad | sed -n '1p; /^  check/,/^$/p'
> pipeexec 0.1.0  1f1b on 4 ranks                             (* = chosen for you)
>   check      gradients of the first step equal those of training on one rank to
>              the bit (67,776 elements)
>
# A recomputation that waits for the gradient, or that is left out, changes no bit; a sum of units.
$ for how in full,late full,skip full,late,skip selective,late,skip stage-aware=0.5,skip; do for s in 1f1b gpipe 'interleaved --vp 2' chimera zb-h1; do pipeexec --schedule $s --np 2 --layers 4 --hidden 32 --heads 2 --seq 16 --micro-batches 4 --steps 2 --exact-grad --recompute $how | sed -n '/^  check/,/^$/p'; done; done | sort | uniq -c
>      25
>       5              the bit (135,552 elements)
>      20              the bit (67,776 elements)
>      25   check      gradients of the first step equal those of training on one rank to
$ for how in full,late full full,late,skip full,skip stage-aware=0.75,late; do pipeexec --np 4 --layers 4 --hidden 32 --heads 2 --seq 16 --micro-batches 8 --steps 2 --no-check --recompute $how --unit F=1e-3,B=2e-3,R=1e-3 | sed -n '1p; /^  step/p'; done
> pipeexec 0.1.0  1f1b, recomputing, late on 4 ranks          (* = chosen for you)
>   step            44.0 ms     44.0 ms    +0.0 %   1 step
> pipeexec 0.1.0  1f1b, recomputing on 4 ranks                (* = chosen for you)
>   step            41.0 ms     41.0 ms    +0.0 %   1 step
> pipeexec 0.1.0  1f1b, recomputing, late, skip on 4 ranks    (* = chosen for you)
>   step            42.0 ms     42.0 ms    +0.0 %   1 step
> pipeexec 0.1.0  1f1b, recomputing, skip on 4 ranks          (* = chosen for you)
>   step            39.0 ms     39.0 ms    +0.0 %   1 step
> pipeexec 0.1.0  1f1b, recomputing stage-aware=0.75, late on 4 ranks
>   step            42.0 ms     42.0 ms    +0.0 %   1 step
# Shares by stage: R fills all blocks here, so ranks that recompute hold equally much (Merak).
$ pipeexec --np 4 --layers 32 --hidden 32 --heads 2 --seq 64 --mbs 1 --micro-batches 8 --steps 2 --recompute stage-aware=0.75 | awk '/^  rank/ { on = 1 } on && $1 ~ /^[0-9]$/ { print $1, $9 }'
> 0 1.92
> 1 1.86
> 2 1.79
> 3 1.09
