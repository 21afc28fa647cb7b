# Caps of each rank. A run that needs more ends before it begins, with options that fit: those that it has not, what
# saves most first.
$ pipeexec --schedule gpipe --np 2 --layers 8 --mbs 1 --micro-batches 16 --steps 2 --device-memory 24MB
! pipeexec: error: rank 1 needs 47.6 MiB on its device, and --device-memory 24MB allows 22.9 MiB
!   in MiB: weights 3.2, gradients 3.2, optimizer 6.3, activations 34.1, buffers 0.6, other 0.3
!   try: --recompute full (16.1 MiB), --offload a=host (21.9 MiB)
= 3
# They do fit.
$ for o in "--recompute full" "--offload a=host"; do pipeexec --schedule gpipe --np 2 --layers 8 --mbs 1 --micro-batches 16 --steps 1 --device-memory 24MB $o --json | grep -E '^  "(predicted_)?peak_mem_bytes"|device_room'; done
>   "peak_mem_bytes": 16889856,
>   "predicted_peak_mem_bytes": 16889856,
>   "peak_mem_bytes": 22961664,
>   "predicted_peak_mem_bytes": 22961664,
>     "device_room_bytes": 24000000,
# Several together, where none fits alone; nothing, where all together do not.
$ pipeexec --schedule gpipe --np 2 --layers 8 --mbs 1 --micro-batches 16 --steps 2 --device-memory 16MB 2>&1 | grep -oE 'none does alone; try together: --'
> none does alone; try together: --
$ pipeexec --schedule gpipe --np 2 --layers 8 --mbs 1 --micro-batches 16 --steps 2 --device-memory 2MB 2>&1 | grep -o 'no options fit'
> no options fit
$ pipeexec --np 2 --layers 8 --hidden 256 --seq 32 --mbs 2 --micro-batches 4 --steps 2 --device-memory 36MB 2>&1 | tail -1
>   try: --offload os=host --cpu-optimizer (33.6 MiB)
# Host memory; the buffers and checksums of a file count, too. So does the program of --calibrate-on.
$ pipeexec --schedule gpipe --np 2 --layers 8 --mbs 1 --micro-batches 16 --steps 2 --offload a=host --host-memory 25MB
! pipeexec: error: rank 1 needs 34.1 MiB of host memory, and --host-memory 25MB allows 23.8 MiB
!   in MiB: weights 0.0, gradients 0.0, optimizer 0.0, activations 34.1, buffers and checksums of its file 0.0
!   try: --recompute full (0.5 MiB), --offload a=nvme --nvme DIR (6.1 MiB), --precision bf16 (17.1 MiB)
= 3
$ pipeexec --np 2 --offload a=nvme --nvme . --host-memory 3MB 2>&1 | head -2; pipeexec --np 2 --offload a=nvme --nvme . --host-memory 7MB --steps 1 --json | grep -E '"(peak_mem_bytes|host_room_bytes)"' | head -2
> pipeexec: error: rank 0 needs 6.1 MiB of host memory, and --host-memory 3MB allows 2.9 MiB
>   in MiB: weights 0.0, gradients 0.0, optimizer 0.0, activations 0.0, buffers and checksums of its file 6.1
>   "peak_mem_bytes": 31630848,
>     "host_room_bytes": 7000000,
$ pipeexec --schedule 1f1b --calibrate-on gpipe --np 2 --layers 8 --mbs 1 --micro-batches 16 --device-memory 24MB
! pipeexec: error: --calibrate-on gpipe: rank 1 needs 47.6 MiB on its device, and --device-memory 24MB allows 22.9 MiB
!   in MiB: weights 3.2, gradients 3.2, optimizer 6.3, activations 34.1, buffers 0.6, other 0.3
= 3
# Processes: one message.
$ pipeexec --schedule gpipe --np 2 --layers 8 --mbs 1 --micro-batches 16 --steps 2 --transport tcp --device-memory 24MB 2>&1 | wc -l
> 3
$ pipeexec --device-memory 53 --steps 1 2>&1 | head -1; pipeexec --device-memory lots; pipeexec --device-memory 53mb; pipeexec --offload a=host --tier nvme:1GBps; pipeexec --host-memory 1GB
> pipeexec: error: rank 0 needs 25.0 MiB on its device, and --device-memory 53 allows 53 bytes
! pipeexec: error: --device-memory lots: "lots" is not bytes such as 80GiB, 80GB or 512
! pipeexec: error: --device-memory 53mb: "53mb" is not bytes such as 80GiB, 80GB or 512: write 53MB
! pipeexec: error: --tier nvme:1GBps has no effect: nothing lives on the tier nvme; give --offload a=nvme
! pipeexec: error: --host-memory 1GB has no effect: nothing lives on the host; give --offload a=host
= 2
# A cap that nearly fits is told in bytes.
$ pipeexec --schedule gpipe --np 2 --layers 8 --mbs 1 --micro-batches 16 --offload a=host --device-memory 21.897MiB 2>&1 | head -1
> pipeexec: error: rank 1 needs 22961664 bytes on its device, and --device-memory 21.897MiB allows 22960668 bytes
# Memory of the fullest rank over time, as measured and as predicted: a curve for each tier that has something.
$ for o in "" "--offload a=host" "--offload a=nvme --nvme ."; do pipeexec --np 2 --micro-batches 4 --layers 2 --hidden 32 --heads 2 --seq 16 --steps 3 --schedule gpipe $o --plot none --plot-kind memory-tiers | tail -1; done
>   # device, measured  : device, predicted
>   # device, measured  : host, measured  . device, predicted  o host, predicted
>   # device, measured  : nvme, measured  . device, predicted  o nvme, predicted
$ pipeexec --np 2 --micro-batches 4 --layers 2 --hidden 32 --heads 2 --seq 16 --steps 3 --schedule gpipe --offload a=host --plot m.gp --plot-kind memory-tiers --quiet; grep -oE "title '(device|host).*'" m.gp; grep -o "memory per device (MiB)" m.gp
> title 'device, measured'
> title 'host, measured'
> title 'device, predicted'
> title 'host, predicted'
> memory per device (MiB)
$ pipeexec --plot-kind memory-tiers; pipeexec --plot m.gp --plot-kind links
! pipeexec: error: --plot-kind is about a picture: --plot FILE draws one
! pipeexec: error: --plot-kind: "links" is not one of timeline and memory-tiers
= 2

# Early updates, shares and buckets have the bits of the update of the device.
$ for o in '' '--offload os=host --cpu-optimizer --update jit' '--offload os=host:40% --cpu-optimizer' '--offload os=host --update-bucket 1000x2'; do pipeexec --schedule interleaved --vp 2 --np 2 --layers 4 --micro-batches 2 --steps 2 $o --json | sed -n '/"losses"/,/"peak_mem/p' | grep -A2 -E '"(losses|grad_norms)"' | md5sum >>sums; done; sort -u sums | wc -l
> 1
$ pipeexec --offload os=host --cpu-optimizer --update jit --clip 1
! pipeexec: error: --update jit: all ranks meet before their first update (clipping), as the norm of all gradients is known at the end only; nearest: --update end, or no --clip
= 2

# A program file moves state as the simulator does: all of it is fetched ahead, and the host updates before the norm is known. The bits are those of the device.
$ A="--layers 8 --hidden 32 --heads 2 --seq 16 --mbs 1 --steps 2 --exact-grad --no-check --precision bf16"; for o in '' 'os=host' 'os=host:50% --cpu-optimizer' 'os=host --cpu-optimizer --update jit' 'g,os=host'; do pipesim program --schedule interleaved --vp 4 --pp 2 --micro-batches 4 ${o:+--offload $o} >p.csv; pipeexec --schedule p.csv $A --json | sed -n '/"losses"/,/"peak_mem/p' | grep -A2 -E '"(losses|grad_norms)"' | md5sum >>file_sums; done; sort -u file_sums | wc -l
> 1
# Who updates is what the file says, or it is refused.
$ pipesim program --schedule interleaved --vp 4 --pp 2 --micro-batches 4 --offload os=host >p.csv; pipeexec --schedule p.csv --layers 8 --offload os=host --cpu-optimizer; pipesim program --schedule gpipe --pp 2 --micro-batches 2 --offload p,g,os=host --cpu-optimizer >p.csv; pipeexec --schedule p.csv --precision bf16
! pipeexec: error: p.csv: its moves are not those of an update by these options; nearest: the --offload, --cpu-optimizer and --update with which it was made, or 'pipesim program --compute'
! pipeexec: error: p.csv: its moves are not those of an update by these options; nearest: the --offload, --cpu-optimizer and --update with which it was made, or 'pipesim program --compute'
= 2
$ pipesim program --schedule interleaved --vp 4 --pp 2 --micro-batches 4 --offload os=host --cpu-optimizer --update jit >p.csv; pipeexec --schedule p.csv --layers 8 --clip 1
! pipeexec: error: p.csv: all ranks meet before their first update (clipping), as the norm of all gradients is known at the end only; nearest: --update end, or no --clip
= 2
# The example of the topic runs.
$ pipeexec --help tiers | sed -n '/^  pipeexec/{:a /\\$/{N;ba};s/$/ --steps 1/p}' >tiers.sh; sh -e tiers.sh | grep '^  state'
>   state      a on host
