# pipeexec: weights of the hub in and out, what is refused and why.
$ pipeexec --layers 4 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 2 --save a --quiet; ls a
> config.json
> model.safetensors
$ cat a/config.json
> {
>   "model_type": "gpt2",
>   "architectures": [
>     "GPT2LMHeadModel"
>   ],
>   "n_layer": 4,
>   "n_embd": 32,
>   "n_head": 2,
>   "n_inner": 128,
>   "n_positions": 16,
>   "vocab_size": 256,
>   "layer_norm_epsilon": 1e-5,
>   "activation_function": "gelu_new",
>   "tie_word_embeddings": false,
>   "torch_dtype": "float32"
> }
$ pipeexec --model ./a/ --seq 16 --mbs 2 --steps 1 --lr 0 --save b --json | grep -E '"(model|weights|saved)"'; cmp a/model.safetensors b/model.safetensors && cmp a/config.json b/config.json && echo same
>   "model": "./a/config.json",
>   "weights": "./a",
>   "saved": "b",
> same
$ pipeexec --model ./a/config.json --seq 16 --mbs 2 --steps 1 --json | grep -E '"(weights|saved)"'
>   "weights": "drawn",
>   "saved": null,
# Whatever the layout, transport and precision of the machine: the weights of one rank.
$ for s in "1f1b --np 1" zbv "chimera --dp 2 --micro-batches 4 --zero 1 --transport tcp" "interleaved-1f1b --np 2 --vp 2 --transport shm" "gpipe --backend fake"; do pipeexec --model ./a --schedule $s --gbs 16 --seq 16 --mbs 2 --steps 2 --exact-grad --check --save c --quiet; cksum < c/model.safetensors; rm -r c; done | uniq | wc -l
> 1
# A step in two halves: what is written after the first is where the second begins.
$ pipeexec --model ./a --seq 16 --mbs 2 --steps 4 --exact-grad --checkpoint k --checkpoint-every 2 --save whole --quiet; pipeexec --resume k/step-000000002 --schedule zbv --save again --quiet; cmp whole/model.safetensors again/model.safetensors && echo same
> same
# Master weights of bfloat16 are written as floats.
$ pipeexec --model ./a --seq 16 --mbs 2 --steps 1 --lr 0 --precision bf16 --save d --quiet; cmp a/model.safetensors d/model.safetensors && echo same
> same
# An encoder, which finds hidden words, and windows of attention: in any layout the weights of one rank.
$ for m in "bert-base --positions 16" "mistral-7b --kv-heads 2"; do pipeexec --model $m --layers 4 --hidden 32 --heads 4 --ffn 64 --vocab 256 --seq 16 --mbs 2 --steps 1 --save m --quiet; sed -i 's/"sliding_window": 4096/"sliding_window": 7/' m/config.json; for s in "1f1b --np 1" zbv "chimera --dp 2 --micro-batches 4 --zero 1 --transport tcp" "gpipe --recompute=full --backend fake"; do pipeexec --model ./m --schedule $s --gbs 16 --seq 16 --mbs 2 --steps 2 --exact-grad --check --save c --quiet; cksum < c/model.safetensors; rm -r c; done | uniq | wc -l; rm -r m; done
> 1
> 1
# A preset is written with its own positions, window and norm. Read again, it has the same loss.
$ for m in llama3-8b llama3.2-1b mistral-7b mixtral-8x7b qwen3-0.6b gpt-neox-20b gemma-2b; do o="--seq 16 --mbs 2 --np 2 --steps 1 --lr 0"; pipeexec --model $m $o --layers 2 --hidden 32 --heads 4 --kv-heads 4 $([[ $m = mix* ]] && echo --moe-ffn 16 || echo --ffn 64) --vocab 256 --save p --json | grep -A1 '"losses"' > p.drawn; echo $(grep -E '"(model_type|sliding_window|rope_theta|rms_norm_eps|layer_norm_eps|rotary_pct|hidden_act)"|factor|original' p/config.json); pipeexec --model ./p $o --json | grep -A1 '"losses"' | cmp - p.drawn && echo same; rm -r p; done
> "model_type": "llama", "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "hidden_act": "silu",
> same
> "model_type": "llama", "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "hidden_act": "silu", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192
> same
> "model_type": "mistral", "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu", "sliding_window": 4096,
> same
> "model_type": "mixtral", "rms_norm_eps": 1e-5, "rope_theta": 1000000.0, "hidden_act": "silu",
> same
> "model_type": "qwen3", "rms_norm_eps": 1e-6, "rope_theta": 1000000.0, "hidden_act": "silu",
> same
> "model_type": "gpt_neox", "layer_norm_eps": 1e-5, "rotary_pct": 0.25, "hidden_act": "gelu_fast",
> same
> "model_type": "gemma", "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "hidden_act": "gelu_pytorch_tanh",
> same
$ pipeexec --model bert-48 --layers 4 --hidden 32 --heads 4 --seq 16 --save untied
! pipeexec: error: --save: model 'bert-48-like' has a matrix of its own in its head, and family bert of the hub shares that of the embedding: give --embedding tied
= 2
$ pipeexec --model ./a --save b
! pipeexec: error: --save: b is there already; give the name of a new folder
= 2
$ mkdir here; cd here && pipeexec --model ../a --save .
! pipeexec: error: --save: . is there already; give the name of a new folder
= 2
$ mkdir mine.partial; echo text > mine.partial/notes; pipeexec --model ./a --save mine; cat mine.partial/notes
> text
! pipeexec: error: --save: cannot write the folder mine.partial: File exists
$ mkdir both; pipeexec --model ./a --seq 16 --steps 1 --checkpoint both --save both
! pipeexec: error: --save: both is the folder of --checkpoint; give the name of a new folder
= 2
$ pipeexec --model a
! pipeexec: error: unknown model 'a': the file or folder here is ./a
= 2
$ pipeexec --model tiny --positions 0 --save rotary
! pipeexec: error: --save: model 'tiny-like' has no table of positions, and family gpt2 of the hub has one: give --positions, at least the tokens of a sample
= 2
$ mkdir empty; pipeexec --model ./a --seq 16 --mbs 2 --steps 1 --save empty --quiet; ls empty
> config.json
> model.safetensors
$ pipeexec --model ./a --seq 16 --mbs 2 --steps 1 --save deep/er/b/ --quiet; ls deep/er
> b
$ pipeexec --save a/config.json/b
! pipeexec: error: --save: cannot write the folder a/config.json/b: Not a directory
= 1
$ ln -s empty link; pipeexec --model ./a --save link; ln -s nowhere dangling; pipeexec --model ./a --save dangling/
! pipeexec: error: --save: link is a symbolic link; give the name of a new folder
! pipeexec: error: --save: dangling is a symbolic link; give the name of a new folder
= 2
$ for m in mistral-7b tiny; do pipeexec --model $m --experts 4 --save mixed; done
! pipeexec: error: --save: model 'mistral-7b-like': the hub has no family mistral with experts; those with experts are mixtral, qwen3_moe; give --model mixtral-8x7b or qwen3-30b-a3b, or --experts 1
! pipeexec: error: --save: model 'tiny-like': the hub has no family gpt2 with experts; those with experts are mixtral, qwen3_moe; give --model mixtral-8x7b or qwen3-30b-a3b, or --experts 1
= 2
$ pipeexec --model mpt-125m --layers 2 --hidden 32 --heads 4 --vocab 256 --seq 16 --save m
! pipeexec: error: --save: model 'mpt-125m-like': the names of the tensors of family mpt are not known; known are bert, gemma, gpt, gpt2, gpt-neox, llama, mistral, mixtral, opt, qwen2, qwen3, qwen3_moe
= 2
# A killed run leaves nothing, whichever transport.
$ for t in local shm tcp; do pipeexec --np 2 --seq 16 --steps 1000000 --no-check --transport $t --quiet --log run.csv --save gone 2>killed & until [ -s run.csv ]; do sleep 0.01; done; ls -d gone*; { kill -9 $!; wait $!; } 2>/dev/null; until [ ! -e gone.partial ]; do sleep 0.01; done; echo removed; rm run.csv; done
> gone.partial
> removed
> gone.partial
> removed
> gone.partial
> removed
# An empty folder stays if the run cannot begin, as here for space.
$ mkdir still; pipeexec --hidden 65536 --layers 400 --heads 8 --save still; ls -d still*
> still
! pipeexec: error: --save: still: the weights take 75.0 TiB, and its file system has ...
# One run at a time; the other one's folder stays.
$ mkdir taken.partial; flock taken.partial pipeexec --save taken; ls -d taken*
> taken.partial
! pipeexec: error: --save: taken: another run writes it, in taken.partial; wait for its end, or choose another folder
# Positions beyond the sample are read again at the end.
$ pipeexec --layers 4 --hidden 512 --heads 2 --seq 256 --mbs 1 --np 1 --micro-batches 1 --steps 1 --no-check --save long --quiet; pipeexec --model ./long --seq 16 --mbs 2 --steps 2 --no-check --log steps.csv --save short --quiet & until [ -s steps.csv ]; do sleep 0.01; done; truncate -s 300000 long/model.safetensors; wait $!
! pipeexec: error: ./long/model.safetensors became shorter while it was in use
= 1
$ (ulimit -f 16; pipeexec --layers 4 --hidden 32 --heads 2 --seq 16 --mbs 2 --steps 1 --save full --quiet); ls -d full*
! pipeexec: error: cannot write full.partial/model.safetensors: File too large
! ls: cannot access 'full*': No such file or directory
= 2
$ pipeexec --model ./a/ --layers 2
! pipeexec: error: --layers 2: the weights of ./a have their own dimensions; leave it out, or give --model ./a/config.json to draw weights
= 2
$ pipeexec --model ./a/model.safetensors; pipeexec --model model.safetensors
! pipeexec: error: ./a/model.safetensors has weights only; give its folder, which has config.json, too: --model ./a/
! pipeexec: error: model.safetensors has weights only; give its folder, which has config.json, too: --model ./
= 2
$ pipeexec --layers 2 --mlp gated --save e
! pipeexec: error: --save: model 'tiny-like': family gpt2 of the hub has no place for its tensor up.weight of 131072 elements
= 2
$ mkdir none; pipeexec --model ./none
! pipeexec: error: cannot open ./none/config.json: No such file or directory
= 1
$ cp a/config.json none; pipeexec --model ./none --seq 16 --mbs 2 --steps 1 --json | grep '"weights"'; touch none/pytorch_model.bin; pipeexec --model ./none
>   "weights": "drawn",
! pipeexec: error: ./none/pytorch_model.bin: weights are read from model.safetensors or from model.safetensors.index.json and its shards, and neither is here; convert them, or give --model ./none/config.json to draw weights
= 2
# Classes with another head than the one that is trained.
$ mkdir class; cp a/model.safetensors class; for c in GPT2LMHeadModel GPT2Model GPT2ForSequenceClassification GPT2DoubleHeadsModel; do sed "s/GPT2LMHeadModel/$c/" a/config.json >class/config.json; pipeexec --model ./class --seq 16 --mbs 2 --steps 1 --no-check --quiet && echo $c; done
> GPT2LMHeadModel
> GPT2Model
! pipeexec: error: ./class/config.json: the head of 'GPT2ForSequenceClassification' in architectures is not trained here: legal are classes in ForCausalLM, LMHeadModel, or Model without a head; nearest: GPT2LMHeadModel
! pipeexec: error: ./class/config.json: the head of 'GPT2DoubleHeadsModel' in architectures is not trained here: legal are classes in ForCausalLM, LMHeadModel, or Model without a head; nearest: GPT2LMHeadModel
= 2
$ C='"num_hidden_layers":1,"hidden_size":16,"num_attention_heads":2,"vocab_size":256,"intermediate_size":32,"max_position_embeddings":16'; for c in llama:LlamaForSequenceClassification qwen:QWenForTokenClassification bert:BertForQuestionAnswering bert:BertLMHeadModel bert:BertForPreTraining bert:BertForMaskedLM; do echo "{\"architectures\":[\"${c#*:}\"],\"model_type\":\"${c%:*}\",$C}" >class/drawn.json; pipeexec --model class/drawn.json --np 1 --seq 16 --mbs 2 --steps 1 --no-check --quiet && echo ${c#*:}; done
> BertForPreTraining
> BertForMaskedLM
! pipeexec: error: class/drawn.json: the head of 'LlamaForSequenceClassification' in architectures is not trained here: legal are classes in ForCausalLM, LMHeadModel, or Model without a head; nearest: LlamaForCausalLM
! pipeexec: error: class/drawn.json: the head of 'QWenForTokenClassification' in architectures is not trained here: legal are classes in ForCausalLM, LMHeadModel, or Model without a head
! pipeexec: error: class/drawn.json: the head of 'BertForQuestionAnswering' in architectures is not trained here: legal are classes in ForMaskedLM, ForPreTraining, or Model without a head; nearest: BertForMaskedLM
! pipeexec: error: class/drawn.json: the head of 'BertLMHeadModel' in architectures is not trained here: legal are classes in ForMaskedLM, ForPreTraining, or Model without a head; nearest: BertForMaskedLM
# Files that are not those of config.json.
$ sed -i 's/"n_embd": 32/"n_embd": 64/' a/config.json; pipeexec --model ./a --seq 16; sed -i 's/"n_embd": 64/"n_embd": 32/' a/config.json
! pipeexec: error: ./a/model.safetensors: tensor 'transformer.wte.weight' has the shape [256, 32], by config.json [256, 64]
$ sed -i 's/"n_layer": 4/"n_layer": 3/' a/config.json; pipeexec --model ./a --seq 16; sed -i 's/"n_layer": 3/"n_layer": 5/' a/config.json; pipeexec --model ./a --seq 16; sed -i 's/"n_layer": 5/"n_layer": 4/' a/config.json
! pipeexec: error: ./a/model.safetensors: tensor 'transformer.h.3.attn.c_attn.bias' belongs to no part of a model of family gpt2 with 3 blocks, as config.json describes it
! pipeexec: error: ./a/model.safetensors: tensor 'transformer.h.4.ln_1.weight' is missing: by config.json it has the shape [32]
$ LC_ALL=C sed 's/"F32"/"I32"/' a/model.safetensors > b/model.safetensors; pipeexec --model ./b --seq 16
! pipeexec: error: ./b/model.safetensors: tensor 'transformer.wte.weight' has numbers of type I32: F32, BF16 and F16 can be read
= 2
$ LC_ALL=C sed 's/"F32"/"F33"/' a/model.safetensors > b/model.safetensors; pipeexec --model ./b --seq 16
! pipeexec: error: ./b/model.safetensors: tensor 'transformer.wte.weight': unknown dtype 'F33': F32, BF16 and F16 can be read
= 2
$ head -c 200000 a/model.safetensors > b/model.safetensors; pipeexec --model ./b --seq 16
! pipeexec: error: ./b/model.safetensors: tensor 'transformer.h.3.attn.c_attn.weight': "data_offsets" [187520, 199808] are not in the 195048 bytes of data: is the file truncated?
= 2
$ : > b/model.safetensors; pipeexec --model ./b --seq 16
! pipeexec: error: ./b/model.safetensors is empty, not a safetensors file
= 2
$ rm b/model.safetensors; echo '{"weight_map": {"transformer.wte.weight": "x.safetensors"}}' > b/model.safetensors.index.json; pipeexec --model ./b --seq 16
! pipeexec: error: cannot open ./b/x.safetensors: No such file or directory (a shard of ./b/model.safetensors.index.json)
= 1
$ sed -i "s/gelu_new/relu2/" a/config.json; pipeexec --model ./a
! pipeexec: error: model './a/config.json' cannot be executed here: its activation function is 'relu2'; models of the families gpt2, llama, mistral, mixtral, qwen2, qwen3, qwen3_moe, gemma, gpt_neox and opt can be, as tiny, mini, tiny-llama, gpt2; bert can be trained
= 2
# Weights that did not pass their check have another name. With this rate rounding grows without limit.
$ A="--np 2 --dp 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 1 --micro-batches 4 --steps 40 --lr 3 --check --save odd"; pipeexec $A >o.txt 2>e.txt; echo $?; grep '^  saved' o.txt; grep -o 'so --save.*' e.txt; ls odd odd.differs; pipeexec $A
> 5
>   saved      odd.differs
> so --save has written odd.differs, not odd
> odd.differs:
> config.json
> model.safetensors
! ls: cannot access 'odd': No such file or directory
! pipeexec: error: --save: odd.differs is there already; give the name of a new folder
= 2
