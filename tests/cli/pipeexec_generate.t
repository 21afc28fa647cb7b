# pipeexec generate: a trained model continues texts.
# Train, then speak. The command stands anywhere among the options.
$ pipeexec -np 1 --layers 2 --hidden 64 --heads 4 --seq 64 --micro-batches 2 --lr 5e-3 --steps 400 --no-check --quiet --checkpoint ck; pipeexec --resume ck generate --prompt "The " --tokens 40 --quiet >text; head -c 4 text; tail -c +5 text | tr -d '\n' | wc -c; tail -c +5 text | tr -d '\n' | tr -d 'a-z ' | wc -c | awk '{print $1 < 8 ? "letters" : $1}'; grep -c "the" text
> The 40
> letters
> 1
# The text comes as it is made, also into a pipe: the run is still under way when its first token is there.
$ python3 -c 'import subprocess; p = subprocess.Popen(["pipeexec", "generate", "--model", "llama2-7b", "--layers", "2", "--hidden", "64", "--heads", "2", "--ffn", "64", "--vocab", "256", "--tokens", "4000", "--prompt", "Go", "--quiet"], stdout=subprocess.PIPE); print(p.stdout.read(2)); p.stdout.read(1); print(p.poll()); p.kill()'
> b'Go'
> None
# All of it is there in the report of each layout: tokens do not depend on ranks, groups, transport.
$ for o in "" "-np 2" "-np 2 --batch 4 --groups 2 --prompt-groups 4" "--tp 2" "-np 2 --dp 2 --transport shm" "-np 2 --transport tcp" "--backend fake -np 2"; do pipeexec generate --resume ck --prompt "The " --tokens 40 --quiet $o | cmp - text && echo same; done
> same
> same
> same
> same
> same
> same
> same
$ for o in "" "-np 2" "-np 2 --transport shm" "--tp 2 --transport tcp"; do pipeexec --resume ck generate --prompt "The " --tokens 30 --batch 4 --groups 2 --sampling top-p=0.9 --temperature 0.8 --seed 7 --json $o | python3 -c 'import json,sys; r=json.load(sys.stdin); print(r["tokens"])'; done | sort | uniq | wc -l
> 1
# The report.
$ pipeexec --resume ck generate -np 2 --batch 4 --prompt "It is " --tokens 24 --check | sed 's/[0-9.]* [mu]s/T/g; s/[-+][0-9.]* %/E/; s/[0-9.e-]*, [0-9.e-]* of/X of/; s/[0-9.]*k* tokens.s/R/; s/[0-9.]* %/E/; s/with .*;/K;/; s/^It is .*/TEXT/'
> TEXT
>
> pipeexec 0.1.0  generate on 2 ranks  (* = chosen for you)
>
>   model         tiny-like, 2 layers, hidden 64, vocab 256; weights of
>                 ck/step-000000400
>   serve         4 sequences in 2* groups: 6 tokens in, 24 out, greedy
>   machine       cpu, local, fp32 K; virtual clock
>
>   first token   T
>   each token    T
>   second half   T each; predicted by the first half: T, E
>   all           T, R
>   replay        with the durations of this run the simulated one differs by 0 s
>   runtime       E of the CPU time is spent between ops
>   KV cache      116 KiB (118784 bytes), as computed
>   check         96 tokens and their logits are those of one rank, to the bit
>                 without a cache: the same tokens; logits differ by at most
>                 X of the largest (allowed 1e-04 of the largest)
# The same bits as one rank, and nearly the same as a model that reads all tokens again for each.
$ for o in "--precision double" "--precision bf16" "-np 2 --batch 4 --groups 4 --sampling top-p=1" "--tp 2 -np 2 --transport shm"; do pipeexec --resume ck generate --prompt "The " --tokens 12 --check --json $o | python3 -c 'import json,sys; r=json.load(sys.stdin); c=r["check"]; print(c["one_rank"]["tokens_equal"], c["without_cache"]["tokens_equal"] or r["precision"], r["kv_bytes"] == r["predicted_kv_bytes"], r["structural_error_s"])'; done
> True True True 0.0
> True True True 0.0
> True True True 0.0
> True True True 0.0
# The members of the JSON report.
$ pipeexec --resume ck generate --tokens 20 --check --json | python3 -c 'import json,sys; r=json.load(sys.stdin); print(*r); print(*r["layout"]); print(*r["check"]); print(*r["check"]["without_cache"]); print(len(r["tokens"]), len(r["tokens"][0]), len(r["text"]))'
> schema schedule model weights backend transport precision clock sampling layout tokens text first_token_s token_s tokens_per_s total_s late_token_s predicted_late_token_s model_error_frac structural_error_s machinery_frac kv_bytes predicted_kv_bytes check meta
> np tp dp batch groups prompt_groups prompt_tokens new_tokens
> one_rank without_cache bound bound_is_relative
> tokens tokens_equal sequence position max_abs_diff max_rel_diff
> 1 20 1
$ pipeexec --resume ck generate --tokens 20 --check --json | grep -oE '^ *"[^"]+":' | tr -d '": ' | sort -u >keys; wc -l <keys; for k in $(cat keys); do grep -qE "[\`.]$k\`" docs/executor-report.md || echo "$k is in no row"; done
> 45
# Prompts: copied, in turn, from a file, from standard input.
$ printf 'The \nAnd \r\n' >two; pipeexec generate --resume ck --prompt-file two --tokens 3 --json | python3 -c 'import json,sys; r=json.load(sys.stdin); print(r["layout"]["batch"], len(r["tokens"]))'; echo "The " | pipeexec generate --resume ck --prompt - --tokens 40 --quiet | cmp - text && echo same; pipeexec generate --resume ck --prompt-file - --tokens 40 --quiet <<<"The " | cmp - text && echo same; pipeexec generate --resume ck --prompt "The " --prompt "And " --batch 4 --tokens 5 --json | python3 -c 'import json,sys; t=json.load(sys.stdin)["tokens"]; print(t[0] == t[2], t[1] == t[3], t[0] == t[1])'
> 2 2
> same
> same
> True True False
# The program is that of pipesim: the same text, the same hash, and the same tokens.
$ pipesim program --mode infer --pp 2 --groups 2 --prompt-groups 4 --tokens 5 -o p.csv; pipeexec --resume ck generate --schedule p.csv --quiet --trace a.csv >a && pipeexec --resume ck generate -np 2 --batch 4 --groups 2 --prompt-groups 4 --tokens 5 --quiet --trace b.csv | cmp - a && cmp <(tail -1 a.csv | sed 's/.*,//') <(tail -1 b.csv | sed 's/.*,//') && echo same; for o in "-np 4" "--tokens 7" "--groups 1" "--prompt-groups 2"; do pipeexec generate --schedule p.csv $o; done
> same
! pipeexec: error: -np 4: the program of p.csv has 2 ranks; leave it out
! pipeexec: error: --tokens 7: the program of p.csv has 5 tokens; leave it out
! pipeexec: error: --groups 1: the program of p.csv has 2 groups; leave it out
! pipeexec: error: --prompt-groups 2: the program of p.csv has 4 pieces of prompts; leave it out
= 2
# The picture, the trace.
$ pipeexec generate -np 2 --batch 2 --tokens 3 --gantt | grep -o "^P[01] " | sort -u | wc -l; pipeexec generate -np 2 --batch 2 --tokens 3 --quiet --trace t.csv >text2 --plot t.gp && grep -c "compute,.F" t.csv && head -c 9 t.gp | wc -c
> 2
> 12
> 9
$ for o in "--tokens 61" "--batch 5 --groups 2" "--batch 8 --groups 2 --prompt-groups 3" "--batch 4 --groups 2 --prompt-groups 8" "--batch 12 --groups 2 --prompt-groups 8" "--groups 3 --batch 2" "--sampling top-k=5" "--sampling top-p=0" "--sampling top-p=1.5" "--sampling top-p=0.9 --temperature 0" "--sampling top-p=0.9 --temperature -1" "--temperature 2" "--offload p=host" "--model bert-base" "--layers 3" "--steps 5" "--lr 1" "--data x" "--zero 1" "--micro-batches 2" "--schedule 1f1b" "--batch 1 --prompt a --prompt b" "--tokens 0" "--prompt-file /dev/null" "--resume none"; do pipeexec generate --resume ck $o || echo "$?"; done
> 2
> 2
> 2
> 2
> 2
> 2
> 2
> 2
> 2
> 2
> 2
> 2
> 2
> 2
> 2
> 2
> 2
> 2
> 2
> 2
> 2
> 2
> 2
> 2
> 2
! pipeexec: error: --tokens 61: the prompt has 4 tokens, and model 'tiny-like' has 64 positions for both; nearest: --tokens 60
! pipeexec: error: --batch 5 is no multiple of --groups 2; nearest: --batch 4 or 6
! pipeexec: error: --prompt-groups 3 is no multiple of --groups 2; nearest: --prompt-groups 2 or 4
! pipeexec: error: --prompt-groups 8: each piece has whole sequences, and the batch is 4; nearest: --prompt-groups 4
! pipeexec: error: --prompt-groups 8: each piece has whole sequences, and the batch is 12; nearest: --prompt-groups 6
! pipeexec: error: --batch 2 is no multiple of --groups 3; nearest: --batch 3
! pipeexec: error: --sampling top-k=5: expected greedy, or top-p=P such as top-p=0.9
! pipeexec: error: --sampling top-p=0: P is above 0 and at most 1; nearest: greedy, which is the limit at 0
! pipeexec: error: --sampling top-p=1.5: P is above 0 and at most 1; nearest: top-p=1
! pipeexec: error: --temperature 0: a temperature is above 0; nearest: --sampling greedy, which is the limit at 0
! pipeexec: error: --temperature: "-1" is not a number above 0, such as 0.8
! pipeexec: error: --temperature 2 has no effect on --sampling greedy; give --sampling top-p=0.9
! pipeexec: error: --offload p=host: weights on another tier are only simulated; nearest: pipesim --mode infer --offload p=host
! pipeexec: error: ck/step-000000400 is of another model: vocab is 256 there and 30522 here (--vocab), is_tied is 0 there and 1 here (--embedding), activation is gelu_new there and gelu here, norm_epsilon is 1e-05 there and 1e-12 here, is_encoder is 0 there and 1 here, token_types is 0 there and 2 here
! pipeexec: error: ck/step-000000400 is of another model: layers is 2 there and 3 here (--layers)
! pipeexec: error: --steps is not an option of "pipeexec generate" but of "run"; generating trains nothing
! try: pipeexec generate --help
! pipeexec: error: --lr is not an option of "pipeexec generate" but of "run"; generating trains nothing
! try: pipeexec generate --help
! pipeexec: error: --data is not an option of "pipeexec generate" but of "run"; generating trains nothing
! try: pipeexec generate --help
! pipeexec: error: --zero is not an option of "pipeexec generate" but of "run"; generating trains nothing
! try: pipeexec generate --help
! pipeexec: error: --micro-batches is not an option of "pipeexec generate" but of "run"; generating trains nothing
! try: pipeexec generate --help
! pipeexec: error: --schedule 1f1b trains: its head states no passes; nearest: --schedule generate, or a file of 'pipesim program --mode infer'
! pipeexec: error: --batch 1: there are 2 prompts for 1 sequence; nearest: --batch 2
! pipeexec: error: --tokens: 0 is out of range: 1 to 1048576
! pipeexec: error: --prompt-file /dev/null is empty; each line is a prompt
! pipeexec: error: --resume none contradicts --resume ck before it: give --resume one value
$ pipeexec generate --resume ck --prompt ""; pipeexec generate --resume ck --prompt $(seq -s "" 40); pipeexec generate --vocab 100 --prompt "The z"; pipeexec generate --prompt The --prompt And_; pipeexec generate --prompt a --prompt-file two; pipeexec generate --prompt - --transport tcp -np 2 </dev/null; printf 'a\n\nb\n' | pipeexec generate --prompt-file -
! pipeexec: error: --prompt: the argument is empty: TEXT is expected
! pipeexec: error: the prompt has 71 tokens, but model 'tiny-like' has 64 positions, for prompt and tokens together: a prompt has at most 63
! pipeexec: error: --prompt: token 1 is 104, but the model knows those below 100; without --tokenizer each byte is a token
! pipeexec: error: the second --prompt has 4 tokens, but the first has 3: prompts of a run have equally many; give it a run of its own, or make it as long
! pipeexec: error: --prompt and --prompt-file both are the prompts; give one of them
! pipeexec: error: standard input: the prompt is empty; give at least one token
! pipeexec: error: --prompt-file: line 2 of - is empty; each line is a prompt
= 2
$ printf 'The \nAnd\n' >odd; pipeexec generate --prompt-file odd; pipeexec generate --prompt a --prompt b --prompt c --prompt de; pipeexec generate --offload kv=host; pipeexec generate --kv-bits 8
! pipeexec: error: line 2 of odd has 3 tokens, but the first line has 4: prompts of a run have equally many; give it a run of its own, or make it as long
! pipeexec: error: number 4 of --prompt has 2 tokens, but the first has 1: prompts of a run have equally many; give it a run of its own, or make it as long
! pipeexec: error: --offload kv=host: the cache on another tier is only simulated; nearest: pipesim --mode infer --offload kv=host
! pipeexec: error: unknown option --kv-bits; only pipesim has it: pipesim help --kv-bits; it is only simulated: pipesim --mode infer --kv-bits
! try: pipeexec generate --help
= 2
# Positions are those of the checkpoint.
$ for n in 0 63 64 128; do pipeexec --resume ck generate --positions $n --tokens 40 --quiet | cmp - text 2>none && echo same; done
> same
! pipeexec: error: --positions 0: ck/step-000000400 has 64 learned positions; leave it out
! pipeexec: error: --positions 63: ck/step-000000400 has 64 learned positions; leave it out
! pipeexec: error: --positions 128: ck/step-000000400 has 64 learned positions; leave it out
= 1
# Sizes are those of a replica, as in pipesim.
$ pipeexec generate --np 2 --tp 2 --dp 2 --batch 4 --groups 2 --prompt-groups 4 --tokens 3 | grep -A 1 -E "^pipeexec|serve"
> pipeexec 0.1.0  generate on 2 ranks, tp 2, 2 replicas  (* = chosen for you)
>
> --
>   serve         4 sequences a replica in 2 groups, prompts in 4 pieces: 4 tokens
>                 in, 3 out, greedy
# What does not fit says so before it is drawn. There are no gradients.
$ pipeexec generate --model llama3-405b --tokens 2 2>&1 | sed 's/ [0-9][0-9]* MiB/ X MiB/g; s/weights [0-9]*/weights X/; s/; lists.*; try/; try/'
> pipeexec: error: the run needs X MiB in all, this machine has X MiB free; try --precision bf16, fewer --layers, a lower --hidden
>   rank 0, in MiB: weights X, activations 0, other 3
# One text is printed; the report says where others are.
$ for o in "--prompt-file two" "--prompt a --prompt b --batch 4" "--batch 3 --sampling top-p=1" "--batch 3"; do pipeexec generate $o --tokens 3 | grep " texts " || echo none; done
>   texts         the first is above; 1 more: --json has all
>   texts         the first is above; 1 more: --json has all
>   texts         the first is above; 2 more: --json has all
> none
$ pipeexec generate --model llama2-7b --layers 1 --hidden 64 --heads 2 --ffn 64 --vocab 256 --np 2 --tokens 40000
! pipeexec: error: --tokens 40000: a program has at most 65535 stages, tokens times ranks; nearest: --tokens 32767
= 2
$ for o in "--prompt a" "--prompt-groups 2" "--sampling greedy" "--temperature 1" "--batch 2" "--groups 2" "--tokens 5" "run --prompt-file x"; do pipeexec $o || echo $?; done
> 2
> 2
> 2
> 2
> 2
> 2
> 2
> 2
! pipeexec: error: --prompt is not an option of "pipeexec run" but of "generate"
! try: pipeexec run --help
! pipeexec: error: --prompt-groups is not an option of "pipeexec run" but of "generate"
! try: pipeexec run --help
! pipeexec: error: --sampling is not an option of "pipeexec run" but of "generate"
! try: pipeexec run --help
! pipeexec: error: --temperature is not an option of "pipeexec run" but of "generate"
! try: pipeexec run --help
! pipeexec: error: --batch is not an option of "pipeexec run" but of "generate"
! try: pipeexec run --help
! pipeexec: error: --groups is not an option of "pipeexec run" but of "generate"
! try: pipeexec run --help
! pipeexec: error: --tokens: "5" is not one of auto, bytes, u16 and megatron
! pipeexec: error: --prompt-file is not an option of "pipeexec run" but of "generate"
! try: pipeexec run --help
# A damaged file is found, and weights that are no numbers.
$ cp -r ck bad; printf x | dd of=$(ls bad/*/layer-00001.bin) bs=1 seek=9 conv=notrunc status=none; pipeexec --resume bad generate
! pipeexec: error: bad/step-000000400/layer-00001.bin is damaged: the checksum of its bytes is 6c90ca49, that of what was written 912b24ac
= 2
$ pipeexec -np 1 --layers 2 --hidden 32 --heads 2 --seq 16 --steps 1 --no-check --quiet --save nan; printf '\377\377\377\177' | dd of=nan/model.safetensors bs=1 seek=$(($(stat -c %s nan/model.safetensors) - 4)) conv=notrunc status=none; pipeexec --model ./nan generate --tokens 5 >none; pipeexec --model ./nan generate --tokens 5 -np 2 --transport shm >none
! pipeexec: error: sequence 0, position 4: the logits are not finite numbers; the weights may be broken
! pipeexec: error: sequence 0, position 4: the logits are not finite numbers; the weights may be broken
= 1
# Weights of a folder of the hub.
$ pipeexec --resume ck --steps 401 --quiet --no-check --save hub && pipeexec generate --model ./hub --prompt "The " --tokens 20 --check --json | python3 -c 'import json,sys; r=json.load(sys.stdin); print(r["weights"], r["check"]["one_rank"]["tokens_equal"])'
> ./hub True
# A model with fewer positions than a sample of its training had tokens.
$ pipeexec generate --model opt-13b --positions 64 --layers 2 --hidden 32 --heads 4 --ffn 64 --vocab 256 --prompt Hello --tokens 57 --check --json | grep new_tokens
>     "new_tokens": 57
# The picture names groups and passes.
$ pipeexec generate --np 2 --batch 4 --groups 2 --prompt-groups 4 --tokens 3 --gantt | tail -2
> numbers count pieces, 2 a group; an op names its first
> F0a is of the pass over the prompts, F0c makes the last token
# An eager order has the tokens of the strict one.
$ pipesim program --mode infer --pp 2 --groups 2 --prompt-groups 4 --tokens 4 --order eager -o eager.csv; for o in "--schedule eager.csv" "-np 2 --groups 2 --prompt-groups 4 --tokens 4"; do pipeexec generate --resume ck $o --batch 4 --check --json | python3 -c 'import json,sys; r=json.load(sys.stdin); print(r["tokens"], r["check"]["one_rank"]["tokens_equal"], r["structural_error_s"])'; done | uniq | wc -l
> 1
# Training has no schedule that only generates.
$ pipeexec --schedule generate --np 2; printf '# passes: 2\n0F0,2F0\n1F0,3F0\n' >p.csv; pipeexec --schedule p.csv; rm p.csv
! pipeexec: error: --schedule generate makes tokens and trains nothing; use pipeexec generate
! pipeexec: error: --schedule p.csv makes tokens and trains nothing; use pipeexec generate
# Rotary positions have no end. A window counts as soon as the text is longer, here from position 17 on.
$ printf '{"model_type": "mistral", "vocab_size": 256, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 16, "sliding_window": 16, "rms_norm_eps": 1e-5, "rope_theta": 1e4, "hidden_act": "silu", "tie_word_embeddings": false}' >m.json; pipeexec generate --model ./m.json --prompt "The " --tokens 40 --check --json | grep -E '"(kv_bytes|tokens_equal)'; pipeexec generate --model ./m.json --tokens 10 --json | grep '"kv_bytes'
>   "kv_bytes": 4096,
>       "tokens_equal": true,
>       "tokens_equal": true,
>   "kv_bytes": 3328,
# One token is one pass over the prompts, which scores them. An encoder is refused, with or without a checkpoint.
$ for o in "" "-np 2 --batch 4 --groups 2 --prompt-groups 4" "--tp 2 --precision double"; do pipeexec generate --tokens 1 --check --json $o | python3 -c 'import json,sys; r=json.load(sys.stdin); print(r["layout"]["new_tokens"], len(r["tokens"][0]), r["token_s"], r["check"]["one_rank"]["tokens_equal"], r["check"]["without_cache"]["max_abs_diff"] < 1e-4)'; done
> 1 1 None True True
> 1 1 None True True
> 1 1 None True True
$ for t in 1 5; do pipeexec generate --model bert-base --layers 1 --hidden 32 --heads 2 --ffn 32 --vocab 256 --tokens $t; done
! pipeexec: error: model 'bert-base-like' is an encoder: its tokens meet those after them, so it does not generate; nearest: --model tiny, or pipesim --mode infer --tokens 1
! pipeexec: error: model 'bert-base-like' is an encoder: its tokens meet those after them, so it does not generate; nearest: --model tiny, or pipesim --mode infer --tokens 1
= 2
# What is only simulated is named as it was typed, and so are classes of training. Help has no training.
$ pipeexec generate --help | grep -E '^Training:|gradients|optimizer|can be trained'; for o in p=host,kv=host p=host kv=host p=peer g,os=host; do pipeexec generate --offload $o; done; pipeexec generate --offload kv=disk 2>&1 | sed 's/.*; nearest/nearest/'
> nearest: --offload kv=nvme
! pipeexec: error: --offload p=host,kv=host: weights and the cache on another tier are only simulated; nearest: pipesim --mode infer --offload p=host,kv=host
! pipeexec: error: --offload p=host: weights on another tier are only simulated; nearest: pipesim --mode infer --offload p=host
! pipeexec: error: --offload kv=host: the cache on another tier is only simulated; nearest: pipesim --mode infer --offload kv=host
! pipeexec: error: --offload p=peer: weights on another tier are only simulated; nearest: pipesim --mode infer --offload p=peer --peers 1
! pipeexec: error: --offload g,os=host: g is of training; a run that generates has p (parameters) and kv (keys and values)
# A model that is not executed says which can be, in generation as in training.
$ for m in "gemma2-2b --layers 2" "deepseek-v2-lite --layers 2 --dense-layers 1"; do pipeexec generate --model $m 2>&1 | sed 's/; models.*//'; done
> pipeexec: error: model 'gemma2-2b-like' cannot be executed here: expected two norms in a block and one before the head
> pipeexec: error: model 'deepseek-v2-lite-like' cannot be executed here: its attention is more than queries, keys and values
