# Platform files of users: a prediction, or a message with the place; never a crash, nothing left.
$ pipesim --schedule 1f1b --model gpt2 --cluster tests/fuzz/corpus/platform/star.xml --pp 4 --gbs 12 --json | grep -E '"(cluster|gpus|fabric)"'
>     "gpus": 12,
>   "cluster": "tests/fuzz/corpus/platform/star.xml",
>     "fabric": "file",
>     "cluster": "tests/fuzz/corpus/platform/star.xml"
$ pipesim clusters tests/fuzz/corpus/platform/zones.xml
> tests/fuzz/corpus/platform/zones.xml: 2 x V100-SXM2 32GB a node
>   network  platform of 4 hosts and 8 links
>   device   125 TFLOP/s dense fp16, memory 31.7 GiB at 900 GB/s
>            kernel launch 3.2 us, reached of peak: matrix 0.8, memory 0.84
>            attention unfused; 80 multiprocessors
>            dense TFLOP/s: fp32 15.7, fp16 125
>   in node  100 GB/s a device and direction, latency 1 us
>   fabric   5.00 GB/s a device and direction, latency 5 us, reached share 1
>   rings    start 20.9 us in node, 20 us in fabric; reach 0.968, 1 of messages
>            the node is a cube mesh
>   host     512 GiB a node at 154 GB/s, 12.5 GB/s a device and direction
>            its processors update 2.13B parameters a second
>   drives   6.98 TiB a node at 2.00 GB/s
>   shape    links and routes of tests/fuzz/corpus/platform/zones.xml
>   reserved 1.50 GiB a device (context, libraries, communication buffers)
>   source   NVIDIA V100 data sheet: 125 TFLOP/s fp16 tensor cores, 900 GB/s;
>            links and routes from tests/fuzz/corpus/platform/zones.xml
$ gzip -c tests/fuzz/corpus/platform/star.xml >platform.xml.gz && pipesim clusters platform.xml.gz | tail -n +2 | head -1
>   network  platform of 12 hosts and 25 links
$ pipesim clusters /dev/stdin <tests/fuzz/corpus/platform/star.xml | head -2
> /dev/stdin: 4 x custom (based on a100) a node
>   network  platform of 12 hosts and 25 links
$ pipesim clusters tests/fuzz/corpus/platform/star.xml --xml
! pipesim: error: --xml prints a preset or a text: tests/fuzz/corpus/platform/star.xml is a file
= 2
$ pipesim --schedule 1f1b --model gpt2 --cluster tests/fuzz/corpus/platform/star.xml --gpus 24
! pipesim: error: --gpus 24 is more than the 12 of --cluster (3 nodes x 4): --gpus 12, or a file with more hosts
= 2
$ pipesim --schedule 1f1b --model gpt2 --cluster nowhere.xml
! pipesim: error: cannot open nowhere.xml: No such file or directory
= 1
$ pipesim --schedule 1f1b --model gpt2 --cluster ./nowhere
! pipesim: error: cannot open ./nowhere: No such file or directory
= 1
$ pipesim --schedule 1f1b --model gpt2 --cluster tests/
! pipesim: error: cannot read tests/: Is a directory
= 1
$ pipesim --schedule 1f1b --model gpt2 --cluster tests/fuzz/corpus/platform/no_routes.xml
! pipesim: error: tests/fuzz/corpus/platform/no_routes.xml: no route from host a to host b
= 2
$ pipesim --schedule interleaved --vp 2 --pp 3 --gbs 12 --model gpt2 --cluster tests/fuzz/corpus/platform/hole.xml
! pipesim: error: tests/fuzz/corpus/platform/hole.xml: no route from host a to host c
= 2
$ pipesim --schedule 1f1b --model gpt2 --cluster tests/fuzz/corpus/platform/bad_unit.xml
! pipesim: error: tests/fuzz/corpus/platform/bad_unit.xml:7: unknown unit: GByte
= 2
$ pipesim --schedule 1f1b --model gpt2 --cluster tests/fuzz/corpus/platform/no_unit.xml
! pipesim: error: tests/fuzz/corpus/platform/no_unit.xml:7: bandwidth of link l has no unit: 10 (as in 10GBps, 100Gbps, 5us, 1Gf)
= 2
$ pipesim --schedule 1f1b --model gpt2 --cluster tests/fuzz/corpus/platform/truncated.xml
! pipesim: error: tests/fuzz/corpus/platform/truncated.xml:8: Unexpected character `<': `</zone>' expected.
= 2
$ pipesim --schedule 1f1b --model gpt2 --cluster tests/fuzz/corpus/platform/empty.xml
! pipesim: error: tests/fuzz/corpus/platform/empty.xml:1: EOF in prolog.
= 2
$ pipesim --schedule 1f1b --model gpt2 --cluster tests/fuzz/corpus/platform/random.xml
! pipesim: error: tests/fuzz/corpus/platform/random.xml:1: Unexpected character `?' in prolog.
= 2
$ pipesim --schedule 1f1b --model gpt2 --cluster tests/fuzz/corpus/platform/unknown_link.xml
! pipesim: error: tests/fuzz/corpus/platform/unknown_link.xml:8: Link not found: m
= 2
$ pipesim --schedule 1f1b --model gpt2 --cluster tests/fuzz/corpus/platform/host_twice.xml
! pipesim: error: tests/fuzz/corpus/platform/host_twice.xml:6: Refusing to create a second host named 'a'.
= 2
$ pipesim --schedule 1f1b --model gpt2 --cluster tests/fuzz/corpus/platform/bandwidth_zero.xml
! pipesim: error: tests/fuzz/corpus/platform/bandwidth_zero.xml:7: link l: bandwidth 0 bytes/s is out of range: 1 to 1e18
= 2
$ pipesim --schedule 1f1b --model gpt2 --cluster tests/fuzz/corpus/platform/latency_negative.xml
! pipesim: error: tests/fuzz/corpus/platform/latency_negative.xml:7: link l: latency -1e-06 s is out of range: 0 to 10
= 2
$ pipesim --schedule 1f1b --model gpt2 --cluster tests/fuzz/corpus/platform/old.xml
! pipesim: error: tests/fuzz/corpus/platform/old.xml:3: the version is too old: expected <platform version="4.1">; simgrid_update_xml can translate the file
= 2
$ pipesim --schedule all --model gpt2 --cluster tests/fuzz/corpus/platform/no_hosts.xml
! pipesim: error: tests/fuzz/corpus/platform/no_hosts.xml: it has no hosts: every host is one device
= 2
$ pipesim clusters tests/fuzz/corpus/platform/property_misspelt.xml
! pipesim: error: tests/fuzz/corpus/platform/property_misspelt.xml:5: unknown property pipesim.gpus: did you mean pipesim.gpu? (known are pipesim.cluster pipesim.level1.bandwidth pipesim.level1.latency pipesim.gpu pipesim.gpus_per_node pipesim.device pipesim.memory pipesim.hbm pipesim.peak pipesim.attention pipesim.alpha pipesim.eta_link)
= 2
$ pipesim clusters tests/fuzz/corpus/platform/nodes_uneven_prefixed.xml
! pipesim: error: tests/fuzz/corpus/platform/nodes_uneven_prefixed.xml:5: 8 hosts are no whole number of nodes: property pipesim.gpu is 3
= 2
$ pipesim clusters tests/fuzz/corpus/platform/radical_huge.xml
! pipesim: error: tests/fuzz/corpus/platform/radical_huge.xml:4: cluster c: up to here 100000000 hosts, and every host is one device: expected at most 1048576
= 2
$ pipesim --schedule gpipe --model gpt2 --pp 4 --gbs 12 --cluster tests/fuzz/corpus/platform/floyd_router.xml --json | grep '"fabric"'
>     "fabric": "file",
# A sweep opens a file once for many points; each is what a run says.
$ o='--schedule 1f1b --model llama3-8b --cluster docs/platform.xml --pp 2 --tp 1 --gpus 4 --gbs 8 --mbs 1'; for bw in 1 0.5; do pipesim $o --link-bw "*=$bw" --json | grep -E '^  "iteration_s"'; done; pipesim sweep $o --link-bw '*=1' --link-bw '*=0.5' -j 1 | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } { print $at["link_bw"], $at["iteration_s"] }'
>   "iteration_s": 6.6335393924299995,
>   "iteration_s": 6.6776655662939994,
> link_bw iteration_s
> *=1 6.6335393924299995
> *=0.5 6.6776655662939994
