# Names and inputs of both programs.
# Options of Megatron-LM are other names of ours, or both programs say what to give instead.
$ for o in tensor-model-parallel-size=2 pipeline-model-parallel-size=2 num-layers-per-virtual-pipeline-stage=2 micro-batch-size=2 global-batch-size=8 seq-length=64 num-layers=4 hidden-size=64 ffn-hidden-size=128 num-attention-heads=4 num-query-groups=2 max-position-embeddings=64 num-experts=4 moe-router-topk=2 moe-ffn-hidden-size=32 moe-layer-freq=2 moe-expert-capacity-factor=1 expert-model-parallel-size=2 context-parallel-size=1 sequence-parallel=on recompute-granularity=full recompute-modules=mlp recompute-activations recompute-method=uniform recompute-num-layers=1 use-distributed-optimizer overlap-grad-reduce overlap-param-gather bf16 fp16 fp8-format swiglu untie-embeddings-and-output-weights group-query-attention lr=1 min-lr=0 lr-warmup-iters=2 lr-decay-style=cosine weight-decay=0 clip-grad=1 adam-beta1=0 adam-beta2=0 adam-eps=1 optimizer=adam train-iters=2 seed=1 save=d load=d save-interval=2 eval-iters=2 eval-interval=2 log-interval=2 data-path=d split=99 tokenizer-type=t tokenizer-model=t attention-dropout=0 hidden-dropout=0 normalization=RMSNorm norm-epsilon=1 rotary-base=1 kv-channels=1 position-embedding-type=rope disable-bias-linear use-flash-attn distributed-backend=nccl init-method-std=1; do for p in pipesim pipeexec; do $p run --$o --steps 0 2>&1 | grep -E "unknown option [^;]*$|did you mean"; done; done
= 1
$ for o in use-distributed-optimizer recompute-method bf16 fp16 swiglu num_layers_per_virtual_pipeline_stage lr adam-beta1 data-path distributed-backend use-flash-attn; do for p in pipesim pipeexec; do $p run --$o --steps 2>&1 | grep "unknown option"; done; done
> pipesim: error: unknown option --use-distributed-optimizer; its name here is --zero 1
> pipeexec: error: unknown option --use-distributed-optimizer; its name here is --zero 1
> pipesim: error: unknown option --recompute-method; its name here is --recompute full (stage-aware=R recomputes the share R of the blocks)
> pipeexec: error: unknown option --recompute-method; its name here is --recompute full (stage-aware=R recomputes the share R of the blocks)
> pipesim: error: unknown option --bf16; its name here is --precision bf16
> pipeexec: error: unknown option --bf16; its name here is --precision bf16
> pipesim: error: unknown option --fp16; its name here is --precision fp16
> pipeexec: error: unknown option --fp16; only pipesim has it, by the name --precision fp16
> pipesim: error: unknown option --swiglu; its name here is --mlp gated
> pipeexec: error: unknown option --swiglu; its name here is --mlp gated
> pipesim: error: unknown option --num_layers_per_virtual_pipeline_stage; its name here is --vp V (V is the layers of a rank over those of a chunk)
> pipeexec: error: unknown option --num_layers_per_virtual_pipeline_stage; its name here is --vp V (V is the layers of a rank over those of a chunk)
> pipesim: error: unknown option --lr; only pipeexec has it, by the name --lr X
> pipesim: error: unknown option --adam-beta1; leave it out: the AdamW of pipeexec has a beta1 of 0.9
> pipeexec: error: unknown option --adam-beta1; leave it out: the AdamW of pipeexec has a beta1 of 0.9
> pipesim: error: unknown option --data-path; only pipeexec has it, by the name --data FILE
> pipesim: error: unknown option --distributed-backend; only pipeexec has it, by the name --transport nccl
> pipeexec: error: unknown option --distributed-backend; its name here is --transport nccl
> pipesim: error: unknown option --use-flash-attn; its name here is --attention fused
> pipeexec: error: unknown option --use-flash-attn; only pipesim has it, by the name --attention fused
# Named pipes may wait for a writer for ever, and devices have no end. Pipes of the shell are read.
$ cd $TMPDIR; mkdir piped; mkfifo p piped/config.json; for o in "--model ./piped" "--data p" "--data /dev/zero" "--tokenizer p --data /etc/passwd" "--schedule ./p"; do timeout 60 pipeexec $o; done; timeout 60 pipesim --schedule 1f1b --gpus 8 --model gpt2 --cluster ./p; timeout 60 pipesim compare p p
! pipeexec: error: ./piped/config.json is a named pipe, no regular file
! pipeexec: error: p is a named pipe, no regular file
! pipeexec: error: /dev/zero is a device, no regular file
! pipeexec: error: --tokenizer: p is a named pipe, no regular file
! pipeexec: error: ./p is a named pipe, no regular file
! pipesim: error: ./p is a named pipe, no regular file
! pipesim: error: p is a named pipe, no regular file
= 2
$ cd $TMPDIR; pipeexec --data <(seq 500) --seq 16 --steps 1 --quiet && seq 500 | pipeexec --data /dev/stdin --seq 16 --steps 1 --quiet && echo read
> read
