# pipeexec: mixtures of experts under every schedule, and what is refused.
# Bits of one rank, whatever the schedule, its replicas, splits, granules and recomputation.
$ for s in gpipe 1f1b eager-1f1b interleaved bfs chimera gems zb-h1 zb-h2 zb-auto interleaved-zb zbv v-half v-min dualpipe dualpipev seq1f1b hanayo; do pipeexec --model tiny-llama --layers 8 --hidden 32 --heads 4 --ffn 48 --experts 6 --capacity-factor 0.75 --moe-every 2 --shared-ffn 16 --schedule $s --np 4 --seq 16 --mbs 2 --steps 2 --exact-grad --check --quiet || echo $s; done
$ for o in "--dp 2 --zero 1" "--recompute full" "--schedule chimera --concat halving" "--precision double --top-k 1" "--precision bf16" "--transport tcp" "--backend fake" "--transport shm --dp 2"; do pipeexec --layers 4 --hidden 32 --heads 4 --ffn 48 --experts 6 --seq 16 --mbs 2 --steps 2 --exact-grad --check --quiet $o || echo $o; done
# Memory as predicted, rows that are not in use included.
$ pipeexec --model tiny-llama --experts 6 --capacity-factor 0.5 --seq 32 --steps 2 --json | grep -oE '^  "(predicted_)?peak_mem_bytes": [0-9]*' | cut -d: -f2 | uniq | wc -l
> 1
$ pipeexec --experts 4 --ep 2
! pipeexec: error: --ep 2 cannot be executed: each replica has all experts; nearest: --ep 1. pipesim predicts it
= 2
$ pipeexec --capacity-factor 1
! pipeexec: error: --capacity-factor 1: tiny has no experts; give --experts
= 2
$ pipeexec --experts 4 --capacity-factor 0
! pipeexec: error: --capacity-factor 0: expected more than 0, at most 16
= 2
$ pipeexec --experts 4 --top-k 5
! pipeexec: error: experts of a token (top-k) is 5: expected 1 to 4
= 2
$ pipeexec --top-k 2
! pipeexec: error: --top-k 2: the model has no experts; give --experts
= 2
$ pipeexec --model deepseek-v3 --layers 4
! pipeexec: error: model 'deepseek-v3-like' cannot be trained here: experts of a token are chosen by groups; models of the families gpt2, llama, mistral, mixtral, qwen2, qwen3, qwen3_moe, gemma, gpt_neox, opt and bert can be, as tiny, mini, tiny-llama, gpt2
= 2
# A checkpoint of another mixture is another model.
$ pipeexec --layers 4 --hidden 32 --heads 2 --experts 4 --seq 16 --mbs 2 --steps 2 --checkpoint c --quiet; pipeexec --layers 4 --hidden 32 --heads 2 --experts 4 --top-k 1 --capacity-factor 1 --seq 16 --mbs 2 --steps 4 --resume c
! pipeexec: error: c/step-000000002 is of another model: top_k is 2 there and 1 here (--top-k), capacity is 0 there and 4 here (--capacity-factor), has_plain_gates is 0 there and 1 here
= 2
# A mixture goes on as it was, without its options.
$ pipeexec --layers 4 --hidden 32 --heads 2 --experts 4 --top-k 1 --shared-ffn 16 --moe-every 2 --capacity-factor 1 --seq 16 --mbs 2 --steps 2 --checkpoint d --quiet; pipeexec --resume d --steps 4 --check --exact-grad --quiet && echo goes on
> goes on
$ pipeexec --model bert-base --layers 2 --hidden 32 --heads 2 --ffn 64 --experts 4
! pipeexec: error: model 'bert-base-like' cannot be trained here: blocks of an encoder have no experts here; ...
= 2
# Numbers of tokens and of their choices have 32 bits.
$ pipeexec --model tiny-llama --np 1 --micro-batches 1 --mbs 65536 --seq 65536
! pipeexec: error: --mbs 65536: a forward has 4294967296 tokens, and at most 2147483647 can be; nearest: --mbs 32767
= 2
$ pipeexec --model tiny-llama --np 1 --micro-batches 1 --mbs 2048 --seq 1024 --experts 1024 --top-k 1024 --moe-ffn 1
! pipeexec: error: --mbs 2048: a forward has 2147483648 tokens, times the experts of a token, and at most 2147483647 can be; nearest: --mbs 2047
= 2
