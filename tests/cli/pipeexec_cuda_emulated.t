# --backend cuda on an emulated device: what it says of itself, and of what is not there or fails.
$ pipeexec --backend cuda --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 2 | grep -A1 -E '^  (machine |clock|check )'
>   machine    emulated device 0, one op at a time, 2 threads; fp32 with own
>              kernels, cuBLASLt ...
>   clock      virtual: one device per rank, links of 10.0 us and 10.0 GB/s
>
> --
>   check      gradients of the first step equal those of training on one rank to
>              the bit (14,912 elements)
$ pipeexec --backend cuda --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 2 --precision bf16 --device-mode streams --exact-grad --check | grep -A1 -E '^  (machine |clock|check )'
>   machine    emulated device 0, a stream for each rank, 2 threads; bf16 with own
>              kernels, cuBLASLt ...
>   clock      wall: ranks share the device
>
> --
>   check      gradients of every step equal those of training on one rank to the
>              bit (29,824 elements)
# Saved activations in few bits, also where R reads them and stages round in place.
$ for o in "" "--recompute full --device-mode streams" "--recompute selective=act+layernorm --precision bf16" "--tp 2 --sequence-parallel on"; do pipeexec --backend cuda --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 2 --micro-batches 2 --steps 2 --act-bits 8 --exact-grad --check $o --json >few.json; grep -E 'bit_equal' few.json; grep -E '^  "(peak_mem|predicted_peak)' few.json | tr -dc '0-9\n' | uniq | wc -l; done | sort | uniq -c | tr -s ' '
>  8 "bit_equal": true,
>  4 1
# A vocabulary that is padded for the device: weights, gradients and memory are as predicted.
$ for np in 1 2; do pipeexec --backend cuda --np $np --layers 2 --hidden 32 --heads 2 --vocab 300 --seq 16 --mbs 1 --micro-batches 2 --steps 2 --precision bf16 --exact-grad --check --json >$np.json; grep -E 'bit_equal' $np.json; grep -E '^  "(peak_mem|predicted_peak)' $np.json | tr -dc '0-9\n' | uniq | wc -l; grep -A2 '"losses' $np.json; done | sort | uniq -c | tr -s ' ' | sed 's/5[.][0-9]*/X/'
>  4 "bit_equal": true,
>  2 X
>  2 X,
>  2 "losses": [
>  2 1
$ pipeexec --backend cuda --np 2 --schedule zbv --layers 4 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 4 --steps 3 --device-mode partition --weight-grad-stream on --exact-grad --check --trace t.csv | grep -A1 -E '^  (machine |check )'; grep -c ',weights,.W' t.csv; grep -c ',compute,.W' t.csv || true
>   machine    emulated device 0, a part for each rank, W concurrent, 2 threads;
>              fp32 with own kernels, cuBLASLt ...
> --
>   check      gradients of every step equal those of training on one rank to the
>              bit (64,416 elements)
> 16
> 0
$ pipeexec --backend cuda --cores 2
! pipeexec: error: --cores 2 has no effect with --backend cuda: it says how many ops of ranks on CPUs compute at a time on the virtual clock
= 2
$ pipeexec --backend cuda --np 2 --schedule zbv --weight-grad-stream on
! pipeexec: error: --weight-grad-stream on: with --device-mode serial one op runs at a time; use streams or partition
= 2
# Streams take each other's time: what is predicted for a device for each is held against no watch.
$ for m in "streams" "streams --clock virtual" partition; do pipeexec --backend cuda --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 3 --device-mode $m --json | grep -E '"(model_error_frac|null_error_frac|shared_device)"' | sed 's/: -*[0-9].*/: X/' | tr -d '\n'; echo; done
>   "model_error_frac": null,  "null_error_frac": null,  "shared_device": true,
>   "model_error_frac": X  "null_error_frac": X  "shared_device": false,
>   "model_error_frac": X  "null_error_frac": X  "shared_device": false,
$ pipeexec --backend cuda --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 3 --device-mode streams | grep -A2 'note .*the prediction'
>   note       the prediction assumes one device for each rank, but here all ranks
>              share one, so the difference is no error. --device-mode partition
>              gives each rank its own part
# What messages and the way from op to op take by the watch: known, as the device obeys a law. Microseconds
# after the start of a step are the host's own, which no law states.
$ for o in "" --json; do PP_EMULATED_LAW=1000 pipeexec --backend cuda --device-mode partition --np 4 --layers 12 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 8 --steps 3 --warmup 1 --no-check $o | grep -E '^  overheads|after the barrier|"(message_|gap_s|barrier_gap)' | sed 's/, [0-9.]* us after the start/, 0 s after the start/; s/\([.][0-9]\{4\}\)[0-9]*/\1/'; done
>   overheads  messages run at 102 kB/s; ops start 1.00 ms after a WAIT, 23.7 ms
>              after the barrier, 0 s after the start of a step
>   "message_latency_s": 0.0,
>   "message_bytes_per_s": 102395.0002,
>   "gap_s": 0.001,
>   "barrier_gap_s": 0.0237,
$ PP_EMULATED_LAW=1000 pipeexec --backend cuda --clock wall --np 1 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 3 --no-check | grep -o '^  overheads  ops start .* after the barrier'
>   overheads  ops start 16.4 ms after the barrier
$ pipeexec --backend cuda --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 3 --no-check | grep -c -E '^  overheads' || true
> 0
$ PP_EMULATED_EPILOGUES=0 pipeexec --backend cuda --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 1 --micro-batches 2 --steps 2 --precision bf16 --exact-grad --check | grep -A1 -E '^  check'
>   check      gradients of every step equal those of training on one rank to the
>              bit (84,736 elements)
# Experts: the device knows their rows, and the host does not. Graphs have all of it.
$ for o in "--schedule zbv --device-mode partition --weight-grad-stream on" "--recompute full --precision bf16" "--cuda-graphs off --transport ipc" "--capacity-factor 0.5 --top-k 1 --zero 1 --dp 2 --transport nccl"; do pipeexec --backend cuda --np 2 --experts 4 --shared-ffn 24 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 2 $o --exact-grad --check --json | grep -E '"(bit_equal|left_out)":' | tr -d ' \n'; echo; done
> "bit_equal":true,"bit_equal":true,"left_out":0,
> "bit_equal":true,"bit_equal":true,"left_out":0,
> "bit_equal":true,"bit_equal":true,
> "bit_equal":true,"bit_equal":true,"left_out":0,
$ for b in cpu cuda; do pipeexec --backend $b --np 2 --model tiny-llama --experts 6 --top-k 2 --moe-every 2 --capacity-factor 1 --layers 4 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 4 --steps 2 --no-check --json | sed -n '/^  "experts"/,/^  [}]/p' | grep -vE 'comm_s' | md5sum; done | uniq | wc -l
> 1
# Replicas read rows of each other: bits and bytes of the CPU, in one process or several.
$ for o in "--schedule zbv --device-mode partition" "--capacity-factor 1 --splits 2 --schedule seq1f1b" "--recompute full --precision bf16" "--transport ipc --tp 2"; do for b in cpu cuda; do pipeexec --backend $b --np 2 --dp 2 --ep 2 --experts 4 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 2 $(if [ $b = cuda ]; then echo $o; else echo $o | sed 's/--device-mode [a-z]*//; s/--cuda-graphs off//; s/--transport [a-z]*//'; fi) --exact-grad --check --json | grep -E '"(bit_equal|moved_bytes)":' | tr -d ' \n'; echo; done | uniq; done
> "bit_equal":true,"bit_equal":true,"moved_bytes":31744,
> "bit_equal":true,"bit_equal":true,"moved_bytes":27648,
> "bit_equal":true,"bit_equal":true,"moved_bytes":23808,
> "bit_equal":true,"bit_equal":true,"moved_bytes":63488,
# The loss of balance is that of the CPU to six digits.
$ for o in "" "--schedule zbv" "--dp 2 --ep 2"; do for b in cpu cuda; do pipeexec --backend $b --np 2 --experts 4 --balance-loss 0.3 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 2 $o --exact-grad --check --json | grep -E -A2 '"(bit_equal|losses)":' | grep -oE 'true|[0-9][.][0-9]{5}' | paste -sd' '; done | uniq; done
> 6.13495 6.14070 true true
> 6.13495 6.14070 true true
> 6.14401 6.12698 true true
$ PP_EMULATED_DEVICES=4 pipeexec --backend cuda --np 2 --dp 2 --ep 2 --experts 4 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 2 | grep -A1 -E '^  machine'
>   machine    emulated device 0, by CUDA IPC, sums by NCCL, 4 processes on
>              4 GPUs; fp32 with own kernels, cuBLASLt ...
# What cuBLASLt refuses is computed all the same, and said. What fails in it ends the run.
$ PP_EMULATED_WIDTHS=128 pipeexec --backend cuda --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 1 --micro-batches 2 --steps 4 --precision bf16 --exact-grad --check | grep -A2 -E '^  (check|SLOW)'
>   check      gradients of every step equal those of training on one rank to the
>              bit (169,472 elements)
>              weights after the last step equal those of training on one rank to
> --
>   SLOW       12 of 54 multiplications of a step by own kernels, about a
>              hundredth as fast; cuBLASLt refuses 5 forms, first bf16, m 16, n
>              128, k 32, b transposed, bias and GELU: CUBLAS_STATUS_NOT_SUPPORTED
$ for o in "" "--cuda-graphs off" "--device-mode partition" "--transport ipc" "--transport nccl"; do PP_EMULATED_WIDTHS=128 pipeexec --backend cuda --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 1 --micro-batches 2 --steps 3 --precision bf16 --no-check --json $o 2>warning | grep -E '"(multiplications|own|completed|refused_forms)":' | tr -d '\n'; echo; done; cat warning
>     "multiplications": 54,    "own": 12,    "completed": 0,    "refused_forms": 5,
>     "multiplications": 54,    "own": 12,    "completed": 0,    "refused_forms": 5,
>     "multiplications": 54,    "own": 12,    "completed": 0,    "refused_forms": 10,
>     "multiplications": 54,    "own": 12,    "completed": 0,    "refused_forms": 10,
>     "multiplications": 54,    "own": 12,    "completed": 0,    "refused_forms": 10,
> pipeexec: warning: 12 of 54 multiplications of a step by own kernels, about a hundredth as fast; cuBLASLt refuses 10 forms, first bf16, m 16, n 128, k 32, b transposed, bias and GELU: CUBLAS_STATUS_NOT_SUPPORTED
$ pipeexec --backend cuda --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 4 --precision bf16 --no-check --json | grep -A7 '"fallbacks"'
>   "fallbacks": {
>     "multiplications": 54,
>     "own": 0,
>     "completed": 0,
>     "refused_forms": 0,
>     "first_refused": null,
>     "other_attention": null
>   },
$ PP_EMULATED_EPILOGUES=0 pipeexec --backend cuda --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 1 --micro-batches 2 --steps 4 --precision bf16 --no-check | grep -A2 '^  fall-back'
>   fall-back  cuBLASLt refuses 5 forms, first bf16, m 16, n 96, k 32, b
>              transposed, bias: CUBLAS_STATUS_NOT_SUPPORTED; own kernels complete
>              20 products
$ PP_EMULATED_WIDTHS=128 pipeexec --backend cuda --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 1 --micro-batches 2 --steps 4 --precision bf16 --no-check --quiet
! pipeexec: warning: 12 of 54 multiplications of a step by own kernels, about a hundredth as fast; cuBLASLt refuses 5 forms, first bf16, m 16, n 128, k 32, b transposed, bias and GELU: CUBLAS_STATUS_NOT_SUPPORTED
$ for n in 1:13 10:3 20:14; do PP_EMULATED_BLAS_FAULT=$n pipeexec --backend cuda --np 1 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 1 --micro-batches 2 --steps 4 --precision bf16 --no-check; done
! pipeexec: error: step 1: cuBLASLt has failed to multiply: bf16, m 16, n 96, k 32, b transposed, bias: CUBLAS_STATUS_EXECUTION_FAILED
! pipeexec: error: step 1: cuBLASLt has failed to multiply: bf16, m 16, n 32, k 256: CUBLAS_STATUS_ALLOC_FAILED
! pipeexec: error: step 1: cuBLASLt has failed to multiply: bf16, m 16, n 128, k 32, gradient of GELU: CUBLAS_STATUS_INTERNAL_ERROR
= 1
$ PP_EMULATED_BLAS_FAULT=20:13 pipeexec --backend cuda --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 1 --micro-batches 2 --steps 4 --precision bf16 --no-check --transport ipc 2>&1 | sed 's/bf16, .*: /FORM: /'
> pipeexec: error: step 1: cuBLASLt has failed to multiply: FORM: CUBLAS_STATUS_EXECUTION_FAILED
# Processes that have already mapped each other's memory end likewise, before the first step.
$ for t in ipc nccl; do PP_EMULATED_BLAS_FAULT=5:13 pipeexec --backend cuda --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 1 --micro-batches 2 --steps 4 --precision bf16 --no-check --transport $t 2>&1 | head -1 | sed 's/bf16, .*: /FORM: /'; done
> pipeexec: error: cuBLASLt has failed to multiply: FORM: CUBLAS_STATUS_EXECUTION_FAILED
> pipeexec: error: cuBLASLt has failed to multiply: FORM: CUBLAS_STATUS_EXECUTION_FAILED
# In a capture it only leaves out the graph.
$ PP_EMULATED_BLAS_FAULT=60:13 pipeexec --backend cuda --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 1 --micro-batches 2 --steps 4 --precision bf16 --no-check --json | grep -E '"(left_out|why_left|own)":'
>       "left_out": 1,
>       "why_left": "cudaErrorStreamCaptureUnsupported",
>     "own": 0,
$ pipeexec --backend cuda --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 3 --schedule zb-h1 --calibrate-on gpipe | grep -E '^  predicted'
>   predicted  from durations of gpipe, which ran first
$ pipeexec --backend cuda --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 2 --json | grep -E '"(backend|device|device_mode|clock|precision)"'
>   "backend": "cuda",
>   "precision": "fp32",
>   "device": "emulated device 0",
>   "device_mode": "serial",
>   "clock": "virtual",
$ PP_EMULATED_DEVICES=none pipeexec --backend cuda
! pipeexec: error: --backend cuda: this machine has no NVIDIA driver (libcuda.so.1); install one for CUDA 13.0 or later
!   --backend cpu needs no GPU
= 1
$ PP_EMULATED_DRIVER=12040 pipeexec --backend cuda
! pipeexec: error: --backend cuda: the NVIDIA driver is for CUDA up to 12.4, this build needs 13.0; update the driver, or build with an older CUDA
!   --backend cpu needs no GPU
= 1
$ PP_EMULATED_CAPABILITY=75 pipeexec --backend cuda
! pipeexec: error: --backend cuda: the GPU is of compute capability 7.5, the kernels need 8.0 (A100) or later; CUDA_VISIBLE_DEVICES chooses another one
!   --backend cpu needs no GPU
= 1
$ PP_EMULATED_DEVICES=0 pipeexec --backend cuda
! pipeexec: error: --backend cuda: this machine has a driver, but no GPU that it can use; nvidia-smi says what it sees
!   --backend cpu needs no GPU
= 1
$ CUDA_VISIBLE_DEVICES= pipeexec --backend cuda
! pipeexec: error: --backend cuda: no GPU is visible: CUDA_VISIBLE_DEVICES is ""; unset it, or name one that nvidia-smi lists
!   --backend cpu needs no GPU
= 1
$ PP_EMULATED_MEMORY_BYTES=1000000 pipeexec --backend cuda
! pipeexec: error: not enough memory on the GPU: a block of 32 MiB (33554432 bytes) does not fit into the 1 MiB that are free
= 1
$ PP_EMULATED_MEMORY_BYTES=50000000 pipeexec --backend cuda 2>&1 | head -1
> pipeexec: error: the run needs ...
# Memory is left for what comes after the blocks: modules and graphs, and communicators of NCCL.
$ for m in 900000000000 16000000000 400000000; do PP_EMULATED_MEMORY_BYTES=$m pipeexec --backend cuda --np 2 --layers 2 --hidden 65536 --heads 256 --seq 16 --steps 1 --no-check 2>&1 | grep -o 'libraries and graphs [0-9]*'; done
> libraries and graphs 8583
> libraries and graphs 954
> libraries and graphs 24
$ PP_EMULATED_MEMORY_BYTES=200000000 pipeexec --backend cuda --transport nccl --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --steps 1 --no-check 2>&1 | grep -o 'libraries and graphs [0-9]*' | head -1
> libraries and graphs 172
$ for m in 70000000 64000000; do PP_EMULATED_MEMORY_BYTES=$m pipeexec --backend cuda --np 2 --layers 2 --hidden 256 --heads 2 --seq 16 --mbs 1 --micro-batches 2 --steps 1 --no-check 2>&1 | grep -oE '^  loss|the run needs.*lists'; done
>   loss
> the run needs 31 MiB in all, this device has 29 MiB free; lists
# What would help is said where it would, and only by the first process without room.
$ for o in "--np 2 --schedule gpipe --mbs 4 --transport local" "--np 2 --schedule gpipe --recompute full --precision bf16 --mbs 1 --no-check --transport local" "--np 2 --dp 2 --mbs 1 --no-check --transport local" "--np 4 --mbs 4 --transport ipc --no-check" "--np 8 --dp 2 --mbs 4 --zero 1 --transport ipc --no-check"; do PP_EMULATED_DEVICES=16 PP_EMULATED_MEMORY_BYTES=66000000 pipeexec --backend cuda --layers 8 --hidden 256 --heads 2 --seq 64 --micro-batches 16 --steps 1 $o 2>&1 | sed '/note:/d; /another process says: rank/d; s/[0-9][0-9]* MiB/X MiB/g; s/; lists.*; try/; try/'; done
> pipeexec: error: the run needs X MiB in all, this device has X MiB free; try --recompute full, --precision bf16, --no-check, fewer --micro-batches, a lower --mbs, a lower --seq, fewer --layers, a lower --hidden
>   rank 1, in MiB: weights 12, gradients 12, optimizer 25, activations 268, other 7
>   1 other: 316 in all
> pipeexec: error: the run needs X MiB in all, this device has X MiB free; try fewer --layers, a lower --hidden
>   rank 1, in MiB: weights 6, gradients 12, optimizer 37, activations 3, other 1
>   1 other: 59 in all
> pipeexec: error: the run needs X MiB in all, this device has X MiB free; try --recompute full, --zero 1, a lower --dp, a lower --seq, fewer --layers, a lower --hidden
>   rank 0, in MiB: weights 12, gradients 12, optimizer 25, activations 8, other 1
>   3 others: 167 in all
> pipeexec: error: rank 0 needs X MiB in all, this device has X MiB free; try a higher --np, --recompute full, --precision bf16, a lower --mbs, a lower --seq, fewer --layers, a lower --hidden
>   rank 0, in MiB: weights 6, gradients 6, optimizer 13, activations 33, other 4
>   nor would 3 other ranks fit
> pipeexec: error: rank 0 needs X MiB in all, this device has X MiB free; try --recompute full, --precision bf16, a lower --mbs, a lower --seq, fewer --layers, a lower --hidden
>   rank 0, in MiB: weights 3, gradients 3, optimizer 3, activations 34, other 5
>   nor would 4 other ranks fit
$ PP_EMULATED_FAULT=1000 pipeexec --backend cuda --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 1 --micro-batches 2 --steps 9
! pipeexec: error: step ...
!   CUDA_LAUNCH_BLOCKING=1 and compute-sanitizer say in which kernel
= 1
$ PP_EMULATED_FAULT=1000 pipeexec --backend cuda --device-mode streams --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 1 --micro-batches 2 --steps 9
! pipeexec: error: step ...
!   CUDA_LAUNCH_BLOCKING=1 and compute-sanitizer say in which kernel
= 1
# What hangs, all at the same time: work of a step, of the training on one rank, a rank.
$ hang() { pipeexec --backend cuda --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 9 "$@" 2>&1 | head -2; echo "exit code ${PIPESTATUS[0]}"; }; PP_EMULATED_HANG=100 hang --no-check --timeout 5 >1 & PP_EMULATED_HANG=200 hang --no-check --timeout 5 >2 & PP_EMULATED_HANG=20 hang --timeout 2 >3 & hang --inject 'hang rank:1 op:3 step:2' --timeout 5 >4 & wait; cat 1 2 3 4
> pipeexec: error: step 1: no rank has made progress for 5.0 s (--timeout)
>   stuck: backend cuda, in work that it was given: it hangs, or an op takes longer than --timeout
> exit code 1
> pipeexec: error: step 2: no rank has made progress for 5.0 s (--timeout)
>   stuck: backend cuda, in work that it was given: it hangs, or an op takes longer than --timeout
> exit code 1
> pipeexec: error: backend cuda, in the training on one rank that gradients are checked against (--no-check leaves it out), has made no progress for 2.0 s (--timeout)
> exit code 1
> pipeexec: error: step 2: no rank has made progress for 5.0 s (--timeout)
>   stuck: rank 1 at op 3 ...
> exit code 1
# The host holds copies of what is on a device, however large that is.
$ PP_EMULATED_MEMORY_BYTES=900000000000000000 pipeexec --backend cuda --np 2 --layers 4 --hidden 1048576 --heads 16384 --steps 1 2>&1 | sed 's/[0-9][0-9]* MiB/X MiB/g; s/[0-9]*, lists and times [0-9]*/X, lists and times X/'
> pipeexec: error: the host needs X MiB and has X MiB free: copies of what the device holds X, lists and times X; --no-check leaves out some of the copies, or lower --layers or --hidden
$ pipeexec --backend cuda --precision double
! pipeexec: error: --precision double: backend cuda does not have it, backend cpu does
= 2
$ pipeexec --backend cuda --hidden 1028 --heads 4
! pipeexec: error: --backend cuda: heads of model 'tiny-like' have 257 elements, and here at most 256; more --heads, or --backend cpu
= 2
$ pipeexec --backend cuda --transport shm
! pipeexec: error: --transport shm: backend cuda runs all ranks in one process; use --transport local, or ipc (on one host) or nccl for a process for each
= 2
$ pipeexec --backend cuda --transport nccl --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 2 | grep -A1 -E '^  (machine |clock )'
>   machine    emulated device 0, by NCCL, 2 processes on 1 GPU; fp32 with own
>              kernels, cuBLASLt ...
>   clock      wall: stamps of two ranks are within ...
>
$ pipeexec --backend cuda --transport nccl --device-mode serial --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 2 | grep -E '^  clock '
>   clock      virtual: one device per rank, links of 10.0 us and 10.0 GB/s
$ pipeexec --backend cuda --transport nccl --device-mode partition
! pipeexec: error: --device-mode partition: the parts of a GPU belong to one process, and with --transport nccl each rank is one; leave it out, or use --transport local
= 2
$ pipeexec --backend cuda --transport nccl --np 1
! pipeexec: error: --transport nccl: one rank has no peer to send to; use --transport local
= 2
$ pipeexec --backend cuda --transport ipc --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 2 | grep -A1 -E '^  (machine |clock )'
>   machine    emulated device 0, by CUDA IPC, 2 processes on 1 GPU; fp32 with own
>              kernels, cuBLASLt ...
>   clock      wall: stamps of two ranks are within ...
>
$ pipeexec --backend cuda --transport ipc --device-mode partition
! pipeexec: error: --device-mode partition: the parts of a GPU belong to one process, and with --transport ipc each rank is one; leave it out, or use --transport local
= 2
$ pipeexec --backend cuda --transport ipc --np 1
! pipeexec: error: --transport ipc: one rank has no peer to send to; use --transport local
= 2
$ for t in local ipc; do PP_EMULATED_DEVICES=8 pipeexec --backend cuda --transport $t --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 4 --no-check | grep -A1 'GPUs are visible' || echo none; done
>   note       8 GPUs are visible, and all ranks share one. With --transport ipc
>              or --transport nccl ranks take them in turn
> none
! pipeexec: note: 8 GPUs are visible, and all ranks share one. With --transport ipc or --transport nccl ranks take them in turn
# It is said before training, too; with --quiet nothing is.
$ for q in "" --quiet; do PP_EMULATED_DEVICES=8 pipeexec --backend cuda --transport local --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 2 --no-check $q >/dev/null; done
! pipeexec: note: 8 GPUs are visible, and all ranks share one. With --transport ipc or --transport nccl ranks take them in turn
# Without a launcher and --transport, each rank has a GPU of its own, if as many are visible.
$ PP_EMULATED_DEVICES=4 pipeexec --backend cuda --np 4 --schedule chimera --layers 4 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 4 --steps 2 --check --exact-grad | grep -A1 -E '^  (machine|clock|check|note) ' | grep -v cuBLASLt
>   machine    emulated device 0, by CUDA IPC, sums by NCCL, 4 processes on
>   clock      wall: stamps of two ranks are within ...
>
> --
>   check      gradients of every step equal those of training on one rank to the
>              bit (85,888 elements)
> --
>   note       4 GPUs are visible, so each rank is a process with its own. With
>              --transport local all share one
>   note       2 steps leave 1 for --warmup; --steps 4 leaves the usual 2
$ PP_EMULATED_DEVICES=4 pipeexec --backend cuda --np 2 --dp 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 2 --check --exact-grad --json | grep -E '"(transport|clock|bit_equal)":'
>   "transport": "ipc+nccl",
>   "clock": "wall",
>     "bit_equal": true,
>     "bit_equal": true,
$ for o in '--np 4' '--np 2 --device-mode serial' '--np 2 --link latency:1us' '--np 2 --slow 1=0.5'; do PP_EMULATED_DEVICES=3 pipeexec --backend cuda $o --layers 4 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 1 --steps 4 --no-check | grep -A2 'note .*GPUs are visible'; done
>   note       3 GPUs are visible for 4 ranks, which share one. With
>              --transport ipc ranks take them in turn; --np 3 uses all
>   note       3 GPUs are visible, and with --device-mode serial all ranks share
>              one. Without it each rank is a process with its own
>   note       3 GPUs are visible, and with --link latency:1us all ranks share
>              one. Without it each rank is a process with its own
>   note       3 GPUs are visible, and with --slow 1=0.5 all ranks share one.
>              Without it each rank is a process with its own
! pipeexec: note: 3 GPUs are visible for 4 ranks, which share one. With --transport ipc ranks take them in turn; --np 3 uses all
! pipeexec: note: 3 GPUs are visible, and with --device-mode serial all ranks share one. Without it each rank is a process with its own
! pipeexec: note: 3 GPUs are visible, and with --link latency:1us all ranks share one. Without it each rank is a process with its own
! pipeexec: note: 3 GPUs are visible, and with --slow 1=0.5 all ranks share one. Without it each rank is a process with its own
$ PIPEEXEC_NCCL_LIBRARY=/none PP_EMULATED_PEERS=0 PP_EMULATED_DEVICES=2 pipeexec --backend cuda --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 4 --no-check | grep -A2 'note .*GPUs are visible'
>   note       2 GPUs are visible, and all ranks share one: they do not reach each
>              other's memory, and there is no NCCL. Name its file in
>              PIPEEXEC_NCCL_LIBRARY
! pipeexec: note: 2 GPUs are visible, and all ranks share one: they do not reach each other's memory, and there is no NCCL. Name its file in PIPEEXEC_NCCL_LIBRARY
$ pipesim program --schedule 1f1b --pp 2 --micro-batches 4 -o $TMPDIR/two.csv; PP_EMULATED_DEVICES=2 pipeexec --backend cuda --schedule $TMPDIR/two.csv --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --steps 4 --no-check | grep -A2 'note .*GPUs are visible'; PP_EMULATED_DEVICES=2 pipeexec --backend cuda --schedule $TMPDIR/two.csv --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --steps 4 --no-check | grep -o '^  machine .* processes'
>   note       2 GPUs are visible, and all ranks share one. With --np and the
>              file's number of ranks each is a process with its own
>   machine    emulated device 0, by CUDA IPC, 2 processes
! pipeexec: note: 2 GPUs are visible, and all ranks share one. With --np and the file's number of ranks each is a process with its own
$ PP_EMULATED_DEVICES=2 PP_EMULATED_PEERS=0 pipeexec --backend cuda --transport ipc --np 2 --layers 2 2>&1 | head -1
> pipeexec: error: --transport ipc: this GPU cannot reach what process 1 has on its own: cudaErrorPeerAccessUnsupported (peer access is not supported between these two devices); nvidia-smi topo -p2p r says which GPUs reach each other; use --transport nccl
$ PIPEEXEC_NCCL_LIBRARY=/none/libnccl.so.2 pipeexec --backend cuda --transport nccl
! pipeexec: error: cannot load NCCL: /none/libnccl.so.2: cannot open shared object file: No such file or directory
!   name its folder in LD_LIBRARY_PATH, or the file in PIPEEXEC_NCCL_LIBRARY
= 1
$ pipeexec --backend cuda --device-mode streams --slow 1=0.5
! pipeexec: error: --slow 1=0.5: on the wall clock backend cuda cannot make a rank slower; give --clock virtual
= 2
$ pipeexec --backend cuda --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 4 --checkpoint half --checkpoint-every 2 --quiet; pipeexec --backend cpu --np 2 --schedule gpipe --resume half/step-000000002 --json | grep -E '"(backend|first_step|steps)"'
>   "backend": "cpu",
>   "steps": 4,
>   "first_step": 2,
$ pipeexec --backend cuda --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 2 --device-mode partition --exact-grad | grep -A1 -E '^  (machine |clock|check )'
>   machine    emulated device 0, a part for each rank, 2 threads; fp32 with own
>              kernels, cuBLASLt ...
>   clock      wall: ranks share the device
>
> --
>   check      gradients of the first step equal those of training on one rank to
>              the bit (14,912 elements)
$ pipeexec --backend cuda --np 16 --layers 16 --hidden 16 --heads 2 --seq 8 --mbs 1 --device-mode partition
! pipeexec: error: --device-mode partition: 16 ranks on a GPU of 64 multiprocessors, which has at most 8 parts: at most 8 ranks, or --device-mode serial
= 2
# Graphs: used unless they are switched off, do not fit, or are not what they should be.
$ pipeexec --backend cuda --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 5 --no-check --json | grep -A7 '"graphs"'
>     "graphs": {
>       "count": 12,
>       "left_out": 0,
>       "why_left": null,
>       "kernels": 162,
>       "launches": 48,
>       "why_not": null
>     }
$ pipeexec --backend cuda --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 5 --no-check --json --cuda-graphs off | grep '"graphs"'
>     "graphs": null
$ PP_EMULATED_GRAPH_PARTS=0 pipeexec --backend cuda --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 1 --micro-batches 2 --steps 3 --device-mode partition --check --exact-grad --json | grep -E '"(why_not|count|bit_equal)"'
>     "bit_equal": true,
>     "bit_equal": true,
>       "count": 0,
>       "why_not": "with this driver they leave the part of the GPU that a rank has"
$ PP_EMULATED_GRAPH_PARTS=0 pipeexec --backend cuda --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 1 --micro-batches 2 --steps 3 --device-mode streams --check --exact-grad --json | grep -E '"(why_not|count|bit_equal)"'
>     "bit_equal": true,
>     "bit_equal": true,
>       "count": 12,
>       "why_not": null
$ PP_EMULATED_GRAPH_TIMES=0 pipeexec --backend cuda --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 1 --micro-batches 2 --steps 3 --check --exact-grad --json | grep -E '"(why_not|count|bit_equal)"'
>     "bit_equal": true,
>     "bit_equal": true,
>       "count": 12,
>       "why_not": null
$ PP_EMULATED_GRAPH_BYTES=50000000 pipeexec --backend cuda --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 1 --micro-batches 2 --steps 3 --check --exact-grad --json | grep -E '"(why_not|why_left|count|left_out|bit_equal)"'
>     "bit_equal": true,
>     "bit_equal": true,
>       "count": 3,
>       "left_out": 9,
>       "why_left": "cudaErrorMemoryAllocation",
>       "why_not": null
$ PP_EMULATED_GRAPH_BYTES=20000000000 pipeexec --backend cuda --np 2 --layers 2 --hidden 32 --heads 2 --seq 16 --mbs 1 --micro-batches 2 --steps 3 --check --exact-grad --json | grep -E '"(why_not|why_left|count|left_out|bit_equal)"'
>     "bit_equal": true,
>     "bit_equal": true,
>       "count": 0,
>       "left_out": 0,
>       "why_left": null,
>       "why_not": "this driver refuses to record or to run them (cudaErrorMemoryAllocation)"
$ pipeexec --backend cuda --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 3 --check --exact-grad --transport nccl --json | grep -E '"(why_not|why_left|count|left_out|bit_equal)"'
>     "bit_equal": true,
>     "bit_equal": true,
>       "count": 6,
>       "left_out": 0,
>       "why_left": null,
>       "why_not": null
# Devices whose peak the MFU is of: those of processes, each once; all on the virtual clock; one that parts share.
$ for o in "4" "2 --transport ipc" "1" "1 --device-mode partition"; do set -- $o; n=$1; shift; PP_EMULATED_NAME="NVIDIA H200" PP_EMULATED_DEVICES=$n pipeexec --backend cuda --np 4 --layers 4 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 3 --precision bf16 --no-check --json "$@" | awk -F'[:,]' '/"(model_flops_per_s|mfu)"/ { v[++n] = $2 } END { printf "%.6f\n", v[1] / v[2] / 989e12 }'; done
> 4.000000
> 2.000000
> 4.000000
> 1.000000
$ for o in "4 1 8" "6 2 4"; do set -- $o; PP_EMULATED_DEVICES=$1 pipeexec --backend cuda --np $2 --dp $3 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 1 --steps 4 --no-check | grep -A1 'note .*GPUs are visible'; done
>   note       4 GPUs are visible for 8 ranks, which share one. With
>              --transport ipc ranks take them in turn; --np 1 --dp 4 uses all
>   note       6 GPUs are visible for 8 ranks, which share one. With
>              --transport ipc ranks take them in turn; --np 1 uses 4
! pipeexec: note: 4 GPUs are visible for 8 ranks, which share one. With --transport ipc ranks take them in turn; --np 1 --dp 4 uses all
! pipeexec: note: 6 GPUs are visible for 8 ranks, which share one. With --transport ipc ranks take them in turn; --np 1 uses 4
# Processes that share GPUs: how many, and no error of a prediction for one GPU each.
$ for n in 1 2; do PP_EMULATED_DEVICES=$n pipeexec --backend cuda --np 2 --transport ipc --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 4 --no-check --json | grep -E '"(gpus|model_error_frac|shared_device)"' | sed 's/: -*[0-9.]*[.][0-9].*/: X/' | tr -d '\n'; echo; done
>   "gpus": 1,  "model_error_frac": null,  "shared_device": true,
>   "gpus": 2,  "model_error_frac": X  "shared_device": false,
$ PP_EMULATED_DEVICES=1 pipeexec --backend cuda --np 2 --transport ipc --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 4 --no-check | grep -oE '2 processes on .*GPU|note .*|share 1 GPU.*'
> 2 processes on 1 GPU
> note       the prediction assumes one device for each rank, but here processes
> share 1 GPU, so the difference is no error
# The page on the executor names what JSON has of graphs and of slower kernels, too.
$ pipeexec --backend cuda --np 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 4 --json | grep -oE '^ *"[^"]+":' | tr -d '": ' | sort -u >keys; grep -cE '^(refused_forms|kernels|why_left)$' keys; for k in $(cat keys); do grep -qE "[\`.]$k\`" docs/executor-report.md || echo "$k is in no row"; done
> 3
# Tokens on the device: those of one rank by every way, also of replicas and of devices of a group.
$ for w in "--np 2 --dp 2" "--tp 2" "--np 2 --transport nccl" "--np 2 --transport ipc"; do pipeexec generate --backend cuda $w --layers 2 --hidden 32 --heads 2 --groups 2 --batch 4 --prompt-groups 4 --prompt "The " --tokens 6 --check | grep -oE 'check .*|KV cache .*' | tr '\n' ' '; echo "$w"; done
> KV cache      36.0 KiB (36864 bytes), as computed check         48 tokens and their logits are those of one rank, to the bit --np 2 --dp 2
> KV cache      18.0 KiB (18432 bytes), as computed check         24 tokens and their logits are those of one rank, to the bit --tp 2
> KV cache      18.0 KiB (18432 bytes), as computed check         24 tokens and their logits are those of one rank, to the bit --np 2 --transport nccl
> KV cache      18.0 KiB (18432 bytes), as computed check         24 tokens and their logits are those of one rank, to the bit --np 2 --transport ipc
