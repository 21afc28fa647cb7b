# pipeexec generate --backend cuda on an emulated device: the tokens of one rank, to the bit, and nearly those without a cache.
$ g() { pipeexec generate --backend cuda --tokens 5 --json "$@" | python3 -c 'import json,sys; r=json.load(sys.stdin); c=r["check"]; print(r["transport"], r["precision"], c["one_rank"]["tokens_equal"], r["kv_bytes"] == r["predicted_kv_bytes"], c["without_cache"]["tokens_equal"] or r["precision"], r["structural_error_s"])'; }; M="--layers 2 --hidden 16 --heads 2 --ffn 32 --vocab 256 --check"; for o in "" "--np 2 --batch 4 --groups 2 --prompt-groups 4" "--np 2 --tp 2 --dp 2 --batch 2" "--np 2 --batch 2 --precision bf16" "--np 2 --device-mode streams" "--np 2 --device-mode partition --sampling top-p=0.9" "--np 2 --transport nccl" "--tp 2 --transport ipc+nccl"; do g $M $o; done
> local fp32 True True True 0.0
> local fp32 True True True 0.0
> local fp32 True True True 0.0
> local bf16 True True True 0.0
> local fp32 True True True None
> local fp32 True True True None
> nccl fp32 True True True None
> ipc+nccl fp32 True True True None
# The tokens of a checkpoint, and of a model of the hub with rotary positions and a window.
$ pipeexec -np 1 --layers 2 --hidden 16 --heads 2 --ffn 32 --seq 16 --micro-batches 1 --steps 1 --no-check --quiet --checkpoint ck; printf '{"model_type": "mistral", "vocab_size": 256, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 8, "sliding_window": 6, "rms_norm_eps": 1e-5, "rope_theta": 1e4, "hidden_act": "silu", "tie_word_embeddings": false}' >m.json; for o in "--resume ck" "--resume ck --np 2 --tp 2" "--model ./m.json --np 2"; do pipeexec generate --backend cuda --tokens 6 --check $o --json | grep -c '"tokens_equal": true'; done
> 2
> 2
> 2
# Work that never ends is found: in the run, and on the rank that --check compares with.
$ hang() { pipeexec generate --backend cuda --np 2 --layers 2 --hidden 16 --heads 2 --ffn 32 --vocab 256 --tokens 5 --check --quiet --timeout 2 2>&1 >text | head -2; echo "exit code ${PIPESTATUS[0]}"; }; PP_EMULATED_HANG=20 hang >1 & PP_EMULATED_HANG=110 hang >2 & PP_EMULATED_HANG=160 hang >3 & wait; cat 1 2 3
> pipeexec: error: step 1: no rank has made progress for 2.0 s (--timeout)
>   stuck: backend cuda, in work that it was given: it hangs, or an op takes longer than --timeout
> exit code 1
> pipeexec: error: step 1: no rank has made progress for 2.0 s (--timeout)
>   stuck: backend cuda, in work that it was given: it hangs, or an op takes longer than --timeout
> exit code 1
> pipeexec: error: backend cuda, in the decoding on one rank that --check compares with, has made no progress for 2.0 s (--timeout)
> exit code 1
$ pipeexec generate --backend cuda --np 2 --inject spoil; pipeexec generate --backend cuda --np 2 --precision double; pipeexec generate --backend cuda --np 2 --transport shm
! pipeexec: error: --inject "spoil": with --backend cuda a cache is written later than an op begins; use --backend cpu
! pipeexec: error: --precision double: backend cuda does not have it, backend cpu does
! pipeexec: error: --transport shm: backend cuda runs all ranks in one process; use --transport local, or ipc (on one host) or nccl for a process for each
= 2
