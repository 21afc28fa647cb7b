# --tp on an emulated device: the bits of one rank that runs the parts in turn.
$ pipeexec --backend cuda --device-mode streams --np 2 --tp 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 4 --steps 3 --exact-grad --check --json --schedule 1f1b --sequence-parallel on --precision bf16 --vocab 301 | grep -cE '"(bit_equal|loss_equal)": true'
> 3
$ for o in "--model bert-base --vocab 256 --ffn 64" "--model tiny-llama --experts 4 --shared-ffn 32"; do pipeexec --backend cuda --np 1 --tp 2 --sequence-parallel on --layers 2 --hidden 16 --heads 4 --seq 8 --mbs 1 --micro-batches 2 --steps 2 --recompute selective=act --exact-grad --check --json $o | grep -cE '"(bit_equal|loss_equal)": true'; done
> 3
> 3
$ pipeexec --backend cuda --np 2 --tp 4 --layers 4 --hidden 16 --heads 4 --seq 8 --mbs 1 --micro-batches 2 --steps 3 --schedule seq1f1b --splits 2 --sequence-parallel on --exact-grad --check | grep -A5 -E '^  (machine |check )'
>   machine    emulated device 0, one op at a time, 8 threads; fp32 with own
>              kernels, cuBLASLt ...
>   clock      virtual: one device per rank, links of 10.0 us and 10.0 GB/s
>
>   loss       5.5342 5.5265 5.5342 in 3 steps
>   check      gradients of every step equal those of training on one rank to the
>              bit (69,312 elements)
>              weights after the last step equal those of training on one rank to
>              the bit (23,104 elements)
>              that rank runs the 4 parts of --tp in turn
>
# The losses of the CPU, and memory as planned.
$ for b in cpu cuda; do pipeexec --backend $b --np 2 --tp 2 --layers 2 --hidden 16 --heads 2 --vocab 301 --seq 8 --mbs 1 --micro-batches 2 --steps 3 --no-check --json >$b.json; grep -A3 '"losses"' $b.json | grep -o '[0-9][.][0-9]\{5\}'; grep -E '^  "(peak_mem|predicted_peak)' $b.json | tr -dc '0-9\n' | uniq | wc -l; done | uniq -c
>       1 5.69645
>       1 5.69987
>       1 5.67898
>       1 2
>       1 5.69645
>       1 5.69987
>       1 5.67898
>       1 2
# On the wall clock, exchanges are timed by events. The device obeys a law, so this share is known.
$ for s in off on; do PP_EMULATED_LAW=1000 pipeexec --backend cuda --clock wall --device-mode partition --np 1 --tp 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 3 --no-check --sequence-parallel $s --json | grep -o '"tp_comm": 0[.][0-9]\{4\}'; done
> "tp_comm": 0.0949
> "tp_comm": 0.2733
# Each segment between two exchanges is a graph. Calibration adds events for the parts of an op.
$ for o in "" "--calibrate-on gpipe"; do pipeexec --backend cuda --np 2 --tp 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 4 --schedule zb-h1 --no-check --json $o | grep -A4 '"graphs"' | tr -d '\n'; echo; done
>     "graphs": {      "count": 80,      "left_out": 0,      "why_left": null,      "kernels": 380,
>     "graphs": {      "count": 80,      "left_out": 0,      "why_left": null,      "kernels": 380,
# A process for each worker: exchanges by NCCL, or by kernels that read the memory of other processes.
$ for t in ipc nccl ipc+nccl; do pipeexec --backend cuda --transport $t --np 2 --tp 2 --dp 2 --zero 1 --layers 2 --hidden 16 --heads 2 --vocab 301 --seq 8 --mbs 1 --micro-batches 2 --steps 2 --exact-grad --check --json | grep -cE '"(bit_equal|loss_equal)": true'; done
> 3
> 3
> 3
$ for o in "--transport ipc --schedule zb-h1" "--transport nccl --schedule zbv"; do pipeexec --backend cuda --np 2 --tp 2 --layers 4 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 2 --sequence-parallel on --precision bf16 --exact-grad --check --json $o | grep -cE '"(bit_equal|loss_equal)": true'; done
> 3
> 3
# Without --exact-grad NCCL adds on the way; losses differ by rounding alone.
$ for t in local nccl; do pipeexec --backend cuda --transport $t --np 1 --tp 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 3 --sequence-parallel on --check --json | grep -A3 '"losses"' | grep -o '[0-9][.][0-9]\{5\}'; done | sort | uniq -c
>       2 5.51719
>       2 5.53404
>       2 5.53829
$ PP_EMULATED_DEVICES=4 pipeexec --backend cuda --np 2 --tp 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 4 | grep -A1 -E '^  (machine|note .*GPUs)'
>   machine    emulated device 0, by CUDA IPC, sums by NCCL, 4 processes on
>              4 GPUs; fp32 with own kernels, cuBLASLt ...
> --
>   note       4 GPUs are visible, so each rank is a process with its own. With
>              --transport local all share one
$ PP_EMULATED_DEVICES=3 pipeexec --backend cuda --np 1 --tp 4 --layers 2 --hidden 16 --heads 4 --seq 8 --mbs 1 --micro-batches 2 --steps 4 | grep -A2 -E '^  note .*GPUs'
>   note       3 GPUs are visible for 4 ranks, which share one. With
>              --transport ipc ranks take them in turn; --np 1 takes 4
! pipeexec: note: 3 GPUs are visible for 4 ranks, which share one. With --transport ipc ranks take them in turn; --np 1 takes 4
# A worker that is killed is named, and its group does not wait for it.
$ for t in ipc nccl; do pipeexec --backend cuda --transport $t --np 2 --tp 2 --layers 2 --hidden 16 --heads 2 --seq 8 --mbs 1 --micro-batches 2 --steps 4 --no-check --inject 'kill rank:1 op:5 step:2 tp:1' 2>&1 | grep -o 'step 2: rank 1, device 1 .* ended by signal 9' | sed 's/group .*: its process [0-9]*/group: its process/'; done
> step 2: rank 1, device 1 of its tensor-parallel group: its process was ended by signal 9
> step 2: rank 1, device 1 of its tensor-parallel group: its process was ended by signal 9
