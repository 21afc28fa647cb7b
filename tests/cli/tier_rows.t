# Rows of tables that runs beyond the memory of their devices need: links, devices, models.
# A copy takes the least of h2d, uplink / devices, ram / devices.
$ for text in a100 'a100 gpu:4' 'a100 uplink:64GBps' 'a100 h2d:20GBps' 'a100 h2d:20GBps uplink:64GBps' 'a100 ram:1TB@80GBps' 'a100 ram:1TB@80GBps uplink:64GBps'; do pipesim --schedule 1f1b --gpus 8 --pp 4 --tp 2 --micro-batches 8 --model gpt-7.5b --engine dag --cluster "$text" --offload os=host --no-alternatives --explain | tr -s ' \n' ' ' | grep -o 'in buckets of [^/]*/s'; done
> in buckets of 183 MiB at 16.2 GB/s
> in buckets of 183 MiB at 25.0 GB/s
> in buckets of 183 MiB at 8.00 GB/s
> in buckets of 183 MiB at 20.0 GB/s
> in buckets of 183 MiB at 8.00 GB/s
> in buckets of 183 MiB at 10.0 GB/s
> in buckets of 183 MiB at 8.00 GB/s
$ pipesim clusters v100-dgx2 | grep -A1 '^  host'
>   host     1.50 TiB a node at 256 GB/s, 12.5 GB/s a device and direction
>            all devices of a node together: 64.0 GB/s each way
$ pipesim --schedule 1f1b --gpus 8 --cluster "a100 uplink:0GBps"
! pipesim: error: --cluster: uplink:0GBps: 0GBps is out of range: expected more than 0, at most 1e18 (as in uplink:64GBps)
= 2
$ pipesim --schedule 1f1b --gpus 8 --cluster "a100 uplink:64"
! pipesim: error: --cluster: uplink:64: "64" has no unit: 64GBps (bytes) or 64Gbps (bits)? (as in uplink:64GBps)
= 2
$ pipesim --schedule 1f1b --gpus 8 --cluster "a100 uplink:64GBps uplink:64GBps"
! pipesim: error: --cluster: 'uplink' is given twice
= 2
$ pipesim --schedule 1f1b --gpus 8 --cluster "a100 uplnk:64GBps" 2>&1 | grep -o ".*'uplink'?"
> pipesim: error: --cluster: unknown key 'uplnk': did you mean 'uplink'?
# A device that computes in fp32 alone.
$ pipesim clusters gtx1080ti | head -6
> gtx1080ti: 4 x GTX 1080 Ti 11GB a node
>   network  4 GTX 1080 Ti on PCIe 3, one 10 Gb/s card
>   device   11.3 TFLOP/s dense fp32, memory 10.9 GiB at 484 GB/s
>            kernel launch 8 us, reached of peak: matrix 0.99, memory 0.51
>            attention unfused; 28 multiprocessors
>            launch and reached shares are those of p100: not measured
$ pipesim --schedule 1f1b --gpus 2 --cluster gtx1080ti --model bert-96 --precision fp16
! pipesim: error: --precision fp16: GTX 1080 Ti 11GB has no peak for it, it has fp32
= 2
# AxoNN: 250 M parameters have 20 bytes each, 5.000 GB. With 16 of them on the host it is 1.000 GB and a bucket of 16 M x 16 bytes: 1.256 GB, a quarter.
$ for o in '' '--offload os=host'; do pipesim --schedule 1f1b --pp 1 --tp 1 --gpus 1 --params 250M --framework axonn --cluster v100-16 --seq 512 --mbs 1 --micro-batches 1 --engine dag --no-alternatives $o --json | sed -n '/^  "memory"/,/}/p' | awk '/params|grads|optimizer/ { sum += $2 } END { print sum / 1e9 " GB" }'; done; pipesim --schedule 1f1b --pp 1 --tp 1 --gpus 1 --params 250M --framework axonn --cluster v100-16 --seq 512 --mbs 1 --micro-batches 1 --engine dag --no-alternatives --offload os=host --explain | tr -s ' \n' ' ' | grep -o 'in buckets of [^/]*/s'
> 5 GB
> 1 GB
> in buckets of 244 MiB at 12.5 GB/s
$ pipesim --schedule 1f1b --pp 1 --tp 1 --gpus 8 --model opt-13b --zero 3 --offload p=host,os=host --cpu-optimizer --framework patrickstar --cluster v100-dgx1 --seq 1024 --mbs 1 --micro-batches 1 --recompute full --engine dag --no-alternatives | grep '^  tiers'
>   tiers    host 23.9 of 51.2 GiB a device (80 % of its share)
