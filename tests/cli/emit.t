# A run as the configuration of a training framework.
$ pipesim --engine dag --schedule interleaved --vp 2 --model llama3-8b --gpus 16 --tp 2 --pp 4 --gbs 32 --zero 1 --recompute none --dp-overlap on --framework megatron --emit megatron
> # Megatron-LM: llama3-8b (8.03B) on 16 GPUs of h100; interleaved, TP 2 x CP 1 x
> #   PP 4 x DP 2, 16 micro-batches of 1.
> # Launch: CUDA_DEVICE_MAX_CONNECTIONS=1 torchrun --nnodes 2 --nproc-per-node 8
> #   pretrain_gpt.py "${ARGS[@]}" and your data, tokenizer and optimizer.
> ARGS=(
>     # parallelism
>     --tensor-model-parallel-size 2
>     --sequence-parallel
>     --pipeline-model-parallel-size 4
>     --num-virtual-stages-per-pipeline-rank 2
>     # batch
>     --micro-batch-size 1
>     --global-batch-size 32
>     --seq-length 8192
>     # model
>     --num-layers 32
>     --hidden-size 4096
>     --ffn-hidden-size 14336
>     --num-attention-heads 32
>     --group-query-attention
>     --num-query-groups 8
>     --vocab-size 128256
>     --position-embedding-type rope
>     --max-position-embeddings 8192
>     --normalization RMSNorm
>     --swiglu
>     --disable-bias-linear
>     --untie-embeddings-and-output-weights
>     # precision
>     --bf16
>     --attention-backend auto
>     # state
>     --use-distributed-optimizer
>     --overlap-grad-reduce
>     --overlap-param-gather
> )
$ pipesim --engine dag --schedule zbv --model llama3-8b --gpus 16 --tp 2 --pp 4 --gbs 32 --zero 3 --recompute selective --emit torchtitan
> # torchtitan: llama3-8b (8.03B) on 16 GPUs of h100; zbv, TP 2 x CP 1 x PP 4 x DP
> #   2, 16 micro-batches of 1.
> # Launch: torchrun --nnodes 2 --nproc-per-node 8 -m torchtitan.train
> #   --job.config_file FILE.toml
> # Since 2026 torchtitan takes these names in Python (ParallelismConfig and so
> #   on), with num_pp_microbatches = 16 for pipeline_parallel_microbatch_size.
>
> [model]
> name = "llama3"
> flavor = "8B"
>
> [training]
> local_batch_size = 16
> global_batch_size = 32
> seq_len = 8192
> mixed_precision_param = "bfloat16"
>
> [parallelism]
> data_parallel_shard_degree = 2
> fsdp_reshard_after_forward = "always"
> tensor_parallel_degree = 2
> context_parallel_degree = 1
> pipeline_parallel_degree = 4
> pipeline_parallel_schedule = "ZBVZeroBubble"
> pipeline_parallel_microbatch_size = 1
> pipeline_parallel_first_stage_less_layers = 0
> pipeline_parallel_last_stage_less_layers = 0
>
> [activation_checkpoint]
> mode = "selective"
> selective_ac_option = "op"
# Mixtures of experts, latent attention, blocks that no two numbers share out.
$ pipesim --engine dag --schedule interleaved --vp 4 --model deepseek-v3 --gpus 256 --tp 1 --pp 8 --ep 32 --gbs 512 --ep-dispatch once --recompute selective=mla_up_proj+moe_act --emit megatron | sed -n '/^ARGS/,$p'
> ARGS=(
>     # parallelism
>     --tensor-model-parallel-size 1
>     --pipeline-model-parallel-size 8
>     --pipeline-model-parallel-layout 'Et|(t*2|)*29,t|tL'
>     --expert-model-parallel-size 32
>     # batch
>     --micro-batch-size 1
>     --global-batch-size 512
>     --seq-length 4096
>     # model
>     --num-layers 61
>     --hidden-size 7168
>     --ffn-hidden-size 18432
>     --num-attention-heads 128
>     --vocab-size 129280
>     --position-embedding-type rope
>     --max-position-embeddings 4096
>     --normalization RMSNorm
>     --swiglu
>     --disable-bias-linear
>     --untie-embeddings-and-output-weights
>     --multi-latent-attention
>     --q-lora-rank 1536
>     --kv-lora-rank 512
>     --qk-head-dim 128
>     --qk-pos-emb-head-dim 64
>     --v-head-dim 128
>     # experts
>     --num-experts 256
>     --moe-router-topk 8
>     --moe-ffn-hidden-size 2048
>     --moe-shared-expert-intermediate-size 2048
>     --moe-layer-freq '([0]*3+[1]*58)'
>     --moe-router-num-groups 8
>     --moe-router-group-topk 4
>     --moe-token-dispatcher-type flex
>     --moe-flex-dispatcher-backend deepep
>     --moe-grouped-gemm
>     # precision
>     --bf16
>     --attention-backend auto
>     # recomputation
>     --recompute-granularity selective
>     --recompute-modules moe_act mla_up_proj
>     # state
>     --use-distributed-optimizer
> )
# What a framework cannot do is said, with the nearest that it can.
$ pipesim --engine dag --schedule chimera --model gpt3-175b --gpus 64 --tp 8 --pp 4 --gbs 64 --emit megatron | sed -n '/Differs/,/^ARGS/p'
> # Differs: chimera does not run in Megatron-LM; nearest, and set here: 1f1b
> #   (forward_backward_pipelining_without_interleaving), which is not what was
> #   simulated; --schedule 1f1b predicts it.
> ARGS=(
$ pipesim --engine dag --schedule chimera --model gpt3-175b --gpus 64 --tp 8 --pp 4 --gbs 64 --zero 0 --recompute none --emit torchtitan | sed -n '/not fit/,/^$/p'
> # This run does not fit into its devices' memory.
> # Launch: torchrun --nnodes 8 --nproc-per-node 8 -m torchtitan.train
> #   --job.config_file FILE.toml
> # Since 2026 torchtitan takes these names in Python (ParallelismConfig and so
> #   on), with num_pp_microbatches = 32 for pipeline_parallel_microbatch_size.
> # Differs: chimera does not run in torchtitan; nearest, and set here: 1f1b
> #   (1F1B), which is not what was simulated; --schedule 1f1b predicts it.
> # Differs: torchtitan has no flavor for gpt3-175b; nearest: register one with
> #   dim 12288, n_layers 96, n_heads 96, n_kv_heads 96, hidden 49152, vocab_size
> #   51200.
> # Differs: embedding and head in different stages do not share a matrix;
> #   nearest: --embedding untied.
> # Differs: FSDP cuts parameters, gradients and optimizer state alike, here over
> #   2 devices, not as ZeRO 0; nearest, and set here: parameters stay gathered
> #   after forward.
>
$ pipesim --engine dag --schedule seq1f1b --model llama2-13b --gpus 16 --tp 2 --pp 4 --gbs 32 --precision fp16 --head parallel --act-bits 4 --cuda-graphs on --map tp,dp,cp,pp --recompute stage-aware=0.5 --emit torchtitan | sed -n '/^# Diff/,/^$/p'
> # Differs: seq1f1b does not run in torchtitan; nearest, and set here: 1f1b
> #   (1F1B), which is not what was simulated; --schedule 1f1b predicts it.
> # Differs: torchtitan has no flavor for llama2-13b; nearest: register one with
> #   dim 5120, n_layers 40, n_heads 40, n_kv_heads 40, hidden 13824, vocab_size
> #   32000.
> # Differs: fp16 is not set here; nearest, and set here: bfloat16.
> # Differs: all stages recompute alike (no --recompute stage-aware); nearest, and
> #   set here: full.
> # Differs: embedding and head are not shared out over all stages (--head
> #   parallel); nearest, and set here: the first and the last stage hold them
> #   (--head last).
> # Differs: no CUDA graphs launch layers (--cuda-graphs on); nearest, and what
> #   runs: off.
> # Differs: devices are not numbered as --map tp,dp,cp,pp; nearest: the default.
> # Differs: saved activations are not quantised to 4 bits (--act-bits); nearest:
> #   --recompute selective.
>
$ pipesim --engine dag --schedule 1f1b --model llama2-13b --gpus 16 --tp 2 --pp 4 --gbs 32 --shard p=2,g=2,os=2 --offload os=host --cuda-graphs on --emit megatron | grep -E -A3 "Differs|# state|cuda-graph"
> # Differs: optimizer state on the host is updated there; nearest, and set here:
> #   --cpu-optimizer.
> ARGS=(
>     # parallelism
> --
>     --enable-cuda-graph
>     --pipeline-model-parallel-size 4
>     # batch
>     --micro-batch-size 1
> --
>     # state
>     --use-distributed-optimizer
>     --use-megatron-fsdp
>     --data-parallel-sharding-strategy optim_grads_params
$ pipesim --engine dag --schedule 1f1b --model gemma2-9b --gpus 16 --tp 2 --pp 2 --gbs 32 --recompute none --zero 0 --emit megatron | grep -E -A2 "Differs|window"
> # Differs: further norms of this model have no argument; nearest, and set here:
> #   two norms a layer.
> ARGS=(
> --
>     --window-size 4095,0
>     --window-attn-skip-freq '([1]*1+[0]*1)*21'
>     # precision
>     --bf16
$ pipesim --engine dag --schedule 1f1b --model mixtral-8x7b --gpus 32 --tp 2 --pp 2 --ep 4 --gbs 64 --sequence-parallel off --emit megatron | grep -E -A1 "Differs|sequence-par"
> # Differs: experts with tensor parallelism need sequence parallelism; nearest,
> #   and set here: --sequence-parallel on.
> ARGS=(
> --
>     --sequence-parallel
>     --pipeline-model-parallel-size 2
$ pipesim --engine dag --schedule 1f1b --model mixtral-8x7b --gpus 32 --tp 2 --pp 2 --ep 4 --gbs 64 --first-stage-layers 4 --last-stage-layers 28 --recompute none --emit torchtitan | sed -n '/Since/,/etp 1/p; /_fqns.* = /,/^]/p'
> # Since 2026 torchtitan takes these names in Python (ParallelismConfig and so
> #   on), with num_pp_microbatches = 8 for pipeline_parallel_microbatch_size, and
> #   pipeline_parallel_module_fqns_per_model_part for the list of modules, and
> #   experts are no longer cut (etp 1).
> module_fqns_per_model_part = [
>     ["tok_embeddings", "layers.0", "layers.1", "layers.2", "layers.3"],
>     ["layers.4", "layers.5", "layers.6", "layers.7", "layers.8", "layers.9",
>      "layers.10", "layers.11", "layers.12", "layers.13", "layers.14",
>      "layers.15", "layers.16", "layers.17", "layers.18", "layers.19",
>      "layers.20", "layers.21", "layers.22", "layers.23", "layers.24",
>      "layers.25", "layers.26", "layers.27", "layers.28", "layers.29",
>      "layers.30", "layers.31", "norm", "output"],
> ]
# An order that is no class of PyTorch goes to a file of its own.
$ pipesim --engine dag --schedule zb-h1 --model llama3-8b --gpus 8 --tp 1 --pp 4 --gbs 16 --zero 3 --recompute none --emit torchtitan -o run.toml | head -1 && grep -E "csv|schedule" run.toml && cat run.csv && pipesim verify run.csv
> pipesim 0.1.0  zb-h1 on 8 GPUs               (* = chosen for you, see --explain)
> # The order of zb-h1 is no class of PyTorch: it is read from run.csv, written
> pipeline_parallel_schedule = "PipelineScheduleSingle"
> pipeline_parallel_schedule_csv = "run.csv"
> 0F0,0F1,0F2,0F3,0I0,0W0,0F4,0I1,0W1,0F5,0I2,0W2,0F6,0I3,0W3,0F7,0I4,0W4,0I5,0W5,0I6,0W6,0I7,0W7
> 1F0,1F1,1F2,1I0,1F3,1I1,1W0,1F4,1I2,1W1,1F5,1I3,1W2,1F6,1I4,1W3,1F7,1I5,1W4,1I6,1W5,1I7,1W6,1W7
> 2F0,2F1,2I0,2F2,2I1,2F3,2I2,2W0,2F4,2I3,2W1,2F5,2I4,2W2,2F6,2I5,2W3,2F7,2I6,2W4,2I7,2W5,2W6,2W7
> 3F0,3I0,3F1,3I1,3F2,3I2,3F3,3I3,3W0,3F4,3I4,3W1,3F5,3I5,3W2,3F6,3I6,3W3,3F7,3I7,3W4,3W5,3W6,3W7
> run.csv: legal: 4 ranks, 4 stages, 8 micro-batches, 96 instructions
$ pipesim --engine dag --schedule zb-h1 --model llama3-8b --gpus 8 --tp 1 --pp 4 --gbs 16 --zero 3 --recompute none --emit torchtitan | grep -A1 "csv"
> # The order of zb-h1 is no class of PyTorch: it is read from schedule.csv, which
> #   -o FILE.toml of a run writes as FILE.csv.
>
> --
> pipeline_parallel_schedule_csv = "schedule.csv"
> pipeline_parallel_microbatch_size = 1
# The same file runs.
$ pipesim --engine dag --schedule run.csv --model llama3-8b --gpus 8 --tp 1 --gbs 16 --zero 3 --recompute none --emit torchtitan | grep csv
> # torchtitan: llama3-8b (8.03B) on 8 GPUs of h100; run.csv, TP 1 x CP 1 x PP 4 x
> # The order of run.csv is no class of PyTorch: it is read from schedule.csv,
> #   which -o FILE.toml of a run writes as FILE.csv.
> pipeline_parallel_schedule_csv = "schedule.csv"
$ pipesim --engine dag --schedule run.csv --model llama3-8b --gpus 8 --tp 1 --gbs 16 --zero 3 --recompute none --emit megatron | sed -n '/Differs/,/^ARGS/p'
> # Differs: run.csv does not run in Megatron-LM; nearest, and set here: 1f1b
> #   (forward_backward_pipelining_without_interleaving), which is not what was
> #   simulated; --schedule 1f1b predicts it.
> ARGS=(
# DeepSpeed and nanotron.
$ pipesim --engine dag --schedule zbv --model llama3-8b --gpus 16 --tp 2 --pp 4 --gbs 32 --zero 3 --recompute full --emit deepspeed
> {
>   "_comment": [
>     "DeepSpeed: llama3-8b (8.03B) on 16 GPUs of h100; zbv, TP 2 x CP 1 x PP 4 x DP 2, 16 micro-batches of 1.",
>     "Launch: deepspeed --num_nodes 2 --num_gpus 8 SCRIPT --deepspeed --deepspeed_config FILE.json",
>     "The script sets the model: 32 layers, hidden 4096, 32 heads, 8 of keys and values, feed-forward 14336, vocabulary 128256, sequences of 8192.",
>     "The script sets the pipeline: PipelineModule(topology=PipeModelDataParallelTopology(num_pp=4, num_mp=2, num_dp=2), partition_method=\"type:transformer\", activation_checkpoint_interval=1); in Megatron-DeepSpeed --pipeline-model-parallel-size 4 --tensor-model-parallel-size 2.",
>     "Differs: zbv does not run in DeepSpeed; nearest, and set here: 1f1b (TrainSchedule), which is not what was simulated; --schedule 1f1b predicts it.",
>     "Differs: ZeRO 3 does not run with a pipeline; nearest, and set here: --zero 1."
>   ],
>   "train_batch_size": 32,
>   "train_micro_batch_size_per_gpu": 1,
>   "gradient_accumulation_steps": 16,
>   "bf16": {
>     "enabled": true
>   },
>   "zero_optimization": {
>     "stage": 1,
>     "overlap_comm": false
>   }
> }
$ pipesim --engine dag --schedule 1f1b --model llama3-8b --gpus 64 --tp 1 --pp 1 --gbs 256 --shard p=8,g=8,os=8 --offload p=host,os=nvme --cpu-optimizer --recompute none --dp-overlap on --cluster "a100 gpu:8" --emit deepspeed | sed -n '/nvme_path/p; /"zero/,$p'
>     "nvme_path is a placeholder: it must name a folder of each node's drives."
>   "zero_optimization": {
>     "stage": 3,
>     "overlap_comm": true,
>     "mics_shard_size": 8,
>     "offload_optimizer": {
>       "device": "nvme",
>       "nvme_path": "/local_nvme",
>       "nvme_path": "/local_nvme",
>       "pin_memory": true
>     },
>     "offload_param": {
>       "device": "cpu",
>       "pin_memory": true
>     }
>   }
> }
$ pipesim --engine dag --schedule 1f1b --model llama3-8b --gpus 64 --tp 2 --pp 1 --cp 2 --gbs 256 --zero 0 --recompute none --cuda-graphs on --emit deepspeed | sed -n '/Differs/p; /sequence_par/p; /auto/p'
>     "Differs: sequences are cut by heads (Ulysses), with exchanges of all to all; nearest, and set here: as many devices as the ring of --cp.",
>     "Differs: no CUDA graphs launch layers (--cuda-graphs on); nearest, and what runs: off."
>   "sequence_parallel_size": 2,
>     "autotp_size": 2
$ pipesim --engine dag --schedule gpipe --model llama3-8b --gpus 16 --tp 2 --pp 4 --gbs 32 --zero 1 --recompute full --emit nanotron
> # nanotron: llama3-8b (8.03B) on 16 GPUs of h100; gpipe, TP 2 x CP 1 x PP 4 x DP
> #   2, 16 micro-batches of 1.
> # Launch: CUDA_DEVICE_MAX_CONNECTIONS=1 torchrun --nnodes 2 --nproc_per_node 8
> #   run_train.py --config-file FILE.yaml, with general, tokenizer, data_stages,
> #   the rest of optimizer and tokens.train_steps of your own.
> parallelism:
>   dp: 2
>   pp: 4
>   tp: 2
>   pp_engine: afab
>   tp_mode: REDUCE_SCATTER
>   recompute_layer: true
> tokens:
>   sequence_length: 8192
>   micro_batch_size: 1
>   batch_accumulation_per_replica: 16
> optimizer:
>   zero_stage: 1
> model:
>   dtype: bfloat16
>   model_config:
>     is_llama_config: true
>     num_hidden_layers: 32
>     hidden_size: 4096
>     intermediate_size: 14336
>     num_attention_heads: 32
>     num_key_value_heads: 8
>     vocab_size: 128256
>     max_position_embeddings: 8192
>     tie_word_embeddings: false
$ pipesim --engine dag --schedule interleaved --vp 2 --model mixtral-8x7b --gpus 32 --tp 2 --pp 2 --ep 4 --gbs 64 --zero 2 --recompute selective --cuda-graphs on --emit nanotron | sed -n '/Differs/,$p'
> # Differs: interleaved does not run in nanotron; nearest, and set here: 1f1b
> #   (1f1b), which is not what was simulated; --schedule 1f1b predicts it.
> # Differs: zero_stage is 0 or 1, over all replicas, not ZeRO 2; nearest, and set
> #   here: --zero 1.
> # Differs: layers are recomputed whole or not at all; nearest, and set here: not
> #   at all.
> # Differs: no CUDA graphs launch layers (--cuda-graphs on); nearest, and what
> #   runs: off.
> parallelism:
>   dp: 8
>   pp: 2
>   tp: 2
>   expert_parallel_size: 4
>   pp_engine: 1f1b
>   tp_mode: REDUCE_SCATTER
> tokens:
>   sequence_length: 8192
>   micro_batch_size: 1
>   batch_accumulation_per_replica: 8
> optimizer:
>   zero_stage: 1
> model:
>   dtype: bfloat16
>   model_config:
>     is_qwen2_config: true
>     num_hidden_layers: 32
>     hidden_size: 4096
>     intermediate_size: 14336
>     num_attention_heads: 32
>     num_key_value_heads: 8
>     vocab_size: 32000
>     max_position_embeddings: 8192
>     tie_word_embeddings: false
>     moe_config:
>       num_experts: 8
>       top_k: 2
# Names of files hold anything.
$ printf '{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":1024,"num_hidden_layers":8,"num_attention_heads":8,"intermediate_size":4096,"vocab_size":32000,"max_position_embeddings":2048}' >"$(printf 'a\377\n"b.json')" && for f in deepspeed nanotron; do pipesim --engine dag --schedule 1f1b --model "$(printf 'a\377\n"b.json')" --gpus 8 --tp 2 --pp 2 --gbs 16 --emit $f | grep -o '.*json (200M)'; done
>     "DeepSpeed: a\\xff\\x0a\"b.json (200M)
> # nanotron: a\xff\x0a"b.json (200M)
$ pipesim --engine dag --schedule zb-h1 --model llama3-8b --gpus 8 --tp 1 --pp 4 --gbs 16 --zero 3 --emit torchtitan -o "$(printf 'a\377.toml')" || find . -name 'a*toml'
! pipesim: error: -o a\xff.toml: the fragment names a file next to it, and TOML holds no such letters; nearest: a name in UTF-8
$ pipesim --engine dag --schedule chimera --model llama3-405b --gpus 1024 --tp 8 --pp 128 --gbs 128 --head counted --emit megatron | grep -E "Differs|account"
> # Differs: chimera does not run in Megatron-LM; nearest, and set here: 1f1b
>     --account-for-embedding-in-pipeline-split
>     --account-for-loss-in-pipeline-split
# Given back: a bound of samples is no table of positions, where the model has none.
$ for o in "" "--max-position-embeddings 8192" "--positions 8192"; do pipesim --engine dag --schedule 1f1b --model llama3-8b --gpus 8 --tp 2 --pp 2 --gbs 16 $o | grep -o "llama3.*parameters"; done
> llama3-8b  8.03B parameters
> llama3-8b  8.03B parameters
> llama3-8b-like  8.06B parameters
# No way to run the degrees at all.
$ pipesim --engine dag --schedule 1f1b --model llama3-8b --gpus 16 --tp 2 --pp 2 --cp 2 --gbs 32 --emit deepspeed
! pipesim: error: --emit deepspeed: --cp 2: DeepSpeed cuts sequences by heads (Ulysses), and not with a pipeline; nearest: --cp 1
= 2
$ pipesim --framework nanotron --schedule 1f1b --gpus 8 2>&1 | tail -1
>   --emit nanotron writes its configuration; it has no costs of its own: leave --framework out
# Experts that no flag cuts are cut as the software cuts them.
$ pipesim --engine dag --schedule 1f1b --model mixtral-8x7b --gpus 16 --tp 4 --pp 2 --ep 4 --gbs 64 --emit nanotron
! pipesim: error: --ep 4 must divide the 8 experts of mixtral-8x7b and tp / etp * cp * dp = 2; nearest: --ep 2
= 2
$ pipesim --engine dag --schedule 1f1b --model mixtral-8x7b --gpus 32 --tp 2 --pp 2 --ep 4 --etp 1 --gbs 64 --emit nanotron
! pipesim: error: --emit nanotron: --etp 1: nanotron cuts experts like everything else; nearest: --etp 2
= 2
$ pipesim --engine dag --schedule 1f1b --model mixtral-8x7b --gpus 32 --tp 2 --pp 2 --ep 8 --gbs 64 --precision fp16 --emit megatron
! pipesim: error: --emit megatron: Megatron-LM has no expert parallelism in fp16; nearest: --precision bf16
= 2
$ pipesim --engine dag --schedule 1f1b --model mixtral-8x7b --gpus 32 --tp 4 --pp 2 --ep 2 --etp 2 --gbs 64 --emit torchtitan -o no.toml || find . -name "no.*"
! pipesim: error: --emit torchtitan: --etp 2: torchtitan cuts an expert over 1 or all 4 tensor-parallel devices; nearest: --etp 1 or --etp 4
# The best of a plan: what its own command emits; and where the framework does not run that, the first that it runs.
$ pipesim plan --engine dag --gpus 16 --model llama3-8b --gbs 64 --pp 2 --schedule 1f1b,zbv --emit torchtitan >plan.toml && pipesim plan --engine dag --gpus 16 --model llama3-8b --gbs 64 --pp 2 --schedule 1f1b,zbv --framework torchtitan --json | sed -n 's/.*"choose": "\(.*\)",/\1 --emit torchtitan/p' | sh >run.toml && cmp plan.toml run.toml && head -2 plan.toml
> # torchtitan: llama3-8b (8.03B) on 16 GPUs of h100; zbv, TP 1 x CP 1 x PP 2 x DP
> #   8, 8 micro-batches of 1.
$ pipesim plan --engine dag --gpus 16 --model llama3-8b --gbs 64 --pp 2 --schedule 1f1b,zbv --emit megatron | sed -n '/^# Meg/,/^ARGS/p'
> # Megatron-LM: llama3-8b (8.03B) on 16 GPUs of h100; 1f1b, TP 1 x CP 8 x PP 2 x
> #   DP 1, 16 micro-batches of 4.
> # This is choice 7 of the plan, the first that runs there as it is; it takes 6.5
> #   % more time than choice 1: zbv, TP 1 x CP 1 x PP 2 x DP 8.
> # Launch: CUDA_DEVICE_MAX_CONNECTIONS=1 torchrun --nnodes 2 --nproc-per-node 8
> #   pretrain_gpt.py "${ARGS[@]}" and your data, tokenizer and optimizer.
> ARGS=(
$ pipesim plan --engine dag --gpus 16 --model llama2-7b --cluster a800 --recompute none --free shard --seq 2048 --emit deepspeed | sed -n '/zero/,$p'
>     "Differs: state is not cut as --shard p=1x1,g=1x1,os=8x1; nearest, and set here: --zero 1."
>   ],
>   "train_batch_size": 2048,
>   "train_micro_batch_size_per_gpu": 1,
>   "gradient_accumulation_steps": 128,
>   "bf16": {
>     "enabled": true
>   },
>   "zero_optimization": {
>     "stage": 1,
>     "overlap_comm": true
>   }
> }
$ pipesim plan --gpus 16 --model llama2-7b --emit megatron --json
! pipesim: error: --json and --emit both write to stdout; give one of them
= 2
$ for f in deepspeed nanotron; do pipesim plan --engine dag --gpus 8 --model llama3-8b --pp 1 --emit $f | grep -o '.*micro-batches of'; done
>     "DeepSpeed: llama3-8b (8.03B) on 8 GPUs of h100; 1f1b, TP 2 x CP 1 x PP 1 x DP 4, 128 micro-batches of
> #   4, 128 micro-batches of
$ pipesim plan --gpus 1 --model llama3-405b --emit megatron
! pipesim: error: --emit: nothing fits, so there is no best
= 2
# Usage.
$ pipesim --schedule 1f1b --emit megatrn
! pipesim: error: --emit megatrn: unknown framework; did you mean megatron?
= 2
$ pipesim --schedule 1f1b,gpipe --gpus 64 --emit megatron
! pipesim: error: --emit shows one schedule, --schedule lists 2
= 2
$ pipesim --schedule 1f1b --gpus 64 --emit megatron --json
! pipesim: error: --json and --emit both write to stdout; give one of them
= 2
$ pipesim --schedule 1f1b --gpus 64 -o run.toml
! pipesim: error: -o run.toml is for --emit; a run is drawn with --plot FILE, its report goes to stdout
= 2
$ pipesim --schedule 1f1b --gpus 64 --emit megatron -o nowhere/run.sh
! pipesim: error: cannot write 'nowhere/run.sh': No such file or directory
= 1
$ pipesim --schedule 1f1b --pp 4 --micro-batches 4 --unit F=1,B=2 --emit megatron
! pipesim: error: --unit has no model and no devices: --emit needs a run with both
= 2
$ pipesim --schedule 1f1b --gpus 2 --pp 2 --mbs 4 --micro-batches 4 --model deit-b --engine dag --emit megatron | grep images
> # Differs: pretrain_gpt.py reads no images; nearest:
