# Shapes of clusters, and clusters as SimGrid platforms.
$ pipesim clusters p100-daint
> p100-daint: 1 x P100-PCIe 16GB a node
>   network  Piz Daint XC50: one P100 per node, Aries dragonfly
>   device   9.30 TFLOP/s dense fp32, memory 15.9 GiB at 732 GB/s
>            kernel launch 8 us, reached of peak: matrix 0.99, memory 0.51
>            attention unfused; 56 multiprocessors
>            dense TFLOP/s: fp32 9.3, fp16 18.7
>   in node  12.0 GB/s a device and direction, latency 10 us
>   fabric   10.2 GB/s a device and direction, latency 10 us, reached share 0.8
>   host     64.0 GiB a node at 68.3 GB/s, 12.5 GB/s a device and direction
>            its processors update 949M parameters a second
>   shape    dragonfly, adaptive routing, 1 NIC of 10.2 GB/s; groups of 6 chassis
>            of 16 routers of 4 nodes; 10.5 GB/s between two routers of a chassis,
>            15.8 GB/s of two chassis, 338 GB/s between two groups
>   reserved 1.00 GiB a device (context, libraries, communication buffers)
>   source   NVIDIA Tesla P100 PCIe data sheet: 9.3 TFLOP/s fp32, 732 GB/s; CSCS
>            Piz Daint XC50; Alverson et al. 2012 (Cray XC network): 10.2 GB/s
>            injection; in a chassis 5.25 GB/s links, of which a flow uses two,
>            one by a detour; 3 x 5.25 GB/s between chassis; 4.7 GB/s optical
>            ports, 960 a group, here 72 to each of 13 other groups
$ pipesim clusters v100-dgx1
> v100-dgx1: 8 x V100-SXM2 32GB a node
>   network  DGX-1 V100: 4x100 Gb/s EDR InfiniBand, fat tree
>   device   125 TFLOP/s dense fp16, memory 31.7 GiB at 900 GB/s
>            kernel launch 3.2 us, reached of peak: matrix 0.8, memory 0.84
>            attention unfused; 80 multiprocessors
>            dense TFLOP/s: fp32 15.7, fp16 125
>   in node  150 GB/s a device and direction, latency 4.07 us
>   fabric   6.25 GB/s a device and direction, latency 8 us, reached share 0.92
>   rings    start 20.9 us in node, 20 us in fabric; reach 0.968, 1 of messages
>            the node is a cube mesh
>   host     512 GiB a node at 154 GB/s, 12.5 GB/s a device and direction
>            its processors update 2.13B parameters a second
>   drives   6.98 TiB a node at 2.00 GB/s
>   shape    fat tree, 4 rails of 12.5 GB/s: only devices and NICs can be full
>   reserved 1.50 GiB a device (context, libraries, communication buffers)
>   source   NVIDIA V100 data sheet: 125 TFLOP/s fp16 tensor cores, 900 GB/s;
>            NVIDIA DGX-1 V100 data sheet: NVLink 2, 300 GB/s both ways; 4x 100
>            Gb/s EDR
$ pipesim clusters "gpu:1 torus:16x16x8 hop:5GBps" | grep shape
>   shape    torus 16x16x8 nodes, 5.00 GB/s to each neighbor
$ pipesim clusters "leaf:16 oversub:2 routing:static" | grep -A1 shape
>   shape    fat tree, 8 rails of 50.0 GB/s, 16 nodes a leaf switch, uplinks 2:1,
>            static routing
$ pipesim clusters "fabric:star nic:2x200Gbps" | grep shape
>   shape    star, 2 NICs of 25.0 GB/s a node on one switch that never blocks
$ pipesim clusters "gpu:4 pcie:25GBps fabric:ideal" | grep -E "shape|in node"
>   in node  25.0 GB/s a device and direction, latency 2 us, through host memory
>   rings    start 25 us in node, 20 us in fabric; reach 0.87, 1 of messages
>   shape    ideal: nothing is shared
$ pipesim clusters "node:4 gpu:8 leaf:2 oversub:2" --xml
> <?xml version="1.0"?>
> <!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
> <platform version="4.1">
>   <!-- SimGrid gives all links the same speed; with the levels in the properties,
>        pipesim sets each when it loads this file.
>        The uplinks of a leaf are one link: routing is adaptive. -->
>   <cluster id="cluster" prefix="gpu" suffix="" radical="0-31" speed="989Tf" bw="450GBps" lat="1us"
>            topology="FAT_TREE" topo_parameters="3;8,2,2;1,8,1;1,1,1" sharing_policy="SPLITDUPLEX">
>       <prop id="pipesim.cluster" value="node:4 gpu:8 leaf:2 oversub:2"/>
>       <prop id="pipesim.device" value="h100"/>
>       <prop id="pipesim.memory" value="85520809984B"/>
>       <prop id="pipesim.hbm" value="3350GBps"/>
>       <prop id="pipesim.peak" value="989TF"/>
>       <prop id="pipesim.gpu" value="8"/>
>       <prop id="pipesim.eta_link" value="0.92"/>
>       <prop id="pipesim.level1.bandwidth" value="450GBps"/>
>       <prop id="pipesim.level1.latency" value="1us"/>
>       <prop id="pipesim.level2.bandwidth" value="50GBps"/>
>       <prop id="pipesim.level2.latency" value="3us"/>
>       <prop id="pipesim.level3.bandwidth" value="50GBps"/>
>       <prop id="pipesim.level3.latency" value="0us"/>
>   </cluster>
> </platform>
$ pipesim clusters "gpu:2 pcie:25GBps nic:1x100Gbps" --xml --gpus 2
> <?xml version="1.0"?>
> <!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
> <platform version="4.1">
>   <zone id="cluster" routing="Full">
>     <host id="gpu0" speed="989Tf">
>       <prop id="pipesim.cluster" value="gpu:2 pcie:25GBps nic:1x100Gbps"/>
>       <prop id="pipesim.device" value="h100"/>
>       <prop id="pipesim.memory" value="85520809984B"/>
>       <prop id="pipesim.hbm" value="3350GBps"/>
>       <prop id="pipesim.peak" value="989TF"/>
>       <prop id="pipesim.gpu" value="2"/>
>       <prop id="pipesim.eta_link" value="0.92"/>
>     </host>
>     <host id="gpu1" speed="989Tf">
>       <prop id="pipesim.cluster" value="gpu:2 pcie:25GBps nic:1x100Gbps"/>
>       <prop id="pipesim.device" value="h100"/>
>       <prop id="pipesim.memory" value="85520809984B"/>
>       <prop id="pipesim.hbm" value="3350GBps"/>
>       <prop id="pipesim.peak" value="989TF"/>
>       <prop id="pipesim.gpu" value="2"/>
>       <prop id="pipesim.eta_link" value="0.92"/>
>     </host>
>     <link id="node0.gpu0.up" bandwidth="25GBps" latency="1us" sharing_policy="SHARED"/>
>     <link id="node0.gpu0.down" bandwidth="25GBps" latency="1us" sharing_policy="SHARED"/>
>     <link id="node0.gpu1.up" bandwidth="25GBps" latency="1us" sharing_policy="SHARED"/>
>     <link id="node0.gpu1.down" bandwidth="25GBps" latency="1us" sharing_policy="SHARED"/>
>     <link id="node0.host" bandwidth="25GBps" latency="0us" sharing_policy="SHARED"/>
>     <route src="gpu0" dst="gpu1" symmetrical="NO"><link_ctn id="node0.gpu0.up"/><link_ctn id="node0.host"/><link_ctn id="node0.gpu1.down"/></route>
>     <route src="gpu1" dst="gpu0" symmetrical="NO"><link_ctn id="node0.gpu1.up"/><link_ctn id="node0.host"/><link_ctn id="node0.gpu0.down"/></route>
>   </zone>
> </platform>
$ pipesim clusters h100 --xml --gpus 2048 | grep topo
>            topology="FAT_TREE" topo_parameters="2;8,256;1,8;1,1" sharing_policy="SPLITDUPLEX">
$ pipesim clusters p100-daint --xml --gpus 2048 | grep -E "topo|level"
>   <!-- SimGrid gives all links the same speed; with the levels in the properties,
>            topology="DRAGONFLY" topo_parameters="6,1;6,1;16,1;4" sharing_policy="SPLITDUPLEX">
>       <prop id="pipesim.level1.bandwidth" value="10.2GBps"/>
>       <prop id="pipesim.level1.latency" value="5us"/>
>       <prop id="pipesim.level2.bandwidth" value="3916.8GBps"/>
>       <prop id="pipesim.level2.latency" value="0us"/>
>       <prop id="pipesim.level3.bandwidth" value="3916.8GBps"/>
>       <prop id="pipesim.level3.latency" value="0us"/>
>       <prop id="pipesim.level4.bandwidth" value="338.4GBps"/>
>       <prop id="pipesim.level4.latency" value="0us"/>
$ pipesim clusters "p100-daint routing:static" --xml --gpus 2048 | grep -E "topo|level"
>   <!-- SimGrid gives all links the same speed; with the levels in the properties,
>            topology="DRAGONFLY" topo_parameters="6,1;6,1;16,1;4" sharing_policy="SPLITDUPLEX">
>       <prop id="pipesim.level1.bandwidth" value="10.2GBps"/>
>       <prop id="pipesim.level1.latency" value="5us"/>
>       <prop id="pipesim.level2.bandwidth" value="10.5GBps"/>
>       <prop id="pipesim.level2.latency" value="0us"/>
>       <prop id="pipesim.level3.bandwidth" value="15.75GBps"/>
>       <prop id="pipesim.level3.latency" value="0us"/>
>       <prop id="pipesim.level4.bandwidth" value="338.4GBps"/>
>       <prop id="pipesim.level4.latency" value="0us"/>
$ pipesim clusters "gpu:1 torus:4x3x2" --xml | grep -E "topo|level|alpha"
>   <!-- SimGrid gives all links the same speed; with the levels in the properties,
>            topology="TORUS" topo_parameters="4,3,2" sharing_policy="SPLITDUPLEX">
>       <prop id="pipesim.level1.bandwidth" value="50GBps"/>
>       <prop id="pipesim.level1.latency" value="0us"/>
>       <prop id="pipesim.alpha" value="8us"/>
$ pipesim clusters "gpu:8 fabric:ideal" --xml --gpus 4096
! pipesim: error: --cluster gpu:8 fabric:ideal: SimGrid has no <cluster> of this shape, so every route is listed, for at most 128 devices, not 4096: --gpus 128
= 2
$ pipesim clusters "node:2 gpu:8" --xml --gpus 17
! pipesim: error: --gpus 17: the cluster has 2 nodes of 8, 16 devices
= 2
$ pipesim clusters --xml
! pipesim: error: --xml prints one cluster: pipesim clusters h100 --xml
= 2
$ pipesim clusters h100 --gpus 16
! pipesim: error: --gpus is the size of a platform: give --xml with it
= 2
$ pipesim clusters "node:16 gpu:8 fabric:fattre"
! pipesim: error: --cluster: fabric:fattre: unknown topology: did you mean fat-tree? known are fat-tree dragonfly torus star ideal (as in fabric:fat-tree)
= 2
$ pipesim clusters "fabric:fat-tree torus:4x4"
! pipesim: error: --cluster: 'torus' is a key of fabric:torus, not of fabric:fat-tree
= 2
$ pipesim clusters "node:17 torus:4x4"
! pipesim: error: --cluster: torus:4x4x1 holds 16 nodes, and 17 are needed: torus:5x4x1
= 2
$ pipesim clusters "nic:8x0Gbps"
! pipesim: error: --cluster: nic:8x0Gbps: 0Gbps is out of range: expected more than 0, at most 1e18 (as in nic:8x200Gbps)
= 2
$ pipesim --schedule 1f1b --pp 4 --micro-batches 8 --gpus 32 --cluster "node:256 gpu:8 nvlink:450GBps nic:8x400Gbps fabric:fat-tree" --engine dag --no-alternatives | head -3
> pipesim 0.1.0  1f1b on 32 GPUs               (* = chosen for you, see --explain)
>
>   model    gpt3-175b*  175B parameters, 96 layers, hidden 12288, seq 2048*, bf16
