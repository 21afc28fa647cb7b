# Saved activations on another tier: a GPipe of 16 micro-batches in a third of its memory.
$ for o in '' '--offload a=host --device-memory 13.7MB --host-memory 37MB'; do pipeexec --schedule gpipe --np 2 --layers 8 --hidden 64 --mbs 2 --micro-batches 16 --steps 2 $o --json >run.json && sed -n 's/^  "peak_mem_bytes": \([0-9]*\),/\1/p' run.json; done | tee peaks; awk 'NR == 2 { print ($1 <= 13515000 ? "fits" : "too much") }' peaks
> 41384704
> 13511424
> fits
$ grep -E '"(host_bytes|predicted_host_mem_bytes|host_mem_bytes|down_bytes|up_bytes|predicted_down_bytes|predicted_up_bytes)"' run.json | tr -d ' ' | sort -u
> "down_bytes":36978688,
> "host_bytes":36978688,
> "host_mem_bytes":33816576,
> "host_mem_bytes":36978688,
> "predicted_down_bytes":36978688,
> "predicted_host_mem_bytes":33816576,
> "predicted_host_mem_bytes":36978688,
> "predicted_up_bytes":36978688,
> "up_bytes":36978688,
$ pipeexec --schedule gpipe --np 2 --layers 8 --hidden 64 --mbs 2 --micro-batches 16 --offload a=host --device-memory 13.4MB >short 2>&1; echo "exit $?"; head -2 short
> exit 3
> pipeexec: error: rank 1 needs 12.9 MiB on its device, and --device-memory 13.4MB allows 12.8 MiB
>   in MiB: weights 0.8, gradients 0.8, optimizer 1.7, activations 8.8, buffers 0.6, other 0.2
# All processes have the bits of one, with all activations on the device.
$ run="pipeexec --schedule zbv --np 4 --layers 8 --hidden 32 --heads 2 --seq 16 --steps 3 --json"; for o in '' '--offload a=host' '--offload a=host --transport shm' '--offload a=host:30% --transport tcp' '--offload a=host --clock wall' '--offload a=host --recompute full'; do $run $o | sed -n '/"losses"/,/"peak_mem/p' | grep -A3 -E '"(losses|grad_norms)"' | md5sum; done | uniq | wc -l
> 1
# A share, a program file, and what is only simulated.
$ for share in '' :50% :25%; do pipeexec --schedule gpipe --np 2 --layers 8 --hidden 32 --heads 2 --seq 16 --micro-batches 16 --steps 2 --offload a=host$share --json >share.json && sed -n 's/^  "peak_mem_bytes": \([0-9]*\),/\1/p' share.json && sed -n 's/^ *"down_bytes": \([0-9]*\),/\1 down/p' share.json; done
> 3601792
> 9805824 down
> 8504704
> 4902912 down
> 10956160
> 2451456 down
$ pipesim program --schedule gpipe --pp 2 --micro-batches 16 --offload a=host -o gpipe.csv && pipeexec --schedule gpipe.csv --np 2 --layers 8 --hidden 32 --heads 2 --seq 16 --steps 2 --json | sed -n 's/^  "peak_mem_bytes": \([0-9]*\),/\1/p'
> 3601792
# What the tutorial on memory shows in a step, in several and with the check: rates, a drive, fewer bits, a calibration.
$ for o in "a=host --tier host:10GBps --unit F=0.005,B=0.01" "a=host --tier host:1GBps --unit F=0.005,B=0.01" "a=nvme --nvme . --host-memory 7MB" "a=host --act-bits 8" "a=host --tier host:1GBps --calibrate-on 1f1b"; do pipeexec --schedule gpipe --np 2 --layers 8 --hidden 32 --heads 2 --seq 16 --micro-batches 16 --steps 4 --exact-grad --check --offload $o --json | grep -E '"(bit_equal|loss_equal|structural_error_s)"' | tr -d ' \n'; echo; done
> "bit_equal":true,"loss_equal":true"bit_equal":true,"structural_error_s":0.0,
> "bit_equal":true,"loss_equal":true"bit_equal":true,"structural_error_s":0.0,
> "bit_equal":true,"loss_equal":true"bit_equal":true,"structural_error_s":0.0,
> "bit_equal":true,"loss_equal":true"bit_equal":true,"structural_error_s":0.0,
> "bit_equal":true,"loss_equal":true"bit_equal":true,"structural_error_s":0.0,
$ pipeexec --schedule gpipe --np 2 --offload a=host --offload-unit layer
! pipeexec: error: --offload-unit layer is only simulated: what a forward saves moves once it has ended; nearest: --offload-unit op
= 2
# W on a stream of its own: gradients leave for the host, and slots are taken again, after the last W.
$ run="pipeexec --schedule zbv --np 2 --backend fake --weight-grad-stream on --layers 8 --hidden 32 --heads 2 --seq 16 --mbs 2 --micro-batches 8 --steps 3 --json"; for o in '' '--offload os=host --cpu-optimizer' '--offload os,a=host --cpu-optimizer'; do $run $o | sed -n '/"losses"/,/"peak_mem/p' | grep -A3 -E '"(losses|grad_norms)"' | md5sum; done | uniq | wc -l
> 1
